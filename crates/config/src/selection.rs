use crate::campaign::{Campaign, SweepUse};
use crate::sweep::{Group, Sweep};
use annbench_yaml::{Diagnostic, ErrorKind, listed, nearest};

/// Restricts a plan; an empty list restricts nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Names of groups.
    pub groups: Vec<String>,
    /// Names of adapters.
    pub adapters: Vec<String>,
    /// Names of adapters that are left out.
    pub without_adapters: Vec<String>,
}

/// Refuses a filter that names what the campaign does not have, with the name that was probably
/// meant: a misspelt filter would silently run less.
///
/// # Errors
/// As [`plan`](crate::plan), but for the number of points.
pub fn check_filter(
    campaign: &Campaign,
    sweeps: &[Sweep],
    filter: &Filter,
) -> Result<(), Diagnostic> {
    select(campaign, sweeps, filter).map(|_| ())
}

/// The sweeps that `filter` admits, each with the groups that the campaign names and `filter` admits.
pub(crate) fn select<'s>(
    campaign: &Campaign,
    sweeps: &'s [Sweep],
    filter: &Filter,
) -> Result<Vec<(&'s Sweep, Vec<&'s Group>)>, Diagnostic> {
    if sweeps.len() != campaign.sweeps.len() {
        return Err(Diagnostic::without_place(
            ErrorKind::Missing,
            format!("{}: not all of its sweeps were read", campaign.file()),
        )
        .expected(format!("{} sweeps", campaign.sweeps.len()))
        .found(sweeps.len().to_string())
        .next("read every file of `sweeps`, in order"));
    }
    let mut selected = Vec::new();
    for (sweep_use, sweep) in campaign.sweeps.iter().zip(sweeps) {
        selected.push((sweep, groups_of(campaign, sweep_use, sweep)?));
    }
    filter.check(&selected)?;
    selected.retain(|(sweep, _)| filter.admits_adapter(sweep.adapter()));
    for (_, groups) in &mut selected {
        groups.retain(|group| filter.admits_group(&group.name));
    }
    Ok(selected)
}

fn groups_of<'s>(
    campaign: &Campaign,
    sweep_use: &SweepUse,
    sweep: &'s Sweep,
) -> Result<Vec<&'s Group>, Diagnostic> {
    let Some(names) = &sweep_use.groups else {
        return Ok(sweep.groups.iter().collect());
    };
    names
        .iter()
        .map(|name| {
            sweep
                .groups
                .iter()
                .find(|group| *group.name == *name.value)
                .ok_or_else(|| {
                    campaign.source.unknown(
                        ErrorKind::UnknownName,
                        name.span,
                        format!("the sweep {} has no group `{}`", sweep.file(), name.value),
                        &name.value,
                        sweep.groups(),
                    )
                })
        })
        .collect()
}

impl Filter {
    fn admits_adapter(&self, name: &str) -> bool {
        (self.adapters.is_empty() || self.adapters.iter().any(|adapter| adapter == name))
            && !self.without_adapters.iter().any(|adapter| adapter == name)
    }

    fn admits_group(&self, name: &str) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|group| group == name)
    }

    /// Refuses names that select nothing.
    fn check(&self, selected: &[(&Sweep, Vec<&Group>)]) -> Result<(), Diagnostic> {
        let adapters: Vec<&str> = selected.iter().map(|(sweep, _)| sweep.adapter()).collect();
        for name in &self.adapters {
            refuse_unknown("adapter", name, &adapters)?;
        }
        for name in &self.without_adapters {
            refuse_unknown("without-adapter", name, &adapters)?;
        }
        let groups: Vec<&str> = selected
            .iter()
            .filter(|(sweep, _)| self.admits_adapter(sweep.adapter()))
            .flat_map(|(_, groups)| groups.iter().map(|group| &*group.name))
            .collect();
        for name in &self.groups {
            refuse_unknown("group", name, &groups)?;
        }
        Ok(())
    }
}

/// `option` is `group`, `adapter` or `without-adapter`.
fn refuse_unknown(option: &str, name: &str, known: &[&str]) -> Result<(), Diagnostic> {
    if known.contains(&name) {
        return Ok(());
    }
    let what = option.trim_start_matches("without-");
    let mut names = known.to_vec();
    names.sort_unstable();
    names.dedup();
    let error = Diagnostic::without_place(
        ErrorKind::UnknownName,
        format!("--{option} {name}: nothing that is selected here has this {what}"),
    )
    .expected(format!("one of {}", listed(names.iter().copied())))
    .found(format!("`{name}`"));
    Err(match nearest(name, names) {
        Some(near) => error.next(format!("did you mean `{near}`?")),
        None => error.next(format!(
            "use one of the names above, or leave --{option} out"
        )),
    })
}
