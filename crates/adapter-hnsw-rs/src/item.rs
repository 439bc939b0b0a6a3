use annbench_core::{
    AdapterError, NeighborRows, Rows, Vector, Vectors, bit_queries, bit_query, row_queries,
    row_query,
};

/// What the library's vectors are slices of.
pub(crate) trait Item: Copy + Send + Sync + 'static {
    /// Items of a vector of `dim` components.
    fn per_vector(dim: usize) -> usize;

    /// A query of `dim` components.
    fn query(query: Vector<'_>, dim: usize) -> Result<&[Self], AdapterError>;

    /// Queries of `dim` components, one for each row of `out`.
    fn queries<'q>(
        queries: Vectors<'q>,
        dim: usize,
        out: &NeighborRows<'_>,
    ) -> Result<Rows<'q, Self>, AdapterError>;
}

/// One component.
impl Item for f32 {
    fn per_vector(dim: usize) -> usize {
        dim
    }

    #[inline]
    fn query(query: Vector<'_>, dim: usize) -> Result<&[Self], AdapterError> {
        row_query(query, dim)
    }

    fn queries<'q>(
        queries: Vectors<'q>,
        dim: usize,
        out: &NeighborRows<'_>,
    ) -> Result<Rows<'q, Self>, AdapterError> {
        row_queries(queries, dim, out)
    }
}

/// Eight bits.
impl Item for u8 {
    fn per_vector(dim: usize) -> usize {
        dim.div_ceil(8)
    }

    #[inline]
    fn query(query: Vector<'_>, dim: usize) -> Result<&[Self], AdapterError> {
        bit_query(query, dim).map(|bits| bits.bytes)
    }

    fn queries<'q>(
        queries: Vectors<'q>,
        dim: usize,
        out: &NeighborRows<'_>,
    ) -> Result<Rows<'q, Self>, AdapterError> {
        bit_queries(queries, dim, out).map(|rows| rows.bytes())
    }
}
