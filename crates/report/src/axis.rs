use crate::quantity::Quantity;
use crate::ticks::{Tick, log_ticks, recall_ticks};
use std::f64::consts::LN_2;

/// z = -ln(1 - recall): 0.9 and 0.99 are as far apart as 0.99 and 0.999.
pub(crate) fn z(recall: f64) -> f64 {
    -(-recall).ln_1p()
}

/// A stretch of canvas that values are mapped to, linearly after their transform.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Stretch {
    /// From 0 to 1 until it has a place.
    const UNPLACED: Stretch = Stretch {
        low: 0.0,
        high: 1.0,
        from: 0.0,
        to: 1.0,
    };

    fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }
}

/// The recall axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecallAxis {
    stretch: Stretch,
    /// Where recall 1 stands, when a point has it.
    one: Option<f64>,
}

impl RecallAxis {
    /// An axis for these recalls in [0, 1], with a share of `pad` left free at either end.
    ///
    /// A recall of 1 stands where 1 - 1/(2 m k) would, for `slots` = m k, queries times k: half of
    /// the smallest shortfall that could have been observed.
    pub(crate) fn new(recalls: &[f64], slots: f64, pad: f64) -> Self {
        let below_one = recalls.iter().filter(|&&r| r < 1.0).map(|&r| z(r));
        let (mut low, mut high) = range(below_one).unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
        let one = recalls.contains(&1.0).then(|| {
            let cap = (2.0 * slots).max(2.0).ln();
            // Recalls that no hits over m k could give must not pass 1 all the same.
            cap.max(high + LN_2)
        });
        if let Some(one) = one {
            high = one;
            low = low.min(one - 20f64.ln());
        }
        if low > high {
            (low, high) = (z(0.5), z(0.999));
        }
        // The narrowest axis still spans a factor of 3 in 1 - recall, so that it has ticks.
        let narrow = (3f64.ln() - (high - low)).max(0.0);
        low -= narrow / 2.0;
        high += if one.is_some() { 0.0 } else { narrow / 2.0 };
        let pad = pad * (high - low);
        let stretch = Stretch {
            low: (low - pad).max(-2.0 * pad),
            high: high + pad,
            ..Stretch::UNPLACED
        };
        Self { stretch, one }
    }

    /// The place of a recall in [0, 1].
    pub(crate) fn at(&self, recall: f64) -> f64 {
        match self.one {
            Some(one) if recall >= 1.0 => self.stretch.at(one),
            _ => self.stretch.at(z(recall)),
        }
    }

    /// Ticks in ascending order.
    pub(crate) fn ticks(&self) -> Vec<Tick> {
        let high = self.one.map_or(self.stretch.high, |one| one - LN_2 / 2.0);
        let mut ticks: Vec<Tick> = recall_ticks(self.stretch.low, high)
            .into_iter()
            .map(|(z, label, rank)| Tick {
                at: self.stretch.at(z),
                label,
                rank: rank + 1,
            })
            .collect();
        if let Some(one) = self.one {
            ticks.push(Tick {
                at: self.stretch.at(one),
                label: "1".to_owned(),
                rank: 0,
            });
        }
        ticks
    }
}

/// An axis of positive values: log10.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogAxis {
    stretch: Stretch,
    quantity: Quantity,
}

impl LogAxis {
    /// An axis for these positive values, with a share of `pad` left free at either end.
    pub(crate) fn new(quantity: Quantity, values: &[f64], pad: f64) -> Self {
        let logs = values.iter().map(|value| value.log10());
        let (low, high) = range(logs).unwrap_or((2.0, 4.0));
        // The narrowest axis spans a factor of 5, so that it has ticks.
        let narrow = (5f64.log10() - (high - low)).max(0.0) / 2.0;
        let pad = pad * (high - low + 2.0 * narrow);
        let stretch = Stretch {
            low: low - narrow - pad,
            high: high + narrow + pad,
            ..Stretch::UNPLACED
        };
        Self { stretch, quantity }
    }

    /// The place of a positive value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        self.stretch.at(value.log10())
    }

    /// Ticks in ascending order: 1, 2, 5 where a label of length `label` fits between, else
    /// decades.
    pub(crate) fn ticks(&self, label: f64) -> Vec<Tick> {
        let Stretch {
            low,
            high,
            from,
            to,
        } = self.stretch;
        let per_decade = (from - to).abs() / (high - low);
        let coarse = per_decade * 2f64.log10() < 1.4 * label;
        log_ticks(low, high, coarse)
            .into_iter()
            .map(|(log, factor, exponent)| Tick {
                at: self.stretch.at(log),
                label: self.quantity.label(factor, exponent),
                rank: u8::from(factor != 1),
            })
            .collect()
    }
}

