//! `annbench datasets strata NAME`

use crate::args::{Permits, StrataArgs};
use crate::places::Places;
use crate::subject::{Asked, Opened};
use crate::{Answer, json};
use serde::Serialize;
use std::fmt::Write;

/// What the counts of a dataset are like, for one k.
#[derive(Serialize)]
struct Counted {
    dataset: String,
    k: usize,
    rows: u64,
    anti_hub_threshold: u32,
    anti_hub_rows: u64,
    never_rows: u64,
    skewness: Option<f64>,
    robin_hood: Option<f64>,
}

/// Counts of how many other rows each base row is one of the k nearest, and keeps that.
pub fn strata(places: &Places, args: &StrataArgs) -> anyhow::Result<Answer> {
    let pool = crate::cmd::scoring_pool()?;
    let asked = Asked::for_scoring(Permits::default(), 1);
    let mut opened = Opened::new(places, &args.name, &asked, &pool)?;
    opened.stratify(&[args.k], true, &pool)?;
    let mut counted = Vec::new();
    for strata in opened.strata() {
        let (anti_hubs, skewness, robin_hood) = strata.counts().map_err(anyhow::Error::msg)?;
        counted.push(Counted {
            dataset: args.name.clone(),
            k: strata.k(),
            rows: opened.subject().facts.info.n,
            anti_hub_threshold: anti_hubs.threshold,
            anti_hub_rows: anti_hubs.rows,
            never_rows: anti_hubs.never,
            skewness,
            robin_hood,
        });
    }
    if args.form.json {
        let text = json::document(&counted)?;
        return Ok(Answer { text, good: true });
    }
    let mut text = String::new();
    let figure = |value: Option<f64>| value.map_or("undefined".to_owned(), |v| format!("{v:.4}"));
    for c in &counted {
        let share = |rows: u64| 100.0 * rows as f64 / c.rows as f64;
        let _ = writeln!(
            text,
            "{}, k = {}: exact counts over {} rows\n  \
               anti-hubs    {} rows ({:.2} %) are among the {} nearest of at most {} others\n  \
               never        {} rows ({:.2} %) of none\n  \
               skewness     {}\n  \
               Robin Hood   {}",
            c.dataset,
            c.k,
            c.rows,
            c.anti_hub_rows,
            share(c.anti_hub_rows),
            c.k,
            c.anti_hub_threshold,
            c.never_rows,
            share(c.never_rows),
            figure(c.skewness),
            figure(c.robin_hood),
        );
    }
    Ok(Answer { text, good: true })
}
