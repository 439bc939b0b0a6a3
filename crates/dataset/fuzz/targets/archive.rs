#![no_main]

use annbench_fetch::{Expected, Member, Packing, UnpackLimits, unpack};
use std::sync::atomic::AtomicBool;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(folder) = tempfile::tempdir() else {
        return;
    };
    let archive = folder.path().join("archive");
    if std::fs::write(&archive, bytes).is_err() {
        return;
    }
    let members = [Member {
        name: "base.fvecs".to_owned(),
        file: folder.path().join("out"),
        expected: Expected::default(),
    }];
    for packing in [Packing::Tar, Packing::TarGz, Packing::Gz] {
        let limits = UnpackLimits { most: 1 << 20 };
        let _ = unpack(
            &archive,
            packing,
            &members,
            limits,
            &AtomicBool::new(false),
            &|_| {},
        );
    }
});
