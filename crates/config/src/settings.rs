use crate::plan::{Limits, Measure};
use crate::units;
use annbench_core::Mode;
use annbench_yaml::{Data, Diagnostic, ErrorKind, Fields, Node, Source};
use std::collections::BTreeSet;
use std::fmt;

const MEASURE_KEYS: [&str; 8] = [
    "modes",
    "threads",
    "build_threads",
    "repetitions",
    "min_pass",
    "warm_up",
    "seed",
    "base",
];
const LIMIT_KEYS: [&str; 3] = ["build", "search", "memory"];
const MODES: [(&str, Mode); 2] = [
    (Mode::Single.name(), Mode::Single),
    (Mode::Batch.name(), Mode::Batch),
];
const BASES: [(&str, bool); 2] = [("copied", false), ("mapped", true)];

/// Largest count of threads and of repetitions that is taken for meant.
const MAX_THREADS: u64 = 4096;
const MAX_REPETITIONS: u64 = 10_000;
/// Neighbour ids are 32-bit numbers, so no truth is wider.
const MAX_K: u64 = u32::MAX as u64;

impl Default for Measure {
    /// One thread asks one query at a time; five repetitions of two seconds; a build of one
    /// thread with seed 1, over a base copied into anonymous memory.
    fn default() -> Self {
        Self {
            modes: vec![Mode::Single],
            threads: vec![1],
            build_threads: 1,
            repetitions: 5,
            min_pass_ns: 2_000_000_000,
            warm_up_ns: 200_000_000,
            seed: 1,
            base_mapped: false,
        }
    }
}

impl Default for Limits {
    /// Two hours a build, ten minutes a search point, 12 GiB.
    fn default() -> Self {
        Self {
            build_ns: 7_200_000_000_000,
            search_ns: 600_000_000_000,
            memory_bytes: 12 << 30,
        }
    }
}

/// What a campaign says besides sweeps and datasets; knows what it took from the defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Neighbours per query, each a curve of its own.
    pub k: Vec<usize>,
    /// How points are measured.
    pub measure: Measure,
    /// What a worker may take.
    pub limits: Limits,
    /// Keys that the file gives, such as `measure.modes`.
    given: BTreeSet<&'static str>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            k: vec![10],
            measure: Measure::default(),
            limits: Limits::default(),
            given: BTreeSet::new(),
        }
    }
}

/// One line of [`Settings::lines`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key, such as `measure.min_pass`.
    pub key: &'static str,
    /// The value as it would be written in a campaign.
    pub value: String,
    /// Whether the value is the default because the file is silent.
    pub is_default: bool,
}

impl Settings {
    /// Reads `k`, `measure` and `limits` of a campaign.
    pub(crate) fn read(source: &Source, campaign: &Fields<'_>) -> Result<Self, Diagnostic> {
        let mut settings = Self::default();
        if let Some(node) = campaign.get("k") {
            settings.k = source.distinct(node, "`k`", |node| count(source, node, "`k`", MAX_K))?;
            settings.given.insert("k");
        }
        if let Some(node) = campaign.get("measure") {
            settings.read_measure(source, node)?;
        }
        if let Some(node) = campaign.get("limits") {
            settings.read_limits(source, node)?;
        }
        Ok(settings)
    }

    fn read_measure(&mut self, source: &Source, node: &Node) -> Result<(), Diagnostic> {
        let fields = source.fields(node, "`measure`", &MEASURE_KEYS)?;
        let measure = &mut self.measure;
        if let Some(node) = fields.get("modes") {
            measure.modes =
                source.distinct(node, "`modes`", |node| source.word(node, "a mode", &MODES))?;
            self.given.insert("measure.modes");
        }
        if let Some(node) = fields.get("threads") {
            measure.threads = source.distinct(node, "`threads`", |node| {
                count(source, node, "`threads`", MAX_THREADS)
            })?;
            self.given.insert("measure.threads");
        }
        if let Some(node) = fields.get("build_threads") {
            measure.build_threads = count(source, node, "`build_threads`", MAX_THREADS)?;
            self.given.insert("measure.build_threads");
        }
        if let Some(node) = fields.get("repetitions") {
            measure.repetitions = count(source, node, "`repetitions`", MAX_REPETITIONS)?;
            self.given.insert("measure.repetitions");
        }
        if let Some(node) = fields.get("min_pass") {
            measure.min_pass_ns = duration(source, node, "`min_pass`")?;
            self.given.insert("measure.min_pass");
        }
        if let Some(node) = fields.get("warm_up") {
            measure.warm_up_ns = duration(source, node, "`warm_up`")?;
            self.given.insert("measure.warm_up");
        }
        if let Some(node) = fields.get("seed") {
            measure.seed = source.integer(node, "`seed`", 0..=i64::MAX as u64)?;
            self.given.insert("measure.seed");
        }
        if let Some(node) = fields.get("base") {
            measure.base_mapped = source.word(node, "`base`", &BASES)?;
            self.given.insert("measure.base");
        }
        Ok(())
    }

