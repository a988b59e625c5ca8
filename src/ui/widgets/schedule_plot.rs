//! The forgetting schedule as a curve whose ends can be dragged, with the memory it means.

use egui::{Align2, Id, Key, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui};
use egui::{Vec2, WidgetInfo, pos2, vec2};

use super::axes::Axes;
use super::chart_table::{ChartTable, extent};
use super::number_field::Edit;
use crate::ui::icons::{focus_ring, hold_arrows};
use crate::ui::numbers::{count, short, tick};
use crate::ui::theme;
use atomscope_engine::learner::{Forgetting, ForgettingShape};

const HANDLE: f32 = 6.0;

/// The λ schedule of a run of `n_rounds` mini-batches.
pub struct SchedulePlot {
    /// Mini-batches of a fold.
    pub n_rounds: usize,
    /// The mini-batch that is being learned, to mark it.
    pub current_round: Option<usize>,
    /// Height of plot and text.
    pub height: f32,
}

impl SchedulePlot {
    /// Draws the schedule and lets its start value and the end of its ramp be moved.
    pub fn show(&self, ui: &mut Ui, schedule: &mut Forgetting) -> Edit {
        let font = theme::small_font(ui);
        let size = vec2(ui.available_width(), self.height - font.size * 1.5);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let n_rounds = self.n_rounds.max(1);
        let plot = Rect::from_min_max(
            rect.min,
            pos2(rect.right() - font.size * 5.2, rect.bottom()),
        );
        // The first handle stands clear of the labels.
        let rounds = (-0.025 * n_rounds as f64, n_rounds as f64);
        let floor = self.floor(ui, response.id, schedule.start_value);
        let axes = Axes::within(ui, plot, rounds, (floor, 1.0));
        self.paint_axes(ui, &axes, rect);
        paint_curve(ui, &axes, schedule, n_rounds, self.current_round);
        let edit = self.handles_ui(ui, &axes, response.id, schedule);
        let text = memory_text(schedule, n_rounds, self.current_round);
        let memory = |factor: f64| count(Forgetting::effective_memory(factor).round());
        ChartTable {
            n_places: n_rounds,
            place: &|round| format!("batch {}", round + 1),
            series: &["λ", "memory in batches"],
            cell: &|column, rounds| {
                let factors = rounds.map(|round| schedule.factor(round, n_rounds));
                match column {
                    0 => extent(factors, |factor| tick(factor, 1e-4)),
                    _ => extent(factors, memory),
                }
            },
        }
        .tell(ui, &response, "Forgetting factor against mini-batches");
        let weak = theme::tones(ui).weak;
        ui.label(egui::RichText::new(text).small().color(weak));
        edit
    }

    /// The value at the lower edge; it stays while a handle is dragged so that nothing jumps.
    fn floor(&self, ui: &Ui, id: Id, start_value: f64) -> f64 {
        let fitting = [(0.96, 0.95), (0.91, 0.9), (0.55, 0.5)]
            .into_iter()
            .find(|(least, _)| start_value >= *least)
            .map_or(0.0, |(_, floor)| floor);
        let dragging = ui.ctx().is_being_dragged(id.with("start"));
        let kept = ui.data(|data| data.get_temp::<f64>(id));
        let floor = kept.filter(|_| dragging).unwrap_or(fitting);
        ui.data_mut(|data| data.insert_temp(id, floor));
        floor
    }

    fn paint_axes(&self, ui: &Ui, axes: &Axes, outer: Rect) {
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        axes.paint_y(ui, tick);
        axes.paint_x(ui, tick);
        let (low, high) = axes.y;
        let right = outer.right();
        for share in [0.0, 0.25, 0.5, 0.75] {
            let factor = low + share * (high - low);
            let place = pos2(right, axes.screen_y(factor));
            // A low plot has no room for all of them.
            if place.y - axes.rect.top() < font.size * 1.2 {
                continue;
            }
            let memory = count(Forgetting::effective_memory(factor).round());
            ui.painter().text(
                place,
                Align2::RIGHT_CENTER,
                memory,
                font.clone(),
                tones.weak,
            );
        }
        let top = pos2(right, axes.rect.top());
        ui.painter()
            .text(top, Align2::RIGHT_CENTER, "memory ∞", font, tones.weak);
    }

