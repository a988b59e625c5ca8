//! The result of a run over its folds: curve, scores with their spread, votes, timing.

use super::auto::AutoReport;
use super::checked::{DataFacts, Part};
use super::groupings::Grouping;
use super::prequential::PrequentialWindow;
use super::record::{MissingRecord, PartRecord, Timing};
use crate::evaluation::{
    Baseline, BaselineResult, Confusion, GroupScore, GroupVote, PairedDifference, ScoredDecision,
    Scores, WatchedAlarm, group_votes, groups_have_one_class,
};

/// A mean over folds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Rounds done, or the share of features set to zero.
    pub at: f64,
    /// Mean over the folds.
    pub mean: f64,
    /// Standard deviation over the folds; none of a single fold.
    pub sd: Option<f64>,
}

/// Measured times per unit of work; nothing where no such work was done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimingSummary {
    /// Growing, per mini-batch and dictionary.
    pub grow_us_per_batch: Option<f64>,
    /// Pruning, per mini-batch and dictionary, averaged over all mini-batches.
    pub prune_us_per_batch: Option<f64>,
    /// Classifying one sample against all dictionaries.
    pub classify_us_per_sample: Option<f64>,
    /// Learning, summed over folds.
    pub train_s: f64,
    /// Testing, summed over folds.
    pub test_s: f64,
}

/// A simple classifier on the same folds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaselineSummary {
    /// Which one.
    pub baseline: Baseline,
    /// Its mean accuracy over the folds.
    pub accuracy: f64,
    /// Learner minus baseline, paired over the folds.
    pub difference: PairedDifference,
}

/// How prediction sets did on the held-out samples of all folds.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// ε.
    pub epsilon: f64,
    /// Share of the sets that hold the true class.
    pub measured: f64,
    /// Share of the sets with exactly one class.
    pub single: f64,
    /// Share of the empty sets.
    pub none: f64,
    /// Measured coverage by true class; none of a class without samples.
    pub by_class: Vec<Option<f64>>,
    /// By true class the samples whose set holds several classes, and those whose set is empty.
    pub several_and_none: Vec<(u64, u64)>,
}

impl Coverage {
    /// 1 − ε.
    pub fn promised(&self) -> f64 {
        1.0 - self.epsilon
    }

    /// What decisions kept of their promise, in a sentence.
    pub fn sentence(&self) -> String {
        format!(
            "The true class was among those named for {:.1} % of the samples ({:.0} % promised); a single class was named for {:.1} %",
            100.0 * self.measured,
            100.0 * self.promised(),
            100.0 * self.single
        )
    }
}

/// Levels that are told beside that of the settings.
const LEVELS: [f64; 3] = [0.02, 0.05, 0.1];

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Accuracy against mini-batches.
    pub curve: Vec<CurvePoint>,
    /// Number of each fold (from 0) with its confusion matrix at the last test.
    pub folds: Vec<(usize, Confusion)>,
    /// Mean accuracy over the folds at the last test, and its standard deviation.
    pub accuracy: Option<CurvePoint>,
    /// All folds together.
    pub confusion: Confusion,
    /// Votes of the groups, where groups are known.
    pub votes: Vec<GroupVote>,
    /// Accuracy against the share of features set to zero.
    pub missing: Vec<CurvePoint>,
    /// The same after suspicious zeros were filled in, where that was asked for.
    pub repaired: Vec<CurvePoint>,
    /// The same with the missing features known and filled in.
    pub known: Vec<CurvePoint>,
    /// Simple classifiers on the same folds.
    pub baselines: Vec<BaselineSummary>,
    /// Coverage of the prediction sets, where the models are calibrated.
    pub coverage: Vec<Coverage>,
    /// ε that the run was asked for, where its decisions are calibrated.
    pub epsilon: Option<f64>,
    /// What was tried and chosen, by fold, where settings were chosen.
    pub auto: Vec<(usize, AutoReport)>,
    /// What was decided of every held-out sample at the last test.
    pub decisions: Vec<ScoredDecision>,
    /// Share of the kept samples that the joint readout decides rightly without their group, where groups are known.
    pub readout_logo: Option<f64>,
    /// Share of the samples of mini-batches that were decided rightly before they were learned. Where groups are known,
    /// others of their group had been learned by then: it says nothing of new groups.
    pub prequential_accuracy: Option<f64>,
    /// In the order of time: scores over a window of decisions that moves along.
    pub prequential: Vec<PrequentialWindow>,
    /// In the order of time: changes that were noticed.
    pub alarms: Vec<WatchedAlarm>,
    /// Repeated groupings that this is the result of; none of a single run.
    pub groupings: Vec<Grouping>,
    /// Measured times.
    pub timing: TimingSummary,
}

