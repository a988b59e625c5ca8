//! NumPy arrays (.npy): header, element types, and positioned reads of a column. Our own, because
//! ndarray-npy loads whole arrays and knows one element type at a time.

use std::sync::Arc;

use ndarray::{ArrayD, IxDyn, ShapeBuilder};

use super::text::quoted;
use super::{
    ArrayInfo, ByteSource, Channel, FilePlace, Findings, Format, Input, Kind, Number, ReadError,
    ReadOptions, Record, Samples, Source, Stored, Unit,
};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header read; that of a plain array has some hundred bytes.
const MAX_HEADER_BYTES: u64 = 1 << 20;
/// Most channels made of an array.
const MAX_CHANNELS: usize = 1 << 16;

/// Whether the first bytes are those of an array.
pub(super) fn is_certain(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Reads a single array.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let findings = Findings::new(input.path(), options.mode);
    let stem = input.path().file_stem().unwrap_or_default();
    let name = stem.to_string_lossy().into_owned();
    let array = NpyArray::open(input.bytes.clone(), &findings)?;
    let source = Source::new(input.path(), input.bytes.len());
    record_of(Format::Npy, source, vec![(name, array)], findings, options)
}

/// A record of the named arrays; one of them becomes the channels.
pub(super) fn record_of(
    format: Format,
    source: Source,
    arrays: Vec<(String, NpyArray)>,
    findings: Findings,
    options: &ReadOptions,
) -> Result<Record, ReadError> {
    let infos: Vec<ArrayInfo> = arrays
        .iter()
        .map(|(name, array)| ArrayInfo {
            name: name.clone(),
            shape: array.shape.clone(),
        })
        .collect();
    let chosen = match (&options.array, arrays.as_slice()) {
        (Some(wanted), _) => arrays.iter().position(|(name, _)| name == wanted),
        (None, [_]) => Some(0),
        (None, _) => None,
    };
    let table = chosen.and_then(|index| {
        let (_, array) = arrays.get(index)?;
        Some((index, array.sides(options)?))
    });
    let (mut channels, mut kind) = (Vec::new(), Kind::Arrays);
    if let Some((_, sides)) = table {
        if sides.n_channels > MAX_CHANNELS {
            let expected = format!("at most {MAX_CHANNELS}; turn the array around");
            let found = sides.n_channels;
            return Err(findings.refusal(FilePlace::File, "number of channels", found, expected));
        }
        kind = match options.rate_hz {
            Some(_) => Kind::Recording,
            None => Kind::Table,
        };
        channels = (1..=sides.n_channels)
            .map(|number| {
                let name = format!("column {number}");
                Channel::analog(name, Unit::none(), options.rate_hz, sides.n_samples)
            })
            .collect();
    }
    let samples = Arc::new(ArraySamples { arrays, table });
    let mut record = Record::new(format, kind, source, channels, samples);
    record.arrays = infos;
    record.warnings = findings.into_warnings();
    Ok(record)
}

/// The element type of NumPy's description without the byte order: `f8`, `i2`, …
fn element_type(text: &str) -> Option<Number> {
    Some(match text {
        "i1" => Number::Int8,
        "b1" | "?" | "u1" => Number::Uint8,
        "i2" => Number::Int16,
        "u2" => Number::Uint16,
        "i4" => Number::Int32,
        "u4" => Number::Uint32,
        "i8" => Number::Int64,
        "u8" => Number::Uint64,
        "f2" => Number::Float16,
        "f4" => Number::Float32,
        "f8" => Number::Float64,
        _ => return None,
    })
}

/// An array in a byte source.
#[derive(Debug, Clone)]
pub(super) struct NpyArray {
    elements: Stored,
    column_major: bool,
    shape: Vec<usize>,
}

/// Which side of an array is time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sides {
    n_channels: usize,
    n_samples: usize,
    /// Elements from one channel to the next.
    channel_step: usize,
    /// Elements from one sample to the next.
    sample_step: usize,
}

