//! Numbers in evidence.

/// `part` of `all` in per cent.
pub(super) fn percent(part: f64, all: f64) -> String {
    let percent = 100.0 * part / all.max(1.0);
    match percent {
        0.0 => "0 %".to_owned(),
        1.0.. => format!("{percent:.1} %"),
        _ => format!("{percent:.*} %", (1.0 - percent.log10().floor()) as usize),
    }
}

/// A few of many.
pub(super) fn listed<T: ToString>(few: &[T], all: u64) -> String {
    let few_in_words: Vec<String> = few.iter().map(ToString::to_string).collect();
    let rest = match all > few.len() as u64 {
        true => ", ...",
        false => "",
    };
    format!("{}{rest}", few_in_words.join(", "))
}

/// A number with about five digits.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || ((1e-3..1e9).contains(&size) && value == value.round()) {
        return format!("{value}");
    }
    let short = format!("{value:.4e}");
    if !(1e-3..1e6).contains(&size) {
        return short;
    }
    // Of the rounded one: 0.999999 has as many digits as 1.
    let exponent = short.rsplit('e').next().and_then(|e| e.parse().ok());
    let decimals = (4 - exponent.unwrap_or(0i32)).clamp(0, 7);
    format!("{value:.*}", decimals as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(255.0), "255");
        assert_eq!(number(0.999_999_9), "1.0000");
        assert_eq!(number(11.403_21), "11.403");
        assert_eq!(number(1.5e-7), "1.5000e-7");
        assert_eq!(percent(9.0, 100.0), "9.0 %");
        assert_eq!(percent(10.0, 10_000.0), "0.10 %");
        assert_eq!(percent(0.0, 7.0), "0 %");
        assert_eq!(percent(1.0, 7_000_000.0), "0.000014 %");
        assert_eq!(listed(&[1, 2], 2), "1, 2");
        assert_eq!(listed(&[1, 2], 3), "1, 2, ...");
    }
}
