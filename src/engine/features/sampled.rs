//! A channel in memory with the times of its samples: values between them also where the rate of the record changes.

use std::sync::Arc;

use super::resample::{resample, value_between};
use crate::records::{RateSection, Record, Segment, TimeAxis};

/// Share of the distance of samples that is rounding, not time.
const ROUNDING: f64 = 1e-6;

/// Samples through which a polynomial is laid where too few equally spaced ones lie around a time: at the ends of a
/// record, beside a change of its rate, and where every sample has a time of its own.
///
/// Its error for a sine that turns by ω from sample to sample is at most `ω⁸/8! · ∏|x − k|`: 1.07e-3 ω⁸ between the
/// middle two, 1.31e-2 ω⁸ beside the end of a record. At 16 samples a cycle that is 6e-7 and 7e-6 of the amplitude; a
/// third harmonic there is followed to 0.4 %, and that is the limit of eight samples. More of them would follow it
/// better, but amplify noise at the ends of a record (seven times with eight samples, fifty times with twelve).
const POLYNOMIAL_POINTS: usize = 8;

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

    /// Whether a time is that of a sample.
    pub fn is_sample(&self, time_s: f64) -> bool {
        let time_s = time_s - self.skew_s;
        let nearest = self.times.nearest(time_s);
        let Some(nearest_s) = nearest.and_then(|sample| self.times.time_s(sample)) else {
            return false;
        };
        let step_s = match self.times.stretch_of(nearest_s, nearest_s) {
            Some(stretch) => 1.0 / stretch.rate_hz,
            None => return nearest_s == time_s,
        };
        (nearest_s - time_s).abs() < ROUNDING * step_s
    }

    /// Values at equally spaced times; `None` where they reach beyond the samples or the samples' times do not rise.
    ///
    /// A time of a sample has its value. Within a stretch of constant rate values between samples are band-limited;
    /// where the stretch begins or ends, and among samples without a rate, a polynomial goes through the nearest ones.
    pub fn points(&self, start_s: f64, step_s: f64, n_points: usize) -> Option<Vec<f64>> {
        let start_s = start_s - self.skew_s;
        let end_s = start_s + step_s * n_points.saturating_sub(1) as f64;
        if self.times.stretch_of(start_s, end_s).is_none() {
            let times = self.times_around(start_s, end_s)?;
            let rises = times.windows(2).all(|pair| pair[1] > pair[0]);
            rises.then_some(())?;
        }
        let at = |point: usize| self.between(start_s + step_s * point as f64);
        (0..n_points).map(at).collect()
    }

    /// Values at the times of another clock, which shows the same moments `shift_s` earlier: NaN where there are none.
    ///
    /// Between two stretches of constant rate what the slower one cannot carry is removed.
    pub fn on_clock(&self, clock: &SampleTimes, shift_s: f64) -> Vec<f64> {
        let own_s = |sample: usize| Some(clock.time_s(sample)? + shift_s - self.skew_s);
        if let (SampleTimes::Stretches(own), SampleTimes::Stretches(other)) = (self.times, clock)
            && let ([own], [other]) = (own.as_slice(), other.as_slice())
        {
            return resample_onto(self.values, own, other, shift_s - self.skew_s);
        }
        let at = |sample: usize| {
            let time_s = own_s(sample).filter(|time_s| self.is_within(*time_s, *time_s));
            time_s.and_then(|time_s| self.between(time_s))
        };
        let samples = 0..clock.n_samples();
        samples.map(|s| at(s).unwrap_or(f64::NAN)).collect()
    }

    /// The value at a time of the samples' own clock.
    fn between(&self, time_s: f64) -> Option<f64> {
        if let Some(stretch) = self.times.stretch_of(time_s, time_s) {
            let place = (time_s - stretch.onset_s) * stretch.rate_hz;
            let last = stretch.first_sample + stretch.n_samples;
            let values = self.values.get(stretch.first_sample..last)?;
            if (place - place.round()).abs() < ROUNDING {
                return values.get(place.round().max(0.0) as usize).copied();
            }
            if let Some(value) = value_between(values, place) {
                return Some(value);
            }
        }
        let nodes = self.nodes_around(time_s)?;
        Some(polynomial(&nodes, time_s))
    }

    /// Times and values of the samples that a polynomial goes through: half of them before a time and half after it,
    /// as far as there are. They lie no denser than the two around the time: a polynomial through a dense and a sparse
    /// part would amplify the noise of the dense one.
    fn nodes_around(&self, time_s: f64) -> Option<Vec<(f64, f64)>> {
        let last = self.times.n_samples().checked_sub(1)?;
        let before = self.times.at_or_before(time_s).unwrap_or(0);
        let before = before.min(last.saturating_sub(1));
        let at = |sample: usize| self.times.time_s(sample);
        let step_s = at((before + 1).min(last))? - at(before)?;
        let earlier = |sample: usize| {
            let wanted = self.times.nearest(at(sample)? - step_s)?;
            Some(wanted.min(sample.checked_sub(1)?))
        };
        let later = |sample: usize| {
            let wanted = self.times.nearest(at(sample)? + step_s)?;
            Some(wanted.max(sample + 1)).filter(|sample| *sample <= last)
        };
        let left = std::iter::successors(Some(before), |sample| earlier(*sample));
        let right = std::iter::successors(Some(before + 1).filter(|s| *s <= last), |s| later(*s));
        let left: Vec<usize> = left.take(POLYNOMIAL_POINTS).collect();
        let right: Vec<usize> = right.take(POLYNOMIAL_POINTS).collect();
        let half = POLYNOMIAL_POINTS / 2;
        let n_left = left
            .len()
            .min(half.max(POLYNOMIAL_POINTS.saturating_sub(right.len())));
        let n_right = right.len().min(POLYNOMIAL_POINTS - n_left);
        let samples = left[..n_left].iter().rev().chain(&right[..n_right]);
        let nodes = samples.map(|sample| Some((at(*sample)?, *self.values.get(*sample)?)));
        let nodes: Vec<(f64, f64)> = nodes.collect::<Option<_>>()?;
        // Beyond the span that is asked for, times may stand still too.
        let rises = nodes.windows(2).all(|pair| pair[1].0 > pair[0].0);
        rises.then_some(nodes)
    }

    /// Whether a span lies between the first and the last sample, but for rounding.
    fn is_within(&self, start_s: f64, end_s: f64) -> bool {
        self.times.span_s().is_some_and(|(begin_s, last_s)| {
            let slack_s = ROUNDING * (last_s - begin_s);
            start_s >= begin_s - slack_s && end_s <= last_s + slack_s
        })
    }

    /// Times of the samples in a span and of those on either side that a polynomial may go through.
    fn times_around(&self, start_s: f64, end_s: f64) -> Option<Vec<f64>> {
        self.is_within(start_s, end_s).then_some(())?;
        let reach = POLYNOMIAL_POINTS / 2;
        let first = self.times.at_or_before(start_s).unwrap_or(0);
        let first = first.saturating_sub(reach);
        let last = self.times.at_or_before(end_s)? + reach;
        let last = last.min(self.times.n_samples() - 1);
        (first..=last).map(|s| self.times.time_s(s)).collect()
    }
}

