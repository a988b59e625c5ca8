//! The session itself: settings, data, results, history, notes and, as arrays, the run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::SessionError;
use super::arrays::Arrays;
use super::atomic_file::{RealDisk, folder_of};
use super::data_reference::{Content, DataPlaces, DataReference, Resolution, relative_path};
use super::format::{FORMAT, format_of, from_text, to_text};
use super::results::Results;
use super::store::{ArraysReference, Replace, SavedArrays, Stamp, load_arrays, read_text, save};
use crate::experiment::{Experiment, RunState, SettingChange};

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
    /// What the files of data were when they were last read.
    #[serde(default)]
    pub references: Vec<DataReference>,
    /// Every setting.
    pub experiment: Experiment,
    /// Whether a model for new recordings is trained on all samples after the folds.
    #[serde(default)]
    pub final_model: bool,
    /// Settings changed while training; a rerun makes the same changes.
    #[serde(default)]
    pub changes: Vec<SettingChange>,
    /// What was done.
    #[serde(default)]
    pub history: Vec<HistoryEntry>,
    /// How the window is laid out, in the words of the window.
    #[serde(default)]
    pub layout: Option<String>,
    /// What the run has found out.
    #[serde(default)]
    pub results: Option<Results>,
    #[serde(default)]
    arrays: Option<ArraysReference>,
    /// The run as far as it has come.
    #[serde(skip)]
    pub run: Option<Arc<RunState>>,
}

impl Session {
    /// A session that has not begun.
    pub fn new(experiment: Experiment) -> Self {
        Self {
            format: FORMAT,
            title: String::new(),
            notes: String::new(),
            references: Vec::new(),
            experiment,
            final_model: false,
            changes: Vec::new(),
            history: Vec::new(),
            layout: None,
            results: None,
            arrays: None,
            run: None,
        }
    }

    /// Takes over how far a run has come: its state, its results and its changes.
    pub fn set_run(&mut self, run: Arc<RunState>) {
        self.results = Some(Results::of(&run));
        self.changes = run.changes.clone();
        self.arrays = None;
        self.run = Some(run);
    }

    /// Forgets the run, its results and its changes.
    pub fn clear_run(&mut self) {
        self.results = None;
        self.changes.clear();
        self.arrays = None;
        self.run = None;
    }

    /// A session from text; `path` is for messages. The run is not part of the text.
    pub fn from_text(text: &str, path: &Path) -> Result<Self, SessionError> {
        match format_of(text, path)? {
            // The first format; later ones are brought up to date here, one after the other.
            1 => from_text(text, path),
            found => Err(SessionError::NoSuchFormat {
                found,
                newest: FORMAT,
                path: path.to_owned(),
            }),
        }
    }

    /// The session as text, without the run.
    pub fn to_text(&self, path: &Path) -> Result<String, SessionError> {
        to_text(self, path)
    }

    /// Where each file and folder that the settings name is now. `keep_going` learns the share
    /// done of the file being compared and stops the work by answering `false`.
    pub fn resolve_data(
        &self,
        places: &DataPlaces,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Vec<(PathBuf, Resolution)>, SessionError> {
        let mut resolved = Vec::new();
        for named in self.experiment.data.files() {
            let text = named.to_string_lossy().replace('\\', "/");
            let noted = self.references.iter().find(|noted| noted.path == text);
            let resolution = match noted {
                Some(reference) => reference.resolve(places, keep_going)?,
                None => DataReference::to_any(text).resolve(places, keep_going)?,
            };
            resolved.push((named, resolution));
        }
        Ok(resolved)
    }

    /// Whether a file has the content of one that the session has learned from.
    pub fn has_learned_from(&self, path: &Path) -> Result<bool, SessionError> {
        let mut file = DataReference::to_any("");
        file.record_content(path, &[], &mut |_| true)?;
        let Some(Content::File { sha256: found, .. }) = file.content else {
            return Ok(false);
        };
        let has = |reference: &DataReference| match &reference.content {
            Some(Content::File { sha256, .. }) => *sha256 == found,
            Some(Content::Folder { files }) => files.iter().any(|file| file.sha256 == found),
            None => false,
        };
        Ok(self.references.iter().any(has))
    }

    /// Names data anew when the session moves from one folder to another, so that it still
    /// means the same files. Names found through a folder of data stay as they are.
    fn rebase(&mut self, from: Option<&Path>, to: &Path) {
        let new_name = |named: &Path| -> PathBuf {
            let real = match from {
                _ if named.is_absolute() => named.to_owned(),
                Some(from) if from.join(named).exists() => from.join(named),
                _ => return named.to_owned(),
            };
            relative_path(to, &real).map_or(named.to_owned(), PathBuf::from)
        };
        self.experiment.data.rename_files(&new_name);
        for reference in &mut self.references {
            let renamed = new_name(Path::new(&reference.path));
            reference.path = renamed.to_string_lossy().replace('\\', "/");
        }
    }
}

/// A session that was opened.
#[derive(Debug)]
pub struct Opened {
    /// The session.
    pub session: Session,
    /// Where it is saved.
    pub file: SessionFile,
    /// Why the run could not be read; everything else is there.
    pub damage: Option<SessionError>,
}

/// Where a session is saved, and what was there when it was last read or written here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    path: PathBuf,
    stamp: Stamp,
}

