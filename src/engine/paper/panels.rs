//! The data sets of the paper with their splits, one row each.

use std::path::Path;

use crate::dataset::{DataPlan, Scaling};
use crate::experiment::{Experiment, Tests};
use crate::features::{EegRecipe, FeatureRecipe};
use crate::learner::{Kernel, LearnerSettings};
use crate::session::Session;
use crate::split::SplitPlan;

const NORMALISED: Kernel = Kernel::NormalisedPolynomial {
    degree: 2,
    offset: 1.0,
};

/// Folds and tests of a quick look.
const QUICK_FOLDS: usize = 2;
const QUICK_TESTS: usize = 4;
const QUICK_RECORDS: u32 = 100;

/// A data set with a split.
pub(super) struct PaperPanel {
    /// Its name in names of files.
    pub(super) key: &'static str,
    /// What it is called.
    pub(super) title: &'static str,
    /// The published data set it stands beside.
    pub(super) published: Option<&'static str>,
    /// What to know about it.
    pub(super) notes: &'static [&'static str],
    /// The kernel that suits our methods.
    pub(super) own_kernel: Kernel,
    /// Its share of the work, relative to the others.
    pub(super) weight: f64,
    /// The shipped session with its data and split.
    session: &'static str,
    adapt: fn(&mut Experiment),
}

/// All data sets, in the order of the report.
pub(super) fn panels() -> Vec<PaperPanel> {
    vec![
        PaperPanel {
            key: "usps",
            title: "USPS digits",
            published: Some("USPS"),
            notes: &[],
            own_kernel: NORMALISED,
            weight: 6.0,
            session: include_str!("../../../sessions/usps-paper.ron"),
            adapt: |_| {},
        },
        PaperPanel {
            key: "isolet",
            title: "ISOLET letters, random folds as published",
            published: Some("ISOLET"),
            notes: &[
                "Parts 1 to 4 of the set: 240 of the 300 utterances of each letter. Every speaker is on both sides of every fold, as in the paper.",
            ],
            own_kernel: Kernel::Gaussian { width: 14.91 },
            weight: 8.0,
            session: include_str!("../../../sessions/isolet-paper.ron"),
            adapt: |_| {},
        },
        PaperPanel {
            key: "isolet-speakers",
            title: "ISOLET letters, by part of the speakers",
            published: None,
            notes: &[
                "Each of the parts 1 to 4, thirty speakers, is tested once after training on the others: no speaker is both learned from and tested.",
            ],
            own_kernel: Kernel::Gaussian { width: 14.91 },
            weight: 7.0,
            session: include_str!("../../../sessions/isolet-paper.ron"),
            adapt: by_file,
        },
        PaperPanel {
            key: "eeg-subjects",
            title: "EEG, folds by subject",
            published: None,
            notes: &[
                "No person is both learned from and tested: the score holds for a person never seen before. Logarithm of the band amplitudes, standardised.",
            ],
            own_kernel: NORMALISED,
            weight: 1.0,
            session: include_str!("../../../sessions/schizophrenia-eeg.ron"),
            adapt: log_amplitudes,
        },
        PaperPanel {
            key: "eeg-as-published",
            title: "EEG as published: not a valid score",
            published: Some("EEG"),
            notes: &[
                "One recording per class, read fourteen times, assigned to folds at random: nearly every test segment is also learned from. Shown only because the paper's figure rests on it.",
            ],
            own_kernel: NORMALISED,
            weight: 1.0,
            session: include_str!("../../../sessions/schizophrenia-eeg-as-published.ron"),
            adapt: |_| {},
        },
        PaperPanel {
            key: "feeder",
            title: "Feeder faults",
            published: Some("DistNet"),
            notes: &[
                "Records of the built-in simulator of a 20 kV feeder; the paper's own simulated records (DistNet) are not public, so its curves are only of the same kind.",
            ],
            own_kernel: NORMALISED,
            weight: 3.0,
            session: include_str!("../../../sessions/feeder-faults.ron"),
            adapt: |_| {},
        },
    ]
}

/// Files are groups, and each is tested once.
fn by_file(experiment: &mut Experiment) {
    if let DataPlan::Arrays(arrays) = &mut experiment.data.source
        && let Some(choice) = &mut arrays.choice
    {
        choice.group_by_file = true;
    }
    experiment.split = SplitPlan::LeaveOneGroupOut;
}

/// The paper's band amplitudes on a logarithmic scale instead of the session's covariance.
fn log_amplitudes(experiment: &mut Experiment) {
    experiment.data.recipe = Some(FeatureRecipe::Eeg(EegRecipe::default()));
    experiment.preparation.scaling = Scaling::ZScore;
    experiment.learner = LearnerSettings::margin_aware();
}

impl PaperPanel {
    /// Data, preparation and split, with the tests of the paper.
    ///
    /// # Panics
    /// Never: a test reads every shipped session.
    pub(super) fn experiment(&self, is_quick: bool) -> Experiment {
        let name = Path::new(self.key);
        let session = Session::from_text(self.session, name).expect("shipped sessions are tested");
        let mut experiment = session.experiment;
        (self.adapt)(&mut experiment);
        experiment.tests = Tests {
            n_tests: 20,
            missing_shares: (0..10).map(|tenth| f64::from(tenth) / 10.0).collect(),
            prequential: false,
            repair: true,
            ..Tests::default()
        };
        if is_quick {
            shorten(&mut experiment);
        }
        experiment
    }
}

/// Fewer folds, tests and simulated records.
fn shorten(experiment: &mut Experiment) {
    match &mut experiment.split {
        SplitPlan::KFold { n_folds, .. } | SplitPlan::GroupedKFold { n_folds, .. } => {
            *n_folds = QUICK_FOLDS;
        }
        SplitPlan::LeaveOneGroupOut | SplitPlan::HoldOut(_) | SplitPlan::InTime(_) => {}
    }
    if let DataPlan::FeederFaults(settings) = &mut experiment.data.source {
        settings.records_per_class = QUICK_RECORDS;
    }
    experiment.tests.n_tests = QUICK_TESTS;
    experiment.tests.missing_shares = vec![0.0, 0.3, 0.6, 0.9];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::methods::methods;

    #[test]
    fn every_method_is_sound_on_every_data_set() {
        for panel in panels() {
            for is_quick in [false, true] {
                let base = panel.experiment(is_quick);
                for method in methods() {
                    let problems = method.on(&base, &panel, 1.0).problems(None);
                    assert_eq!(problems, [], "{} on {}", method.name, panel.title);
                }
            }
        }
    }
}
