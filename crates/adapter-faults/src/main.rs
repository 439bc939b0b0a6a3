//! An adapter that fails in every known way, so that the runner can be shown to contain it.

mod fault;

use annbench_core::{
    Adapter, AdapterError, BuildSpec, Descriptor, ElementType, Index, MemoryReport, Metric, Mode,
    ParamDoc, ParamKind, Params, PointSpec, SearchSpec, Searcher, Support, TopK, Vector, Vectors,
    distance,
};
use fault::Fault;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    annbench_core::worker::run(&Faults)
}

struct Faults;

fn parse(params: &Params) -> Result<Fault, AdapterError> {
    let mut reader = params.reader();
    let name = reader.text("fault")?;
    // Lets a sweep tell otherwise equal points apart.
    reader.optional_int("number", 0..=i64::MAX)?;
    reader.finish()?;
    Fault::parse(&name).map_err(AdapterError::Rejected)
}

impl Adapter for Faults {
    fn descriptor(&self) -> Descriptor {
        let doc = format!("one of {}", Fault::NAMES.join(", "));
        let params = vec![
            ParamDoc::required("fault", ParamKind::Text, &doc),
            ParamDoc::optional("number", ParamKind::Int, "any number, to tell points apart"),
        ];
        Descriptor {
            adapter: "faults".to_owned(),
            library: "annbench-faults".to_owned(),
            library_version: env!("CARGO_PKG_VERSION").to_owned(),
            supports: vec![Support {
                metric: Metric::L2,
                element: ElementType::U8,
            }],
            modes: vec![Mode::Single],
            saves: true,
            deterministic_build: true,
            seeded: false,
            build_facts: BTreeMap::new(),
            build_params: params.clone(),
            search_params: params,
        }
    }

    fn check(&self, point: &PointSpec) -> Result<(), AdapterError> {
        parse(&point.build.params)?;
        parse(&point.search.params)?;
        Ok(())
    }

    fn build<'b>(
        &self,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        let fault = parse(&spec.params)?;
        fault.strike()?;
        Ok(Box::new(Scan { base, fault }))
    }

    fn load<'b>(
        &self,
        dir: &Path,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        match std::fs::read_to_string(dir.join("index")) {
            Ok(text) if text == "scan" => Ok(Box::new(Scan {
                base,
                fault: parse(&spec.params)?,
            })),
            other => Err(AdapterError::Failed(format!("no saved scan: {other:?}"))),
        }
    }
}

struct Scan<'b> {
    base: Vectors<'b>,
    /// That of the build: it may strike while saving.
    fault: Fault,
}

impl Index for Scan<'_> {
    fn searcher<'i>(&'i self, spec: &SearchSpec) -> Result<Box<dyn Searcher + 'i>, AdapterError> {
        Ok(Box::new(ScanSearcher {
            base: self.base,
            fault: parse(&spec.params)?,
        }))
    }

    fn memory(&self) -> MemoryReport {
        MemoryReport {
            borrows_base: true,
            reported_bytes: None,
        }
    }

    fn save(&self, dir: &Path) -> Result<(), AdapterError> {
        if self.fault == Fault::AbortInSave {
            std::process::abort();
        }
        std::fs::write(dir.join("index"), "scan")
            .map_err(|error| AdapterError::Failed(error.to_string()))
    }
}

struct ScanSearcher<'b> {
    base: Vectors<'b>,
    fault: Fault,
}

impl Drop for ScanSearcher<'_> {
    fn drop(&mut self) {
        if self.fault == Fault::ExtraReply {
            // After the worker's own: the searcher goes a moment before that is sent.
            std::thread::spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                fault::reply_unasked();
            });
        }
    }
}

impl Searcher for ScanSearcher<'_> {
    fn search(&mut self, query: Vector<'_>, top: &mut TopK<'_>) -> Result<(), AdapterError> {
        self.fault.strike()?;
        let mut scored: Vec<(f64, u32)> = (0..self.base.n())
            .map(|i| (distance(Metric::L2, query, self.base.row(i)), i as u32))
            .collect();
        scored.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let nearest = scored.iter().take(top.k()).map(|&(_, id)| i64::from(id));
        match self.fault {
            Fault::DuplicateIds => top.extend(nearest.take(1).cycle().take(top.k())),
            Fault::IdsOutOfRange => top.extend(nearest.map(|id| id + self.base.n() as i64)),
            Fault::NegativeIds => top.extend(nearest.map(|id| -2 - id)),
            Fault::TooFew => top.extend(nearest.take(1)),
            Fault::TooMany => top.extend(scored.iter().take(top.k() + 3).map(|&(_, id)| id)),
            _ => top.extend(nearest),
        }
        Ok(())
    }
}
