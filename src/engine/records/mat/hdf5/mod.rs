//! The part of HDF5 that MATLAB 7.3 files use: groups, attributes, arrays stored whole or in chunks.
//!
//! Written for hostile files: every address and size is checked against the
//! file, lists have a most, and memory comes out of the [`Budget`].
//! Our own reader, because the crates at hand trust sizes in the file or link the C library.
//! <https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html>

mod chunks;
mod dataset;
mod group;
mod object;

pub(super) use dataset::{Element, Hdf5Array};
pub(super) use object::Object;

use super::super::{ByteSource, FilePlace, Findings, ReadError};
use super::budget::Budget;

/// The eight bytes with which the superblock starts.
const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
/// An address that points nowhere.
const NOWHERE: u64 = u64::MAX;

/// Whether a superblock stands at one of the places where it may.
pub(super) fn is_certain(head: &[u8]) -> bool {
    [0, 512]
        .iter()
        .any(|&at| head.get(at..at + 8) == Some(SIGNATURE))
}

/// An open file, and the memory that may still be taken for it.
pub(super) struct Hdf5<'a> {
    pub(super) bytes: &'a ByteSource,
    pub(super) budget: Budget,
    pub(super) findings: &'a mut Findings,
    base: u64,
}

impl<'a> Hdf5<'a> {
    /// Finds the superblock; returns the file and the address of its root group.
    pub(super) fn open(
        bytes: &'a ByteSource,
        findings: &'a mut Findings,
    ) -> Result<(Self, u64), ReadError> {
        let mut file = Self {
            bytes,
            budget: Budget::new(bytes.len()),
            findings,
            base: 0,
        };
        let at = file.find_superblock()?;
        let head = file.read(at + 8, 88.min(bytes.len() - at - 8))?;
        let byte = |position: usize| head.get(position).copied().unwrap_or(0);
        let version = byte(0);
        let (widths, base_at, root_at) = match version {
            0 => ((byte(5), byte(6)), 16, 56),
            1 => ((byte(5), byte(6)), 20, 60),
            2 | 3 => ((byte(1), byte(2)), 4, 28),
            _ => return Err(file.refusal(at + 8, "superblock version", version, "0 to 3")),
        };
        if widths != (8, 8) {
            let found = format!("{} and {} bytes", widths.0, widths.1);
            return Err(file.refusal(at, "width of addresses and lengths", found, "8 and 8 bytes"));
        }
        let (Some(base), Some(root)) = (number(&head, base_at, 8), number(&head, root_at, 8))
        else {
            return Err(file.refusal(at, "superblock", "cut short", "at least 96 bytes"));
        };
        file.base = base;
        Ok((file, root))
    }

    fn find_superblock(&self) -> Result<u64, ReadError> {
        let mut at = 0;
        while at + 96 <= self.bytes.len() {
            if self.read(at, 8)? == SIGNATURE {
                return Ok(at);
            }
            at = if at == 0 { 512 } else { at * 2 };
        }
        Err(self.refusal(0, "HDF5 superblock", "missing", "at byte 0, 512, 1024, …"))
    }

    /// Bytes at a place of the file.
    fn read(&self, at: u64, len: u64) -> Result<Vec<u8>, ReadError> {
        self.bytes.read_range(at, len)
    }

    /// The place of an address, which counts from the base.
    fn place(&self, address: u64) -> Result<u64, ReadError> {
        let place = self
            .base
            .checked_add(address)
            .filter(|&place| place < self.bytes.len());
        place.ok_or_else(|| {
            self.refusal(
                self.base,
                "address",
                address,
                format!("less than {}", self.bytes.len()),
            )
        })
    }

    /// Bytes at an address.
    fn read_address(&self, address: u64, len: u64) -> Result<Vec<u8>, ReadError> {
        self.read(self.place(address)?, len)
    }

    fn refusal(
        &self,
        at: u64,
        field: &str,
        found: impl std::fmt::Display,
        expected: impl std::fmt::Display,
    ) -> ReadError {
        self.findings
            .refusal(FilePlace::Byte(at), field, found, expected)
    }

    fn unsupported(&self, what: String) -> ReadError {
        ReadError::Unsupported {
            path: self.bytes.path().to_owned(),
            what,
            remedy: "save it again with MATLAB as -v7 or -v7.3".to_owned(),
        }
    }
}

/// A little-endian number of up to 8 bytes.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let stored = bytes.get(at..at.checked_add(width)?)?;
    let low_first = stored.iter().rev();
    Some(low_first.fold(0, |value, &byte| value << 8 | u64::from(byte)))
}
