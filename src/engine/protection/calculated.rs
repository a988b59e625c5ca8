//! Calculated channels: lines of text such as `3I0 = IA + IB + IC` or `rms(VA)` over the channels of a record.
//!
//! ```text
//! line        [name =] expression
//! expression  sums, differences, products, quotients, signs, brackets, numbers, channels, functions
//! functions   rms(x) dft(x, order) mag(x) ang(x[, reference]) diff(x) int(x) lowpass(x, hz) abs(x) thd(x) f(x)
//!             i2t(x) P(v, i) Q(v, i) S(v, i) seq0(a, b, c) seq1(a, b, c) seq2(a, b, c) unbalance(a, b, c)
//! ```
//!
//! A name with other signs than letters, digits and `_ . ' #` stands in quotes or square brackets. Values that need a
//! cycle (RMS, phasors, power, frequency) are those of the cycle that ends at the sample, and missing before the first.

use std::f64::consts::TAU;
use std::fmt;

use num_complex::Complex64;

/// Deepest nesting of brackets and functions.
const MOST_DEPTH: usize = 64;

/// Longest line.
const MOST_LETTERS: usize = 1000;

/// The highest harmonic of the distortion.
const HIGHEST_HARMONIC: usize = 25;

/// What a line is computed from.
pub trait Channels {
    /// The samples of a channel by its name; missing ones are NaN.
    fn values(&self, name: &str) -> Option<Vec<f64>>;
}

/// Rate, frequency and channels of a record.
pub struct Context<'a> {
    /// Samples per second.
    pub rate_hz: f64,
    /// Frequency of the cycles.
    pub frequency_hz: f64,
    /// The channels.
    pub channels: &'a dyn Channels,
}

/// Why a line cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CalculationError {
    /// The line is too long.
    #[error("a line has at most {MOST_LETTERS} letters")]
    TooLong,
    /// Something else was expected.
    #[error("{expected} is expected at letter {at}, but there is {found}")]
    Syntax {
        /// Letter, from 1.
        at: usize,
        /// What stands there.
        found: String,
        /// What should.
        expected: &'static str,
    },
    /// A channel does not exist.
    #[error("there is no channel {name:?}")]
    NoChannel {
        /// Its name.
        name: String,
    },
    /// A function does not exist.
    #[error(
        "there is no function {name:?}: rms, dft, mag, ang, diff, int, lowpass, abs, thd, f, i2t, P, Q, S, seq0, seq1, seq2, unbalance exist"
    )]
    NoFunction {
        /// Its name.
        name: String,
    },
    /// A function has too many or too few values.
    #[error("{name} takes {needed}, but has {found}")]
    Arguments {
        /// The function.
        name: String,
        /// What it takes.
        needed: &'static str,
        /// How many it has.
        found: usize,
    },
    /// The record is too coarse for cycles.
    #[error("a cycle has {per_cycle:.2} samples, but at least 4 are needed")]
    TooCoarse {
        /// Samples of a cycle.
        per_cycle: f64,
    },
}

/// A line that can be computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Calculation {
    /// Name of the new channel.
    pub name: String,
    expression: Node,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Number(f64),
    Channel(String),
    Negative(Box<Node>),
    Pair(char, Box<Node>, Box<Node>),
    Function(String, Vec<Node>),
}

#[derive(Debug, Clone, PartialEq)]
enum FormulaToken {
    Number(f64),
    Name(String),
    Quoted(String),
    Sign(char),
}

