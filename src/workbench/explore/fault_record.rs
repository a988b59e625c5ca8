//! A fault record in memory: signals in lanes, digital channels as edges, what is known of frequency, inception and bases.

use std::sync::Arc;

use crate::workbench::TaskError;
use atomscope_engine::features::fault::{FaultRecipe, Inception};
use atomscope_engine::features::fault_facts::{FaultFacts, normal_amplitude};
use atomscope_engine::features::phases::{Bay, PHASE_NAMES, PhaseChoice, PhaseMap, PhaseSet};
use atomscope_engine::features::sampled::{SampleTimes, Sampled};
use atomscope_engine::protection::FaultAnalysis;
use atomscope_engine::protection::calculated::{Calculation, Channels, Context};
use atomscope_engine::protection::events::{RecordEvent, events};
use atomscope_engine::records::overview::MinMax;
use atomscope_engine::records::{
    ChannelKind, GridChannel, Quantity, Record, StartTime, TimeAxis, TransformerSide, Unit,
};

/// Analog values held in memory at most: half a gigabyte.
const MOST_VALUES: usize = 1 << 26;

/// Values of a grid as they are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueScale {
    /// Those of the line.
    #[default]
    Primary,
    /// Those behind the instrument transformers.
    Secondary,
    /// Shares of the normal amplitude.
    PerUnit,
}

impl ValueScale {
    /// All scales in their order.
    pub const ALL: [Self; 3] = [Self::Primary, Self::Secondary, Self::PerUnit];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "Primary",
            Self::Secondary => "Secondary",
            Self::PerUnit => "Per unit",
        }
    }
}

/// What turns the samples of a signal into what is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownScale {
    /// Factor of instantaneous values.
    pub factor: f64,
    /// Factor of RMS values: 1 per unit is the RMS of a sine with the base as its peak.
    pub rms_factor: f64,
    /// The unit that is shown.
    pub unit: String,
}

/// An analog channel in memory, in the unit of the file.
#[derive(Clone, Debug)]
pub struct GridSignal {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Voltage, current or neither.
    pub quantity: Option<Quantity>,
    /// Which phase of a three-phase set it is.
    pub phase: Option<usize>,
    /// When its samples were taken.
    pub times: Arc<SampleTimes>,
    /// Its samples.
    pub values: Vec<f64>,
    /// Its smallest and largest value.
    pub extent: (f64, f64),
    /// Extents of every [`BLOCK_SAMPLES`], so that drawing a long record looks at few of its samples.
    pub blocks: Vec<MinMax>,
    grid: Option<GridChannel>,
}

impl GridSignal {
    /// The signal as it is measured.
    pub fn sampled(&self) -> Sampled<'_> {
        Sampled {
            times: &self.times,
            values: &self.values,
            skew_s: self.grid.as_ref().map_or(0.0, |grid| grid.skew_s),
        }
    }

    fn to_primary(&self) -> f64 {
        self.grid.as_ref().map_or(1.0, GridChannel::to_primary)
    }

    /// Factor that turns its samples into volts or amperes of the line.
    pub fn in_line_units(&self) -> f64 {
        self.unit.in_base * self.to_primary()
    }
}

/// A digital channel: its state from each change on.
#[derive(Clone, Debug, PartialEq)]
pub struct DigitalSignal {
    /// Its name.
    pub name: String,
    /// Time and state at the start and at every change.
    pub edges: Vec<(f64, bool)>,
}

impl DigitalSignal {
    /// Whether it ever changes.
    pub fn changes(&self) -> bool {
        self.edges.len() > 1
    }

    /// How often it changes after one time and up to another.
    pub fn changes_between(&self, from_s: f64, to_s: f64) -> usize {
        let until = |time_s: f64| {
            self.edges
                .partition_point(|(at_s, _)| *at_s <= time_s)
                .max(1)
        };
        until(from_s.max(to_s)) - until(from_s.min(to_s))
    }

    /// Its state at a time.
    pub fn state_at(&self, time_s: f64) -> Option<bool> {
        let after = self.edges.partition_point(|(at_s, _)| *at_s <= time_s);
        self.edges.get(after.max(1) - 1).map(|(_, state)| *state)
    }
}

