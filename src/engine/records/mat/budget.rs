//! How much memory the contents of a file may take.

use super::super::{FilePlace, Findings, ReadError};

/// Bytes of bookkeeping for one value of the tree, names and shape included.
const VALUE_BYTES: u64 = 224;

/// Memory left: a few times the file, and some for small files that are well compressed.
#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
}

impl Budget {
    pub(super) fn new(file_bytes: u64) -> Self {
        Self {
            left: file_bytes.saturating_mul(7).saturating_add(52 << 20),
        }
    }

    pub(super) fn spend(
        &mut self,
        bytes: u64,
        place: FilePlace,
        findings: &Findings,
    ) -> Result<(), ReadError> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(findings.refusal(
                place,
                "size of the contents",
                "many times that of the file",
                "contents in proportion to the file; save it uncompressed",
            )),
        }
    }

    /// A variable is listed by name and shape besides its value.
    pub(super) fn spend_variable(
        &mut self,
        place: FilePlace,
        findings: &Findings,
    ) -> Result<(), ReadError> {
        self.spend(VALUE_BYTES, place, findings)
    }

    pub(super) fn spend_value(
        &mut self,
        place: FilePlace,
        findings: &Findings,
    ) -> Result<(), ReadError> {
        self.spend(VALUE_BYTES, place, findings)
    }
}
