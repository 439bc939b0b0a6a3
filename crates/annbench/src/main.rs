//! The command: arguments, wiring, progress, exit codes.

mod accepted;
mod args;
mod campaign;
mod catalogued;
mod cmd;
mod complete;
mod edited;
mod environment;
mod estimate;
mod interrupt;
mod json;
mod judged;
mod known;
mod lost;
mod places;
mod progress;
mod reproduce;
mod selftest;
mod steer;
mod subject;
mod summary;
mod terminal;
mod undeclared;
mod work;

use annbench_runner::RunError;
use args::{Args, Verb};
use clap::Parser;
use std::process::ExitCode;
use terminal::say;

fn main() -> ExitCode {
    complete::answer_shell();
    let args = Args::parse();
    let places = places::Places::new(&args.places);
    let answer = match &args.verb {
        Verb::Run(run) => cmd::run::run(&places, run),
        Verb::Plan(plan) => cmd::plan::plan(&places, plan),
        Verb::Check(check) => cmd::check::check(&places, check),
        Verb::Report(report) => cmd::report::report(report),
        Verb::Explain(explain) => cmd::explain::explain(explain),
        Verb::Rescore(rescore) => cmd::rescore::rescore(&places, rescore),
        Verb::Agreement(agreement) => cmd::agreement::agreement(agreement),
        Verb::AuditQuantiser(audit) => cmd::audit_quantiser::audit_quantiser(&places, audit),
        Verb::Adapters(adapters) => cmd::adapters::adapters(adapters),
        Verb::Datasets(datasets) => cmd::datasets::datasets(&places, &datasets.verb),
        Verb::Truth(truth) => cmd::truth::truth(&places, &truth.verb),
        Verb::Selftest(selftest) => cmd::selftest::selftest(selftest),
        Verb::Completions(completions) => cmd::completions::completions(completions),
        Verb::Man(man) => cmd::man::man(man),
    };
    match answer {
        Ok(answer) => {
            if let Err(error) = terminal::answer(&answer.text) {
                say(&format!("annbench: writing the answer: {error}"));
                ExitCode::from(2)
            } else if answer.good {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) if was_interrupted(&error) => {
            say(&format!("annbench: {}", explain(&error)));
            ExitCode::from(130)
        }
        Err(error) => {
            say(&format!("annbench: {}", explain(&error)));
            ExitCode::from(2)
        }
    }
}

fn was_interrupted(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<RunError>(),
        Some(RunError::Interrupted)
    ) || interrupt::flag().load(std::sync::atomic::Ordering::Relaxed)
}

/// The error and its causes, those left out whose words are there already.
pub fn explain(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// What a verb has to say on standard output.
pub struct Answer {
    /// The text, with its final newline.
    pub text: String,
    /// Whether the answer is good news; the exit code is 1 otherwise.
    pub good: bool,
}

impl Answer {
    /// Good news.
    pub fn good(text: String) -> Self {
        Self { text, good: true }
    }
}