/// Signals that share a lane and its scale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// What it is called.
    pub title: String,
    /// Places of its signals.
    pub signals: Vec<usize>,
}

/// Three phases of one quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalSet {
    /// Voltage or current.
    pub quantity: Quantity,
    /// Places of the signals of phases A B C.
    pub signals: [usize; 3],
}

/// A fault record in memory.
#[derive(Clone, Debug)]
pub struct FaultRecord {
    /// What it is called.
    pub name: String,
    /// The station that it comes from.
    pub station: String,
    /// When it begins, by its own clock.
    pub start: Option<StartTime>,
    /// The record itself, for reports.
    pub source: Arc<Record>,
    /// The bays that names and units tell, the likeliest first.
    pub bays: Vec<Bay>,
    /// Calculated lines that could not be computed, with the reason.
    pub uncalculated: Vec<String>,
    /// The analog channels; calculated ones come last.
    pub signals: Arc<[GridSignal]>,
    /// When the samples of the first channel were taken: where cursors stand.
    pub clock: Arc<SampleTimes>,
    /// The digital channels.
    pub digital: Vec<DigitalSignal>,
    /// How the analog channels share lanes, the phases first.
    pub lanes: Vec<Lane>,
    /// The three-phase sets, those of the samples first.
    pub sets: Vec<SignalSet>,
    /// Frequency and inception.
    pub facts: FaultFacts,
    /// Type, phases and times in closed form.
    pub analysis: Option<Arc<FaultAnalysis>>,
    /// Why there is none.
    pub no_analysis: Option<String>,
    /// Changes of digital channels and what the currents tell.
    pub events: Vec<RecordEvent>,
    /// The trigger that the record names.
    pub trigger_s: Option<f64>,
    /// Times where the sampling rate changes, with the new rate.
    pub rate_changes: Vec<(f64, f64)>,
    /// Times of the first and the last sample.
    pub span_s: (f64, f64),
    /// Peak volts and amperes of the line that count as 1 per unit.
    pub bases: [Option<f64>; 2],
    /// Those that count unless the user gives others: of the settings of the data, or of the last normal cycle.
    own_bases: [Option<f64>; 2],
}

/// What the settings say that the record does not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenFacts {
    /// Channels named by hand.
    pub phases: PhaseChoice,
    /// Nominal frequency.
    pub nominal_hz: Option<f64>,
    /// Where the fault begins; without one the first lasting change.
    pub inception: Option<Inception>,
    /// Calculated channels as lines of text.
    pub calculated: Vec<String>,
    /// Peak volts and amperes that count as 1 per unit.
    pub bases: Option<[f64; 2]>,
}

