use crate::axes::{Axes, Grid, MAX_PARAMS, in_snake_case, is_snake_case};
use crate::document::FORM;
use crate::overrides::Override;
use crate::require::Requirement;
use annbench_yaml::{Diagnostic, ErrorKind, Fields, Key, Node, Source, Span, Spanned, shortened};
use std::collections::HashMap;
use std::sync::Arc;

/// Most groups of one sweep.
const MAX_GROUPS: usize = 256;

/// Most points of one plan and of one group: what a product of lists may come to.
pub const MAX_POINTS: usize = 100_000;

pub(crate) const SWEEP_KEYS: [&str; 4] = ["adapter", "defs", "groups", "overrides"];
const GROUP_KEYS: [&str; 5] = ["extends", "build", "search", "points", "require"];

/// One adapter's grid of parameters, in named groups, with every name in it checked.
#[derive(Clone, Debug)]
pub struct Sweep {
    pub(crate) source: Source,
    adapter: Spanned<String>,
    pub(crate) groups: Vec<Group>,
    pub(crate) overrides: Vec<Override>,
}

/// A named set of points, with what it extends already merged in.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    /// One grid when the group gives `build` and `search`, else one per entry of `points`.
    pub(crate) grids: Arc<[Grid]>,
    /// Whether the grids come from `points`.
    listed: bool,
    pub(crate) require: Arc<[Requirement]>,
}

impl Sweep {
    /// Reads a sweep. `file` is the name it goes by in messages and in records.
    ///
    /// # Errors
    /// Whatever configs/README.md does not permit, with its place.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostic> {
        let source = Source::new(file, text, &FORM);
        let root = source.compose()?;
        Self::read(source, &root)
    }

    pub(crate) fn read(source: Source, root: &Node) -> Result<Self, Diagnostic> {
        let fields = source.fields(root, "a sweep", &SWEEP_KEYS)?;
        let adapter = read_adapter(&source, fields.required("adapter", "adapter: hnsw_rs")?)?;
        if let Some(defs) = fields.get("defs") {
            check_defs(&source, defs)?;
        }
        let node = fields.required(
            "groups",
            "groups: { base: { build: { … }, search: { … } } }",
        )?;
        let groups = read_groups(&source, node)?;
        let overrides = match fields.get("overrides") {
            None => Vec::new(),
            Some(node) => source
                .few(node, "`overrides`")?
                .iter()
                .map(|node| Override::read(&source, node, &groups))
                .collect::<Result<_, _>>()?,
        };
        Ok(Self {
            source,
            adapter,
            groups,
            overrides,
        })
    }

    /// The name under which it was parsed.
    pub fn file(&self) -> &str {
        self.source.file()
    }

    /// The adapter's name, in snake_case.
    pub fn adapter(&self) -> &str {
        &self.adapter.value
    }

    /// An error about the adapter's name, at its place; the caller adds what was expected, what was
    /// found and what to do next.
    pub fn adapter_error(&self, problem: impl Into<String>) -> Diagnostic {
        self.source
            .error(ErrorKind::UnknownName, self.adapter.span, problem)
    }

    /// The groups' names, in the order of the file.
    pub fn groups(&self) -> impl Iterator<Item = &str> + Clone {
        self.groups.iter().map(|group| &*group.name)
    }
}

fn read_adapter(source: &Source, node: &Node) -> Result<Spanned<String>, Diagnostic> {
    let name = source.text(node, "`adapter`")?;
    // The name becomes part of an executable's file name.
    if !is_snake_case(&name.value) {
        let error = source
            .error(
                ErrorKind::Value,
                node.span,
                "an adapter's name is written in snake_case",
            )
            .expected("lower-case letters, digits and `_`, a letter first")
            .found(format!("`{}`", shortened(&name.value)));
        return Err(match in_snake_case(&name.value) {
            Some(near) => error.next(format!("did you mean `{near}`?")),
            None => error.next("`annbench adapters` lists the installed ones"),
        });
    }
    Ok(name)
}

/// `defs` exists for its anchors; an entry without one can serve nobody.
fn check_defs(source: &Source, node: &Node) -> Result<(), Diagnostic> {
    for (key, value) in source.entries(node, "`defs`")? {
        if !value.holds_anchor() {
            return Err(source
                .error(
                    ErrorKind::Value,
                    key.span,
                    format!(
                        "`{}` in `defs` has no anchor, so nothing can use it",
                        shortened(&key.name)
                    ),
                )
                .expected(format!("{0}: &{0} VALUE, used elsewhere as *{0}", key.name))
                .next("add the anchor, or move the parameter into a group"));
        }
    }
    Ok(())
}

