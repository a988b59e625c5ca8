//! What is measured over one cycle of a grid signal at a cursor: RMS, phasor, harmonics, distortion, frequency.

use num_complex::Complex64;
use std::f64::consts::PI;

use super::fault::MIN_SAMPLES_PER_CYCLE;
use super::phasor::{phasor, sequence_components};
use super::resample::PASSED_SHARE;
use super::sampled::Sampled;

/// Fewest points of a cycle where its samples do not divide it evenly.
const MIN_POINTS: usize = 128;

/// Most points of a cycle: a record of 1 MHz at 50 Hz has fewer.
const MAX_POINTS: usize = 1 << 17;

/// Share of a cycle's energy that its fundamental must carry for a frequency to be read from it.
const FUNDAMENTAL_SHARE: f64 = 0.5;

/// Steps after which a frequency that still moves is given up.
const MAX_STEPS: usize = 20;

/// The cycle of a signal that ends at a cursor, the value at the cursor included: what a relay knows at that moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Cycle {
    values: Vec<f64>,
    highest_order: usize,
}

impl Cycle {
    /// The cycle that ends at `end_s`; `None` where the record does not hold all of it, or holds fewer than eight
    /// samples of it.
    pub fn before(signal: &Sampled<'_>, end_s: f64, frequency_hz: f64) -> Option<Self> {
        if !(frequency_hz.is_finite() && frequency_hz > 0.0) {
            return None;
        }
        let cycle_s = 1.0 / frequency_hz;
        // The first point is the one after the end of the cycle before.
        let density =
            signal.density(end_s - cycle_s * (1.0 - 1.0 / MIN_SAMPLES_PER_CYCLE), end_s)?;
        if density.lowest_hz < MIN_SAMPLES_PER_CYCLE * frequency_hz * (1.0 - 1e-6) {
            return None;
        }
        let per_cycle = density.highest_hz / frequency_hz;
        let whole = per_cycle.round();
        let is_even = density.is_constant && (per_cycle - whole).abs() < 1e-6;
        let n_points = match is_even {
            true => whole as usize,
            false => MIN_POINTS.max(per_cycle.ceil() as usize),
        };
        if n_points > MAX_POINTS {
            return None;
        }
        let highest_order = match is_even && signal.is_sample(end_s) {
            true => (n_points - 1) / 2,
            false => (PASSED_SHARE * density.lowest_hz / frequency_hz) as usize,
        };
        let step_s = cycle_s / n_points as f64;
        let values = signal.points(end_s - cycle_s + step_s, step_s, n_points)?;
        let is_whole = values.iter().all(|value| value.is_finite());
        is_whole.then_some(Self {
            values,
            highest_order,
        })
    }

    /// True RMS: harmonics and the constant part count.
    pub fn rms(&self) -> f64 {
        let power = self.values.iter().map(|v| v * v).sum::<f64>();
        (power / self.values.len() as f64).sqrt()
    }

    /// The constant part.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }

    /// Peak phasor of a harmonic, its angle that of a cosine at the cursor.
    pub fn phasor(&self, order: usize) -> Complex64 {
        let turn_to_end = -2.0 * PI * order as f64 / self.values.len() as f64;
        phasor(&self.values, 1, order) * Complex64::cis(turn_to_end)
    }

    /// The highest harmonic that the sampling rate can carry.
    pub fn highest_order(&self) -> usize {
        self.highest_order
    }

    /// Amplitudes of harmonics 1 to `highest`, as far as the rate carries them.
    pub fn harmonics(&self, highest: usize) -> Vec<f64> {
        let orders = 1..=highest.min(self.highest_order);
        orders.map(|order| self.phasor(order).norm()).collect()
    }

    /// Total harmonic distortion: the root of the summed squares of harmonics 2 and above, as a share of the
    /// fundamental. `None` without a fundamental.
    pub fn distortion(&self, highest: usize) -> Option<f64> {
        let all = self.harmonics(highest);
        let (first, others) = all.split_first()?;
        let power: f64 = others.iter().map(|x| x * x).sum();
        (*first > 0.0).then(|| power.sqrt() / first)
    }

