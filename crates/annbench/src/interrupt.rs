use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Set by the first Ctrl-C, SIGTERM or SIGHUP once [`listen`] was called.
pub fn flag() -> &'static AtomicBool {
    &INTERRUPTED
}

/// From now on a first interrupt asks to stop cleanly; a second one ends the process at once.
///
/// # Errors
/// When the handler cannot be installed.
pub fn listen() -> anyhow::Result<()> {
    listen_keeping("finished points are kept")
}

/// As [`listen`]; `kept` says what does not get lost.
///
/// # Errors
/// When the handler cannot be installed.
pub fn listen_keeping(kept: &'static str) -> anyhow::Result<()> {
    ctrlc::set_handler(move || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        crate::terminal::say(&format!("stopping; {kept} (again to stop at once)"));
    })
    .map_err(|error| anyhow::anyhow!("listening for Ctrl-C: {error}"))
}
