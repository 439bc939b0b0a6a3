use crate::point::Point;
use crate::quantity::{Quantity, Reading};
use crate::series::Series;
use annbench_results::{CurvePoint, fastest_at_recall, pareto_front};
use std::collections::BTreeMap;

/// Which points of a series a panel shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Selection {
    EveryPoint,
    /// Of each build the fastest measured point that reaches a recall: the step rule.
    FastestPerBuild {
        recall: f64,
    },
}

/// A mark to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Drawn {
    pub x: f64,
    pub y: Reading,
    pub on_front: bool,
}

/// What a panel shows of a series, and what it cannot show.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curve {
    pub drawn: Vec<Drawn>,
    /// Measured points that lack a figure, by what they lack.
    pub absent: BTreeMap<&'static str, u64>,
    /// Builds among which those that reach the recall were sought.
    pub builds: u64,
}

impl Curve {
    pub(crate) fn new(
        series: &Series<'_>,
        (x, y): (Quantity, Quantity),
        selection: Selection,
    ) -> Self {
        let mut curve = Self::default();
        let mut usable = Vec::new();
        for point in &series.points {
            match (x.read(point), y.read(point)) {
                (Ok(x), Ok(y)) => usable.push((point, x.value, y)),
                (Err(why), _) | (_, Err(why)) => *curve.absent.entry(why).or_default() += 1,
            }
        }
        if let Selection::FastestPerBuild { recall } = selection {
            (usable, curve.builds) = fastest_per_build(&usable, recall);
        }
        curve.drawn = usable
            .into_iter()
            .map(|(_, x, y)| Drawn {
                x,
                y,
                on_front: false,
            })
            .collect();
        curve.mark_front(x, y);
        curve
    }

    /// Marks what no other mark is at least as good as in both figures and better in one.
    fn mark_front(&mut self, x: Quantity, y: Quantity) {
        // The front of the results crate, where more is better in both.
        let good = |quantity: Quantity, value: f64| match quantity.higher_is_better() {
            true => value,
            false => -value,
        };
        let (indices, goods): (Vec<usize>, Vec<CurvePoint>) = self
            .drawn
            .iter()
            .enumerate()
            // Values are finite: what is not was refused with the point.
            .filter_map(|(i, d)| Some((i, CurvePoint::new(good(x, d.x), good(y, d.y.value))?)))
            .unzip();
        for index in pareto_front(&goods) {
            self.drawn[indices[index]].on_front = true;
        }
    }

    /// The front by ascending x.
    pub(crate) fn front(&self) -> Vec<&Drawn> {
        let mut front: Vec<&Drawn> = self.drawn.iter().filter(|d| d.on_front).collect();
        front.sort_by(|a, b| a.x.total_cmp(&b.x));
        front
    }

    /// `2 not drawn: index memory unknown`, a text for each reason.
    pub(crate) fn absences(&self) -> impl Iterator<Item = String> {
        self.absent
            .iter()
            .map(|(why, n)| format!("{} not drawn: {why}", crate::figures::count(*n)))
    }
}

type Usable<'p, 'r> = (&'p Point<'r>, f64, Reading);

