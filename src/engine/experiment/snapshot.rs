//! The dictionaries at one moment, small enough to be shown, replayed and saved.

use serde::{Deserialize, Serialize};

use super::checked::Part;
use crate::learner::{Dictionary, Learner};
use crate::math::packed;

/// The dictionaries of all classes at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Of which part of the run.
    pub part: Part,
    /// Rounds done.
    pub batch: usize,
    /// One entry per class.
    pub classes: Vec<ClassSnapshot>,
}

/// The dictionary of one class at one moment. Single precision serves the eye and halves
/// the memory; the learner's own state is kept elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassSnapshot {
    /// Number of atoms Q.
    pub n_atoms: usize,
    /// Kept samples, by their place in the data set.
    #[serde(with = "packed")]
    pub kept: Vec<u32>,
    /// The round in which each was admitted; 0 for start samples.
    #[serde(with = "packed")]
    pub entered: Vec<u32>,
    /// U, the Q coefficients of each kept sample one after the other.
    #[serde(with = "packed")]
    pub coefficients: Vec<f32>,
    /// Ψ, column after column.
    #[serde(with = "packed")]
    pub atom_gram: Vec<f32>,
    /// How often each atom was used so far.
    #[serde(with = "packed")]
    pub atom_use: Vec<u64>,
}

impl ClassSnapshot {
    fn of(dictionary: &Dictionary, entered: &[u32], atom_use: Vec<u64>) -> Self {
        let single = |matrix: &crate::math::Matrix| -> Vec<f32> {
            let columns = (0..matrix.cols()).flat_map(|j| matrix.col(j));
            columns.map(|value| *value as f32).collect()
        };
        let kept = dictionary.kept.index();
        Self {
            n_atoms: dictionary.n_atoms(),
            kept: kept
                .iter()
                .map(|s| u32::try_from(*s).unwrap_or(u32::MAX))
                .collect(),
            entered: kept
                .iter()
                .map(|s| entered.get(*s).copied().unwrap_or(0))
                .collect(),
            coefficients: single(&dictionary.coefficients),
            atom_gram: single(&dictionary.atom_gram),
            atom_use,
        }
    }

    /// The coefficients of one atom, one per kept sample.
    pub fn coefficients_of(&self, atom: usize) -> impl Iterator<Item = f32> + '_ {
        self.coefficients
            .chunks(self.n_atoms.max(1))
            .map(move |column| column.get(atom).copied().unwrap_or(0.0))
    }

    /// The kept samples that make up most of an atom: positions in `kept` with their
    /// coefficients, the largest first.
    pub fn strongest(&self, atom: usize, count: usize) -> Vec<(usize, f32)> {
        let mut all: Vec<(usize, f32)> = self.coefficients_of(atom).enumerate().collect();
        all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        all.truncate(count);
        all
    }

    /// Atoms that no sample has used.
    pub fn n_unused(&self) -> usize {
        self.atom_use.iter().filter(|count| **count == 0).count()
    }
}

impl Snapshot {
    pub(super) fn of(
        part: Part,
        batch: usize,
        learner: &dyn Learner,
        entered: &[u32],
        atom_use: &[Vec<u64>],
    ) -> Self {
        let classes = (0..learner.n_classes())
            .map(|class| {
                let atom_use = atom_use.get(class).cloned().unwrap_or_default();
                ClassSnapshot::of(learner.dictionary(class), entered, atom_use)
            })
            .collect();
        Self {
            part,
            batch,
            classes,
        }
    }
}
