//! Accuracy against mini-batches: mean and spread over folds, the current fold, earlier runs, and what was changed on
//! the way.

use egui::{Align2, Key, Rect, Response, Sense, Ui};
use egui_plot::{FilledArea, Line, LineStyle, PlotPoints, PlotTransform, PlotUi, VLine};

use super::chart_table::CurveTable;
use super::short_text::shortened;
use super::still_plot::StillPlot;
use crate::ui::numbers::percent;
use crate::ui::palette::mix;
use crate::ui::theme::{self, Tones};
use crate::ui::{icons, reduce};

/// A named curve: mini-batch and accuracy (0 to 1).
pub struct Curve<'a> {
    /// Its name in the legend.
    pub name: &'a str,
    /// Its points, mini-batches growing.
    pub points: &'a [[f64; 2]],
}

/// The learning curves of a run.
pub struct AccuracyPlot<'a> {
    /// One curve per fold that has begun: mini-batch and accuracy.
    pub folds: &'a [&'a [[f64; 2]]],
    /// The fold drawn boldly.
    pub current_fold: Option<usize>,
    /// Earlier runs, to compare with.
    pub earlier: &'a [Curve<'a>],
    /// Settings changed while it ran: the mini-batch, and what was changed.
    pub marks: &'a [(usize, String)],
    /// The mini-batch that is replayed.
    pub replay: Option<f64>,
    /// Mini-batches of a whole fold: how far the axis reaches.
    pub n_batches: f64,
    /// Height with legend and axis.
    pub height: f32,
}

/// How near the pointer must be to a mark to read it, as a share of the axis.
const NEAR_MARK: f64 = 0.015;

/// Mean, lowest and highest accuracy of the folds at one mini-batch.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FoldSpread {
    batch: f64,
    mean: f64,
    low: f64,
    high: f64,
}

