//! The results of a run in a few numbers, readable without its data and its trained state.

use serde::{Deserialize, Serialize};

use crate::evaluation::Confusion;
use crate::experiment::{Part, PartRecord, RunState};

/// What a run has found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// Names of the classes, in the order of the confusion matrices.
    pub class_names: Vec<String>,
    /// Number of features.
    pub n_features: usize,
    /// In which fold each sample is tested.
    pub test_folds: Vec<Option<usize>>,
    /// The folds that have begun.
    pub folds: Vec<FoldResult>,
}

/// What one fold has found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoldResult {
    /// The fold, from 0.
    pub fold: usize,
    /// Rounds done and planned.
    pub n_rounds: (usize, usize),
    /// Every test of the held-out samples: rounds done before it, and what was decided.
    pub tests: Vec<(usize, Confusion)>,
    /// Tests with features set to zero: their share, and what was decided.
    pub missing: Vec<(f64, Confusion)>,
}

impl Results {
    /// The results of a run as far as it has come.
    pub fn of(run: &RunState) -> Self {
        let mut folds: Vec<FoldResult> = run
            .parts
            .iter()
            .filter_map(|part| match part.record.part {
                Part::Fold(fold) => Some(FoldResult::of(fold, &part.record)),
                Part::Final => None,
            })
            .collect();
        folds.sort_by_key(|result| result.fold);
        Self {
            class_names: run.facts.class_names.clone(),
            n_features: run.facts.n_features(),
            test_folds: run.test_folds.clone(),
            folds,
        }
    }
}

impl FoldResult {
    fn of(fold: usize, record: &PartRecord) -> Self {
        Self {
            fold,
            n_rounds: (record.rounds.len(), record.n_rounds),
            tests: record
                .tests
                .iter()
                .map(|test| (test.batch, test.confusion.clone()))
                .collect(),
            missing: record
                .missing
                .iter()
                .map(|test| (test.share, test.confusion.clone()))
                .collect(),
        }
    }
}
