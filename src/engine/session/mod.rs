//! Sessions: everything about an experiment in files, saved so that nothing can be lost.
#![doc = include_str!("layout.md")]

mod arrays;
mod atomic_file;
mod data_reference;
mod document;
mod error;
mod format;
mod hash;
mod kept_trends;
mod lock_file;
mod point_progress;
mod point_store;
mod recording_notes;
mod recovery;
mod results;
mod store;
mod sweep_store;
mod user_settings;

pub use atomic_file::write_at_once;
pub(crate) use atomic_file::{RealDisk, replace_file};
pub use data_reference::{
    Content, DATA_VARIABLE, DataPlaces, DataReference, FileContent, Resolution, relative_path,
};
pub use document::{HistoryEntry, Session, renamed_file};
pub use error::SessionError;
pub use format::FORMAT;
pub(crate) use format::{from_text, to_text};
pub use hash::model_sha256;
pub use kept_trends::{KeptTrends, TrendSource};
pub use point_progress::{load_progress, save_progress};
pub use point_store::{DataHash, PointStore, WorkIdentity, point_file_name, point_number};
pub use recording_notes::{
    FaultChoice, GivenChannels, OwnAnnotation, RecordingNotes, UnitBases, change_notes,
    fault_choice, notes_on, station_notes,
};
pub use recovery::{FoundCopies, Recovery, RecoveryOffer, find_copies};
pub use results::{FoldResult, Results};
pub(crate) use store::read_text;
pub use sweep_store::{
    SweepFile, SweepNews, SweepStore, describe_sweep, described_sweep, read_sweep,
};
pub use user_settings::{NamedMontage, Theme, UserFolders, UserPreset, UserSettings};
