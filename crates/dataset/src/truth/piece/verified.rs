use super::Piece;
use super::kept::refused;
use crate::DatasetError;
use crate::truth::Space;
use annbench_core::{Metric, distance, norm};
use annbench_exact::{Candidate, status};
use rayon::prelude::*;
use std::path::Path;

impl Piece {
    /// Computes again what the piece in `dir` says of its neighbours: distances, order, the row after
    /// them, statuses. That no other row is nearer cannot be told but by a search; of that the proof's
    /// bound must be possible.
    pub(super) fn verify(
        &self,
        dir: &Path,
        space: &Space<'_>,
        pool: &rayon::ThreadPool,
    ) -> Result<(), DatasetError> {
        let asked = self.queries();
        let wrong = pool.install(|| {
            (0..asked.len())
                .into_par_iter()
                .find_map_first(|q| self.wrong(space, q, asked[q] as usize).map(|why| (q, why)))
        });
        match wrong {
            None => Ok(()),
            Some((q, (expected, found))) => {
                let place = format!("row {q}, query {}", asked[q]);
                Err(refused(dir, &place, expected, found))
            }
        }
    }

    /// What is wrong with row `q`, which is of query `number`: what should be, and what is.
    fn wrong(&self, space: &Space<'_>, q: usize, number: usize) -> Option<(String, String)> {
        let query = space.queries.row(number);
        let first = self.facts.first_row;
        let (ids, distances) = self.found.neighbors().row(q);
        let own = ids.iter().zip(distances);
        let row: Vec<Candidate> = own
            .map(|(&id, &distance)| Candidate { distance, id })
            .chain(self.found.next(q))
            .collect();
        for candidate in &row {
            let id = first + candidate.id as usize;
            let is = distance(space.metric, query, space.base.row(id));
            if is.to_bits() != candidate.distance.to_bits() {
                let found = candidate.distance.to_string();
                return Some((format!("row {id} at distance {is}"), found));
            }
        }
        if let Some([a, b]) = row.array_windows().find(|[a, b]| a >= b) {
            let said = |c: &Candidate| format!("row {} at {}", first + c.id as usize, c.distance);
            return Some((
                "rows by distance, then by id, each once".to_owned(),
                format!("{} before {}", said(a), said(b)),
            ));
        }
        let proof = self.found.proofs()[q];
        let last = row[ids.len() - 1];
        let base = space.base.slice(first..self.facts.searched_end);
        let is = status(
            space.metric,
            base,
            space.queries,
            number,
            last,
            self.found.next(q),
        );
        if is != proof.status {
            let (is, said) = (is.name(), proof.status.name());
            return Some((format!("a set that is {is}"), said.to_owned()));
        }
        // A bound below the k-th would prove nothing; it is rounded down from the f64 of a score.
        let lengths = norm(query) + space.max_base_norm;
        let scale = match space.metric {
            Metric::Cosine => 1.0,
            _ => lengths * lengths,
        };
        let bound = last.distance - 1e-9 * (last.distance.abs() + scale);
        (proof.outside.is_nan() || proof.outside < bound).then(|| {
            (
                format!("other rows at {} at least", last.distance),
                proof.outside.to_string(),
            )
        })
    }
}
