//! Settings typed, chosen and undone; every wrong value with its message.

use atomscope::workbench::{Action, Draft, Stage};
use atomscope_engine::experiment::TrainingLength;
use atomscope_engine::features::eeg::ChannelChoice;
use atomscope_engine::features::{EegGroupsRecipe, FeatureRecipe};
use atomscope_engine::learner::{Kernel, LearnerSettings};
use atomscope_engine::split::{HoldOut, SplitPlan};
use egui::Theme;
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable;

use super::driving::{
    Window, bare_workbench, click, empty_window, is_ready, loaded, show, small_eeg_draft,
    type_number, until, window,
};

#[test]
fn a_parameter_is_typed_wrong_values_say_why_and_undo_brings_it_back() {
    let mut window = loaded(Theme::Light);
    show(&mut window, Stage::Learner);
    window.harness.step();
    let before = window
        .harness
        .state()
        .workbench()
        .draft()
        .experiment
        .learner
        .sparsity;
    type_number(&mut window, "Atoms per code", "45");
    let workbench = window.harness.state().workbench();
    assert_eq!(workbench.draft().experiment.learner.sparsity, 45);
    let reason = "sparsity must be 1 to 12, but is 45";
    let told = window.harness.query_all_by_label(reason).count();
    assert!(told >= 2, "beside the field and in the run bar");
    assert!(workbench.obstacle().is_some(), "training cannot begin");
    click(&mut window, "Undo");
    let workbench = window.harness.state().workbench();
    assert_eq!(workbench.draft().experiment.learner.sparsity, before);
    assert_eq!(workbench.obstacle(), None);
}

#[test]
fn every_number_of_the_learner_can_be_typed_and_undone() {
    let mut window = loaded(Theme::Light);
    show(&mut window, Stage::Learner);
    window.harness.step();
    for (label, text) in [
        ("Atoms per class", "9"),
        ("Atoms per code", "4"),
        ("Mini-batch", "3"),
        ("Budget", "33"),
        ("Error limit", "0.001"),
        ("Pool", "20"),
        ("Novelty", "0.01"),
        ("Start value", "0.9"),
        ("Ramp", "0.5"),
        ("Regularisation", "0.1"),
        ("Calibration", "0.5"),
        ("Memory of errors", "10"),
        ("Passes", "2"),
        ("Tests", "5"),
        ("Seed", "8"),
        ("Degree", "3"),
        ("Offset", "2"),
    ] {
        let before = window.harness.state().workbench().draft().clone();
        type_number(&mut window, label, text);
        let workbench = window.harness.state().workbench();
        assert_ne!(*workbench.draft(), before, "{label}");
        assert_eq!(workbench.obstacle(), None, "{label}: {text} is sound");
        click(&mut window, "Undo");
        let workbench = window.harness.state().workbench();
        assert_eq!(*workbench.draft(), before, "{label} is undone");
    }
}

#[test]
fn presets_are_one_click() {
    let mut window = empty_window();
    show(&mut window, Stage::Learner);
    for preset in LearnerSettings::presets() {
        let (name, learner) = (preset.name, preset.settings);
        click(&mut window, name);
        let draft = window.harness.state().workbench().draft();
        assert_eq!(draft.experiment.learner, learner, "{name}");
    }
}

#[test]
fn a_leaking_split_is_told_and_mended_by_one_click() {
    let mut window = eeg_window();
    show(&mut window, Stage::Split);
    window.harness.step();
    let buttons = window
        .harness
        .query_all_by_label("Use folds of whole groups");
    buttons
        .into_iter()
        .next()
        .expect("a remedy is offered")
        .click();
    window.harness.step();
    until(&mut window, "the new folds are clean", |w| {
        w.split().made().is_some_and(|made| !made.audit.leaks())
    });
}

/// Brings what lies below the end of the window into view.
fn scroll_to(window: &mut Window, label: &str) {
    window.harness.get_by_label(label).scroll_to_me();
    for _ in 0..20 {
        window.harness.step();
    }
}

