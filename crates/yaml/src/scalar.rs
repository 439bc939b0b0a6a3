use crate::node::Value;

/// A number that the versions of YAML read differently, or that no value can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// What it is, to follow "it is".
    pub what: &'static str,
    /// What to write in its place.
    pub next: String,
}

impl Misread {
    fn new(what: &'static str, next: impl Into<String>) -> Self {
        Self {
            what,
            next: next.into(),
        }
    }

    fn too_big() -> Self {
        Self::new("an integer beyond 64 bits", "write one that 64 bits hold")
    }

    /// What to do about `raw`, which was misread.
    pub(crate) fn remedy(&self, raw: &str) -> String {
        // The digits of an MD5. Nobody writes a number of so many, and checksums may lack letters.
        const DIGITS_OF_A_CHECKSUM: usize = 32;
        if raw.chars().count() >= DIGITS_OF_A_CHECKSUM {
            format!(
                "quote it if it is text, such as a checksum: \"{}…\"; else {}",
                raw.chars().take(6).collect::<String>(),
                self.next
            )
        } else {
            format!("{}; quote it if it is text", self.next)
        }
    }
}

/// Resolves an unquoted scalar by the core schema of YAML 1.2 (section 10.3.2), except that two
/// notations of integers are refused: a leading zero, octal in YAML 1.1 and decimal in 1.2, and
/// `0o`, text in 1.1 and octal in 1.2.
pub(crate) fn resolve(raw: &str) -> Result<Value, Misread> {
    Ok(match raw {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_not_finite(raw) => {
            let what = "a number that is not finite";
            return Err(Misread::new(what, "write a finite number"));
        }
        _ => match number(raw) {
            Some(number) => return number,
            None => Value::Text { plain: true },
        },
    })
}

/// The number that `raw` is in YAML's notation, [`Value::Int`] or [`Value::Float`]; `None` when it
/// is none.
pub fn number(raw: &str) -> Option<Result<Value, Misread>> {
    let unsigned = raw.strip_prefix(['+', '-']).unwrap_or(raw);
    if let Some(hex) = raw.strip_prefix("0x")
        && !hex.is_empty()
        && hex.chars().all(|c| c.is_ascii_hexdigit())
    {
        return Some(
            i64::from_str_radix(hex, 16)
                .map(Value::Int)
                .map_err(|_| Misread::too_big()),
        );
    }
    if let Some(octal) = unsigned.strip_prefix("0o")
        && let Some(next) = in_decimal(raw, octal, 8)
    {
        return Some(Err(Misread::new("an integer in octal", next)));
    }
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && digits == unsigned.len() {
        if digits > 1 && unsigned.starts_with('0') {
            return Some(Err(leading_zero(raw, unsigned)));
        }
        return Some(raw.parse().map(Value::Int).map_err(|_| Misread::too_big()));
    }
    if !is_float(unsigned) {
        return None;
    }
    match raw.parse::<f64>() {
        // Adding zero turns -0.0 into 0.0, so that equal values are equal in identities too.
        Ok(value) if value.is_finite() => Some(Ok(Value::Float(value + 0.0))),
        Ok(_) => {
            let what = "a number beyond the range of 64-bit floats";
            Some(Err(Misread::new(what, "write one that 64-bit floats hold")))
        }
        Err(_) => None,
    }
}

/// What to write for `digits` of `radix`, which `raw` has with a sign and a prefix; `None` when
/// they are none. `_` may stand between them.
fn in_decimal(raw: &str, digits: &str, radix: u32) -> Option<String> {
    let value = integer(raw, digits, radix)?;
    Some(match value {
        Some(value) => format!("write {value}"),
        None => "write one that 64 bits hold, in decimal".to_owned(),
    })
}

/// The integer of `digits` in `radix` with the sign of `raw`: `None` when they are no digits,
/// `Some(None)` when 64 bits do not hold it. `_` may stand between them.
pub(crate) fn integer(raw: &str, digits: &str, radix: u32) -> Option<Option<i64>> {
    let plain = digits.replace('_', "");
    if plain.is_empty() || !plain.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let sign = if raw.starts_with('-') { "-" } else { "" };
    Some(i64::from_str_radix(&format!("{sign}{plain}"), radix).ok())
}

