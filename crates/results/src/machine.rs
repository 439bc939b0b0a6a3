//! What this machine tells about itself.
//!
//! Facts are read from Linux's `/proc` and `/sys`; what is not there, or elsewhere, is
//! [`Fact::Unavailable`] with the reason, never a guess.

use crate::{Fact, Machine};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The part of the machine that belongs to a point's identity: CPU model, logical CPUs available to
/// this process, main memory rounded up to whole GiB. Neither kernel nor load.
///
/// The CPUs are those that this process may use: an affinity mask (`taskset`) and a quota of the
/// control group lower them, and make other points of what is measured under them.
pub fn collect_machine() -> Machine {
    machine_under(Path::new("/"))
}

/// Everything else: kernel, CPU flags and caches, governor, turbo, SMT, NUMA, huge pages, memory,
/// load, limits of the control group, and `compiler`, the version of the compiler that built the
/// caller.
pub fn collect_environment(compiler: &str) -> BTreeMap<String, Fact> {
    let mut facts = environment_under(Path::new("/"));
    let known = |text: &str| Fact::Known(text.to_owned());
    facts.insert("compiler".to_owned(), known(compiler));
    facts.insert("architecture".to_owned(), known(std::env::consts::ARCH));
    facts.insert("os".to_owned(), known(std::env::consts::OS));
    facts
}

fn machine_under(root: &Path) -> Machine {
    let cpu_model = match cpu_model(root) {
        Fact::Known(model) => model,
        Fact::Unavailable(reason) => format!("unavailable ({reason})"),
    };
    Machine {
        cpu_model,
        cpus: std::thread::available_parallelism().map_or(0, |cpus| cpus.get() as u64),
        memory_bytes: meminfo_bytes(root, "MemTotal").map_or(0, whole_gibibytes),
    }
}

fn environment_under(root: &Path) -> BTreeMap<String, Fact> {
    let cpu = "sys/devices/system/cpu";
    let facts = [
        ("kernel", kernel(root)),
        ("cpu_flags", cpuinfo(root, &["flags", "Features", "isa"])),
        ("microcode", cpuinfo(root, &["microcode"])),
        ("hypervisor", hypervisor(root)),
        ("caches", caches(root)),
        ("governor", governor(root)),
        ("turbo", turbo(root)),
        ("smt", line(root, &format!("{cpu}/smt/control"))),
        ("cpus_online", line(root, &format!("{cpu}/online"))),
        ("cpus_isolated", line(root, &format!("{cpu}/isolated"))),
        ("numa_nodes", line(root, "sys/devices/system/node/online")),
        (
            "transparent_hugepages",
            line(root, "sys/kernel/mm/transparent_hugepage/enabled"),
        ),
        ("hugepages_total", meminfo(root, "HugePages_Total")),
        ("memory_total", meminfo(root, "MemTotal")),
        ("memory_available", meminfo(root, "MemAvailable")),
        ("swap_total", meminfo(root, "SwapTotal")),
        ("swappiness", line(root, "proc/sys/vm/swappiness")),
        (
            "overcommit_memory",
            line(root, "proc/sys/vm/overcommit_memory"),
        ),
        (
            "address_randomisation",
            line(root, "proc/sys/kernel/randomize_va_space"),
        ),
        ("clock_source", {
            let device = "sys/devices/system/clocksource/clocksource0";
            line(root, &format!("{device}/current_clocksource"))
        }),
        ("load", line(root, "proc/loadavg")),
        ("cgroup_cpu_max", line(root, "sys/fs/cgroup/cpu.max")),
        ("cgroup_memory_max", line(root, "sys/fs/cgroup/memory.max")),
    ];
    facts
        .into_iter()
        .map(|(name, fact)| (name.to_owned(), fact))
        .collect()
}

/// Reads a small file of the system's own; `path` is relative to `root`.
fn text(root: &Path, path: &str) -> Result<String, String> {
    if !cfg!(target_os = "linux") {
        return Err("read on Linux only".to_owned());
    }
    std::fs::read_to_string(root.join(path)).map_err(|error| format!("/{path}: {error}"))
}

fn fact(found: Result<String, String>) -> Fact {
    match found {
        Ok(text) => Fact::Known(text),
        Err(reason) => Fact::Unavailable(reason),
    }
}

/// A file of one line, which may be empty.
fn line(root: &Path, path: &str) -> Fact {
    fact(text(root, path).map(|text| match text.trim() {
        "" => "none".to_owned(),
        line => line.to_owned(),
    }))
}

