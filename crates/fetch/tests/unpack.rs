//! What is taken out of packed files, and what is not.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_fetch::{Expected, Member, Packing, UnpackError, UnpackLimits, Unpacked, unpack};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use support::{content, known, sha256};
use tar::{Builder, EntryType, Header};

const LIMITS: UnpackLimits = UnpackLimits { most: 1 << 30 };

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A tar file of members with these names, as they are written, and contents.
fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, bytes) in members {
        builder
            .append(&header(name, EntryType::Regular, bytes.len()), *bytes)
            .unwrap();
    }
    builder.into_inner().unwrap()
}

fn header(name: &str, kind: EntryType, size: usize) -> Header {
    let mut header = Header::new_gnu();
    // Past the checks of the crate that writes, which would not write such names.
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.as_gnu_mut().unwrap().set_real_size(size as u64);
    header.set_size(size as u64);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

struct Case {
    folder: tempfile::TempDir,
    archive: PathBuf,
}

impl Case {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join(name);
        std::fs::write(&archive, bytes).unwrap();
        Self { folder, archive }
    }

    fn place(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn member(&self, name: &str, expected: Expected) -> Member {
        Member {
            name: name.to_owned(),
            file: self.place().join(name),
            expected,
        }
    }

    fn unpack(&self, members: &[Member]) -> Result<Vec<Unpacked>, UnpackError> {
        self.unpack_within(members, LIMITS)
    }

    fn unpack_within(
        &self,
        members: &[Member],
        limits: UnpackLimits,
    ) -> Result<Vec<Unpacked>, UnpackError> {
        let packing = Packing::of(self.archive.to_str().unwrap()).unwrap();
        let running = AtomicBool::new(false);
        unpack(&self.archive, packing, members, limits, &running, &|_| {})
    }

    /// What `members` fail with, leaving nothing anywhere.
    fn refusal(&self, members: &[Member]) -> UnpackError {
        self.refusal_within(members, LIMITS)
    }

    fn refusal_within(&self, members: &[Member], limits: UnpackLimits) -> UnpackError {
        let error = self.unpack_within(members, limits).unwrap_err();
        let left = files(self.folder.path());
        assert_eq!(left.len(), 1, "{error}: {left:?}");
        let text = error.to_string();
        assert!(text.contains(self.archive.to_str().unwrap()), "{text}");
        assert!(
            text.contains("expected") && text.contains("found"),
            "{text}"
        );
        error
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn only_wanted_members_come_out() {
    let (base, query, learn) = (content(50_000), content(900), content(70_000));
    let packed = tar(&[
        ("./sift/sift_learn.fvecs", &learn),
        ("sift/sift_base.fvecs", &base),
        ("sift/sift_query.fvecs", &query),
    ]);
    for (name, bytes) in [("sift.tar.gz", gz(&packed)), ("sift.tar", packed.clone())] {
        let case = Case::new(name, &bytes);
        let members = [
            case.member("sift_query.fvecs", Expected::default()),
            case.member("sift_base.fvecs", known(&base)),
        ];
        let unpacked = case.unpack(&members).unwrap();
        assert_eq!(std::fs::read(&members[0].file).unwrap(), query);
        assert_eq!(std::fs::read(&members[1].file).unwrap(), base);
        assert_eq!(files(&case.place()).len(), 2);
        let of_base = unpacked.iter().find(|u| u.file == members[1].file).unwrap();
        assert_eq!(of_base.sha256, sha256(&base));
        assert!(of_base.compared);
    }
}

#[test]
fn a_file_alone_comes_out_of_a_gzip_of_several_parts() {
    let bytes = content(90_000);
    let packed = [gz(&bytes[..40_000]), gz(&bytes[40_000..])].concat();
    let case = Case::new("base.bvecs.gz", &packed);
    let member = case.member("base.bvecs", known(&bytes));
    case.unpack(std::slice::from_ref(&member)).unwrap();
    assert_eq!(std::fs::read(&member.file).unwrap(), bytes);
}

#[test]
fn members_that_lead_elsewhere_are_refused() {
    let good = content(100);
    let mut cases = Vec::new();
    for name in ["../base", "/tmp/base", "a/../../base", "a/.."] {
        cases.push((name.to_owned(), tar(&[("base", &good), (name, b"evil")])));
    }
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::GNUSparse,
        EntryType::new(b'Z'),
    ] {
        let mut builder = Builder::new(Vec::new());
        builder
            .append(&header("base", EntryType::Regular, 100), &good[..])
            .unwrap();
        let mut odd = header("odd", kind, 0);
        odd.set_link_name("/etc/passwd").unwrap();
        odd.set_cksum();
        builder.append(&odd, &b""[..]).unwrap();
        cases.push((format!("{kind:?}"), builder.into_inner().unwrap()));
    }
    for (what, packed) in cases {
        let case = Case::new("a.tar.gz", &gz(&packed));
        let error = case.refusal(&[case.member("base", known(&good))]);
        assert!(
            matches!(error, UnpackError::Unsafe { .. }),
            "{what}: {error}"
        );
    }
}

#[test]
fn a_torn_archive_gives_nothing() {
    let bytes = content(50_000);
    let packed = gz(&tar(&[("base", &bytes)]));
    for length in [0, 5, 1_000, 40_000, packed.len() - 4] {
        let case = Case::new("a.tar.gz", &packed[..length]);
        let error = case.refusal(&[case.member("base", known(&bytes))]);
        let broken = matches!(
            error,
            UnpackError::Broken { .. } | UnpackError::Missing { .. }
        );
        assert!(broken, "{length}: {error}");
    }
    let single = gz(&bytes);
    for length in [0, 5, 1_000, single.len() - 4] {
        let case = Case::new("a.gz", &single[..length]);
        let error = case.refusal(&[case.member("base", Expected::default())]);
        assert!(
            matches!(error, UnpackError::Broken { .. }),
            "{length}: {error}"
        );
    }
}

#[test]
fn damage_after_the_wanted_member_is_noticed() {
    let bytes = content(5_000);
    let mut packed = gz(&tar(&[("base", &bytes), ("learn", &content(50_000))]));
    let at = packed.len() - 6;
    packed[at] ^= 1;
    let case = Case::new("a.tar.gz", &packed);
    let error = case.refusal(&[case.member("base", known(&bytes))]);
    assert!(matches!(error, UnpackError::Broken { .. }), "{error}");
}

#[test]
fn what_expands_without_bound_is_stopped() {
    let limits = UnpackLimits { most: 1 << 20 };
    let zeros = vec![0; 8 << 20];
    let bytes = content(100);
    // In a member that is not wanted, in one that is, and in a file alone.
    let case = Case::new(
        "a.tar.gz",
        &gz(&tar(&[("other", &zeros), ("base", &bytes)])),
    );
    let error = case.refusal_within(&[case.member("base", known(&bytes))], limits);
    assert!(
        matches!(
            error,
            UnpackError::TooMuch {
                most: 1_048_576,
                ..
            }
        ),
        "{error}"
    );
    let case = Case::new("a.tar.gz", &gz(&tar(&[("base", &zeros)])));
    let error = case.refusal_within(&[case.member("base", Expected::default())], limits);
    assert!(matches!(error, UnpackError::TooMuch { .. }), "{error}");
    let case = Case::new("a.gz", &gz(&zeros));
    let error = case.refusal_within(&[case.member("base", Expected::default())], limits);
    assert!(matches!(error, UnpackError::TooMuch { .. }), "{error}");
    let error = case.refusal(&[case.member("base", known(&bytes))]);
    assert!(matches!(error, UnpackError::Member { .. }), "{error}");
}

#[test]
fn a_long_name_is_not_read_without_bound() {
    // A name of 4 MiB, as GNU tar writes long ones.
    let mut builder = Builder::new(Vec::new());
    let name = vec![b'a'; 4 << 20];
    let long = header("././@LongLink", EntryType::GNULongName, name.len());
    builder.append(&long, &name[..]).unwrap();
    builder
        .append(&header("base", EntryType::Regular, 3), &b"abc"[..])
        .unwrap();
    let case = Case::new("a.tar.gz", &gz(&builder.into_inner().unwrap()));
    let error = case.refusal(&[case.member("base", known(b"abc"))]);
    assert!(matches!(error, UnpackError::TooMuch { .. }), "{error}");
}

#[test]
fn a_size_that_lies_is_noticed() {
    // More than any disk has, and more than there is.
    for (size, expected) in [(1 << 59, Expected::default()), (5_000, Expected::default())] {
        let mut builder = Builder::new(Vec::new());
        builder
            .append(&header("base", EntryType::Regular, size), &b"abc"[..])
            .unwrap();
        let case = Case::new("a.tar", &builder.into_inner().unwrap());
        let error = case.refusal(&[case.member("base", expected)]);
        let noticed = matches!(
            error,
            UnpackError::NoSpace { .. } | UnpackError::Broken { .. } | UnpackError::Member { .. }
        );
        assert!(noticed, "{size}: {error}");
    }
}

#[test]
fn members_are_the_expected_ones_or_none() {
    let bytes = content(5_000);
    let case = Case::new(
        "a.tar.gz",
        &gz(&tar(&[("x/base", &bytes), ("query", b"q")])),
    );
    let query = case.member("query", Expected::default());
    let sized = Expected {
        bytes: Some(4_999),
        ..Expected::default()
    };
    let summed = Expected {
        sha256: Some("00".repeat(32)),
        ..Expected::default()
    };
    for wrong in [sized, summed] {
        let error = case.refusal(&[query.clone(), case.member("base", wrong)]);
        assert!(matches!(error, UnpackError::Member { .. }), "{error}");
    }
    let error = case.refusal(&[query.clone(), case.member("bases", Expected::default())]);
    assert!(matches!(error, UnpackError::Missing { .. }), "{error}");
    assert!(error.to_string().contains("base, query"), "{error}");
    let twice = Case::new("a.tar", &tar(&[("x/base", &bytes), ("y/base", b"other")]));
    let error = twice.refusal(&[twice.member("base", Expected::default())]);
    assert!(matches!(error, UnpackError::Missing { .. }), "{error}");
}

#[test]
fn an_interruption_ends_it() {
    let bytes = content(5_000);
    let case = Case::new("a.tar.gz", &gz(&tar(&[("base", &bytes)])));
    let stopped = AtomicBool::new(true);
    let members = [case.member("base", known(&bytes))];
    let error = unpack(
        &case.archive,
        Packing::TarGz,
        &members,
        LIMITS,
        &stopped,
        &|_| {},
    )
    .unwrap_err();
    assert!(matches!(error, UnpackError::Interrupted { .. }), "{error}");
}
