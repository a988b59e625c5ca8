//! Covariance matrices of EEG segments and their logarithms: cross-spectra of bands, delays of one channel,
//! shrinkage, the log-Euclidean vector.

use std::f64::consts::{PI, SQRT_2};
use std::ops::Range;
use std::sync::Arc;

use num_complex::Complex64;
use realfft::{RealFftPlanner, RealToComplex};

use crate::math::{Matrix, NotConverged, SymmetricEigen, Write, dot, product};

/// Eigenvalues below this share of the mean one are taken for it where no shrinkage lifts them.
const SMALLEST_SHARE: f64 = 1e-10;

/// Spectra of all channels of a segment: Hann windows of about 1 s without their mean, half overlapping.
///
/// Real and imaginary parts of the lines lie as columns of one matrix, channels as rows, so that the cross-spectrum
/// of a band is a product of adjacent columns with their transpose.
#[derive(Clone)]
pub(super) struct Spectra {
    rate_hz: f64,
    window: Vec<f64>,
    scale: f64,
    transform: Arc<dyn RealToComplex<f64>>,
    part: Vec<f64>,
    spectrum: Vec<Complex64>,
    scratch: Vec<Complex64>,
    lines: Range<usize>,
    columns: Matrix,
    n_windows: usize,
}

impl Spectra {
    /// Spectra of segments of `length` values, as far as lines between `low_hz` and `high_hz` are asked for.
    pub(super) fn new(length: usize, rate_hz: f64, low_hz: f64, high_hz: f64) -> Self {
        let n = (rate_hz.round() as usize).clamp(2, length.max(2));
        let window: Vec<f64> = (0..n)
            .map(|i| 0.5 - 0.5 * (2.0 * PI * i as f64 / n as f64).cos())
            .collect();
        let power: f64 = window.iter().map(|w| w * w).sum();
        let transform = RealFftPlanner::new().plan_fft_forward(n);
        let spectrum = transform.make_output_vec();
        let mut spectra = Self {
            rate_hz,
            scale: (2.0 / (rate_hz * power)).sqrt(),
            part: transform.make_input_vec(),
            scratch: transform.make_scratch_vec(),
            transform,
            window,
            lines: 0..spectrum.len(),
            spectrum,
            columns: Matrix::default(),
            n_windows: 0,
        };
        spectra.lines = spectra.lines_between(low_hz, high_hz);
        spectra
    }

    /// Distance between two lines.
    pub(super) fn resolution_hz(&self) -> f64 {
        self.rate_hz / self.window.len() as f64
    }

    /// The lines with low ≤ f < high; none where the band holds no line.
    pub(super) fn lines_between(&self, low_hz: f64, high_hz: f64) -> Range<usize> {
        let frequency_hz = |line: usize| line as f64 * self.rate_hz / self.window.len() as f64;
        let first_at = |limit_hz: f64| {
            let lines = self.lines.clone();
            lines
                .clone()
                .find(|line| frequency_hz(*line) >= limit_hz)
                .unwrap_or(lines.end)
        };
        first_at(low_hz)..first_at(high_hz)
    }

    /// Transforms the windows of a segment.
    pub(super) fn transform(&mut self, segment: &[&[f64]]) {
        let n = self.window.len();
        let length = segment.first().map_or(0, |channel| channel.len());
        let hop = (n / 2).max(1);
        self.n_windows = if length < n {
            0
        } else {
            (length - n) / hop + 1
        };
        let n_lines = self.lines.len();
        self.columns
            .reshape(segment.len(), 2 * n_lines * self.n_windows);
        for (row, channel) in segment.iter().enumerate() {
            for number in 0..self.n_windows {
                let values = &channel[number * hop..number * hop + n];
                let mean = values.iter().sum::<f64>() / n as f64;
                let weighted = values.iter().zip(&self.window);
                for (slot, (value, weight)) in self.part.iter_mut().zip(weighted) {
                    *slot = (value - mean) * weight;
                }
                self.transform
                    .process_with_scratch(&mut self.part, &mut self.spectrum, &mut self.scratch)
                    .expect("the buffers were made by this transform");
                let first = 2 * n_lines * number;
                for (place, line) in self.lines.clone().enumerate() {
                    let value = self.spectrum[line] * self.scale;
                    self.columns[(row, first + 2 * place)] = value.re;
                    self.columns[(row, first + 2 * place + 1)] = value.im;
                }
            }
        }
    }

    /// Mean of Re(X Xᴴ) over windows and lines.
    pub(super) fn covariance(&self, lines: &Range<usize>, result: &mut Matrix) {
        let p = self.columns.rows();
        result.reshape(p, p);
        result.fill(0.0);
        let n_lines = self.lines.len();
        for number in 0..self.n_windows {
            let first = 2 * (n_lines * number + lines.start - self.lines.start);
            let band = self.columns.cols_view(first, 2 * lines.len());
            product(result.view_mut(), Write::Add, band, band.t());
        }
        result.scale(1.0 / (lines.len() * self.n_windows).max(1) as f64);
    }

