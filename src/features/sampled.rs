//! A channel in memory with the times of its samples: values between them also where the rate of the record changes.

use std::sync::Arc;

use super::resample::resample;
use crate::records::{RateSection, Record, Segment, TimeAxis};

/// Share of the distance of samples that is rounding, not time.
const ROUNDING: f64 = 1e-6;

/// Samples through which a polynomial is laid where they are not equally spaced. With six and 16 samples a cycle the
/// fundamental is followed to a few parts in a hundred thousand.
const POLYNOMIAL_POINTS: usize = 6;

/// When the samples of a channel were taken.
#[derive(Debug, Clone, PartialEq)]
pub enum SampleTimes {
    /// Stretches of constant rate, in order.
    Stretches(Vec<RateSection>),
    /// The time of each sample.
    Stamps(Arc<[f64]>),
}

impl SampleTimes {
    /// The times of a channel; `None` where the record tells neither rate nor times.
    pub fn of(record: &Record, channel: usize) -> Option<Self> {
        match &record.time_axis {
            TimeAxis::Stamps(stamps) => Some(Self::Stamps(stamps.clone())),
            TimeAxis::Sections(sections) => Some(Self::Stretches(sections.clone())),
            TimeAxis::Regular => {
                let rate_hz = record.channels.get(channel)?.rate_hz?;
                let stretch = |segment: Segment| RateSection {
                    rate_hz,
                    onset_s: segment.onset_s,
                    first_sample: segment.first_sample,
                    n_samples: segment.n_samples,
                };
                let stretches = record.segments(channel).into_iter().map(stretch);
                Some(Self::Stretches(stretches.collect()))
            }
        }
    }

    /// Number of samples with a time.
    pub fn n_samples(&self) -> usize {
        match self {
            Self::Stamps(stamps) => stamps.len(),
            Self::Stretches(all) => all.last().map_or(0, |s| s.first_sample + s.n_samples),
        }
    }

    /// Time of a sample.
    pub fn time_s(&self, sample: usize) -> Option<f64> {
        match self {
            Self::Stamps(stamps) => stamps.get(sample).copied(),
            Self::Stretches(all) => {
                let at = all.partition_point(|s| s.first_sample <= sample);
                let stretch = all.get(at.checked_sub(1)?)?;
                let inside = sample - stretch.first_sample;
                (inside < stretch.n_samples).then(|| time_in(stretch, inside))
            }
        }
    }

    /// The times of the first and the last sample.
    pub fn span_s(&self) -> Option<(f64, f64)> {
        let last = self.n_samples().checked_sub(1)?;
        Some((self.time_s(0)?, self.time_s(last)?))
    }

    /// The last sample at or before a time; `None` before the first.
    pub fn at_or_before(&self, time_s: f64) -> Option<usize> {
        match self {
            Self::Stamps(stamps) => stamps.partition_point(|t| *t <= time_s).checked_sub(1),
            Self::Stretches(all) => {
                let begun = |s: &RateSection| s.onset_s <= time_s + ROUNDING / s.rate_hz;
                let stretch = all.get(all.partition_point(begun).checked_sub(1)?)?;
                let inside = (time_s - stretch.onset_s) * stretch.rate_hz + ROUNDING;
                let inside = (inside.max(0.0) as usize).min(stretch.n_samples.saturating_sub(1));
                Some(stretch.first_sample + inside)
            }
        }
    }

    /// The sample nearest to a time.
    pub fn nearest(&self, time_s: f64) -> Option<usize> {
        let Some(before) = self.at_or_before(time_s) else {
            return (self.n_samples() > 0).then_some(0);
        };
        let distance = |sample: usize| self.time_s(sample).map(|t| (t - time_s).abs());
        match (distance(before), distance(before + 1)) {
            (Some(left), Some(right)) if right < left => Some(before + 1),
            _ => Some(before),
        }
    }

    /// The stretch of constant rate that holds all of a span.
    fn stretch_of(&self, start_s: f64, end_s: f64) -> Option<&RateSection> {
        let Self::Stretches(all) = self else {
            return None;
        };
        all.iter().find(|s| {
            let slack_s = ROUNDING / s.rate_hz;
            let last_s = time_in(s, s.n_samples.saturating_sub(1));
            start_s >= s.onset_s - slack_s && end_s <= last_s + slack_s
        })
    }
}

