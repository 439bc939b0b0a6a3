//! The two ways out of the command: lines on standard error, the answer on standard output. Nothing
//! that a library, a file or an argument says reaches a terminal as a control sequence.

use indicatif::ProgressBar;
use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// The bar that is being shown, if any: lines go above it.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// From now on lines go above `bar`; without one, straight out.
pub fn show_bar(bar: Option<ProgressBar>) {
    *BAR.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// One line on standard error; a closed standard error is no reason to stop measuring.
pub fn say(text: &str) {
    let bar = BAR.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let write = || {
        let _ = writeln!(io::stderr(), "{}", harmless(text));
    };
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// The answer on standard output. A reader that has gone (`| head`) chose to.
///
/// # Errors
/// Any other write error.
pub fn answer(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout();
    let written = write!(stdout, "{}", harmless(text)).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// `text` without what a terminal would act on.
pub fn harmless(text: &str) -> Cow<'_, str> {
    // Control characters, and those that turn the direction of writing.
    let acts = |c: char| {
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        turns || (c.is_control() && c != '\n' && c != '\t')
    };
    if text.chars().any(acts) {
        let shown = text.chars().map(|c| if acts(c) { '\u{fffd}' } else { c });
        Cow::Owned(shown.collect())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_do_not_pass() {
        assert_eq!(harmless("a\tb\n"), "a\tb\n");
        assert_eq!(harmless("\u{1b}[2Jgone\r"), "\u{fffd}[2Jgone\u{fffd}");
        assert_eq!(harmless("\u{9b}31m"), "\u{fffd}31m");
        assert_eq!(harmless("a\u{202e}b"), "a\u{fffd}b");
    }
}
