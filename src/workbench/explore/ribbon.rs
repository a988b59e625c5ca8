//! Decisions on the recording that is open: judged in the background, one explained, some corrected by hand, all reported.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ExploreEvent;
use super::correcting::Review;
use super::judging::{Explained, JudgeQuestion, Judgement, Judges, ModelChoice, OtherSession};
use crate::workbench::background::{Answer, Background};
use crate::workbench::event::Event;
use crate::workbench::notices::Topic;
use crate::workbench::records::{LoadedData, Then};
use crate::workbench::signal::{Signal, SignalQuestion, question_of, signal_of};
use crate::workbench::stages::Stage;
use crate::workbench::{Action, Gravity, TaskError, Workbench, learner_summary};
use atomscope_engine::dataset::{StretchByHand, StretchCorrection};
use atomscope_engine::export::{RecordingReport, ReportedModel, write};
use atomscope_engine::records::Record;
use atomscope_engine::session::model_sha256;

/// Something to be done with the decisions on a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum RibbonAction {
    /// Judges the recording that is open.
    Judge,
    /// Stops judging.
    Cancel,
    /// Another model judges.
    Choose(ModelChoice),
    /// The final model of a session in a file judges.
    ChooseFile(PathBuf),
    /// Explains a segment, or none.
    Select(Option<usize>),
    /// Shows the signal of a kept sample beside.
    ShowKept(usize),
    /// Puts that signal away.
    HideKept,
    /// Gives a segment another class, which the open model learns at once.
    Correct {
        /// The segment, by its place in the ribbon.
        segment: usize,
        /// The class by its number; none for an artefact.
        class: Option<usize>,
    },
    /// Puts the selected segment right by hand.
    Put(StretchCorrection),
    /// Lets the rules count again for the selected segment.
    Forget,
    /// Shows the selected segment among the decisions of the Evaluate page.
    ShowInEvaluate,
    /// Writes the report of the recording.
    Report(PathBuf),
}

/// What the choice of models depends on, by where it lies in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FoundFrom {
    record: usize,
    learned_from: usize,
    models: Vec<usize>,
    has_other: bool,
}

fn place_of<T>(shared: &Arc<T>) -> usize {
    Arc::as_ptr(shared).addr()
}

/// The decisions on the recording that is open.
#[derive(Default)]
pub struct RibbonStage {
    /// The recording that was judged or asked about.
    of: Option<Arc<Record>>,
    choice: Option<ModelChoice>,
    /// The models there are for it, and what they were found from.
    choices: Vec<ModelChoice>,
    found_from: FoundFrom,
    /// Who was asked last, and the decisions.
    judging: Background<(ModelChoice, Vec<usize>), Judgement>,
    selected: Option<usize>,
    /// A stretch whose segment is selected as soon as it is judged.
    awaited: Option<(f64, f64)>,
    explained: Background<usize, Explained>,
    kept: Background<SignalQuestion, Signal>,
    other: Background<PathBuf, OtherSession>,
    /// What a reviewer has corrected.
    pub(super) review: Review,
    /// The data that the run has learned from, also when others are loaded since.
    learned_from: Option<Arc<LoadedData>>,
}

/// Something that the background has made of the decisions.
pub(in crate::workbench) enum RibbonEvent {
    /// The recording is judged.
    Judged(Answer<Judgement>),
    /// A segment is explained.
    Explained(Answer<Explained>),
    /// The signal of a kept sample is read.
    Kept(Answer<Signal>),
    /// A trained session is read.
    Other(Answer<OtherSession>),
}

fn made(made: RibbonEvent) -> Event {
    Event::Explore(ExploreEvent::Ribbon(made))
}

impl RibbonStage {
    /// The decisions.
    pub fn judged(&self) -> Option<&Judgement> {
        self.judging.shown().map(Arc::as_ref)
    }

    /// The same, shared.
    pub(super) fn judged_shared(&self) -> Option<&Arc<Judgement>> {
        self.judging.shown()
    }

    /// The share judged, while judging.
    pub fn judging_share(&self) -> Option<f64> {
        self.judging.share()
    }

