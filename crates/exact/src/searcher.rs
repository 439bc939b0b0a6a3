use crate::candidates::Nearest;
use crate::kernel::{BitTile, ByteTile, Kernel, SetTile, WideTile, weight};
use crate::plan::BLOCK_ROWS;
use crate::{Candidate, ExactError, Flat};
use annbench_core::{BitRows, Rows, SetRows, Vector, Vectors};

/// Answers one query after another on one thread; after the first nothing is allocated, unless a set
/// is larger than any before it.
#[derive(Debug)]
pub struct FlatSearcher<'f> {
    flat: &'f Flat<'f>,
    walk: Walk,
    sorted: Vec<Candidate>,
    // Of these, the one for the base's element type is used.
    wide: WideTile,
    bytes: ByteTile,
    bits: BitTile,
    sets: SetTile,
}

/// What walking the base needs, whatever it is made of.
#[derive(Debug)]
struct Walk {
    nearest: Nearest,
    scratch: Vec<f32>,
}

impl<'f> FlatSearcher<'f> {
    pub(crate) fn new(flat: &'f Flat<'f>, k: usize) -> Self {
        Self {
            flat,
            walk: Walk {
                nearest: Nearest::new(k, flat.base().n()),
                scratch: Vec::new(),
            },
            sorted: Vec::with_capacity(k),
            wide: WideTile::default(),
            bytes: ByteTile::default(),
            bits: BitTile::default(),
            sets: SetTile::default(),
        }
    }

    /// The k nearest rows of `query`, in canonical order.
    ///
    /// # Errors
    /// [`ExactError::Dimension`] and [`ExactError::Element`].
    pub fn search(&mut self, query: Vector<'_>) -> Result<&[Candidate], ExactError> {
        let flat = self.flat;
        flat.check_dim(query.dim())?;
        let other_type = || ExactError::Element {
            base: flat.base().element(),
            queries: query.element(),
        };
        let weight = weight(flat.metric(), query);
        let walk = &mut self.walk;
        match (flat.base(), query) {
            (Vectors::F32(base), Vector::F32(query)) => {
                walk.walk(flat, base, one_row(query), weight, &mut self.wide)
            }
            (Vectors::F16(base), Vector::F16(query)) => {
                walk.walk(flat, base, one_row(query), weight, &mut self.wide)
            }
            (Vectors::I8(base), Vector::I8(query)) => {
                walk.walk(flat, base, one_row(query), weight, &mut self.bytes)
            }
            (Vectors::U8(base), Vector::U8(query)) => {
                walk.walk(flat, base, one_row(query), weight, &mut self.bytes)
            }
            (Vectors::Bits(base), Vector::Bits(query)) => {
                let rows = BitRows::new(query.bytes, query.dim);
                walk.walk(flat, base, rows, weight, &mut self.bits)
            }
            (Vectors::Sets(base), Vector::Set(query)) => {
                let offsets = [0, query.ids.len() as u64];
                let rows = SetRows::new(&offsets, query.ids, query.dim);
                walk.walk(flat, base, rows, weight, &mut self.sets)
            }
            _ => None,
        }
        .ok_or_else(other_type)?;
        self.walk.nearest.drain_sorted(&mut self.sorted);
        Ok(&self.sorted)
    }
}

fn one_row<T>(query: &[T]) -> Option<Rows<'_, T>> {
    Rows::new(query, query.len())
}

impl Walk {
    /// Offers every row of the base. `None` when there is no query.
    fn walk<'a, 'q, B: Kernel<'a>, Q: Kernel<'q, Tile = B::Tile>>(
        &mut self,
        flat: &Flat<'_>,
        base: B,
        query: Option<Q>,
        weight: f64,
        tile: &mut B::Tile,
    ) -> Option<()> {
        query?.fill(tile);
        self.nearest.clear();
        let mut sums = [0.0; BLOCK_ROWS];
        for start in (0..base.n()).step_by(BLOCK_ROWS) {
            let end = base.n().min(start + BLOCK_ROWS);
            let sums = &mut sums[..end - start];
            let rows = base.slice(start..end).block(&mut self.scratch);
            B::sums::<1>(flat.level, flat.term(), tile, 0, rows, sums);
            flat.finish::<1>(&[weight], start, sums);
            for (r, &distance) in sums.iter().enumerate() {
                self.nearest.offer(distance, (start + r) as u32);
            }
        }
        Some(())
    }
}
