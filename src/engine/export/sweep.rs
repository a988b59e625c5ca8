//! The results of a sweep in files: a table, everything as JSON, a report with map and curves.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::chart::{Chart, Series, Stroke, series_ink};
use super::comparison::VERSION;
use super::heat_map::HeatMap;
use super::html::{Cell, Page};
use super::tables::{number, table};
use crate::experiment::{Experiment, Stopped, Sweep, SweepRow, SweepTable};

/// Rows that a page lists, and points that a chart draws.
const MOST_ROWS: usize = 2000;
/// Different values of a setting up to which each gets a place of its own.
const MOST_PLACES: usize = 12;
/// How many times the end of a range is its beginning where magnitudes count, not differences.
const LOG_SPAN: f64 = 100.0;
/// How the nested score is to be read.
const NESTED_NOTE: &str = "Nested score: in every outer fold the settings are chosen by inner folds of its training \
     samples and judged on its test samples, which had no part in the choice. The inner accuracies of the table chose, \
     so the highest of them flatters; the nested score is what may be expected of choosing like this.";

/// How early stopping is to be read.
const HALVING_NOTE: &str = "Early stopping: in every outer fold, points that did badly on its inner folds after a part of \
     the training were not trained longer, and only the chosen point was trained on the whole fold.";

/// What a sweep is the result of.
#[derive(Clone, Copy, Debug)]
pub struct SweepResult<'a> {
    /// Data, split and seed in words.
    pub provenance: &'a str,
    /// The results.
    pub table: &'a SweepTable,
    /// Points of the whole sweep.
    pub n_points: usize,
}

/// Data, split, seed, inner folds and early stopping in words.
pub fn sweep_provenance(experiment: &Experiment, sweep: &Sweep) -> String {
    let halving = sweep
        .halving
        .map(|halving| format!(" · {}", halving.in_words()));
    format!(
        "{} · {} · seed {} · {} inner folds{}",
        experiment.data.in_words(),
        experiment.split.in_words(),
        experiment.seed,
        sweep.inner_folds,
        halving.unwrap_or_default(),
    )
}

/// Why a point was not trained to the end, if so.
pub fn remark_of(row: &SweepRow) -> String {
    let stopped = row.stopped.map(|stopped| {
        let (part, inner) = (part_words(&stopped), 100.0 * stopped.inner);
        format!("stopped after {part} of the training: {inner:.2} %")
    });
    row.result.problem.clone().or(stopped).unwrap_or_default()
}

/// The part of the training after which a point was stopped early.
fn part_words(stopped: &Stopped) -> String {
    format!("1/{}", stopped.part)
}

/// Names of the settings that are swept.
fn names(table: &SweepTable) -> Vec<String> {
    let first = table.rows.first();
    first.map_or_else(Vec::new, |row| {
        row.result
            .point
            .values
            .iter()
            .map(|(name, _)| name.clone())
            .collect()
    })
}

fn value_of(row: &SweepRow, axis: usize) -> &str {
    row.result
        .point
        .values
        .get(axis)
        .map_or("", |(_, value)| value)
}

/// Mean accuracy of the inner folds; a file may hold what is no number.
fn accuracy_of(row: &SweepRow) -> Option<f64> {
    row.inner.filter(|accuracy| accuracy.is_finite())
}

/// The different values of a setting: numbers by size, words in the order they come.
fn places(table: &SweepTable, axis: usize) -> Vec<String> {
    let mut first_points: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &table.rows {
        let number = row.result.point.number;
        let first = first_points.entry(value_of(row, axis)).or_insert(number);
        *first = number.min(*first);
    }
    let mut values: Vec<(&str, usize)> = first_points.into_iter().collect();
    values.sort_by_key(|(_, first)| *first);
    let numbers: Option<Vec<f64>> = values.iter().map(|(text, _)| text.parse().ok()).collect();
    if let Some(numbers) = numbers {
        let mut sized: Vec<(f64, (&str, usize))> = numbers.into_iter().zip(values).collect();
        sized.sort_by(|a, b| a.0.total_cmp(&b.0));
        values = sized.into_iter().map(|(_, value)| value).collect();
    }
    values
        .into_iter()
        .map(|(text, _)| text.to_owned())
        .collect()
}

