use crate::certify::doublings;
use crate::meter::Progress;
use crate::proof::{Proof, combined, status};
use crate::{Candidate, Certified, ExactError, Flat, Neighbors};
use annbench_core::Vectors;

impl Flat<'_> {
    /// The `k` nearest rows of `whole`, of which these rows are the last and `before` was found among the
    /// others: of these rows only such are looked at as may be nearer than what is known. Ids, distances and
    /// status are those of a search of the whole, bit for bit.
    ///
    /// # Errors
    /// As [`Flat::certify`]; [`ExactError::RowRange`] when these are more rows than the whole has, and
    /// [`ExactError::OtherQueries`] when `before` is about other queries or other than the `k` nearest, or
    /// all, of the rows before.
    pub fn certify_after(
        &self,
        before: &Certified,
        whole: Vectors<'_>,
        queries: Vectors<'_>,
        k: usize,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
    ) -> Result<Certified, ExactError> {
        let (own, n) = (self.base().n(), whole.n());
        let Some(start) = n.checked_sub(own) else {
            return Err(ExactError::RowRange {
                start: 0,
                end: own,
                n,
            });
        };
        let (found, expected) = (before.neighbors(), k.min(start));
        if found.queries() != queries.n() || found.k() != expected {
            return Err(ExactError::OtherQueries {
                queries: queries.n(),
                k: expected,
                found_queries: found.queries(),
                found_k: found.k(),
            });
        }
        let wanted = (k + 1).min(own);
        self.check(queries, wanted)?;
        let k = k.min(n);
        // A row after fewer than k bounds no k-th neighbour.
        let known: Vec<f64> = match found.k() == k {
            true => (0..queries.n())
                .map(|q| before.next(q).map_or(f64::INFINITY, |next| next.distance))
                .collect(),
            false => Vec::new(),
        };
        let (mut ids, mut distances) = (Vec::new(), Vec::new());
        let (mut next, mut proofs) = (Vec::new(), Vec::new());
        let mut nearest: Vec<Candidate> = Vec::new();
        let mut take = |first: usize, found: Vec<crate::certify::Found>| {
            for (i, found) in found.into_iter().enumerate() {
                let q = first + i;
                nearest.clear();
                let (before_ids, before_distances) = before.neighbors().row(q);
                let pairs = before_ids.iter().zip(before_distances);
                nearest.extend(pairs.map(|(&id, &distance)| Candidate { distance, id }));
                nearest.extend(before.next(q));
                nearest.extend(found.candidates.iter().map(|candidate| Candidate {
                    // Below the rows of the whole, which ids can name.
                    id: start as u32 + candidate.id,
                    ..*candidate
                }));
                nearest.sort_unstable();
                nearest.truncate(k + 1);
                ids.extend(nearest[..k].iter().map(|c| c.id));
                distances.extend(nearest[..k].iter().map(|c| c.distance));
                let after = nearest.get(k).copied();
                next.push(after);
                let proof = before.proofs()[q];
                let shortlist = proof.shortlist + found.shortlist;
                let last = nearest[k - 1];
                proofs.push(Proof {
                    method: combined(proof.method, found.method),
                    shortlist,
                    doublings: doublings(shortlist, k),
                    outside: proof.outside.min(found.outside),
                    status: status(self.metric(), whole, queries, q, last, after),
                });
            }
        };
        self.pass_all(queries, wanted, &known, pool, progress, &mut take)?;
        Ok(Certified {
            neighbors: Neighbors::new(k, ids, distances),
            next,
            proofs,
        })
    }
}
