use crate::args::{By, ReportArgs};
use crate::summary::{Summary, Told};
use crate::terminal::say;
use crate::{Answer, json};
use annbench_report::{LabelledRun, Overlay, PlotKind, SeriesBy};
use annbench_results::{RunRecords, check_record};
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// `annbench report DIR...`
pub fn report(args: &ReportArgs) -> anyhow::Result<Answer> {
    let out = match (&args.out, args.runs.first()) {
        (Some(out), _) => out.clone(),
        (None, Some(first)) => first.join("report"),
        (None, None) => PathBuf::from("report"),
    };
    let more = More {
        points: args.points,
        metrics: args.metrics,
        text_plot: args.text_plot,
        json: args.form.json,
    };
    answer(&args.runs, &out, more, args.by)
}

/// What is printed besides the table.
#[derive(Clone, Copy, Debug, Default)]
pub struct More {
    /// The table of all points.
    pub points: bool,
    /// The table of metrics that are not recall@k.
    pub metrics: bool,
    /// The Pareto plots as text.
    pub text_plot: bool,
    /// One JSON document instead of text.
    pub json: bool,
}

/// Refuses a run that is named twice: its points would be drawn over themselves as two.
fn refuse_twice(runs: &[PathBuf]) -> anyhow::Result<()> {
    let mut seen: BTreeMap<PathBuf, &PathBuf> = BTreeMap::new();
    for dir in runs {
        let real = dir
            .canonicalize()
            .with_context(|| dir.display().to_string())?;
        if let Some(before) = seen.insert(real, dir) {
            bail!(
                "{}: expected each run once, found it a second time, after {}; name it once",
                dir.display(),
                before.display()
            );
        }
    }
    Ok(())
}

/// The table of `runs`, and their plots and CSV in `out`.
pub fn answer(runs: &[PathBuf], out: &Path, more: More, by: By) -> anyhow::Result<Answer> {
    let opened = runs
        .iter()
        .map(|dir| RunRecords::open(dir))
        .collect::<Result<Vec<_>, _>>()?;
    refuse_twice(runs)?;
    let labels: Vec<String> = runs.iter().map(|dir| label(dir)).collect();
    for run in opened.iter().filter(|run| run.torn_bytes > 0) {
        say(&format!(
            "{}: the last record is not whole and is left out; it may be being written",
            run.dir.display()
        ));
    }
    let doubts: Vec<Vec<String>> = opened.iter().map(doubts).collect();
    let labelled: Vec<LabelledRun<'_>> = labels
        .iter()
        .zip(&opened)
        .zip(&doubts)
        .map(|((label, run), doubts)| LabelledRun {
            label,
            records: &run.records,
            doubts,
        })
        .collect();
    let overlay = Overlay::with_series(
        &labelled,
        match by {
            By::Library => SeriesBy::Library,
            By::Group => SeriesBy::Group,
        },
    );
    // The table is worth having even where nothing can be written.
    let mut files = Vec::new();
    let written = write_files(&overlay, out, &mut files);
    if let Err(error) = &written {
        say(&format!("annbench: {error:#}"));
    }
    let text = if more.json {
        {
            let told = Told {
                points: more.points,
                metrics: more.metrics,
            };
            json::document(&Summary::new(&overlay, &files, told))?
        }
    } else {
        let mut text = overlay.summary();
        if more.points {
            text.push('\n');
            text.push_str(&overlay.details());
        }
        if more.metrics {
            text.push('\n');
            text.push_str(&overlay.metrics());
        }
        if more.text_plot {
            text.push('\n');
            text.push_str(&overlay.text_plots(terminal_columns()));
        }
        text.push('\n');
        for file in &files {
            let _ = writeln!(text, "{}", file.display());
        }
        text
    };
    Ok(Answer {
        text,
        good: written.is_ok(),
    })
}

/// Plots and CSV in `out`, their paths appended to `files`.
fn write_files(overlay: &Overlay<'_>, out: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    std::fs::create_dir_all(out)
        .with_context(|| format!("{}: name another folder with --out", out.display()))?;
    let mut put = |name: String, bytes: &[u8]| -> anyhow::Result<()> {
        let path = out.join(name);
        replace_file(&path, bytes)?;
        files.push(path);
        Ok(())
    };
    for chart in overlay.charts() {
        for kind in PlotKind::ALL {
            let stem = chart.plot_stem(kind);
            put(format!("{stem}.svg"), chart.svg(kind)?.as_bytes())?;
            put(format!("{stem}.png"), &chart.png(kind)?)?;
        }
    }
    if let Some(overview) = overlay.overview() {
        let stem = overview.file_stem();
        put(format!("{stem}.svg"), overview.svg()?.as_bytes())?;
        put(format!("{stem}.png"), &overview.png()?)?;
    }
    put("points.csv".to_owned(), overlay.csv().as_bytes())
}

/// The terminal's width where the shell exports it.
fn terminal_columns() -> usize {
    let columns = std::env::var("COLUMNS").ok();
    columns.and_then(|text| text.parse().ok()).unwrap_or(80)
}

/// Why not to trust a run: records that contradict themselves, raw files that are gone. Whether raw
/// files are those that were measured costs reading them, and is `rescore`'s to tell.
fn doubts(run: &RunRecords) -> Vec<String> {
    let mut doubts = Vec::new();
    let edited: Vec<String> = run
        .records
        .iter()
        .filter_map(|record| check_record(record).err())
        .collect();
    if let Some(first) = edited.first() {
        doubts.push(format!(
            "{} records contradict themselves and are not what was measured; first: {first}",
            edited.len()
        ));
    }
    let searches = run.latest_searches();
    let lost = searches.iter().filter(|search| {
        let measured = search.measured.as_ref();
        measured.is_some_and(|measured| !run.dir.join(&measured.raw_dir).is_dir())
    });
    match lost.count() {
        0 => {}
        lost => doubts.push(format!(
            "raw files of {lost} points are gone: their figures cannot be recomputed"
        )),
    }
    doubts
}

fn label(dir: &Path) -> String {
    let name = dir.file_name().map(|name| name.display().to_string());
    name.unwrap_or_else(|| dir.display().to_string())
}

/// Whole or not at all: a plot that somebody looks at is never half a plot.
fn replace_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        use std::os::unix::fs::PermissionsExt;
        file.as_file()
            .set_permissions(std::fs::Permissions::from_mode(0o644))?;
        file.persist(path)?;
        Ok(())
    };
    write().with_context(|| {
        format!(
            "writing {}: free space, or name another folder with --out",
            path.display()
        )
    })
}