    /// Why the recording could not be judged.
    pub fn error(&self) -> Option<&str> {
        self.judging.failure()
    }

    /// The segment that is explained.
    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// The explanation of the selected segment.
    pub fn explained(&self) -> Option<&Explained> {
        let shown = self.explained.shown().map(Arc::as_ref);
        shown.filter(|explained| Some(explained.segment) == self.selected)
    }

    /// The signal of a kept sample, beside.
    pub fn kept(&self) -> Option<&Signal> {
        self.kept.shown().map(Arc::as_ref)
    }

    /// The data that the run has learned from.
    pub fn learned_from(&self) -> Option<&Arc<LoadedData>> {
        self.learned_from.as_ref()
    }

    /// The session in a file whose model may judge.
    pub fn other_session(&self) -> Option<&Path> {
        self.other.shown().map(|other| other.path.as_path())
    }

    pub(super) fn is_busy(&self) -> bool {
        self.judging.is_busy()
            || self.explained.is_busy()
            || self.kept.is_busy()
            || self.review.learning.is_busy()
            || self.other.is_busy()
    }

    /// Forgets what was decided, but not by whom.
    fn begin(&mut self, record: &Arc<Record>, stretch: Option<(f64, f64)>) {
        *self = Self {
            of: Some(record.clone()),
            choice: self.choice,
            awaited: stretch,
            other: std::mem::take(&mut self.other),
            review: std::mem::take(&mut self.review),
            learned_from: self.learned_from.take(),
            ..Self::default()
        };
    }

    fn is_about(&self, record: &Arc<Record>) -> bool {
        self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, record))
    }
}

impl Workbench {
    /// The models that can judge the recording that is open, the best first; none before a fold is complete.
    pub fn judging_models(&self) -> &[ModelChoice] {
        &self.tasks.explore.ribbon.choices
    }

    /// The model that judges: the one chosen where it can, else the best.
    pub fn judging_model(&self) -> Option<ModelChoice> {
        let choices = self.judging_models();
        let chosen = self
            .tasks
            .explore
            .ribbon
            .choice
            .filter(|c| choices.contains(c));
        chosen.or(choices.first().copied())
    }

    /// Looks for models anew when a part has been trained or another recording is open.
    pub(super) fn find_models(&mut self) {
        let run = self.document.training.run();
        let models = run.map_or(Vec::new(), |run| {
            run.models().map(|(_, model)| place_of(model)).collect()
        });
        let ribbon = &self.tasks.explore.ribbon;
        let found_from = FoundFrom {
            record: ribbon.of.as_ref().map_or(0, place_of),
            learned_from: ribbon.learned_from.as_ref().map_or(0, place_of),
            models,
            has_other: ribbon.other.shown().is_some(),
        };
        if found_from == ribbon.found_from {
            return;
        }
        let mut choices = self.judges().map_or(Vec::new(), |judges| {
            let is_held_out = self
                .known_source()
                .is_some_and(|(loaded, source)| judges.has_held_out(&loaded.dataset, source));
            judges.choices(is_held_out)
        });
        if found_from.has_other {
            choices.push(ModelChoice::Other);
        }
        let ribbon = &mut self.tasks.explore.ribbon;
        (ribbon.choices, ribbon.found_from) = (choices, found_from);
    }

    pub(super) fn judges(&self) -> Option<Judges> {
        self.document.training.run().and_then(Judges::of_run)
    }

    /// The data that were learned from, and the place of the open recording among them.
    pub(super) fn known_source(&self) -> Option<(Arc<LoadedData>, usize)> {
        let opened = self.tasks.explore.opened()?;
        let learned = self.tasks.explore.ribbon.learned_from.as_ref()?;
        opened.source?;
        let is_it = |row: &crate::workbench::RecordRow| row.name == opened.name;
        let source = learned.records.iter().position(is_it)?;
        Some((learned.clone(), source))
    }

    /// Judges records of the data without being asked.
    pub(super) fn follow_ribbon(&mut self) {
        self.note_learned_data();
        self.follow_opened();
        self.select_awaited();
    }

