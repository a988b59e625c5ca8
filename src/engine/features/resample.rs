//! Values between samples: band-limited interpolation of a uniformly sampled signal.

use std::f64::consts::PI;

/// Half the width of the interpolation kernel, in zero crossings. With eight, signals up to 0.3 of the sampling rate
/// are followed to a few parts in ten thousand.
const LOBES: f64 = 8.0;

/// The highest frequency that is followed, as a share of the sampling rate.
pub const PASSED_SHARE: f64 = 0.3;

/// Half the width of the kernel of [`value_between`], in samples.
const REACH: usize = 12;

/// Shape of the window of that kernel. The transition reaches from [`PASSED_SHARE`] to 1 − [`PASSED_SHARE`], 0.2 of the
/// rate on either side of a half; the spectrum of the window falls to about `e^-β` at `β / (2π · REACH)`.
const SHAPE: f64 = 2.0 * PI * REACH as f64 * (0.5 - PASSED_SHARE);

/// Largest error of [`value_between`] for a sine of at most [`PASSED_SHARE`] of the rate, as a share of its amplitude.
pub const BETWEEN_ERROR: f64 = 1e-6;

/// The signal at `n_points` times `start, start + step, …`, counted in samples of `signal` (fractions allowed).
///
/// A sinc under a Blackman window; when points are farther apart than samples it is stretched, so that what the points cannot
/// carry is removed first. On the samples themselves, at their own rate, it returns them unchanged. Positions must lie
/// within the signal: `None` otherwise.
pub fn resample(signal: &[f64], start: f64, step: f64, n_points: usize) -> Option<Vec<f64>> {
    let last = signal.len().checked_sub(1)? as f64;
    let end = start + step * n_points.saturating_sub(1) as f64;
    // Half a thousandth of a sample is rounding, not extrapolation.
    let slack = 5e-4;
    let inside = start >= -slack && end <= last + slack && step >= 0.0;
    if !inside || !step.is_finite() {
        return None;
    }
    let stretch = step.max(1.0);
    let points = (0..n_points).map(|k| {
        let position = (start + step * k as f64).clamp(0.0, last);
        interpolate(signal, position, stretch)
    });
    Some(points.collect())
}

fn interpolate(signal: &[f64], position: f64, stretch: f64) -> f64 {
    let nearest = position.round();
    // At the signal's own rate the kernel is zero on all other samples; skipping them keeps their missing values out.
    if stretch == 1.0 && (position - nearest).abs() < 1e-9 {
        return signal[nearest as usize];
    }
    let reach = LOBES * stretch;
    let first = (position - reach).ceil().max(0.0) as usize;
    let last = ((position + reach).floor() as usize).min(signal.len() - 1);
    let (mut sum, mut weights) = (0.0, 0.0);
    for (sample, value) in signal.iter().enumerate().take(last + 1).skip(first) {
        let weight = kernel((sample as f64 - position) / stretch);
        sum += weight * value;
        weights += weight;
    }
    // Weights sum to nearly 1 inside and to less at the ends: dividing keeps a constant constant.
    sum / weights
}

/// The signal at a position between its samples, for measuring: [`BETWEEN_ERROR`] is more exact than [`resample`], whose
/// kernel features were learned with. `None` where fewer than twelve samples lie on either side.
///
/// A sinc under the window `exp(β (√(1 − u²) − 1))` (Barnett, Magland and af Klinteberg 2019). All samples see the same
/// `sin(π x)` but for its sign, and it cancels when the sum is divided by that of the weights.
pub fn value_between(signal: &[f64], position: f64) -> Option<f64> {
    let before = position.floor();
    if !(before >= (REACH - 1) as f64 && before + (REACH as f64) < signal.len() as f64) {
        return None;
    }
    let first = before as usize + 1 - REACH;
    let (mut sum, mut weights) = (0.0, 0.0);
    let mut sign = 1.0;
    for (k, value) in signal[first..first + 2 * REACH].iter().enumerate() {
        let x = (first + k) as f64 - position;
        if x == 0.0 {
            return Some(*value);
        }
        let inside = (1.0 - (x / REACH as f64).powi(2)).max(0.0);
        let weight = sign * (SHAPE * (inside.sqrt() - 1.0)).exp() / x;
        sum += weight * value;
        weights += weight;
        sign = -sign;
    }
    Some(sum / weights)
}