impl FaultRecord {
    /// Reads all channels of a record. `go_on` hears the share done and stops the work by saying false.
    pub fn read(
        record: &Record,
        name: String,
        given: &GivenFacts,
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Self, TaskError> {
        let usual = FaultRecipe::default();
        let recipe = FaultRecipe {
            phases: given.phases.clone(),
            nominal_hz: given.nominal_hz,
            inception: given.inception.unwrap_or(usual.inception),
            ..usual
        };
        let map = recipe.phase_map(record);
        let sets = PhaseSet::all(&record.channels, &map);
        let is_analog = |kind: &ChannelKind| *kind == ChannelKind::Analog;
        let analog = record.channels.iter().filter(|c| is_analog(&c.kind));
        let n_values: usize = analog.map(|channel| channel.n_samples).sum();
        if n_values > MOST_VALUES {
            return Err(TaskError::Refused(format!(
                "{name} holds {n_values} values, more than the {MOST_VALUES} that are shown at once: cut it into shorter records"
            )));
        }
        let mut places = vec![None; record.channels.len()];
        let (mut signals, mut digital) = (Vec::new(), Vec::new());
        let mut known_times: Vec<Arc<SampleTimes>> = Vec::new();
        for (channel, facts) in record.channels.iter().enumerate() {
            if !go_on(channel as f64 / record.channels.len() as f64) {
                return Err(TaskError::Cancelled);
            }
            let timeless = || {
                let reason = format!("{name} has no time stamps and no sampling rate");
                TaskError::Refused(reason)
            };
            let times = SampleTimes::of(record, channel).ok_or_else(timeless)?;
            // Nearly always all channels have the same times: they are kept once.
            let shared = known_times.iter().find(|known| ***known == times).cloned();
            let times = shared.unwrap_or_else(|| Arc::new(times));
            known_times.push(times.clone());
            known_times.dedup_by(|a, b| Arc::ptr_eq(a, b));
            let values = record.read_channel(channel)?;
            if is_analog(&facts.kind) {
                places[channel] = Some(signals.len());
                let of_set = sets.iter().find(|set| set.channels.contains(&channel));
                signals.push(GridSignal {
                    name: facts.name.clone(),
                    unit: facts.unit.clone(),
                    quantity: of_set.map(|set| set.quantity).or(facts.unit.quantity),
                    phase: of_set.and_then(|set| set.channels.iter().position(|c| *c == channel)),
                    times,
                    extent: extent(&values),
                    blocks: block_extents(&values),
                    values,
                    grid: facts.grid.clone(),
                });
            } else {
                digital.push(DigitalSignal {
                    name: facts.name.clone(),
                    edges: edges(&times, &values),
                });
            }
        }
        let place = |channel: usize| places[channel].unwrap_or(0);
        let sets: Vec<SignalSet> = sets
            .iter()
            .map(|set| SignalSet {
                quantity: set.quantity,
                signals: set.channels.map(place),
            })
            .collect();
        let spans = known_times.iter().filter_map(|times| times.span_s());
        // Time stamps of a damaged record may go backwards.
        let spans = spans.map(|(first, last)| (first.min(last), first.max(last)));
        let span_s = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let of_first = signals.first().map(|signal| signal.times.clone());
        let clock = of_first.or_else(|| known_times.first().cloned());
        let (Some(span_s), Some(clock)) = (span_s, clock) else {
            return Err(TaskError::Refused(format!("{name} has no sample to show")));
        };
        let (analysis, no_analysis) = match FaultAnalysis::of(record, &recipe) {
            Ok(analysis) => (Some(Arc::new(analysis)), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let mut facts = FaultFacts::of(record, &map, given.nominal_hz);
        if let (Some(_), Some(analysis)) = (given.inception, &analysis) {
            facts.inception_s = analysis.inception_s;
        }
        let uncalculated = add_calculated(&mut signals, &map, &places, &facts, given);
        let grid = record.grid.clone().unwrap_or_default();
        let mut read = Self {
            station: grid.station,
            start: record.start,
            source: Arc::new(record.clone()),
            bays: Bay::all(&record.channels),
            uncalculated,
            events: events(record, analysis.as_deref())?,
            analysis,
            no_analysis,
            name,
            lanes: lanes(&signals, &sets),
            signals: signals.into(),
            clock,
            digital,
            sets,
            facts,
            trigger_s: record.grid.as_ref().and_then(|grid| grid.trigger_s),
            rate_changes: rate_changes(record),
            span_s,
            bases: [None, None],
            own_bases: [None, None],
        };
        read.own_bases = match given.bases {
            Some(bases) => bases.map(Some),
            None => [Quantity::Voltage, Quantity::Current].map(|q| read.normal(q)),
        };
        read.bases = read.own_bases;
        Ok(read)
    }

    /// Peak values that count as 1 per unit where the user gives them, those of the record elsewhere.
    fn bases_with(&self, given: [Option<f64>; 2]) -> [Option<f64>; 2] {
        [0, 1].map(|place| given[place].or(self.own_bases[place]))
    }

    /// The first three-phase set of a quantity.
    pub fn set_of(&self, quantity: Quantity) -> Option<&SignalSet> {
        self.sets.iter().find(|set| set.quantity == quantity)
    }

    /// The three phases of a set as they are measured.
    pub fn phases(&self, set: &SignalSet) -> [Sampled<'_>; 3] {
        set.signals.map(|place| self.signals[place].sampled())
    }

    /// Peak value of the line that is normal for a quantity.
    fn normal(&self, quantity: Quantity) -> Option<f64> {
        let set = self.set_of(quantity)?;
        let inception_s = self.facts.inception_s;
        let amplitude = normal_amplitude(&self.phases(set), inception_s, self.facts.nominal_hz?)?;
        let first = &self.signals[set.signals[0]];
        Some(amplitude * first.in_line_units())
    }

    /// What turns the samples of a signal into what is shown. Where a ratio or a base is not known, per unit falls
    /// back to the values as recorded.
    pub fn scale(&self, signal: &GridSignal, scale: ValueScale) -> ShownScale {
        let plain = |ratio: f64| {
            let (unit_size, unit) = self.shown_unit(signal, scale);
            let factor = ratio * signal.unit.in_base / unit_size;
            ShownScale {
                factor,
                rms_factor: factor,
                unit,
            }
        };
        let base = match signal.quantity {
            Some(Quantity::Voltage) => self.bases[0],
            Some(Quantity::Current) => self.bases[1],
            _ => None,
        };
        match (scale, base) {
            (ValueScale::Primary, _) | (ValueScale::PerUnit, None) => plain(signal.to_primary()),
            (ValueScale::Secondary, _) => {
                let grid = signal.grid.as_ref();
                plain(grid.map_or(1.0, GridChannel::to_secondary))
            }
            (ValueScale::PerUnit, Some(base)) => {
                let factor = signal.in_line_units() / base;
                ShownScale {
                    factor,
                    rms_factor: factor * 2.0_f64.sqrt(),
                    unit: "pu".into(),
                }
            }
        }
    }

    /// What turns secondary into primary ohms: the ratio of the voltage over that of the current transformers.
    pub fn impedance_ratio(&self) -> Option<f64> {
        let analysis = self.analysis.as_ref()?;
        let [voltage, _, _, current, ..] = analysis.bay.channels;
        let ratio = |channel: usize| {
            let grid = self.source.channels.get(channel)?.grid.as_ref()?;
            Some(grid.primary / grid.secondary)
        };
        let ratio = ratio(voltage)? / ratio(current)?;
        (ratio.is_finite() && ratio > 0.0 && ratio != 1.0).then_some(ratio)
    }

    /// Size and name of the unit that values are shown in: kV and kA of the line where they reach a thousand.
    fn shown_unit(&self, signal: &GridSignal, scale: ValueScale) -> (f64, String) {
        let name = match signal.unit.quantity {
            Some(Quantity::Voltage) => "V",
            Some(Quantity::Current) => "A",
            _ => return power_unit(signal),
        };
        let is_large = |other: &GridSignal| {
            let (low, high) = other.extent;
            let largest = high.max(-low) * other.in_line_units();
            other.unit.quantity == signal.unit.quantity && largest >= 1e3
        };
        match scale != ValueScale::Secondary && self.signals.iter().any(is_large) {
            true => (1e3, format!("k{name}")),
            false => (1.0, name.to_owned()),
        }
    }

    /// Whether the record tells both primary and secondary values of some channel.
    pub fn has_ratios(&self) -> bool {
        self.signals.iter().any(|signal| {
            let grid = signal.grid.as_ref();
            grid.is_some_and(|grid| grid.to_primary() != grid.to_secondary())
        })
    }
}

/// Size and name of the unit of what is no voltage or current: watts with the prefix that suits them, others as they are.
fn power_unit(signal: &GridSignal) -> (f64, String) {
    let symbol = &signal.unit.symbol;
    let (low, high) = signal.extent;
    let largest = high.max(-low);
    let prefix = match symbol.as_str() {
        "W" | "var" | "VA" if largest >= 1e6 => Some((1e6, "M")),
        "W" | "var" | "VA" if largest >= 1e3 => Some((1e3, "k")),
        _ => None,
    };
    match prefix {
        Some((size, letter)) => (size, format!("{letter}{symbol}")),
        None => (signal.unit.in_base, symbol.clone()),
    }
}

/// Channels that calculated lines may name: by their own names, or VA … IC of the bay.
struct NamedSignals<'a> {
    signals: &'a [GridSignal],
    phases: [Option<usize>; 6],
}

impl NamedSignals<'_> {
    fn find(&self, name: &str) -> Option<&GridSignal> {
        let own = self.signals.iter().find(|signal| signal.name == name);
        let of_bay = || {
            let place = PHASE_NAMES.iter().position(|phase| *phase == name)?;
            self.signals.get(self.phases[place]?)
        };
        own.or_else(of_bay)
    }
}

impl Channels for NamedSignals<'_> {
    fn values(&self, name: &str) -> Option<Vec<f64>> {
        let signal = self.find(name)?;
        let factor = signal.in_line_units();
        Some(signal.values.iter().map(|value| value * factor).collect())
    }
}