impl SessionFile {
    /// Opens a session.
    pub fn open(path: &Path) -> Result<Opened, SessionError> {
        let mut attempt = 1;
        loop {
            let (text, stamp) = read_text(path)?;
            let mut session = Session::from_text(&text, path)?;
            let run = match &session.arrays {
                Some(reference) => load_arrays(path, reference).map(Some),
                None => Ok(None),
            };
            let was_saved_meanwhile =
                run.is_err() && read_text(path).is_ok_and(|(_, now)| now != stamp);
            if was_saved_meanwhile && attempt < MAX_ATTEMPTS {
                attempt += 1;
                continue;
            }
            let damage = match run {
                Ok(run) => {
                    session.run = run.map(Arc::new);
                    None
                }
                Err(error) => Some(error),
            };
            let file = Self {
                path: path.to_owned(),
                stamp,
            };
            return Ok(Opened {
                session,
                file,
                damage,
            });
        }
    }

    /// Saves a session under a new name; `replace` says whether that may replace a file.
    /// Data is named relative to the new place; `before` is where the session was.
    pub fn create(
        path: &Path,
        replace: Replace<'_>,
        session: &mut Session,
        before: Option<&Self>,
    ) -> Result<Self, SessionError> {
        let from = before.map(|file| folder_of(&file.path));
        session.rebase(from, folder_of(path));
        // Arrays that could not be read cannot be written elsewhere.
        session.arrays = None;
        let stamp = write(path, replace, session)?;
        Ok(Self {
            path: path.to_owned(),
            stamp,
        })
    }

    /// Saves the session, unless the file was changed by somebody else.
    pub fn save(&mut self, session: &Session) -> Result<(), SessionError> {
        self.stamp = write(&self.path, Replace::Unchanged(&self.stamp), session)?;
        Ok(())
    }

    /// Saves the session whatever the file holds now, because the user said so.
    pub fn overwrite(&mut self, session: &Session) -> Result<(), SessionError> {
        self.stamp = write(&self.path, Replace::Anything, session)?;
        Ok(())
    }

    /// The path of the RON.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file on disk is what was last read or written here.
    pub fn is_unchanged(&self) -> bool {
        read_text(&self.path).is_ok_and(|(_, now)| now == self.stamp)
    }
}

/// Saves `session` without naming its data anew.
pub(super) fn write(
    path: &Path,
    replace: Replace<'_>,
    session: &Session,
) -> Result<Stamp, SessionError> {
    let unwritable = |error: super::arrays::ArraysError| SessionError::Unwritable {
        reason: error.to_string(),
        path: path.to_owned(),
    };
    let run = session.run.as_deref();
    let new = run.map(Arrays::of).transpose().map_err(unwritable)?;
    let arrays = match (&new, &session.arrays) {
        (Some(arrays), _) => SavedArrays::New(arrays),
        // They could not be read; saving does not make that worse.
        (None, Some(reference)) => SavedArrays::AsTheyAre(reference),
        (None, None) => SavedArrays::Nothing,
    };
    save(&RealDisk, path, replace, arrays, &|reference| {
        // Cheap: the run is shared, not copied.
        let mut saved = session.clone();
        saved.format = FORMAT;
        saved.arrays = reference;
        to_text(&saved, path)
    })
}
