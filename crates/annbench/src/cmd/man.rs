use crate::Answer;
use crate::args::{Args, ManArgs};
use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::fmt::Write;
use std::path::Path;

/// `annbench man [--out DIR]`
pub fn man(args: &ManArgs) -> anyhow::Result<Answer> {
    match &args.out {
        None => Ok(Answer::good(page(command())?)),
        Some(out) => write_pages(out),
    }
}

/// Without `help`, which would have a page for every verb once more.
fn command() -> Command {
    Args::command().disable_help_subcommand(true)
}

fn page(command: Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    Man::new(command)
        .render(&mut page)
        .context("the manual page")?;
    String::from_utf8(page).context("the manual page")
}

/// A page for the command and one for each verb, however deep; their paths are the answer.
fn write_pages(out: &Path) -> anyhow::Result<Answer> {
    std::fs::create_dir_all(out)
        .with_context(|| format!("{}: name another folder with --out", out.display()))?;
    let mut root = command();
    root.build();
    let mut text = String::new();
    let mut left = vec![root];
    while let Some(command) = left.pop() {
        left.extend(command.get_subcommands().cloned());
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = out.join(format!("{name}.1"));
        std::fs::write(&path, page(command)?)
            .with_context(|| format!("writing {}: free space", path.display()))?;
        let _ = writeln!(text, "{}", path.display());
    }
    Ok(Answer::good(text))
}