impl NpyArray {
    /// Reads the header; the data must be there in full.
    pub(super) fn open(source: ByteSource, findings: &Findings) -> Result<NpyArray, ReadError> {
        let (header, data_start) = read_header(&source, findings)?;
        let refuse = |field: &str, found: &str, expected: &str| {
            findings.refusal(FilePlace::Byte(10), field, quoted(found), expected)
        };
        let description = dictionary_value(&header, "descr")
            .ok_or_else(|| refuse("descr", "missing", "the type of the elements"))?;
        let description = description.trim_matches(['\'', '"']);
        let (is_big_endian, kind) = match description.strip_prefix('>') {
            Some(kind) => (true, kind),
            None => (false, description.trim_start_matches(['<', '|', '='])),
        };
        let Some(number) = element_type(kind) else {
            return Err(ReadError::Unsupported {
                path: source.path().to_owned(),
                what: format!("element type {}", quoted(description)),
                remedy: "save the array as float64".to_owned(),
            });
        };
        let order = dictionary_value(&header, "fortran_order");
        let column_major = match order.as_deref() {
            Some("True") => true,
            Some("False") | None => false,
            Some(other) => return Err(refuse("fortran_order", other, "True or False")),
        };
        let shape_text = dictionary_value(&header, "shape")
            .ok_or_else(|| refuse("shape", "missing", "the size along each axis"))?;
        let shape = parse_shape(&shape_text)
            .ok_or_else(|| refuse("shape", &shape_text, "whole numbers in parentheses"))?;
        let array = NpyArray {
            elements: Stored {
                bytes: source,
                offset: data_start,
                number,
                is_big_endian,
            },
            column_major,
            shape,
        };
        array.check_length(findings)?;
        Ok(array)
    }

    /// Number of elements.
    fn size(&self) -> usize {
        // `check_length` has shown that the product exists.
        self.shape.iter().product()
    }

    fn check_length(&self, findings: &Findings) -> Result<(), ReadError> {
        let Stored {
            bytes,
            offset,
            number,
            ..
        } = &self.elements;
        let n_present = bytes.len().saturating_sub(*offset);
        let n_bytes = self
            .shape
            .iter()
            .try_fold(number.bytes() as u64, |bytes, side| {
                bytes.checked_mul(*side as u64)
            });
        // A side of zero hides others that are too large to multiply.
        let n_elements = self
            .shape
            .iter()
            .try_fold(1_usize, |n, side| n.checked_mul(*side));
        match (n_bytes, n_elements) {
            (Some(n_bytes), Some(_)) if n_bytes <= n_present => Ok(()),
            _ => {
                let found = format!("{n_present} bytes");
                let expected = format!(
                    "shape {:?} with elements of {} bytes; the file was cut or damaged",
                    self.shape,
                    number.bytes()
                );
                let place = FilePlace::Byte(*offset);
                Err(findings.refusal(place, "data length", found, expected))
            }
        }
    }

    /// How an array of one or two axes becomes channels; `None` if it has more.
    fn sides(&self, options: &ReadOptions) -> Option<Sides> {
        let (n_rows, n_columns) = match self.shape.as_slice() {
            [n] => (*n, 1),
            [rows, columns] => (*rows, *columns),
            _ => return None,
        };
        let (row_step, column_step) = if self.column_major {
            (1, n_rows)
        } else {
            (n_columns, 1)
        };
        let rows_are_channels = options.rows_are_channels.unwrap_or(n_rows < n_columns);
        Some(if rows_are_channels {
            Sides {
                n_channels: n_rows,
                n_samples: n_columns,
                channel_step: row_step,
                sample_step: column_step,
            }
        } else {
            Sides {
                n_channels: n_columns,
                n_samples: n_rows,
                channel_step: column_step,
                sample_step: row_step,
            }
        })
    }

    /// Entries of a matrix at place `first` of `axis` and those that follow; false for what is no matrix.
    fn slices(&self, axis: usize, first: usize, out: &mut [f64]) -> Result<bool, ReadError> {
        let [n_rows, n_columns] = self.shape[..] else {
            return Ok(false);
        };
        let n_across = if axis == 0 { n_columns } else { n_rows };
        if self.column_major == (axis == 1) {
            // All of one place lie together.
            self.elements.read((first * n_across) as u64, 1, out)?;
            return Ok(true);
        }
        let n_along = if axis == 0 { n_rows } else { n_columns };
        let mut along = vec![0.0; out.len() / n_across.max(1)];
        for across in 0..n_across {
            let start = across * n_along + first;
            self.elements.read(start as u64, 1, &mut along)?;
            let targets = out[across..].iter_mut().step_by(n_across);
            targets
                .zip(&along)
                .for_each(|(target, value)| *target = *value);
        }
        Ok(true)
    }

