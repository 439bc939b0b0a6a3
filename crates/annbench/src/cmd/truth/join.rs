use super::words::Found;
use super::{Named, with_vectors};
use crate::Answer;
use crate::places::Places;
use annbench_dataset::PlacedPiece;
use anyhow::bail;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "What joins is compared: fingerprints of base and queries, metric, k, and every distance is computed \
                  again. Pieces of the whole base become its truth, for every run; others join into a larger piece."
)]
pub struct JoinArgs {
    #[command(flatten)]
    pub named: Named,
    /// Folders of pieces, in any order; PIECE@ROW for one that was searched in a set that is a slice of
    /// this one, starting at ROW
    #[arg(value_name = "PIECE", required = true, value_parser = parse_piece)]
    pub pieces: Vec<PlacedPiece>,
    /// Keep the joined piece in this folder too
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `PIECE` or `PIECE@ROW`.
fn parse_piece(text: &str) -> Result<PlacedPiece, String> {
    let placed = text.rsplit_once('@');
    Ok(
        match placed.and_then(|(dir, at)| Some((dir, at.parse().ok()?))) {
            Some((dir, at)) => PlacedPiece {
                dir: dir.into(),
                at: Some(at),
            },
            None => PlacedPiece {
                dir: text.into(),
                at: None,
            },
        },
    )
}

/// `annbench truth join NAME PIECE...`
pub fn join(places: &Places, args: &JoinArgs) -> anyhow::Result<Answer> {
    with_vectors(places, &args.named, |dataset, _, options| {
        if let Some(dir) = args.out.as_ref().filter(|dir| dir.exists()) {
            bail!(
                "{}: expected a folder that does not exist yet, found one; name another with --out",
                dir.display()
            );
        }
        let mut piece = dataset.join_pieces(&args.pieces, options)?;
        let mut kept = Vec::new();
        if let Some(dir) = &args.out {
            piece.write(dir)?;
            kept.push(dir.clone());
        }
        if piece.facts().is_whole() {
            kept.push(dataset.keep_truth(piece.clone(), options)?);
        } else if kept.is_empty() {
            let facts = piece.facts();
            bail!(
                "{}: expected pieces of all {} rows and all {} queries, found rows {} to {} and {} queries; give the \
                 others too, or keep what there is with --out DIR",
                dataset.name(),
                facts.base_rows,
                facts.all_queries,
                facts.first_row,
                facts.end_row,
                facts.queries
            );
        }
        Found::new(dataset, &piece, kept).answer(args.named.form)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_may_be_placed() {
        let placed = |dir: &str, at| PlacedPiece {
            dir: dir.into(),
            at,
        };
        for (text, expected) in [
            ("a/b", placed("a/b", None)),
            ("a@7", placed("a", Some(7))),
            ("a@b@12", placed("a@b", Some(12))),
            ("a@b", placed("a@b", None)),
        ] {
            assert_eq!(parse_piece(text), Ok(expected), "{text}");
        }
    }
}