fn kernel(x: f64) -> f64 {
    let sinc = |x: f64| {
        if x == 0.0 {
            1.0
        } else {
            (PI * x).sin() / (PI * x)
        }
    };
    if x.abs() >= LOBES {
        return 0.0;
    }
    let turn = PI * x / LOBES;
    sinc(x) * (0.42 + 0.5 * turn.cos() + 0.08 * (2.0 * turn).cos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sine(samples_per_cycle: f64, length: usize) -> Vec<f64> {
        (0..length)
            .map(|t| (2.0 * PI * t as f64 / samples_per_cycle).sin())
            .collect()
    }

    #[test]
    fn samples_at_their_own_rate_come_back_unchanged() {
        let signal = sine(17.3, 100);
        let found = resample(&signal, 10.0, 1.0, 50).expect("inside");
        assert_eq!(found, signal[10..60]);
    }

    #[test]
    fn a_sine_is_followed_between_coarse_samples() {
        for samples_per_cycle in [16.0, 8.0, 1.0 / PASSED_SHARE] {
            let signal = sine(samples_per_cycle, 200);
            let found = resample(&signal, 20.0, 0.08, 1000).expect("inside");
            for (k, value) in found.iter().enumerate() {
                let turn = (20.0 + 0.08 * k as f64) / samples_per_cycle;
                let error = (value - (2.0 * PI * turn).sin()).abs();
                assert!(
                    error < 1e-3,
                    "{samples_per_cycle} a cycle, point {k}: {error}"
                );
            }
        }
    }

    #[test]
    fn values_between_samples_keep_their_promise_up_to_the_highest_frequency() {
        let mut worst = 0.0f64;
        for samples_per_cycle in [400.0, 20.0, 8.0, 5.0, 4.0, 1.0 / PASSED_SHARE] {
            let signal = sine(samples_per_cycle, 60);
            for k in 0..=300 {
                let position = 11.0 + 0.12 * f64::from(k);
                let found = value_between(&signal, position).expect("inside");
                let expected = (2.0 * PI * position / samples_per_cycle).sin();
                worst = worst.max((found - expected).abs());
            }
        }
        assert!(worst < BETWEEN_ERROR, "{worst:e}");
        let signal = sine(20.0, 60);
        assert_eq!(value_between(&signal, 20.0), Some(signal[20]));
        for outside in [10.9, 48.0, f64::NAN, -1.0] {
            assert_eq!(value_between(&signal, outside), None, "{outside}");
        }
    }

    #[test]
    fn what_the_points_cannot_carry_is_removed() {
        // 100 samples a cycle and a disturbance of 4 samples a cycle, seen every 10 samples.
        let slow = sine(100.0, 1000);
        let mixed: Vec<f64> = slow
            .iter()
            .zip(sine(4.0, 1000))
            .map(|(s, f)| s + f)
            .collect();
        let found = resample(&mixed, 100.0, 10.0, 80).expect("inside");
        for (k, value) in found.iter().enumerate() {
            assert!((value - slow[100 + 10 * k]).abs() < 0.02, "point {k}");
        }
    }

    #[test]
    fn positions_outside_are_refused() {
        assert!(resample(&[], 0.0, 1.0, 1).is_none());
        assert!(resample(&[1.0; 10], 5.0, 1.0, 6).is_none());
        assert!(resample(&[1.0; 10], f64::NAN, 1.0, 2).is_none());
        assert!(resample(&[1.0; 10], 0.0, f64::INFINITY, 2).is_none());
    }

    proptest! {
        #[test]
        fn a_constant_stays_constant(level in -1e3f64..1e3, start in 0.0f64..50.0, step in 0.0f64..3.0) {
            let found = resample(&[level; 200], start, step, 40).expect("inside");
            for value in found {
                prop_assert!((value - level).abs() <= 1e-9 * level.abs().max(1.0));
            }
        }
    }
}
