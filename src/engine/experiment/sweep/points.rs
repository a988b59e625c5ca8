//! The settings that a sweep tries: a grid, or draws at random.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::nested::SweepError;
use crate::math::{RandomStream, random_below, random_share, random_stream};

/// Most points of a sweep.
const MOST_POINTS: usize = 100_000;

/// Which settings are tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Search {
    /// Every combination of listed values; the last setting changes fastest.
    Grid(Vec<Axis>),
    /// So many draws, each setting by itself.
    Random {
        /// How many.
        n_points: usize,
        /// Seed of the draws.
        seed: u64,
        /// What is drawn.
        axes: Vec<Axis>,
    },
}

/// A setting that is swept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The setting by its name in the session, as in `--set`.
    pub setting: String,
    /// Its values.
    pub values: Values,
}

/// The values of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Values {
    /// These.
    List(Vec<SettingText>),
    /// Any number between two, all equally likely.
    Between(f64, f64),
    /// Any number between two, all magnitudes equally likely.
    LogBetween(f64, f64),
    /// Any whole number from the first to the second.
    Whole(u32, u32),
}

/// A value as it would stand in a session: number, truth, or text (a word or JSON, as in `--set`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SettingText {
    /// True or false.
    Truth(bool),
    /// A number.
    Number(f64),
    /// A word or JSON.
    Text(String),
}

impl fmt::Display for SettingText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truth(value) => value.fmt(out),
            Self::Number(value) => value.fmt(out),
            Self::Text(value) => value.fmt(out),
        }
    }
}

/// One combination of settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepPoint {
    /// Its number, from 0.
    pub number: usize,
    /// Name and value of each setting.
    pub values: Vec<(String, String)>,
}

impl SweepPoint {
    /// As assignments.
    pub fn assignments(&self) -> Vec<String> {
        let pairs = self.values.iter();
        pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }
}

fn bad<T>(reason: impl Into<String>) -> Result<T, SweepError> {
    Err(SweepError::Search(reason.into()))
}

impl Search {
    /// What is swept.
    pub fn axes(&self) -> &[Axis] {
        match self {
            Self::Grid(axes) | Self::Random { axes, .. } => axes,
        }
    }

    /// All points in order, or what is wrong with the search.
    pub fn points(&self) -> Result<Vec<SweepPoint>, SweepError> {
        let n_points = self.n_points()?;
        let rows: Vec<Vec<String>> = match self {
            Self::Grid(axes) => (0..n_points)
                .map(|number| grid_point(axes, number))
                .collect(),
            Self::Random { seed, axes, .. } => (0..n_points)
                .map(|number| {
                    let mut random = random_stream(*seed, "sweep", number as u64);
                    axes.iter()
                        .map(|axis| axis.values.draw(&mut random))
                        .collect()
                })
                .collect(),
        };
        let names = || self.axes().iter().map(|axis| axis.setting.clone());
        let points = rows.into_iter().enumerate();
        Ok(points
            .map(|(number, values)| SweepPoint {
                number,
                values: names().zip(values).collect(),
            })
            .collect())
    }

    /// How many points there are, or what is wrong with the search.
    pub fn n_points(&self) -> Result<usize, SweepError> {
        for (place, axis) in self.axes().iter().enumerate() {
            axis.check(matches!(self, Self::Grid(_)))?;
            let earlier = &self.axes()[..place];
            if earlier.iter().any(|other| other.setting == axis.setting) {
                let name = &axis.setting;
                return bad(format!("{name} is named twice: keep one of them"));
            }
        }
        if self.axes().is_empty() {
            return bad("the sweep names no setting: add at least one");
        }
        let n_points = match self {
            Self::Random { n_points, .. } => Some(*n_points),
            Self::Grid(axes) => axes
                .iter()
                .try_fold(1_usize, |all, axis| all.checked_mul(axis.values.n_listed())),
        };
        match n_points {
            Some(n @ 1..=MOST_POINTS) => Ok(n),
            Some(n) => bad(format!(
                "a sweep has 1 to {MOST_POINTS} points, but this has {n}"
            )),
            None => bad(format!(
                "a sweep has at most {MOST_POINTS} points, this has more"
            )),
        }
    }
}

/// The values of a point of a grid, the last axis changing fastest.
fn grid_point(axes: &[Axis], mut number: usize) -> Vec<String> {
    let mut values = Vec::with_capacity(axes.len());
    for axis in axes.iter().rev() {
        let Values::List(list) = &axis.values else {
            continue;
        };
        values.push(list[number % list.len()].to_string());
        number /= list.len();
    }
    values.reverse();
    values
}

