//! A column of numbers read from text: whole numbers take half the memory of real ones.

/// Stands for a missing whole number.
const MISSING: i32 = i32::MIN;

/// Numbers in the order they were read; NaN where one is missing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NumberColumn {
    /// All of them whole and small.
    Whole(Vec<i32>),
    /// Some of them not.
    Real(Vec<f64>),
}

impl NumberColumn {
    /// No number yet.
    pub(crate) fn new() -> Self {
        Self::Whole(Vec::new())
    }

    /// Number of numbers, the missing ones included.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Whole(numbers) => numbers.len(),
            Self::Real(numbers) => numbers.len(),
        }
    }

    /// Adds a whole number.
    pub(crate) fn push_whole(&mut self, number: i32) {
        match self {
            Self::Whole(numbers) if number != MISSING => numbers.push(number),
            _ => self.push(f64::from(number)),
        }
    }

    /// Adds a number; NaN if it is missing.
    pub(crate) fn push(&mut self, number: f64) {
        match self {
            Self::Real(numbers) => numbers.push(number),
            Self::Whole(numbers) => {
                // Saturates outside the range, and the comparison then fails.
                let whole = number as i32;
                if number.is_nan() {
                    numbers.push(MISSING);
                } else if f64::from(whole) == number && whole != MISSING {
                    numbers.push(whole);
                } else {
                    let mut real: Vec<f64> = numbers.iter().map(|n| from_whole(*n)).collect();
                    real.push(number);
                    *self = Self::Real(real);
                }
            }
        }
    }

    /// Number `row`; NaN if it is missing.
    pub(crate) fn get(&self, row: usize) -> f64 {
        match self {
            Self::Whole(numbers) => numbers.get(row).map_or(f64::NAN, |n| from_whole(*n)),
            Self::Real(numbers) => numbers.get(row).copied().unwrap_or(f64::NAN),
        }
    }
}

fn from_whole(number: i32) -> f64 {
    if number == MISSING {
        f64::NAN
    } else {
        f64::from(number)
    }
}

/// A whole number of at most nine digits, the common case, without a detour over text.
pub(crate) fn parse_whole(field: &[u8]) -> Option<i32> {
    let (negative, digits) = match field {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let mut number = 0_i32;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + i32::from(digit);
    }
    Some(if negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_number_turns_the_column_and_loses_nothing() {
        let mut column = NumberColumn::new();
        let numbers = [1.0, f64::NAN, -7.0, 2.5, 1e300, f64::from(i32::MIN)];
        for number in numbers {
            column.push(number);
        }
        assert_eq!(column.len(), numbers.len());
        for (row, number) in numbers.into_iter().enumerate() {
            let stored = column.get(row);
            assert!(stored == number || (stored.is_nan() && number.is_nan()));
        }
        assert!(column.get(99).is_nan());
    }

    #[test]
    fn the_code_for_missing_is_still_a_number() {
        let mut column = NumberColumn::new();
        column.push_whole(i32::MIN);
        assert_eq!(column.get(0), f64::from(i32::MIN));
    }

    #[test]
    fn whole_numbers_are_read_with_sign_and_zeros() {
        assert_eq!(parse_whole(b"-000001"), Some(-1));
        assert_eq!(parse_whole(b"+25"), Some(25));
        assert_eq!(parse_whole(b""), None);
        assert_eq!(parse_whole(b"-"), None);
        assert_eq!(parse_whole(b"1.0"), None);
        assert_eq!(parse_whole(b"1234567890"), None);
    }
}
