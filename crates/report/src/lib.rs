//! Records to table, plot and CSV.
//!
//! An [`Overlay`] groups the search records of any number of runs into [`Chart`]s, one per dataset
//! and k, each a set of [`Series`]. A chart becomes text ([`Chart::summary`], [`Chart::details`],
//! [`Chart::text_plot`]) or a plot of each [`PlotKind`] ([`Chart::svg`], [`Chart::png`]); the overlay
//! becomes CSV, and its charts side by side an [`Overview`]. Nothing here knows how a record was
//! made, starts anything, opens a file or prints.

mod anti_hubs;
mod axis;
mod chart;
mod chosen;
mod columns;
mod counts;
mod cpu_use;
mod csv;
mod curve;
mod details;
mod every_stratum;
mod facts;
mod figures;
mod font;
mod footnotes;
mod frame;
mod kind;
mod legend;
mod metrics;
mod overlay;
mod overview;
mod paint;
mod palette;
mod panel;
mod plot;
mod point;
mod quantity;
mod scene;
mod series;
mod summary;
mod text_plot;
mod ticks;
mod wrap;

pub use chart::Chart;
pub use counts::Counts;
pub use facts::FactLine;
pub use figures::count;
pub use footnotes::Footnotes;
pub use kind::PlotKind;
pub use overlay::{LabelledRun, Overlay};
pub use overview::Overview;
pub use paint::PlotError;
pub use point::{Point, Unplaced};
pub use series::{Series, SeriesBy};
pub use summary::TARGETS;

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod fixtures;
