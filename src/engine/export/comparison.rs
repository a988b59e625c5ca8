//! A comparison in files: everything as JSON, a report in HTML, curves and tables.

use serde_json::{Value, json};

use super::chart::{Chart, Series};
use super::html::{Cell, Page};
use super::json::{baselines, counts, split_kind};
use super::matrix::matrix;
use super::tables::table;
use crate::evaluation::PairedDifference;
use crate::experiment::{ComparedRun, Comparison, CurvePoint};

/// The version of the program that made a result.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How the differences are to be read.
pub const DIFFERENCE_NOTE: &str = "Differences of the last accuracy, paired over folds and seeds. The interval is the corrected resampled t \
     interval (95 %, Nadeau and Bengio 2003), which allows for training sets that overlap. Each pair stands for itself: \
     of twenty pairs without a difference one is expected to show one.";

/// What the simple classifiers stand for.
pub const BASELINE_NOTE: &str = "Simple classifiers on the same features and folds; differences are method minus classifier, paired over folds \
     and seeds. Where the interval holds zero, the data do not show that the method is better.";

/// Data, split, seeds and version of a comparison in one line: what every number of it belongs to.
pub fn provenance(comparison: &Comparison) -> String {
    let Some(first) = comparison.rows.first() else {
        return String::new();
    };
    let seeds: Vec<String> = comparison.seeds.iter().map(u64::to_string).collect();
    format!(
        "{}: {} samples, {} classes, {} features · {}, {} {} · {} {} · Atomscope {VERSION}",
        first.experiment.data.in_words(),
        first.facts.n_samples,
        first.facts.n_classes(),
        first.facts.n_features(),
        first.experiment.split.in_words(),
        comparison.n_folds,
        if comparison.n_folds == 1 {
            "fold"
        } else {
            "folds"
        },
        if seeds.len() == 1 { "seed" } else { "seeds" },
        seeds.join(", "),
    )
}

/// Everything about a comparison; accuracies and differences are fractions, folds count from 1.
pub fn comparison_json(comparison: &Comparison) -> Value {
    let first = comparison.rows.first();
    json!({
        "atomscope_version": VERSION,
        "data": first.map(|row| json!({
            "source": row.experiment.data.in_words(),
            "classes": row.facts.class_names,
            "n_samples": row.facts.n_samples,
            "n_features": row.facts.n_features(),
            "fingerprint": format!("{:016x}", row.facts.fingerprint),
        })),
        "split": first.map(|row| json!({
            "kind": split_kind(&row.experiment.split),
            "folds": comparison.n_folds,
        })),
        "seeds": comparison.seeds,
        "is_complete": comparison.is_complete,
        "remarks": comparison.remarks,
        "failures": comparison.failures,
        "runs": comparison.rows.iter().map(run_json).collect::<Vec<_>>(),
        "differences": comparison.differences().iter().map(|(first, second, difference)| {
            let name = |at: &usize| comparison.rows[*at].name.clone();
            json!({
                "first": name(first),
                "second": name(second),
                "n_pairs": difference.n_pairs,
                "mean": difference.mean,
                "sd": difference.sd,
                "low": difference.interval.map(|ends| ends.0),
                "high": difference.interval.map(|ends| ends.1),
                "finding": difference.in_words(&name(first), &name(second)),
            })
        }).collect::<Vec<_>>(),
    })
}

fn point_json(point: &CurvePoint) -> Value {
    json!({ "at": point.at, "mean": point.mean, "sd": point.sd })
}

fn run_json(row: &ComparedRun) -> Value {
    let summary = &row.summary;
    let points = |curve: &[CurvePoint]| curve.iter().map(point_json).collect::<Vec<_>>();
    json!({
        "name": row.name,
        "learner": row.experiment.learner,
        "last": summary.last.as_ref().map(point_json),
        "best": summary.best.as_ref().map(point_json),
        "curve": points(&summary.curve),
        "missing": points(&summary.missing),
        "confusion": counts(&summary.confusion),
        "baselines": baselines(&summary.baselines),
        "timing": {
            "grow_us_per_batch": summary.timing.grow_us_per_batch,
            "prune_us_per_batch": summary.timing.prune_us_per_batch,
            "round_us": summary.round_us,
            "classify_us_per_sample": summary.timing.classify_us_per_sample,
            "train_s": summary.timing.train_s,
            "test_s": summary.timing.test_s,
        },
        "model_bytes": summary.model_bytes,
        "folds": row.outcomes.iter().map(|outcome| json!({
            "seed": outcome.seed,
            "fold": outcome.fold + 1,
            "n_trained": outcome.n_samples.0,
            "n_tested": outcome.n_samples.1,
            "accuracy": outcome.accuracy(),
        })).collect::<Vec<_>>(),
    })
}

/// A comparison as a page of its own.
pub fn comparison_html(comparison: &Comparison, title: &str) -> String {
    let mut page = Page::default();
    page.title(title);
    write_comparison(&mut page, comparison, &[], &[]);
    page.finish(title)
}

