//! Streams: detectors against `river`, lines, folders, growing files, recorded streams, restarts.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use atomscope_engine::dataset::DataSettings;
use atomscope_engine::evaluation::{
    Adwin, AdwinSettings, Direction, PageHinkley, PageHinkleySettings,
};
use atomscope_engine::experiment::{Experiment, Extent, Run, RunParts};
use atomscope_engine::features::{EegRecipe, FeatureRecipe};
use atomscope_engine::learner::LearnerSettings;
use atomscope_engine::records::{Channel, Mode, Unit, edf, open};
use atomscope_engine::session::Session;
use atomscope_engine::simulate::eeg::{EegSettings, EegSimulator, SubjectClass};
use atomscope_engine::split::SplitPlan;
use atomscope_engine::stream::{
    Arrival, Feed, FileMark, LineKind, LineSource, LiveJudge, Outcome, Paced, ReplaySource,
    StreamDecision, StreamError, StreamRecorder, StreamRun, StreamSource, Timed, WatchedFolder,
    export_recorded, is_recorded_stream, open_source,
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

/// A clock that jumps back makes files of the future: they rest by the time that they are watched.
#[test]
fn labels_come_when_their_table_has_rested_whatever_the_clock_says() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("the file can be written");
        let file = fs::File::options().write(true).open(&path);
        let later = std::time::SystemTime::now() + Duration::from_secs(3600);
        let moved = file.and_then(|file| file.set_modified(later));
        moved.expect("times can be set");
    };
    write("one.csv", "x,y\n1,2\n");
    write("labels.csv", "file,class\none.csv,fault\n");
    let rest = Duration::from_millis(300);
    let classes = ["fault".to_owned()];
    let mut watched = WatchedFolder::new(
        folder.path(),
        &classes,
        rest,
        BTreeMap::new(),
        BTreeMap::new(),
    );
    let begun = Instant::now();
    let mut came = Vec::new();
    while begun.elapsed() < 8 * rest {
        match watched.next().expect("the folder can be listed") {
            Arrival::File { path, .. } => came.push(path.display().to_string()),
            Arrival::Label { class, .. } => came.push(class),
            Arrival::Note(note) => panic!("{note}"),
            _ => {}
        }
    }
    assert_eq!(came.len(), 2, "{came:?}");
    assert!(
        came[0].ends_with("one.csv") && came[1] == "fault",
        "{came:?}"
    );
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

#[test]
fn recorded_rows_of_features_can_be_sent_again() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = folder.path().join("recorded");
    let names = ["a", "b"].map(str::to_owned);
    let sent = [
        (vec![0.1, 1e-300], Some("x".to_owned())),
        (vec![f64::NAN, -2.5e17], None),
        (vec![1.0 / 3.0, 7.0], Some("y z".to_owned())),
    ];
    let mut recorder = StreamRecorder::create(&place).expect("the folder is new");
    for rows in [&sent[..1], &[], &sent[1..]] {
        recorder.keep_rows(&names, rows).expect("the disk has room");
    }
    let text = std::fs::read_to_string(place.join("rows.csv")).expect("rows were recorded");
    let feature_names = names.to_vec();
    let found: Vec<_> = lines(&text, LineKind::Samples { feature_names })
        .into_iter()
        .filter_map(|arrival| match arrival {
            Arrival::Row { features, label } => Some((features, label)),
            _ => None,
        })
        .collect();
    assert_eq!(found.len(), sent.len(), "{text}");
    for ((features, label), (expected, class)) in found.iter().zip(&sent) {
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(features), bits(expected));
        assert_eq!(label, class);
    }
}

fn eeg_settings() -> EegSettings {
    EegSettings {
        subjects_per_class: 3,
        duration_s: 20.0,
        ..EegSettings::default()
    }
}

