//! `annbench datasets fetch`, from servers on this machine.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../fetch/tests/support/http_server.rs"]
mod http_server;

use flate2::Compression;
use flate2::write::GzEncoder;
use http_server::{After, HttpServer, Reply, Request};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder with `datasets/` in it, where the command runs.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("datasets")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_annbench"));
        command.args(["datasets", "fetch"]).args(arguments);
        command.current_dir(self.folder.path());
        for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The answer as JSON, of a command that ends with `code`.
    fn json(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{complaint}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn states(answer: &Value) -> Vec<&str> {
    let files = answer["datasets"][0]["files"].as_array().unwrap();
    files
        .iter()
        .map(|file| file["state"].as_str().unwrap())
        .collect()
}

/// A u8bin of 8 bytes in a row, each row made of its number: any part of one of a billion rows can be
/// made without the rest.
struct Rows(u64);

impl Rows {
    const WIDTH: u64 = 8;

    fn bytes(&self) -> u64 {
        8 + Self::WIDTH * self.0
    }

    fn byte(&self, at: u64) -> u8 {
        if at < 8 {
            let header = [(self.0 as u32).to_le_bytes(), 8_u32.to_le_bytes()].concat();
            return header[at as usize];
        }
        let row = (at - 8) / Self::WIDTH;
        let mixed = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (row >> 7);
        mixed.to_le_bytes()[((at - 8) % Self::WIDTH) as usize]
    }

    fn part(&self, from: u64, to: u64) -> Vec<u8> {
        (from..to).map(|at| self.byte(at)).collect()
    }

    fn all(&self) -> Vec<u8> {
        self.part(0, self.bytes())
    }

    /// As a server of ranges gives it.
    fn reply(&self, request: &Request) -> Reply {
        let (first, last) = request.range.expect("never the whole of a billion rows");
        let end = last.map_or(self.bytes(), |last| (last + 1).min(self.bytes()));
        let headers = [
            format!("content-range: bytes {first}-{}/{}", end - 1, self.bytes()),
            format!("content-length: {}", end - first),
            "etag: \"rows\"".to_owned(),
        ];
        Reply::new("206 Partial Content", &headers, self.part(first, end))
    }
}

/// An entry of the first `n` of `rows` rows, and ten queries.
fn entry(name: &str, n: u64, rows: u64, base: &str, queries: &str, more: &str) -> String {
    format!(
        "name: {name}\n\
         description: rows made of their numbers\n\
         metric: l2\n\
         element: u8\n\
         dim: 8\n\
         folder: rows\n\
         base: {{ file: base.u8bin, format: u8bin, rows: {rows}, take_first: {n} }}\n\
         queries: {{ file: query.u8bin, format: u8bin, rows: 10 }}\n\
         files:\n  \
           base.u8bin: {{ bytes: {}, url: \"{base}\" }}\n  \
           query.u8bin: {{ bytes: 88, sha256: {}, url: \"{queries}\" }}\n\
         source: made by a test\n\
         licence: none needed\n\
         {more}",
        Rows(rows).bytes(),
        sha256(&Rows(10).all())
    )
}

fn sha256(bytes: &[u8]) -> String {
    let sum = Sha256::digest(bytes);
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn server() -> HttpServer {
    HttpServer::new(|request| match request.path.as_str() {
        "/base.1B.u8bin" => Rows(1_000_000_000).reply(request),
        "/query.u8bin" => Reply::whole(&Rows(10).all()),
        _ => Reply::status("404 Not Found"),
    })
}

#[test]
fn a_million_rows_come_in_place_of_a_billion() {
    let server = server();
    let bench = Bench::new();
    let (base, queries) = (server.url("/base.1B.u8bin"), server.url("/query.u8bin"));
    for (name, n) in [("rows-1K", 1_000), ("rows-1M", 1_000_000)] {
        let text = entry(name, n, 1_000_000_000, &base, &queries, "");
        bench.write(&format!("datasets/{name}.yaml"), &text);
    }
    // The plan, without a download.
    let plan = bench.json(&["rows-1M", "--dry-run"], 0);
    assert_eq!(states(&plan), ["to_fetch", "to_fetch"]);
    assert_eq!(plan["datasets"][0]["files"][0]["bytes"], 8_000_008);
    assert_eq!(plan["datasets"][0]["files"][0]["first_rows"], 1_000_000);
    assert_eq!(plan["datasets"][0]["bytes_to_come"], 8_000_008 + 88);
    assert!(server.requests().is_empty());

    let answer = bench.json(&["rows-1K"], 0);
    assert_eq!(states(&answer), ["fetched", "fetched"]);
    assert_eq!(answer["datasets"][0]["licence"], "none needed");
    let place = bench.path("datasets/downloads/rows/base.u8bin");
    assert_eq!(std::fs::read(&place).unwrap(), Rows(1_000).all());
    // A longer slice of the same file takes the place of the shorter one.
    let answer = bench.json(&["rows-1M"], 0);
    assert_eq!(states(&answer), ["fetched", "here"]);
    let expected = Rows(1_000_000).all();
    assert!(std::fs::read(&place).unwrap() == expected);
    assert_eq!(
        answer["datasets"][0]["files"][0]["sha256"],
        sha256(&expected)
    );
    assert_eq!(answer["datasets"][0]["files"][0]["compared"], false);
    let asked = server.requests();
    let furthest = asked.iter().filter_map(|request| request.range?.1).max();
    assert_eq!(furthest, Some(8_000_007), "nothing beyond the slice");
    // And serves the shorter one as it is: nothing is asked for.
    let answer = bench.json(&["rows-1K"], 0);
    assert_eq!(states(&answer), ["here", "here"]);
    assert_eq!(server.requests().len(), asked.len());
    // The set opens.
    let output = Command::new(env!("CARGO_BIN_EXE_annbench"))
        .args(["datasets", "check", "rows-1K"])
        .current_dir(bench.path(""))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A file that was broken off is not here, but a slice with enough rows is.
#[test]
fn a_list_tells_slices_from_files_that_were_broken_off() {
    let bench = Bench::new();
    let text = entry("rows", 1_000, 1_000_000_000, "http://a/b", "http://a/q", "");
    bench.write("datasets/rows.yaml", &text);
    let folder = bench.path("datasets/downloads/rows");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("query.u8bin"), Rows(10).all()).unwrap();
    let listed = || {
        let output = Command::new(env!("CARGO_BIN_EXE_annbench"))
            .args(["datasets", "list"])
            .current_dir(bench.path(""))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find(|line| line.starts_with("  rows "));
        line.unwrap().rsplit("  ").next().unwrap().to_owned()
    };
    assert_eq!(listed(), "1 of 2 missing");
    let base = |bytes: &[u8]| std::fs::write(folder.join("base.u8bin"), bytes).unwrap();
    for (bytes, state) in [
        (Rows(1_000).all(), "here"),
        (Rows(2_000).all(), "here"),
        (Rows(999).all(), "other size"),
        (
            Rows(1_000_000_000).part(0, Rows(2_000).bytes()),
            "other size",
        ),
        (Rows(1_000).part(0, 5_000), "other size"),
        (Vec::new(), "other size"),
    ] {
        base(&bytes);
        assert_eq!(listed(), state, "{} bytes", bytes.len());
    }
    std::fs::remove_file(folder.join("query.u8bin")).unwrap();
    assert_eq!(listed(), "1 of 2 missing, other size");
}

#[test]
fn a_file_that_is_no_slice_is_not_replaced() {
    let server = server();
    let bench = Bench::new();
    let (base, queries) = (server.url("/base.1B.u8bin"), server.url("/query.u8bin"));
    let text = entry("rows", 1_000, 1_000_000_000, &base, &queries, "");
    bench.write("datasets/rows.yaml", &text);
    std::fs::create_dir_all(bench.path("datasets/downloads/rows")).unwrap();
    // The size of a slice, with the header of the whole file: a download that somebody broke off.
    let torn = Rows(1_000_000_000).part(0, Rows(2_000).bytes());
    std::fs::write(bench.path("datasets/downloads/rows/base.u8bin"), &torn).unwrap();
    let answer = bench.json(&["rows"], 1);
    assert_eq!(states(&answer), ["by_hand", "fetched"]);
    let reason = answer["datasets"][0]["files"][0]["reason"]
        .as_str()
        .unwrap();
    assert!(reason.contains("move it away"), "{reason}");
    assert_eq!(
        std::fs::read(bench.path("datasets/downloads/rows/base.u8bin")).unwrap(),
        torn
    );
}

fn tar_gz(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// An entry whose two files come out of the archive at `url`.
fn packed_entry(url: &str, sha256: &str) -> String {
    format!(
        "name: packed\n\
         description: two files in an archive\n\
         metric: l2\n\
         element: u8\n\
         dim: 8\n\
         base: {{ file: base.u8bin, format: u8bin, rows: 20 }}\n\
         queries: {{ file: query.u8bin, format: u8bin, rows: 10 }}\n\
         files: {{ base.u8bin: {{ bytes: 168 }}, query.u8bin: {{ bytes: 88 }} }}\n\
         archive: {{ url: \"{url}\", sha256: {sha256} }}\n\
         source: made by a test\n\
         licence: none needed\n"
    )
}

#[test]
fn files_come_out_of_an_archive() {
    let (base, queries) = (Rows(20).all(), Rows(10).all());
    let archive = tar_gz(&[
        ("set/learn.u8bin", &[1; 5_000]),
        ("set/query.u8bin", &queries),
        ("set/base.u8bin", &base),
    ]);
    let sum = sha256(&archive);
    let server = HttpServer::new({
        let archive = archive.clone();
        move |_| Reply::whole(&archive)
    });
    let here = |bench: &Bench| {
        let read =
            |name: &str| std::fs::read(bench.path(&format!("datasets/downloads/packed/{name}")));
        assert_eq!(read("base.u8bin").unwrap(), base);
        assert_eq!(read("query.u8bin").unwrap(), queries);
        std::fs::read_dir(bench.path("datasets/downloads/packed"))
            .unwrap()
            .count()
    };
    let url = server.url("/set.tar.gz");
    let bench = Bench::new();
    bench.write("datasets/packed.yaml", &packed_entry(&url, &sum));
    assert_eq!(states(&bench.json(&["packed"], 0)), ["fetched", "fetched"]);
    assert_eq!(here(&bench), 2, "the archive is gone");
    // Kept when asked for, and taken where it lies.
    let bench = Bench::new();
    bench.write("datasets/packed.yaml", &packed_entry(&url, &sum));
    bench.json(&["packed", "--keep-archive"], 0);
    assert_eq!(here(&bench), 3);
    std::fs::remove_file(bench.path("datasets/downloads/packed/base.u8bin")).unwrap();
    let before = server.requests().len();
    assert_eq!(states(&bench.json(&["packed"], 0)), ["fetched", "here"]);
    assert_eq!(here(&bench), 3);
    assert_eq!(server.requests().len(), before);
    // Not when it is another one.
    std::fs::remove_file(bench.path("datasets/downloads/packed/base.u8bin")).unwrap();
    std::fs::write(bench.path("datasets/downloads/packed/set.tar.gz"), "other").unwrap();
    let answer = bench.json(&["packed"], 1);
    assert_eq!(states(&answer), ["failed", "here"]);
    let reason = answer["datasets"][0]["files"][0]["reason"]
        .as_str()
        .unwrap();
    assert!(
        reason.contains(&sum) && reason.contains("remove it"),
        "{reason}"
    );
}

#[test]
fn without_a_network_it_says_which_files_to_put_where() {
    let server = server();
    let (base, queries) = (server.url("/base.1B.u8bin"), server.url("/query.u8bin"));
    drop(server);
    let bench = Bench::new();
    let text = entry("rows", 1_000, 1_000_000_000, &base, &queries, "");
    bench.write("datasets/rows.yaml", &text);
    let output = bench.run(&["rows"]);
    assert_eq!(output.status.code(), Some(1));
    let answer = String::from_utf8(output.stdout).unwrap();
    for part in [
        base.as_str(),
        &queries,
        "datasets/downloads/rows/base.u8bin",
        "datasets/downloads/rows/query.u8bin",
        "its first 8,008 bytes, with 1,000 as the number of rows",
        "licence  none needed",
    ] {
        assert!(answer.contains(part), "{part} in:\n{answer}");
    }
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("connect this machine"), "{complaint}");
}

#[test]
fn another_folder_serves_in_place_of_the_publishers() {
    let queries = Rows(10).all();
    let broken = HttpServer::new(|_| Reply::status("404 Not Found"));
    let mirror = HttpServer::new({
        move |request| match request.path.as_str() {
            "/mirror/query.u8bin" => Reply::whole(&queries),
            "/mirror/base.u8bin" => Rows(1_000_000_000).reply(request),
            _ => Reply::status("404 Not Found"),
        }
    });
    let bench = Bench::new();
    let published = "https://example.invalid/f";
    let text = entry("rows", 1_000, 1_000_000_000, published, published, "");
    bench.write("datasets/rows.yaml", &text);
    let (first, second) = (broken.url("/x"), mirror.url("/mirror/"));
    let answer = bench.json(&["rows", "--from", &first, "--from", &second], 0);
    assert_eq!(states(&answer), ["fetched", "fetched"]);
    assert_eq!(broken.requests().len(), 2);
}

/// An entry that names no source at all is served by the folder that is named.
#[test]
fn a_named_folder_serves_files_without_a_source() {
    let queries = Rows(10).all();
    let folder = HttpServer::new(move |request| match request.path.as_str() {
        "/own/query.u8bin" => Reply::whole(&queries),
        "/own/base.u8bin" => Rows(1_000).reply(request),
        _ => Reply::status("404 Not Found"),
    });
    let bench = Bench::new();
    let yaml = "name: rows\ndescription: made\nmetric: l2\nelement: u8\ndim: 8\n\
                base: { file: base.u8bin, format: u8bin, rows: 1000 }\n\
                queries: { file: query.u8bin, format: u8bin, rows: 10 }\n\
                source: made\nlicence: none needed\n";
    bench.write("datasets/rows.yaml", yaml);
    let by_hand = bench.json(&["rows"], 1);
    assert_eq!(states(&by_hand), ["by_hand", "by_hand"]);
    let answer = bench.json(&["rows", "--from", &folder.url("/own")], 0);
    assert_eq!(states(&answer), ["fetched", "fetched"]);
}

/// The entry's own further sources, of a file and of a folder.
#[test]
fn an_entry_names_further_sources() {
    let queries = Rows(10).all();
    let broken = HttpServer::new(|_| Reply::status("404 Not Found"));
    let mirror = HttpServer::new({
        move |request| match request.path.as_str() {
            "/m/query.u8bin" => Reply::whole(&queries),
            "/m/other.u8bin" => Rows(1_000).reply(request),
            _ => Reply::status("404 Not Found"),
        }
    });
    let bench = Bench::new();
    let yaml = format!(
        "name: rows\ndescription: made\nmetric: l2\nelement: u8\ndim: 8\n\
         base: {{ file: base.u8bin, format: u8bin, rows: 1000 }}\n\
         queries: {{ file: query.u8bin, format: u8bin, rows: 10 }}\n\
         files:\n  base.u8bin: {{ url: \"{}\", mirrors: [\"{}\"] }}\n\
         from: [\"{}\", \"{}\"]\nsource: made\nlicence: none needed\n",
        broken.url("/base.u8bin"),
        mirror.url("/m/other.u8bin"),
        broken.url("/f/"),
        mirror.url("/m")
    );
    bench.write("datasets/rows.yaml", &yaml);
    let answer = bench.json(&["rows"], 0);
    assert_eq!(states(&answer), ["fetched", "fetched"]);
    assert_eq!(broken.requests().len(), 2);
}

/// Names that are not below the folder of the set are refused before a byte comes.
#[test]
fn no_file_is_written_outside_of_the_folder() {
    let server = server();
    let bench = Bench::new();
    let (base, queries) = (server.url("/base.1B.u8bin"), server.url("/query.u8bin"));
    let text = entry("rows", 1_000, 1_000_000_000, &base, &queries, "");
    bench.write(
        "datasets/rows.yaml",
        &text.replace("query.u8bin,", "../../../query.u8bin,"),
    );
    let output = bench.run(&["rows"]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("rows.yaml:"), "{complaint}");
    assert!(complaint.contains("without `..`"), "{complaint}");
    assert!(server.requests().is_empty());
}

#[test]
fn a_wrong_checksum_is_never_used() {
    let server = HttpServer::new(|request| match request.path.as_str() {
        "/query.u8bin" => Reply::whole(&[7; 88]),
        _ => Rows(1_000).reply(request),
    });
    let bench = Bench::new();
    let (base, queries) = (server.url("/base"), server.url("/query.u8bin"));
    bench.write(
        "datasets/rows.yaml",
        &entry("rows", 1_000, 1_000, &base, &queries, ""),
    );
    let answer = bench.json(&["rows"], 1);
    assert_eq!(states(&answer), ["fetched", "failed"]);
    let reason = answer["datasets"][0]["files"][1]["reason"]
        .as_str()
        .unwrap();
    for part in [sha256(&Rows(10).all()), sha256(&[7; 88]), queries] {
        assert!(reason.contains(&part), "{part} in {reason}");
    }
    assert!(!bench.path("datasets/downloads/rows/query.u8bin").exists());
}

#[test]
fn names_are_looked_up_before_anything_is_fetched() {
    let server = server();
    let bench = Bench::new();
    let (base, queries) = (server.url("/base.1B.u8bin"), server.url("/query.u8bin"));
    let text = entry("rows", 1_000, 1_000_000_000, &base, &queries, "");
    bench.write("datasets/rows.yaml", &text);
    let output = bench.run(&["rows", "rovs"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(server.requests().is_empty());
    // What has no entry, but a place.
    let plan = bench.json(&["gist_small_100k", "--dry-run"], 0);
    let places = plan["datasets"][0]["files"].as_array().unwrap();
    assert_eq!(places.len(), 1);
    let place = places[0]["belongs"].as_str().unwrap();
    assert!(
        place.ends_with("datasets/downloads/gist_small_100k/train.parquet"),
        "{place}"
    );
}

/// Rows of which the first megabyte comes at once and the rest slowly, the first time.
fn slow_at_first() -> HttpServer {
    HttpServer::new(|request| {
        let rows = Rows(400_000);
        let reply = rows.reply(request);
        if request.path == "/query.u8bin" {
            return Reply::whole(&Rows(10).all());
        }
        if request.number > 1 {
            return reply;
        }
        let rest = reply.body[1 << 20..].to_vec();
        let slowly = After::Trickle(rest, Duration::from_millis(5));
        reply.torn(1 << 20).then(slowly)
    })
}

/// Ends a download with `signal` once its state says that a megabyte is there.
fn ended_by(signal: &str) -> (Bench, HttpServer, Option<i32>) {
    let server = slow_at_first();
    let bench = Bench::new();
    let (base, queries) = (server.url("/base"), server.url("/query.u8bin"));
    let text = entry("rows", 300_000, 400_000, &base, &queries, "");
    bench.write("datasets/rows.yaml", &text);
    let mut child = bench
        .command(&["rows"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let state = bench.path("datasets/downloads/rows/base.u8bin.part.json");
    let since = Instant::now();
    let there = || -> Option<u64> {
        let state: Value = serde_json::from_slice(&std::fs::read(&state).ok()?).ok()?;
        state["done"][0][1].as_u64()
    };
    while there().is_none_or(|bytes| bytes < 1 << 20) {
        assert!(
            since.elapsed() < Duration::from_secs(120),
            "no state was saved"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let code = child.wait().unwrap().code();
    assert!(!bench.path("datasets/downloads/rows/base.u8bin").exists());
    (bench, server, code)
}

#[test]
fn a_download_goes_on_after_its_process_was_ended() {
    for (signal, code) in [("-KILL", None), ("-INT", Some(130))] {
        let (bench, server, ended) = ended_by(signal);
        assert_eq!(ended, code, "{signal}");
        let answer = bench.json(&["rows"], 0);
        let resumed = answer["datasets"][0]["files"][0]["resumed"]
            .as_u64()
            .unwrap();
        assert!(resumed >= 1 << 20, "{signal}: {resumed}");
        let second = server.requests()[1].clone();
        assert_eq!(second.range.unwrap().0, resumed);
        assert_eq!(second.if_range.as_deref(), Some("\"rows\""));
        let file = std::fs::read(bench.path("datasets/downloads/rows/base.u8bin")).unwrap();
        assert!(file == Rows(300_000).all());
    }
}

#[test]
fn a_url_of_another_kind_is_told() {
    let bench = Bench::new();
    bench.write(
        "datasets/packed.yaml",
        &packed_entry("file:///etc/set.tar.gz", &"0".repeat(63)),
    );
    let output = bench.run(&["packed"]);
    assert_eq!(output.status.code(), Some(2), "63 digits are no checksum");
    let entry = packed_entry("file:///etc/set.tar.gz", &format!("a{}", "0".repeat(63)));
    bench.write("datasets/packed.yaml", &entry);
    let answer = bench.json(&["packed"], 1);
    assert_eq!(states(&answer), ["by_hand", "by_hand"]);
    let reason = answer["datasets"][0]["files"][0]["reason"]
        .as_str()
        .unwrap();
    assert!(reason.contains("http, https or ftp"), "{reason}");
}

#[test]
fn what_does_not_fit_is_not_begun() {
    let server = server();
    let bench = Bench::new();
    let (base, queries) = (server.url("/base.1B.u8bin"), server.url("/query.u8bin"));
    let rows = 4_000_000_000_u64;
    let text = entry("rows", rows, rows, &base, &queries, "")
        // 16 exabytes would be more than any file system has.
        .replace("dim: 8", "dim: 2000000000")
        .replace("bytes: 32000000008", "bytes: 8000000000000000008");
    bench.write("datasets/rows.yaml", &text);
    let answer = bench.json(&["rows"], 1);
    assert_eq!(states(&answer), ["failed", "failed"]);
    let reason = answer["datasets"][0]["files"][0]["reason"]
        .as_str()
        .unwrap();
    assert!(reason.contains("8,000,000,000,000,000,096"), "{reason}");
    assert!(server.requests().is_empty());
}

/// What lies in the part from an earlier time does not need its space again, and an archive that is here
/// does not come.
#[test]
fn what_is_there_already_needs_no_space() {
    let server = HttpServer::new(|_| Reply::status("404 Not Found"));
    let bench = Bench::new();
    let (base, queries) = (server.url("/base"), server.url("/query.u8bin"));
    let folder = bench.path("datasets/downloads/rows");
    std::fs::create_dir_all(&folder).unwrap();
    // More than is free, whatever others do meanwhile; all but the last bytes of it have come.
    const WIDTH: u64 = 1 << 20;
    let rows = annbench_fetch::free_space(&folder).unwrap() / WIDTH + (64 << 10);
    let bytes = 8 + WIDTH * rows;
    let text = entry("rows", rows, rows, &base, &queries, "")
        .replace("dim: 8", &format!("dim: {WIDTH}"))
        .replace(
            &format!("bytes: {}", Rows(rows).bytes()),
            &format!("bytes: {bytes}"),
        );
    bench.write("datasets/rows.yaml", &text);
    let part = std::fs::File::create(folder.join("base.u8bin.part")).unwrap();
    part.set_len(bytes).unwrap();
    let state = |done: u64| {
        format!(
            "{{\"version\":1,\"url\":\"{base}\",\"identity\":{{\"total\":{bytes},\"etag\":\"\\\"a\\\"\",\
             \"modified\":null}},\"checksum\":null,\"total\":{bytes},\"done\":[[0,{done}]]}}"
        )
    };
    let states_file = "datasets/downloads/rows/base.u8bin.part.json";
    bench.write(states_file, &state(bytes - 800));
    let plan = bench.json(&["rows", "--dry-run"], 0);
    assert_eq!(plan["datasets"][0]["bytes_to_come"], 800 + 88);
    let answer = bench.json(&["rows"], 1);
    let reason = |answer: &Value| {
        let file = &answer["datasets"][0]["files"][0];
        file["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason(&answer).contains("404"), "{}", reason(&answer));
    // A little of it does not help.
    bench.write(states_file, &state(800));
    let plan = bench.json(&["rows", "--dry-run"], 0);
    assert_eq!(plan["datasets"][0]["bytes_to_come"], bytes - 800 + 88);
    assert!(reason(&bench.json(&["rows"], 1)).contains("free space"));
    // And of another file nothing.
    bench.write(states_file, &state(bytes - 800).replace("/base", "/other"));
    let plan = bench.json(&["rows", "--dry-run"], 0);
    assert_eq!(plan["datasets"][0]["bytes_to_come"], bytes + 88);

    let archive = tar_gz(&[("base.u8bin", &Rows(20).all())]);
    let yaml = packed_entry(&server.url("/set.tar.gz"), &sha256(&archive));
    let yaml = yaml.replace("sha256:", &format!("bytes: {}, sha256:", archive.len()));
    bench.write("datasets/packed.yaml", &yaml);
    let plan = bench.json(&["packed", "--dry-run"], 0);
    assert_eq!(
        plan["datasets"][0]["bytes_to_come"],
        archive.len() as u64 + 168 + 88
    );
    std::fs::create_dir_all(bench.path("datasets/downloads/packed")).unwrap();
    std::fs::write(bench.path("datasets/downloads/packed/set.tar.gz"), &archive).unwrap();
    let plan = bench.json(&["packed", "--dry-run"], 0);
    assert_eq!(plan["datasets"][0]["bytes_to_come"], 168 + 88);
}
