//! What the operating system tells about this process. `None` where it does not.

/// CPU time of all threads so far.
pub(super) fn cpu_time_ns() -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for one timespec.
    let ok = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } == 0;
    ok.then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Minor and major page faults so far.
pub(super) fn page_faults() -> Option<(u64, u64)> {
    // SAFETY: an all-zero rusage is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for one rusage.
    let ok = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) } == 0;
    ok.then_some((usage.ru_minflt as u64, usage.ru_majflt as u64))
}

/// Private memory: anonymous pages, counted exactly, after freed memory was given back.
pub(super) fn anonymous_bytes() -> Option<u64> {
    give_back_freed_memory();
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    kibibytes(&text, "Anonymous:")
}

/// Highest resident set so far.
pub(super) fn peak_resident_bytes() -> Option<u64> {
    kibibytes(
        &std::fs::read_to_string("/proc/self/status").ok()?,
        "VmHWM:",
    )
}

/// Threads of this process now.
pub(super) fn thread_count() -> Option<u64> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count() as u64)
}

/// One-minute load average times 100.
pub(super) fn load_average_x100() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    let load: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some((load * 100.0).round() as u64)
}

fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(number * 1024)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back_freed_memory() {
    // SAFETY: malloc_trim only returns free heap pages to the system.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back_freed_memory() {}

/// Binds every thread of this process to `cpus`, so that pools made earlier follow.
#[cfg(target_os = "linux")]
pub(super) fn bind_all_threads(cpus: &[usize]) -> Result<Vec<usize>, String> {
    let tasks = std::fs::read_dir("/proc/self/task").map_err(|e| e.to_string())?;
    for task in tasks.flatten() {
        if let Some(id) = task.file_name().to_str().and_then(|name| name.parse().ok()) {
            bind_task(id, cpus)?;
        }
    }
    Ok(cpus.to_vec())
}

/// Binds the calling thread to `cpus`.
#[cfg(target_os = "linux")]
pub(super) fn bind_this_thread(cpus: &[usize]) -> Result<(), String> {
    bind_task(0, cpus)
}

#[cfg(target_os = "linux")]
fn bind_task(task: i32, cpus: &[usize]) -> Result<(), String> {
    // SAFETY: an all-zero cpu_set_t is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus {
        if cpu >= libc::CPU_SETSIZE as usize {
            return Err(format!("CPU {cpu} exceeds what an affinity mask holds"));
        }
        // SAFETY: `cpu` is below the size of the set.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    // SAFETY: `set` is a whole cpu_set_t of the size given.
    let failed =
        unsafe { libc::sched_setaffinity(task, size_of::<libc::cpu_set_t>(), &raw const set) } != 0;
    if failed {
        let error = std::io::Error::last_os_error();
        // A thread may end between the listing and the call.
        if error.raw_os_error() != Some(libc::ESRCH) {
            return Err(format!("binding to CPUs {cpus:?}: {error}"));
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn bind_all_threads(_cpus: &[usize]) -> Result<Vec<usize>, String> {
    Err("this system cannot bind threads to CPUs".to_owned())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn bind_this_thread(_cpus: &[usize]) -> Result<(), String> {
    Err("this system cannot bind threads to CPUs".to_owned())
}
