//! The entry of a user's own files says what is in them, and nothing that is not.

#![allow(clippy::unwrap_used)]

mod support;

use annbench_core::{ElementType, Metric, Vectors};
use annbench_dataset::{AddError, Added, Format, Own, add};
use std::path::PathBuf;
use support::*;

const N: usize = 200;
const M: usize = 7;
const DIM: usize = 6;
const K: usize = 5;

fn values(n: usize, seed: u64) -> Vec<f32> {
    let raw = bytes(2 * n * DIM, seed);
    raw.chunks(2)
        .map(|pair| f32::from(pair[0]) + f32::from(pair[1]) / 256.0 - 100.0)
        .collect()
}

fn neighbors(metric: Metric, base: &[f32], queries: &[f32]) -> Vec<u32> {
    let (base, queries) = (floats(base), floats(queries));
    let (base, queries): (Vec<f32>, Vec<f32>) = (
        bytemuck::pod_collect_to_vec(&base),
        bytemuck::pod_collect_to_vec(&queries),
    );
    let rows = |data: &'static [f32]| {
        let bytes = bytemuck::cast_slice(data);
        Vectors::from_bytes(bytes, ElementType::F32, data.len() / DIM, DIM).unwrap()
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let go_on = |_, _| std::ops::ControlFlow::Continue(());
    let (base, queries) = (rows(base.leak()), rows(queries.leak()));
    let found = annbench_exact::search(base, queries, metric, K, &pool, &go_on).unwrap();
    found.ids().to_vec()
}

/// A user's folder, apart from the catalogue.
struct User {
    fixture: Fixture,
    folder: PathBuf,
}

impl User {
    fn new() -> Self {
        let fixture = Fixture::new();
        let folder = fixture.root().join("home/mine");
        std::fs::create_dir_all(&folder).unwrap();
        Self { fixture, folder }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        age(&path);
        path
    }

    fn add(&self, own: &Own) -> Result<Added, AddError> {
        add(&self.fixture.catalogue(), own, &self.fixture.options())
    }

    fn refusal(&self, own: &Own) -> String {
        let error = self.add(own).unwrap_err().to_string();
        let name = own.name.as_deref().unwrap_or("mine");
        let entry = self.fixture.root().join(format!("{name}.yaml"));
        assert!(!entry.exists(), "{error}");
        error
    }
}

fn npy_of(values: &[f32]) -> Vec<u8> {
    npy("<f4", (values.len() / DIM, DIM), &floats(values))
}

#[test]
fn npy_files_of_any_names_are_told_apart_by_what_they_hold() {
    for metric in [Metric::L2, Metric::InnerProduct, Metric::Cosine] {
        let user = User::new();
        let (base, queries) = (values(N, 1), values(M, 2));
        let ids = neighbors(metric, &base, &queries);
        let ids: Vec<u8> = ids
            .iter()
            .flat_map(|&id| i64::from(id).to_le_bytes())
            .collect();
        // Named after what they are not.
        let files = vec![
            user.file("queries.npy", &npy_of(&base)),
            user.file("train.npy", &npy("<i8", (M, K), &ids)),
            user.file("neighbors.npy", &npy_of(&queries)),
        ];
        let added = user
            .add(&Own {
                files: files.clone(),
                ..Own::default()
            })
            .unwrap();
        let entry = &added.entry;
        assert_eq!(
            (entry.name.as_str(), entry.metric, entry.element, entry.dim),
            ("mine", metric, ElementType::F32, DIM)
        );
        assert_eq!(entry.base.file, files[0].display().to_string());
        assert_eq!((entry.base.rows, entry.queries.rows), (N, M));
        assert_eq!(entry.queries.file, files[2].display().to_string());
        assert_eq!(entry.truth.as_ref().unwrap().width, K);
        let said = added.inferred.join("\n");
        assert_words(
            &said,
            &[
                "metric: ",
                "in order",
                "different integers",
                "as many rows as the neighbours, 7",
                "the other table",
            ],
        );
        // It is found by its name and opens, its checksums right and its truth not refuted.
        let entry = user.fixture.entry("mine").unwrap();
        assert_eq!(&entry, &added.entry);
        let facts = entry.facts(&entry.base.file);
        assert_eq!(facts.bytes, Some(files[0].metadata().unwrap().len()));
        assert!(facts.sha256.is_some());
        let set = user.fixture.open(&entry).unwrap();
        let truth = set.shipped_truth().unwrap();
        assert!(truth.sampled_queries() > 0 && truth.refuted().is_none());
        // A second time there is one already.
        let again = user
            .add(&Own {
                files,
                ..Own::default()
            })
            .unwrap_err();
        assert!(matches!(again, AddError::Exists { .. }), "{again}");
        assert_words(&again.to_string(), &["mine.yaml", "--name"]);
    }
}

