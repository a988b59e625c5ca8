//! Sessions, data and results as files: typed, dropped, recovered, exported.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use atomscope::ui::app::App;
use atomscope::workbench::{Action, Stage, Workbench};
use atomscope_engine::experiment::Experiment;
use atomscope_engine::export::ExportContent;
use atomscope_engine::session::{Recovery, Session, UserFolders};
use egui::{DroppedFile, Key, Modifiers, Theme, vec2};
use egui_kittest::kittest::Queryable;

use super::driving::{
    Window, bare_workbench, click, empty_window, show, trained, type_path, until, window, window_of,
};

#[test]
fn a_session_is_saved_and_opened_by_typing_its_path() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("typed.ron");
    let mut window = trained(Theme::Light);
    window
        .harness
        .key_press_modifiers(Modifiers::COMMAND, Key::S);
    window.harness.step();
    type_path(&mut window, &path);
    click(&mut window, "Save");
    until(&mut window, "it is saved", |w| {
        !w.is_saving() && w.path().is_some()
    });
    let saved = window.harness.state().workbench();
    assert!(path.exists() && !saved.is_unsaved());
    let (draft, confusion) = (
        saved.draft().clone(),
        saved.training().run().expect("a run").confusion(),
    );
    let mut other = empty_window();
    other
        .harness
        .key_press_modifiers(Modifiers::COMMAND, Key::O);
    other.harness.step();
    type_path(&mut other, &path);
    click(&mut other, "Open");
    until(&mut other, "it is open", |w| {
        w.training().run().is_some() && w.data().loaded().is_some()
    });
    let opened = other.harness.state().workbench();
    assert_eq!(*opened.draft(), draft);
    assert_eq!(
        opened.training().run().expect("the run").confusion(),
        confusion
    );
}

#[test]
fn results_are_exported_as_tables_figures_and_json() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut window = trained(Theme::Light);
    show(&mut window, Stage::Evaluate);
    click(&mut window, "Export…");
    click(&mut window, "Accuracy curve (CSV)");
    let typed = folder.path().join("typed.csv");
    type_path(&mut window, &typed);
    click(&mut window, "Export");
    until(&mut window, "it is written", |w| {
        !w.is_busy() && typed.exists()
    });
    let picture = (ExportContent::CurveFigure, "curve.png");
    let contents = ExportContent::ALL.map(|content| (content, content.file_name()));
    for (content, name) in contents.into_iter().chain([picture]) {
        let path = folder.path().join(name);
        let workbench = window.harness.state_mut().workbench_mut();
        workbench.apply(Action::Export(content, path.clone()));
        until(&mut window, "it is written", |w| !w.is_busy());
        let bytes = std::fs::read(&path).expect("the file is there");
        let begin: &[u8] = match path.extension().and_then(|ending| ending.to_str()) {
            Some("png") => b"\x89PNG",
            Some("svg") => b"<svg",
            Some("json") => b"{",
            _ => b"",
        };
        assert!(bytes.len() > 20 && bytes.starts_with(begin), "{name}");
    }
}

/// A file as the system hands it over.
#[derive(Debug)]
struct Dropped(PathBuf);

impl DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

fn small_table(folder: &Path) -> PathBuf {
    let path = folder.join("dropped.csv");
    let rows: Vec<String> = (0..20).map(|row| format!("{row},c{}", row % 2)).collect();
    std::fs::write(&path, format!("a,class\n{}\n", rows.join("\n"))).expect("writable");
    path
}

fn drop_on(window: &mut Window, path: &Path) {
    let file = Arc::new(Dropped(path.to_owned()));
    window.harness.input_mut().dropped_files.push(file);
    window.harness.step();
}

#[test]
fn a_file_and_a_folder_dropped_on_the_window_are_opened() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = small_table(folder.path());
    for dropped in [path.as_path(), folder.path()] {
        let mut window = empty_window();
        drop_on(&mut window, dropped);
        until(&mut window, "it is loaded", |w| w.data().loaded().is_some());
        let workbench = window.harness.state().workbench();
        assert_eq!(workbench.view().page, Stage::Records);
        assert_eq!(
            workbench
                .data()
                .loaded()
                .expect("loaded")
                .dataset
                .n_samples(),
            20
        );
    }
}

#[test]
fn a_file_that_is_none_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut window = empty_window();
    drop_on(&mut window, &folder.path().join("gone.csv"));
    until(&mut window, "it is refused", |w| {
        !w.notices().list().is_empty()
    });
    let told = window
        .harness
        .query_all_by_label_contains("gone.csv")
        .count();
    assert!(told > 0, "the notice names the file");
}

#[test]
fn a_path_can_be_typed_while_no_dialog_answers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = small_table(folder.path());
    let app = App::new(bare_workbench(), true);
    let mut window = window_of(Theme::Light, vec2(1280.0, 800.0), app);
    window
        .harness
        .key_press_modifiers(Modifiers::COMMAND, Key::O);
    window.harness.step();
    // Whether a dialog opens and when it answers is up to the system; the field is there.
    click(&mut window, "Browse…");
    type_path(&mut window, &path);
    click(&mut window, "Open");
    until(&mut window, "it is loaded", |w| w.data().loaded().is_some());
}

/// What a crash leaves: a copy that was not closed.
fn crash(folders: &UserFolders) {
    let mut recovery = Recovery::claim(None, folders).expect("a place");
    let mut session = Session::new(Experiment::default());
    session.notes = "not saved".into();
    recovery.write(&session).expect("written");
}

fn after_crash(folders: &UserFolders) -> Window {
    let mut workbench = Workbench::new(Some(folders.clone()), Arc::new(|| {}));
    workbench.look_for_recovery();
    let mut window = window(Theme::Light, workbench);
    until(&mut window, "a copy is offered", |w| {
        !w.offered_copies().is_empty()
    });
    window
}

#[test]
fn what_a_crash_has_left_is_offered_and_taken_or_discarded() {
    let user = tempfile::tempdir().expect("a temporary folder");
    let folders = UserFolders::within(user.path());
    crash(&folders);
    let mut window = after_crash(&folders);
    window
        .harness
        .get_by_label_contains("Atomscope ended without saving");
    click(&mut window, "Restore");
    until(&mut window, "it is back", |w| {
        w.draft().notes == "not saved"
    });
    assert!(window.harness.state().workbench().is_unsaved());
    drop(window);

    crash(&folders);
    let mut window = after_crash(&folders);
    // The one that was restored and not saved is still there too.
    assert_eq!(window.harness.state().workbench().offered_copies().len(), 2);
    click(&mut window, "Discard the copy");
    click(&mut window, "Discard the copy");
    until(&mut window, "the offers are gone", |w| {
        w.offered_copies().is_empty()
    });
    assert_eq!(window.harness.state().workbench().draft().notes, "");
}
