//! Any value as a safetensors file: long sequences of numbers as named arrays, the rest as a
//! small tree in the metadata of the file.
//!
//! An array is named by its place in the value: `folds.2.learner.Margin.profiles.3.errors`.
//! Every number survives bit for bit, also NaN, −0 and integers beyond 2⁵³.

mod collect;
mod restore;
mod tree;

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::io::{self, Write};

use safetensors::SafeTensors;
use safetensors::tensor::{Metadata, TensorInfo};
use serde::Serialize;
use serde::de::DeserializeOwned;

use collect::{Collector, NamedArray};
use restore::Reader;
use tree::Tree;

/// The key of the tree in the metadata of the file.
const TREE_KEY: &str = "atomscope";
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
}

impl Arrays {
    /// Takes `value` apart.
    pub(super) fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, ArraysError> {
        let mut collector = Collector::default();
        let tree = value.serialize(&mut collector)?;
        let mut arrays = collector.into_arrays();
        // Arrays of eight-byte numbers first, so that all of them are aligned in the file.
        arrays.sort_by_key(|array| std::cmp::Reverse(array.kind.width()));
        let header = header(&tree, &arrays)?;
        Ok(Self { header, arrays })
    }

    /// Writes the file.
    pub(super) fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&(self.header.len() as u64).to_le_bytes())?;
        out.write_all(&self.header)?;
        for array in &self.arrays {
            array.write_to(out)?;
        }
        Ok(())
    }
}

fn header(tree: &Tree, arrays: &[NamedArray]) -> Result<Vec<u8>, ArraysError> {
    let tree = serde_json::to_string(tree).map_err(|error| ArraysError::new(error.to_string()))?;
    let mut end = 0;
    let mut infos = Vec::with_capacity(arrays.len());
    for array in arrays {
        let start = end;
        end += array.bits.len() * array.kind.width();
        let info = TensorInfo {
            dtype: array.kind.dtype(),
            shape: vec![array.bits.len()],
            data_offsets: (start, end),
        };
        infos.push((array.name.clone(), info));
    }
    let metadata = HashMap::from([(TREE_KEY.to_owned(), tree)]);
    let metadata = Metadata::new(Some(metadata), infos)
        .map_err(|error| ArraysError::new(error.to_string()))?;
    let mut header =
        serde_json::to_vec(&metadata).map_err(|error| ArraysError::new(error.to_string()))?;
    header.resize(header.len().next_multiple_of(8), b' ');
    if header.len() > MAX_HEADER {
        return Err(ArraysError::new(format!(
            "the part of the value outside long arrays needs {} bytes, allowed are {MAX_HEADER}",
            header.len()
        )));
    }
    Ok(header)
}

/// Puts a value together again from the bytes of its file.
pub(super) fn read_arrays<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ArraysError> {
    let no_file = |error: &dyn Display| ArraysError::new(format!("no safetensors file: {error}"));
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| no_file(&error))?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| no_file(&error))?;
    let text = metadata
        .metadata()
        .as_ref()
        .and_then(|texts| texts.get(TREE_KEY))
        .ok_or_else(|| ArraysError::new(format!("the metadata has no entry {TREE_KEY:?}")))?;
    let tree: Tree = serde_json::from_str(text)
        .map_err(|error| ArraysError::new(format!("the entry {TREE_KEY:?} is broken: {error}")))?;
    use_each_array_once(&tree)?;
    T::deserialize(Reader {
        tree: &tree,
        tensors: &tensors,
    })
}

/// A tree that names an array again and again would blow a small file up without bound.
fn use_each_array_once(tree: &Tree) -> Result<(), ArraysError> {
    let mut seen = HashSet::new();
    let mut open = vec![tree];
    while let Some(tree) = open.pop() {
        match tree {
            Tree::Array(name) => {
                if !seen.insert(name.as_str()) {
                    return Err(ArraysError::new(format!("array {name:?} is used twice")));
                }
            }
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
    Ok(())
}

#[cfg(test)]
mod tests;
