//! Long lists of numbers: plain lists in text, bytes with the tag of their type (RFC 8746) in
//! files for machines. For `#[serde(with = "packed")]`.

use std::fmt;
use std::marker::PhantomData;

use ciborium::Value;
use ciborium::tag::Captured;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// A number that can be packed.
pub(crate) trait Packed: Copy {
    /// The tag of a list of such numbers, little-endian.
    const TAG: u64;
    /// Bytes of one.
    const WIDTH: usize;
    /// Appends the bytes of the number.
    fn put(self, bytes: &mut Vec<u8>);
    /// The number of so many bytes.
    fn get(bytes: &[u8]) -> Option<Self>;
}

macro_rules! packed {
    ($($number:ty as $stored:ty: $tag:literal),*) => {$(
        impl Packed for $number {
            const TAG: u64 = $tag;
            const WIDTH: usize = size_of::<$stored>();

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&(self as $stored).to_le_bytes());
            }

            fn get(bytes: &[u8]) -> Option<Self> {
                Self::try_from(<$stored>::from_le_bytes(bytes.try_into().ok()?)).ok()
            }
        }
    )*};
}

packed!(u8 as u8: 64, u32 as u32: 70, u64 as u64: 71, usize as u64: 71, f32 as f32: 85, f64 as f64: 86);

/// Writes the numbers.
pub(crate) fn serialize<T: Packed + Serialize, S: Serializer>(
    numbers: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        return numbers.serialize(serializer);
    }
    let mut bytes = Vec::with_capacity(numbers.len() * T::WIDTH);
    numbers.iter().for_each(|number| number.put(&mut bytes));
    Captured(Some(T::TAG), Value::Bytes(bytes)).serialize(serializer)
}

/// Reads numbers that were written as bytes or as a list.
pub(crate) fn deserialize<'de, T: Packed + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_any(PackedNumbers(PhantomData))
}

struct PackedNumbers<T>(PhantomData<T>);

impl<'de, T: Packed + Deserialize<'de>> Visitor<'de> for PackedNumbers<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element()? {
            numbers.push(number);
        }
        Ok(numbers)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<T>, E> {
        let numbers: Option<Vec<T>> = bytes.chunks(T::WIDTH).map(T::get).collect();
        numbers.ok_or_else(|| E::custom(format!("{} bytes are no such numbers", bytes.len())))
    }
}
