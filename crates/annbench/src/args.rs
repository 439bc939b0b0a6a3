use crate::accepted::AcceptedViolation;
use crate::complete;
use annbench_config::{DURATION_FORM, format_duration, parse_duration};
use clap::{Parser, Subcommand};
use clap_complete::engine::ArgValueCandidates;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Measures approximate-nearest-neighbour libraries: recall@k against QPS, and shows why the
/// numbers can be trusted.
#[derive(Debug, Parser)]
#[command(name = "annbench", version, propagate_version = true)]
#[command(
    after_help = "Files: configs/README.md is the format of sweeps and campaigns, datasets/README.md that of \
                  dataset entries, results/README.md what is recorded and what each number means."
)]
pub struct Args {
    #[command(flatten)]
    pub places: PlaceArgs,
    #[command(subcommand)]
    pub verb: Verb,
}

/// Where things are.
#[derive(Clone, Debug, clap::Args)]
pub struct PlaceArgs {
    /// Folder of dataset entries, downloads and caches [default: datasets, here or above]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Places")]
    pub datasets: Option<PathBuf>,
    /// Another folder in which dataset files may lie, besides their places under the first one
    #[arg(long, global = true, value_name = "DIR", help_heading = "Places")]
    pub data: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a campaign or a sweep, or go on with it after an interruption
    Run(RunArgs),
    /// Print what would run, what is refused and why, and how much work it is
    Plan(PlanArgs),
    /// Have every point judged by its adapter, without building, and without the datasets' files
    Check(CheckArgs),
    /// Overlay runs: a table, a Pareto plot per dataset and k, a CSV
    Report(ReportArgs),
    /// Print everything that is known about one point, or about one build
    Explain(ExplainArgs),
    /// Recompute quality from stored ids, and latency and QPS from stored times
    Rescore(RescoreArgs),
    /// Tell how far two approximate searches agree, which is not recall
    Agreement(AgreementArgs),
    /// Prove, query by query, that a compressed base keeps the nearest neighbours
    AuditQuantiser(AuditQuantiserArgs),
    /// List the installed adapters and what they take
    Adapters(AdaptersArgs),
    /// List datasets, show where one's files belong and which are missing, download them, check them
    Datasets(DatasetsArgs),
    /// Find exact neighbours and prove them, whole or in pieces that join; audit shipped ones
    Truth(crate::cmd::truth::TruthArgs),
    /// Show that the harness measures what it says it measures
    Selftest(SelftestArgs),
    /// Print a script with which a shell completes the command line
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each verb
    Man(ManArgs),
}

/// For programs that read the answer.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Form {
    /// Print one JSON document, with the names that records use, instead of text
    #[arg(long)]
    pub json: bool,
}

/// What of a campaign is meant.
#[derive(Clone, Debug, clap::Args)]
pub struct Selection {
    /// A campaign, or a sweep (which then runs with the defaults that `plan` prints)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Only this dataset, or another one than the campaign's; may be repeated
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::datasets))]
    pub dataset: Vec<String>,
    /// Only this group of the sweeps; may be repeated
    #[arg(long, value_name = "NAME")]
    pub group: Vec<String>,
    /// Only this adapter; may be repeated
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::adapters))]
    pub adapter: Vec<String>,
    /// Leave out this adapter; may be repeated
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::adapters))]
    pub without_adapter: Vec<String>,
    /// Use this dataset although a file's checksum is not the recorded one; printed on every result
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::datasets))]
    pub accept_checksum: Vec<String>,
    /// Round this dataset's values to its element type where they do not fit it; printed on every result
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::datasets))]
    pub narrow: Vec<String>,
    /// Use this dataset although it violates a rule that `datasets audit` tells; printed on every result
    #[arg(long, value_name = "DATASET:RULE")]
    pub accept_violation: Vec<AcceptedViolation>,
}

impl Selection {
    /// What is permitted for the dataset `name`.
    pub fn permits(&self, name: &str) -> Permits {
        let named = |list: &[String]| list.iter().any(|dataset| dataset == name);
        Permits {
            accept_checksum: named(&self.accept_checksum),
            narrow: named(&self.narrow),
        }
    }
}

/// What a user has permitted for a dataset by its name, or for the only one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Permits {
    /// Go on although a file's checksum is not the recorded one
    #[arg(long)]
    pub accept_checksum: bool,
    /// Round values to the entry's element type where they do not fit it
    #[arg(long)]
    pub narrow: bool,
}

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub selection: Selection,
    /// Run directory; the same one again goes on where it stopped [default: results/<file's name>]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub effort: Effort,
    /// Print what `plan` prints, with what the budget reaches, and measure nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not calibrate the harness first; the run's record says so
    #[arg(long)]
    pub skip_selftest: bool,
}

