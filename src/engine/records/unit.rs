//! Physical units: one spelling for each known one, and how many volts or amperes it is.

use serde::Serialize;

/// What a unit measures, as far as the later stages care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Electric potential, base unit volt.
    Voltage,
    /// Electric current, base unit ampere.
    Current,
    /// Known, but neither of the two.
    Other,
}

/// A unit as the file writes it and as this program writes it.
///
/// Samples are in this unit: normalising changes the spelling, never the values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unit {
    /// Normalised spelling (`µV`), or the trimmed raw one if unknown.
    pub symbol: String,
    /// As in the file.
    pub raw: String,
    /// What it measures; `None` if the unit is unknown or blank.
    pub quantity: Option<Quantity>,
    /// One of this unit in the base unit of its quantity (1e-6 for µV).
    pub in_base: f64,
}

impl Unit {
    /// Reads a unit as files spell it: `uV`, `µV`, `microvolt`, `kV`, `ampere`, …
    pub fn parse(raw: &str) -> Self {
        let trimmed = raw.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        let known = recognise(trimmed);
        let (symbol, quantity, in_base) = match known {
            Some((symbol, quantity, in_base)) => (symbol, Some(quantity), in_base),
            None => (trimmed.to_owned(), None, 1.0),
        };
        Self {
            symbol,
            raw: raw.to_owned(),
            quantity,
            in_base,
        }
    }

    /// No unit at all (tables, digital channels).
    pub fn none() -> Self {
        Self::parse("")
    }

    /// Whether the program knows what the unit means.
    pub fn is_known(&self) -> bool {
        self.quantity.is_some()
    }

    /// Volts in one of this unit, if it is a voltage.
    pub fn volts(&self) -> Option<f64> {
        (self.quantity == Some(Quantity::Voltage)).then_some(self.in_base)
    }

    /// Amperes in one of this unit, if it is a current.
    pub fn amperes(&self) -> Option<f64> {
        (self.quantity == Some(Quantity::Current)).then_some(self.in_base)
    }
}

/// Prefixes in one spelling, with their power of ten. Case matters: `m` is milli, `M` is mega.
const PREFIXES: &[(&str, &str, i32)] = &[
    ("", "", 0),
    ("p", "p", -12),
    ("n", "n", -9),
    ("u", "µ", -6),
    ("U", "µ", -6),
    ("\u{b5}", "µ", -6),
    ("\u{3bc}", "µ", -6),
    // UTF-8 taken for Latin-1, and a byte that no decoder knew.
    ("\u{c2}\u{b5}", "µ", -6),
    ("\u{ce}\u{bc}", "µ", -6),
    ("\u{fffd}", "µ", -6),
    ("m", "m", -3),
    ("\u{43c}", "m", -3),
    ("k", "k", 3),
    ("K", "k", 3),
    ("\u{43a}", "k", 3),
    ("M", "M", 6),
    ("\u{41c}", "M", 6),
    ("G", "G", 9),
];

const WORD_PREFIXES: &[(&str, &str, i32)] = &[
    ("", "", 0),
    ("nano", "n", -9),
    ("micro", "µ", -6),
    ("milli", "m", -3),
    ("kilo", "k", 3),
    ("mega", "M", 6),
];

/// Base units: spellings, symbol, quantity. The first group takes prefixes.
const BASES: &[(&[&str], &str, Quantity)] = &[
    // The last of each are Cyrillic.
    (&["V", "v", "\u{412}"], "V", Quantity::Voltage),
    (&["A", "a", "\u{410}"], "A", Quantity::Current),
    (&["Hz", "HZ", "hz", "\u{413}\u{446}"], "Hz", Quantity::Other),
    (&["W", "w"], "W", Quantity::Other),
    (&["VA", "va"], "VA", Quantity::Other),
    (
        &["var", "VAr", "VAR", "Var", "vars"],
        "var",
        Quantity::Other,
    ),
    (
        &["Ohm", "ohm", "\u{3a9}", "\u{2126}", "\u{41e}\u{43c}"],
        "Ω",
        Quantity::Other,
    ),
    (&["S"], "S", Quantity::Other),
    (&["s", "sec"], "s", Quantity::Other),
    (&["T"], "T", Quantity::Other),
    (&["N"], "N", Quantity::Other),
    (&["m"], "m", Quantity::Other),
    (&["g"], "g", Quantity::Other),
    (&["Pa"], "Pa", Quantity::Other),
];

