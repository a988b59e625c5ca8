//! The stages from records to scores: their names, states and one-line summaries.

use super::Workbench;
use super::changes::{learner_summary, stale_reason, what_changed};
use super::sweep_results::SweepResults;
use atomscope_engine::dataset::{DataPlan, Layout};
use atomscope_engine::experiment::{Part, Status};
use atomscope_engine::records::counted;
use atomscope_engine::split::SplitPlan;
use atomscope_engine::split::audit::Severity;

/// A stage of the work, and the page that shows it; the last three look at recordings, runs and streams for themselves.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
pub enum Stage {
    /// What is loaded.
    Records,
    /// How records become samples.
    Features,
    /// Which samples are used for training and which for testing.
    Split,
    /// The learner and its settings.
    Learner,
    /// Training, watched.
    #[default]
    Train,
    /// Scores.
    Evaluate,
    /// Recordings looked at for themselves.
    Explore,
    /// Runs beside each other.
    Compare,
    /// A stream, judged as it comes.
    Live,
}

impl Stage {
    /// All stages in their order.
    pub const ALL: [Self; 9] = [
        Self::Records,
        Self::Features,
        Self::Split,
        Self::Learner,
        Self::Train,
        Self::Evaluate,
        Self::Explore,
        Self::Compare,
        Self::Live,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Records => "Records",
            Self::Features => "Features",
            Self::Split => "Split",
            Self::Learner => "Learner",
            Self::Train => "Train",
            Self::Evaluate => "Evaluate",
            Self::Explore => "Explore",
            Self::Compare => "Compare",
            Self::Live => "Live",
        }
    }

    /// What its page is for.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Records => "What is loaded, and which class each record has",
            Self::Features => "How a record becomes samples",
            Self::Split => "Which samples are used for training and which for testing",
            Self::Learner => "How a dictionary is learned",
            Self::Train => "Training, watched",
            Self::Evaluate => "How well the held-out samples were classified",
            Self::Compare => "Runs, sessions and sweeps side by side",
            Self::Live => "A trained model applied to a live stream",
            Self::Explore => "Recordings and fault records by themselves",
        }
    }
}

/// How a stage stands.
#[derive(Clone, Debug, PartialEq)]
pub enum StageState {
    /// Nothing there yet.
    Empty,
    /// In order.
    Ready,
    /// Something before it changed: the reason.
    Stale(String),
    /// At work.
    Running,
    /// It cannot go on like this: the reason.
    Wrong(String),
}

impl StageState {
    /// In one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Ready => "ready",
            Self::Stale(_) => "stale",
            Self::Running => "running",
            Self::Wrong(_) => "wrong",
        }
    }

    /// Why, where there is a reason.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Stale(reason) | Self::Wrong(reason) => Some(reason),
            Self::Empty | Self::Ready | Self::Running => None,
        }
    }
}

/// State and summary of a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct StageStatus {
    /// How it stands.
    pub state: StageState,
    /// One line on what it holds.
    pub summary: String,
}

impl StageStatus {
    fn new(state: StageState, summary: impl Into<String>) -> Self {
        Self {
            state,
            summary: summary.into(),
        }
    }
}

impl Workbench {
    /// State and summary of a stage.
    pub fn status(&self, stage: Stage) -> StageStatus {
        match stage {
            Stage::Records => self.records_status(),
            Stage::Features => self.features_status(),
            Stage::Split => self.split_status(),
            Stage::Learner => self.learner_status(),
            Stage::Train => self.train_status(),
            Stage::Evaluate => self.evaluate_status(),
            Stage::Explore => self.explore_status(),
            Stage::Compare => self.compare_status(),
            Stage::Live => self.live_status(),
        }
    }

    fn compare_status(&self) -> StageStatus {
        let comparison = self.comparison();
        if let Some(share) = comparison.training_share() {
            let text = format!("training, {:.0} %", share * 100.0);
            return StageStatus::new(StageState::Running, text);
        }
        if let Some(share) = comparison.sweep().share() {
            let text = format!("sweeping, {:.0} %", share * 100.0);
            return StageStatus::new(StageState::Running, text);
        }
        let swept = comparison.sweep().results();
        match comparison.compared().len() {
            0 if swept.is_some_and(|results| !results.table.rows.is_empty()) => {
                let text = swept.map_or(String::new(), SweepResults::counted);
                StageStatus::new(StageState::Ready, format!("sweep, {text}"))
            }
            0 => StageStatus::new(StageState::Empty, "no runs"),
            n => StageStatus::new(StageState::Ready, counted(n, "run")),
        }
    }

