//! The result of a run as text for the terminal and as JSON.

use std::io::{self, Write};

use super::terminal::one_line;
use crate::workbench::kernel_name;
use atomscope_engine::dataset::Scaling;
use atomscope_engine::evaluation::{Confusion, Estimate, GroupRow};
use atomscope_engine::experiment::{
    CheckedExperiment, Coverage, CurvePoint, RunSummary, SettingChange, change_texts,
};
use atomscope_engine::export::{Predictions, RunResult};
use atomscope_engine::records::counted;
use atomscope_engine::split::audit::Severity;

/// Remarks shown as text; JSON has them all.
const SHOWN_REMARKS: usize = 40;
/// Classes whose shares are named one by one.
const MOST_SHARES: usize = 12;

/// What a report is made of.
pub(super) struct Report<'a> {
    pub(super) session: &'a str,
    pub(super) checked: &'a CheckedExperiment,
    /// Settings changed on the way.
    pub(super) changes: &'a [SettingChange],
    pub(super) summary: &'a RunSummary,
    pub(super) predictions: Predictions<'a>,
    pub(super) wall_s: f64,
    /// What to know beside the numbers.
    pub(super) remarks: &'a [String],
}

impl Report<'_> {
    /// What figures, tables and JSON are made of.
    pub(super) fn result(&self) -> RunResult<'_> {
        RunResult {
            session: self.session,
            experiment: self.checked.experiment(),
            changes: self.changes,
            facts: self.checked.facts(),
            n_folds: self.checked.split().n_folds(),
            findings: &self.checked.audit().findings,
            summary: self.summary,
            predictions: self.predictions.clone(),
            wall_s: Some(self.wall_s),
        }
    }

    /// The report as text: what was done first, then how well it went.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_setting(out)?;
        self.write_scores(out)?;
        self.write_timing(out)
    }

    fn write_setting(&self, out: &mut impl Write) -> io::Result<()> {
        let facts = self.checked.facts();
        let experiment = self.checked.experiment();
        writeln!(
            out,
            "Data       {}: {}, {}, {}",
            one_line(self.session),
            counted(facts.n_samples, "sample"),
            counted(facts.n_classes(), "class"),
            counted(facts.n_features(), "feature")
        )?;
        if let Some(place) = experiment.data.classes_in_words() {
            writeln!(out, "Classes    {place}")?;
        }
        if let Some(reason) = experiment.data.recipe_reason() {
            writeln!(out, "Recipe     {reason}")?;
        }
        let n_folds = self.checked.split().n_folds();
        let trained = self.summary.folds.len();
        let of_all = if trained < n_folds {
            format!(" ({trained} trained)")
        } else {
            String::new()
        };
        let plan = &experiment.split;
        let seed = plan.seed();
        let seed = seed.map_or(String::new(), |seed| format!(" (seed {seed})"));
        writeln!(
            out,
            "Split      {}{seed}, {n_folds} {}{of_all}",
            plan.in_words(),
            if n_folds == 1 { "fold" } else { "folds" }
        )?;
        for finding in &self.checked.audit().findings {
            let word = match finding.severity {
                Severity::Error => "ERROR",
                Severity::Warning => "Warning",
                Severity::Note => "Note",
            };
            writeln!(out, "Audit      {word}: {}", finding.text)?;
        }
        for (batch, text) in change_texts(&experiment.learner, self.changes) {
            writeln!(out, "Changed    after mini-batch {batch}: {text}")?;
        }
        for remark in self.remarks.iter().take(SHOWN_REMARKS) {
            writeln!(out, "Remark     {remark}")?;
        }
        let n_more = self.remarks.len().saturating_sub(SHOWN_REMARKS);
        if n_more > 0 {
            writeln!(out, "Remark     and {n_more} more (--json lists all)")?;
        }
        writeln!(out, "Seed       {}", experiment.seed)
    }

    /// In the order of time: scores along the stream and what the detectors noticed.
    fn write_in_time(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { summary, .. } = self;
        if summary.prequential.is_empty() {
            return Ok(());
        }
        if let Some(kappa) = summary.confusion.kappa() {
            writeln!(out, "Kappa      {kappa:.3}")?;
        }
        let alarms = &summary.alarms;
        let worse = alarms.iter().filter(|alarm| alarm.is_worse()).count();
        writeln!(
            out,
            "Changes    {} noticed, {worse} for the worse",
            alarms.len()
        )?;
        let names = &self.checked.facts().class_names;
        for alarm in alarms.iter().filter(|alarm| alarm.is_worse()).take(10) {
            writeln!(out, "           {}", alarm.sentence(names))?;
        }
        writeln!(out)?;
        writeln!(out, "Last 500 decisions before")?;
        writeln!(out, "  decision  accuracy  balanced   kappa")?;
        let percent = |share: Option<f64>| {
            share.map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
        };
        for window in &summary.prequential {
            writeln!(
                out,
                "{:>10}  {:>8}  {:>8}  {:>6}",
                window.n_judged,
                percent(Some(window.accuracy)),
                percent(window.balanced_accuracy),
                window.kappa.map_or("–".to_owned(), |k| format!("{k:.3}"))
            )?;
        }
        Ok(())
    }

    fn write_scores(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { summary, .. } = self;
        let Some(accuracy) = summary.accuracy else {
            return writeln!(out, "Accuracy   no fold was tested");
        };
        writeln!(
            out,
            "Accuracy   {} over {}, after {} {}",
            percent(&accuracy),
            counted(summary.folds.len(), "fold"),
            accuracy.at,
            if accuracy.at == 1.0 {
                "mini-batch"
            } else {
                "mini-batches"
            }
        )?;
        if let Some(balanced) = summary.confusion.balanced_accuracy() {
            writeln!(out, "Balanced   {:.2} %", 100.0 * balanced)?;
        }
        self.write_people(out)?;
        if let Some(score) = summary
            .group_score_over_groupings()
            .or(summary.group_score())
            && score.total < self.checked.facts().n_samples as u64
        {
            writeln!(
                out,
                "By group   {} of {} groups by vote: {:.1} % (95 % interval {:.1} to {:.1} %)",
                score.right,
                score.total,
                100.0 * score.right as f64 / score.total as f64,
                100.0 * score.interval.0,
                100.0 * score.interval.1
            )?;
        }
        for (number, point) in summary.missing.iter().enumerate() {
            write!(
                out,
                "Missing    {:>3.0} % of the features zeroed: {}",
                100.0 * point.at,
                percent(point)
            )?;
            for (name, points) in [("repaired", &summary.repaired), ("known", &summary.known)] {
                if let Some(point) = points.get(number) {
                    write!(out, ", {name} {:.2} %", 100.0 * point.mean)?;
                }
            }
            writeln!(out)?;
        }
        self.write_trust(out)?;
        self.write_in_time(out)?;
        writeln!(out)?;
        let names = &self.checked.facts().class_names;
        write_confusion(out, names, &summary.confusion, summary.own_coverage())
    }

    /// Simple classifiers, prediction sets and what was chosen.
    fn write_trust(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { summary, .. } = self;
        for (fold, report) in &summary.auto {
            if let Some(chosen) = &report.chosen {
                writeln!(
                    out,
                    "Chosen     fold {}: {}, {}, head {}: {}",
                    fold + 1,
                    kernel_name(&chosen.candidate.kernel),
                    match chosen.candidate.scaling {
                        Scaling::None => "features as they are",
                        _ => "features z-scored",
                    },
                    chosen.head.name(),
                    chosen.reason
                )?;
            }
        }
        for found in &summary.baselines {
            writeln!(
                out,
                "Baseline   {:.2} % {}",
                100.0 * found.accuracy,
                found.baseline.name()
            )?;
        }
        if let Some(sentence) = summary.baseline_sentence() {
            writeln!(out, "Compared   {sentence}")?;
        }
        for found in &summary.coverage {
            writeln!(
                out,
                "Coverage   {:.1} % promised, {:.1} % measured; one class in {:.1} %, none in {:.1} %",
                100.0 * found.promised(),
                100.0 * found.measured,
                100.0 * found.single,
                100.0 * found.none
            )?;
        }
        Ok(())
    }

    /// What is honest to say of new people: everything with its interval over groups.
    fn write_people(&self, out: &mut impl Write) -> io::Result<()> {
        let facts = self.checked.facts();
        let seed = self.checked.experiment().seed;
        let Some(scores) = self.summary.scores(facts, seed) else {
            return Ok(());
        };
        if let [_, _, ..] = &self.summary.groupings[..] {
            let accuracies = self.summary.groupings.iter().filter_map(|g| g.accuracy);
            let each: Vec<String> = accuracies.map(|a| format!("{:.1}", 100.0 * a)).collect();
            writeln!(
                out,
                "Groupings  {} % with {} seeds",
                each.join(", "),
                each.len()
            )?;
        }
        let shares = facts.class_names.iter().zip(&scores.class_shares);
        let told = |(name, share): (&String, &f64)| format!("{name} {:.1} %", 100.0 * share);
        let rising = |a: &(&String, &f64), b: &(&String, &f64)| a.1.total_cmp(b.1);
        let shares = match (shares.clone().min_by(rising), shares.clone().max_by(rising)) {
            (Some(rarest), Some(largest)) if shares.len() > MOST_SHARES => {
                format!(
                    "{} to {} of {} classes",
                    told(rarest),
                    told(largest),
                    shares.len()
                )
            }
            _ => shares.map(told).collect::<Vec<String>>().join(", "),
        };
        writeln!(
            out,
            "Chance     {:.1} % by always deciding for the most frequent class ({})",
            100.0 * scores.chance,
            shares
        )?;
        if scores.accuracy.interval.is_some() {
            writeln!(
                out,
                "Interval   {} of all decisions, 95 % by drawing whole groups",
                estimate(&scores.accuracy)
            )?;
        }
        if let (Some(found), Some(spared)) = (scores.sensitivity(), scores.specificity()) {
            let auc = scores.auc.map(|auc| format!(", AUC {}", estimate(&auc)));
            let name = scores
                .positive
                .map(|class| facts.class_names[class].as_str());
            writeln!(
                out,
                "Sensitive  {} for {}, specific {}{}",
                estimate(&found),
                name.unwrap_or_default(),
                estimate(&spared),
                auc.unwrap_or_default()
            )?;
        }
        if let Some(share) = self.summary.readout_logo {
            writeln!(
                out,
                "Readout    {:.1} % of the kept samples without their own group",
                100.0 * share
            )?;
            if let Some(share) = self.summary.prequential_accuracy {
                writeln!(
                    out,
                    "Learning   {:.1} % right just before they were learned (prequential): others of their group were known by then, so it says nothing about new groups",
                    100.0 * share
                )?;
            }
        }
        // Groups that hold several classes have no class to be taken for.
        let has_vote = scores.vote.is_some();
        let is_hard = |row: &&GroupRow| match has_vote {
            true => row.truth != row.decided,
            false => 2 * row.right < row.total,
        };
        for row in scores.groups.iter().filter(is_hard).take(MOST_WRONG_GROUPS) {
            let name = &facts.group_names[row.group];
            let taken_for = match has_vote {
                true => format!(", taken for {}", facts.class_names[row.decided]),
                false => String::new(),
            };
            writeln!(
                out,
                "Wrong      {name}: {} of {} right{taken_for}",
                row.right, row.total
            )?;
        }
        Ok(())
    }

    fn write_timing(&self, out: &mut impl Write) -> io::Result<()> {
        let timing = &self.summary.timing;
        let micro =
            |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.0} µs"));
        writeln!(
            out,
            "\nTiming     growing {} and pruning {} per mini-batch and dictionary, classifying {} per sample",
            micro(timing.grow_us_per_batch),
            micro(timing.prune_us_per_batch),
            micro(timing.classify_us_per_sample)
        )?;
        writeln!(
            out,
            "           learning {:.1} s and testing {:.1} s summed over folds, {:.1} s in all",
            timing.train_s, timing.test_s, self.wall_s
        )
    }
}

