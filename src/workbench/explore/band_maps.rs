//! Power of the bands at the electrodes, of a stretch, of another recording or of a class.

use std::collections::BTreeMap;
use std::path::Path;

use super::spectra::{BANDS, TraceSpectrum, spectra};
use super::traces::TraceSource;
use super::view::MapComparison;
use super::{OpenedRecording, last_part};
use crate::workbench::signal::record_of;
use crate::workbench::{LoadedData, TaskError};
use atomscope_engine::experiment::JobProgress;
use atomscope_engine::features::montage::Montage;
use atomscope_engine::records::electrode_positions::PlacedElectrode;
use atomscope_engine::records::{Mode, Record, open};
use atomscope_engine::session::{GivenChannels, RecordingNotes};

/// Seconds of a recording that stand for it in a comparison.
const COMPARED_S: f64 = 120.0;
/// Recordings that stand for a class.
const MOST_RECORDINGS: usize = 12;

/// The power of each band at each electrode.
#[derive(Clone, Debug, PartialEq)]
pub struct BandMaps {
    /// What they are of.
    pub title: String,
    /// How many recordings they are the mean of.
    pub n_recordings: usize,
    /// The electrodes.
    pub names: Vec<String>,
    /// Their places on the head.
    pub positions: Vec<(f64, f64)>,
    /// Power of the bands at each electrode, unit².
    pub powers: Vec<[f64; BANDS.len()]>,
    /// Unit of the traces.
    pub unit: String,
}

impl BandMaps {
    /// The maps of spectra whose traces lie on the head; bad ones are left out.
    pub fn of(spectra: &[TraceSpectrum], title: &str) -> Self {
        let mut maps = Self::empty(title);
        for own in spectra {
            let (Some(position), false) = (own.position, own.is_bad || own.density.is_empty())
            else {
                continue;
            };
            maps.names.push(own.name.clone());
            maps.positions.push(position);
            maps.powers.push(own.band_powers());
            maps.unit.clone_from(&own.unit);
        }
        maps.n_recordings = 1;
        maps
    }

    fn empty(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            n_recordings: 0,
            names: Vec::new(),
            positions: Vec::new(),
            powers: Vec::new(),
            unit: String::new(),
        }
    }

    /// The mean of maps over the electrodes that all of them have.
    fn mean(all: &[Self], title: &str) -> Self {
        let mut sums: BTreeMap<&str, (usize, [f64; BANDS.len()])> = BTreeMap::new();
        for maps in all {
            for (name, powers) in maps.names.iter().zip(&maps.powers) {
                let (count, sum) = sums.entry(name).or_insert((0, [0.0; BANDS.len()]));
                *count += 1;
                for (sum, power) in sum.iter_mut().zip(powers) {
                    *sum += power;
                }
            }
        }
        let mut mean = Self::empty(title);
        let Some(first) = all.first() else {
            return mean;
        };
        mean.n_recordings = all.len();
        mean.unit.clone_from(&first.unit);
        for (name, position) in first.names.iter().zip(&first.positions) {
            if let Some((count, sum)) = sums.get(name.as_str())
                && *count == all.len()
            {
                mean.names.push(name.clone());
                mean.positions.push(*position);
                mean.powers.push(sum.map(|sum| sum / all.len() as f64));
            }
        }
        mean
    }

    /// The share of each band in the power of all bands, electrode by electrode.
    pub fn as_shares(&self) -> Self {
        let share = |powers: &[f64; BANDS.len()]| {
            let all: f64 = powers.iter().sum();
            powers.map(|power| if all > 0.0 { power / all } else { 0.0 })
        };
        Self {
            powers: self.powers.iter().map(share).collect(),
            unit: "share".to_owned(),
            ..self.clone()
        }
    }

    /// This minus the other, at the electrodes that both have.
    pub fn minus(&self, other: &Self) -> Self {
        let mut difference = Self::empty("difference");
        difference.unit.clone_from(&self.unit);
        for (place, name) in self.names.iter().enumerate() {
            let Some(there) = other.names.iter().position(|known| known == name) else {
                continue;
            };
            let mut powers = self.powers[place];
            for (power, taken) in powers.iter_mut().zip(other.powers[there]) {
                *power -= taken;
            }
            difference.names.push(name.clone());
            difference.positions.push(self.positions[place]);
            difference.powers.push(powers);
        }
        difference
    }

    /// The largest power of a band.
    pub fn largest(&self, band: usize) -> f64 {
        let powers = self.powers.iter().map(|powers| powers[band].abs());
        powers.fold(0.0, f64::max)
    }
}

/// What stands beside the maps of the selection: another recording, or two classes.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedMaps {
    /// The first side; without one it is the selection.
    pub first: Option<BandMaps>,
    /// The second side.
    pub second: BandMaps,
}

/// What is noted about the electrodes of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ElectrodeNotes {
    recording: String,
    bad_channels: Vec<String>,
    positions: Vec<PlacedElectrode>,
}

