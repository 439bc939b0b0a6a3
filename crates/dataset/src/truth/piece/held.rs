use crate::DatasetError;
use crate::progress::{Activity, Meter, Watch};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

/// How often another process is looked after that searches in the same folder.
const PAUSE: Duration = Duration::from_millis(100);

/// The folder of a piece, in which one process searches at a time. The lock is the kernel's: it ends with the
/// process, however that ends.
pub(super) struct Held {
    // `None` where the file system knows no locks, or something else is in the place of the lock.
    _file: Option<File>,
}

impl Held {
    /// Makes the folder, and waits for who searches there.
    pub(super) fn wait(dir: &Path, watch: Watch<'_>) -> Result<Self, DatasetError> {
        std::fs::create_dir_all(dir)
            .map_err(|why| DatasetError::io("make the folder", dir, why))?;
        let path = dir.join("lock");
        // Opening a FIFO would wait for who reads it.
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Ok(Self { _file: None });
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|why| DatasetError::io("open", &path, why))?;
        let meter = Meter::new(watch, Activity::Waiting, dir, 1);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: Some(file) }),
                Err(TryLockError::WouldBlock) => {
                    meter.at(0)?;
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::Error(_)) => return Ok(Self { _file: None }),
            }
        }
    }
}
