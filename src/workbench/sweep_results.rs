//! The results of a sweep as they are looked at: points in order, map, curve.

use std::cmp::Ordering;
use std::path::PathBuf;

use atomscope_engine::experiment::{PointResult, SweepRow, SweepTable};
use atomscope_engine::export::{Chart, HeatMap, SweepResult};
use atomscope_engine::records::counted;

/// A column of the table of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepColumn {
    /// Number of the point.
    Point,
    /// A setting, by its place.
    Setting(usize),
    /// Mean accuracy of the inner folds.
    Inner,
    /// Its deviation over the outer folds.
    Deviation,
    /// Time of learning.
    Time,
    /// How many outer folds chose it.
    Chosen,
}

/// The results of a sweep as they are shown.
#[derive(Clone, Debug)]
pub struct SweepResults {
    /// Where they are.
    pub folder: PathBuf,
    /// Points of the whole sweep, where that is known.
    pub n_points: Option<usize>,
    /// The finished points, the best by inner folds first.
    pub table: SweepTable,
    /// The settings that are swept.
    pub names: Vec<String>,
    /// Those with few values, by their places: a map can be drawn over two of them.
    pub mappable: Vec<usize>,
    /// The map, and over which two settings (down, across) it is drawn.
    pub map: Option<(HeatMap, usize, usize)>,
    /// The two settings that were chosen for it.
    mapped: Option<[usize; 2]>,
    /// The curve over one setting, and over which.
    pub curve: Option<(Chart, usize)>,
    /// Rows of the table in the order in which they are listed.
    pub order: Vec<usize>,
    /// The column by which they are ordered, and whether the largest comes first.
    pub sorting: (SweepColumn, bool),
    /// The nested score in words.
    pub nested: String,
}

impl SweepResults {
    /// Results to be looked at.
    pub(super) fn of(folder: PathBuf, points: Vec<PointResult>, n_points: Option<usize>) -> Self {
        let mut results = Self {
            folder,
            n_points,
            table: SweepTable::of(Vec::new()),
            names: Vec::new(),
            mappable: Vec::new(),
            map: None,
            mapped: None,
            curve: None,
            order: Vec::new(),
            sorting: (SweepColumn::Inner, true),
            nested: String::new(),
        };
        results.add(points);
        results
    }

    /// More points are finished.
    pub(super) fn add(&mut self, results: Vec<PointResult>) {
        let known = std::mem::replace(&mut self.table, SweepTable::of(Vec::new()));
        let mut all = known.into_results();
        all.extend(results);
        self.table = SweepTable::of(all);
        let result = self.result();
        let (names, mappable, nested) = (result.names(), result.mappable(), result.nested_words());
        (self.names, self.mappable, self.nested) = (names, mappable, nested);
        self.draw_map();
        self.curve_over(self.curve.as_ref().map_or(0, |(_, axis)| *axis));
        self.put_in_order();
    }

    /// As it is exported.
    pub fn result(&self) -> SweepResult<'_> {
        SweepResult {
            provenance: "",
            table: &self.table,
            n_points: self.n_points.unwrap_or(self.table.rows.len()),
        }
    }

    /// "12 of 20 points", or "12 points" where it is not known how many there are.
    pub fn counted(&self) -> String {
        match self.n_points {
            Some(n_points) => format!("{} of {n_points} points", self.table.rows.len()),
            None => counted(self.table.rows.len(), "point"),
        }
    }

    pub(super) fn map_over(&mut self, down: usize, across: usize) {
        if down != across {
            self.mapped = Some([down, across]);
            self.draw_map();
        }
    }

    /// Over the chosen settings, or the first two: with more points some have too many values.
    fn draw_map(&mut self) {
        let is_mappable = |axis: &usize| self.mappable.contains(axis);
        let chosen = self.mapped.filter(|axes| axes.iter().all(is_mappable));
        let axes = chosen.or(self.mappable.first_chunk::<2>().copied());
        self.map =
            axes.map(|[down, across]| (self.result().heat_map_over(down, across), down, across));
    }

    pub(super) fn curve_over(&mut self, axis: usize) {
        if axis < self.names.len() {
            self.curve = Some((self.result().chart(axis), axis));
        }
    }

    /// Orders the points by a column: numbers and words rising, accuracies falling; asked for
    /// again, the other way round.
    pub(super) fn sort_by(&mut self, column: SweepColumn) {
        let (present, is_falling) = self.sorting;
        let falls_first = matches!(column, SweepColumn::Inner | SweepColumn::Chosen);
        self.sorting = match present == column {
            true => (column, !is_falling),
            false => (column, falls_first),
        };
        self.put_in_order();
    }

    fn put_in_order(&mut self) {
        let (column, is_falling) = self.sorting;
        let mut order: Vec<usize> = (0..self.table.rows.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&self.table.rows[*a], &self.table.rows[*b]);
            let ordering = match column {
                SweepColumn::Setting(axis) => by_value(a, b, axis, is_falling),
                _ => {
                    let key = |row| self.key(row, column);
                    by_number(key(a), key(b), is_falling)
                }
            };
            let number = |row: &SweepRow| row.result.point.number;
            ordering.then(number(a).cmp(&number(b)))
        });
        self.order = order;
    }

    fn key(&self, row: &SweepRow, column: SweepColumn) -> Option<f64> {
        let number = row.result.point.number;
        match column {
            SweepColumn::Point | SweepColumn::Setting(_) => Some(number as f64),
            SweepColumn::Inner => row.inner,
            SweepColumn::Deviation => row.inner_sd,
            SweepColumn::Time => row.result.train_us_per_batch,
            SweepColumn::Chosen => {
                let chosen = self.table.chosen.iter();
                Some(chosen.filter(|chosen| chosen.point == number).count() as f64)
            }
        }
    }
}

