//! Montages: traces as weighted sums of recorded channels, by the names of their electrodes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::electrodes::{Scalp, ear_behind, electrode, is_ear};

/// Chains of the longitudinal bipolar montage, from the front to the back.
const CHAINS: [&[&str]; 5] = [
    &["FP1", "F7", "T7", "P7", "O1"],
    &["FP1", "F3", "C3", "P3", "O1"],
    &["FZ", "CZ", "PZ"],
    &["FP2", "F4", "C4", "P4", "O2"],
    &["FP2", "F8", "T8", "P8", "O2"],
];
/// Chains of the transverse bipolar montage, from left to right, from the front to the back.
const CROSS_CHAINS: [&[&str]; 5] = [
    &["FP1", "FP2"],
    &["F7", "F3", "FZ", "F4", "F8"],
    &["A1", "T7", "C3", "CZ", "C4", "T8", "A2"],
    &["P7", "P3", "PZ", "P4", "P8"],
    &["O1", "O2"],
];
/// Neighbours whose mean the Laplacian takes off.
const NEIGHBOURS: usize = 4;

/// How traces are made of channels.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub enum Montage {
    /// Each channel against the reference of the recording.
    #[default]
    AsRecorded,
    /// Each electrode against the mean of all good ones.
    AverageReference,
    /// Each electrode against the next one behind it.
    LongitudinalBipolar,
    /// Each electrode against the next one to its right.
    TransverseBipolar,
    /// Each electrode against Cz.
    Vertex,
    /// Each electrode against the mean of both ears (A1, A2).
    LinkedEars,
    /// Each electrode against the mean of both mastoids (M1, M2; TP9, TP10 where those are missing).
    LinkedMastoids,
    /// Each electrode against the mean of its four nearest good neighbours (Hjorth).
    Laplacian,
    /// One line per trace, such as `Fp1 - F3` or `C3 - 0.5 A1 - 0.5 A2`.
    Own(String),
}

impl Montage {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::AsRecorded => "As recorded",
            Self::AverageReference => "Average reference",
            Self::LongitudinalBipolar => "Longitudinal bipolar",
            Self::TransverseBipolar => "Transverse bipolar",
            Self::Vertex => "Cz reference",
            Self::LinkedEars => "Linked ears",
            Self::LinkedMastoids => "Linked mastoids",
            Self::Laplacian => "Laplacian",
            Self::Own(_) => "Own",
        }
    }
}

/// A trace: a weighted sum of channels.
#[derive(Debug, Clone, PartialEq)]
pub struct Derivation {
    /// What it is called: `Fp1-F7`.
    pub name: String,
    /// Channels by their place, with their weights.
    pub terms: Vec<(usize, f64)>,
    /// Whether a channel that was marked as bad is part of it.
    pub is_bad: bool,
}

impl Derivation {
    /// The channel itself.
    fn channel(place: usize, channel: &MontageChannel<'_>) -> Self {
        Self {
            name: channel.name.to_owned(),
            terms: vec![(place, 1.0)],
            is_bad: channel.is_bad,
        }
    }

    /// Its values from those of all channels.
    pub fn values(&self, channels: &[Vec<f64>]) -> Vec<f64> {
        let of = |place: usize| channels.get(place).map_or(&[][..], Vec::as_slice);
        let n_values = self.terms.iter().map(|(place, _)| of(*place).len()).min();
        let mut values = vec![0.0; n_values.unwrap_or(0)];
        for (place, weight) in &self.terms {
            for (value, own) in values.iter_mut().zip(of(*place)) {
                *value += weight * own;
            }
        }
        values
    }
}

/// What a montage needs to know of a channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MontageChannel<'a> {
    /// Its name in the file.
    pub name: &'a str,
    /// Whether it is marked as bad.
    pub is_bad: bool,
    /// Whether it can be added to others: of the common rate and unit.
    pub is_common: bool,
    /// Its place on the head as the user gave it; without one its label tells.
    pub own_position: Option<(f64, f64)>,
}

