//! The values of a MATLAB file as a tree: arrays, text, cells, structs.

use ndarray::{ArrayD, IxDyn, ShapeBuilder};

use super::super::{ReadError, Stored};

/// A named variable.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub value: Value,
}

/// What a variable, a field or a cell holds. Items are in column-major order.
#[derive(Debug, Clone)]
pub enum Value {
    /// Real or complex numbers, or truth values.
    Numeric(Numeric),
    /// A matrix of which only the entries other than 0 are stored.
    Sparse(Sparse),
    /// Text: its rows, and its shape.
    Text {
        /// Rows and columns.
        shape: Vec<usize>,
        /// One string per row.
        rows: Vec<String>,
    },
    /// An array of values of any kind.
    Cell {
        /// Size along each axis.
        shape: Vec<usize>,
        /// The cells.
        items: Vec<Value>,
    },
    /// An array of structs that have the same fields.
    Struct {
        /// Size along each axis.
        shape: Vec<usize>,
        /// Each field with its value in every struct of the array.
        fields: Vec<(String, Vec<Value>)>,
    },
    /// A kind that is not read (objects, function handles).
    Other {
        /// What it is.
        class: String,
    },
}

/// An array of numbers; MATLAB stores them in column-major order.
#[derive(Debug, Clone)]
pub struct Numeric {
    /// Size along each axis.
    pub shape: Vec<usize>,
    /// The numbers, or their real parts.
    pub real: Stored,
    /// Whether imaginary parts are stored too.
    pub is_complex: bool,
    /// Whether the numbers are truth values.
    pub is_logical: bool,
    /// Whether the last axis changes fastest, as in plain HDF5, and not the first as in MATLAB.
    pub is_row_major: bool,
}

/// A sparse matrix by columns.
#[derive(Debug, Clone)]
pub struct Sparse {
    /// Rows and columns.
    pub shape: [usize; 2],
    /// Row, column and value of each stored entry.
    pub entries: Vec<(usize, usize, f64)>,
}

impl Numeric {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values, in the order in which they are stored.
    pub fn values(&self) -> Result<Vec<f64>, ReadError> {
        let mut values = vec![0.0; self.len()];
        self.real.read(0, 1, &mut values)?;
        Ok(values)
    }

    /// The array with its shape.
    pub fn to_array(&self) -> Result<ArrayD<f64>, ReadError> {
        let shape = IxDyn(&self.shape).set_f(!self.is_row_major);
        ArrayD::from_shape_vec(shape, self.values()?).map_err(|_wrong_size| self.too_large())
    }

    /// Numbers of two parts are no feature: which of them is meant is for the user to say.
    pub(super) fn complex_refused(&self, name: &str) -> ReadError {
        ReadError::Unsupported {
            path: self.real.bytes.path().to_owned(),
            what: format!("the complex array {name:?} as numbers"),
            remedy: "save abs(x), or real(x) and imag(x), as arrays of their own".to_owned(),
        }
    }

    fn too_large(&self) -> ReadError {
        ReadError::Unsupported {
            path: self.real.bytes.path().to_owned(),
            what: format!("an array of shape {:?}", self.shape),
            remedy: "store it in smaller parts".to_owned(),
        }
    }
}

impl Sparse {
    /// From compressed columns; `None` if an entry lies outside or columns overlap.
    pub(super) fn from_columns(
        shape: [usize; 2],
        rows: &[f64],
        starts: &[f64],
        values: &[f64],
    ) -> Option<Self> {
        let mut entries = Vec::with_capacity(values.len());
        for (column, ends) in starts.windows(2).enumerate() {
            let stored = ends[0] as usize..(ends[1] as usize).min(values.len());
            for position in stored {
                let row = *rows.get(position)?;
                let is_inside = (0.0..shape[0] as f64).contains(&row) && column < shape[1];
                // Columns that overlap would make more entries than are stored.
                if !is_inside || entries.len() >= values.len() {
                    return None;
                }
                entries.push((row as usize, column, values[position]));
            }
        }
        Some(Self { shape, entries })
    }

    /// The matrix with its zeros, if it has at most `max_len` entries.
    pub fn to_array(&self, max_len: usize) -> Option<ArrayD<f64>> {
        let len = self.shape[0].checked_mul(self.shape[1])?;
        if len > max_len {
            return None;
        }
        let mut array = ArrayD::zeros(IxDyn(&self.shape));
        for &(row, column, value) in &self.entries {
            if let Some(entry) = array.get_mut([row, column]) {
                *entry += value;
            }
        }
        Some(array)
    }
}

impl Value {
    /// Size along each axis.
    pub fn shape(&self) -> Vec<usize> {
        match self {
            Self::Numeric(numeric) => numeric.shape.clone(),
            Self::Sparse(sparse) => sparse.shape.to_vec(),
            Self::Text { shape, .. } | Self::Cell { shape, .. } | Self::Struct { shape, .. } => {
                shape.clone()
            }
            Self::Other { .. } => vec![1, 1],
        }
    }

    /// What it is, in a word.
    pub fn class(&self) -> &str {
        match self {
            Self::Numeric(_) => "numeric array",
            Self::Sparse(_) => "sparse matrix",
            Self::Text { .. } => "text",
            Self::Cell { .. } => "cell array",
            Self::Struct { .. } => "struct",
            Self::Other { class } => class,
        }
    }

    /// The values of a field, one for each struct of the array.
    pub fn field(&self, name: &str) -> Option<&[Value]> {
        let Self::Struct { fields, .. } = self else {
            return None;
        };
        let found = fields.iter().find(|(known, _)| known == name);
        found.map(|(_, values)| values.as_slice())
    }

    /// The number, if it is a single one.
    pub fn scalar(&self) -> Option<f64> {
        let Self::Numeric(numeric) = self else {
            return None;
        };
        match numeric.values_if_few(1)?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Text in one line; a number as it is written.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text { rows, .. } => match rows.as_slice() {
                [] => Some(String::new()),
                [only] => Some(only.trim_end().to_owned()),
                _ => None,
            },
            Self::Cell { items, .. } => match items.as_slice() {
                [only @ (Self::Text { .. } | Self::Numeric(_))] => only.text(),
                _ => None,
            },
            Self::Numeric(_) => self.scalar().map(|number| number.to_string()),
            _ => None,
        }
    }

    /// A list of texts: rows of a text, or cells.
    pub fn texts(&self) -> Option<Vec<String>> {
        match self {
            Self::Text { rows, .. } => Some(rows.iter().map(|row| row.trim().to_owned()).collect()),
            Self::Cell { items, .. } => items
                .iter()
                .map(|item| Some(item.text()?.trim().to_owned()))
                .collect(),
            _ => None,
        }
    }
}

impl Numeric {
    /// All values, unless there are more than `most`.
    fn values_if_few(&self, most: usize) -> Option<Vec<f64>> {
        if self.len() > most {
            return None;
        }
        self.values().ok()
    }
}
