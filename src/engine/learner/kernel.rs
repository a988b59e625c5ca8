//! Kernel functions k(x, y) = ⟨φ(x), φ(y)⟩, evaluated for whole blocks of samples at once.

use serde::{Deserialize, Serialize};

use crate::math::{
    Halves, Matrix, Write, columns_stand_alone, exp_in_place, inner_products, manhattan_distance,
    precise_inner_products, product, squared_distance, squared_norm, vectorised,
};

use super::samples::Samples;

/// A kernel with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "KernelText", into = "KernelText")]
pub enum Kernel {
    /// xᵀy
    Linear,
    /// (offset + xᵀy)^degree
    Polynomial {
        /// The power, 1 to 20.
        degree: u32,
        /// Added to the inner product, at least 0.
        offset: f64,
    },
    /// The polynomial kernel divided by √(k(x,x) k(y,y)): every sample has length 1.
    NormalisedPolynomial {
        /// The power, 1 to 20.
        degree: u32,
        /// Added to the inner product, at least 0.
        offset: f64,
    },
    /// exp(−‖x − y‖² / (2 width²))
    Gaussian {
        /// The standard deviation, greater than 0.
        width: f64,
    },
    /// exp(−‖x − y‖₁ / width)
    Laplacian {
        /// The distance over which the kernel falls to 1/e, greater than 0.
        width: f64,
    },
    /// One of the last two with a width that is a multiple of the median distance between training
    /// samples, so that it means the same on any data; written `width: OfMedian(0.8)`.
    OfMedian {
        /// Which of them.
        shape: Radial,
        /// The multiple, greater than 0.
        multiple: f64,
    },
}

/// Kernels that depend on the distance of two samples alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Radial {
    /// Of the Euclidean distance.
    Gaussian,
    /// Of the Manhattan distance.
    Laplacian,
}

/// A kernel as it is written in sessions and settings.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "Kernel", deny_unknown_fields)]
enum KernelText {
    Linear,
    Polynomial { degree: u32, offset: f64 },
    NormalisedPolynomial { degree: u32, offset: f64 },
    Gaussian { width: Width },
    Laplacian { width: Width },
}

/// A width as it is written: a plain number is `Absolute`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a width is a number, Absolute(number) or OfMedian(number)"
)]
enum Width {
    Number(f64),
    Named(NamedWidth),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum NamedWidth {
    Absolute(f64),
    OfMedian(f64),
}

impl From<KernelText> for Kernel {
    fn from(text: KernelText) -> Self {
        let radial = |shape: Radial, width: Width| match width {
            Width::Number(width) | Width::Named(NamedWidth::Absolute(width)) => shape.wide(width),
            Width::Named(NamedWidth::OfMedian(multiple)) => Self::OfMedian { shape, multiple },
        };
        match text {
            KernelText::Linear => Self::Linear,
            KernelText::Polynomial { degree, offset } => Self::Polynomial { degree, offset },
            KernelText::NormalisedPolynomial { degree, offset } => {
                Self::NormalisedPolynomial { degree, offset }
            }
            KernelText::Gaussian { width } => radial(Radial::Gaussian, width),
            KernelText::Laplacian { width } => radial(Radial::Laplacian, width),
        }
    }
}

impl From<Kernel> for KernelText {
    fn from(kernel: Kernel) -> Self {
        match kernel {
            Kernel::Linear => Self::Linear,
            Kernel::Polynomial { degree, offset } => Self::Polynomial { degree, offset },
            Kernel::NormalisedPolynomial { degree, offset } => {
                Self::NormalisedPolynomial { degree, offset }
            }
            Kernel::Gaussian { width } => Self::Gaussian {
                width: Width::Number(width),
            },
            Kernel::Laplacian { width } => Self::Laplacian {
                width: Width::Number(width),
            },
            Kernel::OfMedian { shape, multiple } => {
                let width = Width::Named(NamedWidth::OfMedian(multiple));
                match shape {
                    Radial::Gaussian => Self::Gaussian { width },
                    Radial::Laplacian => Self::Laplacian { width },
                }
            }
        }
    }
}

impl Radial {
    /// The kernel of that width.
    pub fn wide(self, width: f64) -> Kernel {
        match self {
            Self::Gaussian => Kernel::Gaussian { width },
            Self::Laplacian => Kernel::Laplacian { width },
        }
    }
}

/// A kernel parameter outside its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// The power of a polynomial.
    #[error("the degree of a polynomial kernel must be 1 to 20, but is {0}")]
    Degree(u32),
    /// The offset of a polynomial.
    #[error("the offset of a polynomial kernel must be a finite number of at least 0, but is {0}")]
    Offset(f64),
    /// The width of a Gaussian or Laplacian.
    #[error("the width of a kernel must be a finite number greater than 0, but is {0}")]
    Width(f64),
    /// A width that no training samples have given a meaning yet.
    #[error(
        "the width of the kernel is {0} times the median distance of training samples, which is not known here"
    )]
    NoMedian(f64),
}

