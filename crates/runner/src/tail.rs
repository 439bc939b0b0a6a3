use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of standard error kept for a record.
const KEPT_BYTES: usize = 4096;

/// The last bytes, and how many of them came since [`Tail::begin`].
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    since: usize,
}

/// Reads a worker's standard error to its end and keeps the last 4 KiB.
pub(crate) struct Tail {
    kept: Arc<Mutex<Kept>>,
    thread: JoinHandle<()>,
}

impl Tail {
    /// Starts reading.
    pub fn follow(mut pipe: impl Read + Send + 'static) -> std::io::Result<Self> {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let shared = Arc::clone(&kept);
        let thread = std::thread::Builder::new()
            .name("stderr".to_owned())
            .spawn(move || {
                let mut chunk = [0u8; KEPT_BYTES];
                while let Ok(len @ 1..) = pipe.read(&mut chunk) {
                    let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.bytes.extend_from_slice(&chunk[..len]);
                    kept.since = KEPT_BYTES.min(kept.since + len);
                    let excess = kept.bytes.len().saturating_sub(KEPT_BYTES);
                    kept.bytes.drain(..excess);
                }
            })?;
        Ok(Self { kept, thread })
    }

    /// From now on only what comes next is told.
    pub fn begin(&self) {
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .since = 0;
    }

    /// What has arrived since the beginning, without what terminals would act on.
    pub fn text(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept.bytes[kept.bytes.len() - kept.since..])
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
