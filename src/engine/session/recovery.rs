//! The recovery copy: what a crash would lose, kept beside the session and offered once.
//!
//! A copy is a session of its own, `name.recovery.ron`. Whoever writes it holds a lock that
//! ends with the process, so a copy that nobody holds was left by a crash. While the session
//! itself is saved, a mark tells what the session was before: if the crash comes between the
//! save and the removal of the copy, the copy is known to be out of date.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::SessionError;
use super::atomic_file::{RealDisk, folder_of, replace_file};
use super::document::{Session, write};
use super::hash::hash_of;
use super::lock_file::LockFile;
use super::store::{Replace, read_text, remove};
use super::user_settings::UserFolders;

/// Most copies of one session: windows that have it open, and crashes not yet looked at.
const MAX_SLOTS: usize = 8;

/// The place of one copy.
#[derive(Clone, Debug)]
struct Slot {
    copy: PathBuf,
    mark: PathBuf,
    lock: PathBuf,
}

impl Slot {
    fn numbered(folder: &Path, stem: &str, number: usize) -> Self {
        let name = match number {
            1 => format!("{stem}.recovery"),
            _ => format!("{stem}.recovery-{number}"),
        };
        Self {
            copy: folder.join(format!("{name}.ron")),
            mark: folder.join(format!(".{name}.saving")),
            lock: folder.join(format!(".{name}.lock")),
        }
    }

    fn remove_copy(&self) -> Result<(), SessionError> {
        remove(&RealDisk, &self.copy)?;
        self.remove_mark();
        Ok(())
    }

    fn remove_mark(&self) {
        // A mark without a copy means nothing.
        fs::remove_file(&self.mark).unwrap_or_default();
    }
}

/// Where copies of a session can be: beside it, or with the user's own files if it has no
/// place yet or its folder cannot be written.
fn places(session: Option<&Path>, folders: &UserFolders) -> Vec<(PathBuf, String)> {
    let Some(path) = session else {
        return vec![(folders.state.clone(), "untitled".to_owned())];
    };
    let stem = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let digits = hash_of(absolute.to_string_lossy().as_bytes());
    let elsewhere = format!("{stem}-{}", &digits[..8]);
    vec![
        (folder_of(path).to_owned(), stem),
        (folders.state.clone(), elsewhere),
    ]
}

/// The recovery copy of an open session.
#[derive(Debug)]
pub struct Recovery {
    session: Option<PathBuf>,
    slot: Slot,
    /// Held as long as the session is open.
    _lock: LockFile,
}

impl Recovery {
    /// Takes a place for copies of the session at `path`, or of one that has no name yet.
    pub fn claim(path: Option<&Path>, folders: &UserFolders) -> Result<Self, SessionError> {
        let mut refusal = None;
        for (folder, stem) in places(path, folders) {
            match Self::claim_in(&folder, &stem, path) {
                Ok(recovery) => return Ok(recovery),
                Err(error) => refusal = Some(error),
            }
        }
        Err(refusal.unwrap_or(SessionError::NoUserFolder))
    }

    fn claim_in(folder: &Path, stem: &str, path: Option<&Path>) -> Result<Self, SessionError> {
        fs::create_dir_all(folder)
            .map_err(|source| SessionError::io("make the folder", folder, source))?;
        for number in 1..=MAX_SLOTS {
            let slot = Slot::numbered(folder, stem, number);
            // A copy left by a crash stays until the user has decided on it.
            if let Some(lock) = LockFile::try_acquire(&slot.lock)?
                && !slot.copy.exists()
            {
                return Ok(Self::holding(slot, lock, path));
            }
        }
        Err(SessionError::NoRecoverySlot {
            n_copies: MAX_SLOTS,
            folder: folder.to_owned(),
        })
    }

    fn holding(slot: Slot, lock: LockFile, path: Option<&Path>) -> Self {
        Self {
            session: path.map(Path::to_owned),
            slot,
            _lock: lock,
        }
    }

    /// Writes a copy now.
    pub fn write(&mut self, session: &Session) -> Result<(), SessionError> {
        write(&self.slot.copy, Replace::Anything, session)?;
        self.slot.remove_mark();
        Ok(())
    }

    /// Does `save`, which saves the session itself; after it the copy is not needed any more.
    pub fn around_save<T>(
        &mut self,
        save: impl FnOnce() -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        if !self.slot.copy.exists() {
            return save();
        }
        // Without a mark the worst is an offer too many; that must not prevent the save.
        let before = session_hash(self.session.as_deref());
        replace_file(&RealDisk, &self.slot.mark, before.as_bytes()).unwrap_or_default();
        let saved = save();
        match saved {
            Ok(_) => self.slot.remove_copy()?,
            Err(_) => self.slot.remove_mark(),
        }
        saved
    }