impl RunSummary {
    /// The best of the simple classifiers that the learner does not beat; none if it beats them all.
    pub fn unbeaten(&self) -> Option<&BaselineSummary> {
        let best = self.baselines.iter();
        let best = best.max_by(|a, b| a.accuracy.total_cmp(&b.accuracy))?;
        (best.difference.mean <= 0.0).then_some(best)
    }

    /// What to say of the simple classifiers, in a sentence.
    pub fn baseline_sentence(&self) -> Option<String> {
        let best = self.baselines.iter();
        let best = best.max_by(|a, b| a.accuracy.total_cmp(&b.accuracy))?;
        let interval = best
            .difference
            .interval
            .map_or(String::new(), |(low, high)| {
                format!(
                    " (95 % interval {:+.1} to {:+.1})",
                    100.0 * low,
                    100.0 * high
                )
            });
        let points = 100.0 * best.difference.mean;
        let name = best.baseline.name();
        let is_open = best.difference.interval.is_some_and(|(low, _)| low <= 0.0);
        let is_even = (10.0 * points).round() == 0.0;
        let points_told = match is_even {
            true => "the difference is less than 0.1 points".to_owned(),
            false => format!("{points:+.1} points"),
        };
        Some(if points > 0.0 && is_open {
            format!(
                "not clearly better than the best simple classifier, {name}: {points_told}{interval}"
            )
        } else if points > 0.0 {
            format!("{points:.1} points better than the best simple classifier, {name}{interval}")
        } else {
            let advice = match self.auto.is_empty() {
                true => {
                    "let the settings be chosen (Learner › Choose for me, --auto), look at the scaling of the features, or use"
                }
                false => "add samples or features, or use",
            };
            format!(
                "not better than the best simple classifier, {name}: {points_told}{interval}; {advice} that one"
            )
        })
    }

    /// Prediction sets at the level that the run was asked for.
    pub fn own_coverage(&self) -> Option<&Coverage> {
        let epsilon = self.epsilon?;
        self.coverage.iter().find(|found| found.epsilon == epsilon)
    }

    /// The result of the folds among `records`.
    pub fn of(facts: &DataFacts, records: &[&PartRecord]) -> Self {
        let folds: Vec<(usize, &PartRecord)> = records
            .iter()
            .filter_map(|record| match record.part {
                Part::Fold(fold) => Some((fold, *record)),
                Part::Final => None,
            })
            .collect();
        let tested = folds
            .iter()
            .filter_map(|(fold, record)| Some((*fold, record.tests.last()?.confusion.clone())));
        let tested: Vec<(usize, Confusion)> = tested.collect();
        let mut confusion = Confusion::new(facts.n_classes());
        for (_, part) in &tested {
            confusion.merge(part);
        }
        let accuracies = tested.iter().filter_map(|(_, part)| part.accuracy());
        let accuracy = mean_and_sd(accuracies).map(|(mean, sd)| CurvePoint {
            at: last_batch(&folds),
            mean,
            sd,
        });
        let decisions = decisions(facts, &folds);
        let in_time = folds
            .iter()
            .find_map(|(_, record)| Some((*record, record.in_time.as_ref()?)));
        Self {
            prequential: in_time.map_or(Vec::new(), |(record, _)| {
                let (classes, n_classes) = (&facts.classes, facts.n_classes());
                record.decisions.prequential_windows(classes, n_classes)
            }),
            alarms: in_time.map_or(Vec::new(), |(_, time)| time.watch.alarms.clone()),
            curve: curve(&folds),
            accuracy,
            confusion,
            votes: group_votes(
                facts.n_classes(),
                decisions
                    .iter()
                    .filter_map(|d| Some((d.group?, d.truth, d.decided, d.margin))),
            ),
            decisions,
            readout_logo: readout_logo(&folds),
            prequential_accuracy: prequential_accuracy(&folds),
            groupings: Vec::new(),
            missing: missing(&folds, |record| Some(&record.confusion)),
            repaired: missing(&folds, |record| record.repaired.as_ref()),
            known: missing(&folds, |record| record.known.as_ref()),
            baselines: baselines(&folds),
            coverage: coverage(facts, &folds),
            epsilon: own_level(&folds),
            auto: folds
                .iter()
                .filter_map(|(fold, record)| Some((*fold, record.auto.clone()?)))
                .collect(),
            timing: timing(facts, &folds),
            folds: tested,
        }
    }

    /// Every score with its interval over groups; drawing them takes a moment.
    pub fn scores(&self, facts: &DataFacts, seed: u64) -> Option<Scores> {
        Scores::of(&facts.class_names, &self.decisions, seed)
    }

