//! What servers do to a download, and what it makes of it.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_fetch::{DownloadError, Expected, Limits, Trouble};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use support::http_server::{After, HttpServer, Reply};
use support::{Place, content, impatient, known, limits, sha256};

const ETAG: &[&str] = &["etag: \"one\""];

fn ranged(bytes: &[u8]) -> HttpServer {
    let bytes = bytes.to_vec();
    HttpServer::new(move |request| Reply::ranged(request, &bytes, ETAG))
}

#[test]
fn a_file_comes_by_ranges_and_gets_its_name_last() {
    let bytes = content(95_000);
    let server = ranged(&bytes);
    let place = Place::new();
    let got = place
        .fetch(&place.wanted(&[&server.url("/file.bin")], known(&bytes)))
        .unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    assert_eq!(got.bytes, 95_000);
    assert_eq!(got.sha256, sha256(&bytes));
    assert_eq!(got.resumed, 0);
    assert!(got.compared);
    assert_eq!(place.names(), ["file.bin"]);
    let requests = server.requests();
    assert_eq!(requests.len(), 10, "one request for every piece");
    for request in requests {
        assert!(request.user_agent.starts_with("Mozilla/5.0 ("));
        let (first, last) = request.range.unwrap();
        assert!(last.unwrap() - first < 10_000);
    }
}

#[test]
fn a_size_that_nobody_knew_is_taken_from_the_server() {
    let bytes = content(25_001);
    let server = ranged(&bytes);
    let place = Place::new();
    let got = place
        .fetch(&place.wanted(&[&server.url("/f")], Expected::default()))
        .unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    assert!(!got.compared);
}

