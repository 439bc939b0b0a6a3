//! Defects of published datasets and of the programs that score on them, each with what is right here and
//! the tests that show it on made data. Defects: the issue trackers and sources of ann-benchmarks,
//! big-ann-benchmarks, cuVS, VIBE, VectorDBBench, qdrant's and weaviate's benchmarks, faiss and DiskANN.
//! That a test of the name exists is all that is compared here.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use support::*;

/// Defect; what is right; tests, as crate, file and name.
const DEFECTS: &[(&str, &str, &[&str])] = &[
    (
        "SIFT1M: ties at the last rank, so that strict ids never reach 1 (faiss 377, 960)",
        "ties are equal answers, told as such, and never stand in for a nearer row",
        &[
            "results worked_examples w4_ties_never_stand_in_for_a_strictly_nearer_row",
            "results worked_examples the_tie_band_decides_only_where_it_is_counted",
        ],
    ),
    (
        "nytimes-256: zero vectors, of which cosine has no direction (ann-benchmarks 73, 93)",
        "queries without a direction are counted and left out; base rows are told",
        &[
            "dataset truth zero_queries_under_cosine_are_named",
            "dataset audit zero_vectors_are_named",
            "results rescore a_zero_query_under_cosine_is_left_out_and_counted",
        ],
    ),
    (
        "nytimes, SPACEV, LAION: rows that are there many times",
        "counted, with the first of them",
        &["dataset audit equal_rows_are_named"],
    ),
    (
        "angular files of ann-benchmarks hold vectors that are not normalised",
        "cosine divides by both norms; the audit tells norms",
        &["dataset audit an_angular_set_that_is_not_normalised_is_named"],
    ),
    (
        "lastfm-64-dot is angular and has 65 components of f64; COCO is f16",
        "the entry decides, not the name; values convert exactly or are refused",
        &[
            "dataset elements every_type_and_layout_gives_the_same_vectors",
            "dataset elements every_half_precision_number_arrives",
            "dataset attributes contradictions_of_shape_and_type_are_refused",
        ],
    ),
    (
        "deep-image-96-angular is another base than Yandex's; texmex learn is no base (Qinco 5)",
        "truth of another base is found out and stops a run",
        &["dataset audit truth_of_another_base_is_named"],
    ),
    (
        "cuVS entries, qdrant's gist: a metric that is not the truth's",
        "the metric under which the truth is in order is named and stops a run",
        &["dataset audit another_metric_is_named"],
    ),
    (
        "a truncated base with the truth of the whole; YFCC 1M truth copied from 10M (big-ann 340)",
        "named as truth of a larger base; a slice has its own truth",
        &[
            "dataset audit truth_of_a_larger_base_is_named",
            "dataset audit truth_of_the_first_rows_is_named",
            "dataset truth stale_truth_is_refuted_with_evidence",
        ],
    ),
    (
        "big-ann: an interrupted crop keeps the header of a billion rows",
        "header, size and entry are compared",
        &[
            "dataset bad_input headers_that_lie",
            "dataset damaged headers_that_lie_with_an_entry_that_believes_them",
        ],
    ),
    (
        "OpenAIEmbedding1M: queries are rows of the base",
        "counted, with the first; stops a run",
        &["dataset audit queries_among_the_base_are_named"],
    ),
    (
        "truth made in f32 by VIBE and others is not exact",
        "distances are computed anew in f64; an order that f32 made is told",
        &["dataset audit an_order_made_in_f32_is_named"],
    ),
    (
        "distances as squares, fractions, 1 - cos or negated (ann-benchmarks 367, 420, 508)",
        "shipped ones are identified and never used",
        &[
            "dataset audit conventions_of_distances_are_identified",
            "dataset audit hamming_counts_and_fractions_are_told_apart",
        ],
    ),
    (
        "VectorDBBench: lists of neighbours longer than k",
        "the first `width` are taken, as the entry says",
        &["dataset defects lists_longer_than_the_width_give_their_first"],
    ),
    (
        "ids that count from 1, or -1 where nothing was found",
        "refused in truth, with the place; in answers an invalid id is a miss",
        &[
            "dataset audit ids_that_count_from_one_are_named",
            "dataset truth ids_that_no_row_has_are_refused",
            "results worked_examples w1_an_id_that_no_row_has_is_counted_and_the_rest_scored",
        ],
    ),
    (
        "cuVS, DiskANN: ids that repeat in the truth",
        "refused, with the query",
        &[
            "dataset audit ids_that_repeat_are_named",
            "dataset truth ids_that_repeat_are_refused",
        ],
    ),
    (
        "queries that a base was made of, or of another distribution (COCO t2i, Yandex)",
        "told, with the statistic",
        &["dataset audit queries_of_another_distribution_and_scale_are_named"],
    ),
    (
        ".ibin with and without distances; headers of u64; suffixes that lie (big-ann 165)",
        "size and header decide; what is another format is named as such",
        &[
            "dataset layouts every_layout_gives_the_same_vectors_fingerprint_and_truth",
            "dataset bad_input files_named_for_another_format",
        ],
    ),
    (
        "fvecs whose rows have different dimensions, of which readers look at the first",
        "every row is looked at",
        &["dataset bad_input rows_of_an_fvecs_that_differ"],
    ),
    (
        "range truth, sparse rows and judgements that do not fit the set",
        "refused with query, row or line",
        &[
            "dataset beside range_truth_is_of_the_queries_and_rows_of_the_set",
            "dataset beside metadata_has_the_rows_and_columns_that_the_entry_says",
            "dataset beside names_of_another_set_are_refused",
        ],
    ),
    (
        "one answer many times scores 1 (ann-benchmarks 519, VIBE, VectorDBBench, cuVS)",
        "it counts once",
        &["results worked_examples w1_duplicates_and_sentinels"],
    ),
    (
        "more than k answers push recall beyond 1, fewer are divided by what came",
        "the first k count, and recall is of k",
        &[
            "results worked_examples w1_more_than_k_is_cut_and_not_back_filled",
            "results worked_examples w3_fewer_than_k_are_divided_by_k",
        ],
    ),
    (
        "ann-benchmarks: an absolute slack of 0.001 whatever the scale",
        "differences are differences at every scale",
        &["results worked_examples w6_small_differences_are_differences_at_every_scale"],
    ),
    (
        "1-recall@R under the name of k-recall@k",
        "each has a name of its own",
        &["results other_metrics w2_one_recall_is_not_k_recall"],
    ),
    (
        "names of results that collide (-1 and 1, [0.5, 5] and [0, 5.5])",
        "any other field is another point",
        &["results identity any_changed_field_is_another_point"],
    ),
    (
        "frontiers over figures that are no numbers",
        "these are no points",
        &["results pareto figures_that_are_no_numbers_are_no_points"],
    ),
];

