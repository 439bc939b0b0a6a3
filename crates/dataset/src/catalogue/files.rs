use super::EntryError;
use super::entry::{Archive, Entry, FileFacts, VectorsPart};
use super::read::text;
use annbench_core::ElementType;
use annbench_yaml::{Data, ErrorKind, Fields, Key, Node, Source, Value, shortened};
use std::collections::BTreeMap;

const FILE_KEYS: [&str; 6] = ["bytes", "sha256", "flat_sha256", "md5", "url", "mirrors"];
const ARCHIVE_KEYS: [&str; 5] = ["url", "mirrors", "bytes", "sha256", "md5"];

/// Hexadecimal digits of a SHA-256 and of an MD5.
const SHA256: usize = 64;
const MD5: usize = 32;

/// Reads `files` of `entry`: what is known of each, by name. Only those that it uses can be named.
pub(super) fn facts(
    source: &Source,
    node: &Node,
    entry: &Entry,
) -> Result<BTreeMap<String, FileFacts>, EntryError> {
    let used = entry.opened_files().into_iter().chain(entry.files_beside());
    let used: Vec<&str> = used.map(|(_, file)| file).collect();
    let mut facts = BTreeMap::new();
    for (key, node) in source.entries(node, "`files`")? {
        if !used.contains(&key.name.as_str()) {
            let problem = format!("`files`: nothing uses `{}`", shortened(&key.name));
            let mut used = used;
            used.dedup();
            return Err(source.unknown(
                ErrorKind::UnknownName,
                key.span,
                problem,
                &key.name,
                used.iter().copied(),
            ));
        }
        let fields = source.fields(node, "an entry of `files`", &FILE_KEYS)?;
        if let Some((flat, _)) = fields.entry("flat_sha256") {
            let vectors = [&entry.base, &entry.queries];
            check_flat(source, flat, &key.name, vectors, entry.element)?;
        }
        let known = FileFacts {
            bytes: bytes(source, &fields)?,
            sha256: checksum(source, &fields, "sha256", SHA256)?,
            flat_sha256: checksum(source, &fields, "flat_sha256", SHA256)?,
            md5: checksum(source, &fields, "md5", MD5)?,
            url: match fields.get("url") {
                None => None,
                Some(node) => Some(text(source, node, "`url`")?),
            },
            mirrors: mirrors(source, &fields)?,
        };
        facts.insert(key.name.clone(), known);
    }
    Ok(facts)
}

/// Refuses the key `flat` of `file` where no such checksum can be: of sets, and of a file that holds the
/// base and the queries apart, since one checksum cannot be that of both.
fn check_flat(
    source: &Source,
    flat: &Key,
    file: &str,
    [base, queries]: [&VectorsPart; 2],
    element: ElementType,
) -> Result<(), EntryError> {
    let refused = |problem: String| source.error(ErrorKind::Conflict, flat.span, problem);
    if [base, queries]
        .iter()
        .any(|part| part.is_in(file) && !part.shards.is_empty())
    {
        return Err(refused(
            "`flat_sha256`: the rows of this file are in no order of their own".to_owned(),
        )
        .expected(EXPECTED)
        .found("one of several files")
        .next("give `sha256` instead, or remove it"));
    }
    const EXPECTED: &str = "`sha256`, of the file as it is";
    if element == ElementType::Sets {
        return Err(
            refused("`flat_sha256`: sets have no flat layout".to_owned())
                .expected(EXPECTED)
                .found("`flat_sha256`")
                .next("remove it"),
        );
    }
    let holds_both = base.is_in(file) && queries.is_in(file);
    if holds_both && base.hdf5_dataset != queries.hdf5_dataset {
        let name = |part: &VectorsPart| shortened(part.hdf5_dataset.as_deref().unwrap_or_default());
        let problem = "`flat_sha256`: this file holds both the base and the queries";
        return Err(refused(problem.to_owned())
            .expected(EXPECTED)
            .found(format!(
                "one checksum for the base in `{}` and the queries in `{}`",
                name(base),
                name(queries)
            ))
            .next("give `sha256` instead, or remove it"));
    }
    Ok(())
}

/// Reads `archive`.
pub(super) fn archive(source: &Source, node: &Node) -> Result<Archive, EntryError> {
    let fields = source.fields(node, "`archive`", &ARCHIVE_KEYS)?;
    let url = fields.required("url", "url: \"https://…\"")?;
    Ok(Archive {
        url: text(source, url, "`url`")?,
        mirrors: mirrors(source, &fields)?,
        bytes: bytes(source, &fields)?,
        sha256: checksum(source, &fields, "sha256", SHA256)?,
        md5: checksum(source, &fields, "md5", MD5)?,
    })
}

/// URLs that are tried after `url`, which there must be then.
fn mirrors(source: &Source, fields: &Fields<'_>) -> Result<Vec<String>, EntryError> {
    let Some((key, node)) = fields.entry("mirrors") else {
        return Ok(Vec::new());
    };
    if fields.get("url").is_none() {
        let problem = "`mirrors`: there is no `url` that they stand beside".to_owned();
        return Err(source
            .error(ErrorKind::Conflict, key.span, problem)
            .expected("`url`, and mirrors of it")
            .found("`mirrors` alone")
            .next("call the first of them `url`"));
    }
    urls(source, node, "`mirrors`")
}

/// A list of URLs, one at least.
pub(super) fn urls(source: &Source, node: &Node, what: &str) -> Result<Vec<String>, EntryError> {
    let urls = source.list(node, what)?;
    urls.iter().map(|node| text(source, node, what)).collect()
}

fn bytes(source: &Source, fields: &Fields<'_>) -> Result<Option<u64>, EntryError> {
    fields
        .get("bytes")
        .map(|node| source.integer(node, "`bytes`", 1..=i64::MAX as u64))
        .transpose()
}

/// `digits` hexadecimal digits, in lower case.
fn checksum(
    source: &Source,
    fields: &Fields<'_>,
    key: &str,
    digits: usize,
) -> Result<Option<String>, EntryError> {
    let Some(node) = fields.get(key) else {
        return Ok(None);
    };
    let what = format!("`{key}`");
    let expected = format!("{digits} hexadecimal digits");
    let scalar = match &node.data {
        Data::Scalar(scalar) if matches!(scalar.value, Value::Text { .. }) => scalar,
        // Digits alone are a number to YAML.
        _ => {
            return Err(source
                .wrong_type(node, &what, &format!("{expected}, in quotes"))
                .next("quote it: digits alone are a number to YAML; copy the whole checksum"));
        }
    };
    let hash = scalar.raw.to_ascii_lowercase();
    if hash.len() == digits && hash.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(Some(hash));
    }
    Err(source
        .error(
            ErrorKind::Value,
            node.span,
            format!("{what} is no such checksum"),
        )
        .expected(expected)
        .found(format!(
            "{} characters: `{}`",
            scalar.raw.chars().count(),
            shortened(&scalar.raw)
        ))
        .next("copy the whole checksum, without spaces or a prefix"))
}
