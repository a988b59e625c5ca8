//! Scrolling, measuring, montages, filters and hidden channels by keys, mouse and label.

use std::fs;
use std::sync::Arc;

use atomscope::workbench::explore::ExploreAction;
use atomscope::workbench::{Action, Stage, Workbench};
use atomscope_engine::features::montage::Montage;
use atomscope_engine::records::edf::{SampleWidth, write_file};
use atomscope_engine::records::{Annotation, Format, Kind, Record};
use atomscope_engine::session::GivenChannels;
use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2};
use egui_kittest::kittest::{NodeT, Queryable};

use super::{
    NAMES, Window, click, eeg, explored, recording, settled, until, view, window_of,
    write_recording,
};

fn window() -> (tempfile::TempDir, Window) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    write_recording(&path);
    let window = explored(&path);
    (folder, window)
}

fn press(window: &mut Window, key: Key) {
    window.harness.key_press(key);
    window.harness.step();
    window.harness.step();
}

#[test]
fn keys_scroll_by_seconds_and_pages_and_change_the_sensitivity() {
    let (_folder, mut window) = window();
    assert_eq!((view(&window).start_s, view(&window).span_s), (0.0, 10.0));
    for (key, start_s) in [
        (Key::ArrowRight, 1.0),
        (Key::ArrowRight, 2.0),
        (Key::ArrowLeft, 1.0),
        (Key::PageDown, 11.0),
        (Key::End, 50.0),
        (Key::PageDown, 50.0),
        (Key::PageUp, 40.0),
        (Key::Home, 0.0),
        (Key::ArrowLeft, 0.0),
    ] {
        press(&mut window, key);
        assert!((view(&window).start_s - start_s).abs() < 1e-9, "{key:?}");
    }
    settled(&mut window);
    let before = view(&window).sensitivity.expect("fitted to the first page");
    press(&mut window, Key::Plus);
    let larger = view(&window).sensitivity.expect("set");
    assert!(
        larger < before,
        "fewer µV per millimetre make traces larger"
    );
    press(&mut window, Key::Minus);
    assert_eq!(view(&window).sensitivity, Some(before));
}

