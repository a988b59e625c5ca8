//! Trends of the whole recording in rows under the traces; a click turns the page there.

use std::ops::Range;

use egui::{
    Align2, Color32, ColorImage, Pos2, Rect, Sense, Shape, Stroke, TextureOptions, Ui, pos2, vec2,
};

use crate::ui::numbers::{clock, percent, short};
use crate::ui::palette::{class_color, sequential};
use crate::ui::theme;
use crate::ui::widgets::{ChartTable, cached, gutter_width};
use crate::workbench::Workbench;
use crate::workbench::explore::{EegBrowser, EegView};
use atomscope_engine::experiment::Ribbon;
use atomscope_engine::features::trends::{BANDS, COLUMN_S, LINE_HZ, N_LINES, Side, Trends};

/// Height of a row where there is room, where there is little, and its distance from the next.
const ROW_HEIGHT: f32 = 32.0;
/// On a large screen a row may take this part of the page: at 32 points its curves would be as flat as on a small one.
const HIGHEST_OF_PAGE: f32 = 0.045;
const LOWEST_ROW: f32 = 15.0;
const ROW_GAP: f32 = 3.0;
/// The part of the page that the rows may take.
const MOST_OF_PAGE: f32 = 0.32;
/// Densities at the ends of the colours, in dB of 1 µV²/Hz.
const RANGE_DB: (f32, f32) = (-10.0, 30.0);
/// Band powers at the foot and the top of their row, in dB of 1 µV².
const POWER_DB: (f32, f32) = (-10.0, 40.0);
/// The bend of the semi-logarithmic scale of amplitude-integrated EEG: linear below, a decade above.
const BEND_UV: f32 = 10.0;

/// What a row shows.
#[derive(Clone, Copy, PartialEq)]
enum Row {
    Spectra(Side),
    Amplitude(Side),
    Powers,
    Asymmetry,
    Suppression,
    Class,
    Margin,
}

/// The first two only without, the next four and the asymmetry only with channels known to lie left or right; the last two
/// only where a model has judged.
const ROWS: [(Row, &str, &str); 11] = [
    (
        Row::Spectra(Side::All),
        "Spectra",
        "Spectral array of all electrodes, 0.5 Hz below to 32 Hz above; −10 to 30 dB of 1 µV²/Hz",
    ),
    (
        Row::Amplitude(Side::All),
        "aEEG",
        "Amplitude-integrated EEG of the first channel: least and largest of 15 s; linear to 10 µV in the middle, then a decade to 100 µV",
    ),
    (
        Row::Spectra(Side::Left),
        "Spectra L",
        "Spectral array of the left electrodes, 0.5 Hz below to 32 Hz above; −10 to 30 dB of 1 µV²/Hz",
    ),
    (
        Row::Spectra(Side::Right),
        "Spectra R",
        "Spectral array of the right electrodes, 0.5 Hz below to 32 Hz above; −10 to 30 dB of 1 µV²/Hz",
    ),
    (
        Row::Amplitude(Side::Left),
        "aEEG L",
        "Amplitude-integrated EEG, left: least and largest of 15 s; linear to 10 µV in the middle, then a decade to 100 µV",
    ),
    (
        Row::Amplitude(Side::Right),
        "aEEG R",
        "Amplitude-integrated EEG, right: least and largest of 15 s; linear to 10 µV in the middle, then a decade to 100 µV",
    ),
    (
        Row::Powers,
        "Bands",
        "Power of delta, theta, alpha and beta, mean over channels: −10 to 40 dB of 1 µV², in the colours of the first four classes",
    ),
    (
        Row::Asymmetry,
        "R − L",
        "Asymmetry of alpha power, (R − L)/(R + L) over homologous pairs: up is more on the right, the edges are ±1",
    ),
    (
        Row::Suppression,
        "Suppressed",
        "Share of the last minute below 5 µV for at least 0.5 s, mean over channels: 0 to 100 %",
    ),
    (
        Row::Class,
        "Class",
        "What the model decided, in the colours of the classes",
    ),
    (
        Row::Margin,
        "Margin",
        "How far the best class is ahead of the next, up to the largest margin of the recording",
    ),
];

