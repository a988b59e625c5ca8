//! Learners: one dictionary per class from a stream of samples, one round at a time.
//!
//! A [`Learner`] pulls the next mini-batch of every class from a [`SampleStream`] and says
//! in a [`StepReport`] what it did. Three algorithms stand behind the trait: the paper's
//! KRLS (`krls`), the evidence-preserving variant (`evidence`) and the margin-aware one
//! (`margin`), which is the default. All work in `f64`; the linear kernel goes the same
//! way as the others and gives RLS-DLA.

mod consistency;
mod contributions;
mod decision;
mod dictionary;
mod error;
mod evidence;
mod forgetting;
mod growing;
mod kernel;
mod krls;
mod margin;
mod pruning;
mod recursion;
mod report;
mod ridge;
mod samples;
mod scoring;
mod second_look;
mod settings;
mod side_by_side;
mod span;
mod sparse_coding;
mod start;
mod stream;

use serde::{Deserialize, Serialize};

use crate::math::random_stream;

pub use decision::{Decision, OnlineLogit};
pub use dictionary::Dictionary;
pub use error::LearnError;
pub use evidence::EvidenceProfile;
pub use forgetting::{Forgetting, ForgettingShape};
pub use growing::Growing;
pub use kernel::{Kernel, KernelError};
pub use krls::KrlsProfile;
pub use margin::MarginState;
pub use pruning::{ContributionNorm, Pruning};
pub use report::{ClassReport, Health, Rejection, Removal, Repair, StepReport, TimeSpent};
pub use samples::Samples;
pub(crate) use scoring::BlockScores;
pub use second_look::SecondLook;
pub use settings::{Algorithm, Conventions, LearnerSettings, Normalisation, Start};
pub use span::{ONE_PASS_FROM, Span, WIDE_CHECK_INTERVAL};
pub use sparse_coding::{Pursuit, SparseCoder, SparseCodes};
pub use stream::{Progress, SampleStream, StreamState, Supply};

use evidence::Evidence;
use krls::Krls;
use margin::Margin;
use side_by_side::{SideBySide, shared_start};
use start::start_samples;

/// Learns the dictionaries of all classes, one round (the next mini-batch of every class) at a time.
pub trait Learner: Send {
    /// Takes the next round from the stream and learns it. After an error nothing has changed
    /// but the position of the stream.
    fn step(
        &mut self,
        progress: Progress,
        stream: &mut SampleStream<'_>,
        report: &mut StepReport,
    ) -> Result<(), LearnError>;

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

    /// Everything needed to go on bit for bit.
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
        Algorithm::Krls { .. } => {
            let learners = starts.iter().map(|s| Krls::start(&settings, s)).collect();
            Box::new(SideBySide::new(
                settings,
                learners,
                Decision::SmallestResidual,
            ))
        }
        Algorithm::Evidence { .. } => {
            let learners = starts
                .iter()
                .map(|s| Evidence::start(&settings, s))
                .collect();
            Box::new(SideBySide::new(
                settings,
                learners,
                Decision::SmallestResidual,
            ))
        }
        Algorithm::Margin { .. } => {
            let classes = starts
                .iter()
                .map(|s| Evidence::start(&settings, s))
                .collect();
            Box::new(Margin::new(settings, classes))
        }
    };
    Ok((learner, remarks))
}

/// A learner that goes on from a saved state.
pub fn resume_learner(
    settings: &LearnerSettings,
    state: LearnerState,
) -> Result<Box<dyn Learner>, LearnError> {
    settings.check()?;
    consistency::check_state(settings, &state)?;
    let settings = settings.clone();
    match (&settings.algorithm, state) {
        (Algorithm::Krls { .. }, LearnerState::Krls { profiles, decision }) => {
            let learners = profiles
                .into_iter()
                .map(|profile| Krls::resume(&settings, profile))
                .collect();
            Ok(Box::new(SideBySide::new(settings, learners, decision)))
        }
        (Algorithm::Evidence { .. }, LearnerState::Evidence { profiles, decision }) => {
            let learners = profiles
                .into_iter()
                .map(|profile| Evidence::resume(&settings, profile))
                .collect();
            Ok(Box::new(SideBySide::new(settings, learners, decision)))
        }
        (Algorithm::Margin { .. }, LearnerState::Margin(state)) => {
            Ok(Box::new(Margin::resume(settings, state)))
        }
        _ => Err(LearnError::BadState(
            "it belongs to another algorithm than the settings name".into(),
        )),
    }
}
