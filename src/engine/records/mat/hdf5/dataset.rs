//! Arrays of HDF5: what their elements are, their shape, and where they are stored.

use super::super::super::{ByteSource, FilePlace, Number, ReadError, Stored};
use super::chunks::{Chunked, Filter};
use super::object::Object;
use super::{Hdf5, NOWHERE, number};

/// What an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Element {
    /// A number.
    Number { number: Number, is_big_endian: bool },
    /// Two numbers of the same type: real and imaginary part.
    Complex { number: Number, is_big_endian: bool },
    /// The address of an object.
    Reference,
}

impl Element {
    fn bytes(self) -> u64 {
        match self {
            Self::Number { number, .. } => number.bytes() as u64,
            Self::Complex { number, .. } => 2 * number.bytes() as u64,
            Self::Reference => 8,
        }
    }
}

/// An array: its elements lie one after the other at `offset` of `bytes`.
pub(in super::super) struct Dataset {
    /// Size along each axis, the last one changing fastest.
    pub(in super::super) shape: Vec<usize>,
    pub(in super::super) element: Element,
    bytes: ByteSource,
    offset: u64,
}

impl Dataset {
    pub(in super::super) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The numbers where they are stored; `None` if the elements are no plain numbers.
    pub(in super::super) fn stored(&self) -> Option<Stored> {
        match self.element {
            Element::Number {
                number,
                is_big_endian,
            } => Some(Stored {
                bytes: self.bytes.clone(),
                offset: self.offset,
                number,
                is_big_endian,
            }),
            _ => None,
        }
    }

    /// All elements as stored.
    pub(in super::super) fn raw(&self) -> Result<Vec<u8>, ReadError> {
        let len = self.len() as u64 * self.element.bytes();
        self.bytes.read_range(self.offset, len)
    }
}

/// The type that a datatype message describes; `None` for kinds that are not read.
pub(super) fn datatype_of(message: &[u8]) -> Option<Element> {
    let class = message.first()? & 0x0f;
    let version = message.first()? >> 4;
    let flags = *message.get(1)?;
    let size = number(message, 4, 4)?;
    let is_big_endian = flags & 1 != 0;
    let plain = |number| {
        Some(Element::Number {
            number,
            is_big_endian,
        })
    };
    let is_signed = flags & 0x08 != 0;
    match (class, size, is_signed) {
        (0, 1, true) => plain(Number::Int8),
        (0, 1, false) => plain(Number::Uint8),
        (0, 2, true) => plain(Number::Int16),
        (0, 2, false) => plain(Number::Uint16),
        (0, 4, true) => plain(Number::Int32),
        (0, 4, false) => plain(Number::Uint32),
        (0, 8, true) => plain(Number::Int64),
        (0, 8, false) => plain(Number::Uint64),
        // Five bits of exponent; the other sort of 16 bits has eight.
        (1, 2, _) if message.get(13) == Some(&5) => plain(Number::Float16),
        (1, 4, _) => plain(Number::Float32),
        (1, 8, _) => plain(Number::Float64),
        (6, ..) => complex(message, version, size),
        (7, 8, _) => Some(Element::Reference),
        // An enumeration is stored as the numbers of its base type, which comes first.
        (8, ..) => datatype_of(message.get(8..)?),
        _ => None,
    }
}

/// A compound of two numbers of the same type.
fn complex(message: &[u8], version: u8, size: u64) -> Option<Element> {
    let n_members = number(message, 1, 2)?;
    let name = message.get(8..)?;
    let name_bytes = name.iter().position(|&byte| byte == 0)? + 1;
    let type_at = match version {
        // Name padded to 8, offset, and in version 1 the sizes of an array member.
        1 => 8 + name_bytes.next_multiple_of(8) + 32,
        2 => 8 + name_bytes.next_multiple_of(8) + 4,
        3 => 8 + name_bytes + offset_width(size),
        _ => return None,
    };
    match datatype_of(message.get(type_at..)?)? {
        Element::Number {
            number,
            is_big_endian,
        } if n_members == 2 && size == 2 * number.bytes() as u64 => Some(Element::Complex {
            number,
            is_big_endian,
        }),
        _ => None,
    }
}

/// Bytes that the offset of a member takes in version 3.
fn offset_width(size: u64) -> usize {
    (1..8).find(|&width| size < 1 << (8 * width)).unwrap_or(8)
}