    fn read_limits(&mut self, source: &Source, node: &Node) -> Result<(), Diagnostic> {
        let fields = source.fields(node, "`limits`", &LIMIT_KEYS)?;
        if let Some(node) = fields.get("build") {
            self.limits.build_ns = positive(source, node, "`build`", duration)?;
            self.given.insert("limits.build");
        }
        if let Some(node) = fields.get("search") {
            self.limits.search_ns = positive(source, node, "`search`", duration)?;
            self.given.insert("limits.search");
        }
        if let Some(node) = fields.get("memory") {
            self.limits.memory_bytes = positive(source, node, "`memory`", size)?;
            self.given.insert("limits.memory");
        }
        Ok(())
    }

    /// Every setting with its value, in the order of configs/README.md.
    pub fn lines(&self) -> Vec<Setting> {
        let (measure, limits) = (&self.measure, &self.limits);
        [
            ("k", list(&self.k)),
            ("measure.modes", list(&measure.modes)),
            ("measure.threads", list(&measure.threads)),
            ("measure.build_threads", measure.build_threads.to_string()),
            ("measure.repetitions", measure.repetitions.to_string()),
            (
                "measure.min_pass",
                units::format_duration(measure.min_pass_ns),
            ),
            (
                "measure.warm_up",
                units::format_duration(measure.warm_up_ns),
            ),
            ("measure.seed", measure.seed.to_string()),
            (
                "measure.base",
                if measure.base_mapped {
                    "mapped"
                } else {
                    "copied"
                }
                .to_owned(),
            ),
            ("limits.build", units::format_duration(limits.build_ns)),
            ("limits.search", units::format_duration(limits.search_ns)),
            ("limits.memory", units::format_size(limits.memory_bytes)),
        ]
        .into_iter()
        .map(|(key, value)| Setting {
            key,
            value,
            is_default: !self.given.contains(key),
        })
        .collect()
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_default { " (default)" } else { "" };
        write!(f, "{}: {}{mark}", self.key, self.value)
    }
}

/// All lines of [`Settings::lines`], one per line, without a final newline.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, line) in self.lines().iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            line.fmt(f)?;
        }
        Ok(())
    }
}

fn list<T: fmt::Display>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(T::to_string).collect();
    format!("[{}]", values.join(", "))
}

fn count(source: &Source, node: &Node, what: &str, most: u64) -> Result<usize, Diagnostic> {
    let value = source.integer(node, what, 1..=most)?;
    // Lossless where usize has 64 bits; elsewhere a value that does not fit is out of range.
    usize::try_from(value).map_err(|_| {
        source
            .error(
                ErrorKind::Value,
                node.span,
                format!("{what} is out of range"),
            )
            .found(value.to_string())
            .next("choose a smaller value")
    })
}

fn duration(source: &Source, node: &Node, what: &str) -> Result<u64, Diagnostic> {
    quantity(
        source,
        node,
        what,
        units::parse_duration,
        units::DURATION_FORM,
    )
}

fn size(source: &Source, node: &Node, what: &str) -> Result<u64, Diagnostic> {
    quantity(source, node, what, units::parse_size, units::SIZE_FORM)
}

fn quantity(
    source: &Source,
    node: &Node,
    what: &str,
    parse: impl Fn(&str) -> Option<u64>,
    form: &str,
) -> Result<u64, Diagnostic> {
    match &node.data {
        Data::Scalar(scalar) => parse(&scalar.raw).ok_or_else(|| {
            let error = source
                .error(
                    ErrorKind::Value,
                    node.span,
                    format!("{what} cannot be read"),
                )
                .expected(form)
                .found(node.found());
            match scalar.raw.parse::<f64>() {
                Ok(_) => error.next("add the unit"),
                Err(_) => error.next("write one number and one unit"),
            }
        }),
        _ => Err(source
            .wrong_type(node, what, form)
            .next("write one number and one unit")),
    }
}

fn positive(
    source: &Source,
    node: &Node,
    what: &str,
    read: impl Fn(&Source, &Node, &str) -> Result<u64, Diagnostic>,
) -> Result<u64, Diagnostic> {
    match read(source, node, what)? {
        0 => Err(source
            .error(
                ErrorKind::Value,
                node.span,
                format!("{what} limits to nothing"),
            )
            .expected("more than zero")
            .found(node.found())
            .next("raise the limit, or remove the key for the default")),
        value => Ok(value),
    }
}
