//! A sweep in files: what is swept (`SWEEP.ron`), and each finished point in a small file of its
//! own, so that a sweep can be stopped, resumed, and shared between machines.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::SessionError;
use super::atomic_file::{RealDisk, folder_of, replace_file};
use super::document::Session;
use super::format::{from_text, to_text};
use super::point_store::{PointStore, WorkIdentity};
use super::store::read_text;
use crate::dataset::DataSettings;
use crate::experiment::{Experiment, Halving, PointResult, Search, Sweep, SweepError, SweepPlan};

/// The sweep and its session in the folder of a sweep that was begun in the window.
const SWEEP_NAME: &str = "sweep.ron";
const SESSION_NAME: &str = "sweep-session.ron";

/// What `SWEEP.ron` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SweepText {
    /// The session whose settings are swept, relative to the sweep.
    session: PathBuf,
    search: Search,
    #[serde(default)]
    inner_folds: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    halving: Option<Halving>,
}

/// A sweep as it was written down, with its session.
#[derive(Clone, Debug)]
pub struct SweepFile {
    /// Where the session is.
    pub session_path: PathBuf,
    /// The session.
    pub session: Session,
    /// What is swept.
    pub sweep: Sweep,
}

impl SweepFile {
    /// Reads a sweep and its session.
    pub fn load(path: &Path) -> Result<Self, SessionError> {
        let (text, _) = read_text(path)?;
        let (session, sweep) = Self::from_text(&text, path)?;
        let session_path = folder_of(path).join(session);
        let session = Session::load(&session_path)?;
        Ok(Self {
            session_path,
            session,
            sweep,
        })
    }

    /// The session that the text of a sweep names, and what is searched.
    pub fn from_text(text: &str, path: &Path) -> Result<(PathBuf, Sweep), SessionError> {
        let found: SweepText = from_text(text, path)?;
        let sweep = Sweep {
            search: found.search,
            inner_folds: found.inner_folds.unwrap_or(Sweep::USUAL_INNER_FOLDS),
            halving: found.halving,
        };
        Ok((found.session, sweep))
    }
}

/// Writes a sweep with its session to a folder, so that it can be resumed later or
/// elsewhere. `session` is where the experiment is saved, if it is: data are named from there.
/// What is there already must be the same but for the data, which may have moved; whether they
/// are the same is told by the finished points. The file that describes it.
pub fn describe_sweep(
    folder: &Path,
    session: Option<&Path>,
    experiment: &Experiment,
    sweep: &Sweep,
) -> Result<PathBuf, SessionError> {
    make_folder(folder)?;
    let path = folder.join(SWEEP_NAME);
    let session_path = folder.join(SESSION_NAME);
    // Names of an experiment that was never saved lead from where the program runs.
    let from = session.unwrap_or(Path::new(SESSION_NAME));
    let mut own = Session::new(experiment.clone());
    own.belongs_to(Some(from));
    if let Some(found) = described_sweep(folder)? {
        let settings = [experiment, &found.session.experiment].map(Sweep::beside_data);
        if found.sweep != *sweep || settings[0] != settings[1] {
            return Err(SessionError::OtherSweep { path });
        }
        let known = &found.session.experiment;
        let is_same = known.split == experiment.split
            && data_in_place(&found.session_path, known) == data_in_place(from, experiment);
        // What somebody has written or trained there is left as it is.
        let is_ours = found.session_path == session_path && found.session.results.is_none();
        return match (is_same, is_ours) {
            (true, _) => Ok(path),
            (false, true) => own.save_as(&session_path).map(|()| path),
            (false, false) => Err(SessionError::OtherSweep { path }),
        };
    }
    own.save_as(&session_path)?;
    let text = SweepText {
        session: SESSION_NAME.into(),
        search: sweep.search.clone(),
        inner_folds: Some(sweep.inner_folds),
        halving: sweep.halving,
    };
    replace_file(&RealDisk, &path, to_text(&text, &path)?.as_bytes())?;
    Ok(path)
}

/// The sweep that is described in a folder, if one is.
pub fn described_sweep(folder: &Path) -> Result<Option<SweepFile>, SessionError> {
    let path = folder.join(SWEEP_NAME);
    match path.exists() {
        true => SweepFile::load(&path).map(Some),
        false => Ok(None),
    }
}

/// The data of a session under their real places; what is not beside it keeps its name.
fn data_in_place(session: &Path, experiment: &Experiment) -> DataSettings {
    let folder = folder_of(session);
    let mut data = experiment.data.clone();
    data.rename_files(&|named| {
        fs::canonicalize(folder.join(named)).unwrap_or_else(|_| named.to_owned())
    });
    data
}

fn make_folder(folder: &Path) -> Result<(), SessionError> {
    fs::create_dir_all(folder).map_err(|source| SessionError::io("make the folder", folder, source))
}

