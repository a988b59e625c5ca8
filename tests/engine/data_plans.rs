//! Data settings at work: folders made here, the default feeder, and the real data sets where the data folder is
//! present.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use atomscope_engine::dataset::{
    Built, DataPlan, DataSettings, Dataset, DatasetError, RecordingSource, Relabel,
};
use atomscope_engine::features::{EegRecipe, FeatureRecipe};
use atomscope_engine::records::catalog::{Pattern, Rule};
use atomscope_engine::records::edf::{self, SampleWidth};
use atomscope_engine::records::{Annotation, ReadError};
use atomscope_engine::simulate::eeg::{EegSettings, EegSimulator};
use atomscope_engine::simulate::feeder::{FeederSettings, FeederSimulator};
use atomscope_engine::split::SplitPlan;
use atomscope_engine::split::audit::{Audit, FindingKind, Severity, audit};
use cpu_time::ThreadTime;

fn short_eeg() -> EegSettings {
    EegSettings {
        subjects_per_class: 2,
        duration_s: 6.0,
        ..EegSettings::default()
    }
}

/// Two classes of two short simulated subjects as EDF, each with a seizure marked.
fn study() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let simulator = EegSimulator::new(short_eeg()).expect("legal settings");
    for (class, index) in simulator.subjects() {
        let mut record = simulator.record(class, index);
        record
            .annotations
            .push(Annotation::new(2.0, Some(3.0), "Seizure"));
        let path = folder.path().join(format!("{}-{index}.edf", class.name()));
        edf::write_file(&record, SampleWidth::Edf, &path).expect("the folder is writable");
    }
    folder
}

fn pattern(text: &str) -> Rule {
    Rule::FileName(Pattern::new(text).expect("a pattern"))
}

/// Recordings of the folder called `study`.
fn of_study(rules: Vec<Rule>) -> RecordingSource {
    RecordingSource {
        paths: vec!["study".into()],
        rules,
        ..RecordingSource::default()
    }
}

/// Loads recordings where `study` means `folder`; progress must rise to 1.
fn loaded(source: RecordingSource, folder: &Path) -> Built {
    let recipe = FeatureRecipe::Eeg(EegRecipe::default());
    let settings = DataSettings::new(DataPlan::Recordings(source), Some(recipe));
    let mut shares = Vec::new();
    let locate = |named: &Path| {
        named
            .strip_prefix("study")
            .ok()
            .map(|rest| folder.join(rest))
    };
    let built = settings.load(&locate, &mut |share| {
        shares.push(share);
        true
    });
    assert!(
        shares.is_sorted() && shares.last() == Some(&1.0),
        "{shares:?}"
    );
    built.expect("samples")
}