impl ElectrodeNotes {
    /// Of all recordings that have some.
    pub(super) fn all(notes: &[RecordingNotes]) -> Vec<Self> {
        let has_some =
            |notes: &&RecordingNotes| !notes.bad_channels.is_empty() || !notes.positions.is_empty();
        let of = |notes: &RecordingNotes| Self {
            recording: notes.recording.clone(),
            bad_channels: notes.bad_channels.clone(),
            positions: notes.positions.clone(),
        };
        notes.iter().filter(has_some).map(of).collect()
    }
}

/// Reads the recordings of a comparison.
pub(super) struct ComparedReader<'a> {
    /// The data that records and classes are of.
    pub(super) loaded: Option<&'a LoadedData>,
    /// How traces are made of channels.
    pub(super) montage: &'a Montage,
    /// Channels that do not count, and places of electrodes.
    pub(super) notes: &'a [ElectrodeNotes],
    /// The rate that counts for a file that does not say its own, as for the open recording.
    pub(super) assumed_rate_hz: Option<f64>,
    /// Receives the share done.
    pub(super) progress: &'a JobProgress,
}

impl ComparedReader<'_> {
    /// Reads both sides.
    pub(super) fn read(&self, comparison: &MapComparison) -> Result<ComparedMaps, TaskError> {
        let (first, second) = match comparison {
            MapComparison::Record(source) => (None, self.of_source(*source)?),
            MapComparison::File(path) => (None, self.of_file(path)?),
            MapComparison::Classes(first, second) => {
                (Some(self.of_class(*first)?), self.of_class(*second)?)
            }
        };
        Ok(ComparedMaps { first, second })
    }

    fn loaded(&self) -> Result<&LoadedData, TaskError> {
        let none = || TaskError::refused("the data of the session are not loaded");
        self.loaded.ok_or_else(none)
    }

    fn of_source(&self, source: usize) -> Result<BandMaps, TaskError> {
        let (name, record) = record_of(self.loaded()?, source)?;
        self.beginning(&name, &record)
    }

    fn of_file(&self, path: &Path) -> Result<BandMaps, TaskError> {
        let record = open(path, Mode::default())?;
        let given = GivenChannels {
            rate_hz: self.assumed_rate_hz,
            ..GivenChannels::default()
        };
        let name = path.display().to_string();
        let opened = OpenedRecording::new(name, None, record, None, given)?;
        let maps = self.beginning(&opened.name, &opened.record)?;
        Ok(match opened.assumed_rate_hz {
            Some(rate_hz) => BandMaps {
                title: format!("{}, taken at {rate_hz} Hz", maps.title),
                ..maps
            },
            None => maps,
        })
    }

    /// The maps of the first two minutes of a record.
    fn beginning(&self, name: &str, record: &Record) -> Result<BandMaps, TaskError> {
        let noted = self.notes.iter().find(|notes| notes.recording == name);
        let notes = noted.cloned().unwrap_or_default();
        let traces =
            TraceSource::all_of(record, self.montage, &notes.bad_channels, &notes.positions)
                .map_err(|problem| problem.of(name))?;
        let end_s = record.duration_s().unwrap_or(0.0).min(COMPARED_S);
        let found = spectra(record, &traces, (0.0, end_s), self.progress)?;
        Ok(BandMaps::of(&found, last_part(name)))
    }

    /// The mean maps of the first recordings of a class.
    fn of_class(&self, class: usize) -> Result<BandMaps, TaskError> {
        let loaded = self.loaded()?;
        let names = loaded.dataset.class_names();
        let title = names.get(class).map_or("", String::as_str);
        let rows = loaded.records.iter().enumerate();
        let sources: Vec<usize> = rows
            .filter(|(_, row)| row.classes == [class])
            .map(|(place, _)| place)
            .take(MOST_RECORDINGS)
            .collect();
        let all = sources.into_iter().map(|source| self.of_source(source));
        let all: Vec<BandMaps> = all.collect::<Result<_, _>>()?;
        if all.is_empty() {
            let reason = format!("no recording belongs to class {title} alone");
            return Err(TaskError::Refused(reason));
        }
        Ok(BandMaps::mean(&all, title))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maps(names: &[&str], power: f64) -> BandMaps {
        BandMaps {
            n_recordings: 1,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            positions: vec![(0.0, 0.0); names.len()],
            powers: vec![[power, power, 2.0 * power, 0.0, 0.0]; names.len()],
            unit: "µV".to_owned(),
            ..BandMaps::empty("test")
        }
    }

    #[test]
    fn means_and_differences_are_taken_electrode_by_electrode() {
        let (one, two) = (maps(&["C3", "Cz"], 1.0), maps(&["Cz", "C4"], 3.0));
        let mean = BandMaps::mean(&[one.clone(), two.clone()], "mean");
        assert_eq!(mean.names, ["Cz"]);
        assert_eq!(mean.powers[0], [2.0, 2.0, 4.0, 0.0, 0.0]);
        let difference = two.minus(&one);
        assert_eq!(difference.names, ["Cz"]);
        assert_eq!(difference.powers[0], [2.0, 2.0, 4.0, 0.0, 0.0]);
        assert_eq!(difference.largest(2), 4.0);
        assert_eq!(one.as_shares().powers[0], [0.25, 0.25, 0.5, 0.0, 0.0]);
    }
}
