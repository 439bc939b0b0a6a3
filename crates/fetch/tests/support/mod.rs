//! Servers on this machine, and downloads from them.
#![allow(dead_code, reason = "each test file uses some of it")]

pub mod ftp_server;
pub mod http_server;

use annbench_fetch::{
    Download, DownloadError, Downloaded, Event, Expected, Limits, Source, SourceError, Trouble,
    download,
};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;

/// Bytes without a period that a range could hide in.
pub fn content(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Limits that make failures come soon, but for stalls: a busy machine makes those, too.
pub fn limits() -> Limits {
    Limits {
        connections: 3,
        piece: 10_000,
        connect: Duration::from_secs(5),
        stall: Duration::from_secs(60),
        slowest: 1,
        tries: 3,
        headway: 1 << 20,
        backoff: Duration::from_millis(1),
        longest_backoff: Duration::from_millis(10),
        proxy: false,
        ..Limits::default()
    }
}

/// [`limits`] of somebody who does not wait.
pub fn impatient() -> Limits {
    Limits {
        stall: Duration::from_millis(500),
        ..limits()
    }
}

/// A folder to download into, and what is told on the way.
pub struct Place {
    folder: TempDir,
    pub file: PathBuf,
    pub events: Mutex<Vec<Event>>,
    pub stop: AtomicBool,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            file: folder.path().join("sub/file.bin"),
            folder,
            events: Mutex::default(),
            stop: AtomicBool::new(false),
        }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn wanted(&self, urls: &[&str], expected: Expected) -> Download {
        Download {
            file: self.file.clone(),
            sources: urls.iter().map(|url| Source::new(url).unwrap()).collect(),
            expected,
            cut: None,
        }
    }

    pub fn fetch(&self, wanted: &Download) -> Result<Downloaded, DownloadError> {
        self.fetch_within(wanted, &limits())
    }

    pub fn fetch_within(
        &self,
        wanted: &Download,
        limits: &Limits,
    ) -> Result<Downloaded, DownloadError> {
        download(wanted, limits, &self.stop, &|event| {
            self.events.lock().unwrap().push(event);
        })
    }

    /// The one failure of a download that must not leave a file.
    pub fn failure(&self, wanted: &Download) -> SourceError {
        self.failure_within(wanted, &limits())
    }

    pub fn failure_within(&self, wanted: &Download, limits: &Limits) -> SourceError {
        let error = self.fetch_within(wanted, limits).unwrap_err();
        assert!(!self.file.exists(), "a file that was not verified");
        let DownloadError::Sources { file, failures } = &error else {
            panic!("{error}");
        };
        assert_eq!(file, &self.file);
        assert_eq!(failures.len(), 1, "{error}");
        let failure = failures[0].clone();
        let text = error.to_string();
        for part in [
            self.file.to_str().unwrap(),
            &failure.url,
            &failure.expected,
            &failure.found,
        ] {
            assert!(!part.is_empty() && text.contains(part), "{part} in {text}");
        }
        failure
    }

    pub fn trouble(&self, wanted: &Download) -> Trouble {
        self.failure(wanted).trouble
    }

    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder().join("sub")) else {
            return Vec::new();
        };
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub fn heard(&self, what: impl Fn(&Event) -> bool) -> usize {
        self.events
            .lock()
            .unwrap()
            .iter()
            .filter(|e| what(e))
            .count()
    }

    pub fn retries(&self) -> usize {
        self.heard(|event| matches!(event, Event::Retrying { .. }))
    }

    pub fn restarts(&self) -> usize {
        self.heard(|event| matches!(event, Event::Restarted { .. }))
    }
}

/// Size and SHA-256 of `bytes`.
pub fn known(bytes: &[u8]) -> Expected {
    Expected {
        bytes: Some(bytes.len() as u64),
        sha256: Some(sha256(bytes)),
        md5: None,
    }
}
