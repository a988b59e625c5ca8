//! The inrush of a transformer: the flux of three saturating cores behind the impedance of the network.
//!
//! ```text
//! dλ/dt = v − r i,   i = sgn λ · (|λ| − λs)₊ / Xs,   v = K e − (rs + xs d/dt) K Kᵀ i
//! ```
//!
//! in per unit, time in radians. K is the identity for a star with earthed neutral and the differences of the phases
//! for a delta. With `di/dt = f′(λ) dλ/dt` this is a differential equation of the three fluxes alone.

use crate::simulate::phases::{Coupling, Phases};

/// The transformer and the network before it, in per unit of the transformer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Inrush {
    /// Flux at which the core saturates.
    pub(super) saturation: f64,
    /// Reactance of the saturated core.
    pub(super) saturated_x: f64,
    /// Resistance of the winding.
    pub(super) winding_r: f64,
    /// Resistance and reactance of the network.
    pub(super) source: (f64, f64),
    /// Flux that remained in the cores.
    pub(super) remanence: [f64; 3],
    /// Whether the windings are in delta.
    pub(super) is_delta: bool,
    /// Angle of phase a of the source when the transformer is switched on.
    pub(super) angle: f64,
}

/// Voltage of the bus and current into the transformer, per unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct InrushSample {
    pub(super) voltage: Phases<f64>,
    pub(super) current: Phases<f64>,
}

impl Inrush {
    /// Samples after switching on, `n_sub` steps of Runge and Kutta between them.
    pub(super) fn run(
        &self,
        per_cycle: usize,
        n_sub: usize,
        n_samples: usize,
    ) -> Vec<InrushSample> {
        let step = std::f64::consts::TAU / (per_cycle * n_sub) as f64;
        let mut flux = Phases(self.remanence);
        let mut samples = Vec::with_capacity(n_samples);
        for sample in 0..n_samples {
            let time = std::f64::consts::TAU * sample as f64 / per_cycle as f64;
            samples.push(self.sample(time, flux));
            for sub in 0..n_sub {
                let t = time + sub as f64 * step;
                let k1 = self.slope(t, flux);
                let k2 = self.slope(t + step / 2.0, along(flux, k1, step / 2.0));
                let k3 = self.slope(t + step / 2.0, along(flux, k2, step / 2.0));
                let k4 = self.slope(t + step, along(flux, k3, step));
                flux = along(flux, k1, step / 6.0);
                flux = along(flux, k2, step / 3.0);
                flux = along(flux, k3, step / 3.0);
                flux = along(flux, k4, step / 6.0);
            }
        }
        samples
    }

    /// Voltages of the source behind its impedance.
    fn source_voltage(&self, time: f64) -> Phases<f64> {
        let third = std::f64::consts::TAU / 3.0;
        Phases([0.0, 1.0, 2.0].map(|p| (time + self.angle - p * third).sin()))
    }

    /// What the windings see of the phases.
    fn windings_of(&self, [a, b, c]: [f64; 3]) -> [f64; 3] {
        match self.is_delta {
            // A winding between two phases is rated for the voltage between them.
            true => [a - b, b - c, c - a].map(|v| v / 3.0_f64.sqrt()),
            false => [a, b, c],
        }
    }

    /// What the windings draw from the phases.
    fn lines_of(&self, [ab, bc, ca]: [f64; 3]) -> [f64; 3] {
        match self.is_delta {
            true => [ab - ca, bc - ab, ca - bc].map(|i| i / 3.0_f64.sqrt()),
            false => [ab, bc, ca],
        }
    }

    fn winding_current(&self, flux: f64) -> f64 {
        flux.signum() * (flux.abs() - self.saturation).max(0.0) / self.saturated_x
    }

    fn slope(&self, time: f64, flux: Phases<f64>) -> Phases<f64> {
        let (r, x) = self.source;
        let current = flux.0.map(|l| self.winding_current(l));
        let steep = flux
            .0
            .map(|l| f64::from(u8::from(l.abs() > self.saturation)) / self.saturated_x);
        let drop = self.windings_of(self.lines_of(current));
        let source = self.windings_of(self.source_voltage(time).0);
        let driven = [0, 1, 2].map(|p| source[p] - r * drop[p] - self.winding_r * current[p]);
        // (1 + xs K Kᵀ f′) dλ/dt = driven.
        let mut matrix = Coupling::balanced(1.0, 0.0);
        for column in 0..3 {
            let mut unit = [0.0; 3];
            unit[column] = steep[column];
            let seen = self.windings_of(self.lines_of(unit));
            for (row, value) in seen.into_iter().enumerate() {
                matrix.0[row][column] += x * value;
            }
        }
        matrix.inverse().times(Phases(driven))
    }

    fn sample(&self, time: f64, flux: Phases<f64>) -> InrushSample {
        let (r, x) = self.source;
        let slope = self.slope(time, flux);
        let current = flux.0.map(|l| self.winding_current(l));
        let rate = [0, 1, 2].map(|p| {
            let steep = f64::from(u8::from(flux.0[p].abs() > self.saturation)) / self.saturated_x;
            steep * slope.0[p]
        });
        let (line, line_rate) = (self.lines_of(current), self.lines_of(rate));
        let source = self.source_voltage(time).0;
        InrushSample {
            voltage: Phases([0, 1, 2].map(|p| source[p] - r * line[p] - x * line_rate[p])),
            current: Phases(line),
        }
    }
}

fn along(flux: Phases<f64>, slope: Phases<f64>, step: f64) -> Phases<f64> {
    flux + slope.map(|s| s * step)
}
