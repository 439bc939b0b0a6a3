//! Statistics of counts, ranks and proportions: numbers in, numbers out.
//!
//! What cannot be told is `None`, never a number that looks like one: the skewness of equal values, the
//! correlation with a constant, an interval over nothing.

#![forbid(unsafe_code)]

mod counts;
mod distribution;
mod outcome;
mod proportion;
mod rank;
mod ratio;

pub use counts::{poisson_ceiling, robin_hood, skewness};
pub use distribution::{KolmogorovSmirnov, kolmogorov_smirnov};
pub use outcome::{Outcome, StratumMean, StratumVerdict, Units, min_over_strata};
pub use proportion::{clopper_pearson, clopper_pearson_upper, most_wrong, wilson};
pub use rank::{spearman_among_zeros, terciles};
pub use ratio::{Ratio, ratio_of_sums};