/// A session with a final model on a few simulated subjects.
fn eeg_session() -> Session {
    let mut data = DataSettings::simulated_eeg(eeg_settings());
    data.recipe = Some(FeatureRecipe::Eeg(EegRecipe::default()));
    let wanted = Experiment {
        data,
        split: SplitPlan::KFold {
            n_folds: 2,
            seed: 1,
        },
        learner: LearnerSettings {
            n_atoms: 6,
            sparsity: 2,
            budget: 20,
            ..LearnerSettings::default()
        },
        ..Experiment::default()
    };
    let built = wanted
        .data
        .load(&|_| None, &mut |_| true)
        .expect("it is built in");
    let dataset = Arc::new(built.dataset.clone());
    let checked = wanted.clone().check(dataset).expect("legal settings");
    let parts = RunParts {
        folds: Some(Vec::new()),
        final_model: true,
    };
    let mut run = Run::new(Arc::new(checked), &parts, Vec::new()).expect("a run");
    let mut news = Vec::new();
    while !run.is_complete() {
        run.advance(Extent::Slice, &mut news).expect("it goes on");
    }
    let mut session = Session::new(wanted);
    session.take_run(&run, &built, Path::new("unsaved.ron"));
    session
}

fn eeg_judge(session: &Session) -> LiveJudge {
    let made = LiveJudge::new(session, "test", None, None).expect("it begins");
    made.expect("there is a final model").0
}

/// The channels and all frames of a subject.
fn eeg_frames(index: u32) -> (Vec<Channel>, f64, Vec<f64>) {
    let simulator = EegSimulator::new(eeg_settings()).expect("legal settings");
    let record = simulator.record(SubjectClass::Case, index);
    let n = record.channels[0].n_samples;
    let columns: Vec<Vec<f64>> = (0..record.channels.len())
        .map(|at| record.read(at, 0..n).expect("in memory"))
        .collect();
    let frames = (0..n).flat_map(|t| columns.iter().map(move |column| column[t]));
    let frames = frames.collect();
    let rate_hz = record.channels[0].rate_hz.expect("a rate");
    (record.channels.clone(), rate_hz, frames)
}

/// What a stream makes of what comes.
fn taken(run: &mut StreamRun, arrivals: Vec<Arrival>) -> Outcome {
    let mut outcome = Outcome::default();
    for arrival in arrivals {
        let arrived = vec![Ok(Timed::now(arrival))];
        let goes_on = run.take_all(arrived, &mut outcome).expect("it is survived");
        assert!(goes_on, "more may come");
    }
    outcome
}

/// Everything that was decided, without the time of the clock.
fn without_clock(mut decisions: Vec<StreamDecision>) -> Vec<StreamDecision> {
    decisions.iter_mut().for_each(|d| d.time.clear());
    decisions
}

/// Frames in uneven pieces, with a gap, a burst of NaN and a clock that jumps back in between.
fn troubled(index: u32) -> Vec<Arrival> {
    let (channels, rate_hz, mut frames) = eeg_frames(index);
    let n_channels = channels.len();
    let middle = 1500 * n_channels;
    frames[middle..middle + 300 * n_channels].fill(f64::NAN);
    let mut arrivals = vec![Arrival::Channels { channels, rate_hz }];
    for (number, piece) in frames.chunks(97 * n_channels).enumerate() {
        match number {
            11 => arrivals.push(Arrival::Gap { lost_s: 0.7 }),
            30 => arrivals.push(Arrival::Gap { lost_s: 0.0 }),
            _ => {}
        }
        arrivals.push(Arrival::Frames(piece.to_vec()));
    }
    arrivals
}

#[test]
fn a_recording_that_began_late_says_when() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let begins = [0.0, 36_000.5].map(|lost_s| {
        let place = folder.path().join(format!("after {lost_s}"));
        let mut recorder = StreamRecorder::create(&place).expect("the folder is new");
        let (channels, rate_hz, frames) = eeg_frames(0);
        for arrival in [
            Arrival::Channels { channels, rate_hz },
            Arrival::Gap { lost_s },
            Arrival::Frames(frames),
        ] {
            recorder.keep(&arrival).expect("the disk has room");
        }
        recorder.flush().expect("the disk has room");
        let path = place.with_extension("edf");
        export_recorded(&place, &path).expect("it is written");
        let record = open(&path, Mode::Strict).expect("it is EDF+");
        record.start.expect("it is known")
    });
    assert!(begins[1].seconds_since(begins[0]).abs() < 60.0);
}

