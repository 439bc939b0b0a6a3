use crate::args::{AdaptersArgs, Form};
use crate::{Answer, interrupt, json};
use annbench_core::{ElementType, Metric, ParamDoc, ParamKind};
use annbench_report::Footnotes;
use annbench_results::AdapterInfo;
use annbench_runner::{adapter_folders, find_adapter, inspect_adapter, list_adapters};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// Names of adapters and libraries longer than this stand whole below the list.
const LONGEST_NAME: usize = 40;

/// `annbench adapters [NAME]`
pub fn adapters(args: &AdaptersArgs) -> anyhow::Result<Answer> {
    let folders = adapter_folders();
    match &args.name {
        Some(name) => show(name, args.form),
        None if args.form.json => list_as_json(&folders),
        None => {
            let mut text = String::new();
            let mut good = true;
            let mut notes = Footnotes::new();
            for installed in list_adapters(&folders) {
                match inspect_adapter(&installed, interrupt::flag()) {
                    Ok(info) => {
                        let d = &info.descriptor;
                        let modes: Vec<&str> = d.modes.iter().map(|mode| mode.name()).collect();
                        let library = format!("{} {}", d.library, d.library_version);
                        let _ = writeln!(
                            text,
                            "{:14} {:28} {:14} {}",
                            notes.fit(&d.adapter, LONGEST_NAME),
                            notes.fit(&library, LONGEST_NAME),
                            modes.join(", "),
                            supports(d)
                        );
                    }
                    Err(error) => {
                        good = false;
                        let _ = writeln!(text, "{:14} unusable: {error}", installed.adapter);
                    }
                }
            }
            let _ = write!(text, "{notes}");
            if text.is_empty() {
                text = "no adapters are installed; build them with scripts/build-adapters\n"
                    .to_owned();
                good = false;
            }
            Ok(Answer { text, good })
        }
    }
}

#[derive(Serialize)]
struct List {
    adapters: Vec<Shown>,
    unusable_adapters: Vec<UnusableAdapter>,
}

#[derive(Serialize)]
struct UnusableAdapter {
    adapter: String,
    path: PathBuf,
    reason: String,
}

/// An adapter as run records have it, and where it is.
#[derive(Serialize)]
struct Shown {
    path: PathBuf,
    #[serde(flatten)]
    info: AdapterInfo,
}

fn list_as_json(folders: &[PathBuf]) -> anyhow::Result<Answer> {
    let mut list = List {
        adapters: Vec::new(),
        unusable_adapters: Vec::new(),
    };
    for installed in list_adapters(folders) {
        match inspect_adapter(&installed, interrupt::flag()) {
            Ok(info) => list.adapters.push(Shown {
                path: installed.path,
                info,
            }),
            Err(error) => list.unusable_adapters.push(UnusableAdapter {
                adapter: installed.adapter,
                path: installed.path,
                reason: error.to_string(),
            }),
        }
    }
    Ok(Answer {
        text: json::document(&list)?,
        good: list.unusable_adapters.is_empty() && !list.adapters.is_empty(),
    })
}

/// `l2 inner_product on f32 u8; hamming on bits`: element types that have the same metrics together.
fn supports(descriptor: &annbench_core::Descriptor) -> String {
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for element in ElementType::ALL {
        let metrics: Vec<&str> = Metric::ALL
            .into_iter()
            .filter(|&metric| {
                let mut all = descriptor.supports.iter();
                all.any(|s| (s.metric, s.element) == (metric, element))
            })
            .map(Metric::name)
            .collect();
        match groups.iter_mut().find(|(known, _)| *known == metrics) {
            _ if metrics.is_empty() => {}
            Some((_, elements)) => elements.push(element.name()),
            None => groups.push((metrics, vec![element.name()])),
        }
    }
    let groups: Vec<String> = groups
        .into_iter()
        .map(|(metrics, elements)| format!("{} on {}", metrics.join(" "), elements.join(" ")))
        .collect();
    groups.join("; ")
}

fn show(name: &str, form: Form) -> anyhow::Result<Answer> {
    let installed = find_adapter(name, &adapter_folders())?;
    let info = inspect_adapter(&installed, interrupt::flag())?;
    if form.json {
        let path = installed.path;
        return Ok(Answer::good(json::document(&Shown { path, info })?));
    }
    let d = &info.descriptor;
    let mut text = String::new();
    let yes = |flag| if flag { "yes" } else { "no" };
    let modes: Vec<&str> = d.modes.iter().map(|mode| mode.name()).collect();
    let _ = writeln!(text, "{}: {} {}", d.adapter, d.library, d.library_version);
    let _ = writeln!(text, "  takes                   {}", supports(d));
    let _ = writeln!(text, "  modes                   {}", modes.join(", "));
    let _ = writeln!(text, "  saves its index         {}", yes(d.saves));
    let _ = writeln!(
        text,
        "  repeatable build        {}",
        match d.deterministic_build {
            true => "with 1 build thread",
            false => "no",
        }
    );
    let _ = writeln!(text, "  seeded                  {}", yes(d.seeded));
    let _ = writeln!(
        text,
        "  executable              {}",
        installed.path.display()
    );
    let _ = writeln!(text, "  sha256                  {}", info.executable_sha256);
    for (fact, value) in &d.build_facts {
        let _ = writeln!(text, "  {fact:23} {value}");
    }
    write_params(&mut text, "build", &d.build_params);
    write_params(&mut text, "search", &d.search_params);
    Ok(Answer::good(text))
}

fn write_params(text: &mut String, stage: &str, params: &[ParamDoc]) {
    if params.is_empty() {
        let _ = writeln!(text, "{stage} parameters: none");
        return;
    }
    let _ = writeln!(text, "{stage} parameters:");
    for param in params {
        let kind = match param.kind {
            ParamKind::Bool => "true or false",
            ParamKind::Int => "integer",
            ParamKind::Float => "number",
            ParamKind::Text => "text",
        };
        let need = if param.required {
            "required"
        } else {
            "optional"
        };
        let _ = writeln!(text, "  {:16} {kind:14} {need:9} {}", param.name, param.doc);
    }
}
