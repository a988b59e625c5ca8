//! MATLAB files of versions 4, 5 (to 7.2) and 7.3: variables as a tree, and the recording among them.

mod budget;
mod eeglab;
mod hdf5;
mod inflate;
mod pick;
mod v4;
mod v5;
mod v73;
mod value;

use std::sync::Arc;

use ndarray::ArrayD;

use super::{
    ArrayInfo, ByteSource, Channel, FilePlace, Findings, Format, Input, Kind, Mode, ReadError,
    ReadOptions, Record, SampleSource, Source, StridedSamples,
};
pub use value::{Numeric, Sparse, Value, Variable};

/// Reads the bytes of an EEGLAB data set, with those of its data file.
pub fn eeglab_from_bytes(
    data_set: impl Into<Vec<u8>>,
    data: impl Into<Vec<u8>>,
    mode: Mode,
) -> Result<Record, ReadError> {
    // Whatever the data set calls its data file, it is found by the stem of its name.
    let input = Input::from_bytes("memory.set", data_set).with_companion("memory.fdt", data);
    read(&input, &mode.into())
}

/// Whether these bytes start a MATLAB 5 or 7.3 file.
pub fn is_certain(head: &[u8]) -> bool {
    v5::is_certain(head) || v73::is_certain(head)
}

/// Whether these bytes could start a MATLAB 4 file, which has no signature.
pub fn is_likely(head: &[u8]) -> bool {
    v4::is_likely(head)
}

/// Reads the bytes of a MATLAB file.
pub fn from_bytes(name: &str, bytes: impl Into<Vec<u8>>, mode: Mode) -> Result<Record, ReadError> {
    read(&Input::from_bytes(name, bytes), &mode.into())
}

/// Reads all variables and picks the recording among them, if there is one.
///
/// The samples of an EEGLAB data set (`.fdt`) lead to the data set that describes them.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    if input.extension() != "fdt" {
        return read_file(input, options);
    }
    match input.companion_with_extension("set")? {
        Some(data_set) => read_file(&input.seen_from(data_set), options),
        None => Err(ReadError::MissingCompanion {
            path: input.path().to_owned(),
            role: "EEGLAB data set",
            name: input.sibling_name("set"),
        }),
    }
}

fn read_file(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let (format, variables) = read_variables(&input.bytes, &mut findings)?;
    if let Some(data_set) = eeglab::DataSet::find(&variables) {
        return data_set.record(input, findings);
    }
    let arrays = list_arrays(&variables);
    let pick = pick::pick(&variables, options, &mut findings)?;
    let (kind, channels, recording) = match pick {
        Some(pick) => (Kind::Recording, pick.channels, Some(pick.samples)),
        None => (Kind::Arrays, Vec::new(), None),
    };
    let samples = MatSamples {
        bytes: input.bytes.clone(),
        variables,
        recording,
    };
    Ok(record_of(
        input, format, kind, channels, arrays, samples, findings,
    ))
}

fn record_of(
    input: &Input,
    format: Format,
    kind: Kind,
    channels: Vec<Channel>,
    arrays: Vec<ArrayInfo>,
    samples: MatSamples,
    findings: Findings,
) -> Record {
    let source = Source::new(input.path(), input.bytes.len());
    let mut record = Record::new(format, kind, source, channels, Arc::new(samples));
    record.arrays = arrays;
    record.warnings = findings.into_warnings();
    record
}

/// The variables of a file of any version.
pub fn read_variables(
    bytes: &ByteSource,
    findings: &mut Findings,
) -> Result<(Format, Vec<Variable>), ReadError> {
    let head = bytes.read_start(512)?;
    if v73::is_certain(&bytes.read_start(1024)?) {
        return v73::read(bytes, findings);
    }
    if v5::is_certain(&head) {
        return Ok((Format::Mat5, v5::read(bytes, findings)?));
    }
    if v4::is_likely(&head) {
        return Ok((Format::Mat4, v4::read(bytes, findings)?));
    }
    let start = &head[..head.len().min(16)];
    Err(findings.refusal(
        FilePlace::Byte(0),
        "signature",
        format!("\"{}\"", start.escape_ascii()),
        "a MATLAB file of version 4, 5 or 7.3, or an HDF5 file",
    ))
}

/// All variables, and arrays of numbers within structs and cells by their path.
fn list_arrays(variables: &[Variable]) -> Vec<ArrayInfo> {
    let mut arrays: Vec<ArrayInfo> = variables
        .iter()
        .map(|variable| ArrayInfo {
            name: variable.name.clone(),
            shape: variable.value.shape(),
        })
        .collect();
    pick::visit(variables, |path, value| {
        if let Value::Numeric(numeric) = value
            && path.contains(['.', '{'])
            && numeric.len() > 1
        {
            arrays.push(ArrayInfo {
                name: path.to_owned(),
                shape: numeric.shape.clone(),
            });
        }
    });
    arrays
}

/// The variables of a file, one of which may be a recording.
struct MatSamples {
    bytes: ByteSource,
    variables: Vec<Variable>,
    recording: Option<StridedSamples>,
}

impl SampleSource for MatSamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        match &self.recording {
            Some(recording) => recording.read(channel, first, out),
            None => Ok(()),
        }
    }

    fn read_all(&self, first: usize, out: &mut [Vec<f64>]) -> Result<(), ReadError> {
        match &self.recording {
            Some(recording) => recording.read_all(first, out),
            None => Ok(()),
        }
    }

    fn array(&self, name: &str) -> Result<Option<ArrayD<f64>>, ReadError> {
        let mut found = None;
        pick::visit(&self.variables, |path, value| {
            if path == name && found.is_none() {
                found = Some(value.clone());
            }
        });
        match found {
            Some(Value::Numeric(numeric)) if numeric.is_complex => {
                Err(numeric.complex_refused(name))
            }
            Some(Value::Numeric(numeric)) => numeric.to_array().map(Some),
            Some(Value::Sparse(sparse)) => {
                // Zeros that are not stored must not fill memory either.
                let most = usize::try_from(self.bytes.len()).unwrap_or(usize::MAX);
                let dense = sparse.to_array(most.saturating_add(4 << 20));
                dense.map(Some).ok_or_else(|| ReadError::Unsupported {
                    path: self.bytes.path().to_owned(),
                    what: format!(
                        "the sparse matrix {name:?} of size {:?} as a full one",
                        sparse.shape
                    ),
                    remedy: "store the part that is needed as a full matrix".to_owned(),
                })
            }
            Some(other) => Err(ReadError::Unsupported {
                path: self.bytes.path().to_owned(),
                what: format!(
                    "variable {name:?}, a {}, as an array of numbers",
                    other.class()
                ),
                remedy: "choose one that holds numbers".to_owned(),
            }),
            None => Ok(None),
        }
    }
}