impl AccuracyPlot<'_> {
    /// Draws the curves; gives the mini-batch that was asked for by click or arrow key.
    pub fn show(&self, ui: &mut Ui) -> Option<f64> {
        let tones = theme::tones(ui);
        let before = ui.cursor().top();
        self.legend_ui(ui, tones);
        let height = self.height - (ui.cursor().top() - before);
        let columns = ui.available_width().max(1.0) as usize;
        let bands = bands(self.folds);
        let lowest = self.lowest();
        let still = StillPlot {
            name: "accuracy",
            height,
            x: (0.0, self.n_batches.max(1.0) * 1.01),
            y: (lowest, 1.0 + (1.0 - lowest) * 0.03),
            x_label: "mini-batches",
            x_format: |batch| format!("{batch:.0}"),
        };
        let plot = still
            .plot(ui)
            .label_formatter(|_| None)
            .sense(Sense::click());
        let shown = plot.show(ui, |plot| {
            self.draw(plot, tones, &bands, columns);
            plot.pointer_coordinate().map(|place| place.x)
        });
        let response = shown.response;
        self.mark_texts_ui(ui, &shown.transform, response.rect);
        self.tell(ui, &response);
        if response.has_focus() {
            icons::focus_ring(ui, response.rect);
        }
        let asked = match shown.inner {
            Some(batch) if response.clicked() => Some(batch),
            _ if response.has_focus() => self.arrow(ui, response.id),
            _ => None,
        };
        let hovered = shown.inner.filter(|_| response.hovered());
        let band = hovered.and_then(|batch| nearest(&bands, batch));
        let mut lines: Vec<String> = band
            .map(|band| hover_text(&band, self.folds.len()))
            .into_iter()
            .collect();
        lines.extend(hovered.into_iter().flat_map(|batch| self.marks_near(batch)));
        if !lines.is_empty() {
            response.on_hover_text_at_pointer(lines.join("\n"));
        }
        asked.map(|batch| batch.round().clamp(0.0, self.n_batches))
    }

    fn draw<'a>(&self, plot: &mut PlotUi<'a>, tones: &Tones, bands: &[FoldSpread], columns: usize) {
        for curve in self.earlier {
            plot.line(
                line(curve.name, curve.points, columns)
                    .color(mix(tones.weak, tones.page, 0.35))
                    .width(1.2)
                    .style(LineStyle::Dashed { length: 6.0 }),
            );
        }
        if self.folds.len() > 1 && bands.len() > 1 {
            let batches: Vec<f64> = bands.iter().map(|band| band.batch).collect();
            let low: Vec<f64> = bands.iter().map(|band| band.low).collect();
            let high: Vec<f64> = bands.iter().map(|band| band.high).collect();
            plot.add(
                FilledArea::new("spread", &batches, &low, &high)
                    .fill_color(tones.accent.gamma_multiply(0.14)),
            );
        }
        for (fold, points) in self.folds.iter().enumerate() {
            if Some(fold) != self.current_fold {
                let color = mix(tones.accent, tones.page, 0.45);
                plot.line(line("fold", points, columns).color(color).width(1.0));
            }
        }
        if self.folds.len() > 1 {
            let mean: Vec<[f64; 2]> = bands.iter().map(|band| [band.batch, band.mean]).collect();
            plot.line(line("mean", &mean, columns).color(tones.text).width(1.5));
        }
        if let Some(points) = self.current_fold.and_then(|fold| self.folds.get(fold)) {
            plot.line(
                line("this fold", points, columns)
                    .color(tones.accent)
                    .width(2.5),
            );
        }
        for (batch, text) in self.marks {
            plot.vline(
                VLine::new(text.as_str(), *batch as f64)
                    .color(tones.weak)
                    .width(1.0)
                    .style(LineStyle::Dotted { spacing: 4.0 }),
            );
        }
        if let Some(batch) = self.replay {
            plot.vline(VLine::new("replay", batch).color(tones.strong).width(1.0));
        }
    }

    /// The text of every mark beside its line, on the side with more room; marks close together in rows of their own.
    fn mark_texts_ui(&self, ui: &Ui, transform: &PlotTransform, rect: Rect) {
        let painter = ui.painter_at(rect);
        let font = egui::TextStyle::Small.resolve(ui.style());
        let tones = theme::tones(ui);
        let mut ends: Vec<f32> = Vec::new();
        for (batch, text) in self.marks {
            let x = transform.position_from_point_x(*batch as f64);
            let is_left = x < rect.center().x;
            let room = if is_left {
                rect.right() - x
            } else {
                x - rect.left()
            };
            let text = shortened(ui, text, &font, room - 8.0);
            let galley = painter.layout_no_wrap(text, font.clone(), tones.weak);
            let (anchor, shift) = match is_left {
                true => (Align2::LEFT_BOTTOM, 4.0),
                false => (Align2::RIGHT_BOTTOM, -4.0),
            };
            let span = anchor.anchor_size(egui::pos2(x + shift, rect.bottom()), galley.size());
            let row = ends.iter().position(|end| *end < span.left());
            let row = row.unwrap_or_else(|| {
                ends.push(0.0);
                ends.len() - 1
            });
            ends[row] = span.right();
            let up = row as f32 * galley.size().y + 4.0;
            let place = span.translate(egui::vec2(0.0, -up));
            painter.rect_filled(place, 2.0, tones.page.gamma_multiply(0.8));
            painter.galley(place.min, galley, tones.weak);
        }
    }

    fn marks_near(&self, batch: f64) -> impl Iterator<Item = String> {
        let near = NEAR_MARK * self.n_batches.max(1.0);
        let marks = self.marks.iter();
        let marks = marks.filter(move |(at, _)| (*at as f64 - batch).abs() <= near);
        marks.map(|(at, text)| format!("changed at batch {at}: {text}"))
    }

    fn legend_ui(&self, ui: &mut Ui, tones: &Tones) {
        // One row, so that the plot keeps its height when another run is added.
        ui.horizontal(|ui| {
            let font = theme::small_font(ui);
            let entry = |ui: &mut Ui, color, width, dashed, text: String| {
                let room = ui.available_width() - LEGEND_LINE - ui.spacing().item_spacing.x;
                let text = shortened(ui, &text, &font, room);
                if text.chars().count() > 1 {
                    legend_line(ui, color, width, dashed);
                    ui.label(egui::RichText::new(text).small().color(tones.weak));
                    ui.add_space(theme::GRID);
                }
            };
            if let Some(fold) = self.current_fold {
                entry(ui, tones.accent, 2.5, false, format!("fold {}", fold + 1));
            }
            if self.folds.len() > 1 {
                let text = format!("mean and spread of {} folds", self.folds.len());
                entry(ui, tones.text, 1.5, false, text);
            }
            let faint = mix(tones.weak, tones.page, 0.35);
            match self.earlier {
                [] => {}
                [one] => entry(ui, faint, 1.2, true, one.name.to_owned()),
                more => entry(ui, faint, 1.2, true, format!("{} earlier runs", more.len())),
            }
        });
    }

    fn tell(&self, ui: &Ui, figure: &Response) {
        let names: Vec<String> = (1..=self.folds.len())
            .map(|fold| format!("fold {fold}"))
            .collect();
        let folds = names.iter().map(String::as_str);
        let folds = folds.zip(self.folds.iter().copied());
        let earlier = self.earlier.iter().map(|curve| (curve.name, curve.points));
        let curves: Vec<_> = folds.chain(earlier).collect();
        CurveTable {
            curves: &curves,
            place: &|batch| format!("batch {batch:.0}"),
            value: &percent,
        }
        .tell(ui, figure, &self.describe());
    }

    /// A round value below every accuracy, so that the axis seldom changes.
    fn lowest(&self) -> f64 {
        let earlier = self.earlier.iter().map(|curve| curve.points);
        let lowest = self
            .folds
            .iter()
            .copied()
            .chain(earlier)
            .flatten()
            .map(|point| point[1])
            .filter(|accuracy| accuracy.is_finite())
            .fold(1.0, f64::min);
        [0.95, 0.9, 0.8, 0.5]
            .into_iter()
            .find(|floor| lowest >= *floor)
            .unwrap_or(0.0)
    }

    fn describe(&self) -> String {
        let current = self.current_fold.and_then(|fold| self.folds.get(fold));
        let mut text = match current.and_then(|points| points.last()) {
            Some([batch, accuracy]) => format!(
                "Accuracy against mini-batches: {} at batch {batch:.0}",
                percent(*accuracy)
            ),
            None => "Accuracy against mini-batches: no test yet".to_owned(),
        };
        for (batch, changed) in self.marks {
            text.push_str(&format!("; changed at batch {batch}: {changed}"));
        }
        text
    }

    /// The test before or after the replayed one, by arrow key.
    fn arrow(&self, ui: &Ui, id: egui::Id) -> Option<f64> {
        let filter = egui::EventFilter {
            horizontal_arrows: true,
            ..egui::EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
        let points = self.current_fold.and_then(|fold| self.folds.get(fold))?;
        let here = self.replay.unwrap_or(f64::INFINITY);
        if ui.input(|input| input.key_pressed(Key::ArrowLeft)) {
            return points
                .iter()
                .rev()
                .map(|p| p[0])
                .find(|batch| *batch < here);
        }
        if ui.input(|input| input.key_pressed(Key::ArrowRight)) {
            return points.iter().map(|p| p[0]).find(|batch| *batch > here);
        }
        None
    }
}

