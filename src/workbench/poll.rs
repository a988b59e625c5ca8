//! What the background has done is taken over, once per frame.

use std::time::Instant;

use super::columns::ColumnPreview;
use super::data::Loading;
use super::dictionary::Moment;
use super::draft::Edits;
use super::files::SaveEnd;
use super::labels::LabelPreview;
use super::{Ask, Draft, Gravity, Stage, Workbench, learner_summary, start_job};
use atomscope_engine::dataset::DataPlan;
use atomscope_engine::experiment::{Job, JobOutcome, Part};
use atomscope_engine::features::FeatureRecipe;
use atomscope_engine::learner::Kernel;
use atomscope_engine::session::{FoundRecovery, HistoryEntry, UserSettings};
use atomscope_engine::split::SplitPlan;

impl Workbench {
    /// Takes over what the background has done since the last call; called once per frame.
    pub fn poll(&mut self) {
        let now = Instant::now();
        self.notices.tidy(now);
        self.poll_opening();
        self.poll_data();
        self.split.poll();
        if let Some(loaded) = self.data.loaded() {
            let plan = &self.draft.experiment.split;
            self.split.ask(plan, &loaded.dataset, &self.wake);
        }
        self.poll_training();
        self.poll_saving();
        self.poll_copies(now);
        self.poll_dictionary();
        self.poll_asked();
        self.poll_explore();
        self.poll_labels();
        self.poll_columns();
        self.poll_comparison();
        self.poll_admissions();
        self.poll_settings();
    }

    fn poll_opening(&mut self) {
        match self.files.poll_opening() {
            None => {}
            Some(Ok(opened)) => self.take_opened(opened),
            Some(Err(message)) => self.notices.post(Gravity::Error, message),
        }
        if let Some(outcome) = self.recovery_search.as_ref().and_then(Job::take) {
            self.recovery_search = None;
            match outcome {
                JobOutcome::Done(Ok(FoundRecovery::Offer(offer))) => {
                    self.files.set_offer(Some(offer));
                }
                JobOutcome::Done(Ok(FoundRecovery::Broken(error)) | Err(error)) => {
                    self.notices.post(Gravity::Warning, error.to_string());
                }
                JobOutcome::Done(Ok(FoundRecovery::Nothing)) | JobOutcome::Failed(_) => {}
            }
        }
    }

    fn poll_data(&mut self) {
        match self.data.poll() {
            None => {}
            // Whoever loads the data at the second try still wants folds that follow them.
            Some(Loading::Cancelled) => self.after_loading = self.after_loading.at_another_try(),
            Some(Loading::Failed(message)) => {
                self.after_loading = self.after_loading.at_another_try();
                self.notices.post(Gravity::Error, message);
            }
            Some(Loading::Done(loaded)) => {
                self.previewed = None;
                for remark in &loaded.remarks {
                    self.notices.post(Gravity::Warning, remark.clone());
                }
                if let Some(first) = loaded.left_out.first() {
                    let text = format!(
                        "{} recordings or segments were left out, e.g. {}: {}",
                        loaded.left_out.len(),
                        first.source.display(),
                        first.reason
                    );
                    self.notices.post(Gravity::Warning, text);
                }
                let after = std::mem::take(&mut self.after_loading);
                self.draft.experiment.split.keep_folds(&loaded.dataset);
                if after.chooses_split {
                    let seed = self.draft.experiment.seed;
                    self.draft.experiment.split = SplitPlan::default_for(&loaded.dataset, seed);
                    self.draft.experiment.split.keep_folds(&loaded.dataset);
                    self.edits = Edits::begin(&self.draft);
                    self.files.settle(&self.draft);
                }
                if after.trains {
                    self.start(after.paused, false);
                }
            }
        }
    }

    fn poll_training(&mut self) {
        let news = self.training.poll(&self.wake);
        if news.has_moved {
            self.files.run_has_changed();
        }
        if let Some(trouble) = news.trouble {
            self.notices.post(Gravity::Error, trouble);
        }
        if news.has_state {
            self.awaits_state = false;
        }
        if !self.training.is_alive() {
            self.awaits_state = false;
        }
        if news.is_complete {
            self.note_completion();
        }
    }

