//! Arrivals become decisions, by the features, preparation and classifier that files have; labels are learned.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::saved::JudgedFile;
use super::{
    Arrival, ChangeWatch, Decision, FileMark, LineKind, SavedStream, StreamError, Watched,
    WatchedAlarm,
};
use crate::dataset::{DataPlan, DataSettings, Place};
use crate::evaluation::Confusion;
use crate::experiment::{Judge, JudgeOptions, Opinion, TrainedModel, votes_by_source};
use crate::features::eeg::ChannelChoice;
use crate::features::{FeatureRecipe, GroupKind, LiveSegments};
use crate::learner::{Forgetting, LearnerSettings};
use crate::records::Channel;
use crate::session::{Session, model_sha256};

/// Decisions with a known truth that the scores are made of.
const WINDOW: usize = 500;

/// Scores over the last decisions whose truth came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LiveScores {
    /// Truth and decision, the newest last.
    window: VecDeque<(usize, usize)>,
    /// All decisions with a truth.
    pub n_known: u64,
    /// Those that were right.
    pub n_right: u64,
}

impl LiveScores {
    /// Counts a decision.
    pub fn add(&mut self, truth: usize, decided: usize) {
        self.n_known += 1;
        self.n_right += u64::from(truth == decided);
        self.window.push_back((truth, decided));
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
    }

    /// The window as a confusion matrix: accuracy, kappa and balanced accuracy.
    pub fn confusion(&self, n_classes: usize) -> Confusion {
        let mut confusion = Confusion::new(n_classes);
        for (truth, decided) in &self.window {
            if *truth < n_classes && *decided < n_classes {
                confusion.add(*truth, *decided);
            }
        }
        confusion
    }
}

/// How a stream learns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Learning {
    /// λ of every mini-batch; 1 without it.
    pub forgetting: Option<f64>,
    /// λ after an alarm on the error, and for how many mini-batches.
    pub on_alarm: Option<(f64, usize)>,
}

/// What an arrival brought.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Decisions, in order.
    pub decisions: Vec<Decision>,
    /// Sentences for the user.
    pub notes: Vec<String>,
}

/// A model at work on a stream.
pub struct LiveJudge {
    data: DataSettings,
    recipe: Option<FeatureRecipe>,
    feature_names: Vec<String>,
    class_names: Vec<String>,
    channel_names: Vec<String>,
    judge: Judge,
    live: Option<LiveSegments>,
    learning: Option<Learning>,
    /// Mini-batches until λ goes back.
    n_faster: usize,
    n_rejected: u64,
    /// The growing file, where the source is one.
    file: Option<PathBuf>,
    /// What is saved.
    pub state: SavedStream,
}

impl LiveJudge {
    /// The final model of a session on a source; continues from a saved state.
    pub fn new(
        session: &Session,
        source: &str,
        saved: Option<SavedStream>,
        learning: Option<Learning>,
    ) -> Result<Option<(Self, Vec<String>)>, StreamError> {
        let Some(run) = session.run.as_ref() else {
            return Ok(None);
        };
        let Some(model) = run.final_model() else {
            return Ok(None);
        };
        let mut notes = Vec::new();
        let hash = model_sha256(model).unwrap_or_default();
        let mut state = saved.unwrap_or_else(|| SavedStream::new(hash.clone(), source.to_owned()));
        if state.model_sha256 != hash {
            notes.push("the model is another than when the state was saved: files judged stay judged, what was learned since is discarded".to_owned());
            (state.learned, state.pending) = (None, Vec::new());
            state.model_sha256 = hash;
        }
        let facts = &run.facts;
        let n_classes = facts.class_names.len();
        state
            .watch
            .get_or_insert_with(|| ChangeWatch::new(n_classes));
        let options = JudgeOptions {
            epsilon: session.experiment.tests.epsilon,
            ..JudgeOptions::default()
        };
        let begun: &TrainedModel = state.learned.as_deref().unwrap_or(model);
        let mut judge = Judge::new(begun, &options)?;
        if let Some(Learning { forgetting, .. }) = learning {
            let settings = with_forgetting(judge.settings(), forgetting.unwrap_or(1.0));
            judge
                .change_learner(settings)
                .map_err(|error| StreamError::Learn(error.into()))?;
        }
        let data = session.experiment.data.clone();
        let (recipe, note) = data.recipe.as_ref().map_or((None, None), |recipe| {
            let (recipe, note) = recipe.for_stream();
            (Some(recipe), note)
        });
        notes.extend(note.map(str::to_owned));
        Ok(Some((
            Self {
                channel_names: channel_names(&data, &facts.feature_groups),
                data,
                recipe,
                feature_names: facts.feature_names.clone(),
                class_names: facts.class_names.clone(),
                judge,
                live: None,
                learning,
                n_faster: 0,
                n_rejected: 0,
                file: None,
                state,
            },
            notes,
        )))
    }