/// Figures, tables and remarks of a comparison; curves from elsewhere are drawn beside its own.
pub(super) fn write_comparison(
    page: &mut Page,
    comparison: &Comparison,
    other_curves: &[Series],
    other_missing: &[Series],
) {
    let provenance = provenance(comparison);
    page.paragraph(&provenance);
    if !comparison.is_complete {
        page.paragraph("Interrupted: only folds that were complete by then are counted.");
    }
    if !comparison.failures.is_empty() {
        page.paragraph("Folds that could not be trained and are not counted:");
        page.list(&comparison.failures);
    }
    if !comparison.remarks.is_empty() {
        page.list(&comparison.remarks);
    }
    let chart = accuracy_chart(comparison, other_curves);
    let spread = match chart.shows_spread() {
        true => "mean, and one standard deviation as a band",
        false => "means; the deviations are in the tables",
    };
    page.figure(
        &chart.figure(),
        &format!("Accuracy on held-out samples: {spread}. {provenance}"),
    );
    if comparison
        .rows
        .iter()
        .any(|row| !row.summary.missing.is_empty())
        || !other_missing.is_empty()
    {
        page.figure(
            &missing_chart(comparison, other_missing).figure(),
            &format!("Accuracy with a share of the features of the test samples set to zero. {provenance}"),
        );
    }
    page.subsection("Scores and costs");
    page.table(&SCORE_HEAD, &score_rows(comparison));
    let is_short = comparison.rows.len() <= MOST_OPEN;
    page.folded("Differences", is_short, |page| {
        page.paragraph(DIFFERENCE_NOTE);
        page.table(&DIFFERENCE_HEAD, &difference_rows(comparison));
    });
    let simple = baseline_rows(comparison);
    if !simple.is_empty() {
        page.folded("Simple classifiers", is_short, |page| {
            page.paragraph(BASELINE_NOTE);
            page.table(&BASELINE_HEAD, &simple);
        });
    }
    page.folded("Confusion matrices", is_short, |page| {
        for row in &comparison.rows {
            let names = &row.facts.class_names;
            page.figure(
                &matrix(row.name.clone(), names, &row.summary.confusion),
                "Rows are true classes, columns decisions; all folds and seeds together.",
            );
        }
    });
    page.folded("Every fold", is_short, |page| {
        page.table(&FOLD_HEAD, &fold_rows(comparison));
    });
}

/// Of more methods than these, details are folded away.
const MOST_OPEN: usize = 6;

const SCORE_HEAD: [&str; 10] = [
    "method",
    "last accuracy",
    "± sd",
    "best accuracy",
    "reached after",
    "growing, µs per mini-batch",
    "pruning, µs per mini-batch",
    "round or iteration, µs",
    "classifying, µs per sample",
    "memory of the model, KiB",
];

fn score_rows(comparison: &Comparison) -> Vec<Vec<Cell>> {
    let percent = |value: f64| format!("{:.2} %", 100.0 * value);
    let micro = |value: f64| format!("{value:.1}");
    let row = |row: &ComparedRun| {
        let summary = &row.summary;
        vec![
            Cell::text(&row.name),
            Cell::of(summary.last.map(|point| point.mean), percent),
            Cell::of(summary.last.and_then(|point| point.sd), percent),
            Cell::of(summary.best.map(|point| point.mean), percent),
            Cell::of(summary.best.map(|point| point.at), |at| format!("{at:.0}")),
            Cell::of(summary.timing.grow_us_per_batch, micro),
            Cell::of(summary.timing.prune_us_per_batch, micro),
            Cell::of(summary.round_us, micro),
            Cell::of(summary.timing.classify_us_per_sample, micro),
            Cell::of(summary.model_bytes, |bytes| {
                format!("{:.0}", bytes / 1024.0)
            }),
        ]
    };
    comparison.rows.iter().map(row).collect()
}

const DIFFERENCE_HEAD: [&str; 7] = [
    "first",
    "second",
    "difference, points",
    "from",
    "to",
    "pairs",
    "what it shows",
];

fn difference_rows(comparison: &Comparison) -> Vec<Vec<Cell>> {
    let points = |value: f64| format!("{:+.2}", 100.0 * value);
    let row = |(first, second, difference): &(usize, usize, PairedDifference)| {
        let name = |at: &usize| comparison.rows[*at].name.clone();
        vec![
            Cell::text(name(first)),
            Cell::text(name(second)),
            Cell::of(Some(difference.mean), points),
            Cell::of(difference.interval.map(|ends| ends.0), points),
            Cell::of(difference.interval.map(|ends| ends.1), points),
            Cell::of(Some(difference.n_pairs as f64), |n| format!("{n:.0}")),
            Cell::text(difference.in_words(&name(first), &name(second))),
        ]
    };
    comparison.differences().iter().map(row).collect()
}

