//! Searchers with known answers and known durations, which show that the harness measures what it
//! says it measures. `annbench selftest` runs them.

mod searchers;

use annbench_core::{
    Adapter, AdapterError, BuildSpec, Descriptor, ElementType, Index, MemoryReport, Metric, Mode,
    ParamDoc, ParamKind, ParamReader, PointSpec, SearchSpec, Searcher, Support, Vectors,
};
use searchers::{ExactSearcher, NullSearcher, RandomSearcher, SpinSearcher};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    annbench_core::worker::run(&Calibration)
}

struct Calibration;

/// Which searcher a point asks for.
enum Kind {
    Exact { rows: Option<usize> },
    Random { seed: u64 },
    Null,
    Spin { spin_ns: u64, log: PathBuf },
}

impl Kind {
    fn parse(spec: &SearchSpec) -> Result<Self, AdapterError> {
        let mut params = spec.params.reader();
        let name = params.text("searcher")?;
        let kind = match name.as_str() {
            "exact" => {
                let rows = params.optional_int("rows", 1..=i64::MAX)?;
                Kind::Exact {
                    rows: rows.map(|rows| rows as usize),
                }
            }
            "random" => Kind::Random {
                seed: params.int("seed", 0..=i64::MAX)? as u64,
            },
            "null" => Kind::Null,
            "spin" => Kind::Spin {
                spin_ns: params.int("spin_ns", 1..=1_000_000_000)? as u64,
                log: PathBuf::from(params.text("log")?),
            },
            other => {
                return Err(AdapterError::Rejected(format!(
                    "parameter `searcher`: expected exact, random, null or spin, found {other}"
                )));
            }
        };
        finish(params)?;
        Ok(kind)
    }
}

fn finish(params: ParamReader<'_>) -> Result<(), AdapterError> {
    Ok(params.finish()?)
}

impl Adapter for Calibration {
    fn descriptor(&self) -> Descriptor {
        let supports = Metric::ALL
            .into_iter()
            .flat_map(|metric| ElementType::ALL.map(|element| Support { metric, element }))
            .filter(|support| support.metric.is_defined_on(support.element))
            .collect();
        Descriptor {
            adapter: "calibration".to_owned(),
            library: "annbench-calibration".to_owned(),
            library_version: env!("CARGO_PKG_VERSION").to_owned(),
            supports,
            modes: vec![Mode::Single],
            saves: false,
            deterministic_build: true,
            seeded: false,
            build_facts: BTreeMap::new(),
            build_params: Vec::new(),
            search_params: vec![
                ParamDoc::required(
                    "searcher",
                    ParamKind::Text,
                    "exact (a plain scan), random (k distinct ids), null (no answer) or spin (busy for spin_ns)",
                ),
                ParamDoc::optional(
                    "rows",
                    ParamKind::Int,
                    "exact: scan only the first rows; recall is the share of the truth among them",
                ),
                ParamDoc::optional("seed", ParamKind::Int, "random: seed of the ids"),
                ParamDoc::optional(
                    "spin_ns",
                    ParamKind::Int,
                    "spin: shortest duration of a call, 1 to 1000000000",
                ),
                ParamDoc::optional(
                    "log",
                    ParamKind::Text,
                    "spin: file for the searcher's own durations, u64 little-endian ns per call",
                ),
            ],
        }
    }

    fn check(&self, point: &PointSpec) -> Result<(), AdapterError> {
        finish(point.build.params.reader())?;
        Kind::parse(&point.search).map(drop)
    }

    fn build<'b>(
        &self,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        finish(spec.params.reader())?;
        Ok(Box::new(CalibrationIndex {
            base,
            metric: spec.metric,
        }))
    }
}

struct CalibrationIndex<'b> {
    base: Vectors<'b>,
    metric: Metric,
}

impl Index for CalibrationIndex<'_> {
    fn searcher<'i>(&'i self, spec: &SearchSpec) -> Result<Box<dyn Searcher + 'i>, AdapterError> {
        Ok(match Kind::parse(spec)? {
            Kind::Exact { rows } => Box::new(ExactSearcher::new(self.base, self.metric, rows)),
            Kind::Random { seed } => Box::new(RandomSearcher::new(seed, self.base.n())),
            Kind::Null => Box::new(NullSearcher),
            Kind::Spin { spin_ns, log } => Box::new(SpinSearcher::create(spin_ns, &log)?),
        })
    }

    fn memory(&self) -> MemoryReport {
        MemoryReport {
            borrows_base: true,
            reported_bytes: None,
        }
    }
}
