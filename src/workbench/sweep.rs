//! A sweep from the window: what is tried, its run in the background, and its results.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::background::{Answer, Background, Post};
use super::compare::{CompareEvent, CompareTab};
use super::event::Event;
use super::sweep_cluster::{ClusterAction, ClusterEvent, ClusterStage};
use super::sweep_results::{SweepColumn, SweepResults};
use super::{Gravity, LoadedData, Stage, TaskError, Workbench};
use atomscope_engine::cluster::WorkFolder;
use atomscope_engine::dataset::{DataFile, DataSettings, Dataset};
use atomscope_engine::experiment::{
    Axis, Experiment, Halving, JobProgress, NamedSetting, PointResult, Search, Sweep, SweepError,
    SweepPlan, SweepTable, Values, available_threads, named_settings, with_settings,
};
use atomscope_engine::export::{SweepResult, sweep_provenance, write_all};
use atomscope_engine::session::{
    DataPlaces, SessionError, SweepNews, SweepStore, WorkIdentity, describe_sweep, described_sweep,
    read_sweep,
};

/// Most inner folds of a sweep.
pub const MOST_INNER_FOLDS: usize = 50;
/// Most values of a setting that are tried on the session while they are typed; the sweep itself
/// names any that is wrong.
const MOST_CHECKED: usize = 50;
/// After finished points were put in order the next wait this many times as long as that took:
/// with very many points the window would do little else.
const PAUSE: u32 = 20;

/// What is asked of the sweep.
#[derive(Clone, Debug)]
pub enum SweepAction {
    /// Settings to try.
    Edit(SweepForm),
    /// Where its points are kept.
    ChooseFolder(PathBuf),
    /// Begins, or resumes what the folder holds.
    Start,
    /// Stops; finished points are kept.
    Stop,
    /// Looks at the results in a folder.
    Open(PathBuf),
    /// Puts them away.
    Close,
    /// Orders the points by a column; again, the other way round.
    SortBy(SweepColumn),
    /// Draws the map over two settings, by their places: down, across.
    MapOver(usize, usize),
    /// Draws the curve over a setting, by its place.
    CurveOver(usize),
    /// Puts the settings of a point, by its number, into the session.
    Use(usize),
    /// Asks something of the cluster.
    Cluster(ClusterAction),
}

/// A sweep as it is filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepForm {
    /// Whether points are drawn at random; otherwise every combination is tried.
    pub is_random: bool,
    /// How many are drawn.
    pub n_points: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// Folds into which the training samples of every fold are dealt.
    pub inner_folds: usize,
    /// How points are stopped early, if they are.
    pub halving: Option<Halving>,
    /// Settings to try.
    pub axes: Vec<AxisForm>,
    /// Where finished points are kept.
    pub folder: Option<PathBuf>,
}

/// A setting with the values to be tried, as they are typed.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisForm {
    /// Its name.
    pub setting: String,
    /// Its values.
    pub values: String,
}

impl Default for SweepForm {
    fn default() -> Self {
        Self {
            is_random: false,
            n_points: 30,
            seed: 1,
            inner_folds: Sweep::USUAL_INNER_FOLDS,
            halving: None,
            axes: Vec::new(),
            folder: None,
        }
    }
}

impl SweepForm {
    /// The form of a sweep that was written down.
    fn of(sweep: &Sweep, folder: &Path) -> Self {
        let axes = sweep.search.axes().iter().map(|axis| AxisForm {
            setting: axis.setting.clone(),
            values: axis.values.to_string(),
        });
        let mut form = Self {
            inner_folds: sweep.inner_folds,
            halving: sweep.halving,
            axes: axes.collect(),
            folder: Some(folder.to_owned()),
            ..Self::default()
        };
        if let Search::Random { n_points, seed, .. } = sweep.search {
            (form.is_random, form.n_points, form.seed) = (true, n_points, seed);
        }
        form
    }

    /// Settings to try, or what is wrong with the first axis that cannot be read.
    fn sweep(&self) -> Result<Sweep, TaskError> {
        let mut axes = Vec::with_capacity(self.axes.len());
        for axis in &self.axes {
            let values = axis.values.parse();
            let values =
                values.map_err(|error: SweepError| TaskError::from(error).of(&axis.setting))?;
            axes.push(Axis {
                setting: axis.setting.clone(),
                values,
            });
        }
        let search = match self.is_random {
            false => Search::Grid(axes),
            true => Search::Random {
                n_points: self.n_points,
                seed: self.seed,
                axes,
            },
        };
        Ok(Sweep {
            search,
            inner_folds: self.inner_folds,
            halving: self.halving,
        })
    }
}