/// Where squared distances lose more than this (absolute, in the exponent) to
/// cancellation in ‖x‖² + ‖y‖² − 2xᵀy, they are taken from the differences instead.
const CANCELLATION_LIMIT: f64 = 1e-12;

/// Columns of inner products of many samples that are multiplied together.
const PANEL: usize = 192;

/// Up to so many samples their inner products are taken without preparing a large product.
const FEW: usize = 32;

impl Kernel {
    /// Whether the parameters are in range.
    pub fn check(&self) -> Result<(), KernelError> {
        match *self {
            Self::Linear => Ok(()),
            Self::Polynomial { degree, offset } | Self::NormalisedPolynomial { degree, offset } => {
                if !(1..=20).contains(&degree) {
                    Err(KernelError::Degree(degree))
                } else if !(offset.is_finite() && offset >= 0.0) {
                    Err(KernelError::Offset(offset))
                } else {
                    Ok(())
                }
            }
            Self::Gaussian { width }
            | Self::Laplacian { width }
            | Self::OfMedian {
                multiple: width, ..
            } => {
                if width.is_finite() && width > 0.0 {
                    Ok(())
                } else {
                    Err(KernelError::Width(width))
                }
            }
        }
    }

    /// Whether samples can be compared: a width by the median is resolved first.
    pub(super) fn check_absolute(&self) -> Result<(), KernelError> {
        match *self {
            Self::OfMedian { multiple, .. } => Err(KernelError::NoMedian(multiple)),
            _ => Ok(()),
        }
    }

    /// The kernel with its width in numbers, given the median distance between training samples.
    pub fn with_median(self, median: f64) -> Self {
        match self {
            Self::OfMedian { shape, multiple } => shape.wide(multiple * median),
            other => other,
        }
    }

    /// What it depends on, if that is the distance of two samples alone.
    pub fn radial(&self) -> Option<Radial> {
        match *self {
            Self::Gaussian { .. } => Some(Radial::Gaussian),
            Self::Laplacian { .. } => Some(Radial::Laplacian),
            Self::OfMedian { shape, .. } => Some(shape),
            _ => None,
        }
    }

    /// Itself; a multiple of a median that nobody gave counts as a width.
    fn absolute(self) -> Self {
        self.with_median(1.0)
    }

    /// (k(x, x), auxiliary number of x for blocks) from ‖x‖²: ‖x‖² for the Gaussian, the factor
    /// 1/√k of the unnormalised kernel for the normalised polynomial, 0 otherwise.
    pub(super) fn own_terms(&self, norm: f64) -> (f64, f64) {
        match self.absolute() {
            Self::Linear => (norm, 0.0),
            Self::Polynomial { degree, offset } => (power(offset + norm, degree), 0.0),
            Self::NormalisedPolynomial { degree, offset } => {
                let raw = power(offset + norm, degree);
                if raw > 0.0 && raw.is_finite() {
                    (1.0, 1.0 / raw.sqrt())
                } else if raw == 0.0 {
                    (0.0, 0.0)
                } else {
                    (raw, 0.0)
                }
            }
            Self::Gaussian { .. } => (if norm.is_finite() { 1.0 } else { norm }, norm),
            Self::Laplacian { .. } | Self::OfMedian { .. } => (1.0, 0.0),
        }
    }

