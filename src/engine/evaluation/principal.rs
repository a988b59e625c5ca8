//! Principal directions of the kept samples: the shape that samples have, and what missing features
//! must have been.

use crate::math::{
    Cholesky, Matrix, SymmetricEigen, Write, dot, precise_inner_products_of_sum, precise_ridge,
    product, vectorised,
};

/// Variance that the model of missing features holds, and its largest rank.
const MODEL_SHARE: f64 = 0.999;
const MODEL_RANK: usize = 100;
/// Smallest noise of that model.
const LEAST_NOISE: f64 = 1e-5;
/// Standard deviations below this count as none.
const LEAST_SD: f64 = 1e-12;
/// Zeros are looked at again at most this often.
const MOST_REPAIRS: usize = 4;
/// A zero further than this from its prediction, in residual standard deviations, is no value.
const REPAIR_LIMIT: f64 = 2.5;
/// A feature that is zero in less than this share of the training samples is never zero.
const RARE_ZERO: f64 = 0.01;

/// Mean, scale and leading directions of samples.
#[derive(Clone, Debug)]
pub struct Principal {
    mean: Vec<f64>,
    sd: Vec<f64>,
    /// Orthonormal, a column each.
    directions: Matrix,
    /// Eigenvalues of the directions, falling.
    variances: Vec<f64>,
    /// Mean of the eigenvalues that were left out.
    left_over: f64,
}

impl Principal {
    /// Of samples (columns), z-scored inside; as many directions as hold `share` of the variance, at
    /// most `most`.
    pub(crate) fn of(samples: &Matrix, share: f64, most: usize) -> Self {
        let (p, n) = (samples.rows(), samples.cols());
        let scale = 1.0 / n.max(1) as f64;
        let mut mean = vec![0.0; p];
        for j in 0..n {
            let values = mean.iter_mut().zip(samples.col(j));
            values.for_each(|(mean, x)| *mean += scale * x);
        }
        let mut sd = vec![0.0; p];
        for j in 0..n {
            for ((sd, x), mean) in sd.iter_mut().zip(samples.col(j)).zip(&mean) {
                *sd += scale * (x - mean) * (x - mean);
            }
        }
        for sd in &mut sd {
            *sd = if sd.sqrt() < LEAST_SD { 1.0 } else { sd.sqrt() };
        }
        let z = Matrix::from_fn(p, n, |i, j| (samples[(i, j)] - mean[i]) / sd[i]);
        // Whichever is smaller: both have the same eigenvalues but for zeros.
        let by_feature = p <= n;
        let size = p.min(n);
        let mut square = Matrix::zeros(size, size);
        let (left, right) = match by_feature {
            true => (z.view(), z.view().t()),
            false => (z.view().t(), z.view()),
        };
        product(square.view_mut(), Write::Replace, left, right);
        square.scale(scale);
        let mut eigen = SymmetricEigen::default();
        // Kept samples are finite; without an answer nothing is principal.
        let sizes = match eigen.decompose(square.view()) {
            Ok(()) => eigen.values().to_vec(),
            Err(_) => Vec::new(),
        };
        let total: f64 = sizes.iter().map(|value| value.max(0.0)).sum();
        let mut held = 0.0;
        let mut variances = Vec::new();
        for value in sizes.iter().rev() {
            if held >= share * total || variances.len() >= most || *value <= 1e-12 * total {
                break;
            }
            held += value;
            variances.push(*value);
        }
        let rank = variances.len();
        let mut directions = Matrix::zeros(p, rank);
        for (k, variance) in variances.iter().enumerate() {
            let vector = eigen.vectors().col(size - 1 - k);
            let column = directions.col_mut(k);
            if by_feature {
                column.copy_from_slice(vector);
            } else {
                let length = (variance / scale).sqrt();
                for (j, weight) in vector.iter().enumerate() {
                    let values = column.iter_mut().zip(z.col(j));
                    values.for_each(|(value, z)| *value += weight / length * z);
                }
            }
        }
        Self {
            mean,
            sd,
            directions,
            variances,
            left_over: (total - held).max(0.0) / p.saturating_sub(rank).max(1) as f64,
        }
    }

    fn standardised(&self, sample: &[f64]) -> Vec<f64> {
        let values = sample.iter().zip(&self.mean).zip(&self.sd);
        values.map(|((x, mean), sd)| (x - mean) / sd).collect()
    }

    /// Mean square of what the directions leave of a sample, in standardised features.
    pub(crate) fn mean_square_residual(&self, sample: &[f64]) -> f64 {
        let z = self.standardised(sample);
        vectorised(
            #[inline(always)]
            || {
                // A closure of an iterator would not be compiled for the widest vectors.
                let mut held = 0.0;
                for k in 0..self.directions.cols() {
                    held += dot(self.directions.col(k), &z).powi(2);
                }
                (dot(&z, &z) - held).max(0.0) / z.len().max(1) as f64
            },
        )
    }
}

