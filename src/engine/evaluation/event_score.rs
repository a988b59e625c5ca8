//! Events found against events of a reference, scored by the SzCORE convention: by sample and by event.
//!
//! J. Dan et al., "SzCORE: Seizure Community Open-Source Research Evaluation framework", 2024. Both lists are
//! laid on a grid of one sample a second (times cut to whole samples). By sample, the samples of both lists are
//! compared. By event, neighbours are merged and long events split, then an event of the reference counts as
//! found if it, widened by the tolerances, meets an event of the hypothesis; an event of the hypothesis that
//! meets no found event is a false alarm.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::settings::{SettingProblem, SettingProblems};

const SECONDS_PER_DAY: f64 = 86_400.0;
/// Events are compared on a grid this much finer than the samples.
const EVENTS_PER_SAMPLE: f64 = 10.0;
/// A share of overlap must exceed the smallest one by more than rounding.
const OVERLAP_ROUNDING: f64 = 1e-6;

/// A stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimeSpan {
    /// Its start.
    pub start_s: f64,
    /// Its end.
    pub end_s: f64,
}

impl TimeSpan {
    fn length_s(&self) -> f64 {
        self.end_s - self.start_s
    }
}

/// How events are scored; the default is the convention's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EventScoring {
    /// Samples a second of the grid both lists are laid on; shorter events may vanish between its lines.
    pub sample_hz: f64,
    /// An event of the reference may be found this long before it starts.
    pub tolerance_before_s: f64,
    /// An event of the reference may be found this long after it ends.
    pub tolerance_after_s: f64,
    /// Share of the widened event that must be met; any for 0.
    pub min_overlap: f64,
    /// Events of one list that are closer are one.
    pub merge_closer_than_s: f64,
    /// Events that are longer are split.
    pub split_longer_than_s: f64,
}

impl Default for EventScoring {
    fn default() -> Self {
        Self {
            sample_hz: 1.0,
            tolerance_before_s: 30.0,
            tolerance_after_s: 60.0,
            min_overlap: 0.0,
            merge_closer_than_s: 90.0,
            split_longer_than_s: 300.0,
        }
    }
}

/// Counts of one way of scoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct DetectionCounts {
    /// Samples or events of the reference.
    pub n_reference: u64,
    /// Those that were found.
    pub n_found: u64,
    /// Samples or events of the hypothesis that the reference does not have.
    pub n_false: u64,
}

impl DetectionCounts {
    /// Share of the reference that was found; none if the reference is empty.
    pub fn sensitivity(&self) -> Option<f64> {
        share(self.n_found, self.n_reference)
    }

    /// Share of the detections that are right; none without a detection.
    pub fn precision(&self) -> Option<f64> {
        share(self.n_found, self.n_found + self.n_false)
    }