fn time_in(stretch: &RateSection, inside: usize) -> f64 {
    stretch.onset_s + inside as f64 / stretch.rate_hz
}

/// How densely a span is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Density {
    /// The smallest rate in the span.
    pub lowest_hz: f64,
    /// The largest rate in the span.
    pub highest_hz: f64,
    /// Whether the rate is the same everywhere.
    pub is_constant: bool,
}

/// A channel in memory.
#[derive(Debug, Clone, Copy)]
pub struct Sampled<'a> {
    /// When its samples were taken.
    pub times: &'a SampleTimes,
    /// Its samples; missing ones are NaN.
    pub values: &'a [f64],
    /// How much later than its time each sample was taken.
    pub skew_s: f64,
}

impl Sampled<'_> {
    /// The sample nearest to a time, as it was recorded.
    pub fn value_at(&self, time_s: f64) -> Option<f64> {
        self.values.get(self.times.nearest(time_s)?).copied()
    }

    /// The rates from one time to another; `None` where the span reaches beyond the samples.
    pub fn density(&self, start_s: f64, end_s: f64) -> Option<Density> {
        let (start_s, end_s) = (start_s - self.skew_s, end_s - self.skew_s);
        if let Some(stretch) = self.times.stretch_of(start_s, end_s) {
            return Some(Density {
                lowest_hz: stretch.rate_hz,
                highest_hz: stretch.rate_hz,
                is_constant: true,
            });
        }
        let times = self.times_around(start_s, end_s)?;
        let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
        let (mut least, mut most) = (f64::INFINITY, 0.0f64);
        for step in steps {
            if !(step > 0.0 && step.is_finite()) {
                return None;
            }
            least = least.min(step);
            most = most.max(step);
        }
        (most > 0.0).then_some(Density {
            lowest_hz: 1.0 / most,
            highest_hz: 1.0 / least,
            is_constant: false,
        })
    }

    /// Values at equally spaced times; `None` where they reach beyond the samples or the samples' times do not rise.
    ///
    /// Within a stretch of constant rate they are band-limited (the samples themselves where the times are theirs),
    /// elsewhere a polynomial through the nearest samples at their own times.
    pub fn points(&self, start_s: f64, step_s: f64, n_points: usize) -> Option<Vec<f64>> {
        let start_s = start_s - self.skew_s;
        let end_s = start_s + step_s * n_points.saturating_sub(1) as f64;
        if let Some(stretch) = self.times.stretch_of(start_s, end_s) {
            let last = stretch.first_sample + stretch.n_samples;
            let values = self.values.get(stretch.first_sample..last)?;
            let start = (start_s - stretch.onset_s) * stretch.rate_hz;
            return resample(values, start, step_s * stretch.rate_hz, n_points);
        }
        let first = self.first_around(start_s)?;
        let times = self.times_around(start_s, end_s)?;
        let values = self.values.get(first..first + times.len())?;
        if times.windows(2).any(|pair| pair[1] <= pair[0]) {
            return None;
        }
        let at = |point: usize| polynomial(&times, values, start_s + step_s * point as f64);
        Some((0..n_points).map(at).collect())
    }

    fn first_around(&self, start_s: f64) -> Option<usize> {
        let reach = POLYNOMIAL_POINTS / 2;
        Some(self.times.at_or_before(start_s)?.saturating_sub(reach))
    }

    /// Times of the samples in a span and of a few around it.
    fn times_around(&self, start_s: f64, end_s: f64) -> Option<Vec<f64>> {
        let (begin_s, last_s) = self.times.span_s()?;
        let slack_s = ROUNDING * (last_s - begin_s);
        if !(start_s >= begin_s - slack_s && end_s <= last_s + slack_s) {
            return None;
        }
        let first = self.first_around(start_s.max(begin_s))?;
        let last = self.times.at_or_before(end_s)? + POLYNOMIAL_POINTS / 2;
        let last = last.min(self.times.n_samples() - 1);
        (first..=last).map(|s| self.times.time_s(s)).collect()
    }
}

