//! The window: menu, stages, page, run bar, notices and questions around one workbench.

use std::path::PathBuf;

use egui::containers::scroll_area::State as ScrollState;
use egui::{CentralPanel, Context, Frame, Margin, Panel, ThemePreference, Ui, ViewportCommand};

use super::dialogs::Dialogs;
use super::elements::{LEAST_WIDTH, Narrow, roomy_page};
use super::{
    asks, banner, figure_picture, menu, notice_sheet, pages, run_bar, shortcuts, stage_list, theme,
};
use crate::workbench::explore::ExploreAction;
use crate::workbench::{Action, Demo, Stage, Workbench};
use atomscope_engine::session::Theme;

/// Width of the frame around the list of stages.
const STAGES_FRAME: f32 = 16.0;
/// Height that the title bar of a window and the task bar of a desktop take together.
const BARS_HEIGHT: f32 = 80.0;

/// Text that is being typed into the questions of the window.
#[derive(Debug, Default)]
pub(super) struct Typing {
    /// A path to open or to save under.
    pub(super) path: String,
    /// Whether the field for it has had its proposal.
    pub(super) has_proposed: bool,
    /// The name of a preset.
    pub(super) preset: String,
    /// What the list of records is searched for.
    pub(super) search: String,
    /// What the columns of a table are searched for.
    pub(super) column: String,
    /// A pattern of file names.
    pub(super) pattern: String,
    /// The lines of an own montage.
    pub(super) montage: String,
    /// The text of a new annotation.
    pub(super) annotation: String,
    /// What the list of annotations is searched for.
    pub(super) annotation_search: String,
    /// The name of an own montage.
    pub(super) montage_name: String,
    /// The states of a new scoring, with commas between them.
    pub(super) states: Option<String>,
    /// The length of its epochs in seconds.
    pub(super) epoch_s: Option<String>,
}

/// The window around a workbench.
pub struct App {
    workbench: Workbench,
    typing: Typing,
    dialogs: Option<Dialogs>,
    appearance: Option<(Theme, f32)>,
    title: String,
    fits_screen: bool,
}

impl App {
    /// A window; `dialogs` says whether the dialogs of the system may be used.
    pub fn new(mut workbench: Workbench, dialogs: bool) -> Self {
        workbench.paint_figures_with(figure_picture::to_png);
        Self {
            workbench,
            typing: Typing::default(),
            dialogs: dialogs.then(Dialogs::default),
            appearance: None,
            title: String::new(),
            fits_screen: false,
        }
    }

    /// The workbench.
    pub fn workbench(&self) -> &Workbench {
        &self.workbench
    }

    /// The workbench, to be told what to do.
    pub fn workbench_mut(&mut self) -> &mut Workbench {
        &mut self.workbench
    }

    /// One frame of a window that is shown.
    pub fn frame(&mut self, ui: &mut Ui) {
        self.attend(&ui.ctx().clone());
        self.show(ui);
    }

    /// Takes over what the background did and answers the wish to close; also called while the
    /// window is minimised, covered or on another desktop.
    pub fn attend(&mut self, context: &Context) {
        self.workbench.update();
        if let Some(answer) = self.dialogs.as_mut().and_then(Dialogs::answer) {
            self.workbench.apply(answer);
        }
        let wants_close = context.input(|input| input.viewport().close_requested());
        if wants_close && !self.workbench.is_over() {
            self.workbench.apply(Action::Quit);
            if !self.workbench.is_over() {
                context.send_viewport_cmd(ViewportCommand::CancelClose);
            }
            if self.workbench.view().ask.is_some() {
                // The question must be seen.
                context.send_viewport_cmd(ViewportCommand::Minimized(false));
                context.send_viewport_cmd(ViewportCommand::Focus);
            }
        }
        if let Some(wait) = self.workbench.next_change() {
            context.request_repaint_after(wait);
        }
        self.fit_screen(context);
        for hint in super::system_fonts::take_hints(context) {
            self.workbench.tell(hint);
        }
        self.tell_system(context);
    }

    /// Maximises a new window that leaves no room for its title bar and the task bar. Its size is
    /// limited to that of the screen without them, so that the run bar would lie below the screen.
    fn fit_screen(&mut self, context: &Context) {
        if self.fits_screen {
            return;
        }
        let sizes = context.input(|input| {
            let viewport = input.viewport();
            viewport
                .inner_rect
                .map(|rect| rect.size())
                .zip(viewport.monitor_size)
        });
        let Some((window, screen)) = sizes else {
            return;
        };
        self.fits_screen = true;
        if window.x > screen.x || window.y + BARS_HEIGHT > screen.y {
            context.send_viewport_cmd(ViewportCommand::Maximized(true));
        }
    }

