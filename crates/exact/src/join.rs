use crate::certify::doublings;
use crate::proof::{Method, Proof, combined, status};
use crate::{Candidate, Certified, Neighbors};
use annbench_core::{EMPTY_SLOT, Metric, Vectors};
use thiserror::Error;

/// What was found of all queries in a range of base rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The first row of the range: what has to be added to its ids.
    pub first: usize,
    /// Rows of the range.
    pub rows: usize,
    /// Neighbours among them, with ids from 0 on.
    pub found: Certified,
}

/// Why parts do not make a whole.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JoinError {
    /// There is a gap, an overlap or no end.
    #[error(
        "a part must start at base row {expected}, but the next one starts at {found}; join parts of adjacent ranges that cover all {n} rows, each once"
    )]
    Range {
        /// Where the next part has to start.
        expected: usize,
        /// Where it starts, or where the base ends.
        found: usize,
        /// Base rows.
        n: usize,
    },
    /// A part is about other queries.
    #[error(
        "the part from base row {first} has neighbours of {found} queries, not of {expected}; search every part with the same queries"
    )]
    Queries {
        /// The first row of the part.
        first: usize,
        /// Queries it has.
        found: usize,
        /// Queries there are.
        expected: usize,
    },
    /// A part has too few neighbours of each query.
    #[error(
        "the part from base row {first} has {found} neighbours per query, {needed} are needed; search it again with k = {needed}"
    )]
    Narrow {
        /// The first row of the part.
        first: usize,
        /// Neighbours per query.
        found: usize,
        /// How many are needed: k, or all rows of the part.
        needed: usize,
    },
    /// A part has an id beyond its rows.
    #[error(
        "the part from base row {first} names row {id} of its {rows} rows; its answers are another range's: search it again"
    )]
    Id {
        /// The first row of the part.
        first: usize,
        /// The id.
        id: u32,
        /// Rows of the part.
        rows: usize,
    },
    /// No neighbours, more than there are rows, or more rows than ids.
    #[error(
        "k is {k} and the base has {n} rows; k must be from 1 to that, and ids are 32 bits wide"
    )]
    Size {
        /// Neighbours asked for.
        k: usize,
        /// Base rows.
        n: usize,
    },
}

/// Joins what was found in ranges of `base`, in ascending order, into what a search of the whole finds:
/// ids, distances and status are the same, bit for bit. A shortlist is all parts' shortlists, and what
/// is proved of the rows outside is proved of each.
///
/// Each part has at least `k` neighbours of each query, or all of its rows. Of `base` (`[n, dim]`) only
/// rows are read that are about as near as a k-th neighbour.
///
/// # Errors
/// Any [`JoinError`].
pub fn join(
    parts: &[Part],
    base: Vectors<'_>,
    queries: Vectors<'_>,
    metric: Metric,
    k: usize,
) -> Result<Certified, JoinError> {
    let n = base.n();
    if k == 0 || k > n || n > EMPTY_SLOT as usize {
        return Err(JoinError::Size { k, n });
    }
    check(parts, n, queries.n(), k)?;
    let (mut ids, mut distances) = (Vec::new(), Vec::new());
    let (mut next, mut proofs) = (Vec::new(), Vec::new());
    let mut nearest: Vec<Candidate> = Vec::new();
    for q in 0..queries.n() {
        nearest.clear();
        for part in parts {
            nearest.extend(candidates(part, q)?);
        }
        nearest.sort_unstable();
        nearest.truncate(k + 1);
        ids.extend(nearest[..k].iter().map(|c| c.id));
        distances.extend(nearest[..k].iter().map(|c| c.distance));
        let after = nearest.get(k).copied();
        let status = status(metric, base, queries, q, nearest[k - 1], after);
        proofs.push(proof(parts, q, k, status));
        next.push(after);
    }
    Ok(Certified {
        neighbors: Neighbors::new(k, ids, distances),
        next,
        proofs,
    })
}

fn check(parts: &[Part], n: usize, queries: usize, k: usize) -> Result<(), JoinError> {
    let mut expected = 0;
    for part in parts {
        let first = part.first;
        if first != expected || part.rows > n - first {
            let found = if first == expected {
                first + part.rows
            } else {
                first
            };
            return Err(JoinError::Range { expected, found, n });
        }
        let neighbors = part.found.neighbors();
        if neighbors.queries() != queries {
            let found = neighbors.queries();
            return Err(JoinError::Queries {
                first,
                found,
                expected: queries,
            });
        }
        let (found, needed) = (neighbors.k(), k.min(part.rows));
        if found < needed {
            return Err(JoinError::Narrow {
                first,
                found,
                needed,
            });
        }
        expected += part.rows;
    }
    if expected == n {
        Ok(())
    } else {
        Err(JoinError::Range {
            expected,
            found: n,
            n,
        })
    }
}

/// All that a part knows of query `q`, with the whole's ids.
fn candidates(part: &Part, q: usize) -> Result<Vec<Candidate>, JoinError> {
    let (ids, distances) = part.found.neighbors().row(q);
    let own = ids
        .iter()
        .zip(distances)
        .map(|(&id, &distance)| Candidate { distance, id });
    own.chain(part.found.next(q))
        .map(|candidate| {
            if candidate.id as usize >= part.rows {
                return Err(JoinError::Id {
                    first: part.first,
                    id: candidate.id,
                    rows: part.rows,
                });
            }
            // Below the rows of the base, which ids can name.
            let id = part.first as u32 + candidate.id;
            Ok(Candidate { id, ..candidate })
        })
        .collect()
}

fn proof(parts: &[Part], q: usize, k: usize, status: crate::Status) -> Proof {
    let proofs = || parts.iter().map(|part| part.found.proofs()[q]);
    let shortlist = proofs().map(|proof| proof.shortlist).sum();
    let method = proofs().map(|proof| proof.method);
    let method = method.reduce(combined);
    Proof {
        method: method.unwrap_or(Method::FullScan),
        shortlist,
        doublings: doublings(shortlist, k),
        outside: proofs()
            .map(|proof| proof.outside)
            .fold(f64::INFINITY, f64::min),
        status,
    }
}
