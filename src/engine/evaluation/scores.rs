//! Scores that are honest about people: what is decided of one group hangs together, so intervals come from drawing
//! whole groups, never segments as if they were independent.

use serde::{Deserialize, Serialize};

use super::groups::{GroupScore, GroupVote, group_votes};
use crate::math::{random_below, random_stream};

/// Draws of the bootstrap over groups.
const N_DRAWS: usize = 2000;

/// Decisions times draws above which the interval of the AUC is left out: some seconds.
const MOST_RANKED: usize = 400_000_000;

/// Names of classes that mean the absence of something.
const ABSENT: [&str; 12] = [
    "healthy",
    "control",
    "controls",
    "normal",
    "background",
    "negative",
    "no fault",
    "none",
    "rest",
    "absent",
    "0",
    "-1",
];

/// One decision about a held-out sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredDecision {
    /// Group of the sample, where groups are known.
    pub group: Option<usize>,
    /// Its class.
    pub truth: usize,
    /// The class decided for.
    pub decided: usize,
    /// How much better the best class is than the next.
    pub margin: f64,
}

/// A figure with its 95 % interval over groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower and upper end; none with fewer than two groups.
    pub interval: Option<(f64, f64)>,
}

/// What was decided about one group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRow {
    /// The group.
    pub group: usize,
    /// Its class, or that of most of its samples.
    pub truth: usize,
    /// The class that most of its samples were decided for.
    pub decided: usize,
    /// Samples decided rightly.
    pub right: u64,
    /// All its samples.
    pub total: u64,
}

/// All scores of a set of decisions.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// Share of right decisions.
    pub accuracy: Estimate,
    /// Share of each class that was found; none of a class that did not occur.
    pub recalls: Vec<Option<Estimate>>,
    /// Share of each class among the samples.
    pub class_shares: Vec<f64>,
    /// What deciding for the most frequent class would score.
    pub chance: f64,
    /// The class that is looked for, of two: a diagnosis, not its absence.
    pub positive: Option<usize>,
    /// Area under the curve of sensitivity against false alarms, of two classes.
    pub auc: Option<Estimate>,
    /// Votes of the groups, with the exact interval of their score.
    pub vote: Option<GroupScore>,
    /// The groups, those with the smallest share of right decisions first.
    pub groups: Vec<GroupRow>,
}

impl Scores {
    /// The scores of decisions; nothing without decisions. The same seed gives the same intervals.
    pub fn of(class_names: &[String], decisions: &[ScoredDecision], seed: u64) -> Option<Self> {
        let n_classes = class_names.len();
        let tally = Tally::of(n_classes, decisions)?;
        let votes = votes(n_classes, decisions);
        let positive = (n_classes == 2).then(|| positive_class(class_names));
        let ranking = positive.and_then(|positive| Ranking::of(decisions, positive, &tally));
        let mut drawn = Drawn::new(n_classes);
        if tally.groups.len() > 1 {
            drawn.draw(&tally, ranking.as_ref(), seed);
        }
        let whole = vec![1; tally.groups.len()];
        let counts = tally.counts(&whole);
        let total: u64 = counts.iter().map(|(_, all)| all).sum();
        let right: u64 = counts.iter().map(|(right, _)| right).sum();
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        let class_shares: Vec<f64> = counts.iter().map(|(_, all)| share(*all, total)).collect();
        let recalls = counts.iter().zip(&mut drawn.recalls);
        Some(Self {
            accuracy: Estimate {
                value: share(right, total),
                interval: interval(&mut drawn.accuracies),
            },
            recalls: recalls
                .map(|((right, all), draws)| {
                    (*all > 0).then(|| Estimate {
                        value: share(*right, *all),
                        interval: interval(draws),
                    })
                })
                .collect(),
            chance: class_shares.iter().copied().fold(0.0, f64::max),
            class_shares,
            positive,
            auc: ranking.and_then(|ranking| {
                Some(Estimate {
                    value: ranking.area(&whole)?,
                    interval: interval(&mut drawn.areas),
                })
            }),
            vote: GroupScore::of(&votes).filter(|_| tally.groups_have_one_class()),
            groups: rows(&tally, &votes),
        })
    }

    /// Share of the class looked for that was found.
    pub fn sensitivity(&self) -> Option<Estimate> {
        self.recalls.get(self.positive?).copied().flatten()
    }

    /// Share of the other class that was left alone.
    pub fn specificity(&self) -> Option<Estimate> {
        self.recalls.get(1 - self.positive?).copied().flatten()
    }
}

/// Which of two classes is looked for: the second, unless its name means absence.
fn positive_class(class_names: &[String]) -> usize {
    let is_absence = |name: &String| ABSENT.contains(&name.trim().to_lowercase().as_str());
    match class_names {
        [first, second] if is_absence(second) && !is_absence(first) => 0,
        _ => 1,
    }
}

