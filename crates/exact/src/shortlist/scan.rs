use super::{Arithmetic, Block};
use crate::meter::Meter;
use crate::panel::{Aligned, HALF, LANES, Lines, ROW_STEP, Sum, over};
use crate::{ExactError, Level};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows whose sums are kept at once: with a panel's 32 lanes they take a third of the first cache.
const STRIP_ROWS: usize = 4 * ROW_STEP;

/// Most rows of a block.
const BLOCK_ROWS: usize = 8 * STRIP_ROWS;

/// Most bytes of a block, so that it stays in the second cache.
const BLOCK_BYTES: usize = 512 << 10;

/// Most bytes of the queries that pass over the base together, and of what they keep.
const QUERY_BYTES: usize = 256 << 20;

/// Most queries that pass over the base together: what they keep and their panels take at most
/// 256 MiB each.
pub(crate) fn most_queries(units: usize, kept_bytes: usize, threads: usize) -> usize {
    let by_kept = QUERY_BYTES / (kept_bytes * threads).max(1);
    let by_panels = QUERY_BYTES / (units * 4);
    (by_kept.min(by_panels) / LANES * LANES).max(LANES)
}

fn block_rows(units: usize) -> usize {
    (BLOCK_BYTES / (units * 4) / STRIP_ROWS * STRIP_ROWS).clamp(STRIP_ROWS, BLOCK_ROWS)
}

/// Passes `n` base rows once before all queries, and gives what each has kept. To be called inside
/// the pool.
pub(crate) fn scan<A: Arithmetic>(
    arithmetic: &A,
    level: Level,
    n: usize,
    meter: &Meter<'_>,
) -> Result<Vec<A::Kept>, ExactError> {
    let queries = arithmetic.queries().len();
    let units = arithmetic.product().units(arithmetic.dim());
    let panels = panels(arithmetic, units);
    let next = AtomicUsize::new(0);
    let step = block_rows(units);
    // Blocks go to whoever is free. Each thread sees its own in ascending order.
    let workers = rayon::current_num_threads().min(n.div_ceil(step)).max(1);
    let kept = (0..workers)
        .into_par_iter()
        .with_max_len(1)
        .map(|_| {
            let mut kept: Vec<A::Kept> = (0..queries).map(|q| arithmetic.nothing_kept(q)).collect();
            let mut block = Block {
                first: 0,
                rows: 0,
                words: Lines::default(),
                terms: Vec::new(),
                extras: Vec::new(),
                most: A::Extra::default(),
            };
            let mut sums = Box::new(Aligned([[A::Sum::ZERO; LANES]; STRIP_ROWS]));
            loop {
                let first = next.fetch_add(step, Ordering::Relaxed);
                if first >= n {
                    return Ok(kept);
                }
                block.first = first;
                block.rows = step.min(n - first);
                fit(&mut block, units);
                arithmetic.load(&mut block);
                for (panel, kept) in kept.chunks_mut(LANES).enumerate() {
                    let words = &panels.words()[panel * LANES * units..(panel + 1) * LANES * units];
                    pass(arithmetic, level, &block, panel, words, kept, &mut sums.0);
                }
                meter.add((block.rows * queries) as u64)?;
            }
        })
        .collect::<Result<Vec<_>, ExactError>>()?;
    let mut kept = kept.into_iter();
    let mut all = kept.next().unwrap_or_default();
    for others in kept {
        all.par_iter_mut()
            .zip(others)
            .for_each(|(all, others)| arithmetic.merge(all, others));
    }
    Ok(all)
}

/// One block before one panel.
fn pass<A: Arithmetic>(
    arithmetic: &A,
    level: Level,
    block: &Block<A::Sum, A::Extra>,
    panel: usize,
    words: &[u32],
    kept: &mut [A::Kept],
    sums: &mut [[A::Sum; LANES]],
) {
    let units = words.len() / LANES;
    let first_query = panel * LANES;
    let mut floors = [A::Sum::MOST; LANES];
    for (lane, kept) in kept.iter().enumerate() {
        floors[lane] = arithmetic.floor(first_query + lane, kept, block);
    }
    let strips = block
        .words
        .words()
        .chunks(STRIP_ROWS * units)
        .zip(block.terms.chunks(STRIP_ROWS));
    for (strip, (rows, terms)) in strips.enumerate() {
        let sums = &mut sums[..terms.len()];
        A::Sum::products(level, arithmetic.product(), rows, words, sums);
        let mut risen = 0u32;
        over(level, sums, terms, &floors, &mut |row, lane, sum| {
            let row = strip * STRIP_ROWS + row;
            if let Some(kept) = kept.get_mut(lane)
                && row < block.rows
                && arithmetic.offer(first_query + lane, kept, block, row, sum)
            {
                risen |= 1 << lane;
            }
        });
        while risen != 0 {
            let lane = risen.trailing_zeros() as usize;
            floors[lane] = arithmetic.floor(first_query + lane, &kept[lane], block);
            risen &= risen - 1;
        }
    }
}

/// Gives a block's parts their sizes, and zeroes what the rows may leave as it is.
fn fit<T: Sum, X: Copy + Default>(block: &mut Block<T, X>, units: usize) {
    let padded = block.rows.next_multiple_of(ROW_STEP);
    // The padding of each row is written by none, so what it is at first it stays.
    block.words.resize(padded * units);
    block.words.words_mut()[block.rows * units..].fill(0);
    block.terms.resize(padded, T::LEAST);
    block.terms[block.rows..].fill(T::LEAST);
    block.extras.resize(padded, X::default());
}

/// All queries, `[panels, 2, units, 16]`.
fn panels<A: Arithmetic>(arithmetic: &A, units: usize) -> Lines {
    let queries = arithmetic.queries();
    let mut panels = Lines::zeroed(queries.len().next_multiple_of(LANES) * units);
    panels
        .words_mut()
        .par_chunks_mut(LANES * units)
        .enumerate()
        .for_each(|(panel, words)| {
            let mut row = vec![0; units];
            let first = panel * LANES;
            for q in first..queries.len().min(first + LANES) {
                row.fill(0);
                arithmetic.load_query(q, &mut row);
                let lane = q - first;
                let half = lane / HALF * units * HALF + lane % HALF;
                for (u, &word) in row.iter().enumerate() {
                    words[half + u * HALF] = word;
                }
            }
        });
    panels
}
