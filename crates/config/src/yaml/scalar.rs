use super::Value;

/// Resolves an unquoted scalar by the core schema of YAML 1.2 (section 10.3.2), except that a
/// number with a leading zero is refused: YAML 1.1 reads it in octal, 1.2 in decimal.
///
/// # Errors
/// What is wrong with the number, in words.
pub(super) fn resolve(raw: &str) -> Result<Value, &'static str> {
    Ok(match raw {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_not_finite(raw) => return Err("a number that is not finite"),
        _ => match number(raw) {
            Some(number) => return number,
            None => Value::Text { plain: true },
        },
    })
}

/// The number that `raw` is in YAML's notation; `None` when it is none.
pub(crate) fn number(raw: &str) -> Option<Result<Value, &'static str>> {
    const TOO_BIG: &str = "an integer beyond 64 bits";
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = raw.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|c| c.is_digit(radix))
        {
            return Some(
                i64::from_str_radix(digits, radix)
                    .map(Value::Int)
                    .map_err(|_| TOO_BIG),
            );
        }
    }
    let unsigned = raw.strip_prefix(['+', '-']).unwrap_or(raw);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && digits == unsigned.len() {
        if digits > 1 && unsigned.starts_with('0') {
            return Some(Err("an integer with a leading zero"));
        }
        return Some(raw.parse().map(Value::Int).map_err(|_| TOO_BIG));
    }
    if !is_float(unsigned) {
        return None;
    }
    match raw.parse::<f64>() {
        // Adding zero turns -0.0 into 0.0, so that equal values are equal in identities too.
        Ok(value) if value.is_finite() => Some(Ok(Value::Float(value + 0.0))),
        Ok(_) => Some(Err("a number beyond the range of 64-bit floats")),
        Err(_) => None,
    }
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
            ("0o17", Value::Int(15)),
            ("9223372036854775807", Value::Int(i64::MAX)),
            ("1.", Value::Float(1.0)),
            (".5", Value::Float(0.5)),
            ("1e3", Value::Float(1000.0)),
            ("-1.5E-1", Value::Float(-0.15)),
            ("yes", text.clone()),
            ("1_000", text.clone()),
            (".", text.clone()),
            ("e5", text.clone()),
            ("1e", text.clone()),
            ("nan", text.clone()),
            ("inf", text.clone()),
            ("0.2s", text.clone()),
            ("2h", text.clone()),
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
        ] {
            assert!(resolve(raw).is_err(), "{raw}");
        }
    }
}
