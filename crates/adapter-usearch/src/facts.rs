use crate::native::Native;
use crate::quantization::Quantization;
use annbench_core::Metric;
use std::collections::BTreeMap;

/// How the library was compiled, and what of it this CPU runs.
pub(crate) fn build_facts() -> BTreeMap<String, String> {
    let mut facts: BTreeMap<String, String> = [
        ("simd_compiled", usearch::hardware_acceleration_compiled()),
        ("simd_available", usearch::hardware_acceleration_available()),
        (
            "bytes",
            "u8 and i8 vectors in an index that holds another type are widened to f32: queries \
             inside the timed call"
                .to_owned(),
        ),
        (
            "expansion_search",
            "belongs to the index; each searcher holds a lock of its own in the timed call"
                .to_owned(),
        ),
    ]
    .into_iter()
    .map(|(fact, value)| (fact.to_owned(), value))
    .collect();
    for metric in Metric::ALL {
        let kernels: Vec<String> = Quantization::ALL
            .into_iter()
            .filter(|&q| (q == Quantization::B1) == is_of_bits(metric))
            .filter_map(|q| Some(format!("{} {}", q.name(), Native::kernel(metric, q)?)))
            .collect();
        facts.insert(format!("kernels_{metric}"), kernels.join(", "));
    }
    facts
}

fn is_of_bits(metric: Metric) -> bool {
    matches!(metric, Metric::Hamming | Metric::Jaccard)
}
