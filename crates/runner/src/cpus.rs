use std::collections::BTreeSet;

/// CPUs this process may use, one thread of each physical core first, then their siblings.
///
/// Empty where the system does not tell.
pub fn preferred_cpus() -> Vec<usize> {
    let allowed = allowed_cpus();
    let mut seen_cores = BTreeSet::new();
    let (mut first, mut siblings) = (Vec::new(), Vec::new());
    for cpu in allowed {
        if seen_cores.insert(core_of(cpu)) {
            first.push(cpu);
        } else {
            siblings.push(cpu);
        }
    }
    first.extend(siblings);
    first
}

/// Package and core of a CPU; a CPU whose topology is unknown counts as a core of its own.
fn core_of(cpu: usize) -> (i64, i64) {
    let read = |name: &str| {
        std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}"))
            .ok()
            .and_then(|text| text.trim().parse::<i64>().ok())
    };
    match (read("physical_package_id"), read("core_id")) {
        (Some(package), Some(core)) => (package, core),
        _ => (i64::MIN, cpu as i64),
    }
}

#[cfg(target_os = "linux")]
fn allowed_cpus() -> Vec<usize> {
    // SAFETY: an all-zero cpu_set_t is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is a valid place for one cpu_set_t of the size given.
    let failed =
        unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) } != 0;
    if failed {
        return Vec::new();
    }
    (0..libc::CPU_SETSIZE as usize)
        // SAFETY: `cpu` is below the size of the set.
        .filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn allowed_cpus() -> Vec<usize> {
    Vec::new()
}
