//! Trends of the whole recording in rows under the traces; a click turns the page there.

use egui::{
    Align2, Color32, ColorImage, Pos2, Rect, Role, Sense, Shape, Stroke, TextureOptions, Ui,
    WidgetInfo, pos2, vec2,
};

use crate::ui::numbers::percent;
use crate::ui::palette::{class_color, sequential};
use crate::ui::theme;
use crate::ui::widgets::{cached, gutter_width};
use crate::workbench::Workbench;
use crate::workbench::explore::{EegBrowser, EegView};
use atomscope_engine::experiment::Ribbon;
use atomscope_engine::features::trends::{COLUMN_S, N_LINES, Side, Trends};

/// Height of a row, and its distance from the next.
const ROW_HEIGHT: f32 = 32.0;
const ROW_GAP: f32 = 3.0;
/// Densities at the ends of the colours, in dB of 1 µV²/Hz.
const RANGE_DB: (f32, f32) = (-10.0, 30.0);
/// The bend of the semi-logarithmic scale of amplitude-integrated EEG: linear below, a decade above.
const BEND_UV: f32 = 10.0;

/// What a row shows.
#[derive(Clone, Copy)]
enum Row {
    Spectra(Side),
    Amplitude(usize),
    Asymmetry,
    Suppression,
    Class,
    Margin,
}

/// The last two only where a model has judged.
const ROWS: [(Row, &str, &str); 8] = [
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
        Row::Amplitude(0),
        "aEEG L",
        "Amplitude-integrated EEG, left: least and largest of 15 s; linear to 10 µV in the middle, then a decade to 100 µV",
    ),
    (
        Row::Amplitude(1),
        "aEEG R",
        "Amplitude-integrated EEG, right: least and largest of 15 s; linear to 10 µV in the middle, then a decade to 100 µV",
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

fn n_rows(workbench: &Workbench) -> usize {
    match workbench.explore().ribbon().judged() {
        Some(_) => ROWS.len(),
        None => ROWS.len() - 2,
    }
}

/// The height of all rows.
pub(super) fn trends_height(workbench: &Workbench, view: &EegView) -> f32 {
    match view.shows_trends {
        true => n_rows(workbench) as f32 * (ROW_HEIGHT + ROW_GAP),
        false => 0.0,
    }
}

/// The rows, or how far they are.
pub(super) fn trends_ui(ui: &mut Ui, workbench: &Workbench, view: &mut EegView) {
    let Some(browser) = workbench.explore().eeg().filter(|_| view.shows_trends) else {
        return;
    };
    let size = vec2(ui.available_width(), trends_height(workbench, view));
    let (outer, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::labeled(Role::Figure, enabled, "Trends of the recording"));
    let mut area = outer;
    area.min.x += gutter_width(ui);
    let Some(trends) = browser.trends() else {
        let share = browser.trends_share().unwrap_or(0.0);
        let share = percent((share * 100.0).round() / 100.0);
        let text = match browser.trends_problem() {
            Some(problem) => problem.to_owned(),
            None => format!("Trends are computed, {share}"),
        };
        let font = theme::small_font(ui);
        let color = theme::tones(ui).weak;
        ui.painter()
            .text(area.center(), Align2::CENTER_CENTER, text, font, color);
        return;
    };
    let revision = std::sync::Arc::as_ptr(trends) as u64;
    let judged = workbench.explore().ribbon().judged();
    for (number, (row, name, _)) in ROWS.iter().take(n_rows(workbench)).enumerate() {
        let rect = row_rect(area, number);
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
    page_ui(ui, area, browser, view);
    let pointed = response.interact_pointer_pos();
    if let Some(place) = pointed.filter(|_| response.clicked() || response.dragged()) {
        let share = f64::from(((place.x - area.left()) / area.width()).clamp(0.0, 1.0));
        view.start_s = share * browser.duration_s() - view.span_s / 2.0;
    }
    let hovered = response.hover_pos().and_then(|place| {
        let is_over = |number: &usize| row_rect(outer, *number).contains(place);
        (0..n_rows(workbench)).find(is_over)
    });
    if let Some(number) = hovered {
        response.on_hover_text(ROWS[number].2);
    }
}

fn row_rect(area: Rect, number: usize) -> Rect {
    let top = area.top() + number as f32 * (ROW_HEIGHT + ROW_GAP);
    Rect::from_min_size(pos2(area.left(), top), vec2(area.width(), ROW_HEIGHT))
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
                let (low, high) = trends.aeeg[side][column];
                (up(amplitude_share(high)), up(amplitude_share(low)))
            });
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
    let mut last = None;
    for pixel in 0..width as usize {
        let time_s = f64::from((pixel as f32 + 0.5) / width) * duration_s;
        let column = (time_s / COLUMN_S) as usize;
        if column >= trends.n_columns {
            break;
        }
        let (a, b) = bar(column);
        if !(a.is_finite() && b.is_finite()) {
            last = None;
            continue;
        }
        let left = rect.left() + pixel as f32;
        let (top, bottom) = (a.min(b), a.max(b).max(a.min(b) + 1.0));
        mesh.add_colored_rect(
            Rect::from_min_max(pos2(left, top), pos2(left + 1.0, bottom)),
            color,
        );
        last = Some(column);
    }
    // Nothing to draw is no mesh at all.
    if last.is_some() || !mesh.is_empty() {
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
    // Textures have a largest side; longer recordings show every second column, or every third.
    const WIDEST: usize = 4096;
    if trends.n_columns == 0 {
        return;
    }
    let every = trends.n_columns.div_ceil(WIDEST);
    let n_columns = trends.n_columns.div_ceil(every);
    let id = ui.scope_id().with(("spectral array", side as u8));
    let texture = cached(ui, id, revision, || {
        let (low, high) = RANGE_DB;
        let pixel = |line: usize, column: usize| {
            let density = trends.spectrum(side, column * every).get(line).copied();
            let decibels = 10.0 * density.unwrap_or(f32::NAN).log10();
            match decibels.is_finite() {
                true => sequential((decibels - low) / (high - low)),
                false => Color32::TRANSPARENT,
            }
        };
        let lines = (0..N_LINES).rev();
        let pixels = lines.flat_map(|line| (0..n_columns).map(move |column| (line, column)));
        let pixels = pixels.map(|(line, column)| pixel(line, column)).collect();
        let image = ColorImage::new([n_columns, N_LINES], pixels);
        ui.ctx()
            .load_texture("spectral array", image, TextureOptions::LINEAR)
    });
    // The last column may reach beyond the recording.
    let shown = duration_s / ((n_columns * every) as f64 * COLUMN_S).max(1e-9);
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
