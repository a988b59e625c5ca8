//! The profile of a class: size against budget, comings and goings per batch, age of what is kept.

use egui::{Align2, Color32, Rect, Response, Sense, Ui, pos2, vec2};

use super::chart_table::{ChartTable, extent};
use crate::ui::numbers::{count, short};
use crate::ui::palette::mix;
use crate::ui::theme;

/// What one mini-batch did to the profile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchFlow {
    /// Samples kept.
    pub admitted: f64,
    /// Samples not kept.
    pub rejected: f64,
    /// Samples that left.
    pub removed: f64,
}

/// The profile of one class.
pub struct ProfilePanel<'a> {
    /// The class.
    pub class_name: &'a str,
    /// Its colour.
    pub class_color: Color32,
    /// Samples kept now.
    pub n_kept: usize,
    /// Most samples that may be kept: L_max.
    pub budget: usize,
    /// One entry per mini-batch so far.
    pub batches: &'a [BatchFlow],
    /// For each kept sample: mini-batches since it came.
    pub ages: &'a [f64],
    /// The height to fill.
    pub height: f32,
}

impl ProfilePanel<'_> {
    /// Draws the panel.
    pub fn show(&self, ui: &mut Ui) {
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), self.height), Sense::hover());
        self.tell(ui, &response);
        if !ui.is_rect_visible(rect) {
            return;
        }
        let line = theme::small_font(ui).size;
        let top = self.meter_ui(ui, rect);
        let lanes = Rect::from_min_max(pos2(rect.left(), top + line), rect.max);
        let split = lanes.left() + lanes.width() * 0.66;
        let flow = Rect::from_min_max(
            lanes.min,
            pos2(split - theme::PANEL_GAP / 2.0, lanes.bottom()),
        );
        let ages = Rect::from_min_max(pos2(split + theme::PANEL_GAP / 2.0, lanes.top()), lanes.max);
        self.flow_ui(ui, flow);
        self.ages_ui(ui, ages);
    }

    fn tell(&self, ui: &Ui, figure: &Response) {
        let n_of_age = |batch: usize| {
            let age = (self.batches.len() - 1 - batch) as f64;
            self.ages.iter().filter(|own| own.round() == age).count() as f64
        };
        ChartTable {
            n_places: self.batches.len(),
            place: &|batch| format!("batch {}", batch + 1),
            series: &["admitted", "rejected", "removed", "still kept"],
            cell: &|column, batches| {
                let value = |batch: usize| match column {
                    0 => self.batches[batch].admitted,
                    1 => self.batches[batch].rejected,
                    2 => self.batches[batch].removed,
                    _ => n_of_age(batch),
                };
                extent(batches.map(value), short)
            },
        }
        .tell(ui, figure, &self.describe());
    }

    fn describe(&self) -> String {
        let (name, last) = (
            self.class_name,
            self.batches.last().copied().unwrap_or_default(),
        );
        format!(
            "Profile of {name}: {}; last batch {} admitted, {} rejected, {} removed",
            self.kept(),
            last.admitted,
            last.rejected,
            last.removed
        )
    }

    /// How many samples are kept. More than a budget that was lowered after the last batch: the next one keeps to it.
    fn kept(&self) -> String {
        let (n_kept, budget) = (self.n_kept, self.budget);
        match n_kept > budget {
            true => format!("kept {n_kept}, budget lowered to {budget}"),
            false => format!("kept {n_kept} of {budget}"),
        }
    }

    /// Size against budget; gives the lower end.
    fn meter_ui(&self, ui: &Ui, rect: Rect) -> f32 {
        let tones = theme::tones(ui);
        let font = theme::body_font(ui);
        let text = self.kept();
        let written = ui
            .painter()
            .text(rect.min, Align2::LEFT_TOP, text, font.clone(), tones.text);
        let mut bottom = written.bottom();
        if let Some(last) = self.batches.last() {
            let text = format!("+{} −{} in the last batch", last.admitted, last.removed);
            let text = ui
                .painter()
                .layout_no_wrap(text, theme::small_font(ui), tones.weak);
            // Beside it, or below it in a narrow panel.
            let beside = pos2(
                rect.right() - text.size().x,
                written.center().y - text.size().y / 2.0,
            );
            let place = match beside.x > written.right() + font.size / 2.0 {
                true => beside,
                false => written.left_bottom(),
            };
            bottom = bottom.max(place.y + text.size().y);
            ui.painter().galley(place, text, tones.weak);
        }
        let bar = Rect::from_min_size(pos2(rect.left(), bottom + 6.0), vec2(rect.width(), 6.0));
        let share = self.n_kept as f32 / self.budget.max(1) as f32;
        let mut full = bar;
        full.set_width(bar.width() * share.min(1.0));
        let color = if share > 1.0 {
            tones.warning
        } else {
            self.class_color
        };
        ui.painter().rect_filled(bar, 3.0, tones.faint);
        ui.painter().rect_filled(full, 3.0, color);
        bar.bottom()
    }

    /// Admitted upward, removed downward, rejected faintly behind the admitted.
    fn flow_ui(&self, ui: &Ui, rect: Rect) {
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        let admitted = self.class_color;
        let removed = mix(tones.weak, tones.page, 0.1);
        let rejected = mix(tones.weak, tones.page, 0.75);
        let plot = legend(
            ui,
            rect,
            &[
                ("admitted", admitted),
                ("rejected", rejected),
                ("removed", removed),
            ],
        );
        let columns = per_column(self.batches, (plot.width() / 3.0) as usize);
        let up = |flow: &BatchFlow| flow.admitted + flow.rejected;
        let most_up = columns.iter().map(up).fold(1.0, f64::max);
        let most_down = columns.iter().map(|flow| flow.removed).fold(0.0, f64::max);
        let per_sample = f64::from(plot.height()) / (most_up + most_down);
        let zero = plot.top() + (most_up * per_sample) as f32;
        // Bars of a usual width from the start, so that they do not shrink batch by batch.
        let width = plot.width() / (columns.len() as f32).max(20.0);
        for (place, flow) in columns.iter().enumerate() {
            let left = plot.left() + width * place as f32;
            let bar = |from: f64, to: f64, color: Color32| {
                let (from, to) = ((from * per_sample) as f32, (to * per_sample) as f32);
                let gap = (width * 0.2).min(1.0);
                let bar = Rect::from_min_max(
                    pos2(left, zero - to),
                    pos2(left + width - gap, zero - from),
                );
                ui.painter().rect_filled(bar, 0.0, color);
            };
            bar(0.0, flow.admitted, admitted);
            bar(flow.admitted, flow.admitted + flow.rejected, rejected);
            bar(-flow.removed, 0.0, removed);
        }
        let stroke = egui::Stroke::new(1.0, tones.hairline);
        ui.painter().hline(plot.x_range(), zero, stroke);
        let below = pos2(plot.left(), rect.bottom());
        ui.painter().text(
            below,
            Align2::LEFT_BOTTOM,
            "per mini-batch",
            font,
            tones.weak,
        );
    }

    fn ages_ui(&self, ui: &Ui, rect: Rect) {
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        let plot = legend(ui, rect, &[("age of kept samples", self.class_color)]);
        let n_bins = ((plot.width() / 7.0) as usize).clamp(4, 40);
        let oldest = self.ages.iter().copied().fold(1.0, f64::max).ceil();
        let bins = histogram(self.ages, oldest, n_bins);
        let most = bins.iter().copied().max().unwrap_or(0).max(1) as f32;
        let width = plot.width() / n_bins as f32;
        for (place, &n) in bins.iter().enumerate() {
            let left = plot.left() + width * place as f32;
            let top = plot.bottom() - plot.height() * n as f32 / most;
            let bar = Rect::from_min_max(pos2(left, top), pos2(left + width - 1.0, plot.bottom()));
            ui.painter()
                .rect_filled(bar, 0.0, mix(self.class_color, tones.page, 0.25));
        }
        let stroke = egui::Stroke::new(1.0, tones.hairline);
        ui.painter().hline(plot.x_range(), plot.bottom(), stroke);
        let label = |place, align, text: String| {
            ui.painter()
                .text(place, align, text, font.clone(), tones.weak)
        };
        let oldest = match oldest {
            1.0 => "1 batch".to_owned(),
            oldest => format!("{} batches", count(oldest)),
        };
        let oldest = label(rect.right_bottom(), Align2::RIGHT_BOTTOM, oldest);
        if oldest.left() > rect.left() + font.size * 3.0 {
            label(rect.left_bottom(), Align2::LEFT_BOTTOM, "new".to_owned());
        }
    }
}

