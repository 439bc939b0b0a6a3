//! Quality by strata: the mean over queries hides a stratum that fails entirely, up to its weight.
//!
//! [`Strata`] are those of a dataset for one k: which base rows are rarely among the nearest of others
//! (anti-hubs), which queries are hard. They come from the truth and from exact occurrence counts, never
//! from an answer. [`StrataQuality`] is how the answers of a point fare in each.

mod bars;
mod difficulty;
mod hubs;
mod quality;
mod robustness;
mod set;

pub use bars::{BARS, Bar, BarStrata, Stratum, StratumOutcome};
pub use difficulty::{
    Difficulty, DifficultyMeasure, contrasts, expansions, lids, nearest_percentiles,
};
pub use hubs::AntiHubs;
pub use quality::{
    AntiHubQuality, CountBucket, DifficultyQuality, Hubness, HubnessQuality, OneThird,
    StrataQuality,
};
pub use robustness::robustness;
pub use set::{Occurrences, Strata};

pub(crate) use quality::score_strata;
