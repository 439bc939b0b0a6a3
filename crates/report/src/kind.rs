use crate::curve::Selection;
use crate::quantity::Quantity;
use crate::summary::TARGETS;

/// A kind of plot: what stands on its axes, which points it shows, and what it is called. Everything
/// else (panels, fronts, legend, facts) follows from this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlotKind {
    /// Recall against queries per second: the Pareto plot.
    RecallQps,
    /// Recall against the p99 service latency of single mode.
    RecallLatency,
    /// Recall against the time that building the searched index took.
    RecallBuildTime,
    /// Recall against the memory of the searched index.
    RecallMemory,
    /// Build time against the QPS of each build's fastest measured point that reaches a recall, a
    /// panel per recall.
    BuildTimeQps,
}

impl PlotKind {
    /// Every kind, in the order in which plots are written.
    pub const ALL: [PlotKind; 5] = [
        PlotKind::RecallQps,
        PlotKind::RecallLatency,
        PlotKind::RecallBuildTime,
        PlotKind::RecallMemory,
        PlotKind::BuildTimeQps,
    ];

    /// What a plot's file name adds to [`Chart::file_stem`](crate::Chart::file_stem), so that the
    /// result is unique among an overlay's plots.
    pub fn file_suffix(self) -> &'static str {
        match self {
            PlotKind::RecallQps => "",
            PlotKind::RecallLatency => "-p99-latency",
            PlotKind::RecallBuildTime => "-build-time",
            PlotKind::RecallMemory => "-index-memory",
            PlotKind::BuildTimeQps => "-build-time-qps",
        }
    }

    /// x and y.
    pub(crate) fn axes(self) -> (Quantity, Quantity) {
        match self {
            PlotKind::RecallQps => (Quantity::Recall, Quantity::Qps),
            PlotKind::RecallLatency => (Quantity::Recall, Quantity::LatencyP99),
            PlotKind::RecallBuildTime => (Quantity::Recall, Quantity::BuildTime),
            PlotKind::RecallMemory => (Quantity::Recall, Quantity::IndexMemory),
            PlotKind::BuildTimeQps => (Quantity::BuildTime, Quantity::Qps),
        }
    }

    /// Which points each of its panels shows.
    pub(crate) fn panels(self) -> Vec<Selection> {
        match self {
            PlotKind::BuildTimeQps => TARGETS
                .map(|recall| Selection::FastestPerBuild { recall })
                .to_vec(),
            _ => vec![Selection::EveryPoint],
        }
    }

    /// What the plot of a dataset at k is called.
    pub(crate) fn title(self, dataset: &str, k: u64) -> String {
        match self {
            PlotKind::RecallQps => format!("{dataset}: recall@{k} against queries per second"),
            PlotKind::RecallLatency => format!("{dataset}: recall@{k} against service latency p99"),
            PlotKind::RecallBuildTime => format!("{dataset}: recall@{k} against build time"),
            PlotKind::RecallMemory => format!("{dataset}: recall@{k} against index memory"),
            PlotKind::BuildTimeQps => {
                format!("{dataset}: build time against queries per second at fixed recall@{k}")
            }
        }
    }

    /// How to read it.
    pub(crate) fn key(self) -> &'static str {
        match self {
            PlotKind::RecallQps => {
                "Lines and large marks: Pareto front of each series. Faint marks: dominated by it. \
                 Bars: slowest to fastest repetition."
            }
            PlotKind::RecallLatency => {
                "Lines and large marks: Pareto front of each series towards the lower right. Faint \
                 marks: dominated by it. Bars: lowest to highest repetition. Closed loop: without \
                 waiting under load."
            }
            PlotKind::RecallBuildTime | PlotKind::RecallMemory => {
                "Each mark is a search point over its build; searches of one build share its height. \
                 Lines and large marks: Pareto front of each series towards the lower right, at \
                 whatever speed. Faint marks: dominated by it."
            }
            PlotKind::BuildTimeQps => {
                "Each mark is a build, at the QPS of its fastest measured point that reaches the \
                 recall; nothing is interpolated. Lines and large marks: Pareto front of each series \
                 towards the upper left. Faint marks: dominated by it. Bars: slowest to fastest \
                 repetition."
            }
        }
    }

    /// What an empty panel says when points were measured that it cannot show.
    pub(crate) fn nothing(self) -> &'static str {
        match self {
            PlotKind::RecallQps => "no point was measured and scored",
            PlotKind::RecallLatency => "no point has a service latency",
            PlotKind::RecallBuildTime => "no point has a build time",
            PlotKind::RecallMemory => "no point has an index memory",
            PlotKind::BuildTimeQps => "no build reaches it",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_differ_and_end_unlike_a_chart() {
        for (i, kind) in PlotKind::ALL.into_iter().enumerate() {
            let suffix = kind.file_suffix();
            assert!(PlotKind::ALL[..i].iter().all(|k| k.file_suffix() != suffix));
            // A chart's stem ends in k and a number, a number, or "by-group".
            let end = suffix.rsplit('-').next().unwrap();
            assert!(end.chars().all(|c| c.is_ascii_lowercase()) && end != "group");
        }
    }
}
