//! Scores of epochs beside the model and a second rater, and scores of events: how far they agree, and where not.

use std::path::PathBuf;
use std::sync::Arc;

use super::ExploreEvent;
use super::judging::Judgement;
use super::view::EegView;
use crate::workbench::background::{Answer, Background};
use crate::workbench::event::Event;
use crate::workbench::notices::Topic;
use crate::workbench::{TaskError, Workbench};
use atomscope_engine::evaluation::{Agreement, EpochScores, EventScore, EventScoring, TimeSpan};
use atomscope_engine::experiment::{Ribbon, RibbonSegment};
use atomscope_engine::export::write_scores;
use atomscope_engine::records::{Annotation, Mode, event_list};
use atomscope_engine::session::{OwnAnnotation, change_notes, notes_on};

/// Something to be done with scores.
#[derive(Clone, Debug, PartialEq)]
pub enum ScoringAction {
    /// Begins a scoring, or discards it.
    Set(Option<EpochScores>),
    /// Scores an epoch, or takes its score back.
    Score {
        /// The epoch.
        epoch: usize,
        /// Its state by its place in the list.
        state: Option<u16>,
    },
    /// Compares with the annotations of a file.
    OpenRater(PathBuf),
    /// Takes the second rater away.
    CloseRater,
    /// Writes the scores.
    Export(PathBuf),
    /// Scores events of the recording against the model or the second rater.
    ScoreEvents(Option<EventQuestion>),
}

/// Which events are compared with which.
#[derive(Clone, Debug, PartialEq)]
pub struct EventQuestion {
    /// Annotations of this text are the reference.
    pub reference: String,
    /// What they are compared with.
    pub against: EventSource,
    /// Tolerances, merging and splitting.
    pub scoring: EventScoring,
}

/// Where the events under test come from.
#[derive(Clone, Debug, PartialEq)]
pub enum EventSource {
    /// Stretches that the model decided for a class, by its number.
    Model(usize),
    /// Annotations of the second rater with this text.
    Rater(String),
}

/// What the model says of each epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelEpochs {
    /// The class with the largest share.
    pub scores: EpochScores,
    /// Shares of the classes, epoch by epoch; zeros where nothing was decided.
    pub shares: Vec<f32>,
}

impl ModelEpochs {
    /// Shares of the classes in each epoch: the mean over the segments whose middle lies in it of the calibrated
    /// p-values, made to sum to 1; of a model without them the share of decisions.
    pub fn of(ribbon: &Ribbon, epoch_s: f64, duration_s: f64) -> Self {
        let n_classes = ribbon.class_names.len();
        let mut scores = EpochScores::new(epoch_s, ribbon.class_names.clone(), duration_s);
        let n_epochs = scores.epochs.len();
        let mut shares = vec![0.0f32; n_epochs * n_classes];
        for segment in &ribbon.segments {
            let epoch = ((segment.start_s + segment.duration_s / 2.0) / epoch_s) as usize;
            if let Some(own) = shares.get_mut(epoch * n_classes..(epoch + 1) * n_classes) {
                for (share, part) in own.iter_mut().zip(shares_of(segment, n_classes)) {
                    *share += part as f32;
                }
            }
        }
        for (own, state) in shares.chunks_mut(n_classes.max(1)).zip(&mut scores.epochs) {
            let sum: f32 = own.iter().sum();
            if sum > 0.0 {
                own.iter_mut().for_each(|share| *share /= sum);
                let best = (0..own.len()).max_by(|a, b| own[*a].total_cmp(&own[*b]));
                *state = best.map(|best| best as u16);
            }
        }
        Self { scores, shares }
    }

    /// Shares of the classes in an epoch.
    pub fn shares_in(&self, epoch: usize) -> &[f32] {
        let n_classes = self.scores.states.len();
        let range = epoch * n_classes..(epoch + 1) * n_classes;
        self.shares.get(range).unwrap_or(&[])
    }
}

