/// Exact neighbours of a set of queries: ids and distances `[queries, k]` in canonical order.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbors {
    k: usize,
    ids: Vec<u32>,
    distances: Vec<f64>,
}

impl Neighbors {
    /// From ids and distances `[queries, k]` in canonical order that were kept. `None` when they are no
    /// whole rows, or k is 0.
    pub fn from_kept(k: usize, ids: Vec<u32>, distances: Vec<f64>) -> Option<Self> {
        let whole = k > 0 && ids.len() == distances.len() && ids.len().is_multiple_of(k);
        whole.then_some(Self { k, ids, distances })
    }

    pub(crate) fn new(k: usize, ids: Vec<u32>, distances: Vec<f64>) -> Self {
        debug_assert!(k > 0 && ids.len() == distances.len() && ids.len().is_multiple_of(k));
        Self { k, ids, distances }
    }

    /// Number of queries.
    pub fn queries(&self) -> usize {
        self.ids.len() / self.k
    }

    /// Neighbours per query.
    pub fn k(&self) -> usize {
        self.k
    }

    /// All ids, query after query.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// All distances, query after query.
    pub fn distances(&self) -> &[f64] {
        &self.distances
    }

    /// Ids and distances of query `q`, nearest first.
    pub fn row(&self, q: usize) -> (&[u32], &[f64]) {
        let range = q * self.k..(q + 1) * self.k;
        (&self.ids[range.clone()], &self.distances[range])
    }

    /// The ids and the distances.
    pub fn into_parts(self) -> (Vec<u32>, Vec<f64>) {
        (self.ids, self.distances)
    }
}