impl AxisForm {
    /// What is wrong with its values beside the other settings of the session.
    fn problem(&self, experiment: &Experiment) -> Option<String> {
        let values: Values = match self.values.parse() {
            Ok(values) => values,
            Err(problem) => return Some(problem.to_string()),
        };
        let known = experiment.problems(None);
        let mut checked = values.samples().into_iter().take(MOST_CHECKED);
        checked.find_map(|value| {
            let changed = match self.assigned(experiment, &value) {
                Ok(changed) => changed,
                Err(problem) => return Some(problem.to_string()),
            };
            let problems = changed.problems(None).into_iter();
            let mut new = problems.filter(|problem| !known.contains(problem));
            new.next()
                .map(|problem| format!("{value}: {}", problem.message))
        })
    }

    /// The experiment with a value of the setting.
    fn assigned(&self, experiment: &Experiment, value: &str) -> Result<Experiment, TaskError> {
        let assignment = [format!("{}={value}", self.setting)];
        if self.setting.starts_with("data") {
            return Ok(with_settings(experiment.clone(), &assignment).map_err(SweepError::from)?);
        }
        // Data may name thousands of files, which need not be written out for other settings.
        let without_data = Experiment {
            data: DataSettings::default(),
            ..experiment.clone()
        };
        let changed = with_settings(without_data, &assignment).map_err(SweepError::from)?;
        Ok(Experiment {
            data: experiment.data.clone(),
            ..changed
        })
    }
}

/// What a form comes to beside the session.
#[derive(Clone, Debug, Default)]
pub struct SweepCheck {
    /// How many points there are, where the sweep can begin.
    pub n_points: Option<usize>,
    /// Why it cannot.
    obstacle: Option<String>,
    /// What is wrong with the values of each setting. A value that does not fit the session as it
    /// is may fit beside another one that is swept, so this alone does not keep from beginning.
    pub axes: Vec<Option<String>>,
}

impl SweepCheck {
    fn of(form: &SweepForm, experiment: &Experiment) -> Self {
        let sweep = form.sweep();
        let n_points = sweep.and_then(|sweep| Ok(sweep.search.n_points()?));
        let problems = form.axes.iter().map(|axis| axis.problem(experiment));
        Self {
            obstacle: n_points.as_ref().err().map(ToString::to_string),
            n_points: n_points.ok(),
            axes: problems.collect(),
        }
    }

    /// Why the sweep cannot begin.
    pub fn obstacle(&self) -> Option<&str> {
        self.obstacle.as_deref()
    }
}

/// What the background tells about the sweep.
pub(super) enum SweepEvent {
    /// How many points there are in all.
    Planned(usize),
    /// A point is finished.
    Finished(PointResult),
    /// It has ended; whether all points are finished.
    Ended(Answer<bool>),
    /// Results are read.
    Opened(Answer<FoundSweep>),
    /// Something about the work on a cluster.
    Cluster(ClusterEvent),
}

/// The results in a folder, and what was swept where that is written down.
pub(super) type FoundSweep = (SweepResults, Option<SweepForm>);

/// An answer about the sweep as an event.
fn event(event: SweepEvent) -> Event {
    Event::Compare(CompareEvent::Sweep(event))
}

/// What the form was last checked against.
struct Checked {
    form: SweepForm,
    experiment: Experiment,
}

/// The sweep.
#[derive(Default)]
pub struct SweepStage {
    form: SweepForm,
    settings: Vec<NamedSetting>,
    check: SweepCheck,
    checked: Option<Checked>,
    running: Background<(), bool>,
    opening: Background<(), FoundSweep>,
    results: Option<SweepResults>,
    /// Finished points that are not among the results yet.
    waiting: Vec<PointResult>,
    /// Until when they wait.
    wait_until: Option<Instant>,
    /// The work on a cluster.
    pub cluster: ClusterStage,
}

impl SweepStage {
    /// What is filled in.
    pub fn form(&self) -> &SweepForm {
        &self.form
    }

    /// The settings of the session that can be swept.
    pub fn settings(&self) -> &[NamedSetting] {
        &self.settings
    }

    /// What the form comes to.
    pub fn check(&self) -> &SweepCheck {
        &self.check
    }