impl fmt::Display for FormulaToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) | Self::Quoted(name) => write!(f, "{name:?}"),
            Self::Sign(sign) => write!(f, "{sign:?}"),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<(usize, FormulaToken)>, CalculationError> {
    let letters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '#');
    while at < letters.len() {
        let (start, letter) = (at, letters[at]);
        at += 1;
        let token = match letter {
            c if c.is_whitespace() => continue,
            '"' | '[' => {
                let close = if letter == '[' { ']' } else { '"' };
                let length = letters[at..].iter().position(|c| *c == close);
                let Some(length) = length else {
                    return Err(CalculationError::Syntax {
                        at: start + 1,
                        found: format!("{letter:?} that is not closed"),
                        expected: "a name in quotes or brackets",
                    });
                };
                let name = letters[at..at + length].iter().collect();
                at += length + 1;
                FormulaToken::Quoted(name)
            }
            c if is_name(c) => {
                while at < letters.len() && is_name(letters[at]) {
                    at += 1;
                }
                let word: String = letters[start..at].iter().collect();
                match word.parse::<f64>() {
                    Ok(number) if !word.starts_with(char::is_alphabetic) => {
                        FormulaToken::Number(number)
                    }
                    _ => FormulaToken::Name(word),
                }
            }
            '+' | '-' | '*' | '/' | '(' | ')' | ',' | '=' => FormulaToken::Sign(letter),
            other => {
                return Err(CalculationError::Syntax {
                    at: start + 1,
                    found: format!("{other:?}"),
                    expected: "a channel, a number or one of + - * / ( ) , =",
                });
            }
        };
        found.push((start + 1, token));
    }
    Ok(found)
}

struct FormulaParser<'a> {
    tokens: &'a [(usize, FormulaToken)],
    at: usize,
    end: usize,
}

