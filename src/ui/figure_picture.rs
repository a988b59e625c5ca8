//! A figure for export as PNG, drawn by the renderer of the window.

use egui::{Align2, Color32, FontId, Painter, Rect, Theme, Vec2, pos2, vec2};

use super::offscreen::Offscreen;
use atomscope_engine::export::{Anchor, Figure, Ink, Shape};

/// Pixels per point: sharp in print.
const SCALE: f32 = 2.0;

/// The figure as PNG.
pub(super) fn to_png(figure: &Figure) -> Result<Vec<u8>, png::EncodingError> {
    let size: Vec2 = figure.size.into();
    let mut window = Offscreen::new(size, SCALE, Theme::Light);
    // The second frame has the letters that the first one asked for.
    for _ in 0..2 {
        window.frame(|ui| {
            let ground = Rect::from_min_size(pos2(0.0, 0.0), size);
            ui.painter().rect_filled(ground, 0.0, Color32::WHITE);
            for shape in &figure.shapes {
                paint(ui.painter(), shape);
            }
        });
    }
    window.picture().to_png()
}

fn color([red, green, blue]: Ink) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

fn paint(painter: &Painter, shape: &Shape) {
    match shape {
        Shape::Line { points, width, ink } => {
            let points = points.iter().map(|[x, y]| pos2(*x, *y)).collect();
            painter.add(egui::Shape::line(
                points,
                egui::Stroke::new(*width, color(*ink)),
            ));
        }
        Shape::Block { corner, size, ink } => {
            let block = Rect::from_min_size(pos2(corner[0], corner[1]), vec2(size[0], size[1]));
            painter.rect_filled(block, 0.0, color(*ink));
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
            // The lower edge of a line of text is a quarter of its size below the baseline.
            let at = pos2(place[0], place[1] + size * 0.25);
            painter.text(at, align, text, FontId::proportional(*size), color(*ink));
        }
    }
}