/// Adds the calculated channels, in primary volts and amperes; gives what is wrong with the lines that have none.
fn add_calculated(
    signals: &mut Vec<GridSignal>,
    map: &PhaseMap,
    places: &[Option<usize>],
    facts: &FaultFacts,
    given: &GivenFacts,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let lines = given.calculated.iter().map(|line| line.trim());
    for line in lines.filter(|line| !line.is_empty()) {
        match calculated(line, signals, map, places, facts) {
            Ok(signal) => signals.push(signal),
            Err(reason) => wrong.push(format!("{line}: {reason}")),
        }
    }
    wrong
}

fn calculated(
    line: &str,
    signals: &[GridSignal],
    map: &PhaseMap,
    places: &[Option<usize>],
    facts: &FaultFacts,
) -> Result<GridSignal, TaskError> {
    let refused = |error: &dyn std::fmt::Display| TaskError::Refused(error.to_string());
    let times = signals.first().map(|signal| signal.times.clone());
    let times = times.ok_or_else(|| TaskError::refused("the record has no analog channel"))?;
    let rate_hz = match &*times {
        SampleTimes::Stretches(sections) if sections.len() == 1 => sections[0].rate_hz,
        _ => {
            let reason = "calculated channels need one sampling rate and no gap in the record";
            return Err(TaskError::refused(reason));
        }
    };
    let frequency_hz = facts.nominal_hz;
    let channels = NamedSignals {
        signals,
        phases: map.channels.map(|channel| places.get(channel?).copied()?),
    };
    let context = Context {
        rate_hz,
        frequency_hz: frequency_hz
            .ok_or_else(|| TaskError::refused("the nominal frequency is not known"))?,
        channels: &channels,
    };
    let calculation = Calculation::parse(line).map_err(|error| refused(&error))?;
    let mut values = calculation
        .compute(&context)
        .map_err(|error| refused(&error))?;
    if let [constant] = values[..] {
        values = vec![constant; times.n_samples()];
    }
    let unit = calculation.unit(&|name: &str| {
        let quantity = channels.find(name).and_then(|signal| signal.unit.quantity);
        match quantity {
            Some(Quantity::Voltage) => "V".to_owned(),
            Some(Quantity::Current) => "A".to_owned(),
            _ => String::new(),
        }
    });
    // What is still volts or amperes has secondary values too: by the ratio of the channel it is made of.
    let first = calculation
        .first_channel()
        .and_then(|name| channels.find(name));
    let grid = first.and_then(|signal| signal.grid.clone());
    let grid = grid.filter(|_| matches!(unit.as_str(), "V" | "A"));
    let grid = grid.map(|grid| GridChannel {
        scaling: Some(TransformerSide::Primary),
        ..grid
    });
    Ok(GridSignal {
        name: calculation.name,
        unit: Unit::parse(&unit),
        quantity: None,
        phase: None,
        extent: extent(&values),
        blocks: block_extents(&values),
        times,
        values,
        grid,
    })
}

