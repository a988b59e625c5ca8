//! The results of a sweep in files: a table, everything as JSON, a report with map and curves.

use serde_json::{Value, json};

use super::chart::{Chart, Series, Stroke, series_ink};
use super::comparison::VERSION;
use super::heat_map::HeatMap;
use super::html::{Cell, Page};
use super::tables::{number, table};
use crate::experiment::{Experiment, SweepRow, SweepTable};

/// Rows that a page lists.
const MOST_ROWS: usize = 2000;
/// Different values of a setting up to which each gets a place of its own.
const MOST_PLACES: usize = 12;
/// How the nested score is to be read.
const NESTED_NOTE: &str = "Nested score: in every outer fold the settings are chosen by inner folds of its training \
     samples and judged on its test samples, which had no part in the choice. The inner accuracies of the table chose, \
     so the highest of them flatters; the nested score is what may be expected of choosing like this.";

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

/// Data, split, seed and inner folds in words.
pub fn sweep_provenance(experiment: &Experiment, inner_folds: usize) -> String {
    format!(
        "{} · {} · seed {} · {inner_folds} inner folds",
        experiment.data.in_words(),
        experiment.split.in_words(),
        experiment.seed,
    )
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

/// The different values of a setting: numbers by size, words in the order they come.
fn places(table: &SweepTable, axis: usize) -> Vec<String> {
    let mut rows: Vec<&SweepRow> = table.rows.iter().collect();
    rows.sort_by_key(|row| row.result.point.number);
    let mut values: Vec<String> = Vec::new();
    for row in rows {
        let value = value_of(row, axis);
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    let as_number = |text: &String| text.parse::<f64>().ok();
    if values.iter().all(|value| as_number(value).is_some()) {
        values.sort_by(|a, b| {
            let key = |text| as_number(text).unwrap_or(f64::NAN);
            key(a).total_cmp(&key(b))
        });
    }
    values
}

/// Five marks from the first to the last value.
fn range_ticks(first: Option<f64>, last: Option<f64>) -> Vec<(f64, String)> {
    let (Some(first), Some(last)) = (first, last) else {
        return Vec::new();
    };
    let marks = (0..=4).map(|step| first + (last - first) * f64::from(step) / 4.0);
    marks.map(|at| (at, format!("{at:.3}"))).collect()
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
        let has_few = |axis: &usize| (2..=MOST_PLACES).contains(&places(self.table, *axis).len());
        (0..self.names().len()).filter(has_few).collect()
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
        let best = |row: &String, column: &String| {
            let here =
                self.table.rows.iter().filter(|point| {
                    value_of(point, down) == row && value_of(point, across) == column
                });
            here.filter_map(|point| point.inner).reduce(f64::max)
        };
        let values = rows
            .iter()
            .flat_map(|row| columns.iter().map(move |column| best(row, column)));
        let values = values.collect();
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
        let is_range =
            values.len() > MOST_PLACES && values.iter().all(|v| v.parse::<f64>().is_ok());
        // Values of a range lie where they are, listed ones side by side.
        let place = |text: &str| match is_range {
            true => text.parse::<f64>().ok(),
            false => values
                .iter()
                .position(|value| value == text)
                .map(|at| at as f64),
        };
        let ticks: Vec<(f64, String)> = match (is_range, values.first(), values.last()) {
            (true, Some(first), Some(last)) => range_ticks(place(first), place(last)),
            _ => {
                let marks = values.iter().enumerate();
                marks.map(|(at, text)| (at as f64, text.clone())).collect()
            }
        };
        let mut points: Vec<[f64; 2]> = self
            .table
            .rows
            .iter()
            .filter_map(|row| Some([place(value_of(row, axis))?, row.inner?]))
            .collect();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        // The best at each value, which comes last among its equals.
        let best: Vec<[f64; 2]> = points
            .chunk_by(|a, b| a[0] == b[0])
            .filter_map(|same| same.last().copied())
            .collect();
        let series = |name: &str, points, stroke, place: usize| Series {
            name: name.into(),
            points,
            spread: Vec::new(),
            ink: series_ink(place),
            stroke,
        };
        let mut all = vec![series("every point", points, Stroke::Dots, 0)];
        if !is_range {
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

    /// The table as CSV, the best by inner folds first.
    pub fn to_csv(&self) -> String {
        let mut head = vec!["point".to_owned()];
        head.extend(names(self.table));
        head.extend(
            [
                "inner accuracy",
                "standard deviation",
                "folds that chose it",
                "µs per mini-batch",
                "problem",
            ]
            .map(str::to_owned),
        );
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
                number(row.result.train_us_per_batch),
                row.result.problem.clone().unwrap_or_default(),
            ]);
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
            "problem",
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
                    Cell::text(row.result.problem.clone().unwrap_or_default()),
                ]);
                cells
            })
            .collect();
        page.table(&head, &rows);
    }
}
