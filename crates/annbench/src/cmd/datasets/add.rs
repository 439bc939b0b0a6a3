use super::convert::one_of;
use crate::args::Permits;
use crate::places::Places;
use crate::subject::{catalogue, watched};
use crate::{Answer, interrupt};
use annbench_core::{ElementType, Metric};
use annbench_dataset::{Own, add as add_entry};
use annbench_report::count;
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Base, queries and neighbours are told apart by shape and content, never by name; what cannot be \
                  told is asked for. Files stay where they are."
)]
pub struct AddArgs {
    /// Files of vectors and neighbours: npy, HDF5, parquet, fvecs, bvecs, ivecs, fbin, u8bin, ibin and the like
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Name of the entry [default: that of the only file, or of the folder]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Metric [default: the only one under which the neighbours are in order]
    #[arg(long, value_name = "METRIC", value_parser = parse_metric)]
    pub metric: Option<Metric>,
    /// Element type of the vectors [default: that of the values]
    #[arg(long, value_name = "TYPE", value_parser = super::convert::parse_element)]
    pub element: Option<ElementType>,
    /// Components per vector, where packed bits or sets do not tell
    #[arg(long, value_name = "N")]
    pub dim: Option<usize>,
    /// The base: one of the files, or FILE:DATASET
    #[arg(long, value_name = "TABLE")]
    pub base: Option<String>,
    /// The queries, likewise
    #[arg(long, value_name = "TABLE")]
    pub queries: Option<String>,
    /// The neighbours, likewise
    #[arg(long, value_name = "TABLE")]
    pub truth: Option<String>,
    /// Leave neighbours out; exact ones are then computed
    #[arg(long, conflicts_with = "truth")]
    pub without_truth: bool,
    /// What the set is, in a line
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Who made it [default: not stated]
    #[arg(long, value_name = "TEXT")]
    pub source: Option<String>,
    /// Its terms [default: not stated]
    #[arg(long, value_name = "TEXT")]
    pub licence: Option<String>,
}

fn parse_metric(text: &str) -> Result<Metric, String> {
    one_of(Metric::ALL, Metric::name, text)
}

/// `annbench datasets add`
pub fn add(places: &Places, args: &AddArgs) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    let pool = super::super::scoring_pool()?;
    let name = args.name.as_deref().unwrap_or("add");
    let own = Own {
        files: args.files.clone(),
        name: args.name.clone(),
        metric: args.metric,
        element: args.element,
        dim: args.dim,
        base: args.base.clone(),
        queries: args.queries.clone(),
        truth: args.truth.clone(),
        without_truth: args.without_truth,
        description: args.description.clone(),
        source: args.source.clone(),
        licence: args.licence.clone(),
    };
    let added = watched(name, Permits::default(), &pool, |options| {
        add_entry(&catalogue(places), &own, options)
    })?;
    let entry = &added.entry;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} x {} {} {}, {} queries",
        entry.name,
        count(entry.n() as u64),
        entry.dim,
        entry.element,
        entry.metric,
        count(entry.queries.n() as u64)
    );
    for sentence in &added.inferred {
        let _ = writeln!(text, "  {sentence}");
    }
    if args.licence.is_none() || args.source.is_none() {
        text.push_str("  source and licence are `not stated`: write them into the entry\n");
    }
    // Where else the folder of entries has to be named, it was named here too.
    let flags: String = places
        .flags
        .iter()
        .map(|(flag, path)| format!(" {flag} {}", path.display()))
        .collect();
    let _ = write!(
        text,
        "wrote {}\n\
         check it:  annbench datasets check {name}{flags}\n\
         run on it: annbench run configs/quickstart.yaml --dataset {name} --out results/{name}{flags}\n",
        added.path.display(),
        name = entry.name,
    );
    Ok(Answer::good(text))
}