fn votes(n_classes: usize, decisions: &[ScoredDecision]) -> Vec<GroupVote> {
    let grouped = decisions
        .iter()
        .filter_map(|d| Some((d.group?, d.truth, d.decided, d.margin)));
    group_votes(n_classes, grouped)
}

fn rows(tally: &Tally, votes: &[GroupVote]) -> Vec<GroupRow> {
    let mut rows: Vec<GroupRow> = votes
        .iter()
        .filter_map(|vote| {
            let place = tally.groups.binary_search(&Some(vote.group)).ok()?;
            let counts = &tally.by_group[place];
            Some(GroupRow {
                group: vote.group,
                truth: vote.truth,
                decided: vote.decided,
                right: counts.iter().map(|(right, _)| right).sum(),
                total: counts.iter().map(|(_, all)| all).sum(),
            })
        })
        .collect();
    let share = |row: &GroupRow| row.right as f64 / row.total.max(1) as f64;
    rows.sort_by(|a, b| share(a).total_cmp(&share(b)).then(a.group.cmp(&b.group)));
    rows
}

/// Whether nearly all samples of every group are of one class, so that the vote of a group can be right or wrong: where
/// the class changes within groups, a vote for the commonest is no finding.
pub(crate) fn groups_have_one_class(n_classes: usize, decisions: &[ScoredDecision]) -> bool {
    Tally::of(n_classes, decisions).is_some_and(|tally| tally.groups_have_one_class())
}

/// Right decisions and all of them, for every group and class.
struct Tally {
    groups: Vec<Option<usize>>,
    by_group: Vec<Vec<(u64, u64)>>,
}

impl Tally {
    fn of(n_classes: usize, decisions: &[ScoredDecision]) -> Option<Self> {
        let mut groups: Vec<Option<usize>> = decisions.iter().map(|d| d.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let mut by_group = vec![vec![(0, 0); n_classes]; groups.len()];
        for decision in decisions {
            let place = groups.binary_search(&decision.group).ok()?;
            let count = by_group[place].get_mut(decision.truth)?;
            count.0 += u64::from(decision.decided == decision.truth);
            count.1 += 1;
        }
        (!groups.is_empty()).then_some(Self { groups, by_group })
    }

    fn groups_have_one_class(&self) -> bool {
        self.by_group.iter().all(|counts| {
            let all: u64 = counts.iter().map(|(_, all)| all).sum();
            counts.iter().any(|(_, of_class)| 10 * of_class >= 9 * all)
        })
    }

    /// Right and all of each class, every group as often as it was drawn.
    fn counts(&self, times: &[u64]) -> Vec<(u64, u64)> {
        let mut sums = vec![(0, 0); self.by_group[0].len()];
        for (group, times) in self.by_group.iter().zip(times) {
            for (sum, count) in sums.iter_mut().zip(group) {
                sum.0 += times * count.0;
                sum.1 += times * count.1;
            }
        }
        sums
    }
}

/// The decisions of two classes in order of their score for the positive one, equals together.
struct Ranking {
    /// Place of the group among all, whether the sample is positive, and its score.
    ranked: Vec<(usize, bool, f64)>,
}

impl Ranking {
    fn of(decisions: &[ScoredDecision], positive: usize, tally: &Tally) -> Option<Self> {
        let ranked = decisions.iter().map(|decision| {
            let place = tally.groups.binary_search(&decision.group).ok()?;
            let sign = if decision.decided == positive {
                1.0
            } else {
                -1.0
            };
            let score = sign * decision.margin;
            Some((place, decision.truth == positive, score))
        });
        let mut ranked: Vec<(usize, bool, f64)> = ranked.collect::<Option<_>>()?;
        ranked.sort_by(|a, b| a.2.total_cmp(&b.2));
        Some(Self { ranked })
    }

    /// The share of pairs of both classes that are in the right order, equals counting half.
    fn area(&self, times: &[u64]) -> Option<f64> {
        let (mut below, mut pairs, mut n_positive) = (0u64, 0.0, 0u64);
        for equal in self.ranked.chunk_by(|a, b| a.2 == b.2) {
            let (mut positives, mut negatives) = (0u64, 0u64);
            for (place, is_positive, _) in equal {
                match is_positive {
                    true => positives += times[*place],
                    false => negatives += times[*place],
                }
            }
            pairs += positives as f64 * (below as f64 + 0.5 * negatives as f64);
            below += negatives;
            n_positive += positives;
        }
        let all = n_positive as f64 * below as f64;
        (all > 0.0).then(|| pairs / all)
    }
}

/// What the draws gave.
struct Drawn {
    accuracies: Vec<f64>,
    recalls: Vec<Vec<f64>>,
    areas: Vec<f64>,
}

impl Drawn {
    fn new(n_classes: usize) -> Self {
        Self {
            accuracies: Vec::new(),
            recalls: vec![Vec::new(); n_classes],
            areas: Vec::new(),
        }
    }

