//! Every entry of every list is chosen once.

use std::collections::BTreeSet;

use atomscope::ui::app::App;
use atomscope::workbench::{Action, Draft, Stage};
use atomscope_engine::learner::LearnerSettings;
use egui::accesskit::Role;
use egui::{Key, Theme, vec2};
use egui_kittest::kittest::{NodeT, Queryable};

use super::driving::{
    Window, apply, bare_workbench, click, is_ready, loaded, show, small_eeg_draft, type_number,
    until, until_complete, window_of,
};
use crate::small_data::small_draft;

/// So high that no list has to be scrolled to.
fn tall(draft: Draft) -> Window {
    let mut workbench = bare_workbench();
    workbench.edit(draft, false);
    workbench.apply(Action::LoadData);
    let size = vec2(1600.0, 3400.0);
    let mut window = window_of(Theme::Light, size, App::new(workbench, false));
    until(&mut window, "data are loaded", is_ready);
    window
}

/// A list scrolls smoothly; by then it stands still.
const SCROLLING_FRAMES: usize = 30;

/// Names of the lists of the page.
fn lists(window: &Window) -> Vec<String> {
    let nodes = window.harness.root().children_recursive();
    let boxes = nodes.filter(|node| NodeT::accesskit_node(node).role() == Role::ComboBox);
    boxes
        .filter_map(|node| NodeT::accesskit_node(&node).label())
        .collect()
}

fn button_names(window: &Window) -> Vec<String> {
    let nodes = window.harness.root().children_recursive();
    let buttons = nodes.filter(|node| NodeT::accesskit_node(node).role() == Role::Button);
    buttons
        .filter_map(|node| NodeT::accesskit_node(&node).label())
        .collect()
}

fn open(window: &mut Window, list: &str) {
    let found = window.harness.get_by_role_and_label(Role::ComboBox, list);
    found.click();
    window.harness.step();
    window.harness.step();
}

/// The entries of a list: the buttons that appear when it is opened.
fn entries(window: &mut Window, list: &str) -> Vec<String> {
    let before: BTreeSet<String> = button_names(window).into_iter().collect();
    open(window, list);
    let after = button_names(window);
    window.harness.key_press(Key::Escape);
    window.harness.step();
    window.harness.step();
    after
        .into_iter()
        .filter(|name| !before.contains(name))
        .collect()
}

pub(super) fn choose(window: &mut Window, list: &str, entry: &str) {
    open(window, list);
    // The entry may lie below the end of a long list.
    let found = window.harness.get_by_role_and_label(Role::Button, entry);
    found.scroll_to_me();
    for _ in 0..SCROLLING_FRAMES {
        window.harness.step();
    }
    let found = window.harness.get_by_role_and_label(Role::Button, entry);
    found.click();
    window.harness.step();
    window.harness.step();
    let list = window.harness.query_by_role_and_label(Role::ComboBox, list);
    let shown = list.and_then(|list| list.value());
    assert_eq!(shown.as_deref(), Some(entry), "the choice is shown");
}

/// Chooses everything of every list on a page, undoing each choice; how many there were.
fn choose_all(window: &mut Window, stage: Stage) -> usize {
    show(window, stage);
    window.harness.step();
    let mut n_chosen = 0;
    for list in lists(window) {
        let found = entries(window, &list);
        assert!(found.len() > 1, "{stage:?}: {list} offers {found:?}");
        for entry in found {
            let before = window.harness.state().workbench().draft().clone();
            choose(window, &list, &entry);
            n_chosen += 1;
            let now = window.harness.state().workbench().draft().clone();
            if now != before {
                apply(window, Action::Undo);
                window.harness.step();
                let back = window.harness.state().workbench().draft();
                assert_eq!(*back, before, "{list}: {entry} is undone");
            }
        }
    }
    n_chosen
}

#[test]
fn every_choice_of_every_list_can_be_made_and_undone() {
    let mut faults = tall(small_draft());
    let mut n_chosen = 0;
    for stage in [
        Stage::Records,
        Stage::Features,
        Stage::Split,
        Stage::Learner,
    ] {
        n_chosen += choose_all(&mut faults, stage);
    }
    let mut eeg = small_eeg_draft();
    eeg.experiment.learner = LearnerSettings {
        n_atoms: 6,
        ..LearnerSettings::as_published()
    };
    let mut eeg = tall(eeg);
    for stage in [Stage::Features, Stage::Split, Stage::Learner] {
        n_chosen += choose_all(&mut eeg, stage);
    }
    assert!(n_chosen > 60, "{n_chosen} choices were made");
}

#[test]
fn every_algorithm_kernel_and_criterion_that_can_be_chosen_can_be_trained() {
    let mut window = loaded(Theme::Light);
    show(&mut window, Stage::Learner);
    window.harness.step();
    // Room for the headroom that some algorithms ask for.
    type_number(&mut window, "Budget", "40");
    for list in ["Algorithm", "Kernel"] {
        for entry in entries(&mut window, list) {
            choose(&mut window, list, &entry);
            assert_eq!(
                window.harness.state().workbench().obstacle(),
                None,
                "{entry}"
            );
            apply(&mut window, Action::StartAnew);
            until(&mut window, "it begins", |w| w.training().is_alive());
            until_complete(&mut window);
            let run = window.harness.state().workbench().training().run();
            assert!(run.and_then(|run| run.accuracy()).is_some(), "{entry}");
        }
    }
}

#[test]
fn folds_and_classes_of_the_train_page_are_chosen() {
    let mut window = loaded(Theme::Light);
    click(&mut window, "Start");
    until_complete(&mut window);
    show(&mut window, Stage::Train);
    for entry in ["fold 1", "fold 2"] {
        open(&mut window, "Fold");
        let found = window.harness.get_by_role_and_label(Role::Button, entry);
        found.click();
        window.harness.step();
        window.harness.step();
        let shown = window.harness.state().workbench().shown_fold();
        assert_eq!(
            shown.map(|fold| format!("fold {}", fold + 1)).as_deref(),
            Some(entry)
        );
    }
}
