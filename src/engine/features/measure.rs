//! What cursors measure, and how large a value is drawn.

/// Points of the screen per millimetre: a point is 1/96 inch, as operating systems count it.
pub const POINTS_PER_MM: f64 = 96.0 / 25.4;

/// How many points one unit is high at a sensitivity in units per millimetre.
pub fn points_per_unit(sensitivity: f64) -> f64 {
    POINTS_PER_MM / sensitivity
}

/// What lies between two cursors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// Time from the first to the second.
    pub delta_s: f64,
    /// The frequency of which that is one period; none for cursors at one place.
    pub frequency_hz: Option<f64>,
    /// Values at both, where they are known.
    pub values: Option<(f64, f64)>,
}

impl Measurement {
    /// Between two times, with the values there.
    pub fn between((a_s, b_s): (f64, f64), values: (Option<f64>, Option<f64>)) -> Self {
        let delta_s = b_s - a_s;
        Self {
            delta_s,
            frequency_hz: (delta_s != 0.0).then(|| 1.0 / delta_s.abs()),
            values: values.0.zip(values.1),
        }
    }

    /// Difference of the values.
    pub fn delta(&self) -> Option<f64> {
        self.values.map(|(a, b)| b - a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_of_a_tenth_of_a_second_is_ten_hertz() {
        let found = Measurement::between((2.4, 2.5), (Some(-12.0), Some(30.0)));
        assert!((found.delta_s - 0.1).abs() < 1e-12);
        assert!((found.frequency_hz.expect("apart") - 10.0).abs() < 1e-9);
        assert_eq!(found.delta(), Some(42.0));
        let back = Measurement::between((2.5, 2.4), (None, Some(1.0)));
        assert!(back.delta_s < 0.0 && back.frequency_hz.is_some_and(|hz| hz > 0.0));
        assert_eq!(back.delta(), None);
        assert_eq!(
            Measurement::between((1.0, 1.0), (None, None)).frequency_hz,
            None
        );
    }

    #[test]
    fn seventy_microvolts_at_seven_per_millimetre_are_a_centimetre() {
        let points = 70.0 * points_per_unit(7.0);
        assert!((points / POINTS_PER_MM - 10.0).abs() < 1e-12);
        assert!((points - 37.795).abs() < 1e-3);
    }
}
