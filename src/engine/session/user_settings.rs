//! What the user's configuration folder remembers: recent sessions, own presets, text size, theme, panels.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::SessionError;
use super::atomic_file::{RealDisk, replace_file};
use super::format::{FORMAT, format_of, from_text, to_text};
use super::lock_file::LockFile;
use super::store::read_text;
use crate::learner::LearnerSettings;
use crate::protection::Line;

/// The variable of the environment that names another folder for the user's settings.
const FOLDER_VARIABLE: &str = "ATOMSCOPE_CONFIG_DIR";
/// Most sessions remembered.
const MAX_RECENT: usize = 12;

/// The folders of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFolders {
    /// Holds `settings.ron`.
    pub config: PathBuf,
    /// Holds recovery copies of sessions that have no place of their own.
    pub state: PathBuf,
    /// Holds what can be computed again.
    pub cache: PathBuf,
}

impl UserFolders {
    /// Those the system names, or `ATOMSCOPE_CONFIG_DIR`.
    pub fn find() -> Result<Self, SessionError> {
        if let Some(folder) = std::env::var_os(FOLDER_VARIABLE).filter(|value| !value.is_empty()) {
            return Ok(Self::within(Path::new(&folder)));
        }
        let folders = directories::ProjectDirs::from("", "", "atomscope")
            .ok_or(SessionError::NoUserFolder)?;
        let state = folders.state_dir().unwrap_or(folders.data_local_dir());
        Ok(Self {
            config: folders.config_dir().to_owned(),
            state: state.to_owned(),
            cache: folders.cache_dir().to_owned(),
        })
    }

    /// All in one folder.
    pub fn within(folder: &Path) -> Self {
        Self {
            config: folder.to_owned(),
            state: folder.join("state"),
            cache: folder.join("cache"),
        }
    }

    fn settings(&self) -> PathBuf {
        self.config.join("settings.ron")
    }
}

/// What is remembered about the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserSettings {
    format: u32,
    /// Sessions opened or saved last, newest first.
    #[serde(default)]
    #[serde(with = "crate::records::path_texts")]
    pub recent: Vec<PathBuf>,
    /// Settings of learners the user gave a name.
    #[serde(default)]
    pub presets: Vec<UserPreset>,
    /// Size of text relative to the usual one.
    #[serde(default = "usual_text_size")]
    pub text_size: f32,
    /// Light or dark.
    #[serde(default)]
    pub theme: Theme,
    /// Where the panels of the Train page stand, as a session keeps it.
    #[serde(default)]
    pub panels: String,
    /// Folders in which the user has located data, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_folders: Vec<PathBuf>,
    /// What the keys 1 to 9 mark in a recording.
    #[serde(default = "usual_marks", skip_serializing_if = "are_usual_marks")]
    pub marks: Vec<String>,
    /// Montages the user gave a name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub montages: Vec<NamedMontage>,
    /// Lines whose data the user keeps, in the order of their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// Recordings explored last, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(with = "crate::records::path_texts")]
    pub recent_recordings: Vec<PathBuf>,
}

/// A montage of the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedMontage {
    /// The name.
    pub name: String,
    /// A line per trace, as [`Montage::Own`](crate::features::montage::Montage::Own) reads it.
    pub lines: String,
}

fn usual_marks() -> Vec<String> {
    let names = [
        "spike",
        "seizure",
        "artefact",
        "slow wave",
        "eyes open",
        "eyes closed",
        "movement",
        "drowsy",
        "to discuss",
    ];
    names.map(str::to_owned).to_vec()
}

fn are_usual_marks(marks: &[String]) -> bool {
    marks == usual_marks()
}

/// Settings of a learner under a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserPreset {
    /// The name.
    pub name: String,
    /// The settings.
    pub learner: LearnerSettings,
}

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Theme {
    /// As the system says.
    #[default]
    System,
    /// Dark text on light ground.
    Light,
    /// Light text on dark ground.
    Dark,
}

fn usual_text_size() -> f32 {
    1.0
}

impl Default for UserSettings {
    fn default() -> Self {
        Self {
            format: FORMAT,
            recent: Vec::new(),
            presets: Vec::new(),
            text_size: usual_text_size(),
            theme: Theme::default(),
            panels: String::new(),
            data_folders: Vec::new(),
            marks: usual_marks(),
            montages: Vec::new(),
            lines: Vec::new(),
            recent_recordings: Vec::new(),
        }
    }
}

impl UserSettings {
    /// The settings in `folders`. If they cannot be read they start afresh, and the second
    /// value says why.
    pub fn load(folders: &UserFolders) -> (Self, Option<SessionError>) {
        let path = folders.settings();
        if !path.exists() {
            return (Self::default(), None);
        }
        match read(&path) {
            Ok(settings) => (settings, None),
            Err(error) => (Self::default(), Some(error)),
        }
    }

