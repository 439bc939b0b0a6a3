use crate::param_value::param_value;
use annbench_core::{ParamValue, Params};
use annbench_yaml::{Diagnostic, ErrorKind, Node, Source, Span};
use std::sync::Arc;

/// Most parameters of a build or of a search.
pub(crate) const MAX_PARAMS: usize = 64;

/// One parameter and the values it takes.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    pub(crate) values: Arc<[ParamValue]>,
}

/// Parameters with their values; stands for the product of them all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Axes(Vec<Axis>);

/// Builds and searches that are all combined.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    pub(crate) build: Axes,
    pub(crate) search: Axes,
}

impl Axes {
    /// Reads `{ m: [8, 16], ef_construction: 200 }`; a single value is a list of one.
    pub(crate) fn read(source: &Source, node: &Node, what: &str) -> Result<Self, Diagnostic> {
        let entries = source.entries(node, what)?;
        if entries.len() > MAX_PARAMS {
            return Err(source
                .error(
                    ErrorKind::TooLarge,
                    node.span,
                    format!("{what} has too many parameters"),
                )
                .expected(format!("at most {MAX_PARAMS}"))
                .found(entries.len().to_string())
                .next("check that the lines below belong here"));
        }
        let mut axes = Vec::new();
        for (key, value) in entries {
            if !is_snake_case(&key.name) {
                let error = source
                    .error(
                        ErrorKind::Value,
                        key.span,
                        "a parameter's name is written in snake_case",
                    )
                    .expected("lower-case letters, digits and `_`, a letter first")
                    .found(format!("`{}`", annbench_yaml::shortened(&key.name)));
                return Err(match in_snake_case(&key.name) {
                    Some(name) => error.next(format!("did you mean `{name}`?")),
                    None => error.next("use the name that `annbench adapters NAME` lists"),
                });
            }
            let what = format!("`{}`", key.name);
            axes.push(Axis {
                name: key.name.as_str().into(),
                span: key.span,
                values: read_values(source, value, &what)?.into(),
            });
        }
        Ok(Self(axes))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Axis> {
        self.0.iter()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Axis> {
        self.0.iter().find(|axis| &*axis.name == name)
    }

    /// Adds the parameters of `other`; one that both have takes the list of `other`, whole.
    pub(crate) fn merged(&self, other: &Axes) -> Axes {
        let mut axes = self.replaced(other).0;
        for axis in &other.0 {
            if self.get(&axis.name).is_none() {
                axes.push(axis.clone());
            }
        }
        Axes(axes)
    }

    /// Gives the parameters that `other` has too the list of `other`; adds none.
    pub(crate) fn replaced(&self, other: &Axes) -> Axes {
        Axes(
            self.0
                .iter()
                .map(|axis| other.get(&axis.name).unwrap_or(axis).clone())
                .collect(),
        )
    }

    /// How many points the product has; without parameters it has one. Saturates.
    pub(crate) fn count(&self) -> usize {
        self.0
            .iter()
            .fold(1, |count, axis| count.saturating_mul(axis.values.len()))
    }

    /// Every point of the product: the first parameter varies slowest, lists keep their order.
    pub(crate) fn points(&self) -> impl Iterator<Item = Params> + '_ {
        (0..self.count()).map(|mut index| {
            let mut params = Params::new();
            for axis in self.0.iter().rev() {
                let value = axis.values[index % axis.values.len()].clone();
                index /= axis.values.len();
                params = params.with(&axis.name, value);
            }
            params
        })
    }
}

impl Grid {
    /// How many pairs of build and search there are. Saturates.
    pub(crate) fn count(&self) -> usize {
        self.build.count().saturating_mul(self.search.count())
    }

    pub(crate) fn replaced(&self, build: &Axes, search: &Axes) -> Grid {
        Grid {
            build: self.build.replaced(build),
            search: self.search.replaced(search),
        }
    }
}

/// Values of one parameter, distinct as numbers: 1 and 1.0 are the same point to a library.
fn read_values(source: &Source, node: &Node, what: &str) -> Result<Vec<ParamValue>, Diagnostic> {
    let mut values = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for item in source.one_or_many(node, what)? {
        let value = param_value(source, item, what)?;
        let same = match &value {
            ParamValue::Int(v) => format!("n{:?}", *v as f64),
            ParamValue::Float(v) => format!("n{v:?}"),
            other => format!("{other:?}"),
        };
        if !seen.insert(same) {
            return Err(source.given_twice(item, what));
        }
        values.push(value);
    }
    Ok(values)
}

/// Names that are also parts of identifiers and file names: parameters, adapters.
pub(crate) fn is_snake_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// `name` as a name of that kind: `ef_construction` for `efConstruction` and `EF-construction`.
pub(crate) fn in_snake_case(name: &str) -> Option<String> {
    let mut written = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_lower {
            written.push('_');
        }
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        written.push(match c {
            '-' | ' ' | '.' => '_',
            c => c.to_ascii_lowercase(),
        });
    }
    is_snake_case(&written).then_some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_ways_to_write_a_name_become_snake_case() {
        for (given, written) in [
            ("efConstruction", Some("ef_construction")),
            ("EF-construction", Some("ef_construction")),
            ("hnsw-rs", Some("hnsw_rs")),
            ("FAISS", Some("faiss")),
            ("M", Some("m")),
            ("16m", None),
            ("ef\u{e4}", None),
            ("", None),
        ] {
            assert_eq!(in_snake_case(given).as_deref(), written, "{given}");
        }
    }
}