    /// The scores in a sentence: by groups where they are known, with their exact interval.
    pub fn in_words(&self) -> Option<String> {
        let accuracy = self.accuracy?.mean;
        let of_groups = self
            .group_score()
            .filter(|s| s.total < self.confusion.total());
        let by_group = of_groups.map(|score| {
            format!(
                " and {} of {} groups by vote (95 % interval {:.0} to {:.0} %)",
                score.right,
                score.total,
                100.0 * score.interval.0,
                100.0 * score.interval.1
            )
        });
        let what = by_group.as_ref().map_or(
            "held-out samples",
            |_| "samples of groups that were not learned from",
        );
        Some(format!(
            "{:.1} % of the {what} were right{}",
            100.0 * accuracy,
            by_group.unwrap_or_default()
        ))
    }

    /// The vote of the groups with its interval; nothing where groups hold several classes.
    pub fn group_score(&self) -> Option<GroupScore> {
        let n_classes = self.confusion.n_classes();
        let score = GroupScore::of(&self.votes)?;
        groups_have_one_class(n_classes, &self.decisions).then_some(score)
    }
}

fn last_batch(folds: &[(usize, &PartRecord)]) -> f64 {
    let batches = folds.iter().filter_map(|(_, record)| record.tests.last());
    batches.map(|test| test.batch).max().unwrap_or(0) as f64
}

/// Mean over those folds that have come as far.
fn curve(folds: &[(usize, &PartRecord)]) -> Vec<CurvePoint> {
    let longest = folds.iter().map(|(_, record)| record.tests.len()).max();
    (0..longest.unwrap_or(0))
        .filter_map(|number| {
            let tests = || {
                folds
                    .iter()
                    .filter_map(|(_, record)| record.tests.get(number))
            };
            let (mean, sd) = mean_and_sd(tests().filter_map(|test| test.confusion.accuracy()))?;
            let at = tests().map(|test| test.batch).max()? as f64;
            Some(CurvePoint { at, mean, sd })
        })
        .collect()
}

fn baselines(folds: &[(usize, &PartRecord)]) -> Vec<BaselineSummary> {
    let folds = folds.iter().map(|(_, record)| FoldBaselines {
        accuracy: record.accuracy(),
        n_samples: record.n_samples,
        results: &record.baselines,
    });
    BaselineSummary::of_folds(&folds.collect::<Vec<_>>())
}

/// Simple classifiers and the learner on one fold.
pub(super) struct FoldBaselines<'a> {
    /// Of the learner.
    pub(super) accuracy: Option<f64>,
    /// Samples learned from, and held out.
    pub(super) n_samples: (usize, usize),
    /// Of the simple classifiers.
    pub(super) results: &'a [BaselineResult],
}

impl BaselineSummary {
    /// Those that were tried on every fold, in the order of the first.
    pub(super) fn of_folds(folds: &[FoldBaselines<'_>]) -> Vec<Self> {
        let Some(first) = folds.first() else {
            return Vec::new();
        };
        let ratio = mean_and_sd(folds.iter().map(|fold| {
            let (train, test) = fold.n_samples;
            test as f64 / train.max(1) as f64
        }));
        let summary = |baseline: Baseline| {
            let pair = |fold: &FoldBaselines<'_>| {
                let mut own = fold.results.iter();
                let own = own.find(|result| result.baseline == baseline && result.total > 0);
                Some((fold.accuracy?, own?.accuracy()))
            };
            let pairs: Vec<(f64, f64)> = folds.iter().map(pair).collect::<Option<_>>()?;
            Some(Self {
                baseline,
                accuracy: mean_and_sd(pairs.iter().map(|(_, accuracy)| *accuracy))?.0,
                difference: PairedDifference::of(&pairs, ratio?.0)?,
            })
        };
        let all = first.results.iter().map(|result| result.baseline);
        all.filter_map(summary).collect()
    }
}

/// ε that the run was asked for.
fn own_level(folds: &[(usize, &PartRecord)]) -> Option<f64> {
    folds
        .iter()
        .find_map(|(_, record)| record.decisions.epsilon)
}

fn coverage(facts: &DataFacts, folds: &[(usize, &PartRecord)]) -> Vec<Coverage> {
    let at_level = |epsilon: f64| {
        let n_classes = facts.n_classes();
        let (mut covered, mut total) = (vec![0_u64; n_classes], vec![0_u64; n_classes]);
        let mut single = 0_u64;
        let mut several_and_none = vec![(0_u64, 0_u64); n_classes];
        for (_, record) in folds {
            let decisions = &record.decisions;
            for (place, sample) in decisions.sample.iter().enumerate() {
                let (Some(set), Some(&class)) =
                    (decisions.set(place, epsilon), facts.classes.get(*sample))
                else {
                    continue;
                };
                total[class] += 1;
                covered[class] += u64::from(set.contains(&class));
                match set.len() {
                    0 => several_and_none[class].1 += 1,
                    1 => single += 1,
                    _ => several_and_none[class].0 += 1,
                }
            }
        }
        let n = total.iter().sum::<u64>();
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        Some(Coverage {
            epsilon,
            measured: share(covered.iter().sum(), n)?,
            single: share(single, n)?,
            none: share(several_and_none.iter().map(|(_, none)| none).sum(), n)?,
            by_class: covered
                .iter()
                .zip(&total)
                .map(|(c, t)| share(*c, *t))
                .collect(),
            several_and_none,
        })
    };
    let mut levels = LEVELS.to_vec();
    levels.extend(own_level(folds));
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels.into_iter().filter_map(at_level).collect()
}

