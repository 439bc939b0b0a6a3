use super::answers::Answers;
use crate::npy;
use std::io;
use std::path::Path;

/// Writes the answers of a repetition and returns the names of the two files.
pub(super) fn write_answers(
    dir: &Path,
    repetition: usize,
    answers: &Answers,
    k: usize,
) -> io::Result<(String, String)> {
    let ids = format!("ids.r{repetition}.npy");
    npy::write(&dir.join(&ids), &[answers.returned.len(), k], &answers.ids)?;
    let returned = format!("returned.r{repetition}.npy");
    npy::write(
        &dir.join(&returned),
        &[answers.returned.len()],
        &answers.returned,
    )?;
    Ok((ids, returned))
}

/// Writes the latencies `[passes, queries]` of a repetition and returns the file's name.
pub(super) fn write_latencies(
    dir: &Path,
    repetition: usize,
    queries: usize,
    latencies_ns: &[u64],
) -> io::Result<String> {
    let name = format!("latency.r{repetition}.npy");
    npy::write(
        &dir.join(&name),
        &[latencies_ns.len() / queries, queries],
        latencies_ns,
    )?;
    Ok(name)
}

/// Syncs every file under `dir` and returns their size.
pub(super) fn sync_directory(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            bytes += sync_directory(&path)?;
        } else {
            let file = std::fs::File::open(&path)?;
            file.sync_all()?;
            bytes += file.metadata()?.len();
        }
    }
    Ok(bytes)
}
