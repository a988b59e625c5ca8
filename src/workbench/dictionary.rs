//! The dictionary of one class at one moment, made ready for drawing in the background.

use std::sync::Arc;

use super::{Wake, start_job};
use atomscope_engine::dataset::Dataset;
use atomscope_engine::experiment::{ClassSnapshot, Job, JobOutcome, Part, Snapshot, TestRecord};
use atomscope_engine::features::readable::{Reading, readable};
use atomscope_engine::learner::Kernel;
use atomscope_engine::math::Matrix;

/// Kept samples named for each atom.
const MOST_STRONGEST: usize = 5;

/// Dictionaries at one moment, wherever they are kept.
#[derive(Clone, Debug)]
pub(super) enum Moment {
    /// While training.
    Live(Arc<Snapshot>),
    /// At a test.
    Test(Arc<TestRecord>),
}

impl Moment {
    fn snapshot(&self) -> &Snapshot {
        match self {
            Self::Live(snapshot) => snapshot,
            Self::Test(test) => &test.snapshot,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Live(a), Self::Live(b)) => Arc::ptr_eq(a, b),
            (Self::Test(a), Self::Test(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// One atom as it is shown.
#[derive(Clone, Debug)]
pub struct AtomCard {
    /// Its place in the dictionary.
    pub index: usize,
    /// What is drawn.
    pub values: Vec<f64>,
    /// Share of all uses of atoms.
    pub use_share: f64,
    /// Whether its strongest sample is another than when it was looked at last.
    pub changed: bool,
    /// The kept samples that carry most of it, with their coefficients.
    pub strongest: Vec<(usize, f32)>,
}

/// The dictionary of one class at one moment.
#[derive(Clone, Debug)]
pub struct DictionaryView {
    /// Of which part.
    pub part: Part,
    /// After how many rounds.
    pub batch: usize,
    /// The class.
    pub class: usize,
    /// The atoms, most used first.
    pub atoms: Vec<AtomCard>,
    /// Whether the atoms themselves are drawn; otherwise the strongest kept sample of each.
    pub is_exact: bool,
    /// Samples kept.
    pub n_kept: usize,
    /// Mini-batches since each kept sample came.
    pub ages: Vec<f64>,
    /// Cosines between the atoms, in the order they are shown.
    pub cosines: Matrix,
    /// Atoms that no sample has used.
    pub n_unused: usize,
}

/// The atoms as they were looked at last: the strongest sample of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Looked {
    pub(super) part: Option<Part>,
    pub(super) class: usize,
    strongest: Vec<Option<usize>>,
}

struct Asked {
    moment: Moment,
    class: usize,
    dataset: Option<Arc<Dataset>>,
    looked: Looked,
}

/// The newest dictionary made ready.
#[derive(Default)]
pub(super) struct DictionaryStage {
    shown: Option<Arc<DictionaryView>>,
    asked: Option<Asked>,
    job: Option<Job<DictionaryView>>,
    looked: Looked,
}

impl DictionaryStage {
    pub(super) fn shown(&self) -> Option<&Arc<DictionaryView>> {
        self.shown.as_ref()
    }

    pub(super) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// What is shown now counts as looked at.
    pub(super) fn mark_seen(&mut self) {
        if let Some(shown) = &self.shown {
            self.looked = Looked::at(shown);
        }
    }

    /// Makes the dictionary of a moment ready, after the one under way.
    pub(super) fn ask(
        &mut self,
        moment: &Moment,
        class: usize,
        kernel: Kernel,
        dataset: Option<&Arc<Dataset>>,
        wake: &Wake,
    ) {
        if self.job.is_some() {
            return;
        }
        let is_same = |asked: &Asked| {
            let same_data = match (&asked.dataset, dataset) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (None, None) => true,
                _ => false,
            };
            same_data
                && asked.class == class
                && asked.moment.is_same(moment)
                && asked.looked == self.looked
        };
        if self.asked.as_ref().is_some_and(is_same) {
            return;
        }
        let looked = self.looked.clone();
        self.asked = Some(Asked {
            moment: moment.clone(),
            class,
            dataset: dataset.cloned(),
            looked: looked.clone(),
        });
        let (moment, dataset) = (moment.clone(), dataset.cloned());
        self.job = Some(start_job(wake, "drawing atoms", move |_| {
            make(
                moment.snapshot(),
                class,
                kernel,
                dataset.as_deref(),
                &looked,
            )
        }));
    }

    pub(super) fn poll(&mut self) {
        let Some(outcome) = self.job.as_ref().and_then(Job::take) else {
            return;
        };
        self.job = None;
        if let JobOutcome::Done(view) = outcome {
            let is_other = self.looked.part != Some(view.part) || self.looked.class != view.class;
            if is_other {
                self.looked = Looked::at(&view);
                // With a new class nothing has changed yet.
                if let Some(asked) = &mut self.asked {
                    asked.looked = self.looked.clone();
                }
            }
            self.shown = Some(Arc::new(view));
        }
    }
}

impl Looked {
    fn at(view: &DictionaryView) -> Self {
        let mut strongest = vec![None; view.atoms.len()];
        for atom in &view.atoms {
            if let Some(place) = strongest.get_mut(atom.index) {
                *place = atom.strongest.first().map(|(sample, _)| *sample);
            }
        }
        Self {
            part: Some(view.part),
            class: view.class,
            strongest,
        }
    }
}

fn make(
    snapshot: &Snapshot,
    class: usize,
    kernel: Kernel,
    dataset: Option<&Dataset>,
    looked: &Looked,
) -> DictionaryView {
    let empty = ClassSnapshot {
        n_atoms: 0,
        kept: Vec::new(),
        entered: Vec::new(),
        coefficients: Vec::new(),
        atom_gram: Vec::new(),
        atom_use: Vec::new(),
    };
    let own = snapshot.classes.get(class).unwrap_or(&empty);
    let total_use = own.atom_use.iter().sum::<u64>().max(1) as f64;
    let is_exact = kernel == Kernel::Linear;
    let was_looked_at = looked.part == Some(snapshot.part) && looked.class == class;
    let mut atoms: Vec<AtomCard> = (0..own.n_atoms)
        .map(|index| {
            let strongest: Vec<(usize, f32)> = own
                .strongest(index, MOST_STRONGEST)
                .into_iter()
                .map(|(place, value)| (own.kept[place] as usize, value))
                .collect();
            let first = strongest.first().map(|(sample, _)| *sample);
            let before = looked.strongest.get(index).copied().flatten();
            AtomCard {
                index,
                values: values_of(own, index, is_exact, first, dataset),
                use_share: own.atom_use.get(index).copied().unwrap_or(0) as f64 / total_use,
                changed: was_looked_at && before != first,
                strongest,
            }
        })
        .collect();
    atoms.sort_by(|a, b| {
        b.use_share
            .total_cmp(&a.use_share)
            .then(a.index.cmp(&b.index))
    });
    let ages = own.entered.iter();
    DictionaryView {
        part: snapshot.part,
        batch: snapshot.batch,
        class,
        cosines: cosines(own, &atoms),
        atoms,
        is_exact,
        n_kept: own.kept.len(),
        ages: ages
            .map(|entered| snapshot.batch as f64 - f64::from(*entered))
            .collect(),
        n_unused: own.n_unused(),
    }
}

/// What stands for an atom: X uᵀ with the linear kernel, its strongest kept sample otherwise.
fn values_of(
    own: &ClassSnapshot,
    atom: usize,
    is_exact: bool,
    strongest: Option<usize>,
    dataset: Option<&Dataset>,
) -> Vec<f64> {
    let Some(dataset) = dataset else {
        return Vec::new();
    };
    let known = |sample: usize| (sample < dataset.n_samples()).then(|| dataset.sample(sample));
    // Covariances are drawn as what is read in them.
    let drawn = |values: &[f64]| {
        let read = readable(dataset.feature_groups(), values, Reading::Maps);
        read.map_or_else(|| values.to_vec(), |read| read.values)
    };
    if !is_exact {
        return strongest.and_then(known).map(drawn).unwrap_or_default();
    }
    let mut sum = vec![0.0; dataset.n_features()];
    for (kept, coefficient) in own.kept.iter().zip(own.coefficients_of(atom)) {
        let Some(sample) = known(*kept as usize) else {
            continue;
        };
        for (total, value) in sum.iter_mut().zip(sample) {
            if value.is_finite() {
                *total += f64::from(coefficient) * value;
            }
        }
    }
    drawn(&sum)
}

/// Ψ scaled to a diagonal of 1, in the order the atoms are shown.
fn cosines(own: &ClassSnapshot, atoms: &[AtomCard]) -> Matrix {
    let n = own.n_atoms;
    let entry = |i: usize, j: usize| {
        let value = own.atom_gram.get(j * n + i);
        f64::from(value.copied().unwrap_or(0.0))
    };
    Matrix::from_fn(n, n, |row, column| {
        let (i, j) = (atoms[row].index, atoms[column].index);
        let lengths = (entry(i, i) * entry(j, j)).sqrt();
        if lengths > 0.0 {
            entry(i, j) / lengths
        } else {
            0.0
        }
    })
}
