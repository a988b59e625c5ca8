//! The dictionary of one class at one moment, made ready for drawing in the background.

use std::sync::Arc;

use super::Workbench;
use super::background::{Answer, Background};
use super::event::Event;
use atomscope_engine::dataset::Dataset;
use atomscope_engine::experiment::{ClassSnapshot, Part, Snapshot, TestRecord};
use atomscope_engine::features::readable::readable;
use atomscope_engine::learner::Kernel;
use atomscope_engine::math::Matrix;

/// Kept samples named for each atom.
const MOST_STRONGEST: usize = 5;

/// Dictionaries at one moment, wherever they are kept.
#[derive(Clone, Debug)]
enum DictionaryMoment {
    /// While training.
    Live(Arc<Snapshot>),
    /// At a test.
    Test(Arc<TestRecord>),
}

impl DictionaryMoment {
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
struct Looked {
    part: Option<Part>,
    class: usize,
    strongest: Vec<Option<usize>>,
}

/// What a dictionary is made ready for.
struct WantedDictionary {
    moment: DictionaryMoment,
    class: usize,
    dataset: Option<Arc<Dataset>>,
    looked: Looked,
}

impl PartialEq for WantedDictionary {
    fn eq(&self, other: &Self) -> bool {
        let is_same_data = match (&self.dataset, &other.dataset) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        is_same_data
            && self.class == other.class
            && self.moment.is_same(&other.moment)
            && self.looked == other.looked
    }
}

/// The newest dictionary made ready.
#[derive(Default)]
pub(super) struct Dictionaries {
    made: Background<WantedDictionary, DictionaryView>,
    looked: Looked,
}

impl Dictionaries {
    pub(super) fn shown(&self) -> Option<&Arc<DictionaryView>> {
        self.made.shown()
    }

    pub(super) fn is_busy(&self) -> bool {
        self.made.is_busy()
    }

    /// What is shown now counts as looked at.
    pub(super) fn mark_seen(&mut self) {
        if let Some(shown) = self.made.shown() {
            self.looked = Looked::at(shown);
        }
    }

    pub(super) fn take(&mut self, answer: Answer<DictionaryView>) {
        if let Some(Ok(view)) = self.made.take(answer) {
            let is_other = self.looked.part != Some(view.part) || self.looked.class != view.class;
            if is_other {
                self.looked = Looked::at(&view);
                // With a new class nothing has changed yet.
                if let Some(wanted) = self.made.wanted_mut() {
                    wanted.looked = self.looked.clone();
                }
            }
        }
    }
}

impl Workbench {
    /// Makes the dictionary of the moment looked at ready, after the one under way.
    pub(super) fn follow_dictionary(&mut self) {
        let Some((moment, kernel)) = self.moment().filter(|_| !self.tasks.dictionary.is_busy())
        else {
            return;
        };
        let loaded = self.document.data.loaded();
        let wanted = WantedDictionary {
            moment,
            class: self.shown_class(),
            dataset: loaded.map(|loaded| loaded.dataset.clone()),
            looked: self.tasks.dictionary.looked.clone(),
        };
        if self.tasks.dictionary.made.is_wanted(&wanted) {
            return;
        }
        let (moment, dataset) = (wanted.moment.clone(), wanted.dataset.clone());
        let (class, looked) = (wanted.class, wanted.looked.clone());
        let on = (&self.tasks.post, "drawing atoms", Event::Dictionary as _);
        self.tasks.dictionary.made.start(wanted, on, move |_| {
            let (snapshot, dataset) = (moment.snapshot(), dataset.as_deref());
            Ok(make(snapshot, class, kernel, dataset, &looked))
        });
    }

    /// The dictionaries that are looked at.
    fn moment(&self) -> Option<(DictionaryMoment, Kernel)> {
        let run = self.document.training.run()?;
        let part = Part::Fold(self.shown_fold()?);
        let live = run.live.as_ref().filter(|live| live.part == part);
        let moment = match (self.selection.replay, live) {
            (None, Some(live)) => DictionaryMoment::Live(live.clone()),
            (replay, _) => DictionaryMoment::Test(run.part(part)?.test_at(replay)?.clone()),
        };
        Some((moment, run.experiment.learner.kernel))
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
        let read = readable(dataset.feature_groups(), values);
        read.map_or_else(|| values.to_vec(), |read| read.values)
    };
    if !is_exact {
        let values = strongest.and_then(known);
        return values.map(|values| drawn(&values)).unwrap_or_default();
    }
    let mut sum = vec![0.0; dataset.n_features()];
    for (kept, coefficient) in own.kept.iter().zip(own.coefficients_of(atom)) {
        let Some(sample) = known(*kept as usize) else {
            continue;
        };
        for (total, value) in sum.iter_mut().zip(&*sample) {
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