/// A stretch of one rate at the samples of another, whose times are `shift_s` earlier; NaN beyond its ends.
fn resample_onto(values: &[f64], own: &RateSection, other: &RateSection, shift_s: f64) -> Vec<f64> {
    let step = own.rate_hz / other.rate_hz;
    let start = (other.onset_s + shift_s - own.onset_s) * own.rate_hz;
    let last = own.n_samples.min(values.len()) as f64 - 1.0;
    // The first and the last sample of the other clock that lie within.
    let first = (-start / step - ROUNDING).ceil().max(0.0) as usize;
    let end = ((last - start) / step + ROUNDING).floor();
    let mut found = vec![f64::NAN; other.n_samples];
    if end < first as f64 {
        return found;
    }
    let n = (end as usize + 1)
        .min(other.n_samples)
        .saturating_sub(first);
    if let Some(inside) = resample(values, start + step * first as f64, step, n) {
        found[first..first + n].copy_from_slice(&inside);
    }
    found
}

/// The polynomial of Lagrange through times and values.
fn polynomial(nodes: &[(f64, f64)], time_s: f64) -> f64 {
    // On a sample, a missing neighbour must not count.
    if let Some((_, value)) = nodes.iter().find(|(t, _)| *t == time_s) {
        return *value;
    }
    let term = |(k, (own_s, value)): (usize, &(f64, f64))| {
        let others = nodes.iter().enumerate().filter(|(j, _)| *j != k);
        let weight = others.map(|(_, (t, _))| (time_s - t) / (own_s - t));
        value * weight.product::<f64>()
    };
    nodes.iter().enumerate().map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::resample::BETWEEN_ERROR;
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
            // Twenty samples a cycle at the slow rate, see `POLYNOMIAL_POINTS`.
            let error = BETWEEN_ERROR + 1.07e-3 * (2.0 * PI / 20.0_f64).powi(8);
            assert!((value - expected).abs() < error, "{point}: {value}");
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
        // At 0.12 s the samples themselves are compared with values between the late ones.
        let expected = of(&early, 0.0).points(0.12, 0.000_25, 80).expect("inside");
        let found = of(&late, skew_s)
            .points(0.12, 0.000_25, 80)
            .expect("inside");
        for (a, b) in expected.iter().zip(found) {
            assert!((a - b).abs() < BETWEEN_ERROR, "{:e}", a - b);
        }
        assert!(of(&early, 0.0).is_sample(0.12) && !of(&late, skew_s).is_sample(0.12));
        assert!(of(&late, skew_s).is_sample(0.120_1));
    }

    #[test]
    fn another_clock_sees_the_same_wave_at_its_own_rate_and_nothing_beyond_the_ends() {
        let clock = |rate_hz: f64, onset_s: f64, n_samples: usize| {
            SampleTimes::Stretches(vec![RateSection {
                rate_hz,
                onset_s,
                first_sample: 0,
                n_samples,
            }])
        };
        let (own, shift_s) = (clock(1600.0, 0.0, 320), 0.0173);
        let values = sine(&own, 50.0);
        let signal = Sampled {
            times: &own,
            values: &values,
            skew_s: 0.0,
        };
        for rate_hz in [6400.0, 1600.0, 960.0] {
            let other = clock(rate_hz, -0.05, (0.3 * rate_hz) as usize);
            let found = signal.on_clock(&other, shift_s);
            assert_eq!(found.len(), other.n_samples());
            let mut n_inside = 0;
            for (sample, value) in found.iter().enumerate() {
                let time_s = other.time_s(sample).expect("it has a time") + shift_s;
                let is_inside = (0.0..=319.0 / 1600.0).contains(&time_s);
                assert_eq!(value.is_nan(), !is_inside, "{rate_hz} Hz at {time_s} s");
                let is_deep = (0.02..=0.18).contains(&time_s);
                if is_deep {
                    let error = (value - (2.0 * PI * 50.0 * time_s).sin()).abs();
                    assert!(error < 1e-3, "{rate_hz} Hz at {time_s} s: {error:e}");
                    n_inside += 1;
                }
            }
            assert!(n_inside as f64 > 0.15 * rate_hz, "{n_inside}");
        }
        // Where rates change within the record every moment is taken by itself.
        let changing = two_rates();
        let found = signal.on_clock(&changing, 0.0);
        let expected = sine(&changing, 50.0);
        for sample in 30..480 {
            assert!((found[sample] - expected[sample]).abs() < 1e-3, "{sample}");
        }
    }

    #[test]
    fn noise_is_not_amplified_where_a_slow_part_meets_a_fast_one() {
        let section = |rate_hz, onset_s, first_sample, n_samples| RateSection {
            rate_hz,
            onset_s,
            first_sample,
            n_samples,
        };
        let times = SampleTimes::Stretches(vec![
            section(1000.0, 0.0, 0, 100),
            section(50_000.0, 0.1, 100, 2000),
        ]);
        // One unit up and down from sample to sample: the worst that noise can be.
        let values: Vec<f64> = (0..2100).map(|s| f64::from(s % 2) * 2.0 - 1.0).collect();
        let signal = Sampled {
            times: &times,
            values: &values,
            skew_s: 0.0,
        };
        let found = signal.points(0.095, 0.000_01, 1000).expect("inside");
        let most = found.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        assert!(most < 4.0, "{most}");
    }
}
