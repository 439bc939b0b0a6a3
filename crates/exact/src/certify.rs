use crate::meter::{Meter, Progress};
use crate::panel::Product;
use crate::proof::{Method, Proof, status};
use crate::shortlist::{Byte, Floats, Integers, Interval, most_queries, scan};
use crate::{Candidate, Certified, ExactError, Flat, Neighbors, Path};
use annbench_core::{Metric, Rows, Vectors, distance};
use rayon::prelude::*;

/// Queries from which on preparing the base for shortlists pays.
const LEAST_QUERIES: usize = 8;

/// What was found of one query.
pub(crate) struct Found {
    /// The nearest, in canonical order.
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) method: Method,
    pub(crate) shortlist: usize,
    pub(crate) outside: f64,
}

impl Flat<'_> {
    /// The `k` nearest rows of every query, in canonical order, each with its proof.
    ///
    /// The base is read from first row to last, once for each block of queries whose panels and
    /// candidates fit into 512 MiB; `progress` hears how many distances of how many are done, block
    /// of rows by block of rows, and breaking cancels the search.
    ///
    /// # Errors
    /// Any [`ExactError`] but too many rows.
    pub fn certify(
        &self,
        queries: Vectors<'_>,
        k: usize,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
    ) -> Result<Certified, ExactError> {
        self.check(queries, k)?;
        let n = self.base().n();
        let wanted = (k + 1).min(n);
        let (mut ids, mut distances) = (Vec::new(), Vec::new());
        let (mut next, mut proofs) = (Vec::new(), Vec::new());
        self.pass_all(queries, wanted, &[], pool, progress, &mut |first, found| {
            let of_queries: Vec<Proof> = found
                .par_iter()
                .enumerate()
                .with_min_len(64)
                .map(|(i, found)| {
                    let (last, next) = (found.candidates[k - 1], found.candidates.get(k).copied());
                    let q = first + i;
                    Proof {
                        method: found.method,
                        shortlist: found.shortlist,
                        doublings: doublings(found.shortlist, k),
                        outside: found.outside,
                        status: status(self.metric(), self.base(), queries, q, last, next),
                    }
                })
                .collect();
            proofs.extend(of_queries);
            for found in found {
                ids.extend(found.candidates[..k].iter().map(|c| c.id));
                distances.extend(found.candidates[..k].iter().map(|c| c.distance));
                next.push(found.candidates.get(k).copied());
            }
        })?;
        Ok(Certified {
            neighbors: Neighbors::new(k, ids, distances),
            next,
            proofs,
        })
    }

    /// Finds the `wanted` nearest of all queries, block by block, and gives each block's to `take`
    /// with the number of its first query.
    ///
    /// `known` holds a distance for each query, or is empty: rows that are not nearer may be left out.
    pub(crate) fn pass_all(
        &self,
        queries: Vectors<'_>,
        wanted: usize,
        known: &[f64],
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
        take: &mut (dyn FnMut(usize, Vec<Found>) + Send),
    ) -> Result<(), ExactError> {
        let meter = Meter::new(self.base().n() as u64 * queries.n() as u64, progress);
        let step = self.block_queries(wanted, pool.current_num_threads());
        pool.install(|| {
            for first in (0..queries.n()).step_by(step) {
                let last = queries.n().min(first + step);
                let known = known.get(first..last).unwrap_or_default();
                take(
                    first,
                    self.pass(queries.slice(first..last), wanted, known, &meter)?,
                );
            }
            Ok(())
        })
    }

    /// Most queries that are handled together.
    fn block_queries(&self, wanted: usize, threads: usize) -> usize {
        // A word holds at least one component.
        let units = Product::F32.units(self.base().dim());
        let kept = first_shortlist(wanted).max(limit(wanted)) * 16;
        most_queries(units, kept, threads)
    }

    pub(crate) fn is_for_shortlists(&self, queries: usize, k: usize) -> bool {
        match self.path {
            Path::Auto => queries >= LEAST_QUERIES && k <= self.base().n() / 4,
            Path::Shortlist => true,
            Path::FullScan => false,
        }
    }

    /// To be called inside the pool.
    fn pass(
        &self,
        queries: Vectors<'_>,
        wanted: usize,
        known: &[f64],
        meter: &Meter<'_>,
    ) -> Result<Vec<Found>, ExactError> {
        if self.is_for_shortlists(queries.n(), wanted) {
            let found = match (self.base(), queries) {
                (Vectors::U8(base), Vectors::U8(rows)) if self.metric() != Metric::Cosine => {
                    self.integers(base, rows, wanted, known, meter)?
                }
                (Vectors::I8(base), Vectors::I8(rows)) if self.metric() != Metric::Cosine => {
                    self.integers(base, rows, wanted, known, meter)?
                }
                (Vectors::Bits(_) | Vectors::Sets(_), _) => None,
                _ => self.floats(queries, wanted, known, meter)?,
            };
            if let Some(found) = found {
                return Ok(found);
            }
        }
        self.full_scan(queries, wanted, meter)
    }

    fn integers<T: Byte>(
        &self,
        base: Rows<'_, T>,
        rows: Rows<'_, T>,
        wanted: usize,
        known: &[f64],
        meter: &Meter<'_>,
    ) -> Result<Option<Vec<Found>>, ExactError> {
        let integers = Integers::new(base, rows, self.metric(), wanted, known, self.level);
        let Some(integers) = integers else {
            return Ok(None);
        };
        let kept = scan(&integers, self.level, base.n(), meter)?;
        let found = kept
            .into_par_iter()
            .enumerate()
            .map(|(q, kept)| {
                let candidates = integers.candidates(q, kept);
                let full = candidates.len() == wanted;
                let known = known.get(q).copied().filter(|_| !full);
                Found {
                    outside: known.unwrap_or_else(|| self.beyond(&candidates)),
                    method: Method::Integers,
                    shortlist: candidates.len(),
                    candidates,
                }
            })
            .collect();
        Ok(Some(found))
    }

    fn floats(
        &self,
        queries: Vectors<'_>,
        wanted: usize,
        known: &[f64],
        meter: &Meter<'_>,
    ) -> Result<Option<Vec<Found>>, ExactError> {
        let (base, n) = (self.base(), self.base().n());
        let Some(floats) = Floats::new(
            base,
            queries,
            self.metric(),
            &self.weights,
            (wanted, limit(wanted)),
            known,
            self.level,
        ) else {
            return Ok(None);
        };
        let kept = scan(&floats, self.level, n, meter)?;
        let method = match floats.product() {
            Product::F32 => Method::F32Shortlist,
            _ => Method::Bf16Shortlist,
        };
        let mut found: Vec<Option<Found>> = kept
            .into_par_iter()
            .enumerate()
            .map(|(q, mut kept)| {
                if kept.is_overflown() || !floats.is_tame(q) {
                    return None;
                }
                // Distances come later.
                let unknown = |interval: &Interval| Candidate {
                    distance: f64::NAN,
                    id: interval.id,
                };
                let candidates: Vec<_> = kept.finish().iter().map(unknown).collect();
                let shortlist = candidates.len();
                let outside = if shortlist == n {
                    f64::INFINITY
                } else {
                    floats.least_distance(q, kept.bar())
                };
                Some(Found {
                    candidates,
                    method,
                    shortlist,
                    outside,
                })
            })
            .collect();
        self.measure(queries, &mut found);
        found.par_iter_mut().flatten().for_each(|found| {
            found.candidates.sort_unstable();
            found.candidates.truncate(wanted);
        });
        // Runs of queries that the shortlist has not decided.
        let mut first = 0;
        while first < found.len() {
            let run = found[first..].iter().take_while(|f| f.is_none()).count();
            if run > 0 {
                let quiet = meter.without_counting();
                let scanned = self.full_scan(queries.slice(first..first + run), wanted, &quiet)?;
                for (to, scanned) in found[first..].iter_mut().zip(scanned) {
                    *to = Some(scanned);
                }
            }
            first += run.max(1);
        }
        Ok(found.into_iter().collect())
    }

    /// Computes the distances of all candidates, base row after base row: what is not in memory is then
    /// read once and in order, whatever the number of queries.
    fn measure(&self, queries: Vectors<'_>, found: &mut [Option<Found>]) {
        let mut slots: Vec<(&mut Candidate, u32)> = found
            .iter_mut()
            .enumerate()
            .flat_map(|(q, found)| {
                let candidates = found.iter_mut().flat_map(|found| &mut found.candidates);
                // Ids are 32 bits wide, and a block of queries is much smaller.
                candidates.map(move |candidate| (candidate, q as u32))
            })
            .collect();
        slots.par_sort_unstable_by_key(|(candidate, _)| candidate.id);
        slots.into_par_iter().for_each(|(candidate, q)| {
            let row = self.base().row(candidate.id as usize);
            candidate.distance = distance(self.metric(), queries.row(q as usize), row);
        });
    }

    fn full_scan(
        &self,
        queries: Vectors<'_>,
        wanted: usize,
        meter: &Meter<'_>,
    ) -> Result<Vec<Found>, ExactError> {
        let neighbors = self.scan_all(queries, wanted, meter)?;
        let n = self.base().n();
        let found = (0..neighbors.queries())
            .map(|q| {
                let (ids, distances) = neighbors.row(q);
                let pairs = ids.iter().zip(distances);
                let candidates: Vec<_> = pairs
                    .map(|(&id, &distance)| Candidate { distance, id })
                    .collect();
                Found {
                    outside: self.beyond(&candidates),
                    candidates,
                    method: Method::FullScan,
                    shortlist: n,
                }
            })
            .collect();
        Ok(found)
    }

    /// What the distances of all rows but these nearest are no less than.
    fn beyond(&self, nearest: &[Candidate]) -> f64 {
        match nearest.last() {
            Some(last) if nearest.len() < self.base().n() => last.distance,
            _ => f64::INFINITY,
        }
    }
}

/// Rows of the first shortlist.
fn first_shortlist(k: usize) -> usize {
    (4 * k).max(100)
}

/// Rows that a shortlist may have before a full scan is the better way.
fn limit(wanted: usize) -> usize {
    (16 * wanted).max(2048)
}

pub(crate) fn doublings(shortlist: usize, k: usize) -> u32 {
    let times = shortlist.div_ceil(first_shortlist(k));
    times.next_power_of_two().trailing_zeros()
}

/// The `k` nearest rows of `base` for every query, each with its proof: [`Flat::certify`] for once.
///
/// # Errors
/// Any [`ExactError`].
pub fn certify(
    base: Vectors<'_>,
    queries: Vectors<'_>,
    metric: Metric,
    k: usize,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> Result<Certified, ExactError> {
    Flat::new(base, metric, pool)?.certify(queries, k, pool, progress)
}
