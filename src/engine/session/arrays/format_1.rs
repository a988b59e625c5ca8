//! The arrays of sessions of format 1: a tree of values in JSON, in which long lists are named
//! arrays and lists of structs are columns. It is only read.

use std::borrow::Cow;

use ciborium::Value;
use serde::Deserialize;

use super::{ArraysError, Tensors};

/// The array that holds the tree.
pub(super) const TREE: &str = "(tree)";

/// A value of serde's data model.
#[derive(Deserialize)]
enum Tree {
    #[serde(rename = "u")]
    Unit,
    #[serde(rename = "n")]
    Number(NumberKind, u64),
    #[serde(rename = "t")]
    Text(String),
    #[serde(rename = "-")]
    Absent,
    #[serde(rename = "+")]
    Present(Box<Tree>),
    #[serde(rename = "s")]
    Sequence(Vec<Tree>),
    #[serde(rename = "f")]
    Fields(Vec<(Cow<'static, str>, Tree)>),
    #[serde(rename = "m")]
    Map(Vec<(Tree, Tree)>),
    #[serde(rename = "v")]
    Variant(String, Box<Tree>),
    /// A list of numbers, by the name of its array.
    #[serde(rename = "a")]
    Array(String),
    /// A long list, as columns.
    #[serde(rename = "r")]
    Rows(ItemColumns),
}

/// How the bits of a number are meant.
#[derive(Clone, Copy, Deserialize)]
enum NumberKind {
    #[serde(rename = "?")]
    Flag,
    #[serde(rename = "i")]
    Signed,
    #[serde(rename = "b", alias = "w", alias = "u")]
    Unsigned,
    #[serde(rename = "s")]
    Single,
    #[serde(rename = "d")]
    Double,
}

/// The values of one place in all items of a list.
#[derive(Deserialize)]
enum ItemColumns {
    #[serde(rename = "a")]
    Numbers(String),
    #[serde(rename = "f")]
    Fields(Vec<(Cow<'static, str>, ItemColumns)>),
    /// Lists: where each ends in the column of all their items.
    #[serde(rename = "s")]
    Sequences(String, Box<ItemColumns>),
    #[serde(rename = "p")]
    Tuples(Vec<ItemColumns>),
    /// Options: how many were present so far, and those present.
    #[serde(rename = "o")]
    Options(String, Box<ItemColumns>),
    #[serde(rename = "t")]
    Trees(Vec<Tree>),
}

/// The whole value.
pub(super) fn value_of(tensors: &mut Tensors<'_>) -> Result<Value, ArraysError> {
    let (_, text) = tensors.take(TREE)?;
    let tree: Tree = serde_json::from_slice(text)?;
    tree.value(tensors)
}

impl Tree {
    fn value(self, tensors: &mut Tensors<'_>) -> Result<Value, ArraysError> {
        Ok(match self {
            Self::Unit | Self::Absent => Value::Null,
            Self::Number(kind, bits) => kind.value(bits),
            Self::Text(text) => Value::Text(text),
            Self::Present(inner) => inner.value(tensors)?,
            Self::Sequence(items) => Value::Array(values(items, tensors)?),
            Self::Fields(fields) => {
                let entry = |(name, tree): (Cow<'_, str>, Self)| {
                    Ok((Value::Text(name.into_owned()), tree.value(tensors)?))
                };
                Value::Map(
                    fields
                        .into_iter()
                        .map(entry)
                        .collect::<Result<_, ArraysError>>()?,
                )
            }
            Self::Map(entries) => {
                let mut map = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    map.push((key.value(tensors)?, value.value(tensors)?));
                }
                Value::Map(map)
            }
            Self::Variant(name, inner) => match inner.value(tensors)? {
                Value::Null => Value::Text(name),
                inner => Value::Map(vec![(Value::Text(name), inner)]),
            },
            Self::Array(name) => Value::Array(tensors.list(&name)?),
            Self::Rows(columns) => Value::Array(columns.rows(tensors)?),
        })
    }
}

fn values(trees: Vec<Tree>, tensors: &mut Tensors<'_>) -> Result<Vec<Value>, ArraysError> {
    trees.into_iter().map(|tree| tree.value(tensors)).collect()
}

impl NumberKind {
    fn value(self, bits: u64) -> Value {
        match self {
            Self::Flag => Value::Bool(bits != 0),
            Self::Signed => bits.cast_signed().into(),
            Self::Unsigned => bits.into(),
            Self::Single => f64::from(f32::from_bits(bits as u32)).into(),
            Self::Double => f64::from_bits(bits).into(),
        }
    }
}

impl ItemColumns {
    /// The items of the list.
    fn rows(self, tensors: &mut Tensors<'_>) -> Result<Vec<Value>, ArraysError> {
        match self {
            Self::Numbers(name) => tensors.list(&name),
            Self::Trees(trees) => values(trees, tensors),
            Self::Fields(columns) => {
                let (names, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
                let entry = |name: &Cow<'_, str>| Value::Text(name.clone().into_owned());
                let named =
                    |row: Vec<Value>| Value::Map(names.iter().map(entry).zip(row).collect());
                Ok(side_by_side(columns, tensors)?
                    .into_iter()
                    .map(named)
                    .collect())
            }
            Self::Tuples(columns) => {
                let rows = side_by_side(columns, tensors)?;
                Ok(rows.into_iter().map(Value::Array).collect())
            }
            Self::Sequences(ends, items) => {
                let rows = split(&ends, *items, tensors)?;
                Ok(rows.into_iter().map(Value::Array).collect())
            }
            Self::Options(ends, present) => {
                let rows = split(&ends, *present, tensors)?;
                Ok(rows
                    .into_iter()
                    .map(|row| row.into_iter().next().unwrap_or(Value::Null))
                    .collect())
            }
        }
    }
}

/// Row after row of columns that are equally long.
fn side_by_side(
    columns: Vec<ItemColumns>,
    tensors: &mut Tensors<'_>,
) -> Result<Vec<Vec<Value>>, ArraysError> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for (number, column) in columns.into_iter().enumerate() {
        let column = column.rows(tensors)?;
        if number == 0 {
            rows.resize_with(column.len(), Vec::new);
        }
        if rows.len() != column.len() {
            return Err(ArraysError::Format1(
                "columns of a list have different lengths",
            ));
        }
        rows.iter_mut()
            .zip(column)
            .for_each(|(row, value)| row.push(value));
    }
    Ok(rows)
}

/// The items of all rows, cut where each row ends.
fn split(
    ends: &str,
    items: ItemColumns,
    tensors: &mut Tensors<'_>,
) -> Result<Vec<Vec<Value>>, ArraysError> {
    const MESSAGE: &str = "rows of a list do not end in order";
    let ends = tensors.list(ends)?;
    let mut items = items.rows(tensors)?.into_iter();
    let mut done = 0;
    let mut rows = Vec::with_capacity(ends.len());
    for end in ends {
        let end = end.as_integer().and_then(|end| usize::try_from(end).ok());
        let n_items = end
            .and_then(|end| end.checked_sub(done))
            .ok_or(ArraysError::Format1(MESSAGE))?;
        let row: Vec<Value> = items.by_ref().take(n_items).collect();
        if row.len() < n_items {
            return Err(ArraysError::Format1(MESSAGE));
        }
        done += n_items;
        rows.push(row);
    }
    Ok(rows)
}
