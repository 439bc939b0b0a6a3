//! For adapters: the vectors they were given, as the one type that their library takes.

use crate::{
    AdapterError, BitRows, Bits, BuildSpec, Component, ElementType, NeighborRows, Rows, Vector,
    Vectors,
};

/// The base as rows of `T`, of the size that the build says.
///
/// # Errors
/// [`AdapterError::Rejected`] for another element type or another size.
pub fn row_base<'b, T: Component>(
    base: Vectors<'b>,
    spec: &BuildSpec,
) -> Result<Rows<'b, T>, AdapterError> {
    check_base(base, T::ELEMENT, spec)?;
    T::rows(base).ok_or_else(|| wrong_type("base", T::ELEMENT, base.element()))
}

/// A query as `dim` components of `T`.
///
/// # Errors
/// [`AdapterError::Failed`] for another element type or dimension.
#[inline]
pub fn row_query<T: Component>(query: Vector<'_>, dim: usize) -> Result<&[T], AdapterError> {
    match T::components(query) {
        Some(components) if components.len() == dim => Ok(components),
        Some(components) => Err(wrong_dim(dim, components.len())),
        None => Err(wrong_type("query", T::ELEMENT, query.element())),
    }
}

/// A batch of queries as rows of `dim` components of `T`, one for each row of `out`.
///
/// # Errors
/// [`AdapterError::Failed`] for another element type, dimension or number of queries.
pub fn row_queries<'q, T: Component>(
    queries: Vectors<'q>,
    dim: usize,
    out: &NeighborRows<'_>,
) -> Result<Rows<'q, T>, AdapterError> {
    let rows =
        T::rows(queries).ok_or_else(|| wrong_type("queries", T::ELEMENT, queries.element()))?;
    check_queries(queries, dim, out)?;
    Ok(rows)
}

/// The base as rows of bits, of the size that the build says.
///
/// # Errors
/// [`AdapterError::Rejected`] for another element type or another size.
pub fn bit_base<'b>(base: Vectors<'b>, spec: &BuildSpec) -> Result<BitRows<'b>, AdapterError> {
    check_base(base, ElementType::Bits, spec)?;
    match base {
        Vectors::Bits(rows) => Ok(rows),
        other => Err(wrong_type("base", ElementType::Bits, other.element())),
    }
}

/// A query as `dim` bits.
///
/// # Errors
/// [`AdapterError::Failed`] for another element type or dimension.
#[inline]
pub fn bit_query(query: Vector<'_>, dim: usize) -> Result<Bits<'_>, AdapterError> {
    match query {
        Vector::Bits(bits) if bits.dim == dim => Ok(bits),
        Vector::Bits(bits) => Err(wrong_dim(dim, bits.dim)),
        other => Err(wrong_type("query", ElementType::Bits, other.element())),
    }
}

/// A batch of queries as rows of `dim` bits, one for each row of `out`.
///
/// # Errors
/// [`AdapterError::Failed`] for another element type, dimension or number of queries.
pub fn bit_queries<'q>(
    queries: Vectors<'q>,
    dim: usize,
    out: &NeighborRows<'_>,
) -> Result<BitRows<'q>, AdapterError> {
    let Vectors::Bits(rows) = queries else {
        return Err(wrong_type("queries", ElementType::Bits, queries.element()));
    };
    check_queries(queries, dim, out)?;
    Ok(rows)
}

fn check_base(
    base: Vectors<'_>,
    element: ElementType,
    spec: &BuildSpec,
) -> Result<(), AdapterError> {
    if base.element() != element {
        return Err(AdapterError::Rejected(format!(
            "element type: expected {element}, found {}",
            base.element()
        )));
    }
    if (base.n(), base.dim()) != (spec.n, spec.dim) {
        return Err(AdapterError::Rejected(format!(
            "base: expected {} x {} as the build says, found {} x {}",
            spec.n,
            spec.dim,
            base.n(),
            base.dim()
        )));
    }
    Ok(())
}

fn check_queries(
    queries: Vectors<'_>,
    dim: usize,
    out: &NeighborRows<'_>,
) -> Result<(), AdapterError> {
    if (queries.n(), queries.dim()) != (out.queries(), dim) {
        return Err(AdapterError::Failed(format!(
            "queries: expected {} of {dim} components, found {} of {}",
            out.queries(),
            queries.n(),
            queries.dim()
        )));
    }
    Ok(())
}

fn wrong_type(what: &str, expected: ElementType, found: ElementType) -> AdapterError {
    AdapterError::Failed(format!("{what}: expected {expected}, found {found}"))
}

fn wrong_dim(expected: usize, found: usize) -> AdapterError {
    AdapterError::Failed(format!(
        "query: expected {expected} components, found {found}"
    ))
}
