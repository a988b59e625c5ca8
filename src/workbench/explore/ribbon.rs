//! Decisions on the recording that is open: judged in the background, one explained, some put right by hand, all reported.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::judging::{Explained, JudgeQuestion, Judgement, Judges, ModelChoice, OtherSession};
use super::taken;
use crate::workbench::data::LoadedData;
use crate::workbench::look::{self, SignalLook};
use crate::workbench::stages::Stage;
use crate::workbench::{
    Action, AfterLoading, Asked, Gravity, Workbench, learner_summary, start_job,
};
use atomscope_engine::dataset::{Place, StretchByHand, StretchDeed};
use atomscope_engine::experiment::Job;
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
    /// Puts the selected segment right by hand.
    Put(StretchDeed),
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
    /// Who was asked last.
    asked: Option<(ModelChoice, Vec<usize>)>,
    judging: Option<Job<Result<Judgement, String>>>,
    judged: Option<Arc<Judgement>>,
    error: Option<String>,
    selected: Option<usize>,
    /// A stretch whose segment is selected as soon as it is judged.
    awaited: Option<(f64, f64)>,
    explained: Asked<Explained>,
    kept: Asked<SignalLook>,
    other: Option<OtherSession>,
    other_loading: Option<Job<Result<OtherSession, String>>>,
    /// The data that the run has learned from, also when others are loaded since.
    learned_from: Option<Arc<LoadedData>>,
}

impl RibbonStage {
    /// The decisions.
    pub fn judged(&self) -> Option<&Judgement> {
        self.judged.as_deref()
    }

    /// The share judged, while judging.
    pub fn judging_share(&self) -> Option<f64> {
        self.judging.as_ref().map(Job::share)
    }

    /// Why the recording could not be judged.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The segment that is explained.
    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// The explanation of the selected segment.
    pub fn explained(&self) -> Option<&Explained> {
        let shown = self.explained.shown.as_ref();
        shown.filter(|explained| Some(explained.segment) == self.selected)
    }

    /// The signal of a kept sample, beside.
    pub fn kept(&self) -> Option<&SignalLook> {
        self.kept.shown.as_ref()
    }

    /// The data that the run has learned from.
    pub fn learned_from(&self) -> Option<&Arc<LoadedData>> {
        self.learned_from.as_ref()
    }

    /// The session in a file whose model may judge.
    pub fn other_session(&self) -> Option<&Path> {
        self.other.as_ref().map(|other| other.path.as_path())
    }

    pub(super) fn is_busy(&self) -> bool {
        self.judging.is_some()
            || self.explained.job.is_some()
            || self.kept.job.is_some()
            || self.other_loading.is_some()
    }

