//! A strip of a whole recording: activity or spectrogram, annotations, and the page that is shown.

use egui::{
    Align2, Color32, ColorImage, Key, Modifiers, Pos2, Rangef, Rect, Response, Sense, Shape,
    Stroke, StrokeKind, TextureOptions, Ui, pos2, vec2,
};

use super::cache::cached;
use super::chart_table::{ChartTable, extent, tell_figure};
use crate::ui::icons::{focus_ring, hold_arrows};
use crate::ui::numbers::{clock, short, time_step};
use crate::ui::palette::sequential;
use crate::ui::theme;

/// What the strip shows.
pub enum StripPicture<'a> {
    /// How far the traces swing, part by part; NaN in gaps.
    Activity(&'a [f32]),
    /// Decibels column by column from the lowest frequency up, and the ends of the colours.
    Spectrogram {
        /// Lines per column.
        n_lines: usize,
        /// Column by column.
        decibels: &'a [f32],
        /// Values at the ends of the colours.
        range_db: (f32, f32),
        /// Frequency at the upper edge.
        highest_hz: f64,
    },
    /// Not known yet; a text says why.
    Nothing(&'a str),
}

/// A whole recording in a strip.
pub struct OverviewStrip<'a> {
    /// What is shown.
    pub picture: StripPicture<'a>,
    /// A number that differs when the picture does.
    pub revision: u64,
    /// Length of the recording.
    pub duration_s: f64,
    /// Start and length of the page.
    pub page_s: (f64, f64),
    /// Writes a time at a mark of the given distance.
    pub label: &'a dyn Fn(f64, f64) -> String,
    /// Onsets of annotations.
    pub onsets_s: &'a [f64],
    /// Room at the left, so that the strip begins under the traces.
    pub indent: f32,
    /// The height to fill.
    pub height: f32,
}