/// Which rows are shown: a box for each.
pub(super) fn trend_rows_ui(ui: &mut Ui, view: &mut EegView) {
    for (_, name, what) in ROWS {
        let mut is_shown = !view.hidden_trends.contains(name);
        let text = format!("{what}. Default on.");
        if ui
            .checkbox(&mut is_shown, name)
            .on_hover_text(text)
            .changed()
        {
            match is_shown {
                true => view.hidden_trends.remove(name),
                false => view.hidden_trends.insert(name),
            };
        }
    }
}

/// The rows that are shown, with the height of each.
struct Rows {
    shown: Vec<&'static (Row, &'static str, &'static str)>,
    height: f32,
}

impl Rows {
    fn of(workbench: &Workbench, view: &EegView, page_height: f32) -> Self {
        let has_judged = workbench.explore().ribbon().judged().is_some();
        let trends = workbench
            .explore()
            .eeg()
            .and_then(|browser| browser.trends());
        let has_sides = trends.is_none_or(|trends| trends.has_sides());
        let is_shown = |row: &&(Row, &'static str, &str)| {
            let is_there = match row.0 {
                Row::Class | Row::Margin => has_judged,
                Row::Spectra(side) | Row::Amplitude(side) => has_sides == (side != Side::All),
                Row::Asymmetry => has_sides,
                Row::Powers | Row::Suppression => true,
            };
            view.shows_trends && is_there && !view.hidden_trends.contains(row.1)
        };
        let shown: Vec<_> = ROWS.iter().filter(is_shown).collect();
        let highest = ROW_HEIGHT.max(page_height * HIGHEST_OF_PAGE);
        let room = page_height * MOST_OF_PAGE / shown.len().max(1) as f32 - ROW_GAP;
        Self {
            shown,
            height: room.clamp(LOWEST_ROW, highest).floor(),
        }
    }

    fn all(&self) -> f32 {
        self.shown.len() as f32 * (self.height + ROW_GAP)
    }

    fn rect(&self, area: Rect, number: usize) -> Rect {
        let top = area.top() + number as f32 * (self.height + ROW_GAP);
        Rect::from_min_size(pos2(area.left(), top), vec2(area.width(), self.height))
    }
}

/// The height of all rows on a page of this height.
pub(super) fn trends_height(workbench: &Workbench, view: &EegView, page_height: f32) -> f32 {
    Rows::of(workbench, view, page_height).all()
}

