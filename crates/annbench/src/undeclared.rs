//! Parameters of a sweep that its adapter does not declare: where they stand, and what was probably
//! meant.

use crate::args::Selection;
use crate::campaign::Loaded;
use crate::work::Adapters;
use annbench_config::{Declared, Undeclared};
use annbench_core::ParamDoc;
use serde::Serialize;

/// Those of the selected groups.
///
/// # Errors
/// When the selection names what the campaign does not have.
pub fn undeclared(
    loaded: &Loaded,
    selection: &Selection,
    adapters: &Adapters,
) -> anyhow::Result<Vec<Undeclared>> {
    let filter = loaded.filter(selection);
    let declared = |name: &str| {
        let descriptor = &adapters.found.get(name)?.info.descriptor;
        Some(Declared {
            build: names(&descriptor.build_params),
            search: names(&descriptor.search_params),
        })
    };
    Ok(annbench_config::undeclared(
        &loaded.campaign,
        &loaded.sweeps,
        &filter,
        declared,
    )?)
}

fn names(params: &[ParamDoc]) -> Vec<&str> {
    params.iter().map(|param| param.name.as_str()).collect()
}

/// One as programs read it.
#[derive(Debug, Serialize)]
pub struct UndeclaredParam<'u> {
    adapter: &'u str,
    stage: &'static str,
    name: &'u str,
    nearest: Option<&'u str>,
    file: Option<&'u str>,
    line: Option<usize>,
    column: Option<usize>,
}

impl<'u> UndeclaredParam<'u> {
    /// Each with its place.
    pub fn all(undeclared: &'u [Undeclared]) -> Vec<Self> {
        undeclared
            .iter()
            .map(|one| {
                let place = one.screen.place();
                Self {
                    adapter: &one.adapter,
                    stage: one.stage,
                    name: &one.name,
                    nearest: one.nearest.as_deref(),
                    file: place.map(|(file, _, _)| file),
                    line: place.map(|(_, line, _)| line),
                    column: place.map(|(_, _, column)| column),
                }
            })
            .collect()
    }
}

/// The screens, one below the other, an empty line before each.
pub fn screens(undeclared: &[Undeclared]) -> String {
    undeclared
        .iter()
        .map(|one| format!("\n{}\n", one.screen))
        .collect()
}
