use super::Entry;
use super::entry::{TruthPart, VectorsPart};
use std::fmt::Write;

impl Entry {
    /// The YAML of the entry, which reads as the entry again. Keys stand in the order of
    /// datasets/README.md.
    pub fn to_yaml(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let mut line = |key: &str, value: String| {
            // Lists begin on a line of their own.
            let gap = if value.starts_with('\n') { "" } else { " " };
            let _ = writeln!(text, "{key}:{gap}{value}");
        };
        line("name", scalar(&self.name));
        line("description", quoted(&self.description));
        line("metric", self.metric.to_string());
        line("element", self.element.to_string());
        line("dim", self.dim.to_string());
        if self.places.folder != self.name && !self.places.folder.is_empty() {
            line("folder", scalar(&self.places.folder));
        }
        line("base", vectors(&self.base));
        line("queries", vectors(&self.queries));
        if let Some(part) = &self.truth {
            line("truth", truth(part));
        }
        if let Some(part) = &self.qrels {
            let files = [
                ("file", &part.file),
                ("query_ids", &part.query_ids),
                ("base_ids", &part.base_ids),
            ];
            line(
                "qrels",
                mapping(files.map(|(key, file)| (key, Some(scalar(file))))),
            );
        }
        if let Some(part) = &self.range_truth {
            line("range_truth", mapping([("file", Some(scalar(&part.file)))]));
        }
        if let Some(part) = &self.metadata {
            let known = [
                ("base", Some(scalar(&part.base))),
                ("queries", Some(scalar(&part.queries))),
                ("columns", Some(part.columns.to_string())),
            ];
            line("metadata", mapping(known));
        }
        if !self.files.is_empty() {
            line("files", self.facts_of_files());
        }
        if !self.from.is_empty() {
            line("from", list(&self.from));
        }
        if let Some(archive) = &self.archive {
            let known = [
                ("url", Some(quoted(&archive.url))),
                ("mirrors", some_list(&archive.mirrors)),
                ("bytes", archive.bytes.map(|bytes| bytes.to_string())),
                ("sha256", archive.sha256.as_deref().map(quoted)),
                ("md5", archive.md5.as_deref().map(quoted)),
            ];
            line("archive", mapping(known));
        }
        line("source", quoted(&self.source));
        line("licence", quoted(&self.licence));
        if !self.notes.is_empty() {
            let notes = self
                .notes
                .iter()
                .map(|note| format!("\n  - {}", quoted(note)));
            line("notes", notes.collect());
        }
        text
    }

    fn facts_of_files(&self) -> String {
        let facts = self.files.iter().map(|(file, facts)| {
            let known = [
                ("bytes", facts.bytes.map(|bytes| bytes.to_string())),
                ("sha256", facts.sha256.as_deref().map(quoted)),
                ("flat_sha256", facts.flat_sha256.as_deref().map(quoted)),
                ("md5", facts.md5.as_deref().map(quoted)),
                ("url", facts.url.as_deref().map(quoted)),
                ("mirrors", some_list(&facts.mirrors)),
            ];
            format!("\n  {}: {}", scalar(file), mapping(known))
        });
        facts.collect()
    }
}

fn vectors(part: &VectorsPart) -> String {
    let shards = part.shards.iter().map(|shard| match shard.rows {
        None => scalar(&shard.file),
        Some(rows) => mapping([
            ("file", Some(scalar(&shard.file))),
            ("rows", Some(rows.to_string())),
        ]),
    });
    let shards = shards.collect::<Vec<_>>().join(", ");
    let in_one = part.shards.is_empty();
    mapping([
        ("file", in_one.then(|| scalar(&part.file))),
        ("files", (!in_one).then(|| format!("[{shards}]"))),
        ("format", Some(part.format.to_string())),
        ("dataset", part.hdf5_dataset.as_deref().map(scalar)),
        ("ids", part.ids.as_deref().map(scalar)),
        ("rows", Some(part.rows.to_string())),
        ("take_first", part.take_first.map(|first| first.to_string())),
    ])
}

fn truth(part: &TruthPart) -> String {
    mapping([
        ("file", Some(scalar(&part.file))),
        ("format", Some(part.format.to_string())),
        ("dataset", part.hdf5_dataset.as_deref().map(scalar)),
        ("ids", part.ids.as_deref().map(scalar)),
        ("width", Some(part.width.to_string())),
    ])
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

fn some_list(texts: &[String]) -> Option<String> {
    (!texts.is_empty()).then(|| list(texts))
}

fn mapping<const N: usize>(known: [(&str, Option<String>); N]) -> String {
    let known = known
        .into_iter()
        .filter_map(|(key, value)| Some(format!("{key}: {}", value?)));
    format!("{{ {} }}", known.collect::<Vec<_>>().join(", "))
}

/// Words that YAML takes for something else than text.
const NO_TEXT: [&str; 7] = ["true", "false", "null", "yes", "no", "on", "off"];

/// Text as it is where it can be nothing else, otherwise in quotes.
fn scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && !NO_TEXT.contains(&text.to_ascii_lowercase().as_str())
        && text.len() > 1;
    if plain { text.to_owned() } else { quoted(text) }
}

/// Text in double quotes. YAML's escapes are those of JSON, and more.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(quoted, "\\{c}"),
            '\n' => write!(quoted, "\\n"),
            // What a reader of YAML may refuse, fold or drop.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                write!(quoted, "\\u{:04x}", u32::from(c))
            }
            c => write!(quoted, "{c}"),
        };
    }
    quoted.push('"');
    quoted
}
