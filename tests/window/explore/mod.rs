//! The Explore page: keys, mouse, annotations, montages, filters and fault records on files, and what frames cost.

mod browsing;
mod clinic;
mod cost;
mod elsewhere;
mod faults;
mod notes;
mod whole_page;

use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use atomscope::ui::app::App;
use atomscope::ui::theme;
use atomscope::workbench::explore::{EegBrowser, EegView, ExploreAction};
use atomscope::workbench::{Action, Workbench};
use atomscope_engine::records::edf::{SampleWidth, write_file};
use atomscope_engine::records::{Annotation, Channel, Format, Kind, Record, StartTime, Unit};
use egui::accesskit::Role;
use egui::{Theme, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

const PATIENCE: Duration = Duration::from_secs(300);
const RATE_HZ: f64 = 128.0;
const NAMES: [&str; 19] = [
    "Fp1", "Fp2", "F7", "F3", "Fz", "F4", "F8", "T3", "C3", "Cz", "C4", "T4", "T5", "P3", "Pz",
    "P4", "T6", "O1", "O2",
];

/// The program in a window of its own.
struct Window {
    harness: Harness<'static, App>,
}

/// A minute of 19 electrodes and a heart, each a sine of its own on a level of its own.
fn recording() -> Record {
    let channel = |name: &str| Channel::analog(name, Unit::parse("uV"), Some(RATE_HZ), 0);
    let wave = |place: usize, k: usize| {
        let time_s = k as f64 / RATE_HZ;
        let frequency_hz = 4.0 + place as f64;
        20.0 * (std::f64::consts::TAU * frequency_hz * time_s).sin() + 10.0 * place as f64
    };
    let values = |place: usize| (0..60 * 128).map(|k| wave(place, k)).collect::<Vec<f64>>();
    let names = NAMES.iter().copied().chain(["ECG"]).enumerate();
    let data = names.map(|(place, name)| (channel(name), values(place)));
    let mut record = Record::in_memory(Format::Simulated, Kind::Recording, "made", data.collect());
    record.start = StartTime::new((2024, 5, 17), (13, 59, 30), 0);
    record.annotations = [(12.0, "eyes closed"), (45.0, "eyes open")]
        .map(|(onset_s, text)| Annotation::new(onset_s, None, text))
        .to_vec();
    record
}

fn write_recording(path: &Path) {
    write_file(&recording(), SampleWidth::Edf, path).expect("the folder can be written");
}

/// A window that shows an EEG on the Explore page.
fn explored(path: &Path) -> Window {
    let mut window = opened(path);
    until(&mut window, "the recording is shown", |w| {
        w.explore()
            .eeg()
            .is_some_and(|eeg| eeg.page().is_some() && eeg.whole().is_some())
    });
    window
}

/// A window that opens a file on the Explore page.
fn opened(path: &Path) -> Window {
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.apply(Action::Explore(ExploreAction::OpenFile(path.to_owned())));
    window_of(workbench)
}

fn window_of(workbench: Workbench) -> Window {
    let app = App::new(workbench, false);
    let harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .with_theme(Theme::Light)
        .with_context_setup(theme::install)
        .build_ui_state(|ui, app: &mut App| app.frame(ui), app);
    Window { harness }
}

fn until(window: &mut Window, what: &str, done: impl Fn(&Workbench) -> bool) {
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

fn eeg(window: &Window) -> &EegBrowser {
    let explore = window.harness.state().workbench().explore();
    explore.eeg().expect("an EEG is open")
}

fn view(window: &Window) -> &EegView {
    eeg(window).view()
}

/// Until the page shows what is wanted now.
fn settled(window: &mut Window) {
    for _ in 0..3 {
        window.harness.step();
    }
    until(window, "the page is there", |w| {
        let eeg = w.explore().eeg().expect("an EEG is open");
        let page = eeg.page().expect("a page was there before");
        !w.is_busy() && page.request.start_s == eeg.view().start_s
    });
}

fn click(window: &mut Window, label: &str) {
    window.harness.get_by_label(label).click();
    window.harness.step();
    window.harness.step();
}

fn type_into(window: &mut Window, label: &str, text: &str) {
    let field = window.harness.get_by_role_and_label(Role::TextInput, label);
    field.focus();
    window.harness.step();
    let field = window.harness.get_by_role_and_label(Role::TextInput, label);
    field.type_text(text);
    window.harness.step();
    window.harness.step();
}
