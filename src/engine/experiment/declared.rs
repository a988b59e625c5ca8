//! The settings of an experiment besides data and learner, and the table of all settings.

use super::settings::USUAL_EPSILON;
use crate::dataset::declared as dataset;
use crate::features::declared as features;
use crate::learner::declared as learner;
use crate::settings::{Setting, SettingGroup};
use crate::simulate::declared as simulate;

/// Seed of everything but the folds.
pub const SEED: Setting = Setting::number(
    "seed",
    "Seed",
    "Seed of the order of samples and of everything else drawn",
    (0.0, f64::INFINITY),
    (0.0, 100.0),
    1.0,
)
.whole();

/// What is done about missing values.
pub const MISSING: Setting = Setting::choice(
    "preparation.missing",
    "Missing values",
    "What is done about samples with missing values",
    &["Refuse", "DropSample", "TrainingMean", "Zero"],
);

/// Number of folds.
pub const N_FOLDS: Setting = Setting::number(
    "split.n_folds",
    "Folds",
    "Every sample is tested in one of them",
    (2.0, f64::INFINITY),
    (2.0, 20.0),
    5.0,
)
.whole();

/// Seed of the folds.
pub const SPLIT_SEED: Setting = Setting::number(
    "split.seed",
    "Seed of the folds",
    "Another seed deals the samples to other folds",
    (0.0, f64::INFINITY),
    (0.0, 100.0),
    1.0,
)
.whole();

/// Share that is held out.
pub const TEST_SHARE: Setting = Setting::number(
    "split.HoldOut.test_share",
    "Test share",
    "Share of the samples that are held out",
    (0.0, 1.0),
    (0.05, 0.9),
    0.3,
);

/// Share that the learner begins with in the order of time.
pub const START_SHARE: Setting = Setting::number(
    "split.InTime.start_share",
    "Start share",
    "Share of the samples, the first that came, that the learner begins with",
    (0.0, 1.0),
    (0.02, 0.5),
    0.1,
);

/// Delay of labels in samples.
pub const DELAY_SAMPLES: Setting = Setting::number(
    "split.InTime.delay.Samples",
    "Delay",
    "Labels come so many samples after their sample",
    (0.0, 1e9),
    (0.0, 1000.0),
    0.0,
)
.whole();

/// Delay of labels in seconds.
pub const DELAY_S: Setting = Setting::number(
    "split.InTime.delay.Seconds",
    "Delay",
    "Labels come so long after their sample, by the clocks of the recordings",
    (0.0, 1e9),
    (0.0, 3600.0),
    60.0,
)
.unit("s");

/// Training length in mini-batches.
pub const BATCHES: Setting = Setting::number(
    "training.length.Batches",
    "Mini-batches",
    "How many are learned in each fold",
    (1.0, 1e8),
    (1.0, 1000.0),
    60.0,
)
.whole()
.logarithmic();

/// Training length in passes.
pub const PASSES: Setting = Setting::number(
    "training.length.Passes",
    "Passes",
    "Number of passes through the training samples",
    (0.01, 1e6),
    (0.1, 10.0),
    1.0,
);

/// What small classes give to a round.
pub const SUPPLY: Setting = Setting::choice(
    "training.supply",
    "Supply",
    "How many samples small classes contribute to a round. Default: in proportion; every sample once where settings are chosen for up to 1000 samples, or the head is that of few.",
    &["Proportional", "Repeat", "Once"],
);

/// Number of tests.
pub const N_TESTS: Setting = Setting::number(
    "tests.n_tests",
    "Tests",
    "Number of tests during training; 0 tests at the end alone",
    (0.0, 1e4),
    (1.0, 100.0),
    20.0,
)
.whole();

/// Whether mini-batches are classified before they are learned.
pub const PREQUENTIAL: Setting = Setting::switch(
    "tests.prequential",
    "Classify every mini-batch before it is learned",
    "Prequential accuracy; takes extra time unless the learner needs it anyway. Default: on.",
);

/// Whether settings are chosen on inner folds.
pub const AUTO: Setting = Setting::switch(
    "auto",
    "Choose kernel, width, scaling and head",
    "Chosen in every fold on inner folds of its training samples. Default: on for tables and arrays.",
);

/// Whether decisions are calibrated.
pub const CALIBRATE: Setting = Setting::switch(
    "tests.calibrate",
    "Calibrate decisions",
    "Prediction sets with a promised coverage, and a flag for what is unlike anything learned; with groups, or up to 1000 training samples, it trains four more models per fold. Default: on.",
);

