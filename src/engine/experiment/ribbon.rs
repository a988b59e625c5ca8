//! The decisions on one recording: segment after segment in time, the vote of all, and which of them are uncertain.

use super::apply::Judged;
use super::checked::DataFacts;
use super::record::PartRecord;
use crate::dataset::Place;
use crate::evaluation::{Assurance, GroupVote, Verdict, group_votes};

/// Wrong decisions from which a margin is learned; with fewer the smallest margins of all are.
const FEWEST_WRONG: usize = 5;

/// Share of all held-out decisions that counts as uncertain where hardly any is wrong.
const UNCERTAIN_SHARE: f64 = 0.05;

/// The decision on one segment.
#[derive(Clone, Debug, PartialEq)]
pub struct RibbonSegment {
    /// The sample, by its place in the data set it was judged in.
    pub sample: usize,
    /// Start, from the start of the recording.
    pub start_s: f64,
    /// Length.
    pub duration_s: f64,
    /// Class, runner-up and margin.
    pub verdict: Verdict,
    /// r²/σ per class.
    pub residual_shares: Vec<f64>,
    /// What the decision is worth; none of a model that cannot tell.
    pub assurance: Option<Assurance>,
}

/// The decisions on a recording, in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Ribbon {
    /// Names of the classes.
    pub class_names: Vec<String>,
    /// The segments.
    pub segments: Vec<RibbonSegment>,
    /// Their vote.
    pub vote: GroupVote,
    /// Decisions with a smaller margin are uncertain.
    pub uncertain_below: f64,
}

impl Ribbon {
    /// The decisions on one recording; `None` if none of its samples lies in time.
    pub fn of(class_names: &[String], judged: Vec<Judged>, uncertain_below: f64) -> Option<Self> {
        let in_time = judged.into_iter().filter_map(|judged| match judged.place {
            Place::Window {
                start_s,
                duration_s,
            } => Some(RibbonSegment {
                sample: judged.sample,
                start_s,
                duration_s,
                verdict: judged.verdict,
                residual_shares: judged.residual_shares,
                assurance: judged.assurance,
            }),
            Place::Row(_) => None,
        });
        let mut segments: Vec<RibbonSegment> = in_time.collect();
        segments.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        let decisions = segments.iter().map(|segment| {
            let Verdict { class, margin, .. } = segment.verdict;
            (0, class, class, margin)
        });
        let vote = group_votes(class_names.len(), decisions).pop()?;
        Some(Self {
            class_names: class_names.to_vec(),
            segments,
            vote,
            uncertain_below,
        })
    }

    /// The name of a class.
    pub fn class_name(&self, class: usize) -> &str {
        self.class_names.get(class).map_or("", String::as_str)
    }

    /// Whether a decision is uncertain: its prediction set is not one class; of a model that cannot
    /// tell, its margin is small.
    pub fn is_uncertain(&self, segment: &RibbonSegment) -> bool {
        match &segment.assurance {
            Some(assurance) => assurance.is_uncertain(),
            None => segment.verdict.margin < self.uncertain_below,
        }
    }

    /// How many decisions are uncertain.
    pub fn n_uncertain(&self) -> usize {
        let uncertain = self.segments.iter().filter(|s| self.is_uncertain(s));
        uncertain.count()
    }

    /// Segments that voted for the class decided, and all of them.
    pub fn counts(&self) -> (u64, u64) {
        let votes = &self.vote.votes;
        let most = votes.get(self.vote.decided).copied().unwrap_or(0);
        (most, votes.iter().sum())
    }

    /// The segment at a time; of those that overlap the one whose middle is nearest.
    pub fn at(&self, time_s: f64) -> Option<usize> {
        let from_middle = |s: &RibbonSegment| (s.start_s + s.duration_s / 2.0 - time_s).abs();
        let mut holding = self.segments.iter().enumerate().filter(|(_, s)| {
            // A microsecond of rounding is no gap.
            time_s >= s.start_s - 1e-6 && time_s <= s.start_s + s.duration_s + 1e-6
        });
        let first = holding.next()?;
        let nearest = holding.fold(first, |best, next| {
            if from_middle(next.1) < from_middle(best.1) {
                next
            } else {
                best
            }
        });
        Some(nearest.0)
    }

    /// For every class with votes the segment of middle margin: neither its clearest nor its most doubtful.
    pub fn typical(&self) -> Vec<usize> {
        let classes = 0..self.class_names.len();
        classes
            .filter_map(|class| {
                let of_class = self.segments.iter().enumerate();
                let mut own: Vec<(usize, f64)> = of_class
                    .filter(|(_, s)| s.verdict.class == class)
                    .map(|(place, s)| (place, s.verdict.margin))
                    .collect();
                own.sort_by(|a, b| a.1.total_cmp(&b.1));
                own.get(own.len() / 2).map(|(place, _)| *place)
            })
            .collect()
    }
}