    pub(super) fn take_ribbon(&mut self, made: RibbonEvent) {
        let ribbon = &mut self.tasks.explore.ribbon;
        match made {
            // Why it cannot be judged is said in its place.
            RibbonEvent::Judged(answer) => drop(ribbon.judging.take(answer)),
            RibbonEvent::Explained(answer) => {
                let taken = ribbon.explained.take(answer);
                self.tell_failure(Topic::Explore, taken);
            }
            RibbonEvent::Kept(answer) => {
                let taken = ribbon.kept.take(answer);
                self.tell_failure(Topic::Explore, taken);
            }
            RibbonEvent::Other(answer) => {
                let taken = ribbon.other.take(answer);
                if self.tell_failure(Topic::Explore, taken).is_some() {
                    let ribbon = &mut self.tasks.explore.ribbon;
                    ribbon.choice = Some(ModelChoice::Other);
                    ribbon.judging = Background::default();
                }
            }
        }
    }

    /// Remembers the data of the run as long as they are loaded.
    fn note_learned_data(&mut self) {
        let Some(run) = self.document.training.run() else {
            self.tasks.explore.ribbon.learned_from = None;
            return;
        };
        let Some(loaded) = self.document.data.loaded() else {
            return;
        };
        let known = self.tasks.explore.ribbon.learned_from.as_ref();
        if known.is_some_and(|known| Arc::ptr_eq(known, loaded)) {
            return;
        }
        if loaded.settings == run.experiment.data {
            self.tasks.explore.ribbon.learned_from = Some(loaded.clone());
        } else if known.is_some_and(|known| known.settings != run.experiment.data) {
            self.tasks.explore.ribbon.learned_from = None;
        }
    }

    /// Another recording or another model makes the decisions old; those of the data are judged anew at once.
    fn follow_opened(&mut self) {
        let Some(opened) = self.tasks.explore.opened() else {
            return;
        };
        if !self.tasks.explore.ribbon.is_about(&opened.record) {
            let (record, stretch) = (opened.record.clone(), opened.stretch);
            self.tasks.explore.ribbon.begin(&record, stretch);
        }
        if self.selection.page != Stage::Explore || self.tasks.explore.ribbon.judging.is_busy() {
            return;
        }
        self.find_models();
        let wanted = self.judging_model();
        let wanted =
            wanted.map(|choice| (choice, self.tasks.explore.ribbon.found_from.models.clone()));
        let judging = &self.tasks.explore.ribbon.judging;
        let is_new = wanted.is_some_and(|wanted| !judging.is_wanted(&wanted));
        if is_new && self.known_source().is_some() {
            self.judge_opened();
        }
    }

    /// Selects the segment of a stretch that was asked for.
    fn select_awaited(&mut self) {
        let ribbon = &self.tasks.explore.ribbon;
        let (Some((start_s, duration_s)), Some(judged)) = (ribbon.awaited, ribbon.judged()) else {
            return;
        };
        let segment = judged.ribbon.at(start_s + duration_s / 2.0);
        self.tasks.explore.ribbon.awaited = None;
        self.select_segment(segment);
    }

    fn judges_of(&self, choice: ModelChoice) -> Option<Judges> {
        match choice {
            ModelChoice::Other => Some(self.tasks.explore.ribbon.other.shown()?.judges.clone()),
            _ => self.judges(),
        }
    }

    /// Does something with the decisions.
    pub(super) fn apply_ribbon(&mut self, action: RibbonAction) {
        match action {
            RibbonAction::Judge => self.judge_opened(),
            RibbonAction::Cancel => self.tasks.explore.ribbon.judging.stop(),
            RibbonAction::Choose(choice) => {
                self.tasks.explore.ribbon.choice = Some(choice);
                self.judge_opened();
            }
            RibbonAction::ChooseFile(path) => {
                self.selection.ask = None;
                let wrap = |answer| made(RibbonEvent::Other(answer));
                let on = (&self.tasks.post, "trained session", wrap as _);
                let other = &mut self.tasks.explore.ribbon.other;
                other.start(path.clone(), on, move |_| OtherSession::load(path));
            }
            RibbonAction::Select(segment) => self.select_segment(segment),
            RibbonAction::ShowKept(sample) => self.show_kept(sample),
            RibbonAction::HideKept => self.tasks.explore.ribbon.kept = Background::default(),
            RibbonAction::Correct { segment, class } => self.correct(segment, class),
            RibbonAction::Put(correction) => self.correct_by_hand(Some(correction)),
            RibbonAction::Forget => self.correct_by_hand(None),
            RibbonAction::ShowInEvaluate => self.show_in_evaluate(),
            RibbonAction::Report(path) => self.report(path),
        }
    }

