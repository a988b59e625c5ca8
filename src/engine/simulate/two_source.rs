//! A line between two sources in closed form: phasors at both ends before and during a fault.

use num_complex::Complex64;
use std::f64::consts::TAU;

use super::FaultStar;
use super::phases::{Coupling, Phases};

/// Positive- and zero-sequence impedance in Ω.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sequences {
    /// Positive (and negative) sequence.
    pub z1: Complex64,
    /// Zero sequence.
    pub z0: Complex64,
}

impl Sequences {
    fn coupled(&self, share: f64) -> Coupling<Complex64> {
        let own = (self.z0 + 2.0 * self.z1) / 3.0 * share;
        let mutual = (self.z0 - self.z1) / 3.0 * share;
        Coupling::balanced(own, mutual)
    }
}

/// The line and its sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoSourceLine {
    /// The whole line.
    pub line: Sequences,
    /// Behind the near end.
    pub near: Sequences,
    /// Behind the far end.
    pub far: Sequences,
    /// Phasors of phase a of both sources.
    pub sources: [Complex64; 2],
}

/// Phasors of one end: before and during the fault; currents positive into the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndState {
    /// Voltages before.
    pub voltages_before: [Complex64; 3],
    /// Currents before.
    pub currents_before: [Complex64; 3],
    /// Voltages during the fault.
    pub voltages: [Complex64; 3],
    /// Currents during the fault.
    pub currents: [Complex64; 3],
}

impl TwoSourceLine {
    /// Both ends for a fault at a share of the line, near end first.
    ///
    /// The circuit before the fault is balanced; the fault draws `I = (1 + G Z)⁻¹ G V` from the Thévenin equivalent of
    /// the place, and each end carries its share of it.
    pub fn fault(&self, place: f64, star: &FaultStar) -> [EndState; 2] {
        let back = Complex64::cis(-TAU / 3.0);
        let three = |a: Complex64| Phases([a, a * back, a * back.conj()]);
        let [near_source, far_source] = self.sources.map(three);
        let total = self.near.z1 + self.line.z1 + self.far.z1;
        let through = three((self.sources[0] - self.sources[1]) / total);
        let near_side = self.near.coupled(1.0) + self.line.coupled(place);
        let far_side = self.far.coupled(1.0) + self.line.coupled(1.0 - place);
        let (near_y, far_y) = (near_side.inverse(), far_side.inverse());
        let thevenin = (near_y + far_y).inverse();
        let before = near_source - near_side.times(through);
        let g = star.conductance().map(Complex64::from);
        let identity = Coupling::balanced(Complex64::from(1.0), Complex64::default());
        let current = (identity + g * thevenin).inverse().times(g.times(before));
        let drop = thevenin.times(current);
        let end =
            |source: Phases<Complex64>, behind: &Sequences, sign: f64, y: &Coupling<Complex64>| {
                let own = through.map(|i| i * sign);
                let during = own + y.times(drop);
                let at = |i: Phases<Complex64>| source - behind.coupled(1.0).times(i);
                EndState {
                    voltages_before: at(own).0,
                    currents_before: own.0,
                    voltages: at(during).0,
                    currents: during.0,
                }
            };
        [
            end(near_source, &self.near, 1.0, &near_y),
            end(far_source, &self.far, -1.0, &far_y),
        ]
    }
}
