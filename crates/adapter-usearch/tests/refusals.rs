//! What usearch would make nonsense of without a word is refused, and the reason told.

mod common;

use annbench_adapter_usearch::Usearch;
use annbench_core::{Adapter, AdapterError, ElementType, Metric, PointSpec, Rows, Vectors};
use common::{build_spec, check, search_spec};

fn refused(result: Result<(), AdapterError>, says: &str) {
    match result {
        Err(AdapterError::Rejected(reason)) => {
            assert!(reason.contains(says), "expected `{says}`, found `{reason}`");
        }
        other => panic!("expected a refusal that says `{says}`, found {other:?}"),
    }
}

#[test]
fn quantizations_go_with_vectors_and_metrics_that_keep_their_order() {
    use ElementType::{Bits, F16, F32, I8, U8};
    use Metric::{Cosine, Hamming, InnerProduct, Jaccard, L2};
    let point =
        |metric, element, quantization| check(build_spec(metric, element, 100, 64, quantization));
    let floats = ["f64", "f32", "f16", "bf16", "e5m2", "e4m3", "e3m2", "e2m3"];
    for metric in [L2, InnerProduct, Cosine] {
        for element in [F32, F16, I8, U8] {
            for quantization in floats {
                assert_eq!(point(metric, element, quantization), Ok(()));
            }
            refused(point(metric, element, "b1"), "signs");
            let i8 = point(metric, element, "i8");
            match element == I8 || metric == Cosine {
                true => assert_eq!(i8, Ok(())),
                false => refused(i8, "its own length"),
            }
            let u8 = point(metric, element, "u8");
            match element == U8 {
                true => assert_eq!(u8, Ok(())),
                false => refused(u8, "negative components"),
            }
        }
    }
    for metric in [Hamming, Jaccard] {
        assert_eq!(point(metric, Bits, "b1"), Ok(()));
        for quantization in floats {
            refused(point(metric, Bits, quantization), "bits are held as b1");
        }
    }
}

#[test]
fn what_the_library_has_no_distance_for_is_refused() {
    refused(
        check(build_spec(Metric::Hamming, ElementType::F32, 100, 8, "f32")),
        "no distance",
    );
    refused(
        check(build_spec(Metric::Jaccard, ElementType::Sets, 100, 8, "b1")),
        "no distance",
    );
}

#[test]
fn components_beyond_what_the_index_holds_are_refused() {
    let mut data = vec![1.0f32; 6 * 4];
    data[4 * 4 + 2] = -500.0;
    let base = Vectors::F32(Rows::new(&data, 4).expect("whole rows"));
    let spec = |quantization| build_spec(Metric::L2, ElementType::F32, 6, 4, quantization);
    let built = Usearch.build(base, &spec("e4m3")).map(drop);
    refused(
        built,
        "e4m3 holds numbers up to 448, found -500 in row 4 at component 2",
    );
    for quantization in ["e5m2", "f16", "bf16", "f32", "f64"] {
        assert_eq!(Usearch.build(base, &spec(quantization)).map(drop), Ok(()));
    }
    let bytes = [0u8, 28, 0, 29];
    let base = Vectors::U8(Rows::new(&bytes, 2).expect("whole rows"));
    let spec = build_spec(Metric::L2, ElementType::U8, 2, 2, "e3m2");
    refused(
        Usearch.build(base, &spec).map(drop),
        "e3m2 holds numbers up to 28, found 29 in row 1 at component 1",
    );
}

#[test]
fn threads_have_an_end() {
    for (build_threads, search_threads, says) in [
        (0, 1, "build threads"),
        (2000, 1, "build threads"),
        (1, 0, "search threads"),
    ] {
        let mut point = PointSpec {
            build: build_spec(Metric::L2, ElementType::F32, 100, 8, "f32"),
            search: search_spec(10, 100),
        };
        point.build.threads = build_threads;
        point.search.threads = search_threads;
        refused(Usearch.check(&point), says);
    }
}
