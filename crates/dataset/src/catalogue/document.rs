use super::EntryError;
use annbench_core::{ElementType, Metric};
use saphyr::{LoadableYamlNode, MarkedYaml, Marker, Scalar, YamlData};
use std::path::{Path, PathBuf};

/// The text of an entry, kept so that an error can show its line.
pub(super) struct Document<'t> {
    path: &'t Path,
    text: &'t str,
}

/// A mapping of which every key must be asked for.
pub(super) struct Fields<'d, 't> {
    document: &'d Document<'t>,
    entries: Vec<(&'d str, Marker, &'d MarkedYaml<'t>)>,
    at: Marker,
    what: &'static str,
    asked: Vec<&'static str>,
}

impl<'t> Document<'t> {
    pub(super) fn new(path: &'t Path, text: &'t str) -> Self {
        Self { path, text }
    }

    /// The only document of the text; duplicate keys are refused here.
    pub(super) fn load(&self) -> Result<MarkedYaml<'t>, EntryError> {
        let mut documents = MarkedYaml::load_from_str(self.text)
            .map_err(|error| self.error(*error.marker(), error.info().to_owned()))?;
        match (documents.pop(), documents.is_empty()) {
            (Some(root), true) => Ok(root),
            (Some(root), false) => Err(self.error(
                root.span.start,
                "expected one document in the file".to_owned(),
            )),
            (None, _) => Err(self.error(
                Marker::new(0, 1, 0),
                "expected a dataset entry, found an empty file".to_owned(),
            )),
        }
    }

    /// An error that points at `at`.
    pub(super) fn error(&self, at: Marker, message: String) -> EntryError {
        let line = at.line().max(1);
        EntryError {
            path: PathBuf::from(self.path),
            line,
            column: at.col() + 1,
            message,
            source_line: self.text.lines().nth(line - 1).unwrap_or("").to_owned(),
        }
    }

    /// The keys and values of `node`, which is `what`.
    pub(super) fn fields<'d>(
        &'d self,
        node: &'d MarkedYaml<'t>,
        what: &'static str,
    ) -> Result<Fields<'d, 't>, EntryError> {
        let YamlData::Mapping(mapping) = &node.data else {
            return Err(self.mistyped(node, what, "a mapping"));
        };
        let mut entries = Vec::with_capacity(mapping.len());
        for (key, value) in mapping {
            match &key.data {
                YamlData::Value(Scalar::String(name)) => {
                    entries.push((name.as_ref(), key.span.start, value));
                }
                _ => return Err(self.mistyped(key, "a key", "text")),
            }
        }
        Ok(Fields {
            document: self,
            entries,
            at: node.span.start,
            what,
            asked: Vec::new(),
        })
    }

    fn mistyped(&self, node: &MarkedYaml<'_>, what: &str, expected: &str) -> EntryError {
        let message = format!("{what}: expected {expected}, found {}", describe(node));
        self.error(node.span.start, message)
    }
}

impl<'d, 't> Fields<'d, 't> {
    /// Where the mapping starts.
    pub(super) fn start(&self) -> Marker {
        self.at
    }

    /// An error at the value of `name`, or at the mapping when it is absent.
    pub(super) fn error(&self, name: &str, message: String) -> EntryError {
        let at = self
            .entries
            .iter()
            .find(|(key, ..)| *key == name)
            .map_or(self.at, |(.., value)| value.span.start);
        self.document.error(at, message)
    }

    /// Every key with its value, in order, for mappings whose keys are free names.
    pub(super) fn free(self) -> Vec<(&'d str, &'d MarkedYaml<'t>)> {
        self.entries
            .into_iter()
            .map(|(key, _, value)| (key, value))
            .collect()
    }

    pub(super) fn optional(&mut self, name: &'static str) -> Option<&'d MarkedYaml<'t>> {
        self.asked.push(name);
        self.entries
            .iter()
            .find(|(key, ..)| *key == name)
            .map(|(.., value)| *value)
    }

    pub(super) fn required(
        &mut self,
        name: &'static str,
    ) -> Result<&'d MarkedYaml<'t>, EntryError> {
        self.optional(name).ok_or_else(|| {
            let message = format!("{}: key `{name}` is missing", self.what);
            self.document.error(self.at, message)
        })
    }

