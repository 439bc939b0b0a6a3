use crate::campaign::{CAMPAIGN_KEYS, Campaign};
use crate::error::{ConfigError, ErrorKind};
use crate::source::{Source, Span};
use crate::sweep::{SWEEP_KEYS, Sweep};
use crate::yaml::compose;

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
    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigError> {
        let source = Source::new(file, text);
        let root = compose(&source)?;
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
                    .expected("a sweep (`adapter`, `groups`) or a campaign (`sweeps`, `datasets`)")
                    .next("configs/README.md shows the format with an example"),
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

/// The text that `bytes`, the contents of `file`, are in UTF-8.
///
/// # Errors
/// The place of the first byte that is not UTF-8.
pub fn decode<'b>(file: &str, bytes: &'b [u8]) -> Result<&'b str, ConfigError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (good, bad) = bytes.split_at(error.valid_up_to());
        let text = String::from_utf8_lossy(good);
        let line = text.split('\n').count();
        let column = text
            .rsplit('\n')
            .next()
            .map_or(0, |last| last.chars().count())
            + 1;
        let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        Source::new(file, &text)
            .error(
                ErrorKind::Encoding,
                Span {
                    line,
                    column,
                    width: 1,
                },
                "the file is not UTF-8 text",
            )
            .expected("UTF-8")
            .found(format!(
                "the byte 0x{:02x} at offset {}",
                bad.first().copied().unwrap_or(0),
                error.valid_up_to()
            ))
            .next(if utf16 {
                "the file is UTF-16: save it as UTF-8"
            } else {
                "save the file as UTF-8; check that it is the file you meant"
            })
    })
}
