mod add;
mod beside;
mod convert;
mod strata;

use crate::args::{DatasetsVerb, Form, Permits};
use crate::catalogued::Catalogued;
use crate::places::Places;
use crate::subject::{Asked, Opened, catalogue};
use crate::terminal::say;
use crate::{Answer, interrupt, json};
pub use add::AddArgs;
use annbench_dataset::{Entry, FileState, FileStatus};
use annbench_report::count;
pub use convert::ConvertArgs;
pub(crate) use convert::{one_of, parse_element};
use serde::Serialize;
use std::fmt::Write;

/// `annbench datasets ...`
pub fn datasets(places: &Places, verb: &DatasetsVerb) -> anyhow::Result<Answer> {
    match verb {
        DatasetsVerb::List { form } => list(places, *form),
        DatasetsVerb::Show { name, form } => {
            let entry = catalogue(places).entry(name)?;
            Ok(Answer::good(match form.json {
                true => json::document(&Catalogued::new(&entry))?,
                false => show(&entry),
            }))
        }
        DatasetsVerb::Strata(args) => strata::strata(places, args),
        DatasetsVerb::Fetch(args) => super::fetch::fetch(places, args),
        DatasetsVerb::Check { name, permits } => check(places, name, *permits),
        DatasetsVerb::Add(args) => add::add(places, args),
        DatasetsVerb::Convert(args) => convert::convert(places, args),
        DatasetsVerb::Audit(args) => super::audit::audit_dataset(places, args),
    }
}

#[derive(Serialize)]
struct List<'e> {
    datasets: Vec<Catalogued<'e>>,
    unusable_entries: Vec<UnusableEntry>,
}

#[derive(Serialize)]
struct UnusableEntry {
    name: String,
    reason: String,
}

/// One line for each dataset, those of a publisher together.
fn list(places: &Places, form: Form) -> anyhow::Result<Answer> {
    let catalogue = catalogue(places);
    let mut entries = Vec::new();
    let mut unusable_entries = Vec::new();
    for name in catalogue.names()? {
        // One broken entry must not hide the others.
        match catalogue.entry(&name) {
            Ok(entry) => entries.push(entry),
            Err(error) => {
                let reason = error.to_string();
                say(&format!("{name}: {reason}"));
                unusable_entries.push(UnusableEntry { name, reason });
            }
        }
    }
    entries.sort_by_cached_key(|entry| (publisher(entry).to_lowercase(), order(entry)));
    let good = unusable_entries.is_empty();
    let text = if form.json {
        json::document(&List {
            datasets: entries.iter().map(Catalogued::new).collect(),
            unusable_entries,
        })?
    } else {
        table(&entries.iter().map(Line::of).collect::<Vec<_>>())
    };
    Ok(Answer { text, good })
}

/// What is said of a dataset in one line.
struct Line {
    publisher: String,
    /// Name, rows, components, element, metric, size of the files, whether they are here.
    cells: [String; 7],
    here: bool,
}

impl Line {
    fn of(entry: &Entry) -> Self {
        let statuses = entry.file_statuses();
        let missing = statuses
            .iter()
            .filter(|status| status.state == FileState::Missing)
            .count();
        let other = statuses.iter().any(|status| {
            status.state != FileState::Missing && !super::fetch::is_enough(entry, status)
        });
        let state = match (missing, other) {
            (0, false) => "here".to_owned(),
            // Damaged, broken off, or another file: it does not open.
            (0, true) => "other size".to_owned(),
            (_, false) if missing == statuses.len() => "missing".to_owned(),
            (_, false) => format!("{missing} of {} missing", statuses.len()),
            (_, true) => format!("{missing} of {} missing, other size", statuses.len()),
        };
        Self {
            publisher: publisher(entry),
            cells: [
                entry.name.clone(),
                count(entry.n() as u64),
                entry.dim.to_string(),
                entry.element.to_string(),
                entry.metric.to_string(),
                size_of(entry, &statuses),
                state,
            ],
            here: missing == 0 && !other,
        }
    }
}