/// Whether a setting has more than one value, but few enough for a place each.
fn has_few_values(table: &SweepTable, axis: usize) -> bool {
    let mut seen: Vec<&str> = Vec::with_capacity(MOST_PLACES);
    for row in &table.rows {
        let value = value_of(row, axis);
        if seen.contains(&value) {
            continue;
        }
        if seen.len() == MOST_PLACES {
            return false;
        }
        seen.push(value);
    }
    seen.len() > 1
}

/// The highest point at each place, from left to right.
fn best_at_each_place(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let points = from_left_to_right(points);
    points
        .chunk_by(|a, b| a[0] == b[0])
        .filter_map(|same| same.last().copied())
        .collect()
}

/// Points by their places; of those at one place the highest last.
fn from_left_to_right(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points
}

/// Where the values of a range lie along the axis.
struct RangeScale {
    first: f64,
    last: f64,
    is_log: bool,
}

impl RangeScale {
    /// Nothing where values are few or words: these lie side by side.
    fn of(values: &[String]) -> Option<Self> {
        let numbers = values.iter().map(|text| text.parse::<f64>().ok());
        let numbers = numbers.collect::<Option<Vec<f64>>>()?;
        if numbers.len() <= MOST_PLACES {
            return None;
        }
        let mut finite = numbers.into_iter().filter(|number| number.is_finite());
        let first = finite.next()?;
        let last = finite.next_back().unwrap_or(first);
        Some(Self {
            first,
            last,
            is_log: first > 0.0 && last / first > LOG_SPAN,
        })
    }

    fn place(&self, number: f64) -> f64 {
        match self.is_log {
            true => number.log10(),
            false => number,
        }
    }

    /// Five marks from the first to the last value.
    fn ticks(&self) -> Vec<(f64, String)> {
        let (first, last) = (self.place(self.first), self.place(self.last));
        let digits = match self.is_log {
            true => 2,
            false => mark_digits(first, last),
        };
        let marks = (0..=4).map(|step| {
            let share = f64::from(step) / 4.0;
            first * (1.0 - share) + last * share
        });
        marks
            .map(|at| {
                let value = if self.is_log { 10_f64.powf(at) } else { at };
                (at, mark(value, digits))
            })
            .collect()
    }
}

/// Digits after the first that tell five marks from each other; two at least.
fn mark_digits(first: f64, last: f64) -> usize {
    let size = first.abs().max(last.abs());
    let step = (last / 4.0 - first / 4.0).max(f64::MIN_POSITIVE);
    (size / step).log10().ceil().clamp(2.0, 15.0) as usize
}

