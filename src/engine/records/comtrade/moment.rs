//! Dates, times and time codes as COMTRADE writes them.

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
