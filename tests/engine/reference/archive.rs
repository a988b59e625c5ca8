//! Reading the reference files, and comparing with them.

use std::path::{Path, PathBuf};

use atomscope_engine::math::Matrix;
use atomscope_engine::records::{self, Mode, Record};
use ndarray::ArrayD;

/// One reference file.
pub(crate) struct Archive {
    path: PathBuf,
    record: Record,
}

impl Archive {
    /// A file of `tests/data`.
    pub(crate) fn small(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
        Self::open(folder.join(name))
    }

    /// A file of `reference/` beside the data folder; none when that is not there.
    pub(crate) fn large(name: &str) -> Option<Self> {
        let Some(data) = std::env::var_os("ATOMSCOPE_DATA") else {
            eprintln!("skipped: ATOMSCOPE_DATA is not set, so {name} is not compared");
            return None;
        };
        let path = Path::new(&data).join("../reference").join(name);
        if path.exists() {
            Some(Self::open(path))
        } else {
            eprintln!("skipped: there is no {}", path.display());
            None
        }
    }

    fn open(path: PathBuf) -> Self {
        let record = records::open(&path, Mode::Tolerant).expect("the reference file opens");
        Self { path, record }
    }

    /// An array of the file, whatever its number of dimensions.
    pub(crate) fn array(&self, name: &str) -> ArrayD<f64> {
        self.try_array(name)
            .unwrap_or_else(|| panic!("{} holds no {name}", self.path.display()))
    }

    /// The same, if it is there.
    pub(crate) fn try_array(&self, name: &str) -> Option<ArrayD<f64>> {
        self.record.array(name).ok()
    }

    /// A two-dimensional array as a matrix.
    pub(crate) fn matrix(&self, name: &str) -> Matrix {
        let array = self.array(name);
        let shape = array.shape().to_vec();
        assert_eq!(shape.len(), 2, "{name} is not a matrix");
        Matrix::from_fn(shape[0], shape[1], |i, j| array[[i, j]])
    }

    /// All numbers of an array in order.
    pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
        self.array(name).iter().copied().collect()
    }

    /// Sample numbers (from 1 in the file) as places in the data set.
    pub(crate) fn places(&self, name: &str) -> Vec<usize> {
        self.numbers(name).iter().map(|&n| n as usize - 1).collect()
    }
}

/// Fails unless both matrices agree to `tolerance` relative to the largest element.
pub(crate) fn assert_close(what: &str, found: &Matrix, expected: &Matrix, tolerance: f64) {
    assert_eq!(
        (found.rows(), found.cols()),
        (expected.rows(), expected.cols()),
        "{what}: shapes differ"
    );
    let scale = expected.max_abs();
    let mut worst = 0.0_f64;
    for j in 0..found.cols() {
        for i in 0..found.rows() {
            let difference = (found[(i, j)] - expected[(i, j)]).abs();
            assert!(difference.is_finite(), "{what}: not a number");
            worst = worst.max(difference);
        }
    }
    assert!(
        worst <= tolerance * scale,
        "{what}: relative difference {:e}",
        worst / scale
    );
}

/// The columns of `matrix` in the given order.
pub(crate) fn columns(matrix: &Matrix, order: &[usize]) -> Matrix {
    Matrix::from_fn(matrix.rows(), order.len(), |i, j| matrix[(i, order[j])])
}

/// Rows and columns of `matrix` in the given order.
pub(crate) fn rows_and_columns(matrix: &Matrix, order: &[usize]) -> Matrix {
    Matrix::from_fn(order.len(), order.len(), |i, j| {
        matrix[(order[i], order[j])]
    })
}

/// Positions sorted by the order of entrance.
pub(crate) fn by_entrance(entered: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..entered.len()).collect();
    order.sort_by_key(|&j| entered[j]);
    order
}

impl Archive {
    /// A page of USPS, stored as bytes, scaled to 0 … 1.
    pub(crate) fn usps_page(&self, page: usize) -> Option<Matrix> {
        let mut names = self.record.arrays.iter().map(|array| &array.name);
        let name = names.find(|name| name.contains(&page.to_string()))?;
        let array = self.array(name);
        let shape = array.shape().to_vec();
        Some(Matrix::from_fn(shape[0], shape[1], |i, j| {
            array[[i, j]] / 255.0
        }))
    }
}
