//! Other events of a records inbox whose phasors look like those of a fault: inrush, motor start, switched capacitor, load.

use std::f64::consts::TAU;
use std::fmt;

use num_complex::Complex64;

use crate::features::fault_phasors::FaultPhasors;
use crate::features::phase_signals::PhaseSignals;
use crate::features::phasor::sequence_components;
use crate::math::{Cholesky, Matrix};
use crate::simulate::feeder::FaultClass;

use super::course::CourseStage;
use super::rule::{ISOLATED_ZERO, RuleVerdict};

/// Second harmonic in every phase that carries it from which a change is an inrush: simulated faults have less than 0.04
/// once a cycle is over, saturated current transformers give more, but not in all phases for long.
const INRUSH_HARMONIC: f64 = 0.12;
/// A phase carries it if its current has changed by this share: with an earthed star one core may stay unsaturated,
const INRUSH_CHANGE: f64 = 0.05;
/// and by this share of the largest change;
const INRUSH_SHARE: f64 = 0.1;
/// one at least has grown by this factor, since what is left of an interrupted current has no meaningful harmonics.
const INRUSH_GROWTH: f64 = 1.03;
/// An inrush fades: where the currents grow by this factor from an earlier cycle on, a fault evolves.
const INRUSH_FADING: f64 = 1.3;
/// Phases that an inrush has at least.
const INRUSH_PHASES: usize = 2;
/// Cycles after the inception from which two cycles are looked at,
const INRUSH_FROM: f64 = 3.0;
/// and the last ones, where a core that is driven far has come back and a current transformer has recovered; in a
/// shorter record these alone, one at least, but none before this.
const INRUSH_EARLIEST: f64 = 1.0;
/// Where too little is left by then, the latest of these cycles in which there is enough.
const INRUSH_FADES: [f64; 3] = [2.0, 1.0, 0.5];
/// Cycles at the end of a record in which an interruption is not seen: poles open one by one, and a quiet half cycle
/// must follow.
const UNSEEN_CYCLES: f64 = 1.25;
/// Fewest samples per cycle that show a second harmonic, at a frequency somewhat above the nominal one too.
const INRUSH_SAMPLES: f64 = 4.9;

/// Positive-sequence voltage, per unit, above which a balanced change may be a motor start,
const MOTOR_VOLTAGE: f64 = 0.85;
/// if the current grows by no more than this: 4 to 8 times the rated current of a motor, beside other load,
const MOTOR_GROWTH: f64 = 50.0;
/// or nothing to speak of flowed before, as on the feeder of a single motor;
const MOTOR_ALONE: f64 = 200.0;
/// or down to this voltage, below which motors are not started, if it is one of the largest loads: it takes up to eight
/// times its rated current, which flows in the others before.
const MOTOR_LEAST_VOLTAGE: f64 = 0.8;
const LARGE_MOTOR_GROWTH: f64 = 8.0;
/// and X/R of V1 and the current that has come is that of a power factor of 0.12 to 0.4 (8.3 to 2.3), with room for what noise and DC do to it.
const MOTOR_X_OVER_R: std::ops::RangeInclusive<f64> = 1.7..=12.0;
/// What flowed before was a load if its positive sequence exceeds the others by this factor; else it was noise.
const LOAD_BALANCE: f64 = 2.0;
/// A current that is interrupted is still this share of what it was one cycle after the inception; that of a motor that
/// has come up to speed has faded.
const INTERRUPTED_SHARE: f64 = 0.5;

/// Positive-sequence voltage, per unit, above which a balanced change may be a load,
const LOAD_VOLTAGE: f64 = 0.95;
/// or above which it may be one if the current grows by no more than this,
const LARGE_LOAD_VOLTAGE: f64 = 0.88;
const LARGE_LOAD_GROWTH: f64 = 3.0;
/// if it is less inductive than a motor that starts.
const LOAD_X_OVER_R: f64 = 1.7;

