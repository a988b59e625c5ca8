//! The traces of a recording under a montage, and how their samples are read piece by piece.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::workbench::TaskError;
use atomscope_engine::features::display_filter::{DisplayFilter, RunningFilter};
use atomscope_engine::features::electrodes::{Scalp, electrode, position};
use atomscope_engine::features::montage::{Montage, MontageChannel};
use atomscope_engine::features::signal_kind::{SignalKind, clean_label, kind_of as signal_kind};
use atomscope_engine::records::electrode_positions::PlacedElectrode;
use atomscope_engine::records::{ChannelKind, Record, Segment};

/// Values read at once, those of all channels together.
const VALUES_AT_ONCE: usize = 1 << 19;

/// A trace: what it is called and which channels it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSource {
    /// What it is called.
    pub name: String,
    /// Unit of its values: µV for voltages.
    pub unit: String,
    /// Whether a channel marked as bad is part of it.
    pub is_bad: bool,
    /// Its place on the head, if its name tells.
    pub position: Option<(f64, f64)>,
    /// What it measures.
    pub kind: SignalKind,
    /// Samples per second.
    pub rate_hz: f64,
    /// Channels of the record with their weights; the weights bring voltages to µV.
    pub terms: Vec<(usize, f64)>,
}

impl TraceSource {
    /// The place of its colour among those of classes; EEG has the colour of text.
    pub fn color(&self) -> Option<usize> {
        match self.kind {
            SignalKind::Eeg | SignalKind::Other => None,
            SignalKind::Respiration => Some(0),
            SignalKind::Emg => Some(1),
            SignalKind::Eog => Some(2),
            SignalKind::Temperature => Some(3),
            SignalKind::Spo2 => Some(4),
            SignalKind::Ecg => Some(5),
            SignalKind::Trigger | SignalKind::Status => Some(6),
        }
    }

    /// The traces of a record; places that the user gave come before those of the 10–20 system. An error names what an
    /// own montage cannot mean.
    pub fn all_of(
        record: &Record,
        montage: &Montage,
        bad_channels: &[String],
        positions: &[PlacedElectrode],
    ) -> Result<Vec<Self>, TaskError> {
        let is_signal = |place: &usize| {
            let channel = &record.channels[*place];
            channel.kind == ChannelKind::Analog && channel.rate_hz.is_some_and(|rate| rate > 0.0)
        };
        let signals: Vec<usize> = (0..record.channels.len()).filter(is_signal).collect();
        let common = common_kind(record, &signals);
        let channels: Vec<MontageChannel<'_>> = signals
            .iter()
            .map(|&place| MontageChannel {
                name: &record.channels[place].name,
                is_bad: bad_channels.contains(&record.channels[place].name),
                is_common: Some(kind_of(record, place)) == common,
                own_position: own_position(positions, &record.channels[place].name),
            })
            .collect();
        let labels: Vec<&str> = channels.iter().map(|channel| channel.name).collect();
        let scalp = Scalp::of(&labels);
        let derived = montage.derive(&channels)?;
        let traces = derived.into_iter().filter_map(|derivation| {
            let &(first, _) = derivation.terms.first()?;
            let first = &record.channels[*signals.get(first)?];
            let (unit, scale) = match first.unit.volts() {
                Some(volts) => ("µV".to_owned(), volts * 1e6),
                None => (first.unit.symbol.clone(), 1.0),
            };
            let terms = derivation.terms.iter();
            // A name has a place only where the labels of all its channels are electrodes.
            let are_electrodes = match labels.iter().position(|label| *label == derivation.name) {
                Some(own) => scalp.position(own).is_some(),
                None => terms.clone().all(|(k, _)| scalp.electrodes[*k].is_some()),
            };
            // One against others lies where it is, a pair halfway.
            let own = |k: usize| channels[k].own_position;
            let placed = match labels.iter().position(|label| *label == derivation.name) {
                Some(place) => own(place),
                None => terms
                    .clone()
                    .map(|(k, _)| own(*k))
                    .collect::<Option<Vec<_>>>()
                    .filter(|all| all.len() == 2)
                    .map(|all| ((all[0].0 + all[1].0) / 2.0, (all[0].1 + all[1].1) / 2.0)),
            };
            let by_name = || position(&derivation.name).filter(|_| are_electrodes);
            Some(Self {
                position: placed.or_else(by_name),
                kind: signal_kind(first),
                name: derivation.name,
                unit,
                is_bad: derivation.is_bad,
                rate_hz: first.rate_hz?,
                terms: terms
                    .map(|(k, weight)| (signals[*k], weight * scale))
                    .collect(),
            })
        });
        Ok(traces.collect())
    }
}

