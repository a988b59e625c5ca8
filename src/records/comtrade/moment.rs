//! Dates and times as COMTRADE writes them, and the seconds between two of them.

use crate::records::StartTime;

use super::configuration::Revision;

/// A date and time, and how finely it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// The moment itself.
    pub(super) time: StartTime,
    /// Whether the seconds have more than six decimals: stamps count nanoseconds then.
    pub(super) nanoseconds: bool,
    /// Whether day and month had to be swapped.
    pub(super) swapped: bool,
}

/// Reads the two fields of a time line.
///
/// The 1991 revision writes the month first, the later ones the day.
pub(super) fn parse(date: &str, time: &str, revision: Revision) -> Option<Moment> {
    let month_first = revision == Revision::R1991;
    let parts: Vec<u16> = date
        .split(['/', '-', '.'])
        .map(|part| part.trim().parse().ok())
        .collect::<Option<_>>()?;
    let &[first, second, third] = parts.as_slice() else {
        return None;
    };
    let (year, month, day) = if first > 99 {
        (first, second, third)
    } else if month_first {
        (with_century(third), first, second)
    } else {
        (with_century(third), second, first)
    };
    let (hour, minute, second, nanosecond, decimals) = parse_time(time)?;
    let at = |month: u16, day: u16| {
        let date = (year, u8::try_from(month).ok()?, u8::try_from(day).ok()?);
        StartTime::new(date, (hour, minute, second), nanosecond)
    };
    let straight = at(month, day);
    Some(Moment {
        time: straight.or_else(|| at(day, month))?,
        nanoseconds: decimals > 6,
        swapped: straight.is_none(),
    })
}

/// Two-digit years are of the years 1970 to 2069.
fn with_century(year: u16) -> u16 {
    match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    }
}

/// Hour, minute, second, nanosecond, and the number of decimals.
fn parse_time(text: &str) -> Option<(u8, u8, u8, u32, usize)> {
    let mut parts = text.split(':').map(str::trim);
    let hour = parts.next()?.parse().ok()?;
    let minute = parts.next()?.parse().ok()?;
    let seconds = parts.next().unwrap_or("0");
    if parts.next().is_some() {
        return None;
    }
    let (whole, decimals) = seconds.split_once(['.', ',']).unwrap_or((seconds, ""));
    let decimals = decimals.trim();
    if !decimals.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let nanosecond = format!("{decimals:0<9.9}").parse().ok()?;
    Some((
        hour,
        minute,
        whole.parse().ok()?,
        nanosecond,
        decimals.len(),
    ))
}

/// Seconds from `from` to `to`, exact to the nanosecond over centuries.
pub(super) fn seconds_between(from: &StartTime, to: &StartTime) -> f64 {
    let seconds = |t: &StartTime| {
        let of_day = i64::from(t.hour) * 3600 + i64::from(t.minute) * 60 + i64::from(t.second);
        days_from_epoch(t) * 86_400 + of_day
    };
    let whole = i128::from(seconds(to) - seconds(from));
    let part = i128::from(to.nanosecond) - i128::from(from.nanosecond);
    (whole * 1_000_000_000 + part) as f64 / 1e9
}

/// The moment `seconds` after `start`, cut to nanoseconds.
pub(super) fn later(start: &StartTime, seconds: f64) -> StartTime {
    const DAY_NS: i128 = 86_400_000_000_000;
    let of_day_s =
        i64::from(start.hour) * 3600 + i64::from(start.minute) * 60 + i64::from(start.second);
    let start_ns = i128::from(of_day_s) * 1_000_000_000 + i128::from(start.nanosecond);
    let end_ns = start_ns.saturating_add((seconds * 1e9).round() as i128);
    let days = days_from_epoch(start).saturating_add(end_ns.div_euclid(DAY_NS) as i64);
    let of_day_ns = end_ns.rem_euclid(DAY_NS);
    let of_day_s = (of_day_ns / 1_000_000_000) as u32;
    let (year, month, day) = civil_date(days);
    StartTime {
        year,
        month,
        day,
        hour: (of_day_s / 3600) as u8,
        minute: (of_day_s / 60 % 60) as u8,
        second: (of_day_s % 60) as u8,
        nanosecond: (of_day_ns % 1_000_000_000) as u32,
        utc_offset_min: start.utc_offset_min,
    }
}

/// Year, month and day of a number of days since 1970-01-01: the inverse of
/// [`days_from_epoch`], found by stepping from the mean length of a year.
fn civil_date(days: i64) -> (u16, u8, u8) {
    let at = |year: u16, month: u8, day: u8| {
        StartTime::new((year, month, day), (0, 0, 0), 0).map(|t| days_from_epoch(&t))
    };
    let guess = 1970 + (days as f64 / 365.2425).floor() as i64;
    let mut year = u16::try_from(guess.clamp(1, 9998)).unwrap_or(1970);
    if at(year + 1, 1, 1).is_some_and(|first| first <= days) {
        year += 1;
    } else if at(year, 1, 1).is_some_and(|first| first > days) {
        year -= 1;
    }
    let month = (1..=12)
        .rev()
        .find(|month| at(year, *month, 1).is_some_and(|first| first <= days));
    let month = month.unwrap_or(1);
    let first = at(year, month, 1).unwrap_or(days);
    let day = (days - first + 1).clamp(1, 31);
    (year, month, day as u8)
}