/// A change that passes by itself may be a switched capacitor if the positive sequence keeps this much,
const SWITCHING_VOLTAGE: f64 = 0.9;
/// and no current grows by this factor,
const SWITCHING_GROWTH: f64 = 1.2;
/// or it passes within so many cycles, which no breaker is as fast as.
const SWITCHING_CYCLES: f64 = 1.5;
/// It is one, whether it passes or not, if the positive sequence rises by this factor, which no fault makes it do.
const SWITCHING_RISE: f64 = 1.03;
/// Positive-sequence voltage, per unit, above which a change that is not interrupted may be an inrush, where samples are
/// too few to show its second harmonic.
const COARSE_VOLTAGE: f64 = 0.85;

/// Negative sequence of the voltages before the change, as a share of the positive one, that no healthy network has.
const UNBALANCE_BEFORE: f64 = 0.06;
/// The same if the currents are as unbalanced as those of a fault: by their own negative sequence.
const UNBALANCE_WITH_CURRENT: f64 = 0.025;
const CURRENT_UNBALANCE: f64 = 0.3;
/// A fault that another bay sees first begins with an unbalance that grows by this factor.
const UNBALANCE_GROWS: f64 = 1.3;
/// Zero sequence of the voltages before that only an earth fault has, as a share of the positive one, if it then
const ZERO_BEFORE: f64 = 0.25;
/// drops to this share, or nothing changes; otherwise a second fault has joined it.
const ZERO_GONE: f64 = 0.3;
/// A voltage that rises by this factor while no current grows is one that comes back;
const RECOVERY: f64 = 1.15;
/// or by this one, if an inductive current, as of a fault behind a line, drops to this share.
const INDUCTIVE_RECOVERY: f64 = 1.03;
const RECOVERED_CURRENT: f64 = 0.2;

/// What a change may be other than the inception of a fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OtherEvent {
    /// A transformer is switched on; smallest share of the second harmonic.
    Inrush(f64),
    /// A motor starts; voltage that is left, per unit.
    MotorStart(f64),
    /// A capacitor bank or a line is switched on; the time after which the change has passed.
    Switching(f64),
    /// The same, known by the voltage that has risen; factor by which it has.
    Raised(f64),
    /// Too few samples a cycle to tell an inrush from a fault that is not interrupted.
    Coarse(f64),
    /// A large load joins, or a fault of high resistance; voltage that is left, per unit.
    Load(f64),
    /// The record begins within a fault of some phases; unbalance of the voltages before the change.
    Unbalanced(f64),
    /// The record begins within a balanced fault, whose end the change is; factor by which the voltage rises.
    Recovery(f64),
}

impl OtherEvent {
    /// Whether the event is likelier than the fault, so that the rule gives no verdict.
    pub fn is_likelier(self) -> bool {
        !matches!(self, Self::Load(_) | Self::Coarse(_))
    }

    /// What the phasors alone say against an inception: a state before it that is not a healthy one.
    pub(super) fn before_inception(phasors: &FaultPhasors, has_inception: bool) -> Option<Self> {
        let sizes = |three| sequence_components(three).map(|x| x.norm());
        let [zero, positive, negative] = sizes(phasors.voltages_before);
        let [zero_after, _, negative_after] = sizes(phasors.voltages);
        let [_, current, current_negative] = sizes(phasors.currents_before);
        let with_currents = current_negative > CURRENT_UNBALANCE * current;
        let most = if with_currents {
            UNBALANCE_WITH_CURRENT
        } else {
            UNBALANCE_BEFORE
        };
        let grows = has_inception && negative_after > UNBALANCE_GROWS * negative;
        let is_unbalanced = negative > most * positive && !grows;
        let is_earthed =
            zero > ZERO_BEFORE * positive && (!has_inception || zero_after < ZERO_GONE * zero);
        if !phasors.was_dead && (is_unbalanced || is_earthed) {
            return Some(Self::Unbalanced(negative.max(zero) / positive));
        }
        let rise = phasors.positive_voltage();
        let (now, was) = (
            largest_size(phasors.currents),
            phasors.mean_current_before(),
        );
        let positive = |three| sequence_components(three)[1];
        let power = positive(phasors.voltages_before) * positive(phasors.currents_before).conj();
        let is_inductive = power.im.abs() > LOAD_X_OVER_R * power.re.abs();
        let is_end = rise > INDUCTIVE_RECOVERY && is_inductive && now < RECOVERED_CURRENT * was;
        let recovers = (rise > RECOVERY && now <= was || is_end) && !phasors.was_dead;
        recovers.then_some(Self::Recovery(rise))
    }

