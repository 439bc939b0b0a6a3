use crate::args::DatasetsVerb;
use crate::places::Places;
use crate::subject::{Asked, Opened, catalogue};
use crate::terminal::say;
use crate::{Answer, interrupt};
use annbench_dataset::{Entry, FileState};
use annbench_report::count;
use std::fmt::Write;

/// `annbench datasets ...`
pub fn datasets(places: &Places, verb: &DatasetsVerb) -> anyhow::Result<Answer> {
    match verb {
        DatasetsVerb::List => list(places),
        DatasetsVerb::Show { name } => Ok(Answer::good(show(&catalogue(places).entry(name)?))),
        DatasetsVerb::Check {
            name,
            accept_checksum,
        } => check(places, name, *accept_checksum),
    }
}

fn list(places: &Places) -> anyhow::Result<Answer> {
    let catalogue = catalogue(places);
    let mut text = String::new();
    let mut good = true;
    for name in catalogue.names()? {
        // One broken entry must not hide the others.
        let entry = match catalogue.entry(&name) {
            Ok(entry) => entry,
            Err(error) => {
                good = false;
                say(&format!("{name}: {error}"));
                continue;
            }
        };
        let statuses = entry.file_statuses();
        let missing = statuses
            .iter()
            .filter(|status| status.state == FileState::Missing)
            .count();
        let _ = writeln!(
            text,
            "{:28} {:>13} x {:<5} {:4} {:14} {}",
            entry.name,
            count(entry.n() as u64),
            entry.dim,
            entry.element,
            entry.metric,
            match missing {
                0 => "here".to_owned(),
                _ => format!("{missing} of {} files missing", statuses.len()),
            }
        );
    }
    Ok(Answer { text, good })
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
    let _ = writeln!(text, "  source    {}", entry.source);
    let _ = writeln!(text, "  licence   {}", entry.licence);
    if let Some(archive) = &entry.archive {
        let _ = writeln!(text, "  download  {}", archive.url);
        write_facts(&mut text, archive.bytes, archive.sha256.as_deref());
        if let Some(md5) = &archive.md5 {
            let _ = writeln!(text, "            md5 {md5}");
        }
        text.push_str("            unpack it, then put the files below in their places\n");
    }
    for status in entry.file_statuses() {
        let _ = writeln!(text, "\n  {}  ({})", status.file, status.roles.join(", "));
        if let Some(url) = &status.facts.url {
            let _ = writeln!(text, "            url {url}");
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

fn check(places: &Places, name: &str, accept_checksum: bool) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    let pool = super::scoring_pool()?;
    let opened = Opened::new(places, name, &Asked::for_scoring(accept_checksum, 1), &pool)?;
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
    for note in opened.notes() {
        let _ = writeln!(text, "  note: {note}");
    }
    Ok(Answer {
        text,
        good: !opened.is_refuted(),
    })
}
