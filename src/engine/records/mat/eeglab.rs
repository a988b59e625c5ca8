//! EEGLAB data sets: the struct `EEG` in a MATLAB file, samples within it or in a file beside it.

use std::sync::Arc;

use super::super::text::quoted;
use super::super::{
    Annotation, ByteSource, Channel, FilePlace, Findings, Format, Gap, Input, Kind, Number,
    ReadError, Record, Source, Stored, StridedSamples, Unit,
};
use super::value::{Value, Variable};

/// The fields of `EEG`, whether in a struct or each as a variable.
pub(super) struct DataSet<'a> {
    fields: Vec<(&'a str, &'a Value)>,
}

/// Size of the samples: channels × samples of an epoch × epochs.
#[derive(Debug, Clone, Copy)]
struct Size {
    n_channels: usize,
    n_per_epoch: usize,
    n_epochs: usize,
}

impl Size {
    fn n_samples(self) -> Option<usize> {
        self.n_per_epoch.checked_mul(self.n_epochs)
    }

    fn len(self) -> Option<usize> {
        self.n_samples()?.checked_mul(self.n_channels)
    }
}

impl<'a> DataSet<'a> {
    /// The data set among the variables of a file, if there is one.
    pub(super) fn find(variables: &'a [Variable]) -> Option<Self> {
        let structs = variables
            .iter()
            .filter_map(|variable| match &variable.value {
                Value::Struct { fields, .. } => Some(
                    fields
                        .iter()
                        .filter_map(|(name, values)| match values.as_slice() {
                            [only] => Some((name.as_str(), only)),
                            _ => None,
                        })
                        .collect(),
                ),
                _ => None,
            });
        let variables = variables
            .iter()
            .map(|v| (v.name.as_str(), &v.value))
            .collect();
        structs
            .chain([variables])
            .map(|fields| Self { fields })
            .find(|set| {
                ["data", "srate", "nbchan"]
                    .iter()
                    .all(|name| set.get(name).is_some())
            })
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        let found = self.fields.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    }

    pub(super) fn record(
        &self,
        input: &Input,
        mut findings: Findings,
    ) -> Result<Record, ReadError> {
        let rate_hz = self.rate_hz(&mut findings)?;
        let mut source = Source::new(input.path(), input.bytes.len());
        let (size, samples) = match self.get("data") {
            Some(Value::Numeric(data)) => self.inline(data, &mut findings)?,
            _ => {
                let (size, samples) = self.beside(input, &mut findings)?;
                let data = &samples.stored.bytes;
                source.add_companion(data.path(), data.len());
                (size, samples)
            }
        };
        let n_samples = size.n_samples().unwrap_or(0);
        let channels = self
            .channel_names(size.n_channels, &mut findings)?
            .into_iter()
            .map(|name| Channel::analog(name, Unit::parse("µV"), rate_hz, n_samples))
            .collect();
        findings.note(
            FilePlace::File,
            "unit is not in the file; microvolt by EEGLAB's convention",
        );

        let (annotations, gaps) = match rate_hz {
            Some(rate_hz) => self.events(rate_hz, size, &mut findings)?,
            None => Default::default(),
        };
        let mut record = Record::new(
            Format::Eeglab,
            Kind::Recording,
            source,
            channels,
            Arc::new(samples),
        );
        record.annotations = annotations;
        record.gaps = gaps;
        record.warnings = findings.into_warnings();
        Ok(record)
    }

    fn rate_hz(&self, findings: &mut Findings) -> Result<Option<f64>, ReadError> {
        let rate_hz = self.get("srate").and_then(Value::scalar);
        let sound = rate_hz.filter(|rate_hz| rate_hz.is_finite() && *rate_hz > 0.0);
        if sound.is_none() {
            let found = rate_hz.map_or("missing".to_owned(), |rate_hz| rate_hz.to_string());
            let assumed = "times are unknown, events are skipped";
            findings.breach(FilePlace::File, "EEG.srate", found, "more than 0", assumed)?;
        }
        Ok(sound)
    }

    fn count(&self, name: &str) -> Option<usize> {
        let value = self.get(name)?.scalar()?;
        ((0.0..1e12).contains(&value) && value.fract() == 0.0).then_some(value as usize)
    }

