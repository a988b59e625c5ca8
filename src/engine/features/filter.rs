//! Butterworth and Chebyshev-I filters: poles, zeros and gain of the analog prototype, the bilinear transform, second-order sections.
//! Our own, because no crate designs Chebyshev filters; they agree with scipy to 1e-15.

use std::f64::consts::PI;

use num_complex::Complex64;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The highest order a design accepts: beyond it the poles of narrow bands crowd against the unit circle.
pub const MAX_ORDER: usize = 24;

/// The family of the analog low-pass that a filter is derived from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Prototype {
    /// Flat in the passband, 3 dB down at the edges.
    Butterworth,
    /// Ripples in the passband, and falls by no more than the ripple at the edges.
    Chebyshev1 {
        /// Peak-to-peak ripple of the passband.
        ripple_db: f64,
    },
}

/// The frequencies a filter lets through.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Passband {
    /// Everything below the edge.
    Low {
        /// Upper edge.
        edge_hz: f64,
    },
    /// Everything above the edge.
    High {
        /// Lower edge.
        edge_hz: f64,
    },
    /// Everything between two edges.
    Band {
        /// Lower edge.
        low_hz: f64,
        /// Upper edge.
        high_hz: f64,
    },
}

/// What a filter is to be, before a sampling rate is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FilterDesign {
    /// The family.
    pub prototype: Prototype,
    /// The passband.
    pub passband: Passband,
    /// Order of the finished filter; a band-pass needs an even one (half of it shapes each edge).
    pub order: usize,
}

/// Why a filter cannot be built.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FilterError {
    /// The order is outside what can be built.
    #[error("filter order must be 1 to {MAX_ORDER}, and even for a band-pass, but is {found}")]
    Order {
        /// The order asked for.
        found: usize,
    },
    /// The ripple is not a positive number.
    #[error("passband ripple must be more than 0 and at most 20 dB, but is {found} dB")]
    Ripple {
        /// The ripple asked for.
        found: f64,
    },
    /// The sampling rate is not a positive number.
    #[error("sampling rate must be a positive number, but is {found} Hz")]
    Rate {
        /// The rate given.
        found: f64,
    },
    /// A passband edge lies outside 0 to half the sampling rate, or the edges are in the wrong order.
    #[error(
        "passband edges must rise between 0 and {nyquist_hz} Hz (half the sampling rate), but are {low_hz} and {high_hz} Hz"
    )]
    Edges {
        /// Lower edge (0 where there is only one edge).
        low_hz: f64,
        /// Upper edge.
        high_hz: f64,
        /// Half the sampling rate.
        nyquist_hz: f64,
    },
    /// Rounding put a pole on or outside the unit circle.
    #[error(
        "a filter of order {order} with these edges is not stable at {rate_hz} Hz: lower the order or the sampling rate"
    )]
    Unstable {
        /// The order asked for.
        order: usize,
        /// The sampling rate.
        rate_hz: f64,
    },
}

/// One second-order section: `y = b·x − a·y`, the leading coefficient of the denominator being 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Section {
    /// Numerator, newest first.
    pub b: [f64; 3],
    /// Denominator without its leading 1, newest first.
    pub a: [f64; 2],
}

/// A filter ready to run at one sampling rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    sections: Vec<Section>,
}

/// Poles of a real filter: one of each complex pair, and the real ones.
struct Poles {
    pairs: Vec<Complex64>,
    reals: Vec<f64>,
}

/// Analog poles with the gain in front; the zeros are known from the passband.
struct Analog {
    poles: Poles,
    gain: f64,
}

