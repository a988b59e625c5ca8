//! Failures of points: after three a point is put aside with its error until somebody retries it.

use serde::{Deserialize, Serialize};

use super::claims::Taken;
use super::error::ClusterError;
use super::folder::{Listing, WorkFolder, remove};

/// A point that failed this often is put aside.
const MOST_FAILURES: usize = 3;

/// One failure.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PointFailure {
    pub(super) worker: String,
    pub(super) error: String,
    /// Whether trying again is of no use.
    is_final: bool,
}

/// Notes that an attempt failed.
pub(super) fn note_failure(
    folder: &WorkFolder,
    taken: Taken,
    worker: &str,
    error: String,
) -> Result<(), ClusterError> {
    write(folder, taken, worker, error, false)
}

/// Puts a point aside at once.
pub(super) fn put_aside(
    folder: &WorkFolder,
    taken: Taken,
    worker: &str,
    error: String,
) -> Result<(), ClusterError> {
    write(folder, taken, worker, error, true)
}

fn write(
    folder: &WorkFolder,
    taken: Taken,
    worker: &str,
    error: String,
    is_final: bool,
) -> Result<(), ClusterError> {
    let path = folder.failure_path(taken.number, taken.attempt);
    let worker = worker.to_owned();
    folder.write(
        &path,
        &PointFailure {
            worker,
            error,
            is_final,
        },
    )
}

/// Whether a point was put aside.
pub(super) fn is_put_aside(folder: &WorkFolder, listing: &Listing, number: usize) -> bool {
    let n_failures = listing.failures.get(&number).map_or(0, |found| found.len());
    n_failures >= MOST_FAILURES
        || (n_failures > 0
            && last_failure(folder, listing, number).is_some_and(|failure| failure.is_final))
}

/// The latest failure of a point.
pub(super) fn last_failure(
    folder: &WorkFolder,
    listing: &Listing,
    number: usize,
) -> Option<PointFailure> {
    let attempt = *listing.failures.get(&number)?.last()?;
    folder.read(&folder.failure_path(number, attempt))
}

impl WorkFolder {
    /// Lets points that were put aside be tried again, or one of them by its number from 0; how
    /// many there were.
    pub fn retry(&self, only: Option<usize>) -> Result<usize, ClusterError> {
        let listing = self.list()?;
        let is_meant = |number: &usize| only.is_none_or(|only| only == *number);
        let aside = listing.failures.keys().copied().filter(is_meant);
        let aside = aside.filter(|number| is_put_aside(self, &listing, *number));
        let mut n_points = 0;
        for number in aside {
            n_points += 1;
            // Its claims go first: they lie under lower numbers than any attempt to come.
            for attempt in listing.attempts.get(&number).into_iter().flatten() {
                remove(&self.claim_path(number, *attempt))?;
            }
            for attempt in listing.failures.get(&number).into_iter().flatten() {
                remove(&self.failure_path(number, *attempt))?;
            }
        }
        Ok(n_points)
    }
}