    /// Ends it without a trace: the session is closed, saved or given up by the user.
    pub fn close(self) -> Result<(), SessionError> {
        self.slot.remove_copy()
    }
}

/// The hash of a session on disk; nothing if there is none.
fn session_hash(path: Option<&Path>) -> String {
    path.and_then(|path| read_text(path).ok())
        .map_or(String::new(), |(_, stamp)| stamp.0)
}

/// A copy that a crash left behind.
#[derive(Debug)]
pub struct RecoveryOffer {
    /// What the copy holds.
    pub session: Session,
    /// When it was written.
    pub written: Option<SystemTime>,
    recovery: Recovery,
}

impl RecoveryOffer {
    /// Goes on with the copy. It stays on disk until the session is saved or closed.
    pub fn accept(self) -> (Session, Recovery) {
        (self.session, self.recovery)
    }

    /// Gives the copy up for good.
    pub fn decline(self) -> Result<(), SessionError> {
        self.recovery.close()
    }
}

impl RecoveryOffer {
    /// Where the session is saved that the copy belongs to; nothing if it was never saved.
    pub fn belongs_to(&self) -> Option<&Path> {
        self.recovery.session.as_deref()
    }
}

/// What a search for copies has found.
#[derive(Debug, Default)]
pub struct FoundCopies {
    /// Copies to be offered to the user, the newest first.
    pub offers: Vec<RecoveryOffer>,
    /// Copies that cannot be read; they were put aside.
    pub broken: Vec<SessionError>,
}

impl FoundCopies {
    /// Puts the newest offer first, whatever session it belongs to.
    pub fn sort(&mut self) {
        self.offers
            .sort_by_key(|offer| std::cmp::Reverse(offer.written));
    }
}

/// Looks for copies of the session at `path` (or of sessions without a name) left by a crash.
pub fn find_copies(
    path: Option<&Path>,
    folders: &UserFolders,
) -> Result<FoundCopies, SessionError> {
    let mut found = FoundCopies::default();
    for (folder, stem) in places(path, folders) {
        for number in 1..=MAX_SLOTS {
            let slot = Slot::numbered(&folder, &stem, number);
            if !slot.copy.exists() {
                continue;
            }
            // Held by a process that is alive: no crash.
            let Some(lock) = LockFile::try_acquire(&slot.lock)? else {
                continue;
            };
            // Its owner may have closed it between the look and the lock.
            if !slot.copy.exists() {
                continue;
            }
            match examine(slot, lock, path)? {
                Examined::OutOfDate => {}
                Examined::Offer(offer) => found.offers.push(*offer),
                Examined::Broken(error) => found.broken.push(error),
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What a copy turned out to be.
enum Examined {
    /// The last save holds the same or more; the copy is removed.
    OutOfDate,
    Offer(Box<RecoveryOffer>),
    Broken(SessionError),
}

fn examine(slot: Slot, lock: LockFile, path: Option<&Path>) -> Result<Examined, SessionError> {
    if let Ok((before, _)) = read_text(&slot.mark)
        && before != session_hash(path)
    {
        // The session was saved after the copy was written.
        slot.remove_copy()?;
        return Ok(Examined::OutOfDate);
    }
    let mut session = match Session::load(&slot.copy) {
        Ok(session) => match &session.damage {
            None => session,
            Some(damage) => return put_aside(&slot, damage),
        },
        Err(error) => return put_aside(&slot, &error),
    };
    if is_saved(&session, path) {
        slot.remove_copy()?;
        return Ok(Examined::OutOfDate);
    }
    session.belongs_to(path);
    let written = fs::metadata(&slot.copy).and_then(|metadata| metadata.modified());
    Ok(Examined::Offer(Box::new(RecoveryOffer {
        session,
        written: written.ok(),
        recovery: Recovery::holding(slot, lock, path),
    })))
}

fn put_aside(slot: &Slot, error: &SessionError) -> Result<Examined, SessionError> {
    let aside = slot.copy.with_extension("ron.broken");
    fs::rename(&slot.copy, &aside)
        .map_err(|source| SessionError::io("rename the file", &slot.copy, source))?;
    slot.remove_copy()?;
    Ok(Examined::Broken(SessionError::BrokenRecovery {
        reason: error.to_string(),
        path: aside,
    }))
}

/// Whether the last save holds the same as the copy.
fn is_saved(copy: &Session, path: Option<&Path>) -> bool {
    let Some(path) = path else {
        return false;
    };
    let saved = read_text(path).and_then(|(text, _)| Session::from_text(&text, path));
    match (
        saved.and_then(|saved| saved.to_text(path)),
        copy.to_text(path),
    ) {
        (Ok(saved), Ok(copy)) => saved == copy,
        _ => false,
    }
}