    fn live_status(&self) -> StageStatus {
        let live = self.live();
        match (live.view(), live.is_running(), live.problem()) {
            (Some(view), true, _) => {
                let decided = usize::try_from(view.n_decisions).unwrap_or(usize::MAX);
                let text = counted(decided, "decision");
                StageStatus::new(StageState::Running, format!("live, {text}"))
            }
            (None, true, _) => StageStatus::new(StageState::Running, "opening the stream"),
            (_, false, Some(problem)) => {
                StageStatus::new(StageState::Wrong(problem.to_owned()), "ended with an error")
            }
            (Some(_), false, None) => StageStatus::new(StageState::Ready, "stream ended"),
            (None, false, None) => StageStatus::new(StageState::Empty, "no stream"),
        }
    }

    fn records_status(&self) -> StageStatus {
        if let Some(share) = self.loading_share() {
            let text = format!("loading, {:.0} %", share * 100.0);
            return StageStatus::new(StageState::Running, text);
        }
        if self.document.data.lacks_classes() {
            return StageStatus::new(StageState::Empty, "no classes");
        }
        if let Some(error) = self.document.data.error() {
            return StageStatus::new(StageState::Wrong(error.to_owned()), "cannot be loaded");
        }
        let Some(loaded) = self.document.data.loaded() else {
            return StageStatus::new(StageState::Empty, "nothing loaded");
        };
        let data = &loaded.dataset;
        let n_records = loaded.records.len();
        let summary = match self.document.draft.experiment.data.source {
            DataPlan::Table(_) | DataPlan::Arrays(_) => counted(data.n_samples(), "sample"),
            _ => counted(n_records, "record"),
        };
        let n_classes = counted(data.n_classes(), "class");
        let summary = format!("{summary} · {n_classes}");
        let is_same = loaded.settings.source == self.document.draft.experiment.data.source
            && loaded.settings.class_names == self.document.draft.experiment.data.class_names
            && loaded.settings.by_hand == self.document.draft.experiment.data.by_hand;
        let state = match is_same {
            true => StageState::Ready,
            false => StageState::Stale("the records changed after loading: load again".into()),
        };
        StageStatus::new(state, summary)
    }

    fn features_status(&self) -> StageStatus {
        let Some(loaded) = self.document.data.loaded() else {
            return StageStatus::new(StageState::Empty, "–");
        };
        let dataset = &loaded.dataset;
        let summary = match dataset.layout() {
            Layout::Plain => counted(dataset.n_features(), "feature"),
            Layout::Image {
                n_rows, n_columns, ..
            } => format!("{n_rows} × {n_columns} image"),
            Layout::Waveform {
                n_channels,
                n_points,
            } => format!("{n_channels} × {n_points} waveform"),
            Layout::ChannelBand {
                n_channels: 1,
                n_bands,
            } => format!("1 channel × {n_bands} bands"),
            Layout::ChannelBand {
                n_channels,
                n_bands,
            } => format!("{n_channels} channels × {n_bands} bands"),
        };
        if loaded.settings.recipe != self.document.draft.experiment.data.recipe {
            let reason = "the recipe changed after loading: load again".to_owned();
            return StageStatus::new(StageState::Stale(reason), summary);
        }
        match self.missing_values_problem() {
            Some(problem) => StageStatus::new(StageState::Wrong(problem), summary),
            None => StageStatus::new(StageState::Ready, summary),
        }
    }

    fn split_status(&self) -> StageStatus {
        let summary = split_summary(&self.document.draft.experiment.split);
        if self.document.data.loaded().is_none() {
            return StageStatus::new(StageState::Empty, summary);
        }
        if let Some(error) = self.document.split.error() {
            return StageStatus::new(StageState::Wrong(error.to_owned()), summary);
        }
        let Some(made) = self.document.split.made() else {
            return StageStatus::new(StageState::Running, summary);
        };
        let word = made.audit.verdict().name();
        let summary = format!("{summary} · {word}");
        let state = match made.audit.findings.first() {
            Some(finding) if finding.severity == Severity::Error => {
                StageState::Wrong(finding.text.clone())
            }
            _ => StageState::Ready,
        };
        StageStatus::new(state, summary)
    }

