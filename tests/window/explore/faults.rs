//! Fault records in the window: bases of per unit, digital states at the cursors, records without analog channels.

use std::f64::consts::PI;
use std::path::Path;
use std::sync::Arc;

use atomscope::workbench::explore::{
    BesideChoice, ExploreAction, FaultAction, FaultRecord, ValueScale,
};
use atomscope::workbench::{Action, Gravity, Stage, Workbench};
use atomscope_engine::records::comtrade::{ComtradeStorage, write_files};
use atomscope_engine::records::{Channel, ChannelKind, Format, GridFacts, Kind, Record, Unit};
use atomscope_engine::session::{Session, notes_on};
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT, Queryable};

use super::{Window, click, opened, until, window_of};
use crate::typing::type_into;

const RATE_HZ: f64 = 1600.0;
const N_SAMPLES: usize = 640;

/// A digital channel that is 1 from some samples on, and 0 again.
fn digital(name: &str, on: std::ops::Range<usize>) -> (Channel, Vec<f64>) {
    let channel = Channel {
        kind: ChannelKind::Digital { normal: None },
        ..Channel::analog(name, Unit::none(), Some(RATE_HZ), 0)
    };
    let state = |sample: usize| f64::from(u8::from(on.contains(&sample)));
    (channel, (0..N_SAMPLES).map(state).collect())
}

/// Voltages of 60 kV peak, the currents ten times as high from 0.2 s on; three digital channels.
fn record() -> Record {
    let mut data = phases();
    data.push(digital("TRIP", 340..N_SAMPLES));
    data.push(digital("PICKUP", 330..400));
    data.push(digital("SPARE", 0..0));
    with_frequency(data)
}

/// The six analog channels of that record.
fn phases() -> Vec<(Channel, Vec<f64>)> {
    let mut data = Vec::new();
    for (unit, size, letter) in [("V", 60_000.0, "V"), ("A", 300.0, "I")] {
        for (phase, name) in ["A", "B", "C"].iter().enumerate() {
            let grows = if letter == "I" { 9.0 } else { 0.0 };
            let value = |sample: usize| {
                let turn = 2.0 * PI * (sample as f64 / 32.0 - phase as f64 / 3.0);
                let factor = if sample >= 320 { 1.0 + grows } else { 1.0 };
                size * factor * turn.cos()
            };
            let name = format!("{letter}{name}");
            let channel = Channel::analog(name, Unit::parse(unit), Some(RATE_HZ), 0);
            data.push((channel, (0..N_SAMPLES).map(value).collect()));
        }
    }
    data
}

fn with_frequency(data: Vec<(Channel, Vec<f64>)>) -> Record {
    let mut record = Record::in_memory(Format::Comtrade1999, Kind::FaultRecord, "relay", data);
    record.grid = Some(GridFacts {
        line_frequency_hz: Some(50.0),
        ..GridFacts::default()
    });
    record
}

/// A window that shows a record written to a file.
fn shown(record: &Record, path: &Path) -> Window {
    write_files(record, ComtradeStorage::Float32, path).expect("the folder can be written");
    let mut window = opened(path);
    until(&mut window, "the record is shown and measured", |w| {
        w.explore().fault().measures().is_some() && !w.is_busy()
    });
    window
}

fn put_cursors(window: &mut Window, cursors_s: [f64; 2]) {
    let workbench = window.harness.state_mut().workbench_mut();
    let mut look = workbench.explore().fault().view().expect("shown").clone();
    look.cursors_s = cursors_s;
    look.scale = ValueScale::PerUnit;
    let look = FaultAction::View(Box::new(look));
    workbench.apply(Action::Explore(ExploreAction::Fault(look)));
    until(window, "it is measured there", |w| {
        let measures = w.explore().fault().measures();
        let is_near = |found: f64, wanted: f64| (found - wanted).abs() < 1e-3;
        measures.is_some_and(|m| {
            is_near(m.cursors[0].time_s, cursors_s[0]) && is_near(m.cursors[1].time_s, cursors_s[1])
        })
    });
}

fn type_number(window: &mut Window, label: &str, text: &str) {
    type_into(&mut window.harness, Role::SpinButton, label, text);
}

