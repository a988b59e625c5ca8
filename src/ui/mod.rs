//! The window: theme, palette, icons, renderer, widgets, pages and the frame around them; the only place that names egui.

pub mod app;
mod asks;
mod banner;
mod dialogs;
mod elements;
mod figure_picture;
pub mod icons;
pub mod manual;
mod menu;
mod notice_sheet;
pub mod numbers;
pub mod offscreen;
mod pages;
pub mod palette;
pub mod raster;
pub mod reduce;
mod right_to_left;
mod run_bar;
pub mod screenshot;
mod shortcuts;
mod stage_list;
mod system_fonts;
pub mod theme;
pub mod widgets;