/// Why a montage does not fit a recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MontageError {
    /// The electrodes of the reference are missing.
    #[error("there is no {wanted}; the recording has {has}")]
    NoReference {
        /// What was searched for.
        wanted: String,
        /// The channels that there are.
        has: String,
    },
    /// An own montage names a channel that does not exist.
    #[error("there is no channel {name:?}; the recording has {has}")]
    NoChannel {
        /// The name.
        name: String,
        /// The channels that there are.
        has: String,
    },
    /// Two channels follow each other without a sign.
    #[error("{0:?} must begin with + or -")]
    NoSign(String),
    /// A line has only a name.
    #[error("it names no channel: write for example Fp1 - F3")]
    NoTerm,
    /// A line of an own montage is wrong.
    #[error("line {number}: {source}")]
    Line {
        /// From 1.
        number: usize,
        /// What is wrong.
        source: Box<Self>,
    },
}

impl Montage {
    /// The traces of a montage. Channels that no electrode is known of follow as they are recorded.
    /// The error names the line of an own montage that cannot be read, or the reference that is missing.
    pub fn derive(&self, channels: &[MontageChannel<'_>]) -> Result<Vec<Derivation>, MontageError> {
        let head = HeadChannels::of(channels);
        let of_electrodes = match self {
            Self::AsRecorded => {
                let each = channels.iter().enumerate();
                return Ok(each.map(|(k, c)| Derivation::channel(k, c)).collect());
            }
            Self::Own(text) => return own(text, &head),
            Self::AverageReference => head.minus_mean(|_| head.good()),
            Self::Laplacian => head.minus_mean(|place| head.neighbours(place)),
            Self::LongitudinalBipolar => head.bipolar(&CHAINS),
            Self::TransverseBipolar => head.bipolar(&CROSS_CHAINS),
            Self::Vertex => head.against(&[&["CZ"]])?,
            Self::LinkedEars => head.against(&[&["A1", "A2"]])?,
            Self::LinkedMastoids => head.against(&[&["M1", "M2"], &["TP9", "TP10"]])?,
        };
        let others = channels
            .iter()
            .enumerate()
            .filter(|(place, _)| !head.places.contains(place))
            .map(|(place, channel)| Derivation::channel(place, channel));
        Ok(of_electrodes.into_iter().chain(others).collect())
    }
}

/// The channels that lie on the head, in the order of the file.
struct HeadChannels<'a> {
    channels: &'a [MontageChannel<'a>],
    places: Vec<usize>,
    /// Channels by electrode.
    electrodes: BTreeMap<String, usize>,
    scalp: Scalp,
}