    /// Shows everything, and does what was asked.
    fn show(&mut self, ui: &mut Ui) {
        let context = ui.ctx().clone();
        self.follow_appearance(&context);
        let mut actions = Vec::new();
        self.listen(&context, &mut actions);
        let mut draft = self.workbench.draft().clone();
        self.frame_ui(ui, &mut actions);
        let workbench = &self.workbench;
        let margin = match workbench.is_folded() {
            true => Margin::same(4),
            false => Margin::symmetric(theme::PAGE_MARGIN, 16),
        };
        let frame = Frame::central_panel(ui.style()).inner_margin(margin);
        let typing = &mut self.typing;
        let mut page = |ui: &mut Ui| {
            let page = match workbench.view().page {
                Stage::Records => {
                    pages::records_page_ui(ui, workbench, &mut draft, &mut actions, typing);
                    return;
                }
                Stage::Explore => {
                    pages::explore_page_ui(ui, workbench, &mut draft, typing, &mut actions);
                    return;
                }
                Stage::Features => pages::features_page_ui,
                Stage::Split => pages::split_page_ui,
                Stage::Learner => pages::learner_page_ui,
                Stage::Train => pages::train_page_ui,
                Stage::Evaluate => pages::evaluate_page_ui,
                Stage::Compare => pages::compare_page_ui,
                Stage::Live => pages::live_page_ui,
            };
            page(ui, workbench, &mut draft, &mut actions);
        };
        let narrow = match workbench.view().page {
            Stage::Split => Narrow::Wrapped,
            Stage::Explore if !pages::explore_has_columns(workbench) => Narrow::Wrapped,
            // Long lists of settings beside a picture of them stay beside it as long as both are seen.
            Stage::Records | Stage::Features | Stage::Learner => Narrow::Beside,
            // Panels that the user has arranged keep their places.
            Stage::Train if workbench.view().tiling.is_some() => Narrow::Scrolled,
            Stage::Train => Narrow::Arranged,
            _ => Narrow::Stacked,
        };
        CentralPanel::default()
            .frame(frame)
            .show(ui, |ui| roomy_page(ui, narrow, &mut page));
        asks::asks_ui(
            &context,
            &self.workbench,
            &mut self.typing,
            self.dialogs.as_mut(),
            &mut actions,
        );
        let is_held =
            context.input(|input| input.pointer.any_down()) || context.egui_wants_keyboard_input();
        self.workbench.edit(draft, is_held);
        let is_idle = actions.is_empty();
        for action in actions {
            self.workbench.apply(action);
        }
        if !is_idle {
            context.request_repaint();
        }
        // An edit of this frame is copied in its time, also when no frame follows.
        if let Some(wait) = self.workbench.next_change() {
            context.request_repaint_after(wait);
        }
        self.tell_system(&context);
    }

    /// Everything around the page.
    fn frame_ui(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let workbench = &self.workbench;
        let bar =
            |ui: &Ui| Frame::side_top_panel(ui.style()).inner_margin(Margin::symmetric(12, 5));
        let frame = bar(ui);
        Panel::top("menu").frame(frame).show(ui, |ui| {
            menu::menu_ui(ui, workbench, actions);
        });
        banner::banners_ui(ui, workbench, actions);
        if workbench.is_folded() {
            notice_sheet::newest_ui(ui, workbench, actions);
            return;
        }
        let frame = bar(ui);
        Panel::bottom("run bar").frame(frame).show(ui, |ui| {
            run_bar::run_bar_ui(ui, workbench, actions);
        });
        if workbench.view().notices_open && !workbench.notices().list().is_empty() {
            let frame = bar(ui);
            Panel::bottom("notices").frame(frame).show(ui, |ui| {
                notice_sheet::notices_ui(ui, workbench, actions);
            });
        }
        let (wide, narrow) = (
            theme::body_font(ui).size * 17.0,
            theme::small_font(ui).size * 6.0,
        );
        let page = LEAST_WIDTH * theme::text_scale(ui) + 2.0 * f32::from(theme::PAGE_MARGIN);
        // Large text or a small window: the room is the page's, and the stages tell their names alone.
        let is_narrow = ui.available_width() - wide < page + STAGES_FRAME;
        let frame = Frame::side_top_panel(ui.style()).inner_margin(Margin::symmetric(8, 12));
        Panel::left("stages")
            .resizable(false)
            .exact_size(if is_narrow { narrow } else { wide })
            .frame(frame)
            .show(ui, |ui| {
                stage_list::stages_ui(ui, workbench, is_narrow, actions);
            });
        notice_sheet::newest_ui(ui, workbench, actions);
    }