/// Days since 1970-01-01 in the Gregorian calendar, years counted from March
/// so that the leap day is the last of a year.
fn days_from_epoch(t: &StartTime) -> i64 {
    let month = i64::from(t.month);
    let year = i64::from(t.year) - i64::from(month <= 2);
    let months_from_march = (month + 9) % 12;
    let day_of_year = (153 * months_from_march + 2) / 5 + i64::from(t.day) - 1;
    let days_before = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    days_before + day_of_year - 719_468
}

/// Minutes east of Greenwich of a time code such as `-5h30`, `0` or `+9`; `x` means unknown.
pub(super) fn utc_offset_min(code: &str) -> Option<i16> {
    let code = code.trim().to_ascii_lowercase();
    let (sign, digits) = match code.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, code.strip_prefix('+').unwrap_or(&code)),
    };
    let (hours, minutes) = digits.split_once(['h', ':']).unwrap_or((digits, ""));
    let hours: i16 = hours.parse().ok()?;
    let minutes: i16 = match minutes {
        "" => 0,
        text => text.parse().ok()?,
    };
    let exists = (0..=14).contains(&hours) && (0..60).contains(&minutes);
    exists.then(|| sign * (hours * 60 + minutes))
}

/// The time code of minutes east of Greenwich: `-5h30`.
pub(super) fn time_code(offset_min: i16) -> String {
    let sign = if offset_min < 0 { "-" } else { "" };
    let minutes = offset_min.unsigned_abs();
    match (minutes / 60, minutes % 60) {
        (hours, 0) => format!("{sign}{hours}"),
        (hours, minutes) => format!("{sign}{hours}h{minutes:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(date: &str, time: &str, revision: Revision) -> Option<String> {
        parse(date, time, revision).map(|moment| moment.time.to_string())
    }

    #[test]
    fn the_order_of_day_and_month_follows_the_revision() {
        let day_first = text("04/12/2014", "07:01:48.813000", Revision::R1999);
        assert_eq!(day_first.as_deref(), Some("2014-12-04T07:01:48.813"));
        let month_first = text("09/17/15", "10:52:52.987545", Revision::R1991);
        assert_eq!(month_first.as_deref(), Some("2015-09-17T10:52:52.987545"));
        let swapped = parse("09/17/2015", "10:52:52", Revision::R1999).expect("readable");
        assert!(swapped.swapped);
        let iso = text("2020-02-29", "00:00:00", Revision::R2013);
        assert_eq!(iso.as_deref(), Some("2020-02-29T00:00:00"));
    }

    #[test]
    fn nine_decimals_mean_nanoseconds() {
        let fine = parse("01/02/2020", "00:00:00.123456789", Revision::R2013).expect("readable");
        assert!(fine.nanoseconds);
        assert_eq!(fine.time.nanosecond, 123_456_789);
    }

    #[test]
    fn nonsense_is_no_moment() {
        for (date, time) in [
            ("", ""),
            ("1/2", "3:4:5"),
            ("99/99/99", "1:2:3"),
            ("1/2/3", "x"),
            ("1/1/2000", "1:2:3.-4"),
        ] {
            assert_eq!(parse(date, time, Revision::R1999), None, "{date} {time}");
        }
    }

    #[test]
    fn seconds_between_days_count_leap_days() {
        let a = parse("28/02/2024", "23:59:59.5", Revision::R1999).expect("readable");
        let b = parse("01/03/2024", "00:00:00", Revision::R1999).expect("readable");
        assert_eq!(seconds_between(&a.time, &b.time), 86_400.5);
        assert_eq!(seconds_between(&b.time, &a.time), -86_400.5);
        let epoch = parse("01/01/1970", "00:00:00", Revision::R1999).expect("readable");
        assert_eq!(days_from_epoch(&epoch.time), 0);
    }

    #[test]
    fn a_later_moment_is_as_many_seconds_away() {
        let start = parse("31/12/2023", "23:59:59.9", Revision::R1999).expect("readable");
        for seconds in [0.0, 0.3, 86_400.0, 60.0 * 86_400.5, -1.0, 1e9] {
            let end = later(&start.time, seconds);
            assert_eq!(seconds_between(&start.time, &end), seconds, "{end}");
        }
        assert_eq!(later(&start.time, 0.3).to_string(), "2024-01-01T00:00:00.2");
    }

    #[test]
    fn time_codes_become_minutes() {
        for minutes in [-330, 0, 540, 345] {
            assert_eq!(utc_offset_min(&time_code(minutes)), Some(minutes));
        }
        assert_eq!(utc_offset_min("-5h30"), Some(-330));
        assert_eq!(utc_offset_min("0"), Some(0));
        assert_eq!(utc_offset_min("+9"), Some(540));
        assert_eq!(utc_offset_min("x"), None);
        assert_eq!(utc_offset_min("32767"), None);
    }
}
