//! Dates and times in tables, as seconds.

use super::super::StartTime;

/// In which order a column writes its dates, if it has any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MomentForm {
    /// `2024-01-31`, perhaps with a time: seconds since 1970.
    YearFirst,
    /// `31.01.2024`, `31.01.24`, `31-Jan-2024`, `31 Jan 2024` or `Jan 31, 2024`, perhaps with a time: seconds since 1970.
    DayFirst,
    /// `01/31/2024`, perhaps with a time: seconds since 1970.
    MonthFirst,
    /// `12:30:15.5`: seconds since midnight.
    Clock,
    /// `20240131`, perhaps with a time: seconds since 1970.
    Compact,
}

impl MomentForm {
    /// All forms, in order of preference.
    pub(super) const ALL: [Self; 5] = [
        Self::YearFirst,
        Self::DayFirst,
        Self::MonthFirst,
        Self::Clock,
        Self::Compact,
    ];

    /// What the seconds count from.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::YearFirst | Self::Compact => "dates, taken as seconds since 1970",
            Self::DayFirst => "dates with the day first, taken as seconds since 1970",
            Self::MonthFirst => "dates with the month first, taken as seconds since 1970",
            Self::Clock => "times of day, taken as seconds since midnight",
        }
    }

    /// The moment in seconds, if the text is one in this form.
    pub(super) fn parse(self, text: &str) -> Option<f64> {
        // Longer than any date with nanoseconds and zone.
        if !text.is_ascii() || text.len() > 40 {
            return None;
        }
        if self == Self::Clock {
            return text.contains(':').then(|| clock_s(text))?;
        }
        let with_month = if self == Self::DayFirst {
            hyphenated(text)
        } else {
            None
        };
        let text = with_month.as_deref().unwrap_or(text);
        let (date, rest) = match text.find(['T', ' ']) {
            Some(at) => (text.get(..at)?, text.get(at + 1..)?.trim()),
            None => (text, ""),
        };
        let day_s = self.date_s(date)?;
        if rest.is_empty() {
            return Some(day_s);
        }
        let (clock, zone_s) = split_zone(rest)?;
        Some(day_s + clock_s(clock)? - zone_s)
    }

    fn date_s(self, date: &str) -> Option<f64> {
        if self == Self::Compact {
            let is_whole = date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit());
            let (year, rest) = date.split_at_checked(4).filter(|_| is_whole)?;
            let (month, day) = rest.split_at(2);
            let is_likely = year.starts_with("19") || year.starts_with("20");
            return Self::YearFirst
                .date_s(&format!("{year}-{month}-{day}"))
                .filter(|_| is_likely);
        }
        let mark = date.chars().find(|c| matches!(c, '-' | '/' | '.'))?;
        let mut parts = date.split(mark);
        let parts = [parts.next()?, parts.next()?, parts.next()?];
        if date.split(mark).count() != 3 {
            return None;
        }
        let [year, month, day] = match self {
            Self::YearFirst => parts,
            Self::DayFirst => [parts[2], parts[1], parts[0]],
            Self::MonthFirst => [parts[2], parts[0], parts[1]],
            Self::Clock | Self::Compact => return None,
        };
        if day.len() > 2 {
            return None;
        }
        let year = match year.len() {
            4 => year.parse().ok()?,
            // As spreadsheets write dates with points.
            2 if self == Self::DayFirst && mark == '.' => full_year(year.parse().ok()?),
            _ => return None,
        };
        let month = match self {
            Self::DayFirst if month.len() > 2 => named_month(month)?,
            _ if month.len() > 2 => return None,
            _ => month.parse().ok()?,
        };
        let date = (year, month, day.parse().ok()?);
        let epoch = StartTime::new((1970, 1, 1), (0, 0, 0), 0)?;
        Some(StartTime::new(date, (0, 0, 0), 0)?.seconds_since(epoch))
    }
}

/// The year of two digits, from 1970 to 2069.
fn full_year(digits: u16) -> u16 {
    if digits < 70 {
        2000 + digits
    } else {
        1900 + digits
    }
}

/// `9 May 1999 10:30` and `May 9, 1999 10:30` as `9-May-1999 10:30`.
fn hyphenated(text: &str) -> Option<String> {
    let mut words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let (first, second, year) = (words.next()?, words.next()?, words.next()?);
    let (day, month) = match (named_month(first), named_month(second)) {
        (Some(_), None) => (second, first),
        (None, Some(_)) => (first, second),
        _ => return None,
    };
    let clock: Vec<&str> = words.collect();
    Some(format!("{day}-{month}-{year} {}", clock.join(" ")))
}