/// The axis of a quantity.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis {
    Recall(RecallAxis),
    Log(LogAxis),
}

impl Axis {
    /// An axis for these values, which only recall needs `slots` for; see [`RecallAxis::new`].
    pub(crate) fn new(quantity: Quantity, values: &[f64], slots: f64, pad: f64) -> Self {
        match quantity {
            Quantity::Recall => Axis::Recall(RecallAxis::new(values, slots, pad)),
            _ => Axis::Log(LogAxis::new(quantity, values, pad)),
        }
    }

    /// The same values along the canvas between `from`, where the lowest stand, and `to`.
    pub(crate) fn over(mut self, from: f64, to: f64) -> Self {
        let stretch = match &mut self {
            Axis::Recall(axis) => &mut axis.stretch,
            Axis::Log(axis) => &mut axis.stretch,
        };
        (stretch.from, stretch.to) = (from, to);
        self
    }

    /// The place of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        match self {
            Axis::Recall(axis) => axis.at(value),
            Axis::Log(axis) => axis.at(value),
        }
    }

    /// Ticks in ascending order, about as dense as labels of length `label` allow.
    pub(crate) fn ticks(&self, label: f64) -> Vec<Tick> {
        match self {
            Axis::Recall(axis) => {
                let mut ticks = axis.ticks();
                // Multiples other than 1, 2 and 5 only where those are too few to read by.
                if ticks.iter().filter(|t| t.rank <= 3).count() >= 4 {
                    ticks.retain(|t| t.rank <= 3);
                }
                ticks
            }
            Axis::Log(axis) => axis.ticks(label),
        }
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, v| match range {
        None => Some((v, v)),
        Some((low, high)) => Some((v.min(low), v.max(high))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn z_has_the_values_of_the_method() {
        assert!((z(0.8) - 1.609_438).abs() < 1e-6);
        assert!((z(0.99) - 4.605_170).abs() < 1e-6);
        assert_eq!(z(0.0), 0.0);
    }

    #[test]
    fn nines_are_evenly_spaced() {
        let axis = RecallAxis::new(&[0.5, 0.9999], 1e5, 0.03);
        let first = axis.at(0.99) - axis.at(0.9);
        let second = axis.at(0.999) - axis.at(0.99);
        assert!((first - second).abs() < 1e-6);
    }

    #[test]
    fn one_stands_at_half_the_smallest_shortfall() {
        let axis = RecallAxis::new(&[0.5, 1.0], 1e4, 0.03);
        let cap = 1.0 - 1.0 / 20_000.0;
        assert!((axis.at(1.0) - axis.stretch.at(z(cap))).abs() < 1e-6);
        let ticks = axis.ticks();
        assert_eq!(ticks.last().unwrap().label, "1");
        assert!(ticks.iter().all(|t| t.at <= ticks.last().unwrap().at));
    }

    proptest! {
        #[test]
        fn every_point_falls_on_the_axis(
            recalls in prop::collection::vec(
                prop_oneof![Just(0.0), Just(1.0), Just(1.0 - f64::EPSILON), 0.0..=1.0f64], 0..6),
            rates in prop::collection::vec(
                prop_oneof![Just(f64::MIN_POSITIVE), Just(5e-324), Just(f64::MAX), 1e-3..1e9f64], 0..6),
            queries in any::<u64>(), k in any::<u64>(), pad in 0.0..0.2f64,
        ) {
            let slots = queries as f64 * k as f64;
            let x = Axis::new(Quantity::Recall, &recalls, slots, pad).over(100.0, 900.0);
            for &recall in &recalls {
                prop_assert!((100.0..=900.0).contains(&x.at(recall)), "{recall}");
            }
            let y = Axis::new(Quantity::Qps, &rates, 0.0, pad).over(500.0, 50.0);
            for &rate in &rates {
                prop_assert!((50.0..=500.0).contains(&y.at(rate)), "{rate}");
            }
            prop_assert!(y.ticks(16.0).len() < 40);
            prop_assert!(!x.ticks(16.0).is_empty());
            prop_assert!(y.ticks(16.0).len() >= 2);
        }
    }
}
