use crate::axes::{Axes, Axis, Grid};
use crate::glob;
use crate::plan::DatasetShape;
use crate::sweep::Group;
use annbench_core::{ElementType, Metric};
use annbench_yaml::{Diagnostic, ErrorKind, Node, Source};
use std::sync::Arc;

const OVERRIDE_KEYS: [&str; 5] = ["when", "groups", "build", "search", "skip"];
const WHEN_KEYS: [&str; 5] = ["dataset", "metric", "element", "dim", "n"];

/// What a sweep changes for some datasets.
#[derive(Clone, Debug)]
pub(crate) struct Override {
    when: When,
    /// The groups it is restricted to; `None` for all.
    groups: Option<Vec<Arc<str>>>,
    effect: Effect,
}

/// Conditions on a dataset, all of which must hold.
#[derive(Clone, Debug, Default)]
struct When {
    /// A glob.
    dataset: Option<String>,
    metric: Option<Metric>,
    element: Option<ElementType>,
    dim: Option<u64>,
    n: Option<u64>,
}

#[derive(Clone, Debug)]
enum Effect {
    /// Lists that replace those of the same name.
    Replace { build: Axes, search: Axes },
    /// Every point is refused with this reason.
    Skip(String),
}

impl Override {
    pub(crate) fn read(source: &Source, node: &Node, groups: &[Group]) -> Result<Self, Diagnostic> {
        let fields = source.fields(node, "an override", &OVERRIDE_KEYS)?;
        let when = When::read(
            source,
            fields.required("when", "when: { dataset: \"gist-960-*\" }")?,
        )?;
        let restricted = match fields.get("groups") {
            None => None,
            Some(node) => Some(source.distinct(node, "`groups`", |node| {
                let name = source.text(node, "a group's name")?;
                groups
                    .iter()
                    .map(|group| &group.name)
                    .find(|known| ***known == *name.value)
                    .cloned()
                    .ok_or_else(|| {
                        source.unknown(
                            ErrorKind::UnknownName,
                            name.span,
                            format!("this sweep has no group `{}`", name.value),
                            &name.value,
                            groups.iter().map(|group| &*group.name),
                        )
                    })
            })?),
        };
        let axes = |name, what| match fields.get(name) {
            None => Ok(Axes::default()),
            Some(node) => Axes::read(source, node, what),
        };
        let (build, search) = (axes("build", "`build`")?, axes("search", "`search`")?);
        let replaces = build.len() + search.len() > 0;
        let effect = match fields.entry("skip") {
            Some((key, _)) if replaces => {
                return Err(source
                    .error(
                        ErrorKind::Conflict,
                        key.span,
                        "an override that both skips and replaces",
                    )
                    .expected("either `skip`, or `build` and `search`")
                    .next("remove one of them"));
            }
            Some((_, node)) => Effect::Skip(source.text(node, "`skip`, a reason,")?.value),
            None if replaces => Effect::Replace { build, search },
            None => {
                return Err(source
                    .error(
                        ErrorKind::Missing,
                        node.span,
                        "an override that changes nothing",
                    )
                    .expected("`build` or `search` with lists, or `skip: REASON`")
                    .next("add one of them, or remove the override"));
            }
        };
        let read = Self {
            when,
            groups: restricted,
            effect,
        };
        read.check(source, groups)?;
        Ok(read)
    }

    /// Whether it changes `group` for the dataset.
    pub(crate) fn applies(&self, group: &Group, shape: &DatasetShape) -> bool {
        self.covers(group) && self.when.holds(shape)
    }

    fn covers(&self, group: &Group) -> bool {
        self.groups
            .as_ref()
            .is_none_or(|names| names.contains(&group.name))
    }

    /// Replaces lists in `grids`, or gives the reason to refuse them all.
    pub(crate) fn apply(&self, grids: &mut [Grid]) -> Option<&str> {
        match &self.effect {
            Effect::Skip(reason) => Some(reason),
            Effect::Replace { build, search } => {
                for grid in grids {
                    *grid = grid.replaced(build, search);
                }
                None
            }
        }
    }

