//! A simulated subject as a [`Record`], as if an EEG amplifier had recorded it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::records::{
    Channel, Format, Kind, Quantisation, ReadError, Record, SampleSource, Source, Unit,
};

use super::super::SIMULATED_START;
use super::synthesis::{LIMITS_UV, STEP_UV};
use super::{ELECTRODES, EegRecording, EegSimulator, SubjectClass};

/// Samples as the converter's whole numbers: a quarter of the memory, and nothing lost.
struct Digitised {
    channels: Vec<Vec<i16>>,
    name: PathBuf,
}

impl Digitised {
    fn new(recording: &EegRecording, name: &str) -> Self {
        let whole = |&value: &f64| (value / STEP_UV) as i16;
        let stored = |values: &Vec<f64>| values.iter().map(whole).collect();
        Self {
            channels: recording.channels_uv.iter().map(stored).collect(),
            name: PathBuf::from(name),
        }
    }
}

impl SampleSource for Digitised {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let values = self.channels.get(channel).and_then(|all| all.get(first..));
        match values.and_then(|rest| rest.get(..out.len())) {
            Some(stored) => {
                for (value, &whole) in out.iter_mut().zip(stored) {
                    *value = f64::from(whole) * STEP_UV;
                }
                Ok(())
            }
            None => Err(ReadError::NotThere {
                path: self.name.clone(),
                what: format!("channel {channel}, sample {first}"),
                has: format!("{} simulated channels", self.channels.len()),
            }),
        }
    }

    fn quantisation(&self, _channel: usize) -> Option<Quantisation> {
        let (low, high) = LIMITS_UV;
        Some(Quantisation {
            digital_min: (low / STEP_UV) as i32,
            digital_max: (high / STEP_UV) as i32,
            physical_min: low,
            physical_max: high,
        })
    }
}

impl EegSimulator {
    /// Where the recording of a subject seems to lie: folders by seed and class.
    pub fn subject_name(&self, class: SubjectClass, index: u32) -> String {
        let (seed, class) = (self.settings.seed, class.name());
        format!("simulated/seed-{seed}/{class}/{class}-{:02}", index + 1)
    }

    /// Records subject `index` of `class` as a [`Record`] in memory.
    pub fn record(&self, class: SubjectClass, index: u32) -> Record {
        let recording = self.recording(class, index);
        let name = self.subject_name(class, index);
        let channels = ELECTRODES
            .iter()
            .zip(&recording.channels_uv)
            .map(|(&name, values)| {
                let rate_hz = Some(recording.rate_hz);
                Channel::analog(name, Unit::parse("µV"), rate_hz, values.len())
            })
            .collect();
        let mut record = Record::new(
            Format::Simulated,
            Kind::Recording,
            Source::new(Path::new(&name), 0),
            channels,
            Arc::new(Digitised::new(&recording, &name)),
        );
        record.start = Some(SIMULATED_START);
        if self.settings.electrode_drift > 0.0 {
            let after_s = self.place_in_time(class, index) * self.settings.duration_s;
            record.start = SIMULATED_START.plus_seconds(after_s);
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::super::EegSettings;
    use super::*;
    use crate::records::Mode;
    use crate::records::edf::{self, SampleWidth};

    fn short() -> EegSimulator {
        EegSimulator::new(EegSettings {
            duration_s: 8.0,
            ..EegSettings::default()
        })
        .expect("legal settings")
    }

    #[test]
    fn a_subject_is_a_record_of_nineteen_channels_in_microvolt() {
        let record = short().record(SubjectClass::Case, 2);
        assert_eq!(record.format, Format::Simulated);
        assert_eq!(record.kind, Kind::Recording);
        assert_eq!(
            record.source.path,
            Path::new("simulated/seed-1/case/case-03")
        );
        assert_eq!(record.duration_s(), Some(8.0));
        let names: Vec<&str> = record.channels.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ELECTRODES);
        assert!(record.channels.iter().all(|c| c.unit.symbol == "µV"));
        assert!(record.channels.iter().all(|c| c.rate_hz == Some(250.0)));
    }

    #[test]
    fn a_record_holds_what_was_simulated() {
        let simulator = short();
        let recording = simulator.recording(SubjectClass::Case, 1);
        let record = simulator.record(SubjectClass::Case, 1);
        for (number, values) in recording.channels_uv.iter().enumerate() {
            assert_eq!(&record.read_channel(number).expect("samples"), values);
        }
        assert_eq!(
            record.read(3, 100..103).expect("samples"),
            recording.channels_uv[3][100..103]
        );
        assert!(record.read(19, 0..1).is_err());
    }

    #[test]
    fn edf_and_bdf_give_back_every_sample_exactly() {
        let record = short().record(SubjectClass::Control, 0);
        for width in [SampleWidth::Edf, SampleWidth::Bdf] {
            let mut bytes = Vec::new();
            edf::write(&record, width, &mut bytes).expect("written");
            let read = edf::from_bytes("subject.edf", bytes, Mode::Strict).expect("read");
            assert_eq!(read.channels.len(), record.channels.len());
            assert_eq!(read.start, record.start);
            for (number, (found, made)) in read.channels.iter().zip(&record.channels).enumerate() {
                assert_eq!(found.name, made.name);
                assert_eq!(found.unit.symbol, made.unit.symbol);
                assert_eq!(found.rate_hz, made.rate_hz);
                let samples = |r: &Record| r.read_channel(number).expect("samples");
                assert_eq!(samples(&read), samples(&record), "{width:?} {}", made.name);
            }
        }
    }
}
