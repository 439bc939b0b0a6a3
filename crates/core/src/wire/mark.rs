use std::ffi::OsStr;

/// Environment variable by which the runner marks a worker; all that the worker starts inherits it.
pub const MARK: &str = "ANNBENCH_WORKER_MARK";

/// Every process that carries `mark`, whatever its parent and session are by now. Where there is no
/// `/proc`, none is found.
pub fn marked_processes(mark: &OsStr) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok())
        .filter(|&pid| is_marked(pid, mark))
        .collect()
}

/// Whether the process `pid` carries `mark`.
pub fn is_marked(pid: u32, mark: &OsStr) -> bool {
    let entry = [MARK.as_bytes(), b"=", mark.as_encoded_bytes()].concat();
    std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
        environment
            .split(|&byte| byte == 0)
            .any(|variable| variable == entry)
    })
}