    /// `values` ← k(rows, columns): one row per sample of `rows`, one column per sample of `columns`.
    pub fn block(&self, rows: &Samples, columns: &Samples, values: &mut Matrix) {
        values.reshape(rows.len(), columns.len());
        if let Self::Laplacian { width } = self.absolute() {
            for j in 0..columns.len() {
                for (i, value) in values.col_mut(j).iter_mut().enumerate() {
                    *value = -manhattan_distance(rows.features(i), columns.features(j)) / width;
                }
            }
            exp_in_place(values.flat_mut());
            return;
        }
        let (n_rows, n_columns) = (rows.len(), columns.len());
        match rows.products_with(columns) {
            Some(known) if columns_stand_alone(n_rows, rows.n_features(), n_columns) => {
                known.fill(rows.index(), columns.index(), values);
            }
            _ => product(
                values.view_mut(),
                Write::Replace,
                rows.rows(),
                columns.matrix().view(),
            ),
        }
        self.take_inner_products(rows, columns, values);
    }

    /// The same from inner products that are rounded once, so that other programs get the same bits.
    pub(super) fn block_precisely(
        &self,
        rows: &Samples,
        columns: &Samples,
        values: &mut Matrix,
        work: &mut Halves,
    ) {
        if self.radial() == Some(Radial::Laplacian) {
            self.block(rows, columns, values);
        } else {
            precise_inner_products(values, rows.matrix(), columns.matrix(), work);
            self.take_inner_products(rows, columns, values);
        }
    }

    /// Whether the columns of a block of these sizes have the same bits beside any others.
    pub(super) fn columns_stand_alone(&self, rows: usize, n_features: usize, cols: usize) -> bool {
        self.radial() == Some(Radial::Laplacian) || columns_stand_alone(rows, n_features, cols)
    }

    /// `values` ← k of samples among each other, symmetric to the last bit.
    pub fn gram(&self, samples: &Samples, values: &mut Matrix) {
        let is_known = samples.products_with(samples).is_some();
        if self.radial() == Some(Radial::Laplacian) || is_known && samples.len() > FEW {
            self.block(samples, samples, values);
            values.symmetrise();
        } else if samples.len() > FEW {
            inner_products_by_panels(samples.matrix(), values);
            self.take_inner_products(samples, samples, values);
            values.symmetrise();
        } else {
            inner_products(values, samples.matrix().view());
            self.take_inner_products(samples, samples, values);
        }
    }

    /// From inner products to kernel values.
    fn take_inner_products(&self, rows: &Samples, columns: &Samples, values: &mut Matrix) {
        match self.absolute() {
            Self::Linear | Self::Laplacian { .. } | Self::OfMedian { .. } => {}
            Self::Polynomial { degree, offset } => raise(values.flat_mut(), degree, offset),
            Self::NormalisedPolynomial { degree, offset } => {
                raise(values.flat_mut(), degree, offset);
                scale_rows_and_columns(values, rows.auxiliary(), columns.auxiliary());
            }
            Self::Gaussian { width } => gaussian(values, rows, columns, width),
        }
    }

    /// k(x, y) of two samples, from the definition.
    pub fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let inner = || {
            vectorised(
                #[inline(always)]
                || crate::math::dot(x, y),
            )
        };
        match self.absolute() {
            Self::Linear => inner(),
            Self::Polynomial { degree, offset } => power(offset + inner(), degree),
            Self::NormalisedPolynomial { degree, offset } => {
                let scale = |x: &[f64]| self.own_terms(squared_norm(x)).1;
                power(offset + inner(), degree) * scale(x) * scale(y)
            }
            Self::Gaussian { width } => (-squared_distance(x, y) / (2.0 * width * width)).exp(),
            Self::Laplacian { width }
            | Self::OfMedian {
                multiple: width, ..
            } => (-manhattan_distance(x, y) / width).exp(),
        }
    }
}

