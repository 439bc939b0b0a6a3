//! For adapters: the vectors they were given, as the one type that their library takes.

use crate::{AdapterError, BuildSpec, NeighborRows, Rows, Vector, Vectors};

/// The base as f32 rows of the size that the build says.
///
/// # Errors
/// [`AdapterError::Rejected`] for another element type or another size.
pub fn f32_base<'b>(base: Vectors<'b>, spec: &BuildSpec) -> Result<Rows<'b, f32>, AdapterError> {
    let Vectors::F32(rows) = base else {
        return Err(AdapterError::Rejected(format!(
            "element type: expected f32, found {}",
            base.element()
        )));
    };
    if (rows.n(), rows.dim()) != (spec.n, spec.dim) {
        return Err(AdapterError::Rejected(format!(
            "base: expected {} x {} as the build says, found {} x {}",
            spec.n,
            spec.dim,
            rows.n(),
            rows.dim()
        )));
    }
    Ok(rows)
}

/// A query as `dim` f32 components.
///
/// # Errors
/// [`AdapterError::Failed`] for another element type or dimension.
#[inline]
pub fn f32_query<'q>(query: Vector<'q>, dim: usize) -> Result<&'q [f32], AdapterError> {
    match query {
        Vector::F32(components) if components.len() == dim => Ok(components),
        Vector::F32(components) => Err(AdapterError::Failed(format!(
            "query: expected {dim} components, found {}",
            components.len()
        ))),
        Vector::U8(_) => Err(AdapterError::Failed(
            "query: expected f32, found u8".to_owned(),
        )),
    }
}

/// A batch of queries as f32 rows of `dim` components, one for each row of `out`.
///
/// # Errors
/// [`AdapterError::Failed`] for another element type, dimension or number of queries.
pub fn f32_queries<'q>(
    queries: Vectors<'q>,
    dim: usize,
    out: &NeighborRows<'_>,
) -> Result<Rows<'q, f32>, AdapterError> {
    let Vectors::F32(rows) = queries else {
        return Err(AdapterError::Failed(format!(
            "queries: expected f32, found {}",
            queries.element()
        )));
    };
    if (rows.n(), rows.dim()) != (out.queries(), dim) {
        return Err(AdapterError::Failed(format!(
            "queries: expected {} of {dim} components, found {} of {}",
            out.queries(),
            rows.n(),
            rows.dim()
        )));
    }
    Ok(rows)
}