    pub(super) fn optional_text(
        &mut self,
        name: &'static str,
    ) -> Result<Option<String>, EntryError> {
        self.optional(name)
            .map(|node| self.as_text(name, node))
            .transpose()
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<String, EntryError> {
        let node = self.required(name)?;
        self.as_text(name, node)
    }

    fn as_text(&self, name: &str, node: &MarkedYaml<'_>) -> Result<String, EntryError> {
        match &node.data {
            YamlData::Value(Scalar::String(text)) if !text.trim().is_empty() => {
                Ok(text.trim_end().to_owned())
            }
            _ => Err(self.document.mistyped(node, &format!("`{name}`"), "text")),
        }
    }

    pub(super) fn optional_count(&mut self, name: &'static str) -> Result<Option<u64>, EntryError> {
        self.optional(name)
            .map(|node| self.as_count(name, node))
            .transpose()
    }

    pub(super) fn count(&mut self, name: &'static str) -> Result<u64, EntryError> {
        let node = self.required(name)?;
        self.as_count(name, node)
    }

    fn as_count(&self, name: &str, node: &MarkedYaml<'_>) -> Result<u64, EntryError> {
        match &node.data {
            YamlData::Value(Scalar::Integer(value)) if *value > 0 => Ok(*value as u64),
            _ => Err(self
                .document
                .mistyped(node, &format!("`{name}`"), "a whole number above 0")),
        }
    }

    /// `digits` hexadecimal digits, in lower case.
    pub(super) fn optional_hash(
        &mut self,
        name: &'static str,
        digits: usize,
    ) -> Result<Option<String>, EntryError> {
        let text = match self.optional(name) {
            None => return Ok(None),
            Some(node) => match &node.data {
                YamlData::Value(Scalar::String(text)) => text,
                // Digits alone are a number to YAML.
                _ => {
                    let expected = format!("{digits} hexadecimal digits in quotes");
                    let what = format!("`{name}`");
                    return Err(self.document.mistyped(node, &what, &expected));
                }
            },
        };
        let hash = text.to_ascii_lowercase();
        if hash.len() == digits && hash.bytes().all(|b| b.is_ascii_hexdigit()) {
            Ok(Some(hash))
        } else {
            Err(self.error(
                name,
                format!("`{name}`: expected {digits} hexadecimal digits, found `{text}`"),
            ))
        }
    }

    /// One of `words`.
    fn word<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Result<T, EntryError> {
        let text = self.text(name)?;
        words
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, value)| *value)
            .ok_or_else(|| {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                self.error(
                    name,
                    format!(
                        "`{name}`: expected one of {}, found `{text}`",
                        known.join(", ")
                    ),
                )
            })
    }

    pub(super) fn metric(&mut self, name: &'static str) -> Result<Metric, EntryError> {
        let words = Metric::ALL.map(|metric| (metric.name(), metric));
        self.word(name, &words)
    }

    pub(super) fn element(&mut self, name: &'static str) -> Result<ElementType, EntryError> {
        let words = ElementType::ALL.map(|element| (element.name(), element));
        self.word(name, &words)
    }

    pub(super) fn format(&mut self, name: &'static str) -> Result<crate::Format, EntryError> {
        let words = crate::Format::ALL.map(|format| (format.name(), format));
        self.word(name, &words)
    }

    pub(super) fn texts(&mut self, name: &'static str) -> Result<Vec<String>, EntryError> {
        let Some(node) = self.optional(name) else {
            return Ok(Vec::new());
        };
        let YamlData::Sequence(items) = &node.data else {
            return Err(self
                .document
                .mistyped(node, &format!("`{name}`"), "a list of texts"));
        };
        items.iter().map(|item| self.as_text(name, item)).collect()
    }

    /// Refuses keys that nothing above asked for.
    pub(super) fn finish(self) -> Result<(), EntryError> {
        for (key, at, _) in &self.entries {
            if self.asked.contains(key) {
                continue;
            }
            let nearest = crate::nearest::nearest(key, self.asked.iter().copied());
            let next = match nearest {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("known here: {}", self.asked.join(", ")),
            };
            let message = format!("{}: unknown key `{key}`; {next}", self.what);
            return Err(self.document.error(*at, message));
        }
        Ok(())
    }
}

fn describe(node: &MarkedYaml<'_>) -> String {
    match &node.data {
        YamlData::Value(Scalar::Null) => "nothing".to_owned(),
        YamlData::Value(Scalar::Boolean(value)) => format!("the boolean {value}"),
        YamlData::Value(Scalar::Integer(value)) => format!("the integer {value}"),
        YamlData::Value(Scalar::FloatingPoint(value)) => format!("the number {value}"),
        YamlData::Value(Scalar::String(text)) => format!("the text `{text}`"),
        YamlData::Sequence(_) => "a list".to_owned(),
        YamlData::Mapping(_) => "a mapping".to_owned(),
        _ => "something else".to_owned(),
    }
}