fn line<'a>(name: &str, points: &[[f64; 2]], columns: usize) -> Line<'a> {
    Line::new(name, PlotPoints::from(reduce::line(points, columns)))
}

/// Width of the piece of a line in a legend.
const LEGEND_LINE: f32 = 22.0;

/// A short piece of a line, for legends.
pub(super) fn legend_line(ui: &mut Ui, color: egui::Color32, width: f32, dashed: bool) {
    let (rect, _) = ui.allocate_exact_size(egui::vec2(LEGEND_LINE, 12.0), Sense::hover());
    let stroke = egui::Stroke::new(width, color);
    let y = rect.center().y;
    if dashed {
        for start in [0.0, 8.5, 17.0] {
            let x = rect.left() + start;
            ui.painter().hline(x..=x + 5.0, y, stroke);
        }
    } else {
        ui.painter().hline(rect.x_range(), y, stroke);
    }
}

fn hover_text(band: &FoldSpread, n_folds: usize) -> String {
    let mean = percent(band.mean);
    if n_folds > 1 {
        let (low, high) = (percent(band.low), percent(band.high));
        format!("batch {:.0}: {mean} ({low} to {high})", band.batch)
    } else {
        format!("batch {:.0}: {mean}", band.batch)
    }
}

fn nearest(bands: &[FoldSpread], batch: f64) -> Option<FoldSpread> {
    let distance = |band: &FoldSpread| (band.batch - batch).abs();
    bands
        .iter()
        .copied()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Mean and spread at every mini-batch at which at least one fold was tested.
fn bands(folds: &[&[[f64; 2]]]) -> Vec<FoldSpread> {
    let mut points: Vec<[f64; 2]> = folds
        .iter()
        .flat_map(|fold| fold.iter().copied())
        .filter(|point| point[0].is_finite() && point[1].is_finite())
        .collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    points
        .chunk_by(|a, b| a[0] == b[0])
        .map(|same| {
            let values = || same.iter().map(|point| point[1]);
            FoldSpread {
                batch: same[0][0],
                mean: values().sum::<f64>() / same.len() as f64,
                low: values().fold(f64::INFINITY, f64::min),
                high: values().fold(f64::NEG_INFINITY, f64::max),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_band_is_mean_and_extremes_of_the_folds_tested_there() {
        let first = [[1.0, 0.5], [2.0, 0.7], [3.0, f64::NAN]];
        let second = [[1.0, 0.7]];
        let found = bands(&[&first, &second]);
        assert_eq!(found.len(), 2);
        assert!((found[0].mean - 0.6).abs() < 1e-12);
        assert_eq!((found[0].low, found[0].high), (0.5, 0.7));
        assert_eq!(found[1].mean, 0.7);
    }
}
