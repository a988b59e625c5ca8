//! Why a test sample was decided as it was: residuals, codes, atoms and the kept samples behind them.

use std::sync::Arc;

use super::event::Event;
use super::notices::Topic;
use super::{Gravity, TaskError, Workbench};
use atomscope_engine::dataset::{Dataset, Place};
use atomscope_engine::evaluation::{Classifier, Explanation};
use atomscope_engine::experiment::{Part, TrainedModel, median_distance};

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
) -> Result<Inspection, TaskError> {
    let learner = model.revive()?;
    let classifier = Classifier::of(learner.as_ref());
    let mut features = dataset.sample(sample).to_vec();
    let prepared = model.preparation.apply(&mut features);
    if prepared?.is_none() {
        let reason = "the sample has missing values and was excluded from the test";
        return Err(TaskError::refused(reason));
    }
    let explanation = classifier.explain(&features)?;
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

impl Workbench {
    /// Explains the decision on a sample by the model that held it out.
    pub(super) fn inspect(&mut self, sample: usize) {
        let Some(run) = self.document.training.run() else {
            return;
        };
        let fold = run.test_folds.get(sample).copied().flatten();
        let part = fold.and_then(|fold| run.part(Part::Fold(fold)));
        let model = part.and_then(|part| part.model.clone());
        let loaded = self.document.data.loaded();
        let loaded = loaded.filter(|loaded| sample < loaded.dataset.n_samples());
        if let (Some(model), Some(loaded)) = (model, loaded) {
            let dataset = loaded.dataset.clone();
            let on = (&self.tasks.post, "explaining", Event::Inspected as _);
            let inspection = &mut self.tasks.inspection;
            inspection.start(sample, on, move |_| inspect(&model, &dataset, sample));
        } else {
            let text =
                "a decision can be explained when its fold is complete and the data are loaded";
            self.notices.post(Topic::Training, Gravity::Note, text);
        }
    }

    /// Measures which width of the kernel suits the data.
    pub(super) fn suggest_width(&mut self) {
        if let Some(loaded) = self.document.data.loaded() {
            let dataset = loaded.dataset.clone();
            let preparation = self.document.draft.experiment.preparation;
            let kernel = self.document.draft.experiment.learner.kernel;
            let on = (&self.tasks.post, "median", Event::Width as _);
            self.tasks.width.start((), on, move |_| {
                Ok(median_distance(&dataset, preparation, kernel)?)
            });
        }
    }
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
