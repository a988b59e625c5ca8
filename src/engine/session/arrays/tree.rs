//! What is left of a value when its long arrays are taken out.

use std::borrow::Cow;

use safetensors::Dtype;
use serde::{Deserialize, Serialize};

use super::columns::Column;

/// A value of serde's data model; its tags are short because there may be many.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Tree {
    /// `()` or a unit struct.
    #[serde(rename = "u")]
    Unit,
    /// A truth value, an integer or a float.
    #[serde(rename = "n")]
    Number(Kind, u64),
    /// A string or a character.
    #[serde(rename = "t")]
    Text(String),
    /// `None`.
    #[serde(rename = "-")]
    Absent,
    /// `Some`.
    #[serde(rename = "+")]
    Present(Box<Tree>),
    /// A sequence or tuple, also of a tuple variant.
    #[serde(rename = "s")]
    Sequence(Vec<Tree>),
    /// The fields of a struct or struct variant.
    #[serde(rename = "f")]
    Fields(Vec<(Cow<'static, str>, Tree)>),
    /// A map.
    #[serde(rename = "m")]
    Map(Vec<(Tree, Tree)>),
    /// A variant of an enum; a unit variant holds [`Tree::Unit`].
    #[serde(rename = "v")]
    Variant(String, Box<Tree>),
    /// A sequence of numbers, by the name of its array.
    #[serde(rename = "a")]
    Array(String),
    /// A long sequence, as columns.
    #[serde(rename = "r")]
    Rows(Column),
}

/// How the bits of a number are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    /// 0 or 1.
    #[serde(rename = "?")]
    Flag,
    /// Two's complement.
    #[serde(rename = "i")]
    Signed,
    /// Up to 8 bits.
    #[serde(rename = "b")]
    Byte,
    /// Up to 32 bits.
    #[serde(rename = "w")]
    Word,
    /// Up to 64 bits.
    #[serde(rename = "u")]
    Unsigned,
    /// IEEE 754 single; as bits, because JSON has neither NaN nor infinity.
    #[serde(rename = "s")]
    Single,
    /// IEEE 754 double, as bits.
    #[serde(rename = "d")]
    Double,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Flag,
        Self::Signed,
        Self::Byte,
        Self::Word,
        Self::Unsigned,
        Self::Single,
        Self::Double,
    ];

    /// Bytes of one number in the file.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Flag | Self::Byte => 1,
            Self::Word | Self::Single => 4,
            Self::Signed | Self::Unsigned | Self::Double => 8,
        }
    }

    /// The kind in the file.
    pub(super) fn dtype(self) -> Dtype {
        match self {
            Self::Flag => Dtype::BOOL,
            Self::Signed => Dtype::I64,
            Self::Byte => Dtype::U8,
            Self::Word => Dtype::U32,
            Self::Unsigned => Dtype::U64,
            Self::Single => Dtype::F32,
            Self::Double => Dtype::F64,
        }
    }

    /// The kind of an array in the file, if it is one of ours.
    pub(super) fn of_dtype(dtype: Dtype) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.dtype() == dtype)
    }
}