#[test]
fn a_recorded_stream_gives_the_same_decisions_to_the_bit_and_becomes_a_recording() {
    let session = eeg_session();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = folder.path().join("recorded");
    let mut run = StreamRun::new(eeg_judge(&session), None);
    run.record(&place).expect("the folder is new");
    let decisions = taken(&mut run, troubled(0)).decisions;
    run.end_recording().expect("the disk has room");
    assert!(decisions.len() > 5, "{}", decisions.len());

    let mut again = eeg_judge(&session);
    let mut replay = ReplaySource::open(&place).expect("it is complete");
    let mut repeated = Outcome::default();
    loop {
        match replay.next().expect("the chunks can be read") {
            Arrival::End => break,
            arrival => again.take(arrival, &mut repeated).expect("as before"),
        }
    }
    let repeated = repeated.decisions;
    let bits =
        |all: &[StreamDecision]| -> Vec<u64> { all.iter().map(|d| d.margin.to_bits()).collect() };
    assert_eq!(bits(&repeated), bits(&decisions));
    assert_eq!(without_clock(repeated), without_clock(decisions.clone()));

    let path = folder.path().join("stream.edf");
    export_recorded(&place, &path).expect("it is written");
    let record = open(&path, Mode::Strict).expect("it is EDF+");
    let texts: Vec<&str> = record.annotations.iter().map(|a| a.text.as_str()).collect();
    let n_decided = texts.iter().filter(|t| t.starts_with("decided: ")).count();
    assert_eq!(n_decided, decisions.len());
    for said in [
        "samples lost",
        "samples lost, it is not known how many",
        "values that are no numbers",
    ] {
        assert!(texts.contains(&said), "{said}: {texts:?}");
    }
    let first = &decisions[0];
    let wanted = format!("decided: {} (margin {:.3})", first.class, first.margin);
    let found = record.annotations.iter().find(|a| a.text == wanted);
    let onset_s = found.expect("the first decision").onset_s;
    assert!((onset_s - first.start_s.expect("a time")).abs() < 1e-6);
    // The values are those that came, within half a step of what EDF can tell apart.
    let (_, rate_hz, frames) = eeg_frames(0);
    let n_channels = record.channels.len();
    let read = record.read(2, 0..1000).expect("in the file");
    let step = record.quantisation(2).expect("a scale");
    let step =
        (step.physical_max - step.physical_min) / f64::from(step.digital_max - step.digital_min);
    for (at, value) in read.iter().enumerate() {
        let sent = frames[at * n_channels + 2];
        assert!((value - sent).abs() <= step, "{at}: {value} {sent}");
    }
    // The gap of .7 s moves what came after it.
    let shifted = record.read(2, 97 * 11 + 175..97 * 11 + 180).expect("there");
    let sent = frames[97 * 11 * n_channels + 2];
    assert_eq!(rate_hz, 250.0);
    assert!((shifted[0] - sent).abs() <= step, "{shifted:?} {sent}");
}

/// Takes what a growing file has to give now; whether it has ended.
fn read_on(
    source: &mut dyn StreamSource,
    judge: &mut LiveJudge,
    decisions: &mut Vec<StreamDecision>,
) -> bool {
    let mut outcome = Outcome::default();
    let mut is_over = false;
    loop {
        match source.next().expect("the file can be read") {
            Arrival::Nothing => break,
            Arrival::End => {
                is_over = true;
                break;
            }
            arrival => judge.take(arrival, &mut outcome).expect("it is judged"),
        }
    }
    assert_eq!(outcome.notes, Vec::<String>::new());
    decisions.extend(outcome.decisions);
    is_over
}

