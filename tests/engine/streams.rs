//! Streams: detectors against `river`, lines, folders, growing files, recorded streams, restarts.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::time::{Duration, Instant};

use atomscope_engine::evaluation::{
    Adwin, AdwinSettings, Direction, PageHinkley, PageHinkleySettings,
};
use atomscope_engine::stream::{
    Arrival, FileMark, LineKind, LineSource, ReplaySource, StreamRecorder, StreamSource,
    WatchedFolder, is_recorded_stream,
};

/// The stream in the documentation of `river`: 1000 draws of 0 and 1, then 1000 of 4 to 7.
const RIVER_STREAM: &str = include_str!("../data/river_drift_stream.txt");

/// Streams that any language can draw: 64-bit xorshift and a change of each kind.
fn drawn(kind: usize, n: usize) -> Vec<f64> {
    let mut state = 88_172_645_463_325_252_u64 + kind as u64;
    (0..n)
        .map(|t| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let u = (state >> 11) as f64 / (1u64 << 53) as f64;
            match kind {
                0 => f64::from(u8::from(u < if t < n / 3 { 0.1 } else { 0.35 })),
                1 => u + if (t / 700) % 2 == 1 { 0.4 } else { 0.0 },
                2 => u + t as f64 / 1000.0,
                _ => u * u - if t >= n / 2 { 3.0 * u } else { 0.0 },
            }
        })
        .collect()
}

fn alarms<T>(values: &[f64], mut update: impl FnMut(f64) -> Option<T>) -> Vec<usize> {
    let numbered = values.iter().enumerate();
    numbered
        .filter_map(|(t, value)| update(*value).map(|_| t))
        .collect()
}

fn adwin(values: &[f64], settings: AdwinSettings) -> Vec<usize> {
    let mut detector = Adwin::new(settings);
    alarms(values, |value| detector.update(value))
}

fn page_hinkley(values: &[f64], settings: PageHinkleySettings) -> Vec<usize> {
    let mut detector = PageHinkley::new(settings);
    alarms(values, |value| detector.update(value))
}

/// Indices computed once with river 0.26.1.
#[test]
fn detectors_alarm_at_the_same_index_as_river() {
    let documented: Vec<f64> = RIVER_STREAM
        .trim()
        .bytes()
        .map(|digit| f64::from(digit - b'0'))
        .collect();
    assert_eq!(documented.len(), 2000);
    assert_eq!(adwin(&documented, AdwinSettings::default()), [1023]);
    let usual = PageHinkleySettings::default();
    assert_eq!(page_hinkley(&documented, usual), [1006]);

    let adwin_alarms: [&[usize]; 4] = [
        &[2175],
        &[735, 1439, 2175, 2847, 3551, 4255, 4959, 5663],
        &[
            351, 735, 1183, 1567, 2015, 2431, 2783, 3103, 3423, 3775, 4159, 4511, 4895, 5247, 5631,
            5951,
        ],
        &[3039],
    ];
    let eager_alarms: [&[usize]; 4] = [
        &[2101],
        &[720, 1418, 2126, 2829, 3522, 4225, 4926, 5627],
        &[
            237, 477, 788, 1168, 1501, 1777, 2085, 2420, 2713, 3014, 3338, 3602, 3895, 4197, 4475,
            4774, 5066, 5300, 5581, 5875,
        ],
        &[3007],
    ];
    let page_alarms: [&[usize]; 4] = [
        &[2251],
        &[812, 1509, 2239, 2942, 3638, 4330, 5040, 5725],
        &[
            425, 867, 1376, 1788, 2247, 2697, 3178, 3637, 4063, 4516, 4977, 5419, 5881,
        ],
        &[3033],
    ];
    let downward_alarms: [&[usize]; 4] = [
        &[
            238, 739, 851, 1545, 1720, 2440, 2838, 2997, 3117, 3328, 3413, 3573, 3652, 3704, 3788,
            3845, 3897, 4112, 4629, 5080, 5378, 5558, 5802, 5848, 5922,
        ],
        &[543, 1410, 2829, 3132, 3407, 4214, 4582, 4849, 5613],
        &[],
        &[
            334, 672, 1095, 1181, 3003, 3143, 3183, 3251, 3439, 3624, 3840, 3881, 3917, 3957, 4088,
            4375, 4444, 4529, 4587, 4620, 4833, 5068, 5098, 5128, 5180, 5256, 5309, 5389, 5449,
            5759,
        ],
    ];
    let eager = AdwinSettings {
        delta: 0.05,
        clock: 1,
        ..AdwinSettings::default()
    };
    let downward = PageHinkleySettings {
        threshold: 5.0,
        direction: Direction::Down,
        ..usual
    };
    for kind in 0..4 {
        let values = drawn(kind, 6000);
        assert_eq!(
            adwin(&values, AdwinSettings::default()),
            adwin_alarms[kind],
            "ADWIN, {kind}"
        );
        assert_eq!(adwin(&values, eager), eager_alarms[kind], "eager, {kind}");
        assert_eq!(
            page_hinkley(&values, usual),
            page_alarms[kind],
            "Page–Hinkley, {kind}"
        );
        assert_eq!(
            page_hinkley(&values, downward),
            downward_alarms[kind],
            "downward, {kind}"
        );
    }
}

fn lines(text: &str, kind: LineKind) -> Vec<Arrival> {
    let mut source = LineSource::new(Cursor::new(text.to_owned()), kind);
    let mut arrivals = Vec::new();
    loop {
        match source.next().expect("the lines can be read") {
            Arrival::End => return arrivals,
            arrival => arrivals.push(arrival),
        }
    }
}