/// The rows, or how far they are.
pub(super) fn trends_ui(ui: &mut Ui, workbench: &Workbench, view: &mut EegView, page_height: f32) {
    let rows = Rows::of(workbench, view, page_height);
    let browser = workbench.explore().eeg();
    let Some(browser) = browser.filter(|_| !rows.shown.is_empty()) else {
        return;
    };
    let size = vec2(ui.available_width(), rows.all());
    let (outer, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let known = browser.trends();
    let names: Vec<&str> = rows.shown.iter().map(|(_, name, _)| *name).collect();
    ChartTable {
        n_places: known.as_ref().map_or(0, |trends| trends.n_columns),
        place: &|column| clock(Trends::onset_s(column)),
        series: &names,
        // Of joined columns the first: values of several kinds have no common extent.
        cell: &|row, columns| value_text(rows.shown[row].0, known.as_ref()?, columns.start),
    }
    .tell(ui, &response, "Trends of the recording");
    let mut area = outer;
    area.min.x += gutter_width(ui);
    let progress = browser.trends_share().map(|share| {
        let share = percent((share * 100.0).round() / 100.0);
        format!("Trends are computed, {share}")
    });
    let Some(trends) = known.as_ref() else {
        let problem = browser.trends_problem().map(str::to_owned);
        let text = problem.or(progress).unwrap_or_default();
        centred_text(ui, area, &text);
        return;
    };
    let trends: &Trends = trends;
    let revision = std::ptr::from_ref(trends) as u64;
    let judged = workbench.explore().ribbon().judged();
    for (number, (row, name, _)) in rows.shown.iter().enumerate() {
        let rect = rows.rect(area, number);
        if let (Row::Class | Row::Margin, Some(judged)) = (row, judged) {
            decided_ui(ui, rect, *row, name, &judged.ribbon, browser.duration_s());
            continue;
        }
        row_ui(
            ui,
            rect,
            *row,
            name,
            (trends, revision),
            browser.duration_s(),
        );
    }
    if let Some(progress) = progress {
        centred_text(ui, rows.rect(area, 0), &progress);
    }
    page_ui(ui, area, browser, view);
    let time_at = |x: f32| {
        let share = f64::from(((x - area.left()) / area.width()).clamp(0.0, 1.0));
        share * browser.duration_s()
    };
    let pointed = response.interact_pointer_pos();
    if let Some(place) = pointed.filter(|_| response.clicked() || response.dragged()) {
        view.start_s = time_at(place.x) - view.span_s / 2.0;
    }
    let Some(place) = response.hover_pos() else {
        return;
    };
    let is_over = |number: &usize| rows.rect(outer, *number).contains(place);
    if let Some(number) = (0..rows.shown.len()).find(is_over) {
        let (row, _, what) = rows.shown[number];
        let time_s = time_at(place.x);
        let column = (time_s / COLUMN_S) as usize;
        let value = value_text(*row, trends, column).filter(|_| place.x >= area.left());
        let text = match value {
            Some(value) => format!("{}: {value}\n{what}. Click to go there.", clock(time_s)),
            None => format!("{what}. Click to go there."),
        };
        response.on_hover_text(text);
    }
}

/// Where the amplitude-integrated EEG of a side stands; that of all stands for the left.
fn aeeg_place(side: Side) -> usize {
    usize::from(side == Side::Right)
}

fn centred_text(ui: &Ui, area: Rect, text: &str) {
    let (font, tones) = (theme::small_font(ui), theme::tones(ui));
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), font, tones.strong);
    let place = area.center() - galley.size() / 2.0;
    let ground = Rect::from_min_size(place, galley.size()).expand(3.0);
    ui.painter()
        .rect_filled(ground, 3.0, tones.surface.gamma_multiply(0.85));
    ui.painter().galley(place, galley, tones.strong);
}

/// What a row says in one column; nothing where there is no value.
fn value_text(row: Row, trends: &Trends, column: usize) -> Option<String> {
    let finite = |value: f32| value.is_finite().then_some(value);
    Some(match row {
        Row::Amplitude(side) => {
            let &(low, high) = trends.aeeg[aeeg_place(side)].get(column)?;
            let from = trends.aeeg_from[aeeg_place(side)].as_deref().unwrap_or("");
            format!("{from} {:.1} to {:.1} µV", finite(low)?, finite(high)?)
        }
        Row::Powers => {
            let power = |band: usize| {
                let power = finite(*trends.band_powers[band].get(column)?)?;
                Some(format!("{} {} µV²", BANDS[band].0, short(f64::from(power))))
            };
            let powers: Option<Vec<String>> = (0..BANDS.len()).map(power).collect();
            powers?.join(", ")
        }
        Row::Asymmetry => format!("{:+.2}", finite(*trends.asymmetry[2].get(column)?)?),
        Row::Suppression => percent(f64::from(finite(*trends.suppression.get(column)?)?)),
        Row::Spectra(side) => {
            let lines = trends.spectrum(side, column);
            let highest = (0..lines.len()).max_by(|a, b| lines[*a].total_cmp(&lines[*b]))?;
            let density = finite(lines[highest])?;
            let hz = (highest + 1) as f64 * LINE_HZ;
            format!("most at {hz} Hz, {} µV²/Hz", short(f64::from(density)))
        }
        Row::Class | Row::Margin => return None,
    })
}

