//! The session itself: settings, data, results, history, notes and, as arrays, the run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::SessionError;
use super::arrays::{Arrays, ArraysError, read_arrays};
use super::atomic_file::{RealDisk, folder_of};
use super::data_reference::{DataReference, relative_path};
use super::format::{FORMAT, format_of, from_text, to_text};
use super::hash::hash_file;
use super::kept_trends::KeptTrends;
use super::recording_notes::RecordingNotes;
use super::results::Results;
use super::store::{ArraysReference, Replace, SavedArrays, Stamp, load_arrays, read_text, save};
use crate::dataset::{Built, DataFile};
use crate::experiment::{Experiment, KeptBranch, Run, RunState, SettingChange};
use crate::records::SourceId;
use crate::split::{HoldOut, SplitPlan};

/// How often a session is read again because it was saved elsewhere while being read.
const MAX_ATTEMPTS: usize = 5;

/// Something the user did, with its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryEntry {
    /// Seconds since 1970, UTC.
    pub time_s: u64,
    /// What was done.
    pub what: String,
}

/// Where a session is saved, and what was there when it was last read or written here.
#[derive(Clone, Debug)]
struct SavedPlace {
    path: PathBuf,
    /// Nothing if no file was there.
    stamp: Option<Stamp>,
}

/// Everything about one experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    format: u32,
    /// What it is called.
    #[serde(default)]
    pub title: String,
    /// What the user wrote down.
    #[serde(default)]
    pub notes: String,
    /// Every setting.
    pub experiment: Experiment,
    /// What the files of data were when they were last read.
    #[serde(default)]
    pub references: Vec<DataReference>,
    #[serde(default)]
    changes: Vec<SettingChange>,
    /// What was done.
    #[serde(default)]
    pub history: Vec<HistoryEntry>,
    /// How the window is laid out, in the words of the window.
    #[serde(default)]
    pub layout: Option<String>,
    /// What the user has noted about recordings. Left out while empty, so that earlier versions
    /// of the program can read sessions without notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<RecordingNotes>,
    /// What the run has found out, readable also where the run itself is lost.
    #[serde(default)]
    pub results: Option<Results>,
    #[serde(default)]
    arrays: Option<ArraysReference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trend_arrays: Option<ArraysReference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch_arrays: Option<ArraysReference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    younger_arrays: Option<ArraysReference>,
    /// The run as far as it has come.
    #[serde(skip)]
    pub run: Option<Arc<RunState>>,
    /// A later run that has not got as far as `run` yet.
    #[serde(skip)]
    pub younger: Option<Arc<RunState>>,
    /// Trends of recordings, so that they need not be computed again.
    #[serde(skip)]
    pub trends: Vec<Arc<KeptTrends>>,
    /// Other futures of the run.
    #[serde(skip)]
    pub branches: Vec<Arc<KeptBranch>>,
    /// Why the run could not be read, if so; everything else is there.
    #[serde(skip)]
    pub damage: Option<Arc<SessionError>>,
    #[serde(skip)]
    place: Option<SavedPlace>,
}

impl Session {
    /// A session that has not begun and has no place yet.
    pub fn new(experiment: Experiment) -> Self {
        Self {
            format: FORMAT,
            title: String::new(),
            notes: String::new(),
            experiment,
            references: Vec::new(),
            changes: Vec::new(),
            history: Vec::new(),
            layout: None,
            recordings: Vec::new(),
            results: None,
            arrays: None,
            trend_arrays: None,
            branch_arrays: None,
            younger_arrays: None,
            run: None,
            younger: None,
            trends: Vec::new(),
            branches: Vec::new(),
            damage: None,
            place: None,
        }
    }

    /// A session that is part of a program: it has no place, so that saving asks for one.
    pub fn built_in(text: &str) -> Result<Self, SessionError> {
        Self::from_text(text, Path::new("built-in session"))
    }

