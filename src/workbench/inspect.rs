//! Why a test sample was decided as it was: residuals, codes, atoms and the kept samples behind them.

use std::sync::Arc;

use atomscope_engine::dataset::{Dataset, Place};
use atomscope_engine::evaluation::{Classifier, Explanation};
use atomscope_engine::experiment::TrainedModel;

/// Kept samples named for each atom.
const MOST_STRONGEST: usize = 3;

/// An atom that a class uses for a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct AtomUse {
    /// The atom.
    pub atom: usize,
    /// Its value in the sparse code.
    pub value: f64,
    /// The kept samples that carry most of it, with their coefficients.
    pub strongest: Vec<(usize, f64)>,
}

/// Everything about the decision on one sample.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The sample, by its place in the data set.
    pub sample: usize,
    /// Its true class.
    pub truth: usize,
    /// The class decided for.
    pub decided: usize,
    /// What every class makes of it.
    pub explanation: Explanation,
    /// The atoms that each class uses for it.
    pub atoms: Vec<Vec<AtomUse>>,
}

/// Asks a trained model about a sample.
pub(super) fn inspect(
    model: &TrainedModel,
    dataset: &Arc<Dataset>,
    sample: usize,
) -> Result<Inspection, String> {
    let learner = model.revive().map_err(|error| error.to_string())?;
    let classifier = Classifier::of(learner.as_ref());
    let mut features = dataset.sample(sample).to_vec();
    let prepared = model.preparation.apply(&mut features);
    if prepared.map_err(|error| error.to_string())?.is_none() {
        return Err("the sample has missing values and was excluded from the test".into());
    }
    let explanation = classifier
        .explain(&features)
        .map_err(|error| error.to_string())?;
    let best = (0..explanation.scores.len())
        .rev()
        .max_by(|a, b| explanation.scores[*a].total_cmp(&explanation.scores[*b]));
    let atoms = classifier
        .dictionaries()
        .zip(&explanation.codes)
        .map(|(dictionary, code)| {
            let use_of = |&(atom, value): &(usize, f64)| {
                let index = dictionary.kept.index();
                let mut strongest: Vec<(usize, f64)> = (0..dictionary.n_kept())
                    .map(|kept| (index[kept], dictionary.coefficients.col(kept)[atom]))
                    .collect();
                strongest.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
                strongest.truncate(MOST_STRONGEST);
                AtomUse {
                    atom,
                    value,
                    strongest,
                }
            };
            code.iter().map(use_of).collect()
        })
        .collect();
    Ok(Inspection {
        sample,
        truth: dataset.classes()[sample],
        decided: best.unwrap_or(0),
        explanation,
        atoms,
    })
}

/// Where a sample lies, in words: "subject3/rec1, 12.0 to 14.0 s".
pub fn origin_text(dataset: &Dataset, sample: usize) -> String {
    if sample >= dataset.n_samples() {
        return format!("sample {sample}");
    }
    let source = dataset.source(sample).display();
    match dataset.origin(sample).place {
        Place::Row(row) => format!("{source}, row {}", row + 1),
        Place::Window {
            start_s,
            duration_s,
        } => format!("{source}, {start_s:.3} to {:.3} s", start_s + duration_s),
    }
}
