//! Runs compared: this session's, earlier ones, those of other sessions; the paper.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::background::{Answer, Background, Post};
use super::changes::learner_summary;
use super::draft::ReplacedRun;
use super::event::Event;
use super::notices::Topic;
use super::run_view::RunView;
use super::sweep::{SweepAction, SweepEvent, SweepStage};
use super::{Gravity, LoadedData, TaskError, Workbench};
use atomscope_engine::dataset::{DataSettings, Dataset};
use atomscope_engine::experiment::{
    ComparedRun, Comparison, ComparisonPlan, Entrant, Experiment, JobProgress, KeptBranch,
    PartRecord, TrainedModel, available_threads,
};
use atomscope_engine::export::{comparison_html, write};
use atomscope_engine::learner::LearnerSettings;
use atomscope_engine::paper::Reproduction;
use atomscope_engine::session::{DataPlaces, Session};

/// Earlier runs of the session that are kept.
const MOST_EARLIER: usize = 6;
/// Most seeds of a comparison.
pub const MOST_SEEDS: u16 = 100;

/// What the table of a comparison can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultColumn {
    /// Accuracy at the last test.
    Last,
    /// The highest point of the mean curve.
    Best,
    /// Time of growing.
    Growing,
    /// Time of pruning.
    Pruning,
    /// Time of a round or an iteration.
    Round,
    /// Time of classifying.
    Classifying,
    /// Memory of the model.
    Memory,
}

impl ResultColumn {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 7] = [
        Self::Last,
        Self::Best,
        Self::Growing,
        Self::Pruning,
        Self::Round,
        Self::Classifying,
        Self::Memory,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Last => "Last accuracy",
            Self::Best => "Best accuracy",
            Self::Growing => "Growing",
            Self::Pruning => "Pruning",
            Self::Round => "Round",
            Self::Classifying => "Classifying",
            Self::Memory => "Memory",
        }
    }

    /// What it shows.
    pub fn help(self) -> &'static str {
        match self {
            Self::Last => {
                "Mean accuracy at the last test and its standard deviation over folds and seeds"
            }
            Self::Best => {
                "The highest point of the mean curve; chosen on test samples, so it is optimistic"
            }
            Self::Growing => "Microseconds per mini-batch and dictionary, pruning not counted",
            Self::Pruning => "Microseconds per mini-batch and dictionary",
            Self::Round => {
                "Microseconds of a mini-batch of every class, or of an iteration of a batch learner"
            }
            Self::Classifying => "Microseconds to classify one sample",
            Self::Memory => "Memory of what is needed to classify",
        }
    }
}

/// What is asked of the comparison.
#[derive(Clone, Debug)]
pub enum CompareAction {
    /// Opens a session to compare with.
    Add(PathBuf),
    /// Takes a contender in or leaves it out.
    Tick(usize),
    /// Puts a contender away.
    Remove(usize),
    /// Shows or hides a column.
    ToggleColumn(ResultColumn),
    /// How many seeds.
    SetSeeds(u16),
    /// Trains all ticked contenders on identical folds and seeds.
    Train,
    /// Stops that, or repeating the paper.
    Cancel,
    /// Writes the comparison as a report.
    SaveReport(PathBuf),
    /// Shows runs or the sweep.
    Show(CompareTab),
    /// Something about the sweep.
    Sweep(SweepAction),
    /// Repeats the paper's comparison and writes the report to a folder.
    Reproduce(PathBuf),
}

/// What the page shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompareTab {
    /// Runs beside each other.
    #[default]
    Runs,
    /// A sweep over settings.
    Sweep,
}

/// Somebody who can be compared.
#[derive(Clone, Debug)]
pub struct Contender {
    /// What it is called.
    pub name: String,
    /// Whether it takes part.
    pub is_ticked: bool,
    /// What it has come to; nothing yet of a session that was not trained.
    pub run: Option<Arc<ComparedRun>>,
    experiment: Experiment,
    places: DataPlaces,
    origin: ContenderOrigin,
}

/// Where a contender comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ContenderOrigin {
    /// The run of the Train page.
    ThisRun,
    /// One that was there before.
    EarlierRun,
    /// A session that was opened to compare with.
    Session(PathBuf),
    /// Another future of a run: it is not trained from the beginning.
    Branch,
}

