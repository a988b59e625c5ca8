//! A quick look at signals of one rate: a chart of traces whose lanes fill themselves.

use egui::{Color32, Rect, Response, Sense, Ui, vec2};

use super::cache::fingerprint;
use super::chart_table::{ChartTable, extent};
use super::trace_chart::{ChartMark, ChartTrace, TraceChart, trace_area};
use crate::ui::numbers::{short, tick};
use crate::ui::reduce::min_max;
use crate::ui::theme;
use atomscope_engine::records::overview::MinMax;

/// One signal.
pub struct Trace<'a> {
    /// The channel.
    pub name: &'a str,
    /// Its values; what is not finite is a gap.
    pub values: &'a [f64],
    /// Its colour.
    pub color: Color32,
    /// The lane it is drawn in, from the top; traces of one lane share its scale.
    pub lane: usize,
}

/// A moment worth a line: a trigger, an annotation.
pub struct TimeMark<'a> {
    /// When.
    pub time_s: f64,
    /// What.
    pub text: &'a str,
}

/// Signals of one rate on one time axis.
pub struct Waveform<'a> {
    /// What is shown, as the accessible name.
    pub name: &'a str,
    /// The signals.
    pub traces: &'a [Trace<'a>],
    /// Samples per second.
    pub rate_hz: f64,
    /// Time of the first sample.
    pub start_s: f64,
    /// Unit of each lane.
    pub lane_units: &'a [&'a str],
    /// Moments to mark.
    pub marks: &'a [TimeMark<'a>],
    /// The height to fill.
    pub height: f32,
}

impl Waveform<'_> {
    /// Draws the signals; the response tells of clicks and hovering.
    pub fn show(&self, ui: &mut Ui) -> Response {
        let size = vec2(ui.available_width(), self.height);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let longest = self.traces.iter().map(|trace| trace.values.len()).max();
        let n_samples = longest.unwrap_or(0);
        self.tell(ui, &response, n_samples);
        if n_samples > 0 && ui.is_rect_visible(rect) && self.rate_hz > 0.0 {
            self.paint(ui, rect, n_samples);
        }
        if response.has_focus() {
            crate::ui::icons::focus_ring(ui, rect);
        }
        response
    }

    fn tell(&self, ui: &Ui, figure: &Response, n_samples: usize) {
        let names: Vec<&str> = self.traces.iter().map(|trace| trace.name).collect();
        let time_s = |sample: usize| self.start_s + sample as f64 / self.rate_hz;
        ChartTable {
            n_places: n_samples,
            place: &|sample| format!("{} s", tick(time_s(sample), 1e-3)),
            series: &names,
            cell: &|trace, samples| {
                let trace = &self.traces[trace];
                let unit = self.lane_units.get(trace.lane).copied().unwrap_or("");
                let end = samples.end.min(trace.values.len());
                let values = trace.values.get(samples.start..end)?;
                Some(format!("{} {unit}", extent(values.iter().copied(), short)?))
            },
        }
        .tell(ui, figure, self.name);
    }

    fn paint(&self, ui: &Ui, rect: Rect, n_samples: usize) {
        let n_lanes = self.lane_units.len().max(1);
        let area = trace_area(ui, rect);
        let scales: Vec<LaneScale> = (0..n_lanes)
            .map(|lane| self.scale(lane, area.height() / n_lanes as f32))
            .collect();
        let columns: Vec<Vec<MinMax>> = self
            .traces
            .iter()
            .map(|trace| reduced(trace.values, area.width(), n_samples))
            .collect();
        let nothing = LaneScale::default();
        let traces: Vec<ChartTrace<'_>> = self
            .traces
            .iter()
            .zip(&columns)
            .map(|(trace, columns)| {
                let scale = scales.get(trace.lane).unwrap_or(&nothing);
                ChartTrace {
                    name: trace.name,
                    columns,
                    lane: trace.lane,
                    level: scale.level,
                    gain: scale.gain,
                    color: Some(trace.color),
                    is_clipped: false,
                    is_bad: false,
                    is_chosen: false,
                }
            })
            .collect();
        let color = theme::tones(ui).stale;
        let marks: Vec<ChartMark<'_>> = self
            .marks
            .iter()
            .map(|mark| ChartMark {
                onset_s: mark.time_s,
                duration_s: 0.0,
                text: mark.text,
                color,
            })
            .collect();
        let spans: Vec<String> = scales.into_iter().map(|scale| scale.span).collect();
        let span_s = n_samples as f64 / self.rate_hz;
        let values = columns.iter().flatten();
        TraceChart {
            traces: &traces,
            lane_notes: &spans,
            covered_s: (self.start_s, span_s),
            shown_s: (self.start_s, span_s),
            gaps: &[],
            marks: &marks,
            cursors: None,
            revision: fingerprint(values.flat_map(|c| [f64::from(c.min), f64::from(c.max)])),
        }
        .paint(ui, rect, |value, step| format!("{} s", tick(value, step)));
    }

    /// The scale on which the traces of a lane fill it.
    fn scale(&self, lane: usize, height: f32) -> LaneScale {
        let traces = self.traces.iter().filter(|trace| trace.lane == lane);
        let Some((low, high)) = range(traces.flat_map(|trace| trace.values.iter().copied())) else {
            return LaneScale::default();
        };
        let unit = self.lane_units.get(lane).copied().unwrap_or("");
        LaneScale {
            level: ((low + high) / 2.0) as f32,
            gain: (f64::from(height) * 0.86 / (high - low)) as f32,
            span: format!("{} {unit}", short(high - low)),
        }
    }
}

/// How the values of a lane become points.
#[derive(Default)]
struct LaneScale {
    level: f32,
    gain: f32,
    /// How much the lane spans, with its unit.
    span: String,
}

/// The extremes of each column of pixels over the time of the longest trace.
fn reduced(values: &[f64], width: f32, n_samples: usize) -> Vec<MinMax> {
    let n_columns = (width.max(1.0) as usize).min(n_samples);
    let n_own = n_columns * values.len() / n_samples;
    let columns = min_max(values, n_own.max(1)).into_iter();
    let columns = columns.map(|range| {
        range.map_or(MinMax::NOTHING, |(min, max)| MinMax {
            min: min as f32,
            max: max as f32,
        })
    });
    let mut columns: Vec<MinMax> = columns.collect();
    columns.resize(n_columns, MinMax::NOTHING);
    columns
}

/// The lowest and highest finite value, never the same.
fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    if low > high {
        None
    } else if low == high {
        Some((low - 1.0, high + 1.0))
    } else {
        Some((low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_leave_out_gaps_and_are_never_empty() {
        assert_eq!(range([f64::NAN, 1.0, -2.0].into_iter()), Some((-2.0, 1.0)));
        assert_eq!(range([3.0].into_iter()), Some((2.0, 4.0)));
        assert_eq!(range([f64::INFINITY].into_iter()), None);
    }
}
