//! What fuzz targets do with their input.

mod reading;

pub use reading::Reading;

/// Reads `bytes` as `format`: a panic is a find.
pub fn read(format: &str, bytes: &[u8]) {
    thread_local! {
        static READING: Option<Reading> = Reading::new().ok();
    }
    READING.with(|reading| {
        if let Some(reading) = reading {
            let _ = reading.read(format, bytes);
        }
    });
}
