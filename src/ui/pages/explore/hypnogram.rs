//! Scores of epochs over the whole recording above the trends: one's own as a hypnogram, the model's as a hypnodensity.

use egui::{Align2, Color32, Rect, Sense, Shape, Stroke, Ui, pos2, vec2};

use crate::ui::numbers::clock;
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::ui::widgets::{ChartTable, SMALLEST_NAME, gutter_width};
use crate::workbench::Workbench;
use crate::workbench::explore::{EegView, ModelEpochs};
use atomscope_engine::evaluation::{Agreement, EpochScores};

const HYPNOGRAM_HEIGHT: f32 = 52.0;
const DENSITY_HEIGHT: f32 = 20.0;
const GAP: f32 = 3.0;

/// The height of both; nothing without scores.
pub(super) fn hypnogram_height(workbench: &Workbench) -> f32 {
    let density = match workbench.explore().scoring().model() {
        Some(_) => DENSITY_HEIGHT + GAP,
        None => 0.0,
    };
    match workbench.epoch_scores() {
        Some(_) => HYPNOGRAM_HEIGHT + GAP + density,
        None => 0.0,
    }
}

/// Both over the time of the whole recording; a click turns the page there.
pub(super) fn hypnogram_ui(ui: &mut Ui, workbench: &Workbench, view: &mut EegView) {
    let (Some(scores), Some(browser)) = (workbench.epoch_scores(), workbench.explore().eeg())
    else {
        return;
    };
    let size = vec2(ui.available_width(), hypnogram_height(workbench));
    let (outer, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let model = workbench.explore().scoring().model();
    let both = [Some(scores), model.map(|model| &model.scores)];
    ChartTable {
        n_places: scores.epochs.len(),
        place: &|epoch| clock(epoch as f64 * scores.epoch_s),
        series: &["your score", "the model's"],
        cell: &|column, epochs| {
            let scores = both[column]?;
            let mut names: Vec<&str> = scores
                .epochs
                .get(epochs)?
                .iter()
                .flatten()
                .filter_map(|state| scores.states.get(usize::from(*state)))
                .map(String::as_str)
                .collect();
            names.dedup();
            (!names.is_empty()).then(|| names.join(", then "))
        },
    }
    .tell(ui, &response, "Hypnogram");
    let mut area = outer;
    area.min.x += gutter_width(ui);
    let duration_s = browser.duration_s().max(1e-9);
    let top = Rect::from_min_size(area.min, vec2(area.width(), HYPNOGRAM_HEIGHT));
    let axis = WholeTime {
        left: area.left(),
        width: area.width(),
        duration_s,
    };
    let stage = workbench.explore().scoring();
    paint_steps(ui, top, axis, scores, stage.with_model());
    if let Some(model) = stage.model() {
        let below = top.translate(vec2(0.0, HYPNOGRAM_HEIGHT + GAP));
        let below = Rect::from_min_size(below.min, vec2(area.width(), DENSITY_HEIGHT));
        paint_density(ui, below, axis, model);
    }
    let page = Stroke::new(1.5, theme::tones(ui).accent);
    for edge_s in [view.start_s, view.end_s()] {
        ui.painter().vline(axis.x(edge_s), area.y_range(), page);
    }
    let pointed = response.interact_pointer_pos();
    if let Some(place) = pointed.filter(|_| response.clicked() || response.dragged()) {
        let share = f64::from(((place.x - area.left()) / area.width()).clamp(0.0, 1.0));
        let epoch = (share * duration_s / scores.epoch_s).floor();
        view.start_s = (epoch + 0.5) * scores.epoch_s - view.span_s / 2.0;
    }
    response.on_hover_text(
        "Above your scores, a red line where the model differs; below the model's shares of the classes in each epoch: its p-values, or its decisions where it has none. Click to go there.",
    );
}

#[derive(Clone, Copy)]
struct WholeTime {
    left: f32,
    width: f32,
    duration_s: f64,
}

impl WholeTime {
    fn x(self, time_s: f64) -> f32 {
        self.left + (time_s / self.duration_s).clamp(0.0, 1.0) as f32 * self.width
    }
}

/// A name before a row, in letters no larger than the row is high.
fn name_row(ui: &Ui, rect: Rect, (y, height): (f32, f32), name: &str) {
    let (mut font, color) = (theme::small_font(ui), theme::tones(ui).weak);
    font.size = font.size.min(height.max(SMALLEST_NAME));
    let place = pos2(rect.left() - 6.0, y);
    ui.painter()
        .text(place, Align2::RIGHT_CENTER, name, font, color);
}

/// The state of each epoch as a step line, and a red line on top where the model differs.
fn paint_steps(
    ui: &Ui,
    rect: Rect,
    axis: WholeTime,
    scores: &EpochScores,
    with_model: Option<&Agreement>,
) {
    let tones = theme::tones(ui);
    ui.painter().rect_filled(rect, 0.0, tones.surface);
    let n_states = scores.states.len().max(1) as f32;
    let y =
        |state: u16| rect.top() + 4.0 + (f32::from(state) + 0.5) / n_states * (rect.height() - 6.0);
    let height = (rect.height() - 6.0) / n_states;
    let every = (SMALLEST_NAME / height).ceil().max(1.0) as usize;
    for (place, state) in scores.states.iter().enumerate().step_by(every) {
        name_row(ui, rect, (y(place as u16), height), state);
    }
    let mut mesh = egui::epaint::Mesh::default();
    let mut before: Option<u16> = None;
    for (epoch, state) in scores.epochs.iter().enumerate() {
        if let Some(state) = *state {
            let left = axis.x(epoch as f64 * scores.epoch_s);
            let right = axis.x((epoch + 1) as f64 * scores.epoch_s).max(left + 0.5);
            let line = Rect::from_x_y_ranges(left..=right, y(state) - 1.0..=y(state) + 1.0);
            mesh.add_colored_rect(line, tones.strong);
            if let Some(before) = before.filter(|before| *before != state) {
                let (a, b) = (y(before).min(y(state)), y(before).max(y(state)));
                let step = Rect::from_x_y_ranges(left - 0.5..=left + 0.5, a..=b);
                mesh.add_colored_rect(step, tones.strong);
            }
        }
        before = *state;
    }
    for &epoch in with_model.map_or(&[][..], |agreement| &agreement.differing) {
        let left = axis.x(epoch as f64 * scores.epoch_s);
        let right = axis.x((epoch + 1) as f64 * scores.epoch_s).max(left + 1.0);
        let line = Rect::from_x_y_ranges(left..=right, rect.top()..=rect.top() + 2.0);
        mesh.add_colored_rect(line, tones.error);
    }
    add_mesh(ui, mesh);
}

/// The shares of the classes stacked, in the colours of the classes.
fn paint_density(ui: &Ui, rect: Rect, axis: WholeTime, model: &ModelEpochs) {
    ui.painter()
        .rect_filled(rect, 0.0, theme::tones(ui).surface);
    name_row(ui, rect, (rect.center().y, rect.height()), "Model");
    let mut mesh = egui::epaint::Mesh::default();
    for epoch in 0..model.scores.epochs.len() {
        let left = axis.x(epoch as f64 * model.scores.epoch_s);
        let right = axis
            .x((epoch + 1) as f64 * model.scores.epoch_s)
            .max(left + 0.5);
        let mut low = rect.bottom();
        for (class, share) in model.shares_in(epoch).iter().enumerate() {
            let high = low - share * rect.height();
            let color: Color32 = class_color(class);
            mesh.add_colored_rect(Rect::from_x_y_ranges(left..=right, high..=low), color);
            low = high;
        }
    }
    add_mesh(ui, mesh);
}

fn add_mesh(ui: &Ui, mesh: egui::epaint::Mesh) {
    // Nothing to draw is no mesh at all.
    if !mesh.is_empty() {
        ui.painter().add(Shape::mesh(mesh));
    }
}