/// Of each build, told apart by its identity, the fastest point that reaches `recall`; and how many
/// builds there are.
fn fastest_per_build<'p, 'r>(usable: &[Usable<'p, 'r>], recall: f64) -> (Vec<Usable<'p, 'r>>, u64) {
    let mut builds: BTreeMap<&str, Vec<&Usable<'p, 'r>>> = BTreeMap::new();
    for one in usable {
        let key = one.0.build.map_or("", |build| build.build_key.as_str());
        builds.entry(key).or_default().push(one);
    }
    let chosen = builds
        .values()
        .filter_map(|points| {
            let curve: Vec<CurvePoint> = points.iter().map(|p| p.0.curve_point).collect();
            fastest_at_recall(&curve, recall).map(|index| *points[index])
        })
        .collect();
    (chosen, builds.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::*;
    use crate::{LabelledRun, Overlay};
    use annbench_core::{Mode, Params};
    use annbench_results::Record;
    use proptest::prelude::*;

    fn curves(records: &[Record], axes: (Quantity, Quantity), selection: Selection) -> Vec<Curve> {
        let runs = [LabelledRun {
            label: "run",
            records,
            doubts: &[],
        }];
        let overlay = Overlay::new(&runs);
        let series = &overlay.charts()[0].series;
        series
            .iter()
            .map(|s| Curve::new(s, axes, selection))
            .collect()
    }

    /// (m, seconds to build, points of (recall, QPS)).
    type Build<'a> = (i64, f64, &'a [(f64, f64)]);

    /// Builds of `m` that take `seconds`, each with points of (recall, QPS).
    fn builds(of: &[Build<'_>]) -> Vec<Record> {
        let library = Library::new("faiss", "1.12.0");
        let mut records = Vec::new();
        for &(m, seconds, points) in of {
            let build = Params::new().with("m", int(m));
            records.push(library.build(&build, seconds, 30 + m));
            for (ef, &(recall, qps)) in points.iter().enumerate() {
                let params = Params::new().with("ef", int(ef as i64));
                records.push(search(library.point(&build, &params, 10, recall, qps)));
            }
        }
        records
    }

    fn fronts(curve: &Curve) -> Vec<(f64, f64)> {
        curve.front().iter().map(|d| (d.x, d.y.value)).collect()
    }

    #[test]
    fn less_latency_is_better() {
        let records = builds(&[(1, 1.0, &[(0.9, 900.0), (0.95, 450.0), (0.93, 300.0)])]);
        let curve = &curves(
            &records,
            (Quantity::Recall, Quantity::LatencyP99),
            Selection::EveryPoint,
        )[0];
        let recalls: Vec<f64> = fronts(curve).iter().map(|p| p.0).collect();
        assert_eq!(recalls, [0.9, 0.95]);
        assert_eq!(curve.drawn.len(), 3);
    }

    #[test]
    fn the_cheapest_build_that_reaches_a_recall_is_on_the_front() {
        let records = builds(&[
            (1, 1.0, &[(0.9, 900.0), (0.95, 450.0)]),
            (2, 2.0, &[(0.94, 900.0), (0.99, 450.0)]),
            (3, 3.0, &[(0.98, 900.0)]),
        ]);
        let curve = &curves(
            &records,
            (Quantity::Recall, Quantity::BuildTime),
            Selection::EveryPoint,
        )[0];
        assert_eq!(fronts(curve), [(0.95, 1.0), (0.99, 2.0)]);
    }

    #[test]
    fn a_build_stands_at_its_fastest_point_that_reaches_the_recall() {
        let records = builds(&[
            (1, 1.0, &[(0.9, 900.0), (0.95, 450.0), (0.96, 400.0)]),
            (2, 2.0, &[(0.94, 950.0), (0.99, 440.0)]),
            (3, 3.0, &[(0.96, 800.0)]),
            (4, 4.0, &[(0.5, 9000.0)]),
        ]);
        let at = |recall| {
            let selection = Selection::FastestPerBuild { recall };
            curves(&records, (Quantity::BuildTime, Quantity::Qps), selection).remove(0)
        };
        let curve = at(0.95);
        let drawn: Vec<(f64, f64)> = curve.drawn.iter().map(|d| (d.x, d.y.value)).collect();
        assert_eq!(drawn, [(1.0, 450.0), (2.0, 440.0), (3.0, 800.0)]);
        assert_eq!(fronts(&curve), [(1.0, 450.0), (3.0, 800.0)]);
        assert_eq!(curve.builds, 4);
        assert_eq!(fronts(&at(0.99)), [(2.0, 440.0)]);
        assert!(at(0.995).drawn.is_empty());
    }

    #[test]
    fn what_cannot_be_drawn_is_counted() {
        let mut records = builds(&[(1, 1.0, &[(0.9, 900.0)])]);
        let mut batch = Library::new("faiss", "1.12.0");
        batch.mode = Mode::Batch;
        let none = Params::new();
        records.push(search(batch.point(&none, &none, 10, 0.9, 1000.0)));
        let axes = (Quantity::Recall, Quantity::LatencyP99);
        let both = curves(&records, axes, Selection::EveryPoint);
        let absences: Vec<Vec<String>> = both.iter().map(|c| c.absences().collect()).collect();
        assert_eq!(
            absences,
            [
                vec![],
                vec!["1 not drawn: batch mode has no service latency".to_owned()]
            ]
        );
        let selection = Selection::FastestPerBuild { recall: 0.9 };
        let both = curves(&records, (Quantity::BuildTime, Quantity::Qps), selection);
        assert_eq!(both[1].absent["no record of the build"], 1);
        assert_eq!((both[0].builds, both[1].builds), (1, 0));
    }

    proptest! {
        /// Against the definition, over every pair.
        #[test]
        fn fronts_are_what_nothing_dominates(
            points in prop::collection::vec((1i64..6, 1u8..5, 1u8..5), 1..14),
        ) {
            let library = Library::new("faiss", "1.12.0");
            let mut records = Vec::new();
            for (i, (m, recall, qps)) in points.into_iter().enumerate() {
                let build = Params::new().with("m", int(m));
                records.push(library.build(&build, 1.0 / m as f64, 30 + m));
                let params = Params::new().with("ef", int(i as i64));
                let (recall, qps) = (f64::from(recall) / 5.0, 100.0 * f64::from(qps));
                records.push(search(library.point(&build, &params, 10, recall, qps)));
            }
            for kind in crate::PlotKind::ALL {
                let (x, y) = kind.axes();
                for selection in kind.panels() {
                    let curve = &curves(&records, (x, y), selection)[0];
                    let good = |d: &Drawn| (
                        if x.higher_is_better() { d.x } else { -d.x },
                        if y.higher_is_better() { d.y.value } else { -d.y.value },
                    );
                    for one in &curve.drawn {
                        let (a, b) = good(one);
                        let beaten = curve.drawn.iter().map(good).any(|(c, d)| {
                            c >= a && d >= b && (c > a || d > b)
                        });
                        let twin = curve.drawn.iter().any(|o| good(o) == (a, b) && o.on_front);
                        prop_assert_eq!(!beaten, twin, "{:?}", kind);
                    }
                }
            }
        }
    }
}
