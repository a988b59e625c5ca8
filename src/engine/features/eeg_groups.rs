//! Groups of features of EEG segments as settings: channel covariance of bands, fine bands, shape measures and delay
//! covariance, in any combination.

use serde::{Deserialize, Serialize};

use super::eeg::{Band, ChannelChoice, check_peak_limit};
use super::{declared, is_positive};
use crate::settings::{SettingProblem, SettingProblems};

/// Fine bands of the single-channel recipe: edges in Hz, the band around each whole frequency.
const FINE_EDGES_HZ: [f64; 26] = [
    0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 14.5, 16.5, 19.5, 22.5,
    25.5, 29.5, 34.5, 39.5, 44.5, 49.5, 59.5, 69.5, 79.5,
];

/// What the channels are measured against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Reference {
    /// As the recording has it.
    #[default]
    AsRecorded,
    /// Against the mean of all channels used.
    Average,
}

/// Where segments lie in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Placement {
    /// One after the other from the start of the recording.
    Consecutive {
        /// Share of a segment that the next one repeats, 0 to 0.95.
        overlap: f64,
    },
    /// One after the other within each labelled stretch (a trial), as many as fit; without labels from the start of
    /// the recording.
    Stretches {
        /// Time from the start of a stretch to its first segment.
        offset_s: f64,
    },
}

/// Whether covariances are seen relative to the mean of their recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Recentring {
    /// No: right where the class belongs to the recording, such as a diagnosis, which the mean would take away.
    #[default]
    Off,
    /// To the mean over the whole recording, labels unseen.
    WholeRecording,
    /// To the running mean up to and including the segment, as in live use.
    Causal,
}

/// Channel covariance of bands in the log-Euclidean metric; every band is a group of features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CovarianceGroup {
    /// The bands.
    pub bands: Vec<Band>,
    /// Divide each segment by its mean channel power over the bands, so that gain and electrode contact do not count.
    pub gain_normalised: bool,
    /// Share α of the mean channel power that is mixed in: C ← (1 − α) C + α (tr C / p) I.
    pub shrinkage: f64,
    /// Whether covariances are seen relative to the mean of their recording.
    pub recentring: Recentring,
}

/// A kind of features with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum EegGroup {
    /// Channel covariance of bands.
    Covariance(CovarianceGroup),
    /// ln(mean density + 10⁻³) between successive edges, for every channel; bands above half the rate are left out.
    LogBands {
        /// Edges of the bands, rising.
        edges_hz: Vec<f64>,
    },
    /// Nine measures of the shape of every channel: variances, slopes, peaks, kurtosis and skewness.
    Shape,
    /// Covariance of every channel with itself at delays, in the log-Euclidean metric.
    DelayCovariance {
        /// Number of delays.
        n_delays: usize,
        /// Samples from one delay to the next.
        step: usize,
        /// Share of the mean power that is mixed in.
        shrinkage: f64,
    },
}

/// How samples are made of groups of features of EEG segments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EegGroupsRecipe {
    /// The channels used.
    pub channels: ChannelChoice,
    /// What they are measured against.
    pub reference: Reference,
    /// Length of a segment.
    pub segment_s: f64,
    /// Where the segments lie.
    pub placement: Placement,
    /// The groups, in the order of the features.
    pub groups: Vec<EegGroup>,
    /// Leave out segments in which a channel swings by more than this, in µV (in the unit of the recording where that is no voltage).
    pub max_peak_to_peak: Option<f64>,
}

impl Default for EegGroupsRecipe {
    fn default() -> Self {
        Self::for_traits()
    }
}

impl EegGroupsRecipe {
    /// The one band of traits.
    pub fn trait_bands() -> Vec<Band> {
        vec![Band::new("1–45 Hz", 1.0, 45.0)]
    }

    /// The filter bank of trials, 4 Hz wide from 4 to 40 Hz, since which frequencies a task moves is not known before
    /// (Ang et al., Filter Bank Common Spatial Pattern, 2008).
    pub fn trial_bands() -> Vec<Band> {
        let limits = (1..10).map(|number| (4 * number, 4 * number + 4));
        limits
            .map(|(low, high)| Band::new(&format!("{low}–{high} Hz"), low.into(), high.into()))
            .collect()
    }

