//! Power spectral density by Welch's method, and the power of a band in it.

use std::f64::consts::PI;
use std::sync::Arc;

use num_complex::Complex64;
use realfft::{RealFftPlanner, RealToComplex};

/// Welch's estimate at one sampling rate: Hann segments without their mean, periodograms averaged.
pub struct Welch {
    window: Vec<f64>,
    hop: usize,
    rate_hz: f64,
    transform: Arc<dyn RealToComplex<f64>>,
    segment: Vec<f64>,
    spectrum: Vec<Complex64>,
    scratch: Vec<Complex64>,
}

impl Welch {
    /// Segments of `segment_length` samples (at least 2), the next one starting `hop` samples (at least 1) later.
    pub fn new(segment_length: usize, hop: usize, rate_hz: f64) -> Self {
        let length = segment_length.max(2);
        let window = (0..length)
            .map(|i| 0.5 - 0.5 * (2.0 * PI * i as f64 / length as f64).cos())
            .collect();
        let transform = RealFftPlanner::new().plan_fft_forward(length);
        Self {
            window,
            hop: hop.max(1),
            rate_hz,
            segment: transform.make_input_vec(),
            spectrum: transform.make_output_vec(),
            scratch: transform.make_scratch_vec(),
            transform,
        }
    }

    /// Distance between two lines of the spectrum.
    pub fn resolution_hz(&self) -> f64 {
        self.rate_hz / self.window.len() as f64
    }

    /// One-sided density (unit² per Hz) of a signal, line by line from 0 to half the rate; `None` when the signal is shorter than a segment.
    pub fn density(&mut self, signal: &[f64]) -> Option<Vec<f64>> {
        let length = self.window.len();
        let mut density = vec![0.0; self.spectrum.len()];
        let mut n_segments = 0.0;
        let mut start = 0;
        while let Some(part) = signal.get(start..start + length) {
            self.add_periodogram(part, &mut density);
            n_segments += 1.0;
            start += self.hop;
        }
        if n_segments == 0.0 {
            return None;
        }
        let window_power: f64 = self.window.iter().map(|w| w * w).sum();
        let both_sides = 2.0 / (self.rate_hz * window_power * n_segments);
        density.iter_mut().for_each(|line| *line *= both_sides);
        // The mean, and half the rate where it is a line, have no mirror image.
        density[0] /= 2.0;
        if length.is_multiple_of(2)
            && let Some(last) = density.last_mut()
        {
            *last /= 2.0;
        }
        Some(density)
    }

    fn add_periodogram(&mut self, part: &[f64], density: &mut [f64]) {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        for ((slot, value), weight) in self.segment.iter_mut().zip(part).zip(&self.window) {
            *slot = (value - mean) * weight;
        }
        self.transform
            .process_with_scratch(&mut self.segment, &mut self.spectrum, &mut self.scratch)
            .expect("the buffers were made by this transform");
        for (line, value) in density.iter_mut().zip(&self.spectrum) {
            *line += value.norm_sqr();
        }
    }
}

/// Power between two frequencies: the lines with low ≤ f < high, times their distance.
pub fn band_power(density: &[f64], resolution_hz: f64, low_hz: f64, high_hz: f64) -> f64 {
    let lines = density.iter().enumerate().filter(|(line, _)| {
        let frequency_hz = *line as f64 * resolution_hz;
        frequency_hz >= low_hz && frequency_hz < high_hz
    });
    lines.map(|(_, value)| value).sum::<f64>() * resolution_hz
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine(amplitude: f64, frequency_hz: f64, rate_hz: f64, length: usize) -> Vec<f64> {
        (0..length)
            .map(|t| amplitude * (2.0 * PI * frequency_hz * t as f64 / rate_hz).sin())
            .collect()
    }

    #[test]
    fn a_sine_has_half_its_squared_amplitude_in_its_band_and_nothing_elsewhere() {
        let mut welch = Welch::new(256, 128, 256.0);
        let density = welch
            .density(&sine(3.0, 10.0, 256.0, 1024))
            .expect("long enough");
        let inside = band_power(&density, welch.resolution_hz(), 8.0, 13.0);
        let outside = band_power(&density, welch.resolution_hz(), 13.0, 200.0);
        assert!((inside - 4.5).abs() < 1e-12);
        assert!(outside < 1e-20);
    }

    #[test]
    fn all_lines_together_hold_the_windowed_power() {
        // Parseval for one segment: Σ S(f) Δf = Σ (w x)² / Σ w².
        for length in [125usize, 126] {
            let signal: Vec<f64> = (0..length).map(|t| ((t * t) % 31) as f64).collect();
            let mut welch = Welch::new(length, length, 250.0);
            let density = welch.density(&signal).expect("one segment");
            let mean = signal.iter().sum::<f64>() / length as f64;
            let windowed: f64 = signal
                .iter()
                .zip(&welch.window)
                .map(|(x, w)| ((x - mean) * w).powi(2))
                .sum();
            let expected = windowed / welch.window.iter().map(|w| w * w).sum::<f64>();
            let found = density.iter().sum::<f64>() * welch.resolution_hz();
            assert!(
                (found - expected).abs() < 1e-10 * expected,
                "length {length}"
            );
        }
    }

    #[test]
    fn a_signal_shorter_than_a_segment_has_no_estimate() {
        assert!(Welch::new(64, 32, 100.0).density(&[1.0; 63]).is_none());
        assert!(Welch::new(0, 0, 100.0).density(&[]).is_none());
    }
}