/// Inner products of columns among each other: only those above the diagonal, and some below it, are multiplied.
fn inner_products_by_panels(columns: &Matrix, values: &mut Matrix) {
    let n = columns.cols();
    values.reshape(n, n);
    for first in (0..n).step_by(PANEL) {
        let count = PANEL.min(n - first);
        product(
            values.block_mut(0, first + count, first, count),
            Write::Replace,
            columns.cols_view(0, first + count).t(),
            columns.cols_view(first, count),
        );
    }
    values.mirror_upper();
}

/// x^n by repeated multiplication, so that blocks and single values agree to the last bit.
#[inline(always)]
fn power(x: f64, n: u32) -> f64 {
    (1..n).fold(x, |value, _| value * x)
}

/// (offset + v)^degree of every element.
fn raise(values: &mut [f64], degree: u32, offset: f64) {
    vectorised(
        #[inline(always)]
        || match degree {
            1 => values.iter_mut().for_each(|v| *v += offset),
            2 => values.iter_mut().for_each(|v| *v = power(*v + offset, 2)),
            3 => values.iter_mut().for_each(|v| *v = power(*v + offset, 3)),
            _ => values
                .iter_mut()
                .for_each(|v| *v = power(*v + offset, degree)),
        },
    );
}

fn scale_rows_and_columns(values: &mut Matrix, row_scales: &[f64], column_scales: &[f64]) {
    vectorised(
        #[inline(always)]
        || {
            for (j, &column_scale) in column_scales.iter().enumerate() {
                for (value, row_scale) in values.col_mut(j).iter_mut().zip(row_scales) {
                    *value *= row_scale * column_scale;
                }
            }
        },
    );
}

/// exp(−d²/(2w²)) from inner products, d² = ‖x‖² + ‖y‖² − 2xᵀy.
fn gaussian(values: &mut Matrix, rows: &Samples, columns: &Samples, width: f64) {
    let factor = 1.0 / (2.0 * width * width);
    let largest = |norms: &[f64]| norms.iter().fold(0.0_f64, |a, &b| a.max(b));
    let scale = largest(rows.auxiliary()) + largest(columns.auxiliary());
    vectorised(
        #[inline(always)]
        || {
            for (j, column_norm) in columns.auxiliary().iter().enumerate() {
                for (value, row_norm) in values.col_mut(j).iter_mut().zip(rows.auxiliary()) {
                    let squared = (row_norm + column_norm - 2.0 * *value).max(0.0);
                    *value = -squared * factor;
                }
            }
        },
    );
    if scale * factor * f64::EPSILON > CANCELLATION_LIMIT {
        mend_cancelled_distances(values, rows, columns, factor);
    }
    exp_in_place(values.flat_mut());
}