    /// Opens a session. If only its run cannot be read, `damage` says why.
    pub fn load(path: &Path) -> Result<Self, SessionError> {
        let mut n_attempts = 0;
        loop {
            n_attempts += 1;
            let (text, stamp) = read_text(path)?;
            let mut session = Self::from_text(&text, path)?;
            if let Some(reference) = &session.arrays {
                match load_arrays(path, reference) {
                    Ok(run) => {
                        session.run = Some(Arc::new(run));
                        // Format 1 kept the settings that a run was changed to as the first ones.
                        session.set_settings(session.experiment.clone());
                    }
                    Err(error) => {
                        // Another window may have saved between the two looks.
                        let is_same = read_text(path).is_ok_and(|(_, now)| now == stamp);
                        if !is_same && n_attempts < MAX_ATTEMPTS {
                            continue;
                        }
                        session.damage = Some(Arc::new(error));
                    }
                }
            }
            if let Some(reference) = &session.trend_arrays {
                match load_arrays::<Vec<KeptTrends>>(path, reference) {
                    Ok(trends) => {
                        let whole = trends.into_iter().filter(|kept| kept.trends.is_whole());
                        session.trends = whole.map(Arc::new).collect();
                    }
                    // Nothing is lost: they are computed again when they are wanted.
                    Err(error) => tracing::warn!(%error, "trends are not read"),
                }
            }
            session.branches = session.read_more(path, |session| &mut session.branch_arrays);
            let younger = session.read_more(path, |session| &mut session.younger_arrays);
            session.younger = younger.into_iter().next();
            session.place = Some(SavedPlace {
                path: path.to_owned(),
                stamp: Some(stamp),
            });
            tracing::info!(path = %path.display(), damage = ?session.damage, "session opened");
            return Ok(session);
        }
    }

    /// Reads further runs. Those that cannot be read stay where they are.
    fn read_more<T: DeserializeOwned>(
        &mut self,
        path: &Path,
        arrays: fn(&mut Self) -> &mut Option<ArraysReference>,
    ) -> Vec<Arc<T>> {
        let Some(reference) = arrays(self) else {
            return Vec::new();
        };
        match load_arrays::<Vec<T>>(path, reference) {
            Ok(runs) => {
                *arrays(self) = None;
                runs.into_iter().map(Arc::new).collect()
            }
            Err(error) => {
                self.damage.get_or_insert(Arc::new(error));
                Vec::new()
            }
        }
    }

    /// Saves the session where it was opened or last saved, unless somebody else has changed
    /// the file since.
    pub fn save(&mut self) -> Result<(), SessionError> {
        let place = self.place.clone().ok_or(SessionError::Untitled)?;
        let replace = match &place.stamp {
            Some(stamp) => Replace::Unchanged(stamp),
            None => Replace::Nothing,
        };
        let stamp = write(&place.path, replace, self)?;
        self.settle(&place.path, stamp);
        Ok(())
    }

    /// Saves the session where it was opened or last saved, whatever is there now.
    pub fn overwrite(&mut self) -> Result<(), SessionError> {
        let place = self.place.clone().ok_or(SessionError::Untitled)?;
        let stamp = write(&place.path, Replace::Anything, self)?;
        self.settle(&place.path, stamp);
        Ok(())
    }

    /// Saves the session in another place, replacing what is there; from now on that is its
    /// place. Data beside the old place is named so that it is found from the new one.
    pub fn save_as(&mut self, path: &Path) -> Result<(), SessionError> {
        let mut moved = self.clone();
        moved.rename_data(folder_of(path));
        let is_elsewhere = self.path() != Some(path);
        if is_elsewhere {
            // Arrays that could not be read stay where they are.
            (moved.arrays, moved.branch_arrays, moved.younger_arrays) = (None, None, None);
        }
        let stamp = write(path, Replace::Anything, &moved)?;
        *self = moved;
        self.settle(path, stamp);
        Ok(())
    }

    fn settle(&mut self, path: &Path, stamp: Stamp) {
        tracing::info!(path = %path.display(), "session saved");
        self.place = Some(SavedPlace {
            path: path.to_owned(),
            stamp: Some(stamp),
        });
    }

    /// Gives the session a place without saving it: what is there now may be replaced.
    pub(super) fn belongs_to(&mut self, path: Option<&Path>) {
        self.place = path.map(|path| SavedPlace {
            path: path.to_owned(),
            stamp: read_text(path).ok().map(|(_, stamp)| stamp),
        });
    }

    /// Where the session is saved.
    pub fn path(&self) -> Option<&Path> {
        self.place.as_ref().map(|place| place.path.as_path())
    }

    /// SHA-256 of the session's file as it was last read or written here.
    pub fn sha256(&self) -> Option<&str> {
        let stamp = self.place.as_ref()?.stamp.as_ref()?;
        Some(&stamp.0)
    }

    /// Settings that were changed while training; a rerun of the experiment makes them again.
    pub fn changes(&self) -> &[SettingChange] {
        &self.changes
    }