/// The place that the user gave a channel, by its name or by what is shown of it.
fn own_position(positions: &[PlacedElectrode], name: &str) -> Option<(f64, f64)> {
    let place = |name: &str| PlacedElectrode::place_of(positions, name);
    place(name).or_else(|| place(clean_label(name)))
}

/// Rate, length and unit: only channels that share them can be added.
type ChannelSort<'a> = (u64, usize, &'a str);

fn kind_of(record: &Record, place: usize) -> ChannelSort<'_> {
    let channel = &record.channels[place];
    let rate_bits = channel.rate_hz.unwrap_or(0.0).to_bits();
    (rate_bits, channel.n_samples, &channel.unit.symbol)
}

/// The sort that most electrodes have, or most channels where no electrode is known.
fn common_kind<'a>(record: &'a Record, signals: &[usize]) -> Option<ChannelSort<'a>> {
    let of_electrodes = signals
        .iter()
        .copied()
        .filter(|place| electrode(&record.channels[*place].name).is_some());
    let mut candidates: Vec<usize> = of_electrodes.collect();
    if candidates.is_empty() {
        candidates = signals.to_vec();
    }
    let count = |kind: ChannelSort<'_>| {
        let same = candidates
            .iter()
            .filter(|&&other| kind_of(record, other) == kind);
        same.count()
    };
    let kinds = candidates.iter().map(|&place| kind_of(record, place));
    kinds.max_by_key(|kind| count(*kind))
}

/// Samples of one trace without a break.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece<'a> {
    /// Which trace, by its place among those read.
    pub(super) trace: usize,
    /// Time of the first sample.
    pub(super) onset_s: f64,
    /// Samples per second.
    pub(super) rate_hz: f64,
    /// The samples in the unit of the trace.
    pub(super) values: &'a [f64],
}