/// The comparison.
#[derive(Default)]
pub struct ComparisonStage {
    contenders: Vec<Contender>,
    hidden: Vec<ResultColumn>,
    n_seeds: u16,
    /// The run of the Train page: its number and how many folds are complete.
    measuring: Background<(usize, usize), ComparedRun>,
    adding: Background<(), Contender>,
    training: Background<(), Comparison>,
    saving: Background<(), PathBuf>,
    tab: CompareTab,
    pub(super) sweep: SweepStage,
    reproducing: Background<(), PathBuf>,
}

/// What the background tells about the comparison.
pub(super) enum CompareEvent {
    /// The run of the Train page is measured.
    Measured(Answer<ComparedRun>),
    /// A session is read as a contender.
    Added(Answer<Contender>),
    /// All contenders are trained.
    Trained(Answer<Comparison>),
    /// The report is written.
    ReportSaved(Answer<PathBuf>),
    /// The paper is repeated.
    Reproduced(Answer<PathBuf>),
    /// Something about the sweep.
    Sweep(SweepEvent),
}

/// What a run of the session is called.
fn run_name(number: usize, learner: &LearnerSettings) -> String {
    format!("run {number}: {}", learner_summary(learner))
}

impl ComparisonStage {
    /// All contenders.
    pub fn contenders(&self) -> &[Contender] {
        &self.contenders
    }

    /// Those that take part and have results.
    pub fn compared(&self) -> Vec<&Arc<ComparedRun>> {
        let ticked = self.contenders.iter().filter(|c| c.is_ticked);
        ticked
            .filter_map(|contender| contender.run.as_ref())
            .collect()
    }

    /// Whether the table shows a column.
    pub fn shows(&self, column: ResultColumn) -> bool {
        !self.hidden.contains(&column)
    }

