//! The clinician's work: header, anonymised export, marks and scores by one key, lanes that scroll, own montages.

use std::fs;
use std::path::Path;

use atomscope::workbench::explore::{
    EegView, EventQuestion, EventSource, ExploreAction, KeyUse, LaneChoice, ScoringAction,
    SidePanel,
};
use atomscope::workbench::{Action, Ask, Stage};
use atomscope_engine::evaluation::{EpochScores, EventScoring};
use atomscope_engine::features::montage::Montage;
use atomscope_engine::features::signal_kind::SignalKind;
use atomscope_engine::records::edf::{SampleWidth, write_file};
use atomscope_engine::records::{Annotation, Mode, open};
use atomscope_engine::session::{OwnAnnotation, notes_on};
use egui::{Key, Pos2, Rect, vec2};
use egui_kittest::kittest::Queryable;

use super::{
    Window, click, eeg, explored, recording, settled, type_into, until, view, write_recording,
};

fn apply(window: &mut Window, action: ExploreAction) {
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.apply(Action::Explore(action));
    window.harness.step();
    window.harness.step();
}

fn press(window: &mut Window, key: Key) {
    window.harness.key_press(key);
    window.harness.step();
    window.harness.step();
}

fn marks(window: &Window, path: &Path) -> Vec<OwnAnnotation> {
    let draft = window.harness.state().workbench().draft();
    let notes = notes_on(&draft.recordings, &path.display().to_string());
    notes.map_or(Vec::new(), |notes| notes.annotations.clone())
}

fn scored(window: &Window) -> Vec<Option<u16>> {
    let scores = window.harness.state().workbench().epoch_scores();
    scores.map_or(Vec::new(), |scores| scores.epochs.clone())
}

#[test]
fn the_header_is_shown_and_written_with_or_without_the_patient() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    let mut record = recording();
    record.identity.patient = "17 F 02-MAY-1951 Harriet".to_owned();
    record.channels[0].sensor.prefilter = "HP:0.1Hz LP:75Hz".to_owned();
    write_file(&record, SampleWidth::Edf, &path).expect("written");
    let mut window = explored(&path);
    click(&mut window, "Header");
    for text in ["Harriet", "20 channels at 128 Hz", "HP:0.1Hz"] {
        let found = window.harness.query_all_by_label_contains(text).count();
        assert!(found > 0, "{text} is not shown");
    }
    for anonymises in [false, true] {
        let out = folder.path().join(format!("out-{anonymises}.edf"));
        let export = ExploreAction::ExportRecording {
            path: out.clone(),
            anonymises,
        };
        apply(&mut window, export);
        until(&mut window, "it is written", |w| !w.is_busy());
        let back = open(&out, Mode::Strict).expect("readable");
        assert_eq!(back.identity.patient.contains("Harriet"), !anonymises);
        assert_eq!(back.channels[0].sensor.prefilter, "HP:0.1Hz LP:75Hz");
        assert_eq!(back.annotations.len(), 2);
    }
}

#[test]
fn digits_mark_while_marking_is_on_and_nothing_is_typed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    write_recording(&path);
    let mut window = explored(&path);
    click(&mut window, "Mark");
    assert_eq!(view(&window).keys, KeyUse::Marks);
    press(&mut window, Key::Num1);
    press(&mut window, Key::Num3);
    let found = marks(&window, &path);
    let texts: Vec<&str> = found.iter().map(|mark| mark.text.as_str()).collect();
    assert_eq!(texts, ["spike", "artefact"]);
    let workbench = window.harness.state().workbench();
    assert_eq!(workbench.view().page, Stage::Explore, "no page is turned");
    let onset = found[0].onset_s * super::RATE_HZ;
    assert!((onset - onset.round()).abs() < 1e-9, "on a sample");
    // One undo takes back one mark.
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.apply(Action::Undo);
    window.harness.step();
    assert_eq!(marks(&window, &path).len(), 1);
    // What is typed marks nothing.
    click(&mut window, "Annotations");
    type_into(&mut window, "New", "1");
    press(&mut window, Key::Num2);
    assert_eq!(marks(&window, &path).len(), 1);
}

#[test]
fn marking_is_reached_by_keys_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    write_recording(&path);
    let mut window = explored(&path);
    // A key that is heard on the page reaches the traces from a button too, by F6.
    window.harness.get_by_label("Trends").focus();
    press(&mut window, Key::M);
    assert_eq!(
        view(&window).keys,
        KeyUse::Pages,
        "the button has the focus"
    );
    press(&mut window, Key::F6);
    press(&mut window, Key::M);
    press(&mut window, Key::Num2);
    press(&mut window, Key::M);
    assert_eq!(view(&window).keys, KeyUse::Pages);
    assert_eq!(marks(&window, &path).len(), 1);
    // Switched on by its button, the digits are heard at once.
    window.harness.get_by_label("Mark").focus();
    press(&mut window, Key::Space);
    press(&mut window, Key::Num1);
    assert_eq!(marks(&window, &path).len(), 2);
    // While scoring, M is a state.
    let states = ["M", "W"].map(str::to_owned).to_vec();
    let scores = EpochScores::new(10.0, states, 60.0);
    let begin = ScoringAction::Set(Some(scores));
    apply(&mut window, ExploreAction::Scoring(begin));
    let mut looked = view(&window).clone();
    looked.keys = KeyUse::Scores;
    apply(&mut window, ExploreAction::Look(Box::new(looked)));
    press(&mut window, Key::M);
    assert_eq!(view(&window).keys, KeyUse::Scores);
    assert_eq!(scored(&window)[..2], [Some(0), None]);
}