    /// Mean density of one channel over windows and lines.
    pub(super) fn density(&self, channel: usize, lines: &Range<usize>) -> f64 {
        let n_lines = self.lines.len();
        let mut sum = 0.0;
        for number in 0..self.n_windows {
            let first = 2 * (n_lines * number + lines.start - self.lines.start);
            for column in first..first + 2 * lines.len() {
                sum += self.columns[(channel, column)].powi(2);
            }
        }
        sum / (lines.len() * self.n_windows).max(1) as f64
    }
}

/// Mean power of the channels: tr C / p.
pub(super) fn mean_power(covariance: &Matrix) -> f64 {
    let p = covariance.rows();
    (0..p).map(|i| covariance[(i, i)]).sum::<f64>() / p.max(1) as f64
}

/// C ← (1 − α) C + α (tr C / p) I.
pub(super) fn shrink(covariance: &mut Matrix, share: f64) {
    let lifted = share * mean_power(covariance);
    covariance.scale(1.0 - share);
    for i in 0..covariance.rows() {
        covariance[(i, i)] += lifted;
    }
}

/// x without its mean at delays of `step` samples: E Eᵀ / m.
pub(super) fn delay_covariance(signal: &[f64], n_delays: usize, step: usize, result: &mut Matrix) {
    let m = signal.len().saturating_sub((n_delays - 1) * step);
    result.reshape(n_delays, n_delays);
    for j in 0..n_delays {
        for i in 0..=j {
            let value = dot(
                &signal[i * step..i * step + m],
                &signal[j * step..j * step + m],
            );
            result[(i, j)] = value / m.max(1) as f64;
            result[(j, i)] = result[(i, j)];
        }
    }
}

/// Logarithms and roots of covariances, with the rank of what they were made of.
#[derive(Clone, Default)]
pub(super) struct CovarianceLogarithm {
    eigen: SymmetricEigen,
}

impl CovarianceLogarithm {
    /// log C of a covariance that was shrunk by `share`, and the rank that it had before.
    pub(super) fn logarithm(
        &mut self,
        covariance: &Matrix,
        share: f64,
        result: &mut Matrix,
    ) -> Result<usize, NotConverged> {
        self.eigen.decompose(covariance.view())?;
        let mean = mean_power(covariance);
        let floor = SMALLEST_SHARE * mean;
        let lifted = share * mean + floor;
        let values = self.eigen.values();
        let rank = values.iter().filter(|value| **value > lifted).count();
        self.eigen.function(|value| value.max(floor).ln(), result);
        Ok(rank)
    }

    /// exp(−½ L): what brings covariances to their mean, L being the mean of their logarithms.
    pub(super) fn whitening(
        &mut self,
        mean_logarithm: &Matrix,
        result: &mut Matrix,
    ) -> Result<(), NotConverged> {
        self.eigen.decompose(mean_logarithm.view())?;
        self.eigen.function(|value| (-0.5 * value).exp(), result);
        Ok(())
    }
}

/// W C W.
pub(super) fn between(whitening: &Matrix, covariance: &Matrix, result: &mut Matrix) {
    let p = covariance.rows();
    let mut left = Matrix::zeros(p, p);
    product(
        left.view_mut(),
        Write::Replace,
        whitening.view(),
        covariance.view(),
    );
    result.reshape(p, p);
    product(
        result.view_mut(),
        Write::Replace,
        left.view(),
        whitening.view(),
    );
    result.symmetrise();
}

/// Upper triangle row by row, what is off the diagonal times √2, so that lengths and distances are those of matrices.
pub(super) fn push_triangle(symmetric: &Matrix, values: &mut Vec<f64>) {
    let p = symmetric.rows();
    for i in 0..p {
        values.push(symmetric[(i, i)]);
        values.extend((i + 1..p).map(|j| SQRT_2 * symmetric[(i, j)]));
    }
}

/// The symmetric matrix of such a triangle.
pub fn from_triangle(values: &[f64], p: usize) -> Matrix {
    let mut symmetric = Matrix::zeros(p, p);
    let mut next = values.iter();
    for i in 0..p {
        for j in i..p {
            let value = next.next().copied().unwrap_or(0.0);
            let value = if i == j { value } else { value / SQRT_2 };
            symmetric[(i, j)] = value;
            symmetric[(j, i)] = value;
        }
    }
    symmetric
}

/// Number of values of the triangle of a p × p matrix.
pub fn triangle_length(p: usize) -> usize {
    p * (p + 1) / 2
}
