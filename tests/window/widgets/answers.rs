//! What widgets answer to clicks and keys, found by their accessible names.

use atomscope::ui::widgets::{PanelAction, RunRequest};
use egui::{Key, Theme, vec2};
use egui_kittest::kittest::{NodeT, Queryable};

use super::gallery::{eeg_page, frame_page, settings_page, train_page, window_of};
use crate::pictures::write_picture;

#[test]
fn a_tooltip_tells_symbol_default_and_range() {
    let mut window = window_of(settings_page, [1240.0, 820.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    harness.get_by_label("Atoms per class").hover();
    harness.run_steps(8);
    harness.get_by_label("Q in the paper · default 30 · sensible 1 to 100");
    write_picture("widgets-tooltip", &window.picture());
}

#[test]
fn a_confusion_cell_answers_to_click_and_keys() {
    let mut window = window_of(train_page, [1240.0, 880.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    harness
        .get_by_label("true SLG, predicted LL: 3 of 80")
        .click();
    harness.run();
    assert_eq!(harness.state().cell, Some((1, 2)));
    for key in [Key::ArrowDown, Key::ArrowDown, Key::ArrowLeft] {
        harness.key_press(key);
        harness.run();
    }
    let grid = harness.get_by_label("Confusion matrix");
    assert_eq!(
        grid.value().as_deref(),
        Some("true LLG, predicted SLG: 0 of 80")
    );
    write_picture("widgets-focus", &window.picture());
    let harness = &mut window.harness;
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().cell, Some((3, 1)));
    for _ in 0..9 {
        harness.key_press(Key::ArrowUp);
    }
    harness.key_press(Key::Space);
    harness.run();
    assert_eq!(harness.state().cell, Some((0, 1)));
}

#[test]
fn an_atom_answers_to_click_and_keys() {
    let mut window = window_of(train_page, [1240.0, 880.0], Theme::Dark, 1.0);
    let harness = &mut window.harness;
    let label = "atom 2: used by 10.8 % of the codes, changed since you last looked";
    harness.get_by_label(label).click();
    harness.run();
    assert_eq!(harness.state().atom, Some(1));
    harness.key_press(Key::ArrowRight);
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().atom, Some(2));
}

#[test]
fn the_accuracy_plot_is_replayed_by_click_and_arrows() {
    let mut window = window_of(train_page, [1240.0, 880.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    let plot = harness.get_by_label_contains("Accuracy against mini-batches");
    let told = plot.accesskit_node().label().unwrap_or_default();
    assert!(
        told.ends_with("; changed at batch 40: L_max (200 → 150)"),
        "{told}"
    );
    let middle = plot.rect().center();
    plot.click();
    harness.run();
    let sought = harness.state().seek.expect("a click asks for a batch");
    assert!((20.0..40.0).contains(&sought), "{sought} at {middle}");
    harness.state_mut().seek = Some(20.0);
    harness
        .get_by_label_contains("Accuracy against mini-batches")
        .focus();
    harness.run();
    harness.key_press(Key::ArrowRight);
    harness.run();
    assert_eq!(harness.state().seek, Some(21.0));
    harness.key_press(Key::ArrowLeft);
    harness.run();
    assert_eq!(harness.state().seek, Some(20.0));
}

#[test]
fn the_schedule_moves_by_drag_and_keys_and_says_when_it_is_done() {
    let mut window = window_of(train_page, [1240.0, 880.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    let start = harness
        .get_by_label_contains("Start value of λ")
        .rect()
        .center();
    harness.drag_at(start);
    harness.run();
    harness.hover_at(start + vec2(0.0, 20.0));
    harness.run();
    let dragged = harness.state().forgetting.expect("drawn").start_value;
    assert!(dragged < 0.98 && dragged > 0.95, "{dragged}");
    assert!(harness.state().edits.iter().all(|edit| !edit.finished));
    harness.drop_at(start + vec2(0.0, 20.0));
    harness.run();
    assert!(harness.state().edits.iter().any(|edit| edit.finished));

    harness.get_by_label_contains("End of the ramp").focus();
    harness.run();
    harness.key_press(Key::ArrowLeft);
    harness.run();
    let ramp = harness.state().forgetting.expect("drawn").ramp_share;
    assert!((ramp - 0.79).abs() < 1e-9, "{ramp}");
}

#[test]
fn a_wrong_number_says_why_and_the_edit_ends_when_the_field_is_left() {
    let mut window = window_of(settings_page, [1240.0, 820.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    assert!(
        harness
            .query_by_label_contains("must be at least 1")
            .is_none()
    );
    harness.get_by_label("Atoms per class").click();
    harness.run();
    harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::A);
    harness.event(egui::Event::Text("0".to_owned()));
    harness.run();
    assert_eq!(harness.state().number, 0.0);
    harness.get_by_label("the number of atoms must be at least 1, but is 0");
    assert!(harness.state().edits.iter().all(|edit| !edit.finished));
    harness.key_press(Key::Enter);
    harness.run();
    assert!(harness.state().edits.iter().any(|edit| edit.finished));
}

#[test]
fn a_slider_moves_by_key_in_one_edit() {
    let mut window = window_of(settings_page, [1240.0, 820.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    harness.get_by_label("Atoms per class slider").focus();
    harness.run();
    harness.key_press(Key::ArrowRight);
    harness.run();
    assert_eq!(harness.state().number, 31.0);
    harness.key_press(Key::Tab);
    harness.run();
    assert!(harness.state().edits.iter().any(|edit| edit.finished));
}

#[test]
fn groups_and_icon_buttons_answer_to_their_names() {
    let mut window = window_of(settings_page, [1240.0, 820.0], Theme::Dark, 1.0);
    let harness = &mut window.harness;
    harness
        .get_by_label("S03: tested in fold 5, 42 samples")
        .click();
    harness.run();
    assert_eq!(harness.state().group, Some(2));
    harness.get_by_label("Play").click();
    harness.run();
    harness.get_by_label("disabled").click();
    harness.run();
    assert_eq!(harness.state().pressed, 1);
}

#[test]
fn stages_and_run_bar_answer_to_click_and_keys() {
    let mut window = window_of(frame_page, [900.0, 500.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    harness
        .get_by_label("Split, ready: 5 folds, grouped · clean")
        .click();
    harness.run();
    assert_eq!(harness.state().stage, 2);
    let pauses: Vec<_> = harness.get_all_by_label("Pause").collect();
    pauses[0].click();
    harness.run();
    assert_eq!(harness.state().request, Some(RunRequest::Pause));
    harness.get_by_label("1 notice").focus();
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().request, Some(RunRequest::Notices));
    harness.state_mut().request = None;
    let starts: Vec<_> = harness.get_all_by_label("Start").collect();
    starts.iter().for_each(|start| start.click());
    harness.run();
    assert_eq!(
        harness.state().request,
        None,
        "one runs already, the other cannot start"
    );
}

#[test]
fn panels_ask_to_be_enlarged_and_hidden() {
    let mut window = window_of(train_page, [1240.0, 880.0], Theme::Dark, 1.0);
    let harness = &mut window.harness;
    harness.get_by_label("Enlarge Confusion").click();
    harness.run();
    assert_eq!(harness.state().panel, Some(PanelAction::ToggleSize));
    harness.get_by_label("Hide Confusion").focus();
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().panel, Some(PanelAction::Hide));
}

#[test]
fn the_gram_matrix_is_read_by_arrow_keys() {
    let mut window = window_of(eeg_page, [1240.0, 920.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    harness.get_by_label("Gram matrix of 30 atoms").focus();
    harness.run();
    harness.key_press(Key::ArrowDown);
    harness.run();
    let value = harness.get_by_label("Gram matrix of 30 atoms").value();
    assert!(value.is_some_and(|text| text.starts_with("atom 2 with 1: ")));
}
