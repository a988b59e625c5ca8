//! A recording scored epoch by epoch (sleep stages, vigilance), and how far two scorings agree.

use serde::{Deserialize, Serialize};

use super::Confusion;
use crate::records::Annotation;

/// Most epochs of a recording: a year of tenths of a second would be more.
const MAX_EPOCHS: usize = 10_000_000;

/// The state of each epoch, as far as it is scored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpochScores {
    /// Length of an epoch.
    pub epoch_s: f64,
    /// Names of the states, in the order of their keys.
    pub states: Vec<String>,
    /// State of each epoch by its place in the list of states.
    pub epochs: Vec<Option<u16>>,
}

/// How far two scorings of a recording agree; only epochs that both scored count.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Names of the rows and columns: all states of the first scoring, then those that only the second has.
    pub states: Vec<String>,
    /// The first scoring in rows, the second in columns.
    pub confusion: Confusion,
    /// Epochs that differ, in order.
    pub differing: Vec<usize>,
}

impl EpochScores {
    /// Nothing scored yet in a recording.
    pub fn new(epoch_s: f64, states: Vec<String>, duration_s: f64) -> Self {
        let n_epochs = (duration_s / epoch_s).floor();
        let n_epochs = if n_epochs.is_finite() {
            (n_epochs.max(0.0) as usize).min(MAX_EPOCHS)
        } else {
            0
        };
        Self {
            epoch_s,
            states,
            epochs: vec![None; n_epochs],
        }
    }

    /// The five states of the AASM rules, scored in epochs of 30 s.
    pub fn sleep(duration_s: f64) -> Self {
        let states = ["W", "N1", "N2", "N3", "R"].map(str::to_owned).to_vec();
        Self::new(30.0, states, duration_s)
    }

    /// Scores made elsewhere: an epoch has the state of the annotation over its middle. States are the texts
    /// of annotations that last at least half an epoch, in alphabetical order.
    pub fn from_annotations(annotations: &[Annotation], epoch_s: f64, duration_s: f64) -> Self {
        let lasts = |note: &&Annotation| note.duration_s.is_some_and(|s| s >= epoch_s / 2.0);
        let mut scored: Vec<&Annotation> = annotations.iter().filter(lasts).collect();
        scored.sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
        let mut states: Vec<String> = scored.iter().map(|note| note.text.clone()).collect();
        states.sort_unstable();
        states.dedup();
        states.truncate(usize::from(u16::MAX));
        let mut scores = Self::new(epoch_s, states, duration_s);
        for note in scored {
            let Ok(state) = scores.states.binary_search(&note.text) else {
                continue;
            };
            let end_s = note.onset_s + note.duration_s.unwrap_or(0.0);
            // The casts take what lies before the recording to its first epoch.
            let first = (note.onset_s / epoch_s - 0.5).ceil().max(0.0) as usize;
            let after = (end_s / epoch_s - 0.5).ceil().max(0.0) as usize;
            let after = after.min(scores.epochs.len());
            if let Some(covered) = scores.epochs.get_mut(first..after) {
                covered.fill(Some(state as u16));
            }
        }
        scores
    }

    /// Runs of equal epochs as annotations.
    pub fn to_annotations(&self) -> Vec<Annotation> {
        let mut notes: Vec<Annotation> = Vec::new();
        let mut before = None;
        for (place, state) in self.epochs.iter().enumerate() {
            let name = state.and_then(|state| self.states.get(usize::from(state)));
            match (name, notes.last_mut()) {
                (Some(_), Some(last)) if before == Some(*state) => {
                    let n_epochs = (place as f64) - (last.onset_s / self.epoch_s).round() + 1.0;
                    last.duration_s = Some(n_epochs * self.epoch_s);
                }
                (Some(name), _) => {
                    let onset_s = place as f64 * self.epoch_s;
                    notes.push(Annotation::new(onset_s, Some(self.epoch_s), name.as_str()));
                }
                (None, _) => {}
            }
            before = Some(*state);
        }
        notes
    }

    /// Scores an epoch (or takes its score back) and gives what it was before; nothing for an epoch or state
    /// that does not exist.
    pub fn set(&mut self, epoch: usize, state: Option<u16>) -> Option<Option<u16>> {
        let is_known = state.is_none_or(|state| usize::from(state) < self.states.len());
        let place = self.epochs.get_mut(epoch).filter(|_| is_known)?;
        Some(std::mem::replace(place, state))
    }

    /// How far this scoring agrees with another of the same recording, by the names of the states; stages of
    /// sleep are the same state under any of their usual names.
    pub fn agreement(&self, other: &Self) -> Agreement {
        let mut states = self.states.clone();
        for state in &other.states {
            if place_of(&states, state).is_none() {
                states.push(state.clone());
            }
        }
        let places = |scores: &Self| -> Vec<Option<usize>> {
            let names = scores.states.iter();
            names.map(|name| place_of(&states, name)).collect()
        };
        let (own_places, other_places) = (places(self), places(other));
        let place = |places: &[Option<usize>], state: Option<u16>| -> Option<usize> {
            *places.get(usize::from(state?))?
        };
        let mut confusion = Confusion::new(states.len());
        let mut differing = Vec::new();
        for (epoch, (own, others)) in self.epochs.iter().zip(&other.epochs).enumerate() {
            if let (Some(own), Some(others)) =
                (place(&own_places, *own), place(&other_places, *others))
            {
                confusion.add(own, others);
                if own != others {
                    differing.push(epoch);
                }
            }
        }
        Agreement {
            states,
            confusion,
            differing,
        }
    }
}

