use crate::bits::{BitHamming, BitJaccard, counts_in_hardware};
use crate::graph::{Graph, Push};
use crate::normalise::push_normalised;
use crate::params::{BuildParams, SearchParams};
use crate::store;
use annbench_core::{
    Adapter, AdapterError, BuildSpec, Descriptor, ElementType, Index, Metric, Mode, PointSpec,
    Rows, Support, Vectors, bit_base, row_base,
};
use anndists::dist::distances::{DistDot, DistL2};
use hnsw_rs::hnswio::HnswIo;
use std::collections::BTreeMap;
use std::path::Path;

/// No inner product: DistDot asserts that its result is that of unit vectors.
const SUPPORTS: [(Metric, ElementType); 4] = [
    (Metric::L2, ElementType::F32),
    (Metric::Cosine, ElementType::F32),
    (Metric::Hamming, ElementType::Bits),
    (Metric::Jaccard, ElementType::Bits),
];

/// How the rows and queries of a cosine graph are stored.
const NORMALISED: Option<Push<f32>> = Some(push_normalised);

/// The version that Cargo.toml pins.
const VERSION: &str = "0.3.5";

/// hnsw_rs: HNSW graphs in pure Rust.
///
/// Of numbers only f32 is declared: the library takes bytes too, but measures them with scalar code,
/// so that bytes widened to f32 are what its user would search. Of packed bits it measures nothing,
/// its `DistHamming` and `DistJaccard` compare whole elements: its user gives it a distance, and so
/// does this adapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct HnswRs;

impl Adapter for HnswRs {
    fn descriptor(&self) -> Descriptor {
        let support = |(metric, element)| Support { metric, element };
        Descriptor {
            adapter: "hnsw_rs".to_owned(),
            library: "hnsw_rs".to_owned(),
            library_version: VERSION.to_owned(),
            supports: SUPPORTS.map(support).to_vec(),
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
        match spec.metric {
            Metric::L2 => {
                let rows = row_base::<f32>(base, spec)?;
                Ok(Box::new(Graph::build(rows, params, spec, DistL2, None)?))
            }
            Metric::Cosine => {
                let rows = row_base::<f32>(base, spec)?;
                let mut normalised = Vec::with_capacity(rows.data().len());
                for i in 0..rows.n() {
                    push_normalised(rows.row(i), &mut normalised);
                }
                let rows = Rows::new(&normalised, rows.dim())
                    .ok_or_else(|| AdapterError::Failed("the base has no rows".to_owned()))?;
                let graph = Graph::build(rows, params, spec, DistDot, NORMALISED)?;
                Ok(Box::new(graph))
            }
            Metric::Hamming => {
                let rows = bit_base(base, spec)?.bytes();
                let graph = Graph::build(rows, params, spec, BitHamming, None)?;
                Ok(Box::new(graph))
            }
            Metric::Jaccard => {
                let rows = bit_base(base, spec)?.bytes();
                let graph = Graph::build(rows, params, spec, BitJaccard, None)?;
                Ok(Box::new(graph))
            }
            _ => Err(unsupported(spec)),
        }
    }

    fn load<'b>(
        &self,
        dir: &Path,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        let params = check_build(spec)?;
        match spec.metric {
            Metric::L2 => {
                row_base::<f32>(base, spec)?;
                let read = HnswIo::load_hnsw::<f32, DistL2>;
                Ok(Box::new(store::load(dir, params, spec, None, read)?))
            }
            Metric::Cosine => {
                row_base::<f32>(base, spec)?;
                let read = HnswIo::load_hnsw::<f32, DistDot>;
                Ok(Box::new(store::load(dir, params, spec, NORMALISED, read)?))
            }
            Metric::Hamming => {
                bit_base(base, spec)?;
                let read = HnswIo::load_hnsw::<u8, BitHamming>;
                Ok(Box::new(store::load(dir, params, spec, None, read)?))
            }
            Metric::Jaccard => {
                bit_base(base, spec)?;
                let read = HnswIo::load_hnsw::<u8, BitJaccard>;
                Ok(Box::new(store::load(dir, params, spec, None, read)?))
            }
            _ => Err(unsupported(spec)),
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
    let bits = if counts_in_hardware() {
        "hamming and jaccard are the adapter's own distances over packed bytes, which the library \
         has not (its DistHamming counts elements that differ): ones of 64-bit words, by the CPU's \
         instruction"
    } else {
        "hamming and jaccard are the adapter's own distances over packed bytes, which the library \
         has not (its DistHamming counts elements that differ): ones of 64-bit words, without an \
         instruction for it on this CPU"
    };
    [
        ("distance_kernels", kernels),
        ("bits", bits),
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

fn unsupported(spec: &BuildSpec) -> AdapterError {
    AdapterError::Rejected(format!(
        "{} on {}: there is no distance for it; l2 and cosine on f32, hamming and jaccard on bits \
         work",
        spec.metric, spec.element
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
    if !SUPPORTS.contains(&(spec.metric, spec.element)) {
        return Err(unsupported(spec));
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
