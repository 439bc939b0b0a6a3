//! Downloads from FTP servers, good and bad.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use annbench_fetch::{DownloadError, Expected, Limits, Trouble};
use std::sync::atomic::Ordering;
use std::time::Duration;
use support::ftp_server::{Faults, FtpServer};
use support::http_server::{HttpServer, Reply};
use support::{Place, content, impatient, known, limits};

#[test]
fn a_file_comes_from_the_host_that_was_asked() {
    let bytes = content(300_000);
    let server = FtpServer::new(bytes.clone());
    let place = Place::new();
    let url = server.url("/local/a%20b.tar.gz");
    place.fetch(&place.wanted(&[&url], known(&bytes))).unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    let commands = server.commands();
    for command in ["USER anonymous", "TYPE I", "RETR /local/a b.tar.gz"] {
        assert!(commands.iter().any(|c| c == command), "{commands:?}");
    }
}

#[test]
fn a_torn_or_stalled_transfer_is_taken_up_where_it_broke() {
    let bytes = content(300_000);
    for faults in [
        Faults {
            torn_at: Some(100_000),
            times: 2,
            ..Faults::default()
        },
        Faults {
            stalled_at: Some(100_000),
            times: 2,
            ..Faults::default()
        },
    ] {
        let server = FtpServer::with(bytes.clone(), faults);
        let place = Place::new();
        let wanted = place.wanted(&[&server.url("/f")], known(&bytes));
        let limits = match faults.stalled_at {
            Some(_) => impatient(),
            None => limits(),
        };
        place.fetch_within(&wanted, &limits).unwrap();
        assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
        assert!(place.retries() >= 2);
        let commands = server.commands();
        for command in ["REST 100000", "REST 200000"] {
            assert!(commands.iter().any(|c| c == command), "{commands:?}");
        }
    }
}

#[test]
fn a_server_that_always_breaks_is_given_up() {
    let faults = Faults {
        torn_at: Some(10),
        times: 100,
        ..Faults::default()
    };
    let server = FtpServer::with(content(9_000), faults);
    let place = Place::new();
    let failure = place.failure(&place.wanted(&[&server.url("/f")], Expected::default()));
    assert_eq!((failure.trouble, failure.attempts), (Trouble::Cut, 3));
}

#[test]
fn an_old_server_needs_the_size_of_the_entry() {
    let bytes = content(50_000);
    let faults = Faults {
        old: true,
        torn_at: Some(20_000),
        times: 1,
        ..Faults::default()
    };
    let server = FtpServer::with(bytes.clone(), faults);
    let place = Place::new();
    let trouble = place.trouble(&place.wanted(&[&server.url("/f")], Expected::default()));
    assert_eq!(trouble, Trouble::NoSize);
    // The offset is not understood either: the file comes anew.
    let server = FtpServer::with(bytes.clone(), faults);
    let place = Place::new();
    place
        .fetch(&place.wanted(&[&server.url("/f")], known(&bytes)))
        .unwrap();
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
    assert_eq!(place.restarts(), 1);
}

#[test]
fn refusals_are_taken_for_what_they_mean() {
    for (login, retrieve, trouble) in [
        (Some("530 not you"), None, Trouble::Refused(530)),
        (Some("421 too many"), None, Trouble::Unable(421)),
        (None, Some("550 no such file"), Trouble::Refused(550)),
        (None, Some("450 busy"), Trouble::Unable(450)),
    ] {
        let faults = Faults {
            login,
            retrieve,
            ..Faults::default()
        };
        let server = FtpServer::with(content(100), faults);
        let place = Place::new();
        let failure = place.failure(&place.wanted(&[&server.url("/f")], Expected::default()));
        assert_eq!(failure.trouble, trouble, "{failure}");
        assert!(place.names().is_empty());
    }
}

#[test]
fn a_silent_server_is_given_up() {
    let faults = Faults {
        silent: true,
        ..Faults::default()
    };
    let server = FtpServer::with(Vec::new(), faults);
    let place = Place::new();
    let wanted = place.wanted(&[&server.url("/f")], Expected::default());
    let failure = place.failure_within(&wanted, &impatient());
    assert_eq!(failure.trouble, Trouble::Stalled);
}