    /// Theme and text size as the user wants them.
    fn follow_appearance(&mut self, context: &Context) {
        let settings = self.workbench.settings();
        let wanted = (settings.theme, settings.text_size);
        if self.appearance == Some(wanted) {
            return;
        }
        let is_new_size = self.appearance.is_none_or(|(_, size)| size != wanted.1);
        self.appearance = Some(wanted);
        context.set_theme(match wanted.0 {
            Theme::System => ThemePreference::System,
            Theme::Light => ThemePreference::Light,
            Theme::Dark => ThemePreference::Dark,
        });
        if is_new_size {
            theme::set_text_scale(context, wanted.1);
        }
    }

    /// Keys and dropped files.
    fn listen(&mut self, context: &Context, actions: &mut Vec<Action>) {
        shortcuts::shortcuts(context, &self.workbench, actions);
        let dropped = context.input(|input| {
            let files = input.raw.dropped_files.iter();
            files
                .map(|file| file.path().to_owned())
                .find(|path| !path.as_os_str().is_empty())
        });
        let explores = self.workbench.view().page == Stage::Explore;
        actions.extend(dropped.map(|path| match path.extension() {
            Some(ending) if explores && ending != "ron" => {
                Action::Explore(ExploreAction::OpenFile(path))
            }
            _ => Action::Open(path),
        }));
    }

    /// The title, and the end.
    fn tell_system(&mut self, context: &Context) {
        let mark = if self.workbench.is_unsaved() {
            " ●"
        } else {
            ""
        };
        let title = format!("Atomscope – {}{mark}", self.workbench.name());
        if title != self.title {
            context.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
        if self.workbench.is_over() {
            context.send_viewport_cmd(ViewportCommand::Close);
        }
    }
}

impl eframe::App for App {
    fn logic(&mut self, context: &Context, _frame: &mut eframe::Frame) {
        self.attend(context);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.show(ui);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}

/// What the window begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowStart {
    /// The built-in feeder faults, trained at once.
    Demo,
    /// A session, a data file or a folder.
    Open(PathBuf),
}

/// Tells a workbench what to begin with.
pub fn begin(workbench: &mut Workbench, beginning: WindowStart) {
    match beginning {
        WindowStart::Demo => workbench.apply(Action::OpenDemo(Demo::FeederFaults)),
        WindowStart::Open(path) => workbench.apply(Action::Open(path)),
    }
}

/// The icon of the window.
const ICON: &[u8] = include_bytes!("../../assets/icons/atomscope-256.png");

/// Opens the window and stays until it is closed; the error says why it cannot be opened.
pub fn run_window(
    beginning: WindowStart,
    folders: Option<atomscope_engine::session::UserFolders>,
) -> eframe::Result {
    // A window without an icon is better than none.
    let icon = eframe::icon_data::from_png_bytes(ICON).unwrap_or_default();
    let viewport = egui::ViewportBuilder::default()
        .with_icon(icon)
        .with_title("Atomscope")
        .with_app_id("atomscope")
        .with_inner_size([1600.0, 1000.0])
        .with_min_inner_size([960.0, 600.0])
        .with_drag_and_drop(true);
    let options = eframe::NativeOptions {
        viewport,
        ..eframe::NativeOptions::default()
    };
    let creator: eframe::AppCreator<'_> = Box::new(move |creation| {
        theme::install(&creation.egui_ctx);
        // Columns begin at their top, wherever they were left the last time.
        let context = &creation.egui_ctx;
        context.data_mut(|data| data.remove_by_type::<ScrollState>());
        let context = creation.egui_ctx.clone();
        let wake = std::sync::Arc::new(move || context.request_repaint());
        let mut workbench = Workbench::new(folders, wake);
        workbench.look_for_recovery();
        begin(&mut workbench, beginning);
        Ok(Box::new(App::new(workbench, true)))
    });
    eframe::run_native("atomscope", options, creator)
}
