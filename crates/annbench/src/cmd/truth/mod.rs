//! `annbench truth ...`

mod audit;
mod compute;
mod join;
mod words;

use crate::args::{Form, Permits};
use crate::places::Places;
use crate::subject::{catalogue, watched};
use crate::{Answer, complete, interrupt};
use annbench_dataset::{Dataset, Entry, OpenOptions};
use clap::Subcommand;
use clap_complete::engine::ArgValueCandidates;

#[derive(Debug, clap::Args)]
pub struct TruthArgs {
    #[command(subcommand)]
    pub verb: TruthVerb,
}

#[derive(Debug, Subcommand)]
pub enum TruthVerb {
    /// Find the exact neighbours of the queries, with a proof for each, and keep them for every run; the
    /// same command goes on after an interruption
    Compute(compute::ComputeArgs),
    /// Compare shipped neighbours with proved ones, query by query; ends with 1 when any is wrong
    Audit(audit::AuditArgs),
    /// Join pieces that were searched over adjacent base rows, on whatever machines
    Join(join::JoinArgs),
}

/// The dataset that is meant.
#[derive(Debug, clap::Args)]
pub struct Named {
    /// Name of the entry
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::datasets))]
    pub name: String,
    #[command(flatten)]
    pub permits: Permits,
    #[command(flatten)]
    pub form: Form,
}

/// `annbench truth ...`
pub fn truth(places: &Places, verb: &TruthVerb) -> anyhow::Result<Answer> {
    match verb {
        TruthVerb::Compute(args) => compute::compute(places, args),
        TruthVerb::Audit(args) => audit::audit(places, args),
        TruthVerb::Join(args) => join::join(places, args),
    }
}

/// Opens the vectors of a dataset, whatever truth is shipped with them, for `work` on them.
fn with_vectors(
    places: &Places,
    named: &Named,
    work: impl FnOnce(&Dataset, &Entry, &OpenOptions<'_>) -> anyhow::Result<Answer>,
) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    let pool = super::scoring_pool()?;
    let entry = catalogue(places).entry(&named.name)?;
    watched(&entry.name, named.permits, &pool, |options| {
        let alone = Entry {
            truth: None,
            ..entry.clone()
        };
        let dataset = Dataset::open(&alone, options)?;
        work(&dataset, &entry, options)
    })
}
