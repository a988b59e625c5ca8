//! A run as a safetensors file: matrices and long lists of numbers as named tensors, the rest as
//! one small piece of CBOR. `layout.md` describes the file for those who read it elsewhere.
//!
//! Every number survives bit for bit, also NaN, −0 and integers beyond 2⁵³.

mod format_1;

use std::collections::BTreeSet;
use std::io::{self, Write};

use ciborium::Value;
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensors};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The tensor of bytes that holds everything that is no tensor of its own.
const STATE: &str = "state";
/// The CBOR tag of a list that became a tensor, by the tensor's name. Lists that were packed keep
/// their own tags, which tell the type of their numbers.
const LIST_TAG: u64 = 39;
/// From this length on a list of numbers becomes a tensor.
const SHORTEST_TENSOR: usize = 16;
/// The longest header that safetensors reads.
const MAX_HEADER: usize = 100_000_000;
/// Words on the way to a tensor that would only make its name longer.
const UNSAID: [&str; 17] = [
    "parts",
    "record",
    "model",
    "halfway",
    "state",
    "snapshot",
    "dictionary",
    "profiles",
    "dictionaries",
    "classes",
    "tests",
    "Krls",
    "Evidence",
    "Margin",
    "Batch",
    "Gradient",
    "Yardstick",
];