    /// Whether a decision for a class is to be doubted.
    pub fn doubts(self, class: &str) -> bool {
        let is_about_before = matches!(self, Self::Unbalanced(_) | Self::Recovery(_));
        is_about_before || class != FaultClass::NoFault.name()
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
                "the change passes by itself within {:.0} ms and the voltage is kept, as when a capacitor is switched on",
                1e3 * lasts_s
            ),
            Self::Raised(factor) => write!(
                f,
                "the voltage rises to {factor:.2} times with the change, as when a capacitor or a long line is switched on"
            ),
            Self::Coarse(per_cycle) => write!(
                f,
                "the voltage is kept and no current is interrupted, and {per_cycle:.0} samples a cycle do not show whether it is an inrush"
            ),
            Self::Load(voltage) => write!(
                f,
                "the voltage keeps {:.0} % and the change is balanced, hardly inductive and not interrupted, as when a large load joins",
                100.0 * voltage
            ),
            Self::Unbalanced(share) => write!(
                f,
                "the voltages are unbalanced by {:.0} % before the change that is judged: the record begins within the fault, or a voltage is missing",
                100.0 * share
            ),
            Self::Recovery(factor) => write!(
                f,
                "the voltage rises to {factor:.2} times and no current grows: the record begins within a fault that ends here"
            ),
        }
    }
}