#[test]
fn a_recording_is_judged_while_it_is_written_and_after_a_restart_goes_on_where_it_was() {
    let session = eeg_session();
    let simulator = EegSimulator::new(eeg_settings()).expect("legal settings");
    let record = simulator.record(SubjectClass::Case, 4);
    let mut bytes = Vec::new();
    edf::write(&record, edf::SampleWidth::Edf, &mut bytes).expect("memory has room");
    let number = |bytes: &[u8]| -> usize {
        let text = std::str::from_utf8(bytes).expect("text");
        text.trim().parse().expect("a number")
    };
    let (head, n_records) = (number(&bytes[184..192]), number(&bytes[236..244]));
    let per_record = (bytes.len() - head) / n_records;
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("growing.edf");
    let name = path.display().to_string();
    // −1 says that writing goes on; the last record is half there.
    let write = |n_whole: usize, declared: &str| {
        let end = (head + n_whole * per_record + per_record / 2).min(bytes.len());
        let mut part = bytes[..end].to_vec();
        part[236..244].copy_from_slice(format!("{declared:<8}").as_bytes());
        fs::write(&path, part).expect("the disk has room");
    };
    let open = |judge: &mut LiveJudge| {
        let source = open_source(&name, judge, Duration::ZERO);
        source.expect("it can be followed")
    };
    let begin = |saved| {
        let made = LiveJudge::new(&session, &name, saved, None).expect("it begins");
        made.expect("there is a final model").0
    };

    let mut decisions = Vec::new();
    let mut judge = begin(None);
    write(n_records / 4, "-1");
    let mut source = open(&mut judge);
    assert!(!read_on(source.as_mut(), &mut judge, &mut decisions));
    let n_early = decisions.len();
    assert!(n_early > 0, "a quarter is there");
    write(n_records / 2, "-1");
    assert!(!read_on(source.as_mut(), &mut judge, &mut decisions));
    assert!(decisions.len() > n_early);
    let saved = judge.saved().clone();
    drop((source, judge));

    let mut judge = begin(Some(saved));
    let mut source = open(&mut judge);
    let n_before = decisions.len();
    assert!(!read_on(source.as_mut(), &mut judge, &mut decisions));
    assert_eq!(decisions.len(), n_before, "nothing is judged twice");
    write(n_records, &n_records.to_string());
    assert!(read_on(source.as_mut(), &mut judge, &mut decisions));

    let mut whole = Vec::new();
    let mut judge = begin(None);
    let mut source = open(&mut judge);
    assert!(read_on(source.as_mut(), &mut judge, &mut whole));
    assert_eq!(without_clock(decisions), without_clock(whole));
}

#[test]
fn other_channels_are_said_and_waited_out_and_a_recording_that_fails_ends_alone() {
    let session = eeg_session();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = folder.path().join("recorded");
    let mut run = StreamRun::new(eeg_judge(&session), None);
    run.record(&place).expect("the folder is new");
    let mut notes = Vec::new();
    let mut n_decisions = Vec::new();
    let mut send = |run: &mut StreamRun, arrivals: Vec<Arrival>| {
        let outcome = taken(run, arrivals);
        notes.extend(outcome.notes);
        n_decisions.push(outcome.decisions.len());
    };
    send(&mut run, troubled(0));
    // Another sender under the same name: two channels instead of all.
    let two = vec![
        Channel::analog("x", Unit::parse("uV"), Some(250.0), 0),
        Channel::analog("y", Unit::parse("uV"), Some(250.0), 0),
    ];
    let foreign = vec![
        Arrival::Channels {
            channels: two,
            rate_hz: 250.0,
        },
        Arrival::Frames(vec![1.0; 5000]),
    ];
    send(&mut run, foreign);
    assert!(run.recorded_into().is_none(), "the recording has ended");
    send(&mut run, troubled(1));
    assert!(n_decisions[0] > 0 && n_decisions[1] == 0 && n_decisions[2] > 0);
    let said = notes.join("\n");
    assert!(said.contains("until the channels are back"), "{said}");
    assert!(said.contains("what was recorded stays"), "{said}");
    // What was recorded before is whole.
    let mut replay = ReplaySource::open(&place).expect("it is complete");
    let mut n_values = 0;
    while let Ok(arrival) = replay.next() {
        match arrival {
            Arrival::End => break,
            Arrival::Frames(values) => n_values += values.len(),
            _ => {}
        }
    }
    assert!(n_values >= eeg_frames(0).2.len() * 9 / 10, "{n_values}");

    // The disk goes away while a recording is under way.
    let gone = folder.path().join("gone");
    let mut run = StreamRun::new(eeg_judge(&session), None);
    run.record(&gone).expect("the folder is new");
    fs::remove_dir_all(&gone).expect("it was made");
    let outcome = taken(&mut run, troubled(2));
    assert!(!outcome.decisions.is_empty() && run.recorded_into().is_none());
    let said = outcome.notes.join("\n");
    assert!(
        said.contains("recording ends, the stream continues"),
        "{said}"
    );
}

