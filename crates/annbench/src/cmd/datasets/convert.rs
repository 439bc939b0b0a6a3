use crate::args::Permits;
use crate::complete;
use crate::places::Places;
use crate::subject::{catalogue, watched};
use crate::{Answer, interrupt};
use annbench_core::ElementType;
use annbench_dataset::{Dataset, Entry, Export, Exported, Format, OpenOptions, Truth, export};
use annbench_report::count;
use anyhow::bail;
use clap_complete::engine::ArgValueCandidates;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every value is written as it is, or nothing is: a number that the layout cannot hold exactly is \
                  refused with its place. What was written is read back before it gets its name."
)]
pub struct ConvertArgs {
    /// Name of the entry
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::datasets))]
    pub name: String,
    /// Layout of the vectors: fvecs, bvecs, fbin, f16bin, i8bin, u8bin, npy or hdf5; neighbours go into
    /// ivecs, ibin, npy or hdf5
    #[arg(long, value_name = "FORMAT", value_parser = parse_layout)]
    pub to: Format,
    /// Folder for the files and their entry, which does not exist yet
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Name of the new entry [default: NAME-FORMAT]
    #[arg(long = "as", value_name = "NAME")]
    pub new_name: Option<String>,
    /// Element type, where the layout holds several [default: the set's own]
    #[arg(long, value_name = "TYPE", value_parser = parse_element)]
    pub element: Option<ElementType>,
    /// Write exact neighbours, so many to a query at least, where the set ships none
    #[arg(long, value_name = "K")]
    pub truth: Option<usize>,
    /// Leave shipped neighbours out
    #[arg(long, conflicts_with = "truth")]
    pub without_truth: bool,
    /// Go on although a file's checksum is not the recorded one; a note of the new entry tells
    #[arg(long)]
    pub accept_checksum: bool,
}

/// A layout of vectors.
fn parse_layout(text: &str) -> Result<Format, String> {
    let written = Format::ALL.into_iter().filter(|format| format.is_written());
    one_of(written, Format::name, text)
}

pub(crate) fn parse_element(text: &str) -> Result<ElementType, String> {
    one_of(ElementType::ALL, ElementType::name, text)
}

/// The one of `all` that is called `text`.
pub(crate) fn one_of<T: Copy>(
    all: impl IntoIterator<Item = T>,
    name: impl Fn(T) -> &'static str,
    text: &str,
) -> Result<T, String> {
    let all: Vec<T> = all.into_iter().collect();
    let found = all.iter().copied().find(|&one| name(one) == text);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|&one| name(one)).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// `annbench datasets convert`
pub fn convert(places: &Places, args: &ConvertArgs) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    let pool = super::super::scoring_pool()?;
    let entry = catalogue(places).entry(&args.name)?;
    let permits = Permits {
        accept_checksum: args.accept_checksum,
        narrow: false,
    };
    watched(&entry.name, permits, &pool, |options| {
        convert_opened(&entry, args, options)
    })
}

fn convert_opened(
    entry: &Entry,
    args: &ConvertArgs,
    options: &OpenOptions<'_>,
) -> anyhow::Result<Answer> {
    let dataset = Dataset::open(entry, options)?;
    let truth = truth(&dataset, args, options)?;
    let name = match &args.new_name {
        Some(name) => name.clone(),
        None => format!("{}-{}", entry.name, args.to),
    };
    let wanted = Export {
        name: &name,
        format: args.to,
        element: args.element,
        dir: &args.out,
    };
    let exported = export(&dataset, truth.as_deref(), &wanted, options)?;
    let mut text = text(&exported, truth.as_deref());
    for note in dataset.notes() {
        let _ = writeln!(text, "  note: {note}");
    }
    Ok(Answer::good(text))
}

/// The neighbours that are written, if any are.
fn truth(
    dataset: &Dataset,
    args: &ConvertArgs,
    options: &OpenOptions<'_>,
) -> anyhow::Result<Option<Arc<Truth>>> {
    if args.without_truth {
        return Ok(None);
    }
    let Some(shipped) = dataset.shipped_truth() else {
        return Ok(args.truth.map(|k| dataset.truth(k, options)).transpose()?);
    };
    if let Some(width) = args.truth {
        bail!(
            "dataset {}: --truth {width}: it ships neighbours already, {} to a query, and these are written; leave \
             --truth out",
            dataset.name(),
            shipped.width()
        );
    }
    if let Some(r) = shipped.refuted() {
        bail!(
            "dataset {}: its shipped neighbours are wrong: expected none nearer to query {} than its neighbour {} at \
             {}, found row {} at {}; leave them out with --without-truth",
            dataset.name(),
            r.query,
            r.k,
            r.truth_distance,
            r.id,
            r.distance
        );
    }
    Ok(Some(Arc::clone(shipped)))
}

fn text(exported: &Exported, truth: Option<&Truth>) -> String {
    let entry = &exported.entry;
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
    let _ = writeln!(text, "  base fingerprint     {}", exported.base_fingerprint);
    let _ = writeln!(
        text,
        "  queries fingerprint  {}",
        exported.queries_fingerprint
    );
    let _ = match truth {
        Some(truth) => writeln!(text, "  truth                {} neighbours", truth.width()),
        None => writeln!(
            text,
            "  truth                none; it is computed where it is needed (--truth K writes it)"
        ),
    };
    for (file, facts) in &entry.files {
        let bytes = facts.bytes.map(count).unwrap_or_default();
        let _ = writeln!(text, "  {file:20} {bytes} bytes");
    }
    let _ = writeln!(
        text,
        "all of it was read back and is the same\n{}",
        exported.entry_path.display()
    );
    text
}
