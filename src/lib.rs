//! Atomscope learns one kernel dictionary per class from a stream of samples.
//!
//! The flow of data is the list of modules; a module uses only modules listed
//! before it (`tests/architecture.rs` checks that):
//!
//! ```text
//! files ─▶ records ─▶ samples ─▶ learner ─▶ evaluation
//!                        ▲          │
//!                        └── math ──┘
//! ```

pub mod math;
pub mod records;
pub mod simulate;

pub mod features;

pub mod dataset;
pub mod split;

pub mod cli;
