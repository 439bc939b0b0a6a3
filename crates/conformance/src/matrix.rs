use annbench_core::{BitRows, Bits, ElementType, Rows, Set, SetRows, Vector, Vectors};
use half::f16;

/// Owned rows in one element type.
pub(crate) struct Matrix {
    dim: usize,
    rows: Owned,
}

enum Owned {
    F32(Vec<f32>),
    F16(Vec<f16>),
    I8(Vec<i8>),
    U8(Vec<u8>),
    Bits(Vec<u8>),
    Sets { offsets: Vec<u64>, ids: Vec<u32> },
}

impl Matrix {
    /// `values`, rows of `dim` around 0 with a spread of some units, as numbers of `element`: bytes
    /// hold eight times the value, u8 from 128 on; bits and sets hold the components above 0.
    pub(crate) fn new(values: &[f64], dim: usize, element: ElementType) -> Self {
        let rows = match element {
            ElementType::F16 => Owned::F16(values.iter().map(|&v| f16::from_f64(v)).collect()),
            ElementType::I8 => {
                let byte = |v: &f64| (8.0 * v).clamp(-127.0, 127.0) as i8;
                Owned::I8(values.iter().map(byte).collect())
            }
            ElementType::U8 => {
                let byte = |v: &f64| (128.0 + 8.0 * v).clamp(0.0, 255.0) as u8;
                Owned::U8(values.iter().map(byte).collect())
            }
            ElementType::Bits => Owned::Bits(values.chunks(dim).flat_map(packed).collect()),
            ElementType::Sets => {
                let mut offsets = vec![0];
                let mut ids = Vec::new();
                for row in values.chunks(dim) {
                    ids.extend((0..dim as u32).filter(|&i| row[i as usize] > 0.0));
                    offsets.push(ids.len() as u64);
                }
                Owned::Sets { offsets, ids }
            }
            _ => Owned::F32(values.iter().map(|&v| v as f32).collect()),
        };
        Self { dim, rows }
    }

    pub(crate) fn view(&self) -> Vectors<'_> {
        let rows = match &self.rows {
            Owned::F32(data) => Rows::new(data, self.dim).map(Vectors::F32),
            Owned::F16(data) => Rows::new(data, self.dim).map(Vectors::F16),
            Owned::I8(data) => Rows::new(data, self.dim).map(Vectors::I8),
            Owned::U8(data) => Rows::new(data, self.dim).map(Vectors::U8),
            Owned::Bits(data) => BitRows::new(data, self.dim).map(Vectors::Bits),
            Owned::Sets { offsets, ids } => SetRows::new(offsets, ids, self.dim).map(Vectors::Sets),
        };
        rows.expect("made data are whole rows")
    }
}

/// The most significant bit first.
fn packed(row: &[f64]) -> impl Iterator<Item = u8> + '_ {
    row.chunks(8).map(|eight| {
        let ones = eight.iter().enumerate().filter(|(_, v)| **v > 0.0);
        ones.fold(0, |byte, (bit, _)| byte | 0x80 >> bit)
    })
}

/// The first `dim` components of a query.
pub(crate) fn shortened(query: Vector<'_>, dim: usize) -> Vector<'_> {
    match query {
        Vector::F32(v) => Vector::F32(&v[..dim]),
        Vector::F16(v) => Vector::F16(&v[..dim]),
        Vector::I8(v) => Vector::I8(&v[..dim]),
        Vector::U8(v) => Vector::U8(&v[..dim]),
        Vector::Bits(v) => Vector::Bits(Bits {
            bytes: &v.bytes[..dim.div_ceil(8)],
            dim,
        }),
        Vector::Set(v) => Vector::Set(Set {
            ids: &v.ids[..v.ids.partition_point(|&id| (id as usize) < dim)],
            dim,
        }),
        _ => panic!("conformance does not know this element type"),
    }
}
