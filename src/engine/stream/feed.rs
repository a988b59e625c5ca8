//! A source on a thread of its own, behind a bounded queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use super::{Arrival, StreamError, StreamSource};

/// An arrival with the moment it was taken from the source.
#[derive(Debug)]
pub struct Timed {
    /// What came.
    pub arrival: Arrival,
    /// When.
    pub since: Instant,
}

/// A source at work.
pub struct Feed {
    queue: Receiver<Result<Timed, StreamError>>,
    stop: Arc<AtomicBool>,
    n_lost: Arc<AtomicU64>,
}

impl Feed {
    /// Starts the source on a thread; at most `capacity` arrivals wait.
    pub fn start(mut source: Box<dyn StreamSource>, capacity: usize) -> Self {
        let (sender, queue) = sync_channel(capacity.max(1));
        let stop = Arc::new(AtomicBool::new(false));
        let n_lost = Arc::new(AtomicU64::new(0));
        let (stopped, lost) = (stop.clone(), n_lost.clone());
        std::thread::spawn(move || run(source.as_mut(), &sender, &stopped, &lost));
        Self {
            queue,
            stop,
            n_lost,
        }
    }

    /// The next arrival, or nothing within the time.
    pub fn next(&self, patience: Duration) -> Result<Timed, StreamError> {
        let now = |arrival| Timed {
            arrival,
            since: Instant::now(),
        };
        match self.queue.recv_timeout(patience) {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Timeout) => Ok(now(Arrival::Nothing)),
            Err(RecvTimeoutError::Disconnected) => Ok(now(Arrival::End)),
        }
    }

    /// Frames and rows that a full queue could not take.
    pub fn n_lost(&self) -> u64 {
        self.n_lost.load(Ordering::Relaxed)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn run(
    source: &mut dyn StreamSource,
    queue: &SyncSender<Result<Timed, StreamError>>,
    stop: &AtomicBool,
    n_lost: &AtomicU64,
) {
    // What was lost since the last arrival that found room.
    let (mut n_channels, mut rate_hz, mut lost_frames) = (1, 1.0, 0u64);
    while !stop.load(Ordering::Relaxed) {
        let outcome = source.next();
        let is_end = matches!(outcome, Err(_) | Ok(Arrival::End));
        if let Ok(Arrival::Nothing) = outcome {
            continue;
        }
        if let Ok(Arrival::Channels {
            channels,
            rate_hz: rate,
        }) = &outcome
        {
            (n_channels, rate_hz) = (channels.len().max(1), *rate);
        }
        let timed = |arrival| Timed {
            arrival,
            since: Instant::now(),
        };
        let may_be_lost = matches!(outcome, Ok(Arrival::Frames(_) | Arrival::Row { .. }));
        if source.can_wait() || !may_be_lost {
            if queue.send(outcome.map(timed)).is_err() {
                return;
            }
        } else {
            if lost_frames > 0 {
                let lost_s = lost_frames as f64 / rate_hz;
                if queue.try_send(Ok(timed(Arrival::Gap { lost_s }))).is_ok() {
                    lost_frames = 0;
                }
            }
            match queue.try_send(outcome.map(timed)) {
                Ok(()) => {}
                Err(TrySendError::Full(lost)) => {
                    let n_frames = match lost {
                        Ok(Timed {
                            arrival: Arrival::Frames(values),
                            ..
                        }) => values.len() / n_channels,
                        _ => 1,
                    };
                    lost_frames += n_frames as u64;
                    n_lost.fetch_add(n_frames as u64, Ordering::Relaxed);
                }
                Err(TrySendError::Disconnected(_)) => return,
            }
        }
        if is_end {
            return;
        }
    }
}
