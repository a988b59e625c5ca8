//! A point halfway through, as a file: what a worker leaves for the next one.

use std::fs;
use std::path::Path;

use super::SessionError;
use super::arrays::{Arrays, read_arrays};
use super::atomic_file::{RealDisk, Staged};
use crate::experiment::PointProgress;

fn damaged(path: &Path, reason: impl ToString) -> SessionError {
    SessionError::ArraysDamaged {
        reason: reason.to_string(),
        path: path.to_owned(),
    }
}

/// Replaces the file with this progress, whole or not at all.
pub fn save_progress(path: &Path, progress: &PointProgress) -> Result<(), SessionError> {
    let arrays = Arrays::of(progress).map_err(|error| damaged(path, error))?;
    Staged::write(&RealDisk, path, &mut |out| arrays.write_to(out))?.commit(path)
}

/// The progress in a file; nothing if there is none.
pub fn load_progress(path: &Path) -> Result<Option<PointProgress>, SessionError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SessionError::io("read the file", path, error)),
    };
    let progress = read_arrays(&bytes).map_err(|error| damaged(path, error))?;
    Ok(Some(progress))
}