    /// Forgets what was decided, but not by whom.
    fn begin(&mut self, record: &Arc<Record>, stretch: Option<(f64, f64)>) {
        *self = Self {
            of: Some(record.clone()),
            choice: self.choice,
            awaited: stretch,
            other: self.other.take(),
            other_loading: self.other_loading.take(),
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
        &self.explore.ribbon.choices
    }

    /// The model that judges: the one chosen where it can, else the best.
    pub fn judging_model(&self) -> Option<ModelChoice> {
        let choices = self.judging_models();
        let chosen = self.explore.ribbon.choice.filter(|c| choices.contains(c));
        chosen.or(choices.first().copied())
    }

    /// Looks for models anew when a part has been trained or another recording is open.
    fn find_models(&mut self) {
        let run = self.training.run();
        let models = run.map_or(Vec::new(), |run| {
            run.models().map(|(_, model)| place_of(model)).collect()
        });
        let ribbon = &self.explore.ribbon;
        let found_from = FoundFrom {
            record: ribbon.of.as_ref().map_or(0, place_of),
            learned_from: ribbon.learned_from.as_ref().map_or(0, place_of),
            models,
            has_other: ribbon.other.is_some(),
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
        let ribbon = &mut self.explore.ribbon;
        (ribbon.choices, ribbon.found_from) = (choices, found_from);
    }

    fn judges(&self) -> Option<Judges> {
        self.training.run().and_then(Judges::of_run)
    }

    /// The data that were learned from, and the place of the open recording among them.
    fn known_source(&self) -> Option<(Arc<LoadedData>, usize)> {
        let opened = self.explore.opened()?;
        let learned = self.explore.ribbon.learned_from.as_ref()?;
        opened.source?;
        let is_it = |row: &crate::workbench::RecordRow| row.name == opened.name;
        let source = learned.records.iter().position(is_it)?;
        Some((learned.clone(), source))
    }

    /// Takes over what the background did, and judges records of the data without being asked.
    pub(super) fn poll_ribbon(&mut self) {
        self.note_learned_data();
        let ribbon = &mut self.explore.ribbon;
        if let Some(outcome) = taken(&mut ribbon.judging) {
            match outcome {
                Ok(judgement) => ribbon.judged = Some(Arc::new(judgement)),
                Err(message) => ribbon.error = Some(message),
            }
        }
        if let Some(outcome) = taken(&mut ribbon.other_loading) {
            match outcome {
                Ok(other) => {
                    ribbon.other = Some(other);
                    ribbon.choice = Some(ModelChoice::Other);
                    ribbon.judged = None;
                    ribbon.error = None;
                }
                Err(message) => self.notices.post(Gravity::Error, message),
            }
        }
        let ribbon = &mut self.explore.ribbon;
        let failures = [ribbon.explained.poll(), ribbon.kept.poll()];
        for message in failures.into_iter().flatten() {
            self.notices.post(Gravity::Error, message);
        }
        self.follow_opened();
        self.select_awaited();
    }

    /// Remembers the data of the run as long as they are loaded.
    fn note_learned_data(&mut self) {
        let Some(run) = self.training.run() else {
            self.explore.ribbon.learned_from = None;
            return;
        };
        let Some(loaded) = self.data.loaded() else {
            return;
        };
        let known = self.explore.ribbon.learned_from.as_ref();
        if known.is_some_and(|known| Arc::ptr_eq(known, loaded)) {
            return;
        }
        if loaded.settings == run.experiment.data {
            self.explore.ribbon.learned_from = Some(loaded.clone());
        } else if known.is_some_and(|known| known.settings != run.experiment.data) {
            self.explore.ribbon.learned_from = None;
        }
    }

    /// Another recording or another model makes the decisions old; those of the data are judged anew at once.
    fn follow_opened(&mut self) {
        let Some(opened) = self.explore.opened() else {
            return;
        };
        if !self.explore.ribbon.is_about(&opened.record) {
            let (record, stretch) = (opened.record.clone(), opened.stretch);
            self.explore.ribbon.begin(&record, stretch);
        }
        if self.view.page != Stage::Explore || self.explore.ribbon.judging.is_some() {
            return;
        }
        self.find_models();
        let wanted = self.judging_model();
        let wanted = wanted.map(|choice| (choice, self.explore.ribbon.found_from.models.clone()));
        let is_new = wanted.is_some() && self.explore.ribbon.asked != wanted;
        if is_new && self.known_source().is_some() {
            self.judge_opened();
        }
    }

    /// Selects the segment of a stretch that was asked for.
    fn select_awaited(&mut self) {
        let ribbon = &self.explore.ribbon;
        let (Some((start_s, duration_s)), Some(judged)) = (ribbon.awaited, &ribbon.judged) else {
            return;
        };
        let segment = judged.ribbon.at(start_s + duration_s / 2.0);
        self.explore.ribbon.awaited = None;
        self.select_segment(segment);
    }

    fn judges_of(&self, choice: ModelChoice) -> Option<Judges> {
        match choice {
            ModelChoice::Other => Some(self.explore.ribbon.other.as_ref()?.judges.clone()),
            _ => self.judges(),
        }
    }

    /// Does something with the decisions.
    pub(super) fn ribbon_deed(&mut self, action: RibbonAction) {
        match action {
            RibbonAction::Judge => self.judge_opened(),
            RibbonAction::Cancel => self.explore.ribbon.judging = None,
            RibbonAction::Choose(choice) => {
                self.explore.ribbon.choice = Some(choice);
                self.judge_opened();
            }
            RibbonAction::ChooseFile(path) => {
                self.view.ask = None;
                let job = start_job(&self.wake, "trained session", move |_| {
                    OtherSession::load(path)
                });
                self.explore.ribbon.other_loading = Some(job);
            }
            RibbonAction::Select(segment) => self.select_segment(segment),
            RibbonAction::ShowKept(sample) => self.show_kept(sample),
            RibbonAction::HideKept => self.explore.ribbon.kept = Asked::default(),
            RibbonAction::Put(deed) => self.put_right(Some(deed)),
            RibbonAction::Forget => self.put_right(None),
            RibbonAction::ShowInEvaluate => self.show_in_evaluate(),
            RibbonAction::Report(path) => self.report(path),
        }
    }

    fn judge_opened(&mut self) {
        let Some(choice) = self.judging_model() else {
            return;
        };
        let (Some(opened), Some(judges)) = (self.explore.opened(), self.judges_of(choice)) else {
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
        let ribbon = &mut self.explore.ribbon;
        ribbon.asked = Some((choice, ribbon.found_from.models.clone()));
        ribbon.error = None;
        ribbon.judged = None;
        ribbon.selected = None;
        ribbon.judging = Some(start_job(&self.wake, "judging", move |progress| {
            question.answer(progress)
        }));
    }

    fn select_segment(&mut self, segment: Option<usize>) {
        let ribbon = &mut self.explore.ribbon;
        ribbon.selected = segment;
        let (Some(segment), Some(judged)) = (segment, ribbon.judged.clone()) else {
            return;
        };
        ribbon.explained.job = Some(start_job(&self.wake, "explaining", move |_| {
            judged.explain(segment)
        }));
    }

    /// The signal that a kept sample was made of, beside the recording.
    fn show_kept(&mut self, sample: usize) {
        let Some(learned) = self.explore.ribbon.learned_from.clone() else {
            return;
        };
        if sample >= learned.dataset.n_samples() {
            return;
        }
        let origin = learned.dataset.origin(sample);
        let window = match origin.place {
            Place::Window {
                start_s,
                duration_s,
            } => Some((start_s, duration_s)),
            Place::Row(_) => None,
        };
        let job = start_job(&self.wake, "kept sample", move |_| {
            look::look(&learned, origin.source, window, None)
        });
        self.explore.ribbon.kept.job = Some(job);
    }

    /// The recording as the settings name it, with the stretch of the selected segment.
    pub fn selected_stretch(&self) -> Option<(PathBuf, f64, f64)> {
        let ribbon = &self.explore.ribbon;
        let segment = ribbon.judged()?.ribbon.segments.get(ribbon.selected?)?;
        let opened = self.explore.opened()?;
        opened.source?;
        let named = self.data.loaded()?.named(&opened.name);
        Some((named, segment.start_s, segment.duration_s))
    }

    /// What was said by hand of the selected segment.
    pub fn selected_deed(&self) -> Option<&StretchDeed> {
        let (named, start_s, duration_s) = self.selected_stretch()?;
        let by_hand = &self.draft.experiment.data.by_hand;
        by_hand.deed(&named, start_s, duration_s)
    }

    /// Puts the selected segment right, or lets the rules count again; the data follow.
    fn put_right(&mut self, deed: Option<StretchDeed>) {
        let Some((recording, start_s, duration_s)) = self.selected_stretch() else {
            return;
        };
        self.change(|draft| {
            let by_hand = &mut draft.experiment.data.by_hand;
            match deed {
                Some(deed) => by_hand.put(StretchByHand {
                    recording,
                    start_s,
                    duration_s,
                    deed,
                }),
                None => by_hand.forget(&recording, start_s, duration_s),
            }
        });
    }

    /// What is put right by hand is loaded at once, also after an undo.
    pub(in crate::workbench) fn follow_by_hand(&mut self) {
        let wanted = &self.draft.experiment.data;
        let Some(loaded) = self.data.loaded() else {
            return;
        };
        if loaded.settings.by_hand == wanted.by_hand
            || self.loading_share().is_some()
            || self.data.error().is_some()
        {
            return;
        }
        let mut followed = loaded.settings.clone();
        followed.by_hand = wanted.by_hand.clone();
        if followed == *wanted {
            self.load_data(AfterLoading::default());
        }
    }

    /// The cell and the sample of the selected segment on the Evaluate page.
    fn show_in_evaluate(&mut self) {
        let ribbon = &self.explore.ribbon;
        let Some((judged, selected)) = ribbon.judged().zip(ribbon.selected) else {
            return;
        };
        let (Some(segment), true) = (judged.ribbon.segments.get(selected), judged.is_of_data)
        else {
            return;
        };
        let (sample, decided) = (segment.sample, segment.verdict.class);
        let truth = judged.judges.facts.classes.get(sample).copied();
        self.view.fold = None;
        self.view.cell = truth.map(|truth| (truth, decided));
        self.view.page = Stage::Evaluate;
        self.perform(Action::Inspect(sample));
    }

    /// Writes the report of the recording in the background.
    fn report(&mut self, path: PathBuf) {
        self.view.ask = None;
        let opened = self.explore.opened();
        let opened = opened.map(|opened| (opened.name.clone(), opened.record.clone()));
        let Some(((name, record), judged)) = opened.zip(self.explore.ribbon.judged.clone()) else {
            let text = "there is no decision to report yet: judge the recording first";
            self.notices.post(Gravity::Warning, text);
            return;
        };
        let (session, session_sha256) = match (judged.choice, &self.explore.ribbon.other) {
            (ModelChoice::Other, Some(other)) => {
                (other.path.display().to_string(), other.sha256.clone())
            }
            _ => {
                let saved = self.files.session().sha256().map(str::to_owned);
                (self.name(), saved.filter(|_| !self.is_unsaved()))
            }
        };
        self.exporting.job = Some(start_job(&self.wake, "report", move |_| {
            write_report((&name, &record), &judged, session, session_sha256, &path)?;
            Ok(path)
        }));
    }
}

fn write_report(
    (name, record): (&str, &Record),
    judged: &Judgement,
    session: String,
    session_sha256: Option<String>,
    path: &Path,
) -> Result<(), String> {
    let first = judged.models.first().ok_or("nothing was judged")?;
    let learned = match (judged.is_of_data, judged.has_learned) {
        (true, true) => "; it has learned from this recording, so its decisions say little",
        (true, false) => "; this recording was held out",
        (false, _) => "",
    };
    let mut hashes: Vec<String> = Vec::new();
    let mut seen: Vec<*const _> = Vec::new();
    for model in &judged.models {
        if !seen.contains(&Arc::as_ptr(model)) {
            seen.push(Arc::as_ptr(model));
            hashes.push(model_sha256(model).map_err(|error| error.to_string())?);
        }
    }
    let model = ReportedModel {
        what: format!("{}{learned}", judged.choice.name()),
        learner: learner_summary(&first.learner),
        changes: judged.judges.changes.clone(),
        session,
        session_sha256,
        model_sha256: hashes.join(", "),
    };
    let report = RecordingReport {
        name,
        record,
        notes: &judged.notes,
        left_out: &judged.left_out,
        ribbon: &judged.ribbon,
        model: &model,
    };
    let bytes = report.for_file(path).map_err(|error| error.to_string())?;
    write(path, &bytes).map_err(|error| error.to_string())
}
