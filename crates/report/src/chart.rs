use crate::facts::FactLine;
use crate::kind::PlotKind;
use crate::series::Series;
use annbench_results::DatasetInfo;

/// Everything that may share a plot: the points of one dataset (its content, not its name) and k.
#[derive(Clone, Debug)]
pub struct Chart<'r> {
    /// The dataset.
    pub dataset: &'r DatasetInfo,
    /// Its name; all its names where runs know it under several.
    pub name: String,
    /// Neighbours asked for.
    pub k: u64,
    /// Its curves, by mode, threads and library.
    pub series: Vec<Series<'r>>,
    /// Whether an answer of any record given refuted a truth that this chart's recalls rest on.
    pub refuted: bool,
    /// What stands under the plot and the tables.
    pub facts: Vec<FactLine>,
    /// A file name without extension, unique among the overlay's charts.
    pub file_stem: String,
}

impl Chart<'_> {
    /// What its plot of a kind is called.
    pub fn title(&self, kind: PlotKind) -> String {
        kind.title(&self.name, self.k)
    }

    /// A file name without extension for its plot of a kind, unique among the overlay's plots.
    pub fn plot_stem(&self, kind: PlotKind) -> String {
        format!("{}{}", self.file_stem, kind.file_suffix())
    }

    /// Whether no point can be drawn.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty())
    }
}
