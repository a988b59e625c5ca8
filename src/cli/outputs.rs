//! Files that results go to: checked and reserved before the work begins, kept elsewhere if they cannot be written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf, is_separator};
use std::process;

use atomscope_engine::export;
use atomscope_engine::session::{Session, UserFolders};

use super::ending::{Failure, is_stdout};

/// A file that a result will be written to, or the standard output.
#[derive(Debug)]
pub(super) struct Output {
    path: PathBuf,
    /// Holds the place beside the file until the result is there.
    reservation: Option<PathBuf>,
}

/// Where a result is kept that could not be written where it should.
#[derive(Debug, thiserror::Error)]
#[error("{reason}; {kept}")]
pub(super) struct Lost {
    reason: String,
    kept: String,
}

impl Output {
    /// Makes sure that the file can be written: its folder is there and takes files, and what has its name now is a
    /// file that may be replaced.
    pub(super) fn reserve(path: &Path) -> Result<Self, Failure> {
        if is_stdout(path) {
            return Ok(Self {
                path: path.to_owned(),
                reservation: None,
            });
        }
        let cannot = |reason: String| {
            Failure::Usage(format!(
                "cannot write the result: {reason}: {}",
                path.display()
            ))
        };
        let last = path.as_os_str().as_encoded_bytes().last();
        let is_folder = path.is_dir() || last.is_some_and(|byte| is_separator(char::from(*byte)));
        let Some(name) = path.file_name().filter(|_| !is_folder) else {
            return Err(cannot("it is a folder; name a file".to_owned()));
        };
        if path.exists() {
            let opened = OpenOptions::new().append(true).open(path);
            opened.map_err(|error| cannot(error.to_string()))?;
        }
        let name = format!(".{}.{}.reserved", name.to_string_lossy(), process::id());
        let beside = path.with_file_name(name);
        let is_device = path.exists() && !path.is_file();
        let reservation = match File::create_new(&beside) {
            Ok(_) => Some(beside),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(cannot("two results cannot go to one file".to_owned()));
            }
            // A device takes what is written to it, whatever its folder allows.
            Err(_) if is_device => None,
            Err(error) => return Err(cannot(error.to_string())),
        };
        Ok(Self {
            path: path.to_owned(),
            reservation,
        })
    }

    /// The same for a session, whose name must end in .ron.
    pub(super) fn reserve_session(path: &Path) -> Result<Self, Failure> {
        if path.extension().is_none_or(|ending| ending != "ron") {
            let path = path.display();
            let text = format!("the name of a session ends in .ron, as in `name.ron`: {path}");
            return Err(Failure::Usage(text));
        }
        Self::reserve(path)
    }

    /// Reserves a file if one is named.
    pub(super) fn reserve_named(path: Option<&Path>) -> Result<Option<Self>, Failure> {
        path.map(Self::reserve).transpose()
    }

    /// A file whose folder was reserved.
    pub(super) fn unreserved(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            reservation: None,
        }
    }

    pub(super) fn is_stdout(&self) -> bool {
        is_stdout(&self.path)
    }

    /// Writes the result; what cannot be written here is kept elsewhere.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), Lost> {
        export::write(&self.path, bytes).map_err(|error| {
            self.kept(error.to_string(), |path| export::write(path, bytes).is_ok())
        })
    }

    /// Saves a session here, or elsewhere.
    pub(super) fn save(&self, session: &mut Session) -> Result<(), Lost> {
        session
            .save_as(&self.path)
            .map_err(|error| self.kept(error.to_string(), |path| session.save_as(path).is_ok()))
    }

    fn kept(&self, reason: String, write: impl FnMut(&Path) -> bool) -> Lost {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let mut name = PathBuf::from(format!("{stem}.recovered-{}", process::id()));
        if let Some(ending) = self.path.extension() {
            name.add_extension(ending);
        }
        Lost::kept(&name, reason, write)
    }
}

impl Lost {
    /// Tries the user's own folder, the folder for temporary files and the current one.
    fn kept(name: &Path, reason: String, mut write: impl FnMut(&Path) -> bool) -> Self {
        let own = UserFolders::find().ok().map(|folders| folders.state);
        let folders = own
            .into_iter()
            .chain([std::env::temp_dir(), PathBuf::from(".")]);
        for folder in folders {
            let path = folder.join(name);
            let made = fs::create_dir_all(&folder).is_ok();
            if made && write(&path) {
                let kept = format!("the result was kept in {}", path.display());
                return Self { reason, kept };
            }
        }
        let kept = "and it could be kept in no other folder either".to_owned();
        Self { reason, kept }
    }
}

/// Writes the files of a result into its folder, or into a new one elsewhere.
pub(super) fn write_folder<E: ToString>(
    folder: &Path,
    write: impl Fn(&Path) -> Result<(), E>,
) -> Result<(), Lost> {
    let Err(error) = write(folder) else {
        return Ok(());
    };
    let stem = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = PathBuf::from(format!("{stem}.recovered-{}", process::id()));
    let write = |path: &Path| fs::create_dir_all(path).is_ok() && write(path).is_ok();
    Err(Lost::kept(&name, error.to_string(), write))
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(reservation) = &self.reservation {
            // A name that is left over does no harm.
            fs::remove_file(reservation).unwrap_or_default();
        }
    }
}

