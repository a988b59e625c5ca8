//! Actions applied: the one place where anything with consequences happens.

use super::action::Action;
use super::files::SaveTo;
use super::stages::Stage;
use super::view::Ask;
use super::{AfterLoading, Asked, Draft, Gravity, Workbench, inspect, look, start_job};
use atomscope_engine::dataset::Place;
use atomscope_engine::experiment::{Command, Part, Status, median_distance};
use atomscope_engine::session::Preset;

impl Workbench {
    /// Does what was asked for; what would lose unsaved work is asked about first.
    pub fn apply(&mut self, action: Action) {
        let loses = matches!(
            action,
            Action::NewSession
                | Action::Open(_)
                | Action::OpenDemo(_)
                | Action::Recover
                | Action::Quit
        );
        if loses && self.is_unsaved() {
            self.view.ask = Some(Ask::Unsaved(Box::new(action)));
            return;
        }
        self.perform(action);
    }

    pub(super) fn perform(&mut self, action: Action) {
        match action {
            Action::Show(stage) => self.show(stage),
            Action::NewSession => self.begin_session(Draft::default()),
            Action::Open(path) => self.open(path),
            Action::OpenDemo(demo) => self.open_demo(demo),
            Action::HideBanner => self.shows_banner = false,
            Action::Save => self.save(SaveTo::SamePlace),
            Action::SaveAs(path) => self.save(SaveTo::Other(path)),
            Action::Overwrite => self.save(SaveTo::Over),
            Action::Recover => self.recover(),
            Action::DeclineRecovery => self.decline_recovery(),
            Action::Quit => {
                self.files.close();
                self.is_over = true;
            }
            Action::SaveFirst => {
                if let Some(Ask::Unsaved(action)) = self.view.ask.take() {
                    self.after_saving = Some(*action);
                    self.save(SaveTo::SamePlace);
                }
            }
            Action::DoNotSave => {
                if let Some(Ask::Unsaved(action)) = self.view.ask.take() {
                    self.perform(*action);
                }
            }
            Action::Ask(ask) => self.view.ask = Some(ask),
            Action::CancelAsk => {
                self.view.ask = None;
                self.after_saving = None;
            }
            Action::LoadData => self.load_data(AfterLoading::default()),
            Action::CancelLoading => {
                self.data.cancel();
                self.files.cancel_opening();
            }
            Action::Start
            | Action::Pause
            | Action::StartOrPause
            | Action::Step
            | Action::Stop
            | Action::StartAnew
            | Action::TuneRun
            | Action::LimitSpeed(_)
            | Action::TrainFinalModel(_)
            | Action::AddFinalModel => self.train(action),
            Action::Export(content, path) => self.export(content, path),
            Action::Undo => self.edits.undo(&mut self.draft),
            Action::Redo => self.edits.redo(&mut self.draft),
            Action::SetTheme(theme) => self.remember(move |settings| settings.theme = theme),
            Action::SetTextSize(size) => {
                self.remember(move |settings| settings.text_size = size);
            }
            Action::SavePreset(name) => {
                let learner = self.draft.experiment.learner.clone();
                self.remember(move |settings| {
                    settings.presets.retain(|preset| preset.name != name);
                    settings.presets.push(Preset { name, learner });
                });
            }
            Action::RemovePreset(name) => {
                self.remember(move |settings| settings.presets.retain(|p| p.name != name));
            }
            look => self.look_at(look),
        }
    }

    /// Turns to a page; the Explore page takes up the record that was looked at last.
    fn show(&mut self, stage: Stage) {
        self.view.page = stage;
        self.previewed = None;
        if stage == Stage::Explore {
            self.explore_something();
        }
    }

    /// The next session and the next start of the program have the panels where they are now.
    fn remember_panels(&mut self) {
        let panels = self.view.panels();
        self.remember(move |settings| settings.panels = panels);
    }

    /// Looks at an earlier mini-batch of the fold that is shown now, also when the next fold
    /// begins; without a mini-batch the training is followed again.
    fn replay(&mut self, batch: Option<usize>) {
        if batch.is_some() && self.view.fold.is_none() {
            self.view.fold = self.shown_fold();
            self.view.holds_fold = true;
        } else if batch.is_none() && self.view.holds_fold {
            self.view.fold = None;
            self.view.holds_fold = false;
        }
        self.view.replay = batch;
    }

    /// Changes what is looked at.
    pub(super) fn look_at(&mut self, action: Action) {
        let view = &mut self.view;
        match action {
            Action::ChooseClass(class) => {
                view.class = class;
                view.atom = None;
            }
            Action::ChooseFold(fold) => {
                view.fold = fold;
                view.holds_fold = false;
                view.cell = None;
            }
            Action::Replay(batch) => self.replay(batch),
            Action::Freeze => {
                let shown = self.shown_test().map(|test| test.batch);
                let is_frozen = self.view.replay.is_some();
                self.replay(shown.filter(|_| !is_frozen));
            }
            Action::ChooseAtom(atom) => view.atom = atom,
            Action::MarkAtomsSeen => self.dictionary.mark_seen(),
            Action::ChooseCell(cell) => view.cell = cell,
            Action::ChooseFeature(feature) => view.feature = feature,
            Action::ChooseSample(sample) => view.sample = sample,
            Action::Enlarge(panel) => view.enlarged = panel,
            Action::TogglePanel(panel) => {
                view.toggle(panel);
                self.remember_panels();
            }
            Action::PlacePanel(panel, spot) => {
                view.arrangement.put(panel, spot);
                self.remember_panels();
            }
            Action::ResetLayout => {
                view.reset_layout();
                self.remember_panels();
            }
            Action::ToggleNotices => view.notices_open = !view.notices_open,
            Action::DismissNotice(id) => self.notices.dismiss(id),
            Action::Inspect(sample) => self.inspect(sample),
            Action::CloseInspection => self.inspection = Asked::default(),
            Action::LookAtRecord(source) => self.look_at_record(source, None),
            Action::LookAtSample(sample) => self.look_at_sample(sample),
            Action::SuggestWidth => self.suggest_width(),
            Action::Explore(action) => self.explore_deed(action),
            Action::Compare(action) => self.compare_deed(action),
            _ => {}
        }
    }