/// Peak volts and amperes that count as 1 per unit.
fn bases(window: &Window) -> [f64; 2] {
    let explore = window.harness.state().workbench().explore();
    let record = explore.fault().record().expect("shown");
    record.bases.map(|base| base.expect("known"))
}

#[test]
fn bases_are_given_saved_with_the_session_undone_and_taken_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("relay.cfg");
    let mut window = shown(&record(), &path);
    let measured = bases(&window);
    assert!((measured[0] / 60_000.0 - 1.0).abs() < 1e-6, "{measured:?}");
    assert!((measured[1] / 300.0 - 1.0).abs() < 1e-6, "{measured:?}");
    click(&mut window, "Bases");
    type_number(&mut window, "Voltage", "110000");
    // 110 kV between the phases are 89.8 kV peak to earth; the current stays that of the record.
    let given = bases(&window);
    assert!(
        (given[0] / (110_000.0 * (2.0_f64 / 3.0).sqrt()) - 1.0).abs() < 1e-9,
        "{given:?}"
    );
    assert_eq!(given[1], measured[1]);
    let name = path.display().to_string();
    let workbench = window.harness.state_mut().workbench_mut();
    assert!(workbench.is_unsaved());
    let saved = folder.path().join("based.ron");
    workbench.apply(Action::SaveAs(saved.clone()));
    until(&mut window, "it is saved", |w| {
        !w.is_saving() && w.path().is_some()
    });
    let session = Session::load(&saved).expect("it loads");
    let kept = notes_on(&session.recordings, &name).expect("saved with the session");
    assert_eq!(
        (kept.bases.voltage_v, kept.bases.current_a),
        (Some(110_000.0), None)
    );
    window
        .harness
        .state_mut()
        .workbench_mut()
        .apply(Action::Undo);
    for _ in 0..3 {
        window.harness.step();
    }
    assert_eq!(bases(&window), measured);
    window
        .harness
        .state_mut()
        .workbench_mut()
        .apply(Action::Redo);
    for _ in 0..3 {
        window.harness.step();
    }
    assert_eq!(bases(&window), given);
}

#[test]
fn digital_states_at_both_cursors_are_listed_with_their_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = shown(&record(), &folder.path().join("relay.cfg"));
    // Before anything happens, and after PICKUP has come and gone.
    put_cursors(&mut window, [0.1, 0.3]);
    assert!(window.harness.query_by_label("Digital channels").is_some());
    let rows: Vec<f32> = ["TRIP", "PICKUP"]
        .map(|name| window.harness.get_by_label(name).rect().center().y)
        .to_vec();
    let of_row = |window: &Window, y: f32| -> Vec<String> {
        let mut texts: Vec<(f32, String)> = ["0", "1", "2", "none"]
            .iter()
            .flat_map(|text| window.harness.query_all_by_label(text))
            .filter(|node| (node.rect().center().y - y).abs() < 4.0)
            .map(|node| {
                let text = NodeT::accesskit_node(&node).value().unwrap_or_default();
                (node.rect().left(), text)
            })
            .collect();
        texts.sort_by(|a, b| a.0.total_cmp(&b.0));
        texts.into_iter().map(|(_, text)| text).collect()
    };
    assert_eq!(of_row(&window, rows[0]), ["0", "1", "1"], "TRIP came");
    assert_eq!(
        of_row(&window, rows[1]),
        ["0", "0", "2"],
        "PICKUP came and went"
    );
    assert!(window.harness.query_by_label("SPARE").is_none());
    assert!(
        window
            .harness
            .query_by_label("1 other does not change from A to B")
            .is_some()
    );
}

fn press(window: &mut Window, button: &str) {
    let button = window.harness.get_by_role_and_label(Role::Button, button);
    button.click();
    for _ in 0..3 {
        window.harness.step();
    }
}