fn pointer(window: &mut Window, place: Pos2, pressed: Option<bool>) {
    window.harness.event(Event::PointerMoved(place));
    window.harness.step();
    if let Some(pressed) = pressed {
        window.harness.event(Event::PointerButton {
            pos: place,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        window.harness.step();
    }
}

#[test]
fn dragging_measures_time_frequency_and_voltage() {
    let (_folder, mut window) = window();
    let chart = window.harness.get_by_label("EEG traces").rect();
    let lane = chart.top() + chart.height() * 0.3;
    let at = |share: f32| Pos2::new(chart.left() + chart.width() * share, lane);
    pointer(&mut window, at(0.4), Some(true));
    pointer(&mut window, at(0.5), None);
    pointer(&mut window, at(0.6), None);
    pointer(&mut window, at(0.6), Some(false));
    window.harness.step();
    let (a_s, b_s) = view(&window).cursors.expect("two cursors");
    assert!(b_s > a_s && (b_s - a_s) < 4.0, "{a_s} to {b_s}");
    let chosen = view(&window)
        .chosen
        .clone()
        .expect("the lane under the pointer");
    assert!(NAMES.contains(&chosen.as_str()), "{chosen}");
    let told = window.harness.get_by_label_contains("Δt");
    let text = NodeT::accesskit_node(&told).value().unwrap_or_default();
    let delta = format!("Δt {:.3} s", b_s - a_s);
    assert!(text.contains(&delta) && text.contains("1/Δt"), "{text}");
    assert!(
        text.contains(&format!("{chosen}: ")) && text.contains("µV, Δ"),
        "{text}"
    );
}

#[test]
fn cursors_are_placed_and_moved_by_keys() {
    let (_folder, mut window) = window();
    let cursors = |window: &Window| view(window).cursors.expect("two cursors");
    press(&mut window, Key::ArrowDown);
    press(&mut window, Key::ArrowDown);
    assert_eq!(view(&window).chosen.as_deref(), Some("Fp2"));
    press(&mut window, Key::A);
    let (a_s, b_s) = cursors(&window);
    assert!(a_s > 0.0 && a_s < b_s && b_s < 10.0, "{a_s} and {b_s}");
    for _ in 0..3 {
        press(&mut window, Key::ArrowRight);
    }
    let (moved_s, _) = cursors(&window);
    // Onto the nearest sample and three on.
    let sample = (a_s * 128.0).round() + 3.0;
    assert!((moved_s * 128.0 - sample).abs() < 1e-9, "{moved_s}");
    assert_eq!(view(&window).start_s, 0.0, "the page stays");
    press(&mut window, Key::PageDown);
    let (paged_s, other_s) = cursors(&window);
    assert!((paged_s - moved_s - 10.0).abs() < 1e-9);
    assert_eq!(other_s, b_s);
    assert_eq!(view(&window).start_s, 10.0, "the page goes with the cursor");
    settled(&mut window);
    press(&mut window, Key::B);
    assert!(view(&window).start_s < b_s, "the page goes to the cursor");
    press(&mut window, Key::ArrowLeft);
    let sample = (b_s * 128.0).round() - 1.0;
    assert!((cursors(&window).1 * 128.0 - sample).abs() < 1e-9);
    let told = window.harness.get_by_label_contains("Δt");
    let text = NodeT::accesskit_node(&told).value().unwrap_or_default();
    assert!(text.contains("Fp2: ") || text.contains("1/Δt"), "{text}");
    // Let go of the cursor, and the keys move the page again.
    let before = cursors(&window);
    press(&mut window, Key::Escape);
    press(&mut window, Key::Home);
    press(&mut window, Key::ArrowRight);
    assert_eq!(view(&window).start_s, 1.0);
    assert_eq!(cursors(&window), before);
}

#[test]
fn the_wheel_with_ctrl_zooms_about_the_pointer() {
    let (_folder, mut window) = window();
    let chart = window.harness.get_by_label("EEG traces").rect();
    pointer(&mut window, chart.center(), None);
    window.harness.event(Event::Zoom(2.0));
    window.harness.step();
    window.harness.step();
    assert!(
        (view(&window).span_s - 5.0).abs() < 0.1,
        "{}",
        view(&window).span_s
    );
    assert!(
        view(&window).start_s > 1.0,
        "the pointer stays where it was"
    );
}

#[test]
fn a_montage_is_chosen_and_bad_channels_leave_the_average() {
    let (_folder, mut window) = window();
    click(&mut window, "Montage");
    click(&mut window, "Longitudinal bipolar");
    settled(&mut window);
    assert_eq!(view(&window).montage, Montage::LongitudinalBipolar);
    let first = &eeg(&window).page().expect("a page").traces[0];
    assert_eq!(first.source.name, "Fp1-F7");
    click(&mut window, "Montage");
    click(&mut window, "Average reference");
    settled(&mut window);
    let sum = |window: &Window, bad: &str| -> f64 {
        let page = eeg(window).page().expect("a page").clone();
        let on_head = page
            .traces
            .iter()
            .filter(|trace| trace.source.position.is_some());
        let good = on_head.filter(|trace| trace.source.name != bad);
        good.map(|trace| trace.value_at(3.03).expect("there")).sum()
    };
    assert!(sum(&window, "").abs() < 1e-2);
    click(&mut window, "Channels");
    click(&mut window, "Fz");
    click(&mut window, "Bad channel");
    settled(&mut window);
    assert!(
        eeg(&window)
            .traces()
            .iter()
            .any(|t| t.name == "Fz" && t.is_bad)
    );
    assert!(
        sum(&window, "Fz").abs() < 1e-2,
        "the mean of the good ones is taken off"
    );
    assert!(sum(&window, "").abs() > 1.0, "not that of all");
}

#[test]
fn filters_change_the_picture_and_never_the_data() {
    let (folder, mut window) = window();
    let path = folder.path().join("made.edf");
    let bytes = fs::read(&path).expect("readable");
    let stored = eeg(&window).record().read_channel(9).expect("readable");
    let level = |window: &Window| eeg(window).page().expect("a page").traces[9].level;
    assert!((level(&window) - 90.0).abs() < 2.0, "{}", level(&window));
    click(&mut window, "High-pass");
    click(&mut window, "High-pass 1 Hz");
    settled(&mut window);
    assert_eq!(view(&window).filter.high_pass_hz, Some(1.0));
    assert!(level(&window).abs() < 2.0, "{}", level(&window));
    assert_eq!(
        eeg(&window).record().read_channel(9).expect("readable"),
        stored
    );
    assert_eq!(fs::read(&path).expect("readable"), bytes);
}

#[test]
fn channels_are_hidden_moved_and_shown_again() {
    let (_folder, mut window) = window();
    click(&mut window, "Channels");
    click(&mut window, "Show F7");
    settled(&mut window);
    let names = |window: &Window| -> Vec<String> {
        let page = eeg(window).page().expect("a page");
        page.traces
            .iter()
            .map(|trace| trace.source.name.clone())
            .collect()
    };
    assert!(!names(&window).contains(&"F7".to_owned()));
    click(&mut window, "Show all");
    click(&mut window, "Fp2");
    click(&mut window, "Up");
    settled(&mut window);
    assert_eq!(names(&window)[..3], ["Fp2", "Fp1", "F7"]);
}

#[test]
fn spectrum_and_maps_of_the_page_are_computed_when_their_panel_is_open() {
    let (_folder, mut window) = window();
    click(&mut window, "Spectrum");
    super::until(&mut window, "the spectra are there", |w| {
        w.explore().eeg().is_some_and(|eeg| eeg.spectra().is_some())
    });
    let spectra = eeg(&window).spectra().expect("there").clone();
    // Channel k is a sine of 4 + k Hz and 20 µV: power 200 µV² there.
    assert_eq!(spectra[6].peak_hz(), Some(10.0));
    assert!((spectra[6].band_powers()[2] - 200.0).abs() < 1.0);
    click(&mut window, "Maps");
    for _ in 0..4 {
        window.harness.step();
    }
    let maps = eeg(&window).maps().expect("of the spectra");
    assert_eq!(
        maps.names.len(),
        NAMES.len(),
        "the heart is not on the head"
    );
    let heads = window
        .harness
        .query_all_by_label_contains("Scalp map")
        .count();
    assert!(heads >= 1, "{heads} maps");
}

/// Asks for a comparison with a file by its path.
fn compare_with(window: &mut Window, path: &str) {
    click(window, "A file…");
    window.harness.step();
    super::type_into(window, "Path", path);
    let button = window
        .harness
        .get_by_role_and_label(Role::Button, "Compare");
    button.click();
    window.harness.step();
    window.harness.step();
}

#[test]
fn maps_are_compared_with_any_file() {
    let (folder, mut window) = window();
    let other = folder.path().join("other.edf");
    let mut record = super::recording();
    record.channels.truncate(19);
    let doubled = |place: usize| -> Vec<f64> {
        let values = super::recording().read_channel(place).expect("in memory");
        values.into_iter().map(|value| 2.0 * value).collect()
    };
    let channels = record.channels.iter().cloned().enumerate();
    let data = channels.map(|(place, channel)| (channel, doubled(place)));
    let record = Record::in_memory(Format::Simulated, Kind::Recording, "other", data.collect());
    write_file(&record, SampleWidth::Edf, &other).expect("the folder can be written");
    click(&mut window, "Maps");
    compare_with(&mut window, &other.display().to_string());
    super::until(&mut window, "the other file is read", |w| {
        let eeg = w.explore().eeg();
        eeg.is_some_and(|eeg| eeg.compared().is_some() && eeg.maps().is_some())
    });
    let compared = eeg(&window).compared().expect("read").clone();
    assert_eq!(compared.second.title, "other.edf");
    assert_eq!(compared.first, None, "the selection is the first side");
    let own = eeg(&window).maps().expect("of the page");
    // Twice the amplitude is four times the power, at every electrode and in its own band.
    for (place, name) in own.names.iter().enumerate() {
        let there = compared.second.names.iter().position(|n| n == name);
        let there = there.expect("both have it");
        let power = |powers: &[f64]| powers.iter().sum::<f64>();
        let ratio = power(&compared.second.powers[there]) / power(&own.powers[place]);
        assert!((ratio - 4.0).abs() < 0.05, "{name}: {ratio}");
    }
    let heads = window.harness.query_all_by_label_contains("Scalp map");
    assert!(heads.count() >= 3, "both sides and their difference");
    // A file that is none says so, and what was compared goes.
    compare_with(&mut window, "/nowhere/none.edf");
    super::until(&mut window, "it says what is wrong", |w| {
        let eeg = w.explore().eeg();
        eeg.is_some_and(|eeg| {
            eeg.problem()
                .is_some_and(|problem| problem.contains("none.edf"))
        })
    });
    assert!(eeg(&window).compared().is_none());
}

#[test]
fn a_recording_alone_is_opened_to_be_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("alone.edf");
    let mut record = recording();
    record.annotations.clear();
    write_file(&record, SampleWidth::Edf, &path).expect("the folder can be written");
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.apply(Action::Open(path));
    let mut window = window_of(workbench);
    until(&mut window, "the recording is shown", |w| {
        w.explore().eeg().is_some_and(|eeg| eeg.page().is_some())
    });
    let workbench = window.harness.state().workbench();
    assert_eq!(workbench.view().page, Stage::Explore);
    assert!(workbench.data().loaded().is_none());
}

#[test]
fn an_annotated_recording_alone_opens_on_its_traces_and_is_a_record_of_the_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("alone.edf");
    let mut record = recording();
    record.annotations = (0..12)
        .map(|k| {
            let text = if k % 2 == 0 { "rest" } else { "task" };
            Annotation::new(5.0 * f64::from(k), Some(4.0), text)
        })
        .collect();
    write_file(&record, SampleWidth::Edf, &path).expect("the folder can be written");
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.apply(Action::Open(path));
    let mut window = window_of(workbench);
    until(&mut window, "traces and data are there", |w| {
        let has_page = w.explore().eeg().is_some_and(|eeg| eeg.page().is_some());
        has_page && w.data().loaded().is_some()
    });
    let workbench = window.harness.state().workbench();
    assert_eq!(workbench.view().page, Stage::Explore);
    let opened = workbench.explore().opened().expect("a recording is open");
    assert_eq!(
        opened.source,
        Some(0),
        "decisions about it are of held-out folds"
    );
}