    pub(super) fn train(&mut self, action: Action) {
        let status = self.training.run().map(|run| run.status.clone());
        let is_paused = self.training.is_alive() && status == Some(Status::Paused);
        let is_running = self.training.is_alive() && !is_paused;
        match action {
            Action::Start | Action::StartOrPause if is_paused => {
                self.training.command(Command::Resume);
            }
            Action::Pause | Action::StartOrPause if is_running => {
                self.training.command(Command::Pause);
            }
            Action::Start | Action::StartOrPause if !is_running => self.start(false, false),
            Action::StartAnew if !self.training.is_alive() => self.start(false, true),
            Action::Step if self.training.is_alive() => self.training.command(Command::StepOnce),
            Action::Step => self.start(true, false),
            Action::Stop => {
                self.training.command(Command::Stop);
                self.after_loading.trains = false;
            }
            Action::TuneRun => self.training.tune(&self.draft.experiment.learner),
            Action::LimitSpeed(rounds_per_s) => self.training.limit_speed(rounds_per_s),
            Action::TrainFinalModel(wanted) => self.training.final_model = wanted,
            Action::AddFinalModel if self.can_add_final_model() => {
                self.training.plan_final_model();
                self.start(false, false);
            }
            _ => {}
        }
    }

    /// Begins training, or goes on with a run that was stopped.
    pub(super) fn start(&mut self, paused: bool, anew: bool) {
        if self.training.is_starting() {
            return;
        }
        let wanted = &self.draft.experiment.data;
        let loaded = self
            .data
            .loaded()
            .filter(|l| l.settings == *wanted)
            .cloned();
        let Some(loaded) = loaded else {
            if self.loading_share().is_none() {
                self.load_data(AfterLoading::default());
            }
            self.after_loading.trains = true;
            self.after_loading.paused = paused;
            return;
        };
        self.replay(None);
        if self.goes_on() && !anew {
            self.training
                .resume(loaded.dataset.clone(), paused, &self.wake);
        } else {
            let experiment = self.draft.experiment.clone();
            self.training
                .start(experiment, loaded.dataset.clone(), paused, &self.wake);
        }
    }

    pub(super) fn load_data(&mut self, mut after: AfterLoading) {
        after.chooses_split |= self.after_loading.chooses_split;
        self.after_loading = after;
        let settings = self.draft.experiment.data.clone();
        self.data.load(settings, self.files.places(), &self.wake);
    }

    pub(super) fn inspect(&mut self, sample: usize) {
        let Some(run) = self.training.run() else {
            return;
        };
        let fold = run.test_folds.get(sample).copied().flatten();
        let part = fold.and_then(|fold| run.part(Part::Fold(fold)));
        let model = part.and_then(|part| part.model.clone());
        match (model, self.data.loaded()) {
            (Some(model), Some(loaded)) if sample < loaded.dataset.n_samples() => {
                let dataset = loaded.dataset.clone();
                self.inspection.job = Some(start_job(&self.wake, "explaining", move |_| {
                    inspect::inspect(&model, &dataset, sample)
                }));
            }
            _ => self.notices.post(
                Gravity::Note,
                "a decision can be explained when its fold is complete and the data are loaded",
            ),
        }
    }

    pub(super) fn look_at_record(&mut self, source: usize, window: Option<(f64, f64)>) {
        if let Some(loaded) = self.data.loaded().cloned() {
            let recipe = self.draft.experiment.data.recipe.clone();
            self.look.job = Some(start_job(&self.wake, "reading", move |_| {
                look::look(&loaded, source, window, recipe)
            }));
        }
    }

    /// The signal that a sample was made of, with some of what comes before and after.
    pub(super) fn look_at_sample(&mut self, sample: usize) {
        let Some(loaded) = self.data.loaded() else {
            return;
        };
        if sample >= loaded.dataset.n_samples() {
            return;
        }
        let origin = loaded.dataset.origin(sample);
        let window = match origin.place {
            Place::Window {
                start_s,
                duration_s,
            } => Some((start_s, duration_s)),
            Place::Row(_) => None,
        };
        self.look_at_record(origin.source, window);
    }

    pub(super) fn suggest_width(&mut self) {
        if let Some(loaded) = self.data.loaded() {
            let dataset = loaded.dataset.clone();
            let preparation = self.draft.experiment.preparation;
            let kernel = self.draft.experiment.learner.kernel;
            self.width.job = Some(start_job(&self.wake, "median", move |_| {
                median_distance(&dataset, preparation, kernel)
            }));
        }
    }
}
