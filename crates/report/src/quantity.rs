use crate::point::{Point, index_bytes};

/// A figure of a measured point that can stand on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Mean recall@k, in [0, 1]. Higher is better.
    Recall,
    /// Median queries per second. Higher is better.
    Qps,
    /// Median over repetitions of the p99 service latency, in seconds. Lower is better.
    LatencyP99,
    /// Wall time of the build that made the index, in seconds. Lower is better.
    BuildTime,
    /// Private growth over the build plus the base bytes that searches still read, in MiB. Lower is
    /// better.
    IndexMemory,
}

/// A figure, and its lowest and highest over repetitions where it was repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    pub value: f64,
    pub spread: Option<(f64, f64)>,
}

impl Quantity {
    /// Whether more of it is better.
    pub(crate) fn higher_is_better(self) -> bool {
        match self {
            Quantity::Recall | Quantity::Qps => true,
            Quantity::LatencyP99 | Quantity::BuildTime | Quantity::IndexMemory => false,
        }
    }

    /// What is written along an axis, without the recall's k.
    pub(crate) fn axis_title(self) -> &'static str {
        match self {
            Quantity::Recall => "spaced by −ln(1 − recall)",
            Quantity::Qps => "queries per second",
            Quantity::LatencyP99 => "service latency p99, lower is better",
            Quantity::BuildTime => "build time, lower is better",
            Quantity::IndexMemory => "index memory in MiB, lower is better",
        }
    }

    /// The figure of a point: positive, but for recall.
    ///
    /// # Errors
    /// Why the point has none that an axis could show.
    pub(crate) fn read(self, point: &Point<'_>) -> Result<Reading, &'static str> {
        let once = |value| Reading {
            value,
            spread: None,
        };
        match self {
            Quantity::Recall => Ok(once(point.quality.recall_mean)),
            Quantity::Qps => Ok(Reading {
                value: point.speed.qps_median,
                spread: Some((point.speed.qps_min, point.speed.qps_max)),
            }),
            Quantity::LatencyP99 => {
                let repetitions = || point.speed.service_latency.iter().map(|l| l.p99_ns);
                let median = point.latency_ns(|l| l.p99_ns as f64);
                match (median, repetitions().min(), repetitions().max()) {
                    (None, ..) | (_, None, _) | (.., None) => Err(NO_LATENCY),
                    (_, Some(0), _) => Err("a service latency of 0"),
                    (Some(median), Some(low), Some(high)) => Ok(Reading {
                        value: median / 1e9,
                        spread: Some((low as f64 / 1e9, high as f64 / 1e9)),
                    }),
                }
            }
            Quantity::BuildTime => match point.build {
                None if point.loaded == Some(true) => Err(LOST_BUILD),
                None => Err("no record of the build"),
                Some(build) => match &build.report {
                    None => Err("no build time on record"),
                    Some(report) if report.wall_ns == 0 => Err("a build time of 0"),
                    Some(report) => Ok(once(report.wall_ns as f64 / 1e9)),
                },
            },
            Quantity::IndexMemory => match point.build {
                None if point.loaded == Some(true) => Err(LOST_BUILD),
                None => Err("no record of the build"),
                Some(build) => match index_bytes(build) {
                    None => Err("index memory unknown"),
                    Some(bytes) if bytes <= 0 => Err("index memory not above 0"),
                    Some(bytes) => Ok(once(bytes as f64 / f64::from(1u32 << 20))),
                },
            },
        }
    }

    /// `factor` times ten to the `exponent` as a tick label.
    pub(crate) fn label(self, factor: u8, exponent: i32) -> String {
        match self {
            Quantity::LatencyP99 | Quantity::BuildTime => time_label(factor, exponent),
            Quantity::Recall | Quantity::Qps | Quantity::IndexMemory => {
                plain_label(factor, exponent)
            }
        }
    }
}

const NO_LATENCY: &str = "batch mode has no service latency";
const LOST_BUILD: &str = "index loaded, its build not on record";

