//! A draft whose data are a few records, so that a run takes moments.

use atomscope::workbench::Draft;
use atomscope_engine::dataset::DataSettings;
use atomscope_engine::experiment::Experiment;
use atomscope_engine::simulate::feeder::FeederSettings;
use atomscope_engine::split::SplitPlan;

/// Forty feeder records of each class, two folds, dictionaries of twelve atoms.
pub(crate) fn small_draft() -> Draft {
    let mut experiment = Experiment {
        data: DataSettings::feeder_faults(FeederSettings {
            records_per_class: 40,
            ..FeederSettings::default()
        }),
        split: SplitPlan::KFold {
            n_folds: 2,
            seed: 1,
        },
        ..Experiment::default()
    };
    experiment.learner.n_atoms = 12;
    experiment.learner.batch_size = 2;
    experiment.learner.budget = 20;
    experiment.tests.n_tests = 6;
    Draft {
        experiment,
        ..Draft::default()
    }
}
