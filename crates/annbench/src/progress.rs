//! What goes on, on standard error: a bar on a terminal, plain lines elsewhere.

use crate::terminal::{harmless, say, show_bar};
use annbench_results::Outcome;
use annbench_runner::Event;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Shows the progress of a run over all its jobs.
pub struct Progress {
    bar: Option<ProgressBar>,
    points: Share,
    builds: Share,
    job: String,
    end: Option<Instant>,
}

/// How much of one kind of work is done, and what it took.
struct Share {
    total: usize,
    done: usize,
    timed: usize,
    spent: Duration,
    since: Option<Instant>,
}

impl Share {
    fn new(total: usize) -> Self {
        Self {
            total,
            done: 0,
            timed: 0,
            spent: Duration::ZERO,
            since: None,
        }
    }

    fn begin(&mut self) {
        self.since = Some(Instant::now());
    }

    fn end(&mut self) {
        self.done += 1;
        if let Some(since) = self.since.take() {
            self.timed += 1;
            self.spent += since.elapsed();
        }
    }

    /// Time for the rest at the mean pace so far; `None` while nothing was timed.
    fn left(&self) -> Option<Duration> {
        let rest = self.total.saturating_sub(self.done) as u32;
        if rest == 0 {
            return Some(Duration::ZERO);
        }
        let timed = u32::try_from(self.timed).ok().filter(|&timed| timed > 0)?;
        let left = (self.spent / timed) * rest;
        Some(left.saturating_sub(self.since.map_or(Duration::ZERO, |since| since.elapsed())))
    }
}

impl Progress {
    /// Progress over `builds` builds and `points` points, of which none begins after `end`.
    pub fn new(builds: usize, points: usize, end: Option<Instant>) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(
                Some(points as u64),
                ProgressDrawTarget::stderr_with_hz(4),
            );
            if let Ok(style) = ProgressStyle::with_template(
                "{bar:24} {pos}/{len} points, {elapsed} gone, {prefix}  {wide_msg}",
            ) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        show_bar(bar.clone());
        Self {
            bar,
            points: Share::new(points),
            builds: Share::new(builds),
            job: String::new(),
            end,
        }
    }

    /// Takes in one event.
    pub fn observe(&mut self, event: Event) {
        match event {
            Event::JobStarted { job, .. } => self.job = job,
            Event::Building { job, loaded } => {
                self.builds.begin();
                let verb = if loaded { "loading" } else { "building" };
                self.now(&format!("{verb} {job}"));
            }
            Event::Built { outcome, wall_ns } => {
                self.builds.end();
                match (outcome, wall_ns) {
                    (Outcome::Ok, Some(wall_ns)) => say(&format!(
                        "built {} in {:.1} s",
                        self.job,
                        wall_ns as f64 / 1e9
                    )),
                    (outcome, _) => {
                        say(&format!("build {}: {}", outcome_text(&outcome), self.job));
                    }
                }
            }
            Event::Searching { point } => {
                self.points.begin();
                self.now(&format!("searching {point} | {}", self.job));
            }
            Event::PointDone {
                point,
                outcome,
                recall,
                qps,
            } => {
                self.points.end();
                let figures = match (recall, qps) {
                    (Some(recall), Some(qps)) => format!(": recall {recall:.4}, {qps:.0} QPS"),
                    _ => String::new(),
                };
                let left = match &self.bar {
                    Some(_) => String::new(),
                    None => format!("; {}", self.left_text()),
                };
                say(&format!(
                    "[{}/{}] {} {point}{figures}{left}",
                    self.points.done,
                    self.points.total,
                    outcome_text(&outcome)
                ));
                if let Some(bar) = &self.bar {
                    bar.set_position(self.points.done as u64);
                }
            }
        }
        if let Some(bar) = &self.bar {
            bar.set_prefix(self.left_text());
        }
    }

    fn left_text(&self) -> String {
        let budget = self
            .end
            .map(|end| end.saturating_duration_since(Instant::now()));
        match (self.points.left(), self.builds.left(), budget) {
            (Some(points), Some(builds), None) => {
                format!("about {} left", duration(points + builds))
            }
            (Some(points), Some(builds), Some(budget)) if points + builds < budget => {
                format!("about {} left", duration(points + builds))
            }
            (_, _, Some(budget)) => format!("{} of the budget left", duration(budget)),
            (_, _, None) => "time left unknown".to_owned(),
        }
    }

    fn now(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(harmless(text).into_owned()),
            None => say(text),
        }
    }
}

impl Drop for Progress {
    /// Takes the bar away.
    fn drop(&mut self) {
        show_bar(None);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `1 build`, `2 builds`.
pub fn plural(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// Seconds, minutes or hours, as people say them.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=9 => format!("{:.1} s", duration.as_secs_f64()),
        10..=99 => format!("{seconds} s"),
        100..=5999 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{:.1} h", duration.as_secs_f64() / 3600.0),
    }
}

/// The outcome in a few words, with its cause.
pub fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok => "ok".to_owned(),
        Outcome::Rejected { reason } => format!("rejected ({reason})"),
        Outcome::Failed(failure) => format!(
            "FAILED ({} at {}: {})",
            failure.cause.word(),
            failure.stage,
            failure.message
        ),
        Outcome::Skipped { because, .. } => format!("skipped ({because})"),
    }
}
