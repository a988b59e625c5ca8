//! Recordings, fault records, tables and arrays from files: one reader per format, all giving a [`Record`].
//!
//! [`open`] looks at content and extension, and hands the file to its reader. A
//! reader takes an [`Input`] (a file, or bytes in memory, with the files beside
//! it) and [`ReadOptions`]; it reads headers at once and samples when asked.

pub mod arff;
mod block_samples;
pub mod brainvision;
mod byte_source;
pub mod catalog;
pub mod comtrade;
mod content_hash;
mod data_records;
pub mod edf;
pub mod electrode_positions;
pub mod event_list;
mod events_beside;
pub mod fif;
mod file_cache;
mod findings;
mod fuzz_entries;
pub mod gdf;
mod ini;
pub mod mat;
pub mod nihon_kohden;
pub mod npy;
pub mod npz;
mod number_column;
mod numbers;
pub mod overview;
pub mod persyst;
mod read_error;
mod readers;
mod record;
mod scratch_file;
mod sel_event;
mod source_id;
mod source_reader;
mod start_time;
pub mod table;
mod text;
mod text_encoding;
mod unit;
mod unread;
pub mod workbook;
pub mod xdf;
mod zip;

pub use byte_source::{ByteSource, Input};
pub use content_hash::ContentHash;
pub(crate) use content_hash::{hexadecimal, open_regular};
pub(crate) use file_cache::{FileCache, program_build};
pub use findings::{FilePlace, Findings, Mode, ReadOptions, Warning};
pub use fuzz_entries::{FUZZ_ENTRIES, FuzzEntry, PART_SEPARATOR, visit};
pub use numbers::{Number, Stored, StridedSamples};
pub use read_error::ReadError;
pub use readers::{READERS, Reader, open, open_with, read};
pub(crate) use record::first_names;
pub use record::{
    Annotation, ArrayInfo, Channel, ChannelKind, Format, Gap, GridChannel, GridFacts, Identity,
    Kind, MemorySamples, Quantisation, RateSection, Record, Samples, Segment, Sensor, Source,
    TimeAxis, TransformerSide,
};
pub(crate) use scratch_file::{ScratchFile, ScratchWriter, scratch_folder};
pub use source_id::SourceId;
pub(crate) use source_id::{path_keys, path_text, path_texts};
pub use start_time::StartTime;
pub use text::counted;
pub use unit::{Quantity, Unit};