/// Takes those exponents again that are small beside the terms they are the difference of.
fn mend_cancelled_distances(values: &mut Matrix, rows: &Samples, columns: &Samples, factor: f64) {
    for (j, column_norm) in columns.auxiliary().iter().enumerate() {
        for (i, row_norm) in rows.auxiliary().iter().enumerate() {
            let lost = (row_norm + column_norm) * factor * f64::EPSILON;
            // Beyond −50 the kernel value itself is below 2e-22 and its error with it.
            if lost > CANCELLATION_LIMIT && values[(i, j)] > -50.0 - lost {
                let squared = squared_distance(rows.features(i), columns.features(j));
                values[(i, j)] = -squared * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNELS: [Kernel; 7] = [
        Kernel::Linear,
        Kernel::Polynomial {
            degree: 2,
            offset: 1.0,
        },
        Kernel::Polynomial {
            degree: 5,
            offset: 0.5,
        },
        Kernel::NormalisedPolynomial {
            degree: 3,
            offset: 1.0,
        },
        Kernel::Gaussian { width: 1.5 },
        Kernel::Gaussian { width: 1e-3 },
        Kernel::Laplacian { width: 2.0 },
    ];

    fn samples(kernel: &Kernel, n: usize, shift: f64) -> Samples {
        let mut block = Samples::new(5, n);
        for i in 0..n {
            let x: Vec<f64> = (0..5).map(|k| ((i * 5 + k) as f64).sin() + shift).collect();
            block.push(kernel, i, &x).expect("finite sample");
        }
        block
    }

    #[test]
    fn blocks_agree_with_single_values() {
        for kernel in KERNELS {
            for (shift, n_rows) in [(0.0, 4), (1e4, 4), (0.0, 40), (1e4, 40)] {
                let (rows, columns) = (samples(&kernel, n_rows, shift), samples(&kernel, 7, shift));
                let mut values = Matrix::default();
                kernel.block(&rows, &columns, &mut values);
                for i in 0..n_rows {
                    for j in 0..7 {
                        let single = kernel.value(rows.features(i), columns.features(j));
                        let error = (values[(i, j)] - single).abs();
                        assert!(
                            error <= 1e-11 * single.abs().max(1e-300),
                            "{kernel:?} shifted {shift}: {} against {single}",
                            values[(i, j)]
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn samples_among_each_other_are_a_symmetric_block() {
        for kernel in KERNELS {
            for n in [3, 40, 450] {
                let samples = samples(&kernel, n, 0.0);
                let (mut gram, mut block) = (Matrix::default(), Matrix::default());
                kernel.gram(&samples, &mut gram);
                kernel.block(&samples, &samples, &mut block);
                for j in 0..n {
                    for i in 0..n {
                        assert_eq!(gram[(i, j)].to_bits(), gram[(j, i)].to_bits());
                        let error = (gram[(i, j)] - block[(i, j)]).abs();
                        assert!(
                            error <= 1e-11 * block[(i, j)].abs().max(1e-300),
                            "{kernel:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_sample_with_itself_gives_its_own_term() {
        for kernel in KERNELS {
            let block = samples(&kernel, 6, 0.0);
            for i in 0..6 {
                let own = kernel.value(block.features(i), block.features(i));
                assert!((own - block.self_kernel()[i]).abs() <= 1e-13 * own);
            }
        }
    }

    #[test]
    fn widths_are_numbers_or_multiples_of_the_median() {
        let read = |text: &str| ron::from_str::<Kernel>(text).map_err(|e| e.to_string());
        let absolute = Kernel::Gaussian { width: 4.0 };
        assert_eq!(read("Gaussian(width: 4.0)"), Ok(absolute));
        assert_eq!(read("Gaussian(width: Absolute(4.0))"), Ok(absolute));
        let relative = Kernel::OfMedian {
            shape: Radial::Laplacian,
            multiple: 0.5,
        };
        assert_eq!(read("Laplacian(width: OfMedian(0.5))"), Ok(relative));
        assert_eq!(relative.with_median(6.0), Kernel::Laplacian { width: 3.0 });
        let wrong = read("Gaussian(width: OfMeridian(0.5))").expect_err("no such width");
        assert!(wrong.contains("OfMedian"), "{wrong}");
        for kernel in KERNELS.into_iter().chain([relative]) {
            let text = ron::to_string(&kernel).expect("plain data");
            assert_eq!(read(&text), Ok(kernel), "{text}");
            let json = serde_json::to_value(kernel).expect("plain data");
            assert_eq!(serde_json::from_value::<Kernel>(json).ok(), Some(kernel));
        }
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let wrong = [
            Kernel::Polynomial {
                degree: 0,
                offset: 1.0,
            },
            Kernel::NormalisedPolynomial {
                degree: 21,
                offset: 1.0,
            },
            Kernel::Polynomial {
                degree: 2,
                offset: f64::NAN,
            },
            Kernel::Polynomial {
                degree: 2,
                offset: -1.0,
            },
            Kernel::Gaussian { width: 0.0 },
            Kernel::Laplacian {
                width: f64::INFINITY,
            },
        ];
        for kernel in wrong {
            assert!(kernel.check().is_err(), "{kernel:?}");
        }
        let text = Kernel::Gaussian { width: -2.0 }
            .check()
            .map_err(|e| e.to_string());
        assert_eq!(
            text,
            Err("the width of a kernel must be a finite number greater than 0, but is -2".into())
        );
    }
}
