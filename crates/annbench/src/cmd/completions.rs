use crate::Answer;
use crate::args::CompletionsArgs;
use crate::complete::VARIABLE;
use anyhow::{Context, bail};
use clap_complete::env::Shells;
use std::path::{Path, PathBuf};

/// `annbench completions SHELL`
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Answer> {
    let shell = args.shell.to_string();
    let shells = Shells::builtins();
    let Some(completer) = shells.completer(&shell) else {
        let known: Vec<&str> = shells.names().collect();
        bail!(
            "no script for {shell}; there is one for {}",
            known.join(", ")
        );
    };
    let own = own_command();
    let mut script = Vec::new();
    completer
        .write_registration(VARIABLE, "annbench", "annbench", &own, &mut script)
        .context("the completion script")?;
    let script = String::from_utf8(script).context("the completion script")?;
    Ok(Answer::good(script))
}

/// The command as it was called, where that finds it from any folder, else its whole path.
fn own_command() -> String {
    let called = std::env::args_os().next().map(PathBuf::from);
    let called = called.unwrap_or_else(|| PathBuf::from("annbench"));
    let found = match called.components().count() {
        0 | 1 => called,
        _ => std::env::current_exe().unwrap_or(called),
    };
    Path::display(&found).to_string()
}