/// One lane for each three-phase set, then one for each other signal.
fn lanes(signals: &[GridSignal], sets: &[SignalSet]) -> Vec<Lane> {
    let in_sets = sets.iter().map(|set| Lane {
        title: set
            .signals
            .map(|place| signals[place].name.as_str())
            .join(", "),
        signals: set.signals.to_vec(),
    });
    let is_single = |place: &usize| sets.iter().all(|set| !set.signals.contains(place));
    let singles = (0..signals.len()).filter(is_single).map(|place| Lane {
        title: signals[place].name.clone(),
        signals: vec![place],
    });
    in_sets.chain(singles).collect()
}

/// Takes over the bases that the user gives for a record; its samples are not copied.
pub(super) fn follow_bases(record: &mut Arc<FaultRecord>, given: [Option<f64>; 2]) {
    let bases = record.bases_with(given);
    if bases != record.bases {
        Arc::make_mut(record).bases = bases;
    }
}

pub(super) fn extent(values: &[f64]) -> (f64, f64) {
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high { (0.0, 0.0) } else { (low, high) }
}

/// Samples of a block of a signal.
pub const BLOCK_SAMPLES: usize = 64;

pub(super) fn block_extents(values: &[f64]) -> Vec<MinMax> {
    let extent = |block: &[f64]| {
        let finite = block.iter().filter(|value| value.is_finite());
        finite.fold(MinMax::NOTHING, |extent, value| extent.with(*value as f32))
    };
    values.chunks(BLOCK_SAMPLES).map(extent).collect()
}