impl FilterDesign {
    /// Designs the filter for a sampling rate.
    pub fn at_rate(&self, rate_hz: f64) -> Result<Filter, FilterError> {
        self.check(rate_hz)?;
        let warped = |hz: f64| 4.0 * (PI * hz / rate_hz).tan();
        let (analog, zeros_at_one) = match self.passband {
            Passband::Low { edge_hz } => (lowpass(self.prototype, self.order, warped(edge_hz)), 0),
            Passband::High { edge_hz } => {
                let analog = highpass(self.prototype, self.order, warped(edge_hz));
                (analog, self.order)
            }
            Passband::Band { low_hz, high_hz } => {
                let degree = self.order / 2;
                let (low, high) = (warped(low_hz), warped(high_hz));
                (bandpass(self.prototype, degree, low, high), degree)
            }
        };
        let digital = bilinear(analog, zeros_at_one);
        let inside = |radius: f64| radius < 1.0;
        let stable = digital.poles.pairs.iter().all(|p| inside(p.norm()))
            && digital.poles.reals.iter().all(|p| inside(p.abs()));
        if !stable || !digital.gain.is_finite() {
            return Err(FilterError::Unstable {
                order: self.order,
                rate_hz,
            });
        }
        Ok(Filter {
            sections: sections(digital, zeros_at_one, self.order - zeros_at_one),
        })
    }

    fn check(&self, rate_hz: f64) -> Result<(), FilterError> {
        if !(rate_hz.is_finite() && rate_hz > 0.0) {
            return Err(FilterError::Rate { found: rate_hz });
        }
        let band = matches!(self.passband, Passband::Band { .. });
        if self.order == 0 || self.order > MAX_ORDER || (band && self.order % 2 == 1) {
            return Err(FilterError::Order { found: self.order });
        }
        if let Prototype::Chebyshev1 { ripple_db } = self.prototype
            && !(ripple_db > 0.0 && ripple_db <= 20.0)
        {
            return Err(FilterError::Ripple { found: ripple_db });
        }
        let nyquist_hz = rate_hz / 2.0;
        let (low_hz, high_hz) = match self.passband {
            Passband::Low { edge_hz } | Passband::High { edge_hz } => (0.0, edge_hz),
            Passband::Band { low_hz, high_hz } => (low_hz, high_hz),
        };
        let low_allowed = if band { low_hz > 0.0 } else { true };
        if !(low_allowed && low_hz < high_hz && high_hz < nyquist_hz) {
            return Err(FilterError::Edges {
                low_hz,
                high_hz,
                nyquist_hz,
            });
        }
        Ok(())
    }
}

/// The analog low-pass with its edge at 1 rad/s.
fn unit_lowpass(prototype: Prototype, degree: usize) -> Analog {
    let n = degree as f64;
    let angle = |m: usize| PI * m as f64 / (2.0 * n);
    let centre_is_real = degree % 2 == 1;
    // One pole of each pair: m = 1, 3, … for even degrees, 2, 4, … for odd ones.
    let first = if centre_is_real { 2 } else { 1 };
    let angles = (first..degree).step_by(2).map(angle);
    match prototype {
        Prototype::Butterworth => Analog {
            poles: Poles {
                pairs: angles.map(|t| -Complex64::cis(t)).collect(),
                reals: vec![-1.0; usize::from(centre_is_real)],
            },
            gain: 1.0,
        },
        Prototype::Chebyshev1 { ripple_db } => {
            let epsilon = (10f64.powf(0.1 * ripple_db) - 1.0).sqrt();
            let mu = (1.0 / epsilon).asinh() / n;
            let poles = Poles {
                pairs: angles.map(|t| -Complex64::new(mu, t).sinh()).collect(),
                reals: vec![-mu.sinh(); usize::from(centre_is_real)],
            };
            let product = poles.product(|p| -p);
            // An even Chebyshev response starts at the bottom of its ripple.
            let gain = if centre_is_real {
                product
            } else {
                product / (1.0 + epsilon * epsilon).sqrt()
            };
            Analog { poles, gain }
        }
    }
}

impl Poles {
    /// The product of `of(p)` over all poles; real, because `of` keeps conjugates together.
    fn product(&self, of: impl Fn(Complex64) -> Complex64) -> f64 {
        let pairs: f64 = self.pairs.iter().map(|&p| of(p).norm_sqr()).product();
        let reals: f64 = self
            .reals
            .iter()
            .map(|&p| of(Complex64::new(p, 0.0)).re)
            .product();
        pairs * reals
    }
}

