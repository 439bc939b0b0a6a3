//! Durations and sizes as they are written: one number and one unit.

/// Nanoseconds per unit.
const DURATIONS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Bytes per unit, the ones used for printing first.
const SIZES: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
];

/// How a duration is written, for messages.
pub const DURATION_FORM: &str = "a number and a unit: 2h, 10min, 0.2s, 500ms, 20us, 100ns";
/// How a size is written, for messages.
pub(crate) const SIZE_FORM: &str = "a number and a unit: 12GiB, 500MiB, 64KiB, or GB, MB, kB, B";

/// Nanoseconds of a duration such as `0.2s`; `None` when it is no whole number of them.
pub fn parse_duration(text: &str) -> Option<u64> {
    parse(text, &DURATIONS)
}

/// Bytes of a size such as `12GiB`; `None` when it is no whole number of them.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    parse(text, &SIZES)
}

/// The shortest exact notation that [`parse_duration`] reads back.
pub fn format_duration(nanoseconds: u64) -> String {
    format(nanoseconds, &DURATIONS, "s")
}

/// The shortest exact notation that [`parse_size`] reads back.
pub(crate) fn format_size(bytes: u64) -> String {
    format(bytes, &SIZES[..5], "B")
}

fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(end);
    let unit = unit.trim_start();
    let &(_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || part.is_empty() || part.len() > 18 {
        return None;
    }
    // In integers, so that 0.1s is 100,000,000 ns and not a neighbour of it.
    let scale = 10u128.pow(u32::try_from(part.len()).ok()?);
    let whole: u128 = whole.parse::<u64>().ok()?.into();
    let part: u128 = part.parse::<u64>().ok()?.into();
    let scaled = (whole * scale)
        .checked_add(part)?
        .checked_mul(factor.into())?;
    if scaled % scale != 0 {
        return None;
    }
    u64::try_from(scaled / scale).ok()
}

fn format(value: u64, units: &[(&str, u64)], zero: &str) -> String {
    if value == 0 {
        return format!("0{zero}");
    }
    units
        .iter()
        .find(|(_, factor)| value.is_multiple_of(*factor))
        .map_or_else(
            || value.to_string(),
            |(unit, factor)| format!("{}{unit}", value / factor),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_and_sizes() {
        for (text, value) in [
            ("2h", Some(7_200_000_000_000)),
            ("10min", Some(600_000_000_000)),
            ("0.2s", Some(200_000_000)),
            ("0.1s", Some(100_000_000)),
            ("500ms", Some(500_000_000)),
            ("1.5 us", Some(1_500)),
            ("0s", Some(0)),
            ("0.5ns", None),
            ("2", None),
            ("h", None),
            ("-1s", None),
            ("1h30min", None),
            ("1..5s", None),
            ("1e3s", None),
            ("2 hours", None),
            ("99999999h", None),
            ("99999999999999999999999s", None),
        ] {
            assert_eq!(parse_duration(text), value, "{text}");
        }
        for (text, value) in [
            ("12GiB", Some(12 << 30)),
            ("1.5MiB", Some(3 << 19)),
            ("2GB", Some(2_000_000_000)),
            ("12G", None),
            ("0.3B", None),
            ("99999999TiB", None),
        ] {
            assert_eq!(parse_size(text), value, "{text}");
        }
        assert_eq!(format_duration(200_000_000), "200ms");
        assert_eq!(format_duration(7_200_000_000_000), "2h");
        assert_eq!(format_size(12 << 30), "12GiB");
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(value in any::<u64>()) {
            prop_assert_eq!(parse_duration(&format_duration(value)), Some(value));
            prop_assert_eq!(parse_size(&format_size(value)), Some(value));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9.]{0,45} ?[a-zA-Z]{0,3}") {
            let _ = (parse_duration(&text), parse_size(&text));
        }
    }
}
