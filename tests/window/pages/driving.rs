//! A window around a workbench, found by its labels and driven by clicks and keys.

use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use atomscope::ui::app::App;
use atomscope::workbench::{Action, Draft, Stage, Workbench};
use atomscope_engine::dataset::DataSettings;
use atomscope_engine::experiment::Status;
use atomscope_engine::features::{EegRecipe, FeatureRecipe};
use atomscope_engine::simulate::eeg::EegSettings;
use egui::accesskit::Role;
use egui::{Theme, Vec2, vec2};
use egui_kittest::kittest::Queryable;

use crate::pictures::PictureHarness;
use crate::small_data::small_draft;
use crate::typing::type_into;

/// How long anything may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) type Window = PictureHarness<'static, App>;

/// A workbench that nobody watches, with nothing remembered.
pub(crate) fn bare_workbench() -> Workbench {
    Workbench::new(None, Arc::new(|| {}))
}

/// A window of the smallest usual size.
pub(crate) fn window(theme: Theme, workbench: Workbench) -> Window {
    window_of(theme, vec2(1280.0, 800.0), App::new(workbench, false))
}

/// A window of any size.
pub(crate) fn window_of(theme: Theme, size: Vec2, mut app: App) -> Window {
    app.workbench_mut().apply(Action::SetTheme(match theme {
        Theme::Dark => atomscope_engine::session::Theme::Dark,
        Theme::Light => atomscope_engine::session::Theme::Light,
    }));
    PictureHarness::new(size, 1.0, theme, app, |ui, app| app.frame(ui))
}

pub(crate) fn empty_window() -> Window {
    window(Theme::Light, bare_workbench())
}

/// Frames until something holds.
pub(crate) fn until(window: &mut Window, what: &str, done: impl Fn(&Workbench) -> bool) {
    let begun = Instant::now();
    loop {
        window.harness.step();
        if done(window.harness.state().workbench()) {
            window.harness.step();
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        sleep(Duration::from_millis(2));
    }
}

/// The small draft with EEG of a few simulated subjects instead.
pub(crate) fn small_eeg_draft() -> Draft {
    let mut draft = small_draft();
    draft.experiment.data = DataSettings::simulated_eeg(EegSettings {
        subjects_per_class: 4,
        duration_s: 20.0,
        ..EegSettings::default()
    });
    draft.experiment.data.recipe = Some(FeatureRecipe::Eeg(EegRecipe::default()));
    draft
}

/// A workbench that loads the small data.
pub(crate) fn loading_workbench() -> Workbench {
    let mut workbench = bare_workbench();
    workbench.edit(small_draft(), false);
    workbench.apply(Action::LoadData);
    workbench
}

pub(crate) fn is_ready(workbench: &Workbench) -> bool {
    workbench.data().loaded().is_some() && workbench.split().made().is_some()
}

/// A window with the small data loaded.
pub(crate) fn loaded(theme: Theme) -> Window {
    let mut window = window(theme, loading_workbench());
    until(&mut window, "data are loaded", is_ready);
    window
}

/// A window with a complete run on the small data.
pub(crate) fn trained(theme: Theme) -> Window {
    let mut window = loaded(theme);
    click(&mut window, "Start");
    until_complete(&mut window);
    window
}

pub(crate) fn until_complete(window: &mut Window) {
    until(window, "it is complete", |w| {
        status(w) == Some(Status::Complete) && !w.is_busy()
    });
}

pub(crate) fn status(workbench: &Workbench) -> Option<Status> {
    workbench.training().run().map(|run| run.status.clone())
}

pub(crate) fn click(window: &mut Window, label: &str) {
    window.harness.get_by_label(label).click();
    window.harness.step();
    window.harness.step();
}

/// Whether a label contains the text.
pub(crate) fn says(window: &Window, text: &str) -> bool {
    window.harness.query_all_by_label_contains(text).count() > 0
}

pub(crate) fn show(window: &mut Window, stage: Stage) {
    apply(window, Action::Show(stage));
    window.harness.step();
}

/// Gives the workbench something to do, as if asked for in the window.
pub(crate) fn apply(window: &mut Window, action: Action) {
    window.harness.state_mut().workbench_mut().apply(action);
    window.harness.step();
}

pub(crate) fn type_number(window: &mut Window, label: &str, text: &str) {
    type_into(&mut window.harness, Role::SpinButton, label, text);
}

pub(crate) fn type_text(window: &mut Window, label: &str, text: &str) {
    type_into(&mut window.harness, Role::TextInput, label, text);
}

pub(crate) fn type_path(window: &mut Window, path: &Path) {
    window.harness.step();
    let field = window
        .harness
        .get_by_role_and_label(Role::TextInput, "Path");
    field.focus();
    window.harness.step();
    let field = window
        .harness
        .get_by_role_and_label(Role::TextInput, "Path");
    field.type_text(&path.display().to_string());
    window.harness.step();
}
