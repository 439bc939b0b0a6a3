use super::beside::{metadata_part, qrels_part, range_truth_part};
use super::entry::{Entry, is_plain_name};
use super::parts::{MOST_ROWS, truth_part, vectors_part};
use super::{EntryError, Places, files};
use annbench_core::{ElementType, Metric};
use annbench_yaml::{ErrorKind, Form, Node, Source, listed, shortened};
use std::collections::BTreeMap;
use std::path::{Component, Path};

const FORM: Form = Form {
    what: "a dataset entry",
    outline: "a dataset entry (`name`, `metric`, `element`, `dim`, `base`, `queries`, …)",
    manual: "datasets/README.md",
    in_place_of_merges: "write the keys out; share single values with `&name` and `*name`",
};

const ENTRY_KEYS: [&str; 18] = [
    "name",
    "description",
    "metric",
    "element",
    "dim",
    "base",
    "queries",
    "truth",
    "qrels",
    "range_truth",
    "metadata",
    "files",
    "from",
    "archive",
    "source",
    "licence",
    "notes",
    "folder",
];

pub(crate) const PLAIN_NAME: &str =
    "ASCII letters, digits, `-`, `_` and `.`, not beginning with `.`";

/// The entry that `text`, the contents of `path`, describes.
pub(super) fn entry(path: &Path, text: &str, places: Places) -> Result<Entry, EntryError> {
    let source = &Source::new(&path.display().to_string(), text, &FORM);
    let root = source.compose()?;
    let fields = source.fields(&root, "a dataset entry", &ENTRY_KEYS)?;
    let name = name(source, fields.required("name", "name: my-set")?, path)?;
    let description = fields.required("description", "description: What it is, in a line")?;
    let description = self::text(source, description, "`description`")?;
    let metrics = Metric::ALL.map(|metric| (metric.name(), metric));
    let metric_node = fields.required("metric", "metric: l2")?;
    let metric = source.word(metric_node, "`metric`", &metrics)?;
    let elements = ElementType::ALL.map(|element| (element.name(), element));
    let element = fields.required("element", "element: f32")?;
    let element = source.word(element, "`element`", &elements)?;
    check_metric(source, metric_node, metric, element)?;
    let dim = size(source, fields.required("dim", "dim: 128")?, "`dim`")?;
    let base = fields.required(
        "base",
        "base: { file: base.fvecs, format: fvecs, rows: 100000 }",
    )?;
    let base = vectors_part(source, base, "`base`", element)?;
    let queries = fields.required(
        "queries",
        "queries: { file: query.fvecs, format: fvecs, rows: 1000 }",
    )?;
    let queries = vectors_part(source, queries, "`queries`", element)?;
    let truth = match fields.get("truth") {
        None => None,
        Some(node) => Some(truth_part(source, node, base.n())?),
    };
    let qrels = fields.get("qrels");
    let qrels = qrels.map(|node| qrels_part(source, node)).transpose()?;
    let range_truth = fields.get("range_truth");
    let range_truth = range_truth.map(|node| range_truth_part(source, node));
    let range_truth = range_truth.transpose()?;
    let metadata = fields.get("metadata");
    let metadata = metadata.map(|node| metadata_part(source, node));
    let metadata = metadata.transpose()?;
    let from = match fields.get("from") {
        None => Vec::new(),
        Some(node) => files::urls(source, node, "`from`")?,
    };
    let archive = match fields.get("archive") {
        None => None,
        Some(node) => Some(files::archive(source, node)?),
    };
    let publisher = fields.required("source", "source: Who published it")?;
    let publisher = self::text(source, publisher, "`source`")?;
    let licence = fields.required("licence", "licence: Its terms")?;
    let licence = self::text(source, licence, "`licence`")?;
    let notes = match fields.get("notes") {
        None => Vec::new(),
        Some(node) => source
            .list(node, "`notes`")?
            .iter()
            .map(|node| self::text(source, node, "a note"))
            .collect::<Result<_, _>>()?,
    };
    let folder = match fields.get("folder") {
        None => name.clone(),
        Some(node) => folder(source, node)?,
    };
    let mut entry = Entry {
        name,
        description,
        metric,
        element,
        dim,
        base,
        queries,
        truth,
        qrels,
        range_truth,
        metadata,
        files: BTreeMap::new(),
        from,
        archive,
        source: publisher,
        licence,
        notes,
        places: Places { folder, ..places },
    };
    if let Some(node) = fields.get("files") {
        entry.files = files::facts(source, node, &entry)?;
    }
    Ok(entry)
}