fn leading_zero(raw: &str, digits: &str) -> Misread {
    let next = match (integer(raw, digits, 10), integer(raw, digits, 8)) {
        (Some(Some(decimal)), Some(Some(octal))) if decimal != octal => {
            format!("write {decimal}, or {octal} if octal was meant")
        }
        (Some(Some(decimal)), _) => format!("write {decimal}"),
        _ => "write one that 64 bits hold, without the zero".to_owned(),
    };
    Misread::new("an integer with a leading zero", next)
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(unsigned: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        None => (unsigned, None),
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    let mantissa_ok = match mantissa.split_once('.') {
        None => !mantissa.is_empty() && digits(mantissa),
        Some((whole, part)) => {
            digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty())
        }
    };
    mantissa_ok && exponent_ok
}

fn is_not_finite(raw: &str) -> bool {
    let unsigned = raw.strip_prefix(['+', '-']).unwrap_or(raw);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(raw, ".nan" | ".NaN" | ".NAN")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_schema() {
        let text = Value::Text { plain: true };
        for (raw, value) in [
            ("", Value::Null),
            ("~", Value::Null),
            ("true", Value::Bool(true)),
            ("0", Value::Int(0)),
            ("-7", Value::Int(-7)),
            ("+7", Value::Int(7)),
            ("0x1F", Value::Int(31)),
            ("9223372036854775807", Value::Int(i64::MAX)),
            ("1.", Value::Float(1.0)),
            (".5", Value::Float(0.5)),
            ("1e3", Value::Float(1000.0)),
            ("-1.5E-1", Value::Float(-0.15)),
            ("yes", text),
            ("1_000", text),
            ("0b11", text),
            ("12:30:45", text),
            ("0o", text),
            ("0o8", text),
            (".", text),
            ("e5", text),
            ("1e", text),
            ("nan", text),
            ("inf", text),
            ("0.2s", text),
            ("2h", text),
            ("IVF447,Flat", text),
        ] {
            assert_eq!(resolve(raw), Ok(value), "{raw}");
        }
        assert_eq!(
            resolve("-0.0").map(|v| match v {
                Value::Float(v) => v.is_sign_positive(),
                _ => false,
            }),
            Ok(true)
        );
    }

    #[test]
    fn numbers_that_would_be_misread_are_refused() {
        for raw in [
            ".inf",
            "-.INF",
            ".nan",
            "1e999",
            "9223372036854775808",
            "010",
            "0x8000000000000000",
            "-0o7",
            "0o1_0",
        ] {
            assert!(resolve(raw).is_err(), "{raw}");
        }
    }

    #[test]
    fn a_misread_integer_comes_with_what_to_write() {
        let next = |raw| resolve(raw).map_err(|misread| misread.next);
        for (raw, expected) in [
            ("0o10", "write 8"),
            ("-0o10", "write -8"),
            (
                "0o7777777777777777777777777",
                "write one that 64 bits hold, in decimal",
            ),
            ("010", "write 10, or 8 if octal was meant"),
            ("-08", "write -8"),
            ("00", "write 0"),
            ("007", "write 7"),
        ] {
            assert_eq!(next(raw), Err(expected.to_owned()), "{raw}");
        }
    }

    #[test]
    fn what_is_as_long_as_a_checksum_is_to_be_quoted_first() {
        let remedy = |raw: &str| resolve(raw).map_err(|misread| misread.remedy(raw));
        let quoted = "quote it if it is text, such as a checksum: \"123412…\"; else write one that \
                      64 bits hold";
        assert_eq!(remedy(&"1234".repeat(16)), Err(quoted.to_owned()));
        assert_eq!(remedy(&"1234".repeat(8)), Err(quoted.to_owned()));
        let exponent = format!("1e{}", "9".repeat(62));
        let zero = format!("0{}", "1".repeat(63));
        for raw in [&exponent, &zero] {
            let next = remedy(raw).expect_err("too large");
            assert!(next.starts_with("quote it"), "{next}");
        }
        let written = "write one that 64 bits hold; quote it if it is text";
        assert_eq!(remedy("9223372036854775808"), Err(written.to_owned()));
    }
}