#[test]
fn short_recordings_in_a_table_get_the_recipe_that_they_can_carry() {
    for (n_rows, rate_hz, expected) in [
        (40, 64, (0.625, 4)),
        (40, 20, (1.0, 2)),
        (200, 100, (1.0, 4)),
    ] {
        let mut text = "trial,time,value,class\n".to_owned();
        for trial in 0..12 {
            for row in 0..n_rows {
                let (time_s, class) = (f64::from(row) / f64::from(rate_hz), ["a", "b"][trial % 2]);
                let value = (f64::from(row) * (0.3 + trial as f64)).sin();
                text.push_str(&format!("r{trial},{time_s:.5},{value:.4},{class}\n"));
            }
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("long.csv");
        fs::write(&path, text).expect("written");
        let settings = DataSettings::for_path(&path, &mut |_| true).expect("a table");
        let Some(FeatureRecipe::Eeg(recipe)) = &settings.recipe else {
            panic!("recordings: {:?}", settings.recipe);
        };
        assert_eq!(
            ((recipe.frame_s * 1e3).round() / 1e3, recipe.bands.len()),
            expected,
            "{n_rows} rows at {rate_hz} Hz"
        );
        let built = settings
            .load(&|named: &Path| Some(named.to_owned()), &mut |_| true)
            .expect("samples");
        assert!(
            built.dataset.n_samples() >= 12,
            "{n_rows} rows at {rate_hz} Hz"
        );
    }
}

#[test]
fn a_folder_of_recordings_becomes_a_data_set_by_its_rules() {
    let folder = study();
    fs::write(folder.path().join("case-9.edf"), "no recording").expect("written");
    let by_name = loaded(of_study(vec![pattern("{class}-{*}.edf")]), folder.path());
    let data = &by_name.dataset;
    assert_eq!(data.class_names(), ["case", "control"]);
    assert_eq!(data.class_counts(), [12, 12]);
    assert_eq!(
        data.group_names(),
        ["case-0", "case-1", "control-0", "control-1"]
    );
    assert_eq!(by_name.left_out.len(), 1, "{:?}", by_name.left_out);
    assert!(by_name.left_out[0].source.ends_with("case-9.edf"));
    // The set knows where the files are, and what the settings call them.
    assert_eq!(data.sources()[0], folder.path().join("case-0.edf"));
    assert_eq!(by_name.files[0].named, Path::new("study/case-0.edf"));
    assert_eq!(by_name.files[0].source.path, data.sources()[0]);

    let seizures =
        Rule::Annotations(atomscope_engine::records::catalog::AnnotationRule::seizures());
    let by_notes = loaded(of_study(vec![seizures]), folder.path()).dataset;
    assert_eq!(by_notes.class_names(), ["background", "seizure"]);
    assert_eq!(by_notes.class_counts(), [12, 12]);
}

#[test]
fn what_was_put_right_by_hand_goes_before_the_rules() {
    let folder = study();
    let mut source = of_study(vec![pattern("{class}-{*}.edf")]);
    source.left_out.insert("study/control-1.edf".into());
    let by_hand = Relabel {
        class: Some("doubtful".into()),
        group: Some("case-0".into()),
    };
    source.relabelled.insert("study/case-1.edf".into(), by_hand);
    let built = loaded(source, folder.path());
    let data = &built.dataset;
    assert_eq!(data.class_names(), ["case", "doubtful", "control"]);
    assert_eq!(data.group_names(), ["case-0", "control-0"]);
    assert_eq!(built.left_out[0].reason, "excluded from the data set");
}

#[test]
fn channels_get_the_names_given_if_there_is_one_for_each() {
    let folder = study();
    let with_names = |names: Vec<String>| {
        let mut source = of_study(vec![pattern("{class}-{*}.edf")]);
        source.options.channel_names = Some(names);
        let recipe = FeatureRecipe::Eeg(EegRecipe::default());
        let settings = DataSettings::new(DataPlan::Recordings(source), Some(recipe));
        settings.load(&|_: &Path| Some(folder.path().to_owned()), &mut |_| true)
    };
    let names = (1..=19).map(|number| format!("site {number}")).collect();
    let data = with_names(names).expect("19 channels").dataset;
    assert_eq!(data.feature_names()[0], "site 1 delta");
    let text = with_names(vec!["Cz".to_owned()]).expect_err("19 channels");
    let expected = "number of signal channels is 19, expected 1, one for each name given";
    assert!(text.to_string().contains(expected), "{text}");
}

#[test]
fn labels_come_from_a_table_that_is_found_like_the_data() {
    let folder = study();
    let table = "file,class,group\ncase-0.edf,ill,anna\ncase-1.edf,ill,bert\ncontrol-0.edf,well,carl\ncontrol-1.edf,well,dora\n";
    fs::write(folder.path().join("labels.csv"), table).expect("written");
    let rule = Rule::Table {
        path: "study/labels.csv".into(),
    };
    let data = loaded(of_study(vec![rule]), folder.path()).dataset;
    assert_eq!(data.class_names(), ["ill", "well"]);
    assert_eq!(data.group_names(), ["anna", "bert", "carl", "dora"]);

    let guessed = DataSettings::for_path(folder.path(), &mut |_| true).expect("a table of labels");
    let DataPlan::Recordings(source) = &guessed.source else {
        panic!("recordings");
    };
    assert!(matches!(&source.rules[..], [Rule::Table { .. }]));
}

#[test]
fn files_of_one_name_in_two_folders_are_two_groups_and_no_file_comes_twice() {
    let folder = study();
    for (class, index) in [("a", 0), ("b", 1)] {
        fs::create_dir(folder.path().join(class)).expect("a folder");
        let from = folder.path().join(format!("case-{index}.edf"));
        fs::copy(from, folder.path().join(class).join("night.edf")).expect("copied");
    }
    let source = RecordingSource {
        paths: ["study/a/night.edf", "study/b", "study/b/night.edf"]
            .map(PathBuf::from)
            .to_vec(),
        ..of_study(vec![Rule::ParentFolder])
    };
    let data = loaded(source, folder.path()).dataset;
    assert_eq!(data.class_counts(), [6, 6]);
    assert_eq!(data.group_names(), ["study/a/night", "study/b/night"]);
}

#[test]
fn copies_of_recordings_light_up_red() {
    let folder = study();
    let source = RecordingSource {
        n_copies: 3,
        ..of_study(vec![pattern("{class}-{*}.edf")])
    };
    let data = loaded(source, folder.path()).dataset;
    assert_eq!(data.class_counts(), [36, 36]);
    let report = audit_of(&data, &RANDOM_FOLDS);
    let copies = report.finding(FindingKind::IdenticalSamples);
    assert_eq!(
        copies.map(|finding| finding.severity),
        Some(Severity::Error)
    );
}

#[test]
fn reading_can_be_stopped() {
    let folder = study();
    let recipe = FeatureRecipe::Eeg(EegRecipe::default());
    let source = DataPlan::Recordings(of_study(vec![pattern("{class}-{*}.edf")]));
    let settings = DataSettings::new(source, Some(recipe));
    let locate = |_: &Path| Some(folder.path().to_owned());
    let stopped = settings.load(&locate, &mut |share| share < 0.3);
    assert!(matches!(
        stopped,
        Err(DatasetError::Read(ReadError::Cancelled))
    ));
}

#[test]
fn opening_a_folder_or_file_gives_the_likeliest_settings() {
    let folder = study();
    let here = |named: &Path| Some(named.to_owned());
    let open = |path: &Path| DataSettings::for_path(path, &mut |_| true);
    let settings = open(folder.path()).expect("classes by file name");
    let built = settings.load(&here, &mut |_| true).expect("samples");
    assert_eq!(built.dataset.class_names(), ["case", "control"]);

    let by_notes = open(&folder.path().join("case-0.edf")).expect("a seizure is marked");
    let built = by_notes.load(&here, &mut |_| true).expect("samples");
    assert_eq!(built.dataset.class_names(), ["background", "seizure"]);

    let table = folder.path().join("irises.csv");
    fs::write(&table, "a,b,class\n1,2,x\n2,3,y\n3,4,x\n").expect("written");
    let settings = open(&table).expect("a class column");
    let built = settings.load(&here, &mut |_| true).expect("rows");
    assert_eq!(built.dataset.class_counts(), [2, 1]);

    let plain = folder.path().join("plain.csv");
    fs::write(&plain, "a,b\n1,2\n2,3\n").expect("written");
    let loaded = open(&plain).expect("a table").load(&here, &mut |_| true);
    let text = loaded.expect_err("no class").to_string();
    assert!(
        text.contains("no column looks like the class among a, b"),
        "{text}"
    );

    let empty = tempfile::tempdir().expect("a temporary folder");
    let text = open(empty.path()).expect_err("nothing there").to_string();
    assert!(text.contains("no file of the folder can be read"), "{text}");
}

#[test]
fn a_folder_that_no_rule_fits_opens_and_says_what_is_missing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let simulator = EegSimulator::new(short_eeg()).expect("legal settings");
    for (number, (class, index)) in simulator.subjects().enumerate() {
        let path = folder.path().join(format!("471{number}.edf"));
        let record = simulator.record(class, index);
        edf::write_file(&record, SampleWidth::Edf, &path).expect("the folder is writable");
    }
    let here = |named: &Path| Some(named.to_owned());
    let mut settings = DataSettings::for_path(folder.path(), &mut |_| true).expect("recordings");
    let text = settings.load(&here, &mut |_| true).expect_err("no class");
    assert!(text.to_string().contains("labels.csv"), "{text}");
    let DataPlan::Recordings(source) = &mut settings.source else {
        panic!("recordings are there")
    };
    assert!(source.rules.is_empty());
    source.rules.push(pattern("471{class:1}.edf"));
    let built = settings.load(&here, &mut |_| true).expect("samples");
    assert_eq!(built.dataset.class_names(), ["0", "1", "2", "3"]);
}