/// What missing features of a sample must have been: the conditional mean under a probabilistic
/// principal component analysis of the kept samples.
#[derive(Clone, Debug)]
pub struct Imputation {
    principal: Principal,
    /// V: directions times the square roots of their variances.
    loadings: Matrix,
    /// s².
    noise: f64,
    /// Standard deviation of z − V a of every feature over the kept samples.
    residual_sd: Vec<f64>,
}

impl Imputation {
    /// The model of kept samples (columns).
    pub fn of(kept: &Matrix) -> Self {
        let principal = Principal::of(kept, MODEL_SHARE, MODEL_RANK);
        let variances = &principal.variances;
        let loadings = Matrix::from_fn(kept.rows(), variances.len(), |i, k| {
            principal.directions[(i, k)] * variances[k].sqrt()
        });
        let mut model = Self {
            noise: principal.left_over.max(LEAST_NOISE),
            residual_sd: vec![0.0; kept.rows()],
            loadings,
            principal,
        };
        let nothing = vec![false; kept.rows()];
        let (mut sums, mut squares) = (vec![0.0; kept.rows()], vec![0.0; kept.rows()]);
        for j in 0..kept.cols() {
            let z = model.principal.standardised(kept.col(j));
            let predicted = model.predict(&z, &nothing);
            for (i, (z, predicted)) in z.iter().zip(&predicted).enumerate() {
                sums[i] += z - predicted;
                squares[i] += (z - predicted).powi(2);
            }
        }
        let n = kept.cols().max(1) as f64;
        for (i, sd) in model.residual_sd.iter_mut().enumerate() {
            let mean = sums[i] / n;
            *sd = (squares[i] / n - mean * mean).max(0.0).sqrt() + 1e-3;
        }
        model
    }

    /// V a with a = (V_oᵀV_o + s²I)⁻¹ V_oᵀ z_o over the features that are there, with all digits: scores tell small
    /// differences, and other programs are to get the same.
    fn predict(&self, z: &[f64], missing: &[bool]) -> Vec<f64> {
        let rank = self.loadings.cols();
        let observed: Vec<usize> = (0..z.len()).filter(|i| !missing[*i]).collect();
        let seen = Matrix::from_fn(observed.len(), rank, |i, k| self.loadings[(observed[i], k)]);
        let seen_z = Matrix::from_fn(observed.len(), 1, |i, _| z[observed[i]]);
        let mut square = Matrix::zeros(rank, rank);
        product(
            square.view_mut(),
            Write::Replace,
            seen.view().t(),
            seen.view(),
        );
        (0..rank).for_each(|k| square[(k, k)] += self.noise);
        let mut factor = Cholesky::default();
        if factor.factor(square.view()).is_err() {
            return vec![0.0; z.len()];
        }
        let scores = precise_ridge(&seen, &seen_z, self.noise, &factor);
        let loadings = Matrix::from_fn(rank, z.len(), |k, i| self.loadings[(i, k)]);
        let predicted = precise_inner_products_of_sum(&loadings, &scores);
        predicted.col(0).to_vec()
    }

    /// Mean and standard deviation of every feature, V and s².
    pub(crate) fn parts(&self) -> (&[f64], &[f64], &Matrix, f64) {
        let Principal { mean, sd, .. } = &self.principal;
        (mean, sd, &self.loadings, self.noise)
    }

    /// Fills in the missing features of a prepared sample.
    pub fn fill(&self, sample: &mut [f64], missing: &[bool]) {
        if !missing.contains(&true) {
            return;
        }
        let mut z = self.principal.standardised(sample);
        for (z, missing) in z.iter_mut().zip(missing) {
            if *missing {
                *z = 0.0;
            }
        }
        let predicted = self.predict(&z, missing);
        for i in (0..sample.len()).filter(|i| missing[*i]) {
            sample[i] = predicted[i] * self.principal.sd[i] + self.principal.mean[i];
        }
    }

    /// Which of the exact zeros of a sample are no values: all are suspected, and those stay so that
    /// training samples hardly ever have or that lie far from what the other features say.
    pub fn suspects(&self, sample: &[f64], is_zero: &[bool], zero_share: &[f64]) -> Vec<bool> {
        let z = self.principal.standardised(sample);
        let mut flags = is_zero.to_vec();
        for _ in 0..MOST_REPAIRS {
            let predicted = self.predict(&z, &flags);
            let is_suspect = |i: usize| {
                is_zero[i]
                    && (zero_share[i] < RARE_ZERO
                        || (predicted[i] - z[i]).abs() > REPAIR_LIMIT * self.residual_sd[i])
            };
            let next: Vec<bool> = (0..z.len()).map(is_suspect).collect();
            if next == flags {
                break;
            }
            flags = next;
        }
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Calibration, CalibrationSample, CalibrationSource, FeatureFacts};
    use crate::records::{self, Mode, Record};
    use std::path::Path;

