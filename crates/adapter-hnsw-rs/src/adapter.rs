use crate::graph::Graph;
use crate::normalise::push_normalised;
use crate::params::{BuildParams, SearchParams};
use crate::store;
use annbench_core::{
    Adapter, AdapterError, BuildSpec, Descriptor, ElementType, Index, Metric, Mode, PointSpec,
    Rows, Support, Vectors, row_base,
};
use anndists::dist::distances::{DistDot, DistL2};
use std::collections::BTreeMap;
use std::path::Path;

/// The version that Cargo.toml pins.
const VERSION: &str = "0.3.5";

/// hnsw_rs: HNSW graphs in pure Rust.
///
/// Only f32 is declared: the library takes bytes too, but measures them with scalar code, so that
/// bytes widened to f32 are what its user would search.
#[derive(Clone, Copy, Debug, Default)]
pub struct HnswRs;

impl Adapter for HnswRs {
    fn descriptor(&self) -> Descriptor {
        let support = |metric| Support {
            metric,
            element: ElementType::F32,
        };
        Descriptor {
            adapter: "hnsw_rs".to_owned(),
            library: "hnsw_rs".to_owned(),
            library_version: VERSION.to_owned(),
            // No inner product: DistDot asserts that its result is that of unit vectors.
            supports: vec![support(Metric::L2), support(Metric::Cosine)],
            modes: vec![Mode::Single, Mode::Batch],
            saves: true,
            // One thread inserts in row order, and the library's level generator has a constant
            // seed, which no caller can set.
            deterministic_build: true,
            seeded: false,
            build_facts: build_facts(),
            build_params: BuildParams::docs(),
            search_params: SearchParams::docs(),
        }
    }

    fn check(&self, point: &PointSpec) -> Result<(), AdapterError> {
        check_build(&point.build)?;
        check_threads("search", point.search.threads)?;
        SearchParams::read(&point.search.params, point.search.k)?;
        Ok(())
    }

    fn build<'b>(
        &self,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        let params = check_build(spec)?;
        let rows = row_base::<f32>(base, spec)?;
        match spec.metric {
            Metric::L2 => Ok(Box::new(Graph::build(rows, params, spec, DistL2, false)?)),
            Metric::Cosine => {
                let mut normalised = Vec::with_capacity(rows.data().len());
                for i in 0..rows.n() {
                    push_normalised(rows.row(i), &mut normalised);
                }
                let rows = Rows::new(&normalised, rows.dim())
                    .ok_or_else(|| AdapterError::Failed("the base has no rows".to_owned()))?;
                Ok(Box::new(Graph::build(rows, params, spec, DistDot, true)?))
            }
            other => Err(unsupported(other)),
        }
    }

    fn load<'b>(
        &self,
        dir: &Path,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        let params = check_build(spec)?;
        row_base::<f32>(base, spec)?;
        match spec.metric {
            Metric::L2 => Ok(Box::new(store::load::<DistL2>(dir, params, spec, false)?)),
            Metric::Cosine => Ok(Box::new(store::load::<DistDot>(dir, params, spec, true)?)),
            other => Err(unsupported(other)),
        }
    }
}

fn build_facts() -> BTreeMap<String, String> {
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    let simd = std::is_x86_feature_detected!("avx2");
    #[cfg(target_arch = "aarch64")]
    let simd = std::arch::is_aarch64_feature_detected!("asimd");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
    let simd = false;
    let kernels = if simd {
        "simdeez, chosen at run time for this CPU"
    } else {
        "scalar: this CPU lacks the SIMD that the library asks for"
    };
    [
        ("distance_kernels", kernels),
        (
            "cosine",
            "base normalised during the build, each query inside the timed call; DistDot",
        ),
        (
            "batch",
            "parallel_search; it takes one Vec per query, so copying the queries is timed",
        ),
    ]
    .into_iter()
    .map(|(fact, value)| (fact.to_owned(), value.to_owned()))
    .collect()
}

fn unsupported(metric: Metric) -> AdapterError {
    AdapterError::Rejected(format!(
        "metric {metric}: hnsw_rs has no distance for it; l2 and cosine work"
    ))
}

fn check_threads(what: &str, threads: usize) -> Result<(), AdapterError> {
    if threads == 0 {
        return Err(AdapterError::Rejected(format!(
            "{what} threads: expected at least 1, found 0"
        )));
    }
    Ok(())
}

fn check_build(spec: &BuildSpec) -> Result<BuildParams, AdapterError> {
    if !matches!(spec.metric, Metric::L2 | Metric::Cosine) {
        return Err(unsupported(spec.metric));
    }
    check_threads("build", spec.threads)?;
    BuildParams::read(&spec.params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_reported_is_the_one_pinned() {
        let manifest = include_str!("../Cargo.toml");
        assert!(manifest.contains(&format!("hnsw_rs = {{ version = \"={VERSION}\"")));
    }
}