fn kernel(root: &Path) -> Fact {
    let part = |name: &str| {
        text(root, &format!("proc/sys/kernel/{name}")).map(|part| part.trim().to_owned())
    };
    fact(part("ostype").and_then(|system| {
        let (release, version) = (part("osrelease")?, part("version")?);
        Ok(format!("{system} {release} {version}"))
    }))
}

/// First value of any of `keys` in `/proc/cpuinfo`, whose keys depend on the architecture.
fn cpuinfo(root: &Path, keys: &[&str]) -> Fact {
    fact(text(root, "proc/cpuinfo").and_then(|text| {
        keys.iter()
            .find_map(|key| value_of(&text, key))
            .map(str::to_owned)
            .ok_or_else(|| format!("/proc/cpuinfo has no `{}`", keys.join("` or `")))
    }))
}

fn value_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

fn cpu_model(root: &Path) -> Fact {
    let named = cpuinfo(root, &["model name", "Model", "cpu model", "uarch"]);
    if let Fact::Known(_) = named {
        return named;
    }
    // Arm kernels give numbers only.
    match (
        cpuinfo(root, &["CPU implementer"]),
        cpuinfo(root, &["CPU part"]),
    ) {
        (Fact::Known(implementer), Fact::Known(part)) => {
            Fact::Known(format!("implementer {implementer} part {part}"))
        }
        _ => named,
    }
}

fn hypervisor(root: &Path) -> Fact {
    match cpuinfo(root, &["flags"]) {
        Fact::Known(flags) => {
            let guest = flags.split_whitespace().any(|flag| flag == "hypervisor");
            Fact::Known(if guest { "yes" } else { "no" }.to_owned())
        }
        unavailable => unavailable,
    }
}

fn caches(root: &Path) -> Fact {
    let dir = "sys/devices/system/cpu/cpu0/cache";
    let mut caches = Vec::new();
    for index in 0.. {
        let part = |name: &str| {
            text(root, &format!("{dir}/index{index}/{name}")).map(|part| part.trim().to_owned())
        };
        match (part("level"), part("type"), part("size")) {
            (Ok(level), Ok(kind), Ok(size)) => caches.push(format!("L{level} {kind} {size}")),
            (Err(reason), _, _) | (_, Err(reason), _) | (_, _, Err(reason)) => {
                if caches.is_empty() {
                    return Fact::Unavailable(reason);
                }
                break;
            }
        }
    }
    Fact::Known(caches.join(", "))
}

/// The governors of all CPUs, each named once.
fn governor(root: &Path) -> Fact {
    let dir = "sys/devices/system/cpu";
    let cpus = match std::fs::read_dir(root.join(dir)) {
        Ok(cpus) => cpus,
        Err(error) => return Fact::Unavailable(format!("/{dir}: {error}")),
    };
    let governors: BTreeSet<String> = cpus
        .flatten()
        .filter_map(|cpu| {
            let name = cpu.file_name().to_string_lossy().into_owned();
            let path = format!("{dir}/{name}/cpufreq/scaling_governor");
            Some(text(root, &path).ok()?.trim().to_owned())
        })
        .collect();
    if governors.is_empty() {
        return Fact::Unavailable(format!("/{dir}: no CPU has cpufreq/scaling_governor"));
    }
    Fact::Known(governors.into_iter().collect::<Vec<_>>().join(", "))
}

fn turbo(root: &Path) -> Fact {
    let dir = "sys/devices/system/cpu";
    let switch = |path: &str, on: &str| {
        text(root, &format!("{dir}/{path}"))
            .map(|value| if value.trim() == on { "on" } else { "off" }.to_owned())
    };
    fact(switch("intel_pstate/no_turbo", "0").or_else(|_| switch("cpufreq/boost", "1")))
}

fn meminfo(root: &Path, key: &str) -> Fact {
    fact(text(root, "proc/meminfo").and_then(|text| {
        value_of(&text, key)
            .map(str::to_owned)
            .ok_or_else(|| format!("/proc/meminfo has no `{key}`"))
    }))
}

