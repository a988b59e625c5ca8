//! Phasors of periodic signals, symmetrical components and harmonics.

use std::f64::consts::PI;

use num_complex::Complex64;

/// Peak phasor of harmonic `order` of a signal that holds `n_cycles` whole fundamental cycles: `x(t) ≈ Re(X e^{j h ω t})`, t from the first value.
pub fn phasor(values: &[f64], n_cycles: usize, order: usize) -> Complex64 {
    let turns_per_value = (n_cycles * order) as f64 / values.len() as f64;
    let sum: Complex64 = values
        .iter()
        .enumerate()
        .map(|(t, value)| value * Complex64::cis(-2.0 * PI * (turns_per_value * t as f64).fract()))
        .sum();
    sum * (2.0 / values.len() as f64)
}

/// Zero, positive and negative sequence of three phasors (Fortescue).
pub fn sequence_components([a, b, c]: [Complex64; 3]) -> [Complex64; 3] {
    let turn = Complex64::cis(2.0 * PI / 3.0);
    let back = turn.conj();
    [
        (a + b + c) / 3.0,
        (a + turn * b + back * c) / 3.0,
        (a + back * b + turn * c) / 3.0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wave(parts: &[(usize, Complex64)], n_cycles: usize, length: usize) -> Vec<f64> {
        (0..length)
            .map(|t| {
                let turn = 2.0 * PI * (n_cycles * t) as f64 / length as f64;
                let values = parts
                    .iter()
                    .map(|(order, x)| (x * Complex64::cis(*order as f64 * turn)).re);
                values.sum()
            })
            .collect()
    }

    proptest! {
        #[test]
        fn phasors_of_a_known_signal_are_found(
            size in 0.1f64..1e4, angle in -3.1f64..3.1, third in 0.0f64..1.0, n_cycles in 1usize..4,
        ) {
            let fundamental = Complex64::from_polar(size, angle);
            let harmonic = Complex64::from_polar(size * third, 1.0);
            let mut values = wave(&[(1, fundamental), (3, harmonic)], n_cycles, 64 * n_cycles);
            // A constant must not disturb them.
            values.iter_mut().for_each(|value| *value += 5.0);
            prop_assert!((phasor(&values, n_cycles, 1) - fundamental).norm() < 1e-9 * size);
            prop_assert!((phasor(&values, n_cycles, 3) - harmonic).norm() < 1e-9 * size);
            prop_assert!(phasor(&values, n_cycles, 2).norm() < 1e-9 * size);
        }

        #[test]
        fn sequence_components_add_up_to_the_phases(
            parts in prop::array::uniform6(-10.0f64..10.0),
        ) {
            let phases = [0, 2, 4].map(|k| Complex64::new(parts[k], parts[k + 1]));
            let [zero, positive, negative] = sequence_components(phases);
            let turn = Complex64::cis(2.0 * PI / 3.0);
            let rebuilt = [
                zero + positive + negative,
                zero + turn.conj() * positive + turn * negative,
                zero + turn * positive + turn.conj() * negative,
            ];
            for (found, expected) in rebuilt.iter().zip(phases) {
                prop_assert!((found - expected).norm() < 1e-12);
            }
        }
    }

    #[test]
    fn a_balanced_set_is_all_positive_sequence() {
        let turn = Complex64::cis(2.0 * PI / 3.0);
        let a = Complex64::from_polar(230.0, 0.4);
        let [zero, positive, negative] = sequence_components([a, a * turn.conj(), a * turn]);
        assert!(zero.norm() < 1e-12 && negative.norm() < 1e-12);
        assert!((positive - a).norm() < 1e-12);
    }
}