    fn handles_ui(&self, ui: &mut Ui, axes: &Axes, id: Id, schedule: &mut Forgetting) -> Edit {
        let n_rounds = self.n_rounds.max(1) as f64;
        let start = axes.at(0.0, schedule.start_value);
        let name = format!("Start value of λ: {}", short(schedule.start_value));
        let response = handle(ui, id.with("start"), start, (&name, schedule.start_value));
        let mut edit = Edit {
            changed: false,
            finished: response.drag_stopped(),
        };
        if response.dragged()
            && let Some(pointer) = response.interact_pointer_pos()
        {
            let wanted = (axes.y_at(pointer.y) * 1000.0).round() / 1000.0;
            edit.changed |= set(
                &mut schedule.start_value,
                wanted.clamp(axes.y.0.max(0.001), 1.0),
            );
        }
        if let Some(steps) = key_steps(ui, &response) {
            let wanted = (schedule.start_value + 0.001 * steps).clamp(0.001, 1.0);
            edit.changed |= set(&mut schedule.start_value, (wanted * 1e6).round() / 1e6);
            edit.finished = true;
        }
        if schedule.shape == ForgettingShape::Constant {
            return edit;
        }
        let end = axes.at(schedule.ramp_share * n_rounds, 1.0);
        let name = format!("End of the ramp: {} %", short(schedule.ramp_share * 100.0));
        let response = handle(ui, id.with("end"), end, (&name, schedule.ramp_share));
        edit.finished |= response.drag_stopped();
        if response.dragged()
            && let Some(pointer) = response.interact_pointer_pos()
        {
            let wanted = (axes.x_at(pointer.x) / n_rounds * 100.0).round() / 100.0;
            edit.changed |= set(&mut schedule.ramp_share, wanted.clamp(0.0, 1.0));
        }
        if let Some(steps) = key_steps(ui, &response) {
            let wanted = (schedule.ramp_share + 0.01 * steps).clamp(0.0, 1.0);
            edit.changed |= set(&mut schedule.ramp_share, (wanted * 1e6).round() / 1e6);
            edit.finished = true;
        }
        edit
    }
}

fn set(value: &mut f64, wanted: f64) -> bool {
    let differs = *value != wanted;
    *value = wanted;
    differs
}

/// A disc that can be dragged or moved by key.
fn handle(ui: &mut Ui, id: Id, place: Pos2, (name, value): (&str, f64)) -> Response {
    let tones = theme::tones(ui);
    let rect = Rect::from_center_size(place, Vec2::splat(HANDLE * 3.0));
    let response = ui.interact(rect, id, Sense::drag());
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo {
        value: Some(value),
        ..WidgetInfo::labeled(Role::Slider, enabled, name)
    });
    let radius = if response.hovered() || response.dragged() {
        HANDLE + 1.5
    } else {
        HANDLE
    };
    let rim = Stroke::new(2.0, tones.accent);
    ui.painter().circle(place, radius, tones.surface, rim);
    if response.has_focus() {
        focus_ring(ui, rect);
    }
    response.on_hover_text(format!("{name}\nDrag it, or use the arrow keys"))
}

/// Steps up (positive) or down by arrow keys while a handle has the focus.
fn key_steps(ui: &Ui, response: &Response) -> Option<f64> {
    if !response.has_focus() {
        return None;
    }
    hold_arrows(ui, response.id);
    let pressed = |key| ui.input(|input| input.num_presses(key)) as f64;
    let up = pressed(Key::ArrowUp) + pressed(Key::ArrowRight);
    let steps = up - pressed(Key::ArrowDown) - pressed(Key::ArrowLeft);
    (steps != 0.0).then_some(steps)
}

fn paint_curve(
    ui: &Ui,
    axes: &Axes,
    schedule: &Forgetting,
    n_rounds: usize,
    current: Option<usize>,
) {
    let tones = theme::tones(ui);
    let painter = ui
        .painter()
        .with_clip_rect(axes.rect.expand(3.0).intersect(ui.clip_rect()));
    if let Some(round) = current {
        let x = axes.screen_x(round as f64);
        painter.vline(x, axes.rect.y_range(), Stroke::new(1.0, tones.weak));
    }
    let stride = n_rounds.div_ceil(400).max(1);
    let mut points: Vec<Pos2> = Vec::new();
    for round in (0..n_rounds).step_by(stride).chain([n_rounds]) {
        let place = axes.at(round as f64, schedule.factor(round, n_rounds));
        let jump = points
            .last()
            .is_some_and(|last: &Pos2| last.y - place.y > 8.0);
        if jump && schedule.shape == ForgettingShape::Step {
            points.push(pos2(place.x, points[points.len() - 1].y));
        }
        points.push(place);
    }
    painter.add(Shape::line(points, Stroke::new(2.0, tones.accent)));
}

fn memory_text(schedule: &Forgetting, n_rounds: usize, current: Option<usize>) -> String {
    let remembered = |round: usize| {
        let memory = Forgetting::effective_memory(schedule.factor(round, n_rounds));
        if memory.is_finite() && memory < 1e6 {
            format!("≈ {} batches", count(memory.round()))
        } else {
            "everything".to_owned()
        }
    };
    let last = n_rounds.saturating_sub(1);
    if last == 0 {
        return format!("Memory {}", remembered(0));
    }
    let start = format!("Memory at the start {}", remembered(0));
    // After the last batch there is none whose factor could be told.
    let now = current.map(|round| format!(", at batch {round} {}", remembered(round.min(last))));
    let end = format!(", at the end {}", remembered(last));
    start + &now.unwrap_or_default() + &end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_told_in_batches() {
        let text = memory_text(&Forgetting::PAPER, 60, Some(30));
        assert_eq!(
            text,
            "Memory at the start ≈ 50 batches, at batch 30 ≈ 138 batches, at the end everything"
        );
        let constant = memory_text(&Forgetting::constant(0.9), 60, None);
        assert!(constant.ends_with("at the end ≈ 10 batches"));
        let one = memory_text(&Forgetting::PAPER, 1, Some(1));
        assert_eq!(
            one, "Memory ≈ 50 batches",
            "nothing comes before or after it"
        );
        let ended = memory_text(&Forgetting::PAPER, 60, Some(60));
        assert!(ended.ends_with("at batch 60 everything, at the end everything"));
    }
}
