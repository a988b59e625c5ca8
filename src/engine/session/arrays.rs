//! Any value as a safetensors file: long sequences of numbers as named arrays, the rest as a
//! small tree, which is JSON in an array of bytes.
//!
//! Long sequences of values of one shape are stored as columns, so that the tree stays small.
//! An array is named by its place in the value: `folds.2.learner.Margin.profiles.3.errors`.
//! Every number survives bit for bit, also NaN, −0 and integers beyond 2⁵³.

mod collect;
mod columns;
mod restore;
mod tree;

use std::collections::HashSet;
use std::fmt::Display;
use std::io::{self, Write};

use safetensors::SafeTensors;
use safetensors::tensor::{Metadata, TensorInfo};
use serde::Serialize;
use serde::de::DeserializeOwned;

use collect::{Collector, NamedArray};
use restore::Reader;
use tree::{Kind, Tree};

/// The name of the array that holds the tree.
const TREE: &str = "(tree)";
/// The longest header that safetensors reads.
const MAX_HEADER: usize = 100_000_000;

/// Why a value cannot be written as arrays or read back from them.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct ArraysError(String);

impl ArraysError {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl serde::ser::Error for ArraysError {
    fn custom<T: Display>(reason: T) -> Self {
        Self(reason.to_string())
    }
}

impl serde::de::Error for ArraysError {
    fn custom<T: Display>(reason: T) -> Self {
        Self(reason.to_string())
    }
}

/// A value taken apart, ready to be written.
pub(super) struct Arrays {
    header: Vec<u8>,
    arrays: Vec<NamedArray>,
    tree: Vec<u8>,
}

impl Arrays {
    /// Takes `value` apart.
    pub(super) fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, ArraysError> {
        let mut collector = Collector::new(TREE);
        let tree = value.serialize(&mut collector)?;
        Self::with_tree(&tree, collector.into_arrays())
    }

    fn with_tree(tree: &Tree, mut arrays: Vec<NamedArray>) -> Result<Self, ArraysError> {
        let tree = serde_json::to_vec(tree).map_err(|error| ArraysError::new(error.to_string()))?;
        // Wide numbers first, so that all of them are aligned in the file; the tree is last.
        arrays.sort_by_key(|array| std::cmp::Reverse(array.kind.width()));
        let header = header(&arrays, tree.len())?;
        Ok(Self {
            header,
            arrays,
            tree,
        })
    }

    /// Writes the file.
    pub(super) fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&(self.header.len() as u64).to_le_bytes())?;
        out.write_all(&self.header)?;
        for array in &self.arrays {
            array.write_to(out)?;
        }
        out.write_all(&self.tree)
    }
}

fn header(arrays: &[NamedArray], tree_len: usize) -> Result<Vec<u8>, ArraysError> {
    let mut end = 0;
    let mut info = |kind: Kind, length: usize| {
        let start = end;
        end += length * kind.width();
        TensorInfo {
            dtype: kind.dtype(),
            shape: vec![length],
            data_offsets: (start, end),
        }
    };
    let mut infos: Vec<(String, TensorInfo)> = arrays
        .iter()
        .map(|array| (array.name.clone(), info(array.kind, array.bits.len())))
        .collect();
    infos.push((TREE.to_owned(), info(Kind::Byte, tree_len)));
    let metadata =
        Metadata::new(None, infos).map_err(|error| ArraysError::new(error.to_string()))?;
    let mut header =
        serde_json::to_vec(&metadata).map_err(|error| ArraysError::new(error.to_string()))?;
    header.resize(header.len().next_multiple_of(8), b' ');
    if header.len() > MAX_HEADER {
        return Err(ArraysError::new(format!(
            "the list of {} arrays needs {} bytes, allowed are {MAX_HEADER}",
            arrays.len(),
            header.len()
        )));
    }
    Ok(header)
}

/// Puts a value together again from the bytes of its file.
pub(super) fn read_arrays<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ArraysError> {
    let tensors = SafeTensors::deserialize(bytes)
        .map_err(|error| ArraysError::new(format!("not a safetensors file: {error}")))?;
    let text = tensors
        .tensor(TREE)
        .map_err(|error| ArraysError::new(error.to_string()))?;
    let tree: Tree = serde_json::from_slice(text.data())
        .map_err(|error| ArraysError::new(format!("array {TREE:?} is broken: {error}")))?;
    use_each_array_once(&tree)?;
    T::deserialize(Reader {
        tree: &tree,
        tensors: &tensors,
    })
}

/// A tree that names an array again and again would blow a small file up without bound.
fn use_each_array_once(tree: &Tree) -> Result<(), ArraysError> {
    let mut names: Vec<&str> = Vec::new();
    let mut open = vec![tree];
    while let Some(tree) = open.pop() {
        match tree {
            Tree::Array(name) => names.push(name),
            Tree::Rows(column) => column.for_each_name(&mut |name| names.push(name), &mut open),
            Tree::Present(inner) | Tree::Variant(_, inner) => open.push(inner),
            Tree::Sequence(elements) => open.extend(elements),
            Tree::Fields(fields) => open.extend(fields.iter().map(|(_, value)| value)),
            Tree::Map(entries) => {
                for (key, value) in entries {
                    open.push(key);
                    open.push(value);
                }
            }
            Tree::Unit | Tree::Absent | Tree::Text(_) | Tree::Number(..) => {}
        }
    }
    let mut seen = HashSet::new();
    match names.into_iter().find(|name| !seen.insert(*name)) {
        Some(name) => Err(ArraysError::new(format!("array {name:?} is used twice"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
