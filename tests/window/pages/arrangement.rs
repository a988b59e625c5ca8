//! Panels of the Train page moved, hidden, enlarged, and put back.

use atomscope::ui::app::App;
use atomscope::workbench::{Action, Panel, Stage, Tiling};
use egui::{Key, Theme, vec2};
use egui_kittest::kittest::Queryable;

use super::driving::{Window, apply, click, empty_window, is_ready, loading_workbench, show};
use super::driving::{trained, until, until_complete, window_of};

/// The panels of every column, as they were arranged.
fn columns(window: &Window) -> Vec<Vec<Panel>> {
    let view = window.harness.state().workbench().view();
    let tiling = view.tiling.clone().unwrap_or(Tiling::usual(true));
    // A narrow page has its columns in the row at the top.
    let rows = match &tiling {
        Tiling::Column(rows) => &rows[0].tiling,
        row => row,
    };
    let columns = rows.parts().iter();
    columns.map(|part| part.tiling.panels()).collect()
}

#[test]
fn a_panel_is_moved_by_its_menu_by_keys_and_put_back() {
    let mut window = trained(Theme::Light);
    let at_first = columns(&window);
    click(&mut window, "Arrange Profile");
    click(&mut window, "Move right");
    assert_eq!(columns(&window)[1][1], Panel::Profile);
    window.harness.get_by_label("Move Profile").focus();
    // Arrow keys are the handle's own from the frame after it got the focus.
    window.harness.step();
    window.harness.step();
    window.harness.key_press(Key::ArrowUp);
    window.harness.step();
    window.harness.step();
    assert_eq!(columns(&window)[1][0], Panel::Profile);
    window.harness.key_press(Key::ArrowLeft);
    window.harness.step();
    window.harness.step();
    assert_eq!(columns(&window)[0][0], Panel::Profile, "the focus stays");
    apply(&mut window, Action::TogglePanel(Panel::Tune));
    click(&mut window, "View");
    click(&mut window, "Reset layout");
    assert_eq!(columns(&window), at_first);
    let view = window.harness.state().workbench().view();
    assert!(view.hidden.is_empty());
}

#[test]
fn a_panel_is_dragged_onto_another_place() {
    let mut window = trained(Theme::Light);
    let from = window.harness.get_by_label("Move Accuracy").rect().center();
    let confusion = window.harness.get_by_label("Move Confusion").rect();
    window.harness.hover_at(from);
    window.harness.step();
    window.harness.drag_at(from);
    window.harness.step();
    // The upper part of a panel means: above it.
    let to = confusion.center() + vec2(120.0, 4.0);
    for part in [0.3, 0.7, 1.0] {
        window.harness.hover_at(from + (to - from) * part);
        window.harness.step();
    }
    window.harness.drop_at(to);
    window.harness.step();
    window.harness.step();
    assert_eq!(columns(&window)[1][0], Panel::Accuracy);
    assert_eq!(columns(&window)[0].len(), 2);
}

#[test]
fn all_panels_can_be_reached_in_a_small_window() {
    let mut window = trained(Theme::Light);
    show(&mut window, Stage::Train);
    for panel in Panel::ALL {
        let head = format!("Move {}", panel.title());
        window.harness.get_by_label(&head).scroll_to_me();
        for _ in 0..20 {
            window.harness.step();
        }
        let rect = window.harness.get_by_label(&head).rect();
        assert!(
            rect.top() > 0.0 && rect.bottom() < 800.0,
            "{panel:?} is at {rect:?}"
        );
    }
}

#[test]
fn the_arrangement_is_saved_with_the_session() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("arranged.ron");
    let mut window = window_of(
        Theme::Light,
        vec2(1920.0, 1080.0),
        App::new(loading_workbench(), false),
    );
    until(&mut window, "data are loaded", is_ready);
    click(&mut window, "Start");
    until_complete(&mut window);
    click(&mut window, "Arrange Gram matrix");
    click(&mut window, "Move left");
    apply(&mut window, Action::TogglePanel(Panel::Log));
    let arranged = columns(&window);
    apply(&mut window, Action::SaveAs(path.clone()));
    until(&mut window, "it is saved", |w| {
        !w.is_saving() && w.path().is_some()
    });
    let mut other = empty_window();
    assert_ne!(columns(&other), arranged);
    apply(&mut other, Action::Open(path));
    until(&mut other, "it is open", |w| w.training().run().is_some());
    assert_eq!(columns(&other), arranged);
    let view = other.harness.state().workbench().view();
    assert!(view.hidden.contains(&Panel::Log));
}
