//! `annbench agreement A B [DIR...]`

mod named;
mod pairs;
mod text;

use crate::args::AgreementArgs;
use crate::{Answer, json};
use annbench_results::{Agreement, MeasuredPoint, RunRecords, agreement as agreement_of};
use named::{Named, name};
use pairs::pairs;
use serde::Serialize;

/// Two points and what they have in common.
struct Compared<'r> {
    a: MeasuredPoint<'r>,
    b: MeasuredPoint<'r>,
    agreement: Agreement,
}

/// How far approximate searches agree, which is not recall.
pub fn agreement(args: &AgreementArgs) -> anyhow::Result<Answer> {
    let named = name(args)?;
    let (compared, left_out) = match &named {
        Named::Points { runs, a, b } => {
            let (a, b) = (named::point(runs, a)?, named::point(runs, b)?);
            (vec![compare(a, b)?], Vec::new())
        }
        Named::Runs { a, b } => {
            let found = pairs(a, b)?;
            let compared: Result<Vec<_>, _> =
                found.pairs.iter().map(|&(a, b)| compare(a, b)).collect();
            (compared?, found.left_out)
        }
    };
    let text = match args.form.json {
        true => json::document(&Document {
            is_recall: false,
            pairs: compared.iter().map(Pair::of).collect(),
            left_out: &left_out,
        })?,
        false => text::text(&compared, &left_out),
    };
    Ok(Answer::good(text))
}

fn compare<'r>(a: MeasuredPoint<'r>, b: MeasuredPoint<'r>) -> anyhow::Result<Compared<'r>> {
    let agreement = agreement_of(a, b)?;
    Ok(Compared { a, b, agreement })
}

/// The records of `run` that count.
fn points(run: &RunRecords) -> Vec<MeasuredPoint<'_>> {
    let latest = run.latest_searches().into_iter();
    let points = latest.map(|record| MeasuredPoint {
        run_dir: &run.dir,
        record,
    });
    points.collect()
}

#[derive(Serialize)]
struct Document<'r> {
    /// Said once more for programs.
    is_recall: bool,
    pairs: Vec<Pair<'r>>,
    left_out: &'r [String],
}

#[derive(Serialize)]
struct Pair<'r> {
    dataset: &'r str,
    a: Side<'r>,
    b: Side<'r>,
    agreement: &'r Agreement,
}

#[derive(Serialize)]
struct Side<'r> {
    run: String,
    point_id: &'r str,
    library: &'r str,
    build_params: &'r annbench_core::Params,
    search_params: &'r annbench_core::Params,
    /// Of its record, where it was scored.
    recall_mean: Option<f64>,
}

impl<'r> Pair<'r> {
    fn of(compared: &'r Compared<'_>) -> Self {
        Self {
            dataset: &compared.a.record.dataset.name,
            a: Side::of(compared.a),
            b: Side::of(compared.b),
            agreement: &compared.agreement,
        }
    }
}

impl<'r> Side<'r> {
    fn of(point: MeasuredPoint<'r>) -> Self {
        let record = point.record;
        Self {
            run: point.run_dir.display().to_string(),
            point_id: &record.point_id,
            library: &record.library,
            build_params: &record.identity.build.build_params,
            search_params: &record.identity.search_params,
            recall_mean: record.quality.as_ref().map(|quality| quality.recall_mean),
        }
    }
}
