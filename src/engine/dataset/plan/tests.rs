//! Settings are checked field by field and survive saving; built-in data is the same for any number of threads.

use super::*;
use crate::dataset::{Dataset, Place};
use crate::features::EegRecipe;
use crate::records::ReadOptions;
use crate::records::catalog::{Pattern, Rule};

fn nowhere(_: &Path) -> Option<PathBuf> {
    None
}

fn recordings(pattern: &str) -> DataSettings {
    let source = RecordingSource {
        paths: vec!["eeg".into()],
        rules: vec![Rule::FileName(Pattern::new(pattern).expect("a pattern"))],
        options: ReadOptions {
            rate_hz: Some(250.0),
            ..ReadOptions::default()
        },
        ..RecordingSource::default()
    };
    let recipe = FeatureRecipe::Eeg(EegRecipe::default());
    DataSettings::new(DataPlan::Recordings(source), Some(recipe))
}

fn small_feeder() -> DataSettings {
    DataSettings::feeder_faults(FeederSettings {
        records_per_class: 7,
        ..FeederSettings::default()
    })
}

fn few_subjects() -> DataSettings {
    DataSettings::simulated_eeg(EegSettings {
        subjects_per_class: 2,
        duration_s: 4.0,
        ..EegSettings::default()
    })
}

fn load(settings: &DataSettings) -> Built {
    let built = settings.load(&nowhere, &mut |_| true);
    built.expect("built-in data needs no file")
}

#[test]
fn settings_survive_saving_and_misspelt_ones_are_refused() {
    let mut arrays = ArraySource::default();
    arrays.paths.push("usps.mat".into());
    let all = [
        DataSettings::default(),
        few_subjects(),
        recordings("{class:1}{*}"),
        DataSettings::new(DataPlan::Arrays(arrays), None),
        DataSettings::new(DataPlan::Table(TableSource::default()), None),
    ];
    for settings in all {
        let pretty = ron::ser::PrettyConfig::default();
        let text = ron::ser::to_string_pretty(&settings, pretty).expect("plain data");
        let read: DataSettings = ron::from_str(&text).expect("its own text");
        assert_eq!(read, settings);
        for (right, wrong) in [
            ("recipe:", "recipes:"),
            ("paths:", "path:"),
            ("seed:", "sead:"),
        ] {
            let misspelt = text.replace(right, wrong);
            let read = ron::from_str::<DataSettings>(&misspelt);
            assert!(misspelt == text || read.is_err(), "{wrong}");
        }
    }
}