/// Refuses a metric that vectors of `element` cannot have.
fn check_metric(
    source: &Source,
    node: &Node,
    metric: Metric,
    element: ElementType,
) -> Result<(), EntryError> {
    if metric.is_defined_on(element) {
        return Ok(());
    }
    let problem = format!("`metric`: {metric} is not defined on vectors of {element}");
    let defined = Metric::ALL.into_iter().filter(|m| m.is_defined_on(element));
    Err(source
        .error(ErrorKind::Conflict, node.span, problem)
        .expected(match element {
            ElementType::Sets => "`jaccard`".to_owned(),
            _ => format!("one of {}", listed(defined.map(Metric::name))),
        })
        .found(format!("`{metric}`"))
        .next("correct `metric`, or `element`"))
}

/// Text without the line break that ends a block of lines.
pub(super) fn text(source: &Source, node: &Node, what: &str) -> Result<String, EntryError> {
    Ok(source.text(node, what)?.value.trim_end().to_owned())
}

/// The name of a file, or a path, under `key`. It may be written to a folder of the dataset, and leads to
/// no other.
pub(super) fn file(source: &Source, node: &Node, key: &str) -> Result<String, EntryError> {
    let what = format!("`{key}`");
    let file = text(source, node, &what)?;
    let path = Path::new(&file);
    let leads_out = |part| matches!(part, Component::ParentDir);
    if path.is_absolute() || (!file.is_empty() && !path.components().any(leads_out)) {
        return Ok(file);
    }
    Err(source
        .error(
            ErrorKind::Value,
            node.span,
            format!("{what} names no file in the folder of the dataset"),
        )
        .expected("the name of a file, a path below that folder, or an absolute path")
        .found(format!("`{}`", shortened(&file)))
        .next("name the file without `..`; `--data DIR` says where else to look"))
}

/// Rows, components and widths fit 32 bits in every layout there is.
pub(super) fn size(source: &Source, node: &Node, what: &str) -> Result<usize, EntryError> {
    // Lossless: no platform that maps such files has a narrower usize.
    Ok(source.integer(node, what, 1..=MOST_ROWS)? as usize)
}

fn name(source: &Source, node: &Node, path: &Path) -> Result<String, EntryError> {
    let name = text(source, node, "`name`")?;
    if !is_plain_name(&name) {
        return Err(source
            .error(
                ErrorKind::Value,
                node.span,
                "`name` is no plain name: files and folders are named after it",
            )
            .expected(PLAIN_NAME)
            .found(format!("`{}`", shortened(&name)))
            .next("choose such a name, and give it to the file too"));
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    let stem = stem.as_deref().unwrap_or_default();
    if stem == name {
        return Ok(name);
    }
    let error = source
        .error(
            ErrorKind::Value,
            node.span,
            "`name` differs from the name of its file",
        )
        .expected(format!(
            "`{}`, the file's name without .yaml",
            shortened(stem)
        ))
        .found(format!("`{}`", shortened(&name)));
    let rename = format!("rename the file to {}.yaml", shortened(&name));
    Err(if is_plain_name(stem) {
        error.next(format!("write `name: {}`, or {rename}", shortened(stem)))
    } else {
        error.next(rename)
    })
}

fn folder(source: &Source, node: &Node) -> Result<String, EntryError> {
    let folder = text(source, node, "`folder`")?;
    if is_plain_name(&folder) {
        return Ok(folder);
    }
    Err(source
        .error(
            ErrorKind::Value,
            node.span,
            "`folder` is no plain name: it is one folder, not a path",
        )
        .expected(PLAIN_NAME)
        .found(format!("`{}`", shortened(&folder)))
        .next("name the folder without its path; `--data DIR` says where else to look"))
}