    /// The share done.
    pub fn share(&self) -> Option<f64> {
        self.running.share()
    }

    /// The results that are looked at.
    pub fn results(&self) -> Option<&SweepResults> {
        self.results.as_ref()
    }

    /// Whether results are being read.
    pub(super) fn is_busy(&self) -> bool {
        self.opening.is_busy()
    }

    /// Checks the form where it or the session has changed.
    fn follow(&mut self, experiment: &Experiment) {
        let is_same = |known: &Checked| known.form == self.form && known.experiment == *experiment;
        if self.checked.as_ref().is_some_and(is_same) {
            return;
        }
        self.settings = named_settings(experiment);
        self.check = SweepCheck::of(&self.form, experiment);
        self.checked = Some(Checked {
            form: self.form.clone(),
            experiment: experiment.clone(),
        });
    }

    /// What is said at the end.
    fn take_end(&mut self, answer: Answer<bool>) -> Option<(Gravity, String)> {
        self.show_finished(true);
        let results = self.results.as_ref();
        let counted = results.map_or(String::new(), SweepResults::counted);
        Some(match self.running.take_once(answer)? {
            Ok(true) => (Gravity::Done, format!("The sweep is complete: {counted}")),
            Ok(false) => {
                let text = format!(
                    "The sweep was stopped: {counted} are saved; Start resumes with the others"
                );
                (Gravity::Note, text)
            }
            Err(error) => (Gravity::Error, error.to_string()),
        })
    }

    /// Shows the results in a folder as they come.
    pub(super) fn look_at(&mut self, folder: PathBuf, post: &Post) {
        self.opening = Background::default();
        let n_points = self.check.n_points;
        self.results = Some(SweepResults::of(folder.clone(), Vec::new(), n_points));
        self.cluster.watch(&folder, post);
    }

    /// Takes finished points of a folder that is watched.
    pub(super) fn take_finished(&mut self, folder: &Path, finished: Vec<PointResult>) {
        let is_shown = |results: &&SweepResults| results.folder == folder;
        if self.results.as_ref().filter(is_shown).is_some() {
            self.waiting.extend(finished);
        }
    }

    /// Takes waiting points into the results, unless that was done just now; at the end in any case.
    fn show_finished(&mut self, is_end: bool) {
        let now = Instant::now();
        let is_early = self.wait_until.is_some_and(|until| now < until) && !is_end;
        if self.waiting.is_empty() || is_early {
            return;
        }
        let finished = std::mem::take(&mut self.waiting);
        if let Some(results) = &mut self.results {
            results.add(finished);
        }
        let pause: Duration = PAUSE * now.elapsed();
        self.wait_until = Some(Instant::now() + pause);
    }
}

impl Workbench {
    pub(super) fn follow_sweep(&mut self) {
        let stage = &mut self.tasks.comparison;
        if self.selection.page == Stage::Compare && stage.tab() == CompareTab::Sweep {
            stage.sweep.follow(&self.document.draft.experiment);
        }
        stage.sweep.show_finished(false);
    }

    pub(super) fn handle_sweep(&mut self, event: SweepEvent) {
        let stage = &mut self.tasks.comparison.sweep;
        let told = match event {
            SweepEvent::Planned(n_points) => {
                if let Some(results) = &mut stage.results {
                    results.n_points = Some(n_points);
                }
                None
            }
            SweepEvent::Finished(result) => {
                stage.waiting.push(result);
                None
            }
            SweepEvent::Ended(answer) => stage.take_end(answer),
            SweepEvent::Opened(answer) => match stage.opening.take_once(answer) {
                Some(Ok((results, form))) => {
                    stage.cluster.watch(&results.folder, &self.tasks.post);
                    stage.results = Some(results);
                    stage.form = form.unwrap_or_else(|| stage.form.clone());
                    None
                }
                Some(Err(error)) => Some((Gravity::Error, error.to_string())),
                None => None,
            },
            SweepEvent::Cluster(event) => self.handle_cluster(event),
        };
        if let Some((gravity, text)) = told {
            self.tell_comparison(gravity, text);
        }
    }