const WORDS: &[(&[&str], &str, Quantity)] = &[
    (&["volt", "volts"], "V", Quantity::Voltage),
    (
        &["ampere", "amperes", "amp", "amps"],
        "A",
        Quantity::Current,
    ),
    (&["hertz"], "Hz", Quantity::Other),
    (&["watt", "watts"], "W", Quantity::Other),
];

/// Units without prefixes.
const WHOLE: &[(&[&str], &str)] = &[
    (&["%", "percent"], "%"),
    (&["degC", "DegC", "°C", "C", "celsius"], "°C"),
    (&["deg", "°", "degree", "degrees"], "°"),
    (&["mmHg"], "mmHg"),
    (&["cmH2O"], "cmH2O"),
    (&["bpm", "BPM"], "bpm"),
    (&["pu", "p.u.", "PU"], "pu"),
    (&["rpm", "RPM"], "rpm"),
    (&["boolean"], "boolean"),
    (&["1"], "1"),
];

fn recognise(text: &str) -> Option<(String, Quantity, f64)> {
    if text.is_empty() {
        return None;
    }
    let lower = text.to_lowercase();
    for (spellings, symbol) in WHOLE {
        if spellings.iter().any(|s| *s == text || *s == lower) {
            return Some(((*symbol).to_owned(), Quantity::Other, 1.0));
        }
    }
    prefixed(text, BASES, PREFIXES).or_else(|| prefixed(&lower, WORDS, WORD_PREFIXES))
}

fn prefixed(
    text: &str,
    bases: &[(&[&str], &str, Quantity)],
    prefixes: &[(&str, &str, i32)],
) -> Option<(String, Quantity, f64)> {
    for (spellings, base, quantity) in bases {
        for prefix_text in spellings.iter().filter_map(|s| text.strip_suffix(*s)) {
            let found = prefixes.iter().find(|(p, _, _)| *p == prefix_text);
            if let Some((_, prefix, exponent)) = found {
                return Some((format!("{prefix}{base}"), *quantity, 10f64.powi(*exponent)));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_unit_become_one_and_keep_their_factor() {
        for raw in ["uV", "µV", "\u{3bc}V", "UV", "uv", " microvolts ", "uV\0"] {
            let unit = Unit::parse(raw);
            assert_eq!(unit.symbol, "µV", "{raw:?}");
            assert_eq!(unit.volts(), Some(1e-6), "{raw:?}");
            assert_eq!(unit.raw, raw);
        }
        assert_eq!(Unit::parse("mV").volts(), Some(1e-3));
        assert_eq!(Unit::parse("MV").volts(), Some(1e6));
        assert_eq!(Unit::parse("ampere").amperes(), Some(1.0));
        assert_eq!(Unit::parse("kA").amperes(), Some(1e3));
        assert_eq!(Unit::parse("DegC").symbol, "°C");
        assert_eq!(Unit::parse("кВ").volts(), Some(1e3));
        assert_eq!(Unit::parse("А").amperes(), Some(1.0));
    }

    #[test]
    fn unknown_units_are_kept_and_flagged() {
        let unit = Unit::parse(" furlong ");
        assert_eq!(unit.symbol, "furlong");
        assert!(!unit.is_known());
        assert_eq!(unit.volts(), None);
        assert!(!Unit::none().is_known());
    }
}
