use crate::ElementType;

/// A row-major matrix `[n, dim]` without padding.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, T> {
    data: &'a [T],
    dim: usize,
}

impl<'a, T> Rows<'a, T> {
    /// Views `data` as rows of `dim` components.
    ///
    /// Returns `None` when `dim` is zero or does not divide the length.
    pub fn new(data: &'a [T], dim: usize) -> Option<Self> {
        (dim > 0 && data.len().is_multiple_of(dim)).then_some(Self { data, dim })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.data.len() / self.dim
    }

    /// Components per row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// All components, row after row, `n * dim` of them.
    pub fn data(&self) -> &'a [T] {
        self.data
    }

    /// Row `i`, `dim` components.
    #[inline]
    pub fn row(&self, i: usize) -> &'a [T] {
        &self.data[i * self.dim..(i + 1) * self.dim]
    }

    /// Rows `range`.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Self {
        Self {
            data: &self.data[range.start * self.dim..range.end * self.dim],
            dim: self.dim,
        }
    }
}

/// A set of vectors `[n, dim]` in one of the supported element types.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Vectors<'a> {
    /// Single precision rows.
    F32(Rows<'a, f32>),
    /// Byte rows.
    U8(Rows<'a, u8>),
}

/// One vector.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Vector<'a> {
    /// Single precision components.
    F32(&'a [f32]),
    /// Byte components.
    U8(&'a [u8]),
}

impl<'a> Vectors<'a> {
    /// Number of rows.
    pub fn n(&self) -> usize {
        match self {
            Vectors::F32(r) => r.n(),
            Vectors::U8(r) => r.n(),
        }
    }

    /// Components per row.
    pub fn dim(&self) -> usize {
        match self {
            Vectors::F32(r) => r.dim(),
            Vectors::U8(r) => r.dim(),
        }
    }

    /// The component type.
    pub fn element(&self) -> ElementType {
        match self {
            Vectors::F32(_) => ElementType::F32,
            Vectors::U8(_) => ElementType::U8,
        }
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Vector<'a> {
        match self {
            Vectors::F32(r) => Vector::F32(r.row(i)),
            Vectors::U8(r) => Vector::U8(r.row(i)),
        }
    }

    /// Rows `range`.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Vectors<'a> {
        match self {
            Vectors::F32(r) => Vectors::F32(r.slice(range)),
            Vectors::U8(r) => Vectors::U8(r.slice(range)),
        }
    }

    /// The components' bytes in memory order.
    pub fn bytes(&self) -> &'a [u8] {
        match self {
            Vectors::F32(r) => bytemuck::cast_slice(r.data()),
            Vectors::U8(r) => r.data(),
        }
    }

    /// Views `bytes` as rows of `dim` components of `element`.
    ///
    /// Returns `None` when the length is no whole number of rows or the bytes are not aligned for
    /// the element type.
    pub fn from_bytes(bytes: &'a [u8], element: ElementType, dim: usize) -> Option<Self> {
        match element {
            ElementType::F32 => {
                Rows::new(bytemuck::try_cast_slice(bytes).ok()?, dim).map(Vectors::F32)
            }
            ElementType::U8 => Rows::new(bytes, dim).map(Vectors::U8),
        }
    }
}

impl Vector<'_> {
    /// Number of components.
    pub fn dim(&self) -> usize {
        match self {
            Vector::F32(v) => v.len(),
            Vector::U8(v) => v.len(),
        }
    }
}
