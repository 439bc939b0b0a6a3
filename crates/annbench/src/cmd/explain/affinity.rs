use super::lines::Lines;

/// The CPUs it was bound to, or why to none.
pub(super) fn write_affinity(lines: &mut Lines, affinity: &Result<Vec<usize>, String>) {
    match affinity {
        Ok(cpus) => {
            let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
            lines.add("bound to CPUs", cpus.join(", "));
        }
        Err(why) => lines.add("bound to no CPU", why),
    }
}
