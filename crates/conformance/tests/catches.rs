//! An exact scan passes the suite, and each fault put into it is caught by name.

use annbench_conformance::{Example, check_adapter};
use annbench_core::{
    Adapter, AdapterError, BuildSpec, Descriptor, ElementType, Index, MemoryReport, Metric, Mode,
    NeighborRows, ParamDoc, ParamKind, ParamValue, Params, PointSpec, SearchSpec, Searcher,
    Support, TopK, Vector, Vectors, distance,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    ParameterOfTheIndex,
    UnknownParameterIgnored,
    CosineAsL2,
    InnerProductOfUnitVectors,
    IdTwice,
    IdOutOfRange,
    GarbageWhereFewer,
    ShortQueryAccepted,
    BatchUndeclared,
    BatchShifted,
    LoadsNothing,
    LoadsAnother,
    PanicsOnMistypedParameter,
    SpoiltByARefusal,
}

struct Scan(Fault);

/// Scans the first `rows` rows.
struct ScanIndex<'b> {
    base: Vectors<'b>,
    metric: Metric,
    rows: AtomicUsize,
    fault: Fault,
}

struct ScanSearcher<'i> {
    index: &'i ScanIndex<'i>,
    rows: usize,
    refused: bool,
}

fn read_rows(params: &Params, fault: Fault) -> Result<usize, AdapterError> {
    if fault == Fault::PanicsOnMistypedParameter {
        match params.get("rows") {
            Some(ParamValue::Int(v)) if *v > 0 => {}
            Some(other) => panic!("bad rows: {other}"),
            None => {}
        }
    }
    let mut reader = params.reader();
    let rows = reader.int("rows", 1..=i64::MAX)?;
    if fault != Fault::UnknownParameterIgnored {
        reader.finish()?;
    }
    Ok(rows as usize)
}

impl Adapter for Scan {
    fn descriptor(&self) -> Descriptor {
        let supports = Metric::ALL
            .into_iter()
            .flat_map(|metric| ElementType::ALL.map(|element| Support { metric, element }))
            .filter(|support| support.metric.is_defined_on(support.element))
            .collect();
        Descriptor {
            adapter: "scan".to_owned(),
            library: "scan".to_owned(),
            library_version: "1".to_owned(),
            supports,
            modes: if self.0 == Fault::BatchUndeclared {
                vec![Mode::Single]
            } else {
                vec![Mode::Single, Mode::Batch]
            },
            saves: true,
            deterministic_build: true,
            seeded: false,
            build_facts: BTreeMap::new(),
            build_params: Vec::new(),
            search_params: vec![ParamDoc::required("rows", ParamKind::Int, "rows scanned")],
        }
    }

    fn check(&self, point: &PointSpec) -> Result<(), AdapterError> {
        point.build.params.reader().finish()?;
        read_rows(&point.search.params, self.0)?;
        Ok(())
    }

    fn build<'b>(
        &self,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        spec.params.reader().finish()?;
        if (base.n(), base.dim()) != (spec.n, spec.dim) {
            return Err(AdapterError::Rejected("another base".to_owned()));
        }
        Ok(Box::new(ScanIndex {
            base,
            metric: spec.metric,
            rows: AtomicUsize::new(0),
            fault: self.0,
        }))
    }

    fn load<'b>(
        &self,
        dir: &Path,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        if !dir.join("scan").is_file() && self.0 != Fault::LoadsNothing {
            return Err(AdapterError::Failed("no file".to_owned()));
        }
        let metric = match self.0 {
            Fault::LoadsAnother => Metric::InnerProduct,
            _ => spec.metric,
        };
        Ok(Box::new(ScanIndex {
            base,
            metric,
            rows: AtomicUsize::new(0),
            fault: self.0,
        }))
    }
}

impl Index for ScanIndex<'_> {
    fn searcher<'i>(&'i self, spec: &SearchSpec) -> Result<Box<dyn Searcher + 'i>, AdapterError> {
        let rows = read_rows(&spec.params, self.fault)?;
        self.rows.store(rows, Ordering::SeqCst);
        Ok(Box::new(ScanSearcher {
            index: self,
            rows,
            refused: false,
        }))
    }

    fn memory(&self) -> MemoryReport {
        MemoryReport::default()
    }

    fn save(&self, dir: &Path) -> Result<(), AdapterError> {
        std::fs::write(dir.join("scan"), "").map_err(|e| AdapterError::Failed(e.to_string()))
    }
}