impl Hdf5<'_> {
    /// The array that an object is; `None` if it is none, or of elements that are not read.
    pub(in super::super) fn dataset(
        &mut self,
        object: &Object,
    ) -> Result<Option<Dataset>, ReadError> {
        let (Some(space), Some(datatype), Some(layout)) = (
            object.message(0x01),
            object.message(0x03),
            object.message(0x08),
        ) else {
            return Ok(None);
        };
        let Some(element) = datatype_of(&datatype.data) else {
            return Ok(None);
        };
        let Some(shape) = parse_shape(&space.data) else {
            return Err(self.refusal(space.at, "shape of an array", "damaged", "a possible size"));
        };
        let len = shape
            .iter()
            .try_fold(element.bytes(), |p, &n| p.checked_mul(n as u64));
        let Some(len) = len else {
            let found = format!("{shape:?}");
            return Err(self.refusal(space.at, "shape of an array", found, "a possible size"));
        };
        let filters = match object.message(0x0b) {
            Some(message) => self.filters(&message.data, message.at)?,
            None => Vec::new(),
        };
        let (bytes, offset) = self.locate(
            &layout.data,
            layout.at,
            &shape,
            element.bytes(),
            len,
            filters,
        )?;
        Ok(Some(Dataset {
            shape,
            element,
            bytes,
            offset,
        }))
    }

    /// Where the elements lie: in the file itself, or in memory if they were in chunks.
    fn locate(
        &mut self,
        layout: &[u8],
        at: u64,
        shape: &[usize],
        element_bytes: u64,
        len: u64,
        filters: Vec<Filter>,
    ) -> Result<(ByteSource, u64), ReadError> {
        let version = layout.first().copied().unwrap_or(0);
        let byte = |position: usize| layout.get(position).copied().unwrap_or(0);
        let word = |position: usize, width: usize| number(layout, position, width);
        let class = if version <= 2 { byte(2) } else { byte(1) };
        match (version, class) {
            (1 | 2, 0) => {
                let n_axes = usize::from(byte(1));
                self.within(self.bytes.clone(), at + 12 + 4 * n_axes as u64, len, at)
            }
            (3 | 4, 0) => self.within(self.bytes.clone(), at + 4, len, at),
            (1 | 2, 1) => self.contiguous(word(8, 8), len, at),
            (3 | 4, 1) => self.contiguous(word(2, 8), len, at),
            (1 | 2, 2) | (3, 2) => {
                // Rank + 1 sizes; the last is that of an element.
                let (n_sizes, tree_at) = match version {
                    3 => (usize::from(byte(2)), 3),
                    _ => (usize::from(byte(1)), 8),
                };
                let sizes: Option<Vec<u64>> =
                    (0..n_sizes).map(|k| word(tree_at + 8 + 4 * k, 4)).collect();
                let (Some(tree), Some(mut sizes)) = (word(tree_at, 8), sizes) else {
                    return Err(self.refusal(at, "layout of an array", "cut short", "chunk sizes"));
                };
                if n_sizes != shape.len() + 1 {
                    let expected = shape.len() + 1;
                    return Err(self.refusal(at, "sizes of a chunk", n_sizes, expected));
                }
                sizes.pop();
                let chunked = Chunked {
                    shape: shape.to_vec(),
                    chunk: sizes,
                    element_bytes,
                    len,
                    filters,
                    at,
                };
                let data = self.read_chunks(&chunked, tree)?;
                Ok((ByteSource::from_bytes(self.bytes.path(), data), 0))
            }
            _ => Err(self.unsupported(format!("HDF5 layout {class} of version {version}"))),
        }
    }

    fn contiguous(
        &self,
        address: Option<u64>,
        len: u64,
        at: u64,
    ) -> Result<(ByteSource, u64), ReadError> {
        let Some(address) = address else {
            return Err(self.refusal(at, "layout of an array", "cut short", "an address"));
        };
        if len == 0 {
            return Ok((self.bytes.clone(), 0));
        }
        if address == NOWHERE {
            return Err(self.refusal(at, "address of an array", "undefined", "stored values"));
        }
        self.within(self.bytes.clone(), self.place(address)?, len, at)
    }

    fn within(
        &self,
        bytes: ByteSource,
        offset: u64,
        len: u64,
        at: u64,
    ) -> Result<(ByteSource, u64), ReadError> {
        let room = bytes.len().saturating_sub(offset);
        if len > room {
            let found = format!("{len} bytes");
            let expected = format!("at most {room}, the bytes that follow");
            return Err(self.refusal(at, "size of an array", found, expected));
        }
        Ok((bytes, offset))
    }

    fn filters(&self, data: &[u8], at: u64) -> Result<Vec<Filter>, ReadError> {
        let cut_short = || self.refusal(at, "list of filters", "cut short", "whole entries");
        let version = data.first().copied().unwrap_or(0);
        let n_filters = data.get(1).copied().unwrap_or(0);
        let mut position = if version == 1 { 8 } else { 2 };
        let mut filters = Vec::new();
        for _ in 0..n_filters {
            let mut word = || {
                let value = number(data, position, 2);
                position += 2;
                value.ok_or_else(cut_short)
            };
            let id = word()?;
            // Version 2 leaves the name out where the number says enough.
            let name_bytes = if version == 1 || id >= 256 {
                word()?
            } else {
                0
            };
            let _flags = word()?;
            let n_values = word()?;
            let padded = if version == 1 {
                name_bytes.next_multiple_of(8)
            } else {
                name_bytes
            };
            position += padded as usize + 4 * n_values as usize;
            if version == 1 && n_values % 2 == 1 {
                position += 4;
            }
            filters.push(match id {
                1 => Filter::Deflate,
                2 => Filter::Shuffle,
                3 => Filter::Fletcher32,
                _ => return Err(self.unsupported(format!("HDF5 filter {id}"))),
            });
        }
        Ok(filters)
    }

    /// Pays for bytes that are about to be taken.
    pub(in super::super) fn spend(&mut self, len: u64, at: u64) -> Result<(), ReadError> {
        self.budget.spend(len, FilePlace::Byte(at), self.findings)
    }
}

/// Size along each axis.
fn parse_shape(message: &[u8]) -> Option<Vec<usize>> {
    let version = *message.first()?;
    let n_axes = usize::from(*message.get(1)?);
    let start = match version {
        1 => 8,
        // Type 2 is the space without any element.
        2 if *message.get(3)? == 2 => return Some(vec![0]),
        2 => 4,
        _ => return None,
    };
    if n_axes > 32 {
        return None;
    }
    (0..n_axes)
        .map(|axis| usize::try_from(number(message, start + 8 * axis, 8)?).ok())
        .collect()
}
