//! Atomscope learns one kernel dictionary per class from a stream of samples.
//!
//! The flow of data is the list of modules; a module uses only modules listed
//! before it (`tests/architecture.rs` checks that):
//!
//! ```text
//! files ─▶ records ─▶ features ─▶ dataset ─▶ split ─▶ learner ─▶ evaluation
//!             ▲                                                       │
//!          simulate   cli, ui ◀── workbench ◀── paper ◀── session ◀── experiment ◀─────┘
//! ```

pub mod math;
pub mod settings;

pub mod records;
pub mod simulate;

pub mod features;

pub mod dataset;
pub mod split;

pub mod learner;

pub mod evaluation;

pub mod experiment;

pub mod export;
pub mod session;

pub mod paper;

pub mod workbench;

pub mod ui;

pub mod cli;

/// The example of the README is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