/// Numbers by size; what has none comes last either way.
fn by_number(a: Option<f64>, b: Option<f64>, is_falling: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if is_falling => b.total_cmp(&a),
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// Values of a setting: numbers by size, then words by their letters.
fn by_value(a: &SweepRow, b: &SweepRow, axis: usize, is_falling: bool) -> Ordering {
    let (a, b) = (value_of(a, axis), value_of(b, axis));
    let number = |text: &str| text.parse::<f64>().ok();
    let rising = by_number(number(a), number(b), false);
    let rising = rising.then_with(|| match number(a) {
        Some(_) => Ordering::Equal,
        None => a.cmp(b),
    });
    match is_falling {
        true => rising.reverse(),
        false => rising,
    }
}

fn value_of(row: &SweepRow, axis: usize) -> &str {
    let value = row.result.point.values.get(axis);
    value.map_or("", |(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use atomscope_engine::experiment::{Effort, OuterResult, SweepPoint};

    fn point(number: usize, width: &str, accuracy: Option<f64>) -> PointResult {
        PointResult {
            point: SweepPoint {
                number,
                values: vec![("width".into(), width.into())],
            },
            effort: Effort::Whole,
            problem: accuracy.is_none().then(|| "too wide".into()),
            outer: accuracy.map_or_else(Vec::new, |accuracy| {
                vec![OuterResult {
                    inner: vec![accuracy],
                    outer: Some(accuracy),
                }]
            }),
            train_us_per_batch: accuracy,
        }
    }

    #[test]
    fn a_map_goes_when_a_setting_has_too_many_values() {
        let points = |numbers: std::ops::Range<usize>| -> Vec<PointResult> {
            let of = |number: usize| {
                let mut result = point(number, &number.to_string(), Some(0.5));
                let share = format!("0.{number}");
                result.point.values.push(("share".into(), share));
                result
            };
            numbers.map(of).collect()
        };
        let mut results = SweepResults::of("somewhere".into(), points(0..3), None);
        assert!(results.map.is_some());
        results.add(points(3..40));
        assert!(results.map.is_none(), "forty values are no map");
    }

    #[test]
    fn points_are_ordered_by_any_column_and_those_without_a_result_come_last() {
        let points = vec![
            point(0, "10", Some(0.7)),
            point(1, "9", Some(0.9)),
            point(2, "100", None),
        ];
        let mut results = SweepResults::of("somewhere".into(), points, Some(3));
        let order = |results: &SweepResults| -> Vec<usize> {
            let rows = results.order.iter().map(|at| &results.table.rows[*at]);
            rows.map(|row| row.result.point.number).collect()
        };
        assert_eq!(order(&results), [1, 0, 2], "the best first");
        results.sort_by(SweepColumn::Inner);
        assert_eq!(order(&results), [0, 1, 2], "the worst first");
        results.sort_by(SweepColumn::Setting(0));
        assert_eq!(order(&results), [1, 0, 2], "by size, not by letters");
        results.sort_by(SweepColumn::Setting(0));
        assert_eq!(order(&results), [2, 0, 1]);
        results.sort_by(SweepColumn::Chosen);
        assert_eq!(order(&results), [1, 0, 2]);
        assert_eq!(results.counted(), "3 of 3 points");
        assert!(
            results.map.is_none() && results.curve.is_some(),
            "one setting has no map"
        );
    }
}
