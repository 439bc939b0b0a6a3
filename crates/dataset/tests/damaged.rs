//! Files that are too short, too long, or whose headers lie, in every layout of vectors.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_dataset::Entry;
use support::*;

const N: usize = 20;
const DIM: usize = 16;

/// Layout, element type, the bytes of a row, and the whole file.
fn layouts() -> Vec<(&'static str, &'static str, usize, Vec<u8>)> {
    let body = |size: usize| vec![1u8; N * DIM * size];
    let packed = vec![0x55u8; N * DIM / 8];
    vec![
        ("fbin", "f32", 4 * DIM, flat(N, DIM, &body(4))),
        ("f16bin", "f16", 2 * DIM, flat(N, DIM, &body(2))),
        ("i8bin", "i8", DIM, flat(N, DIM, &body(1))),
        ("u8bin", "u8", DIM, flat(N, DIM, &body(1))),
        ("u8bin", "bits", DIM / 8, flat(N, DIM / 8, &packed)),
        ("fbin", "f32", 4 * DIM, long_flat(N, DIM, &body(4))),
        ("i8bin", "i8", DIM, long_flat(N, DIM, &body(1))),
        ("u8bin", "bits", DIM / 8, long_flat(N, DIM / 8, &packed)),
        ("fvecs", "f32", 4 + 4 * DIM, texmex(DIM, 4 * DIM, &body(4))),
        ("bvecs", "u8", 4 + DIM, texmex(DIM, DIM, &body(1))),
        ("npy", "f32", 4 * DIM, npy(">f4", (N, DIM), &body(4))),
        (
            "npy",
            "i8",
            8 * DIM,
            npy("<i8", (N, DIM), &[0; 8 * N * DIM]),
        ),
        ("npy", "bits", DIM, npy("|b1", (N, DIM), &body(1))),
        ("npy", "bits", DIM / 8, npy("|u1", (N, DIM / 8), &packed)),
    ]
}

fn entry(fixture: &Fixture, format: &str, element: &str, rows: usize, dim: usize) -> Entry {
    let metric = if element == "bits" { "hamming" } else { "l2" };
    let part = format!("{{ file: it, format: {format}, rows: {rows} }}");
    fixture.yaml(
        "set",
        &format!(
            "metric: {metric}\nelement: {element}\ndim: {dim}\nbase: {part}\nqueries: {part}\n"
        ),
    )
}

#[test]
fn truncated_and_over_long_files() {
    for (format, element, row, whole) in layouts() {
        let fixture = Fixture::new();
        let entry = entry(&fixture, format, element, N, DIM);
        let refusal = |bytes: &[u8]| {
            fixture.write("set", "it", bytes);
            fixture.refusal(&entry)
        };
        fixture.write("set", "it", &whole);
        fixture.open(&entry).unwrap();
        for missing in [1, row, 5 * row] {
            let refusal = refusal(&whole[..whole.len() - missing]);
            assert_words(&refusal, &["downloads/set/it", "size", "truncated"]);
        }
        for missing in [whole.len(), whole.len() - 1, whole.len() - 5] {
            let refusal = refusal(&whole[..whole.len() - missing]);
            assert_words(&refusal, &["downloads/set/it", "expected"]);
        }
        let more = [&whole[..], &whole[whole.len() - row..]].concat();
        let refusal = refusal(&more);
        assert_words(&refusal, &["downloads/set/it", "size", "over-long"]);
    }
}

/// The entry believes what the header says, and nothing is allocated at their word.
#[test]
fn headers_that_lie_with_an_entry_that_believes_them() {
    let most = u32::MAX as usize;
    for (format, element, lying) in [
        ("fbin", "f32", flat(most, most, &[1; 64])),
        ("f16bin", "f16", flat(most, most, &[1; 64])),
        ("u8bin", "bits", flat(most, most / 8 + 1, &[1; 64])),
        ("i8bin", "i8", long_flat(most, most, &[1; 64])),
        ("npy", "f32", npy("<f8", (most, most), &[1; 64])),
        ("npy", "bits", npy("|b1", (most, most), &[1; 64])),
        ("fvecs", "f32", texmex(most, 64, &[1; 64])),
        ("bvecs", "u8", texmex(most, 64, &[1; 64])),
    ] {
        let fixture = Fixture::new();
        fixture.write("set", "it", &lying);
        let entry = entry(&fixture, format, element, most, most);
        let refusal = fixture.refusal(&entry);
        assert_words(&refusal, &["downloads/set/it", "truncated"]);
    }
}
