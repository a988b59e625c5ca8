//! Sessions begun, opened, recovered and saved.

use std::path::PathBuf;

use super::action::Demo;
use super::draft::Edits;
use super::explore::{ExploreAction, ExploreStage};
use super::files::{Opened, SaveTo, SessionStage};
use super::view::{Ask, View};
use super::{AfterLoading, Asked, DEMO_ROUNDS_PER_S, Draft, Gravity, Stage, Workbench};
use atomscope_engine::dataset::{DataSettings, Preparation, Scaling};
use atomscope_engine::experiment::{Command, Experiment};
use atomscope_engine::learner::{LearnerSettings, Start};
use atomscope_engine::session::{FoundRecovery, Session, UserSettings};
use atomscope_engine::simulate::eeg::EegSettings;

impl Workbench {
    /// Everything anew, with a draft.
    pub(super) fn begin_session(&mut self, draft: Draft) {
        let session = Session::new(draft.experiment.clone());
        self.take_session(session, draft);
    }

    pub(super) fn take_session(&mut self, session: Session, draft: Draft) {
        self.files.close();
        self.files = SessionStage::of(session, &draft);
        self.edits = Edits::begin(&draft);
        self.draft = draft;
        self.data.clear();
        self.split.clear();
        self.training.forget();
        if self.demo.is_some() {
            self.training.limit_speed(None);
        }
        self.dictionary.clear();
        self.inspection = Asked::default();
        self.look = Asked::default();
        self.previewed = None;
        self.explore = ExploreStage::default();
        self.labels = Asked::default();
        self.labels_asked = None;
        self.columns = Asked::default();
        self.columns_asked.clear();
        self.demo = None;
        self.after_loading = AfterLoading::default();
        self.view = View {
            page: self.view.page,
            hidden: std::mem::take(&mut self.view.hidden),
            arrangement: std::mem::take(&mut self.view.arrangement),
            ..View::default()
        };
    }

    pub(super) fn open_demo(&mut self, demo: Demo) {
        let experiment = match demo {
            Demo::FeederFaults => Experiment::default(),
            Demo::Eeg => Experiment {
                data: DataSettings::simulated_eeg(EegSettings {
                    effect: 1.2,
                    ..EegSettings::default()
                }),
                preparation: Preparation {
                    scaling: Scaling::ZScore,
                    ..Preparation::default()
                },
                ..Experiment::default()
            },
        };
        self.begin_session(Draft::of(experiment));
        // Slow enough to be watched.
        self.training.limit_speed(Some(DEMO_ROUNDS_PER_S));
        self.demo = Some(demo);
        self.shows_banner = true;
        self.load_data(AfterLoading {
            chooses_split: demo == Demo::Eeg,
            trains: true,
            paused: false,
        });
    }

    pub(super) fn open(&mut self, path: PathBuf) {
        self.view.ask = None;
        self.files.open(path, self.folders.clone(), &self.wake);
    }

    pub(super) fn take_opened(&mut self, opened: Opened) {
        match opened {
            Opened::Cancelled => {}
            Opened::Recording(path, reason) => {
                self.notices
                    .post(Gravity::Note, format!("Opened to be looked at: {reason}"));
                self.explore_deed(ExploreAction::OpenFile(path));
            }
            Opened::Data(data) => {
                let mut experiment = Experiment {
                    data: *data,
                    ..self.draft.experiment.clone()
                };
                // Given samples are those of other data.
                if matches!(experiment.learner.start, Start::Given(_)) {
                    experiment.learner.start = LearnerSettings::default().start;
                }
                self.begin_session(Draft::of(experiment));
                self.view.page = Stage::Records;
                self.load_data(AfterLoading {
                    chooses_split: true,
                    ..AfterLoading::default()
                });
            }
            Opened::Session(session, found) => {
                self.show_session(*session);
                match found {
                    FoundRecovery::Nothing => {}
                    FoundRecovery::Offer(offer) => self.files.set_offer(Some(offer)),
                    FoundRecovery::Broken(error) => {
                        self.notices.post(Gravity::Warning, error.to_string());
                    }
                }
            }
        }
    }

    /// Shows a session with its run, and loads its data.
    pub(super) fn show_session(&mut self, session: Session) {
        let draft = Draft {
            experiment: session.settings_to_go_on(),
            title: session.title.clone(),
            notes: session.notes.clone(),
            recordings: session.recordings.clone(),
        };
        if let Some(damage) = &session.damage {
            self.notices.post(Gravity::Warning, damage.to_string());
        }
        let (run, layout) = (session.run.clone(), session.layout.clone());
        if let Some(path) = session.path() {
            let path = path.to_owned();
            self.remember(move |settings| settings.remember_session(&path));
        }
        self.take_session(session, draft);
        if let Some(layout) = layout {
            self.view.take_layout(&layout);
        }
        self.training.show_saved(run);
        self.load_data(AfterLoading::default());
    }

    pub(super) fn recover(&mut self) {
        if let Some(offer) = self.files.take_offer() {
            let (session, recovery) = offer.accept();
            self.show_session(session);
            self.files.hold(recovery);
        }
    }

    pub(super) fn decline_recovery(&mut self) {
        if let Some(offer) = self.files.take_offer()
            && let Err(error) = offer.decline()
        {
            self.notices.post(Gravity::Warning, error.to_string());
        }
    }

    /// Saves, when the state of the run has been reported.
    pub(super) fn save(&mut self, to: SaveTo) {
        self.view.ask = None;
        self.edits.settle(&self.draft);
        if to == SaveTo::SamePlace && self.files.path().is_none() {
            self.view.ask = Some(Ask::SaveAs);
            return;
        }
        let to = match to {
            SaveTo::Other(path) if path.extension().is_none() => {
                SaveTo::Other(path.with_extension("ron"))
            }
            to => to,
        };
        self.files.save_to = Some(to);
        self.ask_for_state();
    }

    pub(super) fn ask_for_state(&mut self) {
        if self.training.is_alive() {
            self.awaits_state = true;
            self.training.command(Command::ReportState);
        }
    }

    /// Changes what is remembered about the user, here at once and on disk in the background.
    pub(super) fn remember(
        &mut self,
        edit: impl FnOnce(&mut UserSettings) + Clone + Send + 'static,
    ) {
        edit.clone()(&mut self.settings);
        if self.folders.is_some() {
            self.settings_edits.push(Box::new(edit));
        }
    }
}
