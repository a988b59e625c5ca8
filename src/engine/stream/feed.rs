//! A source on a thread of its own, behind a bounded queue.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Arrival, StreamError, StreamSource};

type Arrived = Result<Timed, StreamError>;

/// An arrival with the moment it was taken from the source.
#[derive(Debug)]
pub struct Timed {
    /// What came.
    pub arrival: Arrival,
    /// When.
    pub since: Instant,
}

impl Timed {
    /// An arrival of this moment.
    pub fn now(arrival: Arrival) -> Self {
        Self {
            arrival,
            since: Instant::now(),
        }
    }
}

/// Arrivals that are taken together where the source is faster than the judge.
const TOGETHER: usize = 128;

/// What waits between the source and the judge. Both take it rarely: the judge all that it takes together, and a source
/// that waits for room goes on when half of the queue is empty.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    /// Something came, or nothing comes any more.
    came: Condvar,
    /// There is room, or nobody wants anything any more.
    room: Condvar,
}

#[derive(Default)]
struct Waiting {
    arrivals: VecDeque<Arrived>,
    /// Nothing comes any more.
    is_over: bool,
    /// Nobody wants anything any more.
    is_unwanted: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an arrival where there is room, or once there is; one that finds none comes back.
    fn add(&self, arrived: Arrived, capacity: usize, can_wait: bool) -> Result<(), Arrived> {
        let mut waiting = self.lock();
        if waiting.arrivals.len() >= capacity && can_wait {
            let is_full = |w: &mut Waiting| w.arrivals.len() > capacity / 2 && !w.is_unwanted;
            waiting = self
                .room
                .wait_while(waiting, is_full)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.arrivals.len() >= capacity {
            return Err(arrived);
        }
        waiting.arrivals.push_back(arrived);
        if waiting.arrivals.len() == 1 {
            self.came.notify_one();
        }
        Ok(())
    }

    fn take(&self, capacity: usize, patience: Duration) -> Vec<Arrived> {
        let is_idle = |w: &mut Waiting| w.arrivals.is_empty() && !w.is_over;
        let waited = self.came.wait_timeout_while(self.lock(), patience, is_idle);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let n_taken = waiting.arrivals.len().min(TOGETHER);
        let mut taken: Vec<Arrived> = waiting.arrivals.drain(..n_taken).collect();
        if taken.is_empty() && waiting.is_over {
            taken.push(Ok(Timed::now(Arrival::End)));
        }
        if waiting.arrivals.len() <= capacity / 2 {
            self.room.notify_one();
        }
        taken
    }
}

/// Says at the end of the source, however it ends, that nothing comes any more.
struct Ending(Arc<Queue>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.came.notify_one();
    }
}

/// A source at work.
pub struct Feed {
    queue: Arc<Queue>,
    capacity: usize,
    n_lost: Arc<AtomicU64>,
}

impl Feed {
    /// Starts the source on a thread; at most `capacity` arrivals wait.
    pub fn start(mut source: Box<dyn StreamSource>, capacity: usize) -> Self {
        let feed = Self {
            queue: Arc::default(),
            capacity: capacity.max(1),
            n_lost: Arc::default(),
        };
        let (ending, lost) = (Ending(feed.queue.clone()), feed.n_lost.clone());
        let capacity = feed.capacity;
        std::thread::spawn(move || run(source.as_mut(), &ending.0, capacity, &lost));
        feed
    }

    /// What has come, in order, at most 128 arrivals: waits for the first of them, and gives nothing where none
    /// comes within the time.
    pub fn next(&self, patience: Duration) -> Vec<Result<Timed, StreamError>> {
        self.queue.take(self.capacity, patience)
    }

    /// Frames and rows that a full queue could not take.
    pub fn n_lost(&self) -> u64 {
        self.n_lost.load(Ordering::Relaxed)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.queue.lock().is_unwanted = true;
        self.queue.room.notify_one();
    }
}

fn run(source: &mut dyn StreamSource, queue: &Queue, capacity: usize, n_lost: &AtomicU64) {
    // What was lost since the last arrival that found room.
    let (mut n_channels, mut rate_hz, mut lost_frames) = (1, 1.0, 0u64);
    while !queue.lock().is_unwanted {
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
        let may_be_lost = matches!(outcome, Ok(Arrival::Frames(_) | Arrival::Row { .. }));
        let can_wait = source.can_wait() || !may_be_lost;
        if lost_frames > 0 {
            let lost_s = lost_frames as f64 / rate_hz;
            let gap = Ok(Timed::now(Arrival::Gap { lost_s }));
            if queue.add(gap, capacity, can_wait).is_ok() {
                lost_frames = 0;
            }
        }
        // Unwanted ones are lost with the stream.
        if let Err(lost) = queue.add(outcome.map(Timed::now), capacity, can_wait)
            && !can_wait
        {
            let n_frames = frames_of(&lost, n_channels);
            lost_frames += n_frames;
            n_lost.fetch_add(n_frames, Ordering::Relaxed);
        }
        if is_end {
            return;
        }
    }
}

/// Moments that an arrival holds.
fn frames_of(arrived: &Arrived, n_channels: usize) -> u64 {
    match arrived {
        Ok(Timed {
            arrival: Arrival::Frames(values),
            ..
        }) => (values.len() / n_channels) as u64,
        _ => 1,
    }
}