/// Why a value cannot be written as arrays or read back from them.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArraysError {
    /// The value has a form that CBOR has not.
    #[error("{0}")]
    Value(#[from] ciborium::value::Error),
    /// Writing the state to memory failed.
    #[error("{0}")]
    State(#[from] ciborium::ser::Error<io::Error>),
    /// The state is damaged.
    #[error("tensor {STATE:?} is broken: {0}")]
    BrokenState(#[from] ciborium::de::Error<io::Error>),
    /// The list of tensors cannot be written.
    #[error("{0}")]
    Header(#[from] serde_json::Error),
    /// The file is no file of tensors, or lacks one.
    #[error("{0}")]
    File(#[from] safetensors::SafeTensorError),
    /// A tensor is missing, used twice or not of the type it should be of.
    #[error("tensor {name:?} {problem}")]
    Tensor {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// There are too many tensors.
    #[error("the list of tensors needs {found} bytes, allowed are {MAX_HEADER}")]
    TooMany {
        /// Bytes of the list.
        found: usize,
    },
    /// A file of format 1 contradicts itself.
    #[error("{0}")]
    Format1(&'static str),
}

/// Numbers with a name.
struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// A value taken apart, ready to be written.
pub(super) struct Arrays {
    header: Vec<u8>,
    tensors: Vec<Tensor>,
}

impl Arrays {
    /// Takes `value` apart.
    pub(super) fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, ArraysError> {
        let mut value = Value::serialized(value)?;
        let mut found = FoundTensors::default();
        found.take_out(&mut value, &mut Vec::new());
        let mut state = Vec::new();
        ciborium::into_writer(&value, &mut state)?;
        let mut tensors = found.tensors;
        tensors.push(Tensor {
            name: STATE.to_owned(),
            dtype: Dtype::U8,
            shape: vec![state.len()],
            bytes: state,
        });
        // Wide numbers first, so that all of them are aligned in the file.
        tensors.sort_by_key(|tensor| std::cmp::Reverse(tensor.dtype.bitsize()));
        Ok(Self {
            header: header(&tensors)?,
            tensors,
        })
    }

    /// Writes the file.
    pub(super) fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&(self.header.len() as u64).to_le_bytes())?;
        out.write_all(&self.header)?;
        self.tensors
            .iter()
            .try_for_each(|tensor| out.write_all(&tensor.bytes))
    }
}

fn header(tensors: &[Tensor]) -> Result<Vec<u8>, ArraysError> {
    let mut end = 0;
    let info = |tensor: &Tensor| {
        let start = end;
        end += tensor.bytes.len();
        let info = TensorInfo {
            dtype: tensor.dtype,
            shape: tensor.shape.clone(),
            data_offsets: (start, end),
        };
        (tensor.name.clone(), info)
    };
    let metadata = Metadata::new(None, tensors.iter().map(info).collect())?;
    let mut header = serde_json::to_vec(&metadata)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    match header.len() {
        found if found > MAX_HEADER => Err(ArraysError::TooMany { found }),
        _ => Ok(header),
    }
}

/// The tensors found so far.
#[derive(Default)]
struct FoundTensors {
    tensors: Vec<Tensor>,
    names: BTreeSet<String>,
}

impl FoundTensors {
    /// Replaces every long list of numbers inside `value`, which stands at the end of `way`, by
    /// the name of a tensor.
    fn take_out(&mut self, value: &mut Value, way: &mut Vec<String>) {
        match value {
            Value::Tag(tag, inner) => {
                if let (Some(dtype), Value::Bytes(bytes)) = (dtype_of(*tag), inner.as_mut()) {
                    let bytes = std::mem::take(bytes);
                    let shape = vec![bytes.len() * 8 / dtype.bitsize()];
                    **inner = Value::Text(self.keep(way, dtype, shape, bytes));
                }
            }
            Value::Array(items) => match numbers(items) {
                Some((dtype, bytes)) => {
                    let name = self.keep(way, dtype, vec![items.len()], bytes);
                    *value = Value::Tag(LIST_TAG, Box::new(Value::Text(name)));
                }
                None => {
                    let of = way.last().cloned().unwrap_or_default();
                    for (number, item) in items.iter_mut().enumerate() {
                        way.push(item_name(&of, number, item));
                        self.take_out(item, way);
                        way.pop();
                    }
                }
            },
            Value::Map(entries) => match matrix_shape(entries) {
                Some(shape) => {
                    for (_, value) in entries {
                        self.take_out(value, way);
                    }
                    if let Some(tensor) = self.tensors.last_mut() {
                        tensor.shape = shape;
                    }
                }
                None => {
                    for (key, value) in entries {
                        way.push(key.as_text().unwrap_or("?").to_owned());
                        self.take_out(value, way);
                        way.pop();
                    }
                }
            },
            _ => {}
        }
    }

    /// Keeps a tensor; gives its name.
    fn keep(&mut self, way: &[String], dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) -> String {
        let last = way.len().saturating_sub(1);
        let said = way.iter().enumerate();
        let said = said.filter(|(at, word)| *at == last || !UNSAID.contains(&word.as_str()));
        let mut name = said
            .map(|(_, word)| word.as_str())
            .collect::<Vec<_>>()
            .join("/");
        if name == STATE || self.names.contains(&name) {
            name = way.join("/");
        }
        while !self.names.insert(name.clone()) {
            name.push('+');
        }
        self.tensors.push(Tensor {
            name: name.clone(),
            dtype,
            shape,
            bytes,
        });
        name
    }
}

/// What an item of a list is called in the names of tensors: `fold1`, `class0`, `test3`.
fn item_name(list: &str, number: usize, item: &Value) -> String {
    match list {
        "parts" => {
            let part = field(item, "record").and_then(|record| field(record, "part"));
            let fold = part.and_then(|part| field(part, "Fold")?.as_integer());
            let fold = fold.and_then(|fold| usize::try_from(fold).ok());
            fold.map_or("final".to_owned(), |fold| format!("fold{}", fold + 1))
        }
        "profiles" | "dictionaries" | "classes" | "queues" | "atom_use" => format!("class{number}"),
        "tests" => format!("test{number}"),
        _ => number.to_string(),
    }
}

fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let mut entries = value.as_map()?.iter();
    let found = entries.find(|(key, _)| key.as_text() == Some(name));
    found.map(|(_, value)| value)
}

/// The shape of a matrix, which lies in the file column after column.
fn matrix_shape(entries: &[(Value, Value)]) -> Option<Vec<usize>> {
    let [rows, cols, (name, Value::Tag(_, data))] = entries else {
        return None;
    };
    let side = |(key, value): &(Value, Value), name| {
        let is_named = key.as_text() == Some(name);
        usize::try_from(value.as_integer().filter(|_| is_named)?).ok()
    };
    let shape = vec![side(cols, "cols")?, side(rows, "rows")?];
    (name.as_text() == Some("data") && data.is_bytes()).then_some(shape)
}

/// The type of numbers that were packed under a tag of RFC 8746.
fn dtype_of(tag: u64) -> Option<Dtype> {
    Some(match tag {
        64 => Dtype::U8,
        70 => Dtype::U32,
        71 => Dtype::U64,
        85 => Dtype::F32,
        86 => Dtype::F64,
        _ => return None,
    })
}

/// A list as numbers of one type, if it is long enough and nothing else. Single precision is used
/// where it loses nothing.
fn numbers(items: &[Value]) -> Option<(Dtype, Vec<u8>)> {
    if items.len() < SHORTEST_TENSOR {
        return None;
    }
    let floats: Option<Vec<f64>> = items.iter().map(Value::as_float).collect();
    if let Some(floats) = floats {
        let is_single = |x: &f64| f64::from(*x as f32).to_bits() == x.to_bits();
        return Some(match floats.iter().all(is_single) {
            true => (Dtype::F32, packed(floats, |x| (x as f32).to_le_bytes())),
            false => (Dtype::F64, packed(floats, f64::to_le_bytes)),
        });
    }
    let integers: Option<Vec<u64>> = items
        .iter()
        .map(|item| u64::try_from(item.as_integer()?).ok())
        .collect();
    integers.map(|integers| (Dtype::U64, packed(integers, u64::to_le_bytes)))
}

fn packed<T, const N: usize>(numbers: Vec<T>, bytes_of: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    numbers.into_iter().flat_map(bytes_of).collect()
}

/// The tensors of a file, each of which may be used once: a state that names one again and again
/// would blow a small file up without bound.
struct Tensors<'a> {
    file: SafeTensors<'a>,
    used: BTreeSet<String>,
}

impl Tensors<'_> {
    fn take(&mut self, name: &str) -> Result<(Dtype, &[u8]), ArraysError> {
        if !self.used.insert(name.to_owned()) {
            return Err(wrong(name, "is used twice"));
        }
        let tensor = self.file.tensor(name)?;
        Ok((tensor.dtype(), tensor.data()))
    }

    /// The numbers of a tensor, one by one.
    fn list(&mut self, name: &str) -> Result<Vec<Value>, ArraysError> {
        let (dtype, bytes) = self.take(name)?;
        let of = |read: fn(&[u8]) -> Value| bytes.chunks(dtype.bitsize() / 8).map(read).collect();
        Ok(match dtype {
            Dtype::BOOL => of(|byte| Value::Bool(byte != [0])),
            Dtype::U8 | Dtype::U32 | Dtype::U64 => of(|bytes| {
                let mut whole = [0; 8];
                whole[..bytes.len()].copy_from_slice(bytes);
                u64::from_le_bytes(whole).into()
            }),
            Dtype::I64 => of(|bytes| i64::from_le_bytes(eight(bytes)).into()),
            Dtype::F64 => of(|bytes| f64::from_le_bytes(eight(bytes)).into()),
            Dtype::F32 => of(|bytes| {
                let single = bytes.try_into().map_or(f32::NAN, f32::from_le_bytes);
                f64::from(single).into()
            }),
            _ => return Err(wrong(name, "has a type of numbers that no session has")),
        })
    }

    /// Puts tensors back where `value` names them.
    fn put_back(&mut self, value: &mut Value) -> Result<(), ArraysError> {
        match value {
            Value::Tag(tag, inner) => {
                let name = inner.as_text().unwrap_or_default().to_owned();
                *value = match dtype_of(*tag) {
                    None => Value::Array(self.list(&name)?),
                    Some(dtype) => match self.take(&name)? {
                        (found, bytes) if found == dtype => Value::Bytes(bytes.to_vec()),
                        _ => return Err(wrong(&name, "has another type than its state says")),
                    },
                };
            }
            Value::Array(items) => {
                for item in items {
                    self.put_back(item)?;
                }
            }
            Value::Map(entries) => {
                for (_, value) in entries {
                    self.put_back(value)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn eight(bytes: &[u8]) -> [u8; 8] {
    bytes.try_into().unwrap_or_default()
}

fn wrong(name: &str, problem: &'static str) -> ArraysError {
    let name = name.to_owned();
    ArraysError::Tensor { name, problem }
}

/// Puts a value together again from the bytes of its file.
pub(super) fn read_arrays<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ArraysError> {
    let file = SafeTensors::deserialize(bytes)?;
    let mut tensors = Tensors {
        file,
        used: BTreeSet::new(),
    };
    if tensors.file.names().contains(&format_1::TREE) {
        return Ok(format_1::value_of(&mut tensors)?.deserialized()?);
    }
    let (_, state) = tensors.take(STATE)?;
    let mut value: Value = ciborium::from_reader(state)?;
    tensors.put_back(&mut value)?;
    Ok(value.deserialized()?)
}

#[cfg(test)]
mod tests;