#[test]
fn a_file_that_changes_midway_is_never_joined() {
    let faults = Faults {
        restless: true,
        torn_at: Some(1_000),
        times: 100,
        ..Faults::default()
    };
    let server = FtpServer::with(content(9_000), faults);
    let place = Place::new();
    let trouble = place.trouble(&place.wanted(&[&server.url("/f")], Expected::default()));
    assert_eq!(trouble, Trouble::Changed);
}

/// Without a time of the file nobody can tell that it has changed but its checksum.
#[test]
fn what_was_joined_of_two_versions_comes_anew() {
    let old = content(50_000);
    let new = content(50_003)[3..].to_vec();
    let timeless = Faults {
        timeless: true,
        ..Faults::default()
    };
    // Left by an earlier time, and broken off in this one.
    let torn = Faults {
        torn_at: Some(20_000),
        times: 1,
        ..timeless
    };
    for faults in [timeless, torn] {
        let server = FtpServer::with(new.clone(), faults);
        let (place, url) = (Place::new(), server.url("/f"));
        let wanted = place.wanted(&[&url], known(&new));
        if faults.torn_at.is_none() {
            let mut part = old[..20_000].to_vec();
            part.resize(new.len(), 0);
            std::fs::create_dir_all(place.file.parent().unwrap()).unwrap();
            std::fs::write(place.file.with_extension("bin.part"), part).unwrap();
            let state = format!(
                "{{\"version\":1,\"url\":\"{url}\",\"identity\":{{\"total\":50000,\"etag\":null,\
                 \"modified\":null}},\"checksum\":\"{}\",\"total\":50000,\"done\":[[0,20000]]}}",
                wanted.expected.sha256.clone().unwrap()
            );
            std::fs::write(place.file.with_extension("bin.part.json"), state).unwrap();
        } else {
            server.first_gives(old.clone());
        }
        let got = place.fetch(&wanted).unwrap();
        assert_eq!((got.resumed, place.restarts()), (0, 1));
        assert_eq!(std::fs::read(&place.file).unwrap(), new);
    }
    // What came at one time is not asked for twice.
    let server = FtpServer::with(old, timeless);
    let place = Place::new();
    let trouble = place.trouble(&place.wanted(&[&server.url("/f")], known(&new)));
    assert_eq!((trouble, place.restarts()), (Trouble::OtherChecksum, 0));
}

#[test]
fn an_interruption_ends_the_wait_for_a_word() {
    let faults = Faults {
        silent: true,
        ..Faults::default()
    };
    let server = FtpServer::with(Vec::new(), faults);
    let place = Place::new();
    let wanted = place.wanted(&[&server.url("/f")], Expected::default());
    let patient = Limits {
        stall: Duration::from_secs(600),
        ..limits()
    };
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            while server.connections() == 0 {
                std::thread::sleep(Duration::from_millis(5));
            }
            place.stop.store(true, Ordering::Relaxed);
        });
        place.fetch_within(&wanted, &patient).unwrap_err()
    });
    assert!(
        matches!(error, DownloadError::Interrupted { .. }),
        "{error}"
    );
}

#[test]
fn an_interrupted_download_goes_on_by_another_protocol() {
    let bytes = content(300_000);
    let faults = Faults {
        stalled_at: Some(100_000),
        times: 1,
        ..Faults::default()
    };
    let server = FtpServer::with(bytes.clone(), faults);
    let place = Place::new();
    let wanted = place.wanted(&[&server.url("/f")], known(&bytes));
    let patient = Limits {
        stall: Duration::from_secs(600),
        ..limits()
    };
    let error = annbench_fetch::download(&wanted, &patient, &place.stop, &|event| {
        if matches!(event, annbench_fetch::Event::Progress { done: 100_000, .. }) {
            place.stop.store(true, Ordering::Relaxed);
        }
    })
    .unwrap_err();
    assert!(
        matches!(error, DownloadError::Interrupted { done: 100_000, .. }),
        "{error}"
    );
    place.stop.store(false, Ordering::Relaxed);
    let mirror = HttpServer::new({
        let bytes = bytes.clone();
        move |request| Reply::ranged(request, &bytes, &[])
    });
    let got = place
        .fetch(&place.wanted(&[&mirror.url("/f")], known(&bytes)))
        .unwrap();
    assert_eq!(got.resumed, 100_000);
    assert_eq!(std::fs::read(&place.file).unwrap(), bytes);
}