fn moments(rate_hz: Option<f64>) -> LineKind {
    LineKind::Moments {
        channel_names: vec!["a".into(), "b".into()],
        rate_hz,
    }
}

#[test]
fn lines_become_moments_and_what_is_wrong_with_them_is_said() {
    let text = "a,b [mV]\n1,2\n3\n5,nan\n7,x\n";
    let arrivals = lines(text, moments(Some(100.0)));
    let Arrival::Channels { channels, rate_hz } = &arrivals[0] else {
        panic!("channels come first, not {:?}", arrivals[0]);
    };
    assert_eq!((channels.len(), *rate_hz), (2, 100.0));
    assert_eq!(channels[1].unit.symbol, "mV");
    assert_eq!(arrivals[1], Arrival::Frames(vec![1.0, 2.0]));
    assert!(matches!(&arrivals[2], Arrival::Note(note) if note.contains("1 of 2 cells")));
    assert_eq!(arrivals[3], Arrival::Gap { lost_s: 0.01 });
    assert!(matches!(&arrivals[4], Arrival::Frames(values) if values[1].is_nan()));
    assert!(matches!(&arrivals[5], Arrival::Note(note) if note.contains("no number")));
}

#[test]
fn times_give_the_rate_and_show_gaps_and_a_clock_that_jumps_back() {
    let mut text = "time,a,b\n".to_owned();
    for k in 0..40 {
        let time_s = match k {
            0..20 => 0.004 * f64::from(k),
            20..30 => 1.0 + 0.004 * f64::from(k),
            _ => 0.5 + 0.004 * f64::from(k),
        };
        text.push_str(&format!("{time_s:.3},{k},0\n"));
    }
    let arrivals = lines(&text, moments(None));
    assert!(matches!(&arrivals[0], Arrival::Channels { rate_hz, .. } if *rate_hz == 250.0));
    let gaps: Vec<f64> = arrivals
        .iter()
        .filter_map(|arrival| match arrival {
            Arrival::Gap { lost_s } => Some(*lost_s),
            _ => None,
        })
        .collect();
    assert_eq!(gaps.len(), 2);
    assert!((gaps[0] - 1.0).abs() < 1e-9 && gaps[1] == 0.0, "{gaps:?}");
    let frames = arrivals.iter().filter(|a| matches!(a, Arrival::Frames(_)));
    assert_eq!(frames.count(), 40);
}

/// The files that a folder delivers within some time, by name.
fn delivered(folder: &mut WatchedFolder, patience: Duration) -> Vec<String> {
    let begun = Instant::now();
    let mut names = Vec::new();
    while begun.elapsed() < patience {
        if let Arrival::File { path, .. } = folder.next().expect("the folder can be listed") {
            let name = path.file_name().unwrap_or_default();
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names
}

#[test]
fn a_file_counts_when_it_has_rested_and_never_twice() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("one.csv");
    let rest = Duration::from_millis(1200);
    let watch = |known| WatchedFolder::new(folder.path(), &[], rest, known, BTreeMap::new());
    let mut watched = watch(BTreeMap::new());
    // Its size changes for longer than a rest would take.
    for part in 1..=4 {
        fs::write(&path, "x,y\n1,2\n".repeat(part)).expect("the file can be written");
        assert!(delivered(&mut watched, Duration::from_millis(300)).is_empty());
    }
    assert_eq!(delivered(&mut watched, 3 * rest), ["one.csv"]);
    assert!(delivered(&mut watched, 2 * rest).is_empty());
    let mark = FileMark::of(&path).expect("the file exists");
    let mut again = watch(BTreeMap::from([("one.csv".into(), mark)]));
    assert!(delivered(&mut again, 2 * rest).is_empty());
    fs::write(&path, "x,y\n5,6\n7,8\n").expect("the file can be written");
    assert_eq!(delivered(&mut again, 3 * rest), ["one.csv"]);
}

#[test]
fn a_recorded_stream_comes_again_value_for_value() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = folder.path().join("recorded");
    let text = "a,b [mV]\n1,0.1\n2,nan\nbad\n3,1e-300\n";
    let arrivals = lines(text, moments(Some(100.0)));
    let mut recorder = StreamRecorder::create(&place).expect("the folder is new");
    for arrival in &arrivals {
        recorder.keep(arrival).expect("the disk has room");
    }
    recorder.flush().expect("the disk has room");
    let again = StreamRecorder::create(&place);
    assert!(again.is_err(), "a recording is not written over");
    // `is_recorded_stream` asks for the decisions too.
    assert!(is_recorded_stream(&place));
    let mut replay = ReplaySource::open(&place).expect("the recording is complete");
    let mut frames: Vec<u64> = Vec::new();
    let mut gaps = Vec::new();
    loop {
        match replay.next().expect("the chunks can be read") {
            Arrival::End => break,
            Arrival::Frames(values) => frames.extend(values.iter().map(|value| value.to_bits())),
            Arrival::Gap { lost_s } => gaps.push((frames.len() / 2, lost_s)),
            Arrival::Channels { channels, rate_hz } => {
                assert_eq!((channels[1].unit.symbol.as_str(), rate_hz), ("mV", 100.0));
            }
            other => panic!("{other:?} was not recorded"),
        }
    }
    let sent = [1.0, 0.1, 2.0, f64::NAN, 3.0, 1e-300];
    assert_eq!(frames, sent.map(f64::to_bits));
    assert_eq!(gaps, [(2, 0.01)]);
}
