use crate::campaign::{CAMPAIGN_KEYS, Campaign};
use crate::sweep::{SWEEP_KEYS, Sweep};
use annbench_yaml::{Diagnostic, ErrorKind, Form, Source};

/// What a file that can be run is meant to be.
pub(crate) const FORM: Form = Form {
    what: "a sweep or a campaign",
    outline: "a sweep (`adapter`, `groups`) or a campaign (`sweeps`, `datasets`)",
    manual: "configs/README.md",
    in_place_of_merges: "in a sweep use `extends: GROUP`, which merges by parameter; share lists with `&name` and `*name`",
};

/// A file that can be run.
#[derive(Clone, Debug)]
pub enum Document {
    /// One adapter's grid.
    Sweep(Sweep),
    /// Sweeps over datasets.
    Campaign(Campaign),
}

impl Document {
    /// Reads a sweep or a campaign, told apart by their keys.
    ///
    /// # Errors
    /// As [`Sweep::parse`] and [`Campaign::parse`]; a text that is neither is refused.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostic> {
        let source = Source::new(file, text, &FORM);
        let root = source.compose()?;
        let entries = source.entries(&root, "the file")?;
        let known = |keys: &[&str]| {
            entries
                .iter()
                .filter(|(key, _)| keys.contains(&key.name.as_str()))
                .count()
        };
        let (sweep, campaign) = (known(&SWEEP_KEYS), known(&CAMPAIGN_KEYS));
        if sweep + campaign == 0 {
            const WHOLE: &str = "the file is neither a sweep nor a campaign";
            return Err(match entries.first() {
                None => source
                    .error(ErrorKind::Missing, root.span, WHOLE)
                    .expected(FORM.outline)
                    .next(format!("{} shows the format with an example", FORM.manual)),
                Some((key, _)) => source.unknown(
                    ErrorKind::UnknownKey,
                    key.span,
                    WHOLE.to_owned(),
                    &key.name,
                    SWEEP_KEYS.into_iter().chain(CAMPAIGN_KEYS),
                ),
            });
        }
        // With keys of both the majority decides, and the other kind's key is then the error.
        if campaign > sweep {
            Campaign::read(source, &root).map(Document::Campaign)
        } else {
            Sweep::read(source, &root).map(Document::Sweep)
        }
    }
}
