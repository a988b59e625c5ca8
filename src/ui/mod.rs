//! The window: theme, palette, icons, renderer and widgets; the only place that names egui.

pub mod figures;
pub mod icons;
pub mod offscreen;
pub mod palette;
pub mod raster;
pub mod reduce;
pub mod theme;
pub mod widgets;
