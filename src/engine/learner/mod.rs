//! Learners: one dictionary per class from a stream of samples, one round at a time.
//!
//! A [`Learner`] pulls the next mini-batch of every class from a [`SampleStream`] and says
//! in a [`StepReport`] what it did. Behind the trait stand the paper's KRLS (`krls`), the
//! evidence-preserving variant (`evidence`) and the margin-aware one (`margin`), which is the
//! default; the online learners that the paper compares with (`skdl`, `okdlrs`, `okdlfb`); the
//! batch learners (`batch` with `kmod` and `ksvd`), which go over all samples in every
//! step; and baselines (`baseline` with `nearest_mean`, `kernel_ridge` and `svm`). All work in
//! `f64`; the linear kernel goes the same way as the others and gives RLS-DLA, MOD and K-SVD.

mod algorithm;
mod baseline;
mod batch;
mod block_memory;
mod consistency;
mod contributions;
mod decision;
pub mod declared;
mod dictionary;
mod distance;
mod error;
mod evidence;
mod forgetting;
mod gate;
mod gradient;
mod growing;
mod head;
mod kernel;
mod kernel_ridge;
mod kmod;
mod krls;
mod ksvd;
mod lasso;
mod margin;
mod nearest_mean;
mod okdlfb;
mod okdlrs;
mod presets;
mod pruning;
mod readout;
mod recursion;
#[cfg(test)]
mod reference_tests;
mod report;
mod ridge;
mod samples;
mod scoring;
mod second_look;
mod seen;
mod settings;
mod shortlist;
mod side_by_side;
mod skdl;
mod span;
mod sparse_coding;
mod start;
mod stop;
mod stream;
mod svm;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::math::random_stream;

pub use algorithm::{Algorithm, Conventions, GradientSpace};
pub use baseline::BaselineState;
pub use batch::BatchProfile;
pub(crate) use block_memory::BlockMemory;
pub use decision::{Decision, OnlineLogit};
pub use dictionary::Dictionary;
pub use error::LearnError;
pub use evidence::EvidenceProfile;
pub use forgetting::{Forgetting, ForgettingShape};
pub(crate) use gate::quantile;
pub use gate::{Gate, UsualFit};
pub use gradient::{Draws, GradientProfile};
pub use growing::Growing;
pub use head::Head;
pub(crate) use head::READOUT_WEIGHT;
pub use kernel::{Kernel, KernelError, Radial};
pub use krls::KrlsProfile;
pub use lasso::Lasso;
pub use margin::MarginState;
pub use okdlfb::GradientStep;
pub use presets::Preset;
pub use pruning::{ContributionNorm, Pruning};
pub use readout::Readout;
pub use report::{
    Admission, ClassReport, Health, Rejection, Removal, Repair, StepReport, TimeSpent,
};
pub use samples::Samples;
pub(crate) use scoring::{BlockScores, Circumstances, Distances, block_size};
pub(crate) use second_look::PairSolutions;
pub use second_look::SecondLook;
pub use seen::SeenSamples;
pub use settings::{LearnerSettings, Normalisation, Start};
pub(crate) use shortlist::FEWEST_CLASSES;
pub use span::{ONE_PASS_FROM, Span, WIDE_CHECK_INTERVAL};
pub use sparse_coding::{Pursuit, SparseCoder, SparseCodes};
pub use stop::StopSignal;
pub use stream::{Progress, SampleStream, StreamState, Supply};

use baseline::BaselineLearner;
use batch::Batch;
use evidence::Evidence;
use krls::Krls;
use margin::Margin;
use okdlfb::Okdlfb;
use okdlrs::Okdlrs;
use side_by_side::{ClassLearner, SideBySide, shared_start};
use skdl::Skdl;
use start::start_samples;

/// Learns the dictionaries of all classes, one round at a time: the next mini-batch of every
/// class, or all samples for a batch learner.
pub trait Learner: Send + Sync {
    /// Takes the next round from the stream and learns it. After an error nothing has changed
    /// but the position of the stream.
    fn step(
        &mut self,
        progress: Progress,
        stream: &mut SampleStream<'_>,
        report: &mut StepReport,
    ) -> Result<(), LearnError>;