    /// Harmonic mean of both; none if neither list has anything.
    pub fn f1(&self) -> Option<f64> {
        // Equal to 2 tp / (2 tp + fp + fn), as tp + fn is the reference.
        share(
            2 * self.n_found,
            self.n_found + self.n_reference + self.n_false,
        )
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// How well a hypothesis fits a reference.
#[derive(Debug, Clone, PartialEq)]
pub struct EventScore {
    /// Sample by sample.
    pub by_sample: DetectionCounts,
    /// Event by event, after merging and splitting.
    pub by_event: DetectionCounts,
    /// Length of the recording on the grid.
    pub duration_s: f64,
    /// Events of the reference that were not found.
    pub misses: Vec<TimeSpan>,
    /// Events of the hypothesis that meet no event of the reference.
    pub false_alarms: Vec<TimeSpan>,
    /// Stretches of either list that lie between two lines of the grid, or outside the recording.
    pub n_off_grid: usize,
}

impl EventScore {
    /// False events per 24 hours; none for a recording without length.
    pub fn false_alarms_per_day(&self) -> Option<f64> {
        let days = self.duration_s / SECONDS_PER_DAY;
        (days > 0.0).then(|| self.by_event.n_false as f64 / days)
    }

    /// The scores as they are exchanged.
    pub fn to_json(&self) -> serde_json::Value {
        let scores = |counts: &DetectionCounts| {
            serde_json::json!({
                "sensitivity": counts.sensitivity(),
                "precision": counts.precision(),
                "f1": counts.f1(),
            })
        };
        let mut event = scores(&self.by_event);
        event["false_alarms_per_day"] = self.false_alarms_per_day().into();
        serde_json::json!({ "sample": scores(&self.by_sample), "event": event })
    }
}

impl EventScoring {
    /// What is wrong with the settings, field by field.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        problems.require_within("sample_hz", self.sample_hz, 1e-3, 1e5);
        problems.require_within("tolerance_before_s", self.tolerance_before_s, 0.0, 1e6);
        problems.require_within("tolerance_after_s", self.tolerance_after_s, 0.0, 1e6);
        problems.require_within("min_overlap", self.min_overlap, 0.0, 1.0);
        problems.require_within("merge_closer_than_s", self.merge_closer_than_s, 0.0, 1e6);
        problems.require_within("split_longer_than_s", self.split_longer_than_s, 1e-3, 1e9);
        problems.into_list()
    }

    /// Scores a hypothesis against a reference over a recording of `duration_s`.
    ///
    /// # Errors
    /// If a setting or the duration cannot be used.
    pub fn score(
        &self,
        reference: &[TimeSpan],
        hypothesis: &[TimeSpan],
        duration_s: f64,
    ) -> Result<EventScore, SettingProblem> {
        let mut problems = self.problems();
        let mut of_duration = SettingProblems::default();
        of_duration.require_within("duration_s", duration_s, 0.0, 1e9);
        problems.extend(of_duration.into_list());
        if let Some(problem) = problems.into_iter().next() {
            return Err(problem);
        }
        let n_samples = (duration_s * self.sample_hz) as u64;
        let on_grid = |spans: &[TimeSpan]| {
            let line = |time_s: f64| (time_s * self.sample_hz) as u64;
            let cut = spans.iter().map(|s| line(s.start_s)..line(s.end_s));
            cut.map(|s| s.start..s.end.min(n_samples))
                .filter(|s| s.start < s.end)
                .collect::<Vec<_>>()
        };
        let (reference_cut, hypothesis_cut) = (on_grid(reference), on_grid(hypothesis));
        let n_off_grid =
            reference.len() + hypothesis.len() - reference_cut.len() - hypothesis_cut.len();
        let reference = united(reference_cut);
        let hypothesis = united(hypothesis_cut);
        let n_common: u64 = reference.iter().map(|s| covered(&hypothesis, s)).sum();
        let by_sample = DetectionCounts {
            n_reference: total(&reference),
            n_found: n_common,
            n_false: total(&hypothesis) - n_common,
        };
        let duration_s = n_samples as f64 / self.sample_hz;
        let mut score = self.score_events(
            &self.as_events(&reference),
            &self.as_events(&hypothesis),
            duration_s,
        );
        score.by_sample = by_sample;
        score.n_off_grid = n_off_grid;
        Ok(score)
    }

    /// Stretches of the grid in seconds, neighbours merged, long ones split.
    fn as_events(&self, stretches: &[Range<u64>]) -> Vec<TimeSpan> {
        let mut merged: Vec<TimeSpan> = Vec::new();
        for stretch in stretches {
            let start_s = stretch.start as f64 / self.sample_hz;
            let end_s = stretch.end as f64 / self.sample_hz;
            match merged.last_mut() {
                Some(last) if start_s - last.end_s < self.merge_closer_than_s => last.end_s = end_s,
                _ => merged.push(TimeSpan { start_s, end_s }),
            }
        }
        let mut events = Vec::new();
        for mut event in merged {
            while event.length_s() > self.split_longer_than_s {
                let middle_s = event.start_s + self.split_longer_than_s;
                events.push(TimeSpan {
                    end_s: middle_s,
                    ..event
                });
                event.start_s = middle_s;
            }
            events.push(event);
        }
        events
    }

    fn score_events(
        &self,
        reference: &[TimeSpan],
        hypothesis: &[TimeSpan],
        duration_s: f64,
    ) -> EventScore {
        let grid_hz = self.sample_hz * EVENTS_PER_SAMPLE;
        let line = |time_s: f64| (time_s * grid_hz).round_ties_even() as u64;
        let n_lines = line(duration_s);
        let range = |span: &TimeSpan| line(span.start_s)..line(span.end_s).min(n_lines);
        let detected = united(hypothesis.iter().map(range).collect());
        let mut found = Vec::new();
        let mut misses = Vec::new();
        for event in reference {
            let widened = TimeSpan {
                start_s: (event.start_s - self.tolerance_before_s).max(0.0),
                end_s: (event.end_s + self.tolerance_after_s).min(duration_s),
            };
            let met_s = covered(&detected, &range(&widened)) as f64 / grid_hz;
            if met_s / widened.length_s() > self.min_overlap + OVERLAP_ROUNDING {
                found.push(range(&widened));
            } else {
                misses.push(*event);
            }
        }
        let n_found = found.len() as u64;
        let found = united(found);
        let is_false = |event: &&TimeSpan| covered(&found, &range(event)) == 0;
        let false_alarms: Vec<TimeSpan> = hypothesis.iter().filter(is_false).copied().collect();
        EventScore {
            by_sample: DetectionCounts::default(),
            by_event: DetectionCounts {
                n_reference: reference.len() as u64,
                n_found,
                n_false: false_alarms.len() as u64,
            },
            duration_s,
            misses,
            false_alarms,
            n_off_grid: 0,
        }
    }
}

/// The same lines in order, without overlap; stretches that touch are one.
fn united(mut stretches: Vec<Range<u64>>) -> Vec<Range<u64>> {
    stretches.retain(|stretch| stretch.start < stretch.end);
    stretches.sort_by_key(|stretch| stretch.start);
    let mut united: Vec<Range<u64>> = Vec::new();
    for stretch in stretches {
        match united.last_mut() {
            Some(last) if stretch.start <= last.end => last.end = last.end.max(stretch.end),
            _ => united.push(stretch),
        }
    }
    united
}

fn total(stretches: &[Range<u64>]) -> u64 {
    stretches.iter().map(|s| s.end - s.start).sum()
}

/// Lines of `stretch` that lie in one of the ordered stretches.
fn covered(ordered: &[Range<u64>], stretch: &Range<u64>) -> u64 {
    let first = ordered.partition_point(|s| s.end <= stretch.start);
    ordered[first..]
        .iter()
        .take_while(|s| s.start < stretch.end)
        .map(|s| s.end.min(stretch.end) - s.start.max(stretch.start))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(times: &[(f64, f64)]) -> Vec<TimeSpan> {
        let span = |&(start_s, end_s): &(f64, f64)| TimeSpan { start_s, end_s };
        times.iter().map(span).collect()
    }

    fn score(reference: &[(f64, f64)], hypothesis: &[(f64, f64)], duration_s: f64) -> EventScore {
        EventScoring::default()
            .score(&spans(reference), &spans(hypothesis), duration_s)
            .expect("usable settings")
    }

    #[test]
    fn tolerances_merging_and_splitting_follow_the_convention() {
        // Found 25 s before the start; a second detection far away is a false alarm.
        let found = score(&[(100.0, 110.0)], &[(60.0, 75.0), (400.0, 405.0)], 3600.0);
        assert_eq!((found.by_event.n_found, found.by_event.n_false), (1, 1));
        assert_eq!(found.false_alarms, spans(&[(400.0, 405.0)]));
        assert_eq!(found.false_alarms_per_day(), Some(24.0));
        // Ten minutes are two events, and one detection of the first finds only it.
        let long = score(&[(0.0, 600.0)], &[(10.0, 20.0)], 3600.0);
        assert_eq!((long.by_event.n_reference, long.by_event.n_found), (2, 1));
        assert_eq!(long.misses, spans(&[(300.0, 600.0)]));
        // 80 s apart are one event, 90 s apart are two.
        let near = score(&[(0.0, 10.0), (90.0, 100.0), (190.0, 200.0)], &[], 300.0);
        assert_eq!(near.by_event.n_reference, 2);
        assert_eq!(near.by_event.sensitivity(), Some(0.0));
        assert_eq!(near.by_event.precision(), None);
    }

    #[test]
    fn nothing_at_all_has_no_score() {
        let nothing = score(&[], &[], 100.0);
        let none = serde_json::json!({
            "sample": { "sensitivity": null, "precision": null, "f1": null },
            "event": { "sensitivity": null, "precision": null, "f1": null,
                       "false_alarms_per_day": 0.0 },
        });
        assert_eq!(nothing.to_json(), none);
        assert_eq!(score(&[], &[], 0.0).false_alarms_per_day(), None);
        let refused = EventScoring::default().score(&[], &[], f64::NAN);
        assert!(refused.is_err());
    }

    #[test]
    fn short_events_need_a_finer_grid_and_are_counted_when_they_vanish() {
        let (reference, hypothesis) = (spans(&[(10.25, 10.5)]), spans(&[(10.25, 10.375)]));
        let coarse = EventScoring::default();
        let coarse = coarse.score(&reference, &hypothesis, 60.0).expect("usable");
        assert_eq!((coarse.by_event.n_reference, coarse.n_off_grid), (0, 2));
        let fine = EventScoring {
            sample_hz: 64.0,
            tolerance_before_s: 0.1,
            tolerance_after_s: 0.1,
            merge_closer_than_s: 0.1,
            ..EventScoring::default()
        };
        let fine = fine.score(&reference, &hypothesis, 60.0).expect("usable");
        assert_eq!((fine.by_event.n_found, fine.by_event.n_false), (1, 0));
        assert_eq!(fine.by_sample.sensitivity(), Some(0.5));
    }
}