impl Axis {
    fn check(&self, is_grid: bool) -> Result<(), SweepError> {
        let name = &self.setting;
        let first = name.split('.').next().unwrap_or("");
        if matches!(first, "split" | "seed" | "tests") {
            return bad(format!(
                "{name} cannot be swept: split, seed and tests must stay the same for all points"
            ));
        }
        match &self.values {
            Values::List(list) if list.is_empty() => bad(format!(
                "{name}: the list of values is empty: write at least one"
            )),
            Values::List(_) => Ok(()),
            _ if is_grid => bad(format!(
                "{name}: a range needs a random search: choose Search random (Random in a sweep file), or write values with commas (List)"
            )),
            Values::Between(low, high) if low < high && low.is_finite() && high.is_finite() => {
                Ok(())
            }
            Values::LogBetween(low, high) if 0.0 < *low && low < high && high.is_finite() => Ok(()),
            Values::Whole(low, high) if low <= high => Ok(()),
            Values::LogBetween(low, high) => bad(format!(
                "{name}: a range with log (LogBetween in a sweep file) needs two rising numbers above 0, but has {low} and {high}"
            )),
            Values::Between(low, high) => bad(format!(
                "{name}: a range (Between in a sweep file) needs two rising numbers, but has {low} and {high}"
            )),
            Values::Whole(low, high) => bad(format!(
                "{name}: a range of whole numbers (Whole in a sweep file) needs two rising numbers, but has {low} and {high}"
            )),
        }
    }
}

/// As it can be typed: `10, 20, 40`, `0.1 to 10`, `0.001 to 1 log`, `5 to 40 whole`.
impl fmt::Display for Values {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(list) => {
                let texts: Vec<String> = list.iter().map(ToString::to_string).collect();
                out.write_str(&texts.join(", "))
            }
            Self::Between(low, high) => write!(out, "{low} to {high}"),
            Self::LogBetween(low, high) => write!(out, "{low} to {high} log"),
            Self::Whole(low, high) => write!(out, "{low} to {high} whole"),
        }
    }
}

impl FromStr for Values {
    type Err = SweepError;

    fn from_str(text: &str) -> Result<Self, SweepError> {
        let Some((low, rest)) = text.split_once(" to ") else {
            return listed(text).map(Self::List);
        };
        let (high, kind) = match rest.trim().rsplit_once(' ') {
            Some((high, kind)) => (high, kind),
            None => (rest, ""),
        };
        match kind {
            "" => Ok(Self::Between(bound(low)?, bound(high)?)),
            "log" => Ok(Self::LogBetween(bound(low)?, bound(high)?)),
            "whole" => Ok(Self::Whole(bound(low)?, bound(high)?)),
            other => bad(format!(
                "a range ends in nothing, log or whole, not {other:?}: 0.001 to 1 log"
            )),
        }
    }
}

/// An end of a range.
fn bound<T: FromStr>(text: &str) -> Result<T, SweepError> {
    let text = text.trim();
    let number = text.parse();
    number.or_else(|_| {
        bad(format!(
            "{text:?} is not a number that such a range can end with"
        ))
    })
}

/// Values between commas; commas inside of brackets, braces and quotes belong to a value.
fn listed(text: &str) -> Result<Vec<SettingText>, SweepError> {
    let mut list = Vec::new();
    let (mut depth, mut is_quoted, mut begin) = (0_i32, false, 0);
    for (at, letter) in text.char_indices().chain([(text.len(), ',')]) {
        match letter {
            '"' => is_quoted = !is_quoted,
            '{' | '[' if !is_quoted => depth += 1,
            '}' | ']' if !is_quoted => depth -= 1,
            ',' if at == text.len() || depth == 0 && !is_quoted => {
                let word = text[begin..at].trim();
                if word.is_empty() {
                    return bad(
                        "a value is missing: write values with commas between, as in 10, 20",
                    );
                }
                list.push(SettingText::of(word));
                begin = at + 1;
            }
            _ => {}
        }
    }
    match depth == 0 && !is_quoted {
        true => Ok(list),
        false => bad("a bracket or quote is not closed"),
    }
}

impl SettingText {
    fn of(word: &str) -> Self {
        match (word.parse(), word.parse()) {
            (Ok(truth), _) => Self::Truth(truth),
            (_, Ok(number)) => Self::Number(number),
            _ => Self::Text(word.to_owned()),
        }
    }
}

impl Values {
    /// Values that tell whether all of them are sound: those listed, or the ends of the range and a
    /// number between them, which is no whole one where the range is not of whole numbers.
    pub fn samples(&self) -> Vec<String> {
        match self {
            Self::List(list) => list.iter().map(ToString::to_string).collect(),
            Self::Between(low, high) | Self::LogBetween(low, high) => {
                let inside = low + (high - low) / std::f64::consts::PI;
                [*low, *high, inside].map(|value| value.to_string()).into()
            }
            Self::Whole(low, high) => vec![low.to_string(), high.to_string()],
        }
    }

    fn n_listed(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            _ => 0,
        }
    }

    fn draw(&self, random: &mut RandomStream) -> String {
        match self {
            Self::List(list) => list[random_below(random, list.len())].to_string(),
            Self::Between(low, high) => (low + (high - low) * random_share(random)).to_string(),
            Self::LogBetween(low, high) => (low.ln() + (high / low).ln() * random_share(random))
                .exp()
                .to_string(),
            Self::Whole(low, high) => {
                (*low as usize + random_below(random, (high - low) as usize + 1)).to_string()
            }
        }
    }
}
