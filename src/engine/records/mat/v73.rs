//! MATLAB 7.3 files: HDF5 with MATLAB's conventions for text, cells, structs and sparse matrices; and plain HDF5.

use super::super::{ByteSource, FilePlace, Findings, Format, Number, ReadError, Stored, unread};
use super::hdf5::{self, Element, Hdf5, Hdf5Array, Object};
use super::v5::rows_of;
use super::value::{Numeric, Sparse, Value, Variable};

/// Deepest nesting of structs and cells; references may even run in a circle.
const MAX_DEPTH: usize = 32;
/// Variables that are asked whether MATLAB wrote them.
const MOST_ASKED: usize = 16;

/// Whether these bytes start an HDF5 file, with or without MATLAB's text before it.
pub(super) fn is_certain(head: &[u8]) -> bool {
    hdf5::is_certain(head)
}

/// Reads all variables; the numbers of arrays stored whole stay in the file. Without MATLAB's text before it and
/// without MATLAB's attributes it is plain HDF5, whose arrays are in C order.
pub(super) fn read(
    bytes: &ByteSource,
    findings: &mut Findings,
) -> Result<(Format, Vec<Variable>), ReadError> {
    let is_told = bytes.read_start(6)? == b"MATLAB";
    let (file, root) = Hdf5::open(bytes, findings)?;
    let mut reader = Mat73Reader {
        file,
        is_matlab: is_told,
    };
    let root = reader.file.object(root)?;
    let members = reader.file.members(&root)?.unwrap_or_default();
    if let Some(unread) = unread::hdf5(members.iter().map(|(name, _)| name.as_str())) {
        return Err(unread.refusal(bytes.path()));
    }
    for (_, address) in members.iter().take(MOST_ASKED) {
        reader.is_matlab = reader.is_matlab
            || !reader
                .file
                .object(*address)?
                .attribute_is_missing("MATLAB_class");
    }
    let mut variables = Vec::new();
    for (name, address) in members {
        // `#refs#` holds what cells refer to, `#subsystem#` what objects consist of.
        if !name.starts_with('#') {
            let place = FilePlace::Byte(address);
            reader
                .file
                .budget
                .spend_variable(place, reader.file.findings)?;
            let value = reader.value(address, 0)?;
            variables.push(Variable { name, value });
        }
    }
    let format = match reader.is_matlab {
        true => Format::Mat73,
        false => Format::Hdf5,
    };
    Ok((format, variables))
}

struct Mat73Reader<'a> {
    file: Hdf5<'a>,
    is_matlab: bool,
}

