//! The workbench driven without a window.