/// The margin below which a decision is uncertain, learned from the held-out samples: the median margin of those
/// decided wrongly; where hardly any is wrong, the margin that one in twenty of all does not reach. 0, nothing
/// uncertain, without held-out decisions.
pub fn uncertain_margin<'a>(
    facts: &DataFacts,
    records: impl IntoIterator<Item = &'a PartRecord>,
) -> f64 {
    let (mut wrong, mut all) = (Vec::new(), Vec::new());
    for record in records {
        let decisions = &record.decisions;
        let verdicts = decisions.class.iter().zip(&decisions.margin);
        for (sample, (class, margin)) in decisions.sample.iter().zip(verdicts) {
            all.push(*margin);
            if facts
                .classes
                .get(*sample)
                .is_some_and(|truth| truth != class)
            {
                wrong.push(*margin);
            }
        }
    }
    let at_share = |mut margins: Vec<f64>, share: f64| {
        margins.sort_by(f64::total_cmp);
        let place = (margins.len() as f64 * share) as usize;
        margins.get(place).copied().unwrap_or(0.0)
    };
    match wrong.len() {
        0..FEWEST_WRONG => at_share(all, UNCERTAIN_SHARE),
        _ => at_share(wrong, 0.5),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::experiment::{Part, Shared};

    fn judged(start_s: f64, class: usize, margin: f64) -> Judged {
        Judged {
            n_missing: 0,
            assurance: None,
            sample: start_s as usize,
            source: 3,
            place: Place::Window {
                start_s,
                duration_s: 2.0,
            },
            verdict: Verdict {
                class,
                runner_up: 1 - class,
                margin,
            },
            residual_shares: vec![0.1, 0.2],
        }
    }

    fn ribbon() -> Ribbon {
        let names = ["calm".to_owned(), "fault".to_owned()];
        let list = vec![
            judged(4.0, 1, 0.5),
            judged(0.0, 0, 0.02),
            judged(1.0, 1, 0.1),
            judged(2.0, 1, 0.3),
        ];
        Ribbon::of(&names, list, 0.05).expect("windows")
    }

    #[test]
    fn segments_lie_in_order_of_time_and_vote() {
        let ribbon = ribbon();
        let starts: Vec<f64> = ribbon.segments.iter().map(|s| s.start_s).collect();
        assert_eq!(starts, [0.0, 1.0, 2.0, 4.0]);
        assert_eq!((ribbon.vote.decided, ribbon.counts()), (1, (3, 4)));
        assert_eq!(ribbon.n_uncertain(), 1);
        // The median of the three faults, and the only calm one.
        assert_eq!(ribbon.typical(), [0, 2]);
    }

    #[test]
    fn the_segment_at_a_time_is_the_one_around_it() {
        let ribbon = ribbon();
        assert_eq!(ribbon.at(0.5), Some(0));
        assert_eq!(ribbon.at(1.9), Some(1));
        assert_eq!(ribbon.at(2.6), Some(2));
        assert_eq!(ribbon.at(6.0), Some(3));
        assert_eq!(ribbon.at(6.5), None);
        assert_eq!(ribbon.at(-1.0), None);
    }

    #[test]
    fn rows_of_tables_make_no_ribbon() {
        let row = Judged {
            n_missing: 0,
            assurance: None,
            place: Place::Row(1),
            ..judged(0.0, 0, 1.0)
        };
        assert_eq!(Ribbon::of(&["one".into()], vec![row], 0.0), None);
    }

    fn record(margins_and_right: &[(f64, bool)]) -> PartRecord {
        let mut record = PartRecord::new(Part::Fold(0), 1);
        for (sample, (margin, is_right)) in margins_and_right.iter().enumerate() {
            let verdict = Verdict {
                class: usize::from(!is_right),
                runner_up: 0,
                margin: *margin,
            };
            Arc::make_mut(&mut record.decisions.0).add(sample, verdict);
        }
        record
    }

    #[test]
    fn what_is_uncertain_is_learned_from_wrong_decisions() {
        let facts = DataFacts {
            n_samples: 40,
            feature_names: Vec::new(),
            layout: crate::dataset::Layout::Plain,
            feature_groups: Vec::new(),
            class_names: vec!["a".into(), "b".into()],
            classes: Shared(vec![0; 40].into()),
            group_names: Vec::new(),
            groups: None,
            fingerprint: 0,
        };
        let mut decisions: Vec<(f64, bool)> =
            (0..35).map(|k| (f64::from(k) + 10.0, true)).collect();
        // Without wrong ones the smallest twentieth.
        let margin = uncertain_margin(&facts, [&record(&decisions)]);
        assert_eq!(margin, 11.0);
        decisions.extend([1.0, 2.0, 3.0, 4.0, 20.0].map(|margin| (margin, false)));
        assert_eq!(uncertain_margin(&facts, [&record(&decisions)]), 3.0);
        assert_eq!(uncertain_margin(&facts, []), 0.0);
    }
}
