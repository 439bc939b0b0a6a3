//! The exact (Flat) engine of this project as an adapter.

use annbench_core::{
    Adapter, AdapterError, BuildSpec, Counters, Descriptor, ElementType, Index, MemoryReport,
    Metric, Mode, NeighborRows, PointSpec, SearchSpec, Searcher, Support, TopK, Vector, Vectors,
};
use annbench_exact::{ExactError, Flat, FlatSearcher};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Exact search over the caller's rows.
pub struct ExactAdapter;

impl Adapter for ExactAdapter {
    fn descriptor(&self) -> Descriptor {
        let supports = Metric::ALL
            .iter()
            .flat_map(|&metric| ElementType::ALL.map(|element| Support { metric, element }))
            .filter(|support| support.metric.is_defined_on(support.element))
            .collect();
        let simd = BTreeMap::from([("simd".to_owned(), annbench_exact::simd_level().to_owned())]);
        Descriptor {
            adapter: "exact".to_owned(),
            library: "annbench-exact".to_owned(),
            library_version: env!("CARGO_PKG_VERSION").to_owned(),
            supports,
            modes: vec![Mode::Single, Mode::Batch],
            saves: false,
            deterministic_build: true,
            seeded: false,
            build_facts: simd,
            build_params: Vec::new(),
            search_params: Vec::new(),
        }
    }

    fn check(&self, point: &PointSpec) -> Result<(), AdapterError> {
        point.build.params.reader().finish()?;
        point.search.params.reader().finish()?;
        Ok(())
    }

    fn build<'b>(
        &self,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        spec.params.reader().finish()?;
        let given = (base.n(), base.dim(), base.element());
        let said = (spec.n, spec.dim, spec.element);
        if given != said {
            return Err(AdapterError::Failed(format!(
                "the base has {} rows of {} {}, the specification says {} of {} {}",
                given.0, given.1, given.2, said.0, said.1, said.2
            )));
        }
        let flat = Flat::new(base, spec.metric, &pool(spec.threads)?).map_err(refused)?;
        Ok(Box::new(ExactIndex { flat }))
    }
}

struct ExactIndex<'b> {
    flat: Flat<'b>,
}

impl Index for ExactIndex<'_> {
    fn searcher<'i>(&'i self, spec: &SearchSpec) -> Result<Box<dyn Searcher + 'i>, AdapterError> {
        spec.params.reader().finish()?;
        let distance_computations = 0;
        match spec.mode {
            Mode::Single => Ok(Box::new(SingleSearcher {
                searcher: self.flat.searcher(spec.k).map_err(refused)?,
                n: self.flat.base().n() as u64,
                distance_computations,
            })),
            Mode::Batch => Ok(Box::new(BatchSearcher {
                flat: &self.flat,
                pool: pool(spec.threads)?,
                distance_computations,
            })),
        }
    }

    fn memory(&self) -> MemoryReport {
        MemoryReport {
            borrows_base: true,
            reported_bytes: Some(self.flat.own_bytes()),
        }
    }
}

struct SingleSearcher<'i> {
    searcher: FlatSearcher<'i>,
    n: u64,
    distance_computations: u64,
}

impl Searcher for SingleSearcher<'_> {
    fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
        let found = self.searcher.search(query).map_err(failed)?;
        top.extend(found.iter().map(|candidate| candidate.id));
        self.distance_computations += self.n;
        Ok(())
    }

    fn counters(&self) -> Counters {
        counters(self.distance_computations)
    }
}

struct BatchSearcher<'i> {
    flat: &'i Flat<'i>,
    pool: rayon::ThreadPool,
    distance_computations: u64,
}

impl Searcher for BatchSearcher<'_> {
    fn search(&mut self, _query: Vector<'_>, _top: &mut TopK<'_>) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported(
            "single queries by a searcher made for batches",
        ))
    }

    fn search_batch(
        &mut self,
        queries: Vectors<'_>,
        out: &mut NeighborRows<'_>,
    ) -> Result<(), AdapterError> {
        let never_cancel = |_, _| ControlFlow::Continue(());
        let found = self
            .flat
            .search(queries, out.k(), &self.pool, &never_cancel)
            .map_err(failed)?;
        for q in 0..found.queries() {
            out.row(q).extend(found.row(q).0.iter().copied());
        }
        self.distance_computations += (queries.n() * self.flat.base().n()) as u64;
        Ok(())
    }

    fn counters(&self) -> Counters {
        counters(self.distance_computations)
    }
}

fn counters(distance_computations: u64) -> Counters {
    Counters {
        distance_computations: Some(distance_computations),
        vertices_visited: None,
    }
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, AdapterError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| AdapterError::Failed(format!("a pool of {threads} threads: {error}")))
}

fn refused(error: ExactError) -> AdapterError {
    AdapterError::Rejected(error.to_string())
}

fn failed(error: ExactError) -> AdapterError {
    AdapterError::Failed(error.to_string())
}