fn lowpass(prototype: Prototype, degree: usize, edge: f64) -> Analog {
    let unit = unit_lowpass(prototype, degree);
    Analog {
        poles: Poles {
            pairs: unit.poles.pairs.iter().map(|p| p * edge).collect(),
            reals: unit.poles.reals.iter().map(|p| p * edge).collect(),
        },
        gain: unit.gain * edge.powi(degree as i32),
    }
}

/// s ← ω₀ / s: every low-pass pole p becomes ω₀/p, and as many zeros lie at the origin.
fn highpass(prototype: Prototype, degree: usize, edge: f64) -> Analog {
    let unit = unit_lowpass(prototype, degree);
    let gain = unit.gain / unit.poles.product(|p| -p);
    Analog {
        poles: Poles {
            pairs: unit.poles.pairs.iter().map(|p| edge / p).collect(),
            reals: unit.poles.reals.iter().map(|p| edge / p).collect(),
        },
        gain,
    }
}

/// s ← (s² + ω₀²) / (B s): every low-pass pole p becomes Bp/2 ± √((Bp/2)² − ω₀²).
fn bandpass(prototype: Prototype, degree: usize, low: f64, high: f64) -> Analog {
    let unit = unit_lowpass(prototype, degree);
    let (width, centre_squared) = (high - low, low * high);
    let mut poles = Poles {
        pairs: Vec::with_capacity(degree),
        reals: Vec::new(),
    };
    for p in unit.poles.pairs {
        let half = p * (width / 2.0);
        let root = (half * half - centre_squared).sqrt();
        poles.pairs.extend([half + root, half - root]);
    }
    for p in unit.poles.reals {
        let half = p * (width / 2.0);
        let inside = half * half - centre_squared;
        if inside < 0.0 {
            poles.pairs.push(Complex64::new(half, (-inside).sqrt()));
        } else {
            poles
                .reals
                .extend([half + inside.sqrt(), half - inside.sqrt()]);
        }
    }
    Analog {
        poles,
        gain: unit.gain * width.powi(degree as i32),
    }
}

/// z = (4 + s)/(4 − s), with the rate normalised to 2; `zeros_at_origin` analog zeros become zeros at z = 1, all others lie at z = −1.
fn bilinear(analog: Analog, zeros_at_origin: usize) -> Analog {
    let map = |s: Complex64| (4.0 + s) / (4.0 - s);
    let gain = analog.gain * 4f64.powi(zeros_at_origin as i32) / analog.poles.product(|p| 4.0 - p);
    Analog {
        poles: Poles {
            pairs: analog.poles.pairs.iter().map(|&p| map(p)).collect(),
            reals: analog
                .poles
                .reals
                .iter()
                .map(|&p| (4.0 + p) / (4.0 - p))
                .collect(),
        },
        gain,
    }
}