impl ScanSearcher<'_> {
    fn nearest(&mut self, query: Vector<'_>, k: usize) -> Result<Vec<i64>, AdapterError> {
        let index = self.index;
        let fault = index.fault;
        let query = match (query, index.base) {
            (Vector::F32(v), Vectors::F32(b))
                if v.len() < b.dim() && fault == Fault::ShortQueryAccepted =>
            {
                return Ok(Vec::new());
            }
            (query, base) if (query.element(), query.dim()) == (base.element(), base.dim()) => {
                query
            }
            _ => {
                self.refused = true;
                return Err(AdapterError::Failed("malformed query".to_owned()));
            }
        };
        let rows = match fault {
            Fault::ParameterOfTheIndex => index.rows.load(Ordering::SeqCst),
            Fault::SpoiltByARefusal if self.refused => 1,
            _ => self.rows,
        };
        let score = |id: i64| {
            let row = index.base.row(id as usize);
            let metric = match (index.metric, fault) {
                (Metric::Cosine, Fault::CosineAsL2) => Metric::L2,
                (Metric::InnerProduct, Fault::InnerProductOfUnitVectors) => Metric::Cosine,
                (metric, _) => metric,
            };
            distance(metric, query, row)
        };
        let mut scored: Vec<(f64, i64)> = (0..rows.min(index.base.n()) as i64)
            .map(|id| (score(id), id))
            .collect();
        scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut ids: Vec<i64> = scored.iter().take(k).map(|&(_, id)| id).collect();
        match fault {
            Fault::IdTwice if ids.len() > 1 => ids[1] = ids[0],
            Fault::IdOutOfRange => ids[0] = index.base.n() as i64,
            Fault::GarbageWhereFewer => ids.resize(k, -7),
            _ => {}
        }
        Ok(ids)
    }
}

impl Searcher for ScanSearcher<'_> {
    fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
        let ids = self.nearest(query, top.k())?;
        top.extend(ids);
        Ok(())
    }

    fn search_batch(
        &mut self,
        queries: Vectors<'_>,
        out: &mut NeighborRows<'_>,
    ) -> Result<(), AdapterError> {
        let shift = usize::from(self.index.fault == Fault::BatchShifted);
        for i in 0..queries.n() {
            let ids = self.nearest(queries.row((i + shift) % queries.n()), out.k())?;
            out.row(i).extend(ids);
        }
        Ok(())
    }
}

fn run(fault: Fault) {
    let rows = |n| Params::new().with("rows", ParamValue::Int(n));
    let example = Example::new(Params::new(), rows(1000))
        .with_hasty(rows(100))
        .with_min_recall(1.0);
    let scratch = std::env::temp_dir().join(format!(
        "annbench-conformance-{}-{}",
        std::process::id(),
        fault as u8
    ));
    std::fs::create_dir_all(&scratch).expect("a scratch directory");
    let result = std::panic::catch_unwind(|| check_adapter(&Scan(fault), &example, &scratch));
    std::fs::remove_dir_all(&scratch).expect("scratch directory removed");
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn an_exact_scan_passes() {
    run(Fault::None);
}

macro_rules! caught {
    ($($name:ident: $fault:ident => $message:literal;)*) => {$(
        #[test]
        #[should_panic(expected = $message)]
        fn $name() {
            run(Fault::$fault);
        }
    )*};
}

caught! {
    a_parameter_shared_by_searchers: ParameterOfTheIndex
        => "because a searcher with other parameters exists";
    an_unknown_parameter_taken: UnknownParameterIgnored
        => "with an unknown parameter: expected a rejection, but it was accepted";
    cosine_without_normalising: CosineAsL2 => "cosine with rows=1000, built by 1 threads: recall@10";
    inner_product_of_normalised_rows: InnerProductOfUnitVectors
        => "inner_product with rows=1000, built by 1 threads: recall@10";
    an_id_twice: IdTwice => "twice";
    an_id_out_of_range: IdOutOfRange => "but the base has 900 rows";
    garbage_in_empty_slots: GarbageWhereFewer => "values that are no ids were returned";
    a_short_query_taken: ShortQueryAccepted => "too short must be an error";
    a_batch_in_spite_of_the_descriptor: BatchUndeclared => "search_batch must be unsupported";
    a_batch_out_of_order: BatchShifted => "a batch of 1 threads finds";
    an_index_loaded_from_nothing: LoadsNothing => "from an empty directory must be an error";
    another_index_loaded: LoadsAnother => "answers otherwise than the one saved";
    a_panic_over_a_parameter: PanicsOnMistypedParameter => "bad rows";
    a_refusal_that_spoils_what_follows: SpoiltByARefusal => "a refused query changed later answers";
}
