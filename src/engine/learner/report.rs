//! What a step did, as data: for curves, logs and the window.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::samples::Samples;

/// Why a sample was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Rejection {
    /// Its largest coherence with a kept sample reached the threshold.
    Coherent(f64),
    /// The dictionary already represents it: 1 − r²/σ reached the threshold.
    Represented(f64),
    /// Its projection on the kept samples reached the threshold.
    Projected(f64),
    /// Less than the share ν of it lies outside the span of the kept samples; the
    /// dictionary has learned from it all the same.
    InSpan(f64),
    /// Its code depends linearly on other codes of the mini-batch.
    DependentCode,
    /// No code could be found for it: the steps towards one grew without bound.
    NoCode,
    /// k(x, x) = 0: there is nothing to learn.
    Zero,
}

/// How new a sample was that is kept now, by the measure of the growing criterion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Admission {
    /// Nothing was measured: every sample is kept.
    Unmeasured,
    /// Its largest coherence with a kept sample.
    Coherent(f64),
    /// The share 1 − r²/σ of it that the dictionary represented.
    Represented(f64),
    /// Its projection on the kept samples.
    Projected(f64),
    /// The share of it outside the span of the kept samples.
    Outside(f64),
}

/// Why a sample left the profile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Removal {
    /// It was the oldest.
    Oldest,
    /// It contributed least to the representation of the others: the norm of its row of UᵀW.
    LeastContribution(f64),
    /// Removing it adds least to the loss: the criterion J.
    LeastLoss(f64),
    /// Its code, or its part in the atoms, was the smallest: the norm.
    Smallest(f64),
    /// No candidate satisfied the conditions of removal, and the budget must hold.
    Forced,
}

/// Numerical trouble met and what was done about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Repair {
    /// An atom had almost no evidence left; its diagonal was raised to the floor.
    EvidenceFloor {
        /// The atom.
        atom: usize,
    },
    /// The codes no longer determined an atom; a ridge was added.
    Ridge {
        /// The atom.
        atom: usize,
    },
    /// The inverse kernel matrix had drifted and was computed again.
    InverseRebuilt {
        /// The drift found.
        drift: f64,
    },
    /// Fewer samples could be removed than wanted.
    CandidatesRanOut {
        /// How many were to go.
        wanted: usize,
        /// How many satisfied the conditions.
        found: usize,
    },
    /// The profile is larger than its budget (only with the published conventions).
    OverBudget {
        /// By how many samples.
        by: usize,
    },
    /// A step led to numbers that are none and was not taken: the rates are too large.
    StepRefused,
    /// A class had few samples for its atoms; some atoms started from the same sample.
    SharedStart {
        /// How many atoms.
        atoms: usize,
    },
}

/// The numerical condition of one dictionary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Relative error of the recursion against the definition where it was checked last.
    pub drift: f64,
    /// The smallest pivot of the step relative to its diagonal element.
    pub smallest_pivot: f64,
    /// Estimate of the condition number of the matrix that the dictionary is solved with.
    pub condition: f64,
    /// Whether P = K⁻¹ took in what entered and what left in one pass, the cheaper of two equal
    /// ways for profiles of more than [`ONE_PASS_FROM`](super::ONE_PASS_FROM) samples.
    pub one_pass: bool,
    /// What had to be corrected in this step.
    pub repairs: Vec<Repair>,
}

/// Time that a part of a step took. It is measured, not computed: two steps that did the
/// same are equal whatever time they took.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct TimeSpent(pub Duration);

impl PartialEq for TimeSpent {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What a step did to the dictionary of one class. Samples are named by their place in the data set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassReport {
    /// Samples of the mini-batch that are kept now.
    pub admitted: Vec<usize>,
    /// How new each of them was; samples beyond its end were not measured.
    pub admissions: Vec<Admission>,
    /// Samples of the mini-batch that are not, and why.
    pub rejected: Vec<(usize, Rejection)>,
    /// Samples that left the profile, and why.
    pub removed: Vec<(usize, Removal)>,
    /// Whether the atoms were normalised.
    pub normalised: bool,
    /// By how many codes of the mini-batch each atom was used.
    pub atom_use: Vec<u32>,
    /// Mean of r²/σ over the mini-batch before the update: how well the dictionary predicted it.
    pub mean_residual: f64,
    /// Size of the profile after the step.
    pub n_kept: usize,
    /// Numerical condition.
    pub health: Health,
    /// How much of the step was pruning.
    pub pruning_time: TimeSpent,
    /// Time spent on this class alone, pruning included; classes may overlap in time.
    pub class_time: TimeSpent,
}

impl ClassReport {
    /// The samples that are kept now, each with how new it was.
    pub fn admissions(&self) -> impl Iterator<Item = (usize, Admission)> + '_ {
        let measured = self.admissions.iter().copied();
        let measured = measured.chain(std::iter::repeat(Admission::Unmeasured));
        self.admitted.iter().copied().zip(measured)
    }

    /// Notes samples that are kept now and others that are zero in feature space.
    pub(super) fn note_taken(&mut self, kept: &Samples, zeros: &[usize]) {
        self.admitted.extend_from_slice(kept.index());
        let zeros = zeros.iter().map(|&sample| (sample, Rejection::Zero));
        self.rejected.extend(zeros);
    }

    fn clear(&mut self, n_atoms: usize, most_samples: usize) {
        self.admitted.clear();
        self.admitted.reserve(most_samples);
        self.admissions.clear();
        self.admissions.reserve(most_samples);
        self.rejected.clear();
        self.rejected.reserve(most_samples);
        self.removed.clear();
        self.removed.reserve(most_samples);
        self.normalised = false;
        self.atom_use.clear();
        self.atom_use.resize(n_atoms, 0);
        self.mean_residual = 0.0;
        self.health.one_pass = false;
        self.health.repairs.clear();
        self.pruning_time = TimeSpent::default();
        self.class_time = TimeSpent::default();
    }
}

/// What a step did; the memory is reused from step to step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// λ of the round.
    pub forgetting_factor: f64,
    /// One entry per class.
    pub classes: Vec<ClassReport>,
    /// Prequential result of the round, by the decision before the update: samples that
    /// were classified rightly, and all samples that were classified.
    pub prequential: Option<(usize, usize)>,
}

impl StepReport {
    /// Begins the report of a step in which at most `most_samples` per class come or go.
    pub(super) fn clear(
        &mut self,
        forgetting_factor: f64,
        n_classes: usize,
        n_atoms: usize,
        most_samples: usize,
    ) {
        self.forgetting_factor = forgetting_factor;
        self.prequential = None;
        self.classes.resize_with(n_classes, ClassReport::default);
        for class in &mut self.classes {
            class.clear(n_atoms, most_samples);
        }
    }
}
