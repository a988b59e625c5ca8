//! Figures for export painted as pictures.

use egui::{Align2, Color32, FontId, Pos2, Rect, Stroke, Theme, Ui, Vec2};

use super::offscreen::Offscreen;
use crate::export::{Anchor, Figure, Ink, Shape};

/// Pixels per point of an exported picture: sharp on paper.
const SCALE: f32 = 2.0;

/// The figure as the bytes of a PNG.
pub(super) fn figure_png(figure: &Figure) -> Result<Vec<u8>, String> {
    let mut window = Offscreen::new(Vec2::from(figure.size), SCALE, Theme::Light);
    // The second frame has all letters in its font texture.
    for _ in 0..2 {
        window.frame(|ui| paint(ui, figure));
    }
    window.picture().to_png().map_err(|error| error.to_string())
}

fn paint(ui: &Ui, figure: &Figure) {
    let painter = ui.ctx().debug_painter();
    let ground = Rect::from_min_size(Pos2::ZERO, Vec2::from(figure.size));
    painter.rect_filled(ground, 0.0, Color32::WHITE);
    for shape in &figure.shapes {
        match shape {
            Shape::Line { points, width, ink } => {
                let points = points.iter().map(|point| Pos2::from(*point)).collect();
                painter.line(points, Stroke::new(*width, color(*ink)));
            }
            Shape::Block { corner, size, ink } => {
                let rect = Rect::from_min_size(Pos2::from(*corner), Vec2::from(*size));
                painter.rect_filled(rect, 0.0, color(*ink));
            }
            Shape::Text {
                place,
                size,
                anchor,
                text,
                ink,
            } => {
                let align = match anchor {
                    Anchor::Start => Align2::LEFT_BOTTOM,
                    Anchor::Middle => Align2::CENTER_BOTTOM,
                    Anchor::End => Align2::RIGHT_BOTTOM,
                };
                // The place is the baseline; letters reach about a quarter below it.
                let place = Pos2::new(place[0], place[1] + 0.25 * size);
                painter.text(place, align, text, FontId::proportional(*size), color(*ink));
            }
        }
    }
}

fn color([red, green, blue]: Ink) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_becomes_a_picture_with_its_colours_where_they_belong() {
        let figure = Figure {
            size: [60.0, 40.0],
            shapes: vec![
                Shape::Block {
                    corner: [10.0, 10.0],
                    size: [20.0, 20.0],
                    ink: [200, 0, 0],
                },
                Shape::Text {
                    place: [58.0, 20.0],
                    size: 12.0,
                    anchor: Anchor::End,
                    text: "98".into(),
                    ink: [0, 0, 0],
                },
            ],
        };
        let bytes = figure_png(&figure).expect("it can be drawn");
        let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        let mut reader = decoder.read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("whole");
        assert_eq!((info.width, info.height), (120, 80));
        let channels = pixels.len() / (120 * 80);
        let at = |x: usize, y: usize| &pixels[(y * 120 + x) * channels..][..3];
        assert_eq!(at(40, 40), [200, 0, 0]);
        assert_eq!(at(2, 2), [255, 255, 255]);
        let dark = (60..120).flat_map(|x| (0..80).map(move |y| (x, y)));
        let n_dark = dark.filter(|(x, y)| at(*x, *y)[0] < 100).count();
        assert!(n_dark > 20, "the text is missing: {n_dark}");
    }
}