#[test]
fn a_folder_of_fault_records_gets_the_recipe_of_faults() {
    use atomscope_engine::records::comtrade::{ComtradeStorage, encode};
    let folder = tempfile::tempdir().expect("a temporary folder");
    let simulator = FeederSimulator::new(FeederSettings {
        records_per_class: 2,
        cycles_before: 2,
        cycles_after: 2,
        ..FeederSettings::default()
    })
    .expect("legal settings");
    for (class, index) in simulator.records() {
        let place = folder.path().join(class.name());
        fs::create_dir_all(&place).expect("a folder");
        let files =
            encode(&simulator.record(class, index), ComtradeStorage::Float32).expect("encoded");
        fs::write(place.join(format!("{index}.cfg")), files.configuration).expect("written");
        fs::write(place.join(format!("{index}.dat")), files.data).expect("written");
    }
    let settings = DataSettings::for_path(folder.path(), &mut |_| true).expect("a folder a class");
    assert!(matches!(settings.recipe, Some(FeatureRecipe::Fault(_))));
    let here = |named: &Path| Some(named.to_owned());
    let built = settings.load(&here, &mut |_| true).expect("samples");
    assert_eq!(built.dataset.class_counts(), [2; 5]);
    assert_eq!(built.dataset.n_features(), 15);
    let one = folder.path().join("LL/0.cfg");
    let text = DataSettings::for_path(&one, &mut |_| true).expect_err("one sample");
    assert!(text.to_string().contains("open the folder"), "{text}");
}