    /// The ticked sessions by their files, `saved` that of the window; of somebody without a file why there is none.
    pub(super) fn ticked_files<'a>(
        &'a self,
        saved: &'a Path,
    ) -> Result<Vec<&'a Path>, &'static str> {
        let ticked = self.contenders.iter().filter(|c| c.is_ticked);
        let files = ticked.map(|contender| match &contender.origin {
            ContenderOrigin::ThisRun => Ok(saved),
            ContenderOrigin::Session(path) => Ok(path.as_path()),
            ContenderOrigin::EarlierRun => Err(
                "An earlier run is ticked, which has no file to name: untick it, or save its settings as a session and add that",
            ),
            ContenderOrigin::Branch => Err(
                "A branch is ticked, which continues a run and is not trained from the beginning: untick it",
            ),
        });
        files.collect()
    }

    /// The folder that the paper's comparison was repeated in last.
    pub(super) fn reproduced(&self) -> Option<&Path> {
        self.reproducing.shown()?.parent()
    }

    /// How many seeds are trained.
    pub fn n_seeds(&self) -> u16 {
        self.n_seeds.max(1)
    }

    /// The share done of training the contenders.
    pub fn training_share(&self) -> Option<f64> {
        self.training.share()
    }

    /// The share done of repeating the paper.
    pub fn reproducing_share(&self) -> Option<f64> {
        self.reproducing.share()
    }

    /// What the page shows.
    pub fn tab(&self) -> CompareTab {
        self.tab
    }

    /// The sweep.
    pub fn sweep(&self) -> &SweepStage {
        &self.sweep
    }

    /// Whether something that takes long shows its progress.
    pub(super) fn is_under_way(&self) -> bool {
        self.training.is_busy() || self.reproducing.is_busy() || self.sweep.share().is_some()
    }

    /// Whether something is being read, measured or written, training apart.
    pub(super) fn is_busy(&self) -> bool {
        self.measuring.is_busy()
            || self.adding.is_busy()
            || self.saving.is_busy()
            || self.sweep.is_busy()
    }

    /// The run of the Train page takes part as soon as a fold is complete.
    fn follow(&mut self, run: Option<&RunView>, number: usize, post: &Post) {
        if self
            .measuring
            .wanted()
            .is_some_and(|(known, _)| *known != number)
        {
            self.keep_earlier();
        }
        let Some(run) = run else {
            return;
        };
        let parts = run
            .folds()
            .filter_map(|(_, part)| part.record.clone().zip(part.model.clone()));
        let parts: Vec<(Arc<PartRecord>, Arc<TrainedModel>)> = parts.collect();
        let wanted = (number, parts.len());
        if parts.is_empty() || self.measuring.is_busy() || self.measuring.is_wanted(&wanted) {
            return;
        }
        let name = run_name(number, run.learner_now());
        let (experiment, facts) = (run.experiment_now(), run.facts.clone());
        let test_folds = run.test_folds.clone();
        let wrap = |answer| Event::Compare(CompareEvent::Measured(answer));
        self.measuring
            .start(wanted, (post, "measuring", wrap), move |_| {
                let parts = parts
                    .iter()
                    .map(|(record, model)| (record.as_ref(), model.as_ref()));
                Ok(ComparedRun::of_parts(
                    name,
                    &experiment,
                    &facts,
                    &test_folds,
                    parts,
                ))
            });
    }

    fn take_measured(&mut self, measured: Arc<ComparedRun>, places: DataPlaces) {
        let (name, experiment) = (measured.name.clone(), measured.experiment.clone());
        let run = Some(measured);
        // A run that was brought back is no earlier one any more.
        self.contenders
            .retain(|c| c.origin != ContenderOrigin::EarlierRun || c.name != name);
        if let Some(current) = self
            .contenders
            .iter_mut()
            .find(|c| c.origin == ContenderOrigin::ThisRun)
        {
            (current.name, current.experiment, current.run) = (name, experiment, run);
            return;
        }
        let contender = Contender {
            name,
            is_ticked: true,
            run,
            experiment,
            places,
            origin: ContenderOrigin::ThisRun,
        };
        self.contenders.insert(0, contender);
    }

    /// The saved run of a session takes part beside a younger one that is shown.
    pub(super) fn add_earlier(&mut self, replaced: &ReplacedRun, places: DataPlaces) {
        let experiment = replaced.state.settings_now();
        let name = run_name(replaced.number, &experiment.learner);
        let run = ComparedRun::of_state(name.clone(), &experiment, &replaced.state);
        self.contenders.insert(
            0,
            Contender {
                name,
                is_ticked: true,
                run: Some(Arc::new(run)),
                experiment,
                places,
                origin: ContenderOrigin::EarlierRun,
            },
        );
    }

    /// Another future of the run takes part.
    pub(super) fn add_branch(&mut self, run: ComparedRun, places: DataPlaces) {
        self.contenders.retain(|known| known.name != run.name);
        self.contenders.push(Contender {
            name: run.name.clone(),
            is_ticked: true,
            experiment: run.experiment.clone(),
            run: Some(Arc::new(run)),
            places,
            origin: ContenderOrigin::Branch,
        });
    }

    /// Shows the runs, where a sweep may have been shown before.
    pub(super) fn show_runs(&mut self) {
        self.tab = CompareTab::Runs;
    }

    /// Shows the branches of a session that was opened, and no others.
    pub(super) fn show_branches(&mut self, branches: &[Arc<KeptBranch>], places: &DataPlaces) {
        self.contenders
            .retain(|known| known.origin != ContenderOrigin::Branch);
        for branch in branches {
            let run = ComparedRun::of_state(
                branch.name.clone(),
                &branch.state.settings_now(),
                &branch.state,
            );
            self.add_branch(run, places.clone());
        }
    }

    /// A new run has begun: what was this run is an earlier one.
    fn keep_earlier(&mut self) {
        self.measuring = Background::default();
        let is_earlier = |c: &Contender| c.origin == ContenderOrigin::EarlierRun;
        for contender in &mut self.contenders {
            if contender.origin == ContenderOrigin::ThisRun {
                contender.origin = ContenderOrigin::EarlierRun;
            }
        }
        while self.contenders.iter().filter(|c| is_earlier(c)).count() > MOST_EARLIER {
            if let Some(oldest) = self.contenders.iter().rposition(is_earlier) {
                self.contenders.remove(oldest);
            }
        }
    }

    /// Takes over what was trained; gives back what to tell.
    fn take_comparison(&mut self, comparison: Comparison) -> Vec<(Gravity, String)> {
        let remarks = comparison.remarks.into_iter();
        let failures = comparison.failures.into_iter();
        let told = failures.map(|failure| (Gravity::Error, failure));
        let told = told
            .chain(remarks.map(|remark| (Gravity::Note, remark)))
            .collect();
        for row in comparison.rows {
            let is_same = |contender: &&mut Contender| contender.name == row.name;
            if let Some(contender) = self.contenders.iter_mut().find(is_same)
                && !row.outcomes.is_empty()
            {
                contender.run = Some(Arc::new(row));
            }
        }
        told
    }
}

impl Workbench {
    /// The comparison.
    pub fn comparison(&self) -> &ComparisonStage {
        &self.tasks.comparison
    }

    /// The run of the Train page takes part, and the sweep fits the session.
    pub(super) fn follow_comparison(&mut self) {
        let training = &self.document.training;
        let (run, number) = (training.run(), training.run_number());
        self.tasks.comparison.follow(run, number, &self.tasks.post);
        self.follow_sweep();
    }

