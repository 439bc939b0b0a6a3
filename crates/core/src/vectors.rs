use crate::{BitRows, Bits, ElementType, Rows, Set, SetRows};
use half::f16;
use std::ops::Range;

/// A set of vectors `[n, dim]` in one of the supported element types.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Vectors<'a> {
    /// Single precision rows.
    F32(Rows<'a, f32>),
    /// Half precision rows.
    F16(Rows<'a, f16>),
    /// Signed byte rows.
    I8(Rows<'a, i8>),
    /// Byte rows.
    U8(Rows<'a, u8>),
    /// Rows of packed bits.
    Bits(BitRows<'a>),
    /// Sets of numbers below `dim`.
    Sets(SetRows<'a>),
}

/// One vector.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Vector<'a> {
    /// Single precision components.
    F32(&'a [f32]),
    /// Half precision components.
    F16(&'a [f16]),
    /// Signed byte components.
    I8(&'a [i8]),
    /// Byte components.
    U8(&'a [u8]),
    /// Packed bits.
    Bits(Bits<'a>),
    /// A set.
    Set(Set<'a>),
}

/// Evaluates `$body` with `$rows` bound to the rows of any element type.
macro_rules! each {
    ($vectors:expr, $rows:ident => $body:expr) => {
        match $vectors {
            Vectors::F32($rows) => $body,
            Vectors::F16($rows) => $body,
            Vectors::I8($rows) => $body,
            Vectors::U8($rows) => $body,
            Vectors::Bits($rows) => $body,
            Vectors::Sets($rows) => $body,
        }
    };
}

impl<'a> Vectors<'a> {
    /// Number of rows.
    pub fn n(&self) -> usize {
        each!(self, rows => rows.n())
    }

    /// Components per row; for sets, one more than the largest number that a set may hold.
    pub fn dim(&self) -> usize {
        each!(self, rows => rows.dim())
    }

    /// The component type.
    pub fn element(&self) -> ElementType {
        match self {
            Vectors::F32(_) => ElementType::F32,
            Vectors::F16(_) => ElementType::F16,
            Vectors::I8(_) => ElementType::I8,
            Vectors::U8(_) => ElementType::U8,
            Vectors::Bits(_) => ElementType::Bits,
            Vectors::Sets(_) => ElementType::Sets,
        }
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Vector<'a> {
        match self {
            Vectors::F32(rows) => Vector::F32(rows.row(i)),
            Vectors::F16(rows) => Vector::F16(rows.row(i)),
            Vectors::I8(rows) => Vector::I8(rows.row(i)),
            Vectors::U8(rows) => Vector::U8(rows.row(i)),
            Vectors::Bits(rows) => Vector::Bits(rows.row(i)),
            Vectors::Sets(rows) => Vector::Set(rows.row(i)),
        }
    }

    /// Rows `range`.
    pub fn slice(&self, range: Range<usize>) -> Vectors<'a> {
        match self {
            Vectors::F32(rows) => Vectors::F32(rows.slice(range)),
            Vectors::F16(rows) => Vectors::F16(rows.slice(range)),
            Vectors::I8(rows) => Vectors::I8(rows.slice(range)),
            Vectors::U8(rows) => Vectors::U8(rows.slice(range)),
            Vectors::Bits(rows) => Vectors::Bits(rows.slice(range)),
            Vectors::Sets(rows) => Vectors::Sets(rows.slice(range)),
        }
    }

    /// The components' bytes in memory order, row after row; for sets, those of their members.
    pub fn component_bytes(&self) -> &'a [u8] {
        match self {
            Vectors::F32(rows) => bytemuck::cast_slice(rows.data()),
            Vectors::F16(rows) => bytemuck::cast_slice(rows.data()),
            Vectors::I8(rows) => bytemuck::cast_slice(rows.data()),
            Vectors::U8(rows) => rows.data(),
            Vectors::Bits(rows) => rows.bytes().data(),
            Vectors::Sets(rows) => bytemuck::cast_slice(rows.ids()),
        }
    }

    /// Views `bytes` as `n` rows of `dim` components of `element`; sets as [`SetRows::from_bytes`]
    /// does.
    ///
    /// Returns `None` when the length is another or the bytes are not aligned for the element type.
    pub fn from_bytes(bytes: &'a [u8], element: ElementType, n: usize, dim: usize) -> Option<Self> {
        let vectors = match element {
            ElementType::F32 => {
                Vectors::F32(Rows::new(bytemuck::try_cast_slice(bytes).ok()?, dim)?)
            }
            ElementType::F16 => {
                Vectors::F16(Rows::new(bytemuck::try_cast_slice(bytes).ok()?, dim)?)
            }
            ElementType::I8 => Vectors::I8(Rows::new(bytemuck::cast_slice(bytes), dim)?),
            ElementType::U8 => Vectors::U8(Rows::new(bytes, dim)?),
            ElementType::Bits => Vectors::Bits(BitRows::new(bytes, dim)?),
            ElementType::Sets => Vectors::Sets(SetRows::from_bytes(bytes, n, dim)?),
        };
        (vectors.n() == n).then_some(vectors)
    }
}

impl Vector<'_> {
    /// Number of components; for a set, one more than the largest number that it may hold.
    pub fn dim(&self) -> usize {
        match self {
            Vector::F32(v) => v.len(),
            Vector::F16(v) => v.len(),
            Vector::I8(v) => v.len(),
            Vector::U8(v) => v.len(),
            Vector::Bits(v) => v.dim,
            Vector::Set(v) => v.dim,
        }
    }

    /// The component type.
    pub fn element(&self) -> ElementType {
        match self {
            Vector::F32(_) => ElementType::F32,
            Vector::F16(_) => ElementType::F16,
            Vector::I8(_) => ElementType::I8,
            Vector::U8(_) => ElementType::U8,
            Vector::Bits(_) => ElementType::Bits,
            Vector::Set(_) => ElementType::Sets,
        }
    }
}