    /// The classes.
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }

    /// How lines of text are to be read for this model.
    pub fn line_kind(&self, rate_hz: Option<f64>) -> LineKind {
        match self.judges_segments() {
            true => LineKind::Moments {
                channel_names: self.channel_names.clone(),
                rate_hz,
            },
            false => LineKind::Samples {
                feature_names: self.feature_names.clone(),
            },
        }
    }

    /// Whether the model judges segments of running channels.
    pub fn judges_segments(&self) -> bool {
        let is_recording = matches!(
            self.recipe,
            Some(FeatureRecipe::Eeg(_) | FeatureRecipe::EegGroups(_))
        );
        is_recording && !matches!(self.data.source, DataPlan::Table(_) | DataPlan::Arrays(_))
    }

    /// The samples that follow are those of a growing file.
    pub fn follow_file(&mut self, path: &Path) {
        self.file = Some(path.to_owned());
    }

    /// The settings by which files are read.
    pub fn data(&self) -> &DataSettings {
        &self.data
    }

    /// Takes what came.
    pub fn take(&mut self, arrival: Arrival) -> Result<Outcome, StreamError> {
        let mut outcome = Outcome::default();
        match arrival {
            Arrival::Nothing | Arrival::End => {}
            Arrival::Note(note) => outcome.notes.push(note),
            Arrival::Channels { channels, rate_hz } => {
                self.begin_channels(&channels, rate_hz, &mut outcome)?;
            }
            Arrival::Frames(frames) => self.take_frames(&frames, &mut outcome)?,
            Arrival::Gap { lost_s } => {
                if let Some(live) = &mut self.live {
                    live.gap(lost_s);
                }
            }
            Arrival::Row { features, label } => {
                self.take_row(features, label.as_deref(), &mut outcome)?
            }
            Arrival::File { path, mark } => self.take_file(&path, mark, &mut outcome)?,
            Arrival::Label { path, class } => self.take_label(&path, class, &mut outcome)?,
        }
        Ok(outcome)
    }

    fn begin_channels(
        &mut self,
        channels: &[Channel],
        rate_hz: f64,
        outcome: &mut Outcome,
    ) -> Result<(), StreamError> {
        let n_features = self.feature_names.len();
        let recipe = match &self.recipe {
            Some(recipe) if self.judges_segments() => recipe,
            _ => return Err(StreamError::WholeRecords { n_features }),
        };
        let was_running = self.live.take().is_some();
        let made = LiveSegments::new(recipe, channels, rate_hz)
            .map_err(StreamError::from)
            .and_then(|live| self.with_learned_features(live));
        match made {
            Ok(live) => self.live = Some(live),
            // The stream has run before: wait for the channels to come back.
            Err(error) if was_running => outcome.notes.push(format!(
                "{error}; samples are left out until the channels are back"
            )),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn with_learned_features(&self, live: LiveSegments) -> Result<LiveSegments, StreamError> {
        let (found, learned) = (live.feature_names(), self.feature_names.as_slice());
        if found == learned {
            return Ok(live);
        }
        let differs = found.iter().zip(learned).position(|(a, b)| a != b);
        let at = differs.unwrap_or(found.len().min(learned.len()));
        let name = |names: &[String]| names.get(at).cloned().unwrap_or_default();
        Err(StreamError::OtherFeatures {
            found: found.len(),
            first: name(found),
            expected: learned.len(),
            learned: name(learned),
        })
    }

    fn take_frames(&mut self, frames: &[f64], outcome: &mut Outcome) -> Result<(), StreamError> {
        let Some(live) = &mut self.live else {
            return Ok(());
        };
        let (mut samples, mut rejected) = (Vec::new(), Vec::new());
        live.push(frames, &mut samples, &mut rejected);
        for rejection in rejected {
            self.n_rejected += 1;
            if self.n_rejected.is_power_of_two() {
                let (start_s, reason) = (rejection.start_s, rejection.reason);
                outcome.notes.push(format!(
                    "the segment at {start_s:.3} s is left out: {reason} ({} so far)",
                    self.n_rejected
                ));
            }
        }
        // After a restart segments that were decided are passed over.
        let until = self.state.decided_until_s;
        samples.retain(|sample| until.is_none_or(|until| sample.start_s > until + 1e-9));
        let path = self.file.clone();
        for sample in &samples {
            // One at a time: the last bits of a score depend on how many are judged together, and a recorded stream
            // comes in other pieces.
            if let Some(opinion) = self.judge.judge(&[&sample.values])?.pop().flatten() {
                self.decide(&opinion, path.as_deref(), Some(sample.start_s), outcome);
            }
            self.state.decided_until_s = Some(sample.start_s);
        }
        Ok(())
    }

    fn take_row(
        &mut self,
        features: Vec<f64>,
        label: Option<&str>,
        outcome: &mut Outcome,
    ) -> Result<(), StreamError> {
        let opinion = self.judge.judge(&[&features])?.pop().flatten();
        let Some(opinion) = opinion else {
            outcome
                .notes
                .push("a sample with missing values is left out, as in training".to_owned());
            return Ok(());
        };
        self.decide(&opinion, None, None, outcome);
        if let Some(label) = label {
            match self.class_names.iter().position(|name| name == label) {
                Some(truth) => {
                    self.score(truth, opinion.verdict.class, outcome);
                    self.learn(features, truth, outcome)?;
                }
                None => outcome.notes.push(unknown_class(label, &self.class_names)),
            }
        }
        Ok(())
    }

    fn take_file(
        &mut self,
        path: &Path,
        mark: FileMark,
        outcome: &mut Outcome,
    ) -> Result<(), StreamError> {
        let mut go_on = |_: f64| true;
        let built = self
            .data
            .load_unlabelled(path, &self.feature_names, &mut go_on);
        let mut judged_file = JudgedFile {
            mark,
            ..JudgedFile::default()
        };
        match built {
            Err(error) => outcome.notes.push(error.to_string()),
            Ok(built) => {
                let judged = self.judge.judge_all(&built.dataset, &mut go_on)?;
                let vote = votes_by_source(self.class_names.len(), &judged);
                let decided = vote.first().map(|vote| vote.decided);
                judged_file.class = decided.and_then(|class| self.class_names.get(class).cloned());
                for item in judged {
                    let start_s = match item.place {
                        Place::Window { start_s, .. } => Some(start_s),
                        Place::Row(_) => None,
                    };
                    let opinion = Opinion {
                        verdict: item.verdict,
                        residual_shares: item.residual_shares,
                        n_missing: item.n_missing,
                        assurance: item.assurance,
                    };
                    self.decide(&opinion, Some(path), start_s, outcome);
                }
            }
        }
        self.state.files.insert(path.to_owned(), judged_file);
        Ok(())
    }

    fn take_label(
        &mut self,
        path: &Path,
        class: String,
        outcome: &mut Outcome,
    ) -> Result<(), StreamError> {
        let position = |class: &str| self.class_names.iter().position(|name| name == class);
        let Some(truth) = position(&class) else {
            outcome.notes.push(unknown_class(&class, &self.class_names));
            return Ok(());
        };
        let Some(file) = self.state.files.get_mut(path) else {
            return Ok(());
        };
        file.label = Some(class);
        let decided = file.class.as_deref().and_then(position);
        if let Some(decided) = decided {
            self.score(truth, decided, outcome);
            if self.learning.is_some() {
                let mut go_on = |_: f64| true;
                let built = self
                    .data
                    .load_unlabelled(path, &self.feature_names, &mut go_on)?;
                for sample in 0..built.dataset.n_samples() {
                    self.learn(built.dataset.sample(sample).to_vec(), truth, outcome)?;
                }
            }
        }
        Ok(())
    }

    fn decide(
        &mut self,
        opinion: &Opinion,
        path: Option<&Path>,
        start_s: Option<f64>,
        outcome: &mut Outcome,
    ) {
        let source = &self.state.source;
        let decision = Decision::new(opinion, &self.class_names, source, path, start_s);
        self.state.n_decisions += 1;
        if let Some(watch) = &mut self.state.watch {
            let alarms = watch.decided(opinion.verdict.class, decision.margin, decision.fit_p);
            let sentence = |alarm: &WatchedAlarm| alarm.sentence(&self.class_names);
            outcome.notes.extend(alarms.iter().map(sentence));
        }
        outcome.decisions.push(decision);
    }

    fn score(&mut self, truth: usize, decided: usize, outcome: &mut Outcome) {
        self.state.scores.add(truth, decided);
        let Some(watch) = &mut self.state.watch else {
            return;
        };
        for alarm in watch.corrected(truth != decided) {
            outcome.notes.push(alarm.sentence(&self.class_names));
            let is_worse =
                alarm.watched == Watched::Error && alarm.alarm.mean_after > alarm.alarm.mean_before;
            let Some(Learning {
                on_alarm: Some((factor, n_batches)),
                ..
            }) = self.learning
            else {
                continue;
            };
            if is_worse {
                let settings = with_forgetting(self.judge.settings(), factor);
                if self.judge.change_learner(settings).is_ok() {
                    self.n_faster = n_batches;
                    outcome.notes.push(format!(
                        "forget faster: λ {factor} for {n_batches} mini-batches"
                    ));
                }
            }
        }
    }

    /// Learns a sample when its mini-batch is complete: when one class has as many samples as the settings name.
    fn learn(
        &mut self,
        features: Vec<f64>,
        class: usize,
        outcome: &mut Outcome,
    ) -> Result<(), StreamError> {
        let Some(learning) = self.learning else {
            return Ok(());
        };
        self.state.pending.push((features, class));
        let of_class = self
            .state
            .pending
            .iter()
            .filter(|(_, other)| *other == class);
        if of_class.count() < self.judge.settings().batch_size {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.state.pending);
        self.judge.learn(&batch)?;
        if self.n_faster > 0 {
            self.n_faster -= 1;
            if self.n_faster == 0 {
                let usual = learning.forgetting.unwrap_or(1.0);
                let settings = with_forgetting(self.judge.settings(), usual);
                self.judge
                    .change_learner(settings)
                    .map_err(|error| StreamError::Learn(error.into()))?;
                outcome.notes.push(format!("λ is {usual} again"));
            }
        }
        Ok(())
    }

    /// The state as it is to be saved now.
    pub fn saved(&mut self) -> &SavedStream {
        if self.learning.is_some() {
            self.state.learned = Some(Box::new(self.judge.model()));
        }
        &self.state
    }
}

fn with_forgetting(settings: &LearnerSettings, factor: f64) -> LearnerSettings {
    LearnerSettings {
        forgetting: Forgetting::constant(factor),
        ..settings.clone()
    }
}

fn unknown_class(label: &str, known: &[String]) -> String {
    format!(
        "the label {label:?} is none of the model's classes ({}) and is left out",
        known.join(", ")
    )
}

/// Names of the channels that the model was trained on, where it knows them.
fn channel_names(data: &DataSettings, groups: &[crate::features::FeatureGroup]) -> Vec<String> {
    let choice = match &data.recipe {
        Some(FeatureRecipe::Eeg(recipe)) => Some(&recipe.channels),
        Some(FeatureRecipe::EegGroups(recipe)) => Some(&recipe.channels),
        _ => None,
    };
    if let Some(ChannelChoice::Named(names)) = choice {
        return names.clone();
    }
    let of_covariance = groups.iter().find_map(|group| match &group.kind {
        GroupKind::Covariance { channels, .. } => Some(channels.clone()),
        _ => None,
    });
    of_covariance.unwrap_or_default()
}