/// Groups that were decided wrongly and are named.
const MOST_WRONG_GROUPS: usize = 10;

fn estimate(estimate: &Estimate) -> String {
    let value = format!("{:.1} %", 100.0 * estimate.value);
    match estimate.interval {
        Some((low, high)) => format!("{value} ({:.1} to {:.1})", 100.0 * low, 100.0 * high),
        None => value,
    }
}

fn percent(point: &CurvePoint) -> String {
    match point.sd {
        Some(sd) => format!("{:.2} % ± {:.2}", 100.0 * point.mean, 100.0 * sd),
        None => format!("{:.2} %", 100.0 * point.mean),
    }
}

/// Classes whose decisions are counted against each other; of more, those of lowest recall stand alone.
const MOST_CLASSES: usize = 40;

/// Rows are true classes, columns decisions, the last column the recall.
fn write_confusion(
    out: &mut impl Write,
    class_names: &[String],
    confusion: &Confusion,
    sets: Option<&Coverage>,
) -> io::Result<()> {
    let largest = (0..confusion.n_classes()).map(|class| confusion.of_class(class));
    let digits = largest.max().unwrap_or(0).to_string().len();
    let short = |name: &String| -> String { name.chars().take(12).collect() };
    let names: Vec<String> = class_names.iter().map(short).collect();
    let longest = names.iter().map(|name| name.chars().count()).max();
    let wide = longest.unwrap_or(0).max(5);
    let column = wide.min(8).max(digits) + 1;
    let is_large = names.len() > MOST_CLASSES;
    let mut rows: Vec<usize> = (0..names.len()).collect();
    if is_large {
        let recall = |class: usize| confusion.recall(class).unwrap_or(f64::INFINITY);
        rows.sort_by(|&a, &b| recall(a).total_cmp(&recall(b)));
        rows.truncate(MOST_CLASSES);
        writeln!(
            out,
            "The {MOST_CLASSES} classes of lowest recall of {}; --export confusion=FILE.csv writes all decisions",
            names.len()
        )?;
    }
    write!(out, "{:>wide$} ", "true")?;
    for name in names.iter().filter(|_| !is_large) {
        let name: String = name.chars().take(column - 1).collect();
        write!(out, "{name:>column$}")?;
    }
    write!(out, "   recall")?;
    match sets {
        Some(_) => writeln!(out, "  several     none  covered")?,
        None => writeln!(out)?,
    }
    for truth in rows {
        write!(out, "{:>wide$} ", names[truth])?;
        for decided in (0..confusion.n_classes()).filter(|_| !is_large) {
            write!(out, "{:>column$}", confusion.count(truth, decided))?;
        }
        let share = |share: Option<f64>| match share {
            Some(share) => format!("{:>7.1} %", 100.0 * share),
            None => format!("{:>9}", "–"),
        };
        write!(out, "{}", share(confusion.recall(truth)))?;
        if let Some(sets) = sets {
            let (several, none) = sets.several_and_none[truth];
            let covered = share(sets.by_class[truth]);
            write!(out, "{several:>9}{none:>9}{covered}")?;
        }
        writeln!(out)?;
    }
    if let Some(sets) = sets {
        writeln!(
            out,
            "several, none: samples whose prediction set at {:.1} % is not one class; covered: sets that hold the true class",
            100.0 * sets.promised()
        )?;
    }
    Ok(())
}
