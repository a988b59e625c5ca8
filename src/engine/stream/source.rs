//! Where streams come from: one trait for all sources.

use std::path::PathBuf;

use super::StreamError;
use super::folder::FileMark;
use crate::records::Channel;

/// What a source delivers.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrival {
    /// Nothing for the moment.
    Nothing,
    /// The channels of the frames that follow.
    Channels {
        /// Name and unit of each.
        channels: Vec<Channel>,
        /// Samples per second.
        rate_hz: f64,
    },
    /// Values of all channels at one time, one time after the other.
    Frames(Vec<f64>),
    /// Samples were lost, or the clock jumped.
    Gap {
        /// Length; 0 if unknown.
        lost_s: f64,
    },
    /// The features of one sample.
    Row {
        /// In the order of the model's features.
        features: Vec<f64>,
        /// Its class, where the source knows it.
        label: Option<String>,
    },
    /// A whole recording or fault record.
    File {
        /// Where it is.
        path: PathBuf,
        /// What it looked like when it counted as complete.
        mark: FileMark,
    },
    /// The class of a file that came before.
    Label {
        /// The file.
        path: PathBuf,
        /// The class.
        class: String,
    },
    /// Something that the user should know.
    Note(String),
    /// Nothing comes any more.
    End,
}

/// A source of samples or files.
pub trait StreamSource: Send {
    /// What comes next; waits for a fraction of a second at most, and then says that there is nothing, unless the
    /// system itself blocks (the standard input).
    fn next(&mut self) -> Result<Arrival, StreamError>;

    /// Whether the source waits while its queue is full; one that cannot loses samples, which are counted.
    fn can_wait(&self) -> bool {
        true
    }
}