/// What is heard of a sweep while it is worked through.
#[derive(Clone, Debug)]
pub enum SweepNews {
    /// The share done of so many points.
    Share(f64, usize),
    /// The share done of a sweep with early stopping, and its stage, from 0.
    Phase(f64, usize),
    /// A point is finished.
    Finished(PointResult),
}

/// A folder with the finished points of a sweep.
#[derive(Clone, Debug)]
pub struct SweepStore {
    points: PointStore<PointResult>,
}

impl SweepStore {
    /// The store in a folder, which is made if need be.
    pub fn open(folder: &Path, identity: &WorkIdentity) -> Result<Self, SessionError> {
        let points = PointStore::open(folder, identity)?;
        Ok(Self { points })
    }

    /// Keeps a finished task; a kill at any moment leaves it whole or not at all.
    pub fn keep(&self, task: usize, result: &PointResult) -> Result<(), SessionError> {
        self.points.keep(task, result)
    }

    /// Runs the tasks of a sweep that are not finished yet, those of one shard or all, and
    /// keeps each. `told` receives the share done and every finished point, those of earlier
    /// times first, and cancels by returning false. Whether all came to their end. Shards do not
    /// know what the others have finished: they are for sweeps without early stopping.
    pub fn finish(
        &self,
        plan: &SweepPlan,
        shard: Option<(usize, usize)>,
        n_threads: usize,
        told: &mut dyn FnMut(SweepNews) -> bool,
    ) -> Result<bool, SweepError> {
        let failed = |error: SessionError| SweepError::Store(error.to_string());
        let mut known = self.finished().map_err(failed)?;
        for result in &known {
            if !told(SweepNews::Finished(result.clone())) {
                return Ok(false);
            }
        }
        let n_phases = plan.n_phases();
        for phase in 0..n_phases {
            let finished: BTreeSet<usize> = known.iter().map(|r| plan.task_of(r)).collect();
            let is_due = |task: &usize| {
                let in_shard = shard.is_none_or(|(i, n)| task % n == i - 1);
                in_shard && !finished.contains(task)
            };
            let due: Vec<usize> = plan.tasks_of(phase).filter(is_due).collect();
            let shared = RefCell::new(&mut *told);
            let goes_on = Cell::new(true);
            let mut new = Vec::new();
            let all = plan.run(
                &due,
                &known,
                n_threads,
                &mut |share| {
                    let news = match n_phases {
                        1 => SweepNews::Share(share, due.len()),
                        // Stages cost about the same: fewer points, longer trainings.
                        _ => SweepNews::Phase((phase as f64 + share) / n_phases as f64, phase),
                    };
                    goes_on.get() && shared.borrow_mut()(news)
                },
                &mut |result| {
                    self.keep(plan.task_of(&result), &result).map_err(failed)?;
                    new.push(result.clone());
                    goes_on.set(shared.borrow_mut()(SweepNews::Finished(result)));
                    Ok(())
                },
            )?;
            if !all {
                return Ok(false);
            }
            known.extend(new);
        }
        Ok(true)
    }

    /// The finished points of this sweep, in order. A file of another sweep or one that
    /// cannot be read is an error that names it: nothing is silently done again.
    pub fn finished(&self) -> Result<Vec<PointResult>, SessionError> {
        Ok(without_numbers(self.points.finished()?))
    }
}

fn without_numbers(points: Vec<(usize, PointResult)>) -> Vec<PointResult> {
    points.into_iter().map(|(_, result)| result).collect()
}

