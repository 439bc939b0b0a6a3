use crate::Answer;
use crate::args::{Args, CompletionsArgs};
use anyhow::Context;
use clap::CommandFactory;

/// `annbench completions SHELL`
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Answer> {
    // Into memory first: the generator would end the process when its reader has gone.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "annbench", &mut script);
    let script = String::from_utf8(script).context("the completion script")?;
    Ok(Answer::good(script))
}