fn shares_of(segment: &RibbonSegment, n_classes: usize) -> Vec<f64> {
    let p_values = segment.assurance.as_ref().map(|own| &own.p_values);
    let sum: f64 = p_values.map_or(0.0, |p| p.iter().sum());
    match p_values {
        Some(p_values) if sum > 0.0 => p_values.iter().map(|p| p / sum).collect(),
        _ => {
            let mut one = vec![0.0; n_classes];
            if let Some(decided) = one.get_mut(segment.verdict.class) {
                *decided = 1.0;
            }
            one
        }
    }
}

/// A second rater: the annotations of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Rater {
    /// The file.
    pub path: PathBuf,
    /// What is noted in it.
    pub annotations: Vec<Annotation>,
}

/// Everything that scores are compared with.
#[derive(Default)]
pub struct ScoringStage {
    /// The scores that everything below was made for.
    scores: Option<EpochScores>,
    judged: usize,
    model: Option<Arc<ModelEpochs>>,
    rater: Background<PathBuf, Rater>,
    rated: Option<EpochScores>,
    with_model: Option<Agreement>,
    with_rater: Option<Agreement>,
    question: Option<EventQuestion>,
    events: Option<Result<EventScore, String>>,
}

/// Something that the background has made of scores.
pub(in crate::workbench) enum Made {
    /// The second rater is read.
    Rater(Answer<Rater>),
}

impl ScoringStage {
    /// What the model says of each epoch.
    pub fn model(&self) -> Option<&Arc<ModelEpochs>> {
        self.model.as_ref()
    }

    /// The second rater.
    pub fn rater(&self) -> Option<&Rater> {
        self.rater.shown().map(Arc::as_ref)
    }

    /// Agreement with the model.
    pub fn with_model(&self) -> Option<&Agreement> {
        self.with_model.as_ref()
    }

    /// Agreement with the second rater.
    pub fn with_rater(&self) -> Option<&Agreement> {
        self.with_rater.as_ref()
    }

    /// Which events are compared, and how far they agree.
    pub fn events(&self) -> Option<(&EventQuestion, Result<&EventScore, &str>)> {
        let found = self.events.as_ref()?;
        let found = found.as_ref().map_err(String::as_str);
        Some((self.question.as_ref()?, found))
    }

    pub(super) fn is_busy(&self) -> bool {
        self.rater.is_busy()
    }
}

impl Workbench {
    /// The scores of the open recording.
    pub fn epoch_scores(&self) -> Option<&EpochScores> {
        let opened = self.tasks.explore.opened.as_ref()?;
        let notes = notes_on(&self.document.draft.recordings, &opened.name)?;
        notes.scores.as_ref()
    }

    /// Compares anew where scores, decisions or the second rater have changed.
    pub(super) fn follow_scoring(&mut self) {
        let duration_s = self.tasks.explore.eeg().map_or(0.0, |eeg| eeg.duration_s());
        let scores = self.epoch_scores().cloned();
        let explore = &mut self.tasks.explore;
        let judged = explore.ribbon.judged_shared().cloned();
        let place = judged
            .as_ref()
            .map_or(0, |judged| Arc::as_ptr(judged).addr());
        let stage = &mut explore.scoring;
        let epoch_s = |scores: &Option<EpochScores>| scores.as_ref().map(|own| own.epoch_s);
        let is_other_length = epoch_s(&scores) != epoch_s(&stage.scores);
        if scores == stage.scores && place == stage.judged {
            return;
        }
        if is_other_length || place != stage.judged {
            stage.model = scores.as_ref().zip(judged.as_ref()).map(|(own, judged)| {
                Arc::new(ModelEpochs::of(&judged.ribbon, own.epoch_s, duration_s))
            });
        }
        stage.judged = place;
        stage.scores = scores;
        self.compare_scores();
        self.score_events();
    }

    fn compare_scores(&mut self) {
        let duration_s = self.tasks.explore.eeg().map_or(0.0, |eeg| eeg.duration_s());
        let stage = &mut self.tasks.explore.scoring;
        let own = stage.scores.as_ref();
        let rater = stage.rater.shown();
        stage.rated = own.zip(rater).map(|(own, rater)| {
            EpochScores::from_annotations(&rater.annotations, own.epoch_s, duration_s)
        });
        let with = |other: Option<&EpochScores>| own.zip(other).map(|(own, o)| own.agreement(o));
        stage.with_model = with(stage.model.as_ref().map(|model| &model.scores));
        stage.with_rater = with(stage.rated.as_ref());
    }