    /// Draws as many groups as there are, with replacement, again and again.
    fn draw(&mut self, tally: &Tally, ranking: Option<&Ranking>, seed: u64) {
        let n_groups = tally.groups.len();
        let ranking = ranking.filter(|r| r.ranked.len() * N_DRAWS <= MOST_RANKED);
        let mut random = random_stream(seed, "bootstrap over groups", 0);
        for _ in 0..N_DRAWS {
            let mut times = vec![0u64; n_groups];
            for _ in 0..n_groups {
                times[random_below(&mut random, n_groups)] += 1;
            }
            let counts = tally.counts(&times);
            let right: u64 = counts.iter().map(|(right, _)| right).sum();
            let total: u64 = counts.iter().map(|(_, all)| all).sum();
            if total > 0 {
                self.accuracies.push(right as f64 / total as f64);
            }
            for (draws, (right, all)) in self.recalls.iter_mut().zip(&counts) {
                if *all > 0 {
                    draws.push(*right as f64 / *all as f64);
                }
            }
            self.areas.extend(ranking.and_then(|r| r.area(&times)));
        }
    }
}

/// From the 2.5th to the 97.5th hundredth of the draws.
fn interval(draws: &mut [f64]) -> Option<(f64, f64)> {
    draws.sort_by(f64::total_cmp);
    let at = |share: f64| draws.get((share * (draws.len() - 1) as f64).round() as usize);
    (!draws.is_empty()).then(|| Some((*at(0.025)?, *at(0.975)?)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        vec!["healthy".into(), "patient".into()]
    }

    fn decision(group: usize, truth: usize, decided: usize, margin: f64) -> ScoredDecision {
        ScoredDecision {
            group: Some(group),
            truth,
            decided,
            margin,
        }
    }

    #[test]
    fn two_classes_have_the_scores_of_the_textbook() {
        // Patients: 3 of 4 found; healthy: 1 of 2 left alone. Scores for "patient" from low to high:
        // −2 healthy, −1 patient, 1 healthy, 2 patient, 3 patient, 3 patient.
        let decisions = [
            decision(0, 0, 0, 2.0),
            decision(0, 0, 1, 1.0),
            decision(1, 1, 0, 1.0),
            decision(1, 1, 1, 2.0),
            decision(2, 1, 1, 3.0),
            decision(2, 1, 1, 3.0),
        ];
        let scores = Scores::of(&names(), &decisions, 1).expect("six decisions");
        assert!((scores.accuracy.value - 4.0 / 6.0).abs() < 1e-12);
        assert_eq!(scores.sensitivity().expect("patients").value, 0.75);
        assert_eq!(scores.specificity().expect("healthy").value, 0.5);
        assert!((scores.chance - 4.0 / 6.0).abs() < 1e-12);
        // Of the 8 pairs only (−1 patient, 1 healthy) is in the wrong order.
        assert!((scores.auc.expect("two classes").value - 7.0 / 8.0).abs() < 1e-12);
        let vote = scores.vote.expect("three groups");
        // Both classes have a vote in the first two groups: the larger margin decides, and is right.
        assert_eq!((vote.right, vote.total), (3, 3));
        let order: Vec<usize> = scores.groups.iter().map(|row| row.group).collect();
        assert_eq!(order, [0, 1, 2]);
        let swapped = vec!["patient".to_owned(), "control".to_owned()];
        assert_eq!(positive_class(&swapped), 0);
        assert_eq!(Scores::of(&names(), &[], 1), None);
    }

    #[test]
    fn intervals_come_from_groups_and_not_from_segments() {
        // Ten groups, all right or all wrong: segments as if independent would claim ± 3 points.
        let decisions: Vec<ScoredDecision> = (0..1000)
            .map(|k| {
                decision(
                    k % 10,
                    k % 2,
                    if k % 10 < 7 { k % 2 } else { 1 - k % 2 },
                    1.0,
                )
            })
            .collect();
        let scores = Scores::of(&names(), &decisions, 3).expect("decisions");
        let (low, high) = scores.accuracy.interval.expect("ten groups");
        assert!(low <= 0.45 && high >= 0.9, "{low} {high}");
        assert_eq!(Scores::of(&names(), &decisions, 3), Some(scores));
        let one: Vec<ScoredDecision> = decisions
            .iter()
            .map(|d| ScoredDecision { group: None, ..*d })
            .collect();
        let scores = Scores::of(&names(), &one, 3).expect("decisions");
        assert_eq!((scores.accuracy.interval, scores.vote), (None, None));
    }
}