    /// Share of the energy that the fundamental carries.
    fn fundamental_share(&self) -> f64 {
        let power = self.rms().powi(2);
        if power > 0.0 {
            self.phasor(1).norm_sqr() / 2.0 / power
        } else {
            0.0
        }
    }
}

/// Zero, positive and negative sequence of three phases at a cursor, as peak phasors.
pub fn sequences_at(
    phases: &[Sampled<'_>; 3],
    end_s: f64,
    frequency_hz: f64,
) -> Option<[Complex64; 3]> {
    let mut phasors = [Complex64::default(); 3];
    for (found, phase) in phasors.iter_mut().zip(phases) {
        *found = Cycle::before(phase, end_s, frequency_hz)?.phasor(1);
    }
    Some(sequence_components(phasors))
}

/// The frequency over the two cycles that end at a cursor: how much the positive sequence of three phases has turned
/// from one to the next. The length of the cycles follows the frequency found until it stands still, so that an
/// off-nominal frequency does not leak.
///
/// `None` where two whole cycles are missing, or where something else than a sine of 0.5 to 1.5 times the nominal
/// frequency is there.
pub fn frequency_at(phases: &[Sampled<'_>; 3], end_s: f64, nominal_hz: f64) -> Option<f64> {
    let mut frequency_hz = nominal_hz;
    for _ in 0..MAX_STEPS {
        let now = sequences_at(phases, end_s, frequency_hz)?[1];
        let before = sequences_at(phases, end_s - 1.0 / frequency_hz, frequency_hz)?[1];
        let turn = (now * before.conj()).arg() / (2.0 * PI);
        let next_hz = frequency_hz * (1.0 + turn);
        if !(0.5 * nominal_hz..=1.5 * nominal_hz).contains(&next_hz) {
            return None;
        }
        let moved = (next_hz - frequency_hz).abs();
        frequency_hz = next_hz;
        if moved <= 1e-9 * nominal_hz {
            break;
        }
    }
    let is_sine = phases.iter().any(|phase| {
        let cycle = Cycle::before(phase, end_s, frequency_hz);
        cycle.is_some_and(|cycle| cycle.fundamental_share() >= FUNDAMENTAL_SHARE)
    });
    is_sine.then_some(frequency_hz)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::resample::BETWEEN_ERROR;
    use crate::features::sampled::SampleTimes;
    use crate::records::RateSection;
    use proptest::prelude::*;

    /// Stretches one after the other, each of a rate and a number of samples.
    fn stretches(of: &[(f64, usize)]) -> SampleTimes {
        let (mut onset_s, mut first_sample) = (0.0, 0);
        let sections = of.iter().map(|&(rate_hz, n_samples)| {
            let section = RateSection {
                rate_hz,
                onset_s,
                first_sample,
                n_samples,
            };
            onset_s += n_samples as f64 / rate_hz;
            first_sample += n_samples;
            section
        });
        SampleTimes::Stretches(sections.collect())
    }

    fn wave(times: &SampleTimes, of: impl Fn(f64) -> f64) -> Vec<f64> {
        let samples = 0..times.n_samples();
        samples
            .map(|sample| of(times.time_s(sample).expect("inside")))
            .collect()
    }

    fn sampled<'a>(times: &'a SampleTimes, values: &'a [f64]) -> Sampled<'a> {
        Sampled {
            times,
            values,
            skew_s: 0.0,
        }
    }

    #[test]
    fn a_wave_of_known_parts_is_measured_exactly_at_a_whole_number_of_samples() {
        let times = stretches(&[(6400.0, 1280)]);
        let parts = |t: f64| {
            let turn = 2.0 * PI * 50.0 * t;
            3.0 + 100.0 * (turn + 0.7).cos()
                + 20.0 * (3.0 * turn - 0.2).cos()
                + 5.0 * (7.0 * turn).cos()
        };
        let values = wave(&times, parts);
        let cursor_s = 0.1;
        let cycle = Cycle::before(&sampled(&times, &values), cursor_s, 50.0).expect("inside");
        let expected = (9.0 + (1e4 + 400.0 + 25.0) / 2.0f64).sqrt();
        assert!((cycle.rms() - expected).abs() < 1e-9);
        assert!((cycle.mean() - 3.0).abs() < 1e-9);
        // At 0.1 s, five whole cycles, the angle is that at time zero.
        let fundamental = cycle.phasor(1);
        assert!((fundamental - Complex64::from_polar(100.0, 0.7)).norm() < 1e-9);
        let harmonics = cycle.harmonics(9);
        let expected = [100.0, 0.0, 20.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0];
        for (found, expected) in harmonics.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{harmonics:?}");
        }
        let distortion = cycle.distortion(9).expect("there is a fundamental");
        assert!((distortion - 425.0f64.sqrt() / 100.0).abs() < 1e-12);
        assert_eq!(cycle.highest_order(), 63);
    }

    #[test]
    fn the_cycle_ends_at_the_cursor_and_needs_all_of_its_samples() {
        let times = stretches(&[(1000.0, 200)]);
        // Twenty samples a cycle; the wave begins at sample 100.
        let values = wave(&times, |t| {
            let is_on = t > 0.0995;
            f64::from(u8::from(is_on)) * 10.0 * (2.0 * PI * 50.0 * t).cos()
        });
        let signal = sampled(&times, &values);
        let rms = |sample: usize| {
            let cycle = Cycle::before(&signal, sample as f64 / 1000.0, 50.0);
            cycle.map(|cycle| cycle.rms())
        };
        assert_eq!(rms(99), Some(0.0));
        assert!(rms(100).is_some_and(|rms| rms > 1.0));
        assert!(rms(119).is_some_and(|rms| (rms - 50.0f64.sqrt()).abs() < 1e-9));
        // The first whole cycle is samples 0 to 19.
        assert_eq!(rms(18), None);
        assert_eq!(rms(19), Some(0.0));
        let mut holed = values.clone();
        holed[150] = f64::NAN;
        let holed = sampled(&times, &holed);
        assert!(Cycle::before(&holed, 0.155, 50.0).is_none());
        assert!(Cycle::before(&holed, 0.171, 50.0).is_some());
        assert!(
            Cycle::before(&signal, 0.15, 200.0).is_none(),
            "5 samples a cycle"
        );
    }

    /// The largest error of a value between samples in a span, as a share of the amplitude of a sine: that of the
    /// band-limited kernel, and that of a polynomial through eight samples of the slowest rate (see `sampled`).
    fn value_error(times: &SampleTimes, (from_s, to_s): (f64, f64), hz: f64) -> f64 {
        let SampleTimes::Stretches(all) = times else {
            unreachable!("stretches are tested");
        };
        let reaches = |s: &&RateSection| {
            let end_s = s.onset_s + s.n_samples as f64 / s.rate_hz;
            // The kernel takes twelve samples on either side.
            let around_s = 12.0 / s.rate_hz;
            s.onset_s < to_s + around_s && end_s > from_s - around_s
        };
        let rates = all.iter().filter(reaches).map(|s| s.rate_hz);
        let turn = 2.0 * PI * hz / rates.fold(f64::INFINITY, f64::min);
        let end_s = times.span_s().expect("there are samples").1;
        let last_hz = all[all.len() - 1].rate_hz;
        let at_end = if to_s > end_s - 4.0 / last_hz {
            1.31e-2 * (2.0 * PI * hz / last_hz).powi(8)
        } else {
            0.0
        };
        BETWEEN_ERROR + 1.07e-3 * turn.powi(8) + at_end
    }

    proptest! {
        /// Cursors fall on every edge: 0.1 s at 1 kHz, 0.1 s at 5 kHz, 0.2 s at 2.4 kHz.
        #[test]
        fn any_cursor_frequency_and_change_of_rate_is_measured_to_parts_in_a_million(
            size in 0.1f64..1e5, angle in -3.0f64..3.0, hz in 45.0f64..65.0, cursor_s in 0.036f64..0.3995,
        ) {
            let times = stretches(&[(1000.0, 100), (5000.0, 500), (2400.0, 480)]);
            let values = wave(&times, |t| size * (2.0 * PI * hz * t + angle).cos());
            let cycle = Cycle::before(&sampled(&times, &values), cursor_s, hz);
            let cycle = cycle.expect("inside");
            let error = value_error(&times, (cursor_s - 1.0 / hz, cursor_s), hz);
            // With every point off by at most `error`, the root mean square is off by no more, the phasor by twice it.
            let rms_error = (cycle.rms() - size / 2.0f64.sqrt()).abs() / size;
            prop_assert!(rms_error < error, "{rms_error:e}, at most {error:e}");
            let expected = Complex64::from_polar(size, 2.0 * PI * hz * cursor_s + angle);
            let phasor_error = (cycle.phasor(1) - expected).norm() / size;
            prop_assert!(phasor_error < 2.0 * error, "{phasor_error:e}, at most {error:e}");
        }

        #[test]
        fn the_frequency_of_three_phases_is_found_away_from_the_nominal_one(
            hz in 42.0f64..58.0, cursor_s in 0.08f64..0.35, unbalance in 0.3f64..1.0,
        ) {
            let times = stretches(&[(3000.0, 600), (6000.0, 1200)]);
            let phase = |size: f64, shift: f64| {
                wave(&times, |t| size * (2.0 * PI * (hz * t - shift)).cos())
            };
            let waves = [phase(1.0, 0.0), phase(unbalance, 1.0 / 3.0), phase(1.0, 2.0 / 3.0)];
            let phases = waves.each_ref().map(|values| sampled(&times, values));
            let found = frequency_at(&phases, cursor_s, 50.0).expect("a sine");
            prop_assert!((found - hz).abs() < 1e-4, "{found} for {hz}");
        }
    }

    #[test]
    fn noise_and_silence_have_no_frequency() {
        let times = stretches(&[(3000.0, 900)]);
        let silent = vec![0.0; 900];
        let phases = [sampled(&times, &silent); 3];
        assert_eq!(frequency_at(&phases, 0.2, 50.0), None);
        let ramp = wave(&times, |t| if t < 0.2 { 0.0 } else { 1e3 });
        let phases = [sampled(&times, &ramp); 3];
        assert_eq!(frequency_at(&phases, 0.25, 50.0), None);
    }

    #[test]
    fn sequences_of_an_unbalanced_set_are_those_it_was_made_of() {
        let times = stretches(&[(2400.0, 100), (4800.0, 400)]);
        let turn = 2.0 * PI / 3.0;
        let (zero, positive, negative) = (
            Complex64::from_polar(3.0, 0.4),
            Complex64::from_polar(100.0, -0.3),
            Complex64::from_polar(20.0, 1.1),
        );
        let phase = |k: f64| {
            let phasor =
                zero + positive * Complex64::cis(-k * turn) + negative * Complex64::cis(k * turn);
            wave(&times, |t| {
                (phasor * Complex64::cis(2.0 * PI * 60.0 * t)).re
            })
        };
        let waves = [phase(0.0), phase(1.0), phase(2.0)];
        let phases = waves.each_ref().map(|values| sampled(&times, values));
        for cursor_s in [0.03, 0.05, 0.1] {
            let found = sequences_at(&phases, cursor_s, 60.0).expect("inside");
            let turned = Complex64::cis(2.0 * PI * 60.0 * cursor_s);
            for (found, expected) in found.iter().zip([zero, positive, negative]) {
                assert!((found - expected * turned).norm() < 1e-3, "at {cursor_s} s");
            }
        }
    }
}