/// Types a wrong value; the field of the problem must be told beside it and stop the start.
fn assert_told(window: &mut Window, label: &str, text: &str, field: &str) {
    type_number(window, label, text);
    let workbench = window.harness.state().workbench();
    let problems = workbench.draft().experiment.problems(None);
    let split = workbench.split().error().map(str::to_owned);
    let own = problems
        .iter()
        .find(|problem| problem.field.ends_with(field));
    let message = own.map(|problem| problem.message.clone()).or(split);
    let message = message.unwrap_or_else(|| panic!("{label} takes {text}: {problems:?}"));
    assert!(
        workbench.obstacle().is_some(),
        "{label}: training cannot begin"
    );
    let told = window.harness.query_all_by_label(&message).count();
    assert!(told >= 2, "{label}: {message:?} is told {told} times");
    click(window, "Undo");
    until(window, "it is undone", |w| w.obstacle().is_none());
}

#[test]
fn every_wrong_number_says_why_beside_its_field() {
    let mut window = loaded(Theme::Light);
    show(&mut window, Stage::Learner);
    for (label, text, field) in [
        ("Atoms per class", "0", "n_atoms"),
        ("Atoms per code", "0", "sparsity"),
        ("Mini-batch", "0", "batch_size"),
        ("Budget", "3", "budget"),
        ("Error limit", "2", "error_limit"),
        ("Error limit", "-1", "error_limit"),
        ("Pool", "0", "start"),
        ("Novelty", "0", "novelty"),
        ("Novelty", "7", "novelty"),
        ("Start value", "0", "forgetting"),
        ("Start value", "1.5", "forgetting"),
        ("Ramp", "-1", "forgetting"),
        ("Regularisation", "-1", "regularisation"),
        ("Calibration", "9", "calibration"),
        ("Memory of errors", "-2", "memory_of_errors"),
        ("Passes", "0", "training.length"),
        ("Tests", "20000", "tests.n_tests"),
        ("Degree", "0", "kernel"),
        ("Offset", "-1", "kernel"),
    ] {
        assert_told(&mut window, label, text, field);
    }
    edit(&mut window, |draft| {
        draft.experiment.learner.kernel = Kernel::Gaussian { width: 1.0 };
        draft.experiment.training.length = TrainingLength::Batches(60);
    });
    assert_told(&mut window, "Width", "0", "kernel");
    assert_told(&mut window, "Mini-batches", "0", "training.length");
    edit(&mut window, |draft| {
        let published = LearnerSettings::as_published().algorithm;
        draft.experiment.learner.take_algorithm(&published);
        draft.experiment.learner.budget = 40;
    });
    assert_told(&mut window, "Growing threshold", "7", "growing");
    assert_told(&mut window, "Headroom", "39", "headroom");
}

fn edit(window: &mut Window, change: impl FnOnce(&mut Draft)) {
    let workbench = window.harness.state_mut().workbench_mut();
    let mut draft = workbench.draft().clone();
    change(&mut draft);
    workbench.edit(draft, false);
    window.harness.step();
    window.harness.step();
}

/// A window with EEG of a few simulated subjects.
fn eeg_window() -> Window {
    let mut workbench = bare_workbench();
    workbench.edit(small_eeg_draft(), false);
    workbench.apply(Action::LoadData);
    let mut window = window(Theme::Light, workbench);
    until(&mut window, "data are loaded", is_ready);
    window
}

