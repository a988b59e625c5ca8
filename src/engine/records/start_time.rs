//! The moment a recording starts, to the nanosecond, as written in the file.

use std::fmt;

/// A civil date and time; most formats do not say in which zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StartTime {
    /// Year with century.
    pub year: u16,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day of the month, 1 to 31.
    pub day: u8,
    /// Hour, 0 to 23.
    pub hour: u8,
    /// Minute, 0 to 59.
    pub minute: u8,
    /// Second, 0 to 59 (60 in a leap second).
    pub second: u8,
    /// Part of the second, 0 to 999 999 999.
    pub nanosecond: u32,
    /// Minutes east of Greenwich, where the file says so.
    pub utc_offset_min: Option<i16>,
}

impl StartTime {
    /// A date and time if they exist in the calendar.
    pub fn new(date: (u16, u8, u8), time: (u8, u8, u8), nanosecond: u32) -> Option<Self> {
        let (year, month, day) = date;
        let (hour, minute, second) = time;
        let exists = (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second <= 60
            && nanosecond < 1_000_000_000;
        exists.then_some(Self {
            year,
            month,
            day,
            hour,
            minute,
            second,
            nanosecond,
            utc_offset_min: None,
        })
    }

    /// The moment `seconds` later (or earlier), if it lies between the years 1 and 9999.
    pub fn plus_seconds(self, seconds: f64) -> Option<Self> {
        let nanoseconds = (seconds * 1e9).round();
        if !nanoseconds.is_finite() || nanoseconds.abs() > 1e20 {
            return None;
        }
        let total = self.nanoseconds() + nanoseconds as i128;
        let (year, month, day) =
            date_of(u32::try_from(total.div_euclid(NANOSECONDS_PER_DAY)).ok()?)?;
        let rest = total.rem_euclid(NANOSECONDS_PER_DAY) as u64;
        let clock = rest / 1_000_000_000;
        Some(Self {
            year,
            month,
            day,
            hour: (clock / 3600) as u8,
            minute: (clock / 60 % 60) as u8,
            second: (clock % 60) as u8,
            nanosecond: (rest % 1_000_000_000) as u32,
            utc_offset_min: self.utc_offset_min,
        })
    }

    /// Seconds from `earlier` to this moment, both taken to be in one zone.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        (self.nanoseconds() - earlier.nanoseconds()) as f64 / 1e9
    }

    /// Nanoseconds since the start of the year 0.
    fn nanoseconds(self) -> i128 {
        let day = i128::from(days_before(self.year, self.month)) + i128::from(self.day) - 1;
        let second_of_day =
            i128::from(self.hour) * 3600 + i128::from(self.minute) * 60 + i128::from(self.second);
        (day * 86_400 + second_of_day) * 1_000_000_000 + i128::from(self.nanosecond)
    }
}

const NANOSECONDS_PER_DAY: i128 = 86_400_000_000_000;

/// Days from 0000-01-01 to the first day of a month.
fn days_before(year: u16, month: u8) -> u32 {
    let year_before = u32::from(year).saturating_sub(1);
    // Year 0 is a leap year.
    let leap_days = match year {
        0 => 0,
        _ => year_before / 4 - year_before / 100 + year_before / 400 + 1,
    };
    let months: u32 = (1..month).map(|m| u32::from(days_in_month(year, m))).sum();
    u32::from(year) * 365 + leap_days + months
}

/// The inverse of [`days_before`], for any day.
fn date_of(day: u32) -> Option<(u16, u8, u8)> {
    let guess = u16::try_from(day / 365).ok()?.min(9999);
    let year = (guess.saturating_sub(8)..=guess)
        .rev()
        .find(|&year| days_before(year, 1) <= day)?;
    let month = (1..=12)
        .rev()
        .find(|&month| days_before(year, month) <= day)?;
    let day_of_month = day - days_before(year, month) + 1;
    (day_of_month <= 31).then_some((year, month, day_of_month as u8))
}

/// Days of a month; none in a month that does not exist.
fn days_in_month(year: u16, month: u8) -> u8 {
    let leap = (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

/// ISO 8601, with as many decimals of the second as it has.
impl fmt::Display for StartTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            self.year, self.month, self.day, self.hour, self.minute, self.second
        )?;
        if self.nanosecond > 0 {
            let digits = format!("{:09}", self.nanosecond);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        if let Some(offset) = self.utc_offset_min {
            let sign = if offset < 0 { '-' } else { '+' };
            let minutes = offset.unsigned_abs();
            write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_carry_over_midnight_months_and_leap_days() {
        let start = StartTime::new((2024, 2, 28), (23, 59, 59), 0).expect("the date exists");
        let later = start.plus_seconds(1.25).expect("within the calendar");
        assert_eq!(later.to_string(), "2024-02-29T00:00:00.25");
        let next_year = start
            .plus_seconds(366.0 * 86_400.0)
            .expect("within the calendar");
        assert_eq!(next_year.to_string(), "2025-02-28T23:59:59");
        let earlier = start
            .plus_seconds(-86_400.0 * 59.0)
            .expect("within the calendar");
        assert_eq!(earlier.to_string(), "2023-12-31T23:59:59");
    }

    #[test]
    fn a_later_moment_is_as_many_seconds_away() {
        let start = StartTime::new((2023, 12, 31), (23, 59, 59), 900_000_000).expect("exists");
        for seconds in [0.0, 0.3, 86_400.0, 60.0 * 86_400.5, -1.0, 1e9] {
            let end = start.plus_seconds(seconds).expect("within the calendar");
            assert_eq!(end.seconds_since(start), seconds, "{end}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        let mut start = StartTime::new((1999, 12, 31), (12, 0, 0), 0).expect("the date exists");
        for _ in 0..146_097 {
            let next = start.plus_seconds(86_400.0).expect("within the calendar");
            assert!(next > start);
            assert!(StartTime::new((next.year, next.month, next.day), (12, 0, 0), 0).is_some());
            start = next;
        }
        assert_eq!(start.to_string(), "2399-12-31T12:00:00");
    }

    #[test]
    fn dates_outside_the_calendar_are_refused() {
        assert_eq!(StartTime::new((2023, 2, 29), (0, 0, 0), 0), None);
        assert_eq!(StartTime::new((2023, 13, 1), (0, 0, 0), 0), None);
        let start = StartTime::new((2023, 1, 1), (0, 0, 0), 0).expect("the date exists");
        assert_eq!(start.plus_seconds(1e18), None);
        assert_eq!(start.plus_seconds(f64::NAN), None);
    }
}
