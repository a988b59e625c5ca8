//! Numbers as the window writes them: sensible digits, units, times.

/// A share as percent with one digit where that tells something: `98.4 %`, `100 %`.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "–".to_owned();
    }
    let tenths = (share * 1000.0).round() / 10.0;
    if tenths.fract() == 0.0 {
        format!("{tenths:.0} %")
    } else {
        format!("{tenths:.1} %")
    }
}

/// A number with three significant digits; very large and very small ones as powers of ten.
pub fn short(value: f64) -> String {
    if value.is_nan() {
        return "–".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    let size = value.abs();
    let text = if size == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e5).contains(&size) {
        format!("{value:.1e}")
    } else if size >= 100.0 {
        format!("{value:.0}")
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else if size >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    };
    text.replace('-', "−")
}

/// A number with five significant digits, as values of a grid are read; very large and very small ones as powers of ten.
pub fn five_digits(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !(1e-4..1e7).contains(&size) {
        return short(value);
    }
    let digits = (4.0 - size.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}").replace('-', "−")
}

/// A number with as many digits as its tick step needs.
pub fn tick(value: f64, step: f64) -> String {
    let size = value.abs().max(step);
    if !(1e-4..1e6).contains(&size) {
        return short(value);
    }
    let digits = (-step.log10()).ceil().clamp(0.0, 6.0) as usize;
    let value = if value.abs() < step * 1e-6 {
        0.0
    } else {
        value
    };
    format!("{value:.digits$}").replace('-', "−")
}

/// A text of at most so many letters.
pub fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.chars().count() {
        n if n <= most => text.to_owned(),
        _ => text
            .chars()
            .take(most.saturating_sub(1))
            .chain(['…'])
            .collect(),
    }
}

/// A count: in full up to 9999, then with k, M, G.
pub fn count(value: f64) -> String {
    for (size, letter) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        let scaled = value / size;
        if value >= 10.0 * 1e3_f64.min(size) && scaled >= 1.0 {
            return if scaled >= 10.0 {
                format!("{scaled:.0} {letter}")
            } else {
                format!("{scaled:.1} {letter}")
            };
        }
    }
    format!("{value:.0}")
}

/// A time as `m:ss` or `h:mm:ss`.
pub fn clock(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "–".to_owned();
    }
    let whole = seconds.round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// The step of about `n_wanted` ticks over `span`: 1, 2 or 5 times a power of ten.
pub fn tick_step(span: f64, n_wanted: f64) -> f64 {
    let rough = span / n_wanted.max(1.0);
    if !rough.is_finite() || rough <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|factor| factor * power >= rough * 0.999)
        .unwrap_or(10.0);
    factor * power
}

/// Distance of marks on an axis of time: a round number of seconds, minutes or hours.
pub fn time_step(span_s: f64, n_wanted: f64) -> f64 {
    const STEPS_S: [f64; 12] = [
        60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 14_400.0, 21_600.0, 43_200.0,
        86_400.0,
    ];
    let rough_s = span_s / n_wanted.max(1.0);
    match rough_s {
        minutes if minutes > 30.0 && minutes <= STEPS_S[11] => {
            let step = STEPS_S.into_iter().find(|step| *step >= minutes * 0.999);
            step.unwrap_or(STEPS_S[11])
        }
        _ => tick_step(span_s, n_wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_keep_one_digit_only_where_it_says_something() {
        assert_eq!(percent(0.984), "98.4 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(f64::NAN), "–");
    }

    #[test]
    fn numbers_have_three_significant_digits() {
        let texts: Vec<String> = [0.0, 3e-13, 0.982, -1.5, 41.25, 200.0, 2.5e7]
            .into_iter()
            .map(short)
            .collect();
        assert_eq!(
            texts,
            ["0", "3.0e−13", "0.982", "−1.50", "41.2", "200", "2.5e7"]
        );
    }

    #[test]
    fn counts_and_times_are_short() {
        assert_eq!(count(9999.0), "9999");
        assert_eq!(count(41_000.0), "41 k");
        assert_eq!(count(2_500_000.0), "2.5 M");
        assert_eq!(clock(12.0), "0:12");
        assert_eq!(clock(3725.0), "1:02:05");
    }

    #[test]
    fn values_of_a_grid_have_five_digits() {
        for (value, text) in [
            (43.857_63, "43.858"),
            (-2.347_42, "−2.3474"),
            (218_625.0, "218625"),
            (0.005_2, "0.005200"),
            (0.0, "0"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(five_digits(value), text);
        }
    }

    #[test]
    fn tick_steps_are_round_and_ticks_have_the_digits_they_need() {
        assert_eq!(tick_step(10.0, 5.0), 2.0);
        assert!((tick_step(0.05, 5.0) - 0.01).abs() < 1e-12);
        assert_eq!(tick_step(0.0, 5.0), 1.0);
        let steps = [5.0, 240.0, 3600.0, 86_400.0].map(|span_s| time_step(span_s, 5.0));
        assert_eq!(steps, [1.0, 60.0, 1200.0, 21_600.0]);
        assert_eq!(tick(0.95, 0.01), "0.95");
        assert_eq!(tick(-20.0, 10.0), "−20");
    }
}