#[test]
fn every_defect_has_its_tests() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut absent = Vec::new();
    for (defect, right, tests) in DEFECTS {
        assert!(!right.is_empty() && !tests.is_empty(), "{defect}");
        for test in *tests {
            let [own, file, name] = test.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{test}");
            };
            let path = crates.join(own).join("tests").join(format!("{file}.rs"));
            let text = std::fs::read_to_string(path).unwrap_or_default();
            if !text.contains(&format!("#[test]\nfn {name}()")) {
                absent.push(*test);
            }
        }
    }
    assert!(absent.is_empty(), "no such test: {absent:#?}");
}

#[test]
fn lists_longer_than_the_width_give_their_first() {
    let fixture = Fixture::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/parquet");
    for (name, file) in [("base", "snappy"), ("truth", "neighbors")] {
        let bytes = std::fs::read(format!("{folder}/{file}.parquet")).unwrap();
        fixture.write("s", name, &bytes);
    }
    fixture.write("s", "q", &flat(6, 5, &floats(&[0.5; 30])));
    for (width, ids) in [(1, ""), (3, ""), (3, ", ids: id"), (4, "")] {
        let entry = fixture.yaml(
            "s",
            &format!(
                "metric: l2\nelement: f32\ndim: 5\n\
                 base: {{ file: base, format: parquet, dataset: emb, rows: 40 }}\n\
                 queries: {{ file: q, format: fbin, rows: 6 }}\n\
                 truth: {{ file: truth, format: parquet, dataset: neighbors_id, width: {width}{ids} }}\n"
            ),
        );
        let dataset = fixture.open(&entry).unwrap();
        let truth = dataset.shipped_truth().unwrap();
        for q in 0..6 {
            let mut found = truth.row(q).0.to_vec();
            found.sort_unstable();
            let mut first: Vec<u32> = (0..width).map(|k| ((q as u32) * 5 + k * 3) % 40).collect();
            first.sort_unstable();
            assert_eq!(found, first, "query {q}, width {width}");
        }
    }
}
