//! The bases of VectorDBBench that have neither queries nor neighbours, so that there can be no entries
//! for them. They are downloaded only.

use super::plan::{Mirrors, Set, Wanted, Way};
use annbench_fetch::{Download, Expected};
use std::path::Path;

/// The bucket, which is public without an account.
const BUCKET: &str = "https://s3.us-west-2.amazonaws.com/assets.zilliz.com/benchmark";

/// Its folders that have no more than a base.
const FOLDERS: [&str; 5] = [
    "gist_small_100k",
    "gist_medium_1m",
    "sift_small_500k",
    "sift_medium_5m",
    "glove_medium_1m",
];

const FILE: &str = "train.parquet";

/// The set of that name, whose file belongs below `datasets`.
pub fn set(name: &str, datasets: &Path, mirrors: &Mirrors<'_>) -> Option<Set> {
    let folder = *FOLDERS.iter().find(|folder| **folder == name)?;
    let belongs = datasets.join("downloads").join(folder).join(FILE);
    let way = match belongs.metadata() {
        Ok(facts) if facts.is_file() => Way::Here {
            path: belongs.clone(),
            bytes: facts.len(),
        },
        _ => match mirrors.sources(&format!("{BUCKET}/{folder}/{FILE}"), &[], FILE) {
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
    Some(Set {
        name: folder.to_owned(),
        source: "VectorDBBench, a base without queries and neighbours, for which there is no entry; neither size nor \
                 checksum is published"
            .to_owned(),
        licence: "None is named".to_owned(),
        files: vec![Wanted {
            file: FILE.to_owned(),
            belongs,
            way,
        }],
        archives: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_alone_have_one_file() {
        let set = |name| set(name, Path::new("datasets"), &Mirrors::new(&[]));
        let files = set("gist_small_100k").unwrap().files;
        assert_eq!(files.len(), 1);
        assert!(
            files[0]
                .belongs
                .ends_with("downloads/gist_small_100k/train.parquet")
        );
        // These have an entry.
        assert!(set("openai_small_50k").is_none());
        assert!(set("tiny").is_none());
    }
}