    pub(super) fn judge_opened(&mut self) {
        let Some(choice) = self.judging_model() else {
            return;
        };
        let (Some(opened), Some(judges)) = (self.tasks.explore.opened(), self.judges_of(choice))
        else {
            return;
        };
        let question = JudgeQuestion {
            judges,
            choice,
            record: opened.record.clone(),
            of_data: match choice {
                ModelChoice::Other => None,
                _ => self.known_source(),
            },
        };
        let ribbon = &mut self.tasks.explore.ribbon;
        // The same stretch is selected among the decisions to come.
        let chosen = ribbon.selected.zip(ribbon.judged());
        let chosen = chosen.and_then(|(segment, judged)| judged.ribbon.segments.get(segment));
        let stretch = chosen.map(|segment| (segment.start_s, segment.duration_s));
        ribbon.awaited = ribbon.awaited.or(stretch);
        ribbon.selected = None;
        ribbon.judging.hide();
        let key = (choice, ribbon.found_from.models.clone());
        let wrap = |answer| made(RibbonEvent::Judged(answer));
        let on = (&self.tasks.post, "judging", wrap as _);
        ribbon
            .judging
            .start(key, on, move |progress| question.answer(progress));
    }

    fn select_segment(&mut self, segment: Option<usize>) {
        let ribbon = &mut self.tasks.explore.ribbon;
        ribbon.selected = segment;
        let (Some(segment), Some(judged)) = (segment, ribbon.judging.shown().cloned()) else {
            return;
        };
        let wrap = |answer| made(RibbonEvent::Explained(answer));
        let on = (&self.tasks.post, "explaining", wrap as _);
        ribbon
            .explained
            .start(segment, on, move |_| judged.explain(segment));
    }

    /// The signal that a kept sample was made of, beside the recording.
    fn show_kept(&mut self, sample: usize) {
        let Some(learned) = self.tasks.explore.ribbon.learned_from.clone() else {
            return;
        };
        let Some(question) = question_of(&learned.dataset, sample) else {
            return;
        };
        let (source, window) = question;
        let wrap = |answer| made(RibbonEvent::Kept(answer));
        let on = (&self.tasks.post, "kept sample", wrap as _);
        let kept = &mut self.tasks.explore.ribbon.kept;
        kept.start(question, on, move |_| {
            signal_of(&learned, source, window, None)
        });
    }

    /// The recording as the settings name it, with the stretch of the selected segment.
    pub fn selected_stretch(&self) -> Option<(PathBuf, f64, f64)> {
        let ribbon = &self.tasks.explore.ribbon;
        let segment = ribbon.judged()?.ribbon.segments.get(ribbon.selected?)?;
        let opened = self.tasks.explore.opened()?;
        opened.source?;
        let named = self.document.data.loaded()?.named(&opened.name);
        Some((named, segment.start_s, segment.duration_s))
    }

    /// What was said by hand of the selected segment.
    pub fn selected_correction(&self) -> Option<&StretchCorrection> {
        let (named, start_s, duration_s) = self.selected_stretch()?;
        let by_hand = &self.document.draft.experiment.data.by_hand;
        by_hand.correction(&named, start_s, duration_s)
    }

    /// Puts the selected segment right, or lets the rules count again; the data follow.
    fn correct_by_hand(&mut self, correction: Option<StretchCorrection>) {
        let Some((recording, start_s, duration_s)) = self.selected_stretch() else {
            return;
        };
        self.change(|draft| {
            let by_hand = &mut draft.experiment.data.by_hand;
            match correction {
                Some(correction) => by_hand.put(StretchByHand {
                    recording,
                    start_s,
                    duration_s,
                    correction,
                }),
                None => by_hand.forget(&recording, start_s, duration_s),
            }
        });
    }

