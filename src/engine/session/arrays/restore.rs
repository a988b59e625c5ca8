//! Puts a value together again: a serde deserialiser over a tree and its arrays.

use std::borrow::Cow;

use safetensors::SafeTensors;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::ArraysError;
use super::columns::visit_rows;
use super::tree::{Kind, Tree};

/// A place in the tree.
#[derive(Clone, Copy)]
pub(super) struct Reader<'de> {
    pub(super) tree: &'de Tree,
    pub(super) tensors: &'de SafeTensors<'de>,
}

impl<'de> Reader<'de> {
    pub(super) fn at(self, tree: &'de Tree) -> Self {
        Self { tree, ..self }
    }

    pub(super) fn array(self, name: &str) -> Result<ArrayReader<'de>, ArraysError> {
        let tensor = self
            .tensors
            .tensor(name)
            .map_err(|error| ArraysError::new(error.to_string()))?;
        let kind = Kind::of_dtype(tensor.dtype()).ok_or_else(|| {
            ArraysError::new(format!(
                "array {name:?} has numbers of kind {}, which is never written",
                tensor.dtype()
            ))
        })?;
        Ok(ArrayReader {
            kind,
            numbers: tensor.data().chunks_exact(kind.width()),
        })
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = ArraysError;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArraysError> {
        match self.tree {
            Tree::Unit => visitor.visit_unit(),
            Tree::Number(kind, bits) => Number(*kind, *bits).deserialize_any(visitor),
            Tree::Text(text) => visitor.visit_borrowed_str(text),
            Tree::Absent => visitor.visit_none(),
            Tree::Present(inner) => visitor.visit_some(self.at(inner)),
            Tree::Sequence(elements) => visit_whole(
                ElementReader {
                    place: self,
                    elements: elements.iter(),
                },
                visitor,
            ),
            Tree::Array(name) => visit_whole(self.array(name)?, visitor),
            Tree::Rows(column) => visit_rows(column, self, visitor),
            Tree::Fields(fields) => visitor.visit_map(FieldReader {
                place: self,
                fields: fields.iter(),
                value: None,
            }),
            Tree::Map(entries) => visitor.visit_map(EntryReader {
                place: self,
                entries: entries.iter(),
                value: None,
            }),
            Tree::Variant(name, inner) if matches!(**inner, Tree::Unit) => {
                visitor.visit_borrowed_str(name)
            }
            Tree::Variant(name, inner) => {
                let entry = (name.as_str(), self.at(inner));
                visitor.visit_map(de::value::MapDeserializer::new(std::iter::once(entry)))
            }
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ArraysError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ArraysError> {
        match self.tree {
            Tree::Variant(name, inner) => visitor.visit_enum(VariantReader {
                name,
                inner: self.at(inner),
            }),
            _ => Err(ArraysError::invalid_type(
                Unexpected::Other("a value that is not an enum"),
                &visitor,
            )),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A value that is a nested place can itself be read.
impl<'de> IntoDeserializer<'de, ArraysError> for Reader<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Lets `visitor` have all elements and refuses what it leaves over.
pub(super) fn visit_whole<'de, V, S>(mut sequence: S, visitor: V) -> Result<V::Value, ArraysError>
where
    V: Visitor<'de>,
    S: SeqAccess<'de, Error = ArraysError>,
{
    let value = visitor.visit_seq(&mut sequence)?;
    match sequence.size_hint() {
        Some(n_left) if n_left > 0 => Err(ArraysError::new(format!(
            "a sequence has {n_left} elements more than expected"
        ))),
        _ => Ok(value),
    }
}

struct ElementReader<'de> {
    place: Reader<'de>,
    elements: std::slice::Iter<'de, Tree>,
}

impl<'de> SeqAccess<'de> for ElementReader<'de> {
    type Error = ArraysError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ArraysError> {
        self.elements
            .next()
            .map(|element| seed.deserialize(self.place.at(element)))
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

/// The numbers of an array.
pub(super) struct ArrayReader<'de> {
    kind: Kind,
    numbers: std::slice::ChunksExact<'de, u8>,
}

impl ArrayReader<'_> {
    /// How many are left.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// One of those that are left.
    pub(super) fn get(&self, index: usize) -> Option<Number> {
        self.numbers
            .clone()
            .nth(index)
            .map(|bytes| self.number(bytes))
    }

    fn number(&self, bytes: &[u8]) -> Number {
        let mut bits = [0; 8];
        bits[..bytes.len()].copy_from_slice(bytes);
        Number(self.kind, u64::from_le_bytes(bits))
    }
}

impl<'de> SeqAccess<'de> for ArrayReader<'de> {
    type Error = ArraysError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ArraysError> {
        let Some(bytes) = self.numbers.next() else {
            return Ok(None);
        };
        seed.deserialize(self.number(bytes)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.numbers.len())
    }
}

/// The name of a field or variant.
pub(super) type FieldName<'de> = de::value::BorrowedStrDeserializer<'de, ArraysError>;

struct FieldReader<'de> {
    place: Reader<'de>,
    fields: std::slice::Iter<'de, (Cow<'static, str>, Tree)>,
    value: Option<&'de Tree>,
}

