//! The stages at the left: state and one-line summary of each, and the way to its page.

use egui::{Align2, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::icons::{Icon, focus_ring};
use super::theme;
use crate::workbench::{Action, Stage, StageState, StageStatus, Workbench};

/// All stages.
pub(super) fn stages_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.y = 4.0;
    for stage in Stage::ALL {
        let status = workbench.status(stage);
        let is_shown = workbench.view().page == stage;
        if stage_ui(ui, stage, &status, is_shown) {
            actions.push(Action::Show(stage));
        }
    }
}

fn stage_ui(ui: &mut Ui, stage: Stage, status: &StageStatus, is_shown: bool) -> bool {
    let tones = theme::tones(ui);
    let (body, small) = (theme::body_font(ui), theme::small_font(ui));
    let height = body.size + small.size + 22.0;
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
    let name = format!(
        "{}: {}, {}",
        stage.name(),
        status.state.word(),
        status.summary
    );
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_shown, &name));
    if is_shown {
        ui.painter()
            .rect_filled(rect, theme::CORNER, tones.accent_wash);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, theme::CORNER, tones.faint);
    }
    if response.has_focus() {
        focus_ring(ui, rect);
    }
    let (icon, color) = match &status.state {
        StageState::Empty => (Icon::Empty, tones.weak),
        StageState::Ready => (Icon::Check, tones.ok),
        StageState::Stale(_) => (Icon::Redo, tones.stale),
        StageState::Running => (Icon::Play, tones.accent),
        StageState::Wrong(_) => (Icon::Warning, tones.warning),
    };
    let mark = egui::Rect::from_center_size(
        pos2(rect.left() + 18.0, rect.top() + 9.0 + body.size / 2.0),
        vec2(body.size, body.size),
    );
    icon.paint(ui.painter(), mark, color);
    let left = rect.left() + 36.0;
    let title_color = if is_shown { tones.strong } else { tones.text };
    ui.painter().text(
        pos2(left, rect.top() + 8.0),
        Align2::LEFT_TOP,
        stage.name(),
        body.clone(),
        title_color,
    );
    let line = match &status.state {
        StageState::Stale(_) => "stale – train again".to_owned(),
        _ => status.summary.clone(),
    };
    let line = match (stage, &status.state) {
        (Stage::Records | Stage::Features, StageState::Stale(_)) => "stale – load again".to_owned(),
        _ => line,
    };
    let summary_color = match &status.state {
        StageState::Stale(_) => tones.stale,
        StageState::Wrong(_) => tones.warning,
        _ => tones.weak,
    };
    let mut job = egui::text::LayoutJob::simple_singleline(line, small, summary_color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(rect.right() - left - 6.0);
    let galley = ui.painter().layout_job(job);
    let place = pos2(left, rect.top() + 12.0 + body.size);
    ui.painter().galley(place, galley, summary_color);
    let text = match status.state.reason() {
        Some(reason) => format!("{}\n{reason}", status.summary),
        None => status.summary.clone(),
    };
    response.on_hover_text(text).clicked()
}
