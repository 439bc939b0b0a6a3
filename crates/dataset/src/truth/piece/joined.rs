use super::facts::PieceFacts;
use super::kept::refused;
use super::{Piece, drawn};
use crate::content::fingerprint_of;
use crate::sample::Gathered;
use crate::truth::Space;
use crate::{Dataset, DatasetError, OpenOptions};
use annbench_exact::{Part, join};
use std::path::PathBuf;

/// A piece in a folder, and where its rows lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedPiece {
    /// Its folder.
    pub dir: PathBuf,
    /// Where its base starts in the dataset's, when it was searched in a set that is a slice of it.
    pub at: Option<usize>,
}

impl Dataset {
    /// Joins pieces of adjacent rows, in whatever order they are given: what a search of all their rows
    /// finds, bit for bit, with the same status of each query.
    ///
    /// A piece that was searched in a slice is compared with the rows of the base where it is placed, and
    /// what each says of its neighbours is computed again.
    ///
    /// # Errors
    /// [`DatasetError::Contents`] with the piece that is damaged, unfinished, of other vectors, queries,
    /// metric or k, or that leaves a gap; [`DatasetError::Cancelled`].
    pub fn join_pieces(
        &self,
        placed: &[PlacedPiece],
        options: &OpenOptions<'_>,
    ) -> Result<Piece, DatasetError> {
        let space = self.space();
        let mut pieces = Vec::new();
        for placed in placed {
            let mut piece = Piece::read(&placed.dir)?;
            self.place(placed, &mut piece, &space, options)?;
            piece.verify(&placed.dir, &space, options.pool)?;
            pieces.push((placed, piece));
        }
        pieces.sort_by_key(|(_, piece)| piece.facts.first_row);
        let Some((_, first)) = pieces.first() else {
            let path = self.base().path();
            return Err(refused(path, "pieces", "one at least", "none"));
        };
        let facts = first.facts.clone();
        let mut end = facts.first_row;
        for (placed, piece) in &pieces {
            let alike = PieceFacts {
                first_row: facts.first_row,
                end_row: facts.end_row,
                ..piece.facts.clone()
            };
            if let Some((wanted, found)) = alike.other_than(&facts) {
                return Err(refused(&placed.dir, "piece", wanted, found));
            }
            if piece.facts.first_row != end {
                return Err(DatasetError::contents(
                    &placed.dir,
                    "rows",
                    format!("rows from {end} on, after those of the piece before"),
                    format!("rows from {} on", piece.facts.first_row),
                    "give pieces that leave no gap and do not overlap",
                ));
            }
            end = piece.facts.end_row;
        }
        let facts = PieceFacts {
            end_row: end,
            searched_end: end,
            dataset: self.name().to_owned(),
            ..facts
        };
        let first_row = facts.first_row;
        let parts: Vec<Part> = pieces
            .into_iter()
            .map(|(_, piece)| Part {
                first: piece.facts.first_row - first_row,
                rows: piece.facts.end_row - piece.facts.first_row,
                found: piece.found,
            })
            .collect();
        let gathered = Gathered::of(space.queries, &drawn(facts.all_queries, facts.queries));
        let base = space.base.slice(first_row..end);
        let k = facts.k.min(end - first_row);
        let path = self.base().path();
        let found = join(&parts, base, gathered.vectors(), space.metric, k)
            .map_err(|why| refused(path, "pieces", "what joins into a whole", why.to_string()))?;
        Ok(Piece { facts, found })
    }

    /// Refuses a piece of another set, and gives one of a slice the rows of this base.
    fn place(
        &self,
        placed: &PlacedPiece,
        piece: &mut Piece,
        space: &Space<'_>,
        options: &OpenOptions<'_>,
    ) -> Result<(), DatasetError> {
        let facts = &mut piece.facts;
        if !facts.is_finished() {
            let expected = format!("rows up to {}, all that were asked for", facts.end_row);
            let found = format!("rows up to {}: finish its search", facts.searched_end);
            return Err(refused(&placed.dir, "rows", expected, found));
        }
        if let Some(at) = placed.at {
            let end = at
                .checked_add(facts.base_rows)
                .filter(|&end| end <= space.base.n());
            let Some(end) = end else {
                let expected = format!("rows of the base, which has {}", space.base.n());
                let found = format!("{} rows from row {at} on", facts.base_rows);
                return Err(refused(&placed.dir, "rows", expected, found));
            };
            let rows = space.base.slice(at..end);
            let (expected, found) = (
                fingerprint_of(self.base().path(), rows, options.pool, options.watch)?,
                facts.base_fingerprint.clone(),
            );
            if expected != found {
                return Err(DatasetError::contents(
                    &placed.dir,
                    format!("base, at row {at}"),
                    format!("rows with fingerprint {expected}"),
                    found,
                    "it was searched in other rows: place it where its slice starts, as PIECE@ROW",
                ));
            }
            facts.base_fingerprint = space.base_fingerprint.to_owned();
            facts.base_rows = space.base.n();
            facts.first_row += at;
            facts.end_row += at;
            facts.searched_end += at;
        }
        let wanted = PieceFacts::new(
            space,
            self.name(),
            facts.first_row..facts.end_row,
            facts.queries,
            facts.k,
        );
        match facts.other_than(&wanted) {
            None => Ok(()),
            Some((wanted, found)) => Err(DatasetError::contents(
                &placed.dir,
                "piece",
                wanted,
                found,
                "it belongs to another set; one that was searched in a slice of this one is placed as \
                 PIECE@ROW, ROW being where the slice starts",
            )),
        }
    }
}
