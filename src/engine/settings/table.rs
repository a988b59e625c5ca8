//! What is known of a setting: name, symbol, unit, default, range and help. Every stage declares
//! its own once; checks, fields of the window, `--set`, sweeps and the printed reference read it.

use std::fmt;

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind {
    /// A number.
    Number {
        /// The lowest and the highest that are accepted; other settings may narrow them.
        legal: (f64, f64),
        /// Those that a slider offers.
        usual: (f64, f64),
        /// What it is at first.
        default: f64,
        /// Whether it is a whole number.
        whole: bool,
        /// Whether magnitudes matter rather than differences.
        logarithmic: bool,
    },
    /// One of these words, some with settings inside.
    Choice(&'static [&'static str]),
    /// True or false.
    Switch,
}

/// One setting as the whole program knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Its name within its stage, choices left out: `algorithm.novelty`.
    pub name: &'static str,
    /// The choice it belongs to, where another one has a setting of the same name.
    pub of: Option<&'static str>,
    /// What the window calls it.
    pub label: &'static str,
    /// Its letter in the equations.
    pub symbol: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// What values it takes.
    pub kind: ValueKind,
}

impl Setting {
    /// A number with the range that is accepted, the range of its slider, and its default.
    pub const fn number(
        name: &'static str,
        label: &'static str,
        help: &'static str,
        legal: (f64, f64),
        usual: (f64, f64),
        default: f64,
    ) -> Self {
        let kind = ValueKind::Number {
            legal,
            usual,
            default,
            whole: false,
            logarithmic: false,
        };
        Self::new(name, label, help, kind)
    }

    const fn new(
        name: &'static str,
        label: &'static str,
        help: &'static str,
        kind: ValueKind,
    ) -> Self {
        Self {
            name,
            of: None,
            label,
            symbol: "",
            unit: "",
            help,
            kind,
        }
    }

    /// One of several words.
    pub const fn choice(
        name: &'static str,
        label: &'static str,
        help: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        Self::new(name, label, help, ValueKind::Choice(words))
    }

    /// True or false.
    pub const fn switch(name: &'static str, label: &'static str, help: &'static str) -> Self {
        Self::new(name, label, help, ValueKind::Switch)
    }

    /// The same setting, whole numbers only.
    pub const fn whole(mut self) -> Self {
        if let ValueKind::Number { whole, .. } = &mut self.kind {
            *whole = true;
        }
        self
    }

    /// The same setting, on a logarithmic scale.
    pub const fn logarithmic(mut self) -> Self {
        if let ValueKind::Number { logarithmic, .. } = &mut self.kind {
            *logarithmic = true;
        }
        self
    }

    /// The same setting with its letter.
    pub const fn symbol(mut self, symbol: &'static str) -> Self {
        self.symbol = symbol;
        self
    }

    /// The same setting with its unit.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// The same setting as one of a choice.
    pub const fn of(mut self, choice: &'static str) -> Self {
        self.of = Some(choice);
        self
    }

    /// The same setting with another range of accepted numbers.
    pub const fn within(mut self, low: f64, high: f64) -> Self {
        if let ValueKind::Number { legal, .. } = &mut self.kind {
            *legal = (low, high);
        }
        self
    }

    /// The lowest and the highest number accepted; nothing is wrong with a word.
    pub const fn legal(&self) -> (f64, f64) {
        match self.kind {
            ValueKind::Number { legal, .. } => legal,
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// The letter where there is one, otherwise the name.
    pub fn short(&self) -> &'static str {
        match self.symbol {
            "" => self.name,
            symbol => symbol,
        }
    }

    /// Whether a problem that is noted for `field` is one of this setting, or of what it is part of.
    pub fn has_problem(&self, field: &str) -> bool {
        let mut name = self.name;
        loop {
            let rest = field.strip_suffix(name);
            if rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.')) {
                return true;
            }
            match name.rsplit_once('.') {
                Some((outer, _)) => name = outer,
                None => return false,
            }
        }
    }
}

/// What values it takes, in words: "whole number, 1 to 100000, default 30".
impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number {
                legal: (low, high),
                default,
                whole,
                ..
            } => {
                let kind = if *whole { "whole number" } else { "number" };
                match high.is_finite() {
                    true => write!(f, "{kind}, {low} to {high}, default {default}"),
                    false => write!(f, "{kind}, {low} or more, default {default}"),
                }
            }
            Self::Choice(words) => f.write_str(&words.join(", ")),
            Self::Switch => f.write_str("true, false"),
        }
    }
}

/// The settings of one stage.
#[derive(Clone, Copy, Debug)]
pub struct SettingGroup {
    /// Where the stage stands in an experiment: `learner`; nothing for the experiment itself.
    pub place: &'static str,
    /// Its settings.
    pub settings: &'static [&'static Setting],
}

impl SettingGroup {
    /// The whole name of a setting, as in `--set`.
    pub fn full_name(&self, setting: &Setting) -> String {
        match self.place {
            "" => setting.name.to_owned(),
            place => format!("{place}.{}", setting.name),
        }
    }
}