impl OverviewStrip<'_> {
    /// Draws the strip; a click or drag gives the time it points at.
    pub fn show(&self, ui: &mut Ui) -> (Response, Option<f64>) {
        let size = vec2(ui.available_width(), self.height);
        let (outer, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        self.tell(ui, &response);
        let mut rect = outer;
        rect.min.x += self.indent;
        let tones = theme::tones(ui);
        let painter = ui.painter_at(outer);
        painter.rect_filled(rect, 0.0, tones.surface);
        match &self.picture {
            StripPicture::Activity(values) => self.paint_activity(ui, rect, values),
            StripPicture::Spectrogram { highest_hz, .. } => {
                self.paint_spectrogram(ui, rect);
                // The colour bar stands at the left: the frequencies stand in the picture.
                let font = theme::small_font(ui);
                let texts = [
                    (
                        rect.left_top(),
                        Align2::LEFT_TOP,
                        format!("{highest_hz:.0} Hz"),
                    ),
                    (rect.left_bottom(), Align2::LEFT_BOTTOM, "0 Hz".to_owned()),
                ];
                for (corner, anchor, text) in texts {
                    let place = corner + vec2(3.0, 0.0);
                    let ground = painter.text(place, anchor, &text, font.clone(), tones.strong);
                    painter.rect_filled(ground.expand(1.0), 2.0, tones.surface.gamma_multiply(0.8));
                    painter.text(place, anchor, text, font.clone(), tones.strong);
                }
            }
            StripPicture::Nothing(text) => {
                let font = theme::small_font(ui);
                painter.text(
                    rect.center(),
                    Align2::CENTER_CENTER,
                    *text,
                    font,
                    tones.weak,
                );
            }
        }
        self.paint_times(ui, rect);
        self.paint_onsets(ui, rect);
        self.paint_page(ui, rect);
        let pointed = response.interact_pointer_pos();
        let pointed = pointed.filter(|_| response.clicked() || response.dragged());
        let pointed_s = pointed.map(|place| self.time_at(rect, place));
        let time_s = match response.has_focus() {
            true => pointed_s.or_else(|| self.turned(ui, &response)),
            false => pointed_s,
        };
        (response, time_s)
    }

    /// The middle of the page that the arrow keys turn to, while the strip has the focus.
    fn turned(&self, ui: &Ui, response: &Response) -> Option<f64> {
        hold_arrows(ui, response.id);
        focus_ring(ui, response.rect.shrink(2.0));
        let (start_s, span_s) = self.page_s;
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let n_pages = match (pressed(Key::ArrowLeft), pressed(Key::ArrowRight)) {
            (true, _) => -0.5,
            (_, true) => 1.5,
            _ => return None,
        };
        Some(start_s + span_s * n_pages)
    }

    fn tell(&self, ui: &Ui, figure: &Response) {
        let name = "Overview of the recording";
        let (n_places, lines): (usize, Vec<String>) = match &self.picture {
            StripPicture::Activity(values) => (values.len(), vec!["activity".to_owned()]),
            StripPicture::Spectrogram {
                n_lines,
                decibels,
                highest_hz,
                ..
            } => {
                let hz = |line: usize| highest_hz * (line as f64 + 0.5) / *n_lines as f64;
                let names = (0..*n_lines).map(|line| format!("{} Hz", short(hz(line))));
                (decibels.len() / (*n_lines).max(1), names.collect())
            }
            StripPicture::Nothing(text) => {
                tell_figure(ui, figure, &format!("{name}: {text}"));
                return;
            }
        };
        let series: Vec<&str> = lines.iter().map(String::as_str).collect();
        let cell = |line: usize, places: std::ops::Range<usize>| {
            let value = |place: usize| match &self.picture {
                StripPicture::Activity(values) => f64::from(values[place]),
                StripPicture::Spectrogram {
                    n_lines, decibels, ..
                } => f64::from(decibels[place * n_lines + line]),
                StripPicture::Nothing(_) => f64::NAN,
            };
            let unit = if series.len() > 1 { " dB" } else { "" };
            Some(extent(places.map(value), short)? + unit)
        };
        let time_s = |place: usize| self.duration_s * place as f64 / n_places as f64;
        ChartTable {
            n_places,
            place: &|place| clock(time_s(place)),
            series: &series,
            cell: &cell,
        }
        .tell(ui, figure, name);
    }

    fn time_at(&self, rect: Rect, place: Pos2) -> f64 {
        let share = (place.x - rect.left()) / rect.width();
        f64::from(share.clamp(0.0, 1.0)) * self.duration_s
    }

    fn x_of(&self, rect: Rect, time_s: f64) -> f32 {
        let share = (time_s / self.duration_s.max(1e-9)).clamp(0.0, 1.0);
        rect.left() + share as f32 * rect.width()
    }

    fn paint_activity(&self, ui: &Ui, rect: Rect, values: &[f32]) {
        let key =
            self.revision ^ u64::from(rect.width().to_bits()) ^ u64::from(ui.visuals().dark_mode);
        let heights = cached(ui, ui.scope_id().with("activity"), key, || {
            std::sync::Arc::new(column_heights(values, rect.width().max(1.0) as usize))
        });
        let color = theme::tones(ui).weak;
        let mut mesh = egui::epaint::Mesh::default();
        let step = rect.width() / heights.len().max(1) as f32;
        for (place, height) in heights.iter().enumerate().filter(|(_, h)| h.is_finite()) {
            let x = rect.left() + place as f32 * step;
            let half = height * rect.height() * 0.46;
            let bar = Rect::from_min_max(
                pos2(x, rect.center().y - half),
                pos2(x + step, rect.center().y + half.max(0.5)),
            );
            mesh.add_colored_rect(bar, color.gamma_multiply(0.7));
        }
        ui.painter().add(Shape::mesh(mesh));
    }

    fn paint_spectrogram(&self, ui: &Ui, rect: Rect) {
        let StripPicture::Spectrogram {
            n_lines,
            decibels,
            range_db,
            ..
        } = &self.picture
        else {
            return;
        };
        let n_columns = decibels.len() / (*n_lines).max(1);
        if n_columns == 0 {
            return;
        }
        let texture = cached(ui, ui.scope_id().with("spectrogram"), self.revision, || {
            let (low, high) = *range_db;
            let pixel = |row: usize, column: usize| {
                let value = decibels[column * n_lines + (n_lines - 1 - row)];
                match value.is_finite() {
                    true => sequential((value - low) / (high - low)),
                    false => Color32::TRANSPARENT,
                }
            };
            let rows = 0..*n_lines;
            let pixels = rows.flat_map(|row| (0..n_columns).map(move |column| (row, column)));
            let pixels = pixels.map(|(row, column)| pixel(row, column)).collect();
            let image = ColorImage::new([n_columns, *n_lines], pixels);
            let options = TextureOptions::LINEAR;
            ui.ctx().load_texture("spectrogram", image, options)
        });
        let whole = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
        ui.painter()
            .image(texture.id(), rect, whole, Color32::WHITE);
    }

    /// Times at the foot, away from the ends.
    fn paint_times(&self, ui: &Ui, rect: Rect) {
        let (font, tones) = (theme::small_font(ui), theme::tones(ui));
        let step_s = time_step(self.duration_s, f64::from(rect.width()) / 120.0);
        let n_steps = (self.duration_s / step_s).min(100.0) as usize;
        for number in 1..=n_steps {
            let time_s = number as f64 * step_s;
            let x = self.x_of(rect, time_s);
            if x > rect.right() - font.size * 3.0 {
                break;
            }
            let text = (self.label)(time_s, step_s);
            let galley = ui.painter().layout_no_wrap(text, font.clone(), tones.text);
            let place = pos2(x + 3.0, rect.bottom() - galley.size().y);
            let ground = Rect::from_min_size(place, galley.size());
            let line = Stroke::new(1.0, tones.hairline);
            ui.painter().vline(x, rect.y_range(), line);
            ui.painter()
                .rect_filled(ground, 2.0, tones.surface.gamma_multiply(0.75));
            ui.painter().galley(place, galley, tones.text);
        }
    }

    fn paint_onsets(&self, ui: &Ui, rect: Rect) {
        let color = theme::tones(ui).stale;
        let mut last = f32::NEG_INFINITY;
        for onset_s in self.onsets_s {
            let x = self.x_of(rect, *onset_s);
            // Thousands of annotations are not more than the pixels they fall on.
            if x - last >= 1.0 {
                let top = Rangef::new(rect.top(), rect.top() + 5.0);
                ui.painter().vline(x, top, Stroke::new(1.0, color));
                last = x;
            }
        }
    }

    fn paint_page(&self, ui: &Ui, rect: Rect) {
        let tones = theme::tones(ui);
        let left = self.x_of(rect, self.page_s.0);
        let right = self
            .x_of(rect, self.page_s.0 + self.page_s.1)
            .max(left + 3.0);
        let page = Rect::from_x_y_ranges(Rangef::new(left, right), rect.y_range());
        ui.painter()
            .rect_filled(page, 0.0, tones.accent.gamma_multiply(0.22));
        let stroke = Stroke::new(1.5, tones.accent);
        ui.painter()
            .rect_stroke(page, 0.0, stroke, StrokeKind::Inside);
    }
}