/// `lines` in columns, under the publisher of each.
fn table(lines: &[Line]) -> String {
    let widths: [usize; 7] = std::array::from_fn(|column| {
        let widths = lines.iter().map(|line| line.cells[column].chars().count());
        widths.max().unwrap_or(0)
    });
    let [
        name_width,
        rows_width,
        dim_width,
        element_width,
        metric_width,
        size_width,
        _,
    ] = widths;
    let mut text = String::new();
    let mut publisher = None;
    for line in lines {
        if publisher != Some(&line.publisher) {
            let _ = writeln!(text, "{}", line.publisher);
            publisher = Some(&line.publisher);
        }
        let [name, rows, dim, element, metric, size, state] = &line.cells;
        let _ = writeln!(
            text,
            "  {name:name_width$} {rows:>rows_width$} x {dim:dim_width$} {element:element_width$} \
             {metric:metric_width$} {size:>size_width$}  {state}"
        );
    }
    let _ = writeln!(
        text,
        "{} datasets, {} of them here. ?: size not known.\n\
         `annbench datasets show NAME` tells where the files of one come from and where they belong,\n\
         `annbench datasets fetch NAME` brings them there.",
        lines.len(),
        lines.iter().filter(|line| line.here).count()
    );
    text
}

/// Who published it: `source` up to its first comma.
fn publisher(entry: &Entry) -> String {
    const LONGEST: usize = 60;
    let publisher = entry
        .source
        .split([',', ';', '\n'])
        .next()
        .unwrap_or_default();
    match publisher.char_indices().nth(LONGEST) {
        None => publisher.to_owned(),
        Some((end, _)) => format!("{}…", &publisher[..end]),
    }
}

/// Names as people count, and the slices of a set by their rows: glove-25 before glove-100, deep-10M
/// before deep-1B.
fn order(entry: &Entry) -> (Vec<(String, u64)>, usize, String) {
    let name = &entry.name;
    let series = match name.rsplit_once(['-', '_']) {
        Some((series, slice)) if is_a_number_of_rows(slice) => series,
        _ => name,
    };
    let mut parts = Vec::new();
    let mut rest = series;
    while !rest.is_empty() {
        let words = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (before, after) = rest.split_at(words);
        let digits = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        let (number, after) = after.split_at(digits);
        parts.push((before.to_owned(), number.parse().unwrap_or(0)));
        rest = after;
    }
    (parts, entry.n(), name.clone())
}

/// 100K, 10M, 1B.
fn is_a_number_of_rows(slice: &str) -> bool {
    slice.strip_suffix(['K', 'M', 'B']).is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    })
}

/// How large the files are together, of those that may be cut as much as is needed.
fn size_of(entry: &Entry, statuses: &[FileStatus]) -> String {
    let sizes = statuses.iter().map(|status| {
        let whole = status.facts.bytes?;
        let cut = [&entry.base, &entry.queries]
            .into_iter()
            .find(|part| part.file == status.file && part.take_first.is_some());
        Some(match cut {
            None => whole,
            // Rows of one size, but for a header that does not show in three digits.
            Some(part) => (u128::from(whole) * part.n() as u128 / part.rows as u128) as u64,
        })
    });
    match sizes.sum::<Option<u64>>() {
        Some(bytes) => in_units(bytes),
        None => "?".to_owned(),
    }
}

