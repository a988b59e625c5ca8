//! NumPy arrays (.npy): header, element types, and positioned reads of a column.

use std::sync::Arc;

use ndarray::{ArrayD, IxDyn, ShapeBuilder};

use super::text::quoted;
use super::{
    ArrayInfo, ByteSource, Channel, Findings, Format, Input, Kind, Place, ReadError, ReadOptions,
    Record, Samples, Source, Unit,
};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header read; that of a plain array has some hundred bytes.
const MAX_HEADER_BYTES: u64 = 1 << 20;
/// Bytes read at once.
const BLOCK_BYTES: usize = 1 << 18;
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
            return Err(findings.refusal(Place::File, "number of channels", found, expected));
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

/// Type of the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

impl Element {
    fn size(self) -> usize {
        match self {
            Element::Bool | Element::I8 | Element::U8 => 1,
            Element::I16 | Element::U16 | Element::F16 => 2,
            Element::I32 | Element::U32 | Element::F32 => 4,
            Element::I64 | Element::U64 | Element::F64 => 8,
        }
    }

    /// From NumPy's description without the byte order: `f8`, `i2`, …
    fn parse(text: &str) -> Option<Element> {
        Some(match text {
            "b1" | "?" => Element::Bool,
            "i1" => Element::I8,
            "u1" => Element::U8,
            "i2" => Element::I16,
            "u2" => Element::U16,
            "i4" => Element::I32,
            "u4" => Element::U32,
            "i8" => Element::I64,
            "u8" => Element::U64,
            "f2" => Element::F16,
            "f4" => Element::F32,
            "f8" => Element::F64,
            _ => return None,
        })
    }

    /// The value of one element in little-endian order.
    fn value(self, bytes: [u8; 8]) -> f64 {
        let bits = u64::from_le_bytes(bytes);
        match self {
            Element::Bool => f64::from(u8::from(bits != 0)),
            Element::I8 => f64::from((bits as u8).cast_signed()),
            Element::U8 => f64::from(bits as u8),
            Element::I16 => f64::from((bits as u16).cast_signed()),
            Element::U16 => f64::from(bits as u16),
            Element::I32 => f64::from((bits as u32).cast_signed()),
            Element::U32 => f64::from(bits as u32),
            Element::I64 => bits.cast_signed() as f64,
            Element::U64 => bits as f64,
            Element::F16 => half_precision(bits as u16),
            Element::F32 => f64::from(f32::from_bits(bits as u32)),
            Element::F64 => f64::from_bits(bits),
        }
    }
}

/// IEEE 754 half precision: 1 sign, 5 exponent, 10 fraction bits.
fn half_precision(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from((bits >> 10) & 0x1f);
    let fraction = f64::from(bits & 0x3ff);
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// An array in a byte source.
#[derive(Debug, Clone)]
pub(super) struct NpyArray {
    source: ByteSource,
    data_start: u64,
    element: Element,
    big_endian: bool,
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
            findings.refusal(Place::Byte(10), field, quoted(found), expected)
        };
        let description = dictionary_value(&header, "descr")
            .ok_or_else(|| refuse("descr", "missing", "the type of the elements"))?;
        let description = description.trim_matches(['\'', '"']);
        let (big_endian, kind) = match description.strip_prefix('>') {
            Some(kind) => (true, kind),
            None => (false, description.trim_start_matches(['<', '|', '='])),
        };
        let Some(element) = Element::parse(kind) else {
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
            source,
            data_start,
            element,
            big_endian,
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
        let n_present = self.source.len().saturating_sub(self.data_start);
        let n_bytes = self
            .shape
            .iter()
            .try_fold(self.element.size() as u64, |bytes, side| {
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
                    self.element.size()
                );
                let place = Place::Byte(self.data_start);
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

    fn value_at(&self, bytes: &[u8]) -> f64 {
        let mut eight = [0; 8];
        for (to, from) in eight.iter_mut().zip(bytes) {
            *to = *from;
        }
        if self.big_endian
            && let Some(used) = eight.get_mut(..bytes.len().min(8))
        {
            used.reverse();
        }
        self.element.value(eight)
    }

    /// Elements `first`, `first + step`, … into `out`.
    fn read_strided(&self, first: usize, step: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let size = self.element.size();
        let stride = step.saturating_mul(size);
        let per_block = (BLOCK_BYTES / stride.max(1)).max(1);
        let mut done = 0;
        while done < out.len() {
            let n = per_block.min(out.len() - done);
            let index = first as u64 + done as u64 * step as u64;
            let start = self.data_start + index * size as u64;
            let n_bytes = (n - 1).saturating_mul(stride) + size;
            let block = self.source.read_range(start, n_bytes as u64)?;
            let values = out.iter_mut().skip(done).take(n);
            for (value, element) in values.zip(block.chunks(stride.max(size))) {
                *value = self.value_at(element.get(..size).unwrap_or(element));
            }
            done += n;
        }
        Ok(())
    }

    fn to_array(&self) -> Result<ArrayD<f64>, ReadError> {
        let mut values = vec![0.0; self.size()];
        self.read_strided(0, 1, &mut values)?;
        let shape = IxDyn(&self.shape).set_f(self.column_major);
        ArrayD::from_shape_vec(shape, values).map_err(|error| {
            let found = format!("{:?}", self.shape);
            let path = self.source.path();
            ReadError::malformed(path, Place::File, "shape", found, error.to_string())
        })
    }
}

/// The header's text and the offset of the data.
fn read_header(source: &ByteSource, findings: &Findings) -> Result<(String, u64), ReadError> {
    let head = source.read_start(12)?;
    let refuse = |field: &str, found: String, expected: &str| {
        Err(findings.refusal(Place::Byte(0), field, found, expected))
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
        let start = channel * sides.channel_step + first * sides.sample_step;
        array.read_strided(start, sides.sample_step, out)
    }

    fn array(&self, name: &str) -> Result<Option<ArrayD<f64>>, ReadError> {
        match self.arrays.iter().find(|(known, _)| known == name) {
            Some((_, array)) => array.to_array().map(Some),
            None => Ok(None),
        }
    }
}