#[test]
fn epochs_are_scored_by_keys_undone_compared_and_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    write_recording(&path);
    let mut window = explored(&path);
    let states = ["W", "N1", "N2"].map(str::to_owned).to_vec();
    let scores = EpochScores::new(10.0, states, 60.0);
    apply(
        &mut window,
        ExploreAction::Scoring(ScoringAction::Set(Some(scores))),
    );
    let mut looked = view(&window).clone();
    looked.side = SidePanel::Scores;
    looked.keys = KeyUse::Scores;
    (looked.start_s, looked.span_s) = (0.0, 10.0);
    apply(&mut window, ExploreAction::Look(Box::new(looked)));
    settled(&mut window);
    for key in [Key::W, Key::Num1, Key::Num2, Key::Num2] {
        press(&mut window, key);
    }
    assert_eq!(
        scored(&window)[..5],
        [Some(0), Some(1), Some(2), Some(2), None]
    );
    assert_eq!(view(&window).start_s, 40.0, "the next epoch by itself");
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.apply(Action::Undo);
    window.harness.step();
    assert_eq!(scored(&window)[..4], [Some(0), Some(1), Some(2), None]);

    let out = folder.path().join("scores.tsv");
    apply(
        &mut window,
        ExploreAction::Scoring(ScoringAction::Export(out.clone())),
    );
    until(&mut window, "it is written", |w| !w.is_busy());
    // A second rater who differs in the second epoch.
    let text = fs::read_to_string(&out)
        .expect("written")
        .replace("\tN1\t", "\tW\t");
    let other = folder.path().join("other.tsv");
    fs::write(&other, text).expect("written");
    apply(
        &mut window,
        ExploreAction::Scoring(ScoringAction::OpenRater(other)),
    );
    until(&mut window, "they are compared", |w| {
        w.explore().scoring().with_rater().is_some()
    });
    let stage = window.harness.state().workbench().explore().scoring();
    let agreement = stage.with_rater().expect("compared");
    assert_eq!(agreement.differing, [1]);
    assert_eq!(agreement.confusion.total(), 3);
    for text in ["Cohen's kappa", "Differ: 1 epoch"] {
        let found = window.harness.query_all_by_label_contains(text).count();
        assert!(found > 0, "{text} is not shown");
    }
}

#[test]
fn lanes_scroll_kinds_are_corrected_and_panels_fold_away() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    write_recording(&path);
    let mut window = explored(&path);
    let mut looked = view(&window).clone();
    looked.lanes = LaneChoice::Sixteen;
    looked.first_lane = 99;
    apply(&mut window, ExploreAction::Look(Box::new(looked)));
    until(&mut window, "sixteen traces are shown", |w| {
        let page = w.explore().eeg().and_then(|eeg| eeg.page());
        page.is_some_and(|page| page.traces.len() == 16)
    });
    let page = eeg(&window).page().expect("a page");
    assert_eq!(page.traces[15].source.name, "ECG");
    assert_eq!(page.traces[15].source.kind, SignalKind::Ecg);
    // A correction of the kind is saved with the session and drawn at once.
    let name = path.display().to_string();
    let mut draft = window.harness.state().workbench().draft().clone();
    atomscope_engine::session::change_notes(&mut draft.recordings, &name, |notes| {
        notes.kinds.push(("ECG".to_owned(), SignalKind::Emg));
    });
    window
        .harness
        .state_mut()
        .workbench_mut()
        .edit(draft, false);
    until(&mut window, "the kind is another", |w| {
        let page = w.explore().eeg().and_then(|eeg| eeg.page());
        page.is_some_and(|page| page.traces[15].source.kind == SignalKind::Emg)
    });
    // Everything but the traces folds away: three quarters of the window are theirs.
    press(&mut window, Key::F9);
    settled(&mut window);
    let traces = window.harness.get_by_label("EEG traces").rect();
    assert!(traces.area() >= 0.75 * 1280.0 * 800.0, "{traces:?}");
    press(&mut window, Key::F9);
    assert!(!view(&window).is_folded);
}

