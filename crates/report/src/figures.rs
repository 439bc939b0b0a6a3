//! Numbers as people read them. Nothing here rounds a recall up to 1.

/// `12345` as `12,345`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A positive rate or time with about four significant digits: `12,345`, `12.34`, `0.01234`,
/// `1.234e15`.
pub(crate) fn rate(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    match value.abs() {
        0.0 => "0".to_owned(),
        v if !(1e-4..1e12).contains(&v) => format!("{value:.3e}"),
        v if v >= 999.5 => {
            let whole = count(v.round() as u64);
            if value < 0.0 {
                format!("-{whole}")
            } else {
                whole
            }
        }
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 10.0 => format!("{value:.2}"),
        v if v >= 1.0 => format!("{value:.3}"),
        v => {
            let places = (3.0 - v.log10().floor()) as usize;
            format!("{value:.places$}")
        }
    }
}

/// A recall in [0, 1] with four decimals, or as many more as keep it from reading `1`.
pub(crate) fn recall(value: f64) -> String {
    if value == 1.0 {
        return "1".to_owned();
    }
    for places in 4..17 {
        let text = format!("{value:.places$}");
        if !text.starts_with('1') {
            return text;
        }
    }
    value.to_string()
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(ns: u64) -> String {
    let s = ns as f64 / 1e9;
    if s >= 100.0 {
        count(s.round() as u64)
    } else if s >= 1.0 {
        format!("{s:.1}")
    } else {
        format!("{s:.3}")
    }
}

/// Nanoseconds as microseconds.
pub(crate) fn micros(ns: f64) -> String {
    let us = ns / 1e3;
    if us >= 1000.0 {
        rate(us)
    } else {
        format!("{us:.1}")
    }
}

/// Bytes as MiB.
pub(crate) fn mebibytes(bytes: i128) -> String {
    let mib = bytes as f64 / f64::from(1u32 << 20);
    if mib.abs() >= 1000.0 {
        rate(mib)
    } else {
        format!("{mib:.1}")
    }
}

/// `1 thread`, `2 threads`.
pub(crate) fn plural(n: u64, one: &str) -> String {
    if n == 1 {
        format!("1 {one}")
    } else {
        format!("{} {one}s", count(n))
    }
}

/// Bytes as GiB.
pub(crate) fn gibibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1u32 << 30))
}

/// The first 12 characters of a fingerprint or hash, after the prefix that names its kind.
pub(crate) fn short_hash(hash: &str) -> &str {
    let prefix = hash
        .find(':')
        .map_or(0, |colon| hash[..=colon].chars().count());
    match hash.char_indices().nth(prefix + 12) {
        Some((end, _)) => &hash[..end],
        None => hash,
    }
}

/// Text from a record made safe to show on one line: control characters, which could end a line,
/// drive a terminal or break XML, become U+FFFD.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' | '\r' => ' ',
            '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn recall_never_reads_one_below_one() {
        assert_eq!(recall(1.0), "1");
        assert_eq!(recall(0.9), "0.9000");
        assert_eq!(recall(0.99996), "0.99996");
        assert_eq!(recall(0.99999999), "0.99999999");
        assert_eq!(recall(0.0), "0.0000");
        assert!(recall(1.0 - f64::EPSILON / 2.0).starts_with("0.99"));
    }

    #[test]
    fn rates_keep_about_four_digits() {
        assert_eq!(rate(12_345.4), "12,345");
        assert_eq!(rate(999.6), "1,000");
        assert_eq!(rate(123.45), "123.5");
        assert_eq!(rate(0.012345), "0.01235");
        assert_eq!(rate(1e15), "1.000e15");
        assert_eq!(rate(5e-324), "4.941e-324");
    }

    #[test]
    fn control_characters_do_not_reach_a_line() {
        assert_eq!(printable("a\nb\u{1b}[31m\u{0}"), "a b\u{fffd}[31m\u{fffd}");
    }

    #[test]
    fn hashes_are_cut_at_characters() {
        assert_eq!(short_hash("0123456789abcdef"), "0123456789ab");
        assert_eq!(short_hash("ééééééééééééééé"), "éééééééééééé");
        assert_eq!(short_hash("ab"), "ab");
        assert_eq!(short_hash("b3:0123456789abcdef"), "b3:0123456789ab");
    }
}
