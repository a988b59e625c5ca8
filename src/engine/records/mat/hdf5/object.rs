//! Object headers of HDF5: the messages that describe a group or an array.

use super::super::super::text::decode;
use super::super::super::{FilePlace, ReadError};
use super::dataset::datatype_of;
use super::{Hdf5, NOWHERE, number};

/// Most pieces in which a header is stored.
const MAX_PIECES: usize = 64;

/// A message of an object header.
pub(super) struct Message {
    pub(super) kind: u64,
    pub(super) data: Vec<u8>,
    /// Where the data lie in the file.
    pub(super) at: u64,
}

/// A group or an array.
pub(in super::super) struct Object {
    pub(super) messages: Vec<Message>,
}

/// The value of an attribute, as far as MATLAB's own are needed.
#[derive(Debug, Clone, PartialEq)]
enum Attribute {
    Text(String),
    Number(u64),
}

impl Object {
    pub(super) fn message(&self, kind: u64) -> Option<&Message> {
        self.messages.iter().find(|message| message.kind == kind)
    }

    /// The attribute called `name`.
    fn attribute(&self, name: &str) -> Option<Attribute> {
        let attributes = self.messages.iter().filter(|message| message.kind == 0x0c);
        attributes
            .filter_map(|message| parse_attribute(&message.data))
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// Whether there is no attribute of that name.
    pub(in super::super) fn attribute_is_missing(&self, name: &str) -> bool {
        self.attribute(name).is_none()
    }

    /// The attribute called `name`, if it is a text.
    pub(in super::super) fn text_attribute(&self, name: &str) -> Option<String> {
        match self.attribute(name)? {
            Attribute::Text(text) => Some(text),
            Attribute::Number(_) => None,
        }
    }

    /// The attribute called `name`, if it is a number.
    pub(in super::super) fn number_attribute(&self, name: &str) -> Option<u64> {
        match self.attribute(name)? {
            Attribute::Number(number) => Some(number),
            Attribute::Text(_) => None,
        }
    }
}

impl Hdf5<'_> {
    /// Reads the header at an address.
    pub(in super::super) fn object(&mut self, address: u64) -> Result<Object, ReadError> {
        if address == NOWHERE {
            return Err(self.refusal(
                0,
                "address of an object",
                "undefined",
                "a place in the file",
            ));
        }
        let at = self.place(address)?;
        let start = self.read(at, 16.min(self.bytes.len() - at))?;
        let is_new = start.starts_with(b"OHDR");
        let (first, layout) = if is_new {
            self.new_header(at, &start)?
        } else {
            self.old_header(at, &start)?
        };
        let mut object = Object {
            messages: Vec::new(),
        };
        let mut pieces = vec![first];
        let mut n_pieces = 0;
        while let Some((at, len)) = pieces.pop() {
            n_pieces += 1;
            if n_pieces > MAX_PIECES {
                let expected = format!("at most {MAX_PIECES}");
                return Err(self.refusal(at, "pieces of an object header", n_pieces, expected));
            }
            self.budget.spend(len, FilePlace::Byte(at), self.findings)?;
            let piece = self.read(at, len)?;
            self.take_messages(&piece, at, layout, &mut object, &mut pieces)?;
        }
        Ok(object)
    }

    /// Version 1: 16 bytes, then messages.
    fn old_header(&self, at: u64, start: &[u8]) -> Result<((u64, u64), MessageLayout), ReadError> {
        let version = start.first().copied().unwrap_or(0);
        match (version, number(start, 8, 4)) {
            (1, Some(len)) => Ok(((at + 16, len), MessageLayout::Old)),
            _ => Err(self.refusal(at, "version of an object header", version, "1 or 2")),
        }
    }

    /// Version 2: `OHDR`, flags that tell what follows, messages, a sum.
    fn new_header(&self, at: u64, start: &[u8]) -> Result<((u64, u64), MessageLayout), ReadError> {
        let flags = start.get(5).copied().unwrap_or(0);
        let times = if flags & 0x20 != 0 { 16 } else { 0 };
        let phase = if flags & 0x10 != 0 { 4 } else { 0 };
        let width = 1_u64 << (flags & 3);
        let size_at = at + 6 + times + phase;
        let size = self.read(size_at, width)?;
        let len = number(&size, 0, width as usize).unwrap_or(0);
        let has_order = flags & 0x04 != 0;
        Ok(((size_at + width, len), MessageLayout::New { has_order }))
    }

    fn take_messages(
        &self,
        piece: &[u8],
        at: u64,
        layout: MessageLayout,
        object: &mut Object,
        pieces: &mut Vec<(u64, u64)>,
    ) -> Result<(), ReadError> {
        let (kind_width, prefix) = match layout {
            MessageLayout::Old => (2, 8),
            MessageLayout::New { has_order: false } => (1, 4),
            MessageLayout::New { has_order: true } => (1, 6),
        };
        let mut position = 0;
        while position + prefix <= piece.len() {
            let kind = number(piece, position, kind_width).unwrap_or(0);
            let len = number(piece, position + kind_width, 2).unwrap_or(0) as usize;
            let start = position + prefix;
            let Some(data) = piece.get(start..start + len) else {
                // What is left of a new header is padding.
                break;
            };
            let message_at = at + start as u64;
            if kind == 0x10 {
                pieces.push(self.continuation(data, message_at, layout)?);
            } else if kind != 0 {
                object.messages.push(Message {
                    kind,
                    data: data.to_vec(),
                    at: message_at,
                });
            }
            position = start + len;
        }
        Ok(())
    }

    /// Where a header continues.
    fn continuation(
        &self,
        data: &[u8],
        at: u64,
        layout: MessageLayout,
    ) -> Result<(u64, u64), ReadError> {
        let (Some(address), Some(len)) = (number(data, 0, 8), number(data, 8, 8)) else {
            return Err(self.refusal(at, "continuation of a header", "cut short", "16 bytes"));
        };
        let place = self.place(address)?;
        Ok(match layout {
            MessageLayout::Old => (place, len),
            // `OCHK` before, a sum behind.
            MessageLayout::New { .. } => (place + 4, len.saturating_sub(8)),
        })
    }
}

/// How messages are laid out.
#[derive(Debug, Clone, Copy)]
enum MessageLayout {
    Old,
    New { has_order: bool },
}

/// Name and value; only texts and whole numbers are of use here.
fn parse_attribute(data: &[u8]) -> Option<(String, Attribute)> {
    let version = *data.first()?;
    let sizes = [
        number(data, 2, 2)?,
        number(data, 4, 2)?,
        number(data, 6, 2)?,
    ];
    let padded = |size: u64| match version {
        1 => size.next_multiple_of(8) as usize,
        _ => size as usize,
    };
    let name_at = if version == 3 { 9 } else { 8 };
    let type_at = name_at + padded(sizes[0]);
    let space_at = type_at + padded(sizes[1]);
    let value_at = space_at + padded(sizes[2]);
    let name = data.get(name_at..name_at + sizes[0] as usize)?;
    let name = decode(name.split(|&byte| byte == 0).next()?);
    let datatype = data.get(type_at..space_at)?;
    let class = datatype.first()? & 0x0f;
    let size = number(datatype, 4, 4)? as usize;
    let stored = data.get(value_at..value_at.checked_add(size)?)?;
    let value = match class {
        3 => {
            let text = stored.split(|&byte| byte == 0).next()?;
            Attribute::Text(decode(text).trim().to_owned())
        }
        0 => {
            datatype_of(datatype)?;
            Attribute::Number(number(stored, 0, size)?)
        }
        _ => return None,
    };
    Some((name, value))
}
