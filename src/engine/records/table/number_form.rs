//! How the numbers of a column are written: decimal sign, groups of thousands, percent.

use serde::{Deserialize, Serialize};

/// What stands between the whole part of a number and its fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecimalSign {
    /// `1.5`; commas group thousands.
    Point,
    /// `1,5`; points group thousands.
    Comma,
}

impl DecimalSign {
    fn sign(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }
}

/// How a number can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// The same number with either decimal sign.
    Either,
    /// A number with this sign only.
    Only(DecimalSign),
    /// Two numbers: the mark is a decimal sign, or it groups thousands (`1.234`, `1,234`).
    Two(DecimalSign),
}

/// How a number is spelled; `None` if it is none.
pub(super) fn spelling(field: &str) -> Option<Spelling> {
    let number = without_percent(field).0;
    if number.bytes().all(|b| b.is_ascii_digit()) && !number.is_empty() {
        return Some(Spelling::Either);
    }
    let point = parse(number, DecimalSign::Point);
    let comma = parse(number, DecimalSign::Comma);
    match (point, comma) {
        (None, None) => None,
        (Some(_), None) => Some(Spelling::Only(DecimalSign::Point)),
        (None, Some(_)) => Some(Spelling::Only(DecimalSign::Comma)),
        (Some(a), Some(b)) if a == b => Some(Spelling::Either),
        (Some(_), Some(_)) if number.contains(',') => Some(Spelling::Two(DecimalSign::Comma)),
        (Some(_), Some(_)) => Some(Spelling::Two(DecimalSign::Point)),
    }
}

/// The field without a percent sign, and whether it had one.
pub(super) fn without_percent(field: &str) -> (&str, bool) {
    match field.strip_suffix('%') {
        Some(number) => (number.trim_end(), true),
        None => (field, false),
    }
}

/// A number with this decimal sign; anything else that marks must group thousands. Digits that make no finite
/// number make none.
pub(super) fn parse(field: &str, decimal: DecimalSign) -> Option<f64> {
    let has_digits = |field: &str| field.bytes().any(|b| b.is_ascii_digit());
    parse_any(field, decimal).filter(|number| number.is_finite() || !has_digits(field))
}

fn parse_any(field: &str, decimal: DecimalSign) -> Option<f64> {
    if let Some(with_e) = with_plain_exponent(field) {
        return parse_any(&with_e, decimal);
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-');
    let has_marks = !field.chars().all(is_plain);
    if !has_marks || (decimal == DecimalSign::Point && is_with_points_alone(field)) {
        let number: f64 = field.parse().ok()?;
        return (!number.is_nan()).then_some(number);
    }
    let (sign, rest) = match field.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => ("-", rest),
        None => ("", field.strip_prefix('+').unwrap_or(field)),
    };
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => rest.split_at_checked(at)?,
        None => (rest, ""),
    };
    let (whole, fraction) = match mantissa.split_once(decimal.sign()) {
        Some((whole, fraction)) => (whole, fraction),
        None => (mantissa, ""),
    };
    let whole = ungrouped(whole, decimal.other().sign())?;
    let is_number =
        fraction.bytes().all(|b| b.is_ascii_digit()) && !(whole.is_empty() && fraction.is_empty());
    let text = is_number.then(|| format!("{sign}{whole}.{fraction}{exponent}"))?;
    text.parse().ok()
}

/// A number as Fortran writes it, `1.5D+03`, with the exponent of everybody else. Without a mark before the letter or a
/// sign behind it, it may be a code.
fn with_plain_exponent(field: &str) -> Option<String> {
    let (mantissa, exponent) = field.split_once(['D', 'd'])?;
    let is_mantissa = mantissa.ends_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    let has_mark = mantissa.contains(['.', ',']) || exponent.starts_with(['+', '-']);
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let is_exponent = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    (is_mantissa && has_mark && is_exponent).then(|| format!("{mantissa}e{exponent}"))
}

/// What stands around the number of a field that is more than a number: a unit or a currency, brackets or a minus
/// behind it as accountants write them, the mark of hexadecimal digits.
pub(super) fn affix_of_number(field: &str) -> Option<&str> {
    const CURRENCIES: [&str; 6] = ["EUR", "USD", "CHF", "GBP", "CAD", "JPY"];
    const LONGEST_UNIT: usize = 4;
    let is_number = |text: &str| {
        let text = text.trim_matches(' ');
        text.ends_with(|c: char| c.is_ascii_digit()) && spelling(text).is_some()
    };
    let hex = field.strip_prefix("0x").or(field.strip_prefix("0X"));
    if hex.is_some_and(|hex| !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit())) {
        return field.get(..2);
    }
    let inner = field
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    if inner.is_some_and(is_number) {
        return Some("()");
    }
    let sign_at = field.find(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '\u{2212}'));
    let (before, rest) = field.split_at(sign_at?);
    let end = rest.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (number, behind) = rest.split_at(end);
    let (before, behind) = (before.trim(), behind.trim());
    let is_money = |text: &str| CURRENCIES.contains(&text) || matches!(text, "€" | "$" | "£" | "¥");
    let is_unit = |text: &str| {
        let is_part = |c: char| c.is_alphabetic() || matches!(c, '°' | '/' | '²' | '³' | '€' | '$');
        text == "-" || (text.chars().count() <= LONGEST_UNIT && text.chars().all(is_part))
    };
    let affix = match (before, behind) {
        ("", "") => return None,
        ("", unit) if is_unit(unit) => unit,
        (money, "") if is_money(money) => money,
        _ => return None,
    };
    is_number(number).then_some(affix)
}

