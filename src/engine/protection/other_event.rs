//! Other events of a records inbox whose phasors look like those of a fault: inrush, motor start, switched capacitor, load.

use std::fmt;

use crate::features::fault_phasors::FaultPhasors;
use crate::features::phase_signals::PhaseSignals;
use crate::features::phasor::{phasor, sequence_components};
use crate::features::resample::resample;
use crate::simulate::feeder::FaultClass;

use super::course::CourseStage;
use super::rule::{ISOLATED_ZERO, RuleVerdict};

/// Second harmonic in every phase that carries it from which a change is an inrush: simulated faults have less than 0.04
/// once a cycle is over, saturated current transformers give more, but not in all phases for long.
const INRUSH_HARMONIC: f64 = 0.12;
/// A phase carries it if its current has grown by this factor: with an earthed star one core may stay unsaturated, and
/// what is left of an interrupted current has no meaningful harmonics.
const INRUSH_GROWTH: f64 = 1.1;
/// Phases that an inrush has at least.
const INRUSH_PHASES: usize = 2;
/// Cycles after the inception from which two cycles are looked at,
const INRUSH_FROM: f64 = 3.0;
/// or in a shorter record the last ones, one at least, but none before this.
const INRUSH_EARLIEST: f64 = 1.0;
/// Cycles at the end of a record in which an interruption is not seen: poles open one by one, and a quiet half cycle
/// must follow.
const UNSEEN_CYCLES: f64 = 1.25;
/// Fewest samples per cycle that show a second harmonic.
const INRUSH_SAMPLES: f64 = 8.0;

/// Positive-sequence voltage, per unit, above which a balanced change may be a motor start,
const MOTOR_VOLTAGE: f64 = 0.88;
/// if the current grows by no more than this: 4 to 8 times the rated current of a motor, beside other load,
const MOTOR_GROWTH: f64 = 50.0;
/// or nothing to speak of flowed before, as on the feeder of a single motor;
const MOTOR_ALONE: f64 = 200.0;
/// and X/R of V1/ΔI1 is that of a power factor of 0.12 to 0.4 (8.3 to 2.3), with room for what noise and DC do to it.
const MOTOR_X_OVER_R: std::ops::RangeInclusive<f64> = 1.9..=12.0;

/// Positive-sequence voltage, per unit, above which a balanced change may be a load,
const LOAD_VOLTAGE: f64 = 0.95;
/// if it is less inductive than a motor that starts.
const LOAD_X_OVER_R: f64 = 1.9;

/// A change that passes by itself may be a switched capacitor if the positive sequence keeps this much,
const SWITCHING_VOLTAGE: f64 = 0.9;
/// and no current grows by this factor.
const SWITCHING_GROWTH: f64 = 1.2;

/// What a change may be that the rule takes for a fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OtherEvent {
    /// A transformer is switched on; smallest share of the second harmonic.
    Inrush(f64),
    /// A motor starts; voltage that is left, per unit.
    MotorStart(f64),
    /// A capacitor bank or a line is switched on; the time after which the change has passed.
    Switching(f64),
    /// A large load joins, or a fault of high resistance; voltage that is left, per unit.
    Load(f64),
}

impl OtherEvent {
    /// Whether the event is likelier than the fault, so that the rule gives no verdict.
    pub fn is_likelier(self) -> bool {
        !matches!(self, Self::Load(_))
    }
}

impl fmt::Display for OtherEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inrush(share) => write!(
                f,
                "the currents that have grown keep a second harmonic of {:.0} % or more, as the inrush of a transformer has",
                100.0 * share
            ),
            Self::MotorStart(voltage) => write!(
                f,
                "the voltage keeps {:.0} % and the current is balanced, inductive and not interrupted, as when a motor starts",
                100.0 * voltage
            ),
            Self::Switching(lasts_s) => write!(
                f,
                "the change passes by itself within {:.0} ms and no current grows, as when a capacitor is switched on",
                1e3 * lasts_s
            ),
            Self::Load(voltage) => write!(
                f,
                "the voltage keeps {:.0} % and the change is balanced, hardly inductive and not interrupted, as when a large load joins",
                100.0 * voltage
            ),
        }
    }
}

/// A change that the rule takes for a fault, and its course.
pub(super) struct Suspect<'a> {
    pub(super) signals: &'a PhaseSignals,
    pub(super) phasors: &'a FaultPhasors,
    pub(super) verdict: RuleVerdict,
    pub(super) inception_s: f64,
    pub(super) clearing_s: Option<f64>,
    pub(super) stages: &'a [CourseStage],
}

