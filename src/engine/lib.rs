//! The engine of Atomscope learns one kernel dictionary per class from a stream of samples. It
//! knows no window.
//!
//! The flow of data is the list of modules; a module uses only modules listed before it (a test
//! checks that). Methods, formats and a manual are pages of [`guide`]:
//!
//! ```text
//! files ─▶ records ─▶ features ─▶ dataset ─▶ split ─▶ learner ─▶ evaluation ─▶ experiment
//!             ▲                                                                    │
//!          simulate        cluster ◀── paper, stream ◀── session ◀── export ◀────┘
//! ```
//!
//! # Train
//!
//! ```
#![doc = include_str!("examples/train.rs")]
//! ```
//!
//! # Classify
//!
//! ```
#![doc = include_str!("examples/classify.rs")]
//! ```
//!
//! # Stream
//!
//! ```
#![doc = include_str!("examples/stream.rs")]
//! ```

pub mod math;
pub mod memory;
pub mod settings;

pub mod records;
pub mod simulate;

pub mod features;
pub mod protection;

pub mod dataset;
pub mod split;

pub mod learner;

pub mod evaluation;

pub mod experiment;

pub mod export;
pub mod session;

pub mod stream;

pub mod paper;

pub mod cluster;

pub mod guide;

/// The example of the README is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