    /// For several channels whose class belongs to the recording (a diagnosis): covariance of 1 to 45 Hz, free of gain.
    pub fn for_traits() -> Self {
        Self {
            channels: ChannelChoice::All,
            reference: Reference::AsRecorded,
            segment_s: 2.0,
            placement: Placement::Consecutive { overlap: 0.0 },
            groups: vec![EegGroup::Covariance(CovarianceGroup {
                bands: Self::trait_bands(),
                gain_normalised: true,
                shrinkage: 0.05,
                recentring: Recentring::Off,
            })],
            max_peak_to_peak: None,
        }
    }

    /// For several channels whose class changes within a recording (trials, sleep stages, seizures): covariance of each
    /// band relative to the mean of the recording.
    pub fn for_states(bands: Vec<Band>, segment_s: f64, offset_s: f64) -> Self {
        Self {
            segment_s,
            placement: Placement::Stretches { offset_s },
            groups: vec![EegGroup::Covariance(CovarianceGroup {
                bands,
                gain_normalised: false,
                shrinkage: 0.05,
                recentring: Recentring::WholeRecording,
            })],
            ..Self::for_traits()
        }
    }

    /// For a single channel: fine bands, shape and delay covariance.
    pub fn for_single_channel() -> Self {
        Self {
            segment_s: 4.0,
            groups: vec![
                EegGroup::LogBands {
                    edges_hz: FINE_EDGES_HZ.to_vec(),
                },
                EegGroup::Shape,
                EegGroup::DelayCovariance {
                    n_delays: 20,
                    step: 2,
                    shrinkage: 1e-3,
                },
            ],
            ..Self::for_traits()
        }
    }

    /// Whether any covariance is seen relative to the mean of its recording.
    pub fn is_recentred(&self) -> bool {
        self.groups.iter().any(|group| {
            matches!(group, EegGroup::Covariance(group) if group.recentring != Recentring::Off)
        })
    }

    /// The width of a Gaussian kernel that suits the groups, as a multiple of the median distance of samples.
    pub fn width_of_median(&self) -> f64 {
        match (self.is_recentred(), &self.groups[..]) {
            (true, _) => 1.0,
            (false, [EegGroup::Covariance(_)]) => 0.8,
            (false, _) => 0.7,
        }
    }

    /// What the recipe is for, in words.
    pub fn in_words(&self) -> &'static str {
        match (self.is_recentred(), &self.groups[..]) {
            (true, _) => "channel covariance relative to the mean of each recording",
            (false, [EegGroup::Covariance(_)]) => "channel covariance, free of gain",
            (false, _) => "groups of features of each channel",
        }
    }

    /// What is wrong with the settings, field by field; nothing when the recipe can be used.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        self.channels.check(&mut problems);
        let text = format!(
            "segment length must be more than 0 s, but is {} s",
            self.segment_s
        );
        problems.require(is_positive(self.segment_s), "segment_s", text);
        match self.placement {
            Placement::Consecutive { overlap } => {
                problems.require_legal(&declared::SEGMENT_OVERLAP, overlap);
            }
            Placement::Stretches { offset_s } => {
                problems.require_legal(&declared::OFFSET_S, offset_s);
            }
        }
        let text = "at least one group of features is needed".to_owned();
        problems.require(!self.groups.is_empty(), "groups", text);
        check_peak_limit(self.max_peak_to_peak, &mut problems);
        let mut all = problems.into_list();
        for (number, group) in self.groups.iter().enumerate() {
            let inside = |problem: SettingProblem| SettingProblem {
                field: format!("groups.{number}.{}", problem.field),
                ..problem
            };
            all.extend(group.problems().into_iter().map(inside));
        }
        all
    }
}

impl EegGroup {
    fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        match self {
            Self::Covariance(group) => {
                let text = "at least one band is needed".to_owned();
                problems.require(!group.bands.is_empty(), "bands", text);
                group
                    .bands
                    .iter()
                    .for_each(|band| band.check_limits(&mut problems));
                problems.require_within("shrinkage", group.shrinkage, 0.0, 1.0);
            }
            Self::LogBands { edges_hz } => {
                let rises = edges_hz.len() > 1
                    && edges_hz.iter().all(|edge| edge.is_finite() && *edge >= 0.0)
                    && edges_hz.windows(2).all(|pair| pair[0] < pair[1]);
                let text = "edges of bands must be two or more frequencies that rise".to_owned();
                problems.require(rises, "edges_hz", text);
            }
            Self::Shape => {}
            Self::DelayCovariance {
                n_delays,
                step,
                shrinkage,
            } => {
                problems.require_within("n_delays", *n_delays, 2, 200);
                problems.require_within("step", *step, 1, 10_000);
                problems.require_within("shrinkage", *shrinkage, 0.0, 1.0);
            }
        }
        problems.into_list()
    }
}