#[test]
fn a_server_without_ranges_gives_the_whole_file() {
    let bytes = content(50_000);
    let server = HttpServer::new({
        let bytes = bytes.clone();
        move |_| Reply::whole(&bytes)
    });
    let place = Place::new();
    place
        .fetch(&place.wanted(&[&server.url("/f")], known(&bytes)))
        .unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_torn_whole_file_is_read_over_to_where_it_tore() {
    let bytes = content(50_000);
    let server = HttpServer::new({
        let bytes = bytes.clone();
        move |request| match request.number {
            1 => Reply::whole(&bytes).torn(20_000),
            _ => Reply::whole(&bytes),
        }
    });
    let place = Place::new();
    place
        .fetch(&place.wanted(&[&server.url("/f")], known(&bytes)))
        .unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    assert_eq!((server.requests().len(), place.retries()), (2, 1));
}

#[test]
fn dropped_connections_are_taken_up_where_they_broke() {
    let bytes = content(60_000);
    let server = HttpServer::new({
        let bytes = bytes.clone();
        move |request| {
            let reply = Reply::ranged(request, &bytes, ETAG);
            if request.number % 2 == 1 {
                reply.torn(4_000)
            } else {
                reply
            }
        }
    });
    let place = Place::new();
    let patient = Limits {
        connections: 1,
        ..limits()
    };
    let wanted = place.wanted(&[&server.url("/f")], known(&bytes));
    let result = place.fetch_within(
        &wanted,
        &Limits {
            headway: 4_000,
            ..patient
        },
    );
    result.unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    assert!(place.retries() > 0);
    // No byte was asked for again that had come.
    let asked: Vec<_> = server
        .requests()
        .iter()
        .map(|r| r.range.unwrap().0)
        .collect();
    assert_eq!(&asked[..3], &[0, 4_000, 10_000]);
}

#[test]
fn a_server_that_always_breaks_is_given_up() {
    let bytes = content(9_000);
    let server = HttpServer::new({
        let bytes = bytes.clone();
        move |request| Reply::ranged(request, &bytes, ETAG).torn(100)
    });
    let place = Place::new();
    let failure = place.failure(&place.wanted(&[&server.url("/f")], known(&bytes)));
    assert_eq!((failure.trouble, failure.attempts), (Trouble::Cut, 3));
    assert_eq!(server.requests().len(), 3);
    assert_eq!(place.names(), ["file.bin.part", "file.bin.part.json"]);
}

#[test]
fn statuses_are_taken_for_what_they_mean() {
    for (status, trouble, requests) in [
        ("401 Unauthorized", Trouble::Refused(401), 1),
        ("403 Forbidden", Trouble::Refused(403), 1),
        ("404 Not Found", Trouble::Refused(404), 1),
        ("410 Gone", Trouble::Refused(410), 1),
        ("501 Not Implemented", Trouble::Refused(501), 1),
        ("204 No Content", Trouble::Refused(204), 1),
        ("500 Internal Server Error", Trouble::Unable(500), 3),
        ("503 Service Unavailable", Trouble::Unable(503), 3),
        ("429 Too Many Requests", Trouble::Unable(429), 3),
        ("408 Request Timeout", Trouble::Unable(408), 3),
    ] {
        let server = HttpServer::new(move |_| Reply::status(status));
        let place = Place::new();
        let failure = place.failure(&place.wanted(&[&server.url("/f")], Expected::default()));
        assert_eq!(failure.trouble, trouble);
        assert_eq!(server.requests().len(), requests, "{status}");
        assert!(place.names().is_empty(), "{status}: {:?}", place.names());
    }
}

#[test]
fn a_server_that_recovers_is_tried_again() {
    let bytes = content(30_000);
    let server = HttpServer::new({
        let bytes = bytes.clone();
        move |request| match request.number {
            1 | 2 => Reply::status("500 Internal Server Error"),
            _ => Reply::ranged(request, &bytes, ETAG),
        }
    });
    let place = Place::new();
    place
        .fetch(&place.wanted(&[&server.url("/f")], known(&bytes)))
        .unwrap();
    assert_eq!(place.retries(), 2);
}

#[test]
fn redirects_are_followed_and_bounded() {
    let bytes = content(15_000);
    let server = HttpServer::new({
        let bytes = bytes.clone();
        move |request| match request.path.as_str() {
            "/a" => Reply::redirect("/deep/b"),
            "/deep/b" => Reply::redirect("c?x=1"),
            "/deep/c?x=1" => Reply::ranged(request, &bytes, ETAG),
            "/loop" => Reply::redirect("/loop"),
            "/file" => Reply::redirect("file:///etc/passwd"),
            "/ftp" => Reply::redirect("ftp://127.0.0.1:1/f"),
            _ => Reply::status("404 Not Found"),
        }
    });
    let place = Place::new();
    place
        .fetch(&place.wanted(&[&server.url("/a")], known(&bytes)))
        .unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    for path in ["/loop", "/ftp"] {
        let place = Place::new();
        let failure = place.failure(&place.wanted(&[&server.url(path)], known(&bytes)));
        assert_eq!(failure.trouble, Trouble::Redirect, "{path}: {failure}");
    }
    // The client takes the path to be one of the same server: no local file is read.
    let place = Place::new();
    let failure = place.failure(&place.wanted(&[&server.url("/file")], Expected::default()));
    assert_eq!(failure.trouble, Trouble::Refused(404), "{failure}");
    let asked_for_loop = |r: &&support::http_server::Request| r.path == "/loop";
    let limit = limits().redirects as usize;
    assert!(server.requests().iter().filter(asked_for_loop).count() <= limit + 1);
}

#[test]
fn a_stall_ends_an_attempt() {
    let bytes = content(9_000);
    for after in [(|_| After::Stall) as fn(Vec<u8>) -> After, |rest| {
        After::Trickle(rest, Duration::from_millis(20))
    }] {
        let server = HttpServer::new({
            let bytes = bytes.clone();
            move |request| match request.number {
                1 => Reply::ranged(request, &bytes, ETAG)
                    .torn(100)
                    .then(after(bytes[100..].to_vec())),
                _ => Reply::ranged(request, &bytes, ETAG),
            }
        });
        let place = Place::new();
        let wanted = place.wanted(&[&server.url("/f")], known(&bytes));
        let limits = Limits {
            slowest: 1_000,
            ..impatient()
        };
        place.fetch_within(&wanted, &limits).unwrap();
        assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
        assert!(place.retries() >= 1);
    }
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let server = HttpServer::new(|_| Reply {
        head: String::new(),
        body: Vec::new(),
        after: After::Stall,
    });
    let place = Place::new();
    let wanted = place.wanted(&[&server.url("/f")], Expected::default());
    let failure = place.failure_within(&wanted, &impatient());
    assert_eq!((failure.trouble, failure.attempts), (Trouble::Stalled, 3));
}

#[test]
fn nobody_there_is_not_waited_for() {
    let server = HttpServer::new(|_| Reply::status("404 Not Found"));
    let url = server.url("/f");
    drop(server);
    let place = Place::new();
    let wanted = place.wanted(&[&url], Expected::default());
    let error = place.fetch(&wanted).unwrap_err();
    assert!(error.is_offline(), "{error}");
    assert_eq!(place.retries(), 0);
}

#[test]
fn another_size_is_noticed_before_the_download() {
    let bytes = content(20_000);
    let server = ranged(&bytes);
    let place = Place::new();
    let expected = Expected {
        bytes: Some(20_001),
        ..Expected::default()
    };
    let failure = place.failure(&place.wanted(&[&server.url("/f")], expected));
    assert_eq!(failure.trouble, Trouble::OtherSize);
    assert_eq!(
        (failure.expected.as_str(), failure.found.as_str()),
        ("20001 bytes", "20000")
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_content_length_that_lies_is_noticed() {
    // Longer than what comes.
    let bytes = content(5_000);
    let server = HttpServer::new({
        let bytes = bytes.clone();
        move |_| {
            Reply::new(
                "200 OK",
                &["content-length: 6000".to_owned()],
                bytes.clone(),
            )
        }
    });
    let place = Place::new();
    let trouble = place.trouble(&place.wanted(&[&server.url("/f")], Expected::default()));
    assert_eq!(trouble, Trouble::Cut);
    // Shorter: what is beyond it is not the file.
    let server = HttpServer::new({
        let bytes = bytes.clone();
        move |_| {
            Reply::new(
                "200 OK",
                &["content-length: 4000".to_owned()],
                bytes.clone(),
            )
        }
    });
    let place = Place::new();
    let trouble = place.trouble(&place.wanted(&[&server.url("/f")], known(&bytes)));
    assert_eq!(trouble, Trouble::OtherSize);
}

#[test]
fn a_file_without_an_end_is_not_guessed_at() {
    let bytes = content(5_000);
    let server = HttpServer::new({
        let bytes = bytes.clone();
        move |request| match request.path.as_str() {
            "/longer" => Reply::new("200 OK", &[], [&bytes[..], b"more"].concat()),
            _ => Reply::new("200 OK", &[], bytes.clone()),
        }
    });
    let place = Place::new();
    let trouble = place.trouble(&place.wanted(&[&server.url("/f")], Expected::default()));
    assert_eq!(trouble, Trouble::NoSize);
    let sized = Expected {
        bytes: Some(5_000),
        ..Expected::default()
    };
    let place = Place::new();
    let trouble = place.trouble(&place.wanted(&[&server.url("/longer")], sized.clone()));
    assert_eq!(trouble, Trouble::OtherSize);
    let place = Place::new();
    place
        .fetch(&place.wanted(&[&server.url("/f")], sized))
        .unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
}

#[test]
fn a_web_page_is_not_the_file() {
    let server = HttpServer::new(|_| {
        let headers = [
            "content-type: text/html; charset=utf-8",
            "content-length: 4",
        ];
        Reply::new("200 OK", &headers.map(str::to_owned), "<p/>")
    });
    let place = Place::new();
    let trouble = place.trouble(&place.wanted(&[&server.url("/f")], Expected::default()));
    assert_eq!(trouble, Trouble::Page);
}

#[test]
fn a_range_that_is_another_is_refused() {
    let bytes = content(30_000);
    for told in ["bytes 1-10000/30000", "bytes 0-19999/30000", "nonsense"] {
        let server = HttpServer::new({
            let bytes = bytes.clone();
            move |_| {
                let headers = [
                    format!("content-range: {told}"),
                    "content-length: 10000".into(),
                ];
                Reply::new("206 Partial Content", &headers, &bytes[..10_000])
            }
        });
        let place = Place::new();
        let trouble = place.trouble(&place.wanted(&[&server.url("/f")], known(&bytes)));
        assert_eq!(trouble, Trouble::Protocol, "{told}");
    }
}

#[test]
fn a_wrong_checksum_leaves_nothing() {
    let bytes = content(20_000);
    let server = ranged(&bytes);
    for (sha256, md5) in [(Some("00".repeat(32)), None), (None, Some("00".repeat(16)))] {
        let place = Place::new();
        let expected = Expected {
            bytes: None,
            sha256,
            md5,
        };
        let failure = place.failure(&place.wanted(&[&server.url("/f")], expected));
        assert_eq!(failure.trouble, Trouble::OtherChecksum);
        assert!(place.names().is_empty(), "{:?}", place.names());
    }
}

#[test]
fn the_next_source_is_tried() {
    let bytes = content(20_000);
    let wrong = content(20_001)[1..].to_vec();
    let bad = ranged(&wrong);
    let gone = HttpServer::new(|_| Reply::status("404 Not Found"));
    let good = ranged(&bytes);
    let place = Place::new();
    let urls = [gone.url("/f"), bad.url("/f"), good.url("/f")];
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let got = place.fetch(&place.wanted(&urls, known(&bytes))).unwrap();
    assert_eq!(got.url, urls[2]);
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    let place = Place::new();
    let error = place
        .fetch(&place.wanted(&urls[..2], known(&bytes)))
        .unwrap_err();
    let DownloadError::Sources { failures, .. } = &error else {
        panic!("{error}");
    };
    let troubles: Vec<_> = failures.iter().map(|failure| failure.trouble).collect();
    assert_eq!(troubles, [Trouble::Refused(404), Trouble::OtherChecksum]);
}

#[test]
fn a_file_that_changes_midway_is_never_joined() {
    let (old, new) = (content(60_000), content(60_007)[7..].to_vec());
    for validators in [
        ["etag: \"one\"", "etag: \"two\""],
        [
            "last-modified: Mon, 02 Feb 2026 00:00:00 GMT",
            "last-modified: Tue, 03 Feb 2026 00:00:00 GMT",
        ],
    ] {
        let server = HttpServer::new({
            let (old, new) = (old.clone(), new.clone());
            move |request| match request.number {
                ..4 => Reply::ranged(request, &old, &validators[..1]),
                _ => Reply::ranged(request, &new, &validators[1..]),
            }
        });
        let place = Place::new();
        place
            .fetch(&place.wanted(&[&server.url("/f")], Expected::default()))
            .unwrap();
        assert_eq!(std::fs::read(&place.file).unwrap(), new);
        assert_eq!(place.restarts(), 1);
    }
}

#[test]
fn a_file_that_never_stays_is_given_up() {
    let bytes = content(60_000);
    let count = Arc::new(AtomicUsize::new(0));
    let server = HttpServer::new(move |request| {
        let etag = format!("etag: \"{}\"", count.fetch_add(1, Ordering::SeqCst));
        Reply::ranged(request, &bytes, &[&etag])
    });
    let place = Place::new();
    let trouble = place.trouble(&place.wanted(&[&server.url("/f")], Expected::default()));
    assert_eq!(trouble, Trouble::Changed);
    assert_eq!(place.restarts(), 2);
}

/// Stops a download after `after` requests, by a server that then sets the flag.
fn interrupted(bytes: &[u8], after: usize, etag: &'static [&'static str]) -> (Place, HttpServer) {
    let place = Place::new();
    let stop = Arc::new(AtomicBool::new(false));
    let server = HttpServer::new({
        let (bytes, stop) = (bytes.to_vec(), stop.clone());
        move |request| {
            if request.number == after {
                stop.store(true, Ordering::SeqCst);
                return Reply::ranged(request, &bytes, etag)
                    .torn(10)
                    .then(After::Stall);
            }
            Reply::ranged(request, &bytes, etag)
        }
    });
    let wanted = place.wanted(&[&server.url("/f")], Expected::default());
    let one_by_one = Limits {
        connections: 1,
        stall: Duration::from_secs(600),
        ..limits()
    };
    let error = annbench_fetch::download(&wanted, &one_by_one, &stop, &|_| {}).unwrap_err();
    let DownloadError::Interrupted { file, done, total } = &error else {
        panic!("{error}");
    };
    assert_eq!(file, &place.file);
    assert_eq!(*total, bytes.len() as u64);
    assert!(*done >= 10_000 * (after as u64 - 1), "{error}");
    assert_eq!(place.names(), ["file.bin.part", "file.bin.part.json"]);
    (place, server)
}

#[test]
fn an_interruption_ends_a_wait_and_the_download_goes_on_later() {
    let bytes = content(60_000);
    let (place, server) = interrupted(&bytes, 4, ETAG);
    let before = server.requests().len();
    let got = place
        .fetch(&place.wanted(&[&server.url("/f")], Expected::default()))
        .unwrap();
    assert!(got.resumed >= 30_000, "{got:?}");
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    let later = &server.requests()[before..];
    assert!(
        later.iter().all(|r| r.range.unwrap().0 >= 30_000),
        "{later:?}"
    );
    assert_eq!(later[0].if_range.as_deref(), Some("\"one\""));
}

#[test]
fn what_is_left_is_of_no_use_for_another_version() {
    let bytes = content(60_000);
    let (place, server) = interrupted(&bytes, 4, ETAG);
    drop(server);
    // The part's state names the address of the first server.
    let state = place.file.with_extension("bin.part.json");
    let new = content(60_003)[3..].to_vec();
    let server = HttpServer::new({
        let new = new.clone();
        move |request| Reply::ranged(request, &new, &["etag: \"two\""])
    });
    let text = std::fs::read_to_string(&state).unwrap();
    let start = text.find("http://").unwrap();
    let end = start + text[start..].find('"').unwrap();
    let text = text.replace(&text[start..end], &server.url("/f"));
    std::fs::write(&state, text).unwrap();
    let got = place
        .fetch(&place.wanted(&[&server.url("/f")], Expected::default()))
        .unwrap();
    assert_eq!((got.resumed, place.restarts()), (0, 1));
    assert_eq!(std::fs::read(&place.file).unwrap(), new);
}

#[test]
fn another_source_goes_on_only_under_a_checksum() {
    let bytes = content(60_000);
    for (expected, resumed) in [(Expected::default(), 0), (known(&bytes), 30_000)] {
        let (place, server) = interrupted(&bytes, 4, ETAG);
        drop(server);
        if let Some(sum) = &expected.sha256 {
            // As a download leaves it that knew the checksum.
            let state = place.file.with_extension("bin.part.json");
            let text = std::fs::read_to_string(&state).unwrap();
            let text = text.replace("\"checksum\":null", &format!("\"checksum\":\"{sum}\""));
            std::fs::write(&state, text).unwrap();
        }
        let other = HttpServer::new({
            let bytes = bytes.clone();
            move |request| Reply::ranged(request, &bytes, &["etag: \"elsewhere\""])
        });
        let got = place
            .fetch(&place.wanted(&[&other.url("/f")], expected))
            .unwrap();
        assert!(
            got.resumed >= resumed && (resumed > 0 || got.resumed == 0),
            "{got:?}"
        );
        assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    }
}

#[test]
fn without_a_validator_nothing_is_gone_on_with() {
    let bytes = content(60_000);
    let (place, server) = interrupted(&bytes, 4, &[]);
    let got = place
        .fetch(&place.wanted(&[&server.url("/f")], Expected::default()))
        .unwrap();
    assert_eq!((got.resumed, place.restarts()), (0, 1));
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
}

#[test]
fn a_broken_state_is_not_believed() {
    let bytes = content(60_000);
    for broken in ["", "{", "{\"version\":1}", "[]"] {
        let (place, server) = interrupted(&bytes, 4, ETAG);
        std::fs::write(place.file.with_extension("bin.part.json"), broken).unwrap();
        let got = place
            .fetch(&place.wanted(&[&server.url("/f")], known(&bytes)))
            .unwrap();
        assert_eq!((got.resumed, place.restarts()), (0, 1), "{broken}");
        assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    }
}

#[test]
fn a_file_that_has_become_shorter_begins_anew() {
    let bytes = content(60_000);
    let (place, server) = interrupted(&bytes, 4, ETAG);
    drop(server);
    let short = content(20_000);
    let server = HttpServer::new({
        let short = short.clone();
        // Without If-Range being understood.
        move |request| {
            let mut request = request.clone();
            request.if_range = None;
            Reply::ranged(&request, &short, ETAG)
        }
    });
    let state = place.file.with_extension("bin.part.json");
    let text = std::fs::read_to_string(&state).unwrap();
    let start = text.find("http://").unwrap();
    let end = start + text[start..].find('"').unwrap();
    std::fs::write(&state, text.replace(&text[start..end], &server.url("/f"))).unwrap();
    place
        .fetch(&place.wanted(&[&server.url("/f")], Expected::default()))
        .unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), short);
    assert_eq!(place.restarts(), 1);
}

