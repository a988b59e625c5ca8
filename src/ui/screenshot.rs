//! A picture of the window without a display.

use egui::{Theme, vec2};

use super::app::App;
use super::offscreen::Offscreen;
use super::raster::Picture;
use crate::workbench::Workbench;

/// Frames until textures, small pictures and layouts have settled.
const FRAMES: usize = 30;
/// Frames to wait for work in the background that the page itself has asked for.
const MOST_FRAMES: usize = 12_000;

/// Draws the window around a workbench: `size` in points, `scale` pixels per point. `between`
/// is called between frames, so that work in the background can end.
pub fn picture_of(
    workbench: Workbench,
    size: [f32; 2],
    scale: f32,
    is_dark: bool,
    mut between: impl FnMut(),
) -> Picture {
    let theme = if is_dark { Theme::Dark } else { Theme::Light };
    let mut app = App::new(workbench, false);
    let mut window = Offscreen::new(vec2(size[0], size[1]), scale, theme);
    for frame in 0..MOST_FRAMES {
        window.frame(|ui| app.frame(ui));
        between();
        if frame >= FRAMES && !app.workbench().is_busy() {
            break;
        }
    }
    window.picture()
}