#[test]
fn an_own_montage_is_written_in_a_table_and_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    write_recording(&path);
    let mut window = explored(&path);
    let mut looked = view(&window).clone();
    looked.montage = Montage::Own(String::new());
    apply(&mut window, ExploreAction::Look(Box::new(looked)));
    type_into(&mut window, "Channels of trace 1", "T3 - C3");
    type_into(&mut window, "Name of trace 1", "left");
    type_into(&mut window, "Own montage", "mine");
    click(&mut window, "Save montage");
    settled(&mut window);
    assert_eq!(
        view(&window).montage,
        Montage::Own("left: T3 - C3".to_owned())
    );
    assert_eq!(eeg(&window).traces()[0].name, "left");
    let kept = &window.harness.state().workbench().settings().montages;
    assert_eq!(
        (kept[0].name.as_str(), kept[0].lines.as_str()),
        ("mine", "left: T3 - C3")
    );
}

#[test]
fn misses_and_false_alarms_lead_to_their_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    let mut record = recording();
    record.annotations = vec![Annotation::new(20.0, Some(5.0), "seizure")];
    write_file(&record, SampleWidth::Edf, &path).expect("written");
    let other = folder.path().join("other.tsv");
    fs::write(
        &other,
        "onset\tduration\ttrial_type\n45.0\t3.0\tseizure\n50.0\t1.0\tartefact\n",
    )
    .expect("written");
    let mut window = explored(&path);
    click(&mut window, "Scores");
    apply(
        &mut window,
        ExploreAction::Scoring(ScoringAction::OpenRater(other)),
    );
    until(&mut window, "the file is read", |w| {
        w.explore().scoring().rater().is_some()
    });
    let question = EventQuestion {
        reference: "seizure".to_owned(),
        against: EventSource::Rater("seizure".to_owned()),
        scoring: EventScoring {
            tolerance_before_s: 0.0,
            tolerance_after_s: 0.0,
            merge_closer_than_s: 0.0,
            ..EventScoring::default()
        },
    };
    apply(
        &mut window,
        ExploreAction::Scoring(ScoringAction::ScoreEvents(Some(question))),
    );
    for (name, span) in [
        ("Miss 0:20 to 0:25", (20.0, 25.0)),
        ("False alarm 0:45 to 0:48", (45.0, 48.0)),
    ] {
        // The lists lie below the fold of the panel.
        window.harness.get_by_label(name).scroll_to_me();
        for _ in 0..40 {
            window.harness.step();
        }
        click(&mut window, name);
        settled(&mut window);
        let shown = view(&window);
        assert_eq!(shown.cursors, Some(span));
        assert!(shown.start_s <= span.0 && span.0 < shown.end_s(), "{name}");
    }
}

#[test]
fn letters_and_digits_are_the_lists_while_one_is_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    write_recording(&path);
    let mut window = explored(&path);
    click(&mut window, "Montage");
    for key in [Key::A, Key::Num2, Key::S] {
        press(&mut window, key);
    }
    let workbench = window.harness.state().workbench();
    assert_eq!(workbench.view().page, Stage::Explore, "no page is turned");
    assert_eq!(view(&window).cursors, None, "no cursor is placed");
    press(&mut window, Key::Escape);
    press(&mut window, Key::A);
    assert!(view(&window).cursors.is_some());
}

#[test]
fn no_more_lanes_are_shown_than_their_names_have_room_for() {
    let mut looked = EegView {
        height_mm: 100.0,
        ..EegView::default()
    };
    assert_eq!(looked.n_lanes(20), 20);
    assert_eq!(looked.n_lanes(64), 31);
    looked.lanes = LaneChoice::All;
    assert_eq!(looked.n_lanes(64), 64);
    looked.lanes = LaneChoice::Sixteen;
    assert_eq!(looked.n_lanes(64), 16);
}

#[test]
fn the_list_of_keys_fits_into_a_small_window() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    write_recording(&path);
    let mut window = explored(&path);
    for height in [800.0, 500.0] {
        window.harness.set_size(vec2(1280.0, height));
        let workbench = window.harness.state_mut().workbench_mut();
        workbench.apply(Action::Ask(Ask::Keys));
        for _ in 0..4 {
            window.harness.step();
        }
        let whole = Rect::from_min_size(Pos2::ZERO, vec2(1280.0, height));
        for label in ["Keys", "Close"] {
            let place = window.harness.get_by_label(label).rect();
            assert!(whole.contains_rect(place), "{label} at {place:?}, {height}");
        }
        press(&mut window, Key::Escape);
    }
}

#[test]
fn rows_of_trends_are_higher_on_a_large_screen() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    write_recording(&path);
    let mut window = explored(&path);
    click(&mut window, "Trends");
    let label = "Trends of the recording";
    let mut height_in = |size| {
        window.harness.set_size(size);
        for _ in 0..4 {
            window.harness.step();
        }
        let rows = window.harness.get_by_label_contains(label);
        rows.rect().height()
    };
    let small = height_in(vec2(1280.0, 800.0));
    let large = height_in(vec2(2560.0, 1440.0));
    assert!(small < 0.3 * 800.0, "{small}");
    assert!(large > 0.24 * 1440.0 && large < 0.33 * 1440.0, "{large}");
}
