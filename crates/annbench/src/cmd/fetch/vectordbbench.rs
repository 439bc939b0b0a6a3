//! The files of VectorDBBench: parquet, for which there are no entries yet. They are downloaded only.

use super::plan::{Mirrors, Set, Wanted, Way};
use annbench_fetch::{Download, Expected};
use std::path::Path;

/// The bucket, which is public without an account.
const BUCKET: &str = "https://s3.us-west-2.amazonaws.com/assets.zilliz.com/benchmark";

/// Folder, files that the base is split into, whether they are shuffled, whether there is truth.
const FOLDERS: [(&str, u32, bool, bool); 14] = [
    ("cohere_small_100k", 1, true, true),
    ("cohere_medium_1m", 1, true, true),
    ("cohere_large_10m", 10, true, true),
    ("openai_small_50k", 1, true, true),
    ("openai_medium_500k", 1, true, true),
    ("openai_large_5m", 10, true, true),
    ("bioasq_medium_1m", 1, true, true),
    ("bioasq_large_10m", 10, true, true),
    ("laion_large_100m", 100, false, true),
    ("gist_small_100k", 1, false, false),
    ("gist_medium_1m", 1, false, false),
    ("sift_small_500k", 1, false, false),
    ("sift_medium_5m", 1, false, false),
    ("glove_medium_1m", 1, false, false),
];

/// The set of that name, whose files belong below `datasets`.
pub fn set(name: &str, datasets: &Path, mirrors: &Mirrors<'_>) -> Option<Set> {
    let (folder, parts, shuffled, truth) = *FOLDERS.iter().find(|(folder, ..)| *folder == name)?;
    let base = if shuffled { "shuffle_train" } else { "train" };
    let mut names: Vec<String> = match parts {
        1 => vec![format!("{base}.parquet")],
        _ => (0..parts)
            .map(|part| format!("{base}-{part:02}-of-{parts}.parquet"))
            .collect(),
    };
    if truth {
        names.extend(["test.parquet", "neighbors.parquet"].map(str::to_owned));
    }
    let files = names.into_iter().map(|file| {
        let belongs = datasets.join("downloads").join(folder).join(&file);
        let way = match belongs.metadata() {
            Ok(facts) if facts.is_file() => Way::Here {
                path: belongs.clone(),
                bytes: facts.len(),
            },
            _ => match mirrors.sources(&format!("{BUCKET}/{folder}/{file}"), &file) {
                Ok(sources) => Way::Download {
                    download: Download {
                        file: belongs.clone(),
                        sources,
                        expected: Expected::default(),
                        cut: None,
                    },
                    first: None,
                },
                Err(bad) => Way::ByHand {
                    why: bad.to_string(),
                },
            },
        };
        Wanted { file, belongs, way }
    });
    Some(Set {
        name: folder.to_owned(),
        source: "VectorDBBench, parquet files for which there is no entry yet; neither sizes nor checksums \
                 are published"
            .to_owned(),
        licence: "None is named".to_owned(),
        files: files.collect(),
        archives: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_those_of_the_publisher() {
        let names = |name| -> Vec<String> {
            let set = set(name, Path::new("datasets"), &Mirrors::new(&[])).unwrap();
            set.files.into_iter().map(|file| file.file).collect()
        };
        assert_eq!(
            names("openai_small_50k"),
            ["shuffle_train.parquet", "test.parquet", "neighbors.parquet"]
        );
        assert_eq!(names("gist_small_100k"), ["train.parquet"]);
        let large = names("cohere_large_10m");
        assert_eq!(
            (large.len(), large[9].as_str()),
            (12, "shuffle_train-09-of-10.parquet")
        );
        assert_eq!(names("laion_large_100m")[99], "train-99-of-100.parquet");
        assert!(set("tiny", Path::new("datasets"), &Mirrors::new(&[])).is_none());
    }
}