/// base, queries, learn and neighbours, in any order: only the neighbours tell base and learn apart.
#[test]
fn texmex_files_with_learn_vectors() {
    let user = User::new();
    let (base, queries, learn) = (values(N, 3), values(M, 4), values(N + 50, 5));
    let ids = neighbors(Metric::L2, &base, &queries);
    let fvecs = |values: &[f32]| texmex(DIM, 4 * DIM, &floats(values));
    let files = vec![
        user.file("a", &fvecs(&learn)),
        user.file("b", &texmex(K, 4 * K, &words(&ids))),
        user.file("c", &fvecs(&queries)),
        user.file("d", &fvecs(&base)),
    ];
    let own = Own {
        files: files.clone(),
        name: Some("tex".to_owned()),
        ..Own::default()
    };
    let added = user.add(&own).unwrap();
    let entry = &added.entry;
    assert_eq!(entry.base.file, files[3].display().to_string());
    assert_eq!(entry.base.format, Format::Fvecs);
    assert_eq!(entry.truth.as_ref().unwrap().format, Format::Ivecs);
    assert_eq!(entry.metric, Metric::L2);
    user.fixture.open(entry).unwrap();
    // Without the neighbours, nothing does.
    let refusal = user.refusal(&Own {
        files: vec![files[0].clone(), files[2].clone(), files[3].clone()],
        metric: Some(Metric::L2),
        ..Own::default()
    });
    assert_words(&refusal, &["--base", "200 rows of 6", "250 rows of 6"]);
    let added = user
        .add(&Own {
            files: vec![files[0].clone(), files[2].clone(), files[3].clone()],
            name: Some("told".to_owned()),
            metric: Some(Metric::L2),
            base: Some("d".to_owned()),
            queries: Some("c".to_owned()),
            ..Own::default()
        })
        .unwrap();
    assert!(added.entry.truth.is_none());
    user.fixture.open(&added.entry).unwrap();
}

#[test]
fn an_hdf5_file_of_ann_benchmarks() {
    let user = User::new();
    let path = user.folder.join("glove-mini.hdf5");
    let (base, queries) = (values(N, 6), values(M, 7));
    let ids = neighbors(Metric::Cosine, &base, &queries);
    let file = hdf5_metno::File::create(&path).unwrap();
    let table = |name: &str, values: &[f32], width: usize| {
        let shape = (values.len() / width, width);
        let dataset = file.new_dataset::<f32>().shape(shape).create(name).unwrap();
        dataset.write_raw(values).unwrap();
    };
    table("train", &base, DIM);
    table("test", &queries, DIM);
    table("distances", &[0.5; M * K], K);
    let ids: Vec<i32> = ids.iter().map(|&id| id as i32).collect();
    let dataset = file
        .new_dataset::<i32>()
        .shape((M, K))
        .create("neighbors")
        .unwrap();
    dataset.write_raw(&ids).unwrap();
    drop(dataset);
    drop(file);
    age(&path);
    let added = user
        .add(&Own {
            files: vec![path],
            ..Own::default()
        })
        .unwrap();
    let entry = &added.entry;
    assert_eq!(entry.name, "glove-mini");
    assert_eq!(entry.metric, Metric::Cosine);
    assert_eq!(entry.base.hdf5_dataset.as_deref(), Some("train"));
    assert_eq!(entry.queries.hdf5_dataset.as_deref(), Some("test"));
    let truth = entry.truth.as_ref().unwrap();
    assert_eq!(
        (truth.hdf5_dataset.as_deref(), truth.width),
        (Some("neighbors"), K)
    );
    assert_eq!(entry.files.len(), 1);
    assert_words(
        &added.inferred.join("\n"),
        &["distances, which are never used"],
    );
    user.fixture.open(entry).unwrap();
}

