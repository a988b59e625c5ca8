//! What is left of a value when its long arrays are taken out.

use safetensors::Dtype;
use serde::{Deserialize, Serialize};

/// A value of serde's data model.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Tree {
    /// `()` or a unit struct.
    Unit,
    /// A truth value, an integer or a float.
    Number(Kind, u64),
    /// A string or a character.
    Text(String),
    /// `None`.
    Absent,
    /// `Some`.
    Present(Box<Tree>),
    /// A sequence or tuple, also of a tuple variant.
    Sequence(Vec<Tree>),
    /// The fields of a struct or struct variant.
    Fields(Vec<(String, Tree)>),
    /// A map.
    Map(Vec<(Tree, Tree)>),
    /// A variant of an enum; a unit variant holds [`Tree::Unit`].
    Variant(String, Box<Tree>),
    /// A sequence of numbers, by the name of its array.
    Array(String),
}

/// How the 64 bits of a number are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    /// 0 or 1.
    Flag,
    /// Two's complement.
    Signed,
    /// As it stands.
    Unsigned,
    /// IEEE 754; as bits, because JSON has neither NaN nor infinity.
    Float,
}

impl Kind {
    /// Bytes of one number in the file.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Flag => 1,
            Self::Signed | Self::Unsigned | Self::Float => 8,
        }
    }

    /// The kind in the file.
    pub(super) fn dtype(self) -> Dtype {
        match self {
            Self::Flag => Dtype::BOOL,
            Self::Signed => Dtype::I64,
            Self::Unsigned => Dtype::U64,
            Self::Float => Dtype::F64,
        }
    }

    /// The kind of an array in the file, if it is one of ours.
    pub(super) fn of_dtype(dtype: Dtype) -> Option<Self> {
        [Self::Flag, Self::Signed, Self::Unsigned, Self::Float]
            .into_iter()
            .find(|kind| kind.dtype() == dtype)
    }
}
