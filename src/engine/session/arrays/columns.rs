//! Long sequences of values of one shape, as columns: each field of ten thousand structs is
//! one array.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde::{Deserialize, Serialize};

use super::ArraysError;
use super::collect::Collector;
use super::restore::{FieldName, Number, Reader, visit_whole};
use super::tree::{Kind, Tree};

/// The values of one place in all elements of a sequence.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Column {
    /// Numbers of one kind, by the name of their array.
    #[serde(rename = "a")]
    Numbers(String),
    /// Structs with the same fields, a column for each field.
    #[serde(rename = "f")]
    Fields(Vec<(Cow<'static, str>, Column)>),
    /// Sequences, as one column of all their elements and an array that tells where each ends.
    #[serde(rename = "s")]
    Sequences(String, Box<Column>),
    /// Tuples of the same length, a column for each place.
    #[serde(rename = "p")]
    Tuples(Vec<Column>),
    /// Options, as one column of those present and an array with their number so far.
    #[serde(rename = "o")]
    Options(String, Box<Column>),
    /// Values that differ in shape.
    #[serde(rename = "t")]
    Trees(Vec<Tree>),
}

impl Column {
    /// Columns of `trees`, which stand at the place where `collector` is.
    pub(super) fn of(trees: Vec<Tree>, collector: &mut Collector) -> Self {
        match trees.first() {
            Some(Tree::Number(kind, _)) if all_numbers(&trees, *kind) => {
                let bits = trees.iter().map(|tree| match tree {
                    Tree::Number(_, bits) => *bits,
                    _ => 0,
                });
                Self::Numbers(collector.keep(*kind, bits.collect()))
            }
            Some(Tree::Fields(first)) if !first.is_empty() && all_fields(&trees, first) => {
                Self::of_fields(trees, collector)
            }
            Some(Tree::Sequence(first)) if all_tuples(&trees, first) => {
                Self::of_tuples(first.len(), trees, collector)
            }
            Some(Tree::Sequence(_))
                if trees.iter().all(|tree| matches!(tree, Tree::Sequence(_))) =>
            {
                let (ends, all) = joined(trees, elements_of);
                let ends = collector.keep_under("ends", Kind::Unsigned, ends);
                Self::Sequences(ends, Box::new(Self::of(all, collector)))
            }
            Some(Tree::Present(_) | Tree::Absent)
                if trees
                    .iter()
                    .all(|tree| matches!(tree, Tree::Present(_) | Tree::Absent)) =>
            {
                let inner = |tree| match tree {
                    Tree::Present(inner) => vec![*inner],
                    _ => Vec::new(),
                };
                let (ends, all) = joined(trees, inner);
                let ends = collector.keep_under("ends", Kind::Unsigned, ends);
                Self::Options(ends, Box::new(Self::of(all, collector)))
            }
            _ => Self::Trees(trees),
        }
    }

    fn of_fields(trees: Vec<Tree>, collector: &mut Collector) -> Self {
        let n_rows = trees.len();
        let mut columns: Vec<(Cow<'static, str>, Vec<Tree>)> = Vec::new();
        for tree in trees {
            let Tree::Fields(fields) = tree else {
                continue;
            };
            if columns.is_empty() {
                let names = fields.iter().map(|(name, _)| name.clone());
                columns = names
                    .map(|name| (name, Vec::with_capacity(n_rows)))
                    .collect();
            }
            for ((_, column), (_, value)) in columns.iter_mut().zip(fields) {
                column.push(value);
            }
        }
        let columns = columns.into_iter().map(|(name, values)| {
            let column = collector.below(&name, |collector| Self::of(values, collector));
            (name, column)
        });
        Self::Fields(columns.collect())
    }

    fn of_tuples(n_places: usize, trees: Vec<Tree>, collector: &mut Collector) -> Self {
        let mut columns: Vec<Vec<Tree>> = Vec::new();
        columns.resize_with(n_places, || Vec::with_capacity(trees.len()));
        for tree in trees {
            for (column, value) in columns.iter_mut().zip(elements_of(tree)) {
                column.push(value);
            }
        }
        let columns = columns.into_iter().enumerate().map(|(place, values)| {
            collector.below(&place.to_string(), |collector| Self::of(values, collector))
        });
        Self::Tuples(columns.collect())
    }

    /// Hands every name of an array in here to `visit`, and every tree that is left to `open`.
    pub(super) fn for_each_name<'a>(
        &'a self,
        visit: &mut dyn FnMut(&'a str),
        open: &mut Vec<&'a Tree>,
    ) {
        match self {
            Self::Numbers(name) => visit(name),
            Self::Fields(columns) => {
                for (_, column) in columns {
                    column.for_each_name(visit, open);
                }
            }
            Self::Tuples(columns) => {
                for column in columns {
                    column.for_each_name(visit, open);
                }
            }
            Self::Sequences(ends, inner) | Self::Options(ends, inner) => {
                visit(ends);
                inner.for_each_name(visit, open);
            }
            Self::Trees(trees) => open.extend(trees),
        }
    }
}

fn all_numbers(trees: &[Tree], kind: Kind) -> bool {
    trees
        .iter()
        .all(|tree| matches!(tree, Tree::Number(other, _) if *other == kind))
}

fn all_fields(trees: &[Tree], first: &[(Cow<'static, str>, Tree)]) -> bool {
    let names = || first.iter().map(|(name, _)| name);
    trees.iter().all(|tree| match tree {
        Tree::Fields(fields) => names().eq(fields.iter().map(|(name, _)| name)),
        _ => false,
    })
}

/// Whether all are sequences as long as `first`, which holds values of different kinds.
fn all_tuples(trees: &[Tree], first: &[Tree]) -> bool {
    let kind = |tree: &Tree| match tree {
        Tree::Number(kind, _) => Some(*kind),
        _ => None,
    };
    let is_option = |tree: &Tree| matches!(tree, Tree::Present(_) | Tree::Absent);
    let same = |pair: &[Tree]| match pair {
        [a, b] if is_option(a) && is_option(b) => true,
        [a, b] => std::mem::discriminant(a) == std::mem::discriminant(b) && kind(a) == kind(b),
        _ => true,
    };
    let is_mixed = !first.windows(2).all(same);
    is_mixed
        && trees
            .iter()
            .all(|tree| matches!(tree, Tree::Sequence(elements) if elements.len() == first.len()))
}

fn elements_of(tree: Tree) -> Vec<Tree> {
    match tree {
        Tree::Sequence(elements) => elements,
        _ => Vec::new(),
    }
}

/// What is inside all of `trees` one after the other, and where the inside of each ends.
fn joined(trees: Vec<Tree>, inside: impl Fn(Tree) -> Vec<Tree>) -> (Vec<u64>, Vec<Tree>) {
    let mut ends = Vec::with_capacity(trees.len());
    let mut all = Vec::new();
    for tree in trees {
        all.extend(inside(tree));
        ends.push(all.len() as u64);
    }
    (ends, all)
}

/// One row of a column.
#[derive(Clone, Copy)]
struct Row<'de> {
    column: &'de Column,
    row: usize,
    /// Any place of the tree; it knows the arrays.
    place: Reader<'de>,
}

/// Lets `visitor` have all rows of a column.
pub(super) fn visit_rows<'de, V: Visitor<'de>>(
    column: &'de Column,
    place: Reader<'de>,
    visitor: V,
) -> Result<V::Value, ArraysError> {
    let rows = Rows {
        column,
        rows: 0..n_rows(column, place)?,
        place,
    };
    visit_whole(rows, visitor)
}

fn n_rows(column: &Column, place: Reader<'_>) -> Result<usize, ArraysError> {
    match column {
        Column::Numbers(name) | Column::Sequences(name, _) | Column::Options(name, _) => {
            Ok(place.array(name)?.len())
        }
        Column::Fields(columns) => match columns.first() {
            Some((_, column)) => n_rows(column, place),
            None => Ok(0),
        },
        Column::Tuples(columns) => match columns.first() {
            Some(column) => n_rows(column, place),
            None => Ok(0),
        },
        Column::Trees(trees) => Ok(trees.len()),
    }
}

impl<'de> Row<'de> {
    fn number(&self, name: &str) -> Result<Number, ArraysError> {
        self.place
            .array(name)?
            .get(self.row)
            .ok_or_else(|| ArraysError::new(format!("array {name:?} has no element {}", self.row)))
    }

    /// The rows of the inner column that belong to this row.
    fn inside(&self, ends: &str, inner: &'de Column) -> Result<Range<usize>, ArraysError> {
        let ends_array = self.place.array(ends)?;
        let end_of = |row: usize| {
            let Some(Number(Kind::Unsigned, end)) = ends_array.get(row) else {
                return None;
            };
            usize::try_from(end).ok()
        };
        let start = match self.row.checked_sub(1) {
            Some(before) => end_of(before),
            None => Some(0),
        };
        match (start, end_of(self.row)) {
            (Some(start), Some(end)) if start <= end && end <= n_rows(inner, self.place)? => {
                Ok(start..end)
            }
            _ => Err(ArraysError::new(format!(
                "array {ends:?} does not tell where row {} ends",
                self.row
            ))),
        }
    }

    fn tree(&self, trees: &'de [Tree]) -> Result<Reader<'de>, ArraysError> {
        let tree = trees
            .get(self.row)
            .ok_or_else(|| ArraysError::new(format!("a column has no row {}", self.row)))?;
        Ok(self.place.at(tree))
    }
}

impl<'de> Deserializer<'de> for Row<'de> {
    type Error = ArraysError;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ArraysError> {
        let Self { column, row, place } = self;
        match column {
            Column::Numbers(name) => self.number(name)?.deserialize_any(visitor),
            Column::Fields(columns) => visitor.visit_map(RowFields {
                columns: columns.iter(),
                value: None,
                row,
                place,
            }),
            Column::Tuples(columns) => {
                let places = RowPlaces {
                    columns: columns.iter(),
                    row,
                    place,
                };
                visit_whole(places, visitor)
            }
            Column::Sequences(ends, column) => {
                let rows = self.inside(ends, column)?;
                let rows = Rows {
                    column,
                    rows,
                    place,
                };
                visit_whole(rows, visitor)
            }
            Column::Options(ends, column) => {
                let rows = self.inside(ends, column)?;
                match rows.len() {
                    0 => visitor.visit_none(),
                    1 => visitor.visit_some(Self {
                        column,
                        row: rows.start,
                        place,
                    }),
                    n => Err(ArraysError::new(format!("an option has {n} values"))),
                }
            }
            Column::Trees(trees) => self.tree(trees)?.deserialize_any(visitor),
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
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ArraysError> {
        match self.column {
            Column::Trees(trees) => self.tree(trees)?.deserialize_enum(name, variants, visitor),
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

struct Rows<'de> {
    column: &'de Column,
    rows: Range<usize>,
    place: Reader<'de>,
}

impl<'de> SeqAccess<'de> for Rows<'de> {
    type Error = ArraysError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ArraysError> {
        let Some(row) = self.rows.next() else {
            return Ok(None);
        };
        let row = Row {
            column: self.column,
            row,
            place: self.place,
        };
        seed.deserialize(row).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rows.len())
    }
}

struct RowPlaces<'de> {
    columns: std::slice::Iter<'de, Column>,
    row: usize,
    place: Reader<'de>,
}

impl<'de> SeqAccess<'de> for RowPlaces<'de> {
    type Error = ArraysError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ArraysError> {
        let Some(column) = self.columns.next() else {
            return Ok(None);
        };
        let row = Row {
            column,
            row: self.row,
            place: self.place,
        };
        seed.deserialize(row).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.columns.len())
    }
}

struct RowFields<'de> {
    columns: std::slice::Iter<'de, (Cow<'static, str>, Column)>,
    value: Option<&'de Column>,
    row: usize,
    place: Reader<'de>,
}

impl<'de> MapAccess<'de> for RowFields<'de> {
    type Error = ArraysError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ArraysError> {
        let Some((name, column)) = self.columns.next() else {
            return Ok(None);
        };
        self.value = Some(column);
        seed.deserialize(FieldName::new(name)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, ArraysError> {
        let column = self
            .value
            .take()
            .ok_or_else(|| ArraysError::new("a value was asked for before its key"))?;
        seed.deserialize(Row {
            column,
            row: self.row,
            place: self.place,
        })
    }
}
