//! How far a download is, on standard error: a bar on a terminal, plain lines elsewhere.

use crate::progress::duration;
use crate::terminal::{harmless, say, show_bar};
use annbench_fetch::Event;
use annbench_report::count;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shows what happens to one file.
pub struct Bar {
    file: String,
    bar: Option<ProgressBar>,
    lines: Mutex<Lines>,
}

/// What plain lines have told.
struct Lines {
    since: Instant,
    begun_at: u64,
    told: Instant,
    what: &'static str,
}

/// Between two plain lines.
const TELL_EVERY: Duration = Duration::from_secs(10);

impl Bar {
    pub fn new(file: &str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(4);
            let bar = ProgressBar::with_draw_target(None, target);
            let template = "{bar:24} {decimal_bytes}/{decimal_total_bytes}, {decimal_bytes_per_sec}, \
                            {eta} left  {wide_msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_message(harmless(file).into_owned());
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        show_bar(bar.clone());
        let now = Instant::now();
        Self {
            file: file.to_owned(),
            bar,
            lines: Mutex::new(Lines {
                since: now,
                begun_at: 0,
                told: now,
                what: "",
            }),
        }
    }

    /// Takes in one event, from any thread.
    pub fn observe(&self, event: Event) {
        match event {
            Event::Started {
                url,
                done,
                total,
                connections,
            } => {
                let resumed = match done {
                    0 => String::new(),
                    done => format!(", {} of which are here", count(done)),
                };
                let by = match connections {
                    1 => String::new(),
                    several => format!(", {several} connections"),
                };
                say(&format!("{url}: {} bytes{resumed}{by}", count(total)));
                self.begin(done, total, "came");
            }
            Event::Progress { done, total } => self.at(done, total, "came"),
            Event::Verifying { done, total } => self.at(done, total, "verified"),
            Event::Unpacking { done, total } => self.at(done, total, "unpacked"),
            Event::Retrying {
                why,
                attempt,
                of,
                wait,
                ..
            } => say(&format!(
                "{why}; attempt {attempt} of {of} in {}",
                match wait.as_secs() {
                    0 => "a moment".to_owned(),
                    _ => duration(wait),
                }
            )),
            Event::Restarted { why, .. } => say(&format!("{}: begun anew: {why}", self.file)),
            Event::NextSource { why } => say(&format!("{why}; now the next source")),
        }
    }

    fn begin(&self, done: u64, total: u64, what: &'static str) {
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
            // What was there before says nothing of the rate.
            bar.reset_eta();
            bar.set_message(harmless(&format!("{} {what}", self.file)).into_owned());
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        *lines = Lines {
            since: now,
            begun_at: done,
            told: now,
            what,
        };
    }

    fn at(&self, done: u64, total: u64, what: &'static str) {
        let told = {
            let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.what
        };
        if told != what {
            self.begin(0, total, what);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            return;
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.told.elapsed() < TELL_EVERY {
            return;
        }
        lines.told = Instant::now();
        let rate = done.saturating_sub(lines.begun_at) as f64 / lines.since.elapsed().as_secs_f64();
        let left = match rate > 0.0 {
            true => {
                let seconds = total.saturating_sub(done) as f64 / rate;
                // A rate next to nothing gives more than a duration holds.
                Duration::try_from_secs_f64(seconds).map_or("long".to_owned(), duration)
            }
            false => "time unknown".to_owned(),
        };
        say(&format!(
            "{}: {} of {} bytes {what}, {:.1} MB/s, about {left} left",
            self.file,
            count(done),
            count(total),
            rate / 1e6
        ));
    }
}

impl Drop for Bar {
    /// Takes the bar away.
    fn drop(&mut self) {
        show_bar(None);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
