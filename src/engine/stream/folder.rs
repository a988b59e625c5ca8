//! A watched folder: files count when they have rested, and never twice.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use super::{Arrival, StreamError, StreamSource};
use crate::records::Mode;
use crate::records::catalog::{Folder, Rule, label};

/// How often the folder is listed.
const LIST_EVERY: Duration = Duration::from_millis(250);

/// What a file looked like: a file that looks the same is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileMark {
    /// Bytes of the file and of those of the same name beside it.
    pub size_bytes: u64,
    /// The latest change of any of them, in nanoseconds since 1970.
    pub modified_ns: u64,
}

impl FileMark {
    /// The marks of the file and of the files that share its name up to the ending (the .dat of a .cfg).
    pub fn of(path: &Path) -> Option<Self> {
        let mut mark = Self::of_one(path)?;
        let stem = path.file_stem()?;
        for entry in fs::read_dir(path.parent()?).ok()?.flatten() {
            let other = entry.path();
            if other != path
                && other.file_stem() == Some(stem)
                && let Some(beside) = Self::of_one(&other)
            {
                mark.size_bytes += beside.size_bytes;
                mark.modified_ns = mark.modified_ns.max(beside.modified_ns);
            }
        }
        Some(mark)
    }

    fn of_one(path: &Path) -> Option<Self> {
        let facts = fs::metadata(path).ok()?;
        let modified = facts.modified().ok()?;
        let since = modified
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        Some(Self {
            size_bytes: facts.len(),
            modified_ns: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
        })
    }
}

/// A folder whose new files are delivered, each once.
pub struct WatchedFolder {
    folder: PathBuf,
    class_names: Vec<String>,
    rest: Duration,
    /// Files delivered, by their path in the folder.
    known: BTreeMap<PathBuf, FileMark>,
    labelled: BTreeMap<PathBuf, String>,
    /// Files seen and since when they look as they do.
    waiting: BTreeMap<PathBuf, (FileMark, Instant)>,
    ready: VecDeque<Arrival>,
    /// The table of labels, since when it looks as it does, and whether it was complained of.
    label_table: Option<(FileMark, Instant, bool)>,
    last_listing: Option<Instant>,
    has_complained: bool,
}

impl WatchedFolder {
    /// Watches a folder; `known` files were delivered before and come again only when they look otherwise.
    pub fn new(
        folder: &Path,
        class_names: &[String],
        rest: Duration,
        known: BTreeMap<PathBuf, FileMark>,
        labelled: BTreeMap<PathBuf, String>,
    ) -> Self {
        Self {
            folder: folder.to_owned(),
            class_names: class_names.to_vec(),
            rest,
            known,
            labelled,
            waiting: BTreeMap::new(),
            ready: VecDeque::new(),
            label_table: None,
            last_listing: None,
            has_complained: false,
        }
    }

    fn list(&mut self) -> Result<(), StreamError> {
        let listed = match Folder::scan(&self.folder) {
            Ok(listed) => listed,
            // The folder may come back: a share that was unmounted, say.
            Err(error) if self.last_listing.is_some() => {
                if !self.has_complained {
                    self.ready.push_back(Arrival::Note(error.to_string()));
                }
                self.has_complained = true;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        self.has_complained = false;
        let mut seen = BTreeMap::new();
        for file in &listed.files {
            let path = self.folder.join(file);
            let Some(mark) = FileMark::of(&path) else {
                continue;
            };
            if mark.size_bytes == 0 || self.known.get(file) == Some(&mark) {
                continue;
            }
            let since = match self.waiting.get(file) {
                Some((before, since)) if *before == mark => *since,
                _ => Instant::now(),
            };
            // By the time that it was watched: clocks of shares and copied times tell nothing.
            if since.elapsed() >= self.rest {
                self.known.insert(file.clone(), mark.clone());
                self.ready.push_back(Arrival::File { path, mark });
            } else {
                seen.insert(file.clone(), (mark, since));
            }
        }
        self.waiting = seen;
        self.find_labels(&listed);
        Ok(())
    }

    /// Labels of files that were delivered: the table `labels.csv` first, then the name of the sub-folder.
    fn find_labels(&mut self, listed: &Folder) {
        let table = listed.tables.iter().find(|table| {
            let stem = table.file_stem().unwrap_or_default();
            stem.eq_ignore_ascii_case("labels")
        });
        let table = table.map(|table| self.folder.join(table));
        let mark = table.as_deref().and_then(FileMark::of);
        let mut from_table = BTreeMap::new();
        if let (Some(path), Some(mark)) = (table, mark) {
            let (since, is_told) = match &self.label_table {
                Some((known, since, is_told)) if *known == mark => (*since, *is_told),
                _ => (Instant::now(), false),
            };
            let mut outcome = Ok(());
            if since.elapsed() >= self.rest {
                let rules = [Rule::Table { path }];
                let labelled = label(listed, &rules, Mode::Tolerant, |_| true);
                outcome = labelled.map(|set| {
                    let files = set.files.into_iter();
                    from_table.extend(files.filter_map(|file| Some((file.path, file.class?))));
                });
            }
            if let (Err(error), false) = (&outcome, is_told) {
                self.ready.push_back(Arrival::Note(error.to_string()));
            }
            self.label_table = Some((mark, since, is_told || outcome.is_err()));
        }
        for file in self.known.keys() {
            let parent = file.parent().and_then(Path::file_name);
            let parent = parent.map(|name| name.to_string_lossy().into_owned());
            let of_folder = parent.filter(|name| self.class_names.contains(name));
            let Some(class) = from_table.remove(file).or(of_folder) else {
                continue;
            };
            if self.labelled.get(file) != Some(&class) {
                self.labelled.insert(file.clone(), class.clone());
                let path = self.folder.join(file);
                self.ready.push_back(Arrival::Label { path, class });
            }
        }
    }
}

impl StreamSource for WatchedFolder {
    fn next(&mut self) -> Result<Arrival, StreamError> {
        if let Some(arrival) = self.ready.pop_front() {
            return Ok(arrival);
        }
        if let Some(last) = self.last_listing {
            std::thread::sleep(LIST_EVERY.saturating_sub(last.elapsed()));
        }
        self.list()?;
        self.last_listing = Some(Instant::now());
        Ok(self.ready.pop_front().unwrap_or(Arrival::Nothing))
    }
}
