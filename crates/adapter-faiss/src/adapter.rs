use crate::bits;
use crate::facts::{build_facts, version};
use crate::index::{FILE, FaissIndex};
use crate::judged::shape_of;
use crate::native::{NativeIndex, normalise, set_threads};
use crate::params::{BuildParams, is_inner_product, read_search, search_docs};
use annbench_core::{
    Adapter, AdapterError, BuildSpec, Descriptor, ElementType, Index, Metric, Mode, PointSpec,
    Support, Vectors, row_base,
};
use std::path::Path;

/// L2, inner product and cosine are of its indexes of floats, hamming of its indexes of bits, which
/// measure nothing else: FAISS's jaccard is one of floats.
const SUPPORTS: [(Metric, ElementType); 4] = [
    (Metric::L2, ElementType::F32),
    (Metric::InnerProduct, ElementType::F32),
    (Metric::Cosine, ElementType::F32),
    (Metric::Hamming, ElementType::Bits),
];

/// FAISS: any index that its factories make, on CPUs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faiss;

impl Adapter for Faiss {
    fn descriptor(&self) -> Descriptor {
        let support = |(metric, element)| Support { metric, element };
        Descriptor {
            adapter: "faiss".to_owned(),
            library: "FAISS".to_owned(),
            library_version: version(),
            supports: SUPPORTS.map(support).to_vec(),
            modes: vec![Mode::Single, Mode::Batch],
            saves: true,
            // One OpenMP thread runs loops in order, and FAISS seeds every generator of its own
            // with a constant; not all of them can be set, so none is.
            deterministic_build: true,
            seeded: false,
            build_facts: build_facts(),
            build_params: BuildParams::docs(),
            search_params: search_docs(),
        }
    }

    fn check(&self, point: &PointSpec) -> Result<(), AdapterError> {
        check_support(&point.build)?;
        for (what, threads) in [
            ("build", point.build.threads),
            ("search", point.search.threads),
        ] {
            if threads == 0 {
                return Err(AdapterError::Rejected(format!(
                    "{what} threads: expected at least 1, found 0"
                )));
            }
        }
        let shape = shape_of(&point.build)?;
        read_search(&point.search.params, shape, point.search.k)?;
        Ok(())
    }

    fn build<'b>(
        &self,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        check_support(spec)?;
        let (params, _) = BuildParams::read(spec)?;
        if spec.element == ElementType::Bits {
            return bits::build(base, spec, &params);
        }
        let rows = row_base::<f32>(base, spec)?;
        set_threads(spec.threads)?;
        let mut native =
            NativeIndex::create(spec.dim, &params.index, is_inner_product(spec.metric))?;
        if let Some(ef_construction) = params.ef_construction {
            native.set_ef_construction(ef_construction)?;
        }
        let normalised = spec.metric == Metric::Cosine;
        if normalised {
            let mut copy = rows.data().to_vec();
            normalise(&mut copy, spec.dim);
            native.fill(&copy)?;
        } else {
            native.fill(rows.data())?;
        }
        Ok(Box::new(FaissIndex::new(native, normalised)?))
    }

    fn load<'b>(
        &self,
        dir: &Path,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        check_support(spec)?;
        let (_, shape) = BuildParams::read(spec)?;
        if spec.element == ElementType::Bits {
            return bits::load(dir, base, spec, shape);
        }
        row_base::<f32>(base, spec)?;
        let path = dir.join(FILE);
        let native = NativeIndex::read(&path)?;
        let found = native.size();
        let index = FaissIndex::new(native, spec.metric == Metric::Cosine)?;
        if found != (spec.n, spec.dim) || index.shape() != shape {
            return Err(AdapterError::Failed(format!(
                "{}: expected {} x {} and {shape:?}, found {} x {} and {:?}",
                path.display(),
                spec.n,
                spec.dim,
                found.0,
                found.1,
                index.shape()
            )));
        }
        Ok(Box::new(index))
    }
}

fn check_support(spec: &BuildSpec) -> Result<(), AdapterError> {
    if SUPPORTS.contains(&(spec.metric, spec.element)) {
        return Ok(());
    }
    Err(AdapterError::Rejected(format!(
        "{} on {}: l2, inner_product and cosine on f32 and hamming on bits work",
        spec.metric, spec.element
    )))
}