    /// Takes over settings. Where the run was changed to them on its way, the settings it began
    /// with are kept beside the changes, so that it can be repeated.
    pub fn set_settings(&mut self, settings: Experiment) {
        self.experiment = settings;
        if let Some(run) = &self.run {
            if self.experiment == run.settings_now() {
                self.experiment.learner.clone_from(&run.experiment.learner);
            }
            self.changes = run.changes_for(&self.experiment);
        }
    }

    /// The settings to resume with: those that hold now in a run that is not complete, otherwise
    /// those that the experiment begins with.
    pub fn settings_to_go_on(&self) -> Experiment {
        match &self.run {
            Some(run) if !run.is_complete() && self.experiment == run.experiment => {
                run.settings_now()
            }
            _ => self.experiment.clone(),
        }
    }

    /// Takes over how far a run has come: its state, results and changes.
    pub fn set_run(&mut self, run: Arc<RunState>) {
        self.results = Some(Results::of(&run));
        self.arrays = None;
        self.damage = None;
        self.run = Some(run);
        self.younger = None;
        self.set_settings(self.experiment.clone());
    }

    /// Takes over a run with its settings and notes what its data was; names of data are
    /// relative to the folder of `from`.
    pub fn take_run(&mut self, run: &Run, built: &Built, from: &Path) {
        self.experiment = run.checked().experiment().clone();
        self.set_run(Arc::new(run.state()));
        // Where it was read from counts, also for a session that was made from another.
        if self.place.is_none() {
            self.belongs_to(Some(from));
        }
        self.note_data(&built.files);
    }

    /// Notes what the files of data were when they were read.
    pub fn note_data(&mut self, files: &[DataFile]) {
        self.references = DataReference::of_data(&self.experiment.data, files);
    }

    /// Whether a file was among the data of the session, whatever its name.
    pub fn has_learned_from(&self, path: &Path) -> bool {
        let Ok(content) = hash_file(path, &mut |_| true) else {
            return false;
        };
        self.references
            .iter()
            .any(|reference| reference.holds(&content))
    }

    /// Forgets the run, its results and its changes.
    pub fn clear_run(&mut self) {
        self.results = None;
        self.changes.clear();
        self.arrays = None;
        self.damage = None;
        self.run = None;
        self.younger = None;
    }

    /// A session from text; `path` is for messages. The run is not part of the text.
    pub fn from_text(text: &str, path: &Path) -> Result<Self, SessionError> {
        match format_of(text, path)? {
            // Format 1 differs in its arrays alone, which tell themselves what they are.
            1 | 2 => from_text(text, path),
            found => Err(SessionError::NoSuchFormat {
                found,
                newest: FORMAT,
                path: path.to_owned(),
            }),
        }
    }

    /// The session as text, without the run; `path` is for messages.
    pub fn to_text(&self, path: &Path) -> Result<String, SessionError> {
        to_text(self, path)
    }

    /// A run from the bytes of a file of arrays, whatever their hash.
    pub fn run_from_arrays(bytes: &[u8]) -> Result<RunState, SessionError> {
        read_arrays(bytes).map_err(|error| SessionError::ArraysDamaged {
            reason: error.to_string(),
            path: PathBuf::new(),
        })
    }

    /// Names data relative to the folder `to`, so that the same files are meant. Names found
    /// through a folder of data stay as they are.
    fn rename_data(&mut self, to: &Path) {
        let from = self.path().map(|path| folder_of(path).to_owned());
        let new_name = |named: &Path| -> PathBuf {
            let real = match &from {
                _ if named.is_absolute() => named.to_owned(),
                Some(from) if from.join(named).exists() => from.join(named),
                _ => return named.to_owned(),
            };
            let way = relative_path(to, &real);
            way.map_or(named.to_owned(), |way| SourceId::from_text(&way).path())
        };
        let before = self.experiment.data.files();
        self.experiment.data.rename_files(&new_name);
        let after = self.experiment.data.files();
        if before == after {
            return;
        }
        for notes in &mut self.recordings {
            if let Some(renamed) = renamed_file(&notes.recording, &before, &after) {
                notes.recording = renamed;
            }
        }
        for reference in &mut self.references {
            let renamed = new_name(&SourceId::from_text(&reference.path).path());
            reference.path = SourceId::of(&renamed).into();
        }
        let branches = self.branches.iter_mut();
        let branches = branches.map(|branch| &mut Arc::make_mut(branch).state);
        let runs = self.run.iter_mut().chain(&mut self.younger);
        for run in runs.map(Arc::make_mut).chain(branches) {
            // A run continues only with the settings and the groups it began with.
            run.experiment.data.rename_files(&new_name);
            rename_tested_groups(&mut run.experiment.split, &before, &after);
            let facts = Arc::make_mut(&mut run.facts.0);
            rename_groups(&mut facts.group_names, &before, &after);
        }
        rename_tested_groups(&mut self.experiment.split, &before, &after);
    }
}

