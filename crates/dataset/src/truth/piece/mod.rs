//! Pieces of truth: what an exact search has found of some rows of a base, with the proof of each query,
//! kept in a folder. A search is cut into steps, so that it can go on where it was stopped; pieces of
//! adjacent rows, of whatever machine, join into the truth of the whole.

mod facts;
mod held;
mod joined;
mod kept;
mod own;
mod search;
mod verified;

use crate::sample::{Gathered, sample};
use crate::{Dataset, DatasetError, OpenOptions};
use annbench_exact::{Certified, Status};
pub use facts::PieceFacts;
use held::Held;
pub use joined::PlacedPiece;
use search::{Keep, Search, step_rows_of};
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::path::Path;

/// Which queries are drawn: the same every time, and on every machine.
const SEED: u64 = 0x7472_7574_6873_6d70;

/// Numbers of the queries that a sample of `wanted` has, ascending.
fn drawn(all: usize, wanted: usize) -> Vec<u32> {
    sample(all, wanted, SEED)
}

/// Exact neighbours among some rows of a base, with their proofs. Ids count from the first of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    facts: PieceFacts,
    found: Certified,
}

impl Piece {
    /// What it belongs to.
    pub fn facts(&self) -> &PieceFacts {
        &self.facts
    }

    /// Neighbours and proofs `[queries, k]`.
    pub fn found(&self) -> &Certified {
        &self.found
    }

    /// Numbers of the queries, ascending.
    pub fn queries(&self) -> Vec<u32> {
        drawn(self.facts.all_queries, self.facts.queries)
    }

    /// Ids `[queries, k]` as the whole base counts them.
    pub fn ids(&self) -> Vec<u32> {
        let first = self.facts.first_row as u32;
        let ids = self.found.neighbors().ids();
        ids.iter().map(|id| first + id).collect()
    }

    /// Whether the neighbours of every query are proved.
    pub fn is_certified(&self) -> bool {
        self.found.count(Status::Uncertified) == 0
    }

    /// SHA-256 over all ids, then all distances, little-endian: the same on every machine.
    pub fn sha256(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(bytemuck::cast_slice::<u32, u8>(&self.ids()));
        hasher.update(bytemuck::cast_slice::<f64, u8>(
            self.found.neighbors().distances(),
        ));
        let digest = hasher.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What is to be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Base rows.
    pub rows: Range<usize>,
    /// So many queries, drawn at random; all where there are not more.
    pub queries: usize,
    /// Neighbours per query.
    pub k: usize,
    /// Rows that are searched before what was found is kept, `None` for as many as are worth it. The
    /// answer is the same.
    pub step_rows: Option<usize>,
}

impl Dataset {
    /// Everything: all rows for all queries.
    pub fn whole_stretch(&self, k: usize) -> Stretch {
        Stretch {
            rows: 0..self.entry().n(),
            queries: self.entry().queries.n(),
            k,
            step_rows: None,
        }
    }

    /// Searches `stretch` and keeps what it finds in `dir`, after every step: where the folder holds the
    /// beginning of the same search, this goes on with it. Another process that searches there is waited for.
    ///
    /// # Errors
    /// [`DatasetError::Contents`] where the folder holds another piece or a damaged one,
    /// [`DatasetError::Io`], [`DatasetError::Exact`], [`DatasetError::Cancelled`].
    pub fn search_piece(
        &self,
        stretch: &Stretch,
        dir: &Path,
        options: &OpenOptions<'_>,
    ) -> Result<Piece, DatasetError> {
        let facts = self.wanted_facts(stretch)?;
        let _held = Held::wait(dir, options.watch)?;
        let begun = match Piece::is_in(dir) {
            true => Some(Piece::read(dir)?),
            false => None,
        };
        let other = begun.as_ref().and_then(|b| b.facts.other_than(&facts));
        if let Some((wanted, found)) = other {
            return Err(DatasetError::contents(
                dir,
                "piece",
                wanted,
                found,
                "another search is kept in this folder: name another",
            ));
        }
        if let Some(begun) = &begun {
            begun.verify(dir, &self.space(), options.pool)?;
        }
        let written = begun.as_ref().is_some_and(|b| b.facts.is_finished());
        let mut keep = |piece: &mut Piece| piece.write(dir);
        let mut piece = self.search(facts, begun, stretch.step_rows, options, &mut keep)?;
        if !written {
            piece.write(dir)?;
        }
        Ok(piece)
    }

    fn wanted_facts(&self, stretch: &Stretch) -> Result<PieceFacts, DatasetError> {
        let (n, rows) = (self.entry().n(), &stretch.rows);
        if stretch.k > n {
            return Err(DatasetError::TooManyNeighbors {
                dataset: self.name().to_owned(),
                k: stretch.k,
                n,
            });
        }
        if rows.start >= rows.end || rows.end > n {
            return Err(DatasetError::contents(
                self.base().path(),
                "rows",
                format!("a range within 0 to {n}"),
                format!("{} to {}", rows.start, rows.end),
                "name rows that the base has",
            ));
        }
        let space = self.space();
        let queries = stretch.queries.min(space.queries.n());
        let name = self.name();
        Ok(PieceFacts::new(
            &space,
            name,
            rows.clone(),
            queries,
            stretch.k,
        ))
    }

    fn search(
        &self,
        facts: PieceFacts,
        begun: Option<Piece>,
        step_rows: Option<usize>,
        options: &OpenOptions<'_>,
        keep: Keep<'_>,
    ) -> Result<Piece, DatasetError> {
        let space = self.space();
        let gathered;
        let queries = if facts.queries == space.queries.n() {
            space.queries
        } else {
            gathered = Gathered::of(space.queries, &drawn(facts.all_queries, facts.queries));
            gathered.vectors()
        };
        let search = Search {
            space: &space,
            base: self.base(),
            queries,
            step_rows: step_rows
                .unwrap_or_else(|| step_rows_of(space.base, queries))
                .max(1),
            pool: options.pool,
            watch: options.watch,
        };
        search.finish(facts, begun, keep)
    }
}
