use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;

/// The value of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParamValue {
    /// true or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other finite number.
    Float(f64),
    /// Text, such as a FAISS factory string.
    Text(String),
}

impl ParamValue {
    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            ParamValue::Bool(_) => "a boolean",
            ParamValue::Int(_) => "an integer",
            ParamValue::Float(_) => "a number",
            ParamValue::Text(_) => "text",
        }
    }
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamValue::Bool(v) => v.fmt(f),
            ParamValue::Int(v) => v.fmt(f),
            ParamValue::Float(v) => v.fmt(f),
            ParamValue::Text(v) => v.fmt(f),
        }
    }
}

/// Parameters by name, in name order, so that equal sets print and hash alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(pub BTreeMap<String, ParamValue>);

impl Params {
    /// No parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&ParamValue> {
        self.0.get(name)
    }

    /// Sets `name` to `value` and returns the whole, for building sets in one expression.
    pub fn with(mut self, name: &str, value: ParamValue) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Starts a typed reading that refuses what it was not asked for.
    pub fn reader(&self) -> ParamReader<'_> {
        ParamReader {
            params: self,
            read: Vec::new(),
        }
    }
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{name}={value}")?;
        }
        Ok(())
    }
}

/// Why a parameter set was refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ParamError {
    /// A parameter that has no default is absent.
    #[error("parameter `{name}` is missing; given: {given}")]
    Missing {
        /// The parameter.
        name: String,
        /// What was given, among which a misspelt name may be: names separated by commas.
        given: String,
    },
    /// The value has another type than the parameter.
    #[error("parameter `{name}`: expected {expected}, found {found}")]
    Type {
        /// The parameter.
        name: String,
        /// What it takes.
        expected: &'static str,
        /// What stood there.
        found: String,
    },
    /// The value lies outside what the library takes.
    #[error("parameter `{name}`: expected {expected}, found {found}")]
    Range {
        /// The parameter.
        name: String,
        /// The permitted range, in words.
        expected: String,
        /// The value.
        found: String,
    },
    /// Nobody asked for this parameter.
    #[error("unknown parameter `{name}`; known here: {known}")]
    Unknown {
        /// The parameter.
        name: String,
        /// The names that were read, separated by commas.
        known: String,
    },
}

/// Reads a [`Params`] by name and type; [`ParamReader::finish`] refuses leftovers.
#[derive(Debug)]
pub struct ParamReader<'p> {
    params: &'p Params,
    read: Vec<&'static str>,
}

impl ParamReader<'_> {
    fn missing(&self, name: &str) -> ParamError {
        ParamError::Missing {
            name: name.to_owned(),
            given: listed(self.params.0.keys().map(String::as_str)),
        }
    }

    fn value(&mut self, name: &'static str) -> Option<&ParamValue> {
        self.read.push(name);
        self.params.get(name)
    }

    /// An integer within `range`, or `None` when absent.
    ///
    /// # Errors
    /// [`ParamError::Type`] and [`ParamError::Range`].
    pub fn optional_int(
        &mut self,
        name: &'static str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<Option<i64>, ParamError> {
        match self.value(name) {
            None => Ok(None),
            Some(&ParamValue::Int(v)) if range.contains(&v) => Ok(Some(v)),
            Some(&ParamValue::Int(v)) => Err(ParamError::Range {
                name: name.to_owned(),
                expected: if *range.end() == i64::MAX {
                    format!("an integer of at least {}", range.start())
                } else {
                    format!("an integer from {} to {}", range.start(), range.end())
                },
                found: v.to_string(),
            }),
            Some(other) => Err(ParamError::Type {
                name: name.to_owned(),
                expected: "an integer",
                found: format!("{} ({other})", other.kind()),
            }),
        }
    }

    /// An integer within `range`.
    ///
    /// # Errors
    /// [`ParamError::Missing`], [`ParamError::Type`] and [`ParamError::Range`].
    pub fn int(
        &mut self,
        name: &'static str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<i64, ParamError> {
        match self.optional_int(name, range)? {
            Some(value) => Ok(value),
            None => Err(self.missing(name)),
        }
    }

    /// A finite number within `range`, or `None` when absent; an integer is taken as a number.
    ///
    /// # Errors
    /// [`ParamError::Type`] and [`ParamError::Range`].
    pub fn optional_float(
        &mut self,
        name: &'static str,
        range: std::ops::RangeInclusive<f64>,
    ) -> Result<Option<f64>, ParamError> {
        let value = match self.value(name) {
            None => return Ok(None),
            Some(&ParamValue::Float(v)) => v,
            Some(&ParamValue::Int(v)) => v as f64,
            Some(other) => {
                return Err(ParamError::Type {
                    name: name.to_owned(),
                    expected: "a number",
                    found: format!("{} ({other})", other.kind()),
                });
            }
        };
        if range.contains(&value) {
            Ok(Some(value))
        } else {
            Err(ParamError::Range {
                name: name.to_owned(),
                expected: format!("a number from {} to {}", range.start(), range.end()),
                found: value.to_string(),
            })
        }
    }

    /// Text, or `None` when absent.
    ///
    /// # Errors
    /// [`ParamError::Type`].
    pub fn optional_text(&mut self, name: &'static str) -> Result<Option<String>, ParamError> {
        match self.value(name) {
            None => Ok(None),
            Some(ParamValue::Text(v)) => Ok(Some(v.clone())),
            Some(other) => Err(ParamError::Type {
                name: name.to_owned(),
                expected: "text",
                found: format!("{} ({other})", other.kind()),
            }),
        }
    }

    /// Text.
    ///
    /// # Errors
    /// [`ParamError::Missing`] and [`ParamError::Type`].
    pub fn text(&mut self, name: &'static str) -> Result<String, ParamError> {
        match self.optional_text(name)? {
            Some(value) => Ok(value),
            None => Err(self.missing(name)),
        }
    }

    /// Refuses parameters that nothing above asked for.
    ///
    /// # Errors
    /// [`ParamError::Unknown`] naming the first of them.
    pub fn finish(self) -> Result<(), ParamError> {
        match self
            .params
            .0
            .keys()
            .find(|name| !self.read.contains(&name.as_str()))
        {
            None => Ok(()),
            Some(name) => Err(ParamError::Unknown {
                name: name.clone(),
                known: listed(self.read.iter().copied()),
            }),
        }
    }
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
