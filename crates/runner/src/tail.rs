use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of standard error kept for a record.
const KEPT_BYTES: usize = 4096;

/// Reads a worker's standard error to its end and keeps the last 4 KiB.
pub(crate) struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Tail {
    /// Starts reading.
    pub fn follow(mut pipe: impl Read + Send + 'static) -> std::io::Result<Self> {
        let kept = Arc::new(Mutex::new(Vec::with_capacity(2 * KEPT_BYTES)));
        let shared = Arc::clone(&kept);
        let thread = std::thread::Builder::new()
            .name("stderr".to_owned())
            .spawn(move || {
                let mut chunk = [0u8; KEPT_BYTES];
                while let Ok(len @ 1..) = pipe.read(&mut chunk) {
                    let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend_from_slice(&chunk[..len]);
                    let excess = kept.len().saturating_sub(KEPT_BYTES);
                    kept.drain(..excess);
                }
            })?;
        Ok(Self { kept, thread })
    }

    /// What has arrived so far, without what terminals would act on.
    pub fn text(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept)
            .chars()
            .map(|c| {
                if c.is_control() && c != '\n' && c != '\t' {
                    '\u{fffd}'
                } else {
                    c
                }
            })
            .collect()
    }

    /// Waits a little for the pipe's end, so that the last words are in.
    pub fn settle(&self) {
        let deadline = Instant::now() + Duration::from_millis(500);
        while !self.thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
