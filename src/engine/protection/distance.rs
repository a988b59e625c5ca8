//! Distance to a fault from one end or from both, as a share of the line.

use std::f64::consts::TAU;

use num_complex::Complex64;

use crate::features::fault_phasors::FaultPhasors;
use crate::features::phase_signals::PhaseSignals;
use crate::features::phasor::sequence_components;
use crate::simulate::feeder::FaultClass;

use super::impedance::Loop;
use super::line::Line;
use super::rule::RuleVerdict;

/// Cycles after the inception within which the cycles start whose median a distance is.
const MEDIAN_CYCLES: (f64, f64) = (1.25, 2.25);

/// Cycles that the last of them ends before the clearing: poles open one by one.
const CYCLES_TO_CLEARING: f64 = 0.5;

/// How a distance is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Reactance of the loop over that of the line.
    Reactance,
    /// The change of the current takes the drop at the fault out.
    Takagi,
    /// The zero or negative sequence of the current does.
    ModifiedTakagi,
    /// Both ends on one clock.
    Synchronised,
    /// Both ends without a common clock.
    Unsynchronised,
}

impl Method {
    /// The methods of one end.
    pub const ONE_ENDED: [Self; 3] = [Self::Reactance, Self::Takagi, Self::ModifiedTakagi];

    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reactance => "reactance",
            Self::Takagi => "Takagi",
            Self::ModifiedTakagi => "modified Takagi",
            Self::Synchronised => "two ends, synchronised",
            Self::Unsynchronised => "two ends, unsynchronised",
        }
    }
}

/// Phasors of one end of a line during a fault, and what they were before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EndPhasors {
    /// Voltages during the fault.
    pub voltages: [Complex64; 3],
    /// Currents during the fault, positive into the line.
    pub currents: [Complex64; 3],
    /// Voltages before.
    pub voltages_before: [Complex64; 3],
    /// Currents before.
    pub currents_before: [Complex64; 3],
}

impl From<&FaultPhasors> for EndPhasors {
    fn from(of: &FaultPhasors) -> Self {
        Self {
            voltages: of.voltages,
            currents: of.currents,
            voltages_before: of.voltages_before,
            currents_before: of.currents_before,
        }
    }
}

impl EndPhasors {
    fn current_changes(&self) -> [Complex64; 3] {
        [0, 1, 2].map(|p| self.currents[p] - self.currents_before[p])
    }

    fn voltage_changes(&self) -> [Complex64; 3] {
        [0, 1, 2].map(|p| self.voltages[p] - self.voltages_before[p])
    }
}

/// Distance from one end as a share of the line; `None` where the method does not fit the fault.
pub fn one_ended(
    method: Method,
    end: &EndPhasors,
    verdict: &RuleVerdict,
    z1: Complex64,
    k0: Complex64,
) -> Option<f64> {
    let of = Loop::of(verdict)?;
    let (v, i) = (of.voltage(end.voltages), of.current(end.currents, k0));
    let quadrature = match method {
        Method::Reactance => i,
        Method::Takagi => {
            let changes = end.current_changes();
            match (of.earth_phase(), of.phase_pair()) {
                (Some(p), _) => changes[p],
                (_, Some((p, q))) => changes[p] - changes[q],
                (None, None) => return None,
            }
        }
        Method::ModifiedTakagi => modified_quadrature(of, end, verdict)?,
        Method::Synchronised | Method::Unsynchronised => return None,
    };
    // Reactance: Im(V/I) / Im(z1) is the same with q = I, since |I|² cancels and z1 I I* has the angle of z1.
    let share = (v * quadrature.conj()).im / (z1 * i * quadrature.conj()).im;
    share.is_finite().then_some(share)
}

/// 3 I0 for earth; for two phases the negative sequence, which no load carries. Not for two phases to earth or three.
fn modified_quadrature(of: Loop, end: &EndPhasors, verdict: &RuleVerdict) -> Option<Complex64> {
    let [zero, _, negative] = sequence_components(end.currents);
    let a = Complex64::cis(TAU / 3.0);
    let one = Complex64::from(1.0);
    match (verdict.class, of) {
        (FaultClass::SingleLineToGround, _) => Some(3.0 * zero),
        (FaultClass::ThreeLine | FaultClass::NoFault, _) => None,
        (_, Loop::BC) => Some((a - a * a) * negative),
        (_, Loop::CA) => Some((a * a - one) * negative),
        (_, Loop::AB) => Some((one - a) * negative),
        _ => None,
    }
}

/// Distance from the near end with both ends on one clock: exact for any fault resistance.
pub fn synchronised(
    near: &EndPhasors,
    far: &EndPhasors,
    verdict: &RuleVerdict,
    z1: Complex64,
    k0: Complex64,
) -> Option<f64> {
    let of = Loop::of(verdict)?;
    let (vs, vr) = (of.voltage(near.voltages), of.voltage(far.voltages));
    let (is, ir) = (of.current(near.currents, k0), of.current(far.currents, k0));
    let share = ((vs - vr + z1 * ir) / (z1 * (is + ir))).re;
    share.is_finite().then_some(share)
}