    pub(super) fn take_scoring(&mut self, made: Made) {
        let Made::Rater(answer) = made;
        let taken = self.tasks.explore.scoring.rater.take(answer);
        if self.tell_failure(Topic::Explore, taken).is_some() {
            self.compare_scores();
        }
    }

    /// Does something with scores.
    pub(super) fn apply_scoring(&mut self, action: ScoringAction) {
        match action {
            ScoringAction::Set(scores) => self.change_scores(|own| *own = scores),
            ScoringAction::Score { epoch, state } => self.change_scores(|own| {
                if let Some(own) = own {
                    own.set(epoch, state);
                }
            }),
            ScoringAction::OpenRater(path) => self.open_rater(path),
            ScoringAction::CloseRater => {
                self.tasks.explore.scoring.rater = Background::default();
                self.compare_scores();
            }
            ScoringAction::Export(path) => self.export_scores(path),
            ScoringAction::ScoreEvents(question) => {
                self.tasks.explore.scoring.question = question;
                self.score_events();
            }
        }
    }

    /// Leads to the first epoch that is scored otherwise than before, so that an undone one can be scored anew.
    pub(in crate::workbench) fn show_rescored(&mut self, before: &EpochScores) {
        let Some(now) = self.epoch_scores() else {
            return;
        };
        let mut pairs = before.epochs.iter().zip(&now.epochs);
        let Some(epoch) = pairs.position(|(before, now)| before != now) else {
            return;
        };
        let start_s = epoch as f64 * now.epoch_s;
        if let Some(browser) = &mut self.tasks.explore.eeg {
            let view = EegView {
                start_s,
                ..browser.view().clone()
            };
            browser.look(view);
        }
    }

    /// Changes the scores of the open recording as one edit, so that one undo takes it back.
    fn change_scores(&mut self, change: impl FnOnce(&mut Option<EpochScores>)) {
        let Some(name) = self.tasks.explore.opened.as_ref().map(|o| o.name.clone()) else {
            return;
        };
        self.change(|draft| {
            change_notes(&mut draft.recordings, &name, |notes| {
                change(&mut notes.scores)
            });
        });
    }

    fn open_rater(&mut self, path: PathBuf) {
        self.selection.ask = None;
        let wrap = |answer| Event::Explore(ExploreEvent::Scoring(Made::Rater(answer)));
        let on = (&self.tasks.post, "second rater", wrap as _);
        let rater = &mut self.tasks.explore.scoring.rater;
        rater.start(path.clone(), on, move |_| {
            let list = event_list::open(&path, Mode::Tolerant)?;
            Ok(Rater {
                path,
                annotations: list.annotations,
            })
        });
    }

    fn export_scores(&mut self, path: PathBuf) {
        self.selection.ask = None;
        let start = self
            .tasks
            .explore
            .opened
            .as_ref()
            .and_then(|o| o.record.start);
        let Some(scores) = self.epoch_scores().cloned() else {
            let text = "there are no scores to write yet";
            self.notices.fail(Topic::Explore, &TaskError::refused(text));
            return;
        };
        let on = (&self.tasks.post, "exporting", Event::Exported as _);
        self.tasks.exporting.start((), on, move |_| {
            write_scores(&scores, start, &path)?;
            Ok(path)
        });
    }

    /// Scores the events that were asked about.
    fn score_events(&mut self) {
        let Some(question) = self.tasks.explore.scoring.question.clone() else {
            self.tasks.explore.scoring.events = None;
            return;
        };
        let Some(opened) = &self.tasks.explore.opened else {
            return;
        };
        let notes = notes_on(&self.document.draft.recordings, &opened.name);
        let own = notes.map_or(&[][..], |notes| &notes.annotations);
        let own = own.iter().map(OwnAnnotation::to_annotation);
        let all: Vec<Annotation> = opened
            .record
            .annotations
            .iter()
            .cloned()
            .chain(own)
            .collect();
        let reference = spans_of(&all, &question.reference);
        let stage = &self.tasks.explore.scoring;
        let found = match &question.against {
            EventSource::Model(class) => {
                let judged = self.tasks.explore.ribbon.judged();
                judged.map_or(Vec::new(), |judged| decided_spans(judged, *class))
            }
            EventSource::Rater(text) => stage
                .rater
                .shown()
                .map_or(Vec::new(), |rater| spans_of(&rater.annotations, text)),
        };
        let duration_s = opened.record.duration_s().unwrap_or(0.0);
        let score = question.scoring.score(&reference, &found, duration_s);
        self.tasks.explore.scoring.events = Some(score.map_err(|error| error.to_string()));
    }
}