/// Digits with at most one point: what the standard library reads.
fn is_with_points_alone(field: &str) -> bool {
    let mut n_points = 0;
    field.bytes().all(|b| {
        n_points += usize::from(b == b'.');
        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')
    }) && n_points <= 1
}

/// The digits of a whole part whose marks, all of one kind, cut it into thousands.
fn ungrouped(whole: &str, mark: char) -> Option<String> {
    let is_mark = |c: char| c == mark || is_space_or_apostrophe(c);
    let Some(found) = whole.chars().find(|c| is_mark(*c)) else {
        let is_digits = whole.bytes().all(|b| b.is_ascii_digit());
        return is_digits.then(|| whole.to_owned());
    };
    let mut groups = whole.split(found);
    let first = groups.next()?;
    // Nobody groups a number that begins with zero: `0.123` is a fraction.
    let begins = (1..=3).contains(&first.len()) && !first.starts_with('0');
    let is_group = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let is_grouped = begins && is_group(first) && groups.all(|g| g.len() == 3 && is_group(g));
    is_grouped.then(|| whole.chars().filter(|c| *c != found).collect())
}

/// Spaces of several widths and apostrophes, which group thousands in many countries.
pub(super) fn is_space_or_apostrophe(c: char) -> bool {
    matches!(
        c,
        ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '\u{2019}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use DecimalSign::{Comma, Point};

    #[test]
    fn numbers_are_read_as_their_sign_says() {
        for (text, point, comma) in [
            ("12", Some(12.0), Some(12.0)),
            ("-1.5e3", Some(-1500.0), None),
            ("1,5", None, Some(1.5)),
            ("1,234.5", Some(1234.5), None),
            ("1.234,5", None, Some(1234.5)),
            ("1.234.567", None, Some(1_234_567.0)),
            ("1,234", Some(1234.0), Some(1.234)),
            ("0,234", None, Some(0.234)),
            ("1 000,5", None, Some(1000.5)),
            ("1\u{202f}000", Some(1000.0), Some(1000.0)),
            ("1'234.5", Some(1234.5), None),
            ("\u{2212}3.5", Some(-3.5), None),
            ("5 2", None, None),
            ("1,2,3", None, None),
            ("1 234'567", None, None),
            (".5", Some(0.5), None),
            (",", None, None),
            ("", None, None),
            ("nan", None, None),
            ("inf", Some(f64::INFINITY), Some(f64::INFINITY)),
            ("1.2.2024", None, None),
            ("1e400", None, None),
            ("-1,5e400", None, None),
            ("1.5D+03", Some(1500.0), None),
            ("-1,25d-1", None, Some(-0.125)),
            ("2D-1", Some(0.2), Some(0.2)),
            ("2D1", None, None),
            ("D5", None, None),
        ] {
            assert_eq!(parse(text, Point), point, "{text} with a point");
            assert_eq!(parse(text, Comma), comma, "{text} with a comma");
        }
    }

    #[test]
    fn numbers_with_an_affix_are_known_by_it() {
        for (text, affix) in [
            ("1.5 kV", Some("kV")),
            ("-3mV", Some("mV")),
            ("€ 1.234,50", Some("€")),
            ("CHF 3", Some("CHF")),
            ("12 EUR", Some("EUR")),
            ("(3.5)", Some("()")),
            ("12.5-", Some("-")),
            ("0x1F", Some("0x")),
            ("21 °C", Some("°C")),
            ("class 1", None),
            ("E1", None),
            ("5-10", None),
            ("12", None),
            ("12.", None),
            ("a", None),
            ("1 apple a day", None),
        ] {
            assert_eq!(affix_of_number(text), affix, "{text}");
        }
    }

    #[test]
    fn spellings_tell_what_a_column_can_be() {
        assert_eq!(spelling("12"), Some(Spelling::Either));
        assert_eq!(spelling("1 000"), Some(Spelling::Either));
        assert_eq!(spelling("1.5"), Some(Spelling::Only(Point)));
        assert_eq!(spelling("1,5 %"), Some(Spelling::Only(Comma)));
        assert_eq!(spelling("1.234"), Some(Spelling::Two(Point)));
        assert_eq!(spelling("1,234"), Some(Spelling::Two(Comma)));
        assert_eq!(spelling("-1e5"), Some(Spelling::Either));
        assert_eq!(spelling("word"), None);
    }
}