fn edges(times: &SampleTimes, values: &[f64]) -> Vec<(f64, bool)> {
    let mut edges: Vec<(f64, bool)> = Vec::new();
    for (sample, value) in values.iter().enumerate() {
        let state = *value > 0.5;
        if edges.last().is_none_or(|(_, before)| *before != state) {
            edges.extend(times.time_s(sample).map(|time_s| (time_s, state)));
        }
    }
    edges
}

fn rate_changes(record: &Record) -> Vec<(f64, f64)> {
    let TimeAxis::Sections(sections) = &record.time_axis else {
        return Vec::new();
    };
    let later = sections.iter().skip(1);
    later
        .map(|section| (section.onset_s, section.rate_hz))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use atomscope_engine::records::{Channel, Format, GridFacts, Kind, TransformerSide};
    use std::f64::consts::PI;

    fn grid(primary: f64, secondary: f64, scaling: TransformerSide) -> Option<GridChannel> {
        Some(GridChannel {
            phase: String::new(),
            circuit: String::new(),
            primary,
            secondary,
            scaling: Some(scaling),
            skew_s: 0.0,
        })
    }

    /// Voltages of 60 V behind a transformer of 110 kV : 100 V, currents of 300 A of the line, 200 : 5.
    fn record() -> Record {
        let wave = |size: f64, phase: usize| -> Vec<f64> {
            let turn = |t: usize| 2.0 * PI * (t as f64 / 32.0 - phase as f64 / 3.0);
            (0..320).map(|t| size * turn(t).cos()).collect()
        };
        let mut data = Vec::new();
        for (phase, letter) in ["A", "B", "C"].iter().enumerate() {
            let mut voltage =
                Channel::analog(format!("V{letter}"), Unit::parse("V"), Some(1600.0), 0);
            voltage.grid = grid(110_000.0, 100.0, TransformerSide::Secondary);
            data.push((voltage, wave(60.0, phase)));
        }
        for (phase, letter) in ["A", "B", "C"].iter().enumerate() {
            let mut current =
                Channel::analog(format!("I{letter}"), Unit::parse("kA"), Some(1600.0), 0);
            current.grid = grid(200.0, 5.0, TransformerSide::Primary);
            data.push((current, wave(0.3, phase)));
        }
        let trip = Channel {
            kind: ChannelKind::Digital { normal: None },
            ..Channel::analog("TRIP", Unit::none(), Some(1600.0), 0)
        };
        let states = (0..320).map(|t| f64::from(u8::from(t >= 160))).collect();
        data.push((trip, states));
        let mut record = Record::in_memory(Format::Comtrade1999, Kind::FaultRecord, "relay", data);
        record.grid = Some(GridFacts {
            line_frequency_hz: Some(50.0),
            ..GridFacts::default()
        });
        record
    }

    fn read() -> FaultRecord {
        let given = GivenFacts::default();
        FaultRecord::read(&record(), "relay".into(), &given, &mut |_| true).expect("in memory")
    }

    #[test]
    fn primary_secondary_and_per_unit_values_follow_ratios_and_bases() {
        let read = read();
        let shown = |place: usize, scale| {
            let signal = &read.signals[place];
            let scale = read.scale(signal, scale);
            (signal.extent.1 * scale.factor, scale.unit)
        };
        let near = |(value, unit): (f64, String), expected: f64, name: &str| {
            assert!((value / expected - 1.0).abs() < 1e-9, "{value} {unit}");
            assert_eq!(unit, name);
        };
        near(shown(0, ValueScale::Primary), 66.0, "kV");
        near(shown(0, ValueScale::Secondary), 60.0, "V");
        near(shown(0, ValueScale::PerUnit), 1.0, "pu");
        near(shown(3, ValueScale::Primary), 300.0, "A");
        near(shown(3, ValueScale::Secondary), 7.5, "A");
        near(shown(3, ValueScale::PerUnit), 1.0, "pu");
        assert!(read.has_ratios());
        // The RMS of a normal sine is 1 per unit too.
        let scale = read.scale(&read.signals[0], ValueScale::PerUnit);
        assert!((60.0 / 2.0_f64.sqrt() * scale.rms_factor - 1.0).abs() < 1e-9);
    }

    #[test]
    fn phases_share_a_lane_and_digital_channels_keep_their_edges() {
        let read = read();
        let titles: Vec<&str> = read.lanes.iter().map(|lane| lane.title.as_str()).collect();
        assert_eq!(titles, ["VA, VB, VC", "IA, IB, IC"]);
        assert_eq!(read.signals[4].phase, Some(1));
        let trip = &read.digital[0];
        assert_eq!(trip.edges, [(0.0, false), (0.1, true)]);
        assert_eq!(trip.state_at(0.05), Some(false));
        assert_eq!(trip.state_at(0.1), Some(true));
        assert!(trip.changes());
        assert_eq!(read.facts.inception_s, None);
    }

    #[test]
    fn given_bases_go_before_measured_ones() {
        let given = GivenFacts {
            bases: Some([33_000.0, 600.0]),
            ..GivenFacts::default()
        };
        let read = FaultRecord::read(&record(), "relay".into(), &given, &mut |_| true);
        let read = read.expect("in memory");
        let scale = read.scale(&read.signals[0], ValueScale::PerUnit);
        assert!((60.0 * scale.factor - 2.0).abs() < 1e-9);
        // Those of the user go before both, each for itself, and can be taken back.
        let mut read = Arc::new(read);
        follow_bases(&mut read, [Some(66_000.0), None]);
        assert_eq!(read.bases, [Some(66_000.0), Some(600.0)]);
        follow_bases(&mut read, [None, None]);
        assert_eq!(read.bases, [Some(33_000.0), Some(600.0)]);
    }

    #[test]
    fn changes_between_two_cursors_are_counted_in_either_order() {
        let trip = DigitalSignal {
            name: "TRIP".into(),
            edges: vec![(0.0, false), (0.1, true), (0.2, false), (0.3, true)],
        };
        assert_eq!(trip.changes_between(0.05, 0.25), 2);
        assert_eq!(trip.changes_between(0.25, 0.05), 2);
        assert_eq!(
            trip.changes_between(0.1, 0.2),
            1,
            "that at the first cursor is before"
        );
        assert_eq!(trip.changes_between(-1.0, 9.0), 3);
        assert_eq!(trip.changes_between(0.31, 9.0), 0);
    }

    #[test]
    fn a_record_of_digital_channels_alone_is_read() {
        let trip = Channel {
            kind: ChannelKind::Digital { normal: None },
            ..Channel::analog("TRIP", Unit::none(), Some(1000.0), 0)
        };
        let states = (0..100).map(|t| f64::from(u8::from(t >= 40))).collect();
        let kind = Kind::FaultRecord;
        let record = Record::in_memory(Format::Comtrade1999, kind, "relay", vec![(trip, states)]);
        let given = GivenFacts::default();
        let read = FaultRecord::read(&record, "relay".into(), &given, &mut |_| true);
        let read = read.expect("its states are shown");
        assert_eq!(read.span_s, (0.0, 0.099));
        assert_eq!(read.digital[0].edges, [(0.0, false), (0.04, true)]);
        assert!(read.lanes.is_empty() && read.signals.is_empty());
    }
}