fn largest_size(three: [Complex64; 3]) -> f64 {
    three.into_iter().map(|x| x.norm()).fold(0.0, f64::max)
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
            .or_else(|| self.coarse())
    }

    /// A change that could be an inrush, for all that few samples show.
    fn coarse(&self) -> Option<OtherEvent> {
        let per_cycle = self.signals.rate_hz / self.phasors.frequency_hz;
        let may_be_inrush = per_cycle < INRUSH_SAMPLES
            && self.clearing_s.is_none()
            && self.phasors.positive_voltage() > COARSE_VOLTAGE;
        may_be_inrush.then_some(OtherEvent::Coarse(per_cycle))
    }

    /// The start of a motor or a load that joins: Z = V1 / I1 of what has come tells them apart, and both from most faults, which are
    /// mostly resistance where they leave so much voltage, or large against the load, or soon interrupted. The signs of
    /// X and R are those of the current transformers' polarity.
    fn balanced_event(&self) -> Option<OtherEvent> {
        let phasors = self.phasors;
        let kept = phasors.positive_voltage();
        let is_steady = self.verdict.class == FaultClass::ThreeLine
            && !self.is_interrupted()
            && !phasors.was_dead;
        is_steady.then_some(())?;
        let before = phasors.mean_current_before();
        let now = phasors.currents.iter().map(|i| i.norm()).sum::<f64>() / 3.0;
        let [zero, positive, negative] =
            sequence_components(phasors.currents_before).map(|i| i.norm());
        let is_alone = now > MOTOR_ALONE * before || positive < LOAD_BALANCE * zero.max(negative);
        let is_motor_size = now < MOTOR_GROWTH * before || is_alone;
        // What flowed before follows the voltage; what is beside it has come.
        let positive_of = |three| sequence_components(three)[1];
        let voltage = positive_of(phasors.voltages);
        let share = voltage / positive_of(phasors.voltages_before);
        let come = positive_of(phasors.currents) - positive_of(phasors.currents_before) * share;
        let power = voltage * come.conj();
        let x_over_r = power.im.abs() / power.re.abs();
        let is_large_motor = kept > MOTOR_LEAST_VOLTAGE && now < LARGE_MOTOR_GROWTH * before;
        let is_motor = kept > MOTOR_VOLTAGE && is_motor_size || is_large_motor;
        if is_motor && MOTOR_X_OVER_R.contains(&x_over_r) {
            return Some(OtherEvent::MotorStart(kept));
        }
        let is_large_load = kept > LARGE_LOAD_VOLTAGE && now < LARGE_LOAD_GROWTH * before;
        let is_load = x_over_r < LOAD_X_OVER_R && (kept > LOAD_VOLTAGE || is_large_load);
        is_load.then_some(OtherEvent::Load(kept))
    }

    /// A change that raises the voltage, or that is over without an interruption though the voltage was kept and no
    /// current grew.
    fn switching(&self) -> Option<OtherEvent> {
        let phasors = self.phasors;
        let [zero, _, _] = phasors.voltage_sequences();
        let largest = largest_size(phasors.currents);
        let (kept, before) = (phasors.positive_voltage(), phasors.mean_current_before());
        let may_be = !phasors.was_dead && zero.norm() < ISOLATED_ZERO;
        if may_be && kept > SWITCHING_RISE {
            return Some(OtherEvent::Raised(kept));
        }
        let last = self.stages.last()?;
        let passes = last.verdict.class == FaultClass::NoFault && self.clearing_s.is_none();
        let lasts_s = last.start_s - self.inception_s;
        let is_small = largest < SWITCHING_GROWTH * before;
        let is_short = lasts_s * phasors.frequency_hz < SWITCHING_CYCLES;
        let is_switching = may_be && passes && kept > SWITCHING_VOLTAGE && (is_small || is_short);
        is_switching.then_some(OtherEvent::Switching(lasts_s))
    }

    /// The largest |i| of the three phases over some cycles.
    fn peak(&self, from_s: f64, n_cycles: f64) -> f64 {
        let signals = self.signals;
        let n = (n_cycles * signals.rate_hz / self.phasors.frequency_hz).round() as usize;
        let values = (3..6).flat_map(|channel| {
            let start = signals.position(channel, from_s).max(0.0) as usize;
            signals.values[channel].iter().skip(start).take(n)
        });
        values.fold(0.0, |most: f64, i| most.max(i.abs()))
    }

    /// Whether the current breaks off instead of fading away.
    fn is_interrupted(&self) -> bool {
        let cycle_s = 1.0 / self.phasors.frequency_hz;
        self.clearing_s.is_some_and(|at_s| {
            self.peak(at_s - 1.5 * cycle_s, 1.0)
                >= INTERRUPTED_SHARE * self.peak(self.inception_s + cycle_s, 1.0)
        })
    }

    /// The second harmonic of the currents as a share of the fundamental: the larger of what is left a few cycles after
    /// the inception and at the end.
    fn second_harmonic(&self) -> Option<f64> {
        let frequency_hz = self.phasors.frequency_hz;
        // What an interruption does to a wave is no second harmonic.
        let seen_s = self.signals.end_s() - UNSEEN_CYCLES / frequency_hz;
        let end_s = self
            .clearing_s
            .map_or(seen_s, |at_s| at_s - 1.0 / frequency_hz);
        let cycles = (end_s - self.inception_s) * frequency_hz;
        let n_cycles = if cycles >= INRUSH_EARLIEST + 2.0 {
            2
        } else {
            1
        };
        let last = cycles - n_cycles as f64;
        let is_seen =
            self.signals.rate_hz / frequency_hz >= INRUSH_SAMPLES && last >= INRUSH_EARLIEST;
        is_seen.then_some(())?;
        let late = [last.min(INRUSH_FROM), last].map(|from| self.harmonic_from(from, n_cycles));
        let late = late.into_iter().flatten().reduce(f64::max);
        // What fades beside a load is judged earlier; the current of a fault in a saturated transformer does not fade.
        let fades = late.is_none() && self.clearing_s.is_none();
        let early = fades.then(|| INRUSH_FADES.map(|from| self.harmonic_from(from, 1)));
        late.or_else(|| early.into_iter().flatten().flatten().next())
    }

    /// The second harmonic over some cycles as a share of the change of the fundamental: the smallest of the phases whose
    /// current has changed, so that one saturated current transformer does not suffice. None where less than two have,
    /// or where a fault evolves.
    fn harmonic_from(&self, from: f64, n_cycles: usize) -> Option<f64> {
        let cycle_s = 1.0 / self.phasors.frequency_hz;
        let start_s = self.inception_s + from * cycle_s;
        // Not compared with the cycle just before, which may hold the moment in which a fault evolves.
        let earlier = (from - 2.0).max(0.0);
        let before = self.peak(self.inception_s + earlier * cycle_s, 1.0);
        if from >= 1.0 && self.peak(start_s, n_cycles as f64) > INRUSH_FADING * before {
            return None;
        }
        let mut before = self.phasors.currents_before;
        if self.phasors.is_acb {
            before.swap(1, 2);
        }
        let mut has_grown = false;
        let mut shares = Vec::with_capacity(3);
        for (channel, before) in (3..6).zip(before) {
            let [first, second] = self.harmonics(channel, start_s, n_cycles)?;
            // The load that goes on is no part of what has come.
            let change = (first - before).norm();
            has_grown |= first.norm() > INRUSH_GROWTH * before.norm();
            if change > INRUSH_CHANGE * before.norm() {
                shares.push((change, second.norm() / change));
            }
        }
        let largest = shares
            .iter()
            .fold(0.0, |most: f64, (change, _)| most.max(*change));
        shares.retain(|(change, _)| *change > INRUSH_SHARE * largest);
        (has_grown && shares.len() >= INRUSH_PHASES).then_some(())?;
        let smallest = shares.into_iter().map(|(_, share)| share);
        let smallest = smallest.fold(f64::INFINITY, f64::min);
        smallest.is_finite().then_some(smallest)
    }

    /// Fundamental and second harmonic of a channel over some cycles: with a constant the least squares, which few samples
    /// a cycle suffice for. Angles count from the inception.
    fn harmonics(&self, channel: usize, from_s: f64, n_cycles: usize) -> Option<[Complex64; 2]> {
        const TERMS: usize = 5;
        let signals = self.signals;
        let n = (n_cycles as f64 * signals.rate_hz / self.phasors.frequency_hz).round() as usize;
        let first = signals.position(channel, from_s).ceil().max(0.0) as usize;
        let values = signals.values[channel].get(first..first + n)?;
        let mut normal = Matrix::zeros(TERMS, TERMS);
        let mut found = [0.0; TERMS];
        for (sample, value) in (first..).zip(values) {
            let since_s = signals.time_s(sample) + signals.skews_s[channel] - self.inception_s;
            let (sine, cosine) = (TAU * self.phasors.frequency_hz * since_s).sin_cos();
            let (double_sine, double_cosine) = (2.0 * sine * cosine, cosine * cosine - sine * sine);
            let terms = [1.0, cosine, sine, double_cosine, double_sine];
            for (column, term) in terms.iter().enumerate() {
                found[column] += term * value;
                let sums = normal.col_mut(column).iter_mut().zip(&terms);
                sums.for_each(|(sum, other)| *sum += term * other);
            }
        }
        let mut factor = Cholesky::default();
        factor.factor(normal.view()).ok()?;
        factor.solve(&mut found);
        let [_, a, b, c, d] = found;
        let found = [Complex64::new(a, -b), Complex64::new(c, -d)];
        found.iter().all(|x| x.is_finite()).then_some(found)
    }
}
