//! The plot as a reader of its files sees it.
#![allow(clippy::unwrap_used)]
mod common;

use annbench_report::{LabelledRun, Overlay};
use common::*;

fn pixels(file: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut rgb).unwrap();
    (info.width, info.height, rgb)
}

#[test]
fn png_and_svg_show_the_campaign() {
    let records = campaign();
    let overlay = Overlay::new(&[LabelledRun {
        label: "quick",
        records: &records,
    }]);
    let [chart] = overlay.charts() else {
        panic!("expected one chart")
    };
    let file = chart.png().unwrap();
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/campaign.png"), &file).unwrap();
    let (width, height, rgb) = pixels(&file);
    assert_eq!(width, 2000);
    assert!(height > 1000);
    assert!(rgb.chunks(3).any(|p| p != &rgb[..3]));
    let svg = chart.svg().unwrap();
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/campaign.svg"), &svg).unwrap();
}
