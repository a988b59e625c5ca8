//! Stretches of recordings that were given another class or taken out by hand.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::settings::{SettingProblem, SettingProblems};

/// What becomes of the samples of a stretch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StretchCorrection {
    /// They are of this class, whatever the rules say.
    Relabel(String),
    /// They take no part.
    Exclude,
}

/// A stretch of a recording that was corrected by hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StretchByHand {
    /// The recording, as the settings name it.
    #[serde(with = "crate::records::path_text")]
    pub recording: PathBuf,
    /// Start of the stretch, from the start of the recording.
    pub start_s: f64,
    /// Length of the stretch.
    pub duration_s: f64,
    /// What becomes of it.
    #[serde(rename = "deed")]
    pub correction: StretchCorrection,
}

impl StretchByHand {
    /// Whether a sample is one of the stretch: its middle lies inside. The neighbour of a segment that overlaps it by
    /// half has its middle on the edge and is not.
    pub fn holds(&self, start_s: f64, duration_s: f64) -> bool {
        // Times are sums of roundings: a microsecond decides nothing.
        let slack_s = 1e-6;
        let middle_s = start_s + duration_s / 2.0;
        middle_s > self.start_s + slack_s && middle_s < self.start_s + self.duration_s - slack_s
    }

    fn is_same_stretch(&self, other: &Self) -> bool {
        self.recording == other.recording
            && self.start_s == other.start_s
            && self.duration_s == other.duration_s
    }
}

/// What was corrected by hand, in the order it was done: of stretches that overlap the last one counts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByHand {
    stretches: Vec<StretchByHand>,
}

impl ByHand {
    /// Everything, in the order it was done.
    pub fn stretches(&self) -> &[StretchByHand] {
        &self.stretches
    }

    /// Whether nothing was corrected.
    pub fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// Puts a stretch right; what was said of the same stretch before is forgotten.
    pub fn put(&mut self, stretch: StretchByHand) {
        self.stretches
            .retain(|known| !known.is_same_stretch(&stretch));
        self.stretches.push(stretch);
    }

    /// Forgets what was said of the stretches that hold a sample, so that the rules count again.
    pub fn forget(&mut self, recording: &Path, start_s: f64, duration_s: f64) {
        self.stretches
            .retain(|known| known.recording != recording || !known.holds(start_s, duration_s));
    }

    /// What was said of a sample.
    pub fn correction(
        &self,
        recording: &Path,
        start_s: f64,
        duration_s: f64,
    ) -> Option<&StretchCorrection> {
        let mut latest = self.stretches.iter().rev();
        let found =
            latest.find(|known| known.recording == recording && known.holds(start_s, duration_s));
        found.map(|known| &known.correction)
    }

    /// What is wrong with the stretches.
    pub(super) fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        for stretch in &self.stretches {
            let (start_s, duration_s) = (stretch.start_s, stretch.duration_s);
            let text = format!(
                "a section must start at 0 s or later and last longer than 0 s, but starts at {start_s} s and lasts {duration_s} s: {}",
                stretch.recording.display()
            );
            let is_sound = start_s >= 0.0 && duration_s > 0.0 && (start_s + duration_s).is_finite();
            problems.require(is_sound, "by_hand", text);
            if let StretchCorrection::Relabel(class) = &stretch.correction {
                let text = format!("a class needs a name: {}", stretch.recording.display());
                problems.require(!class.trim().is_empty(), "by_hand", text);
            }
        }
        problems.into_list()
    }

    /// Names every recording again.
    pub(super) fn rename_files(&mut self, new_name: &dyn Fn(&Path) -> PathBuf) {
        for stretch in &mut self.stretches {
            stretch.recording = new_name(&stretch.recording);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(recording: &str, start_s: f64, correction: StretchCorrection) -> StretchByHand {
        StretchByHand {
            recording: recording.into(),
            start_s,
            duration_s: 2.0,
            correction,
        }
    }

    #[test]
    fn a_segment_is_meant_and_neither_its_neighbours_nor_other_recordings() {
        let mut by_hand = ByHand::default();
        by_hand.put(stretch("a.edf", 10.0, StretchCorrection::Exclude));
        let correction =
            |file: &str, start_s| by_hand.correction(Path::new(file), start_s, 2.0).cloned();
        assert_eq!(correction("a.edf", 10.0), Some(StretchCorrection::Exclude));
        assert_eq!(correction("b.edf", 10.0), None);
        // Next to it, and overlapping by half.
        for start_s in [8.0, 9.0, 11.0, 12.0] {
            assert_eq!(correction("a.edf", start_s), None, "{start_s}");
        }
        // Shorter samples inside the stretch follow it too.
        assert!(by_hand.correction(Path::new("a.edf"), 10.5, 0.5).is_some());
    }

    #[test]
    fn the_last_word_counts_and_can_be_taken_back() {
        let mut by_hand = ByHand::default();
        let ictal = StretchCorrection::Relabel("ictal".into());
        by_hand.put(stretch("a.edf", 10.0, StretchCorrection::Exclude));
        by_hand.put(stretch("a.edf", 10.0, ictal.clone()));
        assert_eq!(by_hand.stretches().len(), 1);
        assert_eq!(
            by_hand.correction(Path::new("a.edf"), 10.0, 2.0),
            Some(&ictal)
        );
        by_hand.forget(Path::new("a.edf"), 10.0, 2.0);
        assert!(by_hand.is_empty());
    }

    #[test]
    fn stretches_that_cannot_be_are_named() {
        let mut by_hand = ByHand::default();
        by_hand.put(stretch("a.edf", -1.0, StretchCorrection::Exclude));
        by_hand.put(stretch(
            "b.edf",
            1.0,
            StretchCorrection::Relabel(" ".into()),
        ));
        let texts: Vec<String> = by_hand.problems().into_iter().map(|p| p.message).collect();
        assert_eq!(texts.len(), 2);
        assert!(texts[0].contains("starts at -1 s") && texts[0].ends_with("a.edf"));
        assert!(texts[1].ends_with("b.edf"));
    }
}
