use crate::Example;
use crate::answers::{Answers, search_batch, search_each, search_one, search_with};
use crate::data::Data;
use crate::matrix::{Matrix, shortened};
use annbench_core::{
    Adapter, AdapterError, BuildSpec, Descriptor, EMPTY_SLOT, ElementType, Index, Mode, PointSpec,
    SearchSpec,
};

const K: usize = 10;

/// An index under test with what made it.
pub(crate) struct Subject<'a> {
    pub(crate) adapter: &'a dyn Adapter,
    pub(crate) descriptor: &'a Descriptor,
    pub(crate) example: &'a Example,
    pub(crate) data: &'a Data,
    pub(crate) build: &'a BuildSpec,
    pub(crate) index: &'a dyn Index,
}

impl Subject<'_> {
    fn thorough(&self, k: usize) -> SearchSpec {
        SearchSpec::new(k, self.example.thorough.clone())
    }

    fn hasty(&self, k: usize) -> Option<SearchSpec> {
        Some(SearchSpec::new(k, self.example.hasty.clone()?))
    }

    /// Every check of searching.
    pub(crate) fn check(&self) {
        self.finds_what_is_near();
        self.keeps_to_its_own_parameters();
        self.answers_the_same_on_many_threads();
        self.answers_a_batch_as_it_answers_singly();
        self.refuses_malformed_queries();
        self.leaves_slots_empty_where_it_finds_fewer();
        self.counts_forwards();
    }

    /// Mean recall counts a base row as found when it is no farther than the k-th true one, so
    /// that ties and duplicates cost nothing; 1e-6 relative forgives the library's f32.
    pub(crate) fn finds_what_is_near(&self) {
        let answers = search_with(self.index, &self.thorough(K), self.data.queries());
        well_formed(&answers, self.data.base().n());
        let mut found = 0;
        for query in 0..answers.queries() {
            let limit = self.data.kth_distance(query, K);
            let slack = 1e-6 * limit.abs().max(1.0);
            found += answers
                .ids(query)
                .filter(|&id| self.data.distance(query, id) <= limit + slack)
                .count();
        }
        let recall = found as f64 / (answers.queries() * K) as f64;
        assert!(
            recall >= self.example.min_recall,
            "{} with {}, built by {} threads: recall@{K} is {recall}, expected at least {}",
            self.build.metric,
            self.example.thorough,
            self.build.threads,
            self.example.min_recall
        );
    }

    /// Two searchers with different parameters, alive at once and used in turn, answer as each
    /// does alone.
    fn keeps_to_its_own_parameters(&self) {
        let Some(hasty) = self.hasty(K) else { return };
        let thorough = self.thorough(K);
        let queries = self.data.queries();
        let hasty_alone = search_with(self.index, &hasty, queries);
        let thorough_alone = search_with(self.index, &thorough, queries);
        assert_ne!(
            hasty_alone.slots, thorough_alone.slots,
            "the example's hasty and thorough points answer alike, so nothing is tested: choose \
             smaller hasty parameters than {}",
            hasty.params
        );
        for hasty_first in [true, false] {
            let order = if hasty_first {
                [(&hasty, &hasty_alone), (&thorough, &thorough_alone)]
            } else {
                [(&thorough, &thorough_alone), (&hasty, &hasty_alone)]
            };
            let mut searchers = order.map(|(spec, _)| {
                self.index
                    .searcher(spec)
                    .unwrap_or_else(|e| panic!("no searcher for {}: {e}", spec.params))
            });
            for query in 0..queries.n() {
                for (searcher, (spec, alone)) in searchers.iter_mut().zip(order) {
                    let (slots, _, _) = search_one(searcher.as_mut(), queries.row(query), K)
                        .unwrap_or_else(|e| panic!("search with {}: {e}", spec.params));
                    assert_eq!(
                        slots,
                        alone.slots[query * K..][..K],
                        "query {query} with {}: the answer changed because a searcher with other \
                         parameters exists",
                        spec.params
                    );
                }
            }
        }
    }

    /// Searchers on several threads at once answer as one does.
    fn answers_the_same_on_many_threads(&self) {
        let spec = self.thorough(K);
        let serial = search_with(self.index, &spec, self.data.queries());
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| search_with(self.index, &spec, self.data.queries())))
                .collect();
            for worker in workers {
                let answers = worker.join().expect("a searching thread panicked");
                assert_eq!(
                    answers, serial,
                    "answers differ when four threads search at once"
                );
            }
        });
    }

    /// A batch holds, query by query, neighbours at the distances of the single answers: ids may
    /// change places only with ids equally far to f32 rounding.
    fn answers_a_batch_as_it_answers_singly(&self) {
        let queries = self.data.queries();
        let single = search_with(self.index, &self.thorough(K), queries);
        let declared = self.descriptor.modes.contains(&Mode::Batch);
        for threads in [1, 2] {
            let spec = {
                let mut spec = self.thorough(K);
                spec.mode = Mode::Batch;
                spec.threads = threads;
                spec
            };
            if !declared {
                // Where a batch searcher can be had at all, its batch call must say so.
                if let Ok(mut searcher) = self.index.searcher(&spec) {
                    let result = search_batch(searcher.as_mut(), queries, K);
                    assert!(
                        matches!(result, Err(AdapterError::Unsupported(_))),
                        "batch mode is not declared, so search_batch must be unsupported; found \
                         {result:?}"
                    );
                }
                continue;
            }
            let mut searcher = self
                .index
                .searcher(&spec)
                .unwrap_or_else(|e| panic!("no batch searcher: {e}"));
            // Twice through one searcher: the second call must not see the first.
            for _ in 0..2 {
                let batch = search_batch(searcher.as_mut(), queries, K)
                    .unwrap_or_else(|e| panic!("batch with {} threads: {e}", threads));
                well_formed(&batch, self.data.base().n());
                for query in 0..queries.n() {
                    let distances = |answers: &Answers| -> Vec<f64> {
                        let mut all: Vec<f64> = answers
                            .ids(query)
                            .map(|id| self.data.distance(query, id))
                            .collect();
                        all.sort_by(f64::total_cmp);
                        all
                    };
                    let (one, many) = (distances(&single), distances(&batch));
                    let alike = one.len() == many.len()
                        && one
                            .iter()
                            .zip(&many)
                            .all(|(a, b)| (a - b).abs() <= 1e-5 * a.abs().max(1.0));
                    assert!(
                        alike,
                        "query {query}: a batch of {} threads finds {many:?}, a single search \
                         {one:?}",
                        threads
                    );
                }
            }
            // A smaller batch after a larger one.
            let few = search_batch(searcher.as_mut(), queries.slice(0..3), K)
                .unwrap_or_else(|e| panic!("batch of three: {e}"));
            well_formed(&few, self.data.base().n());
        }
    }

    /// A query that is too short, too long or of another element type is an error.
    fn refuses_malformed_queries(&self) {
        let queries = self.data.queries();
        let (element, dim) = (self.build.element, self.build.dim);
        let zeros = |element, dim| Matrix::new(&vec![0.0; dim], dim, element);
        let long = zeros(element, 2 * dim);
        let other = zeros(
            match element {
                ElementType::F32 => ElementType::U8,
                _ => ElementType::F32,
            },
            dim,
        );
        let mut searcher = self
            .index
            .searcher(&self.thorough(K))
            .unwrap_or_else(|e| panic!("no searcher: {e}"));
        for (what, query) in [
            ("too short", shortened(queries.row(0), dim - 1)),
            ("empty", shortened(queries.row(0), 0)),
            ("too long", long.view().row(0)),
            ("of another element type", other.view().row(0)),
        ] {
            assert!(
                search_one(searcher.as_mut(), query, K).is_err(),
                "a query that is {what} must be an error"
            );
        }
        let after = search_each(searcher.as_mut(), queries, K)
            .unwrap_or_else(|e| panic!("search after a refused query: {e}"));
        let clean = search_with(self.index, &self.thorough(K), queries);
        assert_eq!(after, clean, "a refused query changed later answers");
    }

    /// k = n, and a hasty search asked for all rows: what is not found stays empty.
    fn leaves_slots_empty_where_it_finds_fewer(&self) {
        let n = self.data.base().n();
        let queries = self.data.queries().slice(0..4);
        for spec in [Some(self.thorough(n)), self.hasty(n)]
            .into_iter()
            .flatten()
        {
            let point = PointSpec {
                build: self.build.clone(),
                search: spec.clone(),
            };
            // Refusing so large a k is right too, and then the searcher must not accept it.
            if self.adapter.check(&point).is_err() {
                assert!(
                    self.index.searcher(&spec).is_err(),
                    "check refuses k = {n} with {}, the searcher accepts it",
                    spec.params
                );
                continue;
            }
            well_formed(&search_with(self.index, &spec, queries), n);
        }
    }

    /// Where work is counted, it grows with the queries.
    fn counts_forwards(&self) {
        let mut searcher = self
            .index
            .searcher(&self.thorough(K))
            .unwrap_or_else(|e| panic!("no searcher: {e}"));
        let before = searcher.counters().distance_computations;
        search_each(searcher.as_mut(), self.data.queries(), K)
            .unwrap_or_else(|e| panic!("search: {e}"));
        let after = searcher.counters().distance_computations;
        if let (Some(before), Some(after)) = (before, after) {
            let queries = self.data.queries().n() as u64;
            assert_eq!(before, 0, "a fresh searcher has counted {before} distances");
            assert!(
                after >= queries,
                "{queries} queries, but {after} distances counted"
            );
        }
    }
}

/// Ids in range and distinct, nothing that is no id, nothing after an empty slot, no more than k.
pub(crate) fn well_formed(answers: &Answers, n: usize) {
    assert_eq!(answers.invalid, 0, "values that are no ids were returned");
    for query in 0..answers.queries() {
        let slots = &answers.slots[query * answers.k..][..answers.k];
        let filled = slots.iter().take_while(|&&id| id != EMPTY_SLOT).count();
        assert!(
            slots[filled..].iter().all(|&id| id == EMPTY_SLOT),
            "query {query}: ids after an empty slot: {slots:?}"
        );
        assert!(
            answers.returned[query] as usize <= answers.k,
            "query {query}: {} ids returned for k = {}",
            answers.returned[query],
            answers.k
        );
        let mut ids = slots[..filled].to_vec();
        ids.sort_unstable();
        if let Some(&id) = ids.last() {
            assert!(
                (id as usize) < n,
                "query {query}: id {id}, but the base has {n} rows"
            );
        }
        for pair in ids.windows(2) {
            assert_ne!(pair[0], pair[1], "query {query}: id {} twice", pair[0]);
        }
    }
}