#[test]
fn a_column_of_numbers_is_a_signal_whose_rate_can_be_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("Z001.txt");
    let values = (0..4096).map(|k| format!("{}\n", (f64::from(k) * 0.1).sin() * 50.0));
    fs::write(&path, values.collect::<String>()).expect("the folder can be written");
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.apply(Action::Open(path.clone()));
    let mut window = window_of(workbench);
    until(&mut window, "the signal is shown", |w| {
        w.explore().eeg().is_some_and(|eeg| eeg.page().is_some())
    });
    let length = |window: &Window| eeg(window).duration_s();
    assert!((length(&window) - 4096.0 / 250.0).abs() < 0.01);
    let label = "The file does not state its rate; assumed";
    assert!(window.harness.query_by_label(label).is_some());
    let workbench = window.harness.state_mut().workbench_mut();
    let given = GivenChannels {
        rate_hz: Some(173.61),
        names: "Cz".to_owned(),
        unit: "µV".to_owned(),
        ..GivenChannels::default()
    };
    workbench.apply(Action::Explore(ExploreAction::OpenArray(path, given)));
    until(&mut window, "the page follows", |w| {
        let eeg = w.explore().eeg();
        eeg.is_some_and(|eeg| eeg.page().is_some() && eeg.duration_s() > 20.0)
    });
    assert!((length(&window) - 4096.0 / 173.61).abs() < 0.01);
}