    /// Samples stored in the struct itself.
    fn inline(
        &self,
        data: &super::value::Numeric,
        findings: &mut Findings,
    ) -> Result<(Size, StridedSamples), ReadError> {
        let size = match data.shape[..] {
            [n_channels, n_samples] => Size {
                n_channels,
                n_per_epoch: n_samples,
                n_epochs: 1,
            },
            [n_channels, n_per_epoch, n_epochs] => Size {
                n_channels,
                n_per_epoch,
                n_epochs,
            },
            _ => {
                let found = format!("shape {:?}", data.shape);
                let expected = "channels × samples or channels × samples × epochs";
                return Err(findings.refusal(FilePlace::File, "EEG.data", found, expected));
            }
        };
        if self.count("nbchan") != Some(size.n_channels) {
            let found = self
                .count("nbchan")
                .map_or("missing".to_owned(), |n| n.to_string());
            let expected = format!("{}, the rows of EEG.data", size.n_channels);
            findings.breach(
                FilePlace::File,
                "EEG.nbchan",
                found,
                expected,
                "took the rows",
            )?;
        }
        check_size(size, findings)?;
        Ok((size, multiplexed(data.real.clone(), size)))
    }

    /// Samples in a file of 32-bit numbers beside the data set.
    fn beside(
        &self,
        input: &Input,
        findings: &mut Findings,
    ) -> Result<(Size, StridedSamples), ReadError> {
        let data = self.data_file(input, findings)?;
        let n_epochs = self.count("trials").unwrap_or(1).max(1);
        let counts = self.count("nbchan").zip(self.count("pnts"));
        let Some((n_channels, n_per_epoch)) = counts.filter(|(n_channels, _)| *n_channels > 0)
        else {
            let expected = "the number of channels and of samples";
            return Err(findings.refusal(
                FilePlace::File,
                "EEG.nbchan, EEG.pnts",
                "missing",
                expected,
            ));
        };
        let mut size = Size {
            n_channels,
            n_per_epoch,
            n_epochs,
        };
        check_size(size, findings)?;
        let n_stored = data.len() / 4;
        if size.len().is_none_or(|len| len as u64 != n_stored) {
            let kept = (n_stored / n_channels as u64) as usize;
            findings.breach(
                FilePlace::File,
                "length of the data file",
                format!("{} bytes", data.len()),
                format!(
                    "4 bytes × {n_channels} channels × {n_per_epoch} samples × {n_epochs} epochs"
                ),
                format!("read {kept} samples of each channel"),
            )?;
            size.n_per_epoch = kept;
            size.n_epochs = 1;
        }
        // Data files called .dat hold one channel after the other.
        let name = data.path().to_string_lossy().to_lowercase();
        let stored = Stored {
            bytes: data,
            offset: 0,
            number: Number::Float32,
            is_big_endian: false,
        };
        let mut samples = multiplexed(stored, size);
        if name.ends_with(".dat") {
            samples.channel_stride = size.n_samples().unwrap_or(0);
            samples.sample_stride = 1;
        }
        Ok((size, samples))
    }

    fn data_file(&self, input: &Input, findings: &mut Findings) -> Result<ByteSource, ReadError> {
        let names: Vec<String> = ["data", "datfile"]
            .iter()
            .filter_map(|field| self.get(field)?.text())
            .filter(|name| !name.is_empty())
            .collect();
        for name in &names {
            if let Some(data) = input.companion(name)? {
                return Ok(data);
            }
        }
        let name = names.first().cloned().unwrap_or_default();
        if let Some(data) = input.companion_with_extension("fdt")? {
            let found = format!("{}, which is not there", quoted(&name));
            let assumed = "took the file of the data set's own name";
            findings.breach(
                FilePlace::File,
                "EEG.data",
                found,
                "a file beside it",
                assumed,
            )?;
            return Ok(data);
        }
        Err(ReadError::MissingCompanion {
            path: input.path().to_owned(),
            role: "data file of the EEGLAB data set",
            name,
        })
    }

