//! The program without a display: workbench, pages and widgets driven by accessibility label, and
//! the terminal.

mod comparisons;
mod copied_commands;
mod decisions;
mod explore;
mod fault_viewer;
mod frame_time;
mod lost_work;
mod pages;
mod pictures;
mod small_data;
mod streaming;
mod terminal;
mod typing;
mod widgets;
mod workbench;
