//! The first rows of a larger file.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_fetch::{Cut, Download, Expected, Trouble};
use support::ftp_server::FtpServer;
use support::http_server::{HttpServer, Reply};
use support::{Place, content};

const ETAG: &[&str] = &["etag: \"one\""];
/// Rows of 25 bytes after a header of 8.
const ROWS: u32 = 4_000;
const WANTED: u32 = 1_000;

fn header(rows: u32) -> Vec<u8> {
    [rows.to_le_bytes(), 25_u32.to_le_bytes()].concat()
}

fn larger() -> Vec<u8> {
    [header(ROWS), content(25 * ROWS as usize)].concat()
}

fn smaller() -> Vec<u8> {
    [header(WANTED), content(25 * WANTED as usize)].concat()
}

fn wanted(place: &Place, url: &str) -> Download {
    Download {
        cut: Some(Cut {
            bytes: 8 + 25 * u64::from(WANTED),
            header_there: header(ROWS),
            header_here: header(WANTED),
        }),
        ..place.wanted(
            &[url],
            Expected {
                bytes: Some(8 + 25 * u64::from(ROWS)),
                sha256: Some("00".repeat(32)),
                md5: None,
            },
        )
    }
}

#[test]
fn a_slice_has_the_first_rows_and_a_header_of_its_own() {
    let server = HttpServer::new(|request| Reply::ranged(request, &larger(), ETAG));
    let place = Place::new();
    let got = place.fetch(&wanted(&place, &server.url("/f"))).unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), smaller());
    assert!(!got.compared, "the checksum is that of the whole file");
    let asked = server
        .requests()
        .into_iter()
        .map(|r| r.range.unwrap().1.unwrap());
    assert_eq!(asked.max(), Some(25_007), "nothing beyond the slice");
}

#[test]
fn a_server_without_ranges_is_left_after_the_slice() {
    let server = HttpServer::new(|_| Reply::whole(&larger()));
    let place = Place::new();
    place.fetch(&wanted(&place, &server.url("/f"))).unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), smaller());
}

#[test]
fn ftp_is_left_after_the_slice() {
    let server = FtpServer::new(larger());
    let place = Place::new();
    place.fetch(&wanted(&place, &server.url("/f"))).unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), smaller());
}

#[test]
fn a_file_with_another_header_is_not_cut() {
    for wrong in [
        header(ROWS - 1),
        [4_000_u32.to_le_bytes(), 26_u32.to_le_bytes()].concat(),
    ] {
        let mut bytes = larger();
        bytes[..8].copy_from_slice(&wrong);
        let server = HttpServer::new(move |request| Reply::ranged(request, &bytes, ETAG));
        let place = Place::new();
        let trouble = place.trouble(&wanted(&place, &server.url("/f")));
        assert_eq!(trouble, Trouble::OtherHeader);
        assert!(place.names().is_empty(), "{:?}", place.names());
    }
}

/// What a download leaves that was killed after the first bytes were noted and before they were compared.
fn left(place: &Place, url: &str, bytes: &[u8], done: usize) {
    let total = 8 + 25 * WANTED as usize;
    let mut part = bytes[..done].to_vec();
    part.resize(total, 0);
    std::fs::create_dir_all(place.file.parent().unwrap()).unwrap();
    std::fs::write(place.file.with_extension("bin.part"), part).unwrap();
    let whole = bytes.len();
    let state = format!(
        "{{\"version\":1,\"url\":\"{url}\",\"identity\":{{\"total\":{whole},\"etag\":\"\\\"one\\\"\",\
         \"modified\":null}},\"checksum\":null,\"total\":{total},\"done\":[[0,{done}]]}}"
    );
    std::fs::write(place.file.with_extension("bin.part.json"), state).unwrap();
}

#[test]
fn a_header_from_an_earlier_time_is_compared_too() {
    let total = 8 + 25 * WANTED as usize;
    for done in [8, 10_000, total] {
        // As it should be, also with the header that it has at the end.
        for first in [header(ROWS), header(WANTED)] {
            let server = HttpServer::new(|request| Reply::ranged(request, &larger(), ETAG));
            let (place, url) = (Place::new(), server.url("/f"));
            let mut bytes = larger();
            bytes[..8].copy_from_slice(&first);
            left(&place, &url, &bytes, done);
            let got = place.fetch(&wanted(&place, &url)).unwrap();
            assert_eq!(got.resumed, done as u64);
            assert_eq!(std::fs::read(&place.file).unwrap(), smaller());
        }
        let mut bytes = larger();
        bytes[..8].copy_from_slice(&header(ROWS - 1));
        let server = HttpServer::new({
            let bytes = bytes.clone();
            move |request| Reply::ranged(request, &bytes, ETAG)
        });
        let (place, url) = (Place::new(), server.url("/f"));
        left(&place, &url, &bytes, done);
        assert_eq!(place.trouble(&wanted(&place, &url)), Trouble::OtherHeader);
        assert!(place.names().is_empty(), "{:?}", place.names());
        let asked = server.requests().len();
        assert!(asked <= 3, "{asked} requests for what is another file");
    }
}

#[test]
fn a_file_that_is_shorter_than_the_slice_is_not_cut() {
    let server = HttpServer::new(|request| Reply::ranged(request, &larger()[..20_000], ETAG));
    let place = Place::new();
    let mut wanted = wanted(&place, &server.url("/f"));
    wanted.expected = Expected::default();
    assert_eq!(place.trouble(&wanted), Trouble::OtherSize);
}
