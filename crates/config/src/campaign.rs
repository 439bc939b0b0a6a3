use crate::document::FORM;
use crate::settings::Settings;
use crate::sweep::Sweep;
use annbench_yaml::{Data, Diagnostic, ErrorKind, Node, Source, Spanned, shortened};

pub(crate) const CAMPAIGN_KEYS: [&str; 5] = ["sweeps", "datasets", "k", "measure", "limits"];

/// What one runs: sweeps over datasets, measured in one way.
#[derive(Clone, Debug)]
pub struct Campaign {
    pub(crate) source: Source,
    pub(crate) sweeps: Vec<SweepUse>,
    datasets: Vec<String>,
    settings: Settings,
}

/// A sweep that a campaign runs.
#[derive(Clone, Debug)]
pub(crate) struct SweepUse {
    file: String,
    /// `None` for all groups.
    pub(crate) groups: Option<Vec<Spanned<String>>>,
}

impl Campaign {
    /// Reads a campaign. `file` is the name it goes by in messages and in records.
    ///
    /// # Errors
    /// Whatever configs/README.md does not permit, with its place.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostic> {
        let source = Source::new(file, text, &FORM);
        let root = source.compose()?;
        Self::read(source, &root)
    }

    pub(crate) fn read(source: Source, root: &Node) -> Result<Self, Diagnostic> {
        let fields = source.fields(root, "a campaign", &CAMPAIGN_KEYS)?;
        let node = fields.required(
            "sweeps",
            "sweeps: [ { file: hnsw_rs.yaml, groups: [base] } ]",
        )?;
        let mut sweeps: Vec<SweepUse> = Vec::new();
        for node in source.few(node, "`sweeps`")? {
            let sweep = SweepUse::read(&source, node)?;
            if sweeps.iter().any(|known| known.file == sweep.file) {
                return Err(source
                    .error(
                        ErrorKind::Duplicate,
                        node.span,
                        format!("the sweep `{}` is given twice", shortened(&sweep.file)),
                    )
                    .expected("every sweep once, with all its groups in one list")
                    .next("merge the two entries"));
            }
            sweeps.push(sweep);
        }
        let node = fields.required("datasets", "datasets: [ siftimg-50k-128-euclidean ]")?;
        let datasets = source.distinct(node, "`datasets`", |node| {
            let name = source.text(node, "a dataset's name")?.value;
            // The name is looked up as datasets/NAME.yaml, so it must stay in that folder.
            let fits = name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
            if fits {
                return Ok(name);
            }
            Err(source
                .error(ErrorKind::Value, node.span, "this is no dataset's name")
                .expected("letters, digits, `_`, `-` and `.`, a letter or digit first")
                .found(format!("`{}`", shortened(&name)))
                .next("`annbench datasets` lists the names; a file of yours needs an entry there"))
        })?;
        let settings = Settings::read(&source, &fields)?;
        Ok(Self {
            sweeps,
            datasets,
            settings,
            source,
        })
    }

    /// The campaign that a sweep run by itself amounts to: all its groups, no dataset named, every
    /// setting at its default.
    pub fn of_sweep(sweep: &Sweep) -> Self {
        Self {
            source: sweep.source.clone(),
            sweeps: vec![SweepUse {
                file: sweep.file().to_owned(),
                groups: None,
            }],
            datasets: Vec::new(),
            settings: Settings::default(),
        }
    }

    /// The name under which it was parsed.
    pub fn file(&self) -> &str {
        self.source.file()
    }

    /// The sweeps' files as written, in order; relative ones are relative to the campaign's folder.
    pub fn sweep_files(&self) -> impl Iterator<Item = &str> {
        self.sweeps.iter().map(|sweep| sweep.file.as_str())
    }

    /// The datasets' catalogue names, in order; none for a sweep run by itself.
    pub fn datasets(&self) -> &[String] {
        &self.datasets
    }

    /// k, how points are measured and what a worker may take, defaults filled in.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl SweepUse {
    fn read(source: &Source, node: &Node) -> Result<Self, Diagnostic> {
        const WHAT: &str = "an entry of `sweeps`";
        if let Data::Scalar(scalar) = &node.data {
            return Err(source
                .wrong_type(node, WHAT, "{ file: FILE, groups: [ … ] }")
                .next(format!("write {{ file: {} }}", shortened(&scalar.raw))));
        }
        let fields = source.fields(node, WHAT, &["file", "groups"])?;
        let file = source
            .text(fields.required("file", "{ file: hnsw_rs.yaml }")?, "`file`")?
            .value;
        let groups = match fields.get("groups") {
            None => None,
            Some(node) => {
                let mut groups: Vec<Spanned<String>> = Vec::new();
                for node in source.few(node, "`groups`")? {
                    let name = source.text(node, "a group's name")?;
                    if groups.iter().any(|known| known.value == name.value) {
                        return Err(source.given_twice(node, "`groups`"));
                    }
                    groups.push(name);
                }
                Some(groups)
            }
        };
        Ok(Self { file, groups })
    }
}