impl<'de> MapAccess<'de> for FieldReader<'de> {
    type Error = ArraysError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ArraysError> {
        let Some((name, value)) = self.fields.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(FieldName::new(name)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, ArraysError> {
        let value = self.value.take().ok_or_else(value_before_key)?;
        seed.deserialize(self.place.at(value))
    }
}

struct EntryReader<'de> {
    place: Reader<'de>,
    entries: std::slice::Iter<'de, (Tree, Tree)>,
    value: Option<&'de Tree>,
}

impl<'de> MapAccess<'de> for EntryReader<'de> {
    type Error = ArraysError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ArraysError> {
        let Some((key, value)) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(self.place.at(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, ArraysError> {
        let value = self.value.take().ok_or_else(value_before_key)?;
        seed.deserialize(self.place.at(value))
    }
}

fn value_before_key() -> ArraysError {
    ArraysError::new("the value of a map was asked for before its key")
}

struct VariantReader<'de> {
    name: &'de str,
    inner: Reader<'de>,
}

impl<'de> EnumAccess<'de> for VariantReader<'de> {
    type Error = ArraysError;
    type Variant = Reader<'de>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Reader<'de>), ArraysError> {
        let name = seed.deserialize(FieldName::new(self.name))?;
        Ok((name, self.inner))
    }
}

impl<'de> VariantAccess<'de> for Reader<'de> {
    type Error = ArraysError;

    fn unit_variant(self) -> Result<(), ArraysError> {
        match self.tree {
            Tree::Unit => Ok(()),
            _ => Err(ArraysError::new("a variant without content has some")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, ArraysError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, ArraysError> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ArraysError> {
        self.deserialize_any(visitor)
    }
}

fn too_many_bits(bits: u64) -> ArraysError {
    ArraysError::new(format!("a number of 32 bits has the bits {bits:#x}"))
}

/// One number.
pub(super) struct Number(pub(super) Kind, pub(super) u64);

impl<'de> Deserializer<'de> for Number {
    type Error = ArraysError;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArraysError> {
        let Self(kind, bits) = self;
        match kind {
            Kind::Flag if bits > 1 => Err(ArraysError::new(format!(
                "a truth value must be 0 or 1, but is {bits}"
            ))),
            Kind::Flag => visitor.visit_bool(bits == 1),
            Kind::Signed => visitor.visit_i64(bits.cast_signed()),
            Kind::Byte | Kind::Word | Kind::Unsigned => visitor.visit_u64(bits),
            Kind::Single => {
                let bits = u32::try_from(bits)
                    .ok()
                    .ok_or_else(|| too_many_bits(bits))?;
                visitor.visit_f32(f32::from_bits(bits))
            }
            Kind::Double => visitor.visit_f64(f64::from_bits(bits)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ArraysError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