    fn note_completion(&mut self) {
        let Some(run) = self.training.run() else {
            return;
        };
        let Some(accuracy) = run.summary.as_ref().and_then(|summary| summary.accuracy) else {
            return;
        };
        let what = format!(
            "trained {}: {:.1} % over {} folds",
            learner_summary(run.learner_now()),
            100.0 * accuracy.mean,
            run.n_folds()
        );
        self.notices
            .post(Gravity::Done, format!("Training is complete: {what}"));
        let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let time_s = since_1970.map_or(0, |time| time.as_secs());
        let entry = HistoryEntry { time_s, what };
        self.files.session_mut().history.push(entry);
    }

    fn poll_saving(&mut self) {
        if !self.awaits_state {
            self.files.save_when_asked(
                &self.draft,
                self.training.state(),
                self.view.layout(),
                self.data.loaded(),
                &self.wake,
            );
        }
        match self.files.poll_saving() {
            None => {}
            Some(SaveEnd::Failed(message)) => {
                self.after_saving = None;
                self.notices.post(Gravity::Error, message);
            }
            Some(SaveEnd::ChangedOnDisk) => self.view.ask = Some(Ask::ChangedOnDisk),
            Some(SaveEnd::Done { path, before }) => {
                self.take_new_names(&before);
                self.demo = None;
                let text = format!("Saved: {}", path.display());
                self.notices.post(Gravity::Done, text);
                self.remember(move |settings| settings.remember_session(&path));
                if let Some(action) = self.after_saving.take() {
                    self.perform(action);
                }
            }
        }
    }

    /// Data may be called otherwise after a save in another place; everything here follows.
    fn take_new_names(&mut self, before: &Draft) {
        let session = self.files.session();
        let renamed = &session.experiment.data;
        if *renamed != before.experiment.data
            && self.draft.experiment.data == before.experiment.data
        {
            self.draft.experiment.data = renamed.clone();
            if self.draft.recordings == before.recordings {
                self.draft.recordings.clone_from(&session.recordings);
            }
            self.data.rename(renamed);
            if let Some(run) = &session.run {
                self.training.take_renamed(run);
            }
            self.edits = Edits::begin(&self.draft);
        }
    }

    fn poll_copies(&mut self, now: Instant) {
        if let Some(message) = self.files.poll_copy() {
            self.notices.post(Gravity::Warning, message);
        }
        let Some(folders) = self.folders.clone() else {
            return;
        };
        let is_worth_it = self.training.is_alive() && self.demo.is_none();
        if is_worth_it && !self.files.wants_copy && self.files.copy_is_due(now) {
            self.files.wants_copy = true;
            self.ask_for_state();
        }
        if self.files.wants_copy && !self.awaits_state {
            self.files.wants_copy = false;
            let run = self.training.state();
            self.files
                .copy(&self.draft, run, self.view.layout(), folders, &self.wake);
        }
    }

    fn poll_dictionary(&mut self) {
        self.dictionary.poll();
        let Some((moment, kernel)) = self.moment() else {
            return;
        };
        let class = self.shown_class();
        let loaded = self.data.loaded().map(|loaded| &loaded.dataset);
        self.dictionary
            .ask(&moment, class, kernel, loaded, &self.wake);
    }

    /// The dictionaries that are looked at.
    fn moment(&self) -> Option<(Moment, Kernel)> {
        let run = self.training.run()?;
        let part = Part::Fold(self.shown_fold()?);
        let live = run.live.as_ref().filter(|live| live.part == part);
        let moment = match (self.view.replay, live) {
            (None, Some(live)) => Moment::Live(live.clone()),
            (replay, _) => Moment::Test(run.part(part)?.test_at(replay)?.clone()),
        };
        Some((moment, run.experiment.learner.kernel))
    }

