use super::*;
use crate::args::Permits;
use annbench_dataset::{Activity, Progress};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

fn write(path: &Path, text: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A set of one component and three base rows.
fn set(root: &Path) -> Entry {
    write(&root.join("set/base"), b"\x03\0\0\0\x01\0\0\0abc");
    write(&root.join("set/queries"), b"\x01\0\0\0\x01\0\0\0a");
    let text = "name: set\ndescription: made\nsource: made\nlicence: CC0-1.0\nmetric: l2\n\
        element: u8\ndim: 1\nbase: { file: base, format: u8bin, rows: 3 }\n\
        queries: { file: queries, format: u8bin, rows: 1 }\n";
    write(&root.join("set.yaml"), text.as_bytes());
    Catalogue::new(root).entry("set").unwrap()
}

fn holds(opened: &Opened) -> bool {
    opened.subject().facts.files.iter().all(FileState::holds)
}

#[test]
fn a_file_that_is_replaced_while_it_is_read_is_not_the_one_that_is_watched() {
    for moment in [None, Some(Activity::Fingerprint), Some(Activity::Truth)] {
        let folder = tempfile::tempdir().unwrap();
        let entry = set(folder.path());
        let (base, other) = (folder.path().join("set/base"), folder.path().join("other"));
        write(&other, b"\x03\0\0\0\x01\0\0\0xyz");
        let todo = Mutex::new(moment);
        let watch = |progress: Progress<'_>| {
            let mut todo = todo.lock().unwrap();
            if *todo == Some(progress.activity) {
                std::fs::rename(&other, &base).unwrap();
                *todo = None;
            }
            ControlFlow::Continue(())
        };
        let options = OpenOptions {
            accept_checksum: false,
            narrow: false,
            pool: &rayon::ThreadPoolBuilder::new().build().unwrap(),
            watch: &watch,
        };
        let opened =
            Opened::open(&entry, &Asked::for_scoring(Permits::default(), 1), &options).unwrap();
        assert_eq!(*todo.lock().unwrap(), None, "{moment:?} never came");
        assert_eq!(
            opened.dataset.base().vectors().component_bytes(),
            b"abc",
            "what was mapped stays"
        );
        assert_eq!(holds(&opened), moment.is_none(), "{moment:?}");
    }
}
