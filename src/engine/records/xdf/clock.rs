//! Time stamps of a stream: corrected by the measured offsets of its clock, then freed of jitter.
//!
//! The steps and their constants are those of the reference reader (pyxdf), so that stamps are equal to its.

use std::ops::Range;

use super::stream::Stream;

/// A clock was reset where an interval or a step of the offsets is so unusual.
const RESET_INTERVAL: (f64, f64) = (5.0, 5.0);
const RESET_OFFSET: (f64, f64) = (10.0, 1.0);
/// Deviations of offsets beyond this are taken to be outliers.
const OUTLIER_S: f64 = 1e-4;
/// Iterations of the robust fit, fewer for very many offsets.
const ITERATIONS: usize = 1000;
const MAX_UPDATES: usize = 200_000_000;
/// A break in a regular stream: so many seconds and so many samples.
const BREAK_S: f64 = 1.0;
const BREAK_SAMPLES: f64 = 500.0;

/// Corrects the stamps of a stream and finds its segments.
pub(super) fn synchronise(stream: &mut Stream) {
    if !stream.stamps_s.is_empty() {
        correct(&mut stream.stamps_s, &stream.clock);
    }
    stream.segments = match stream.stamps_s.len() {
        0 => Vec::new(),
        n if stream.rate_hz <= 0.0 || stream.can_drop_samples => std::iter::once(0..n).collect(),
        _ => remove_jitter(&mut stream.stamps_s, 1.0 / stream.rate_hz),
    };
}

/// Adds the offset of the clock: a line for each stretch between resets.
fn correct(stamps_s: &mut [f64], clock: &[(f64, f64)]) {
    if clock.is_empty() {
        return;
    }
    let stretches = clock_stretches(clock);
    let mut start = 0;
    for (k, stretch) in stretches.iter().enumerate() {
        let end = match stretches.get(k + 1) {
            None => stamps_s.len(),
            Some(next) => {
                // The first stamp that is closer to the next stretch belongs to it.
                let (last_s, next_s) = (clock[stretch.end - 1].0, clock[next.start].0);
                let is_own = |t: &f64| (t - last_s).abs() < (t - next_s).abs();
                let n_own = stamps_s[start..].iter().take_while(|t| is_own(t)).count();
                start + n_own
            }
        };
        let (intercept, slope) = offset_line(&clock[stretch.clone()]);
        for stamp_s in &mut stamps_s[start..end] {
            *stamp_s += intercept + slope * *stamp_s;
        }
        start = end;
    }
}

/// Offsets between resets of the clock.
fn clock_stretches(clock: &[(f64, f64)]) -> Vec<Range<usize>> {
    let steps = |value: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        clock
            .windows(2)
            .map(|pair| value(&pair[1]) - value(&pair[0]))
            .collect()
    };
    let (intervals, offsets) = (steps(|c| c.0), steps(|c| c.1));
    let (odd_interval, odd_offset) = (
        unusual(&intervals, RESET_INTERVAL),
        unusual(&offsets, RESET_OFFSET),
    );
    let is_reset = |k: usize| intervals[k] < 0.0 || (odd_interval[k] && odd_offset[k]);
    between_breaks(clock.len(), is_reset)
}

/// Stretches of `0..n`, cut behind each place that is a break.
fn between_breaks(n: usize, is_break: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut stretches = Vec::new();
    let mut start = 0;
    for k in 0..n.saturating_sub(1) {
        if is_break(k) {
            stretches.push(start..k + 1);
            start = k + 1;
        }
    }
    stretches.push(start..n);
    stretches
}

