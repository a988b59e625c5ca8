//! Claims: which worker has which point. Each attempt at a point has a claim of its own, made by an
//! atomic hard link; the latest attempt counts.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::error::ClusterError;
use super::failures::is_put_aside;
use super::folder::{Listing, WorkFolder, remove};
use super::heartbeat::{DEAD_AFTER, Life, apart, life_of};
use crate::session::to_text;

/// Workers that may die at one point before it is put aside: something in it kills them.
const MOST_DEATHS: usize = 50;

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum AttemptStage {
    /// Its worker is at it, if it lives.
    Held,
    /// Its worker has left it: stopped, or failed.
    Released,
    /// The point is finished.
    Done,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    pub(super) worker: String,
    pub(super) stage: AttemptStage,
}

/// A point that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) number: usize,
    pub(super) attempt: u32,
}

/// What a worker finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A point to be computed.
    Point(Taken),
    /// Nothing but points of others, who may die.
    Others,
    /// Every point is finished or was put aside.
    Nothing,
}

/// Takes a point that is open, or left by its worker, or whose worker is dead; of several that with
/// the fewest attempts. A point waits until as many first points are finished as `n_needed` says;
/// where one of these was put aside, there is nothing to wait for.
pub(super) fn take_next(
    folder: &WorkFolder,
    n_points: usize,
    n_needed: &dyn Fn(usize) -> usize,
    worker: &str,
) -> Result<Found, ClusterError> {
    let listing = folder.list()?;
    let mut found = Found::Nothing;
    let mut now = None;
    // Those that killed workers come last: one that needs too much memory costs no other its turn.
    let n_attempts = |number: &usize| listing.attempts.get(number).map_or(0, |found| found.len());
    let first_open = (0..n_points).find(|number| !listing.done.contains(number));
    let first_open = first_open.unwrap_or(n_points);
    let mut numbers: Vec<usize> = (0..n_points).collect();
    numbers.retain(|number| n_needed(*number) <= first_open);
    numbers.sort_by_key(n_attempts);
    for number in numbers {
        if listing.done.contains(&number) || is_put_aside(folder, &listing, number) {
            continue;
        }
        let attempt = match last_claim(folder, &listing, number) {
            None => 1,
            Some((last, AttemptStage::Released, _)) => last + 1,
            Some((last, AttemptStage::Held, holder)) => {
                let now = *now.get_or_insert_with(|| folder.now());
                match life_of(folder, &holder, now) {
                    Life::Dead => last + 1,
                    Life::Alive(..) => {
                        found = Found::Others;
                        continue;
                    }
                }
            }
            // Its result will be seen in a moment, unless somebody has removed it since.
            Some((last, AttemptStage::Done, _)) => {
                let now = *now.get_or_insert_with(|| folder.now());
                match is_old(&folder.claim_path(number, last), now) {
                    true => last + 1,
                    false => {
                        found = Found::Others;
                        continue;
                    }
                }
            }
        };
        if n_deaths(folder, &listing, number) >= MOST_DEATHS {
            let error = format!(
                "{MOST_DEATHS} workers ended at this point without a message: it may need more memory than a worker has"
            );
            super::failures::put_aside(folder, Taken { number, attempt }, worker, error)?;
            continue;
        }
        let taken = Taken { number, attempt };
        if claim(folder, taken, worker)? {
            // Somebody may have finished it since the folder was listed.
            if folder.list()?.done.contains(&number) {
                settle(folder, taken, worker, AttemptStage::Done)?;
                continue;
            }
            return Ok(Found::Point(taken));
        }
        found = Found::Others;
    }
    Ok(found)
}

/// Whether a file was last written longer ago than any cache of a file system lasts.
fn is_old(path: &Path, now: SystemTime) -> bool {
    let written = fs::metadata(path).and_then(|found| found.modified());
    written.is_ok_and(|written| apart(now, written) > DEAD_AFTER)
}

/// The latest attempt at a point, and who has it. What cannot be read belongs to nobody alive.
pub(super) fn last_claim(
    folder: &WorkFolder,
    listing: &Listing,
    number: usize,
) -> Option<(u32, AttemptStage, String)> {
    let last = *listing.attempts.get(&number)?.last()?;
    let claim = folder.read::<Claim>(&folder.claim_path(number, last));
    Some(match claim {
        Some(claim) => (last, claim.stage, claim.worker),
        None => (last, AttemptStage::Held, String::new()),
    })
}

/// Earlier attempts that nobody ended.
fn n_deaths(folder: &WorkFolder, listing: &Listing, number: usize) -> usize {
    let attempts = listing.attempts.get(&number);
    if attempts.is_none_or(|attempts| attempts.len() < MOST_DEATHS) {
        return 0;
    }
    let held = listing.attempts.get(&number).into_iter().flatten();
    let held = held.filter(|attempt| {
        let claim = folder.read::<Claim>(&folder.claim_path(number, **attempt));
        claim.is_none_or(|claim| claim.stage == AttemptStage::Held)
    });
    held.count()
}

/// Claims a point for an attempt; whether it was won.
fn claim(folder: &WorkFolder, taken: Taken, worker: &str) -> Result<bool, ClusterError> {
    let path = folder.claim_path(taken.number, taken.attempt);
    let staged = folder.inner(&format!(".claim-{worker}"));
    let claim = Claim {
        worker: worker.to_owned(),
        stage: AttemptStage::Held,
    };
    fs::write(&staged, to_text(&claim, &path)?)
        .map_err(|error| ClusterError::io("write the claim", &staged, error))?;
    let linked = fs::hard_link(&staged, &path);
    drop(remove(&staged));
    match linked {
        Ok(()) => Ok(true),
        // On NFS the answer to a link that was made may be lost, and the repeated request is told
        // that the name exists: then the claim is our own.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let found = folder.read::<Claim>(&path);
            Ok(found
                .is_some_and(|found| found.worker == worker && found.stage == AttemptStage::Held))
        }
        // Somebody has finished everything and cleaned up.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) if error.kind() == ErrorKind::Unsupported => Err(ClusterError::NoLinks { path }),
        Err(error) => Err(ClusterError::io("claim the point", &path, error)),
    }
}

/// Ends an attempt.
pub(super) fn settle(
    folder: &WorkFolder,
    taken: Taken,
    worker: &str,
    stage: AttemptStage,
) -> Result<(), ClusterError> {
    let path = folder.claim_path(taken.number, taken.attempt);
    let worker = worker.to_owned();
    folder.write(&path, &Claim { worker, stage })
}

/// Whether somebody else has taken the point since, as from the dead.
pub(super) fn is_superseded(folder: &WorkFolder, taken: Taken) -> bool {
    folder.claim_path(taken.number, taken.attempt + 1).exists()
}
