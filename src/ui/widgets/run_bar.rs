//! The run bar: start, pause, step, stop; progress and what continues, in one line.

use egui::{Align, Layout, Rect, Response, RichText, Role, Sense, Ui, WidgetInfo, vec2};

use crate::ui::icons::{Icon, icon_button};
use crate::ui::notice_sheet::look;
use crate::ui::numbers::percent;
use crate::ui::theme;
use crate::workbench::Gravity;
use atomscope_engine::records::counted;

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPhase {
    /// Nothing runs; Start begins.
    Idle,
    /// Training.
    Running,
    /// Held; Start continues.
    Paused,
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunRequest {
    /// To begin, or to continue.
    Start,
    /// To hold.
    Pause,
    /// To do one step and hold.
    Step,
    /// To end, keeping what was trained.
    Stop,
    /// To show the notices.
    Notices,
}

/// The line at the bottom of the window.
pub struct RunBar<'a> {
    /// What continues.
    pub phase: RunPhase,
    /// Why nothing can be started, if so.
    pub obstacle: Option<&'a str>,
    /// Share done, if something has been begun.
    pub progress: Option<f64>,
    /// Fold, batch, accuracy, speed, time left: what is known.
    pub facts: &'a [String],
    /// Number of notices worth a look.
    pub n_notices: usize,
    /// How serious the most serious of them is.
    pub gravest: Gravity,
}

impl RunBar<'_> {
    /// Draws the line; tells what was asked for.
    pub fn show(&self, ui: &mut Ui) -> Option<RunRequest> {
        let mut request = None;
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            request = self.buttons_ui(ui);
            ui.spacing_mut().item_spacing.x = theme::GRID;
            ui.add_space(theme::GRID);
            self.progress_ui(ui);
            let tones = theme::tones(ui);
            let facts = self.facts.join("  ·  ");
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if self.notices_ui(ui) {
                    request = Some(RunRequest::Notices);
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    let text = RichText::new(facts).color(tones.text);
                    ui.add(egui::Label::new(text).truncate());
                });
            });
        });
        request
    }

    fn buttons_ui(&self, ui: &mut Ui) -> Option<RunRequest> {
        let idle = self.phase == RunPhase::Idle;
        let running = self.phase == RunPhase::Running;
        let free = self.obstacle.is_none();
        let start = match self.phase {
            RunPhase::Paused => ("Resume", "Resumes training (Space)"),
            _ => ("Start", "Starts training (Space)"),
        };
        let buttons = [
            (RunRequest::Start, Icon::Play, start, !running && free),
            (
                RunRequest::Pause,
                Icon::Pause,
                ("Pause", "Pauses after this step (Space)"),
                running,
            ),
            (
                RunRequest::Step,
                Icon::Step,
                (
                    "Step",
                    "Trains one mini-batch of every class, then pauses (S)",
                ),
                free,
            ),
            (
                RunRequest::Stop,
                Icon::Stop,
                ("Stop", "Stops the run and keeps what was trained (Esc)"),
                !idle,
            ),
        ];
        let mut request = None;
        for (asked, icon, (name, help), enabled) in buttons {
            let add = |ui: &mut Ui| icon_button(ui, icon, name);
            let response = ui.add_enabled_ui(enabled, add).inner;
            if self.explain(response, help, enabled).clicked() {
                request = Some(asked);
            }
        }
        request
    }

    /// A disabled button says why.
    fn explain(&self, response: Response, help: &str, enabled: bool) -> Response {
        match self.obstacle {
            Some(obstacle) if !enabled => response.on_disabled_hover_text(obstacle),
            _ => response.on_hover_text(help).on_disabled_hover_text(help),
        }
    }

    fn progress_ui(&self, ui: &mut Ui) {
        let tones = theme::tones(ui);
        let share = self.progress.unwrap_or(0.0).clamp(0.0, 1.0);
        let width = (ui.available_width() * 0.3).clamp(80.0, 320.0);
        let height = ui.spacing().interact_size.y;
        let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
        let enabled = ui.is_enabled();
        response.widget_info(|| WidgetInfo {
            value: Some(share),
            ..WidgetInfo::labeled(Role::ProgressIndicator, enabled, "Progress of the run")
        });
        let rail = Rect::from_center_size(rect.center(), vec2(width, 6.0));
        ui.painter().rect_filled(rail, 3.0, tones.hairline);
        let mut done = rail;
        done.set_width(rail.width() * share as f32);
        let color = match self.phase {
            RunPhase::Paused => tones.stale,
            _ => tones.accent,
        };
        ui.painter().rect_filled(done, 3.0, color);
        if self.progress.is_some() {
            let text = percent((share * 100.0).floor() / 100.0);
            ui.add_sized(
                vec2(theme::body_font(ui).size * 3.2, height),
                egui::Label::new(text),
            );
        }
    }

    fn notices_ui(&self, ui: &mut Ui) -> bool {
        if self.n_notices == 0 {
            return false;
        }
        let (icon, color) = look(self.gravest, theme::tones(ui));
        let text = RichText::new(self.n_notices.to_string()).color(color);
        let count = ui.label(text);
        let name = counted(self.n_notices, "notice");
        let button = ui
            .scope(|ui| {
                let widgets = &mut ui.visuals_mut().widgets;
                for look in [&mut widgets.inactive, &mut widgets.hovered] {
                    look.fg_stroke.color = color;
                }
                icon_button(ui, icon, &name)
            })
            .inner;
        button
            .union(count)
            .on_hover_text("Recent messages")
            .clicked()
    }
}
