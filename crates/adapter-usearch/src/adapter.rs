use crate::facts::build_facts;
use crate::form::Form;
use crate::graph::{Graph, check_threads};
use crate::params::{BuildParams, SearchParams};
use crate::store;
use annbench_core::{
    Adapter, AdapterError, BuildSpec, Descriptor, ElementType, Index, Metric, Mode, PointSpec,
    Support, Vectors,
};
use std::path::Path;

/// usearch: HNSW graphs in C++, over many types of components.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usearch;

/// The types that the library takes vectors in, and the metrics it has for them.
const SUPPORTS: [(ElementType, &[Metric]); 5] = {
    use Metric::{Cosine, Hamming, InnerProduct, Jaccard, L2};
    [
        (ElementType::F32, &[L2, Cosine, InnerProduct]),
        (ElementType::F16, &[L2, Cosine, InnerProduct]),
        (ElementType::I8, &[L2, Cosine, InnerProduct]),
        (ElementType::U8, &[L2, Cosine, InnerProduct]),
        (ElementType::Bits, &[Hamming, Jaccard]),
    ]
};

impl Adapter for Usearch {
    fn descriptor(&self) -> Descriptor {
        let supports = SUPPORTS.into_iter().flat_map(|(element, metrics)| {
            metrics
                .iter()
                .map(move |&metric| Support { metric, element })
        });
        Descriptor {
            adapter: "usearch".to_owned(),
            library: "usearch".to_owned(),
            library_version: usearch::version().to_owned(),
            supports: supports.collect(),
            // The library has no call for many queries; its bindings loop over threads of theirs.
            modes: vec![Mode::Single],
            saves: true,
            // One thread adds in the order of the rows. The library draws levels from generators
            // with constant seeds, which no caller can set, one for each of its search buffers, in
            // turn: on a machine with another number of CPUs the same build is another graph.
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
        let (params, form) = check_build(spec)?;
        Form::check_base(base, spec, &params)?;
        Ok(Box::new(Graph::build(base, form, &params, spec)?))
    }

    fn load<'b>(
        &self,
        dir: &Path,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        let (params, form) = check_build(spec)?;
        Form::check_base(base, spec, &params)?;
        Ok(Box::new(store::load(dir, form, &params, spec)?))
    }
}

fn check_build(spec: &BuildSpec) -> Result<(BuildParams, Form), AdapterError> {
    let taken = SUPPORTS
        .into_iter()
        .any(|(element, metrics)| element == spec.element && metrics.contains(&spec.metric));
    if !taken {
        return Err(AdapterError::Rejected(format!(
            "metric {} on {}: usearch has no distance for it",
            spec.metric, spec.element
        )));
    }
    check_threads("build", spec.threads)?;
    // Points are numbered in 32 bits.
    if u32::try_from(spec.n).is_err() {
        return Err(AdapterError::Rejected(format!(
            "base: usearch holds up to {} points, found {}",
            u32::MAX,
            spec.n
        )));
    }
    let params = BuildParams::read(&spec.params)?;
    let form = Form::of(spec, &params)?;
    Ok((params, form))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_reported_is_the_one_pinned() {
        let manifest = include_str!("../Cargo.toml");
        assert!(manifest.contains(&format!("usearch = \"={}\"", usearch::version())));
    }
}
