//! The pages of the guide: the manual, the methods, the formats, and trained models in Python.

#![doc = include_str!("guide/text/manual.md")]

/// The manual as Markdown; the window shows it under *Help › Manual*.
pub const MANUAL: &str = include_str!("guide/text/manual.md");

#[doc = include_str!("guide/text/methods.md")]
pub mod methods {}

#[doc = include_str!("guide/text/formats.md")]
pub mod formats {}

#[doc = include_str!("guide/text/python.md")]
pub mod python {}
