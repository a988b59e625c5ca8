//! Which score decides: the head of an evidence-preserving or margin-aware learner.

use serde::{Deserialize, Serialize};

/// Up to so many kept samples of all classes together the joint readouts of the heads S4J and S4E
/// are solved whenever a dictionary has changed; above, the second look stands in for them.
pub(super) const JOINT_UP_TO: usize = 1200;
/// How much a joint readout counts beside the decision layer.
pub(crate) const READOUT_WEIGHT: f64 = 4.0;

/// What decides between the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Head {
    /// The decision layer, and for doubtful samples a second look at the two best classes.
    SecondLook,
    /// S: the decision layer alone.
    S,
    /// S + 4 J: with the joint readout of the kept samples of all classes.
    S4J,
    /// S + 4 E: with the joint readout over all samples ever seen.
    S4E,
    /// S₀ + w E: the decision layer as it begins, with the joint readout in which classes count alike and
    /// which counts the more, the fewer samples they have.
    FewSamples,
    /// E: the joint readout over all samples ever seen, alone.
    E,
    /// E with ten times the ridge.
    E1,
    /// N: the nearest mean in feature space over all samples ever seen.
    N,
}

impl Head {
    /// All heads.
    pub const ALL: [Self; 8] = [
        Self::SecondLook,
        Self::S,
        Self::S4J,
        Self::S4E,
        Self::FewSamples,
        Self::E,
        Self::E1,
        Self::N,
    ];

    /// Its name in the window.
    pub fn name(self) -> &'static str {
        match self {
            Self::SecondLook => "S, second look",
            Self::S => "S",
            Self::S4J => "S + 4 J",
            Self::S4E => "S + 4 E",
            Self::FewSamples => "S₀ + w E",
            Self::E => "E",
            Self::E1 => "E, strong ridge",
            Self::N => "nearest mean N",
        }
    }

    /// What it is, in a sentence.
    pub fn text(self) -> &'static str {
        match self {
            Self::SecondLook => {
                "The decision layer, and a second look at the two best classes of a doubtful sample"
            }
            Self::S => "The decision layer alone; the head for streams that never end",
            Self::S4J => "The decision layer with one readout over the kept samples of all classes",
            Self::S4E => "The decision layer with one readout over all samples ever seen",
            Self::FewSamples => {
                "For few samples: the decision layer as it begins, with one readout in which classes count alike"
            }
            Self::E => "One regularised readout over all samples ever seen",
            Self::E1 => "The same with ten times the ridge",
            Self::N => "The nearest class mean in feature space, over all samples ever seen",
        }
    }

    /// Whether the decision layer is part of it.
    pub fn uses_decision_layer(self) -> bool {
        !matches!(self, Self::E | Self::E1 | Self::N)
    }

    /// Whether M, the second moment of all samples seen, must be learned.
    pub fn needs_second_moment(self) -> bool {
        matches!(self, Self::S4E | Self::FewSamples | Self::E | Self::E1)
    }

    /// Whether a readout is part of it.
    pub fn has_readout(self) -> bool {
        !matches!(self, Self::SecondLook | Self::S)
    }

    /// Whether a readout is added to the decision layer, so that the second look stands in for it
    /// where many samples are kept.
    pub(super) fn adds_readout(self) -> bool {
        matches!(self, Self::S4J | Self::S4E | Self::FewSamples)
    }

    /// Whether the decision layer stays as it begins: a handful of samples says less about its
    /// numbers, one of every class among them, than what they begin with.
    pub(crate) fn leaves_layer(self) -> bool {
        self == Self::FewSamples
    }
}