fn meminfo_bytes(root: &Path, key: &str) -> Option<u64> {
    let Fact::Known(value) = meminfo(root, key) else {
        return None;
    };
    let kibibytes: u64 = value.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Up to the next GiB: what the kernel keeps for itself changes by some MiB with its version and from
/// boot to boot, and is no other machine. Rounding to the nearest would split the common 16 GiB, of
/// which about 15.5 are left.
fn whole_gibibytes(bytes: u64) -> u64 {
    const GIB: u64 = 1 << 30;
    bytes.div_ceil(GIB).saturating_mul(GIB)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::fs;

    fn put(root: &Path, path: &str, contents: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    #[test]
    fn a_machine_that_tells_everything() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        put(
            root,
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: A CPU @ 2 GHz\nflags\t\t: fpu avx2 hypervisor\n",
        );
        put(
            root,
            "proc/meminfo",
            "MemTotal:       24674728 kB\nMemAvailable:    8192 kB\nHugePages_Total:       0\n",
        );
        let cpu = "sys/devices/system/cpu";
        for (number, governor) in [
            (0, "performance\n"),
            (1, "powersave\n"),
            (2, "performance\n"),
        ] {
            put(
                root,
                &format!("{cpu}/cpu{number}/cpufreq/scaling_governor"),
                governor,
            );
        }
        put(root, &format!("{cpu}/intel_pstate/no_turbo"), "1\n");
        put(root, &format!("{cpu}/isolated"), "\n");
        for (part, value) in [("level", "1"), ("type", "Data"), ("size", "32K")] {
            put(root, &format!("{cpu}/cpu0/cache/index0/{part}"), value);
        }
        let machine = machine_under(root);
        assert_eq!(machine.cpu_model, "A CPU @ 2 GHz");
        assert_eq!(machine.memory_bytes, 24 << 30);
        assert!(machine.cpus >= 1);
        let facts = environment_under(root);
        for (name, value) in [
            ("cpu_flags", "fpu avx2 hypervisor"),
            ("hypervisor", "yes"),
            ("governor", "performance, powersave"),
            ("turbo", "off"),
            ("cpus_isolated", "none"),
            ("caches", "L1 Data 32K"),
            ("memory_total", "24674728 kB"),
            ("memory_available", "8192 kB"),
            ("hugepages_total", "0"),
        ] {
            assert_eq!(facts[name], Fact::Known(value.to_owned()), "{name}");
        }
        assert!(
            matches!(&facts["kernel"], Fact::Unavailable(reason) if reason.contains("/proc/sys/kernel/ostype"))
        );
    }

    #[test]
    fn a_machine_that_tells_nothing_says_why() {
        let dir = tempfile::tempdir().unwrap();
        assert!(
            machine_under(dir.path())
                .cpu_model
                .starts_with("unavailable (/proc/cpuinfo")
        );
        for (name, fact) in environment_under(dir.path()) {
            assert!(
                matches!(&fact, Fact::Unavailable(reason) if reason.starts_with('/')),
                "{name}: {fact:?}"
            );
        }
    }

    #[test]
    fn a_boot_or_kernel_makes_no_other_machine() {
        let dir = tempfile::tempdir().unwrap();
        let mut machines = Vec::new();
        for kibibytes in [16_384_000, 16_383_992, 16_250_116] {
            let text = format!("MemTotal: {kibibytes} kB\n");
            put(dir.path(), "proc/meminfo", &text);
            machines.push(machine_under(dir.path()));
        }
        assert_eq!(machines[0].memory_bytes, 16 << 30);
        assert!(machines.iter().all(|machine| *machine == machines[0]));
    }

    #[test]
    fn memory_is_rounded_up_to_gibibytes() {
        let gib = |mib: u64| whole_gibibytes(mib << 20) >> 30;
        assert_eq!([0, 256, 1024, 1025, 2048].map(gib), [0, 1, 1, 2, 2]);
        assert_eq!(whole_gibibytes(u64::MAX), u64::MAX);
    }

    #[test]
    fn an_arm_machine_is_named_by_its_numbers() {
        let dir = tempfile::tempdir().unwrap();
        put(
            dir.path(),
            "proc/cpuinfo",
            "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n",
        );
        assert_eq!(
            machine_under(dir.path()).cpu_model,
            "implementer 0x41 part 0xd4f"
        );
        assert_eq!(
            environment_under(dir.path())["cpu_flags"],
            Fact::Known("fp asimd".to_owned())
        );
    }

    #[test]
    fn this_machine_is_described() {
        let machine = collect_machine();
        assert!(machine.cpus > 0 && machine.memory_bytes > 0);
        let facts = collect_environment("rustc 1.95.0");
        assert_eq!(facts["compiler"], Fact::Known("rustc 1.95.0".to_owned()));
        assert!(matches!(facts["kernel"], Fact::Known(_)));
    }
}
