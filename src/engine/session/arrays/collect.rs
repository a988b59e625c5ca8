//! Takes a value apart: a serde serialiser that gives a tree and collects long arrays.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde::ser::{self, Serialize};

use super::ArraysError;
use super::columns::Column;
use super::tree::{Kind, Tree};

/// From this length on a sequence of numbers becomes an array of the file, and one of other
/// values becomes columns.
const SHORTEST_ARRAY: usize = 16;
/// Deepest nesting; each level takes up to three in JSON, of which serde_json reads 127.
const MAX_DEPTH: usize = 40;

/// A sequence of numbers of one kind, with the name of its place.
pub(super) struct NamedArray {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) bits: Vec<u64>,
}

impl NamedArray {
    /// Writes the numbers, little-endian.
    pub(super) fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(8 * 1024);
        for block in self.bits.chunks(1024) {
            bytes.clear();
            for bits in block {
                bytes.extend_from_slice(&bits.to_le_bytes()[..self.kind.width()]);
            }
            out.write_all(&bytes)?;
        }
        Ok(())
    }
}

/// One step on the way to a place in the value.
enum Step {
    Field(&'static str),
    Key(String),
    Index(usize),
    /// Into `Some`, which needs no name.
    Present,
}

/// The arrays found so far and the way to the place being looked at.
pub(super) struct Collector {
    arrays: Vec<NamedArray>,
    names: HashSet<String>,
    way: Vec<Step>,
}

impl Collector {
    /// Nothing yet; `reserved` is the name of no array.
    pub(super) fn new(reserved: &str) -> Self {
        Self {
            arrays: Vec::new(),
            names: HashSet::from([reserved.to_owned()]),
            way: Vec::new(),
        }
    }

    /// All arrays.
    pub(super) fn into_arrays(self) -> Vec<NamedArray> {
        self.arrays
    }

    fn descend<T: Serialize + ?Sized>(
        &mut self,
        step: Step,
        value: &T,
    ) -> Result<Tree, ArraysError> {
        if self.way.len() >= MAX_DEPTH {
            return Err(ArraysError::new(format!(
                "a value is nested deeper than {MAX_DEPTH} levels at {}",
                self.place()
            )));
        }
        self.way.push(step);
        let tree = value.serialize(&mut *self);
        self.way.pop();
        tree
    }

    fn place(&self) -> String {
        let mut place = String::new();
        for step in &self.way {
            let dot = if place.is_empty() { "" } else { "." };
            let written = match step {
                Step::Field(name) => write!(place, "{dot}{name}"),
                Step::Key(key) => write!(place, "{dot}{key}"),
                Step::Index(index) => write!(place, "{dot}{index}"),
                Step::Present => Ok(()),
            };
            written.expect("a string takes any text");
        }
        place
    }

    /// Does `work` one step further, at the place called `name`.
    pub(super) fn below<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        self.way.push(Step::Key(name.to_owned()));
        let done = work(self);
        self.way.pop();
        done
    }

    /// Keeps an array that describes this place; gives the name of the array.
    pub(super) fn keep_under(&mut self, name: &str, kind: Kind, bits: Vec<u64>) -> String {
        self.below(name, |collector| collector.keep(kind, bits))
    }

    /// Keeps the array of this place; gives its name.
    pub(super) fn keep(&mut self, kind: Kind, bits: Vec<u64>) -> String {
        let place = self.place();
        let mut name = place.clone();
        // Keys of maps may hold dots, so that two places can have the same name.
        let mut n_same = 1;
        while !self.names.insert(name.clone()) {
            n_same += 1;
            name = format!("{place}~{n_same}");
        }
        self.arrays.push(NamedArray {
            name: name.clone(),
            kind,
            bits,
        });
        name
    }
}

/// The elements of a sequence: bits as long as all are numbers of one kind.
pub(super) struct Elements<'a> {
    collector: &'a mut Collector,
    variant: Option<&'static str>,
    kind: Kind,
    bits: Vec<u64>,
    mixed: Vec<Tree>,
}

