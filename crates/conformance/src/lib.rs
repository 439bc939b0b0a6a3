//! What every adapter must pass.
//!
//! [`check_adapter`] drives an [`Adapter`](annbench_core::Adapter) in process over small made
//! data and panics, naming what was expected and what came, at the first thing that a measurement
//! could not forgive. It knows no library: an adapter's test describes its points in an
//! [`Example`] and calls it.

mod answers;
mod building;
mod data;
mod example;
mod matrix;
mod parameters;
mod searching;
mod suite;

pub use example::Example;
pub use suite::check_adapter;
