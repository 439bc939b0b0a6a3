//! The adapter under the suite that every adapter must pass.

use annbench_adapter_usearch::Usearch;
use annbench_conformance::{Example, check_adapter};
use annbench_core::{
    Adapter, AdapterError, BuildSpec, Descriptor, ElementType, Index, Metric, ParamValue, Params,
    PointSpec, Vectors,
};
use std::path::Path;

/// The adapter with some of its metrics, since what suits one does not suit another, and with builds
/// by one thread, unless `threads`: rows that the library adds at once may stay unreachable (USearch
/// issue 735), which costs nothing in most builds and a quarter of the recall in some.
struct Under {
    metrics: &'static [Metric],
    threads: bool,
}

impl Adapter for Under {
    fn descriptor(&self) -> Descriptor {
        let mut descriptor = Usearch.descriptor();
        (descriptor.supports).retain(|support| self.metrics.contains(&support.metric));
        descriptor
    }

    fn check(&self, point: &PointSpec) -> Result<(), AdapterError> {
        Usearch.check(point)
    }

    fn build<'b>(
        &self,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        let mut spec = spec.clone();
        if !self.threads {
            spec.threads = 1;
        }
        Usearch.build(base, &spec)
    }

    fn load<'b>(
        &self,
        dir: &Path,
        base: Vectors<'b>,
        spec: &BuildSpec,
    ) -> Result<Box<dyn Index + 'b>, AdapterError> {
        Usearch.load(dir, base, spec)
    }
}

const NUMBERS: [ElementType; 4] = [
    ElementType::F32,
    ElementType::F16,
    ElementType::I8,
    ElementType::U8,
];

const ANGLES: [Metric; 2] = [Metric::L2, Metric::Cosine];

fn build(connectivity: i64, quantization: &str) -> Params {
    Params::new()
        .with("connectivity", ParamValue::Int(connectivity))
        .with("expansion_add", ParamValue::Int(60))
        .with("quantization", ParamValue::Text(quantization.to_owned()))
}

fn search(expansion: i64) -> Params {
    Params::new().with("expansion_search", ParamValue::Int(expansion))
}

fn conforms(metrics: &'static [Metric], example: &Example) {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let adapter = Under {
        metrics,
        threads: false,
    };
    check_adapter(&adapter, example, scratch.path());
}

/// Few links, so that a hasty search misses some.
fn example(quantization: &str, elements: &[ElementType]) -> Example {
    Example::new(build(8, quantization), search(1000))
        .with_hasty(search(10))
        .only(elements)
}

#[test]
fn numbers_as_f32_conform() {
    conforms(&ANGLES, &example("f32", &NUMBERS));
}

#[test]
fn numbers_as_f16_conform() {
    conforms(&ANGLES, &example("f16", &NUMBERS));
}

#[test]
fn signed_bytes_as_they_are_conform() {
    conforms(&ANGLES, &example("i8", &[ElementType::I8]));
}

#[test]
fn bytes_as_they_are_conform() {
    conforms(&ANGLES, &example("u8", &[ElementType::U8]));
}

/// 127 steps from the middle of a circle: the nearest ones change places.
#[test]
fn floats_as_i8_conform() {
    let floats = [ElementType::F32, ElementType::F16];
    conforms(
        &[Metric::Cosine],
        &example("i8", &floats).with_min_recall(0.8),
    );
}

#[test]
fn bits_conform() {
    conforms(
        &[Metric::Hamming, Metric::Jaccard],
        &example("b1", &[ElementType::Bits]),
    );
}

/// All queries have the same few long rows for neighbours, which a hasty search finds too; graphs of
/// fewer links fall apart.
#[test]
fn inner_products_conform() {
    for (quantization, elements) in [
        ("f32", NUMBERS.as_slice()),
        ("i8", &[ElementType::I8]),
        ("u8", &[ElementType::U8]),
    ] {
        let example = Example::new(build(16, quantization), search(1000)).only(elements);
        conforms(&[Metric::InnerProduct], &example);
    }
}

/// The other tests' recall is that of one thread; here is what is left of it with three.
#[test]
fn builds_by_several_threads_conform() {
    let example = Example::new(build(16, "f32"), search(1000))
        .with_min_recall(0.5)
        .only(&[ElementType::F32]);
    let adapter = Under {
        metrics: &ANGLES,
        threads: true,
    };
    let scratch = tempfile::tempdir().expect("a temporary directory");
    check_adapter(&adapter, &example, scratch.path());
}
