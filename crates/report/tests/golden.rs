//! Tables and CSV against files that a person has read. `BLESS=1 cargo test -p annbench-report`
//! rewrites them; read the difference before committing it.
#![allow(clippy::unwrap_used)]
mod common;

use annbench_report::{LabelledRun, Overlay};
use common::*;
use std::path::PathBuf;

fn check(name: &str, found: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == found,
        "{} differs; found:\n{found}",
        path.display()
    );
}

#[test]
fn campaign_tables() {
    let records = campaign();
    let overlay = Overlay::new(&[LabelledRun {
        label: "quick",
        records: &records,
        doubts: &[],
    }]);
    check("campaign-summary.txt", &overlay.summary());
    check("campaign-details.txt", &overlay.details());
    check("campaign-text-plot.txt", &overlay.text_plots(80));
}

#[test]
fn eventful_tables_and_csv() {
    let (first, second) = eventful();
    let overlay = Overlay::new(&[
        LabelledRun {
            label: "monday",
            records: &first,
            doubts: &[],
        },
        LabelledRun {
            label: "tuesday",
            records: &second,
            doubts: &[],
        },
    ]);
    check("eventful-summary.txt", &overlay.summary());
    check("eventful-details.txt", &overlay.details());
    check("eventful.csv", &overlay.csv());
    check("eventful-text-plot.txt", &overlay.text_plots(60));
}

#[test]
fn no_records() {
    let overlay = Overlay::new(&[]);
    assert_eq!(overlay.summary(), "No search records.\n");
    assert_eq!(overlay.details(), "No search records.\n");
    assert_eq!(overlay.csv().lines().count(), 1);
    assert!(overlay.charts().is_empty());
}
