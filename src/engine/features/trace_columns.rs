//! A signal as a page shows it: for every column of pixels the lowest and highest value of the line through its samples.

use crate::records::overview::MinMax;

/// The columns of a page of time.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceColumns {
    columns: Vec<MinMax>,
    start_s: f64,
    span_s: f64,
}

impl TraceColumns {
    /// Empty columns for the time from `start_s` on.
    pub fn new(start_s: f64, span_s: f64, n_columns: usize) -> Self {
        Self {
            columns: vec![MinMax::NOTHING; n_columns],
            start_s,
            span_s,
        }
    }

    /// The columns from left to right; those without a value are empty.
    pub fn columns(&self) -> &[MinMax] {
        &self.columns
    }

    /// Draws samples into the columns: the first one at `onset_s`, the others at `rate_hz`. A line
    /// leads from each to the next; missing values interrupt it, and what lies outside is omitted.
    pub fn add(&mut self, onset_s: f64, rate_hz: f64, samples: &[f64]) {
        let n_columns = self.columns.len();
        if n_columns == 0 || !(self.span_s > 0.0 && rate_hz > 0.0) {
            return;
        }
        let per_column = self.span_s / n_columns as f64;
        let first = (onset_s - self.start_s) / per_column;
        let step = 1.0 / (rate_hz * per_column);
        // Where the line was left; its first half column belongs to its own column.
        let mut before: Option<(f64, f32)> = None;
        for (k, &value) in samples.iter().enumerate() {
            if !value.is_finite() {
                before = None;
                continue;
            }
            let (at, value) = (first + k as f64 * step, value as f32);
            match before {
                Some(left) => self.add_line(left, (at, value)),
                None => self.add_point(at, value),
            }
            before = Some((at, value));
        }
    }

    /// Takes over the extent of all samples of a stretch, `n_columns` equal parts of it.
    pub fn add_extents(&mut self, onset_s: f64, duration_s: f64, extents: &[MinMax]) {
        let per_column = self.span_s / self.columns.len().max(1) as f64;
        for (k, extent) in extents.iter().enumerate() {
            let share = |k: usize| onset_s + duration_s * k as f64 / extents.len() as f64;
            let left = (share(k) - self.start_s) / per_column;
            let right = (share(k + 1) - self.start_s) / per_column;
            let last = right.ceil() - 1.0;
            if extent.is_empty() || last < 0.0 || left >= self.columns.len() as f64 {
                continue;
            }
            let end = (last as usize).min(self.columns.len() - 1);
            let begin = (left.max(0.0) as usize).min(end);
            for column in &mut self.columns[begin..=end] {
                *column = column.and(*extent);
            }
        }
    }

    fn add_point(&mut self, at: f64, value: f32) {
        if at >= 0.0
            && let Some(column) = self.columns.get_mut(at as usize)
        {
            *column = column.with(value);
        }
    }

    /// The line between two points: each column gets the values the line takes within it.
    fn add_line(&mut self, (from, low): (f64, f32), (to, high): (f64, f32)) {
        let n_columns = self.columns.len();
        if to < 0.0 || from >= n_columns as f64 {
            return;
        }
        let begin = from.max(0.0) as usize;
        let end = (to.max(0.0) as usize).min(n_columns - 1);
        if begin == end && from >= 0.0 && to < n_columns as f64 {
            // The usual case of many samples in a column.
            self.columns[begin] = self.columns[begin].with(low).with(high);
            return;
        }
        let slope = f64::from(high - low) / (to - from);
        let at = |place: f64| (f64::from(low) + slope * (place - from)) as f32;
        for column in begin..=end {
            let left = at(from.max(column as f64));
            let right = at(to.min(column as f64 + 1.0));
            self.columns[column] = self.columns[column].with(left).with(right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(columns: &TraceColumns) -> Vec<(f32, f32)> {
        let pair = |column: &MinMax| (column.min, column.max);
        columns.columns().iter().map(pair).collect()
    }

    #[test]
    fn many_samples_give_the_extremes_of_each_column() {
        let samples: Vec<f64> = (0..1000).map(|k| f64::from((k * 37) % 101)).collect();
        let mut page = TraceColumns::new(0.0, 10.0, 10);
        page.add(0.0, 100.0, &samples);
        for (column, part) in page.columns().iter().zip(samples.chunks(100)) {
            let low = part.iter().copied().fold(f64::INFINITY, f64::min) as f32;
            let high = part.iter().copied().fold(f64::NEG_INFINITY, f64::max) as f32;
            // The line from the column before may reach further in, never less far.
            assert!(column.min <= low && column.max >= high);
            assert!(column.min >= 0.0 && column.max <= 100.0);
        }
    }

    #[test]
    fn few_samples_are_joined_by_lines() {
        let mut page = TraceColumns::new(0.0, 1.0, 4);
        page.add(0.0, 1.0, &[0.0, 4.0]);
        let expected = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)];
        assert_eq!(extents(&page), expected);
        // The same seen from a page that begins and ends between the samples.
        let mut inside = TraceColumns::new(0.25, 0.5, 2);
        inside.add(0.0, 1.0, &[0.0, 4.0]);
        assert_eq!(extents(&inside), [(1.0, 2.0), (2.0, 3.0)]);
    }

    #[test]
    fn gaps_stay_empty() {
        let mut page = TraceColumns::new(0.0, 4.0, 4);
        page.add(0.0, 4.0, &[1.0, 1.0, f64::NAN, f64::NAN]);
        page.add(3.0, 4.0, &[2.0, 2.0]);
        let empty: Vec<bool> = page.columns().iter().map(|c| c.is_empty()).collect();
        assert_eq!(empty, [false, true, true, false]);
        page.add(-5.0, 4.0, &[9.0]);
        page.add(50.0, 4.0, &[9.0, 9.0]);
        assert_eq!(
            extents(&page)[0],
            (1.0, 1.0),
            "what lies outside is left out"
        );
    }

    #[test]
    fn extents_of_stretches_cover_the_columns_they_touch() {
        let extent = |value: f32| MinMax {
            min: value,
            max: value,
        };
        let mut page = TraceColumns::new(10.0, 4.0, 4);
        page.add_extents(9.0, 3.0, &[extent(1.0), extent(2.0), extent(3.0)]);
        assert_eq!(extents(&page)[..2], [(2.0, 2.0), (3.0, 3.0)]);
        assert!(page.columns()[2].is_empty());
    }
}