/// The values as shares of a high one, one per column of pixels: the highest of each.
fn column_heights(values: &[f32], n_columns: usize) -> Vec<f32> {
    let mut sorted: Vec<f32> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f32::total_cmp);
    // A single artefact does not make everything else invisible.
    let high = sorted.get(sorted.len() * 98 / 100).or(sorted.last());
    let high = high.copied().unwrap_or(1.0).max(f32::MIN_POSITIVE);
    let n_columns = n_columns.clamp(1, values.len().max(1));
    let column = |k: usize| {
        let range = k * values.len() / n_columns..(k + 1) * values.len() / n_columns;
        let finite = values[range].iter().copied().filter(|v| v.is_finite());
        finite.fold(f32::NAN, f32::max)
    };
    // `min` would make a full column of a gap.
    let share = |value: f32| if value > high { 1.0 } else { value / high };
    (0..n_columns).map(|k| share(column(k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_keep_peaks_and_gaps() {
        let mut values = vec![1.0; 1000];
        values[500..510].fill(f32::NAN);
        values[700] = 2.0;
        let heights = column_heights(&values, 100);
        assert_eq!(heights.len(), 100);
        assert!(heights[50].is_nan());
        assert_eq!((heights[0], heights[70]), (1.0, 1.0));
    }
}
