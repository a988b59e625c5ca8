//! The share of samples that each threshold of a growing criterion would have admitted.

use egui::{Sense, Ui};
use egui_plot::{Line, PlotPoints, VLine};

use super::chart_table::CurveTable;
use super::still_plot::StillPlot;
use crate::ui::numbers::{percent, short};
use crate::ui::theme;

/// Thresholds at which the curve is drawn.
const N_STEPS: usize = 160;

/// Share of admitted samples against the threshold.
pub struct AdmissionPlot<'a> {
    /// The share (0 to 1) that a threshold admits.
    pub share_at: &'a dyn Fn(f64) -> f64,
    /// The threshold that is set.
    pub threshold: f64,
    /// The thresholds along the axis.
    pub range: (f64, f64),
    /// Whether the axis is logarithmic.
    pub logarithmic: bool,
    /// Height with the axis.
    pub height: f32,
}

impl AdmissionPlot<'_> {
    /// Draws the curve with a mark at the threshold.
    pub fn show(&self, ui: &mut Ui) {
        let tones = theme::tones(ui);
        let (from, to) = (self.place(self.range.0), self.place(self.range.1));
        let still = StillPlot {
            name: "admitted samples",
            height: self.height,
            x: (from, to),
            y: (0.0, 1.03),
            x_label: "threshold",
            x_format: if self.logarithmic {
                |place| short(10_f64.powf(place))
            } else {
                short
            },
        };
        let plot = still
            .plot(ui)
            .label_formatter(|_| None)
            .sense(Sense::hover());
        let steps = (0..=N_STEPS).map(|step| from + (to - from) * step as f64 / N_STEPS as f64);
        let points: Vec<[f64; 2]> = steps
            .map(|place| [place, (self.share_at)(self.threshold_at(place))])
            .collect();
        let here = self.place(self.threshold).clamp(from, to);
        let shown = plot.show(ui, |plot| {
            let line = Line::new("admitted", PlotPoints::from(points.clone()));
            plot.line(line.color(tones.accent).width(2.0));
            plot.vline(VLine::new("set", here).color(tones.strong).width(1.0));
            plot.pointer_coordinate().map(|pointer| pointer.x)
        });
        let says = format!(
            "Share of samples admitted against the threshold: {}",
            self.at(self.threshold)
        );
        let response = shown.response;
        CurveTable {
            curves: &[("admitted", &points)],
            place: &|place| format!("threshold {}", short(self.threshold_at(place))),
            value: &percent,
        }
        .tell(ui, &response, &says);
        if let Some(place) = shown.inner.filter(|_| response.hovered()) {
            let text = self.at(self.threshold_at(place.clamp(from, to)));
            response.on_hover_text_at_pointer(text);
        }
    }

    fn at(&self, threshold: f64) -> String {
        let share = percent((self.share_at)(threshold));
        format!("{share} at {}", short(threshold))
    }

    fn place(&self, threshold: f64) -> f64 {
        match self.logarithmic {
            true => threshold.max(f64::MIN_POSITIVE).log10(),
            false => threshold,
        }
    }

    fn threshold_at(&self, place: f64) -> f64 {
        match self.logarithmic {
            true => 10_f64.powf(place),
            false => place,
        }
    }
}