fn row_ui(
    ui: &Ui,
    rect: Rect,
    row: Row,
    name: &str,
    (trends, revision): (&Trends, u64),
    duration_s: f64,
) {
    let tones = theme::tones(ui);
    ground_ui(ui, rect, name);
    let middle = rect.center().y;
    let up = |share: f32| rect.bottom() - share.clamp(0.0, 1.0) * rect.height();
    match row {
        Row::Spectra(side) => spectra_ui(ui, rect, side, (trends, revision), duration_s),
        Row::Amplitude(side) => {
            ui.painter()
                .hline(rect.x_range(), middle, Stroke::new(1.0, tones.hairline));
            bars_ui(ui, rect, trends, duration_s, tones.accent, |column| {
                let (low, high) = trends.aeeg[aeeg_place(side)][column];
                (up(amplitude_share(high)), up(amplitude_share(low)))
            });
        }
        Row::Powers => {
            let (low, high) = POWER_DB;
            for (band, powers) in trends.band_powers.iter().enumerate() {
                let color = class_color(band);
                bars_ui(ui, rect, trends, duration_s, color, |column| {
                    let decibels = 10.0 * powers[column].log10();
                    let y = up((decibels - low) / (high - low));
                    (y, y + 1.5)
                });
            }
        }
        Row::Asymmetry => {
            ui.painter()
                .hline(rect.x_range(), middle, Stroke::new(1.0, tones.hairline));
            bars_ui(ui, rect, trends, duration_s, tones.text, |column| {
                (up(0.5 + trends.asymmetry[2][column] / 2.0), middle)
            });
        }
        Row::Suppression => bars_ui(ui, rect, trends, duration_s, tones.stale, |column| {
            (up(trends.suppression[column]), rect.bottom())
        }),
        // Drawn from the decisions.
        Row::Class | Row::Margin => {}
    }
}

fn ground_ui(ui: &Ui, rect: Rect, name: &str) {
    let tones = theme::tones(ui);
    let font = theme::small_font(ui);
    ui.painter().rect_filled(rect, 0.0, tones.surface);
    let place = pos2(rect.left() - 6.0, rect.center().y);
    ui.painter()
        .text(place, Align2::RIGHT_CENTER, name, font, tones.weak);
}

/// The model's decisions: for every column of pixels the class, or the margin as a bar.
fn decided_ui(ui: &Ui, rect: Rect, row: Row, name: &str, ribbon: &Ribbon, duration_s: f64) {
    ground_ui(ui, rect, name);
    let segments = &ribbon.segments;
    let margins = segments.iter().map(|segment| segment.verdict.margin);
    let largest = margins.fold(f64::MIN_POSITIVE, f64::max);
    let mut mesh = egui::epaint::Mesh::default();
    let width = rect.width().max(1.0);
    for pixel in 0..width as usize {
        let time_s = f64::from((pixel as f32 + 0.5) / width) * duration_s;
        let after = segments.partition_point(|segment| segment.start_s <= time_s);
        let segment = after.checked_sub(1).map(|place| &segments[place]);
        let Some(segment) = segment.filter(|own| time_s < own.start_s + own.duration_s) else {
            continue;
        };
        let share = match row {
            Row::Margin => (segment.verdict.margin / largest).clamp(0.0, 1.0) as f32,
            _ => 1.0,
        };
        let left = rect.left() + pixel as f32;
        let top = rect.bottom() - share * rect.height();
        let bar = Rect::from_min_max(pos2(left, top), pos2(left + 1.0, rect.bottom()));
        mesh.add_colored_rect(bar, class_color(segment.verdict.class));
    }
    if !mesh.is_empty() {
        ui.painter().add(Shape::mesh(mesh));
    }
}

/// Linear to the bend at half the height, then a decade to the top.
fn amplitude_share(microvolts: f32) -> f32 {
    match microvolts <= BEND_UV {
        true => microvolts / BEND_UV * 0.5,
        false => 0.5 + 0.5 * (microvolts / BEND_UV).log10(),
    }
}

/// The columns behind one of `n_pixels` over the recording: a short event is seen however long the day.
fn columns_behind(pixel: usize, n_pixels: f32, duration_s: f64, n_columns: usize) -> Range<usize> {
    let at = |pixel: usize| pixel as f64 / f64::from(n_pixels) * duration_s / COLUMN_S;
    let first = (at(pixel) as usize).min(n_columns);
    let end = (at(pixel + 1).ceil() as usize).max(first + 1);
    first..end.min(n_columns)
}