#[test]
fn wrong_numbers_of_data_recipe_and_split_say_why() {
    let mut window = loaded(Theme::Light);
    show(&mut window, Stage::Records);
    assert_told(&mut window, "Records per class", "0", "records_per_class");
    show(&mut window, Stage::Features);
    assert_told(&mut window, "Cycles", "0", "n_cycles");
    assert_told(&mut window, "Points", "1", "n_points");
    show(&mut window, Stage::Split);
    assert_told(&mut window, "Folds", "1", "split");

    let mut window = eeg_window();
    show(&mut window, Stage::Records);
    assert_told(&mut window, "Subjects per class", "0", "subjects_per_class");
    assert_told(&mut window, "Duration", "0", "duration_s");
    assert_told(&mut window, "Effect", "-1", "effect");
    show(&mut window, Stage::Features);
    assert_told(&mut window, "Frame", "0", "frame_s");
    assert_told(&mut window, "Overlap", "1", "overlap");
    assert_told(&mut window, "Frames per sample", "0", "frames_per_sample");
}

#[test]
fn a_covariance_recipe_is_set_on_its_page() {
    let mut draft = small_eeg_draft();
    draft.experiment.data.recipe = Some(FeatureRecipe::EegGroups(EegGroupsRecipe::for_traits()));
    let mut workbench = bare_workbench();
    workbench.edit(draft, false);
    workbench.apply(Action::LoadData);
    let mut window = window(Theme::Light, workbench);
    until(&mut window, "data are loaded", is_ready);
    show(&mut window, Stage::Features);
    assert_told(&mut window, "Segment", "0", "segment_s");
    assert_told(&mut window, "Overlap", "1", "placement.overlap");
    assert_told(&mut window, "Shrinkage", "2", "groups.0.shrinkage");
    // The names of the channels come with the signal.
    until(&mut window, "the signal is read", |w| w.signal().is_some());
    window.harness.step();
    click(&mut window, "All 19 channels");
    // The pictures of the page name their channels too.
    let channel = window.harness.get_by_role_and_label(Role::CheckBox, "Fp1");
    channel.click();
    window.harness.step();
    window.harness.step();
    let draft = window.harness.state().workbench().draft();
    let Some(FeatureRecipe::EegGroups(recipe)) = &draft.experiment.data.recipe else {
        panic!("the recipe is that of groups");
    };
    let ChannelChoice::Named(names) = &recipe.channels else {
        panic!("a channel was taken out");
    };
    assert!(names.len() == 18 && !names.contains(&"Fp1".to_owned()));
}

#[test]
fn bands_and_held_out_groups_are_edited_on_their_pages() {
    let mut window = eeg_window();
    let n_before = window
        .harness
        .state()
        .workbench()
        .data()
        .loaded()
        .expect("loaded")
        .dataset
        .n_features();
    show(&mut window, Stage::Features);
    scroll_to(&mut window, "Add a band");
    click(&mut window, "Add a band");
    type_number(&mut window, "Upper limit of band 5", "40");
    for _ in 0..2 {
        scroll_to(&mut window, "Remove band 1");
        click(&mut window, "Remove band 1");
    }
    scroll_to(&mut window, "Recompute the samples");
    click(&mut window, "Recompute the samples");
    until(&mut window, "samples are made", |w| {
        let loaded = w.data().loaded().expect("loaded");
        w.loading_share().is_none() && loaded.settings == w.draft().experiment.data
    });
    let loaded = window.harness.state().workbench().data().loaded();
    let dataset = loaded.expect("loaded").dataset.clone();
    assert_eq!(
        dataset.n_features(),
        n_before * 3 / 4,
        "three bands of four"
    );
    assert!(dataset.feature_names()[2].ends_with("band 5"));

    show(&mut window, Stage::Split);
    edit(&mut window, |draft| {
        draft.experiment.split = SplitPlan::HoldOut(HoldOut::Groups { names: Vec::new() });
    });
    until(&mut window, "nothing is held out", |w| {
        w.split().error().is_some()
    });
    for name in [&dataset.group_names()[0], &dataset.group_names()[3]] {
        click(&mut window, name);
    }
    until(&mut window, "two groups are held out", |w| {
        w.split().made().is_some_and(|made| {
            made.groups
                .iter()
                .filter(|group| group.fold == Some(0))
                .count()
                == 2
        })
    });
}