    use ndarray::ArrayD;

    struct ReferenceNumbers(Record);

    impl ReferenceNumbers {
        fn open() -> Option<Self> {
            let data = std::env::var_os("ATOMSCOPE_DATA")?;
            let path = Path::new(&data).join("../reference/trust.npz");
            let open = || records::open(&path, Mode::Tolerant).expect("it opens");
            path.exists().then(|| Self(open()))
        }

        fn array(&self, name: &str) -> ArrayD<f64> {
            self.0.array(name).expect("numbers of that name")
        }
    }

    #[test]
    fn p_values_and_scale_are_those_of_the_prototype() {
        let Some(numbers) = ReferenceNumbers::open() else {
            eprintln!("skipped: there is no trust.npz beside ATOMSCOPE_DATA");
            return;
        };
        let list = |name: &str| -> Vec<f64> { numbers.array(name).iter().copied().collect() };
        let features = FeatureFacts {
            mean: list("strange_mean"),
            sd: list("strange_sd"),
            zero_share: list("zero_share"),
        };
        let margins = list("cal_margin").into_iter().zip(list("cal_class"));
        let samples: Vec<CalibrationSample> = margins
            .map(|(margin, class)| CalibrationSample {
                class: class as usize,
                margin,
                fit: 0.0,
                decided: class as usize,
                log_norm: 0.0,
                log_residual: 0.0,
                recording: None,
                group: None,
            })
            .collect();
        let scores = numbers.array("test_F_S4J");
        let (tests, expected) = (numbers.array("test_X"), numbers.array("test_p"));
        let norms = list("test_log_norm");
        let n_classes = scores.shape()[0];
        let source = CalibrationSource::Prequential;
        let calibration = Calibration::of(source, n_classes, &samples, features);
        let calibration = calibration.expect("enough samples");
        for (j, norm) in norms.iter().enumerate() {
            let own: Vec<f64> = (0..n_classes).map(|c| scores[[c, j]]).collect();
            let found = calibration.p_values(&own, 0.05);
            for (c, p) in found.iter().enumerate() {
                assert!(
                    (p - expected[[c, j]]).abs() < 1e-9,
                    "sample {j}, class {c}: {p}"
                );
            }
            let sample: Vec<f64> = (0..tests.shape()[1]).map(|f| tests[[j, f]]).collect();
            let found = calibration.features.log_norm(&sample);
            assert!(
                (found - norm).abs() < 1e-9 * norm.abs().max(1.0),
                "{found} {norm}"
            );
        }
    }

    #[test]
    fn missing_features_and_zeros_are_those_of_the_prototype() {
        let Some(numbers) = ReferenceNumbers::open() else {
            eprintln!("skipped: there is no trust.npz beside ATOMSCOPE_DATA");
            return;
        };
        let columns = |name: &str| {
            let array = numbers.array(name);
            let (n, p) = (array.shape()[0], array.shape()[1]);
            Matrix::from_fn(p, n, |i, j| array[[j, i]])
        };
        let model = Imputation::of(&columns("kept_X"));
        assert_eq!(model.loadings.cols(), 52);
        let noise = numbers.array("ppca_s2");
        let noise = noise.iter().next().expect("a number");
        assert!((model.noise / noise - 1.0).abs() < 1e-9, "{}", model.noise);
        for (found, expected) in model
            .residual_sd
            .iter()
            .zip(numbers.array("ppca_residual_sd").iter())
        {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        let (tests, mask) = (columns("test_X"), columns("missing_mask"));
        let (imputed, flags) = (columns("imputed"), columns("repair_flags"));
        let zero_share: Vec<f64> = numbers.array("zero_share").iter().copied().collect();
        for j in 0..40 {
            let missing: Vec<bool> = mask.col(j).iter().map(|flag| *flag == 1.0).collect();
            let mut sample = tests.col(j).to_vec();
            model.fill(&mut sample, &missing);
            for (found, expected) in sample.iter().zip(imputed.col(j)) {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
            let mut damaged = tests.col(j).to_vec();
            for (value, missing) in damaged.iter_mut().zip(&missing) {
                if *missing {
                    *value = 0.0;
                }
            }
            let zeros: Vec<bool> = damaged.iter().map(|value| *value == 0.0).collect();
            let found = model.suspects(&damaged, &zeros, &zero_share);
            let expected: Vec<bool> = flags.col(j).iter().map(|flag| *flag == 1.0).collect();
            assert_eq!(found, expected, "sample {j}");
        }
    }
}
