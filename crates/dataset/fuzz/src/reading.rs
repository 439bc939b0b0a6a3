//! Any bytes, read as every format that a dataset may have.

use annbench_dataset::{
    AuditDepth, Catalogue, Dataset, Entry, IdList, OpenOptions, Own, Qrels, RangeTruth, SparseRows,
    add, audit,
};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Rows and components of the seeds, which entries say of everything.
pub const ROWS: usize = 6;
pub const DIM: usize = 5;

/// A catalogue whose sets have one and the same file for everything.
pub struct Reading {
    folder: tempfile::TempDir,
    pool: rayon::ThreadPool,
}

impl Reading {
    /// In a folder of its own.
    pub fn new() -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir_all(folder.path().join("downloads/it"))?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        Ok(Self {
            folder,
            pool: pool.map_err(std::io::Error::other)?,
        })
    }

    /// Reads `bytes` in every way that `format` can be read in. Says how many ways took them.
    pub fn read(&self, format: &str, bytes: &[u8]) -> std::io::Result<usize> {
        let file = self.file();
        std::fs::write(&file, bytes)?;
        let taken = match format {
            "rangeres" => usize::from(RangeTruth::read(&file, ROWS).is_ok()),
            "spmat" => usize::from(SparseRows::read(&file).is_ok()),
            "qrels" => self.judgements(),
            "entry" => self.entry(bytes)?,
            _ => {
                let opened = self
                    .entries(format)
                    .iter()
                    .filter(|yaml| self.open(yaml))
                    .count();
                opened + self.added()
            }
        };
        // What is kept of one input is nothing to the next.
        let _ = std::fs::remove_dir_all(self.folder.path().join(".cache"));
        Ok(taken)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("downloads/it/it")
    }

    fn options(&self) -> OpenOptions<'_> {
        OpenOptions {
            accept_checksum: false,
            narrow: false,
            pool: &self.pool,
            watch: &|_| ControlFlow::Continue(()),
        }
    }

    fn judgements(&self) -> usize {
        let (list, qrels) = (IdList::read(&self.file(), 3), Qrels::read(&self.file()));
        if let (Ok(list), Ok(qrels)) = (&list, &qrels) {
            let _ = qrels.resolve(list, list);
        }
        usize::from(list.is_ok()) + usize::from(qrels.is_ok())
    }

    fn entry(&self, bytes: &[u8]) -> std::io::Result<usize> {
        let path = self.folder.path().join("it.yaml");
        std::fs::write(&path, bytes)?;
        let read = Catalogue::new(self.folder.path()).entry("it");
        if let Ok(entry) = &read {
            self.open_entry(entry);
            // What is written of it is the same entry.
            std::fs::write(&path, entry.to_yaml())?;
            let again = Catalogue::new(self.folder.path()).entry("it");
            assert_eq!(again.ok().as_ref(), Some(entry), "{}", entry.to_yaml());
        }
        Ok(usize::from(read.is_ok()))
    }

    /// Whether the set opens; its truth is audited too, for that is read where it is wrong.
    fn open(&self, yaml: &str) -> bool {
        let path = self.folder.path().join("it.yaml");
        let head = "name: it\ndescription: any\nsource: any\nlicence: any\n";
        if std::fs::write(&path, format!("{head}{yaml}")).is_err() {
            return false;
        }
        match Catalogue::new(self.folder.path()).entry("it") {
            Ok(entry) => self.open_entry(&entry),
            // The entry is this file's own.
            Err(error) => panic!("{error}"),
        }
    }

    fn open_entry(&self, entry: &Entry) -> bool {
        let opened = Dataset::open(entry, &self.options()).is_ok();
        if entry.truth.is_some() {
            let _ = audit(entry, AuditDepth::Queries(1), &self.options());
        }
        opened
    }

    /// Whether a name and a metric are enough to tell what the file holds.
    fn added(&self) -> usize {
        let own = Own {
            files: vec![self.file()],
            name: Some("added".to_owned()),
            metric: Some(annbench_core::Metric::L2),
            ..Own::default()
        };
        let added = add(&Catalogue::new(self.folder.path()), &own, &self.options());
        let _ = std::fs::remove_file(self.folder.path().join("added.yaml"));
        usize::from(added.is_ok())
    }

    fn entries(&self, format: &str) -> Vec<String> {
        let part = |format: &str, dataset: &str, more: &str| {
            let inside = match format {
                "hdf5" | "parquet" => format!("dataset: {dataset}, "),
                _ => String::new(),
            };
            format!("{{ file: it, format: {format}, {inside}{more} }}")
        };
        let set = |format: &str, element: &str, rows: &str| {
            let metric = match element {
                "bits" => "hamming",
                "sets" => "jaccard",
                _ => "l2",
            };
            let (base, queries) = match format {
                "hdf5" => ("train", "test"),
                _ => ("emb", "emb"),
            };
            format!(
                "metric: {metric}\nelement: {element}\ndim: {DIM}\nbase: {}\nqueries: {}\n",
                part(format, base, rows),
                part(format, queries, rows)
            )
        };
        // The seeds of parquet are the fixtures of its tests.
        let all = if format == "parquet" { 40 } else { ROWS };
        let rows = format!("rows: {all}");
        let first = format!("rows: {all}, take_first: 2");
        let numbered = format!("rows: {all}, ids: id");
        let truth = |format: &str, dataset: &str| {
            let truth = part(format, dataset, "width: 3");
            format!("truth: {truth}\n")
        };
        match format {
            "texmex" => vec![
                set("fvecs", "f32", &rows),
                set("fvecs", "f32", &first),
                set("bvecs", "u8", &rows),
            ],
            "flat" => vec![
                set("fbin", "f32", &rows),
                set("fbin", "f32", &first),
                set("f16bin", "f16", &rows),
                set("u8bin", "u8", &rows),
                set("i8bin", "i8", &rows),
                set("u8bin", "bits", &rows),
            ],
            "npy" => vec![
                set("npy", "f32", &rows),
                set("npy", "u8", &first),
                set("npy", "bits", &rows),
            ],
            "hdf5" => vec![
                set("hdf5", "f32", &rows) + &truth("hdf5", "neighbors"),
                set("hdf5", "u8", &first),
                set("hdf5", "sets", &rows),
            ],
            "parquet" => vec![
                set("parquet", "f32", &numbered),
                set("parquet", "f32", &rows) + &truth("parquet", "emb"),
                set("parquet", "f32", &first),
            ],
            _ => {
                // Vectors that are sound, so that neighbours are read.
                let values = [0.5f32; ROWS * DIM];
                let values = values.iter().flat_map(|value| value.to_le_bytes());
                let head = [ROWS as u32, DIM as u32].map(u32::to_le_bytes).concat();
                let flat: Vec<u8> = head.into_iter().chain(values).collect();
                let _ = std::fs::write(self.file().with_file_name("sound"), flat);
                let sound = set("fbin", "f32", &rows).replace("file: it", "file: sound");
                ["ivecs", "ibin", "bigann_truth", "npy"]
                    .map(|format| sound.clone() + &truth(format, ""))
                    .to_vec()
            }
        }
    }
}
