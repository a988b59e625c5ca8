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