/// The finished points in a folder, of whatever sweep they are, if all are of the same.
pub fn read_sweep(folder: &Path) -> Result<Vec<PointResult>, SessionError> {
    PointStore::found_in(folder).map(without_numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{DataPlan, TableSource};
    use crate::experiment::{Axis, Effort, OuterResult, SettingText, SweepPoint, Values};
    use crate::session::DataHash;

    fn result(number: usize) -> PointResult {
        PointResult {
            point: SweepPoint {
                number,
                values: vec![("learner.n_atoms".into(), "30".into())],
            },
            effort: Effort::Stage { number: 0, part: 9 },
            problem: None,
            outer: vec![OuterResult {
                inner: vec![0.1 + 0.2, 2.0 / 3.0],
                outer: Some(1.0 / 3.0),
            }],
            train_us_per_batch: Some(12.5),
        }
    }

    fn work(fingerprint: &str) -> WorkIdentity {
        WorkIdentity::new(fingerprint.into(), [], Vec::new())
    }

    fn refusal(folder: &Path, identity: &WorkIdentity) -> String {
        let refused = SweepStore::open(folder, identity);
        refused.expect_err("not the same").to_string()
    }

    #[test]
    fn another_version_changed_data_and_another_audit_are_refused_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let mut identity = work("a");
        identity.data = vec![DataHash {
            name: "first.csv".into(),
            sha256: "aa".into(),
        }];
        let store = SweepStore::open(path, &identity).expect("new");
        store.keep(0, &result(0)).expect("writable");
        SweepStore::open(path, &identity).expect("the same");
        let mut renamed = identity.clone();
        renamed.data[0].name = "second.csv".into();
        SweepStore::open(path, &renamed).expect("only content counts");
        let mut changed = identity.clone();
        changed.data[0].sha256 = "bb".into();
        let error = refusal(path, &changed);
        assert!(error.contains("first.csv has changed"), "{error}");
        let mut newer = identity.clone();
        newer.version = "9.9.9".into();
        let error = refusal(path, &newer);
        assert!(error.contains("Atomscope 9.9.9"), "{error}");
        let mut audited = identity.clone();
        audited.audit.push("a group is in two folds".into());
        assert!(refusal(path, &audited).contains("audit"));
        // One point of another version among the others is named itself.
        let point = path.join("point-000001.ron");
        let text = fs::read_to_string(&point).expect("there");
        let version = format!("version: \"{}\"", identity.version);
        fs::write(&point, text.replace(&version, "version: \"0.0.1\"")).expect("writable");
        let error = store.finished().expect_err("mixed").to_string();
        assert!(
            error.contains("Atomscope 0.0.1") && error.contains("point-000001.ron"),
            "{error}"
        );
    }

    #[test]
    fn points_are_read_back_bit_for_bit_and_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SweepStore::open(folder.path(), &work("a")).expect("writable");
        for number in [2, 0, 11] {
            store.keep(number, &result(number)).expect("writable");
        }
        let found = store.finished().expect("readable");
        assert_eq!(found, [result(0), result(2), result(11)]);
        assert_eq!(read_sweep(folder.path()).expect("readable"), found);
    }

    fn on_table(named: &Path) -> Experiment {
        let table = TableSource {
            paths: vec![named.to_owned()],
            ..TableSource::default()
        };
        Experiment {
            data: DataSettings::new(DataPlan::Table(table), None),
            ..Experiment::default()
        }
    }

    fn atoms(number: f64) -> Sweep {
        Sweep {
            search: Search::Grid(vec![Axis {
                setting: "learner.n_atoms".into(),
                values: Values::List(vec![SettingText::Number(number)]),
            }]),
            inner_folds: 2,
            halving: Some(Halving::default()),
        }
    }

    #[test]
    fn a_described_sweep_leads_to_its_data_whatever_they_are_called() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        for name in ["data", "sessions"] {
            fs::create_dir(place(name)).expect("writable");
        }
        fs::write(place("data/a.csv"), "1,2").expect("writable");
        let (out, sweep) = (place("out"), atoms(10.0));
        let saved = place("sessions/s.ron");
        let leads = || {
            let found = described_sweep(&out).expect("readable").expect("there");
            let named = found.session.experiment.data.files().remove(0);
            assert!(
                named.is_relative() && out.join(&named).exists(),
                "{named:?}"
            );
        };
        let absolute = on_table(&place("data/a.csv"));
        let relative = on_table(Path::new("../data/a.csv"));
        describe_sweep(&out, None, &absolute, &sweep).expect("new");
        leads();
        describe_sweep(&out, None, &absolute, &sweep).expect("the same");
        describe_sweep(&out, Some(&saved), &relative, &sweep).expect("the same");
        leads();
        // Data that have moved are named again.
        fs::rename(place("data/a.csv"), place("sessions/b.csv")).expect("moved");
        let moved = on_table(Path::new("b.csv"));
        describe_sweep(&out, Some(&saved), &moved, &sweep).expect("the same");
        leads();
        let other = describe_sweep(&out, Some(&saved), &moved, &atoms(20.0));
        assert!(matches!(other, Err(SessionError::OtherSweep { .. })));
        let mut changed = moved;
        changed.learner.n_atoms += 1;
        let other = describe_sweep(&out, Some(&saved), &changed, &sweep);
        assert!(matches!(other, Err(SessionError::OtherSweep { .. })));
    }

    #[test]
    fn points_of_another_sweep_and_half_written_ones_are_refused_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(read_sweep(folder.path()).is_err(), "nothing is there");
        let store = SweepStore::open(folder.path(), &work("a")).expect("writable");
        store.keep(0, &result(0)).expect("writable");
        let other = SweepStore::open(folder.path(), &work("b"));
        let error = other.expect_err("not its own").to_string();
        assert!(
            error.contains("identity.ron") && error.contains("--out"),
            "{error}"
        );
        fs::write(folder.path().join("point-000002.ron"), "(sweep: \"a\", re").expect("writable");
        let error = store.finished().expect_err("half a file").to_string();
        assert!(error.contains("point-000002.ron"), "{error}");
    }
}