/// Which steps lie so many median deviations and so many seconds from the median.
fn unusual(steps: &[f64], (deviations, seconds): (f64, f64)) -> Vec<bool> {
    let middle = median(steps.to_vec());
    let distances: Vec<f64> = steps.iter().map(|step| (step - middle).abs()).collect();
    let spread = median(distances.clone()) + f64::EPSILON;
    let is_unusual = |distance: &f64| *distance / spread > deviations && *distance > seconds;
    distances.iter().map(is_unusual).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// Intercept and slope of the offsets over time, robust against outliers: Huber's loss by the alternating direction
/// method of multipliers (Boyd et al. 2011), stopped after a fixed number of iterations as the reference is.
fn offset_line(clock: &[(f64, f64)]) -> (f64, f64) {
    let [(first_s, first_offset_s), ..] = *clock else {
        return (0.0, 0.0);
    };
    if clock.len() == 1 {
        return (first_offset_s, 0.0);
    }
    let n = clock.len() as f64;
    let start = clock.iter().map(|c| c.0).fold(first_s, f64::min);
    let x: Vec<f64> = clock.iter().map(|c| (c.0 - start) / OUTLIER_S).collect();
    let y: Vec<f64> = clock.iter().map(|c| c.1 / OUTLIER_S).collect();
    let mean_x = x.iter().sum::<f64>() / n;
    let spread: f64 = x.iter().map(|x| (x - mean_x) * (x - mean_x)).sum();
    if !(spread.is_finite() && spread > 0.0) {
        return (0.0, 0.0);
    }
    let (mut z, mut u) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    let (mut intercept, mut slope) = (0.0, 0.0);
    for _ in 0..ITERATIONS.min(MAX_UPDATES / x.len() + 1) {
        let target = |k: usize| y[k] + z[k] - u[k];
        let mean_y = (0..x.len()).map(target).sum::<f64>() / n;
        let common: f64 = (0..x.len()).map(|k| (x[k] - mean_x) * target(k)).sum();
        slope = common / spread;
        intercept = mean_y - slope * mean_x;
        for k in 0..x.len() {
            let d = intercept + slope * x[k] - y[k] + u[k];
            let kept = if d == 0.0 {
                0.0
            } else {
                (1.0 - 2.0 / d.abs()).max(0.0)
            };
            z[k] = 0.5 * d + 0.5 * kept * d;
            u[k] = d - z[k];
        }
    }
    (intercept * OUTLIER_S - slope * start, slope)
}

/// Puts the stamps of each stretch between breaks on a line over the sample number; gives the stretches.
fn remove_jitter(stamps_s: &mut [f64], step_s: f64) -> Vec<Range<usize>> {
    let longest_s = BREAK_S.max(BREAK_SAMPLES * step_s);
    let is_break = |k: usize| (stamps_s[k + 1] - stamps_s[k]).abs() > longest_s;
    let segments = between_breaks(stamps_s.len(), is_break);
    for segment in &segments {
        let stamps_s = &mut stamps_s[segment.clone()];
        let n = stamps_s.len() as f64;
        let middle = (n - 1.0) / 2.0;
        let first_s = stamps_s[0];
        let mean_s = stamps_s.iter().map(|t| t - first_s).sum::<f64>() / n;
        let (mut common, mut spread) = (0.0, 0.0);
        for (k, stamp_s) in stamps_s.iter().enumerate() {
            let from_middle = k as f64 - middle;
            common += from_middle * (stamp_s - first_s);
            spread += from_middle * from_middle;
        }
        let slope = if spread > 0.0 { common / spread } else { 0.0 };
        for (k, stamp_s) in stamps_s.iter_mut().enumerate() {
            *stamp_s = first_s + mean_s + slope * (k as f64 - middle);
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_does_not_bend_the_clock() {
        let mut clock: Vec<(f64, f64)> = (0..40)
            .map(|k| (f64::from(k) * 5.0, 0.25 + 1e-5 * f64::from(k)))
            .collect();
        clock[20].1 += 0.5;
        let (intercept, slope) = offset_line(&clock);
        assert!((intercept - 0.25).abs() < 1e-4, "{intercept}");
        assert!((slope - 2e-6).abs() < 1e-6, "{slope}");
        assert_eq!(offset_line(&[(7.0, 1.5)]), (1.5, 0.0));
        assert_eq!(offset_line(&[(7.0, 1.5), (7.0, 1.5)]), (0.0, 0.0));
    }

    #[test]
    fn breaks_end_a_stretch() {
        let mut stamps: Vec<f64> = (0..1000).map(|k| f64::from(k) * 0.01).collect();
        stamps[600..].iter_mut().for_each(|stamp| *stamp += 60.0);
        stamps[10] += 0.004;
        assert_eq!(remove_jitter(&mut stamps, 0.01), [0..600, 600..1000]);
        assert!((stamps[10] - 0.1).abs() < 1e-4);
        assert!((stamps[700] - 67.0).abs() < 1e-9);
    }
}