/// How much of what is asked for is worth its time.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Effort {
    /// Repeat points that already have a record of this kind; may be repeated
    #[arg(long, value_name = "KIND", value_enum)]
    pub retry: Vec<Retry>,
    /// Begin nothing after this time, such as 30min, and take points in an order that gives every
    /// curve early and sharpens it; what is not reached is recorded as skipped
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub budget: Option<Budget>,
    /// Once a build has reached this recall, skip what would only be slower; the records say so
    #[arg(long, value_name = "RECALL", value_parser = parse_recall)]
    pub stop_at_recall: Option<f64>,
}

/// Time that a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The time.
    pub time: Duration,
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_duration(self.time.as_nanos() as u64))
    }
}

fn parse_budget(text: &str) -> Result<Budget, String> {
    match parse_duration(text) {
        Some(0) => Err("expected more than no time at all".to_owned()),
        Some(nanoseconds) => Ok(Budget {
            time: Duration::from_nanos(nanoseconds),
        }),
        None => Err(format!("expected {DURATION_FORM}")),
    }
}

fn parse_recall(text: &str) -> Result<f64, String> {
    let expected = "expected a recall above 0 and at most 1, such as 0.999";
    let recall: f64 = text.parse().map_err(|_| expected.to_owned())?;
    if recall > 0.0 && recall <= 1.0 {
        Ok(recall)
    } else {
        Err(expected.to_owned())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Retry {
    /// Failed points and those skipped because of them
    Failed,
    /// Points whose raw files are missing or not those that were measured
    Lost,
}

#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub selection: Selection,
    /// Run directory whose finished points are left out; its times and those of the runs beside it
    /// give the estimate [default: results/<file's name>]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub effort: Effort,
    /// Print every point instead of a summary per build
    #[arg(long)]
    pub points: bool,
    #[command(flatten)]
    pub form: Form,
}

impl PlanArgs {
    /// The plan of a run.
    pub fn of(run: &RunArgs) -> Self {
        Self {
            selection: run.selection.clone(),
            out: run.out.clone(),
            effort: run.effort.clone(),
            points: false,
            form: Form { json: false },
        }
    }
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit code: 0 when every point is accepted, 1 when some are refused or an adapter cannot \
                        be asked, 2 when the file cannot be read."
)]
pub struct CheckArgs {
    #[command(flatten)]
    pub selection: Selection,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit code: 0 when every record found agrees with itself and its raw files, 1 when one does \
                        not, 2 when there is no such point or more than one."
)]
pub struct ExplainArgs {
    /// A point id, a build id, or the beginning of one, as records and `report --points` have it
    #[arg(value_name = "POINT")]
    pub point: String,
    /// Run directories [default: all in results]
    #[arg(value_name = "DIR")]
    pub runs: Vec<PathBuf>,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, clap::Args)]
pub struct SelftestArgs {
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Write a page per verb into this folder instead
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// Run directories
    #[arg(value_name = "DIR", required = true)]
    pub runs: Vec<PathBuf>,
    /// Folder for plots and CSV [default: <first DIR>/report]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also print the table of all points
    #[arg(long)]
    pub points: bool,
    /// Also print a table of metrics that are not recall@k, such as MRR, and recall as other suites
    /// compute it
    #[arg(long)]
    pub metrics: bool,
    /// Also print the Pareto plots as text, as wide as $COLUMNS says, else 80 columns
    #[arg(long)]
    pub text_plot: bool,
    /// What makes a curve
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = By::Library)]
    pub by: By,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// All builds of a library version
    Library,
    /// Each group of a sweep
    Group,
}

