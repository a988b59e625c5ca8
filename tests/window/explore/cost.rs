//! What frames of the Explore page cost on long recordings, and how soon the first picture is there.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use atomscope::ui::app::App;
use atomscope::ui::offscreen::Offscreen;
use atomscope::workbench::explore::{EegView, ExploreAction};
use atomscope::workbench::{Action, Workbench};
use atomscope_engine::features::montage::Montage;
use atomscope_engine::records::Annotation;
use atomscope_engine::records::edf::{SampleWidth, write_file};
use cpu_time::{ProcessTime, ThreadTime};
use egui::{Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, Theme, TouchPhase, vec2};
use egui_kittest::kittest::Queryable;

use super::PATIENCE;

const N_CHANNELS: usize = 64;
const RATE_HZ: usize = 256;
const NAMES: &str = "Fp1 Fp2 AF3 AF4 AF7 AF8 Fz F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 FC1 FC2 FC3 FC4 FC5 FC6 FT7 FT8 FT9 FT10 Cz C1 C2 C3 C4 C5 C6 T7 T8 T9 T10 CP1 CP2 CP3 CP4 CP5 CP6 TP7 TP8 TP9 TP10 P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 PO3 PO4 PO7 PO8 O1 O2";

/// An EDF of 64 channels at 256 Hz, a second of the same noisy samples after another.
pub(super) fn write_edf(path: &Path, n_seconds: usize) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    write!(out, "{:<8}{:<80}{:<80}01.01.2400.00.00", "0", "X", "X")?;
    write!(out, "{:<8}{:<44}", 256 * (N_CHANNELS + 1), "")?;
    write!(out, "{n_seconds:<8}{:<8}{N_CHANNELS:<4}", 1)?;
    for name in NAMES.split(' ') {
        write!(out, "{name:<16}")?;
    }
    for (width, text) in [
        (80, ""),
        (8, "uV"),
        (8, "-3276.8"),
        (8, "3276.7"),
        (8, "-32768"),
        (8, "32767"),
        (80, ""),
        (8, &RATE_HZ.to_string()),
        (32, ""),
    ] {
        for _ in 0..N_CHANNELS {
            write!(out, "{text:<width$}")?;
        }
    }
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 23) as i16 - 256
    };
    let second: Vec<u8> = (0..N_CHANNELS * RATE_HZ)
        .flat_map(|_| noise().to_le_bytes())
        .collect();
    for _ in 0..n_seconds {
        out.write_all(&second)?;
    }
    out.flush()
}

/// Memory of the process, in megabytes: now, and the most it ever had.
fn memory_mb() -> (f64, f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kb = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kb.unwrap_or(0.0) / 1e3
    };
    (of("VmRSS:"), of("VmHWM:"))
}

struct Costs {
    first_picture_s: f64,
    median_ms: f64,
    p99_ms: f64,
    /// From switching the trends on to their first columns, and to all of them.
    trends_s: (f64, f64),
    /// Processor time of everything until they were there.
    trends_cpu_s: f64,
    /// Frames once all trends are shown.
    with_trends_ms: (f64, f64),
}

/// The median and the 99th percentile.
fn median_and_p99(mut milliseconds: Vec<f64>) -> (f64, f64) {
    milliseconds.sort_by(f64::total_cmp);
    let at = |percent: usize| milliseconds[milliseconds.len() * percent / 100];
    (at(50), at(99))
}

/// Opens the file with its trends, then pans and zooms for 600 frames under several montages while they are computed,
/// and for 200 more when all are there.
fn browse(path: &Path) -> Costs {
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    let begun = Instant::now();
    workbench.apply(Action::Explore(ExploreAction::OpenFile(path.to_owned())));
    let mut app = App::new(workbench, false);
    let mut window = Offscreen::new(vec2(1920.0, 1080.0), 1.0, Theme::Dark);
    let has_page = |app: &App| {
        app.workbench()
            .explore()
            .eeg()
            .is_some_and(|e| e.page().is_some())
    };
    while !has_page(&app) {
        window.frame(|ui| app.frame(ui));
        assert!(begun.elapsed() < PATIENCE, "no page appears");
        sleep(Duration::from_millis(1));
    }
    window.frame(|ui| app.frame(ui));
    let first_picture_s = begun.elapsed().as_secs_f64();
    let (begun, processor) = (Instant::now(), ProcessTime::now());
    let mut first_trends_s = None;
    let mut measured = |app: &mut App, window: &mut Offscreen, frame: usize| {
        let eeg = app.workbench().explore().eeg().expect("it is open");
        if first_trends_s.is_none() && eeg.trends().is_some() {
            first_trends_s = Some(begun.elapsed().as_secs_f64());
        }
        let mut view = moved(eeg.view(), eeg.duration_s(), frame);
        view.shows_trends = true;
        let look = ExploreAction::Look(Box::new(view));
        app.workbench_mut().apply(Action::Explore(look));
        let before = ThreadTime::now();
        window.frame(|ui| app.frame(ui));
        let primitives = window.context.tessellate(window.shapes(), 1.0);
        let spent_ms = before.elapsed().as_secs_f64() * 1e3;
        drop(primitives);
        sleep(Duration::from_millis(3));
        spent_ms
    };
    let meanwhile = (0..600).map(|frame| measured(&mut app, &mut window, frame));
    let (median_ms, p99_ms) = median_and_p99(meanwhile.collect());
    while app.workbench().is_busy() {
        measured(&mut app, &mut window, 0);
        assert!(begun.elapsed() < 20 * PATIENCE, "the work does not end");
    }
    let all_s = begun.elapsed().as_secs_f64();
    let trends_cpu_s = processor.elapsed().as_secs_f64();
    let after = (0..200).map(|frame| measured(&mut app, &mut window, frame));
    let with_trends_ms = median_and_p99(after.collect());
    Costs {
        first_picture_s,
        median_ms,
        p99_ms,
        trends_s: (first_trends_s.expect("an EEG has trends"), all_s),
        trends_cpu_s,
        with_trends_ms,
    }
}

