//! Command lines, as one would type them again.

use crate::args::RunArgs;
use crate::places::Places;
use annbench_runner::ADAPTER_PATH;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The command line of this process, quoted for a shell.
pub fn as_given() -> String {
    let words = std::env::args_os().skip(1);
    let words: Vec<String> = words.map(|word| quoted(&word.to_string_lossy())).collect();
    format!("annbench {}", words.join(" "))
}

/// The command line that gives this run again. Files and folders are named as the user named them,
/// unless that would tell about this machine: then by their last part. `adapter_path` is the value of
/// [`ADAPTER_PATH`], which may decide what was measured.
pub fn command(
    places: &Places,
    args: &RunArgs,
    out: &Path,
    adapter_path: Option<&OsStr>,
) -> String {
    let mut words = vec!["annbench run".to_owned(), shown(&args.selection.file)];
    let mut add = |flag: &str, values: &[String]| {
        for value in values {
            words.push(format!("{flag} {value}"));
        }
    };
    let quoted_all = |values: &[String]| values.iter().map(|v| quoted(v)).collect::<Vec<_>>();
    // A dataset may be named by the path of its entry.
    let datasets: Vec<String> = (args.selection.dataset.iter())
        .map(|name| shown(Path::new(name)))
        .collect();
    add("--dataset", &datasets);
    add("--group", &quoted_all(&args.selection.group));
    add("--adapter", &quoted_all(&args.selection.adapter));
    add(
        "--without-adapter",
        &quoted_all(&args.selection.without_adapter),
    );
    add(
        "--accept-checksum",
        &quoted_all(&args.selection.accept_checksum),
    );
    add("--narrow", &quoted_all(&args.selection.narrow));
    let accepted = args.selection.accept_violation.iter();
    let accepted: Vec<String> = accepted.map(|a| quoted(&a.to_string())).collect();
    add("--accept-violation", &accepted);
    if let Some(budget) = &args.effort.budget {
        words.push(format!("--budget {budget}"));
    }
    if let Some(recall) = args.effort.stop_at_recall {
        words.push(format!("--stop-at-recall {recall}"));
    }
    for (flag, path) in &places.flags {
        words.push(format!("{flag} {}", shown(path)));
    }
    words.push(format!("--out {}", shown(out)));
    if let Some(path) = adapter_path {
        let folders: Vec<String> = std::env::split_paths(path).map(|f| shown(&f)).collect();
        words.insert(0, format!("{ADAPTER_PATH}={}", folders.join(":")));
    }
    words.join(" ")
}

fn shown(path: &Path) -> String {
    let path = if path.is_absolute() {
        PathBuf::from(path.file_name().unwrap_or(path.as_os_str()))
    } else {
        path.to_owned()
    };
    quoted(&path.display().to_string())
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Verb};
    use clap::Parser;

    fn reproduced(line: &[&str], adapter_path: Option<&str>) -> String {
        let args = Args::parse_from(line);
        let places = Places::new(&args.places);
        let Verb::Run(run) = &args.verb else {
            panic!("{args:?}");
        };
        let out = run.out.clone().unwrap_or_default();
        command(&places, run, &out, adapter_path.map(OsStr::new))
    }

    #[test]
    fn words_that_a_shell_would_split_are_quoted() {
        assert_eq!(quoted("configs/a.yaml"), "configs/a.yaml");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
        let line = ["annbench", "run", "my sweeps/a.yaml", "--group", "a b"];
        let line = [&line[..], &["--dataset", "/home/me/set.yaml"]].concat();
        let line = [&line[..], &["--out", "/home/me/run 1"]].concat();
        assert_eq!(
            reproduced(&line, Some("/home/me/adapters:theirs")),
            "ANNBENCH_ADAPTER_PATH=adapters:theirs annbench run 'my sweeps/a.yaml' --dataset set.yaml \
             --group 'a b' --out 'run 1'"
        );
    }
}