    pub(super) fn handle_compare(&mut self, event: CompareEvent) {
        let stage = &mut self.tasks.comparison;
        match event {
            CompareEvent::Measured(answer) => {
                let taken = stage.measuring.take(answer);
                if let Some(measured) = self.tell_failure(Topic::Comparison, taken) {
                    let places = self.document.places();
                    self.tasks.comparison.take_measured(measured, places);
                }
            }
            CompareEvent::Added(answer) => match stage.adding.take_once(answer) {
                Some(Ok(contender)) => stage.contenders.push(contender),
                Some(Err(error)) => self.tell_comparison(Gravity::Error, error.to_string()),
                None => {}
            },
            CompareEvent::Trained(answer) => match stage.training.take_once(answer) {
                Some(Ok(comparison)) => {
                    for (gravity, text) in stage.take_comparison(comparison) {
                        self.tell_comparison(gravity, text);
                    }
                }
                Some(Err(error)) => self.tell_comparison(Gravity::Error, error.to_string()),
                None => {}
            },
            CompareEvent::ReportSaved(answer) => {
                let taken = stage.saving.take(answer);
                self.tell_written(taken);
            }
            CompareEvent::Reproduced(answer) => {
                let taken = stage.reproducing.take(answer);
                self.tell_written(taken);
            }
            CompareEvent::Sweep(event) => self.handle_sweep(event),
        }
    }

    pub(super) fn tell_comparison(&mut self, gravity: Gravity, text: String) {
        self.notices.post(Topic::Comparison, gravity, text);
    }

    pub(super) fn apply_compare(&mut self, action: CompareAction) {
        self.selection.ask = None;
        let post = &self.tasks.post;
        let stage = &mut self.tasks.comparison;
        match action {
            CompareAction::Add(path) => {
                let taken: Vec<String> = stage.contenders.iter().map(|c| c.name.clone()).collect();
                let wrap = |answer| Event::Compare(CompareEvent::Added(answer));
                stage.adding.start((), (post, "opening", wrap), move |_| {
                    contender(&path, &taken)
                });
            }
            CompareAction::Tick(place) => {
                if let Some(contender) = stage.contenders.get_mut(place) {
                    contender.is_ticked = !contender.is_ticked;
                }
            }
            CompareAction::Remove(place) => {
                if place < stage.contenders.len() {
                    let removed = stage.contenders.remove(place);
                    if removed.origin == ContenderOrigin::Branch {
                        self.document.drop_branch(&removed.name);
                    }
                }
            }
            CompareAction::ToggleColumn(column) => {
                if stage.shows(column) {
                    stage.hidden.push(column);
                } else {
                    stage.hidden.retain(|hidden| *hidden != column);
                }
            }
            CompareAction::SetSeeds(n_seeds) => stage.n_seeds = n_seeds.clamp(1, MOST_SEEDS),
            CompareAction::Train => self.train_contenders(),
            CompareAction::Cancel => {
                stage.training.cancel();
                stage.reproducing.cancel();
            }
            CompareAction::SaveReport(path) => self.save_comparison(path),
            CompareAction::Show(tab) => stage.tab = tab,
            CompareAction::Sweep(action) => self.apply_sweep(action),
            CompareAction::Reproduce(folder) => self.reproduce(folder),
        }
    }

    fn train_contenders(&mut self) {
        let stage = &mut self.tasks.comparison;
        let ticked: Vec<Contender> = stage
            .contenders
            .iter()
            .filter(|c| c.is_ticked && c.origin != ContenderOrigin::Branch)
            .cloned()
            .collect();
        let Some(first) = ticked.first() else {
            return;
        };
        let first_seed = first.experiment.seed;
        let seeds: Vec<u64> = (0..u64::from(stage.n_seeds()))
            .map(|n| first_seed.wrapping_add(n))
            .collect();
        let loaded = self.document.data.loaded().cloned();
        self.notices.forget(Topic::Comparison);
        let wrap = |answer| Event::Compare(CompareEvent::Trained(answer));
        let on = (&self.tasks.post, "comparing", wrap as _);
        stage.training.start((), on, move |progress| {
            compare(ticked, &seeds, loaded.as_deref(), progress)
        });
    }

    fn save_comparison(&mut self, path: PathBuf) {
        let rows: Vec<ComparedRun> = self
            .tasks
            .comparison
            .compared()
            .into_iter()
            .map(|run| ComparedRun::clone(run))
            .collect();
        let name = self.name();
        let wrap = |answer| Event::Compare(CompareEvent::ReportSaved(answer));
        let on = (&self.tasks.post, "exporting", wrap as _);
        self.tasks.comparison.saving.start((), on, move |_| {
            let comparison = comparison_of(rows)?;
            let page = comparison_html(&comparison, &format!("Comparison: {name}"));
            write(&path, page.as_bytes())?;
            Ok(path)
        });
    }

