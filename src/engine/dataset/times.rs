//! When samples came: by the clocks of their files, and else in the order of the files.

use super::{Dataset, Place};

impl Dataset {
    /// When each sample was complete, in seconds after the first file began; none where the files have no clocks.
    pub fn times_s(&self) -> Option<Vec<f64>> {
        let origins = &self.parts.origins;
        let is_alone = origins.iter().all(|o| o.source == origins[0].source);
        let starts = &self.parts.source_starts;
        let start_of = |source: usize| starts.get(source).copied().flatten();
        let first = origins
            .iter()
            .filter_map(|o| start_of(o.source))
            .min_by(|a, b| a.seconds_since(*b).total_cmp(&0.0));
        let time_s = |sample: usize| {
            let origin = &origins[sample];
            let begun_s = match (first, start_of(origin.source)) {
                (Some(first), Some(start)) => start.seconds_since(first),
                _ if is_alone => 0.0,
                _ => return None,
            };
            match origin.place {
                Place::Window {
                    start_s,
                    duration_s,
                } => Some(begun_s + start_s + duration_s),
                Place::Row(_) => None,
            }
        };
        (0..self.n_samples()).map(time_s).collect()
    }

    /// The samples in the order in which they came: by their times where those are known, else file after file.
    pub fn in_time(&self) -> Vec<usize> {
        let times_s = self.times_s();
        let place = |sample: usize| match self.parts.origins[sample].place {
            Place::Window { start_s, .. } => start_s,
            Place::Row(row) => row as f64,
        };
        let source = |sample: usize| self.parts.origins[sample].source;
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