/// A group as it stands in the file.
struct Raw {
    key: Key,
    extends: Option<Spanned<String>>,
    /// `build` and `search`, where either is given.
    grid: Option<(Axes, Axes)>,
    points: Option<(Span, Vec<Grid>)>,
    require: Option<Vec<Requirement>>,
}

fn read_groups(source: &Source, node: &Node) -> Result<Vec<Group>, Diagnostic> {
    let entries = source.entries(node, "`groups`")?;
    if entries.is_empty() {
        return Err(source
            .error(ErrorKind::Missing, node.span, "a sweep without groups")
            .expected("groups: { base: { build: { … }, search: { … } } }")
            .next("add a group"));
    }
    if entries.len() > MAX_GROUPS {
        return Err(source
            .error(ErrorKind::TooLarge, node.span, "too many groups")
            .expected(format!("at most {MAX_GROUPS}"))
            .found(entries.len().to_string())
            .next("split the sweep into several files"));
    }
    let raws = entries
        .iter()
        .map(|(key, node)| Raw::read(source, key, node))
        .collect::<Result<Vec<_>, _>>()?;
    let index: HashMap<&str, usize> = raws
        .iter()
        .enumerate()
        .map(|(i, raw)| (raw.key.name.as_str(), i))
        .collect();
    let mut done: Vec<Option<Group>> = vec![None; raws.len()];
    for start in 0..raws.len() {
        // Parents first, without recursion: a chain may be as long as there are groups.
        let mut chain = Vec::new();
        let mut at = start;
        while done[at].is_none() {
            if chain.contains(&at) {
                return Err(circle(source, &raws, &chain, at));
            }
            chain.push(at);
            match raws[at].parent(source, &index, &raws)? {
                None => break,
                Some(parent) => at = parent,
            }
        }
        for &at in chain.iter().rev() {
            let parent = raws[at]
                .parent(source, &index, &raws)?
                .and_then(|parent| done[parent].clone());
            done[at] = Some(raws[at].resolve(source, parent.as_ref())?);
        }
    }
    let groups: Vec<Group> = done.into_iter().flatten().collect();
    for group in &groups {
        group.check(source)?;
    }
    Ok(groups)
}

impl Raw {
    fn read(source: &Source, key: &Key, node: &Node) -> Result<Self, Diagnostic> {
        if !is_group_name(&key.name) {
            return Err(source
                .error(
                    ErrorKind::Value,
                    key.span,
                    "a group's name must be one word",
                )
                .expected("letters, digits, `_`, `-` and `.`")
                .found(format!("`{}`", shortened(&key.name)))
                .next("rename the group"));
        }
        let fields = source.fields(node, "a group", &GROUP_KEYS)?;
        if let (Some((points, _)), Some((other, _))) = (
            fields.entry("points"),
            fields.entry("build").or_else(|| fields.entry("search")),
        ) {
            return Err(source
                .error(
                    ErrorKind::Conflict,
                    points.span,
                    format!(
                        "group `{}` has both `points` and `{}`",
                        key.name, other.name
                    ),
                )
                .expected("either `points`, or `build` and `search`")
                .next("move the points into a group of their own"));
        }
        let grid = read_grid(source, &fields)?;
        let points = match fields.get("points") {
            None => None,
            Some(node) => Some((
                node.span,
                source
                    .list(node, "`points`")?
                    .iter()
                    .map(|node| {
                        let fields =
                            source.fields(node, "an entry of `points`", &["build", "search"])?;
                        let (build, search) = read_grid(source, &fields)?.unwrap_or_default();
                        Ok(Grid { build, search })
                    })
                    .collect::<Result<Vec<_>, Diagnostic>>()?,
            )),
        };
        let require = match fields.get("require") {
            None => None,
            Some(node) => Some(source.distinct(node, "`require`", |node| {
                let text = source.text(node, "a requirement")?;
                Requirement::read(source, &text.value, text.span)
            })?),
        };
        Ok(Self {
            extends: fields
                .get("extends")
                .map(|node| source.text(node, "`extends`"))
                .transpose()?,
            key: key.clone(),
            grid,
            points,
            require,
        })
    }

    fn parent(
        &self,
        source: &Source,
        index: &HashMap<&str, usize>,
        raws: &[Raw],
    ) -> Result<Option<usize>, Diagnostic> {
        let Some(extends) = &self.extends else {
            return Ok(None);
        };
        match index.get(extends.value.as_str()) {
            Some(&parent) => Ok(Some(parent)),
            None => Err(source.unknown(
                ErrorKind::UnknownName,
                extends.span,
                format!(
                    "group `{}` extends a group that is not there",
                    self.key.name
                ),
                &extends.value,
                raws.iter()
                    .map(|raw| raw.key.name.as_str())
                    .filter(|name| *name != self.key.name),
            )),
        }
    }