    /// Most rounds that [`Learner::steps`] takes.
    fn rounds_at_once(&self) -> usize {
        1
    }

    /// Learns one round after the other, the first as `progress` says, with a report each. Where classes learn alone,
    /// each takes all its mini-batches in turn, while its matrices are in the cache; what is learned is the same.
    fn steps(
        &mut self,
        progress: Progress,
        stream: &mut SampleStream<'_>,
        reports: &mut [StepReport],
    ) -> Result<(), LearnError> {
        match reports {
            [report] => self.step(progress, stream, report),
            _ => Err(LearnError::BadState("it learns one round at a time".into())),
        }
    }

    /// Number of classes.
    fn n_classes(&self) -> usize;

    /// The dictionary of a class as it is now.
    fn dictionary(&self, class: usize) -> &Dictionary;

    /// How the class of a sample is decided.
    fn decision(&self) -> &Decision;

    /// The settings in force.
    fn settings(&self) -> &LearnerSettings;

    /// Puts other settings in force from the next step on, as if the learner were resumed
    /// with them. What shapes the state (kernel, atoms, sparsity, kind of algorithm) must
    /// stay and is refused by name; λ, thresholds, switches, mini-batch, budget and pruning
    /// may change. The next step keeps a smaller budget in every class, also in one that
    /// it brings no sample of. Start and γ have had their effect already.
    fn change_settings(&mut self, settings: LearnerSettings) -> Result<(), LearnError>;

    /// The readout of a head over the samples kept now; none where the head has none or, as its
    /// second look then does, where too many samples are kept.
    fn readout(
        &self,
        _head: Head,
        _stop: StopSignal<'_>,
    ) -> Result<Option<Arc<Readout>>, LearnError> {
        Ok(None)
    }

    /// The gate before the decision, where it is switched on and enough was seen.
    fn gate(&self) -> Option<Gate> {
        None
    }

    /// Everything needed to resume bit for bit.
    fn state(&self) -> LearnerState;
}

/// The state of a learner of any kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum LearnerState {
    /// The paper's KRLS.
    Krls {
        /// One per class.
        profiles: Vec<KrlsProfile>,
        /// How classes are decided.
        decision: Decision,
    },
    /// Evidence-preserving KRLS.
    Evidence {
        /// One per class.
        profiles: Vec<EvidenceProfile>,
        /// How classes are decided.
        decision: Decision,
    },
    /// Margin-aware evidence-preserving KRLS.
    Margin(MarginState),
    /// KMOD or kernel K-SVD.
    Batch {
        /// One per class.
        profiles: Vec<BatchProfile>,
        /// How classes are decided.
        decision: Decision,
    },
    /// sKDL, OKDLRS or OKDLFB.
    Gradient {
        /// One per class.
        profiles: Vec<GradientProfile>,
        /// How classes are decided.
        decision: Decision,
    },
    /// Nearest mean, kernel ridge or support vector machines.
    // The name in sessions of earlier versions.
    #[serde(rename = "Yardstick")]
    Baseline(BaselineState),
}

/// A new learner, and for every class what is to be said of its start.
pub type Started = (Box<dyn Learner>, Vec<Option<Repair>>);

