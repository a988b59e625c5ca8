//! Power spectral densities of several traces over frequency, in decibels or as they are.

use egui::{Color32, Response, Sense, Shape, Stroke, Ui, vec2};

use super::axes::Axes;
use super::chart_table::{ChartTable, extent};
use crate::ui::numbers::{short, tick};
use crate::ui::theme;

/// One spectrum.
pub struct SpectrumLine<'a> {
    /// The trace.
    pub name: &'a str,
    /// Density line by line from 0 Hz.
    pub density: &'a [f64],
    /// Distance between two lines.
    pub resolution_hz: f64,
    /// Whether it is under attention.
    pub is_chosen: bool,
}

/// Spectra over one axis of frequency.
pub struct SpectrumPlot<'a> {
    /// The spectra.
    pub lines: &'a [SpectrumLine<'a>],
    /// Frequency at the right edge.
    pub highest_hz: f64,
    /// Edges of bands, drawn as hairlines.
    pub edges_hz: &'a [f64],
    /// Whether densities are shown in decibels.
    pub is_in_db: bool,
    /// The height to fill.
    pub height: f32,
}

/// Decibels of a density in unit² per Hz.
fn decibel(density: f64) -> f64 {
    10.0 * density.max(1e-12).log10()
}

impl SpectrumPlot<'_> {
    /// Draws the spectra, the chosen one last.
    pub fn show(&self, ui: &mut Ui) -> Response {
        let size = vec2(ui.available_width(), self.height);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        self.tell(ui, &response);
        let Some((low, high)) = self.range() else {
            return response;
        };
        let tones = theme::tones(ui);
        let mut axes = Axes::within(ui, rect, (0.0, self.highest_hz), (low, high));
        // Room for half of the last label.
        axes.rect.max.x -= theme::small_font(ui).size * 1.4;
        axes.paint_x(ui, |value, step| format!("{} Hz", tick(value, step)));
        axes.paint_y(ui, tick);
        for edge_hz in self.edges_hz {
            let stroke = Stroke::new(1.0, tones.hairline);
            ui.painter()
                .vline(axes.screen_x(*edge_hz), axes.rect.y_range(), stroke);
        }
        let others = self.lines.iter().filter(|line| !line.is_chosen);
        for line in others {
            self.paint_line(
                ui,
                &axes,
                line,
                Stroke::new(1.0, tones.weak.gamma_multiply(0.5)),
            );
        }
        for line in self.lines.iter().filter(|line| line.is_chosen) {
            self.paint_line(ui, &axes, line, Stroke::new(1.8, tones.accent));
        }
        match response
            .hover_pos()
            .filter(|place| axes.rect.contains(*place))
        {
            Some(place) => {
                let text = self.paint_cursor(ui, &axes, axes.x_at(place.x));
                response.on_hover_text_at_pointer(text)
            }
            None => response,
        }
    }

    fn tell(&self, ui: &Ui, figure: &Response) {
        let names: Vec<&str> = self.lines.iter().map(|line| line.name).collect();
        let finest_hz = self.lines.iter().map(|line| line.resolution_hz);
        let finest_hz = finest_hz.fold(f64::INFINITY, f64::min);
        ChartTable {
            // The mean was taken off, so the first line says nothing.
            n_places: (self.highest_hz / finest_hz) as usize,
            place: &|place| format!("{} Hz", short((place + 1) as f64 * finest_hz)),
            series: &names,
            cell: &|line, places| {
                let line = &self.lines[line];
                let at = |place: usize| (place as f64 * finest_hz / line.resolution_hz) as usize;
                let last = at(places.end).min(line.density.len().saturating_sub(1));
                let densities = line.density.get(at(places.start + 1)..=last)?;
                let unit = if self.is_in_db { " dB" } else { "" };
                let told = extent(densities.iter().map(|d| self.value(*d)), short)?;
                Some(told + unit)
            },
        }
        .tell(ui, figure, "Spectrum");
    }

    /// A line at the frequency pointed at, and the value of the chosen trace there.
    fn paint_cursor(&self, ui: &Ui, axes: &Axes, pointed_hz: f64) -> String {
        let chosen = self.lines.iter().find(|line| line.is_chosen);
        let Some(line) = chosen.or(self.lines.first()) else {
            return format!("{pointed_hz:.1} Hz");
        };
        let place = (pointed_hz / line.resolution_hz).round().max(0.0) as usize;
        let hz = place as f64 * line.resolution_hz;
        let stroke = Stroke::new(1.0, theme::tones(ui).accent);
        ui.painter()
            .vline(axes.screen_x(hz), axes.rect.y_range(), stroke);
        match line.density.get(place) {
            Some(density) => {
                let (value, unit) = (self.value(*density), if self.is_in_db { " dB" } else { "" });
                format!("{}: {hz:.2} Hz, {}{unit}", line.name, short(value))
            }
            None => format!("{hz:.2} Hz"),
        }
    }

    /// A density as it is drawn.
    fn value(&self, density: f64) -> f64 {
        match self.is_in_db {
            true => decibel(density),
            false => density,
        }
    }

    /// From the lowest to the highest value shown: in whole tens of decibels, or from zero.
    fn range(&self) -> Option<(f64, f64)> {
        let values = self.lines.iter().flat_map(|line| {
            let last = (self.highest_hz / line.resolution_hz) as usize;
            // The mean was taken off, so the first line says nothing.
            line.density
                .iter()
                .take(last + 1)
                .skip(1)
                .map(|d| self.value(*d))
        });
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if !self.is_in_db {
            return (low <= high).then_some((0.0, high.max(1e-12) * 1.05));
        }
        let low = low.max(high - 80.0);
        (low <= high).then(|| {
            (
                (low / 10.0).floor() * 10.0,
                (high / 10.0).ceil() * 10.0 + 1e-6,
            )
        })
    }

    fn paint_line(&self, ui: &Ui, axes: &Axes, line: &SpectrumLine<'_>, stroke: Stroke) {
        let points = line.density.iter().enumerate().skip(1).map(|(k, density)| {
            (
                k as f64 * line.resolution_hz,
                self.value(*density).max(axes.y.0),
            )
        });
        let points = points.take_while(|(hz, _)| *hz <= self.highest_hz);
        let points = points.map(|(hz, value)| axes.at(hz, value)).collect();
        let color: Color32 = stroke.color;
        ui.painter()
            .add(Shape::line(points, Stroke::new(stroke.width, color)));
    }
}
