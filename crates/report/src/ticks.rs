/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Where, in canvas units along the axis.
    pub at: f64,
    pub label: String,
    /// Lower ranks get their labels first.
    pub rank: u8,
}

/// Recall ticks 1 - a/10^j for whole a from 1 to 9 and for 1.5, exact in their labels:
/// (z, label, rank) in ascending order for z = -ln(1 - recall) from `low` to `high`.
pub(crate) fn recall_ticks(low: f64, high: f64) -> Vec<(f64, String, u8)> {
    let mut ticks = Vec::new();
    for places in 0..=16usize {
        for tenths in [90u64, 80, 70, 60, 50, 40, 30, 20, 15, 10] {
            let z = places as f64 * std::f64::consts::LN_10 - (tenths as f64 / 10.0).ln();
            if (places == 0 && tenths > 10) || !(low..=high).contains(&z) {
                continue;
            }
            let rank = match tenths {
                10 => 0,
                50 => 1,
                20 => 2,
                _ => 3,
            };
            // 1 - tenths / 10^(places + 1), whose last digit is a zero but for 1.5.
            let width = places + 1;
            let digits = 10u64.pow(width as u32) - tenths;
            let label = format!("0.{digits:0width$}");
            let label = label.trim_end_matches('0').trim_end_matches('.');
            ticks.push((z, label.to_owned(), rank));
        }
    }
    ticks
}

/// Ticks 1, 2 and 5 times powers of ten: (log10, factor, exponent) in ascending order for log10
/// from `low` to `high`; whole decades only, and at most about ten of them, when `coarse`.
pub(crate) fn log_ticks(low: f64, high: f64, coarse: bool) -> Vec<(f64, u8, i32)> {
    let step = if coarse {
        (((high - low) / 10.0).ceil() as i32).max(1)
    } else {
        1
    };
    let mut ticks = Vec::new();
    for exponent in (low.floor() as i32)..=(high.ceil() as i32) {
        for factor in [1u8, 2, 5] {
            let log = f64::from(exponent) + f64::from(factor).log10();
            let wanted = if coarse {
                factor == 1 && exponent.rem_euclid(step) == 0
            } else {
                true
            };
            if wanted && (low..=high).contains(&log) {
                ticks.push((log, factor, exponent));
            }
        }
    }
    ticks
}

/// Which ticks may show their labels: by rank, then in order, each only where it keeps `gap` from
/// those already shown. `size` is a label's length along the axis.
pub(crate) fn labelled(ticks: &[Tick], gap: f64, size: impl Fn(&str) -> f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..ticks.len()).collect();
    order.sort_by_key(|&i| ticks[i].rank);
    let mut shown = vec![false; ticks.len()];
    for i in order {
        let half = size(&ticks[i].label) / 2.0;
        let fits = (0..ticks.len()).filter(|&j| shown[j]).all(|j| {
            let other = size(&ticks[j].label) / 2.0;
            (ticks[i].at - ticks[j].at).abs() >= half + other + gap
        });
        shown[i] = fits;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Quantity;

    #[test]
    fn recall_labels_are_exact() {
        let ticks = recall_ticks(0.0, 9.3);
        let labels: Vec<&str> = ticks
            .iter()
            .filter(|(_, _, rank)| *rank < 2)
            .map(|(_, label, _)| label.as_str())
            .collect();
        assert_eq!(
            labels,
            [
                "0", "0.5", "0.9", "0.95", "0.99", "0.995", "0.999", "0.9995", "0.9999"
            ]
        );
        assert!(ticks.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (z, label, _) in &ticks {
            let recall: f64 = label.parse().unwrap();
            assert!((-(-recall).ln_1p() - z).abs() < 1e-9, "{label}");
        }
    }

    #[test]
    fn logarithmic_ticks() {
        let labels = |low, high, coarse| -> Vec<String> {
            log_ticks(low, high, coarse)
                .into_iter()
                .map(|(_, factor, exponent)| Quantity::Qps.label(factor, exponent))
                .collect()
        };
        assert_eq!(
            labels(1.9, 4.1, false),
            ["100", "200", "500", "1k", "2k", "5k", "10k"]
        );
        assert_eq!(
            labels(-2.1, 0.0, false),
            ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"]
        );
        assert_eq!(labels(5.0, 9.0, true), ["100k", "1M", "10M", "100M", "1e9"]);
        assert!(labels(-324.0, 309.0, true).len() <= 12);
    }

    #[test]
    fn labels_keep_their_distance() {
        let tick = |at, rank| Tick {
            at,
            label: String::new(),
            rank,
        };
        let ticks = [tick(0.0, 0), tick(5.0, 1), tick(12.0, 0), tick(30.0, 1)];
        assert_eq!(labelled(&ticks, 2.0, |_| 6.0), [true, false, true, true]);
    }
}
