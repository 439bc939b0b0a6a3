//! Sweeps and campaigns: YAML to jobs, a pure function of the texts and the dataset's shape.
//!
//! A [`Sweep`] is one adapter's grid of parameters, a [`Campaign`] is what one runs: sweeps over
//! datasets, measured in one way. [`Document::parse`] reads either, [`plan`] expands a campaign for
//! one [`DatasetShape`]. The format, with every key and default, is in configs/README.md.
//!
//! Nothing here opens a file: the caller reads [`Campaign::sweep_files`], makes text of the bytes
//! with [`decode`] and parses it. Every error is a [`ConfigError`], whose text is a whole screen
//! with the source line and a caret.

mod axes;
mod campaign;
mod document;
mod expand;
mod glob;
mod overrides;
mod param_value;
mod plan;
mod require;
mod selection;
mod settings;
mod sweep;
mod undeclared;
mod units;

pub use annbench_yaml::{Diagnostic as ConfigError, ErrorKind, decode};
pub use campaign::Campaign;
pub use document::Document;
pub use expand::{Duplicates, Plan, plan};
pub use plan::{DatasetShape, Job, JobPoint, Limits, Measure};
pub use selection::{Filter, check_filter};
pub use settings::{Setting, Settings};
pub use sweep::{MAX_POINTS, Sweep};
pub use undeclared::{Declared, Undeclared, undeclared};
pub use units::{DURATION_FORM, format_duration, parse_duration};