/// Refuses results that would replace what they come from: a file that is read or belongs to it, or a table of a folder
/// that is read.
pub(super) fn refuse_inputs(
    results: &[Option<&Path>],
    inputs: &[impl AsRef<Path>],
) -> Result<(), Failure> {
    let existing = |path: &&Path| !is_stdout(path) && path.is_file();
    for result in results.iter().flatten().copied().filter(existing) {
        if inputs
            .iter()
            .any(|input| is_of_input(result, input.as_ref()))
        {
            let path = result.display();
            let text =
                format!("the result would replace what it is made from; name another file: {path}");
            return Err(Failure::Usage(text));
        }
    }
    Ok(())
}

fn is_of_input(result: &Path, input: &Path) -> bool {
    /// Endings of the files that make up one record.
    const PARTS: [&str; 9] = [
        "cfg",
        "dat",
        "hdr",
        "inf",
        "vhdr",
        "vmrk",
        "eeg",
        "ron",
        "safetensors",
    ];
    /// Endings of tables, which may name classes.
    const TABLES: [&str; 6] = ["csv", "tsv", "txt", "xlsx", "ods", "arff"];
    let (Ok(result), Ok(input)) = (fs::canonicalize(result), fs::canonicalize(input)) else {
        return false;
    };
    let ending = result
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let are_parts = || {
        let is_part = input.with_extension("") == result.with_extension("");
        is_part && PARTS.contains(&ending.as_str()) && input.is_file()
    };
    let is_inside = || input.is_dir() && result.starts_with(&input);
    let is_recording = PARTS.contains(&ending.as_str()) || TABLES.contains(&ending.as_str());
    result == input || are_parts() || (is_inside() && is_recording)
}

/// Makes sure that a folder is there and takes files.
pub(super) fn reserve_folder(folder: &Path) -> Result<(), Failure> {
    let probe = folder.join(format!(".{}.reserved", process::id()));
    let made = fs::create_dir_all(folder).and_then(|()| File::create(&probe));
    made.map_err(|error| {
        Failure::Usage(format!(
            "cannot write into the folder: {error}: {}",
            folder.display()
        ))
    })?;
    fs::remove_file(&probe).unwrap_or_default();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_cannot_be_written_is_refused_before_the_work() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = |path: &Path| matches!(Output::reserve(path), Err(Failure::Usage(_)));
        assert!(refused(folder.path()), "a folder is no file");
        assert!(refused(&folder.path().join("new/")), "the name of a folder");
        assert!(refused(&folder.path().join("nowhere/out.json")));
        // Found out at the end, the training would be lost.
        for name in ["out.txt", "-", "ron"] {
            let reserved = Output::reserve_session(&folder.path().join(name));
            assert!(matches!(reserved, Err(Failure::Usage(_))), "{name}");
        }
        let path = folder.path().join("out.json");
        let output = Output::reserve(&path).expect("it can be written");
        assert!(!path.exists(), "nothing is there before the result is");
        assert!(refused(&path), "another result would replace this one");
        output.write(b"{}").expect("written");
        drop(output);
        let names: Vec<_> = fs::read_dir(folder.path()).expect("listed").collect();
        assert_eq!(names.len(), 1, "the reservation is gone: {names:?}");
    }

    #[test]
    fn a_folder_of_results_that_goes_away_is_kept_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("study");
        let write = |path: &Path| fs::write(path.join("report.html"), "scores");
        fs::create_dir(&inner).expect("made");
        write_folder(&inner, write).expect("it is there");
        fs::remove_dir_all(&inner).expect("removed");
        let lost = write_folder(&inner, write).expect_err("there is no folder");
        let lost = lost.to_string();
        let (_, kept) = lost.split_once("kept in ").expect("its place is told");
        let kept = Path::new(kept);
        let text = fs::read_to_string(kept.join("report.html")).expect("it is there");
        assert_eq!(text, "scores");
        fs::remove_dir_all(kept).expect("removed");
    }

    #[test]
    fn a_result_replaces_nothing_that_it_is_made_from() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["a.csv", "r.cfg", "r.dat", "out.json", "labels.csv"] {
            fs::write(at(name), "x").expect("written");
        }
        let other_way = folder.path().join(".").join("a.csv");
        for (result, input, is_refused) in [
            (at("a.csv"), at("a.csv"), true),
            (other_way, at("a.csv"), true),
            (at("r.dat"), at("r.cfg"), true),
            (at("labels.csv"), folder.path().to_owned(), true),
            (at("out.json"), folder.path().to_owned(), false),
            (at("out.json"), at("a.csv"), false),
            (at("new.csv"), folder.path().to_owned(), false),
        ] {
            let found = refuse_inputs(&[None, Some(&result)], &[&input]);
            assert_eq!(
                found.is_err(),
                is_refused,
                "{} {}",
                result.display(),
                input.display()
            );
        }
    }

    #[test]
    fn a_result_whose_folder_goes_away_is_kept_and_its_place_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).expect("made");
        let output = Output::reserve(&inner.join("lost.json")).expect("it can be written");
        fs::remove_dir_all(&inner).expect("removed");
        let lost = output
            .write(b"{\"a\":1}")
            .expect_err("there is no folder")
            .to_string();
        let (_, kept) = lost.split_once("kept in ").expect("its place is told");
        let kept = Path::new(kept);
        assert_eq!(fs::read(kept).expect("it is there"), b"{\"a\":1}");
        fs::remove_file(kept).expect("removed");
    }
}