/// A new learner with its start samples taken from the stream.
pub fn start_learner(
    settings: &LearnerSettings,
    stream: &mut SampleStream<'_>,
    seed: u64,
) -> Result<Started, LearnError> {
    settings.check()?;
    settings.kernel.check_absolute()?;
    if stream.n_classes() < 1 {
        return Err(LearnError::Setting(
            "there must be at least one class".into(),
        ));
    }
    let mut starts = Vec::with_capacity(stream.n_classes());
    for class in 0..stream.n_classes() {
        let mut random = random_stream(seed, "start samples", class as u64);
        starts.push(start_samples(settings, stream, class, &mut random)?);
    }
    let remarks = starts.iter().map(shared_start).collect();
    let settings = settings.clone();
    let learner: Box<dyn Learner> = match settings.algorithm {
        Algorithm::Krls { .. } => side_by_side(settings, &starts, Krls::start),
        Algorithm::Evidence { .. } => side_by_side(settings, &starts, Evidence::start),
        Algorithm::Margin { .. } => {
            let classes = starts
                .iter()
                .map(|s| Evidence::start(&settings, s))
                .collect();
            Box::new(Margin::new(settings, classes))
        }
        Algorithm::Kmod { .. } | Algorithm::Ksvd => Box::new(Batch::start(settings, &starts)),
        Algorithm::Skdl { .. } => {
            side_by_side(settings, &starts, |s, start| Skdl::start(s, start, seed))
        }
        Algorithm::Okdlrs { .. } => {
            side_by_side(settings, &starts, |s, start| Okdlrs::start(s, start, seed))
        }
        Algorithm::Okdlfb { .. } => {
            side_by_side(settings, &starts, |s, start| Okdlfb::start(s, start, seed))
        }
        Algorithm::NearestMean | Algorithm::KernelRidge { .. } | Algorithm::Svm { .. } => {
            Box::new(BaselineLearner::start(settings, &starts))
        }
    };
    Ok((learner, remarks))
}

/// Learners of each class alone, made from what there is of each.
fn side_by_side<T, L: ClassLearner + 'static>(
    settings: LearnerSettings,
    parts: &[T],
    make: impl Fn(&LearnerSettings, &T) -> L,
) -> Box<dyn Learner> {
    let learners = parts.iter().map(|part| make(&settings, part)).collect();
    let decision = Decision::SmallestResidual;
    Box::new(SideBySide::new(settings, learners, decision))
}

/// A learner that continues from a saved state.
pub fn resume_learner(
    settings: &LearnerSettings,
    state: LearnerState,
) -> Result<Box<dyn Learner>, LearnError> {
    settings.check()?;
    settings.kernel.check_absolute()?;
    consistency::check_state(settings, &state)?;
    let settings = settings.clone();
    Ok(match (&settings.algorithm, state) {
        (Algorithm::Krls { .. }, LearnerState::Krls { profiles, decision }) => {
            resume_side_by_side::<Krls>(settings, profiles, decision)
        }
        (Algorithm::Evidence { .. }, LearnerState::Evidence { profiles, decision }) => {
            resume_side_by_side::<Evidence>(settings, profiles, decision)
        }
        (Algorithm::Margin { .. }, LearnerState::Margin(state)) => {
            Box::new(Margin::resume(settings, state))
        }
        (Algorithm::Kmod { .. } | Algorithm::Ksvd, LearnerState::Batch { profiles, decision }) => {
            Box::new(Batch::resume(settings, profiles, decision))
        }
        (Algorithm::Skdl { .. }, LearnerState::Gradient { profiles, decision }) => {
            resume_side_by_side::<Skdl>(settings, profiles, decision)
        }
        (Algorithm::Okdlrs { .. }, LearnerState::Gradient { profiles, decision }) => {
            resume_side_by_side::<Okdlrs>(settings, profiles, decision)
        }
        (Algorithm::Okdlfb { .. }, LearnerState::Gradient { profiles, decision }) => {
            resume_side_by_side::<Okdlfb>(settings, profiles, decision)
        }
        (
            Algorithm::NearestMean | Algorithm::KernelRidge { .. } | Algorithm::Svm { .. },
            LearnerState::Baseline(state),
        ) => Box::new(BaselineLearner::resume(settings, state)),
        _ => {
            return Err(LearnError::BadState(
                "it belongs to another algorithm than the settings name".into(),
            ));
        }
    })
}

/// Learners of each class alone that continue from their profiles.
fn resume_side_by_side<L: ClassLearner + 'static>(
    settings: LearnerSettings,
    profiles: Vec<L::Profile>,
    decision: Decision,
) -> Box<dyn Learner> {
    let profiles = profiles.into_iter();
    let learners = profiles.map(|profile| L::resume(&settings, profile));
    let learners = learners.collect::<Vec<L>>();
    Box::new(SideBySide::new(settings, learners, decision))
}