#[test]
fn what_does_not_fit_is_not_begun() {
    let server = HttpServer::new(|_| {
        let headers = [
            format!("content-range: bytes 0-9999/{}", 1_u64 << 60),
            "content-length: 10000".to_owned(),
        ];
        Reply::new("206 Partial Content", &headers, content(10_000))
    });
    let place = Place::new();
    let error = place
        .fetch(&place.wanted(&[&server.url("/f")], Expected::default()))
        .unwrap_err();
    let DownloadError::NoSpace { needed, free, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*needed, 1 << 60);
    assert!(*free < *needed);
    assert!(!place.file.exists());
}

#[test]
fn one_process_at_a_time() {
    let place = Place::new();
    std::fs::create_dir_all(place.file.parent().unwrap()).unwrap();
    let held = std::fs::File::create(place.file.with_extension("bin.part")).unwrap();
    held.lock().unwrap();
    let wanted = place.wanted(&["http://127.0.0.1:1/f"], Expected::default());
    let error = place.fetch(&wanted).unwrap_err();
    assert!(matches!(error, DownloadError::Busy { .. }), "{error}");
}

#[test]
fn a_server_that_takes_one_connection_at_a_time_is_left_to_one() {
    let bytes = content(200_000);
    let busy = std::sync::Mutex::new(());
    let server = HttpServer::new({
        let bytes = bytes.clone();
        move |request| match busy.try_lock() {
            Ok(_alone) => {
                std::thread::sleep(Duration::from_millis(5));
                Reply::ranged(request, &bytes, ETAG)
            }
            Err(_) => Reply::status("503 Service Unavailable"),
        }
    });
    let place = Place::new();
    let wanted = place.wanted(&[&server.url("/f")], known(&bytes));
    let limits = Limits {
        connections: 8,
        headway: 10_000,
        ..limits()
    };
    place.fetch_within(&wanted, &limits).unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
}

#[test]
fn who_does_not_speak_tls_is_not_trusted() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/f", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let mut hello = [0; 5];
        stream.read_exact(&mut hello).unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
        // A handshake, by RFC 8446, 5.1.
        hello[0]
    });
    let place = Place::new();
    let failure = place.failure(&place.wanted(&[&url], Expected::default()));
    assert_eq!(failure.trouble, Trouble::Tls, "{failure}");
    assert_eq!(server.join().unwrap(), 22);
}
