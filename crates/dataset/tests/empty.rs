//! Files without rows or without values, in every layout.

#![allow(clippy::unwrap_used)]

mod support;

use hdf5_metno::H5Type;
use support::*;

const N: usize = 6;
const M: usize = 2;
const DIM: usize = 4;
const WIDTH: usize = 3;

const LAYOUTS: [&str; 5] = ["fbin", "u8bin", "fvecs", "bvecs", "hdf5"];

fn element(format: &str) -> &'static str {
    match format {
        "u8bin" | "bvecs" => "u8",
        _ => "f32",
    }
}

/// A file of `rows` of `dim`, as `format` has it.
fn write(fixture: &Fixture, file: &str, format: &str, rows: usize, dim: usize) {
    let narrow = bytes(rows * dim, 1);
    let wide = floats(&widen(&narrow));
    let content = match format {
        "u8bin" => flat(rows, dim, &narrow),
        "fbin" => flat(rows, dim, &wide),
        // Rows of no values are nothing but their dimensions.
        "bvecs" | "fvecs" if dim == 0 => words(&vec![0; rows]),
        "bvecs" => texmex(dim, dim, &narrow),
        "fvecs" => texmex(dim, 4 * dim, &wide),
        _ => return write_hdf5(fixture, file, (rows, dim), &widen(&narrow)),
    };
    fixture.write("set", file, &content);
}

fn write_hdf5<T: H5Type>(fixture: &Fixture, file: &str, shape: (usize, usize), values: &[T]) {
    let path = fixture.place("set", file);
    let hdf5 = hdf5_metno::File::create(&path).unwrap();
    let dataset = hdf5.new_dataset::<T>().shape(shape).create("it").unwrap();
    if !values.is_empty() {
        dataset.write_raw(values).unwrap();
    }
    drop(hdf5);
    age(&path);
}

fn body(format: &str, truth: &str) -> String {
    let dataset = |format: &str| match format {
        "hdf5" => "dataset: it, ",
        _ => "",
    };
    let truth = match truth {
        "" => String::new(),
        truth => format!(
            "truth: {{ file: truth, format: {truth}, {}width: {WIDTH} }}\n",
            dataset(truth)
        ),
    };
    format!(
        "metric: l2\nelement: {element}\ndim: {DIM}\n\
         base: {{ file: base, format: {format}, {inside}rows: {N} }}\n\
         queries: {{ file: queries, format: {format}, {inside}rows: {M} }}\n{truth}",
        element = element(format),
        inside = dataset(format),
    )
}

fn assert_plain(refusal: &str, format: &str, file: &str, nothing: &[&str]) {
    assert_words(refusal, &[&format!("downloads/set/{file}: "), "expected "]);
    assert!(
        nothing.iter().any(|word| refusal.contains(word)),
        "{format}: none of {nothing:?} is in: {refusal}"
    );
    assert!(!refusal.contains("cut off"), "{refusal}");
}

#[test]
fn a_base_or_queries_without_rows() {
    for format in LAYOUTS {
        for (file, rows) in [("base", (0, M)), ("queries", (N, 0))] {
            let fixture = Fixture::new();
            write(&fixture, "base", format, rows.0, DIM);
            write(&fixture, "queries", format, rows.1, DIM);
            let refusal = fixture.refusal(&fixture.yaml("set", &body(format, "")));
            let nothing = ["0 rows of 4, no vectors", "an empty file", "it has no rows"];
            assert_plain(&refusal, format, file, &nothing);
        }
    }
}

#[test]
fn vectors_without_components() {
    for format in LAYOUTS {
        for (file, dims) in [("base", (0, DIM)), ("queries", (DIM, 0))] {
            let fixture = Fixture::new();
            write(&fixture, "base", format, N, dims.0);
            write(&fixture, "queries", format, M, dims.1);
            let refusal = fixture.refusal(&fixture.yaml("set", &body(format, "")));
            let nothing = ["rows of 0, no vectors", "of no values", "have no values"];
            assert_plain(&refusal, format, file, &nothing);
        }
    }
}

#[test]
fn truth_without_queries_or_neighbours() {
    for format in ["ivecs", "ibin", "bigann_truth", "hdf5"] {
        for (queries, width) in [(0, WIDTH), (M, 0), (0, 0)] {
            let fixture = Fixture::new();
            write(&fixture, "base", "u8bin", N, DIM);
            write(&fixture, "queries", "u8bin", M, DIM);
            match format {
                "hdf5" => write_hdf5::<i32>(&fixture, "truth", (queries, width), &[]),
                "ivecs" => {
                    fixture.write("set", "truth", &words(&vec![0; queries]));
                }
                _ => {
                    fixture.write("set", "truth", &flat(queries, width, &[]));
                }
            }
            let refusal = fixture.refusal(&fixture.yaml("set", &body("u8bin", format)));
            let nothing = [
                "no ids at all",
                "an empty file",
                "of no values",
                "it has no rows",
                "have no values",
            ];
            assert_plain(&refusal, format, "truth", &nothing);
        }
    }
}

/// A header of zeroes before other bytes is a lie, not an empty file.
#[test]
fn zeroes_in_front_of_bytes() {
    for format in ["fbin", "u8bin"] {
        let fixture = Fixture::new();
        write(&fixture, "queries", format, M, DIM);
        fixture.write("set", "base", &flat(0, 0, &[7; 64]));
        let refusal = fixture.refusal(&fixture.yaml("set", &body(format, "")));
        assert_words(&refusal, &["header", "0 rows of 0"]);
    }
}
