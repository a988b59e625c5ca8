//! Filters for looking at a signal: high-pass, low-pass and notch, forwards and backwards so that nothing is shifted in time.

use serde::{Deserialize, Serialize};

use super::filter::{Filter, FilterDesign, FilterError, Passband, Prototype};

/// Order of high-pass and low-pass in each direction.
const ORDER: usize = 2;
/// Width of the notch where the power is halved.
const NOTCH_WIDTH_HZ: f64 = 3.0;
/// Longest lead-in; slower filters than it serves (0.05 Hz) are not offered.
const LONGEST_LEAD_IN_S: f64 = 40.0;

/// The filters that are switched on; they change what is shown, never the data.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DisplayFilter {
    /// Edge of the high-pass.
    pub high_pass_hz: Option<f64>,
    /// Edge of the low-pass.
    pub low_pass_hz: Option<f64>,
    /// Frequency of the mains that is taken out.
    pub notch_hz: Option<f64>,
}

impl DisplayFilter {
    /// Whether nothing is switched on.
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }

    /// How much signal before and after a page is needed so that its edges are right: two
    /// periods of the slowest edge, after which 10⁻⁴ of a step is left.
    pub fn lead_in_s(&self) -> f64 {
        let periods = |edge_hz: f64| (2.0 / edge_hz.max(1e-3)).min(LONGEST_LEAD_IN_S);
        let high = self.high_pass_hz.map_or(0.0, periods);
        let low = self.low_pass_hz.map_or(0.0, periods);
        let notch = self.notch_hz.map_or(0.0, |_| 3.0 / NOTCH_WIDTH_HZ);
        high.max(low).max(notch)
    }

    /// The filters at a sampling rate. A low-pass or notch at or above half the rate has nothing
    /// to do and is omitted.
    pub fn at_rate(&self, rate_hz: f64) -> Result<RunningFilter, FilterError> {
        let butterworth = |passband: Passband| FilterDesign {
            prototype: Prototype::Butterworth,
            passband,
            order: ORDER,
        };
        let nyquist_hz = rate_hz / 2.0;
        let mut filters = Vec::new();
        if let Some(edge_hz) = self.high_pass_hz {
            let filter = butterworth(Passband::High { edge_hz }).at_rate(rate_hz)?;
            filters.push((filter, Level::Removed));
        }
        if let Some(edge_hz) = self.low_pass_hz.filter(|edge_hz| *edge_hz < nyquist_hz) {
            let filter = butterworth(Passband::Low { edge_hz }).at_rate(rate_hz)?;
            filters.push((filter, Level::Kept));
        }
        let below = |hz: &f64| *hz + NOTCH_WIDTH_HZ / 2.0 < nyquist_hz;
        if let Some(hz) = self.notch_hz.filter(below) {
            let filter = Filter::notch(hz, NOTCH_WIDTH_HZ, rate_hz)?;
            filters.push((filter, Level::Kept));
        }
        Ok(RunningFilter { filters })
    }
}

/// What a filter does to a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Kept,
    Removed,
}

/// Display filters at one sampling rate.
#[derive(Debug, Clone)]
pub struct RunningFilter {
    filters: Vec<(Filter, Level)>,
}

impl RunningFilter {
    /// Filters a signal in place, forwards and backwards: the gain of each filter is squared (6 dB
    /// down at the edges) and its delay undone. Stretches of missing values are omitted, and
    /// each stretch between them is filtered for itself.
    pub fn run(&self, signal: &mut [f64]) {
        if self.filters.is_empty() {
            return;
        }
        let mut start = 0;
        while start < signal.len() {
            let length = signal[start..]
                .iter()
                .take_while(|value| value.is_finite())
                .count();
            self.run_whole(&mut signal[start..start + length]);
            start += length;
            start += signal[start..]
                .iter()
                .take_while(|value| !value.is_finite())
                .count();
        }
    }

