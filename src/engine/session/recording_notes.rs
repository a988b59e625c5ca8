//! What the user has noted about recordings: annotations of their own, channels marked as bad, bases of per unit.

use serde::{Deserialize, Serialize};

use crate::evaluation::EpochScores;
use crate::experiment::Correction;
use crate::features::fault::{FaultRecipe, Inception};
use crate::features::phases::PhaseChoice;
use crate::features::signal_kind::SignalKind;
use crate::protection::Line;
use crate::records::Annotation;
use crate::records::electrode_positions::PlacedElectrode;

/// An annotation made by the user; times count from the first sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnAnnotation {
    /// When it starts.
    pub onset_s: f64,
    /// How long it lasts; 0 for a moment.
    #[serde(default)]
    pub duration_s: f64,
    /// What it says: its type.
    pub text: String,
    /// The channels it is about; none where it is about all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<String>,
}

impl OwnAnnotation {
    /// The same as those of files are.
    pub fn to_annotation(&self) -> Annotation {
        Annotation {
            onset_s: self.onset_s,
            duration_s: (self.duration_s > 0.0).then_some(self.duration_s),
            text: self.text.clone(),
            channels: self.channels.clone(),
        }
    }
}

impl From<Annotation> for OwnAnnotation {
    fn from(annotation: Annotation) -> Self {
        Self {
            onset_s: annotation.onset_s,
            duration_s: annotation.duration_s.unwrap_or(0.0),
            text: annotation.text,
            channels: annotation.channels,
        }
    }
}

/// What counts as 1 per unit in a fault record, as rating plates tell it: values of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitBases {
    /// Voltage between two phases, RMS.
    #[serde(default)]
    pub voltage_v: Option<f64>,
    /// Current of a phase, RMS.
    #[serde(default)]
    pub current_a: Option<f64>,
}

impl UnitBases {
    /// Peak volts from phase to earth for each volt RMS between phases of a balanced set.
    pub const PEAK_PER_LINE_VOLT: f64 = 0.816_496_580_927_726;
    /// Peak amperes for each ampere RMS.
    pub const PEAK_PER_AMPERE: f64 = std::f64::consts::SQRT_2;

    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Peak volts and amperes of a phase; what is no positive number is not given.
    pub fn peaks(&self) -> [Option<f64>; 2] {
        let is_usable = |peak: &f64| peak.is_finite() && *peak > 0.0;
        [
            self.voltage_v.map(|v| v * Self::PEAK_PER_LINE_VOLT),
            self.current_a.map(|a| a * Self::PEAK_PER_AMPERE),
        ]
        .map(|peak| peak.filter(is_usable))
    }
}

/// What the user has chosen for a fault record, or for all records of a station.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FaultChoice {
    /// Channels of the bay, and their polarity.
    pub phases: PhaseChoice,
    /// Nominal frequency; without one that of the record.
    pub nominal_hz: Option<f64>,
    /// Where the fault begins; without one the first lasting change.
    pub inception: Option<Inception>,
    /// The line that impedances and distances are of.
    pub line: Option<Line>,
    /// Calculated channels as lines of text.
    pub calculated: Vec<String>,
    /// Whether it stands in place of what is chosen for the station although it says nothing itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replaces_station: bool,
}

impl FaultChoice {
    /// Whether nothing is chosen.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether all is left to the record.
    pub fn says_nothing(&self) -> bool {
        let Self {
            phases,
            nominal_hz,
            inception,
            line,
            calculated,
            replaces_station: _,
        } = self;
        *phases == PhaseChoice::default()
            && nominal_hz.is_none()
            && inception.is_none()
            && line.is_none()
            && calculated.is_empty()
    }

    /// What of it can hold for all records of a station: an inception at a time is that of one record.
    pub fn for_station(&self) -> Self {
        let is_common = |inception: &Inception| !matches!(inception, Inception::At { .. });
        Self {
            inception: self.inception.filter(is_common),
            replaces_station: false,
            ..self.clone()
        }
    }

    /// A recipe with what is chosen here in place of its own.
    pub fn applied_to(&self, recipe: &FaultRecipe) -> FaultRecipe {
        let has_channels = self.phases != PhaseChoice::default();
        FaultRecipe {
            phases: match has_channels {
                true => self.phases.clone(),
                false => recipe.phases.clone(),
            },
            nominal_hz: self.nominal_hz.or(recipe.nominal_hz),
            inception: self.inception.unwrap_or(recipe.inception),
            ..recipe.clone()
        }
    }
}

