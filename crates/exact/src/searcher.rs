use crate::candidates::Nearest;
use crate::kernel::Element;
use crate::plan::BLOCK_ROWS;
use crate::{Candidate, ExactError, Flat};
use annbench_core::{ElementType, Metric, Rows, Vector, Vectors, norm};

/// Answers one query after another on one thread; nothing is allocated per query.
#[derive(Debug)]
pub struct FlatSearcher<'f> {
    flat: &'f Flat<'f>,
    nearest: Nearest,
    sorted: Vec<Candidate>,
    wide_f32: Vec<f64>,
    wide_u8: Vec<i16>,
}

impl<'f> FlatSearcher<'f> {
    pub(crate) fn new(flat: &'f Flat<'f>, k: usize) -> Self {
        let dim = flat.base().dim();
        Self {
            flat,
            nearest: Nearest::new(k, flat.base().n()),
            sorted: Vec::with_capacity(k),
            wide_f32: Vec::with_capacity(dim),
            wide_u8: Vec::with_capacity(dim),
        }
    }

    /// The k nearest rows of `query`, in canonical order.
    ///
    /// # Errors
    /// [`ExactError::Dimension`] and [`ExactError::Element`].
    pub fn search(&mut self, query: Vector<'_>) -> Result<&[Candidate], ExactError> {
        let flat = self.flat;
        flat.check_dim(query.dim())?;
        let query_norm = match flat.metric() {
            Metric::Cosine => norm(query),
            _ => 0.0,
        };
        self.nearest.clear();
        match (flat.base(), query) {
            (Vectors::F32(base), Vector::F32(query)) => {
                self.wide_f32.clear();
                self.wide_f32.extend(query.iter().map(|&v| v.widen()));
                walk(flat, base, &self.wide_f32, query_norm, &mut self.nearest);
            }
            (Vectors::U8(base), Vector::U8(query)) => {
                self.wide_u8.clear();
                self.wide_u8.extend(query.iter().map(|&v| v.widen()));
                walk(flat, base, &self.wide_u8, query_norm, &mut self.nearest);
            }
            _ => {
                return Err(ExactError::Element {
                    base: flat.base().element(),
                    queries: element(query),
                });
            }
        }
        self.nearest.drain_sorted(&mut self.sorted);
        Ok(&self.sorted)
    }
}

fn walk<T: Element>(
    flat: &Flat<'_>,
    base: Rows<'_, T>,
    query: &[T::Query],
    query_norm: f64,
    nearest: &mut Nearest,
) {
    let mut sums = [0.0; BLOCK_ROWS];
    for start in (0..base.n()).step_by(BLOCK_ROWS) {
        let rows = base.slice(start..base.n().min(start + BLOCK_ROWS));
        let sums = &mut sums[..rows.n()];
        T::sums::<1>(flat.level, flat.term(), query, rows, sums);
        flat.finish::<1>(&[query_norm], start, sums);
        for (r, &distance) in sums.iter().enumerate() {
            nearest.offer(distance, (start + r) as u32);
        }
    }
}

fn element(vector: Vector<'_>) -> ElementType {
    match vector {
        Vector::F32(_) => ElementType::F32,
        _ => ElementType::U8,
    }
}