/// Scrolls, pages, zooms out to everything and back in, with and without a filter.
fn moved(view: &EegView, duration_s: f64, frame: usize) -> EegView {
    let mut view = view.clone();
    match frame / 100 {
        0 => view.start_s += 0.2,
        1 => view.start_s += view.span_s,
        2 => view.zoom(1.05, view.start_s),
        3 => view.start_s = duration_s * (frame % 100) as f64 / 100.0,
        4 => {
            view.span_s = 10.0;
            view.montage = Montage::AverageReference;
            view.filter.high_pass_hz = Some(0.5);
            view.start_s += 1.0;
        }
        _ => view.zoom(0.98, view.start_s),
    }
    view
}

fn print(what: &str, costs: &Costs) {
    let (now_mb, most_mb) = memory_mb();
    let (first_s, all_s) = costs.trends_s;
    println!(
        "{what}: first picture {:.2} s, frames while trends are computed median {:.1} ms, 99th percentile {:.1} ms, memory {now_mb:.0} MB, at most {most_mb:.0} MB",
        costs.first_picture_s, costs.median_ms, costs.p99_ms
    );
    println!(
        "{what}: trends begin after {first_s:.2} s and are whole after {all_s:.1} s ({:.1} s of processor time with all else), frames with them median {:.1} ms, 99th percentile {:.1} ms",
        costs.trends_cpu_s, costs.with_trends_ms.0, costs.with_trends_ms.1
    );
}

/// Far above what is wanted (12 ms), so that a busy machine does not fail it; the figure is printed.
#[test]
fn frames_stay_cheap_on_ten_minutes_of_64_channels() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.edf");
    write_edf(&path, 600).expect("the folder can be written");
    let costs = browse(&path);
    print("10 min of 64 channels", &costs);
    assert!(costs.p99_ms < 120.0, "99th percentile {} ms", costs.p99_ms);
}

/// A day of 64 channels, 2.8 GB: made here and not kept.
#[test]
#[ignore = "writes 2.8 GB; run it alone on a quiet machine"]
fn frames_stay_cheap_on_a_day_of_64_channels() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("day.edf");
    write_edf(&path, 86_400).expect("the disk has room");
    let costs = browse(&path);
    print("24 h of 64 channels", &costs);
    assert!(costs.first_picture_s < 1.0, "{} s", costs.first_picture_s);
    assert!(costs.p99_ms <= 12.0, "99th percentile {} ms", costs.p99_ms);
    let (_, p99_ms) = costs.with_trends_ms;
    assert!(p99_ms <= 12.0, "99th percentile {p99_ms} ms with trends");
    let (_, most_mb) = memory_mb();
    assert!(most_mb < 400.0, "{most_mb} MB");
}

/// Ten thousand annotations beside a short recording: scrolled and searched while frames are measured.
#[test]
fn frames_stay_cheap_with_ten_thousand_annotations() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("noted.edf");
    let mut record = super::recording();
    record.annotations = (0..10_000)
        .map(|k| Annotation::new(f64::from(k) * 0.005, None, format!("event {k} of many")))
        .collect();
    write_file(&record, SampleWidth::Edf, &path).expect("the folder can be written");
    let mut window = super::explored(&path);
    assert_eq!(super::eeg(&window).annotations().rows().len(), 10_000);
    super::click(&mut window, "Annotations");
    super::type_into(&mut window, "Search", "event 99");
    assert!(window.harness.query_by_label("111 of 10000").is_some());
    assert!(
        window
            .harness
            .query_by_label_contains("event 9999 ")
            .is_none(),
        "only those in sight"
    );
    let mut milliseconds = Vec::new();
    let list = window.harness.get_by_label("111 of 10000").rect();
    let inside = list.left_bottom() + vec2(20.0, 40.0);
    window.harness.event(Event::PointerMoved(inside));
    for frame in 0..60 {
        // Every tenth frame another letter, the list is scrolled in the others.
        match frame % 10 {
            0 => window.harness.event(Event::Text("9".to_owned())),
            5 => window.harness.key_press(Key::Backspace),
            _ => window.harness.event(Event::MouseWheel {
                unit: MouseWheelUnit::Point,
                delta: vec2(0.0, -300.0),
                phase: TouchPhase::Move,
                source: MouseWheelSource::Wheel,
                modifiers: Modifiers::NONE,
            }),
        }
        let before = ThreadTime::now();
        window.harness.step();
        milliseconds.push(before.elapsed().as_secs_f64() * 1e3);
    }
    milliseconds.sort_by(f64::total_cmp);
    println!(
        "10 000 annotations: frames median {:.1} ms, the slowest {:.1} ms",
        milliseconds[30], milliseconds[59]
    );
    assert!(milliseconds[30] < 60.0, "median {} ms", milliseconds[30]);
}