/// A bar for every column of pixels, from one height to another; none where there is no value.
fn bars_ui(
    ui: &Ui,
    rect: Rect,
    trends: &Trends,
    duration_s: f64,
    color: Color32,
    bar: impl Fn(usize) -> (f32, f32),
) {
    let width = rect.width().max(1.0);
    let mut mesh = egui::epaint::Mesh::default();
    for pixel in 0..width as usize {
        let columns = columns_behind(pixel, width, duration_s, trends.n_columns);
        let known = columns
            .map(&bar)
            .filter(|(a, b)| a.is_finite() && b.is_finite());
        let extent = known.fold(
            (f32::INFINITY, f32::NEG_INFINITY),
            |(top, bottom), (a, b)| (top.min(a.min(b)), bottom.max(a.max(b))),
        );
        let (top, bottom) = extent;
        if top > bottom {
            continue;
        }
        let left = rect.left() + pixel as f32;
        let foot = pos2(left + 1.0, bottom.max(top + 1.0));
        mesh.add_colored_rect(Rect::from_min_max(pos2(left, top), foot), color);
    }
    // Nothing to draw is no mesh at all.
    if !mesh.is_empty() {
        ui.painter().add(Shape::mesh(mesh));
    }
}

fn spectra_ui(
    ui: &Ui,
    rect: Rect,
    side: Side,
    (trends, revision): (&Trends, u64),
    duration_s: f64,
) {
    // Textures have a largest side; where columns are narrower than pixels, a pixel shows their mean.
    const WIDEST: usize = 4096;
    const FEW_COLUMNS: usize = 200;
    if trends.n_columns == 0 {
        return;
    }
    let n_pixels = (rect.width() as usize).clamp(1, WIDEST);
    let has_own = trends.n_columns <= n_pixels;
    let n_columns = trends.n_columns.min(n_pixels);
    let behind = |column: usize| match has_own {
        true => column..column + 1,
        false => columns_behind(column, n_pixels as f32, duration_s, trends.n_columns),
    };
    let id = ui.scope_id().with(("spectral array", side as u8));
    let key = revision ^ (n_columns as u64) << 48;
    let texture = cached(ui, id, key, || {
        let (low, high) = RANGE_DB;
        let pixel = |line: usize, column: usize| {
            let density = |column: usize| trends.spectrum(side, column).get(line).copied();
            let known = behind(column).filter_map(density).filter(|d| d.is_finite());
            let (sum, n) = known.fold((0.0, 0.0), |(sum, n), density| (sum + density, n + 1.0));
            let decibels = 10.0 * (sum / n).log10();
            match decibels.is_finite() {
                true => sequential((decibels - low) / (high - low)),
                false => Color32::TRANSPARENT,
            }
        };
        let lines = (0..N_LINES).rev();
        let pixels = lines.flat_map(|line| (0..n_columns).map(move |column| (line, column)));
        let pixels = pixels.map(|(line, column)| pixel(line, column)).collect();
        let image = ColorImage::new([n_columns, N_LINES], pixels);
        // Few columns would run into each other.
        let options = match n_columns < FEW_COLUMNS {
            true => TextureOptions::NEAREST,
            false => TextureOptions::LINEAR,
        };
        ui.ctx().load_texture("spectral array", image, options)
    });
    // The last column may reach beyond the recording.
    let reach_s = match has_own {
        true => n_columns as f64 * COLUMN_S,
        false => duration_s,
    };
    let shown = duration_s / reach_s.max(1e-9);
    let part = Rect::from_min_max(Pos2::ZERO, pos2((shown as f32).min(1.0), 1.0));
    ui.painter().image(texture.id(), rect, part, Color32::WHITE);
}

/// The page that is shown, over all rows.
fn page_ui(ui: &Ui, area: Rect, browser: &EegBrowser, view: &EegView) {
    let x = |time_s: f64| {
        let share = (time_s / browser.duration_s().max(1e-9)).clamp(0.0, 1.0);
        area.left() + share as f32 * area.width()
    };
    let stroke = Stroke::new(1.5, theme::tones(ui).accent);
    for edge_s in [view.start_s, view.end_s()] {
        ui.painter().vline(x(edge_s), area.y_range(), stroke);
    }
}
