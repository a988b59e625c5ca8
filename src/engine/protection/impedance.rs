//! The impedances that a distance relay sees: six loops, at one moment or over time.

use num_complex::Complex64;

use crate::features::fault_phasors::FaultPhasors;
use crate::features::phase_signals::PhaseSignals;
use crate::simulate::feeder::FaultClass;

use super::rule::RuleVerdict;

/// One of the six loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the names of the loops")]
pub enum Loop {
    AG,
    BG,
    CG,
    AB,
    BC,
    CA,
}

impl Loop {
    /// All six, earth loops first.
    pub const ALL: [Self; 6] = [Self::AG, Self::BG, Self::CG, Self::AB, Self::BC, Self::CA];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::AG => "AG",
            Self::BG => "BG",
            Self::CG => "CG",
            Self::AB => "AB",
            Self::BC => "BC",
            Self::CA => "CA",
        }
    }

    /// The phase of an earth loop.
    pub fn earth_phase(self) -> Option<usize> {
        match self {
            Self::AG => Some(0),
            Self::BG => Some(1),
            Self::CG => Some(2),
            Self::AB | Self::BC | Self::CA => None,
        }
    }

    /// The two phases of a loop between phases.
    pub fn phase_pair(self) -> Option<(usize, usize)> {
        match self {
            Self::AB => Some((0, 1)),
            Self::BC => Some((1, 2)),
            Self::CA => Some((2, 0)),
            Self::AG | Self::BG | Self::CG => None,
        }
    }

    /// The loop that a fault shows in; AB stands for all three phases. `None` without a fault.
    pub fn of(verdict: &RuleVerdict) -> Option<Self> {
        match (verdict.class, verdict.phases) {
            (FaultClass::NoFault, _) => None,
            (FaultClass::SingleLineToGround, [true, ..]) => Some(Self::AG),
            (FaultClass::SingleLineToGround, [_, true, _]) => Some(Self::BG),
            (FaultClass::SingleLineToGround, _) => Some(Self::CG),
            (_, [false, true, true]) => Some(Self::BC),
            (_, [true, false, true]) => Some(Self::CA),
            _ => Some(Self::AB),
        }
    }

    /// Voltage of the loop.
    pub fn voltage(self, v: [Complex64; 3]) -> Complex64 {
        match (self.earth_phase(), self.phase_pair()) {
            (Some(p), _) => v[p],
            (_, Some((p, q))) => v[p] - v[q],
            (None, None) => Complex64::default(),
        }
    }

    /// Current of the loop: I + k0·ΣI, or the difference of two phases.
    pub fn current(self, i: [Complex64; 3], k0: Complex64) -> Complex64 {
        match (self.earth_phase(), self.phase_pair()) {
            (Some(p), _) => i[p] + k0 * (i[0] + i[1] + i[2]),
            (_, Some((p, q))) => i[p] - i[q],
            (None, None) => Complex64::default(),
        }
    }

    /// Impedance of the loop; `None` where its current is nothing beside the others.
    pub fn impedance(
        self,
        v: [Complex64; 3],
        i: [Complex64; 3],
        k0: Complex64,
    ) -> Option<Complex64> {
        let current = self.current(i, k0);
        let largest = i.iter().map(|x| x.norm()).fold(0.0, f64::max);
        let z = self.voltage(v) / current;
        (current.norm() > 1e-6 * largest && z.is_finite()).then_some(z)
    }
}

/// Share of the largest current along a locus up to which a loop is open and has no impedance: it would be noise by noise.
const OPEN_SHARE: f64 = 2e-3;

/// A moment of the impedance plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocusPoint {
    /// End of the cycle that it was measured over.
    pub time_s: f64,
    /// Impedance of each loop in the order of [`Loop::ALL`], in primary Ω.
    pub loops: [Option<Complex64>; 6],
}

/// The six loops over time, each from the cycle that ends at the time.
///
/// `from_s` to `to_s` in steps; at most `most` points, so that drawing costs the same for any record.
pub fn locus(
    signals: &PhaseSignals,
    frequency_hz: f64,
    k0: Complex64,
    (from_s, to_s): (f64, f64),
    step_s: f64,
    most: usize,
) -> Vec<LocusPoint> {
    let n = ((to_s - from_s) / step_s).floor().max(0.0) as usize + 1;
    let step_s = if n > most {
        (to_s - from_s) / most as f64
    } else {
        step_s
    };
    let n = n.min(most);
    let at = |k: usize| {
        let time_s = from_s + k as f64 * step_s;
        let [va, vb, vc, ia, ib, ic] = signals.phasors_at(time_s, frequency_hz)?;
        Some((time_s, [va, vb, vc], [ia, ib, ic]))
    };
    let measured: Vec<_> = (0..n).filter_map(at).collect();
    let sizes = measured
        .iter()
        .flat_map(|(_, _, i)| i.iter().map(|x| x.norm()));
    let least = OPEN_SHARE * sizes.fold(0.0, f64::max);
    measured
        .into_iter()
        .map(|(time_s, v, i)| LocusPoint {
            time_s,
            loops: Loop::ALL.map(|of| {
                let flows = of.current(i, k0).norm() > least;
                of.impedance(v, i, k0).filter(|_| flows)
            }),
        })
        .collect()
}

/// Phasors of a record's own phase letters, not in the order in which they turn.
pub fn in_own_letters(phasors: &FaultPhasors) -> FaultPhasors {
    let mut own = *phasors;
    if own.is_acb {
        for three in [
            &mut own.voltages_before,
            &mut own.voltages,
            &mut own.currents_before,
            &mut own.currents,
        ] {
            three.swap(1, 2);
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    #[test]
    fn an_open_line_has_no_impedance() {
        let rate_hz = 1000.0;
        let values = [0, 1, 2, 3, 4, 5].map(|channel: usize| {
            let shift = TAU * (channel % 3) as f64 / 3.0;
            let wave = |sample: usize| {
                let size = match (channel, sample) {
                    (0..3, _) => 100.0,
                    (_, 0..100) => 10.0,
                    _ => 1e-3,
                };
                size * (TAU * 50.0 * sample as f64 / rate_hz - shift).cos()
            };
            (0..200).map(wave).collect()
        });
        let signals = PhaseSignals {
            rate_hz,
            start_s: 0.0,
            nominal_hz: 50.0,
            values,
            skews_s: [0.0; 6],
            names: Default::default(),
            notes: Vec::new(),
        };
        let points = locus(
            &signals,
            50.0,
            Complex64::default(),
            (0.05, 0.18),
            0.01,
            100,
        );
        for point in &points {
            let is_closed = point.time_s < 0.115;
            assert!(
                point.loops.iter().all(|z| z.is_some() == is_closed),
                "{point:?}"
            );
        }
        assert!(points.len() > 10, "{}", points.len());
    }
}
