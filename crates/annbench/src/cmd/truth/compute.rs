use super::words::Found;
use super::{Named, with_vectors};
use crate::Answer;
use crate::places::Places;
use annbench_dataset::Stretch;
use anyhow::bail;
use std::ops::Range;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A base is read from first row to last, step by step, so that it may be larger than memory; what was \
                  found is kept after each step. Some rows (--rows) or queries (--queries) make a piece, which says \
                  so, and goes into a folder of its own."
)]
pub struct ComputeArgs {
    #[command(flatten)]
    pub named: Named,
    /// Neighbours per query [default: 100, or all rows]
    #[arg(short, long, value_name = "K")]
    pub k: Option<usize>,
    /// Search only these base rows, from the first to the one before the last: 0..1000000
    #[arg(long, value_name = "A..B", value_parser = parse_rows, requires = "out")]
    pub rows: Option<Range<usize>>,
    /// Search only for so many queries, drawn at random
    #[arg(long, value_name = "N", requires = "out")]
    pub queries: Option<usize>,
    /// Keep what is found in this folder too
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// A range of rows, `A..B`.
fn parse_rows(text: &str) -> Result<Range<usize>, String> {
    let edges = text.split_once("..");
    let edges = edges.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match edges {
        Some((first, end)) if first < end => Ok(first..end),
        _ => Err("expected two row numbers, the second larger: 0..1000000".to_owned()),
    }
}

/// Neighbours where none are asked for.
const WIDTH: usize = 100;

/// `annbench truth compute NAME`
pub fn compute(places: &Places, args: &ComputeArgs) -> anyhow::Result<Answer> {
    if args.k == Some(0) || args.queries == Some(0) {
        bail!("expected one neighbour and one query at least, found 0");
    }
    with_vectors(places, &args.named, |dataset, entry, options| {
        let k = args.k.unwrap_or(WIDTH.min(entry.n()));
        let whole = dataset.whole_stretch(k);
        let stretch = Stretch {
            rows: args.rows.clone().unwrap_or(whole.rows.clone()),
            queries: args.queries.unwrap_or(whole.queries).min(whole.queries),
            ..whole.clone()
        };
        let mut kept = Vec::new();
        let piece = match &args.out {
            None => {
                let (piece, not_kept) = dataset.proved_truth(k, options)?;
                if let Some(why) = not_kept {
                    bail!(
                        "{}: the neighbours were found, but not kept: {why}",
                        dataset.name()
                    );
                }
                kept.push(dataset.truth_dir(piece.facts().k));
                piece
            }
            Some(dir) => {
                let piece = dataset.search_piece(&stretch, dir, options)?;
                kept.push(dir.clone());
                if piece.facts().is_whole() {
                    kept.push(dataset.keep_truth(piece.clone(), options)?);
                }
                piece
            }
        };
        Found::new(dataset, &piece, kept).answer(args.named.form)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_two_numbers_the_second_larger() {
        assert_eq!(parse_rows("0..10"), Ok(0..10));
        for text in [
            "", "5", "..", "3..", "..4", "4..4", "5..4", "a..b", "-1..3", "0...3",
        ] {
            assert!(parse_rows(text).is_err(), "{text}");
        }
    }
}
