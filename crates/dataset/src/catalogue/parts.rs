use super::EntryError;
use super::entry::{Shard, TruthPart, VectorsPart};
use super::read::{file as file_of, size, text};
use crate::Format;
use annbench_core::ElementType;
use annbench_yaml::{Data, ErrorKind, Fields, Node, Source, Span, listed, shortened};

/// Ids are 32-bit numbers.
pub(super) const MOST_ROWS: u64 = u32::MAX as u64;

const VECTOR_KEYS: [&str; 7] = [
    "file",
    "files",
    "format",
    "dataset",
    "ids",
    "rows",
    "take_first",
];
const SHARD_KEYS: [&str; 2] = ["file", "rows"];
const TRUTH_KEYS: [&str; 5] = ["file", "format", "dataset", "ids", "width"];

/// Reads `base` or `queries`, which is `what`, of an entry whose elements are `element`.
pub(super) fn vectors_part(
    source: &Source,
    node: &Node,
    what: &'static str,
    element: ElementType,
) -> Result<VectorsPart, EntryError> {
    let fields = source.fields(node, what, &VECTOR_KEYS)?;
    let shards = match fields.get("files") {
        None => Vec::new(),
        Some(node) => shards(source, node)?,
    };
    let file = match (shards.first(), fields.entry("file")) {
        (Some(_), Some((key, _))) => {
            let problem = format!("{what}: both `file` and `files`");
            return Err(source
                .error(ErrorKind::Conflict, key.span, problem)
                .expected("one of them")
                .found("`file` beside `files`")
                .next("list all files under `files`"));
        }
        (Some(first), None) => first.file.clone(),
        (None, _) => {
            let file = fields.required("file", "file: base.fvecs")?;
            file_of(source, file, "file")?
        }
    };
    let (format, at) = format(source, &fields, "format: fvecs")?;
    if !shards.is_empty() && format != Format::Parquet {
        let problem = format!("{what}: rows are read from several files of parquet only");
        return Err(source
            .error(ErrorKind::Conflict, at, problem)
            .expected("`parquet`, or `file`")
            .found(format!("`files`, and `{format}`"))
            .next("join the files into one"));
    }
    let fits = |format: &Format| format.holds(element);
    if !format.holds_vectors() {
        return Err(refused(source, at, format, fits, "neighbours, not vectors")
            .next("name a file of neighbours under `truth`"));
    }
    if !format.holds(element) {
        let held = ElementType::ALL.into_iter().filter(|&e| format.holds(e));
        let held = held.map(ElementType::name).collect::<Vec<_>>().join(", ");
        let problem =
            format!("{what}: a file of format {format} holds {held}, but `element` is {element}");
        return Err(source
            .error(ErrorKind::Conflict, at, problem)
            .expected(match element {
                ElementType::Sets => format!("`{}`", Format::Hdf5),
                _ => format!("one of {}", names(fits)),
            })
            .found(format!("`{format}`"))
            .next("correct `format`, or `element`"));
    }
    let hdf5_dataset = hdf5_dataset(source, &fields, format, at, "dataset: train")?;
    let ids = ids(source, &fields, format)?;
    let rows = size(source, fields.required("rows", "rows: 100000")?, "`rows`")?;
    let take_first = match fields.get("take_first") {
        None => None,
        Some(node) => {
            let what = format!("`take_first`, of the {rows} rows of the file,");
            // Lossless, being no more than `rows`.
            Some(source.integer(node, &what, 1..=rows as u64)? as usize)
        }
    };
    Ok(VectorsPart {
        file,
        shards,
        format,
        hdf5_dataset,
        ids,
        rows,
        take_first,
    })
}

/// Reads `files` of a part: names, or names with the rows that each has.
fn shards(source: &Source, node: &Node) -> Result<Vec<Shard>, EntryError> {
    let mut shards: Vec<Shard> = Vec::new();
    for node in source.list(node, "`files`")? {
        let shard = match &node.data {
            Data::Map(_) => {
                let fields = source.fields(node, "one of `files`", &SHARD_KEYS)?;
                let file = fields.required("file", "file: train-00.parquet")?;
                Shard {
                    file: file_of(source, file, "file")?,
                    rows: match fields.get("rows") {
                        None => None,
                        Some(node) => Some(size(source, node, "`rows`")?),
                    },
                }
            }
            _ => Shard {
                file: file_of(source, node, "files")?,
                rows: None,
            },
        };
        if shards.iter().any(|other| other.file == shard.file) {
            return Err(source
                .error(
                    ErrorKind::Duplicate,
                    node.span,
                    "`files`: a file that is listed already",
                )
                .expected("every file once")
                .found(format!("`{}` a second time", shortened(&shard.file)))
                .next("remove it"));
        }
        shards.push(shard);
    }
    Ok(shards)
}

