//! A small experiment on a table made here, trained a little.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use atomscope_engine::dataset::{Built, DataPlan, DataSettings, TableSource};
use atomscope_engine::experiment::{
    Experiment, Extent, Run, RunParts, RunState, Tests, Training, TrainingLength,
};
use atomscope_engine::learner::{Kernel, LearnerSettings, Supply};
use atomscope_engine::session::{DataPlaces, Session};
use atomscope_engine::split::SplitPlan;

/// Writes three classes of points in five dimensions, the same every time.
pub(crate) fn write_table(path: &Path) {
    let mut text = String::from("a,b,c,d,e,class\n");
    let mut state = 1_u32;
    for row in 0..180 {
        let class = row % 3;
        for column in 0..5 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = f64::from(state >> 8) / f64::from(1 << 24);
            let value = noise + if column == class { 2.0 } else { 0.0 };
            text.push_str(&format!("{value:.6},"));
        }
        text.push_str(["x\n", "y\n", "z\n"][class]);
    }
    fs::write(path, text).expect("the folder is writable");
}

/// Settings for the table `points.csv`.
pub(crate) fn experiment(learner: LearnerSettings) -> Experiment {
    let source = TableSource {
        paths: vec!["points.csv".into()],
        ..TableSource::default()
    };
    Experiment {
        data: DataSettings::new(DataPlan::Table(source), None),
        split: SplitPlan::KFold {
            n_folds: 2,
            seed: 5,
        },
        learner: LearnerSettings {
            kernel: Kernel::Gaussian { width: 1.5 },
            n_atoms: 4,
            sparsity: 2,
            batch_size: 3,
            budget: 16,
            ..learner
        },
        training: Training {
            length: TrainingLength::Batches(16),
            supply: Supply::Repeat,
        },
        tests: Tests {
            n_tests: 4,
            missing_shares: vec![0.4],
            prequential: true,
            ..Tests::default()
        },
        ..Experiment::default()
    }
}

/// Reads the data of a session at `path`.
pub(crate) fn read_data(experiment: &Experiment, path: &Path) -> Built {
    let places = DataPlaces::new(Some(path), &[]);
    experiment
        .data
        .load(&|named| places.locate(named), &mut |_| true)
        .expect("the table is readable")
}

/// A run at its beginning.
pub(crate) fn new_run(experiment: &Experiment, built: &Built) -> Run {
    let dataset = Arc::new(built.dataset.clone());
    let checked = experiment.clone().check(dataset).expect("legal settings");
    let parts = RunParts {
        folds: None,
        final_model: true,
    };
    Run::new(Arc::new(checked), &parts, Vec::new()).expect("a run")
}

/// A saved run that goes on.
pub(crate) fn resumed(session: &Session, built: &Built) -> Run {
    let dataset = Arc::new(built.dataset.clone());
    let checked = session.experiment.clone().check(dataset);
    let state = session.run.as_deref().expect("a run").clone();
    Run::resume(Arc::new(checked.expect("legal settings")), state).expect("it goes on")
}

/// Lets a run go on for `n` rounds of every part in training.
pub(crate) fn advance(run: &mut Run, n: usize) {
    let mut news = Vec::new();
    for _ in 0..n {
        run.advance(Extent::Round, &mut news).expect("it learns");
    }
}

/// Everything a run has found out and learned, without the times it took, bit for bit:
/// as text in which different numbers differ.
pub(crate) fn outcome(state: &RunState) -> String {
    let mut parts: Vec<_> = state.parts.iter().collect();
    parts.sort_by_key(|part| part.record.part);
    let told = parts.iter().map(|part| {
        let mut record = (*part.record.0).clone();
        record.timing = Default::default();
        let part = (record, &part.model, &part.halfway);
        ron::to_string(&part).expect("plain values") + "\n"
    });
    told.collect()
}

/// A folder with the table and a session `a.ron` whose run has gone `n_rounds`.
pub(crate) fn saved_session(n_rounds: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    write_table(&folder.path().join("points.csv"));
    let experiment = experiment(LearnerSettings::margin_aware());
    let built = read_data(&experiment, &path);
    let mut run = new_run(&experiment, &built);
    advance(&mut run, n_rounds);
    let mut session = Session::new(experiment);
    session.notes = "as it was".into();
    session.take_run(&run, &built, &path);
    session.save_as(&path).expect("saved");
    (folder, path)
}

/// Names of all files in a folder.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("readable");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("readable").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
