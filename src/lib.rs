//! The program on top of the engine: a window and a terminal.
//!
//! A module uses only modules listed before it (a test checks that):
//!
//! ```text
//! atomscope_engine ─▶ workbench ─▶ ui ─▶ cli
//! ```

pub mod workbench;

pub mod ui;

pub mod cli;