    fn run_whole(&self, signal: &mut [f64]) {
        let mut filtered = Vec::with_capacity(signal.len());
        for _direction in 0..2 {
            for (filter, level) in &self.filters {
                // Each run starts at the level it finds, so that no step rings at the edge.
                let first = signal.first().copied().unwrap_or(0.0);
                signal.iter_mut().for_each(|value| *value -= first);
                filter.run(signal, &mut filtered);
                let back = if *level == Level::Kept { first } else { 0.0 };
                for (value, filtered) in signal.iter_mut().zip(&filtered) {
                    *value = filtered + back;
                }
            }
            signal.reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    const RATE_HZ: f64 = 250.0;

    fn sine(frequency_hz: f64, n: usize) -> Vec<f64> {
        let phase = |k: usize| TAU * frequency_hz * k as f64 / RATE_HZ;
        (0..n).map(|k| phase(k).sin()).collect()
    }

    fn filtered(filter: DisplayFilter, mut signal: Vec<f64>) -> Vec<f64> {
        let running = filter.at_rate(RATE_HZ).expect("legal");
        running.run(&mut signal);
        signal
    }

    #[test]
    fn what_passes_is_neither_shifted_nor_changed_inside_the_lead_in() {
        let filter = DisplayFilter {
            high_pass_hz: Some(0.5),
            low_pass_hz: Some(70.0),
            notch_hz: Some(50.0),
        };
        let signal = sine(10.0, 4000);
        let mut with_mains = signal.clone();
        for (value, mains) in with_mains.iter_mut().zip(sine(50.0, 4000)) {
            *value += 5.0 * mains + 300.0;
        }
        let lead_in = (filter.lead_in_s() * RATE_HZ) as usize;
        let found = filtered(filter, with_mains);
        for k in lead_in..4000 - lead_in {
            assert!((found[k] - signal[k]).abs() < 0.02, "{k}: {}", found[k]);
        }
    }

    #[test]
    fn the_gain_at_an_edge_is_one_half() {
        let filter = DisplayFilter {
            low_pass_hz: Some(15.0),
            ..DisplayFilter::default()
        };
        let found = filtered(filter, sine(15.0, 4000));
        let largest = found[1000..3000].iter().copied().fold(0.0, f64::max);
        assert!((largest - 0.5).abs() < 0.01, "{largest}");
    }

    #[test]
    fn a_level_survives_a_low_pass_and_not_a_high_pass() {
        let low = DisplayFilter {
            low_pass_hz: Some(30.0),
            notch_hz: Some(60.0),
            ..DisplayFilter::default()
        };
        let level = filtered(low, vec![120.0; 500]);
        assert!(level.iter().all(|value| (value - 120.0).abs() < 1e-6));
        let high = DisplayFilter {
            high_pass_hz: Some(1.0),
            ..DisplayFilter::default()
        };
        let level = filtered(high, vec![120.0; 500]);
        assert!(level.iter().all(|value| value.abs() < 1e-9));
    }

    #[test]
    fn missing_values_stay_missing_and_do_not_spread() {
        let filter = DisplayFilter {
            high_pass_hz: Some(1.0),
            ..DisplayFilter::default()
        };
        let mut signal = sine(5.0, 1000);
        signal[400..420].fill(f64::NAN);
        let found = filtered(filter, signal);
        let missing = found.iter().filter(|value| value.is_nan()).count();
        assert_eq!(missing, 20);
        assert!(found[400..420].iter().all(|value| value.is_nan()));
    }

    #[test]
    fn filters_that_cannot_act_at_a_rate_are_left_out() {
        let filter = DisplayFilter {
            low_pass_hz: Some(70.0),
            notch_hz: Some(60.0),
            ..DisplayFilter::default()
        };
        let mut signal = vec![1.0, -1.0, 3.0];
        filter.at_rate(100.0).expect("legal").run(&mut signal);
        assert_eq!(signal, [1.0, -1.0, 3.0]);
        assert!(DisplayFilter::default().is_off());
    }
}
