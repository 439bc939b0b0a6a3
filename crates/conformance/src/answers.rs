use annbench_core::{EMPTY_SLOT, Index, NeighborRows, SearchSpec, Searcher, TopK, Vector, Vectors};

/// Answers to some queries as the worker would store them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answers {
    pub(crate) k: usize,
    /// `[queries, k]`.
    pub(crate) slots: Vec<u32>,
    /// Ids pushed per query, those beyond k included.
    pub(crate) returned: Vec<u32>,
    /// Values that are no ids.
    pub(crate) invalid: u64,
}

impl Answers {
    fn empty(queries: usize, k: usize) -> Self {
        Self {
            k,
            // Neither empty nor an id: a slot that is never written shows.
            slots: vec![EMPTY_SLOT - 1; queries * k],
            returned: vec![0; queries],
            invalid: 0,
        }
    }

    /// The ids of `query`, empty slots left out.
    pub(crate) fn ids(&self, query: usize) -> impl Iterator<Item = u32> + '_ {
        self.slots[query * self.k..][..self.k]
            .iter()
            .copied()
            .filter(|&id| id != EMPTY_SLOT)
    }

    pub(crate) fn queries(&self) -> usize {
        self.returned.len()
    }
}

/// One query through `searcher`: its slots and what it pushed.
pub(crate) fn search_one(
    searcher: &mut dyn Searcher,
    query: Vector<'_>,
    k: usize,
) -> Result<(Vec<u32>, u32, u64), annbench_core::AdapterError> {
    let mut one = Answers::empty(1, k);
    let mut kept = Vec::new();
    let mut top = TopK::new(
        &mut one.slots,
        &mut one.returned[0],
        0,
        &mut kept,
        &mut one.invalid,
    );
    searcher.search(query, &mut top)?;
    Ok((one.slots, one.returned[0], one.invalid))
}

/// All `queries`, one per call, through `searcher`.
pub(crate) fn search_each(
    searcher: &mut dyn Searcher,
    queries: Vectors<'_>,
    k: usize,
) -> Result<Answers, annbench_core::AdapterError> {
    let mut all = Answers::empty(0, k);
    for i in 0..queries.n() {
        let (slots, returned, invalid) = search_one(searcher, queries.row(i), k)?;
        all.slots.extend(slots);
        all.returned.push(returned);
        all.invalid += invalid;
    }
    Ok(all)
}

/// All `queries` through a searcher made for `spec`.
pub(crate) fn search_with(index: &dyn Index, spec: &SearchSpec, queries: Vectors<'_>) -> Answers {
    let mut searcher = index
        .searcher(spec)
        .unwrap_or_else(|e| panic!("no searcher for {}: {e}", spec.params));
    search_each(searcher.as_mut(), queries, spec.k)
        .unwrap_or_else(|e| panic!("search with {}: {e}", spec.params))
}

/// All `queries` in one call.
pub(crate) fn search_batch(
    searcher: &mut dyn Searcher,
    queries: Vectors<'_>,
    k: usize,
) -> Result<Answers, annbench_core::AdapterError> {
    let mut all = Answers::empty(queries.n(), k);
    let mut kept = Vec::new();
    let mut rows = NeighborRows::new(
        &mut all.slots,
        &mut all.returned,
        k,
        0,
        &mut kept,
        &mut all.invalid,
    )
    .expect("lengths fit by construction");
    searcher.search_batch(queries, &mut rows)?;
    // What a batch leaves has no meaning; the worker empties it too.
    for (slots, &returned) in all.slots.chunks_exact_mut(k).zip(&all.returned) {
        slots[k.min(returned as usize)..].fill(EMPTY_SLOT);
    }
    Ok(all)
}
