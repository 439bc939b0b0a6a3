//! `annbench datasets strata NAME`

use crate::args::{Permits, StrataArgs};
use crate::places::Places;
use crate::subject::{Asked, Hardness, Opened, Spread};
use crate::{Answer, json};
use annbench_dataset::Estimator;
use annbench_report::count;
use serde::Serialize;
use std::fmt::Write;

/// What the strata of a dataset are like, for one k.
#[derive(Serialize)]
struct Counted {
    dataset: String,
    k: usize,
    rows: u64,
    /// Neighbours of each row that were counted.
    counted_k: u64,
    /// Rows whose neighbours were counted: all, where that is `rows`.
    asked_rows: u64,
    /// Counts that a row has on average.
    budget: f64,
    anti_hub_threshold: u32,
    anti_hub_rows: u64,
    never_rows: u64,
    skewness: Option<f64>,
    robin_hood: Option<f64>,
    hardness: Hardness,
}

/// Counts of how many other rows each base row is one of the k nearest, keeps that, and tells how hard the
/// queries are.
pub fn strata(places: &Places, args: &StrataArgs) -> anyhow::Result<Answer> {
    crate::interrupt::listen()?;
    let pool = crate::cmd::scoring_pool()?;
    let asked = Asked::for_scoring(Permits::default(), args.k);
    let mut opened = Opened::new(places, &args.name, &asked, &pool)?;
    let n = opened.subject().facts.info.n;
    let estimator = args.sample.map(|asked| Estimator {
        k: args.count_k.unwrap_or(args.k),
        asked,
    });
    match estimator {
        Some(estimator) => opened.estimate(args.k, estimator, &pool)?,
        None => opened.stratify(&[args.k], true, &pool)?,
    }
    let Some(strata) = opened.strata().first() else {
        anyhow::bail!("{}: no strata for k = {}", args.name, args.k);
    };
    let (anti_hubs, skewness, robin_hood) = strata.counts().map_err(anyhow::Error::msg)?;
    let counted_k = estimator.map_or(args.k, |estimator| estimator.k) as u64;
    let asked_rows = estimator.map_or(n, |estimator| estimator.asked as u64);
    let counted = Counted {
        dataset: args.name.clone(),
        k: strata.k(),
        rows: n,
        counted_k,
        asked_rows,
        budget: counted_k as f64 * asked_rows as f64 / n as f64,
        anti_hub_threshold: anti_hubs.threshold,
        anti_hub_rows: anti_hubs.rows,
        never_rows: anti_hubs.never,
        skewness,
        robin_hood,
        hardness: opened.hardness(args.k, &pool)?,
    };
    Ok(Answer::good(match args.form.json {
        true => json::document(&counted)?,
        false => in_words(&counted),
    }))
}

fn in_words(c: &Counted) -> String {
    let mut text = String::new();
    let figure = |value: Option<f64>| value.map_or("undefined".to_owned(), |v| format!("{v:.4}"));
    let share = |rows: u64| 100.0 * rows as f64 / c.rows as f64;
    let _ = match c.asked_rows == c.rows {
        true => writeln!(
            text,
            "{}, k = {}: exact counts over {} rows",
            c.dataset,
            c.k,
            count(c.rows)
        ),
        false => writeln!(
            text,
            "{}, k = {}: estimated from the {} nearest of {} rows drawn from {}; {:.1} to a row on average, so that \
             {:.3} % of average rows seem never near",
            c.dataset,
            c.k,
            c.counted_k,
            count(c.asked_rows),
            count(c.rows),
            c.budget,
            100.0 * (-c.budget).exp()
        ),
    };
    let _ = writeln!(
        text,
        "  anti-hubs    {} rows ({:.2} %) are among the {} nearest of at most {} others\n  \
           never        {} rows ({:.2} %) of none\n  \
           skewness     {}\n  \
           Robin Hood   {}",
        count(c.anti_hub_rows),
        share(c.anti_hub_rows),
        c.counted_k,
        c.anti_hub_threshold,
        count(c.never_rows),
        share(c.never_rows),
        figure(c.skewness),
        figure(c.robin_hood),
    );
    let hardness = &c.hardness;
    let _ = writeln!(
        text,
        "{} queries           lowest    quarter     median      3 / 4    highest",
        count(hardness.queries as u64)
    );
    let mut line = |name: &str, says: &str, spread: &Result<Spread, String>| {
        let _ = match spread {
            Ok(s) => writeln!(
                text,
                "  {name:17}{:>10.3} {:>10.3} {:>10.3} {:>10.3} {:>10.3}  {says}",
                s.lowest, s.quarter, s.median, s.three_quarters, s.highest
            ),
            Err(why) => writeln!(text, "  {name:17}not told: {why}"),
        };
    };
    line(
        "lid",
        "intrinsic dimension from 100 neighbours; high is hard",
        &hardness.lid,
    );
    line(
        "expansion",
        &format!("d_{} / d_{}; near 1 is hard", 2 * c.k, c.k),
        &hardness.expansion,
    );
    line(
        "relative contrast",
        &format!(
            "mean over {} rows / d_{}; near 1 is hard",
            count(hardness.relative_contrast_rows as u64),
            c.k
        ),
        &hardness.relative_contrast,
    );
    line(
        "d_1 percentile",
        &format!(
            "among d_1 of {} base rows; near 100 is out of distribution",
            count(hardness.d1_percentile_rows as u64)
        ),
        &hardness.d1_percentile,
    );
    text
}