/// A number with so many digits after the first; very large and very small ones as powers of ten.
fn mark(value: f64, digits: usize) -> String {
    let rounded: f64 = format!("{value:.digits$e}").parse().unwrap_or(value);
    match rounded.abs() {
        0.0 => "0".into(),
        1e-3..1e6 => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

impl SweepResult<'_> {
    /// The map over the first two settings that have few values. None of a sweep over one
    /// setting or over ranges.
    pub fn heat_map(&self) -> Option<HeatMap> {
        let [down, across, ..] = self.mappable()[..] else {
            return None;
        };
        Some(self.heat_map_over(down, across))
    }

    /// The settings that have few values, by their places.
    pub fn mappable(&self) -> Vec<usize> {
        let axes = 0..self.names().len();
        axes.filter(|axis| has_few_values(self.table, *axis))
            .collect()
    }

    /// Names of the settings that are swept.
    pub fn names(&self) -> Vec<String> {
        names(self.table)
    }

    /// The map over two settings; of points that differ in other settings the best counts.
    pub fn heat_map_over(&self, down: usize, across: usize) -> HeatMap {
        let names = names(self.table);
        let name = |axis: usize| names.get(axis).cloned().unwrap_or_default();
        let (rows, columns) = (places(self.table, down), places(self.table, across));
        let mut best: BTreeMap<(&str, &str), f64> = BTreeMap::new();
        for point in &self.table.rows {
            let Some(accuracy) = accuracy_of(point) else {
                continue;
            };
            let cell = (value_of(point, down), value_of(point, across));
            let highest = best.entry(cell).or_insert(accuracy);
            *highest = highest.max(accuracy);
        }
        let best_in = |row: &String, column: &String| {
            let cell = (row.as_str(), column.as_str());
            best.get(&cell).copied()
        };
        let mut values = Vec::with_capacity(rows.len() * columns.len());
        for row in &rows {
            values.extend(columns.iter().map(|column| best_in(row, column)));
        }
        let others = if names.len() > 2 {
            ", best over the other settings"
        } else {
            ""
        };
        HeatMap {
            title: format!("Mean accuracy of the inner folds{others}"),
            values,
            across: (name(across), columns),
            down: (name(down), rows),
        }
    }

    /// A chart for every setting: all points over its values.
    pub fn charts(&self) -> Vec<Chart> {
        (0..names(self.table).len())
            .map(|axis| self.chart(axis))
            .collect()
    }

    /// All points over the values of one setting.
    pub fn chart(&self, axis: usize) -> Chart {
        let names = names(self.table);
        let name = names.get(axis).map_or("", String::as_str);
        let values = places(self.table, axis);
        let range = RangeScale::of(&values);
        let listed: BTreeMap<&str, usize> = values
            .iter()
            .enumerate()
            .map(|(at, text)| (text.as_str(), at))
            .collect();
        // Values of a range lie where they are, listed ones side by side.
        let place = |text: &str| match &range {
            Some(range) => {
                let number = text.parse::<f64>().ok();
                let number = number.filter(|number| number.is_finite());
                number.map(|number| range.place(number))
            }
            None => listed.get(text).map(|at| *at as f64),
        };
        let ticks = match &range {
            Some(range) => range.ticks(),
            None => {
                let marks = values.iter().enumerate();
                marks.map(|(at, text)| (at as f64, text.clone())).collect()
            }
        };
        // The best first, as in the table.
        let points: Vec<[f64; 2]> = self
            .table
            .rows
            .iter()
            .filter_map(|row| Some([place(value_of(row, axis))?, accuracy_of(row)?]))
            .collect();
        let n_shown = points.len().min(MOST_ROWS);
        let drawn = match n_shown < points.len() {
            true => format!("the best {n_shown} of {} points", points.len()),
            false => "every point".to_owned(),
        };
        let series = |name: &str, points, stroke, place: usize| Series {
            name: name.into(),
            points,
            spread: Vec::new(),
            ink: series_ink(place),
            stroke,
        };
        let shown = from_left_to_right(&points[..n_shown]);
        let mut all = vec![series(&drawn, shown, Stroke::Dots, 0)];
        if range.is_none() {
            let best = best_at_each_place(&points);
            all.push(series("best at each value", best, Stroke::Solid, 1));
        }
        Chart {
            title: format!("Mean accuracy of the inner folds over {name}"),
            x_label: name.to_owned(),
            ticks,
            series: all,
        }
    }

    /// The report, everything as JSON, and the table, with the names of their files.
    pub fn files(&self) -> Vec<(String, String)> {
        vec![
            ("sweep.html".into(), self.to_html()),
            ("sweep.json".into(), format!("{:#}\n", self.to_json())),
            ("sweep.csv".into(), self.to_csv()),
        ]
    }

    /// The table as CSV, the best by inner folds first. Measured times are not in it: the same sweep
    /// gives the same bytes, however many machines have computed it.
    pub fn to_csv(&self) -> String {
        let mut head = vec!["point".to_owned()];
        head.extend(names(self.table));
        head.extend(
            [
                "inner accuracy",
                "standard deviation",
                "folds that chose it",
                "problem",
            ]
            .map(str::to_owned),
        );
        let has_stopped = self.table.saving.is_some();
        if has_stopped {
            head.extend(["part of the training", "accuracy then"].map(str::to_owned));
        }
        let rows = self.table.rows.iter().map(|row| {
            let mut cells = vec![(row.result.point.number + 1).to_string()];
            cells.extend(
                row.result
                    .point
                    .values
                    .iter()
                    .map(|(_, value)| value.clone()),
            );
            cells.extend([
                number(row.inner),
                number(row.inner_sd),
                self.chosen_by(row),
                row.result.problem.clone().unwrap_or_default(),
            ]);
            if has_stopped {
                let part = row
                    .stopped
                    .map_or(String::new(), |stopped| part_words(&stopped));
                cells.extend([part, number(row.stopped.map(|stopped| stopped.inner))]);
            }
            cells
        });
        table(head, rows)
    }

    /// Outer folds that chose a point, from 1.
    pub fn chosen_by(&self, row: &SweepRow) -> String {
        let by = self
            .table
            .chosen
            .iter()
            .filter(|chosen| chosen.point == row.result.point.number);
        let folds: Vec<String> = by.map(|chosen| (chosen.fold + 1).to_string()).collect();
        folds.join(" ")
    }

    /// Everything as JSON; the outer accuracy only of what was chosen.
    pub fn to_json(&self) -> Value {
        json!({
            "atomscope_version": VERSION,
            "provenance": self.provenance,
            "n_points": self.n_points,
            "n_finished": self.table.rows.len(),
            "nested_accuracy": self.table.nested.map(|nested| nested.0),
            "nested_sd": self.table.nested.and_then(|nested| nested.1),
            "early_stopping": self.table.saving.as_ref().map(|saving| json!({
                "stages": saving.stages.iter().map(|stage| json!({
                    "part": stage.part,
                    "points": stage.n_points,
                })).collect::<Vec<_>>(),
                "trainings": saving.spent,
                "trainings_without": saving.whole,
            })),
            "chosen": self.table.chosen.iter().map(|chosen| json!({
                "fold": chosen.fold + 1,
                "point": chosen.point + 1,
                "inner_accuracy": chosen.inner,
                "outer_accuracy": chosen.outer,
            })).collect::<Vec<_>>(),
            "points": self.table.rows.iter().map(|row| json!({
                "point": row.result.point.number + 1,
                "settings": row.result.point.values.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                "inner_accuracy": row.inner,
                "inner_sd": row.inner_sd,
                "stopped": row.stopped.map(|stopped| json!({
                    "part": stopped.part,
                    "inner_accuracy": stopped.inner,
                })),
                "inner": row.result.outer.iter().map(|outer| outer.inner.clone()).collect::<Vec<_>>(),
                "timing": { "train_us_per_batch": row.result.train_us_per_batch },
                "problem": row.result.problem,
            })).collect::<Vec<_>>(),
        })
    }

    /// The nested score in words.
    pub fn nested_words(&self) -> String {
        match self.table.nested {
            Some((mean, Some(sd))) => format!(
                "{:.2} % ± {:.2} over {} outer folds",
                100.0 * mean,
                100.0 * sd,
                self.table.chosen.len()
            ),
            Some((mean, None)) => format!("{:.2} % in one outer fold", 100.0 * mean),
            None => "no point has a result".into(),
        }
    }

    /// A report in HTML.
    pub fn to_html(&self) -> String {
        let mut page = Page::default();
        page.title("Parameter sweep");
        page.paragraph(&format!("{} · Atomscope {VERSION}", self.provenance));
        if self.table.rows.len() < self.n_points {
            page.paragraph(&format!(
                "{} of {} points are finished; the rest is not counted.",
                self.table.rows.len(),
                self.n_points
            ));
        }
        page.section(&format!("Nested score: {}", self.nested_words()));
        page.paragraph(NESTED_NOTE);
        if let Some(saving) = &self.table.saving {
            page.paragraph(&format!("{HALVING_NOTE} {}.", saving.in_words()));
        }
        let percent = |value: f64| format!("{:.2} %", 100.0 * value);
        let chosen: Vec<Vec<Cell>> = self
            .table
            .chosen
            .iter()
            .map(|chosen| {
                let settings = self
                    .table
                    .row(chosen.point)
                    .map_or_else(String::new, |row| row.result.point.assignments().join(", "));
                vec![
                    Cell::of(Some((chosen.fold + 1) as f64), |fold| format!("{fold:.0}")),
                    Cell::of(Some((chosen.point + 1) as f64), |point| {
                        format!("{point:.0}")
                    }),
                    Cell::text(settings),
                    Cell::of(Some(chosen.inner), percent),
                    Cell::of(Some(chosen.outer), percent),
                ]
            })
            .collect();
        page.table(
            &[
                "outer fold",
                "chosen point",
                "settings",
                "inner accuracy",
                "accuracy on its test samples",
            ],
            &chosen,
        );
        page.section("Over the settings");
        if let Some(map) = self.heat_map() {
            page.figure(&map.figure(), self.provenance);
        }
        for chart in self.charts() {
            page.figure(&chart.figure(), self.provenance);
        }
        page.section("Every point");
        self.write_points(&mut page);
        page.finish("Parameter sweep")
    }

    fn write_points(&self, page: &mut Page) {
        if self.table.rows.len() > MOST_ROWS {
            page.paragraph(&format!(
                "The best {MOST_ROWS} of {}; all are in the CSV.",
                self.table.rows.len()
            ));
        }
        let names = names(self.table);
        let mut head = vec!["point"];
        head.extend(names.iter().map(String::as_str));
        head.extend([
            "inner accuracy",
            "± sd",
            "chosen in folds",
            "µs per mini-batch",
            "problem or early stop",
        ]);
        let percent = |value: f64| format!("{:.2} %", 100.0 * value);
        let rows: Vec<Vec<Cell>> = self
            .table
            .rows
            .iter()
            .take(MOST_ROWS)
            .map(|row| {
                let mut cells = vec![Cell::of(
                    Some((row.result.point.number + 1) as f64),
                    |point| format!("{point:.0}"),
                )];
                cells.extend(row.result.point.values.iter().map(|(_, value)| {
                    match value.parse::<f64>() {
                        Ok(number) => Cell::Number(value.clone(), number),
                        Err(_) => Cell::text(value),
                    }
                }));
                cells.extend([
                    Cell::of(row.inner, percent),
                    Cell::of(row.inner_sd, percent),
                    Cell::text(self.chosen_by(row)),
                    Cell::of(row.result.train_us_per_batch, |us| format!("{us:.1}")),
                    Cell::text(remark_of(row)),
                ]);
                cells
            })
            .collect();
        page.table(&head, &rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Effort, OuterResult, PointResult, SweepPoint};

    fn point(number: usize, value: String, accuracy: f64) -> PointResult {
        PointResult {
            point: SweepPoint {
                number,
                values: vec![("width".into(), value), ("kind".into(), "a".into())],
            },
            effort: Effort::Whole,
            problem: None,
            outer: vec![OuterResult {
                inner: vec![accuracy],
                outer: Some(accuracy),
            }],
            train_us_per_batch: None,
        }
    }

    fn chart_of(values: impl Iterator<Item = String>) -> Chart {
        let results = values.enumerate();
        let results = results.map(|(number, value)| point(number, value, 0.5));
        let table = SweepTable::of(results.collect());
        let result = SweepResult {
            provenance: "",
            table: &table,
            n_points: table.rows.len(),
        };
        assert_eq!(result.mappable(), Vec::<usize>::new());
        result.chart(0)
    }

    fn marks(chart: &Chart) -> Vec<&str> {
        chart.ticks.iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn marks_of_ranges_tell_their_values() {
        let range = chart_of((0..=35).map(|number| (5 + number).to_string()));
        assert_eq!(marks(&range), ["5", "13.8", "22.5", "31.2", "40"]);
        let small = chart_of((0..=40).map(|number| (f64::from(number) * 1e-5).to_string()));
        assert_eq!(marks(&small), ["0", "1e-4", "2e-4", "3e-4", "4e-4"]);
        let narrow = chart_of((0..=40).map(|number| (1000 + number).to_string()));
        assert_eq!(marks(&narrow), ["1000", "1010", "1020", "1030", "1040"]);
    }

    #[test]
    fn magnitudes_lie_evenly_and_what_is_infinite_is_left_out() {
        let values = (0..=16).map(|step| 10_f64.powf(f64::from(step) / 4.0 - 4.0).to_string());
        let chart = chart_of(values.chain(["inf".to_owned()]));
        assert_eq!(marks(&chart), ["1e-4", "0.001", "0.01", "0.1", "1"]);
        let points = &chart.series[0].points;
        assert_eq!(points.len(), 17);
        for pair in points.windows(2) {
            assert!((pair[1][0] - pair[0][0] - 0.25).abs() < 1e-9);
        }
    }

    #[test]
    fn of_very_many_points_the_best_are_drawn() {
        let chart = chart_of((0..5000).map(|number| number.to_string()));
        assert_eq!(chart.series[0].points.len(), MOST_ROWS);
        assert_eq!(chart.series[0].name, "the best 2000 of 5000 points");
    }
}
