use std::io;
use std::path::Path;

/// Bytes that may still be written on the file system of `path`, or of the nearest folder above that
/// exists.
///
/// # Errors
/// What the system says.
pub fn free_space(path: &Path) -> io::Result<u64> {
    let absolute = std::path::absolute(path)?;
    let there = absolute
        .ancestors()
        .find(|folder| folder.exists())
        .unwrap_or(Path::new("/"));
    let facts = rustix::fs::statvfs(there)?;
    Ok(facts.f_bavail.saturating_mul(facts.f_frsize))
}