    /// An override replaces lists and adds none, so a parameter that is not there is a mistake:
    /// in each group that it names, or, without names, in every group.
    fn check(&self, source: &Source, groups: &[Group]) -> Result<(), Diagnostic> {
        let Effect::Replace { build, search } = &self.effect else {
            return Ok(());
        };
        let covered: Vec<&Group> = groups.iter().filter(|group| self.covers(group)).collect();
        for (axes, side) in [(build, Side::Build), (search, Side::Search)] {
            for axis in axes.iter() {
                let lacking = covered
                    .iter()
                    .find(|group| !side.is_in(group, &axis.name))
                    .filter(|_| {
                        self.groups.is_some()
                            || !covered.iter().any(|group| side.is_in(group, &axis.name))
                    });
                if let Some(group) = lacking {
                    return Err(self.absent(source, axis, side, group, &covered));
                }
                for group in &covered {
                    for requirement in group.require.iter() {
                        requirement.check_values(source, &group.name, axis)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn absent(
        &self,
        source: &Source,
        axis: &Axis,
        side: Side,
        group: &Group,
        covered: &[&Group],
    ) -> Diagnostic {
        let searched: &[&Group] = if self.groups.is_some() {
            &[group]
        } else {
            covered
        };
        let mut known: Vec<&str> = searched
            .iter()
            .flat_map(|group| group.grids.iter())
            .flat_map(|grid| side.of(grid).iter())
            .map(|axis| &*axis.name)
            .collect();
        known.sort_unstable();
        known.dedup();
        let whose = match &self.groups {
            Some(_) => format!("group `{}` has", group.name),
            None => "the groups of this sweep have".to_owned(),
        };
        source.unknown(
            ErrorKind::UnknownName,
            axis.span,
            format!(
                "an override replaces lists and adds none; {whose} no {} parameter `{}`",
                side.name(),
                axis.name
            ),
            &axis.name,
            known.into_iter(),
        )
    }
}

#[derive(Clone, Copy)]
enum Side {
    Build,
    Search,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Build => "build",
            Side::Search => "search",
        }
    }

    fn of(self, grid: &Grid) -> &Axes {
        match self {
            Side::Build => &grid.build,
            Side::Search => &grid.search,
        }
    }

    fn is_in(self, group: &Group, name: &str) -> bool {
        group
            .grids
            .iter()
            .any(|grid| self.of(grid).get(name).is_some())
    }
}

impl When {
    fn read(source: &Source, node: &Node) -> Result<Self, Diagnostic> {
        let fields = source.fields(node, "`when`", &WHEN_KEYS)?;
        let metrics = Metric::ALL.map(|metric| (metric.name(), metric));
        let elements = ElementType::ALL.map(|element| (element.name(), element));
        let integer = |name: &str| {
            fields
                .get(name)
                .map(|node| source.integer(node, &format!("`{name}`"), 1..=i64::MAX as u64))
                .transpose()
        };
        let when = Self {
            dataset: fields
                .get("dataset")
                .map(|node| source.text(node, "`dataset`").map(|text| text.value))
                .transpose()?,
            metric: fields
                .get("metric")
                .map(|node| source.word(node, "`metric`", &metrics))
                .transpose()?,
            element: fields
                .get("element")
                .map(|node| source.word(node, "`element`", &elements))
                .transpose()?,
            dim: integer("dim")?,
            n: integer("n")?,
        };
        if fields.is_empty() {
            return Err(source
                .error(ErrorKind::Value, node.span, "`when` without a condition")
                .expected("when: { dataset: \"gist-960-*\" }")
                .next("add a condition; what holds for every dataset belongs into the group"));
        }
        Ok(when)
    }

    fn holds(&self, shape: &DatasetShape) -> bool {
        self.dataset
            .as_ref()
            .is_none_or(|glob| glob::matches(glob, &shape.name))
            && self.metric.is_none_or(|metric| metric == shape.metric)
            && self.element.is_none_or(|element| element == shape.element)
            && self.dim.is_none_or(|dim| dim == shape.dim as u64)
            && self.n.is_none_or(|n| n == shape.n as u64)
    }
}