#[test]
fn a_pattern_is_saved_as_its_text_and_checked_when_read() {
    let text = ron::to_string(&recordings("{class:1}{*}")).expect("plain data");
    assert!(text.contains(r#"FileName("{class:1}{*}")"#), "{text}");
    let wrong = text.replace("{class:1}", "{klass}");
    let error = ron::from_str::<DataSettings>(&wrong).expect_err("no such placeholder");
    assert!(error.to_string().contains("not a placeholder"), "{error}");
}

#[test]
fn every_wrong_setting_is_named_by_the_way_to_it() {
    let fields = |settings: &DataSettings| -> Vec<String> {
        let problems = settings.problems().into_iter();
        problems.map(|problem| problem.field).collect()
    };
    assert_eq!(fields(&DataSettings::default()), [""; 0]);
    let mut wrong = few_subjects();
    if let DataPlan::SimulatedEeg(settings) = &mut wrong.source {
        settings.effect = -1.0;
    }
    wrong.recipe = None;
    assert_eq!(fields(&wrong), ["recipe", "source.effect"]);
    let source = RecordingSource {
        options: ReadOptions {
            rate_hz: Some(0.0),
            ..ReadOptions::default()
        },
        n_copies: 0,
        ..RecordingSource::default()
    };
    let recipe = EegRecipe {
        frame_s: 0.0,
        ..EegRecipe::default()
    };
    let recipe = Some(FeatureRecipe::Eeg(recipe));
    let wrong = DataSettings::new(DataPlan::Recordings(source), recipe);
    let expected = [
        "source.paths",
        "source.rules",
        "source.options.rate_hz",
        "source.n_copies",
        "recipe.frame_s",
    ];
    assert_eq!(fields(&wrong), expected);
    let refused = wrong.load(&nowhere, &mut |_| true);
    assert!(matches!(refused, Err(DatasetError::Setting(_))));
}

#[test]
fn a_path_that_is_nowhere_is_named_with_the_remedy() {
    let settings = recordings("{class:1}{*}");
    assert_eq!(settings.files(), [PathBuf::from("eeg")]);
    let error = settings.load(&nowhere, &mut |_| true);
    let text = error.expect_err("nothing is found").to_string();
    assert!(text.contains("--data") && text.ends_with(": eeg"), "{text}");
}

#[test]
fn every_path_gets_its_new_name() {
    let mut settings = recordings("{class:1}{*}");
    if let DataPlan::Recordings(source) = &mut settings.source {
        source.rules.push(Rule::Table {
            path: "eeg/labels.csv".into(),
        });
        source.left_out.insert("eeg/h02.mat".into());
        source
            .relabelled
            .insert("eeg/h03.mat".into(), Relabel::default());
    }
    settings.rename_files(&|path| Path::new("study").join(path));
    let moved = ["study/eeg", "study/eeg/labels.csv"].map(PathBuf::from);
    assert_eq!(settings.files(), moved);
    let DataPlan::Recordings(source) = &settings.source else {
        panic!("still recordings");
    };
    assert!(source.left_out.contains(Path::new("study/eeg/h02.mat")));
    assert!(
        source
            .relabelled
            .contains_key(Path::new("study/eeg/h03.mat"))
    );
}

fn same_bits(a: &Dataset, b: &Dataset) -> bool {
    let bits = |data: &Dataset| -> Vec<u64> { data.matrix().iter().map(|v| v.to_bits()).collect() };
    bits(a) == bits(b)
        && a.classes() == b.classes()
        && a.groups() == b.groups()
        && a.group_names() == b.group_names()
        && a.sources() == b.sources()
}

#[test]
fn built_in_data_is_the_same_for_any_number_of_threads() {
    for settings in [small_feeder(), few_subjects()] {
        let with = |n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
            let pool = pool.build().expect("threads");
            pool.install(|| load(&settings)).dataset
        };
        let alone = with(1);
        assert!(same_bits(&alone, &with(2)));
        assert!(same_bits(&alone, &with(5)));
    }
}

#[test]
fn built_in_data_has_classes_groups_and_progress_and_can_be_stopped() {
    let feeder = load(&small_feeder()).dataset;
    assert_eq!((feeder.n_samples(), feeder.n_features()), (35, 1206));
    assert_eq!(
        feeder.class_names(),
        ["no fault", "SLG", "LL", "LLG", "LLL"]
    );
    assert_eq!(feeder.group_names().len(), 35);
    let eeg = load(&few_subjects()).dataset;
    assert_eq!((eeg.n_samples(), eeg.n_features()), (8, 190));
    let subjects = ["control-01", "control-02", "case-01", "case-02"];
    assert_eq!(eeg.group_names(), subjects);
    let mut shares = Vec::new();
    let stopped = small_feeder().load(&nowhere, &mut |share| {
        shares.push(share);
        share < 0.5
    });
    assert!(matches!(
        stopped,
        Err(DatasetError::Read(ReadError::Cancelled))
    ));
    assert!(shares.is_sorted());
}

#[test]
fn classes_get_other_names_and_join_under_the_same() {
    let mut settings = small_feeder();
    for class in ["LL", "LLG"] {
        settings
            .class_names
            .insert(class.into(), "two phases".into());
    }
    let data = load(&settings).dataset;
    let expected = ["no fault", "SLG", "two phases", "LLL"];
    assert_eq!(data.class_names(), expected);
    assert_eq!(data.class_counts(), [7, 7, 14, 7]);
}

#[test]
fn stretches_are_relabelled_and_taken_out_by_hand() {
    let mut settings = few_subjects();
    let before = load(&settings);
    let (relabelled, excluded) = (0, 1);
    let place = |sample: usize| match before.dataset.origin(sample).place {
        Place::Window {
            start_s,
            duration_s,
        } => (start_s, duration_s),
        Place::Row(_) => panic!("recordings have time"),
    };
    for (sample, correction) in [
        (relabelled, StretchCorrection::Relabel("drowsy".into())),
        (excluded, StretchCorrection::Exclude),
    ] {
        let (start_s, duration_s) = place(sample);
        settings.by_hand.put(StretchByHand {
            recording: before.dataset.source(sample).to_owned(),
            start_s,
            duration_s,
            correction,
        });
    }
    // A name given by hand is kept, also where the rules' class of that name gets another.
    settings.class_names.insert("drowsy".into(), "tired".into());
    let text = ron::to_string(&settings).expect("plain data");
    let settings: DataSettings = ron::from_str(&text).expect("its own text");
    let after = load(&settings);
    assert_eq!(after.dataset.n_samples(), before.dataset.n_samples() - 1);
    let class = after.dataset.classes()[relabelled];
    assert_eq!(after.dataset.class_names()[class], "drowsy");
    let out = after.left_out.last().expect("one is out");
    assert_eq!(out.reason, "excluded manually");
    let (start_s, duration_s) = place(excluded);
    let window = Place::Window {
        start_s,
        duration_s,
    };
    assert_eq!(out.place, Some(window));
}