impl<'a> Elements<'a> {
    fn new(
        collector: &'a mut Collector,
        length: Option<usize>,
        variant: Option<&'static str>,
    ) -> Self {
        Self {
            collector,
            variant,
            kind: Kind::Double,
            bits: Vec::with_capacity(length.unwrap_or(0)),
            mixed: Vec::new(),
        }
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ArraysError> {
        let index = self.bits.len() + self.mixed.len();
        match self.collector.descend(Step::Index(index), value)? {
            Tree::Number(kind, bits)
                if self.mixed.is_empty() && (self.bits.is_empty() || self.kind == kind) =>
            {
                self.kind = kind;
                self.bits.push(bits);
            }
            other => {
                self.mix();
                self.mixed.push(other);
            }
        }
        Ok(())
    }

    fn mix(&mut self) {
        let numbers = std::mem::take(&mut self.bits).into_iter();
        let kind = self.kind;
        self.mixed
            .extend(numbers.map(|bits| Tree::Number(kind, bits)));
    }

    fn finish(mut self) -> Tree {
        let tree = if self.bits.len() >= SHORTEST_ARRAY {
            Tree::Array(self.collector.keep(self.kind, self.bits))
        } else if self.mixed.len() >= SHORTEST_ARRAY {
            Tree::Rows(Column::of(self.mixed, self.collector))
        } else {
            self.mix();
            Tree::Sequence(self.mixed)
        };
        match self.variant {
            Some(name) => {
                self.collector.way.pop();
                Tree::Variant(name.to_owned(), Box::new(tree))
            }
            None => tree,
        }
    }
}

/// The fields of a struct or of a struct variant.
pub(super) struct Fields<'a> {
    collector: &'a mut Collector,
    variant: Option<&'static str>,
    fields: Vec<(Cow<'static, str>, Tree)>,
}

impl Fields<'_> {
    fn push<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ArraysError> {
        let tree = self.collector.descend(Step::Field(name), value)?;
        self.fields.push((Cow::Borrowed(name), tree));
        Ok(())
    }

    fn finish(self) -> Tree {
        let tree = Tree::Fields(self.fields);
        match self.variant {
            Some(name) => {
                self.collector.way.pop();
                Tree::Variant(name.to_owned(), Box::new(tree))
            }
            None => tree,
        }
    }
}

/// The entries of a map.
pub(super) struct Entries<'a> {
    collector: &'a mut Collector,
    key: Option<Tree>,
    entries: Vec<(Tree, Tree)>,
}

impl<'a> ser::Serializer for &'a mut Collector {
    type Ok = Tree;
    type Error = ArraysError;
    type SerializeSeq = Elements<'a>;
    type SerializeTuple = Elements<'a>;
    type SerializeTupleStruct = Elements<'a>;
    type SerializeTupleVariant = Elements<'a>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Fields<'a>;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<Tree, ArraysError> {
        Ok(Tree::Number(Kind::Flag, value.into()))
    }

    fn serialize_i8(self, value: i8) -> Result<Tree, ArraysError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<Tree, ArraysError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<Tree, ArraysError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<Tree, ArraysError> {
        Ok(Tree::Number(Kind::Signed, value.cast_unsigned()))
    }

    fn serialize_u8(self, value: u8) -> Result<Tree, ArraysError> {
        Ok(Tree::Number(Kind::Byte, value.into()))
    }