#[derive(Debug, clap::Args)]
pub struct RescoreArgs {
    /// Run directories
    #[arg(value_name = "DIR", required = true)]
    pub runs: Vec<PathBuf>,
    /// Only compare: write nothing, and end with 1 when something differs
    #[arg(long)]
    pub check: bool,
    /// An entry outside the datasets folder that the runs used; may be repeated
    #[arg(long, value_name = "FILE")]
    pub dataset: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Two searches may agree and both be wrong. An exact search is refused: agreement with it is \
                        recall, which `annbench run` computes."
)]
pub struct AgreementArgs {
    /// A point, by the beginning of its id, or a run directory
    #[arg(value_name = "A")]
    pub a: String,
    /// Another point, or another run directory, of which points with the same parameters are compared
    #[arg(value_name = "B")]
    pub b: String,
    /// Run directories in which points are looked for [default: all in results]
    #[arg(value_name = "DIR")]
    pub runs: Vec<PathBuf>,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("compressed").required(true).args(["reconstructed", "narrow_to"]),
    after_help = "Every distance is computed twice, exactly and to the decoded vectors: about as long as exact \
                        neighbours take in f64. What is not proven is not refuted: see `kept` beside it."
)]
pub struct AuditQuantiserArgs {
    /// Name of the dataset, of metric l2 or cosine
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::datasets))]
    pub name: String,
    /// What the compressed base decodes to: a vector for every base row, in its order, in f32 or the
    /// set's own element type
    #[arg(long, value_name = "FILE")]
    pub reconstructed: Option<PathBuf>,
    /// Compress the base itself into this type
    #[arg(long = "as", value_name = "TYPE", value_enum)]
    pub narrow_to: Option<crate::cmd::audit_quantiser::Narrow>,
    /// Layout of FILE [default: as its name ends]
    #[arg(long, value_name = "FORMAT", value_parser = crate::cmd::audit_quantiser::parse_format)]
    pub format: Option<annbench_dataset::Format>,
    /// The dataset inside an HDF5 file, or the column of a parquet file
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
    /// Element type of FILE, where its layout does not tell [default: f32]
    #[arg(long, value_name = "TYPE", value_parser = crate::cmd::datasets::parse_element)]
    pub element: Option<annbench_core::ElementType>,
    /// Neighbours that are to stay the nearest
    #[arg(short, long, value_name = "K", default_value_t = 10)]
    pub k: usize,
    /// Audit the first N queries only
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub queries: Option<usize>,
    #[command(flatten)]
    pub permits: Permits,
    #[command(flatten)]
    pub form: Form,
}

fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("expected a whole number above 0".to_owned()),
    }
}

#[derive(Debug, clap::Args)]
pub struct AdaptersArgs {
    /// Only this adapter, with its parameters
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::adapters))]
    pub name: Option<String>,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, clap::Args)]
pub struct StrataArgs {
    /// Name of the entry
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::datasets))]
    pub name: String,
    /// Neighbours of each row that are counted: the k of the recall
    #[arg(short, long, value_name = "K", default_value_t = 10)]
    pub k: usize,
    /// Count the neighbours of so many rows only, drawn at random, where all would take too long; every
    /// result that uses these counts says so
    #[arg(long, value_name = "ROWS")]
    pub sample: Option<usize>,
    /// Count so many neighbours of each row of the sample [default: k]
    #[arg(long, value_name = "K", requires = "sample")]
    pub count_k: Option<usize>,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, clap::Args)]
pub struct DatasetsArgs {
    #[command(subcommand)]
    pub verb: DatasetsVerb,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit code: 0 when everything is here, 1 when something is missing still, 2 when a name is \
                        unknown, 130 after Ctrl-C. What came is kept, and the same command goes on with it."
)]
pub struct FetchArgs {
    /// Names of entries, or of VectorDBBench's bases without queries, such as gist_small_100k
    #[arg(value_name = "NAME", required = true, add = ArgValueCandidates::new(complete::datasets))]
    pub names: Vec<String>,
    /// Take the files from this folder of a server (http, https, ftp) and not from where they are
    /// published; may be repeated: the next serves where one fails
    #[arg(long, value_name = "URL")]
    pub from: Vec<String>,
    /// Print what would be downloaded, and download nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Keep archives after their files were taken out
    #[arg(long)]
    pub keep_archive: bool,
    #[command(flatten)]
    pub form: Form,
}

#[derive(Debug, Subcommand)]
pub enum DatasetsVerb {
    /// Count how often base rows are near to others, for anti-hub recall; kept for every later run
    Strata(StrataArgs),
    /// List the entries
    List {
        #[command(flatten)]
        form: Form,
    },
    /// Print shape, URL, size, checksum, where the files belong and which are missing
    Show {
        /// Name of the entry
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::datasets))]
        name: String,
        #[command(flatten)]
        form: Form,
    },
    /// Download what is missing, verify it and put it where it belongs
    Fetch(FetchArgs),
    /// Open a dataset: check its files, fingerprint it, prove its truth
    Check {
        /// Name of the entry
        #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::datasets))]
        name: String,
        #[command(flatten)]
        permits: Permits,
    },
    /// Look into files of your own and write their entry
    Add(crate::cmd::datasets::AddArgs),
    /// Write a set in another layout, with its entry beside it
    Convert(crate::cmd::datasets::ConvertArgs),
    /// Judge base, queries and shipped truth by one rule after another, each with its evidence; ends
    /// with 1 when a rule is violated
    Audit(AuditArgs),
}

#[derive(Debug, clap::Args)]
pub struct AuditArgs {
    /// Name of the entry
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(complete::datasets))]
    pub name: String,
    /// Prove the truth of this many queries, drawn at random [default: all, or as many as take a
    /// minute or two]
    #[arg(long, value_name = "N", conflicts_with = "quick")]
    pub queries: Option<usize>,
    /// Judge only what takes seconds, as before the first run on a dataset
    #[arg(long)]
    pub quick: bool,
    #[command(flatten)]
    pub permits: Permits,
    #[command(flatten)]
    pub form: Form,
}