impl<'a> HeadChannels<'a> {
    fn of(channels: &'a [MontageChannel<'a>]) -> Self {
        let mut electrodes = BTreeMap::new();
        let mut places = Vec::new();
        let labels: Vec<&str> = channels.iter().map(|channel| channel.name).collect();
        let scalp = Scalp::of(&labels);
        for (place, (channel, name)) in channels.iter().zip(&scalp.electrodes).enumerate() {
            if !channel.is_common || (name.is_none() && channel.own_position.is_none()) {
                continue;
            }
            places.push(place);
            if let Some(name) = name {
                electrodes.entry(name.clone()).or_insert(place);
            }
        }
        Self {
            channels,
            places,
            electrodes,
            scalp,
        }
    }

    /// Good electrodes of the scalp: ears are references, not activity.
    fn good(&self) -> Vec<usize> {
        let is_good = |place: &usize| {
            let electrode = self.scalp.electrodes[*place].as_deref();
            !self.channels[*place].is_bad && !electrode.is_some_and(is_ear)
        };
        self.places.iter().copied().filter(is_good).collect()
    }

    /// Each electrode against the mean of the first set of references that the recording has whole.
    fn against(&self, sets: &[&[&str]]) -> Result<Vec<Derivation>, MontageError> {
        let place = |name: &&str| self.electrodes.get(*name).copied();
        let whole = |set: &&[&str]| set.iter().map(place).collect::<Option<Vec<usize>>>();
        let Some(references) = sets.iter().find_map(whole) else {
            let wanted: Vec<String> = sets.iter().map(|set| set.join(" and ")).collect();
            let has = some_names(self.channels);
            let wanted = wanted.join(" or ");
            return Err(MontageError::NoReference { wanted, has });
        };
        let is_bad = references.iter().any(|place| self.channels[*place].is_bad);
        let mut traces = self.minus_mean(|_| references.clone());
        for trace in &mut traces {
            trace.is_bad |= is_bad;
            // A reference against itself alone is nothing.
            trace
                .terms
                .retain(|(_, weight)| weight.abs() > f64::EPSILON);
        }
        traces.retain(|trace| !trace.terms.is_empty());
        Ok(traces)
    }

    /// The nearest good electrodes.
    fn neighbours(&self, place: usize) -> Vec<usize> {
        let at = |place: usize| {
            let own = self.channels[place].own_position;
            own.or_else(|| self.scalp.position(place))
                .unwrap_or((0.0, 0.0))
        };
        let (x, y) = at(place);
        let distance = |other: usize| {
            let (other_x, other_y) = at(other);
            (x - other_x).hypot(y - other_y)
        };
        let mut others: Vec<(f64, usize)> = self
            .good()
            .into_iter()
            .map(|other| (distance(other), other))
            .filter(|(distance, other)| *other != place && *distance > 0.0)
            .collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0));
        others.truncate(NEIGHBOURS);
        others.into_iter().map(|(_, other)| other).collect()
    }

    /// Whether the difference of two channels is that of their electrodes: C3-A2 less C4-A1 is not C3 less C4.
    fn shares_reference(&self, one: usize, other: usize) -> bool {
        let ear = |place: usize| ear_behind(self.channels[place].name);
        ear(one) == ear(other)
    }

    /// Each electrode minus the mean of those that `reference` names for it and that were recorded as it was.
    fn minus_mean(&self, reference: impl Fn(usize) -> Vec<usize>) -> Vec<Derivation> {
        let derive = |&place: &usize| {
            let mut mean = reference(place);
            mean.retain(|other| self.shares_reference(place, *other));
            let mut terms = BTreeMap::from([(place, 1.0)]);
            for other in &mean {
                *terms.entry(*other).or_insert(0.0) -= 1.0 / mean.len() as f64;
            }
            Derivation {
                terms: terms.into_iter().collect(),
                ..Derivation::channel(place, &self.channels[place])
            }
        };
        self.places.iter().map(derive).collect()
    }

    fn bipolar(&self, chains: &[&[&str]]) -> Vec<Derivation> {
        let pairs = chains.iter().flat_map(|chain| chain.windows(2));
        let found = pairs.filter_map(|pair| {
            let first = *self.electrodes.get(pair[0])?;
            let second = *self.electrodes.get(pair[1])?;
            if !self.shares_reference(first, second) {
                return None;
            }
            let is_bad = self.channels[first].is_bad || self.channels[second].is_bad;
            Some(Derivation {
                name: format!("{}-{}", self.label(first), self.label(second)),
                terms: vec![(first, 1.0), (second, -1.0)],
                is_bad,
            })
        });
        found.collect()
    }

    /// The word of a channel's name that is its electrode: `Fp1` of `EEG Fp1-REF`.
    fn label(&self, place: usize) -> &str {
        let name = self.channels[place].name;
        let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
        let known = words.into_iter().find(|word| electrode(word).is_some());
        known.unwrap_or(name)
    }

    /// The channel called so, by its whole name or by its electrode.
    fn named(&self, name: &str) -> Option<usize> {
        let is_it = |channel: &MontageChannel<'_>| channel.name.eq_ignore_ascii_case(name);
        let by_name = self.channels.iter().position(is_it);
        by_name.or_else(|| self.electrodes.get(&electrode(name)?).copied())
    }
}

