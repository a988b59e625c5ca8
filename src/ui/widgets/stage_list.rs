//! The stages of the work, each with its state and a one-line summary: the map of the program.

use egui::{Align2, FontId, Rect, Response, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use super::short_text::shortened;
use crate::ui::icons::{Icon, focus_ring};
use crate::ui::theme::{self, Tones};

/// Distance between rows.
const GAP: f32 = 2.0;
/// Distance between the name of a stage and its summary.
const LINE_GAP: f32 = 6.0;
/// Most room above and below the text of a row.
const PADDING: f32 = 8.0;

/// How far a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageMark {
    /// Nothing there yet.
    Empty,
    /// Up to date.
    Ready,
    /// Something before it changed.
    Stale,
    /// At work.
    Running,
    /// Something is wrong.
    Failed,
}

impl StageMark {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Ready => "ready",
            Self::Stale => "stale",
            Self::Running => "running",
            Self::Failed => "failed",
        }
    }

    fn icon(self, tones: &Tones) -> (Icon, egui::Color32) {
        match self {
            Self::Empty => (Icon::Empty, tones.weak),
            Self::Ready => (Icon::Check, tones.ok),
            Self::Stale => (Icon::Redo, tones.stale),
            Self::Running => (Icon::Play, tones.accent),
            Self::Failed => (Icon::Error, tones.error),
        }
    }
}

/// One stage.
pub struct StageRow<'a> {
    /// Its name.
    pub name: &'a str,
    /// How far it is.
    pub state: StageMark,
    /// One line: what it holds, or what made it stale.
    pub summary: &'a str,
    /// What it is for, on hovering.
    pub help: &'a str,
}

/// All stages from first to last.
pub struct StageList<'a> {
    /// The stages.
    pub stages: &'a [StageRow<'a>],
    /// The one whose page is shown.
    pub current: usize,
    /// Whether there is room for names alone, below their marks.
    pub is_narrow: bool,
}

impl StageList<'_> {
    /// Draws the list; gives the stage that was chosen.
    pub fn show(&self, ui: &mut Ui) -> Option<usize> {
        ui.spacing_mut().item_spacing.y = GAP;
        let padding = self.padding(ui);
        let mut chosen = None;
        ScrollArea::vertical().id_salt("stages").show(ui, |ui| {
            for (place, stage) in self.stages.iter().enumerate() {
                if self.stage_ui(ui, place, stage, padding).clicked() {
                    chosen = Some(place);
                }
            }
        });
        chosen
    }

    /// Room above and below the text of a row: less where large text would not fit otherwise.
    fn padding(&self, ui: &Ui) -> f32 {
        let share = ui.available_height() / self.stages.len() as f32 - GAP;
        let text = theme::body_font(ui).size + theme::small_font(ui).size + LINE_GAP;
        ((share - text) / 2.0).clamp(-LINE_GAP / 2.0, PADDING)
    }

    fn stage_ui(&self, ui: &mut Ui, place: usize, stage: &StageRow<'_>, padding: f32) -> Response {
        let tones = theme::tones(ui);
        let (body, small) = (theme::body_font(ui), theme::small_font(ui));
        let height = body.size + small.size + LINE_GAP + 2.0 * padding;
        let size = vec2(ui.available_width(), height);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let (enabled, selected) = (ui.is_enabled(), place == self.current);
        response.widget_info(|| {
            let says = format!("{}, {}: {}", stage.name, stage.state.word(), stage.summary);
            WidgetInfo::selected(Role::Tab, enabled, selected, says)
        });
        paint_ground(ui, rect, selected, &response);
        let name_color = if selected { tones.strong } else { tones.text };
        let (icon, color) = stage.state.icon(tones);
        let mark_y = rect.top() + padding + body.size * 0.6;
        let mark_x = match self.is_narrow {
            true => rect.center().x,
            false => rect.left() + 22.0,
        };
        let mark = Rect::from_center_size(pos2(mark_x, mark_y), vec2(body.size, body.size));
        icon.paint(ui.painter(), mark, color);
        if self.is_narrow {
            let at = pos2(rect.center().x, rect.bottom() - (padding - 2.0).max(0.0));
            ui.painter()
                .text(at, Align2::CENTER_BOTTOM, stage.name, small, name_color);
        } else {
            let left = rect.left() + 40.0;
            let name_at = pos2(left, rect.top() + padding);
            ui.painter()
                .text(name_at, Align2::LEFT_TOP, stage.name, body, name_color);
            let summary_at = pos2(left, rect.bottom() - padding);
            self.paint_summary(ui, stage, summary_at, rect.right(), small);
        }
        // The summary again, for it may be cut off.
        let (summary, help, key) = (stage.summary, stage.help, place + 1);
        response.on_hover_text(format!("{summary}\n{help} (key {key})"))
    }

    fn paint_summary(
        &self,
        ui: &Ui,
        stage: &StageRow<'_>,
        at: egui::Pos2,
        right: f32,
        font: FontId,
    ) {
        let tones = theme::tones(ui);
        let color = match stage.state {
            StageMark::Stale => tones.stale,
            StageMark::Failed => tones.error,
            _ => tones.weak,
        };
        let text = shortened(ui, stage.summary, &font, right - at.x - 8.0);
        ui.painter()
            .text(at, Align2::LEFT_BOTTOM, text, font, color);
    }
}

fn paint_ground(ui: &Ui, rect: Rect, selected: bool, response: &Response) {
    let tones = theme::tones(ui);
    if selected {
        ui.painter().rect_filled(rect, 6.0, tones.accent_wash);
        let bar = Rect::from_min_size(rect.min + vec2(0.0, 10.0), vec2(3.0, rect.height() - 20.0));
        ui.painter().rect_filled(bar, 1.5, tones.accent);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 6.0, tones.faint);
    }
    if response.has_focus() {
        focus_ring(ui, rect);
    }
}