const RANDOM_FOLDS: SplitPlan = SplitPlan::KFold {
    n_folds: 5,
    seed: 1,
};

fn audit_of(data: &Dataset, plan: &SplitPlan) -> Audit {
    audit(data, &plan.split(data).expect("enough samples"))
}

/// Settings as a session holds them.
fn settings(text: &str) -> DataSettings {
    let settings: DataSettings = ron::from_str(text).expect("legal settings");
    assert_eq!(settings.problems(), []);
    settings
}

#[test]
fn two_thousand_feeder_records_take_less_than_five_seconds_on_one_core() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    let pool = pool.build().expect("one thread");
    // Processor time of the one thread: what else the machine does is not counted.
    let (built, seconds) = pool.install(|| {
        let begin = ThreadTime::now();
        let built = DataSettings::default().load(&|_: &Path| None, &mut |_| true);
        (built, begin.elapsed().as_secs_f64())
    });
    let data = built.expect("built in").dataset;
    println!("2000 feeder records as samples in {seconds:.2} s");
    assert_eq!((data.n_samples(), data.n_features()), (2000, 1206));
    assert!(seconds < 5.0, "{seconds} s");
    assert!(!audit_of(&data, &RANDOM_FOLDS).leaks());
}

/// A data set of the data folder by its settings; `None` without the folder.
fn real(text: &str) -> Option<Dataset> {
    let Some(folder) = std::env::var_os("ATOMSCOPE_DATA").map(PathBuf::from) else {
        println!("skipped: ATOMSCOPE_DATA is not set");
        return None;
    };
    let locate = |named: &Path| Some(folder.join(named)).filter(|path| path.exists());
    let begin = Instant::now();
    let built = settings(text)
        .load(&locate, &mut |_| true)
        .expect("samples");
    let data = &built.dataset;
    println!(
        "{:.2} s, {} × {}, {:?} {:?}, {} groups",
        begin.elapsed().as_secs_f64(),
        data.n_samples(),
        data.n_features(),
        data.class_names(),
        data.class_counts(),
        data.group_names().len()
    );
    assert!(built.left_out.is_empty(), "{:?}", &built.left_out[0]);
    Some(built.dataset)
}

