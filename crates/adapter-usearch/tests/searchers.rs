//! Searchers of one index beside each other, and what the library does with each kind of vector.

mod common;

use annbench_adapter_usearch::Usearch;
use annbench_core::{Adapter, BitRows, EMPTY_SLOT, ElementType, Metric, Rows, Vector, Vectors};
use common::{answer, build, build_spec, numbers, search_spec};

const DIM: usize = 12;
const K: usize = 10;

fn rows(data: &[f32]) -> Vectors<'_> {
    Vectors::F32(Rows::new(data, DIM).expect("whole rows"))
}

/// The library keeps one expansion_search for all: here three values by nine threads at once, more
/// than there are CPUs or were reserved for the build.
#[test]
fn searchers_with_different_expansions_search_at_once() {
    let (base, queries) = (numbers(2000 * DIM, 1), numbers(200 * DIM, 2));
    let spec = build_spec(Metric::L2, ElementType::F32, 2000, DIM, "f32");
    let index = build(rows(&base), &spec);
    let index = index.as_ref();
    let all = |expansion| -> Vec<Vec<u32>> {
        let mut searcher = index
            .searcher(&search_spec(K, expansion))
            .expect("a searcher");
        (0..200)
            .map(|i| answer(searcher.as_mut(), rows(&queries).row(i), K))
            .collect()
    };
    let expansions = [10, 13, 400];
    let alone = expansions.map(all);
    assert!(alone[0] != alone[1] && alone[1] != alone[2]);
    std::thread::scope(|scope| {
        for i in 0..9 {
            let (all, alone) = (&all, &alone);
            scope.spawn(move || {
                for _ in 0..3 {
                    assert!(all(expansions[i % 3]) == alone[i % 3], "thread {i}");
                }
            });
        }
    });
}

#[test]
fn what_is_not_there_stays_empty() {
    let base = numbers(5 * DIM, 3);
    let spec = build_spec(Metric::L2, ElementType::F32, 5, DIM, "f32");
    let index = build(rows(&base), &spec);
    let mut searcher = index.searcher(&search_spec(K, 10)).expect("a searcher");
    let mut found = answer(searcher.as_mut(), rows(&base).row(2), K);
    assert_eq!(found[0], 2);
    assert_eq!(found[5..], [EMPTY_SLOT; 5]);
    found.sort_unstable();
    assert_eq!(found[..5], [0, 1, 2, 3, 4]);
}

/// By its own way the library divides bytes by 255 before it rounds them to bf16, which makes 254
/// and 255 one number.
#[test]
fn bytes_are_widened_without_scaling() {
    let base: Vec<u8> = (0..=255).flat_map(|v| [v, 255 - v]).collect();
    let base = Vectors::U8(Rows::new(&base, 2).expect("whole rows"));
    for quantization in ["bf16", "f16", "f32", "f64", "u8"] {
        let spec = build_spec(Metric::L2, ElementType::U8, 256, 2, quantization);
        let index = build(base, &spec);
        let mut searcher = index.searcher(&search_spec(1, 64)).expect("a searcher");
        for v in 0..=255u8 {
            let found = answer(searcher.as_mut(), Vector::U8(&[v, 255 - v]), 1);
            assert_eq!(found, [u32::from(v)], "{quantization}");
        }
    }
    let base: Vec<i8> = (-128..=127).flat_map(|v: i8| [v, !v]).collect();
    let base = Vectors::I8(Rows::new(&base, 2).expect("whole rows"));
    for quantization in ["bf16", "f16", "f32", "f64", "i8"] {
        let spec = build_spec(Metric::L2, ElementType::I8, 256, 2, quantization);
        let index = build(base, &spec);
        let mut searcher = index.searcher(&search_spec(1, 64)).expect("a searcher");
        for v in -128..=127i8 {
            let found = answer(searcher.as_mut(), Vector::I8(&[v, !v]), 1);
            assert_eq!(found, [(i32::from(v) + 128) as u32], "{quantization}");
        }
    }
}

/// i8 under cosine is a coarse circle of directions, whatever the lengths.
#[test]
fn i8_of_floats_keeps_directions() {
    let directions = 90;
    let base: Vec<f32> = (0..directions)
        .flat_map(|i| {
            let angle = i as f32 * std::f32::consts::TAU / directions as f32;
            let length = 0.01 * (i + 1) as f32;
            [length * angle.cos(), length * angle.sin()]
        })
        .collect();
    let vectors = Vectors::F32(Rows::new(&base, 2).expect("whole rows"));
    let spec = build_spec(Metric::Cosine, ElementType::F32, directions, 2, "i8");
    let index = build(vectors, &spec);
    let mut searcher = index.searcher(&search_spec(1, 90)).expect("a searcher");
    for i in 0..directions {
        let query = [1e3 * base[2 * i], 1e3 * base[2 * i + 1]];
        assert_eq!(
            answer(searcher.as_mut(), Vector::F32(&query), 1),
            [i as u32]
        );
    }
}

/// 13 bits: the library is told bits and takes bytes.
#[test]
fn bits_need_not_fill_their_bytes() {
    let base: Vec<u8> = (0..13u32)
        .flat_map(|i| (0xffffu32 << (16 - 1 - i)).to_be_bytes()[2..].to_vec())
        .collect();
    let vectors = Vectors::Bits(BitRows::new(&base, 13).expect("whole rows"));
    assert_eq!(
        BitRows::new(&base, 13).and_then(|b| b.first_dirty_row()),
        None
    );
    for metric in [Metric::Hamming, Metric::Jaccard] {
        let spec = build_spec(metric, ElementType::Bits, 13, 13, "b1");
        let index = build(vectors, &spec);
        let mut searcher = index.searcher(&search_spec(2, 13)).expect("a searcher");
        for i in 0..13 {
            let found = answer(searcher.as_mut(), vectors.row(i), 2);
            assert_eq!(found[0], i as u32, "{metric}");
            assert_eq!(found[1].abs_diff(i as u32), 1, "{metric}");
        }
    }
}

#[test]
fn a_file_of_another_build_is_refused() {
    let base = numbers(50 * DIM, 4);
    let spec = build_spec(Metric::L2, ElementType::F32, 50, DIM, "f16");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let index = build(rows(&base), &spec);
    index.save(folder.path()).expect("saved");
    let load = |spec: &_, base| Usearch.load(folder.path(), base, spec).map(drop);
    assert_eq!(load(&spec, rows(&base)), Ok(()));

    let mut other = spec.clone();
    other.metric = Metric::Cosine;
    assert!(load(&other, rows(&base)).is_err());
    let other = build_spec(Metric::L2, ElementType::F32, 50, DIM, "f32");
    assert!(load(&other, rows(&base)).is_err());
    let other = build_spec(Metric::L2, ElementType::F32, 49, DIM, "f16");
    assert!(load(&other, rows(&base[..49 * DIM])).is_err());
    let mut other = spec.clone();
    let links = annbench_core::ParamValue::Int(9);
    other.params = other.params.with("connectivity", links);
    let error = load(&other, rows(&base)).expect_err("another connectivity");
    assert!(error.to_string().contains("(50, 9)"), "{error}");

    // Cut anywhere, it is an error.
    let path = folder.path().join("index.usearch");
    let whole = std::fs::read(&path).expect("the file");
    for length in (0..whole.len()).step_by(whole.len() / 97) {
        std::fs::write(&path, &whole[..length]).expect("a shorter file");
        assert!(load(&spec, rows(&base)).is_err(), "{length} bytes");
    }
}
