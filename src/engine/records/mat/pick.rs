//! Picks the recording among the variables of a file: array, orientation, rate, channel names.

use super::super::text::quoted;
use super::super::{Channel, FilePlace, Findings, ReadError, ReadOptions, StridedSamples, Unit};
use super::value::{Numeric, Value, Variable};

/// The array that is taken for a recording.
pub(super) struct Pick {
    pub(super) channels: Vec<Channel>,
    pub(super) samples: StridedSamples,
}

/// Most channels that a recording is believed to have without being told.
const MAX_CHANNELS: usize = 1024;
/// Most channels that a recording may have when told.
const MAX_TOLD_CHANNELS: usize = 65_536;
/// Fewest samples that make a recording without being told.
const MIN_SAMPLES: usize = 64;
/// Most paths visited within structs and cells, and the longest of them.
const MAX_VISITED: usize = 20_000;
const MAX_PATH_BYTES: usize = 256;

/// Calls `visit` with every value and its path: `a`, `a.b`, `a.c{2}`, `a(3).b`.
pub(super) fn visit(variables: &[Variable], mut visit: impl FnMut(&str, &Value)) {
    let mut n_left = MAX_VISITED;
    for variable in variables {
        visit_value(&variable.name, &variable.value, &mut n_left, &mut visit);
    }
}

fn visit_value(
    path: &str,
    value: &Value,
    n_left: &mut usize,
    visit: &mut impl FnMut(&str, &Value),
) {
    let Some(left) = n_left.checked_sub(1) else {
        return;
    };
    *n_left = left;
    visit(path, value);
    if path.len() > MAX_PATH_BYTES {
        return;
    }
    match value {
        Value::Cell { items, .. } => {
            for (position, item) in items.iter().enumerate() {
                visit_value(&format!("{path}{{{}}}", position + 1), item, n_left, visit);
            }
        }
        Value::Struct { fields, .. } => {
            for (name, values) in fields {
                for (position, item) in values.iter().enumerate() {
                    let owner = match values.len() {
                        1 => path.to_owned(),
                        _ => format!("{path}({})", position + 1),
                    };
                    visit_value(&format!("{owner}.{name}"), item, n_left, visit);
                }
            }
        }
        _ => {}
    }
}

/// The recording, if one was named or one stands out.
pub(super) fn pick(
    variables: &[Variable],
    options: &ReadOptions,
    findings: &mut Findings,
) -> Result<Option<Pick>, ReadError> {
    let Some((path, numeric)) = pick_array(variables, options, findings)? else {
        return Ok(None);
    };
    let [n_rows, n_columns] = numeric.shape[..] else {
        return Err(findings.refusal(
            FilePlace::File,
            "array chosen as recording",
            format!("{} of shape {:?}", quoted(&path), numeric.shape),
            "two axes: channels and time",
        ));
    };
    let rows_are_channels = options.rows_are_channels.unwrap_or(n_rows < n_columns);
    let (n_channels, n_samples) = match rows_are_channels {
        true => (n_rows, n_columns),
        false => (n_columns, n_rows),
    };
    if n_channels > MAX_TOLD_CHANNELS {
        let expected = format!("at most {MAX_TOLD_CHANNELS}; try the other orientation");
        return Err(findings.refusal(FilePlace::File, "number of channels", n_channels, expected));
    }
    let rate_hz = options.rate_hz.or_else(|| find_rate(variables));
    let names = find_names(variables, n_channels);
    report(&path, rows_are_channels, rate_hz, options, findings);
    let channels = (0..n_channels)
        .map(|channel| {
            let name = match &names {
                Some(names) => names[channel].clone(),
                None => format!("ch{}", channel + 1),
            };
            Channel::analog(name, Unit::none(), rate_hz, n_samples)
        })
        .collect();
    let (channel_stride, sample_stride) = match (rows_are_channels, numeric.is_row_major) {
        (true, false) => (1, n_rows),
        (false, false) => (n_rows, 1),
        (true, true) => (n_columns, 1),
        (false, true) => (1, n_columns),
    };
    Ok(Some(Pick {
        channels,
        samples: StridedSamples {
            stored: numeric.real,
            channel_stride,
            sample_stride,
            factors: vec![1.0; n_channels],
        },
    }))
}