fn missing<'a>(
    folds: &[(usize, &'a PartRecord)],
    which: impl Fn(&'a MissingRecord) -> Option<&'a Confusion>,
) -> Vec<CurvePoint> {
    let longest = folds.iter().map(|(_, record)| record.missing.len()).max();
    (0..longest.unwrap_or(0))
        .filter_map(|number| {
            let tests = || {
                folds
                    .iter()
                    .filter_map(|(_, record)| record.missing.get(number))
            };
            let (mean, sd) = mean_and_sd(tests().filter_map(|test| which(test)?.accuracy()))?;
            let at = tests().next()?.share;
            Some(CurvePoint { at, mean, sd })
        })
        .collect()
}

fn decisions(facts: &DataFacts, folds: &[(usize, &PartRecord)]) -> Vec<ScoredDecision> {
    let groups = facts.groups.as_deref();
    let decided = folds.iter().flat_map(|(_, record)| {
        let decided = &record.decisions;
        let margins = decided.class.iter().zip(&decided.margin);
        decided.sample.iter().zip(margins)
    });
    // A damaged file may name samples and classes that do not exist.
    let known = decided.filter_map(|(&sample, (&class, &margin))| {
        let truth = *facts.classes.get(sample)?;
        let group = match groups {
            Some(groups) => Some(*groups.get(sample)?),
            None => None,
        };
        (class < facts.n_classes()).then_some(ScoredDecision {
            group,
            truth,
            decided: class,
            margin,
        })
    });
    known.collect()
}

/// Over the kept samples of all folds.
fn readout_logo(folds: &[(usize, &PartRecord)]) -> Option<f64> {
    share_of(folds.iter().filter_map(|(_, record)| record.readout_logo))
}

/// Over the mini-batches of all folds.
fn prequential_accuracy(folds: &[(usize, &PartRecord)]) -> Option<f64> {
    let rounds = folds.iter().flat_map(|(_, record)| &record.rounds);
    share_of(rounds.filter_map(|round| round.prequential))
}

/// The share of what is right, of counts of right and all.
fn share_of(counts: impl Iterator<Item = (usize, usize)>) -> Option<f64> {
    let (right, total) = counts.fold((0, 0), |sum, (right, total)| (sum.0 + right, sum.1 + total));
    (total > 0).then(|| right as f64 / total as f64)
}

fn timing(facts: &DataFacts, folds: &[(usize, &PartRecord)]) -> TimingSummary {
    let mut all = Timing::default();
    let mut n_rounds = 0;
    for (_, record) in folds {
        all.add(&record.timing);
        n_rounds += record.rounds.len();
    }
    TimingSummary::of(&all, n_rounds, facts.n_classes())
}

impl TimingSummary {
    /// Times of `n_rounds` rounds per mini-batch and dictionary, and per sample tested.
    pub(super) fn of(all: &Timing, n_rounds: usize, n_classes: usize) -> Self {
        let n_batches = (n_rounds * n_classes) as f64;
        let per = |seconds: f64, count: f64| (count > 0.0).then(|| 1e6 * seconds / count);
        Self {
            grow_us_per_batch: per(all.growing.as_secs_f64(), n_batches),
            prune_us_per_batch: per(all.pruning.as_secs_f64(), n_batches),
            classify_us_per_sample: per(all.testing.as_secs_f64(), all.n_tested as f64),
            train_s: (all.growing + all.pruning).as_secs_f64(),
            test_s: all.testing.as_secs_f64(),
        }
    }
}

/// Mean and standard deviation (n − 1) of the values; no deviation of a single one.
pub fn mean_and_sd(values: impl Iterator<Item = f64>) -> Option<(f64, Option<f64>)> {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let sd = (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
    Some((mean, sd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_a_sample_of_folds() {
        let (mean, sd) = mean_and_sd([0.9, 1.0, 0.8].into_iter()).expect("there are values");
        assert!((mean - 0.9).abs() < 1e-15 && (sd.expect("three values") - 0.1).abs() < 1e-12);
        assert_eq!(mean_and_sd([0.5].into_iter()), Some((0.5, None)));
        assert_eq!(mean_and_sd(std::iter::empty()), None);
    }
}