impl FormulaParser<'_> {
    fn peek_sign(&self) -> Option<char> {
        match self.tokens.get(self.at) {
            Some((_, FormulaToken::Sign(sign))) => Some(*sign),
            _ => None,
        }
    }

    fn wrong(&self, expected: &'static str) -> CalculationError {
        let (at, found) = match self.tokens.get(self.at) {
            Some((at, token)) => (*at, token.to_string()),
            None => (self.end + 1, "the end".to_owned()),
        };
        CalculationError::Syntax {
            at,
            found,
            expected,
        }
    }

    fn sum(&mut self, depth: usize) -> Result<Node, CalculationError> {
        let mut left = self.product(depth)?;
        while let Some(sign @ ('+' | '-')) = self.peek_sign() {
            self.at += 1;
            let right = self.product(depth)?;
            left = Node::Pair(sign, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn product(&mut self, depth: usize) -> Result<Node, CalculationError> {
        let mut left = self.part(depth)?;
        while let Some(sign @ ('*' | '/')) = self.peek_sign() {
            self.at += 1;
            let right = self.part(depth)?;
            left = Node::Pair(sign, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn part(&mut self, depth: usize) -> Result<Node, CalculationError> {
        if depth == 0 {
            return Err(self.wrong("less nesting"));
        }
        let token = self.tokens.get(self.at).map(|(_, token)| token.clone());
        match token {
            Some(FormulaToken::Sign('-')) => {
                self.at += 1;
                Ok(Node::Negative(Box::new(self.part(depth - 1)?)))
            }
            Some(FormulaToken::Sign('(')) => {
                self.at += 1;
                let inner = self.sum(depth - 1)?;
                self.close()?;
                Ok(inner)
            }
            Some(FormulaToken::Number(number)) => {
                self.at += 1;
                Ok(Node::Number(number))
            }
            Some(FormulaToken::Quoted(name)) => {
                self.at += 1;
                Ok(Node::Channel(name))
            }
            Some(FormulaToken::Name(name)) => {
                self.at += 1;
                if self.peek_sign() != Some('(') {
                    return Ok(Node::Channel(name));
                }
                self.at += 1;
                let mut arguments = vec![self.sum(depth - 1)?];
                while self.peek_sign() == Some(',') {
                    self.at += 1;
                    arguments.push(self.sum(depth - 1)?);
                }
                self.close()?;
                Ok(Node::Function(name, arguments))
            }
            _ => Err(self.wrong("a channel, a number, a function or a bracket")),
        }
    }

    fn close(&mut self) -> Result<(), CalculationError> {
        if self.peek_sign() != Some(')') {
            return Err(self.wrong("a closing bracket"));
        }
        self.at += 1;
        Ok(())
    }
}

/// What is meant of a whole bay by a letter alone.
const OF_THE_BAY: [(&str, &str); 4] = [
    ("P", "P = P(VA, IA) + P(VB, IB) + P(VC, IC)"),
    ("Q", "Q = Q(VA, IA) + Q(VB, IB) + Q(VC, IC)"),
    ("S", "S = S(VA, IA) + S(VB, IB) + S(VC, IC)"),
    ("f", "f = f(VA)"),
];

impl Calculation {
    /// Reads a line; without a name it is called as it is written.
    pub fn parse(line: &str) -> Result<Self, CalculationError> {
        let of_bay = OF_THE_BAY.iter().find(|(letter, _)| *letter == line.trim());
        let line = of_bay.map_or(line, |(_, formula)| *formula);
        if line.chars().count() > MOST_LETTERS {
            return Err(CalculationError::TooLong);
        }
        let tokens = tokens(line)?;
        let end = line.chars().count();
        let (name, first) = match tokens.as_slice() {
            [
                (_, FormulaToken::Name(name) | FormulaToken::Quoted(name)),
                (_, FormulaToken::Sign('=')),
                ..,
            ] => (name.clone(), 2),
            _ => (line.trim().to_owned(), 0),
        };
        let mut parser = FormulaParser {
            tokens: &tokens,
            at: first,
            end,
        };
        let expression = parser.sum(MOST_DEPTH)?;
        match parser.at == tokens.len() {
            true => Ok(Self { name, expression }),
            false => Err(parser.wrong("the end, or one of + - * /")),
        }
    }

    /// The unit of the new channel, with channels in volts and amperes; empty where it has none.
    pub fn unit(&self, of_channel: &dyn Fn(&str) -> String) -> String {
        self.expression.unit(of_channel)
    }

    /// The channel that the line names first.
    pub fn first_channel(&self) -> Option<&str> {
        self.expression.first_channel()
    }

    /// The samples of the new channel.
    pub fn compute(&self, context: &Context<'_>) -> Result<Vec<f64>, CalculationError> {
        match self.expression.value(context)? {
            FormulaValue::Wave(wave) => Ok(wave),
            FormulaValue::Number(number) => Ok(vec![number]),
        }
    }
}

enum FormulaValue {
    Number(f64),
    Wave(Vec<f64>),
}

impl Node {
    fn first_channel(&self) -> Option<&str> {
        match self {
            Self::Number(_) => None,
            Self::Channel(name) => Some(name),
            Self::Negative(inner) => inner.first_channel(),
            Self::Pair(_, left, right) => left.first_channel().or_else(|| right.first_channel()),
            Self::Function(_, nodes) => nodes.iter().find_map(Self::first_channel),
        }
    }

    fn unit(&self, of_channel: &dyn Fn(&str) -> String) -> String {
        match self {
            Self::Number(_) => String::new(),
            Self::Channel(name) => of_channel(name),
            Self::Negative(inner) => inner.unit(of_channel),
            Self::Pair(sign, left, right) => {
                let (of_left, of_right) = (left.unit(of_channel), right.unit(of_channel));
                match (sign, of_left.as_str(), of_right.as_str()) {
                    ('+' | '-', a, b) if a == b => of_left,
                    ('*' | '/', _, "") => of_left,
                    ('*', "", _) => of_right,
                    ('*', "V", "A") | ('*', "A", "V") => "W".to_owned(),
                    ('/', "V", "A") => "Ω".to_owned(),
                    _ => String::new(),
                }
            }
            Self::Function(name, nodes) => {
                let of_first = nodes.first().map(|node| node.unit(of_channel));
                let of_first = of_first.unwrap_or_default();
                match name.as_str() {
                    "ang" => "°".to_owned(),
                    "thd" | "unbalance" => "%".to_owned(),
                    "f" => "Hz".to_owned(),
                    "P" => "W".to_owned(),
                    "Q" => "var".to_owned(),
                    "S" => "VA".to_owned(),
                    "diff" | "int" | "i2t" if of_first.is_empty() => String::new(),
                    "diff" => format!("{of_first}/s"),
                    "int" => format!("{of_first}s"),
                    "i2t" => format!("{of_first}²s"),
                    _ => of_first,
                }
            }
        }
    }

    fn value(&self, context: &Context<'_>) -> Result<FormulaValue, CalculationError> {
        match self {
            Self::Number(number) => Ok(FormulaValue::Number(*number)),
            Self::Channel(name) => match context.channels.values(name) {
                Some(values) => Ok(FormulaValue::Wave(values)),
                None => Err(CalculationError::NoChannel { name: name.clone() }),
            },
            Self::Negative(inner) => Ok(match inner.value(context)? {
                FormulaValue::Number(number) => FormulaValue::Number(-number),
                FormulaValue::Wave(wave) => {
                    FormulaValue::Wave(wave.into_iter().map(|v| -v).collect())
                }
            }),
            Self::Pair(sign, left, right) => {
                Ok(paired(*sign, left.value(context)?, right.value(context)?))
            }
            Self::Function(name, arguments) => function(name, arguments, context),
        }
    }
}

fn paired(sign: char, left: FormulaValue, right: FormulaValue) -> FormulaValue {
    let of = |a: f64, b: f64| match sign {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        _ => a / b,
    };
    match (left, right) {
        (FormulaValue::Number(a), FormulaValue::Number(b)) => FormulaValue::Number(of(a, b)),
        (FormulaValue::Wave(a), FormulaValue::Number(b)) => {
            FormulaValue::Wave(a.into_iter().map(|x| of(x, b)).collect())
        }
        (FormulaValue::Number(a), FormulaValue::Wave(b)) => {
            FormulaValue::Wave(b.into_iter().map(|x| of(a, x)).collect())
        }
        (FormulaValue::Wave(a), FormulaValue::Wave(b)) => {
            FormulaValue::Wave(a.into_iter().zip(b).map(|(x, y)| of(x, y)).collect())
        }
    }
}

/// Waves and numbers of a function's arguments, in order.
struct FunctionArguments {
    name: String,
    waves: Vec<Vec<f64>>,
    number: Option<f64>,
}

fn function(
    name: &str,
    nodes: &[Node],
    context: &Context<'_>,
) -> Result<FormulaValue, CalculationError> {
    let mut arguments = FunctionArguments {
        name: name.to_owned(),
        waves: Vec::new(),
        number: None,
    };
    for node in nodes {
        match node.value(context)? {
            FormulaValue::Wave(wave) => arguments.waves.push(wave),
            FormulaValue::Number(number) => arguments.number = Some(number),
        }
    }
    let per_cycle = context.rate_hz / context.frequency_hz;
    let cycle = (per_cycle.round() as usize).max(1);
    let needs_cycle = !matches!(name, "diff" | "int" | "lowpass" | "abs" | "i2t");
    if needs_cycle && (per_cycle.is_nan() || per_cycle < 3.99) {
        return Err(CalculationError::TooCoarse { per_cycle });
    }
    let step_s = 1.0 / context.rate_hz;
    let root_two = 2.0_f64.sqrt();
    let size = |x: Complex64| x.norm() / root_two;
    let phasors = |wave: &[f64], order: f64| sliding_phasors(wave, per_cycle, order);
    let power = |arguments: FunctionArguments, of: fn(Complex64) -> f64| {
        let [v, i] = arguments.waves_of::<2>("a voltage and a current")?;
        let (v, i) = (phasors(&v, 1.0), phasors(&i, 1.0));
        Ok(v.iter()
            .zip(i)
            .map(|(v, i)| of(v * i.conj() / 2.0))
            .collect())
    };
    let wave: Vec<f64> = match name {
        "rms" => sliding_rms(&arguments.one()?, cycle),
        "mag" => phasors(&arguments.one()?, 1.0)
            .into_iter()
            .map(size)
            .collect(),
        "dft" => {
            let order = arguments.number.unwrap_or(1.0);
            phasors(&arguments.one()?, order)
                .into_iter()
                .map(size)
                .collect()
        }
        "ang" => match arguments.waves.len() {
            2 => {
                let [x, reference] = arguments.waves_of::<2>("a channel and a reference")?;
                let reference = phasors(&reference, 1.0);
                let turned = phasors(&x, 1.0).into_iter().zip(reference);
                turned
                    .map(|(x, r)| (x * r.conj()).arg().to_degrees())
                    .collect()
            }
            _ => phasors(&arguments.one()?, 1.0)
                .into_iter()
                .map(|x| x.arg().to_degrees())
                .collect(),
        },
        "thd" => distortion(&arguments.one()?, per_cycle),
        "f" => frequency(&arguments.one()?, context, cycle),
        "abs" => arguments.one()?.into_iter().map(f64::abs).collect(),
        "diff" => differentiated(&arguments.one()?, step_s),
        "int" => integrated(&arguments.one()?, step_s),
        "i2t" => {
            let squares: Vec<f64> = arguments.one()?.into_iter().map(|i| i * i).collect();
            integrated(&squares, step_s)
        }
        "lowpass" => {
            let limit_hz = arguments.number.unwrap_or(context.frequency_hz);
            lowpass(&arguments.one()?, limit_hz, step_s)
        }
        "P" => power(arguments, |s| s.re)?,
        "Q" => power(arguments, |s| s.im)?,
        "S" => power(arguments, |s| s.norm())?,
        "seq0" | "seq1" | "seq2" | "unbalance" => {
            let three = arguments.waves_of::<3>("three channels")?;
            let [a, b, c] = three.map(|wave| phasors(&wave, 1.0));
            let all = a.into_iter().zip(b).zip(c);
            let parts = all.map(|((a, b), c)| {
                crate::features::phasor::sequence_components([a, b, c]).map(size)
            });
            let of = |[zero, positive, negative]: [f64; 3]| match name {
                "seq0" => zero,
                "seq1" => positive,
                "seq2" => negative,
                _ => 100.0 * negative / positive,
            };
            parts.map(of).collect()
        }
        _ => {
            return Err(CalculationError::NoFunction {
                name: name.to_owned(),
            });
        }
    };
    Ok(FormulaValue::Wave(wave))
}

impl FunctionArguments {
    fn one(self) -> Result<Vec<f64>, CalculationError> {
        self.waves_of::<1>("one channel").map(|[wave]| wave)
    }

    fn waves_of<const N: usize>(
        self,
        needed: &'static str,
    ) -> Result<[Vec<f64>; N], CalculationError> {
        let (name, found) = (self.name, self.waves.len());
        self.waves
            .try_into()
            .map_err(|_wrong: Vec<Vec<f64>>| CalculationError::Arguments {
                name,
                needed,
                found,
            })
    }
}

/// Root of the mean square of the cycle that ends at each sample.
fn sliding_rms(wave: &[f64], cycle: usize) -> Vec<f64> {
    let squares: Vec<f64> = wave.iter().map(|v| v * v).collect();
    let mean = |span: &[f64]| (span.iter().sum::<f64>() / span.len() as f64).sqrt();
    over_cycles(&squares, cycle, mean)
}

/// A value of the cycle that ends at each sample; missing before the first whole one.
fn over_cycles(wave: &[f64], cycle: usize, of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let first = vec![f64::NAN; (cycle - 1).min(wave.len())];
    first
        .into_iter()
        .chain(wave.windows(cycle).map(of))
        .collect()
}

/// Peak phasor of a harmonic over the cycle that ends at each sample, its angle that of a cosine at the sample.
fn sliding_phasors(wave: &[f64], per_cycle: f64, order: f64) -> Vec<Complex64> {
    let cycle = per_cycle.round() as usize;
    let turns: Vec<Complex64> = (0..cycle)
        .map(|k| Complex64::cis(-TAU * order * (k as f64 - (cycle - 1) as f64) / per_cycle))
        .collect();
    let of = |span: &[f64]| {
        let sum: Complex64 = span.iter().zip(&turns).map(|(v, turn)| turn * v).sum();
        sum * (2.0 / cycle as f64)
    };
    let missing = Complex64::new(f64::NAN, f64::NAN);
    let first = vec![missing; (cycle - 1).min(wave.len())];
    first
        .into_iter()
        .chain(wave.windows(cycle).map(of))
        .collect()
}

/// Harmonics 2 and above as a share of the fundamental, in per cent.
fn distortion(wave: &[f64], per_cycle: f64) -> Vec<f64> {
    let highest = HIGHEST_HARMONIC
        .min(((per_cycle - 1.0) / 2.0) as usize)
        .max(1);
    let fundamental = sliding_phasors(wave, per_cycle, 1.0);
    let mut power = vec![0.0; wave.len()];
    for order in 2..=highest {
        let parts = sliding_phasors(wave, per_cycle, order as f64);
        for (sum, part) in power.iter_mut().zip(parts) {
            *sum += part.norm_sqr();
        }
    }
    let pairs = power.into_iter().zip(fundamental);
    pairs.map(|(p, x)| 100.0 * p.sqrt() / x.norm()).collect()
}

/// Frequency by how far the phasor turns in a cycle.
fn frequency(wave: &[f64], context: &Context<'_>, cycle: usize) -> Vec<f64> {
    let phasors = sliding_phasors(wave, context.rate_hz / context.frequency_hz, 1.0);
    let at = |k: usize| {
        let before = k.checked_sub(cycle).and_then(|before| phasors.get(before));
        before.map_or(f64::NAN, |before| {
            let turned = (phasors[k] * before.conj()).arg() / TAU;
            let exact = cycle as f64 / context.rate_hz;
            // A whole number of samples is not quite a cycle.
            let whole = (exact * context.frequency_hz).round();
            (whole + turned) / exact
        })
    };
    (0..wave.len()).map(at).collect()
}

fn differentiated(wave: &[f64], step_s: f64) -> Vec<f64> {
    let first = wave.first().map(|_| f64::NAN);
    let slopes = wave.windows(2).map(|pair| (pair[1] - pair[0]) / step_s);
    first.into_iter().chain(slopes).collect()
}

/// Trapezoids from the first sample on; missing values add nothing.
fn integrated(wave: &[f64], step_s: f64) -> Vec<f64> {
    let mut sum = 0.0;
    let mut before: Option<f64> = None;
    let add = |value: &f64| {
        if let Some(before) = before.filter(|_| value.is_finite()) {
            sum += (before + value) / 2.0 * step_s;
        }
        before = Some(*value).filter(|v| v.is_finite());
        sum
    };
    wave.iter().map(add).collect()
}

/// First order, by the bilinear transform.
fn lowpass(wave: &[f64], limit_hz: f64, step_s: f64) -> Vec<f64> {
    let k = (std::f64::consts::PI * limit_hz * step_s).min(1.5).tan();
    let (gain, back) = (k / (1.0 + k), (1.0 - k) / (1.0 + k));
    let (mut x_before, mut y) = (
        wave.first().copied().unwrap_or(0.0),
        wave.first().copied().unwrap_or(0.0),
    );
    let step = |x: &f64| {
        if x.is_finite() {
            y = gain * (x + x_before) + back * y;
            x_before = *x;
        }
        y
    };
    wave.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE_HZ: f64 = 3200.0;

    struct Waves;

    impl Channels for Waves {
        fn values(&self, name: &str) -> Option<Vec<f64>> {
            let (size, angle, third) = match name {
                "VA" => (100.0, 0.0, 10.0),
                "VB" => (100.0, -TAU / 3.0, 0.0),
                "VC" | "V C" => (100.0, TAU / 3.0, 0.0),
                "IA" => (10.0, -0.5, 0.0),
                _ => return None,
            };
            let wave = |k: usize| {
                let turn = TAU * 50.0 * k as f64 / RATE_HZ;
                size * (turn + angle).cos() + third * (3.0 * turn).cos()
            };
            Some((0..640).map(wave).collect())
        }
    }

    fn last(line: &str) -> f64 {
        let context = Context {
            rate_hz: RATE_HZ,
            frequency_hz: 50.0,
            channels: &Waves,
        };
        let wave = Calculation::parse(line)
            .expect(line)
            .compute(&context)
            .expect(line);
        *wave.last().expect("samples")
    }

    #[test]
    fn units_follow_the_expression() {
        let of = |name: &str| name[..1].replace('I', "A");
        let unit = |line: &str| Calculation::parse(line).expect("a line").unit(&of);
        let lines = [
            ("3I0 = IA + IB + IC", "A"),
            ("-2 * rms(VA) / 3", "V"),
            ("VA * IA", "W"),
            ("VA / IA", "Ω"),
            ("VA + IA", ""),
            ("P(VA, IA) + P(VB, IB)", "W"),
            ("S", "VA"),
            (" f ", "Hz"),
            ("ang(VA, VB)", "°"),
            ("i2t(IA)", "A²s"),
            ("diff(VA)", "V/s"),
            ("thd(IA) / 100", "%"),
        ];
        for (line, expected) in lines {
            assert_eq!(unit(line), expected, "{line}");
        }
    }

    #[test]
    fn functions_agree_with_closed_forms() {
        let root_two = 2.0_f64.sqrt();
        let turn = TAU * 639.0 / 64.0;
        let cases = [
            ("rms(VA)", ((100.0_f64.powi(2) + 100.0) / 2.0).sqrt()),
            ("dft(VA, 3)", 10.0 / root_two),
            ("mag(IA)", 10.0 / root_two),
            ("ang(IA, VA)", -0.5_f64.to_degrees()),
            ("thd(VA)", 10.0),
            ("f(VB)", 50.0),
            ("P(VA, IA)", 500.0 * 0.5_f64.cos()),
            ("Q(VA, IA)", 500.0 * 0.5_f64.sin()),
            ("S(VA, IA)", 500.0),
            ("seq1(VA, VB, VC)", 100.0 / root_two),
            ("seq2(VA, VB, VC)", 0.0),
            ("unbalance(VA, VC, VB) * 0 + 1", 1.0),
            ("3I0 = VA + VB + [V C]", 10.0 * (3.0 * turn).cos()),
            ("-(VB - VB) + 2 * 3 / 4", 1.5),
            (
                "diff(VB)",
                3200.0 * 100.0 * ((turn - TAU / 3.0).cos() - (turn - TAU / 64.0 - TAU / 3.0).cos()),
            ),
        ];
        for (line, expected) in cases {
            let found = last(line);
            assert!(
                (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
                "{line}: {found} for {expected}"
            );
        }
        // Ten cycles less one sample of i²: half the square of the amplitude over the time.
        assert!((last("i2t(IA)") - 50.0 * 639.0 / RATE_HZ).abs() < 0.02);
        assert!(last("int(IA)").abs() < 0.05);
        // A first-order low-pass at its own limit leaves 1/√2.
        let filtered = last("mag(lowpass(IA, 50))");
        assert!((filtered - 10.0 / 2.0).abs() < 1e-3, "{filtered}");
    }

    #[test]
    fn names_and_mistakes_are_told() {
        assert_eq!(Calculation::parse("3I0 = IA").expect("named").name, "3I0");
        assert_eq!(
            Calculation::parse(" IA - IB ").expect("unnamed").name,
            "IA - IB"
        );
        let context = Context {
            rate_hz: RATE_HZ,
            frequency_hz: 50.0,
            channels: &Waves,
        };
        let error = |line: &str| match Calculation::parse(line) {
            Err(error) => error.to_string(),
            Ok(line) => line.compute(&context).expect_err("wrong").to_string(),
        };
        assert_eq!(error("IX"), "there is no channel \"IX\"");
        assert!(error("foo(IA)").starts_with("there is no function \"foo\""));
        assert_eq!(error("P(VA)"), "P takes a voltage and a current, but has 1");
        assert_eq!(
            error("IA +"),
            "a channel, a number, a function or a bracket is expected at letter 5, but there is the end"
        );
        assert_eq!(
            error("(IA"),
            "a closing bracket is expected at letter 4, but there is the end"
        );
        assert!(error(&"(".repeat(100)).contains("less nesting"));
        assert!(error("IA $").contains("'$'"));
    }
}