/// `500`, `2k`, `10k`, `1M`.
fn plain_label(factor: u8, exponent: i32) -> String {
    match exponent {
        0..=8 => {
            let zeros = "0".repeat(exponent as usize % 3);
            let unit = ["", "k", "M"][exponent as usize / 3];
            format!("{factor}{zeros}{unit}")
        }
        -4..0 => format!(
            "0.{}{factor}",
            "0".repeat(exponent.unsigned_abs() as usize - 1)
        ),
        _ => format!("{factor}e{exponent}"),
    }
}

/// Seconds as `200 µs`, `1 ms`, `50 s`, `20k s`.
fn time_label(factor: u8, exponent: i32) -> String {
    let (unit, shift) = match exponent {
        0.. => ("s", 0),
        -3..0 => ("ms", 3),
        -6..-3 => ("µs", 6),
        -9..-6 => ("ns", 9),
        _ => ("s", 0),
    };
    format!("{} {unit}", plain_label(factor, exponent + shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::*;
    use crate::{LabelledRun, Overlay};
    use annbench_core::{Mode, Params};
    use annbench_results::Record;

    #[test]
    fn labels_carry_their_units() {
        assert_eq!(Quantity::Qps.label(2, 3), "2k");
        assert_eq!(Quantity::Qps.label(5, -2), "0.05");
        let time = |factor, exponent| Quantity::BuildTime.label(factor, exponent);
        assert_eq!(time(1, -9), "1 ns");
        assert_eq!(time(2, -4), "200 µs");
        assert_eq!(time(5, -3), "5 ms");
        assert_eq!(time(1, -1), "100 ms");
        assert_eq!(time(5, 1), "50 s");
        assert_eq!(time(2, 4), "20k s");
        assert_eq!(time(1, -12), "1e-12 s");
    }

    fn read(records: &[Record], quantity: Quantity) -> Result<Reading, &'static str> {
        let runs = [LabelledRun {
            label: "run",
            records,
            doubts: &[],
        }];
        let overlay = Overlay::new(&runs);
        quantity.read(&overlay.charts()[0].series[0].points[0])
    }

    #[test]
    fn figures_come_in_the_units_of_their_axes() {
        let library = Library::new("faiss", "1.12.0");
        let none = Params::new();
        let records = [
            library.build(&none, 2.5, 30),
            search(library.point(&none, &none, 10, 0.9, 1000.0)),
        ];
        let memory = read(&records, Quantity::IndexMemory).unwrap().value;
        assert!((memory - (30.0 + 6_400_000.0 / 1_048_576.0)).abs() < 1e-9);
        assert_eq!(read(&records, Quantity::BuildTime).unwrap().value, 2.5);
        let latency = read(&records, Quantity::LatencyP99).unwrap();
        assert!((latency.value - 1.8e-3).abs() < 1e-12);
        assert_eq!(latency.spread, Some((latency.value, latency.value)));
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut library = Library::new("faiss", "1.12.0");
        library.mode = Mode::Batch;
        let none = Params::new();
        let point = search(library.point(&none, &none, 10, 0.9, 1000.0));
        let alone = [point.clone()];
        assert_eq!(
            read(&alone, Quantity::BuildTime),
            Err("no record of the build")
        );
        assert_eq!(read(&alone, Quantity::LatencyP99), Err(NO_LATENCY));
        let mut build = library.build(&none, 2.5, -100);
        let shrunk = [build.clone(), point.clone()];
        assert_eq!(
            read(&shrunk, Quantity::IndexMemory),
            Err("index memory not above 0")
        );
        if let Record::Build(build) = &mut build {
            build.loaded = true;
        }
        let loaded = [build, point];
        assert_eq!(read(&loaded, Quantity::BuildTime), Err(LOST_BUILD));
        assert_eq!(read(&loaded, Quantity::IndexMemory), Err(LOST_BUILD));
    }
}
