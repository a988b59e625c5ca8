//! Whether one method beats another: differences paired over folds and seeds, with an interval
//! that knows that the training sets of folds overlap.

use serde::{Deserialize, Serialize};

/// How sure an interval is.
const LEVEL: f64 = 0.95;

/// What an interval says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Superiority {
    /// The first is better.
    Better,
    /// The first is worse.
    Worse,
    /// The interval holds zero.
    NotShown,
    /// One pair alone, or pairs that all differ by the same, tell nothing of the spread.
    TooFewPairs,
}

/// The mean of paired differences with its 95 % interval.
///
/// The folds of one data set share most of their training samples, so their differences are
/// not independent and a plain t interval is too short. Nadeau and Bengio, *Inference for the
/// generalization error*, Machine Learning 52 (2003), eq. (9), put (1/n + n₂/n₁)·s² in the place
/// of s²/n, with n₁ samples learned from and n₂ tested; Bouckaert and Frank (PAKDD 2004) use it
/// for repeated k-fold cross-validation, with n − 1 degrees of freedom over all n = folds × seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairedDifference {
    /// Pairs of results.
    pub n_pairs: usize,
    /// Mean of first minus second.
    pub mean: f64,
    /// Standard deviation of the differences; none of a single pair.
    pub sd: Option<f64>,
    /// Lower and upper end of the interval; none where the pairs tell nothing of the spread.
    pub interval: Option<(f64, f64)>,
}

impl PairedDifference {
    /// First minus second, pair by pair; `test_ratio` is n₂/n₁. Nothing without pairs.
    pub fn of(pairs: &[(f64, f64)], test_ratio: f64) -> Option<Self> {
        if pairs.is_empty() {
            return None;
        }
        let n = pairs.len() as f64;
        let differences = || pairs.iter().map(|(first, second)| first - second);
        let mean = differences().sum::<f64>() / n;
        if pairs.len() < 2 {
            return Some(Self {
                n_pairs: 1,
                mean,
                sd: None,
                interval: None,
            });
        }
        let squares: f64 = differences().map(|d| (d - mean).powi(2)).sum();
        let variance = squares / (n - 1.0);
        let half = t_quantile(pairs.len() - 1) * ((1.0 / n + test_ratio) * variance).sqrt();
        Some(Self {
            n_pairs: pairs.len(),
            mean,
            sd: Some(variance.sqrt()),
            // Accuracies are counts: a few pairs may differ by the same by chance.
            interval: (variance > 0.0 || mean == 0.0).then_some((mean - half, mean + half)),
        })
    }

    /// What may be said.
    pub fn superiority(&self) -> Superiority {
        match self.interval {
            None => Superiority::TooFewPairs,
            Some((low, _)) if low > 0.0 => Superiority::Better,
            Some((_, high)) if high < 0.0 => Superiority::Worse,
            Some(_) => Superiority::NotShown,
        }
    }

    /// What may be said of `first` against `second`, in words.
    pub fn in_words(&self, first: &str, second: &str) -> String {
        match self.superiority() {
            Superiority::Better => format!("{first} is better than {second}"),
            Superiority::Worse => format!("{first} is worse than {second}"),
            Superiority::NotShown => "no difference shown".into(),
            Superiority::TooFewPairs => "too few pairs for an interval: add folds or seeds".into(),
        }
    }
}

/// The number that Student's t with so many degrees of freedom exceeds in absolute value
/// with a probability of 5 %, by bisection.
fn t_quantile(degrees: usize) -> f64 {
    let (mut low, mut high) = (1.0, 16.0);
    // 60 halvings of an interval of this size leave nothing that a double can tell apart.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if share_within(middle, degrees) < LEVEL {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// P(|T| ≤ t) for a whole number of degrees of freedom: Abramowitz and Stegun 26.7.3 and 26.7.4.
fn share_within(t: f64, degrees: usize) -> f64 {
    let angle = (t / (degrees as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let square = cosine * cosine;
    if degrees.is_multiple_of(2) {
        let mut term = 1.0;
        let mut sum = 1.0;
        for k in (2..degrees).step_by(2) {
            term *= (k - 1) as f64 / k as f64 * square;
            sum += term;
        }
        return sine * sum;
    }
    let mut sum = 0.0;
    let mut term = cosine;
    for k in (1..degrees).step_by(2) {
        sum += term;
        term *= (k + 1) as f64 / (k + 2) as f64 * square;
    }
    std::f64::consts::FRAC_2_PI * (angle + sine * sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Two-sided 5 % points, as in every table of Student's t.
        for (degrees, expected) in [
            (1, 12.7062),
            (2, 4.3027),
            (3, 3.1824),
            (4, 2.7764),
            (9, 2.2622),
            (14, 2.1448),
            (24, 2.0639),
            (120, 1.9799),
        ] {
            let found = t_quantile(degrees);
            assert!((found - expected).abs() < 5e-5, "{degrees}: {found}");
        }
    }

    #[test]
    fn the_interval_is_the_one_calculated_by_hand() {
        // Differences .01 .03 .02 .04 .00: mean .02, s² = .001/4 = .00025; five folds, n₂/n₁ = 1/4:
        // half width 2.7764·√((1/5 + 1/4)·.00025) = 2.7764·.0106066 = .0294485.
        let pairs = [
            (0.91, 0.90),
            (0.93, 0.90),
            (0.95, 0.93),
            (0.97, 0.93),
            (0.9, 0.9),
        ];
        let found = PairedDifference::of(&pairs, 0.25).expect("five pairs");
        assert!((found.mean - 0.02).abs() < 1e-12);
        assert!((found.sd.expect("five") - 0.00025_f64.sqrt()).abs() < 1e-12);
        let (low, high) = found.interval.expect("five pairs");
        assert!((low + 0.009_448_5).abs() < 1e-6, "{low}");
        assert!((high - 0.049_448_5).abs() < 1e-6, "{high}");
        assert_eq!(found.superiority(), Superiority::NotShown);
        assert_eq!(found.in_words("a", "b"), "no difference shown");
        // A plain t interval, 2.7764·√(.00025/5) = .0196, would have claimed a difference.
        let plain = PairedDifference::of(&pairs, 0.0).expect("five pairs");
        assert_eq!(plain.superiority(), Superiority::Better);
    }

    #[test]
    fn one_pair_claims_nothing() {
        let found = PairedDifference::of(&[(0.9, 0.5)], 0.25).expect("a pair");
        assert_eq!((found.interval, found.sd), (None, None));
        assert_eq!(found.superiority(), Superiority::TooFewPairs);
        assert_eq!(PairedDifference::of(&[], 0.25), None);
        let equal = PairedDifference::of(&[(0.75, 0.5), (1.0, 0.75)], 0.25).expect("two pairs");
        assert_eq!(equal.superiority(), Superiority::TooFewPairs);
        let same = PairedDifference::of(&[(0.75, 0.75), (1.0, 1.0)], 0.25).expect("two pairs");
        assert_eq!(same.superiority(), Superiority::NotShown);
    }
}