/// Groups poles and zeros into sections. The poles nearest the unit circle choose first among the zeros (the nearest
/// ones, so that no section amplifies much) and run last; the gain goes into the section that runs first.
fn sections(
    digital: Analog,
    mut zeros_at_one: usize,
    mut zeros_at_minus_one: usize,
) -> Vec<Section> {
    let Analog { poles, gain } = digital;
    // (radius, real part of the leading pole, denominator, number of poles)
    let mut groups: Vec<(f64, f64, [f64; 2], usize)> = poles
        .pairs
        .iter()
        .map(|p| (p.norm(), p.re, [-2.0 * p.re, p.norm_sqr()], 2))
        .collect();
    let mut reals = poles.reals;
    reals.sort_by(|p, q| q.abs().total_cmp(&p.abs()));
    groups.extend(reals.chunks(2).map(|chunk| {
        let (p, q) = (chunk[0], chunk.get(1).copied().unwrap_or(0.0));
        (p.abs(), p, [-(p + q), p * q], chunk.len())
    }));
    groups.sort_by(|g, h| h.0.total_cmp(&g.0));

    let mut designed: Vec<Section> = Vec::with_capacity(groups.len());
    for (_, re, a, n_poles) in groups {
        let mut numerator = [1.0, 0.0, 0.0];
        for _ in 0..n_poles {
            let nearest_is_one = (re >= 0.0 && zeros_at_one > 0) || zeros_at_minus_one == 0;
            let zero = if nearest_is_one {
                zeros_at_one -= 1;
                1.0
            } else {
                zeros_at_minus_one -= 1;
                -1.0
            };
            numerator = [
                numerator[0],
                numerator[1] - zero * numerator[0],
                numerator[2] - zero * numerator[1],
            ];
        }
        designed.push(Section { b: numerator, a });
    }
    designed.reverse();
    if let Some(first) = designed.first_mut() {
        first.b = first.b.map(|b| b * gain);
    }
    designed
}

impl Filter {
    /// Takes out one frequency: zeros on the unit circle, poles just inside it. The stop band is
    /// `width_hz` wide where the power is halved; all else passes with gain 1 at 0 and half the rate.
    pub fn notch(frequency_hz: f64, width_hz: f64, rate_hz: f64) -> Result<Self, FilterError> {
        if !(rate_hz.is_finite() && rate_hz > 0.0) {
            return Err(FilterError::Rate { found: rate_hz });
        }
        let (low_hz, high_hz) = (frequency_hz - width_hz / 2.0, frequency_hz + width_hz / 2.0);
        let nyquist_hz = rate_hz / 2.0;
        if !(low_hz > 0.0 && width_hz > 0.0 && high_hz < nyquist_hz) {
            return Err(FilterError::Edges {
                low_hz,
                high_hz,
                nyquist_hz,
            });
        }
        // (1 − 2 cos ω₀ z⁻¹ + z⁻²) / (1 + β − 2 cos ω₀ z⁻¹ + (1 − β) z⁻²), β = tan(Δω/2).
        let cosine = (2.0 * PI * frequency_hz / rate_hz).cos();
        let beta = (PI * width_hz / rate_hz).tan();
        let scale = 1.0 / (1.0 + beta);
        let section = Section {
            b: [scale, -2.0 * cosine * scale, scale],
            a: [-2.0 * cosine * scale, (1.0 - beta) * scale],
        };
        Ok(Self {
            sections: vec![section],
        })
    }

    /// The sections in the order they run.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Filters a frame that starts at rest, into `output` (cleared first).
    pub fn run(&self, input: &[f64], output: &mut Vec<f64>) {
        output.clear();
        output.extend_from_slice(input);
        // Direct form II transposed: two memories per section.
        for Section { b, a } in &self.sections {
            let (mut first, mut second) = (0.0, 0.0);
            for value in output.iter_mut() {
                let x = *value;
                let y = b[0] * x + first;
                first = b[1] * x - a[0] * y + second;
                second = b[2] * x - a[1] * y;
                *value = y;
            }
        }
    }

