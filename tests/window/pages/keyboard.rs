//! Everything without a mouse.

use std::collections::BTreeSet;
use std::path::Path;

use atomscope::workbench::{Action, Stage, Workbench};
use atomscope_engine::experiment::Status;
use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, Theme};
use egui_kittest::kittest::NodeT;

use super::driving::{Window, apply, empty_window, is_ready, loaded, show, status, until};

fn press(window: &mut Window, key: Key) {
    window.harness.key_press(key);
    window.harness.step();
    window.harness.step();
}

fn press_with(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.harness.key_press_modifiers(modifiers, key);
    window.harness.step();
    window.harness.step();
}

/// Types into whatever has the focus.
fn type_text(window: &mut Window, text: &str) {
    window.harness.event(Event::Text(text.to_owned()));
    window.harness.step();
    window.harness.step();
}

/// Answers the question for a path.
fn answer(window: &mut Window, path: &Path) {
    type_text(window, &path.display().to_string());
    press(window, Key::Enter);
}

fn n_rounds(workbench: &Workbench) -> usize {
    workbench.shown_part().map_or(0, |part| part.rounds.len())
}

#[test]
fn data_are_opened_trained_saved_and_opened_again_by_keys_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("points.csv");
    let rows: Vec<String> = (0..600)
        .map(|row| format!("{},{},c{}", row % 7, (row * row) % 11, row % 2))
        .collect();
    std::fs::write(&data, format!("a,b,class\n{}\n", rows.join("\n"))).expect("writable");
    let session = folder.path().join("points.ron");

    let mut window = empty_window();
    apply(&mut window, Action::LimitSpeed(Some(20.0)));
    press_with(&mut window, Modifiers::COMMAND, Key::O);
    answer(&mut window, &data);
    until(&mut window, "the table is loaded", is_ready);
    press(&mut window, Key::Num5);
    press(&mut window, Key::Space);
    until(&mut window, "rounds are done", |w| n_rounds(w) > 0);
    press(&mut window, Key::Space);
    until(&mut window, "it rests", |w| {
        status(w) == Some(Status::Paused)
    });
    let before = n_rounds(window.harness.state().workbench());
    press(&mut window, Key::S);
    until(&mut window, "a step is done", |w| n_rounds(w) == before + 1);
    press(&mut window, Key::Escape);
    until(&mut window, "it stops", |w| {
        status(w) == Some(Status::Stopped)
    });
    press_with(&mut window, Modifiers::COMMAND, Key::S);
    answer(&mut window, &session);
    until(&mut window, "it is saved", |w| {
        !w.is_saving() && w.path().is_some()
    });

    let mut other = empty_window();
    press_with(&mut other, Modifiers::COMMAND, Key::O);
    answer(&mut other, &session);
    until(&mut other, "it is open", |w| {
        w.training().run().is_some() && is_ready(w)
    });
    assert_eq!(
        n_rounds(other.harness.state().workbench()),
        n_rounds(window.harness.state().workbench())
    );
}

/// The name of what has the focus.
fn focused(window: &Window) -> Option<String> {
    let mut nodes = window.harness.root().children_recursive();
    let node = nodes.find(|node| node.is_focused())?;
    NodeT::accesskit_node(&node).label()
}

#[test]
fn the_tab_key_reaches_every_control_of_every_page() {
    let mut window = loaded(Theme::Light);
    for stage in Stage::ALL {
        show(&mut window, stage);
        let mut reached = BTreeSet::new();
        for _ in 0..400 {
            press(&mut window, Key::Tab);
            reached.extend(focused(&window));
        }
        let controls = [
            Role::Button,
            Role::CheckBox,
            Role::ComboBox,
            Role::Slider,
            Role::SpinButton,
            Role::TextInput,
        ];
        for node in window.harness.root().children_recursive() {
            let own = NodeT::accesskit_node(&node);
            if !controls.contains(&own.role()) || own.is_disabled() {
                continue;
            }
            let name = own.label().unwrap_or_default();
            assert!(
                reached.contains(&name),
                "{stage:?}: Tab never reaches {name}"
            );
        }
    }
}

#[test]
fn keys_change_pages_and_start_training() {
    let mut window = loaded(Theme::Light);
    for (key, stage) in [
        (Key::Num1, Stage::Records),
        (Key::Num2, Stage::Features),
        (Key::Num3, Stage::Split),
        (Key::Num4, Stage::Learner),
        (Key::Num6, Stage::Evaluate),
        (Key::Num7, Stage::Explore),
        (Key::Num8, Stage::Compare),
        (Key::Num9, Stage::Live),
        (Key::Num5, Stage::Train),
    ] {
        window.harness.key_press(key);
        window.harness.step();
        window.harness.step();
        assert_eq!(window.harness.state().workbench().view().page, stage);
    }
    window.harness.key_press(Key::Space);
    until(&mut window, "it is complete", |w| {
        status(w) == Some(Status::Complete)
    });
}