fn rename_tested_groups(split: &mut SplitPlan, before: &[PathBuf], after: &[PathBuf]) {
    if let SplitPlan::HoldOut(HoldOut::Groups { names }) = split {
        rename_groups(names, before, after);
    }
}

fn rename_groups(groups: &mut [String], before: &[PathBuf], after: &[PathBuf]) {
    for group in groups {
        if let Some(renamed) = renamed_file(group, before, after) {
            *group = renamed;
        }
    }
}

/// The new name of a file of the data, or of a group that is called by it, if it has one: `before` and `after` are what
/// the settings call the data.
pub fn renamed_file(group: &str, before: &[PathBuf], after: &[PathBuf]) -> Option<String> {
    let group = SourceId::from_text(group).path();
    let (old, new) = before
        .iter()
        .zip(after)
        .find(|(old, _)| group.starts_with(old))?;
    let rest = group.strip_prefix(old).ok()?;
    let renamed = match rest.as_os_str().is_empty() {
        true => new.clone(),
        false => new.join(rest),
    };
    Some(SourceId::of(&renamed).into())
}

/// Writes `session` to `path` as it is.
pub(super) fn write(
    path: &Path,
    replace: Replace<'_>,
    session: &Session,
) -> Result<Stamp, SessionError> {
    let unwritable = |error: ArraysError| SessionError::Unwritable {
        reason: error.to_string(),
        path: path.to_owned(),
    };
    let run = session.run.as_deref();
    let new = run.map(Arrays::of).transpose().map_err(unwritable)?;
    let trends: Vec<&KeptTrends> = session.trends.iter().map(Arc::as_ref).collect();
    let new_trends = arrays_of_all(&trends).map_err(unwritable)?;
    let branches: Vec<&KeptBranch> = session.branches.iter().map(Arc::as_ref).collect();
    let new_branches = arrays_of_all(&branches).map_err(unwritable)?;
    let younger: Vec<&RunState> = session.younger.as_deref().into_iter().collect();
    let new_younger = arrays_of_all(&younger).map_err(unwritable)?;
    save(
        &RealDisk,
        path,
        replace,
        [
            saved_arrays(new.as_ref(), session.arrays.as_ref()),
            saved_arrays(new_trends.as_ref(), None),
            saved_arrays(new_branches.as_ref(), session.branch_arrays.as_ref()),
            saved_arrays(new_younger.as_ref(), session.younger_arrays.as_ref()),
        ],
        &|references| {
            // Cheap: the run is shared, not copied.
            let mut saved = session.clone();
            saved.format = FORMAT;
            [
                saved.arrays,
                saved.trend_arrays,
                saved.branch_arrays,
                saved.younger_arrays,
            ] = references;
            to_text(&saved, path)
        },
    )
}

/// What is saved: new arrays, or those that could not be read, which saving does not make worse.
fn saved_arrays<'a>(
    new: Option<&'a Arrays>,
    unread: Option<&'a ArraysReference>,
) -> SavedArrays<'a> {
    match (new, unread) {
        (Some(arrays), _) => SavedArrays::New(arrays),
        (None, Some(reference)) => SavedArrays::AsTheyAre(reference),
        (None, None) => SavedArrays::Nothing,
    }
}

/// Nothing of nothing.
fn arrays_of_all<T: Serialize>(all: &[T]) -> Result<Option<Arrays>, ArraysError> {
    match all {
        [] => Ok(None),
        all => Arrays::of(all).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_called_by_their_files_move_with_them_and_others_stay() {
        let before = [PathBuf::from("study"), PathBuf::from("a.edf")];
        let after = [PathBuf::from("../study"), PathBuf::from("../a.edf")];
        let renamed = |group| renamed_file(group, &before, &after);
        assert_eq!(
            renamed("study/s1/r1.edf").as_deref(),
            Some("../study/s1/r1.edf")
        );
        assert_eq!(renamed("a.edf").as_deref(), Some("../a.edf"));
        assert_eq!(renamed("subject 7"), None);
        assert_eq!(renamed("studying"), None);
    }
}