    /// Keeps a line; one of the same name is replaced.
    pub fn keep_line(&mut self, line: Line) {
        self.lines.retain(|known| known.name != line.name);
        self.lines.push(line);
        self.lines.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Puts a recording first among those explored last.
    pub fn note_recording(&mut self, path: &Path) {
        self.recent_recordings.retain(|known| known != path);
        self.recent_recordings.insert(0, path.to_owned());
        self.recent_recordings.truncate(MAX_RECENT);
    }

    /// Changes the settings on disk, so that what another window changed meanwhile stays.
    /// Settings that cannot be read are put aside as `settings.ron.damaged`.
    pub fn change(
        folders: &UserFolders,
        edit: impl FnOnce(&mut Self),
    ) -> Result<Self, SessionError> {
        let path = folders.settings();
        fs::create_dir_all(&folders.config)
            .map_err(|source| SessionError::io("make the folder", &folders.config, source))?;
        let Some(_lock) = LockFile::try_acquire(&folders.config.join(".settings.ron.lock"))? else {
            return Err(SessionError::Busy { path });
        };
        let (mut settings, damage) = Self::load(folders);
        if damage.is_some() {
            let aside = path.with_extension("ron.damaged");
            fs::rename(&path, &aside)
                .map_err(|source| SessionError::io("rename the file", &path, source))?;
        }
        edit(&mut settings);
        let text = to_text(&settings, &path)?;
        replace_file(&RealDisk, &path, text.as_bytes())?;
        Ok(settings)
    }

    /// Puts a session at the top of the recent ones.
    pub fn remember_session(&mut self, path: &Path) {
        remember(&mut self.recent, path);
    }

    /// Puts a folder first among those in which data were located.
    pub fn remember_data_folder(&mut self, path: &Path) {
        remember(&mut self.data_folders, path);
    }
}

fn remember(list: &mut Vec<PathBuf>, path: &Path) {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // The settings are text; a path that is none cannot be remembered.
    if path.to_str().is_none() {
        return;
    }
    list.retain(|known| *known != path);
    list.insert(0, path);
    list.truncate(MAX_RECENT);
}

fn read(path: &Path) -> Result<UserSettings, SessionError> {
    let (text, _) = read_text(path)?;
    format_of(&text, path)?;
    let mut settings: UserSettings = from_text(&text, path)?;
    if !settings.text_size.is_finite() {
        settings.text_size = usual_text_size();
    }
    settings.text_size = settings.text_size.clamp(0.5, 3.0);
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders() -> (tempfile::TempDir, UserFolders) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folders = UserFolders::within(&folder.path().join("new"));
        (folder, folders)
    }

    #[test]
    fn changes_are_found_again_and_other_windows_changes_stay() {
        let (_folder, folders) = folders();
        assert_eq!(UserSettings::load(&folders).0, UserSettings::default());
        UserSettings::change(&folders, |settings| settings.theme = Theme::Dark).expect("written");
        UserSettings::change(&folders, |settings| {
            settings.presets.push(UserPreset {
                name: "mine".into(),
                learner: LearnerSettings::default(),
            });
        })
        .expect("written");
        let (settings, damage) = UserSettings::load(&folders);
        assert!(damage.is_none());
        assert_eq!(settings.theme, Theme::Dark);
        assert_eq!(settings.presets[0].name, "mine");
    }

    #[test]
    fn lines_are_kept_by_name_and_found_by_station() {
        let (_folder, folders) = folders();
        let line = |name: &str, length_km: f64| Line {
            name: name.into(),
            length_km,
            z1_ohm_per_km: (0.1, 0.4),
            z0_ohm_per_km: None,
            source_ohm: None,
        };
        for kept in [
            line("South", 10.0),
            line("North", 20.0),
            line("South", 12.5),
        ] {
            UserSettings::change(&folders, |settings| settings.keep_line(kept)).expect("written");
        }
        let lines = UserSettings::load(&folders).0.lines;
        let named: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(named, ["North", "South"]);
        let found = Line::of_station(&lines, "Substation South 110 kV");
        assert_eq!(found.map(|line| line.length_km), Some(12.5));
        assert_eq!(Line::of_station(&lines, "West"), None);
        assert_eq!(Line::of_station(&[line("", 1.0)], "West"), None);
    }

    #[test]
    fn damaged_settings_start_afresh_and_are_kept_aside() {
        let (_folder, folders) = folders();
        UserSettings::change(&folders, |settings| settings.theme = Theme::Dark).expect("written");
        for damage in ["", "(format: 1, theme: Drak)", "\u{0}", "(format: 7)"] {
            fs::write(folders.settings(), damage).expect("damaged");
            let (settings, said) = UserSettings::load(&folders);
            assert_eq!(settings, UserSettings::default());
            let said = said.expect("the damage is told").to_string();
            assert!(said.ends_with("settings.ron"), "{said}");
            UserSettings::change(&folders, |_| {}).expect("written");
            assert!(UserSettings::load(&folders).1.is_none());
            let aside = folders.config.join("settings.ron.damaged");
            assert_eq!(fs::read_to_string(aside).expect("kept"), damage);
        }
    }

    #[test]
    fn recent_sessions_are_few_and_each_is_there_once_newest_first() {
        let mut settings = UserSettings::default();
        for number in 0..30 {
            settings.remember_session(Path::new(&format!("/s/{}.ron", number % 15)));
        }
        settings.remember_session(Path::new("/s/7.ron"));
        assert_eq!(settings.recent.len(), MAX_RECENT);
        assert_eq!(settings.recent[0], Path::new("/s/7.ron"));
        let sevens = settings.recent.iter().filter(|p| p.ends_with("7.ron"));
        assert_eq!(sevens.count(), 1);
    }
}
