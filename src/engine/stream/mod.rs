//! Streams: a trained model applied to what comes in, as it comes in.
//!
//! A [`StreamSource`] delivers [`Arrival`]s: lines of the standard input, files of a watched folder, the end of a growing
//! file, samples of the Lab Streaming Layer, or a recorded stream once more. A [`Feed`] runs it on a thread behind a
//! bounded queue; what a full queue cannot take is counted and becomes a gap. [`LiveJudge`] turns arrivals into
//! [`StreamDecision`]s by the same features, preparation and classifier as files, and learns where labels come.
//! [`SavedStream`] is what survives a restart; [`StreamRecorder`] keeps everything that came in; [`StreamRun`] does all of it.

mod decision;
mod error;
mod export;
mod feed;
mod folder;
mod growing_file;
mod inbox;
mod judge;
mod learning;
mod lines;
mod lsl;
mod lsl_library;
mod open;
mod paced;
mod recorder;
mod replay;
mod run;
mod saved;
mod source;

pub use decision::{StreamDecision, utc_now};
pub use error::StreamError;
pub use export::export_recorded;
pub use feed::{Feed, Timed};
pub use folder::{FileMark, WatchedFolder};
pub use growing_file::{GrowingFile, WholeFile};
pub use inbox::{Inbox, InboxColumn, InboxQuery, InboxShow, JudgedFile};
pub use judge::{LiveJudge, Outcome};
pub use learning::{Learning, LiveScores};
pub use lines::{LineKind, LineSource};
pub use lsl::{LslSource, LslStream, find_lsl_streams};
pub use open::{judge_for, open_source};
pub use paced::Paced;
pub use recorder::StreamRecorder;
pub use replay::{ReplaySource, is_recorded_stream};
pub use run::{Delays, StreamRun};
pub use saved::SavedStream;
pub use source::{Arrival, StreamSource};