fn spans_of(annotations: &[Annotation], text: &str) -> Vec<TimeSpan> {
    let same = annotations.iter().filter(|note| note.text == text);
    let span = |note: &Annotation| TimeSpan {
        start_s: note.onset_s,
        end_s: note.onset_s + note.duration_s.unwrap_or(0.0),
    };
    same.map(span).collect()
}

/// Runs of segments that the model decided for a class.
fn decided_spans(judged: &Judgement, class: usize) -> Vec<TimeSpan> {
    let mut spans: Vec<TimeSpan> = Vec::new();
    let decided = judged.ribbon.segments.iter();
    for segment in decided.filter(|segment| segment.verdict.class == class) {
        let end_s = segment.start_s + segment.duration_s;
        match spans.last_mut() {
            Some(last) if segment.start_s <= last.end_s + 1e-6 => {
                last.end_s = last.end_s.max(end_s)
            }
            _ => spans.push(TimeSpan {
                start_s: segment.start_s,
                end_s,
            }),
        }
    }
    spans
}

/// The key of each state: the last letter or digit of its name, else its first, else the next free digit or letter.
pub fn state_keys(states: &[String]) -> Vec<char> {
    let mut keys: Vec<char> = Vec::with_capacity(states.len());
    for state in states {
        let letters = state.chars().filter(char::is_ascii_alphanumeric);
        let letters: Vec<char> = letters.map(|letter| letter.to_ascii_uppercase()).collect();
        let own = [letters.last(), letters.first()]
            .into_iter()
            .flatten()
            .copied();
        let spare = ('1'..='9').chain('A'..='Z').chain(['0']);
        let free = own.chain(spare).find(|key| !keys.contains(key));
        // More states than keys: the last ones have none.
        keys.push(free.unwrap_or(' '));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use atomscope_engine::dataset::Place;
    use atomscope_engine::evaluation::Verdict;
    use atomscope_engine::experiment::Judged;

    #[test]
    fn states_have_a_key_each() {
        let keys = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            state_keys(&names).into_iter().collect::<String>()
        };
        assert_eq!(keys(&["W", "N1", "N2", "N3", "R"]), "W123R");
        assert_eq!(keys(&["calm", "storm", "stem"]), "MS1");
        assert_eq!(keys(&["覚", ""]), "12");
    }

    #[test]
    fn decisions_become_shares_of_epochs() {
        let judged = [(0.0, 0), (10.0, 0), (20.0, 1), (30.0, 1)];
        let judged = judged
            .iter()
            .enumerate()
            .map(|(sample, &(start_s, class))| Judged {
                sample,
                source: 0,
                n_missing: 0,
                place: Place::Window {
                    start_s,
                    duration_s: 10.0,
                },
                verdict: Verdict {
                    class,
                    runner_up: 1 - class,
                    margin: 0.1,
                },
                residual_shares: vec![0.4, 0.6],
                assurance: None,
            });
        let names = ["calm".to_owned(), "storm".to_owned()];
        let ribbon = Ribbon::of(&names, judged.collect(), 0.0).expect("segments in time");
        let found = ModelEpochs::of(&ribbon, 30.0, 95.0);
        assert_eq!(found.scores.epochs, [Some(0), Some(1), None]);
        let third = 1.0f32 / 3.0;
        assert!((found.shares_in(0)[1] - third).abs() < 1e-6);
        assert_eq!(found.shares_in(2), [0.0, 0.0]);
        assert_eq!(found.shares_in(9), [0.0f32; 0]);
    }
}
