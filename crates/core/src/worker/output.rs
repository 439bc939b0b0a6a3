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
