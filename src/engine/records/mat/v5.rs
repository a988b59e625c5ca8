//! MATLAB 5 files: tagged elements, either byte order, compressed or not.
//!
//! Element: type and length (8 bytes, or both packed in 4 with up to 4 bytes of
//! data), then data padded to 8 bytes. An array is an element of elements:
//! flags, dimensions, name, contents.

use std::collections::BTreeSet;

use super::super::text::{decode, quoted};
use super::super::{ByteSource, FilePlace, Findings, Number, ReadError, Stored};
use super::budget::Budget;
use super::inflate::Compressed;
use super::value::{Numeric, Sparse, Value, Variable};

const HEADER_BYTES: u64 = 128;
const MI_INT8: u32 = 1;
const MI_UINT8: u32 = 2;
const MI_UINT16: u32 = 4;
const MI_INT32: u32 = 5;
const MI_UINT32: u32 = 6;
const MI_MATRIX: u32 = 14;
const MI_COMPRESSED: u32 = 15;
const MI_UTF8: u32 = 16;
const MI_UTF16: u32 = 17;
const MI_UTF32: u32 = 18;

/// Deepest nesting of structs and cells.
const MAX_DEPTH: usize = 48;
/// Most axes of an array.
const MAX_AXES: u64 = 32;

/// Whether the file has the two letters that tell the byte order.
pub(super) fn is_certain(head: &[u8]) -> bool {
    matches!(head.get(126..128), Some(b"IM" | b"MI")) && version(head) == Some(0x0100)
}

/// The version field, read in the byte order of the file.
pub(super) fn version(head: &[u8]) -> Option<u16> {
    let field = [*head.get(124)?, *head.get(125)?];
    match head.get(126..128)? {
        b"IM" => Some(u16::from_le_bytes(field)),
        b"MI" => Some(u16::from_be_bytes(field)),
        _ => None,
    }
}

/// Reads all variables; the numbers of uncompressed ones stay in the file.
pub(super) fn read(
    bytes: &ByteSource,
    findings: &mut Findings,
) -> Result<Vec<Variable>, ReadError> {
    let head = bytes.read_range(0, HEADER_BYTES)?;
    let mut parser = MatParser {
        is_big_endian: head.get(126..128) == Some(b"MI"),
        budget: Budget::new(bytes.len()),
        findings,
    };
    let mut variables = Vec::new();
    let mut stretch = MatBytes {
        bytes: bytes.clone(),
        at: HEADER_BYTES,
        end: bytes.len(),
    };
    while let Some(element) = parser.next_top_level(&mut stretch)? {
        let read = parser.top_level(&stretch, &element);
        let variable = match read {
            Ok(variable) => variable,
            // What stands before a damaged variable is worth having.
            Err(error) if !variables.is_empty() => {
                let place = FilePlace::Byte(element.tag_offset);
                let assumed = "the variables before it were read";
                parser
                    .findings
                    .breach(place, "variable", error, "a sound one", assumed)?;
                break;
            }
            Err(error) => return Err(error),
        };
        variables.extend(variable);
    }
    Ok(variables)
}

/// A part of a file, or of inflated bytes, that is read element by element.
#[derive(Clone)]
struct MatBytes {
    bytes: ByteSource,
    at: u64,
    end: u64,
}

/// Where an element's data lie.
#[derive(Debug, Clone, Copy)]
struct MatElement {
    kind: u32,
    tag_offset: u64,
    offset: u64,
    len: u64,
}

struct MatParser<'a> {
    is_big_endian: bool,
    budget: Budget,
    findings: &'a mut Findings,
}

/// What stands at the start of an array.
struct ArrayHead {
    class: u8,
    is_complex: bool,
    is_logical: bool,
    shape: Vec<usize>,
    name: String,
}

