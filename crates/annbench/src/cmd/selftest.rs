use crate::args::SelftestArgs;
use crate::selftest::run_selftest;
use crate::{Answer, interrupt, json, terminal};
use annbench_results::SelfTest;
use std::fmt::Write;

/// `annbench selftest`
pub fn selftest(args: &SelftestArgs) -> anyhow::Result<Answer> {
    interrupt::listen()?;
    terminal::say("calibrating: exact, random, null and spin searchers");
    let pool = super::scoring_pool()?;
    let selftest = run_selftest(&annbench_results::collect_machine(), &pool)?;
    let good = selftest.checks.iter().all(|check| check.passed);
    Ok(Answer {
        text: match args.form.json {
            true => json::document(&selftest)?,
            false => text(&selftest),
        },
        good,
    })
}

/// A line per check.
pub fn text(selftest: &SelfTest) -> String {
    let mut text = String::new();
    for check in &selftest.checks {
        let verdict = if check.passed { "ok    " } else { "FAILED" };
        let _ = writeln!(text, "{verdict}  {:7} {}", check.name, check.detail);
    }
    text
}
