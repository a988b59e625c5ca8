//! One simulated person: what is drawn once and then holds for the whole recording.

use serde::{Deserialize, Serialize};

use super::super::Interval;
use super::montage::{N_CHANNELS, Position, angle_between, on_sphere, positions};
use crate::math::{Normal, RandomStream, random_share};

/// The two groups of subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SubjectClass {
    /// Without the effect.
    Control,
    /// With the effect.
    Case,
}

impl SubjectClass {
    /// Both classes in the order of their labels.
    pub const ALL: [Self; 2] = [Self::Control, Self::Case];

    /// Name of the class.
    pub fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Case => "case",
        }
    }

    /// Position in [`SubjectClass::ALL`].
    pub fn label(self) -> usize {
        self as usize
    }
}

/// A rhythm of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct RhythmTraits {
    /// Centre of its band.
    pub centre_hz: f64,
    /// Width of its band.
    pub bandwidth_hz: f64,
    /// Root mean square where it is strongest.
    pub rms_uv: f64,
    /// Share of that at each channel.
    pub topography: [f64; N_CHANNELS],
}

/// What makes a subject: the same in every second of the recording.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectTraits {
    /// The group.
    pub class: SubjectClass,
    /// Exponent of the 1/f background.
    pub exponent: f64,
    /// Root mean square of the background at each channel.
    pub background_rms_uv: [f64; N_CHANNELS],
    /// Share κ of the background's amplitude that front and back have in common.
    pub coupling: f64,
    /// Alpha, frontal theta and central beta.
    pub rhythms: [RhythmTraits; 3],
    /// Blinks per minute.
    pub blinks_per_min: f64,
    /// Typical peak of a blink at the frontal pole.
    pub blink_peak_uv: f64,
    /// Bursts of the jaw muscles per minute.
    pub muscle_bursts_per_min: f64,
    /// Root mean square of such a burst at its height, at the temple.
    pub muscle_rms_uv: f64,
    /// Amplitude of the mains at each channel.
    pub mains_uv: [f64; N_CHANNELS],
    /// Root mean square of the amplifier's white noise.
    pub amplifier_rms_uv: f64,
}

/// Standard deviations between subjects of the traits that differ between the classes;
/// the class effect is a multiple of these.
const ALPHA_HZ_SD: f64 = 0.8;
const LN_ALPHA_SD: f64 = 0.45;
const LN_THETA_SD: f64 = 0.40;
const EXPONENT_SD: f64 = 0.15;
const COUPLING_SD: f64 = 0.1;

impl SubjectTraits {
    /// Draws a subject. In cases alpha is slower and weaker, frontal theta stronger and the
    /// background steeper, each by `effect` standard deviations between subjects, and front and
    /// back are coupled more strongly by `coupling_effect` of them.
    pub(super) fn draw(
        class: SubjectClass,
        effect: f64,
        coupling_effect: f64,
        random: &mut RandomStream,
    ) -> Self {
        let mut normal = Normal::default();
        let (shift, coupling_shift) = match class {
            SubjectClass::Control => (0.0, 0.0),
            SubjectClass::Case => (effect, coupling_effect),
        };
        let mut gauss = |random: &mut RandomStream| normal.draw(random);
        let exponent = (1.15 + EXPONENT_SD * (gauss(random) + shift)).clamp(0.3, 2.0);
        let alpha_hz = (10.0 + ALPHA_HZ_SD * (gauss(random) - shift)).clamp(7.0, 13.0);
        let alpha_uv = 9.0 * (LN_ALPHA_SD * (gauss(random) - shift)).exp();
        let theta_uv = 4.0 * (LN_THETA_SD * (gauss(random) + shift)).exp();
        let theta_hz = 6.0 + 0.5 * gauss(random);
        let beta_hz = 20.0 + 2.0 * gauss(random);
        let beta_uv = 2.2 * (0.4 * gauss(random)).exp();
        let level_uv = 9.0 * (0.25 * gauss(random)).exp();
        let background_rms_uv = [0.0; N_CHANNELS].map(|_| level_uv * (0.15 * gauss(random)).exp());
        let mains_uv = [0.0; N_CHANNELS].map(|_| 1.5 * (0.6 * gauss(random)).exp());
        let rhythms = [
            RhythmTraits {
                centre_hz: alpha_hz,
                bandwidth_hz: 1.5,
                rms_uv: alpha_uv,
                topography: topography(on_sphere(180.0, 75.0), 55.0, random),
            },
            RhythmTraits {
                centre_hz: theta_hz.clamp(4.5, 7.5),
                bandwidth_hz: 1.5,
                rms_uv: theta_uv,
                topography: topography(on_sphere(0.0, 40.0), 45.0, random),
            },
            RhythmTraits {
                centre_hz: beta_hz.clamp(14.0, 28.0),
                bandwidth_hz: 4.0,
                rms_uv: beta_uv,
                topography: topography(on_sphere(0.0, 0.0), 60.0, random),
            },
        ];
        let mut traits = Self {
            class,
            exponent,
            background_rms_uv,
            coupling: 0.0,
            rhythms,
            blinks_per_min: Interval::new(4.0, 24.0).uniform(random),
            blink_peak_uv: Interval::new(70.0, 180.0).uniform(random),
            muscle_bursts_per_min: Interval::new(0.5, 5.0).uniform(random),
            muscle_rms_uv: Interval::new(3.0, 12.0).uniform(random),
            mains_uv,
            amplifier_rms_uv: Interval::new(0.4, 1.0).uniform(random),
        };
        // Drawn last: a subject without it is the same subject.
        let coupling = 0.35 + COUPLING_SD * (gauss(random) + coupling_shift);
        traits.coupling = coupling.clamp(0.0, 0.9);
        traits
    }
}

/// A bell of `width_deg` around `centre`, moved and widened as heads and folds of the
/// cortex differ, with an error of its own at each electrode.
fn topography(centre: Position, width_deg: f64, random: &mut RandomStream) -> [f64; N_CHANNELS] {
    let mut normal = Normal::default();
    let moved: Position = centre.map(|x| x + 0.2 * normal.draw(random));
    let length = moved.iter().map(|x| x * x).sum::<f64>().sqrt();
    let centre = moved.map(|x| x / length);
    let width = width_deg.to_radians() * (0.15 * normal.draw(random)).exp();
    // Skull and scalp spread every source: a small share of it is seen everywhere.
    let floor = 0.1 + 0.1 * random_share(random);
    positions().map(|electrode| {
        let distance = angle_between(electrode, centre) / width;
        let bell = (-0.5 * distance * distance).exp();
        (floor + (1.0 - floor) * bell) * (0.1 * normal.draw(random)).exp()
    })
}