#[test]
fn usps_pages_are_digits_between_0_and_1() {
    let Some(data) = real(USPS) else { return };
    assert_eq!((data.n_samples(), data.n_features()), (11_000, 256));
    assert_eq!(data.class_names()[..2], ["0", "1"]);
    assert_eq!(data.class_counts(), [1100; 10]);
    assert!(data.matrix().iter().all(|v| (0.0..=1.0).contains(v)));
    assert!(data.groups().is_none());
}

#[test]
fn isolet_parts_are_letters() {
    let Some(data) = real(ISOLET) else { return };
    assert_eq!((data.n_samples(), data.n_features()), (6238, 617));
    assert_eq!(
        (data.class_names()[0].as_str(), data.n_classes()),
        ("A", 26)
    );
    assert_eq!(data.class_counts()[5], 238);
}

#[test]
fn schizophrenia_eeg_is_split_by_subject() {
    let Some(data) = real(SCHIZOPHRENIA) else {
        return;
    };
    let n_subjects = data.group_names().len();
    assert_eq!(
        (data.n_samples(), data.n_features()),
        (169 * n_subjects, 76)
    );
    assert_eq!(data.class_names(), ["healthy", "schizophrenia"]);
    assert_eq!(data.group_names()[0], "h01");
    assert_eq!(data.feature_names()[0], "Fp2 delta");
    assert!(!audit_of(&data, &SplitPlan::default_for(&data, 1)).leaks());
}

#[test]
fn the_published_eeg_protocol_lights_up_red() {
    let Some(data) = real(AS_PUBLISHED) else {
        return;
    };
    assert_eq!(data.class_counts(), [169 * 14; 2]);
    assert_eq!(data.group_names(), ["h01", "s01"]);
    let report = audit_of(&data, &RANDOM_FOLDS);
    for finding in &report.findings {
        println!("{:?}: {}", finding.severity, finding.text);
    }
    for kind in [
        FindingKind::GroupOnBothSides,
        FindingKind::IdenticalSamples,
        FindingKind::OverlappingWindows,
    ] {
        let severity = report.finding(kind).map(|finding| finding.severity);
        assert_eq!(severity, Some(Severity::Error), "{kind:?}");
    }
}

#[test]
fn bonn_segments_are_five_classes() {
    let Some(data) = real(BONN) else { return };
    assert_eq!(data.n_features(), 9);
    assert_eq!(data.n_classes(), 5);
    assert_eq!(data.n_samples(), 5 * data.group_names().len());
    assert!(!audit_of(&data, &SplitPlan::default_for(&data, 1)).leaks());
}

#[test]
fn real_folders_open_as_what_they_are() {
    let Some(folder) = std::env::var_os("ATOMSCOPE_DATA").map(PathBuf::from) else {
        println!("skipped: ATOMSCOPE_DATA is not set");
        return;
    };
    let here = |named: &Path| Some(named.to_owned());
    let open = |name: &str| DataSettings::for_path(&folder.join(name), &mut |_| true);
    for (name, n_classes) in [
        ("usps.mat", 10),
        ("isolet", 26),
        ("eeg-tables/EEG_Eye_State.arff", 2),
        ("arff/iris.arff", 3),
    ] {
        let settings = open(name).expect(name);
        let built = settings.load(&here, &mut |_| true).expect(name);
        assert_eq!(built.dataset.n_classes(), n_classes, "{name}");
    }
    // Classes are seen in names and folders; the rate is nowhere and must be given.
    for (name, rate_hz, n_classes) in [("schizophrenia-eeg", 250.0, 2), ("bonn", 173.61, 5)] {
        let mut settings = open(name).expect(name);
        let error = settings.load(&here, &mut |_| true).expect_err(name);
        assert!(
            error.to_string().contains("do not state a sampling rate"),
            "{error}"
        );
        if let DataPlan::Recordings(source) = &mut settings.source {
            source.options.rate_hz = Some(rate_hz);
        }
        let built = settings.load(&here, &mut |_| true).expect(name);
        assert_eq!(built.dataset.n_classes(), n_classes, "{name}");
    }
    // Several channels and a class of the recording, a single channel, classes within recordings.
    let reason = |name: &str| open(name).expect(name).recipe_reason().expect("EEG");
    assert!(reason("schizophrenia-eeg").contains("belongs to the whole recording"));
    assert!(reason("bonn").contains("there is one channel"));
    assert!(reason("ssvep").contains("changes within recordings"));
    let built = open("ssvep")
        .expect("recordings")
        .load(&here, &mut |_| true);
    let data = built.expect("trials").dataset;
    assert_eq!((data.n_classes(), data.group_names().len()), (4, 8));
    assert_eq!(data.feature_groups().len(), 9, "the filter bank of trials");
    assert!(data.is_recentred() && !audit_of(&data, &SplitPlan::default_for(&data, 1)).leaks());
    for name in [
        "edf",
        "comtrade",
        "mat",
        "corrupt",
        "brainvision",
        "eeglab",
        "faults",
    ] {
        match open(name) {
            Ok(settings) => println!("{name}: {:?}", settings.source),
            Err(error) => println!("{name}: {error}"),
        }
    }
}