/// What the user says of a recording whose file does not: tables and arrays are numbers alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GivenChannels {
    /// Samples per second of all channels.
    pub rate_hz: Option<f64>,
    /// The unit of all channels.
    pub unit: String,
    /// Names in the order of the channels with commas between them; where one is empty, the file's stays.
    pub names: String,
    /// The array that is the recording, of a file that holds several.
    pub array: Option<String>,
    /// Whether the rows of that array are channels; without it the shorter side is.
    pub rows_are_channels: Option<bool>,
}

impl GivenChannels {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The names that are given, with the places of their channels.
    pub fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        let names = self.names.split(',').map(str::trim).enumerate();
        names.filter(|(_, name)| !name.is_empty())
    }
}

/// What notes on all records of a station are called.
pub fn station_notes(station: &str) -> String {
    format!("station {}", station.trim())
}

/// What is chosen for a fault record: for itself, else for its station.
pub fn fault_choice(all: &[RecordingNotes], recording: &str, station: &str) -> FaultChoice {
    let chosen = |name: &str| {
        let choice = notes_on(all, name).map(|notes| notes.fault.clone());
        choice.filter(|choice| !choice.is_empty())
    };
    let of_station = || chosen(&station_notes(station));
    chosen(recording).or_else(of_station).unwrap_or_default()
}

/// What is noted about one recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordingNotes {
    /// The recording: its name among the data, or its path.
    pub recording: String,
    /// Annotations in order of time.
    #[serde(default)]
    pub annotations: Vec<OwnAnnotation>,
    /// Names of channels that are marked as bad.
    #[serde(default)]
    pub bad_channels: Vec<String>,
    /// What counts as 1 per unit. Left out while nothing is given, as earlier versions of the program do not know it.
    #[serde(default, skip_serializing_if = "UnitBases::is_empty")]
    pub bases: UnitBases,
    /// Channels, inception, frequency, line and calculated channels of a fault record.
    #[serde(default, skip_serializing_if = "FaultChoice::is_empty")]
    pub fault: FaultChoice,
    /// Kinds of channels that the user corrected, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<(String, SignalKind)>,
    /// Places of electrodes, from a file or by hand; they come before those of the 10–20 system.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PlacedElectrode>,
    /// Rate, unit and names of channels that the file does not state.
    #[serde(default, skip_serializing_if = "GivenChannels::is_empty")]
    pub given: GivenChannels,
    /// Scores of epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<EpochScores>,
    /// What a reviewer said of the model's decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<Correction>,
}

impl RecordingNotes {
    /// Whether nothing is noted.
    pub fn is_empty(&self) -> bool {
        let Self {
            recording: _,
            annotations,
            bad_channels,
            bases,
            fault,
            kinds,
            positions,
            given,
            scores,
            corrections,
        } = self;
        annotations.is_empty()
            && bad_channels.is_empty()
            && bases.is_empty()
            && fault.is_empty()
            && kinds.is_empty()
            && positions.is_empty()
            && given.is_empty()
            && scores.is_none()
            && corrections.is_empty()
    }

    /// Adds an annotation in its place, and tells where that is.
    pub fn add(&mut self, annotation: OwnAnnotation) -> usize {
        let is_before = |other: &OwnAnnotation| other.onset_s <= annotation.onset_s;
        let place = self.annotations.partition_point(is_before);
        self.annotations.insert(place, annotation);
        place
    }

    /// Marks a channel as bad, or as good again.
    pub fn toggle_bad(&mut self, channel: &str) {
        match self.bad_channels.iter().position(|bad| bad == channel) {
            Some(place) => drop(self.bad_channels.remove(place)),
            None => self.bad_channels.push(channel.to_owned()),
        }
    }
}

/// The notes on a recording, if there are any.
pub fn notes_on<'a>(all: &'a [RecordingNotes], recording: &str) -> Option<&'a RecordingNotes> {
    all.iter().find(|notes| notes.recording == recording)
}

