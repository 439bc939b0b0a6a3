use crate::Answer;
use crate::args::{By, ReportArgs};
use crate::terminal::say;
use annbench_report::{LabelledRun, Overlay, SeriesBy};
use annbench_results::RunRecords;
use anyhow::Context;
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
    answer(&args.runs, &out, args.points, args.by)
}

/// The table of `runs`, and their plots and CSV in `out`.
pub fn answer(runs: &[PathBuf], out: &Path, points: bool, by: By) -> anyhow::Result<Answer> {
    let opened = runs
        .iter()
        .map(|dir| RunRecords::open(dir))
        .collect::<Result<Vec<_>, _>>()?;
    let labels: Vec<String> = runs.iter().map(|dir| label(dir)).collect();
    for run in opened.iter().filter(|run| run.torn_bytes > 0) {
        say(&format!(
            "{}: the last record is not whole and is left out; it may be being written",
            run.dir.display()
        ));
    }
    let labelled: Vec<LabelledRun<'_>> = labels
        .iter()
        .zip(&opened)
        .map(|(label, run)| LabelledRun {
            label,
            records: &run.records,
        })
        .collect();
    let overlay = Overlay::with_series(
        &labelled,
        match by {
            By::Library => SeriesBy::Library,
            By::Group => SeriesBy::Group,
        },
    );
    let mut text = overlay.summary();
    if points {
        text.push('\n');
        text.push_str(&overlay.details());
    }
    text.push('\n');
    // The table is worth having even where nothing can be written.
    let written = write_files(&overlay, out, &mut text);
    if let Err(error) = &written {
        say(&format!("annbench: {error:#}"));
    }
    Ok(Answer {
        text,
        good: written.is_ok(),
    })
}

/// Plots and CSV in `out`, their paths appended to `text`.
fn write_files(overlay: &Overlay<'_>, out: &Path, text: &mut String) -> anyhow::Result<()> {
    std::fs::create_dir_all(out)
        .with_context(|| format!("{}: name another folder with --out", out.display()))?;
    let mut put = |name: String, bytes: &[u8]| -> anyhow::Result<()> {
        let path = out.join(name);
        replace_file(&path, bytes)?;
        let _ = writeln!(text, "{}", path.display());
        Ok(())
    };
    for chart in overlay.charts() {
        put(format!("{}.svg", chart.file_stem), chart.svg()?.as_bytes())?;
        put(format!("{}.png", chart.file_stem), &chart.png()?)?;
    }
    put("points.csv".to_owned(), overlay.csv().as_bytes())
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