impl MatParser<'_> {
    fn word(&self, bytes: &[u8]) -> u32 {
        match *bytes {
            [a, b, c, d, ..] if self.is_big_endian => u32::from_be_bytes([a, b, c, d]),
            [a, b, c, d, ..] => u32::from_le_bytes([a, b, c, d]),
            _ => 0,
        }
    }

    /// The next element of the file itself; some zeros at the end are padding.
    fn next_top_level(&mut self, stretch: &mut MatBytes) -> Result<Option<MatElement>, ReadError> {
        let left = stretch.end - stretch.at;
        if left == 0 {
            return Ok(None);
        }
        if left < 8 {
            let place = FilePlace::Byte(stretch.at);
            let found = format!("{left} bytes");
            self.findings
                .breach(place, "end of file", found, "a whole element", "ignored")?;
            return Ok(None);
        }
        self.next(stretch).map(Some)
    }

    /// The next element, checked to lie within its surroundings.
    fn next(&self, stretch: &mut MatBytes) -> Result<MatElement, ReadError> {
        let tag_offset = stretch.at;
        let left = stretch.end.saturating_sub(stretch.at);
        if left < 8 {
            return Err(self.findings.refusal(
                FilePlace::Byte(tag_offset),
                "element",
                format!("{left} bytes"),
                "a tag of 8 bytes",
            ));
        }
        let tag = stretch.bytes.read_range(tag_offset, 8)?;
        let first = self.word(&tag);
        let (kind, len, offset, next) = if first >> 16 != 0 {
            // Small element: length and type share the first word, data the second.
            (
                first & 0xffff,
                u64::from(first >> 16),
                tag_offset + 4,
                tag_offset + 8,
            )
        } else {
            let len = u64::from(self.word(&tag[4..]));
            let padding = if first == MI_COMPRESSED {
                0
            } else {
                (8 - len % 8) % 8
            };
            (first, len, tag_offset + 8, tag_offset + 8 + len + padding)
        };
        let room = if first >> 16 != 0 { 4 } else { left - 8 };
        if len > room {
            return Err(self.findings.refusal(
                FilePlace::Byte(tag_offset),
                "length of element",
                format!("{len} bytes"),
                format!("at most {room}, the bytes that follow"),
            ));
        }
        // The last element of a file may lack its padding.
        stretch.at = next.min(stretch.end);
        Ok(MatElement {
            kind,
            tag_offset,
            offset,
            len,
        })
    }

    fn top_level(
        &mut self,
        stretch: &MatBytes,
        element: &MatElement,
    ) -> Result<Option<Variable>, ReadError> {
        match element.kind {
            MI_MATRIX => self.named(stretch, element),
            MI_COMPRESSED => {
                let compressed = Compressed {
                    bytes: &stretch.bytes,
                    offset: element.offset,
                    len: element.len,
                    is_big_endian: self.is_big_endian,
                };
                let inflated = compressed.inflate(&mut self.budget, self.findings)?;
                let end = inflated.len() as u64;
                let mut inside = MatBytes {
                    bytes: ByteSource::from_bytes(stretch.bytes.path(), inflated),
                    at: 0,
                    end,
                };
                let element = self.next(&mut inside)?;
                match element.kind {
                    MI_MATRIX => self.named(&inside, &element),
                    _ => Ok(None),
                }
            }
            1..=18 => Ok(None),
            other => Err(self.findings.refusal(
                FilePlace::Byte(element.tag_offset),
                "type of element",
                other,
                "1 to 18",
            )),
        }
    }

    /// A variable; what MATLAB keeps for itself has no name and is skipped.
    fn named(
        &mut self,
        stretch: &MatBytes,
        element: &MatElement,
    ) -> Result<Option<Variable>, ReadError> {
        if element.len == 0 {
            return Ok(None);
        }
        let place = FilePlace::Byte(element.tag_offset);
        self.budget.spend_variable(place, self.findings)?;
        let (name, value) = self.array(stretch, element, 0)?;
        Ok((!name.is_empty()).then_some(Variable { name, value }))
    }

    fn array(
        &mut self,
        stretch: &MatBytes,
        element: &MatElement,
        depth: usize,
    ) -> Result<(String, Value), ReadError> {
        let place = FilePlace::Byte(element.tag_offset);
        if depth > MAX_DEPTH {
            let found = format!("{depth} levels");
            let expected = format!("at most {MAX_DEPTH}");
            return Err(self.findings.refusal(place, "nesting", found, expected));
        }
        self.budget.spend_value(place, self.findings)?;
        let mut inside = MatBytes {
            bytes: stretch.bytes.clone(),
            at: element.offset,
            end: element.offset + element.len,
        };
        if element.len == 0 {
            // The short way to write [].
            return Ok((String::new(), self.empty(&inside)));
        }
        let flags = self.flags(&mut inside)?;
        if flags.0 == 17 {
            let name = self.name(&mut inside)?;
            let class = "object".to_owned();
            return Ok((name, Value::Other { class }));
        }
        let head = ArrayHead {
            class: flags.0,
            is_complex: flags.1 & 0x08 != 0,
            is_logical: flags.1 & 0x02 != 0,
            shape: self.shape(&mut inside)?,
            name: self.name(&mut inside)?,
        };
        let value = match head.class {
            1 => self.cell(&head, &mut inside, depth)?,
            2 => self.structure(&head, &mut inside, depth)?,
            3 => {
                self.next(&mut inside)?;
                self.structure(&head, &mut inside, depth)?
            }
            4 => self.text(&head, &mut inside)?,
            5 => self.sparse(&head, &mut inside)?,
            6..=15 => self.numeric(&head, &mut inside)?,
            16 => Value::Other {
                class: "function handle".to_owned(),
            },
            other => {
                let expected = "1 to 17";
                return Err(self
                    .findings
                    .refusal(place, "class of array", other, expected));
            }
        };
        Ok((head.name, value))
    }

    fn empty(&self, stretch: &MatBytes) -> Value {
        Value::Numeric(Numeric {
            shape: vec![0, 0],
            real: Stored {
                bytes: stretch.bytes.clone(),
                offset: stretch.at,
                number: Number::Float64,
                is_big_endian: self.is_big_endian,
            },
            is_complex: false,
            is_logical: false,
            is_row_major: false,
        })
    }

    /// Class and flag bits.
    fn flags(&self, stretch: &mut MatBytes) -> Result<(u8, u8), ReadError> {
        let element = self.next(stretch)?;
        if element.kind != MI_UINT32 || element.len != 8 {
            return Err(self.findings.refusal(
                FilePlace::Byte(element.tag_offset),
                "array flags",
                format!("type {}, {} bytes", element.kind, element.len),
                "type 6, 8 bytes",
            ));
        }
        let word = self.word(&stretch.bytes.read_range(element.offset, 4)?);
        Ok(((word & 0xff) as u8, (word >> 8 & 0xff) as u8))
    }

    /// Size along each axis, whose product fits in memory numbers.
    fn shape(&self, stretch: &mut MatBytes) -> Result<Vec<usize>, ReadError> {
        let element = self.next(stretch)?;
        let place = FilePlace::Byte(element.tag_offset);
        let known = matches!(element.kind, MI_INT32 | MI_UINT32);
        if !known || element.len < 4 || element.len % 4 != 0 || element.len / 4 > MAX_AXES {
            return Err(self.findings.refusal(
                place,
                "dimensions",
                format!("type {}, {} bytes", element.kind, element.len),
                format!("type 5, 1 to {MAX_AXES} numbers of 4 bytes"),
            ));
        }
        let stored = stretch.bytes.read_range(element.offset, element.len)?;
        let words: Vec<u32> = stored.chunks_exact(4).map(|word| self.word(word)).collect();
        let mut shape: Vec<usize> = Vec::with_capacity(words.len());
        for word in words {
            match i32::try_from(word)
                .ok()
                .and_then(|size| usize::try_from(size).ok())
            {
                Some(size) => shape.push(size),
                None => {
                    let found = word.cast_signed();
                    return Err(self
                        .findings
                        .refusal(place, "dimension", found, "0 or more"));
                }
            }
        }
        let product = shape
            .iter()
            .try_fold(1_usize, |p, &size| p.checked_mul(size));
        if product.is_none() {
            let found = format!("{shape:?}");
            return Err(self
                .findings
                .refusal(place, "dimensions", found, "a possible size"));
        }
        Ok(shape)
    }

    fn name(&mut self, stretch: &mut MatBytes) -> Result<String, ReadError> {
        let element = self.next(stretch)?;
        let place = FilePlace::Byte(element.tag_offset);
        if !matches!(element.kind, MI_INT8 | MI_UINT8 | MI_UTF8) || element.len > 4096 {
            return Err(self.findings.refusal(
                place,
                "array name",
                format!("type {}, {} bytes", element.kind, element.len),
                "type 1, at most 4096 bytes",
            ));
        }
        let bytes = stretch.bytes.read_range(element.offset, element.len)?;
        let name = decode(&bytes);
        if element.kind != MI_INT8 || !bytes.is_ascii() {
            let found = format!("{} of type {}", quoted(&name), element.kind);
            self.findings.breach(
                place,
                "array name",
                found,
                "ASCII of type 1",
                "kept as it is",
            )?;
        }
        Ok(name)
    }

    fn numeric(&self, head: &ArrayHead, stretch: &mut MatBytes) -> Result<Value, ReadError> {
        let len = product(&head.shape);
        let real = self.numbers(len, stretch)?;
        if head.is_complex {
            self.numbers(len, stretch)?;
        }
        Ok(Value::Numeric(Numeric {
            shape: head.shape.clone(),
            real,
            is_complex: head.is_complex,
            is_logical: head.is_logical,
            is_row_major: false,
        }))
    }

    /// An element of exactly `len` numbers.
    fn numbers(&self, len: usize, stretch: &mut MatBytes) -> Result<Stored, ReadError> {
        let (stored, n_stored) = self.any_numbers(stretch)?;
        if n_stored == len as u64 {
            return Ok(stored);
        }
        Err(self.findings.refusal(
            FilePlace::Byte(stored.offset),
            "number of values",
            n_stored,
            format!("{len}, the product of the dimensions"),
        ))
    }

    /// An element of numbers, and how many there are.
    fn any_numbers(&self, stretch: &mut MatBytes) -> Result<(Stored, u64), ReadError> {
        let element = self.next(stretch)?;
        let Some(number) = number_type(element.kind) else {
            return Err(self.findings.refusal(
                FilePlace::Byte(element.tag_offset),
                "type of numbers",
                element.kind,
                "1 to 7, 9, 12 or 13",
            ));
        };
        let stored = Stored {
            bytes: stretch.bytes.clone(),
            offset: element.offset,
            number,
            is_big_endian: self.is_big_endian,
        };
        Ok((stored, element.len / number.bytes() as u64))
    }

    fn sparse(&mut self, head: &ArrayHead, stretch: &mut MatBytes) -> Result<Value, ReadError> {
        let place = FilePlace::Byte(stretch.at);
        let [n_rows, n_columns] = head.shape[..] else {
            let found = head.shape.len();
            return Err(self
                .findings
                .refusal(place, "axes of a sparse matrix", found, 2));
        };
        let rows = self.few_numbers(stretch)?;
        let starts = self.few_numbers(stretch)?;
        let values = self.sparse_values(head.is_logical, rows.len(), stretch)?;
        match Sparse::from_columns([n_rows, n_columns], &rows, &starts, &values) {
            Some(sparse) => Ok(Value::Sparse(sparse)),
            None => {
                let found = "entries outside or twice";
                let expected = format!("entries within {n_rows} × {n_columns}, each once");
                Err(self
                    .findings
                    .refusal(place, "sparse matrix", found, expected))
            }
        }
    }

    /// Truth values of a sparse matrix are bytes, though their tag says numbers of 8 bytes.
    fn sparse_values(
        &mut self,
        is_logical: bool,
        n_entries: usize,
        stretch: &mut MatBytes,
    ) -> Result<Vec<f64>, ReadError> {
        let at = stretch.at;
        let element = self.next(stretch)?;
        if is_logical && element.kind == 9 && element.len / 8 < n_entries as u64 {
            let place = FilePlace::Byte(element.offset);
            self.budget
                .spend(element.len.saturating_mul(24), place, self.findings)?;
            let bytes = stretch.bytes.read_range(element.offset, element.len)?;
            return Ok(bytes.into_iter().map(f64::from).collect());
        }
        stretch.at = at;
        self.few_numbers(stretch)
    }

    /// All numbers of an element, paid for as f64.
    fn few_numbers(&mut self, stretch: &mut MatBytes) -> Result<Vec<f64>, ReadError> {
        let (stored, n_stored) = self.any_numbers(stretch)?;
        let place = FilePlace::Byte(stored.offset);
        self.budget
            .spend(n_stored.saturating_mul(24), place, self.findings)?;
        let mut values = vec![0.0; n_stored as usize];
        stored.read(0, 1, &mut values)?;
        Ok(values)
    }

    fn text(&mut self, head: &ArrayHead, stretch: &mut MatBytes) -> Result<Value, ReadError> {
        let shape = head.shape.clone();
        let len = product(&shape);
        if len == 0 {
            return Ok(Value::Text {
                shape,
                rows: Vec::new(),
            });
        }
        let element = self.next(stretch)?;
        let place = FilePlace::Byte(element.tag_offset);
        let n_rows = shape.first().copied().unwrap_or(1);
        // Each letter becomes up to 4 bytes, twice while it is put into rows.
        let letters_bytes = element.len.saturating_mul(12);
        let rows_bytes = (n_rows as u64).min(element.len) * 48;
        self.budget.spend(
            letters_bytes.saturating_add(rows_bytes),
            place,
            self.findings,
        )?;
        let bytes = stretch.bytes.read_range(element.offset, element.len)?;
        let letters: Vec<char> = match element.kind {
            MI_UINT16 | MI_UTF16 => {
                let units = bytes.chunks_exact(2).map(|pair| match self.is_big_endian {
                    true => u16::from_be_bytes([pair[0], pair[1]]),
                    false => u16::from_le_bytes([pair[0], pair[1]]),
                });
                char::decode_utf16(units)
                    .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect()
            }
            MI_UTF32 => bytes
                .chunks_exact(4)
                .map(|word| char::from_u32(self.word(word)).unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect(),
            MI_INT8 | MI_UINT8 => bytes.iter().map(|&byte| char::from(byte)).collect(),
            MI_UTF8 => {
                if std::str::from_utf8(&bytes).is_err() {
                    let found = "bytes that are not UTF-8";
                    self.findings
                        .breach(place, "text", found, "UTF-8", "read as Latin-1")?;
                }
                decode(&bytes).chars().collect()
            }
            other => {
                let expected = "4, or 16 to 18";
                return Err(self
                    .findings
                    .refusal(place, "type of text", other, expected));
            }
        };
        Ok(Value::Text {
            rows: rows_of(&letters, n_rows),
            shape,
        })
    }

    fn cell(
        &mut self,
        head: &ArrayHead,
        stretch: &mut MatBytes,
        depth: usize,
    ) -> Result<Value, ReadError> {
        let len = product(&head.shape);
        Ok(Value::Cell {
            shape: head.shape.clone(),
            items: self.items(len, stretch, depth)?,
        })
    }

    /// Arrays without a name.
    fn items(
        &mut self,
        len: usize,
        stretch: &mut MatBytes,
        depth: usize,
    ) -> Result<Vec<Value>, ReadError> {
        self.check_room(len, stretch)?;
        (0..len).map(|_| self.item(stretch, depth)).collect()
    }

    /// Each item has a tag of 8 bytes at least.
    fn check_room(&self, n_items: usize, stretch: &MatBytes) -> Result<(), ReadError> {
        let room = (stretch.end - stretch.at) / 8;
        if n_items as u64 <= room {
            return Ok(());
        }
        let place = FilePlace::Byte(stretch.at);
        let expected = format!("at most {room}, for which there is room");
        Err(self
            .findings
            .refusal(place, "number of items", n_items, expected))
    }

    fn item(&mut self, stretch: &mut MatBytes, depth: usize) -> Result<Value, ReadError> {
        let element = self.next(stretch)?;
        if element.kind != MI_MATRIX {
            let place = FilePlace::Byte(element.tag_offset);
            let expected = "14, an array";
            return Err(self
                .findings
                .refusal(place, "type of item", element.kind, expected));
        }
        Ok(self.array(stretch, &element, depth + 1)?.1)
    }

    fn structure(
        &mut self,
        head: &ArrayHead,
        stretch: &mut MatBytes,
        depth: usize,
    ) -> Result<Value, ReadError> {
        let names = self.field_names(stretch)?;
        let n_structs = product(&head.shape);
        self.check_room(n_structs.saturating_mul(names.len()), stretch)?;
        let mut fields: Vec<(String, Vec<Value>)> =
            names.into_iter().map(|name| (name, Vec::new())).collect();
        // All fields of the first struct, then of the second, …
        let n_rounds = if fields.is_empty() { 0 } else { n_structs };
        for _ in 0..n_rounds {
            for (_, values) in &mut fields {
                values.push(self.item(stretch, depth)?);
            }
        }
        Ok(Value::Struct {
            shape: head.shape.clone(),
            fields,
        })
    }

    /// Names of equal width, ended by zeros.
    fn field_names(&mut self, stretch: &mut MatBytes) -> Result<Vec<String>, ReadError> {
        let element = self.next(stretch)?;
        let place = FilePlace::Byte(element.tag_offset);
        let width = match element.len {
            4 => self.word(&stretch.bytes.read_range(element.offset, 4)?) as usize,
            _ => 0,
        };
        let names = self.next(stretch)?;
        if names.len == 0 {
            return Ok(Vec::new());
        }
        if width == 0 || width > 4096 {
            return Err(self
                .findings
                .refusal(place, "width of field names", width, "1 to 4096"));
        }
        let n_names = names.len / width as u64;
        self.budget
            .spend(n_names.saturating_mul(128), place, self.findings)?;
        let bytes = stretch.bytes.read_range(names.offset, names.len)?;
        let mut list: Vec<String> = Vec::new();
        let mut known = BTreeSet::new();
        for name in bytes.chunks_exact(width) {
            let end = name.iter().position(|&byte| byte == 0).unwrap_or(width);
            let mut name = decode(&name[..end]);
            if !known.insert(name.clone()) {
                let found = quoted(&name);
                name = format!("{name}_{}", list.len() + 1);
                let assumed = format!("called {}", quoted(&name));
                self.findings
                    .breach(place, "field name", found, "a name of its own", assumed)?;
            }
            list.push(name);
        }
        Ok(list)
    }
}

fn product(shape: &[usize]) -> usize {
    shape.iter().product()
}

fn number_type(kind: u32) -> Option<Number> {
    Some(match kind {
        MI_INT8 => Number::Int8,
        MI_UINT8 => Number::Uint8,
        3 => Number::Int16,
        MI_UINT16 => Number::Uint16,
        MI_INT32 => Number::Int32,
        MI_UINT32 => Number::Uint32,
        7 => Number::Float32,
        9 => Number::Float64,
        12 => Number::Int64,
        13 => Number::Uint64,
        _ => return None,
    })
}

/// Letters in column-major order, as rows.
pub(super) fn rows_of(letters: &[char], n_rows: usize) -> Vec<String> {
    let n_rows = n_rows.clamp(1, letters.len().max(1));
    (0..n_rows)
        .map(|row| letters.iter().skip(row).step_by(n_rows).collect())
        .collect()
}