    fn serialize_u16(self, value: u16) -> Result<Tree, ArraysError> {
        self.serialize_u32(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<Tree, ArraysError> {
        Ok(Tree::Number(Kind::Word, value.into()))
    }

    fn serialize_u64(self, value: u64) -> Result<Tree, ArraysError> {
        Ok(Tree::Number(Kind::Unsigned, value))
    }

    fn serialize_f32(self, value: f32) -> Result<Tree, ArraysError> {
        Ok(Tree::Number(Kind::Single, value.to_bits().into()))
    }

    fn serialize_f64(self, value: f64) -> Result<Tree, ArraysError> {
        Ok(Tree::Number(Kind::Double, value.to_bits()))
    }

    fn serialize_char(self, value: char) -> Result<Tree, ArraysError> {
        Ok(Tree::Text(value.to_string()))
    }

    fn serialize_str(self, value: &str) -> Result<Tree, ArraysError> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Tree, ArraysError> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<Tree, ArraysError> {
        Ok(Tree::Absent)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Tree, ArraysError> {
        let inner = self.descend(Step::Present, value)?;
        Ok(Tree::Present(Box::new(inner)))
    }

    fn serialize_unit(self) -> Result<Tree, ArraysError> {
        Ok(Tree::Unit)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Tree, ArraysError> {
        Ok(Tree::Unit)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Tree, ArraysError> {
        Ok(Tree::Variant(variant.to_owned(), Box::new(Tree::Unit)))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Tree, ArraysError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Tree, ArraysError> {
        let inner = self.descend(Step::Field(variant), value)?;
        Ok(Tree::Variant(variant.to_owned(), Box::new(inner)))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Elements<'a>, ArraysError> {
        Ok(Elements::new(self, length, None))
    }

    fn serialize_tuple(self, length: usize) -> Result<Elements<'a>, ArraysError> {
        Ok(Elements::new(self, Some(length), None))
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        length: usize,
    ) -> Result<Elements<'a>, ArraysError> {
        Ok(Elements::new(self, Some(length), None))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Elements<'a>, ArraysError> {
        self.way.push(Step::Field(variant));
        Ok(Elements::new(self, Some(length), Some(variant)))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Entries<'a>, ArraysError> {
        Ok(Entries {
            collector: self,
            key: None,
            entries: Vec::with_capacity(length.unwrap_or(0)),
        })
    }

    fn serialize_struct(
        self,
        _name: &'static str,
        length: usize,
    ) -> Result<Fields<'a>, ArraysError> {
        Ok(Fields {
            collector: self,
            variant: None,
            fields: Vec::with_capacity(length),
        })
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Fields<'a>, ArraysError> {
        self.way.push(Step::Field(variant));
        Ok(Fields {
            collector: self,
            variant: Some(variant),
            fields: Vec::with_capacity(length),
        })
    }
}

impl ser::SerializeSeq for Elements<'_> {
    type Ok = Tree;
    type Error = ArraysError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ArraysError> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, ArraysError> {
        Ok(self.finish())
    }
}

impl ser::SerializeTuple for Elements<'_> {
    type Ok = Tree;
    type Error = ArraysError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ArraysError> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, ArraysError> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleStruct for Elements<'_> {
    type Ok = Tree;
    type Error = ArraysError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ArraysError> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, ArraysError> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleVariant for Elements<'_> {
    type Ok = Tree;
    type Error = ArraysError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ArraysError> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, ArraysError> {
        Ok(self.finish())
    }
}

impl ser::SerializeStruct for Fields<'_> {
    type Ok = Tree;
    type Error = ArraysError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ArraysError> {
        self.push(name, value)
    }

    fn end(self) -> Result<Tree, ArraysError> {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for Fields<'_> {
    type Ok = Tree;
    type Error = ArraysError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ArraysError> {
        self.push(name, value)
    }

    fn end(self) -> Result<Tree, ArraysError> {
        Ok(self.finish())
    }
}

impl ser::SerializeMap for Entries<'_> {
    type Ok = Tree;
    type Error = ArraysError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ArraysError> {
        let step = Step::Index(self.entries.len());
        self.key = Some(self.collector.descend(step, key)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ArraysError> {
        let key = self
            .key
            .take()
            .ok_or_else(|| ArraysError::new("a map gives a value before its key"))?;
        let step = match &key {
            Tree::Text(text) => Step::Key(text.clone()),
            _ => Step::Index(self.entries.len()),
        };
        let value = self.collector.descend(step, value)?;
        self.entries.push((key, value));
        Ok(())
    }

    fn end(self) -> Result<Tree, ArraysError> {
        Ok(Tree::Map(self.entries))
    }
}
