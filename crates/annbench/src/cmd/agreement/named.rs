use super::points;
use crate::args::AgreementArgs;
use crate::known::Asked;
use crate::places::Places;
use annbench_results::{MeasuredPoint, RECORDS_FILE, RunRecords};
use anyhow::bail;
use std::path::Path;

/// What is to be compared.
pub(super) enum Named {
    /// Two points of these runs, by the beginnings of their ids.
    Points {
        /// Where they are looked for.
        runs: Vec<RunRecords>,
        /// The first.
        a: String,
        /// The second.
        b: String,
    },
    /// The points of one run with those of another.
    Runs {
        /// The first.
        a: RunRecords,
        /// The second.
        b: RunRecords,
    },
}

/// Tells two run directories from two points.
///
/// # Errors
/// One of each, directories beside two run directories, and runs that cannot be read.
pub(super) fn name(args: &AgreementArgs) -> anyhow::Result<Named> {
    let is_run = |text: &str| Path::new(text).join(RECORDS_FILE).is_file();
    match (is_run(&args.a), is_run(&args.b)) {
        (true, true) => {
            if let Some(dir) = args.runs.first() {
                bail!(
                    "{}: A and B are run directories already; name no third one",
                    dir.display()
                );
            }
            let (a, b) = (Path::new(&args.a), Path::new(&args.b));
            if a.canonicalize()? == b.canonicalize()? {
                bail!(
                    "{} twice: name another run directory, or two points of this one",
                    a.display()
                );
            }
            Ok(Named::Runs {
                a: RunRecords::open(a)?,
                b: RunRecords::open(b)?,
            })
        }
        (false, false) => {
            let dirs = match args.runs.is_empty() {
                true => Places::runs()?,
                false => args.runs.clone(),
            };
            let runs = dirs.iter().map(|dir| RunRecords::open(dir));
            Ok(Named::Points {
                runs: runs.collect::<Result<_, _>>()?,
                a: args.a.clone(),
                b: args.b.clone(),
            })
        }
        (a_is_run, _) => {
            let (run, other) = match a_is_run {
                true => (&args.a, &args.b),
                false => (&args.b, &args.a),
            };
            bail!(
                "{run} is a run directory and {other} is none: name two run directories, or two points; \
                 `annbench report {run} --points` has the ids of its points"
            )
        }
    }
}

/// The one point of `runs` whose id begins with `prefix`.
///
/// # Errors
/// When there is none, it is a build, or several runs hold it.
pub(super) fn point<'r>(runs: &'r [RunRecords], prefix: &str) -> anyhow::Result<MeasuredPoint<'r>> {
    let id = match Asked::find(runs, prefix)? {
        Asked::Point(id) => id,
        Asked::Build(_) => bail!(
            "`{prefix}` is a build, which answers nothing by itself: name a point; \
             `annbench explain {prefix}` lists those of the build"
        ),
    };
    let found: Vec<MeasuredPoint<'_>> = runs
        .iter()
        .flat_map(points)
        .filter(|point| point.record.point_id == id)
        .collect();
    match found.as_slice() {
        [one] => Ok(*one),
        several => {
            let dirs: Vec<String> = several
                .iter()
                .map(|point| point.run_dir.display().to_string())
                .collect();
            bail!(
                "point {id:.12} is in {}: name the run directories that are meant after the points, or two \
                 of them in place of the points",
                dirs.join(", ")
            )
        }
    }
}