/// Reads `truth` of an entry with `n` base rows.
pub(super) fn truth_part(source: &Source, node: &Node, n: usize) -> Result<TruthPart, EntryError> {
    let fields = source.fields(node, "`truth`", &TRUTH_KEYS)?;
    let file = fields.required("file", "file: gt.ivecs")?;
    let file = file_of(source, file, "file")?;
    let (format, at) = format(source, &fields, "format: ivecs")?;
    if !format.holds_truth() {
        let fits = |format: &Format| format.holds_truth();
        return Err(refused(source, at, format, fits, "vectors, not neighbours")
            .next("name a file of neighbours, or leave `truth` out: it is then computed"));
    }
    let hdf5_dataset = hdf5_dataset(source, &fields, format, at, "dataset: neighbors")?;
    let ids = ids(source, &fields, format)?;
    let node = fields.required("width", "width: 100")?;
    let width = size(source, node, "`width`")?;
    if width > n {
        let problem = format!("`truth`: width {width} is more than the {n} base rows");
        return Err(source
            .error(ErrorKind::Conflict, node.span, problem)
            .expected(format!("at most {n}"))
            .found(width.to_string())
            .next("correct `width`, or `rows` and `take_first` of `base`"));
    }
    Ok(TruthPart {
        file,
        format,
        hdf5_dataset,
        ids,
        width,
    })
}

/// Layouts of what no search of this version is about: name, what they hold, what to do.
const UNSEARCHED: [(&str, &str, &str); 3] = [
    (
        "rangeres",
        "all rows within a radius, and this version searches for k neighbours",
        "leave `truth` out: exact neighbours are then computed",
    ),
    (
        "spmat",
        "sparse rows of real numbers or tags, which this version does not search",
        "use the unfiltered set of the same vectors, such as yfcc-10M-unfiltered",
    ),
    (
        "csr",
        "sparse rows of real numbers, which this version does not search",
        "use a set of dense vectors, or of sets by jaccard",
    ),
];

fn format(
    source: &Source,
    fields: &Fields<'_>,
    example: &str,
) -> Result<(Format, Span), EntryError> {
    let node = fields.required("format", example)?;
    if let Ok(word) = source.text(node, "`format`")
        && let Some((_, holds, next)) = UNSEARCHED.iter().find(|(name, ..)| *name == word.value)
    {
        let problem = format!("`format`: {} holds {holds}", word.value);
        return Err(source
            .error(ErrorKind::Value, node.span, problem)
            .expected("vectors that all have every component, or so many neighbours to each query")
            .found(format!("`{}`", word.value))
            .next(*next));
    }
    let words = Format::ALL.map(|format| (format.name(), format));
    Ok((source.word(node, "`format`", &words)?, node.span))
}

/// An error about a format of another kind; the caller adds what to do next.
fn refused(
    source: &Source,
    at: Span,
    format: Format,
    fits: impl Fn(&Format) -> bool,
    holds: &str,
) -> EntryError {
    let problem = format!("`format`: {format} holds {holds}");
    source
        .error(ErrorKind::Value, at, problem)
        .expected(format!("one of {}", names(fits)))
        .found(format!("`{format}`"))
}

fn names(fits: impl Fn(&Format) -> bool) -> String {
    let formats = Format::ALL.into_iter().filter(|format| fits(format));
    listed(formats.map(Format::name))
}

/// The dataset inside an HDF5 file, or the column of a parquet file; other files have none.
fn hdf5_dataset(
    source: &Source,
    fields: &Fields<'_>,
    format: Format,
    at: Span,
    example: &str,
) -> Result<Option<String>, EntryError> {
    match fields.entry("dataset") {
        Some((_, node)) if format.has_names() => text(source, node, "`dataset`").map(Some),
        None if format == Format::Parquet => Err(source
            .error(
                ErrorKind::Missing,
                at,
                "`dataset` is missing: a parquet file holds several columns",
            )
            .expected("dataset: emb")
            .next(
                "add `dataset`, the name of a column; in VectorDBBench it is emb, or neighbors_id",
            )),
        None if format.has_names() => Err(source
            .error(
                ErrorKind::Missing,
                at,
                "`dataset` is missing: an HDF5 file holds several",
            )
            .expected(example)
            .next("add `dataset`; in the files of ann-benchmarks it is train, test or neighbors")),
        Some((key, _)) => Err(source
            .error(
                ErrorKind::Conflict,
                key.span,
                "`dataset`: only HDF5 and parquet files have datasets inside",
            )
            .found(format!("a file of format {format}"))
            .next("remove `dataset`, or correct `format`")),
        None => Ok(None),
    }
}

/// The column of ids of a parquet file; other files are in order.
fn ids(source: &Source, fields: &Fields<'_>, format: Format) -> Result<Option<String>, EntryError> {
    match fields.entry("ids") {
        None => Ok(None),
        Some((_, node)) if format == Format::Parquet => text(source, node, "`ids`").map(Some),
        Some((key, _)) => Err(source
            .error(
                ErrorKind::Conflict,
                key.span,
                "`ids`: only parquet files have a column of them",
            )
            .found(format!("a file of format {format}"))
            .next("remove `ids`, or correct `format`")),
    }
}