/// Distance from the near end without a common clock: the negative sequence has one size at the fault from both sides.
///
/// `|V2S − m z1 I2S| = |V2R − (1−m) z1 I2R|` is a quadratic in m; of its two roots the one within the line counts. For
/// three phases the changes of the positive sequence take the place of the negative one.
pub fn unsynchronised(
    near: &EndPhasors,
    far: &EndPhasors,
    verdict: &RuleVerdict,
    z1: Complex64,
) -> Option<f64> {
    let parts = |end: &EndPhasors| match verdict.class {
        FaultClass::ThreeLine => (
            sequence_components(end.voltage_changes())[1],
            sequence_components(end.current_changes())[1],
        ),
        _ => (
            sequence_components(end.voltages)[2],
            sequence_components(end.currents)[2],
        ),
    };
    let ((vs, is), (vr, ir)) = (parts(near), parts(far));
    // |p − m q|² = |r + m s|² with p = VS, q = z1 IS, r = VR − z1 IR, s = z1 IR.
    let (p, q, r, s) = (vs, z1 * is, vr - z1 * ir, z1 * ir);
    let a = q.norm_sqr() - s.norm_sqr();
    let b = -2.0 * ((p * q.conj()).re + (r * s.conj()).re);
    let c = p.norm_sqr() - r.norm_sqr();
    let roots = if a.abs() < 1e-12 * (q.norm_sqr() + s.norm_sqr()) {
        [-c / b, f64::NAN]
    } else {
        // Rounding must not take the root of a double zero away.
        let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
        // The larger of the two first, so that no digits cancel.
        let larger = -0.5 * (b + b.signum() * root);
        [larger / a, c / larger]
    };
    let outside = |m: f64| (m - m.clamp(0.0, 1.0)).abs();
    let finite = roots.into_iter().filter(|m| m.is_finite());
    finite.min_by(|x, y| outside(*x).total_cmp(&outside(*y)))
}

/// A distance with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// How it was computed.
    pub method: Method,
    /// Share of the line.
    pub value: f64,
    /// Interval that holds nine of ten simulated faults that would show this distance.
    pub interval: Option<(f64, f64)>,
}

/// Distances of a record from one end: medians over the second cycle of the fault.
pub fn of_record(
    signals: &PhaseSignals,
    (inception_s, clearing_s): (f64, Option<f64>),
    frequency_hz: f64,
    verdict: &RuleVerdict,
    line: &Line,
) -> Vec<Distance> {
    let ends = ends_after(signals, (inception_s, clearing_s), frequency_hz);
    let distance = |method: Method| {
        // The negative sequence is not free of the load where earth takes part.
        if method == Method::ModifiedTakagi && verdict.class == FaultClass::DoubleLineToGround {
            return None;
        }
        let values = ends.iter();
        let values = values.filter_map(|end| one_ended(method, end, verdict, line.z1(), line.k0()));
        Some(Distance {
            method,
            value: median(values.collect())?,
            interval: None,
        })
    };
    Method::ONE_ENDED.into_iter().filter_map(distance).collect()
}

/// Phasors of an end at steps of a sixteenth of a cycle within the span that distances are read from; earlier where the
/// fault is cleared before.
pub fn ends_after(
    signals: &PhaseSignals,
    (inception_s, clearing_s): (f64, Option<f64>),
    frequency_hz: f64,
) -> Vec<EndPhasors> {
    let cycle_s = 1.0 / frequency_hz;
    let end_s = clearing_s.unwrap_or(signals.end_s() + CYCLES_TO_CLEARING * cycle_s);
    let latest = (end_s - inception_s) / cycle_s - 1.0 - CYCLES_TO_CLEARING;
    let (from, to) = MEDIAN_CYCLES;
    let to = to.min(latest).max(0.125);
    let from = from.min((to - 0.5).max(0.125));
    let steps = ((to - from) * 16.0) as usize;
    let at = |step: usize| {
        // The cycle starts an eighth after the moment that is judged.
        let judged_s = inception_s + (from - 0.125 + step as f64 / 16.0) * cycle_s;
        let phasors = signals.fault_phasors_from(inception_s, judged_s, frequency_hz);
        let phasors = phasors.ok()?.ok()?;
        Some(EndPhasors::from(&super::impedance::in_own_letters(
            &phasors,
        )))
    };
    (0..=steps).filter_map(at).collect()
}

/// The middle one of several values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n % 2 {
        _ if n == 0 => None,
        1 => values.get(n / 2).copied(),
        _ => Some((values[n / 2 - 1] + values[n / 2]) / 2.0),
    }
}