    /// What is corrected by hand is loaded at once, also after an undo.
    pub(in crate::workbench) fn follow_by_hand(&mut self) {
        let wanted = &self.document.draft.experiment.data;
        let Some(loaded) = self.document.data.loaded() else {
            return;
        };
        if loaded.settings.by_hand == wanted.by_hand
            || self.loading_share().is_some()
            || self.document.data.error().is_some()
        {
            return;
        }
        let mut followed = loaded.settings.clone();
        followed.by_hand = wanted.by_hand.clone();
        if followed == *wanted {
            self.load_data(Then::default());
        }
    }

    /// The cell and the sample of the selected segment on the Evaluate page.
    fn show_in_evaluate(&mut self) {
        let ribbon = &self.tasks.explore.ribbon;
        let Some((judged, selected)) = ribbon.judged().zip(ribbon.selected) else {
            return;
        };
        let (Some(segment), true) = (judged.ribbon.segments.get(selected), judged.is_of_data)
        else {
            return;
        };
        let (sample, decided) = (segment.sample, segment.verdict.class);
        let truth = judged.judges.facts.classes.get(sample).copied();
        self.selection.fold = None;
        self.selection.cell = truth.map(|truth| (truth, decided));
        self.selection.page = Stage::Evaluate;
        self.perform(Action::Inspect(sample));
    }

    /// Writes the report of the recording in the background.
    fn report(&mut self, path: PathBuf) {
        self.selection.ask = None;
        let opened = self.tasks.explore.opened();
        let opened = opened.map(|opened| (opened.name.clone(), opened.record.clone()));
        let judged = self.tasks.explore.ribbon.judging.shown().cloned();
        let Some(((name, record), judged)) = opened.zip(judged) else {
            let text = "there is no decision to report yet: classify the recording first";
            self.notices.post(Topic::Explore, Gravity::Warning, text);
            return;
        };
        let (session, session_sha256) =
            match (judged.choice, self.tasks.explore.ribbon.other.shown()) {
                (ModelChoice::Other, Some(other)) => {
                    (other.path.display().to_string(), other.sha256.clone())
                }
                _ => {
                    let saved = self.document.session.sha256().map(str::to_owned);
                    (self.name(), saved.filter(|_| !self.is_unsaved()))
                }
            };
        let on = (&self.tasks.post, "report", Event::Exported as _);
        self.tasks.exporting.start((), on, move |_| {
            let session = (session, session_sha256);
            write_report((&name, &record), &judged, session, &path)?;
            Ok(path)
        });
    }
}

fn write_report(
    (name, record): (&str, &Record),
    judged: &Judgement,
    (session, session_sha256): (String, Option<String>),
    path: &Path,
) -> Result<(), TaskError> {
    let none = || TaskError::refused("nothing was classified");
    let first = judged.models.first().ok_or_else(none)?;
    let learned = match (judged.is_of_data, judged.has_learned) {
        (true, true) => "; trained on this recording, so its decisions are not a test",
        (true, false) => "; this recording was held out",
        (false, _) => "",
    };
    let mut hashes: Vec<String> = Vec::new();
    let mut seen: Vec<*const _> = Vec::new();
    for model in &judged.models {
        if !seen.contains(&Arc::as_ptr(model)) {
            seen.push(Arc::as_ptr(model));
            hashes.push(model_sha256(model)?);
        }
    }
    let model = ReportedModel {
        what: format!("{}{learned}", judged.choice.name()),
        learner: learner_summary(&first.learner),
        changes: judged.judges.changes.clone(),
        session,
        session_sha256,
        model_sha256: hashes.join(", "),
        tested: judged.judges.tested.clone(),
    };
    let report = RecordingReport {
        name,
        record,
        notes: &judged.notes,
        left_out: &judged.left_out,
        ribbon: &judged.ribbon,
        model: &model,
    };
    Ok(write(path, &report.for_file(path)?)?)
}