    /// Merges by parameter; a list that is given here replaces the inherited one whole.
    fn resolve(&self, source: &Source, parent: Option<&Group>) -> Result<Group, Diagnostic> {
        let inherited = parent.map(|parent| &*parent.grids);
        let mixed = |given: &str, has: &str, span| {
            source
                .error(
                    ErrorKind::Conflict,
                    span,
                    format!(
                        "group `{}` gives `{given}` but extends a group that has `{has}`",
                        self.key.name
                    ),
                )
                .expected("both groups with `points`, or both with `build` and `search`")
                .next("write the group out without `extends`")
        };
        let inherits_points = parent.is_some_and(|parent| parent.listed);
        let grids: Arc<[Grid]> = match (&self.points, &self.grid, parent) {
            (Some((span, _)), _, Some(_)) if !inherits_points => {
                return Err(mixed("points", "build` and `search", *span));
            }
            (Some((_, points)), _, _) => points.clone().into(),
            (None, Some(_), Some(_)) if inherits_points => {
                return Err(mixed("build` or `search", "points", self.key.span));
            }
            (None, None, Some(parent)) => Arc::clone(&parent.grids),
            (None, grid, _) => {
                let (build, search) = grid.clone().unwrap_or_default();
                let base = inherited
                    .and_then(|grids| grids.first().cloned())
                    .unwrap_or_default();
                let grid = Grid {
                    build: base.build.merged(&build),
                    search: base.search.merged(&search),
                };
                if grid.build.len().max(grid.search.len()) > MAX_PARAMS {
                    return Err(source
                        .error(
                            ErrorKind::TooLarge,
                            self.key.span,
                            format!(
                                "group `{}` has too many parameters, the inherited included",
                                self.key.name
                            ),
                        )
                        .expected(format!("at most {MAX_PARAMS} of a build and of a search"))
                        .next("write the group out without `extends`"));
                }
                [grid].into()
            }
        };
        let require = match (&self.require, parent) {
            (Some(own), _) => own.clone().into(),
            (None, Some(parent)) => Arc::clone(&parent.require),
            (None, None) => Arc::from([]),
        };
        Ok(Group {
            name: self.key.name.as_str().into(),
            span: self.key.span,
            listed: self.points.is_some() || (self.grid.is_none() && inherits_points),
            grids,
            require,
        })
    }
}

impl Group {
    fn check(&self, source: &Source) -> Result<(), Diagnostic> {
        for grid in self.grids.iter() {
            for requirement in self.require.iter() {
                requirement.check(source, &self.name, grid)?;
            }
        }
        let points = self
            .grids
            .iter()
            .fold(0usize, |sum, grid| sum.saturating_add(grid.count()));
        if points > MAX_POINTS {
            return Err(too_many_points(source, self, &self.grids, points));
        }
        Ok(())
    }
}

pub(crate) fn too_many_points(
    source: &Source,
    group: &Group,
    grids: &[Grid],
    points: usize,
) -> Diagnostic {
    let sizes: Vec<String> = match grids {
        [grid] => grid
            .build
            .iter()
            .chain(grid.search.iter())
            .map(|axis| format!("{} × {}", axis.values.len(), axis.name))
            .collect(),
        grids => vec![format!("{} entries of `points`", grids.len())],
    };
    source
        .error(
            ErrorKind::TooLarge,
            group.span,
            format!("the product of group `{}` is too large", group.name),
        )
        .expected(format!("at most {MAX_POINTS} points"))
        .found(match points {
            usize::MAX => format!("more than {} points: {}", usize::MAX, sizes.join(", ")),
            points => format!("{points} points: {}", sizes.join(", ")),
        })
        .next("shorten lists, or split the group")
}

fn read_grid(source: &Source, fields: &Fields<'_>) -> Result<Option<(Axes, Axes)>, Diagnostic> {
    let axes = |name, what| {
        fields
            .get(name)
            .map(|node| Axes::read(source, node, what))
            .transpose()
    };
    Ok(
        match (axes("build", "`build`")?, axes("search", "`search`")?) {
            (None, None) => None,
            (build, search) => Some((build.unwrap_or_default(), search.unwrap_or_default())),
        },
    )
}

fn circle(source: &Source, raws: &[Raw], chain: &[usize], back: usize) -> Diagnostic {
    let from = chain.iter().position(|&at| at == back).unwrap_or(0);
    let names: Vec<String> = chain[from..]
        .iter()
        .chain([&back])
        .map(|&at| format!("`{}`", raws[at].key.name))
        .collect();
    let span = raws[back]
        .extends
        .as_ref()
        .map_or(raws[back].key.span, |extends| extends.span);
    source
        .error(ErrorKind::Conflict, span, "`extends` goes in a circle")
        .expected("a chain that ends in a group without `extends`")
        .found(names.join(" extends "))
        .next("remove one of the `extends`")
}

fn is_group_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}