/// ε.
pub const EPSILON: Setting = Setting::number(
    "tests.epsilon",
    "Promised error",
    "Share of samples whose prediction set may miss their class",
    (0.001, 0.5),
    (0.01, 0.2),
    USUAL_EPSILON,
)
.symbol("ε");

/// Whether tests with missing features are repeated with features filled in.
pub const REPAIR: Setting = Setting::switch(
    "tests.repair",
    "Fill in missing features",
    "Repeats tests with missing features with suspicious zeros repaired and with known places filled in. Default: off.",
);

const OWN: SettingGroup = SettingGroup {
    place: "",
    settings: &[
        &MISSING,
        &N_FOLDS,
        &SPLIT_SEED,
        &TEST_SHARE,
        &START_SHARE,
        &DELAY_SAMPLES,
        &DELAY_S,
        &BATCHES,
        &PASSES,
        &SUPPLY,
        &N_TESTS,
        &PREQUENTIAL,
        &AUTO,
        &CALIBRATE,
        &EPSILON,
        &REPAIR,
        &SEED,
    ],
};

/// Every setting, stage after stage.
pub const SETTINGS: [SettingGroup; 5] = [
    simulate::SETTINGS,
    dataset::SETTINGS,
    features::SETTINGS,
    learner::SETTINGS,
    OWN,
];