const BASELINE_HEAD: [&str; 6] = [
    "method",
    "simple classifier",
    "its accuracy",
    "difference, points",
    "from",
    "to",
];

fn baseline_rows(comparison: &Comparison) -> Vec<Vec<Cell>> {
    let points = |value: f64| format!("{:+.2}", 100.0 * value);
    let rows = comparison.rows.iter().flat_map(|row| {
        row.summary.baselines.iter().map(move |found| {
            vec![
                Cell::text(&row.name),
                Cell::text(found.baseline.name()),
                Cell::of(Some(found.accuracy), |value| {
                    format!("{:.2} %", 100.0 * value)
                }),
                Cell::of(Some(found.difference.mean), points),
                Cell::of(found.difference.interval.map(|ends| ends.0), points),
                Cell::of(found.difference.interval.map(|ends| ends.1), points),
            ]
        })
    });
    rows.collect()
}

const FOLD_HEAD: [&str; 6] = [
    "method",
    "seed",
    "fold",
    "learned from",
    "tested",
    "accuracy",
];

fn fold_rows(comparison: &Comparison) -> Vec<Vec<Cell>> {
    let whole = |value: f64| format!("{value:.0}");
    let rows = comparison.rows.iter().flat_map(|row| {
        row.outcomes.iter().map(move |outcome| {
            let (trained, tested) = outcome.n_samples;
            vec![
                Cell::text(&row.name),
                Cell::of(Some(outcome.seed as f64), whole),
                Cell::of(Some((outcome.fold + 1) as f64), whole),
                Cell::of(Some(trained as f64), whole),
                Cell::of(Some(tested as f64), whole),
                Cell::of(Some(outcome.accuracy()), |value| {
                    format!("{:.2} %", 100.0 * value)
                }),
            ]
        })
    });
    rows.collect()
}

/// Accuracy against mini-batches, all entrants together.
pub fn accuracy_chart(comparison: &Comparison, others: &[Series]) -> Chart {
    let own = comparison.rows.iter().enumerate();
    let own = own.map(|(place, row)| {
        let curve = &row.summary.curve;
        // Iterations are no mini-batches: of a batch learner the end counts, as a level.
        let is_batch = row.experiment.learner.algorithm.is_batch();
        let first = if is_batch {
            curve.len().saturating_sub(1)
        } else {
            0
        };
        Series::of_curve(&row.name, &curve[first..], place)
    });
    let series: Vec<Series> = own.chain(others.iter().cloned()).collect();
    let x_label = "mini-batches (a batch learner is a level)";
    Chart::over_batches("Accuracy against mini-batches", x_label, series)
}

/// Accuracy against the share of features set to zero, all entrants that were tested so.
pub fn missing_chart(comparison: &Comparison, others: &[Series]) -> Chart {
    let own = comparison.rows.iter().enumerate();
    let curve = |(place, row): (usize, &ComparedRun)| {
        Series::of_curve(&row.name, &row.summary.missing, place)
    };
    let own = own.map(curve);
    let own = own.filter(|series| !series.points.is_empty());
    let series = own.chain(others.iter().cloned()).collect();
    let x_label = "share of the features set to zero";
    Chart::over_shares("Accuracy with features missing", x_label, series)
}

/// Columns that say what a row of a table belongs to.
pub(super) const PROVENANCE_HEAD: [&str; 5] =
    ["data", "split", "folds", "seeds", "atomscope version"];

/// The cells of these columns.
pub(super) fn provenance_cells(comparison: &Comparison, row: &ComparedRun) -> Vec<String> {
    let seeds: Vec<String> = comparison.seeds.iter().map(u64::to_string).collect();
    vec![
        row.experiment.data.in_words(),
        row.experiment.split.in_words(),
        comparison.n_folds.to_string(),
        seeds.join(" "),
        VERSION.to_owned(),
    ]
}

/// Every point of every curve with what it belongs to, as CSV.
pub fn comparison_csv(comparison: &Comparison) -> String {
    let mut head = PROVENANCE_HEAD.to_vec();
    head.extend([
        "method",
        "curve",
        "at",
        "mean accuracy",
        "standard deviation",
    ]);
    let rows = comparison.rows.iter().flat_map(|row| {
        let mut fixed = provenance_cells(comparison, row);
        fixed.push(row.name.clone());
        let curves = [
            ("mini-batches", &row.summary.curve),
            ("features missing", &row.summary.missing),
        ];
        curves.into_iter().flat_map(move |(name, curve)| {
            let fixed = fixed.clone();
            curve.iter().map(move |point| {
                let mut cells = fixed.clone();
                cells.extend([
                    name.to_owned(),
                    point.at.to_string(),
                    point.mean.to_string(),
                    super::tables::number(point.sd),
                ]);
                cells
            })
        })
    });
    table(head.into_iter().map(str::to_owned).collect(), rows)
}