/// The polynomial of Lagrange through the samples around a time.
fn polynomial(times: &[f64], values: &[f64], time_s: f64) -> f64 {
    let after = times.partition_point(|t| *t <= time_s);
    let most = times.len().saturating_sub(POLYNOMIAL_POINTS);
    let first = after.saturating_sub(POLYNOMIAL_POINTS / 2).min(most);
    let last = (first + POLYNOMIAL_POINTS).min(times.len());
    let (times, values) = (&times[first..last], &values[first..last]);
    // On a sample, a missing neighbour must not count.
    if let Some(hit) = times.iter().position(|t| *t == time_s) {
        return values[hit];
    }
    let term = |k: usize| {
        let others = times.iter().enumerate().filter(|(j, _)| *j != k);
        values[k]
            * others
                .map(|(_, t)| (time_s - t) / (times[k] - t))
                .product::<f64>()
    };
    (0..times.len()).map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn two_rates() -> SampleTimes {
        let slow = RateSection {
            rate_hz: 1000.0,
            onset_s: 0.0,
            first_sample: 0,
            n_samples: 100,
        };
        let fast = RateSection {
            rate_hz: 4000.0,
            onset_s: 0.1,
            first_sample: 100,
            n_samples: 400,
        };
        SampleTimes::Stretches(vec![slow, fast])
    }

    fn sine(times: &SampleTimes, hz: f64) -> Vec<f64> {
        let at = |sample| times.time_s(sample).expect("it has a time");
        let samples = 0..times.n_samples();
        samples.map(|s| (2.0 * PI * hz * at(s)).sin()).collect()
    }

    #[test]
    fn samples_and_times_belong_together_across_a_change_of_rate() {
        let times = two_rates();
        assert_eq!(times.n_samples(), 500);
        assert_eq!(times.span_s(), Some((0.0, 0.1 + 399.0 / 4000.0)));
        for sample in [0, 1, 57, 99, 100, 101, 499] {
            let time_s = times.time_s(sample).expect("inside");
            assert_eq!(times.at_or_before(time_s), Some(sample));
            assert_eq!(times.nearest(time_s), Some(sample));
        }
        assert_eq!(times.time_s(500), None);
        assert_eq!(times.at_or_before(-0.001), None);
        assert_eq!(times.nearest(-0.001), Some(0));
        assert_eq!(times.at_or_before(0.0999), Some(99));
        assert_eq!(times.nearest(0.0999), Some(100));
        assert_eq!(times.nearest(9.0), Some(499));
    }

    #[test]
    fn points_within_a_stretch_are_its_samples_and_across_stretches_follow_the_wave() {
        let times = two_rates();
        let values = sine(&times, 50.0);
        let signal = Sampled {
            times: &times,
            values: &values,
            skew_s: 0.0,
        };
        assert_eq!(
            signal.points(0.02, 0.001, 20).expect("inside"),
            values[20..40]
        );
        let across = signal.points(0.09, 0.000_25, 80).expect("inside");
        for (point, value) in across.iter().enumerate() {
            let expected = (2.0 * PI * 50.0 * (0.09 + 0.000_25 * point as f64)).sin();
            assert!((value - expected).abs() < 1e-5, "{point}: {value}");
        }
        let density = signal.density(0.09, 0.11).expect("inside");
        assert!((density.lowest_hz - 1000.0).abs() < 1e-6 && !density.is_constant);
        assert!(signal.points(0.19, 0.001, 20).is_none());
        assert!(signal.points(-0.01, 0.001, 20).is_none());
    }

    #[test]
    fn stamps_that_do_not_rise_give_no_points() {
        let times = SampleTimes::Stamps([0.0, 0.1, 0.1, 0.2, 0.3, 0.4].into());
        let values = [1.0; 6];
        let signal = Sampled {
            times: &times,
            values: &values,
            skew_s: 0.0,
        };
        assert_eq!(signal.points(0.05, 0.01, 5), None);
        assert_eq!(signal.density(0.05, 0.15), None);
    }

    #[test]
    fn a_channel_that_is_sampled_later_is_read_later() {
        let times = two_rates();
        let early = sine(&times, 50.0);
        let skew_s = 0.000_1;
        let late: Vec<f64> = (0..times.n_samples())
            .map(|s| (2.0 * PI * 50.0 * (times.time_s(s).expect("inside") + skew_s)).sin())
            .collect();
        let of = |values, skew_s| Sampled {
            times: &times,
            values,
            skew_s,
        };
        let expected = of(&early, 0.0).points(0.12, 0.000_25, 80).expect("inside");
        let found = of(&late, skew_s)
            .points(0.12, 0.000_25, 80)
            .expect("inside");
        for (a, b) in expected.iter().zip(found) {
            assert!((a - b).abs() < 1e-3);
        }
    }
}
