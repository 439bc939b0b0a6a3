//! Every file of configs/ is read, and every campaign there is planned.

use annbench_config::{Campaign, DatasetShape, Document, Filter, Job, Sweep, plan};
use annbench_core::{ElementType, Metric};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).expect(name)
}

fn shape(name: &str, n: usize, dim: usize) -> DatasetShape {
    DatasetShape {
        name: name.to_owned(),
        metric: Metric::L2,
        element: ElementType::F32,
        n,
        queries: 1000,
        dim,
    }
}

fn sweeps_of(campaign: &Campaign) -> Vec<Sweep> {
    campaign
        .sweep_files()
        .map(|file| Sweep::parse(file, &read(file)).unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

fn jobs(file: &str, shape: &DatasetShape) -> Vec<Job> {
    let campaign = match Document::parse(file, &read(file)) {
        Ok(Document::Campaign(campaign)) => campaign,
        Ok(Document::Sweep(sweep)) => {
            let campaign = Campaign::of_sweep(&sweep);
            return plan(&campaign, &[sweep], shape, &Filter::default())
                .unwrap_or_else(|error| panic!("{error}"))
                .jobs;
        }
        Err(error) => panic!("{error}"),
    };
    plan(&campaign, &sweeps_of(&campaign), shape, &Filter::default())
        .unwrap_or_else(|error| panic!("{error}"))
        .jobs
}

#[test]
fn every_file_plans_for_every_kind_of_dataset() {
    let shapes = [
        shape("siftimg-50k-128-euclidean", 50_000, 128),
        shape("siftsmall", 10_000, 128),
        shape("mnist10k-784-euclidean", 10_000, 784),
        shape("sift-128-euclidean", 1_000_000, 128),
        shape("gist-960-euclidean", 1_000_000, 960),
        shape("glove-100-angular", 1_183_514, 100),
        shape("deep-image-96-angular", 9_990_000, 96),
    ];
    let mut files = 0;
    for entry in std::fs::read_dir(folder()).expect("configs/") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("UTF-8");
        if !name.ends_with(".yaml") {
            continue;
        }
        files += 1;
        for shape in &shapes {
            let jobs = jobs(&name, shape);
            assert!(
                jobs.iter()
                    .any(|job| job.points.iter().any(|point| point.refused.is_none()))
            );
            for job in jobs {
                product_quantisers_divide(&job, shape);
            }
        }
    }
    assert!(files >= 5, "{files}");
}

/// `PQ64x4fs` splits the components into 64 equal parts; the last override for a set must fit it.
fn product_quantisers_divide(job: &Job, shape: &DatasetShape) {
    let Some(index) = job.build.get("index").map(ToString::to_string) else {
        return;
    };
    for part in index.split(',').filter_map(|part| part.strip_prefix("PQ")) {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        let parts: usize = digits.parse().expect(&index);
        assert_eq!(shape.dim % parts, 0, "{index} on {}", shape.name);
    }
}

/// FAISS has other indexes for bits than for floats: what the sweep leaves over must be of the right
/// kind, since a wrong one would be refused by the adapter, point by point.
#[test]
fn indexes_of_bits_and_of_floats_are_kept_apart() {
    let floats = shape("sift-128-euclidean", 1_000_000, 128);
    let bits = DatasetShape {
        metric: Metric::Hamming,
        element: ElementType::Bits,
        ..shape("orbimg-50k-256-hamming", 50_000, 256)
    };
    let jaccard = DatasetShape {
        metric: Metric::Jaccard,
        ..bits.clone()
    };
    let running = |file: &str, shape: &DatasetShape| -> Vec<Job> {
        let runs = |job: &Job| job.points.iter().any(|point| point.refused.is_none());
        jobs(file, shape).into_iter().filter(runs).collect()
    };
    for (shape, of_bits) in [(&floats, false), (&bits, true)] {
        let faiss = running("faiss.yaml", shape);
        assert!(!faiss.is_empty());
        for job in faiss {
            let index = job.build.get("index").expect("an index").to_string();
            assert_eq!(index.starts_with('B'), of_bits, "{index} on {}", shape.name);
        }
    }
    assert!(running("faiss.yaml", &jaccard).is_empty());
    for (shape, there) in [(&floats, false), (&bits, true), (&jaccard, true)] {
        let hnsw_rs = running("hnsw_rs.yaml", shape);
        assert!(!hnsw_rs.is_empty());
        let found = hnsw_rs.iter().any(|job| job.group == "bits");
        assert_eq!(found, there, "{} {}", shape.metric, shape.name);
    }
}

#[test]
fn the_quickstart_has_a_curve_per_library() {
    let shape = shape("siftimg-50k-128-euclidean", 50_000, 128);
    let jobs = jobs("quickstart.yaml", &shape);
    let curves: Vec<(&str, String, usize)> = jobs
        .iter()
        .map(|job| {
            (
                job.adapter.as_str(),
                job.build.to_string(),
                job.points.len(),
            )
        })
        .collect();
    assert_eq!(
        curves,
        [
            ("exact", String::new(), 1),
            ("faiss", "ef_construction=200 index=HNSW16".to_owned(), 8),
            ("faiss", "index=IVF447,Flat".to_owned(), 8),
            ("hnsw_rs", "ef_construction=200 m=16".to_owned(), 8),
        ]
    );
    assert!(
        jobs.iter()
            .all(|job| job.points.iter().all(|point| point.refused.is_none()))
    );
}
