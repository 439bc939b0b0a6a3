use crate::node::{Scalar, Value, shortened};
use crate::scalar;

/// What YAML 1.1 reads an unquoted scalar as that is text to YAML 1.2. Who writes one rarely means
/// the text, and which version a reader follows cannot be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Yaml11 {
    /// `yes`, `no`, `on`, `off`.
    Bool(bool),
    /// A number with `_` between its digits, in binary, or in hexadecimal with a sign.
    Number {
        /// The same as YAML 1.2 writes it, unless 64 bits cannot hold it.
        decimal: Option<String>,
    },
    /// A number in base 60, such as 12:30:45.
    Base60 {
        /// Its value, unless it has a fraction or 64 bits cannot hold it.
        value: Option<i64>,
    },
}

impl Scalar {
    /// What YAML 1.1 reads this scalar as, where YAML 1.2 reads text.
    pub fn in_yaml_1_1(&self) -> Option<Yaml11> {
        match self.value {
            Value::Text { plain: true } => Yaml11::read(&self.raw),
            _ => None,
        }
    }
}

impl Yaml11 {
    /// Of an unquoted text, by the types `bool`, `int` and `float` of YAML 1.1.
    fn read(raw: &str) -> Option<Self> {
        for (words, value) in [(["yes", "on"], true), (["no", "off"], false)] {
            if words.iter().any(|word| raw.eq_ignore_ascii_case(word)) {
                return Some(Self::Bool(value));
            }
        }
        number(raw).or_else(|| base60(raw))
    }

    /// What it is, with an article.
    pub fn what(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a boolean",
            Self::Number { .. } => "a number",
            Self::Base60 { .. } => "a number in base 60",
        }
    }

    /// What to write in place of `raw` where both what it was and text are taken.
    pub fn next(&self, raw: &str) -> String {
        let raw = shortened(raw);
        match self {
            Self::Bool(value) => format!("write {value}, or quote it, \"{raw}\", if text is meant"),
            Self::Number {
                decimal: Some(decimal),
            } => format!("write {decimal}, or quote it, \"{raw}\", if text is meant"),
            Self::Number { decimal: None } => {
                format!(
                    "write a number of 64 bits in decimal, or quote it, \"{raw}\", if text is meant"
                )
            }
            Self::Base60 { value: Some(value) } => {
                format!("quote it, \"{raw}\", if text is meant; write {value} if a number is")
            }
            Self::Base60 { value: None } => {
                format!("quote it, \"{raw}\", if text is meant; write decimals if a number is")
            }
        }
    }
}

fn number(raw: &str) -> Option<Yaml11> {
    let unsigned = raw.strip_prefix(['+', '-']).unwrap_or(raw);
    for (prefix, radix) in [("0x", 16), ("0b", 2)] {
        if let Some(digits) = unsigned.strip_prefix(prefix) {
            let value = scalar::integer(raw, digits, radix)?;
            let decimal = value.map(|value| value.to_string());
            return Some(Yaml11::Number { decimal });
        }
    }
    let begins = unsigned.strip_prefix('.').unwrap_or(unsigned);
    if !begins.starts_with(|c: char| c.is_ascii_digit()) || !raw.contains('_') {
        return None;
    }
    let plain = raw.replace('_', "");
    let decimal = scalar::number(&plain)?.is_ok().then_some(plain);
    Some(Yaml11::Number { decimal })
}

/// `[-+]? [1-9] [0-9_]* ( : [0-5]? [0-9] )+ ( \. [0-9_]* )?`
fn base60(raw: &str) -> Option<Yaml11> {
    let unsigned = raw.strip_prefix(['+', '-']).unwrap_or(raw);
    let (whole, fraction) = match unsigned.split_once('.') {
        None => (unsigned, None),
        Some((whole, fraction)) => (whole, Some(fraction)),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let (first, rest) = whole.split_once(':')?;
    let begins = first.starts_with(|c: char| matches!(c, '1'..='9'));
    if !begins || !digits(first) || !fraction.is_none_or(digits) {
        return None;
    }
    let mut value = scalar::integer(raw, first, 10)?;
    for part in rest.split(':') {
        let fits = match part.as_bytes() {
            [low] => low.is_ascii_digit(),
            [high, low] => (b'0'..=b'5').contains(high) && low.is_ascii_digit(),
            _ => false,
        };
        if !fits {
            return None;
        }
        let part = scalar::integer(raw, part, 10)?;
        value = value
            .zip(part)
            .and_then(|(value, part)| value.checked_mul(60)?.checked_add(part));
    }
    let value = value.filter(|_| fraction.is_none());
    Some(Yaml11::Base60 { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_older_version_come_with_their_value() {
        for (raw, decimal) in [
            ("1_000", "1000"),
            ("-1_000", "-1000"),
            ("1_000.5", "1000.5"),
            ("1_0e3", "10e3"),
            ("16_64", "1664"),
            ("0b11", "3"),
            ("-0b1_1", "-3"),
            ("-0x1F", "-31"),
            ("0x1_F", "31"),
            ("1_", "1"),
        ] {
            let decimal = Some(decimal.to_owned());
            assert_eq!(Yaml11::read(raw), Some(Yaml11::Number { decimal }), "{raw}");
        }
        for raw in ["9_223_372_036_854_775_808", "0_1", "1_0e999"] {
            assert_eq!(
                Yaml11::read(raw),
                Some(Yaml11::Number { decimal: None }),
                "{raw}"
            );
        }
        for (raw, value) in [
            ("12:30:45", Some(45_045)),
            ("-1:30", Some(-90)),
            ("1_0:59", Some(659)),
            ("1:2.5", None),
            ("9223372036854775807:00", None),
        ] {
            assert_eq!(Yaml11::read(raw), Some(Yaml11::Base60 { value }), "{raw}");
        }
    }

    #[test]
    fn what_is_text_to_both_versions_stays_text() {
        for raw in [
            "IVF447,Flat",
            "OPQ16_64,IVF1024,PQ16x4fs",
            "HNSW32_SQ8",
            "0.2s",
            "2h",
            "12GiB",
            "1_000s",
            "_1",
            "0b12",
            "0b",
            "0x",
            "0xG",
            "0:30",
            "12:60",
            "12:345",
            "12:",
            ":30",
            "localhost:80",
            "127.0.0.1:80",
            "yes please",
            "no_op",
            "",
            "-",
            "é:1",
        ] {
            assert_eq!(Yaml11::read(raw), None, "{raw}");
        }
    }
}
