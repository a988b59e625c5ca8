//! Results by group: the segments of one subject or record vote together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The vote of one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupVote {
    /// Number of the group.
    pub group: usize,
    /// The class of most of its samples.
    pub truth: usize,
    /// Samples decided for each class.
    pub votes: Vec<u64>,
    /// The class with most votes.
    pub decided: usize,
}

/// How many groups were decided rightly, with a 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupScore {
    /// Groups decided rightly.
    pub right: u64,
    /// All groups.
    pub total: u64,
    /// Lower and upper end of the exact interval.
    pub interval: (f64, f64),
}

impl GroupScore {
    /// The score of a list of votes; none without votes.
    pub fn of(votes: &[GroupVote]) -> Option<Self> {
        let total = votes.len() as u64;
        let right = votes
            .iter()
            .filter(|vote| vote.truth == vote.decided)
            .count() as u64;
        (total > 0).then(|| Self {
            right,
            total,
            interval: exact_interval(right, total),
        })
    }
}

/// Majority vote per group, in the order of the group numbers. `decisions` holds group,
/// true class and decided class with its margin for every sample; of classes with equally
/// many votes the one with the larger sum of margins wins, then the lower number.
pub fn group_votes(
    n_classes: usize,
    decisions: impl IntoIterator<Item = (usize, usize, usize, f64)>,
) -> Vec<GroupVote> {
    struct GroupTally {
        truths: Vec<u64>,
        votes: Vec<u64>,
        margins: Vec<f64>,
    }
    let mut tallies: BTreeMap<usize, GroupTally> = BTreeMap::new();
    for (group, truth, decided, margin) in decisions {
        let tally = tallies.entry(group).or_insert_with(|| GroupTally {
            truths: vec![0; n_classes],
            votes: vec![0; n_classes],
            margins: vec![0.0; n_classes],
        });
        tally.truths[truth] += 1;
        tally.votes[decided] += 1;
        tally.margins[decided] += margin;
    }
    tallies
        .into_iter()
        .map(|(group, tally)| {
            let better = |a: usize, b: usize| {
                let key = |c: usize| (tally.votes[c], tally.margins[c]);
                key(a) > key(b)
            };
            let decided = (1..n_classes).fold(0, |best, c| if better(c, best) { c } else { best });
            let truth = (1..n_classes).fold(0, |best, c| {
                if tally.truths[c] > tally.truths[best] {
                    c
                } else {
                    best
                }
            });
            GroupVote {
                group,
                truth,
                decided,
                votes: tally.votes,
            }
        })
        .collect()
}

/// The exact 95 % interval of Clopper and Pearson for a share: it never claims more than the counts allow.
pub fn exact_interval(right: u64, total: u64) -> (f64, f64) {
    const TAIL: f64 = 0.025;
    if total == 0 {
        return (0.0, 1.0);
    }
    // P(X ≥ right) grows with the share, P(X ≤ right) falls.
    let low = share_where(|p| binomial_cdf(total - right, total, 1.0 - p) < TAIL);
    let high = share_where(|p| binomial_cdf(right, total, p) > TAIL);
    let low = if right == 0 { 0.0 } else { low };
    (low, if right == total { 1.0 } else { high })
}

/// The share up to which something holds, by bisection.
fn share_where(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// P(X ≤ k) of a binomial of n draws with probability p, summed term by term in logarithms.
pub fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n || p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return 0.0;
    }
    let odds = (p / (1.0 - p)).ln();
    let mut logarithm = n as f64 * (1.0 - p).ln();
    let mut sum = logarithm.exp();
    for i in 0..k {
        logarithm += odds + ((n - i) as f64 / (i + 1) as f64).ln();
        sum += logarithm.exp();
    }
    sum.min(1.0)
}

/// Wilson's 95 % score interval for a share: honest also for few groups and shares near 0 or 1.
pub fn wilson_interval(right: u64, total: u64) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    if total == 0 {
        return (0.0, 1.0);
    }
    let n = total as f64;
    let share = right as f64 / n;
    let scale = 1.0 + Z * Z / n;
    let centre = (share + Z * Z / (2.0 * n)) / scale;
    let half = Z / scale * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wilson_interval_has_its_published_values() {
        // Newcombe (1998), Table I: 81 of 263 and 0 of 20.
        let (low, high) = wilson_interval(81, 263);
        assert!((low - 0.2553).abs() < 1e-4 && (high - 0.3662).abs() < 1e-4);
        let (low, high) = wilson_interval(0, 20);
        assert!(low == 0.0 && (high - 0.1611).abs() < 1e-4);
        assert_eq!(wilson_interval(0, 0), (0.0, 1.0));
    }

    #[test]
    fn the_exact_interval_has_its_published_values() {
        // Newcombe (1998), Table I, method 5: 81 of 263, 15 of 148, 0 of 20, 29 of 29.
        for (right, total, low, high) in [
            (81, 263, 0.2527, 0.3676),
            (15, 148, 0.0578, 0.1617),
            (0, 20, 0.0, 0.1684),
            (29, 29, 0.8806, 1.0),
        ] {
            let found = exact_interval(right, total);
            assert!(
                (found.0 - low).abs() < 1e-4 && (found.1 - high).abs() < 1e-4,
                "{found:?}"
            );
        }
        assert_eq!(exact_interval(0, 0), (0.0, 1.0));
    }

    #[test]
    fn the_majority_of_segments_decides_a_group() {
        let votes = group_votes(
            2,
            [
                (7, 1, 1, 0.1),
                (7, 1, 1, 0.1),
                (7, 1, 0, 9.0),
                (3, 0, 1, 0.2),
                (3, 0, 0, 0.3),
            ],
        );
        assert_eq!(votes.len(), 2);
        assert_eq!((votes[0].group, votes[0].decided), (3, 0));
        assert_eq!((votes[1].group, votes[1].decided), (7, 1));
        assert_eq!(votes[1].votes, [1, 2]);
        let score = GroupScore::of(&votes).expect("two groups");
        assert_eq!((score.right, score.total), (2, 2));
    }
}
