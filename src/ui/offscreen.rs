//! A window without display: runs the interface frame by frame and gives its picture.

use egui::epaint::ClippedShape;
use egui::{Context, FullOutput, Pos2, RawInput, Rect, Theme, Ui, Vec2, ViewportId};

use super::raster::{Picture, Rasteriser};
use super::theme::{self, Tones};

/// A window of a given size, scale and theme that exists only in memory.
pub struct Offscreen {
    /// The context the interface runs in.
    pub context: Context,
    size: Vec2,
    pixels_per_point: f32,
    theme: Theme,
    seconds: f64,
    rasteriser: Rasteriser,
    last_frame: Option<FullOutput>,
}

impl Offscreen {
    /// A window of `size` points in which a point is `pixels_per_point` pixels wide.
    pub fn new(size: Vec2, pixels_per_point: f32, theme: Theme) -> Self {
        let context = Context::default();
        theme::install(&context);
        context.set_theme(theme);
        Self {
            context,
            size,
            pixels_per_point,
            theme,
            seconds: 0.0,
            rasteriser: Rasteriser::new(),
            last_frame: None,
        }
    }

    /// Runs one frame, a sixtieth of a second after the one before.
    pub fn frame(&mut self, run_ui: impl FnMut(&mut Ui)) {
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            time: Some(self.seconds),
            focused: true,
            ..RawInput::default()
        };
        if let Some(viewport) = input.viewports.get_mut(&ViewportId::ROOT) {
            viewport.native_pixels_per_point = Some(self.pixels_per_point);
        }
        self.seconds += 1.0 / 60.0;
        let mut output = self.context.run_ui(input, run_ui);
        self.rasteriser.apply(&mut output.textures_delta);
        self.last_frame = Some(output);
    }

    /// The shapes of the last frame, before tessellation; none before the first.
    pub fn shapes(&self) -> Vec<ClippedShape> {
        self.last_frame
            .as_ref()
            .map(|frame| frame.shapes.clone())
            .unwrap_or_default()
    }

    /// The picture of the last frame; nothing but background before the first.
    pub fn picture(&self) -> Picture {
        let scale = self.pixels_per_point;
        let size = [self.size.x, self.size.y].map(|points| (points * scale).round() as usize);
        let primitives = self.context.tessellate(self.shapes(), scale);
        self.rasteriser
            .paint(&primitives, size, scale, Tones::of(self.theme).page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(scale: f32, theme: Theme) -> Picture {
        let mut window = Offscreen::new(Vec2::new(120.0, 40.0), scale, theme);
        for _ in 0..2 {
            window.frame(|ui| {
                ui.label("Atomscope");
            });
        }
        window.picture()
    }

    #[test]
    fn text_appears_in_both_themes_at_any_scale() {
        for theme in [Theme::Light, Theme::Dark] {
            for scale in [1.0, 2.0] {
                let picture = picture(scale, theme);
                assert_eq!(picture.width, (120.0 * scale) as usize);
                let page = Tones::of(theme).page.to_array();
                let inked = picture
                    .pixels
                    .iter()
                    .filter(|pixel| pixel[..] != page[..3])
                    .count();
                assert!(
                    inked > (100.0 * scale) as usize,
                    "{theme:?}, {scale}: {inked}"
                );
            }
        }
    }

    #[test]
    fn the_same_frames_give_the_same_picture() {
        assert_eq!(picture(1.0, Theme::Dark), picture(1.0, Theme::Dark));
    }

    #[test]
    fn a_picture_becomes_a_png_that_decodes_to_itself() {
        let picture = picture(1.0, Theme::Light);
        let bytes = picture.to_png().expect("encodes");
        let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        let mut reader = decoder.read_info().expect("decodes");
        let mut buffer = vec![0; reader.output_buffer_size().expect("fits")];
        reader.next_frame(&mut buffer).expect("decodes");
        assert_eq!(buffer, picture.pixels.as_flattened());
    }
}