    fn channel_names(
        &self,
        n_channels: usize,
        findings: &mut Findings,
    ) -> Result<Vec<String>, ReadError> {
        let labels = self
            .get("chanlocs")
            .and_then(|locations| locations.field("labels"));
        let labels = labels.unwrap_or_default();
        if labels.len() != n_channels {
            let expected = format!("{n_channels}, one for each channel");
            let assumed = "the others are numbered";
            findings.breach(
                FilePlace::File,
                "EEG.chanlocs",
                labels.len(),
                expected,
                assumed,
            )?;
        }
        Ok((0..n_channels)
            .map(|channel| {
                let label = labels.get(channel).and_then(Value::text);
                label
                    .filter(|label| !label.is_empty())
                    .unwrap_or_else(|| format!("ch{}", channel + 1))
            })
            .collect())
    }

    /// Events as annotations; boundaries and ends of epochs as gaps.
    fn events(
        &self,
        rate_hz: f64,
        size: Size,
        findings: &mut Findings,
    ) -> Result<(Vec<Annotation>, Vec<Gap>), ReadError> {
        let mut annotations = Vec::new();
        let mut gaps = epoch_gaps(rate_hz, size);
        if !gaps.is_empty() {
            let text = format!(
                "{} epochs follow each other; the time between them is unknown",
                size.n_epochs
            );
            findings.note(FilePlace::File, text);
        }
        let events = self.get("event");
        let column = |name: &str| {
            events
                .and_then(|events| events.field(name))
                .unwrap_or_default()
        };
        let (types, latencies, durations) = (column("type"), column("latency"), column("duration"));
        let mut n_without_time = 0;
        for (position, latency) in latencies.iter().enumerate() {
            // Latencies count samples from 1.
            let Some(sample) = latency
                .scalar()
                .map(|latency| latency - 1.0)
                .filter(|s| s.is_finite())
            else {
                n_without_time += 1;
                continue;
            };
            let text = types
                .get(position)
                .and_then(Value::text)
                .unwrap_or_default();
            let duration = durations
                .get(position)
                .and_then(Value::scalar)
                .filter(|d| d.is_finite());
            let duration_s = duration.filter(|&d| d > 0.0).map(|d| d / rate_hz);
            if text.eq_ignore_ascii_case("boundary") && sample > 0.0 && size.n_epochs == 1 {
                gaps.push(Gap {
                    // A boundary stands half a sample before the first one after it.
                    onset_s: sample.ceil() / rate_hz,
                    duration_s: duration_s.unwrap_or(0.0),
                });
            }
            annotations.push(Annotation::new(sample / rate_hz, duration_s, text));
        }
        if n_without_time > 0 {
            let found = format!("missing in {n_without_time} events");
            findings.breach(
                FilePlace::File,
                "EEG.event.latency",
                found,
                "a sample number",
                "skipped",
            )?;
        }
        Gap::add_lost_time(&mut gaps, &mut annotations);
        Ok((annotations, gaps))
    }
}

/// Real caps have some hundred electrodes, sessions some thousand epochs; each takes memory.
fn check_size(size: Size, findings: &Findings) -> Result<(), ReadError> {
    const MOST_CHANNELS: usize = 65_536;
    const MOST_EPOCHS: usize = 1_000_000;
    let Size {
        n_channels,
        n_epochs,
        ..
    } = size;
    if n_channels > MOST_CHANNELS {
        let expected = format!("at most {MOST_CHANNELS}");
        return Err(findings.refusal(FilePlace::File, "EEG.nbchan", n_channels, expected));
    }
    if n_epochs > MOST_EPOCHS {
        let expected = format!("at most {MOST_EPOCHS}");
        return Err(findings.refusal(FilePlace::File, "EEG.trials", n_epochs, expected));
    }
    Ok(())
}

/// Breaks of unknown length between epochs.
fn epoch_gaps(rate_hz: f64, size: Size) -> Vec<Gap> {
    if size.n_per_epoch == 0 || size.n_channels == 0 {
        return Vec::new();
    }
    (1..size.n_epochs)
        .map(|epoch| Gap {
            onset_s: (epoch * size.n_per_epoch) as f64 / rate_hz,
            duration_s: 0.0,
        })
        .collect()
}

fn multiplexed(stored: Stored, size: Size) -> StridedSamples {
    StridedSamples {
        stored,
        channel_stride: 1,
        sample_stride: size.n_channels,
        factors: vec![1.0; size.n_channels],
    }
}