impl Mat73Reader<'_> {
    fn value(&mut self, address: u64, depth: usize) -> Result<Value, ReadError> {
        // Every value is paid for before it is built, what is too deep as well: a cell may hold itself many times.
        self.file
            .budget
            .spend_value(FilePlace::Byte(address), self.file.findings)?;
        if depth > MAX_DEPTH {
            return Ok(other("structs and cells nested too deeply"));
        }
        let object = self.file.object(address)?;
        let class = object.text_attribute("MATLAB_class").unwrap_or_default();
        if let Some(members) = self.file.members(&object)? {
            if let Some(n_rows) = object.number_attribute("MATLAB_sparse") {
                return self.sparse(&members, n_rows);
            }
            return self.structure(members, depth);
        }
        let Some(data) = self.file.dataset(&object)? else {
            return Ok(other("an HDF5 object that holds no numbers"));
        };
        self.array(&object, &class, &data, depth)
    }

    fn array(
        &mut self,
        object: &Object,
        class: &str,
        data: &Hdf5Array,
        depth: usize,
    ) -> Result<Value, ReadError> {
        if object.number_attribute("MATLAB_empty") == Some(1) {
            // The array holds the sizes, at least one of which is 0.
            let sizes = self.small_numbers(data)?;
            let shape = sizes.iter().map(|&size| size as usize).collect();
            return Ok(self.empty(shape, class));
        }
        // HDF5 counts axes from the slowest, MATLAB from the fastest.
        let mut shape: Vec<usize> = match self.is_matlab {
            true => data.shape.iter().rev().copied().collect(),
            false => data.shape.clone(),
        };
        while self.is_matlab && shape.len() < 2 {
            shape.push(1);
        }
        match data.element {
            Element::Reference => Ok(Value::Cell {
                items: self.referred(data, depth)?,
                shape,
            }),
            Element::Complex {
                number,
                is_big_endian,
            } => self.complex(data, shape, number, is_big_endian),
            Element::Number { .. } if class == "char" => self.text(data, shape),
            Element::Number { .. } => Ok(match data.stored() {
                Some(real) => Value::Numeric(Numeric {
                    shape,
                    real,
                    is_complex: false,
                    is_logical: class == "logical",
                    is_row_major: !self.is_matlab,
                }),
                None => other("elements of an unknown type"),
            }),
        }
    }

    fn empty(&self, mut shape: Vec<usize>, class: &str) -> Value {
        if !shape.contains(&0) {
            shape = vec![0, 0];
        }
        match class {
            "cell" => Value::Cell {
                shape,
                items: Vec::new(),
            },
            "struct" => Value::Struct {
                shape,
                fields: Vec::new(),
            },
            "char" => Value::Text {
                shape,
                rows: Vec::new(),
            },
            _ => Value::Numeric(Numeric {
                shape,
                real: Stored {
                    bytes: self.file.bytes.clone(),
                    offset: 0,
                    number: Number::Float64,
                    is_big_endian: false,
                },
                is_complex: false,
                is_logical: class == "logical",
                is_row_major: !self.is_matlab,
            }),
        }
    }

    /// The numbers of a short array.
    fn small_numbers(&mut self, data: &Hdf5Array) -> Result<Vec<f64>, ReadError> {
        let Some(stored) = data.stored().filter(|_| data.len() <= 32) else {
            return Ok(Vec::new());
        };
        let mut values = vec![0.0; data.len()];
        stored.read(0, 1, &mut values)?;
        Ok(values)
    }

    /// All numbers of an array, paid for.
    fn numbers(&mut self, data: &Hdf5Array) -> Result<Vec<f64>, ReadError> {
        let Some(stored) = data.stored() else {
            return Ok(Vec::new());
        };
        self.file.spend(data.len() as u64 * 24, stored.offset)?;
        let mut values = vec![0.0; data.len()];
        stored.read(0, 1, &mut values)?;
        Ok(values)
    }

    fn text(&mut self, data: &Hdf5Array, shape: Vec<usize>) -> Result<Value, ReadError> {
        let n_rows = shape.first().copied().unwrap_or(1);
        // Rows of one letter cost most.
        self.file.spend((n_rows.min(data.len()) as u64) * 48, 0)?;
        let units = self.numbers(data)?;
        let units = units.iter().map(|&unit| unit as u16);
        let letters: Vec<char> = char::decode_utf16(units)
            .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        Ok(Value::Text {
            rows: rows_of(&letters, n_rows),
            shape,
        })
    }

    /// Real parts, taken out from between the imaginary ones.
    fn complex(
        &mut self,
        data: &Hdf5Array,
        shape: Vec<usize>,
        number: Number,
        is_big_endian: bool,
    ) -> Result<Value, ReadError> {
        let width = number.bytes();
        self.file.spend(data.len() as u64 * 3 * width as u64, 0)?;
        let raw = data.raw()?;
        let mut real = Vec::with_capacity(data.len() * width);
        for pair in raw.chunks_exact(2 * width) {
            real.extend_from_slice(&pair[..width]);
        }
        Ok(Value::Numeric(Numeric {
            shape,
            real: Stored {
                bytes: ByteSource::from_bytes(self.file.bytes.path(), real),
                offset: 0,
                number,
                is_big_endian,
            },
            is_complex: true,
            is_logical: false,
            is_row_major: !self.is_matlab,
        }))
    }

    /// The values that an array of references stands for.
    fn referred(&mut self, data: &Hdf5Array, depth: usize) -> Result<Vec<Value>, ReadError> {
        self.file.spend(data.len() as u64 * 8, 0)?;
        let raw = data.raw()?;
        let mut items = Vec::new();
        for address in raw.chunks_exact(8) {
            let address = address
                .iter()
                .rev()
                .fold(0, |value, &byte| value << 8 | u64::from(byte));
            items.push(self.value(address, depth + 1)?);
        }
        Ok(items)
    }

    /// A struct; if all fields are references without a class, an array of structs.
    fn structure(&mut self, members: Vec<(String, u64)>, depth: usize) -> Result<Value, ReadError> {
        let mut fields = Vec::new();
        let mut shape = vec![1, 1];
        for (name, address) in members {
            let object = self.file.object(address)?;
            let is_column = object.attribute_is_missing("MATLAB_class")
                && object.attribute_is_missing("H5PATH");
            let column = if is_column {
                self.file.dataset(&object)?
            } else {
                None
            };
            match column.filter(|data| data.element == Element::Reference) {
                Some(data) => {
                    shape = data.shape.iter().rev().copied().collect();
                    let values = self.referred(&data, depth)?;
                    fields.push((name, values));
                }
                None => fields.push((name, vec![self.value(address, depth + 1)?])),
            }
        }
        Ok(Value::Struct { shape, fields })
    }

    /// A sparse matrix: values, rows, and where each column starts.
    fn sparse(&mut self, members: &[(String, u64)], n_rows: u64) -> Result<Value, ReadError> {
        let mut column = |name: &str| -> Result<Vec<f64>, ReadError> {
            let Some((_, address)) = members.iter().find(|(known, _)| known == name) else {
                return Ok(Vec::new());
            };
            let object = self.file.object(*address)?;
            match self.file.dataset(&object)? {
                Some(data) => self.numbers(&data),
                None => Ok(Vec::new()),
            }
        };
        let (values, rows, starts) = (column("data")?, column("ir")?, column("jc")?);
        let shape = [n_rows as usize, starts.len().saturating_sub(1)];
        match Sparse::from_columns(shape, &rows, &starts, &values) {
            Some(sparse) => Ok(Value::Sparse(sparse)),
            None => Ok(other("a damaged sparse matrix")),
        }
    }
}

fn other(class: &str) -> Value {
    Value::Other {
        class: class.to_owned(),
    }
}