/// The place of a state among others: the one of that name, or else the one of the same stage of sleep.
fn place_of(states: &[String], name: &str) -> Option<usize> {
    let exact = states.iter().position(|known| known == name);
    exact.or_else(|| {
        let stage = sleep_stage(name)?;
        let is_same = |known: &String| sleep_stage(known) == Some(stage);
        states.iter().position(is_same)
    })
}

/// The stage of sleep that a name stands for, as the AASM rules call it: EDF+ hypnograms write "Sleep stage 2"
/// or "Sleep stage N2". Stages 3 and 4 of Rechtschaffen and Kales are both N3. Bare numbers are no stages.
fn sleep_stage(name: &str) -> Option<&'static str> {
    let name = name.trim().to_ascii_lowercase();
    let bare = name.strip_prefix("sleep stage").map(str::trim);
    match (bare.unwrap_or(&name), bare.is_some()) {
        ("w" | "wake", _) | ("0", true) => Some("W"),
        ("n1", _) | ("1", true) => Some("N1"),
        ("n2", _) | ("2", true) => Some("N2"),
        ("n3", _) | ("3" | "4", true) => Some("N3"),
        ("r" | "rem", _) => Some("R"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(states: &[&str], epochs: &str) -> EpochScores {
        let mut scores = EpochScores::new(
            30.0,
            states.iter().map(|s| (*s).to_owned()).collect(),
            30.0 * epochs.len() as f64,
        );
        for (epoch, letter) in epochs.chars().enumerate() {
            let state = states.iter().position(|s| s.starts_with(letter));
            assert!(scores.set(epoch, state.map(|s| s as u16)).is_some());
        }
        scores
    }

    #[test]
    fn two_raters_agree_as_a_textbook_says() {
        // 20 epochs; agreement .7, by chance .5: kappa .4 (Cohen 1960, table by hand).
        let first = scored(&["W", "R"], "WWWWWWWWWWRRRRRRRRRR");
        let second = scored(&["R", "W"], "WWWWWWWRRRWWWRRRRRRR");
        let agreement = first.agreement(&second);
        assert_eq!(agreement.confusion.accuracy(), Some(0.7));
        let kappa = agreement.confusion.kappa().expect("defined");
        assert!((kappa - 0.4).abs() < 1e-12, "{kappa}");
        assert_eq!(agreement.differing, [7, 8, 9, 10, 11, 12]);
    }

    #[test]
    fn stages_of_sleep_agree_under_their_usual_names() {
        let note = |epoch: u32, name: &str| {
            Annotation::new(
                f64::from(epoch) * 30.0,
                Some(30.0),
                format!("Sleep stage {name}"),
            )
        };
        let names = ["W", "1", "N2", "3", "4", "R", "?"];
        let notes: Vec<Annotation> = (0..).zip(names).map(|(k, name)| note(k, name)).collect();
        let hypnogram = EpochScores::from_annotations(&notes, 30.0, 210.0);
        let mut own = EpochScores::sleep(210.0);
        for (epoch, state) in [0, 1, 2, 3, 3, 4, 0].into_iter().enumerate() {
            own.set(epoch, Some(state));
        }
        let agreement = own.agreement(&hypnogram);
        assert_eq!(agreement.states[5..], ["Sleep stage ?"]);
        assert_eq!(agreement.differing, [6]);
        // Whoever scored stages 3 and 4 apart has them apart.
        let itself = hypnogram.agreement(&hypnogram);
        assert_eq!((itself.states.len(), itself.differing.len()), (7, 0));
        let numbers = scored(&["3", "4"], "34");
        assert_eq!(own.agreement(&numbers).states.len(), 7);
    }

    #[test]
    fn scores_survive_as_annotations() {
        let scores = scored(&["N", "R", "W"], "WW?NNNRW");
        let notes = scores.to_annotations();
        let times: Vec<(f64, Option<f64>)> =
            notes.iter().map(|n| (n.onset_s, n.duration_s)).collect();
        let expected = [
            (0.0, Some(60.0)),
            (90.0, Some(90.0)),
            (180.0, Some(30.0)),
            (210.0, Some(30.0)),
        ];
        assert_eq!(times, expected);
        assert_eq!(EpochScores::from_annotations(&notes, 30.0, 240.0), scores);
        // What one rater left open is no disagreement.
        let other = scored(&["N", "R", "W"], "WWNNN?RW");
        assert_eq!(scores.agreement(&other).confusion.total(), 6);
    }

    #[test]
    fn odd_annotations_score_nothing_beyond_the_recording() {
        let notes = [
            Annotation::new(-50.0, Some(60.0), "W"),
            Annotation::new(80.0, Some(1e300), "N2"),
            Annotation::new(1e300, Some(30.0), "R"),
            Annotation::new(5.0, None, "moment"),
        ];
        let scores = EpochScores::from_annotations(&notes, 30.0, 120.0);
        assert_eq!(scores.states, ["N2", "R", "W"]);
        assert_eq!(scores.epochs, [None, None, None, Some(0)]);
        assert_eq!(EpochScores::new(0.0, Vec::new(), 10.0).epochs.len(), 0);
        assert_eq!(EpochScores::sleep(95.0).epochs.len(), 3);
    }
}