/// Names with their colours, in as many lines as they need; gives what is left for the plot, with a line below it.
fn legend(ui: &Ui, rect: Rect, entries: &[(&str, Color32)]) -> Rect {
    let tones = theme::tones(ui);
    let font = theme::small_font(ui);
    let (dot, gap) = (font.size * 1.1, font.size);
    let (mut x, mut top, mut bottom) = (rect.left(), rect.top(), rect.top());
    for (name, color) in entries {
        let width = (rect.width() - dot).max(font.size);
        let text = ui
            .painter()
            .layout((*name).to_owned(), font.clone(), tones.weak, width);
        if x > rect.left() && x + dot + text.size().x > rect.right() {
            (x, top) = (rect.left(), bottom);
        }
        let square = pos2(x + 4.0, top + font.size * 0.6);
        let square = Rect::from_center_size(square, vec2(8.0, 8.0));
        ui.painter().rect_filled(square, 1.0, *color);
        bottom = bottom.max(top + text.size().y);
        let size = text.size();
        ui.painter().galley(pos2(x + dot, top), text, tones.weak);
        x += dot + size.x + gap;
    }
    let floor = rect.bottom() - font.size * 1.5;
    let top = (bottom + font.size * 0.4).min(floor);
    Rect::from_min_max(pos2(rect.left(), top), pos2(rect.right(), floor))
}