fn pick_array(
    variables: &[Variable],
    options: &ReadOptions,
    findings: &Findings,
) -> Result<Option<(String, Numeric)>, ReadError> {
    let mut arrays: Vec<(String, Numeric)> = Vec::new();
    let mut matrices: Vec<Vec<usize>> = Vec::new();
    visit(variables, |path, value| {
        matrices.push(value.shape());
        if let Value::Numeric(numeric) = value {
            arrays.push((path.to_owned(), numeric.clone()));
        }
    });
    matrices.retain(|shape| shape.len() > 1 && shape.iter().all(|n| *n > 1));
    if let Some(name) = &options.array {
        let names: Vec<&str> = arrays
            .iter()
            .map(|(path, _)| path.as_str())
            .take(20)
            .collect();
        let listed = format!("one of {}", names.join(", "));
        return match arrays.iter().position(|(path, _)| path == name) {
            Some(position) if arrays[position].1.is_complex => {
                Err(arrays[position].1.complex_refused(name))
            }
            Some(position) => Ok(Some(arrays.swap_remove(position))),
            None => Err(findings.refusal(FilePlace::File, "array chosen", quoted(name), listed)),
        };
    }
    let is_told = options.rows_are_channels.is_some() || options.rate_hz.is_some();
    let largest = arrays
        .iter()
        .enumerate()
        .filter(|(_, (_, numeric))| is_told || looks_like_recording(numeric))
        .filter(|(_, (_, numeric))| numeric.shape.len() == 2 && !numeric.is_empty())
        .filter(|(_, (_, numeric))| !numeric.is_complex)
        .max_by_key(|(position, (_, numeric))| (numeric.len(), usize::MAX - position))
        .map(|(position, _)| position);
    let Some(position) = largest else {
        return Ok(None);
    };
    let is_label = || are_labels(&arrays[position].1, matrices.iter().flatten());
    if !is_told && (is_label() || has_labels(&arrays, position)) {
        return Ok(None);
    }
    Ok(Some(arrays.swap_remove(position)))
}

/// Few channels, many samples.
fn looks_like_recording(numeric: &Numeric) -> bool {
    let [n_rows, n_columns] = numeric.shape[..] else {
        return false;
    };
    let (short, long) = (n_rows.min(n_columns), n_rows.max(n_columns));
    !numeric.is_logical
        && !numeric.is_complex
        && (1..=MAX_CHANNELS).contains(&short)
        && long >= MIN_SAMPLES
        && long >= 2 * short
}

/// A vector with one small whole number for each row or column makes the array a data set.
fn has_labels(arrays: &[(String, Numeric)], position: usize) -> bool {
    let (_, data) = &arrays[position];
    let others = arrays
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != position);
    others
        .map(|(_, (_, other))| other)
        .any(|other| are_labels(other, data.shape.iter()))
}

/// Whether an array is a vector of small whole numbers, as many as one of these sides is long.
fn are_labels<'a>(numeric: &Numeric, mut sides: impl Iterator<Item = &'a usize>) -> bool {
    let is_vector = match numeric.shape.len() {
        1 => true,
        2 => numeric.shape.contains(&1),
        _ => false,
    };
    is_vector
        && (2..1_000_000).contains(&numeric.len())
        && sides.any(|side| *side == numeric.len())
        && numeric.values().is_ok_and(|values| {
            let is_label = |v: &f64| v.fract() == 0.0 && v.abs() <= 1000.0;
            let changes = values.windows(2).filter(|pair| pair[0] != pair[1]).count();
            values.iter().all(is_label) && changes > 0
        })
}

/// Names under which files keep the sampling rate, in lower case.
const RATE_NAMES: &[&str] = &[
    "fs",
    "srate",
    "sfreq",
    "fsample",
    "samplingrate",
    "sampling_rate",
    "samplerate",
    "sample_rate",
    "samplingfrequency",
    "sampling_frequency",
    "samplefrequency",
    "sample_frequency",
    "samprate",
    "sr",
    "freq_sampling",
];

fn find_rate(variables: &[Variable]) -> Option<f64> {
    let mut rate_hz = None;
    visit(variables, |path, value| {
        let name = path.rsplit('.').next().unwrap_or(path).to_lowercase();
        if rate_hz.is_none() && RATE_NAMES.contains(&name.as_str()) {
            let plausible = |rate: &f64| rate.is_finite() && *rate > 0.0;
            rate_hz = value.scalar().filter(plausible);
        }
    });
    rate_hz
}

/// Names under which files keep the channel names, in lower case.
const LABEL_NAMES: &[&str] = &[
    "label",
    "labels",
    "clab",
    "ch_names",
    "chnames",
    "channel_names",
    "channelnames",
    "channel_labels",
    "channels",
    "chan",
    "chans",
    "electrodes",
];

/// A list of as many texts as there are channels.
fn find_names(variables: &[Variable], n_channels: usize) -> Option<Vec<String>> {
    let mut names = None;
    visit(variables, |path, value| {
        let name = path.rsplit('.').next().unwrap_or(path).to_lowercase();
        if names.is_none() && LABEL_NAMES.contains(&name.as_str()) {
            names = value.texts().filter(|texts| texts.len() == n_channels);
        }
    });
    names
}

/// What was guessed, so that it can be corrected.
fn report(
    path: &str,
    rows_are_channels: bool,
    rate_hz: Option<f64>,
    options: &ReadOptions,
    findings: &mut Findings,
) {
    let mut note = |text: String| findings.note(FilePlace::File, text);
    if options.array.is_none() {
        note(format!(
            "assumed array {} to be the recording",
            quoted(path)
        ));
    }
    if options.rows_are_channels.is_none() {
        let side = if rows_are_channels { "rows" } else { "columns" };
        note(format!("took the {side} for channels, the shorter side"));
    }
    match (rate_hz, options.rate_hz) {
        (None, _) => note("sampling rate is not in the file; enter it to get times".to_owned()),
        (Some(rate_hz), None) => note(format!("took {rate_hz} Hz for the sampling rate")),
        (Some(_), Some(_)) => {}
    }
    note("unit of the samples is not in the file".to_owned());
}