#[test]
fn what_cannot_be_told_is_asked_for() {
    let user = User::new();
    let base = user.file("base.npy", &npy_of(&values(N, 1)));
    let queries = user.file("q.npy", &npy_of(&values(M, 2)));
    let own = |files: &[&PathBuf]| Own {
        files: files.iter().map(|&file| file.clone()).collect(),
        ..Own::default()
    };
    assert_words(
        &user.refusal(&own(&[&base, &queries])),
        &["--metric", "l2, inner_product, cosine"],
    );
    assert_words(&user.refusal(&own(&[&base])), &["--queries", "hold"]);
    let same = user.file("same.npy", &npy_of(&values(N, 9)));
    assert_words(
        &user.refusal(&own(&[&base, &same])),
        &["--base", "--queries"],
    );
    // Signed or not, the bytes do not tell.
    let b = user.file("b", &flat(9, 4, &bytes(36, 1)));
    let q = user.file("q", &flat(2, 4, &bytes(8, 2)));
    let metric = Some(Metric::L2);
    assert_words(
        &user.refusal(&Own {
            metric,
            ..own(&[&b, &q])
        }),
        &["--element u8 or --element i8"],
    );
    let signed = Own {
        metric,
        element: Some(ElementType::I8),
        name: Some("signed".to_owned()),
        ..own(&[&b, &q])
    };
    let added = user.add(&signed).unwrap();
    assert_eq!(added.entry.base.format, Format::I8bin);
    user.fixture.open(&added.entry).unwrap();
    let bits = Own {
        element: Some(ElementType::Bits),
        ..own(&[&b, &q])
    };
    assert_words(&user.refusal(&bits), &["--dim"]);
    let bits = Own {
        dim: Some(30),
        ..bits
    };
    assert_words(&user.refusal(&bits), &["--metric", "hamming, jaccard"]);
    let bad = Own {
        dim: Some(33),
        ..bits
    };
    assert_words(&user.refusal(&bad), &["--dim 33", "4 to 32"]);
    let metric = Own {
        metric: Some(Metric::Hamming),
        ..own(&[&base, &queries])
    };
    assert_words(
        &user.refusal(&metric),
        &["--metric hamming", "not defined on f32"],
    );
    let lost = Own {
        base: Some("nowhere".to_owned()),
        ..own(&[&base, &queries])
    };
    assert_words(
        &user.refusal(&lost),
        &["--base nowhere", "base.npy (200 rows of 6 f32)"],
    );
    let named = Own {
        name: Some("../x".to_owned()),
        ..own(&[&base, &queries])
    };
    assert_words(
        &user.add(&named).unwrap_err().to_string(),
        &["--name", "../x"],
    );
}

#[test]
fn neighbours_that_are_of_no_metric_or_of_several_decide_nothing() {
    let user = User::new();
    let (base, queries) = (values(N, 1), values(M, 2));
    let mut ids = neighbors(Metric::L2, &base, &queries);
    ids[..K].reverse();
    let files = vec![
        user.file("base.npy", &npy_of(&base)),
        user.file("q.npy", &npy_of(&queries)),
        user.file("t.ibin", &flat(M, K, &words(&ids))),
    ];
    let own = Own {
        files,
        ..Own::default()
    };
    assert_words(
        &user.refusal(&own),
        &["under no metric", "--metric", "--without-truth"],
    );
    let added = user
        .add(&Own {
            metric: Some(Metric::L2),
            ..own.clone()
        })
        .unwrap();
    assert_eq!(added.entry.metric, Metric::L2);
    std::fs::remove_file(added.path).unwrap();
    // Of norm one, all three order alike.
    let unit = |values: Vec<f32>| -> Vec<f32> {
        let rows = values.chunks(DIM).flat_map(|row| {
            let norm = row.iter().map(|v| v * v).sum::<f32>().sqrt();
            row.iter().map(move |v| v / norm).collect::<Vec<_>>()
        });
        rows.collect()
    };
    let (base, queries) = (unit(base), unit(queries));
    let ids = neighbors(Metric::L2, &base, &queries);
    user.file("base.npy", &npy_of(&base));
    user.file("q.npy", &npy_of(&queries));
    user.file("t.ibin", &flat(M, K, &words(&ids)));
    assert_words(
        &user.refusal(&own),
        &["more than one metric", "cosine in", "--metric"],
    );
}