    pub(super) fn apply_sweep(&mut self, action: SweepAction) {
        let stage = &mut self.tasks.comparison.sweep;
        match action {
            SweepAction::Edit(form) => stage.form = form,
            SweepAction::ChooseFolder(folder) => stage.form.folder = Some(folder),
            SweepAction::Start => self.start_sweep(),
            SweepAction::Stop => stage.running.cancel(),
            // The points of a sweep under way belong to the results that are shown.
            SweepAction::Open(_) | SweepAction::Close if stage.running.is_busy() => {}
            SweepAction::Open(folder) => {
                let wrap = |answer| event(SweepEvent::Opened(answer));
                let on = (&self.tasks.post, "reading", wrap as _);
                stage.opening.start((), on, move |_| open_results(&folder));
            }
            SweepAction::Close => {
                stage.results = None;
                stage.cluster.stop_watching();
            }
            SweepAction::SortBy(column) => {
                if let Some(results) = &mut stage.results {
                    results.sort_by(column);
                }
            }
            SweepAction::MapOver(down, across) => {
                if let Some(results) = &mut stage.results {
                    results.map_over(down, across);
                }
            }
            SweepAction::CurveOver(axis) => {
                if let Some(results) = &mut stage.results {
                    results.curve_over(axis);
                }
            }
            SweepAction::Use(number) => self.use_point(number),
            SweepAction::Cluster(action) => self.apply_cluster(action),
        }
    }

    /// The sweep as it is filled in, if it can be run.
    pub(super) fn sweep_order(&self) -> Option<SweepOrder> {
        let form = &self.tasks.comparison.sweep.form;
        let document = &self.document;
        Some(SweepOrder {
            experiment: document.draft.experiment.clone(),
            session: document.path().map(Path::to_owned),
            sweep: form.sweep().ok()?,
            folder: form.folder.clone()?,
            places: document.places(),
            loaded: document.data.loaded().cloned(),
            post: self.tasks.post.clone(),
        })
    }

    fn start_sweep(&mut self) {
        let Some(order) = self.sweep_order() else {
            return;
        };
        let stage = &mut self.tasks.comparison.sweep;
        if stage.running.is_busy() {
            return;
        }
        // Results that are still being read must not take the place of those to come.
        stage.opening = Background::default();
        stage.cluster.stop_watching();
        (stage.waiting, stage.wait_until) = (Vec::new(), None);
        let folder = order.folder.clone();
        stage.results = Some(SweepResults::of(folder, Vec::new(), None));
        let wrap = |answer| event(SweepEvent::Ended(answer));
        let on = (&self.tasks.post, "sweeping", wrap as _);
        stage
            .running
            .start((), on, move |progress| order.run(progress));
    }

    /// The settings of a point become those of the session, as one edit.
    fn use_point(&mut self, number: usize) {
        let results = self.tasks.comparison.sweep.results.as_ref();
        let Some(row) = results.and_then(|results| results.table.row(number)) else {
            return;
        };
        let assignments = row.result.point.assignments();
        match with_settings(self.document.draft.experiment.clone(), &assignments) {
            Ok(experiment) => {
                self.change(|draft| draft.experiment = experiment);
                let text = format!("Applied to the session: {}", assignments.join(", "));
                self.tell_comparison(Gravity::Done, text);
            }
            Err(problem) => self.tell_comparison(Gravity::Error, problem.to_string()),
        }
    }
}

/// A sweep to be run.
pub(super) struct SweepOrder {
    pub(super) experiment: Experiment,
    /// Where it is saved, if it is.
    pub(super) session: Option<PathBuf>,
    pub(super) sweep: Sweep,
    pub(super) folder: PathBuf,
    pub(super) places: DataPlaces,
    loaded: Option<Arc<LoadedData>>,
    post: Post,
}

impl SweepOrder {
    /// Runs what is not finished yet; whether all came to its end.
    fn run(&self, progress: &JobProgress) -> Result<bool, TaskError> {
        let (plan, files) = self.plan(progress)?;
        // Points of another sweep are refused before anything is written beside them.
        let identity = WorkIdentity::new(plan.fingerprint(), &files, plan.audit());
        let store = SweepStore::open(&self.folder, &identity)?;
        store.finished()?;
        let session = self.session.as_deref();
        describe_sweep(&self.folder, session, &self.experiment, &self.sweep)?;
        let n_points = plan.n_points();
        self.post.send(event(SweepEvent::Planned(n_points)));
        let mut results = Vec::new();
        let mut done = 0.0;
        let mut hear = |news| {
            match news {
                SweepNews::Share(share, n_due) => {
                    done = 1.0 - (1.0 - share) * n_due as f64 / n_points as f64;
                }
                SweepNews::Phase(share, _) => done = share,
                SweepNews::Finished(result) => {
                    results.push(result.clone());
                    self.post.send(event(SweepEvent::Finished(result)));
                }
            }
            progress.go_on(done)
        };
        let all = store.finish(&plan, None, available_threads(), &mut hear)?;
        let report = SweepResult {
            provenance: &sweep_provenance(&self.experiment, &self.sweep),
            table: &SweepTable::of(results),
            n_points,
        };
        write_all(&self.folder, &report.files())?;
        Ok(all)
    }