    fn learner_status(&self) -> StageStatus {
        let learner = &self.document.draft.experiment.learner;
        let state = match learner.problems().into_iter().next() {
            Some(problem) => StageState::Wrong(problem.message),
            None => StageState::Ready,
        };
        StageStatus::new(state, learner_summary(learner))
    }

    fn train_status(&self) -> StageStatus {
        if self.document.training.is_starting() {
            return StageStatus::new(StageState::Running, "preparing");
        }
        let Some(run) = self.document.training.run() else {
            return match self.document.training.error() {
                Some(error) => {
                    StageStatus::new(StageState::Wrong(error.to_owned()), "did not start")
                }
                None => StageStatus::new(StageState::Empty, "not trained"),
            };
        };
        let summary = match (&run.status, run.active.first()) {
            (Status::Complete, _) => {
                format!("{} complete", counted(run.n_folds(), "fold"))
            }
            (Status::Running, Some((part @ Part::Fold(fold), _))) if run.is_choosing(*part) => {
                format!("fold {}, choosing settings", fold + 1)
            }
            (Status::Running, Some((Part::Fold(fold), batch))) => format!(
                "fold {} of {}, batch {batch}/{}",
                fold + 1,
                run.n_folds(),
                run.rounds_of(Part::Fold(*fold))
            ),
            (Status::Paused, Some((Part::Fold(fold), batch))) => {
                let n_rounds = run.rounds_of(Part::Fold(*fold));
                format!("paused, fold {}, batch {batch}/{n_rounds}", fold + 1)
            }
            (Status::Running, Some((Part::Final, batch))) => format!("final model, batch {batch}"),
            (Status::Paused, Some((Part::Final, batch))) => {
                format!("paused, final model, batch {batch}")
            }
            _ => format!("{:.0} % trained", 100.0 * run.progress.share()),
        };
        let state = match &run.status {
            Status::Failed(message) => StageState::Wrong(message.clone()),
            Status::Running | Status::Paused | Status::Ending => StageState::Running,
            Status::Complete | Status::Stopped => self.stale_or_ready(),
        };
        let summary = match run.status {
            Status::Stopped => format!("{summary}, stopped"),
            _ => summary,
        };
        StageStatus::new(state, summary)
    }

    fn evaluate_status(&self) -> StageStatus {
        let Some(run) = self.document.training.run() else {
            return StageStatus::new(StageState::Empty, "–");
        };
        let Some(accuracy) = run.summary.as_ref().and_then(|summary| summary.accuracy) else {
            return StageStatus::new(StageState::Empty, "no fold complete yet");
        };
        let n_complete = run
            .summary
            .as_ref()
            .map_or(0, |summary| summary.folds.len());
        let folds = counted(n_complete, "fold");
        let text = format!("{:.1} % over {folds}", 100.0 * accuracy.mean);
        let state = match run.is_alive() {
            true => StageState::Running,
            false => self.stale_or_ready(),
        };
        StageStatus::new(state, text)
    }

    fn explore_status(&self) -> StageStatus {
        if let Some(share) = self.tasks.explore.opening_share() {
            let text = format!("opening, {:.0} %", share * 100.0);
            return StageStatus::new(StageState::Running, text);
        }
        if let Some(opened) = self.tasks.explore.opened() {
            return StageStatus::new(StageState::Ready, opened.short_name());
        }
        match self.n_explorable() {
            0 => StageStatus::new(StageState::Empty, "no recording open"),
            n => {
                let text = counted(n, "recording");
                StageStatus::new(StageState::Ready, format!("{text} to view"))
            }
        }
    }

    fn stale_or_ready(&self) -> StageState {
        match self.stale() {
            Some(reason) => StageState::Stale(reason),
            None => StageState::Ready,
        }
    }

    /// Why the run no longer belongs to the draft; nothing if it does.
    pub fn stale(&self) -> Option<String> {
        let run = self.document.training.run()?;
        let experiment = &self.document.draft.experiment;
        if run.is_of(experiment) {
            return None;
        }
        stale_reason(&what_changed(&run.experiment_now(), experiment))
    }
}

/// A plan in a few words.
pub fn split_summary(plan: &SplitPlan) -> String {
    match plan {
        SplitPlan::KFold { n_folds, .. } => counted(*n_folds, "fold"),
        SplitPlan::GroupedKFold { n_folds, .. } => {
            format!("{} by group", counted(*n_folds, "fold"))
        }
        SplitPlan::LeaveOneGroupOut | SplitPlan::HoldOut(_) | SplitPlan::InTime(_) => {
            plan.in_words()
        }
    }
}