#[test]
fn what_is_no_vectors_is_named() {
    let user = User::new();
    let one = |name: &str, bytes: &[u8]| Own {
        files: vec![user.file(name, bytes)],
        ..Own::default()
    };
    assert_words(
        &user.refusal(&Own {
            name: Some("mine".into()),
            ..one("x.bin", b"<!DOCTYPE html>")
        }),
        &["HTML"],
    );
    assert_words(
        &user.refusal(&Own {
            name: Some("mine".into()),
            ..one("y.bin", &[1, 2, 3])
        }),
        &["3 bytes", "numpy.save"],
    );
    let missing = Own {
        files: vec![user.folder.join("none.npy")],
        ..Own::default()
    };
    assert_words(&user.refusal(&missing), &["none.npy"]);
}

/// A file of vectors and a file of neighbours, as VectorDBBench has them.
#[test]
fn columns_of_parquet_files_become_a_set() {
    let fixture = Fixture::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/parquet");
    let base = fixture.write(
        "p",
        "base",
        &std::fs::read(format!("{folder}/snappy.parquet")).unwrap(),
    );
    let truth = fixture.write(
        "p",
        "truth",
        &std::fs::read(format!("{folder}/neighbors.parquet")).unwrap(),
    );
    let queries = fixture.write("p", "q", &flat(6, 5, &floats(&[0.5; 30])));
    let own = annbench_dataset::Own {
        files: vec![truth, queries, base],
        name: Some("p".to_owned()),
        metric: Some(annbench_core::Metric::L2),
        ..Default::default()
    };
    let added = annbench_dataset::add(&fixture.catalogue(), &own, &fixture.options()).unwrap();
    let entry = &added.entry;
    let columns = (&entry.base.hdf5_dataset, &entry.base.ids);
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(columns, (&name("emb"), &name("id")));
    assert_eq!((entry.n(), entry.dim, entry.queries.n()), (40, 5, 6));
    let shipped = entry.truth.as_ref().unwrap();
    assert_eq!(
        (&shipped.hdf5_dataset, &shipped.ids, shipped.width),
        (&name("neighbors_id"), &name("id"), 4)
    );
    assert!(added.inferred.iter().any(|line| line.contains("by `id`")));
    fixture.open(entry).unwrap();
}

#[test]
fn a_file_that_is_not_used_is_named_with_the_reason() {
    for (name, change, reason) in [
        // The farthest neighbours become rows that the base does not have, or the last of them does.
        ("one", 1i64, "ids that count from 1; subtract 1"),
        ("large", 1_000, "neighbours in a larger base"),
        ("low", -1, "go down to -1"),
    ] {
        let user = User::new();
        let (base, queries) = (values(N, 1), values(M, 2));
        let mut ids: Vec<i64> = (0..M * K)
            .map(|i| {
                if i % K == 0 {
                    0
                } else {
                    (i * 31 % (N - 1)) as i64 + 1
                }
            })
            .collect();
        ids[1] = N as i64 - 1;
        let ids: Vec<u8> = ids
            .iter()
            .flat_map(|id| (id + change).to_le_bytes())
            .collect();
        let truth = user.file("gt.npy", &npy("<i8", (M, K), &ids));
        let files = vec![
            user.file("base.npy", &npy_of(&base)),
            user.file("queries.npy", &npy_of(&queries)),
            truth.clone(),
        ];
        let own = Own {
            files,
            name: Some(name.to_owned()),
            metric: Some(Metric::L2),
            ..Own::default()
        };
        let named = Own {
            truth: Some(truth.display().to_string()),
            ..own.clone()
        };
        assert_words(&user.refusal(&named), &["--truth", reason]);
        let added = user.add(&own).unwrap();
        let said = added.inferred.join("\n");
        assert_words(&said, &["NOT USED: ", "gt.npy", reason]);
        assert!(added.entry.truth.is_none());
    }
}

#[test]
fn a_table_may_be_named_by_any_path_to_its_file() {
    let user = User::new();
    let base = user.file("base.npy", &npy_of(&values(N, 1)));
    let queries = user.file("queries.npy", &npy_of(&values(M, 2)));
    let roundabout = user.folder.join("../mine/./queries.npy");
    let added = user
        .add(&Own {
            files: vec![base, queries],
            queries: Some(roundabout.display().to_string()),
            metric: Some(Metric::L2),
            ..Own::default()
        })
        .unwrap();
    assert_words(
        &added.inferred.join("\n"),
        &["queries.npy, as --queries says"],
    );
}