/// A sender that never waits.
struct Flood {
    n_left: u64,
    is_new: bool,
}

impl StreamSource for Flood {
    fn next(&mut self) -> Result<Arrival, StreamError> {
        if std::mem::take(&mut self.is_new) {
            let channels = vec![Channel::analog("a", Unit::parse("uV"), Some(1000.0), 0)];
            return Ok(Arrival::Channels {
                channels,
                rate_hz: 1000.0,
            });
        }
        match self.n_left.checked_sub(10) {
            Some(left) => {
                self.n_left = left;
                Ok(Arrival::Frames(vec![1.0; 10]))
            }
            None => Ok(Arrival::End),
        }
    }

    fn can_wait(&self) -> bool {
        false
    }
}

#[test]
fn what_a_full_queue_cannot_take_is_counted_to_the_sample() {
    let n_sent = 200_000;
    let flood = Flood {
        n_left: n_sent,
        is_new: true,
    };
    let feed = Feed::start(Box::new(flood), 16);
    std::thread::sleep(Duration::from_millis(100));
    let (mut n_came, mut gaps_s, mut is_over) = (0, 0.0, false);
    while !is_over {
        for timed in feed.next(Duration::from_secs(5)) {
            match timed.expect("it goes on").arrival {
                Arrival::End => is_over = true,
                Arrival::Frames(values) => n_came += values.len() as u64,
                Arrival::Gap { lost_s } => gaps_s += lost_s,
                _ => {}
            }
        }
    }
    assert!(feed.n_lost() > 0, "the queue was never full");
    assert_eq!(n_came + feed.n_lost(), n_sent);
    assert!(gaps_s * 1000.0 <= feed.n_lost() as f64 + 0.5, "{gaps_s}");
}

#[test]
fn a_recording_is_replayed_at_its_pace() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = folder.path().join("recorded");
    let mut recorder = StreamRecorder::create(&place).expect("the folder is new");
    let channels = vec![Channel::analog("a", Unit::parse("uV"), Some(100.0), 0)];
    let begin = Arrival::Channels {
        channels,
        rate_hz: 100.0,
    };
    recorder.keep(&begin).expect("the disk has room");
    let values: Vec<f64> = (0..100).map(f64::from).collect();
    recorder
        .keep(&Arrival::Frames(values.clone()))
        .expect("the disk has room");
    recorder.flush().expect("the disk has room");
    let replay = ReplaySource::open(&place).expect("it is complete");
    let mut paced = Paced::new(Box::new(replay), 2.0);
    let begun = Instant::now();
    let (mut came, mut n_pieces) = (Vec::new(), 0);
    loop {
        match paced.next().expect("it goes on") {
            Arrival::End => break,
            Arrival::Frames(piece) => {
                n_pieces += 1;
                came.extend(piece);
            }
            _ => {}
        }
    }
    assert_eq!(came, values);
    assert!(n_pieces >= 10, "{n_pieces}");
    // A second at twice its pace; the last piece is due a little before its end.
    assert!(begun.elapsed() > Duration::from_millis(400));
}