/// The digits of USPS.
const USPS: &str = r#"(
    source: Arrays((
        paths: ["usps.mat"],
        choice: Some((
            content: Pages(array: "data"),
            class_names: Some(["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"]),
            divide_by: 255.0,
            layout: Image(n_rows: 16, n_columns: 16, by_columns: true),
        )),
    )),
    recipe: None,
)
"#;

/// Spoken letters.
const ISOLET: &str = r#"(
    source: Arrays((
        paths: ["isolet/Isolet1.mat", "isolet/Isolet2.mat", "isolet/Isolet3.mat", "isolet/Isolet4.mat"],
        choice: Some((
            content: Labelled(samples: "fea", labels: "gnd", groups: None),
            class_names: Some(["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z"]),
        )),
    )),
    recipe: None,
)
"#;

/// All recordings of the folder.
const SCHIZOPHRENIA: &str = r#"(
    source: Recordings((
        paths: ["schizophrenia-eeg"],
        rules: [FileName("{class:1}{*}.mat")],
        options: (
            rate_hz: Some(250.0),
            channel_names: Some(["Fp2", "F8", "T4", "T6", "O2", "Fp1", "F7", "T3", "T5", "O1", "F4", "C4", "P4", "F3", "C3", "P3", "Fz", "Cz", "Pz"]),
        ),
    )),
    recipe: Some(Eeg((
        frame_s: 1.0,
        logarithm: true,
    ))),
    class_names: { "h": "healthy", "s": "schizophrenia" },
)
"#;

/// What the published programs really read.
const AS_PUBLISHED: &str = r#"(
    source: Recordings((
        paths: ["schizophrenia-eeg/h01.mat", "schizophrenia-eeg/s01.mat"],
        rules: [FileName("{class:1}{*}.mat"), FileName("{group}.mat")],
        options: (
            rate_hz: Some(250.0),
            channel_names: Some(["Fp2", "F8", "T4", "T6", "O2", "Fp1", "F7", "T3", "T5", "O1", "F4", "C4", "P4", "F3", "C3", "P3", "Fz", "Cz", "Pz"]),
        ),
        n_copies: 14,
    )),
    recipe: Some(Eeg((
        frame_s: 1.0,
        logarithm: false,
    ))),
    class_names: { "h": "healthy", "s": "schizophrenia" },
)
"#;