    fn reproduce(&mut self, folder: PathBuf) {
        let data = self.document.places().folders;
        let wrap = |answer| Event::Compare(CompareEvent::Reproduced(answer));
        let on = (&self.tasks.post, "reproducing", wrap as _);
        let reproducing = &mut self.tasks.comparison.reproducing;
        reproducing.start((), on, move |progress| {
            let reproduction = Reproduction {
                data,
                is_quick: false,
                n_threads: available_threads(),
            };
            let report = reproduction.run(&mut |share, _| progress.go_on(share))?;
            Reproduction::write(&report, &folder)?;
            Ok(folder.join("report.html"))
        });
    }
}

/// A session as a contender, with the results of its run if it has one.
fn contender(path: &Path, taken: &[String]) -> Result<Contender, TaskError> {
    let session = Session::load(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let numbered = (2..).map(|number| format!("{stem} {number}"));
    let name = std::iter::once(stem.to_string())
        .chain(numbered)
        .find(|name| !taken.contains(name))
        .unwrap_or_default();
    let run = session.run.as_deref();
    let run = run.map(|state| ComparedRun::of_state(name.clone(), &state.experiment, state));
    Ok(Contender {
        name,
        is_ticked: true,
        run: run.filter(|run| !run.outcomes.is_empty()).map(Arc::new),
        experiment: session.experiment,
        places: DataPlaces::new(Some(path), &[]).knowing(&session.references),
        origin: ContenderOrigin::Session(path.to_owned()),
    })
}

/// Reads what is not loaded and trains all.
fn compare(
    contenders: Vec<Contender>,
    seeds: &[u64],
    loaded: Option<&LoadedData>,
    progress: &JobProgress,
) -> Result<Comparison, TaskError> {
    let mut read: Vec<(DataSettings, Arc<Dataset>)> = Vec::new();
    read.extend(loaded.map(|loaded| (loaded.settings.clone(), loaded.dataset.clone())));
    let mut entrants = Vec::with_capacity(contenders.len());
    for contender in contenders {
        let Contender {
            name,
            experiment,
            places,
            ..
        } = contender;
        let dataset = read_data(&experiment.data, &places, &mut read, progress)
            .map_err(|error| error.of(&name))?;
        entrants.push(Entrant {
            name,
            experiment,
            dataset,
        });
    }
    let plan = ComparisonPlan::new(entrants, seeds)?;
    Ok(plan.run(available_threads(), &mut |share| progress.go_on(share)))
}

/// The data of the settings: those that were read already, or read now and added to them.
pub(super) fn read_data(
    settings: &DataSettings,
    places: &DataPlaces,
    read: &mut Vec<(DataSettings, Arc<Dataset>)>,
    progress: &JobProgress,
) -> Result<Arc<Dataset>, TaskError> {
    if let Some((_, dataset)) = read.iter().find(|(known, _)| known == settings) {
        return Ok(dataset.clone());
    }
    let locate = |named: &Path| places.locate(named);
    let built = settings.load(&locate, &mut |_| progress.go_on(0.0));
    let dataset = Arc::new(built?.dataset);
    read.push((settings.clone(), dataset.clone()));
    Ok(dataset)
}

/// Runs that are shown together as one comparison, if all can be paired with the first.
fn comparison_of(rows: Vec<ComparedRun>) -> Result<Comparison, TaskError> {
    let first = rows
        .first()
        .ok_or_else(|| TaskError::refused("no run with results is ticked"))?;
    for row in &rows {
        if let Some(difference) = first.pairing_difference(row) {
            return Err(TaskError::Refused(format!(
                "{} cannot be paired with {}: {difference}",
                row.name, first.name
            )));
        }
    }
    let mut seeds: Vec<u64> = first.outcomes.iter().map(|outcome| outcome.seed).collect();
    seeds.dedup();
    let n_folds = first
        .test_folds
        .iter()
        .flatten()
        .max()
        .map_or(0, |last| last + 1);
    let is_complete = rows
        .iter()
        .all(|row| row.outcomes.len() == seeds.len() * n_folds);
    Ok(Comparison {
        n_folds,
        seeds,
        rows,
        remarks: Vec::new(),
        failures: Vec::new(),
        is_complete,
    })
}
