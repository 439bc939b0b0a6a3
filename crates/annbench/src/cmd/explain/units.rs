//! Numbers and names as the lines have them.

pub(super) fn or_none(params: &str) -> &str {
    if params.is_empty() { "none" } else { params }
}

pub(super) fn millis(ns: u64) -> String {
    format!("{:.1}", ns as f64 / 1e6)
}

pub(super) fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

pub(super) fn mebibytes(bytes: f64) -> String {
    format!("{:.1} MiB", bytes / f64::from(1u32 << 20))
}
