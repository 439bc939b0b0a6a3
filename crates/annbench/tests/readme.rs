//! Every command in README.md, and in those of the folders, works as written there.
#![allow(
    clippy::unwrap_used,
    reason = "a test may end on what it did not expect"
)]

mod support;

use std::path::Path;
use std::process::Command;
use support::{adapters, link_command, root};

/// What scripts/test itself runs or is.
const SCRIPTS: [&str; 2] = ["scripts/quickstart", "scripts/test"];

/// Commands of the console blocks of `text`, in order.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut console = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            console = language == "console";
        } else if console && let Some(command) = line.strip_prefix("$ ") {
            commands.push(command.to_owned());
        }
    }
    commands
}

/// Files that `text` spells out: blocks that name one.
fn files(text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            let name = language.strip_prefix("yaml ").filter(|_| !inside);
            inside = name.is_some();
            files.extend(name.map(|name| (name.to_owned(), String::new())));
        } else if inside && let Some((_, contents)) = files.last_mut() {
            contents.push_str(line);
            contents.push('\n');
        }
    }
    files
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with('.') || name == "downloads" {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

#[test]
fn as_many_datasets_are_said_to_be_there_as_there_are() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let items = std::fs::read_dir(root().join("datasets")).unwrap();
    let entries = items.filter(|item| {
        let path = item.as_ref().unwrap().path();
        path.extension()
            .is_some_and(|extension| extension == "yaml")
    });
    let said = format!("\n{} datasets, 1 of them here.", entries.count());
    assert!(readme.contains(&said), "{said}");
}

#[test]
fn every_command_runs() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let mut commands = commands(&readme);
    for other in ["configs", "datasets", "results"] {
        let text = std::fs::read_to_string(root().join(other).join("README.md")).unwrap();
        commands.extend(self::commands(&text));
    }
    let test = std::fs::read_to_string(root().join("scripts/test")).unwrap();
    for script in SCRIPTS {
        assert!(commands.iter().any(|command| command == script), "{script}");
    }
    assert!(test.contains("scripts/quickstart"));

    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("configs"), &folder.path().join("configs"));
    copy(&root().join("datasets"), &folder.path().join("datasets"));
    let own = files(&std::fs::read_to_string(root().join("datasets/README.md")).unwrap());
    assert_eq!(own.len(), 1, "an entry of one's own");
    for (name, contents) in own {
        std::fs::write(folder.path().join("datasets").join(name), contents).unwrap();
    }
    let bin = folder.path().join("bin");
    link_command(&bin);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let run = |command: &str| {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("ANNBENCH_ADAPTER_PATH", adapters())
            .output()
            .unwrap();
        // On a busy machine the self-test may say so, and ends with 1: it ran all the same.
        let busy = command == "annbench selftest" && output.status.code() == Some(1);
        assert!(
            output.status.success() || busy,
            "{command}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    };
    // What scripts/quickstart leaves behind, for one adapter.
    run(
        "annbench run configs/quickstart.yaml --adapter exact --skip-selftest --out results/quickstart",
    );
    let mut ran = 0;
    for command in &commands {
        if SCRIPTS.contains(&command.as_str()) {
            continue;
        }
        assert!(
            command.starts_with("annbench "),
            "the command `{command}` of a README is neither annbench nor a script that scripts/test runs"
        );
        run(command);
        ran += 1;
    }
    assert!(ran >= 5, "only {ran} commands of README.md were found");
}
