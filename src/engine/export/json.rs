//! Everything about the result of a run as JSON.

use serde_json::{Value, json};

use super::RunResult;
use crate::evaluation::{Confusion, Estimate, Scores};
use crate::experiment::{
    AutoReport, BaselineSummary, CurvePoint, Grouping, change_texts, mean_and_sd,
};
use crate::split::{HoldOut, SplitPlan};

impl RunResult<'_> {
    /// The result; accuracies and shares are fractions from 0 to 1, folds count from 1.
    pub fn to_json(&self) -> Value {
        let Self { facts, summary, .. } = self;
        let score = summary.group_score();
        let over_groupings = summary.group_score_over_groupings().or(score);
        let scores = summary.scores(facts, self.experiment.seed);
        let scores = scores.as_ref();
        let value = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.value);
        let mut text = json!({
            "session": self.session,
            "atomscope_version": super::VERSION,
            "seed": self.experiment.seed,
            "classes": facts.class_names,
            "n_samples": facts.n_samples,
            "n_features": facts.n_features(),
            "split": {
                "kind": split_kind(&self.experiment.split),
                "folds": self.n_folds,
            },
            "audit": self.audit(),
            "changes": self.changes(),
            "curve": summary.curve.iter().map(|point| json!({
                "batch": point.at as u64, "mean": point.mean, "sd": point.sd,
            })).collect::<Vec<_>>(),
            "folds": summary.folds.iter().map(|(fold, confusion)| json!({
                "fold": fold + 1,
                "accuracy": confusion.accuracy(),
                "confusion": counts(confusion),
            })).collect::<Vec<_>>(),
            "accuracy": summary.accuracy.map(|point| point.mean),
            "accuracy_sd": summary.accuracy.and_then(|point| point.sd),
            "balanced_accuracy": summary.confusion.balanced_accuracy(),
            "group_accuracy": self.group_accuracy(),
            "confusion": counts(&summary.confusion),
            "missing": self.missing(),
            "baselines": baselines(&summary.baselines),
            "coverage": summary.coverage.iter().map(|found| json!({
                "epsilon": found.epsilon,
                "promised": found.promised(),
                "measured": found.measured,
                "single": found.single,
                "none": found.none,
                "by_class": found.by_class,
                "several_by_class": found.several_and_none.iter().map(|(several, _)| several).collect::<Vec<_>>(),
                "none_by_class": found.several_and_none.iter().map(|(_, none)| none).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "auto": self.auto(),
            "timing": self.timing(),
        });
        let more = json!({
            "groupings": self.groupings(),
            "group_interval": over_groupings.map(|score| score.interval),
            "interval": scores.and_then(|scores| scores.accuracy.interval),
            "chance": scores.map(|scores| scores.chance),
            "class_shares": scores.map(|scores| scores.class_shares.clone()),
            "sensitivity": value(scores.and_then(Scores::sensitivity)),
            "specificity": value(scores.and_then(Scores::specificity)),
            "auc": value(scores.and_then(|scores| scores.auc)),
            "recalls": scores.map(|scores| scores.recalls.clone()),
            "readout_logo_accuracy": summary.readout_logo,
            "prequential_accuracy": summary.prequential_accuracy,
            "groups": scores.map_or(Vec::new(), |scores| scores.groups.iter().map(|row| json!({
                "group": facts.group_names.get(row.group),
                "class": facts.class_names.get(row.truth),
                "decided": facts.class_names.get(row.decided),
                "right": row.right,
                "total": row.total,
            })).collect()),
        });
        if let (Value::Object(text), Value::Object(more)) = (&mut text, more) {
            text.extend(more);
        }
        if !summary.prequential.is_empty() {
            text["prequential"] = json!({
                "windows": summary.prequential,
                "kappa": summary.confusion.kappa(),
                "alarms": summary.alarms.iter().map(|alarm| json!({
                    "decision": alarm.decision,
                    "detector": alarm.detector,
                    "watched": alarm.watched.in_words(&facts.class_names),
                    "mean_before": alarm.alarm.mean_before,
                    "mean_after": alarm.alarm.mean_after,
                })).collect::<Vec<_>>(),
            });
        }
        text
    }

    /// The result with all settings and what was decided about every held-out sample.
    pub fn everything(&self) -> Value {
        let mut text = self.to_json();
        text["settings"] = json!(self.experiment);
        text["predictions"] = self.predictions.to_json().into();
        text
    }

    /// Over repeated groupings their mean.
    fn group_accuracy(&self) -> Option<f64> {
        let summary = self.summary;
        let shares = summary.groupings.iter().filter_map(|g| g.group_accuracy);
        let score = || {
            summary
                .group_score()
                .map(|s| s.right as f64 / s.total as f64)
        };
        mean_and_sd(shares).map(|(mean, _)| mean).or_else(score)
    }

    /// The groupings; a single run is one.
    fn groupings(&self) -> Vec<Value> {
        let alone = Grouping::of(self.experiment.seed, self.summary);
        let groupings = match &self.summary.groupings[..] {
            [] => std::slice::from_ref(&alone),
            groupings => groupings,
        };
        let grouping = |grouping: &Grouping| {
            json!({
                "seed": grouping.seed,
                "accuracy": grouping.accuracy,
                "group_accuracy": grouping.group_accuracy,
            })
        };
        groupings.iter().map(grouping).collect()
    }

    fn missing(&self) -> Vec<Value> {
        let Self { summary, .. } = self;
        let others = [("repaired", &summary.repaired), ("known", &summary.known)];
        let point = |point: &CurvePoint| {
            let mut found = json!({ "share": point.at, "mean": point.mean, "sd": point.sd });
            for (name, points) in others {
                let same = points.iter().find(|other| other.at == point.at);
                if let Some(same) = same {
                    found[name] = json!({ "mean": same.mean, "sd": same.sd });
                }
            }
            found
        };
        summary.missing.iter().map(point).collect()
    }

    /// What was tried and chosen in the first fold, and the choice of every fold.
    fn auto(&self) -> Value {
        let Some((_, report)) = self.summary.auto.first() else {
            return Value::Null;
        };
        let choice = |fold: Option<usize>, report: &AutoReport| {
            report.chosen.as_ref().map(|chosen| {
                json!({
                    "fold": fold.map(|fold| fold + 1),
                    "kernel": chosen.candidate.kernel,
                    "scaling": chosen.candidate.scaling,
                    "head": chosen.head,
                    "accuracy": chosen.accuracy,
                    "reason": chosen.reason,
                })
            })
        };
        let folds = self.summary.auto.iter();
        json!({
            "tried": report.tried.iter().map(|tried| json!({
                "stage": tried.stage,
                "kernel": tried.candidate.kernel,
                "scaling": tried.candidate.scaling,
                "heads": tried.heads.iter().map(|(head, accuracy)| json!({
                    "head": head, "accuracy": accuracy,
                })).collect::<Vec<_>>(),
                "n_tested": tried.n_tested,
                "trouble": tried.trouble,
            })).collect::<Vec<_>>(),
            "chosen": choice(None, report),
            "folds": folds.map(|(fold, report)| choice(Some(*fold), report)).collect::<Vec<_>>(),
        })
    }

    fn audit(&self) -> Vec<Value> {
        let finding = |finding: &crate::split::audit::Finding| {
            json!({
                "severity": finding.severity,
                "kind": finding.kind,
                "count": finding.count,
                "text": finding.text,
            })
        };
        self.findings.iter().map(finding).collect()
    }

    /// Settings changed on the way: rounds done before, and what was changed.
    fn changes(&self) -> Vec<Value> {
        let texts = change_texts(&self.experiment.learner, self.changes);
        let change = |(batch, text): (usize, String)| json!({"batch": batch, "text": text});
        texts.into_iter().map(change).collect()
    }

    fn timing(&self) -> Value {
        let timing = &self.summary.timing;
        json!({
            "grow_us_per_batch": timing.grow_us_per_batch,
            "prune_us_per_batch": timing.prune_us_per_batch,
            "classify_us_per_sample": timing.classify_us_per_sample,
            "train_s": timing.train_s,
            "test_s": timing.test_s,
            "wall_s": self.wall_s,
        })
    }
}

/// Simple classifiers with the paired difference: learner minus classifier.
pub(super) fn baselines(baselines: &[BaselineSummary]) -> Vec<Value> {
    let baseline = |found: &BaselineSummary| {
        json!({
            "name": found.baseline.name(),
            "accuracy": found.accuracy,
            "difference": found.difference.mean,
            "interval": found.difference.interval.map(|(low, high)| [low, high]),
        })
    };
    baselines.iter().map(baseline).collect()
}

pub(super) fn counts(confusion: &Confusion) -> Vec<Vec<u64>> {
    let classes = 0..confusion.n_classes();
    let row = |truth| {
        classes
            .clone()
            .map(|decided| confusion.count(truth, decided))
            .collect()
    };
    classes.clone().map(row).collect()
}

/// The kind of a split in one word.
pub fn split_kind(plan: &SplitPlan) -> &'static str {
    match plan {
        SplitPlan::KFold { .. } => "k_fold",
        SplitPlan::GroupedKFold { .. } => "grouped_k_fold",
        SplitPlan::LeaveOneGroupOut => "leave_one_group_out",
        SplitPlan::HoldOut(HoldOut::Share { .. }) => "hold_out_share",
        SplitPlan::HoldOut(HoldOut::GroupShare { .. }) => "hold_out_group_share",
        SplitPlan::HoldOut(HoldOut::Groups { .. }) => "hold_out_groups",
        SplitPlan::HoldOut(HoldOut::Time { .. }) => "hold_out_time",
        SplitPlan::InTime(_) => "in_time",
    }
}
