//! A recording delivered as slowly as it was made, to be watched.

use std::time::{Duration, Instant};

use super::{Arrival, StreamError, StreamSource};

/// Frames are delivered in pieces of this length.
const PIECE_S: f64 = 0.04;
/// Longest wait before it is said that there is nothing.
const PATIENCE: Duration = Duration::from_millis(100);

/// A source whose frames come at the pace of their time.
pub struct Paced {
    source: Box<dyn StreamSource>,
    speed: f64,
    n_channels: usize,
    rate_hz: f64,
    /// When the frames that wait are due, from `begun`.
    due_s: f64,
    begun: Instant,
    waiting: std::vec::IntoIter<f64>,
}

impl Paced {
    /// A source at so many times the pace of its time.
    pub fn new(source: Box<dyn StreamSource>, speed: f64) -> Self {
        Self {
            source,
            speed,
            n_channels: 1,
            rate_hz: 1.0,
            due_s: 0.0,
            begun: Instant::now(),
            waiting: Vec::new().into_iter(),
        }
    }

    fn next_piece(&mut self) -> Arrival {
        let n_frames = ((PIECE_S * self.speed * self.rate_hz) as usize).max(1);
        let left_s = self.due_s / self.speed - self.begun.elapsed().as_secs_f64();
        if left_s > 0.0 {
            std::thread::sleep(PATIENCE.min(Duration::from_secs_f64(left_s)));
            if left_s > PATIENCE.as_secs_f64() {
                return Arrival::Nothing;
            }
        }
        let piece: Vec<f64> = self
            .waiting
            .by_ref()
            .take(n_frames * self.n_channels)
            .collect();
        self.due_s += (piece.len() / self.n_channels) as f64 / self.rate_hz;
        Arrival::Frames(piece)
    }
}

impl StreamSource for Paced {
    fn next(&mut self) -> Result<Arrival, StreamError> {
        if self.waiting.len() > 0 {
            return Ok(self.next_piece());
        }
        match self.source.next()? {
            Arrival::Frames(values) => {
                self.waiting = values.into_iter();
                Ok(self.next_piece())
            }
            Arrival::Channels { channels, rate_hz } => {
                (self.n_channels, self.rate_hz) = (channels.len().max(1), rate_hz.max(1e-3));
                (self.begun, self.due_s) = (Instant::now(), 0.0);
                Ok(Arrival::Channels { channels, rate_hz })
            }
            other => Ok(other),
        }
    }

    fn can_wait(&self) -> bool {
        self.source.can_wait()
    }
}
