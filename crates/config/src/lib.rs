//! Sweeps and campaigns: YAML to jobs, a pure function of the texts and the dataset's shape.

mod plan;

pub use plan::{DatasetShape, Job, JobPoint, Limits, Measure};