/// The traces of an own montage, line by line.
fn own(text: &str, head: &HeadChannels<'_>) -> Result<Vec<Derivation>, MontageError> {
    let lines = text.lines().enumerate();
    let lines = lines.map(|(number, line)| (number + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| {
            let found = own_line(line, head).map_err(Box::new);
            found.map_err(|source| MontageError::Line { number, source })
        })
        .collect()
}

/// `Fp1 - F3`, `C3 - 0.5 A1 - 0.5 A2`, or with a name before a colon.
fn own_line(line: &str, head: &HeadChannels<'_>) -> Result<Derivation, MontageError> {
    let (name, mut rest) = match line.split_once(':') {
        Some((name, rest)) => (name.trim().to_owned(), rest.trim()),
        None => (line.to_owned(), line),
    };
    let mut terms: BTreeMap<usize, f64> = BTreeMap::new();
    while !rest.is_empty() {
        let (sign, after) = match rest.strip_prefix(['-', '−']) {
            Some(after) => (-1.0, after.trim_start()),
            None => (1.0, rest.strip_prefix('+').unwrap_or(rest).trim_start()),
        };
        let (factor, after) = leading_number(after);
        let (place, after) = leading_channel(after, head)?;
        *terms.entry(place).or_insert(0.0) += sign * factor;
        rest = after.trim_start();
        if !rest.is_empty() && !rest.starts_with(['+', '-', '−']) {
            return Err(MontageError::NoSign(rest.to_owned()));
        }
    }
    if terms.is_empty() {
        return Err(MontageError::NoTerm);
    }
    let is_bad = terms.keys().any(|place| head.channels[*place].is_bad);
    Ok(Derivation {
        name,
        terms: terms.into_iter().collect(),
        is_bad,
    })
}

/// A factor before a channel, 1 without one; a number that is a channel's whole name is none.
fn leading_number(text: &str) -> (f64, &str) {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    let after = text[end..].trim_start();
    let after = after.strip_prefix(['*', '·']).unwrap_or(after).trim_start();
    match text[..end].parse() {
        Ok(number) if after.starts_with(char::is_alphanumeric) => (number, after),
        _ => (1.0, text),
    }
}

/// The channel whose name the text begins with, the longest one that fits; then an electrode.
fn leading_channel<'t>(
    text: &'t str,
    head: &HeadChannels<'_>,
) -> Result<(usize, &'t str), MontageError> {
    let ends_there = |length: usize| {
        text.is_char_boundary(length)
            && text[length..]
                .chars()
                .next()
                .is_none_or(|next| !next.is_alphanumeric())
    };
    let fits = |name: &str| {
        let start = text.get(..name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(name)) && ends_there(name.len())
    };
    let by_name = head
        .channels
        .iter()
        .enumerate()
        .filter(|(_, channel)| !channel.name.is_empty() && fits(channel.name))
        .max_by_key(|(_, channel)| channel.name.len());
    if let Some((place, channel)) = by_name {
        return Ok((place, &text[channel.name.len()..]));
    }
    let end = text
        .find(|letter: char| !letter.is_alphanumeric())
        .unwrap_or(text.len());
    let word = &text[..end];
    match head.named(word) {
        Some(place) => Ok((place, &text[end..])),
        None => Err(MontageError::NoChannel {
            name: word.to_owned(),
            has: some_names(head.channels),
        }),
    }
}

fn some_names(channels: &[MontageChannel<'_>]) -> String {
    let names: Vec<&str> = channels.iter().take(12).map(|c| c.name).collect();
    let more = if channels.len() > 12 { ", …" } else { "" };
    format!("{}{more}", names.join(", "))
}

#[cfg(test)]
mod tests;
