//! Coloured noise: 1/f backgrounds, rhythms and slow drifts from white noise through small filters.

use std::f64::consts::{PI, TAU};

use crate::math::{Normal, RandomStream};

/// White noise with a stream of its own.
pub(super) struct White {
    random: RandomStream,
    normal: Normal,
}

impl White {
    pub(super) fn new(random: RandomStream) -> Self {
        Self {
            random,
            normal: Normal::default(),
        }
    }

    /// A sample of unit variance.
    #[inline]
    pub(super) fn next(&mut self) -> f64 {
        self.normal.draw(&mut self.random)
    }
}

/// A linear filter fed sample by sample.
pub(super) trait NoiseFilter {
    fn step(&mut self, input: f64) -> f64;
}

/// Gain that gives a filter's output unit variance for white input of unit variance:
/// 1/√Σh², with the impulse response `h` taken over 20 s.
fn unit_variance_gain(mut filter: impl NoiseFilter, rate_hz: f64) -> f64 {
    let n = (20.0 * rate_hz) as usize;
    let energy: f64 = (0..n)
        .map(|k| filter.step(if k == 0 { 1.0 } else { 0.0 }).powi(2))
        .sum();
    energy.sqrt().recip()
}

/// Power ∝ 1/f^exponent from 0.5 Hz to 50 Hz and beyond, flat below.
///
/// A staircase of first-order sections: poles an octave apart, each followed by a
/// zero `exponent/2` octaves higher, so that the amplitude falls by `exponent/2`
/// octaves per octave on average.
#[derive(Clone)]
pub(super) struct OneOverF {
    sections: [NoiseSection; Self::N_SECTIONS],
    gain: f64,
}

/// `y = b0 x + b1 x₋₁ − a1 y₋₁`, in transposed form.
#[derive(Clone, Copy, Default)]
struct NoiseSection {
    b0: f64,
    b1: f64,
    a1: f64,
    state: f64,
}

impl OneOverF {
    const N_SECTIONS: usize = 8;
    const LOWEST_POLE_HZ: f64 = 0.4;

    pub(super) fn new(exponent: f64, rate_hz: f64) -> Self {
        let mut filter = Self {
            sections: [NoiseSection::default(); Self::N_SECTIONS],
            gain: 1.0,
        };
        for (octave, section) in filter.sections.iter_mut().enumerate() {
            let pole_hz = Self::LOWEST_POLE_HZ * 2.0_f64.powi(octave as i32);
            let zero_hz = pole_hz * 2.0_f64.powf(exponent / 2.0);
            *section = NoiseSection::new(pole_hz, zero_hz, rate_hz);
        }
        filter.gain = unit_variance_gain(filter.clone(), rate_hz);
        filter
    }
}

impl NoiseSection {
    /// (s + ω_z)/(s + ω_p) by the bilinear transform, corners prewarped.
    fn new(pole_hz: f64, zero_hz: f64, rate_hz: f64) -> Self {
        // Beyond Nyquist the tangent would change its sign.
        let warped = |f: f64| (PI * (f / rate_hz).min(0.49)).tan();
        let (p, z) = (warped(pole_hz), warped(zero_hz));
        Self {
            b0: (1.0 + z) / (1.0 + p),
            b1: (z - 1.0) / (1.0 + p),
            a1: (p - 1.0) / (1.0 + p),
            state: 0.0,
        }
    }
}

impl NoiseFilter for OneOverF {
    #[inline]
    fn step(&mut self, input: f64) -> f64 {
        let mut value = input * self.gain;
        for section in &mut self.sections {
            let output = section.b0 * value + section.state;
            section.state = section.b1 * value - section.a1 * output;
            value = output;
        }
        value
    }
}

/// A rhythm: white noise through a two-pole resonance of given centre and bandwidth.
#[derive(Clone)]
pub(super) struct Rhythm {
    a1: f64,
    a2: f64,
    gain: f64,
    last: [f64; 2],
}

impl Rhythm {
    pub(super) fn new(centre_hz: f64, bandwidth_hz: f64, rate_hz: f64) -> Self {
        let radius = (-PI * bandwidth_hz / rate_hz).exp();
        let mut filter = Self {
            a1: -2.0 * radius * (TAU * centre_hz / rate_hz).cos(),
            a2: radius * radius,
            gain: 1.0,
            last: [0.0; 2],
        };
        filter.gain = unit_variance_gain(filter.clone(), rate_hz);
        filter
    }
}

impl NoiseFilter for Rhythm {
    #[inline]
    fn step(&mut self, input: f64) -> f64 {
        let [y1, y2] = self.last;
        let output = self.gain * input - self.a1 * y1 - self.a2 * y2;
        self.last = [output, y1];
        output
    }
}

/// A slow drift of unit variance that forgets itself after `memory_s` (Ornstein–Uhlenbeck).
#[derive(Clone)]
pub(super) struct Drift {
    keep: f64,
    fresh: f64,
    value: f64,
}

impl Drift {
    /// Starts at `value`, a draw of unit variance.
    pub(super) fn new(memory_s: f64, rate_hz: f64, value: f64) -> Self {
        let keep = (-1.0 / (memory_s * rate_hz)).exp();
        Self {
            keep,
            fresh: (1.0 - keep * keep).sqrt(),
            value,
        }
    }
}

impl NoiseFilter for Drift {
    #[inline]
    fn step(&mut self, input: f64) -> f64 {
        self.value = self.keep * self.value + self.fresh * input;
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random_stream;
    use num_complex::Complex64;

    /// Power gain at `hz` from the impulse response.
    fn power_at(mut filter: impl NoiseFilter, hz: f64, rate_hz: f64) -> f64 {
        let response: Complex64 = (0..5000)
            .map(|k| {
                let impulse = if k == 0 { 1.0 } else { 0.0 };
                filter.step(impulse) * Complex64::cis(-TAU * hz * f64::from(k) / rate_hz)
            })
            .sum();
        response.norm_sqr()
    }

    #[test]
    fn the_background_falls_with_its_exponent() {
        for exponent in [0.6, 1.0, 1.6] {
            let filter = OneOverF::new(exponent, 250.0);
            let low = power_at(filter.clone(), 1.0, 250.0);
            let high = power_at(filter, 32.0, 250.0);
            let slope = (low / high).log2() / 5.0;
            assert!((slope - exponent).abs() < 0.1, "{slope} for {exponent}");
        }
    }

    #[test]
    fn a_rhythm_peaks_at_its_centre_and_halves_at_its_bandwidth() {
        let power = |hz| power_at(Rhythm::new(10.0, 1.5, 250.0), hz, 250.0);
        let peak = power(10.0);
        assert!(power(9.0) < peak && power(11.0) < peak);
        let half = power(10.75) / peak;
        assert!((half - 0.5).abs() < 0.05, "{half} at the edge of the band");
    }

    #[test]
    fn filtered_noise_has_unit_variance() {
        let variance = |mut filter: Box<dyn NoiseFilter>| {
            let mut white = White::new(random_stream(1, "test", 9));
            let n = 200_000;
            let sum: f64 = (0..n).map(|_| filter.step(white.next()).powi(2)).sum();
            sum / f64::from(n)
        };
        let filters: [Box<dyn NoiseFilter>; 3] = [
            Box::new(OneOverF::new(1.2, 250.0)),
            Box::new(Rhythm::new(10.0, 1.5, 250.0)),
            Box::new(Drift::new(1.0, 250.0, 0.0)),
        ];
        for filter in filters {
            let found = variance(filter);
            assert!((found - 1.0).abs() < 0.15, "variance {found}");
        }
    }
}