fn in_units(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 999.5 {
            let digits = usize::from(unit != "B" && value < 99.95);
            return format!("{value:.digits$} {unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// Everything one needs to know to have the dataset.
fn show(entry: &Entry) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}: {}", entry.name, entry.description);
    let _ = writeln!(
        text,
        "  base      {} x {} {}, {}",
        count(entry.n() as u64),
        entry.dim,
        entry.element,
        entry.metric
    );
    let _ = writeln!(text, "  queries   {}", count(entry.queries.n() as u64));
    match &entry.truth {
        Some(truth) => {
            let _ = writeln!(
                text,
                "  truth     {} neighbours per query, shipped",
                truth.width
            );
        }
        None => text.push_str("  truth     not shipped: computed exactly and cached\n"),
    }
    text.push_str(&beside::declared(entry));
    let _ = writeln!(text, "  source    {}", entry.source);
    let _ = writeln!(text, "  licence   {}", entry.licence);
    if let Some(archive) = &entry.archive {
        let _ = writeln!(text, "  download  {}", archive.url);
        for mirror in &archive.mirrors {
            let _ = writeln!(text, "        or  {mirror}");
        }
        write_facts(&mut text, archive.bytes, archive.sha256.as_deref());
        if let Some(md5) = &archive.md5 {
            let _ = writeln!(text, "            md5 {md5}");
        }
        text.push_str("            unpack it, then put the files below in their places: `datasets fetch` does\n");
    }
    for status in entry.file_statuses() {
        let _ = writeln!(text, "\n  {}  ({})", status.file, status.roles.join(", "));
        if let Some(url) = &status.facts.url {
            let _ = writeln!(text, "            url {url}");
        }
        for mirror in &status.facts.mirrors {
            let _ = writeln!(text, "            or  {mirror}");
        }
        write_facts(
            &mut text,
            status.facts.bytes,
            status.facts.sha256.as_deref(),
        );
        if let Some(sum) = &status.facts.flat_sha256 {
            let _ = writeln!(
                text,
                "            sha256 of the same vectors as fbin or u8bin {sum}"
            );
        }
        let _ = match &status.state {
            FileState::Missing => {
                writeln!(text, "    MISSING belongs at {}", status.belongs.display())
            }
            FileState::Present { path, .. } => writeln!(text, "    here    {}", path.display()),
            FileState::OtherSize { path, bytes } => writeln!(
                text,
                "    OTHER SIZE {} has {} bytes",
                path.display(),
                count(*bytes)
            ),
        };
    }
    for note in &entry.notes {
        let _ = writeln!(text, "\n  note: {note}");
    }
    text
}

fn write_facts(text: &mut String, bytes: Option<u64>, sha256: Option<&str>) {
    let bytes = bytes.map_or("size not known".to_owned(), |b| {
        format!("{} bytes", count(b))
    });
    let sha256 = sha256.map_or("no sha256 is known".to_owned(), |sum| {
        format!("sha256 {sum}")
    });
    let _ = writeln!(text, "            {bytes}, {sha256}");
}

fn check(places: &Places, name: &str, permits: Permits) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    let pool = super::scoring_pool()?;
    let opened = Opened::quietly(places, name, &Asked::for_scoring(permits, 1), &pool)?;
    let facts = opened.subject().facts;
    let info = &facts.info;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} x {} {} {}, {} queries",
        info.name,
        count(info.n),
        info.dim,
        info.element,
        info.metric,
        count(info.queries)
    );
    let _ = writeln!(text, "  base fingerprint     {}", info.base_fingerprint);
    let _ = writeln!(text, "  queries fingerprint  {}", info.queries_fingerprint);
    let _ = writeln!(
        text,
        "  truth fingerprint    {} ({} neighbours)",
        facts.truth.fingerprint, facts.truth.width
    );
    let verdict = opened.truth_verdict();
    let _ = writeln!(text, "  truth                {verdict}");
    text.push_str(&beside::checked(opened.dataset())?);
    for warning in opened.warnings() {
        let _ = writeln!(text, "  WARNING: {warning}");
    }
    for note in opened.entry_notes().iter().chain(&opened.notes()) {
        let _ = writeln!(text, "  note: {note}");
    }
    Ok(Answer {
        text,
        good: !opened.is_refuted(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits() {
        for (bytes, text) in [
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (99_949, "99.9 kB"),
            (99_950, "100 kB"),
            (999_500, "1.0 MB"),
            (525_128_288, "525 MB"),
            (38_400_000_008, "38.4 GB"),
            (1_200_000_000_000, "1.2 TB"),
        ] {
            assert_eq!(in_units(bytes), text);
        }
    }

    #[test]
    fn a_slice_is_told_from_other_names() {
        for (slice, is) in [
            ("10M", true),
            ("1B", true),
            ("100K", true),
            ("M", false),
            ("128", false),
            ("angular", false),
            ("x1M", false),
        ] {
            assert_eq!(is_a_number_of_rows(slice), is, "{slice}");
        }
    }
}
