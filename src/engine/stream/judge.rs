//! Arrivals become decisions, by the features, preparation and classifier that files have; labels are learned.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::{
    Arrival, FileMark, JudgedFile, Learning, LineKind, SavedStream, StreamDecision, StreamError,
    utc_now,
};
use crate::dataset::{DataPlan, DataSettings, Dataset, Place};
use crate::evaluation::{ChangeWatch, WatchedAlarm};
use crate::experiment::{Judge, JudgeOptions, Judged, Opinion, TrainedModel, votes_by_source};
use crate::features::eeg::ChannelChoice;
use crate::features::{FeatureRecipe, GroupKind, LiveSegments};
use crate::records::{Annotation, Channel, open_with};
use crate::session::{Session, model_sha256};

/// What an arrival brought.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Decisions, in order.
    pub decisions: Vec<StreamDecision>,
    /// Sentences for the user.
    pub notes: Vec<String>,
    /// Changes that were noticed; their place among all alarms of the stream.
    pub alarms: Vec<(usize, WatchedAlarm)>,
}

/// A model at work on a stream.
pub struct LiveJudge {
    data: DataSettings,
    recipe: Option<FeatureRecipe>,
    feature_names: Vec<String>,
    pub(super) class_names: Vec<String>,
    channel_names: Vec<String>,
    pub(super) judge: Judge,
    live: Option<LiveSegments>,
    pub(super) learning: Option<Learning>,
    n_rejected: u64,
    pub(super) largest_drift: f64,
    /// Time of the stream before its channels came as they are now.
    time_before_s: f64,
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
            (state.changes, state.forgets_faster) = (Vec::new(), None);
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
        if let (Some(learning), true) = (&learning, state.changes.is_empty()) {
            learning.begin(&mut judge)?;
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
                n_rejected: 0,
                largest_drift: 0.0,
                time_before_s: 0.0,
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

    /// The features, in the model's order.
    pub fn feature_names(&self) -> &[String] {
        &self.feature_names
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

    /// Time from the start of the stream to the last frame that came.
    pub fn stream_time_s(&self) -> f64 {
        let live = self.live.as_ref();
        live.map_or(self.time_before_s, LiveSegments::time_s)
    }

    /// Time from one decision to the next, where samples come.
    pub fn hop_s(&self) -> Option<f64> {
        self.live.as_ref().map(LiveSegments::hop_s)
    }

    /// The settings by which files are read.
    pub fn data(&self) -> &DataSettings {
        &self.data
    }

    /// Takes what came; what it brought is added to `outcome`.
    pub fn take(&mut self, arrival: Arrival, outcome: &mut Outcome) -> Result<(), StreamError> {
        match arrival {
            Arrival::Nothing | Arrival::End => {}
            Arrival::Note(note) => outcome.notes.push(note),
            Arrival::Channels { channels, rate_hz } => {
                self.begin_channels(&channels, rate_hz, outcome)?;
            }
            Arrival::Frames(frames) => self.take_frames(&frames, outcome)?,
            Arrival::Gap { lost_s } => {
                if let Some(live) = &mut self.live {
                    live.gap(lost_s);
                }
            }
            Arrival::Row { features, label } => self.take_rows(vec![(features, label)], outcome)?,
            Arrival::File { path, mark } => self.take_file(&path, mark, outcome)?,
            Arrival::Label { path, class } => self.take_label(&path, class, outcome)?,
        }
        Ok(())
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
        // The time of the stream goes on whatever comes: what was decided before stays decided.
        self.time_before_s = self.stream_time_s();
        let was_running = self.live.take().is_some() || self.time_before_s > 0.0;
        let made = LiveSegments::new(recipe, channels, rate_hz)
            .map_err(StreamError::from)
            .and_then(|live| self.with_learned_features(live));
        match made {
            Ok(mut live) => {
                live.gap(self.time_before_s);
                self.live = Some(live);
            }
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
        let values: Vec<&[f64]> = samples.iter().map(|sample| &sample.values[..]).collect();
        let opinions = self.judge.judge(&values)?;
        for (sample, opinion) in samples.iter().zip(opinions) {
            if let Some(opinion) = opinion {
                self.decide(&opinion, path.as_deref(), Some(sample.start_s), outcome);
            }
            self.state.decided_until_s = Some(sample.start_s);
        }
        Ok(())
    }

    /// Takes samples by their features, each with its class where that is known. As if they came one by one: those up to
    /// the next mini-batch are judged together.
    pub fn take_rows(
        &mut self,
        rows: Vec<(Vec<f64>, Option<String>)>,
        outcome: &mut Outcome,
    ) -> Result<(), StreamError> {
        let mut opinions = VecDeque::new();
        let mut rows = VecDeque::from(rows);
        while let Some((features, label)) = rows.pop_front() {
            if opinions.is_empty() {
                let others = rows.iter().map(|(features, _)| &features[..]);
                let all: Vec<&[f64]> = std::iter::once(&features[..]).chain(others).collect();
                let n_until = self.n_until_batch(label.as_deref(), &rows);
                opinions.extend(self.judge.judge(&all[..n_until])?);
            }
            let n_batches = self.judge.n_batches();
            match opinions.pop_front().flatten() {
                Some(opinion) => self.take_row(features, label.as_deref(), &opinion, outcome)?,
                None => self.reject_row(outcome),
            }
            if self.judge.n_batches() != n_batches {
                // What follows is judged by what was learned now.
                opinions.clear();
            }
        }
        Ok(())
    }

    /// Says that a sample is left out: the first, then ever more rarely.
    fn reject_row(&mut self, outcome: &mut Outcome) {
        self.n_rejected += 1;
        if self.n_rejected.is_power_of_two() {
            outcome.notes.push(format!(
                "a sample with missing values is left out, as in training ({} so far)",
                self.n_rejected
            ));
        }
    }

    fn take_row(
        &mut self,
        features: Vec<f64>,
        label: Option<&str>,
        opinion: &Opinion,
        outcome: &mut Outcome,
    ) -> Result<(), StreamError> {
        self.decide(opinion, None, None, outcome);
        let Some(label) = label else {
            return Ok(());
        };
        match self.class_names.iter().position(|name| name == label) {
            Some(truth) => {
                self.score(truth, opinion.verdict.class, None, outcome);
                self.learn(features, truth, outcome)?;
            }
            None => outcome.notes.push(unknown_class(label, &self.class_names)),
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
            arrived: utc_now(),
            ..JudgedFile::default()
        };
        match built {
            Err(error) => {
                judged_file.problem = Some(error.to_string());
                outcome.notes.push(error.to_string());
                self.state.files.insert(path, judged_file);
            }
            Ok(built) => {
                let judged = self.judge.judge_all(&built.dataset, &mut go_on)?;
                self.sum_up(&mut judged_file, &judged);
                self.state.files.insert(path, judged_file);
                for item in &judged {
                    let opinion = Opinion {
                        verdict: item.verdict,
                        residual_shares: item.residual_shares.clone(),
                        n_missing: item.n_missing,
                        assurance: item.assurance.clone(),
                    };
                    self.decide(&opinion, Some(path), start_of(item.place), outcome);
                }
                self.take_annotations(path, &built.dataset, &judged, outcome)?;
            }
        }
        Ok(())
    }

    /// The decisions about the segments of a file as one.
    fn sum_up(&self, file: &mut JudgedFile, judged: &[Judged]) {
        file.n_judged = judged.len();
        let vote = votes_by_source(self.class_names.len(), judged);
        let Some(decided) = vote.first().map(|vote| vote.decided) else {
            return;
        };
        file.class = self.class_names.get(decided).cloned();
        let so = judged.iter().filter(|item| item.verdict.class == decided);
        file.margin = median(so.map(|item| item.verdict.margin).collect());
        let fits = judged
            .iter()
            .filter_map(|item| Some(item.assurance.as_ref()?.fit_p));
        file.fit_p = median(fits.collect());
    }

    /// Annotations of a recording that name a class say what its segments are.
    fn take_annotations(
        &mut self,
        path: &Path,
        dataset: &Dataset,
        judged: &[Judged],
        outcome: &mut Outcome,
    ) -> Result<(), StreamError> {
        if matches!(self.data.source, DataPlan::Table(_) | DataPlan::Arrays(_)) {
            return Ok(());
        }
        let Ok(record) = open_with(path, &self.data.read_options()) else {
            return Ok(());
        };
        let class_of = |annotation: &Annotation| {
            let text = annotation.text.trim();
            let mut names = self.class_names.iter();
            names.position(|name| name.eq_ignore_ascii_case(text))
        };
        let spans: Vec<(&Annotation, usize)> = record
            .annotations
            .iter()
            .filter_map(|annotation| Some((annotation, class_of(annotation)?)))
            .collect();
        let Some((_, first)) = spans.first() else {
            return Ok(());
        };
        let is_of_all = spans.len() == 1 && spans[0].0.duration_s.is_none();
        let truth_of = |place: Place| match place {
            _ if is_of_all => Some(*first),
            Place::Row(_) => None,
            Place::Window {
                start_s,
                duration_s,
            } => {
                let middle_s = start_s + duration_s / 2.0;
                let holds = |annotation: &Annotation| {
                    let end_s = annotation.onset_s + annotation.duration_s.unwrap_or(0.0);
                    (annotation.onset_s..end_s).contains(&middle_s)
                };
                let span = spans.iter().find(|(annotation, _)| holds(annotation));
                span.map(|(_, class)| *class)
            }
        };
        if let Some(file) = self.state.files.get_mut(path)
            && spans.iter().all(|(_, class)| class == first)
        {
            file.label = self.class_names.get(*first).cloned();
        }
        for item in judged {
            if let Some(truth) = truth_of(item.place) {
                self.score(truth, item.verdict.class, start_of(item.place), outcome);
                let features = dataset.sample(item.sample).to_vec();
                self.learn_of_file(path, features, truth, outcome)?;
            }
        }
        Ok(())
    }

    fn learn_of_file(
        &mut self,
        path: &Path,
        features: Vec<f64>,
        truth: usize,
        outcome: &mut Outcome,
    ) -> Result<(), StreamError> {
        if self.learning.is_some() {
            self.learn(features, truth, outcome)?;
            if let Some(file) = self.state.files.get_mut(path) {
                file.is_learned = true;
            }
        }
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
            self.score(truth, decided, None, outcome);
            if self.learning.is_some() {
                let mut go_on = |_: f64| true;
                let built = self
                    .data
                    .load_unlabelled(path, &self.feature_names, &mut go_on)?;
                for sample in 0..built.dataset.n_samples() {
                    let features = built.dataset.sample(sample).to_vec();
                    self.learn_of_file(path, features, truth, outcome)?;
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
        let decision = StreamDecision::new(opinion, &self.class_names, source, path, start_s);
        self.state.n_decisions += 1;
        if let Some(watch) = &mut self.state.watch {
            let (class, margin) = (opinion.verdict.class, decision.margin);
            let alarms = watch.decided(class, margin, decision.fit_p, start_s);
            self.notice(alarms, outcome);
        }
        outcome.decisions.push(decision);
    }

    /// The state as it is to be saved now.
    pub fn saved(&mut self) -> &SavedStream {
        if self.learning.is_some() {
            self.state.learned = Some(Box::new(self.judge.model()));
        }
        &self.state
    }
}

fn start_of(place: Place) -> Option<f64> {
    match place {
        Place::Window { start_s, .. } => Some(start_s),
        Place::Row(_) => None,
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
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