/// Five sets of single-channel segments.
const BONN: &str = r#"(
    source: Recordings((
        paths: ["bonn"],
        rules: [FileName("{class:1}{*}")],
        options: (
            rate_hz: Some(173.61),
            channel_names: Some(["EEG"]),
        ),
    )),
    recipe: Some(Eeg((
        frame_s: 1.0,
        bands: [
            (name: "delta 1", low_hz: 0.0, high_hz: 2.0),
            (name: "delta 2", low_hz: 2.0, high_hz: 4.0),
            (name: "theta 1", low_hz: 4.0, high_hz: 6.0),
            (name: "theta 2", low_hz: 6.0, high_hz: 8.0),
            (name: "alpha 1", low_hz: 8.0, high_hz: 10.0),
            (name: "alpha 2", low_hz: 10.0, high_hz: 13.0),
            (name: "beta 1", low_hz: 13.0, high_hz: 20.0),
            (name: "beta 2", low_hz: 20.0, high_hz: 30.0),
            (name: "gamma", low_hz: 30.0, high_hz: 40.0),
        ],
        logarithm: true,
        frames_per_sample: 4,
    ))),
    class_names: {
        "Z": "eyes open",
        "O": "eyes closed",
        "N": "opposite side",
        "F": "focus",
        "S": "seizure",
    },
)
"#;

/// A table of two classes and its labels in another order; both name their rows in a column `id`.
fn table_with_labels_by_id() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rows = (0..20).map(|k| format!("r{k},{},{}\n", 10 * (k % 2) + k / 2, k % 3));
    let table: String = rows.collect();
    let labels = (0..20).rev().map(|k| format!("r{k},c{}\n", k % 2));
    let labels: String = labels.collect();
    fs::write(folder.path().join("X.csv"), format!("id,a,b\n{table}")).expect("written");
    fs::write(folder.path().join("y.csv"), format!("id,label\n{labels}")).expect("written");
    folder
}

#[test]
fn labels_in_another_file_are_found_by_the_column_that_both_have() {
    let folder = table_with_labels_by_id();
    let here = |named: &Path| Some(named.to_owned());
    for path in [folder.path().to_owned(), folder.path().join("X.csv")] {
        let settings = DataSettings::for_path(&path, &mut |_| true).expect("a table");
        let data = settings.load(&here, &mut |_| true).expect("samples");
        assert_eq!(data.dataset.feature_names(), ["a", "b"]);
        assert_eq!(data.dataset.class_counts(), [10, 10]);
        for sample in 0..20 {
            let is_high = data.dataset.sample(sample)[0] >= 10.0;
            assert_eq!(
                data.dataset.classes()[sample],
                usize::from(is_high),
                "row {sample}"
            );
        }
    }
    // Without the column only the order is left, and every row needs its label.
    let labels = "label\nc0\nc1\n";
    fs::write(folder.path().join("y.csv"), labels).expect("written");
    let refused = DataSettings::for_path(&folder.path().join("X.csv"), &mut |_| true);
    let text = refused.expect_err("two labels for twenty rows").to_string();
    assert!(
        text.contains("y.csv has 2 rows, but the table has 20"),
        "{text}"
    );
}

#[test]
fn tables_of_signals_with_a_column_of_times_state_their_rate() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut labels = "file,class\n".to_owned();
    for file in 0..4 {
        let row = |k: usize| {
            let (t, f) = (k as f64 / 250.0, 5.0 * (1.0 + f64::from(file % 2)));
            format!(
                "{t:.3},{:.4},{:.4}\n",
                (f * t).sin(),
                (9.0 * t).cos() + f64::from(file)
            )
        };
        let rows: String = (0..1500).map(row).collect();
        let path = folder.path().join(format!("rec{file}.csv"));
        fs::write(path, format!("time,C3,C4\n{rows}")).expect("written");
        labels += &format!("rec{file}.csv,{}\n", ["rest", "task"][file as usize % 2]);
    }
    fs::write(folder.path().join("labels.csv"), labels).expect("written");
    let settings = DataSettings::for_path(folder.path(), &mut |_| true).expect("recordings");
    let DataPlan::Recordings(source) = &settings.source else {
        panic!("recordings");
    };
    assert_eq!(source.options.rate_hz, Some(250.0));
    let here = |named: &Path| Some(named.to_owned());
    let data = settings
        .load(&here, &mut |_| true)
        .expect("samples")
        .dataset;
    assert_eq!(data.class_names(), ["rest", "task"]);
    // The covariance of two channels: the time is none.
    assert_eq!(data.n_features(), 3);
}