/// What is known of the setting with this name, as in `--set`; names of choices on the way may be
/// left out or not.
pub fn find_setting(name: &str) -> Option<&'static Setting> {
    let plain = |name: &str| {
        let is_choice = |word: &&str| word.starts_with(char::is_uppercase);
        let words: Vec<&str> = name.split('.').filter(|word| !is_choice(word)).collect();
        words.join(".")
    };
    let of_group = |group: &SettingGroup| {
        let settings = group.settings.iter().copied();
        let mut alike: Vec<&'static Setting> = settings
            .filter(|setting| plain(&group.full_name(setting)) == plain(name))
            .collect();
        // The choice that is named says which of several is meant.
        alike.sort_by_key(|setting| {
            let choice = setting.name.rsplit('.').next().unwrap_or_default();
            !setting.of.is_some_and(|of| name.contains(of)) && !name.ends_with(choice)
        });
        alike.first().copied()
    };
    SETTINGS.iter().find_map(of_group)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::dataset::{DataPlan, DataSettings, RecordingSource, TableSource};
    use crate::experiment::assignment::{place_of, with_settings};
    use crate::experiment::{Experiment, TrainingLength};
    use crate::features::eeg::{Band, EegRecipe};
    use crate::features::fault::{FaultForm, FaultRecipe};
    use crate::features::{EegGroupsRecipe, FeatureRecipe};
    use crate::learner::{Kernel, LearnerSettings, Start};
    use crate::settings::ValueKind;
    use crate::simulate::concepts::ConceptSettings;
    use crate::simulate::eeg::EegSettings;
    use crate::split::{HoldOut, LabelDelay, SplitPlan, TimeOrder};

    /// Experiments that have every setting between them; the first is the default one.
    fn examples() -> Vec<Experiment> {
        let mut examples = vec![Experiment::default()];
        let of_learner = |learner| Experiment {
            learner,
            ..Experiment::default()
        };
        examples.extend(
            LearnerSettings::presets()
                .into_iter()
                .map(|preset| of_learner(preset.settings)),
        );
        examples.push(of_learner(LearnerSettings {
            kernel: Kernel::Gaussian { width: 1.0 },
            start: Start::FarthestFirst { pool: 100 },
            ..LearnerSettings::default()
        }));
        let mut eeg = Experiment {
            data: DataSettings::simulated_eeg(EegSettings::default()),
            split: SplitPlan::HoldOut(HoldOut::Share {
                test_share: 0.3,
                seed: 1,
            }),
            ..Experiment::default()
        };
        eeg.training.length = TrainingLength::Batches(60);
        examples.push(eeg.clone());
        for delay in [LabelDelay::Samples(0), LabelDelay::Seconds(60.0)] {
            let order = TimeOrder {
                delay,
                ..TimeOrder::default()
            };
            examples.push(Experiment {
                split: SplitPlan::InTime(order),
                ..eeg.clone()
            });
        }
        let alpha = vec![Band::new("alpha", 8.0, 13.0)];
        for recipe in [
            FeatureRecipe::EegGroups(EegGroupsRecipe::for_states(alpha, 3.0, 2.0)),
            FeatureRecipe::EegGroups(EegGroupsRecipe::for_single_channel()),
            FeatureRecipe::Eeg(EegRecipe::default()),
        ] {
            eeg.data.recipe = Some(recipe);
            examples.push(eeg.clone());
        }
        let phasors = FaultRecipe {
            form: FaultForm::Phasors {
                highest_harmonic: 5,
            },
            ..FaultRecipe::default()
        };
        let mut recordings = RecordingSource::default();
        recordings.options.rate_hz = Some(250.0);
        eeg.data = DataSettings::new(
            DataPlan::Recordings(recordings),
            Some(FeatureRecipe::Fault(phasors)),
        );
        examples.push(eeg.clone());
        eeg.data = DataSettings::new(DataPlan::Concepts(ConceptSettings::default()), None);
        examples.push(eeg.clone());
        eeg.data = DataSettings::new(DataPlan::Table(TableSource::default()), None);
        examples.push(eeg);
        examples
    }

    /// The value of a setting, if the experiment has it.
    fn value_of(experiment: &Experiment, name: &str, setting: &Setting) -> Option<Value> {
        let mut tree = serde_json::to_value(experiment).expect("plain values");
        let algorithm = tree.pointer("/learner/algorithm").map(Value::to_string);
        if setting
            .of
            .is_some_and(|of| !algorithm.is_some_and(|a| a.contains(of)))
        {
            return None;
        }
        place_of(&mut tree, name).ok().cloned()
    }

    /// Settings of arrays need a file to be chosen from.
    const OF_ARRAYS: &str = "data.source.choice";

    #[test]
    fn every_setting_of_the_table_exists_and_is_refused_outside_its_range() {
        let examples = examples();
        for group in &SETTINGS {
            for setting in group.settings {
                let name = group.full_name(setting);
                let has = |e: &&Experiment| value_of(e, &name, setting).is_some();
                let Some(example) = examples.iter().find(has) else {
                    assert!(name.starts_with(OF_ARRAYS), "{name} does not exist");
                    continue;
                };
                assert!(find_setting(&name).is_some(), "{name}");
                let ValueKind::Number {
                    legal,
                    usual,
                    whole,
                    ..
                } = setting.kind
                else {
                    continue;
                };
                assert!(legal.0 <= usual.0 && usual.1 <= legal.1, "{name}");
                let step = if whole { 1.0 } else { 0.001 };
                for beyond in [legal.0 - step, legal.1 * 1.01 + step]
                    .map(|x: f64| if whole { x.ceil() } else { x })
                {
                    if !beyond.is_finite() || (whole && beyond < 0.0) {
                        continue;
                    }
                    let text = format!("{name}={beyond}");
                    let tried = with_settings(example.clone(), std::slice::from_ref(&text));
                    let problems = tried.expect("a number").problems(None);
                    let is_refused = problems.iter().any(|p| setting.has_problem(&p.field));
                    // Held-out shares are checked against the samples.
                    assert!(
                        is_refused || name.starts_with("split"),
                        "{text}: {problems:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn words_of_a_choice_are_those_of_a_session() {
        for experiment in examples() {
            for group in &SETTINGS {
                for setting in group.settings {
                    let value = value_of(&experiment, &group.full_name(setting), setting);
                    if let (Some(value), ValueKind::Choice(words)) = (value, setting.kind) {
                        let word = match &value {
                            Value::Object(map) => map.keys().next().cloned(),
                            other => other.as_str().map(str::to_owned),
                        };
                        // No head is named where the algorithm decides by itself.
                        let Some(word) = word else {
                            assert!(value.is_null(), "{value}");
                            continue;
                        };
                        assert!(words.contains(&word.as_str()), "{word}");
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_of_the_default_experiment_are_the_defaults_of_the_table() {
        let experiment = Experiment::default();
        for group in &SETTINGS {
            for setting in group.settings {
                let name = group.full_name(setting);
                let value = value_of(&experiment, &name, setting);
                let value = value.as_ref().and_then(Value::as_f64);
                if let (Some(value), ValueKind::Number { default, .. }) = (value, setting.kind) {
                    assert_eq!(value, default, "{name}");
                }
            }
        }
    }
}