/// Changes the notes on a recording; notes that become empty are removed.
pub fn change_notes<R>(
    all: &mut Vec<RecordingNotes>,
    recording: &str,
    change: impl FnOnce(&mut RecordingNotes) -> R,
) -> R {
    let known = all.iter().position(|notes| notes.recording == recording);
    let place = known.unwrap_or_else(|| {
        all.push(RecordingNotes {
            recording: recording.to_owned(),
            ..RecordingNotes::default()
        });
        all.len() - 1
    });
    let result = change(&mut all[place]);
    if all[place].is_empty() {
        all.remove(place);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotation(onset_s: f64, text: &str) -> OwnAnnotation {
        OwnAnnotation {
            onset_s,
            duration_s: 0.0,
            text: text.to_owned(),
            channels: Vec::new(),
        }
    }

    #[test]
    fn annotations_stay_in_order_and_empty_notes_vanish() {
        let mut all = Vec::new();
        for (onset_s, text) in [(5.0, "b"), (1.0, "a"), (9.0, "c"), (5.0, "b2")] {
            change_notes(&mut all, "r", |notes| notes.add(annotation(onset_s, text)));
        }
        let notes = notes_on(&all, "r").expect("there are notes");
        let texts: Vec<&str> = notes.annotations.iter().map(|a| a.text.as_str()).collect();
        assert_eq!(texts, ["a", "b", "b2", "c"]);
        change_notes(&mut all, "r", |notes| notes.annotations.clear());
        assert!(all.is_empty());
        change_notes(&mut all, "r", |notes| notes.toggle_bad("Cz"));
        assert_eq!(all.len(), 1);
        change_notes(&mut all, "r", |notes| notes.toggle_bad("Cz"));
        assert!(all.is_empty());
    }

    #[test]
    fn a_record_follows_its_own_choice_and_else_that_of_its_station() {
        let mut all = Vec::new();
        let at = |hz: f64| FaultChoice {
            nominal_hz: Some(hz),
            ..FaultChoice::default()
        };
        change_notes(&mut all, &station_notes(" South "), |notes| {
            notes.fault = at(60.0)
        });
        change_notes(&mut all, "a.cfg", |notes| notes.fault = at(16.7));
        change_notes(&mut all, "c.cfg", |notes| {
            notes.fault.replaces_station = true
        });
        let chosen = |name: &str, station: &str| fault_choice(&all, name, station).nominal_hz;
        assert_eq!(chosen("a.cfg", "South"), Some(16.7));
        assert_eq!(chosen("b.cfg", "South"), Some(60.0));
        assert_eq!(chosen("b.cfg", "North"), None);
        assert_eq!(chosen("c.cfg", "South"), None);
        assert!(fault_choice(&all, "c.cfg", "South").says_nothing());
        let recipe = fault_choice(&all, "b.cfg", "South").applied_to(&FaultRecipe::default());
        assert_eq!(recipe.nominal_hz, Some(60.0));
        assert_eq!(recipe.inception, FaultRecipe::default().inception);
        // The moment of one fault is none of another one.
        let timed = |inception| FaultChoice {
            inception: Some(inception),
            ..at(60.0)
        };
        assert_eq!(timed(Inception::At { time_s: 1.2 }).for_station(), at(60.0));
        let of_trigger = timed(Inception::Trigger);
        assert_eq!(of_trigger.for_station(), of_trigger);
    }

    #[test]
    fn bases_of_a_rating_plate_are_peaks_of_a_phase() {
        let bases = UnitBases {
            voltage_v: Some(110_000.0),
            current_a: Some(200.0),
        };
        let [volts, amperes] = bases.peaks().map(|peak| peak.expect("given"));
        assert!((volts - 110_000.0 * (2.0_f64 / 3.0).sqrt()).abs() < 1e-6);
        assert!((amperes - 282.842_712_474_619).abs() < 1e-9);
        let none = UnitBases {
            voltage_v: Some(0.0),
            current_a: Some(f64::NAN),
        };
        assert_eq!(none.peaks(), [None, None]);
        let mut all = Vec::new();
        change_notes(&mut all, "r", |notes| notes.bases = bases);
        assert_eq!(notes_on(&all, "r").map(|notes| notes.bases), Some(bases));
        change_notes(&mut all, "r", |notes| notes.bases = UnitBases::default());
        assert!(all.is_empty());
    }
}