    fn poll_asked(&mut self) {
        let failures = [
            self.inspection.poll(),
            self.look.poll(),
            self.width.poll(),
            self.exporting.poll(),
        ];
        for message in failures.into_iter().flatten() {
            self.notices.post(Gravity::Error, message);
        }
        self.follow_recipe();
        self.follow_sample();
        if let Some(path) = self.exporting.shown.take() {
            let text = format!("Written: {}", path.display());
            self.notices.post(Gravity::Done, text);
        }
        if let Some(width) = self.width.shown.take() {
            self.change(|draft| match &mut draft.experiment.learner.kernel {
                Kernel::Gaussian { width: own } | Kernel::Laplacian { width: own } => *own = width,
                _ => {}
            });
        }
    }

    /// A signal is shown with the recipe of the draft, as soon as that makes sense.
    fn follow_recipe(&mut self) {
        let recipe = &self.draft.experiment.data.recipe;
        let is_sound = |recipe: &FeatureRecipe| recipe.problems().is_empty();
        let shown = self.look.shown.as_ref().filter(|_| self.look.job.is_none());
        if let Some(shown) = shown
            && shown.recipe != *recipe
            && recipe.as_ref().is_none_or(is_sound)
        {
            let (source, window) = (shown.source, shown.window);
            self.look_at_record(source, window);
        }
    }

    /// The Features page shows the signal of its sample by itself; what cannot be read is
    /// asked for once.
    fn follow_sample(&mut self) {
        let sample = self.view.sample;
        let has_signal = self.draft.experiment.data.recipe.is_some();
        let is_due = self.view.page == Stage::Features
            && has_signal
            && self.look.job.is_none()
            && self.data.loaded().is_some()
            && self.previewed != Some(sample);
        if is_due {
            self.previewed = Some(sample);
            self.look_at_sample(sample);
        }
    }

    /// What the rules of the draft give, looked at again whenever they change.
    fn poll_labels(&mut self) {
        if let Some(message) = self.labels.poll() {
            self.labels.shown = Some(LabelPreview::failed(&self.labels_asked, message));
        }
        let DataPlan::Recordings(source) = &self.draft.experiment.data.source else {
            return;
        };
        let is_asked = self.labels_asked.as_ref() == Some(source);
        if is_asked || self.labels.job.is_some() || self.view.page != Stage::Records {
            return;
        }
        self.labels_asked = Some(source.clone());
        let (source, places) = (source.clone(), self.files.places());
        self.labels.job = Some(start_job(&self.wake, "labels", move |progress| {
            LabelPreview::of(source, &places, progress)
        }));
    }

    /// What the file of the draft offers to choose from, looked at when another one is named.
    fn poll_columns(&mut self) {
        // A file that cannot be read is told of when it is loaded.
        drop(self.columns.poll());
        let (paths, mode) = match &self.draft.experiment.data.source {
            DataPlan::Table(table) => (&table.paths, table.mode),
            DataPlan::Arrays(arrays) => (&arrays.paths, arrays.mode),
            _ => return,
        };
        let is_asked = self.columns_asked == *paths;
        if is_asked || self.columns.job.is_some() || self.view.page != Stage::Records {
            return;
        }
        self.columns_asked.clone_from(paths);
        let (paths, places) = (paths.clone(), self.files.places());
        self.columns.job = Some(start_job(&self.wake, "columns", move |_| {
            ColumnPreview::of(&paths, mode, &places)
        }));
    }

    fn poll_settings(&mut self) {
        match self.settings_job.as_ref().and_then(Job::take) {
            None => {}
            Some(JobOutcome::Done(Ok(_))) => self.settings_job = None,
            Some(JobOutcome::Done(Err(error))) => {
                self.settings_job = None;
                self.notices.post(Gravity::Warning, error.to_string());
            }
            Some(JobOutcome::Failed(message)) => {
                self.settings_job = None;
                self.notices.post(Gravity::Warning, message);
            }
        }
        let Some(folders) = self.folders.clone() else {
            return;
        };
        if self.settings_job.is_none() && !self.settings_edits.is_empty() {
            let edits = std::mem::take(&mut self.settings_edits);
            let job = start_job(&self.wake, "settings", move |_| {
                UserSettings::change(&folders, |settings| {
                    edits.into_iter().for_each(|edit| edit(settings));
                })
            });
            self.settings_job = Some(job);
        }
    }
}
