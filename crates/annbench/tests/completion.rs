//! What a shell completes, asked as the shells ask.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use std::process::Command;
use support::{Bench, adapters};

/// The lines that the script for `shell` gets for `words`, the last of which is being typed.
fn candidates(bench: &Bench, shell: &str, words: &[&str]) -> Vec<String> {
    let output = bench
        .command(&[&["--"], words].concat())
        .env("ANNBENCH_COMPLETE", shell)
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .env("_CLAP_IFS", "\n")
        .output()
        .unwrap();
    assert!(output.status.success(), "{shell} {words:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn every_shell_gets_verbs_flags_datasets_and_adapters() {
    let bench = Bench::calibrated();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = bench.answer(&["completions", shell]);
        assert!(script.contains("ANNBENCH_COMPLETE"), "{shell}:\n{script}");
        for (words, expected) in [
            (&["annbench", "expl"][..], "explain"),
            (&["annbench", "run", "--acc"], "--accept-checksum"),
            (&["annbench", "run", "f", "--dataset", "ti"], "tiny"),
            (&["annbench", "datasets", "show", "t"], "tiny"),
            (
                &["annbench", "plan", "f", "--adapter", "cali"],
                "calibration",
            ),
            (
                &["annbench", "plan", "f", "--without-adapter", "ex"],
                "exact",
            ),
            (&["annbench", "adapters", "cal"], "calibration"),
        ] {
            let found = candidates(&bench, shell, words);
            assert!(
                found
                    .iter()
                    .any(|line| line.trim_start().starts_with(expected)),
                "{shell} {words:?}: {found:?}"
            );
        }
    }
    assert!(bench.complaint(&["completions", "csh"], 2).contains("zsh"));
}

#[test]
fn bash_completes_verbs_and_the_names_of_what_is_there() {
    let bench = Bench::calibrated();
    bench.write("annbench.bash", &bench.answer(&["completions", "bash"]));
    // The script is sourced, then asked as bash itself would ask.
    let complete = |words: &[&str]| {
        let last = words.len() - 1;
        let asked = format!(
            ". ./annbench.bash; COMP_WORDS=({}); COMP_CWORD={last}; COMP_TYPE=9; \
             _clap_complete_annbench annbench {} {}; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words[last],
            words[last - 1]
        );
        let output = Command::new("bash")
            .args(["--norc", "-c", &asked])
            .current_dir(bench.path("."))
            .env("ANNBENCH_ADAPTER_PATH", adapters())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let found: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
        found
    };
    assert_eq!(complete(&["annbench", "expl"]), ["explain"]);
    assert_eq!(
        complete(&["annbench", "run", "f", "--dataset", "ti"]),
        ["tiny"]
    );
    assert_eq!(
        complete(&["annbench", "adapters", "calib"]),
        ["calibration"]
    );
    // What was not there when the script was written.
    bench.write("datasets/titan.yaml", "");
    assert_eq!(
        complete(&["annbench", "datasets", "show", "ti"]),
        ["tiny", "titan"]
    );
}