impl Suspect<'_> {
    /// What it looks like beside a fault.
    pub(super) fn other_event(&self) -> Option<OtherEvent> {
        let share = self.second_harmonic().filter(|s| *s > INRUSH_HARMONIC);
        let inrush = share.map(OtherEvent::Inrush);
        inrush
            .or_else(|| self.balanced_event())
            .or_else(|| self.switching())
    }

    /// The start of a motor or a load that joins: Z = V1 / ΔI1 tells them apart, and both from most faults, which are
    /// mostly resistance where they leave so much voltage, or large against the load, or soon interrupted. The signs of
    /// X and R are those of the current transformers' polarity.
    fn balanced_event(&self) -> Option<OtherEvent> {
        let phasors = self.phasors;
        let kept = phasors.positive_voltage();
        let is_steady = self.verdict.class == FaultClass::ThreeLine
            && self.clearing_s.is_none()
            && !phasors.was_dead;
        is_steady.then_some(())?;
        let before = phasors.mean_current_before();
        let now = phasors.currents.iter().map(|i| i.norm()).sum::<f64>() / 3.0;
        let is_motor_size = now < MOTOR_GROWTH * before || now > MOTOR_ALONE * before;
        let [_, voltage, _] = sequence_components(phasors.voltages);
        let [_, change, _] = phasors.current_sequences();
        let power = voltage * change.conj();
        let x_over_r = power.im.abs() / power.re.abs();
        if kept > MOTOR_VOLTAGE && is_motor_size && MOTOR_X_OVER_R.contains(&x_over_r) {
            return Some(OtherEvent::MotorStart(kept));
        }
        (kept > LOAD_VOLTAGE && x_over_r < LOAD_X_OVER_R).then_some(OtherEvent::Load(kept))
    }

    /// A change that is over without an interruption, though the voltage was kept and no current grew.
    fn switching(&self) -> Option<OtherEvent> {
        let phasors = self.phasors;
        let [zero, _, _] = phasors.voltage_sequences();
        let largest = phasors
            .currents
            .iter()
            .map(|i| i.norm())
            .fold(0.0, f64::max);
        let last = self.stages.last()?;
        let is_switching = last.verdict.class == FaultClass::NoFault
            && self.clearing_s.is_none()
            && !phasors.was_dead
            && zero.norm() < ISOLATED_ZERO
            && phasors.positive_voltage() > SWITCHING_VOLTAGE
            && largest < SWITCHING_GROWTH * phasors.mean_current_before();
        is_switching.then_some(OtherEvent::Switching(last.start_s - self.inception_s))
    }

    /// The second harmonic of the currents as a share of the fundamental: the smallest of the phases whose current has
    /// grown, so that one saturated current transformer does not suffice. None of a current that is interrupted at
    /// once, or sampled too rarely, or where less than two have grown.
    fn second_harmonic(&self) -> Option<f64> {
        const POINTS: usize = 64;
        let signals = self.signals;
        let frequency_hz = self.phasors.frequency_hz;
        let cycle = signals.rate_hz / frequency_hz;
        // What an interruption does to a wave is no second harmonic.
        let seen_s = signals.end_s() - UNSEEN_CYCLES / frequency_hz;
        let end_s = self
            .clearing_s
            .map_or(seen_s, |at_s| at_s - 1.0 / frequency_hz);
        let cycles = (end_s - self.inception_s) * frequency_hz;
        let n_cycles = if cycles >= INRUSH_EARLIEST + 2.0 {
            2
        } else {
            1
        };
        let from = (cycles - n_cycles as f64).min(INRUSH_FROM);
        (cycle >= INRUSH_SAMPLES && from >= INRUSH_EARLIEST).then_some(())?;
        let mut before = self.phasors.currents_before.map(|i| i.norm());
        if self.phasors.is_acb {
            before.swap(1, 2);
        }
        let start_s = self.inception_s + from / frequency_hz;
        let mut shares = Vec::with_capacity(3);
        for (channel, before) in (3..6).zip(before) {
            let start = signals.position(channel, start_s);
            let current = &signals.values[channel];
            let wave = resample(current, start, cycle / POINTS as f64, n_cycles * POINTS)?;
            let [first, second] = [1, 2].map(|order| phasor(&wave, n_cycles, order).norm());
            if first > INRUSH_GROWTH * before {
                shares.push(second / first);
            }
        }
        (shares.len() >= INRUSH_PHASES).then_some(())?;
        let smallest = shares.into_iter().fold(f64::INFINITY, f64::min);
        smallest.is_finite().then_some(smallest)
    }
}