/// The number of a month by its English name or the first three letters of it.
fn named_month(text: &str) -> Option<u8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let text = text.to_ascii_lowercase();
    let is_it = |month: &&str| text.len() >= 3 && (*month == text || month[..3] == text);
    let place = MONTHS.iter().position(is_it)?;
    u8::try_from(place + 1).ok()
}

/// A clock without its zone, and the seconds that the zone is east of Greenwich.
fn split_zone(text: &str) -> Option<(&str, f64)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock.trim_end(), 0.0));
    }
    let Some(at) = text.rfind(['+', '-']) else {
        return Some((text, 0.0));
    };
    let (clock, zone) = text.split_at_checked(at)?;
    let east = if zone.starts_with('-') { -1.0 } else { 1.0 };
    let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let minutes: u16 = match digits.len() {
        2 => digits.parse::<u16>().ok()? * 60,
        4 => digits.get(..2)?.parse::<u16>().ok()? * 60 + digits.get(2..)?.parse::<u16>().ok()?,
        _ => return None,
    };
    (minutes < 24 * 60).then_some((clock.trim_end(), east * 60.0 * f64::from(minutes)))
}

/// `12:30`, `12:30:15`, `12:30:15.5`, `1:30 PM`.
fn clock_s(text: &str) -> Option<f64> {
    let upper = text.trim().to_ascii_uppercase();
    let (clock, noon) = match (upper.strip_suffix("AM"), upper.strip_suffix("PM")) {
        (Some(clock), _) => (clock.trim_end(), Some(0)),
        (_, Some(clock)) => (clock.trim_end(), Some(12)),
        _ => (upper.as_str(), None),
    };
    let mut parts = clock.split(':');
    let (hour, minute) = (parts.next()?, parts.next()?);
    let second = parts.next().unwrap_or("0").replace(',', ".");
    let is_short =
        |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let is_second = second.starts_with(|c: char| c.is_ascii_digit())
        && second.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if parts.next().is_some() || !is_short(hour) || !is_short(minute) || !is_second {
        return None;
    }
    let (hour, minute): (u8, u8) = (hour.parse().ok()?, minute.parse().ok()?);
    let second: f64 = second.parse().ok()?;
    let hour = match noon {
        Some(noon) if (1..=12).contains(&hour) => hour % 12 + noon,
        Some(_) => return None,
        None => hour,
    };
    let exists = hour < 24 && minute < 60 && second < 61.0;
    exists.then(|| f64::from(hour) * 3600.0 + f64::from(minute) * 60.0 + second)
}

#[cfg(test)]
mod tests {
    use super::MomentForm::{Clock, Compact, DayFirst, MonthFirst, YearFirst};

    #[test]
    fn dates_and_times_are_seconds() {
        for (form, text, expected) in [
            (YearFirst, "1970-01-02", Some(86_400.0)),
            (YearFirst, "1970-01-01T00:00:01.5Z", Some(1.5)),
            (YearFirst, "1970-01-01 02:00:00+02:00", Some(0.0)),
            (YearFirst, "2024/02/29 12:00", Some(1_709_208_000.0)),
            (YearFirst, "2023-02-29", None),
            (DayFirst, "31.01.1970", Some(30.0 * 86_400.0)),
            (
                MonthFirst,
                "01/31/1970 1:00 PM",
                Some(30.0 * 86_400.0 + 46_800.0),
            ),
            (MonthFirst, "31/01/1970", None),
            (DayFirst, "31.01.70", Some(30.0 * 86_400.0)),
            (DayFirst, "01.02.24 12:00", Some(1_706_788_800.0)),
            (DayFirst, "31-Jan-1970", Some(30.0 * 86_400.0)),
            (DayFirst, "31-Foo-1970", None),
            (DayFirst, "31 January 1970", Some(30.0 * 86_400.0)),
            (DayFirst, "Jan 31, 1970 00:01", Some(30.0 * 86_400.0 + 60.0)),
            (DayFirst, "Jan Feb 1970", None),
            (Compact, "19700131", Some(30.0 * 86_400.0)),
            (Compact, "19700131 00:01", Some(30.0 * 86_400.0 + 60.0)),
            (Compact, "19701331", None),
            (Compact, "31011970", None),
            (DayFirst, "31/01/70", None),
            (Clock, "23:59:60", Some(86_400.0)),
            (Clock, "1:02", Some(3720.0)),
            (Clock, "25:00", None),
            (Clock, "12", None),
            (Clock, "12:30:1e5", None),
        ] {
            assert_eq!(form.parse(text), expected, "{text}");
        }
    }
}
