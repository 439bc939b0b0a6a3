use crate::axes::Axis;
use crate::campaign::Campaign;
use crate::selection::{Filter, select};
use crate::sweep::Sweep;
use annbench_yaml::{Diagnostic, ErrorKind, nearest};

/// The parameters that an adapter says it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared<'d> {
    /// Of a build.
    pub build: Vec<&'d str>,
    /// Of a search.
    pub search: Vec<&'d str>,
}

/// A parameter in a sweep that its adapter does not declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undeclared {
    /// The adapter.
    pub adapter: String,
    /// `build` or `search`.
    pub stage: &'static str,
    /// The parameter.
    pub name: String,
    /// The declared one that was probably meant.
    pub nearest: Option<String>,
    /// The place, what is declared and what was probably meant.
    pub screen: Diagnostic,
}

/// The parameters of the selected groups that their adapter does not declare, each place once, in the
/// order of the sweeps. `declared` tells what an adapter declares; those it knows nothing of are left
/// out.
///
/// Whether a point is refused is the adapter's own affair: this tells where the name stands that it
/// refuses.
///
/// # Errors
/// As [`check_filter`](crate::check_filter).
pub fn undeclared<'d>(
    campaign: &Campaign,
    sweeps: &[Sweep],
    filter: &Filter,
    declared: impl Fn(&str) -> Option<Declared<'d>>,
) -> Result<Vec<Undeclared>, Diagnostic> {
    let mut found: Vec<Undeclared> = Vec::new();
    for (sweep, groups) in select(campaign, sweeps, filter)? {
        let Some(Declared { build, search }) = declared(sweep.adapter()) else {
            continue;
        };
        for grid in groups.iter().flat_map(|group| group.grids.iter()) {
            for (stage, axes, own, others) in [
                ("build", &grid.build, &build, &search),
                ("search", &grid.search, &search, &build),
            ] {
                for axis in axes.iter().filter(|axis| !own.contains(&&*axis.name)) {
                    let one = Undeclared::new(sweep, stage, axis, own, others);
                    // Groups that extend one another share its keys.
                    if !found.contains(&one) {
                        found.push(one);
                    }
                }
            }
        }
    }
    Ok(found)
}

impl Undeclared {
    fn new(sweep: &Sweep, stage: &'static str, axis: &Axis, own: &[&str], others: &[&str]) -> Self {
        let (adapter, name) = (sweep.adapter(), &*axis.name);
        let problem = format!("adapter `{adapter}` has no {stage} parameter `{name}`");
        let mut screen = sweep.source.unknown(
            ErrorKind::UnknownName,
            axis.span,
            problem,
            name,
            own.iter().copied(),
        );
        let near = nearest(name, own.iter().copied());
        if others.contains(&name) {
            let other = if stage == "build" { "search" } else { "build" };
            screen = screen.next(format!("it is a {other} parameter: move it to `{other}`"));
        }
        Self {
            adapter: adapter.to_owned(),
            stage,
            name: name.to_owned(),
            nearest: near.map(str::to_owned),
            screen,
        }
    }
}