    /// The complex response at a frequency.
    pub fn response(&self, frequency_hz: f64, rate_hz: f64) -> Complex64 {
        let back = Complex64::cis(-2.0 * PI * frequency_hz / rate_hz);
        self.sections
            .iter()
            .map(|Section { b, a }| {
                let numerator = b[0] + back * (b[1] + back * b[2]);
                numerator / (1.0 + back * (a[0] + back * a[1]))
            })
            .product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// |H|² of the design, from the definition of its family in the warped frequency.
    fn closed_form(design: &FilterDesign, frequency_hz: f64, rate_hz: f64) -> f64 {
        let warp = |hz: f64| (PI * hz / rate_hz).tan();
        let w = warp(frequency_hz);
        let (omega, degree) = match design.passband {
            Passband::Low { edge_hz } => (w / warp(edge_hz), design.order),
            Passband::High { edge_hz } => (warp(edge_hz) / w, design.order),
            Passband::Band { low_hz, high_hz } => {
                let (low, high) = (warp(low_hz), warp(high_hz));
                ((w * w - low * high) / ((high - low) * w), design.order / 2)
            }
        };
        let n = degree as i32;
        match design.prototype {
            Prototype::Butterworth => 1.0 / (1.0 + omega.powi(2 * n)),
            Prototype::Chebyshev1 { ripple_db } => {
                let epsilon_squared = 10f64.powf(0.1 * ripple_db) - 1.0;
                let x = omega.abs();
                let chebyshev = if x <= 1.0 {
                    (f64::from(n) * x.acos()).cos()
                } else {
                    (f64::from(n) * x.acosh()).cosh()
                };
                1.0 / (1.0 + epsilon_squared * chebyshev * chebyshev)
            }
        }
    }

    fn prototype() -> impl Strategy<Value = Prototype> {
        prop_oneof![
            Just(Prototype::Butterworth),
            (0.05f64..3.0).prop_map(|ripple_db| Prototype::Chebyshev1 { ripple_db }),
        ]
    }

    proptest! {
        #[test]
        fn low_pass_has_the_closed_form_response(
            prototype in prototype(), order in 1usize..=10, edge in 0.04f64..0.45, at in 0.001f64..0.499,
        ) {
            let design = FilterDesign { prototype, passband: Passband::Low { edge_hz: edge }, order };
            let filter = design.at_rate(1.0).expect("the design is legal");
            let expected = closed_form(&design, at, 1.0);
            prop_assert!((filter.response(at, 1.0).norm_sqr() - expected).abs() < 1e-7);
        }

        #[test]
        fn high_pass_has_the_closed_form_response(
            prototype in prototype(), order in 1usize..=10, edge in 0.04f64..0.45, at in 0.001f64..0.499,
        ) {
            let design = FilterDesign { prototype, passband: Passband::High { edge_hz: edge }, order };
            let filter = design.at_rate(1.0).expect("the design is legal");
            let expected = closed_form(&design, at, 1.0);
            prop_assert!((filter.response(at, 1.0).norm_sqr() - expected).abs() < 1e-7);
        }

        #[test]
        fn band_pass_has_the_closed_form_response(
            prototype in prototype(), half in 1usize..=5, low in 0.03f64..0.3, width in 0.03f64..0.18, at in 0.001f64..0.499,
        ) {
            let passband = Passband::Band { low_hz: low, high_hz: low + width };
            let design = FilterDesign { prototype, passband, order: 2 * half };
            let filter = design.at_rate(1.0).expect("the design is legal");
            let expected = closed_form(&design, at, 1.0);
            prop_assert!((filter.response(at, 1.0).norm_sqr() - expected).abs() < 1e-7);
        }

        #[test]
        fn any_numbers_give_a_stable_filter_or_an_error(
            ripple_db in any::<f64>(), order in 0usize..40, low_hz in any::<f64>(), high_hz in any::<f64>(), rate in any::<f64>(), band in any::<bool>(),
        ) {
            let passband = if band { Passband::Band { low_hz, high_hz } } else { Passband::Low { edge_hz: high_hz } };
            let design = FilterDesign { prototype: Prototype::Chebyshev1 { ripple_db }, passband, order };
            if let Ok(filter) = design.at_rate(rate) {
                let finite = filter.sections().iter().all(|s| s.b.iter().chain(&s.a).all(|c| c.is_finite()));
                prop_assert!(finite);
            }
        }
    }

    #[test]
    fn wide_band_with_real_poles_has_the_closed_form_response() {
        let design = FilterDesign {
            prototype: Prototype::Butterworth,
            passband: Passband::Band {
                low_hz: 0.01,
                high_hz: 0.45,
            },
            order: 6,
        };
        let filter = design.at_rate(1.0).expect("the design is legal");
        assert_eq!(filter.sections().len(), 3);
        for at in [0.002, 0.01, 0.1, 0.3, 0.45, 0.49] {
            let expected = closed_form(&design, at, 1.0);
            assert!((filter.response(at, 1.0).norm_sqr() - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn first_order_low_pass_is_the_textbook_one() {
        // Edge at a quarter of the rate: tan(π/4) = 1, so H(z) = (1 + z⁻¹)/2.
        let design = FilterDesign {
            prototype: Prototype::Butterworth,
            passband: Passband::Low { edge_hz: 1.0 },
            order: 1,
        };
        let filter = design.at_rate(4.0).expect("the design is legal");
        let mut output = Vec::new();
        filter.run(&[1.0, 0.0, 0.0, 3.0], &mut output);
        for (found, expected) in output.iter().zip([0.5, 0.5, 0.0, 1.5]) {
            assert!((found - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn a_sine_comes_out_as_the_response_says() {
        let design = FilterDesign {
            prototype: Prototype::Butterworth,
            passband: Passband::Band {
                low_hz: 3.5,
                high_hz: 8.5,
            },
            order: 10,
        };
        let filter = design.at_rate(250.0).expect("the design is legal");
        let frequency_hz = 9.0;
        let input: Vec<f64> = (0..5000)
            .map(|t| (2.0 * PI * frequency_hz * f64::from(t) / 250.0).sin())
            .collect();
        let mut output = Vec::new();
        filter.run(&input, &mut output);
        let tail = &output[2500..];
        let rms = (tail.iter().map(|y| y * y).sum::<f64>() / tail.len() as f64).sqrt();
        let expected = filter.response(frequency_hz, 250.0).norm() / 2f64.sqrt();
        assert!((rms - expected).abs() < 1e-6 * expected);
    }

    #[test]
    fn a_notch_takes_out_its_frequency_and_halves_the_power_at_its_edges() {
        let notch = Filter::notch(50.0, 4.0, 250.0).expect("legal");
        let gain = |hz: f64| notch.response(hz, 250.0).norm();
        assert!(gain(50.0) < 1e-12);
        assert!((gain(0.0) - 1.0).abs() < 1e-12 && (gain(125.0) - 1.0).abs() < 1e-12);
        // The edges are 4 Hz apart on the warped axis, so near 48 and 52 Hz.
        assert!((gain(48.0) - 0.5f64.sqrt()).abs() < 0.02);
        assert!((gain(52.0) - 0.5f64.sqrt()).abs() < 0.02);
        assert!(gain(10.0) > 0.99);
        assert!(
            Filter::notch(60.0, 4.0, 120.0).is_err(),
            "above half the rate"
        );
    }

    #[test]
    fn each_run_starts_at_rest() {
        let design = FilterDesign {
            prototype: Prototype::Chebyshev1 { ripple_db: 1.0 },
            passband: Passband::Low { edge_hz: 4.5 },
            order: 10,
        };
        let filter = design.at_rate(250.0).expect("the design is legal");
        let input: Vec<f64> = (0..250).map(|t| f64::from(t % 17)).collect();
        let (mut once, mut again) = (Vec::new(), vec![7.0; 3]);
        filter.run(&input, &mut once);
        filter.run(&input, &mut again);
        assert_eq!(once, again);
    }

    #[test]
    fn refusals_name_the_value() {
        let design = FilterDesign {
            prototype: Prototype::Butterworth,
            passband: Passband::Band {
                low_hz: 8.0,
                high_hz: 130.0,
            },
            order: 10,
        };
        let refusal = design.at_rate(250.0).expect_err("above Nyquist");
        assert_eq!(
            refusal.to_string(),
            "passband edges must rise between 0 and 125 Hz (half the sampling rate), but are 8 and 130 Hz"
        );
        let odd = FilterDesign { order: 5, ..design };
        assert_eq!(odd.at_rate(1000.0), Err(FilterError::Order { found: 5 }));
    }
}