    /// The sweep with all data that its points use, and their files.
    fn plan(&self, progress: &JobProgress) -> Result<(SweepPlan, Vec<DataFile>), TaskError> {
        let settings = SweepPlan::data_settings(&self.experiment, &self.sweep)?;
        let mut data: Vec<(DataSettings, Arc<Dataset>)> = Vec::with_capacity(settings.len());
        let mut files = Vec::new();
        for wanted in settings {
            let loaded = self.loaded.as_deref();
            let dataset = match loaded.filter(|loaded| loaded.settings == wanted) {
                Some(loaded) => {
                    files.extend(loaded.files.iter().cloned());
                    loaded.dataset.clone()
                }
                None => {
                    let locate = |named: &Path| self.places.locate(named);
                    let built = wanted.load(&locate, &mut |_| progress.go_on(0.0))?;
                    files.extend(built.files);
                    Arc::new(built.dataset)
                }
            };
            data.push((wanted, dataset));
        }
        Ok((SweepPlan::new(&self.experiment, &self.sweep, data)?, files))
    }
}

/// The results in a folder, and what was swept where that is written down. Work on a cluster may
/// have no result yet.
fn open_results(folder: &Path) -> Result<FoundSweep, TaskError> {
    let results = match read_sweep(folder) {
        Err(SessionError::NoSweep { .. }) if WorkFolder::new(folder).has_work() => Vec::new(),
        results => results?,
    };
    let sweep = described_sweep(folder)?.map(|file| file.sweep);
    let n_points = sweep
        .as_ref()
        .and_then(|sweep| sweep.search.n_points().ok());
    let form = sweep.map(|sweep| SweepForm::of(&sweep, folder));
    Ok((SweepResults::of(folder.to_owned(), results, n_points), form))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(setting: &str, values: &str) -> SweepForm {
        SweepForm {
            axes: vec![AxisForm {
                setting: setting.into(),
                values: values.into(),
            }],
            ..SweepForm::default()
        }
    }

    #[test]
    fn wrong_values_are_named() {
        let experiment = Experiment::default();
        let problem = |setting: &str, values: &str| {
            let check = SweepCheck::of(&form(setting, values), &experiment);
            check.axes[0].clone().unwrap_or_default()
        };
        assert_eq!(problem("learner.n_atoms", "10, 20"), "");
        assert!(problem("learner.n_atoms", "10,").contains("missing"));
        assert!(problem("learner.n_atoms", "ten").contains("learner.n_atoms=ten"));
        assert!(problem("learner.n_atom", "10").contains("did you mean n_atoms?"));
        let text = problem("learner.sparsity", "3, 50");
        assert_eq!(text, "50: sparsity must be 1 to 30, but is 50");
        let check = SweepCheck::of(&form("learner.n_atoms", "10 to 20 whole"), &experiment);
        assert!(
            check
                .obstacle()
                .is_some_and(|text| text.contains("a range needs a random search"))
        );
    }

    #[test]
    fn of_a_long_list_only_the_first_values_are_tried_while_typing() {
        let experiment = Experiment::default();
        let wrong_at = |place: usize| {
            let values = (0..60).map(|at| if at == place { "many" } else { "10" });
            let values = values.collect::<Vec<_>>().join(", ");
            let check = SweepCheck::of(&form("learner.n_atoms", &values), &experiment);
            check.axes[0].is_some()
        };
        assert!(wrong_at(3) && wrong_at(49) && !wrong_at(50));
    }

    #[test]
    fn a_form_and_its_sweep_are_the_same() {
        let mut filled = form("learner.n_atoms", "10 to 20 whole");
        filled.is_random = true;
        filled.folder = Some("somewhere".into());
        filled.halving = Some(Halving::default());
        let sweep = filled.sweep().expect("sound");
        assert_eq!(SweepForm::of(&sweep, Path::new("somewhere")), filled);
    }
}
