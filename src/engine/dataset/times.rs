//! When samples came: by the clocks of their files or the times in their rows, and else in the order of the files.

use super::{Dataset, Place};

impl Dataset {
    /// When each sample was complete, in seconds after the first file began or as its row says; none where files tell
    /// no times.
    pub fn times_s(&self) -> Option<Vec<f64>> {
        let origins = &self.parts.origins;
        let is_alone = origins.has_one_source();
        let starts = &self.parts.source_starts;
        let start_of = |source: usize| starts.get(source).copied().flatten();
        let first = origins
            .iter()
            .filter_map(|o| start_of(o.source))
            .min_by(|a, b| a.seconds_since(*b).total_cmp(&0.0));
        let time_s = |sample: usize| {
            let origin = origins.of(sample);
            let begun_s = || match (first, start_of(origin.source)) {
                (Some(first), Some(start)) => Some(start.seconds_since(first)),
                _ => is_alone.then_some(0.0),
            };
            match origin.place {
                Place::Window {
                    start_s,
                    duration_s,
                } => Some(begun_s()? + start_s + duration_s),
                Place::Row(row) => {
                    let times_s = self.parts.row_times_s.get(origin.source)?.as_deref()?;
                    times_s.get(row).copied()
                }
            }
        };
        (0..self.n_samples()).map(time_s).collect()
    }

    /// The samples in the order in which they came: by their times where those are known, else file after file.
    pub fn in_time(&self) -> Vec<usize> {
        let times_s = self.times_s();
        let place = |sample: usize| match self.origin(sample).place {
            Place::Window { start_s, .. } => start_s,
            Place::Row(row) => row as f64,
        };
        let source = |sample: usize| self.origin(sample).source;
        let time = |sample: usize| times_s.as_ref().map_or(0.0, |times| times[sample]);
        let mut order: Vec<usize> = (0..self.n_samples()).collect();
        order.sort_by(|a, b| {
            time(*a)
                .total_cmp(&time(*b))
                .then(source(*a).cmp(&source(*b)))
                .then(place(*a).total_cmp(&place(*b)))
                .then(a.cmp(b))
        });
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{DatasetParts, Origin};

    #[test]
    fn rows_come_at_the_times_they_tell() {
        let parts = DatasetParts {
            values: vec![1.0, 2.0, 3.0],
            feature_names: vec!["x".into()],
            class_names: vec!["a".into()],
            classes: vec![0; 3],
            sources: vec!["newest first.csv".into()],
            row_times_s: vec![Some([90.0, 60.0, 30.0, 0.0].into())],
            origins: [0, 1, 3]
                .map(|row| Origin {
                    source: 0,
                    place: Place::Row(row),
                })
                .into_iter()
                .collect(),
            ..DatasetParts::default()
        };
        let dataset = Dataset::new(parts).expect("the parts fit");
        assert_eq!(dataset.times_s(), Some(vec![90.0, 60.0, 0.0]));
        assert_eq!(dataset.in_time(), [2, 1, 0]);
    }
}