/// Means of neighbouring batches, when there are more batches than columns.
fn per_column(batches: &[BatchFlow], n_columns: usize) -> Vec<BatchFlow> {
    let together = batches.len().div_ceil(n_columns.max(1)).max(1);
    batches
        .chunks(together)
        .map(|part| {
            let mean = |value: &dyn Fn(&BatchFlow) -> f64| {
                part.iter().map(value).sum::<f64>() / part.len() as f64
            };
            BatchFlow {
                admitted: mean(&|flow| flow.admitted),
                rejected: mean(&|flow| flow.rejected),
                removed: mean(&|flow| flow.removed),
            }
        })
        .collect()
}

fn histogram(values: &[f64], top: f64, n_bins: usize) -> Vec<usize> {
    let mut bins = vec![0; n_bins];
    for value in values.iter().filter(|value| value.is_finite()) {
        let bin = (value / top * n_bins as f64).max(0.0) as usize;
        bins[bin.min(n_bins - 1)] += 1;
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_lowered_after_the_last_batch_is_no_share() {
        let panel = |budget| ProfilePanel {
            class_name: "open",
            class_color: Color32::RED,
            n_kept: 60,
            budget,
            batches: &[],
            ages: &[],
            height: 100.0,
        };
        assert_eq!(panel(80).kept(), "kept 60 of 80");
        assert_eq!(panel(45).kept(), "kept 60, budget lowered to 45");
    }

    #[test]
    fn many_batches_are_drawn_as_means_and_none_is_lost() {
        let batches: Vec<BatchFlow> = (0..1000)
            .map(|n| BatchFlow {
                admitted: f64::from(n % 10),
                ..BatchFlow::default()
            })
            .collect();
        let columns = per_column(&batches, 100);
        assert_eq!(columns.len(), 100);
        assert!(
            columns
                .iter()
                .all(|flow| (flow.admitted - 4.5).abs() < 1e-12)
        );
        assert!(per_column(&[], 100).is_empty());
    }

    #[test]
    fn every_age_is_in_one_bin() {
        let bins = histogram(&[0.0, 1.0, 9.9, 10.0, f64::NAN], 10.0, 5);
        assert_eq!(bins, [2, 0, 0, 0, 2]);
    }
}