#[test]
fn channels_are_chosen_by_hand_for_a_record_and_for_its_whole_station() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut data = phases();
    let spare = Channel::analog("I SPARE", Unit::parse("A"), Some(RATE_HZ), 0);
    data.push((spare, data[3].1.iter().map(|i| -2.0 * i).collect()));
    let mut record = with_frequency(data);
    record.grid.as_mut().expect("there").station = "South".to_owned();
    let other = folder.path().join("other.cfg");
    write_files(&record, ComtradeStorage::Float32, &other).expect("the folder can be written");
    let mut window = shown(&record, &folder.path().join("relay.cfg"));
    let current_a = |record: Option<&Arc<FaultRecord>>| {
        let analysis = record.and_then(|record| record.analysis.clone());
        analysis.map(|analysis| analysis.signals.names[3].clone())
    };
    press(&mut window, "Bay");
    press(&mut window, "IA");
    press(&mut window, "I SPARE");
    let chosen = Some("I SPARE".to_owned());
    until(&mut window, "the record is read so", |w| {
        current_a(w.explore().fault().record()) == chosen
    });
    // The menu is still there.
    press(&mut window, "Use for the whole station");
    let open = |path| Action::Explore(ExploreAction::OpenFile(path));
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.apply(open(other.clone()));
    until(&mut window, "the other record gets the choice", |w| {
        let record = w.explore().fault().record();
        record.is_some_and(|record| record.name.contains("other")) && current_a(record) == chosen
    });
    let beside = FaultAction::Beside(BesideChoice::File(other));
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.apply(Action::Explore(ExploreAction::Fault(beside)));
    until(&mut window, "so does one beside", |w| {
        current_a(w.explore().fault().beside()) == chosen
    });
}

#[test]
fn a_line_is_kept_with_the_user_by_its_name_and_forgotten() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = shown(&record(), &folder.path().join("relay.cfg"));
    let lines = |window: &Window| window.harness.state().workbench().settings().lines.clone();
    super::type_into(&mut window, "Name of the line", "South 2");
    type_number(&mut window, "length", "12.5");
    click(&mut window, "Keep line");
    let kept = lines(&window);
    assert_eq!(kept.len(), 1);
    assert_eq!(
        (kept[0].name.as_str(), kept[0].length_km),
        ("South 2", 12.5)
    );
    click(&mut window, "Forget line");
    assert!(lines(&window).is_empty());
}

#[test]
fn a_record_of_digital_channels_alone_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let only = with_frequency(vec![digital("TRIP", 340..500), digital("PICKUP", 330..400)]);
    let mut window = shown(&only, &folder.path().join("states.cfg"));
    put_cursors(&mut window, [0.1, 0.3]);
    for label in ["Cursor A", "Cursor B", "Digital channels", "TRIP", "PICKUP"] {
        assert!(window.harness.query_by_label(label).is_some(), "{label}");
    }
    assert_eq!(
        window.harness.state().workbench().explore().fault().error(),
        None
    );
}

#[test]
fn a_record_alone_is_opened_to_be_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("relay.cfg");
    write_files(&record(), ComtradeStorage::Float32, &path).expect("the folder can be written");
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.apply(Action::Open(path));
    let mut window = window_of(workbench);
    until(&mut window, "the record is shown", |w| {
        w.explore().fault().measures().is_some()
    });
    let workbench = window.harness.state().workbench();
    assert_eq!(workbench.view().page, Stage::Explore);
    let notices = workbench.notices().list();
    assert!(
        notices.iter().any(|n| n.text.contains("open the folder")),
        "it says how to learn from it"
    );
}

#[test]
fn a_folder_of_fault_records_without_classes_is_listed_and_no_error_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["relay_1.cfg", "relay_2.cfg"] {
        let path = folder.path().join(name);
        write_files(&record(), ComtradeStorage::Float32, &path).expect("the folder can be written");
    }
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.apply(Action::Open(folder.path().to_owned()));
    let mut window = window_of(workbench);
    until(&mut window, "the records are listed", |w| {
        w.explore().fault().list().is_some() && w.data().error().is_some()
    });
    let workbench = window.harness.state().workbench();
    assert_eq!(workbench.view().page, Stage::Explore);
    assert!(workbench.data().lacks_classes());
    assert_eq!(workbench.status(Stage::Records).summary, "no classes");
    let notices = workbench.notices().list();
    assert!(!notices.iter().any(|n| n.gravity == Gravity::Error));
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.apply(Action::Show(Stage::Records));
    for _ in 0..3 {
        window.harness.step();
    }
    for label in ["Show list", "Class is the folder"] {
        assert!(window.harness.query_by_label(label).is_some(), "{label}");
    }
}
