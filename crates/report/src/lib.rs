//! Records to table, plot and CSV.
//!
//! An [`Overlay`] groups the search records of any number of runs into [`Chart`]s, one per dataset
//! and k, each a set of [`Series`]. A chart becomes text ([`Chart::summary`], [`Chart::details`])
//! or a Pareto plot ([`Chart::svg`], [`Chart::png`]); the overlay becomes CSV. Nothing here knows
//! how a record was made, starts anything, opens a file or prints.

mod axis;
mod chart;
mod columns;
mod counts;
mod cpu_use;
mod csv;
mod details;
mod facts;
mod figures;
mod font;
mod frame;
mod legend;
mod overlay;
mod paint;
mod palette;
mod plot;
mod point;
mod scene;
mod series;
mod summary;
mod ticks;
mod wrap;

pub use chart::Chart;
pub use counts::Counts;
pub use facts::FactLine;
pub use figures::count;
pub use overlay::{LabelledRun, Overlay};
pub use paint::PlotError;
pub use point::{Point, Unplaced};
pub use series::{Series, SeriesBy};

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod fixtures;