/// Reads traces from `start_s` to `end_s`, in order of time and in bounded memory. Each piece is
/// filtered with its lead-in; between two pieces of a trace lies a gap, or the next piece begins
/// with the last sample of the one before. `take` stops the reading by answering false.
pub(super) fn read_traces(
    record: &Record,
    traces: &[TraceSource],
    (start_s, end_s): (f64, f64),
    filter: &DisplayFilter,
    mut take: impl FnMut(Piece<'_>, f64) -> bool,
) -> Result<(), TaskError> {
    let mut rates: Vec<f64> = traces.iter().map(|trace| trace.rate_hz).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let n_rates = rates.len() as f64;
    for (number, rate_hz) in rates.into_iter().enumerate() {
        let running = filter.at_rate(rate_hz)?;
        let group = TraceGroup::new(record, traces, rate_hz);
        let lead_in = (filter.lead_in_s() * rate_hz).ceil() as usize;
        for segment in group.segments(start_s, end_s) {
            for part in group.parts(&segment, (start_s, end_s)) {
                let done = (time_of(&segment, part.start, rate_hz) - start_s) / (end_s - start_s);
                let share = (number as f64 + done.clamp(0.0, 1.0)) / n_rates;
                let goes_on = group.read_part(&segment, part, lead_in, &running, &mut |piece| {
                    take(piece, share)
                })?;
                if !goes_on {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// A trace of a group: the common terms, if it has all of them, and what it has besides.
struct GroupTrace {
    place: usize,
    has_common: bool,
    terms: Vec<(usize, f64)>,
}

/// Traces of one rate with the channels they need.
struct TraceGroup<'a> {
    record: &'a Record,
    traces: Vec<GroupTrace>,
    /// Terms that most traces have, summed once for all of them: under an average reference that is the reference,
    /// and n traces of n channels cost n products for each sample instead of n².
    common: Vec<(usize, f64)>,
    channels: Vec<usize>,
    rate_hz: f64,
    /// Whether all channels of the record are read together.
    reads_all: bool,
}

/// When a sample of a segment was taken.
fn time_of(segment: &Segment, sample: usize, rate_hz: f64) -> f64 {
    segment.onset_s + (sample - segment.first_sample) as f64 / rate_hz
}

/// The samples of a segment in a time, with the one before and the one after it.
fn samples_in(segment: &Segment, (start_s, end_s): (f64, f64), rate_hz: f64) -> Range<usize> {
    let last = segment.first_sample + segment.n_samples;
    let place = |time_s: f64| (time_s - segment.onset_s) * rate_hz;
    let first = place(start_s).floor().max(0.0) as usize + segment.first_sample;
    let end = (place(end_s).ceil().max(-1.0) + 1.0) as usize + segment.first_sample;
    first.min(last)..end.min(last)
}

/// The weight that most traces have of each channel.
fn common_terms(traces: &[(usize, &TraceSource)]) -> Vec<(usize, f64)> {
    let mut counts: BTreeMap<(usize, u64), usize> = BTreeMap::new();
    for (channel, weight) in traces.iter().flat_map(|(_, trace)| &trace.terms) {
        *counts.entry((*channel, weight.to_bits())).or_default() += 1;
    }
    let most = counts.into_iter().filter(|(_, n)| 2 * n > traces.len());
    most.map(|((channel, bits), _)| (channel, f64::from_bits(bits)))
        .collect()
}

impl GroupTrace {
    fn new(place: usize, trace: &TraceSource, common: &[(usize, f64)]) -> Self {
        let weight = |channel: usize| {
            let own = trace.terms.iter().find(|(known, _)| *known == channel);
            own.map(|(_, weight)| *weight)
        };
        let has_common = common.iter().all(|(channel, _)| weight(*channel).is_some());
        let in_common = |channel: usize| {
            let term = common.iter().find(|(known, _)| *known == channel);
            term.filter(|_| has_common)
                .map_or(0.0, |(_, weight)| *weight)
        };
        let rest = trace.terms.iter();
        let rest = rest.map(|(channel, weight)| (*channel, weight - in_common(*channel)));
        Self {
            place,
            has_common,
            terms: rest.filter(|(_, weight)| *weight != 0.0).collect(),
        }
    }
}

/// Adds weighted channels to values.
fn add_terms(values: &mut [f64], terms: &[(usize, f64)], channels: &[Vec<f64>]) {
    for (channel, weight) in terms {
        for (value, own) in values.iter_mut().zip(&channels[*channel]) {
            *value += weight * own;
        }
    }
}

impl<'a> TraceGroup<'a> {
    fn new(record: &'a Record, traces: &'a [TraceSource], rate_hz: f64) -> Self {
        let of_rate = |(_, trace): &(usize, &TraceSource)| trace.rate_hz == rate_hz;
        let traces: Vec<_> = traces.iter().enumerate().filter(of_rate).collect();
        let terms = traces.iter().flat_map(|(_, trace)| &trace.terms);
        let mut channels: Vec<usize> = terms.map(|(channel, _)| *channel).collect();
        channels.sort_unstable();
        channels.dedup();
        let n_samples = |place: usize| record.channels[place].n_samples;
        let is_even = (1..record.channels.len()).all(|place| n_samples(place) == n_samples(0));
        let common = common_terms(&traces);
        let traces = traces.into_iter();
        Self {
            record,
            reads_all: is_even && channels.len() * 2 > record.channels.len(),
            traces: traces
                .map(|(place, trace)| GroupTrace::new(place, trace, &common))
                .collect(),
            common,
            channels,
            rate_hz,
        }
    }

    fn segments(&self, start_s: f64, end_s: f64) -> Vec<Segment> {
        let Some(&first) = self.channels.first() else {
            return Vec::new();
        };
        let reaches = |segment: &Segment| {
            let until_s = segment.onset_s + segment.n_samples as f64 / self.rate_hz;
            segment.onset_s <= end_s && until_s >= start_s
        };
        let all = self.record.segments(first).into_iter();
        all.filter(reaches).collect()
    }

    /// The samples of a segment that lie in the time, cut so that each part fits into memory.
    fn parts(&self, segment: &Segment, time_s: (f64, f64)) -> Vec<Range<usize>> {
        let all = samples_in(segment, time_s, self.rate_hz);
        let n_read = match self.reads_all {
            true => self.record.channels.len(),
            false => self.channels.len(),
        };
        let length = (VALUES_AT_ONCE / n_read.max(1)).max(1024);
        let starts = (all.start..all.end).step_by(length);
        // One sample more, so that a line leads from each part to the next.
        let part = |start: usize| start..(start + length + 1).min(all.end);
        starts.map(part).collect()
    }

    fn read_part(
        &self,
        segment: &Segment,
        part: Range<usize>,
        lead_in: usize,
        filter: &RunningFilter,
        take: &mut impl FnMut(Piece<'_>) -> bool,
    ) -> Result<bool, TaskError> {
        let first = part.start.saturating_sub(lead_in).max(segment.first_sample);
        let last = (part.end + lead_in).min(segment.first_sample + segment.n_samples);
        let channels = self.read(first..last)?;
        let mut common = vec![0.0; last - first];
        add_terms(&mut common, &self.common, &channels);
        for trace in &self.traces {
            let mut values = match trace.has_common {
                true => common.clone(),
                false => vec![0.0; last - first],
            };
            add_terms(&mut values, &trace.terms, &channels);
            filter.run(&mut values);
            let piece = Piece {
                trace: trace.place,
                onset_s: time_of(segment, part.start, self.rate_hz),
                rate_hz: self.rate_hz,
                values: &values[part.start - first..part.end - first],
            };
            if !take(piece) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One vector per channel of the record; those that are not needed stay empty.
    fn read(&self, samples: Range<usize>) -> Result<Vec<Vec<f64>>, TaskError> {
        let mut values = vec![Vec::new(); self.record.channels.len()];
        if self.reads_all {
            for own in &mut values {
                own.resize(samples.len(), 0.0);
            }
            self.record.read_all_into(samples.start, &mut values)?;
            return Ok(values);
        }
        for &channel in &self.channels {
            let n_samples = self.record.channels[channel].n_samples;
            let range = samples.start.min(n_samples)..samples.end.min(n_samples);
            let mut own = self.record.read(channel, range)?;
            own.resize(samples.len(), f64::NAN);
            values[channel] = own;
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atomscope_engine::records::{Channel, Format, Gap, Kind, Unit};

    const RATE_HZ: f64 = 100.0;

    fn record(n_samples: usize) -> Record {
        let channel = |name: &str, unit: &str, rate_hz: f64| {
            Channel::analog(name, Unit::parse(unit), Some(rate_hz), 0)
        };
        let values = |step: f64, n: usize| (0..n).map(|k| step * k as f64).collect::<Vec<_>>();
        let data = vec![
            (channel("C3", "mV", RATE_HZ), values(1e-3, n_samples)),
            (channel("C4", "mV", RATE_HZ), values(3e-3, n_samples)),
            (channel("Resp", "%", 10.0), values(1.0, n_samples / 10)),
        ];
        Record::in_memory(Format::Simulated, Kind::Recording, "test", data)
    }

    /// Times and values of every trace.
    fn all(record: &Record, montage: &Montage, time_s: (f64, f64)) -> Vec<Vec<(f64, f64)>> {
        let traces = TraceSource::all_of(record, montage, &[], &[]).expect("derived");
        let mut found = vec![Vec::new(); traces.len()];
        read_traces(
            record,
            &traces,
            time_s,
            &DisplayFilter::default(),
            |piece, _| {
                for (k, value) in piece.values.iter().enumerate() {
                    let time_s = piece.onset_s + k as f64 / piece.rate_hz;
                    found[piece.trace].push((time_s, *value));
                }
                true
            },
        )
        .expect("memory is readable");
        found
    }

    #[test]
    fn voltages_become_microvolts_and_each_trace_has_its_rate() {
        let record = record(1000);
        let found = all(&record, &Montage::AsRecorded, (2.0, 3.0));
        assert_eq!(found[0].first(), Some(&(2.0, 200.0)));
        assert_eq!(found[0].len(), 101, "one second and the sample after it");
        assert_eq!(found[2].len(), 11);
        assert_eq!(found[2][0], (2.0, 20.0), "other units stay");
        let own = Montage::Own("C4 - C3".into());
        let found = all(&record, &own, (2.0, 3.0));
        assert!((found[0][0].1 - 400.0).abs() < 1e-9);
    }

    #[test]
    fn gaps_lie_between_pieces_and_long_stretches_come_in_parts_that_touch() {
        let mut gapped = record(1000);
        gapped.gaps.push(Gap {
            onset_s: 4.0,
            duration_s: 2.0,
        });
        let found = all(&gapped, &Montage::AsRecorded, (3.9, 6.2));
        let times: Vec<f64> = found[0].iter().map(|(time_s, _)| *time_s).collect();
        assert!(
            times
                .iter()
                .all(|time_s| *time_s < 4.0 || *time_s >= 6.0 - 1e-9)
        );
        let long = record(400_000);
        let found = all(&long, &Montage::AsRecorded, (0.0, 4000.0));
        let (before, after) = (found[0].len(), 400_000);
        assert!(before > after, "parts overlap by a sample: {before}");
        let last = found[0].last().expect("there are samples");
        assert!((last.0 - 3999.99).abs() < 1e-6);
    }

    #[test]
    fn a_filtered_piece_is_that_of_the_whole_recording() {
        let wave = |k: usize| 50.0 * (k as f64 * 0.6).sin() + 200.0;
        let channel = Channel::analog("C3", Unit::parse("µV"), Some(RATE_HZ), 0);
        let data = vec![(channel, (0..6000).map(wave).collect())];
        let record = Record::in_memory(Format::Simulated, Kind::Recording, "test", data);
        let traces = TraceSource::all_of(&record, &Montage::AsRecorded, &[], &[]).expect("derived");
        let filter = DisplayFilter {
            high_pass_hz: Some(1.0),
            low_pass_hz: Some(30.0),
            notch_hz: None,
        };
        let mut whole = record.read_channel(0).expect("memory");
        filter.at_rate(RATE_HZ).expect("legal").run(&mut whole);
        let mut found = Vec::new();
        read_traces(&record, &traces, (20.0, 30.0), &filter, |piece, _| {
            found.extend_from_slice(piece.values);
            true
        })
        .expect("memory is readable");
        for (k, value) in found.iter().enumerate() {
            assert!((value - whole[2000 + k]).abs() < 0.02, "{k}");
        }
        // Looking does not change what is stored.
        let stored = record.read_channel(0).expect("memory");
        assert!(
            stored
                .iter()
                .enumerate()
                .all(|(k, value)| *value == wave(k))
        );
    }
}
