use crate::cache::Cache;
use crate::format::header;
use crate::mapped::MappedVectors;
use crate::progress::{Activity, Meter, Watch};
use crate::stamp::Stamp;
use crate::{DatasetError, MappedFile};
use annbench_core::ElementType;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Bytes that are hashed between two words of progress.
const STEP_BYTES: usize = 16 << 20;

/// SHA-256 of a whole file; remembered for as long as its stamp stays.
pub(crate) fn file_sha256(
    file: &MappedFile,
    cache: &Cache,
    watch: Watch<'_>,
    notes: &mut Vec<String>,
) -> Result<String, DatasetError> {
    remembered(cache, file.stamp(), "sha256", notes, || {
        sha256(Sha256::new(), file, file.bytes(), watch)
    })
}

/// SHA-256 of a whole file that nothing is remembered of.
pub(crate) fn sha256_of(file: &MappedFile, watch: Watch<'_>) -> Result<String, DatasetError> {
    sha256(Sha256::new(), file, file.bytes(), watch)
}

/// SHA-256 of the flat file (fbin, f16bin, i8bin or u8bin) that would hold these vectors of `source`.
pub(crate) fn flat_sha256(
    source: &MappedFile,
    vectors: &MappedVectors,
    cache: &Cache,
    watch: Watch<'_>,
    notes: &mut Vec<String>,
) -> Result<String, DatasetError> {
    let spec = vectors.map_spec();
    // The offset tells datasets of one HDF5 file apart.
    let what = format!(
        "flat_sha256 {} {} {} {}",
        spec.offset_bytes, spec.n, spec.dim, spec.element
    );
    remembered(cache, vectors.stamp(), &what, notes, || {
        let mut hasher = Sha256::new();
        let width = match spec.element {
            ElementType::Bits => spec.dim.div_ceil(8),
            _ => spec.dim,
        };
        // Entries hold at most 32 bits of either.
        hasher.update(header(spec.n as u32, width as u32));
        sha256(hasher, source, vectors.vectors().component_bytes(), watch)
    })
}

fn sha256(
    mut hasher: Sha256,
    file: &MappedFile,
    bytes: &[u8],
    watch: Watch<'_>,
) -> Result<String, DatasetError> {
    let meter = Meter::new(watch, Activity::Checksum, file.path(), bytes.len() as u64);
    let mut done = 0;
    for step in bytes.chunks(STEP_BYTES) {
        hasher.update(step);
        done += step.len() as u64;
        meter.at(done)?;
    }
    Ok(hex(&hasher.finalize()))
}

fn remembered(
    cache: &Cache,
    stamp: &Stamp,
    what: &str,
    notes: &mut Vec<String>,
    compute: impl FnOnce() -> Result<String, DatasetError>,
) -> Result<String, DatasetError> {
    let key = stamp.key(what);
    if let Some(known) = cache
        .derived(&key, "json", stamp)
        .and_then(|path| cache.read::<String>(&path))
    {
        return Ok(known);
    }
    let sum = compute()?;
    if let Err(error) = cache.write(&key, &sum) {
        notes.push(format!("a checksum could not be remembered: {error}"));
    }
    Ok(sum)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