    fn to_array(&self) -> Result<ArrayD<f64>, ReadError> {
        let mut values = vec![0.0; self.size()];
        self.elements.read(0, 1, &mut values)?;
        let shape = IxDyn(&self.shape).set_f(self.column_major);
        ArrayD::from_shape_vec(shape, values).map_err(|error| {
            let found = format!("{:?}", self.shape);
            let path = self.elements.bytes.path();
            ReadError::malformed(path, FilePlace::File, "shape", found, error.to_string())
        })
    }
}

/// The header's text and the offset of the data.
fn read_header(source: &ByteSource, findings: &Findings) -> Result<(String, u64), ReadError> {
    let head = source.read_start(12)?;
    let refuse = |field: &str, found: String, expected: &str| {
        Err(findings.refusal(FilePlace::Byte(0), field, found, expected))
    };
    let (Some(version), true) = (head.get(6), head.starts_with(MAGIC)) else {
        let start = head.get(..6).unwrap_or(&head).escape_ascii().to_string();
        return refuse("magic number", start, "\\x93NUMPY");
    };
    let (length, start) = match (version, head.as_slice()) {
        (1, [.., a, b, _, _]) => (u64::from(u16::from_le_bytes([*a, *b])), 10),
        (2 | 3, [.., a, b, c, d]) => (u64::from(u32::from_le_bytes([*a, *b, *c, *d])), 12),
        _ => {
            return refuse(
                "version",
                version.to_string(),
                "1, 2 or 3, and a header after it",
            );
        }
    };
    if length > MAX_HEADER_BYTES {
        return refuse("header length", length.to_string(), "at most a megabyte");
    }
    let bytes = source.read_range(start, length)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), start + length))
}

/// The value of `'key': value` in a Python dictionary; parentheses and brackets are kept whole.
fn dictionary_value(dictionary: &str, key: &str) -> Option<String> {
    let quoted_key = |mark: char| format!("{mark}{key}{mark}");
    let after = [quoted_key('\''), quoted_key('"')]
        .iter()
        .find_map(|key| dictionary.split_once(key.as_str()))?
        .1;
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    let mut depth = 0_usize;
    let end = value.find(|c: char| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            ',' | '}' => return depth == 0,
            _ => {}
        }
        false
    });
    Some(value.get(..end.unwrap_or(value.len()))?.trim().to_owned())
}

/// `(3, 4)`, `(5,)`, `()`.
fn parse_shape(text: &str) -> Option<Vec<usize>> {
    const MOST_AXES: usize = 32;
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let sides: Option<Vec<usize>> = inner
        .split(',')
        .map(|side| side.trim().trim_end_matches('L'))
        .filter(|side| !side.is_empty())
        .map(|side| side.parse().ok())
        .collect();
    sides.filter(|sides| sides.len() <= MOST_AXES)
}

/// The arrays of a file; one of them is the channels.
#[derive(Debug)]
struct ArraySamples {
    arrays: Vec<(String, NpyArray)>,
    table: Option<(usize, Sides)>,
}

impl Samples for ArraySamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let table = self
            .table
            .and_then(|(index, sides)| Some((&self.arrays.get(index)?.1, sides)));
        let Some((array, sides)) = table else {
            return Ok(());
        };
        let start = (channel * sides.channel_step + first * sides.sample_step) as u64;
        array.elements.read(start, sides.sample_step, out)
    }

    fn slices(
        &self,
        name: &str,
        axis: usize,
        first: usize,
        out: &mut [f64],
    ) -> Result<bool, ReadError> {
        let found = self.arrays.iter().find(|(known, _)| known == name);
        found.map_or(Ok(false), |(_, array)| array.slices(axis, first, out))
    }

    fn array(&self, name: &str) -> Result<Option<ArrayD<f64>>, ReadError> {
        match self.arrays.iter().find(|(known, _)| known == name) {
            Some((_, array)) => array.to_array().map(Some),
            None => Ok(None),
        }
    }
}
