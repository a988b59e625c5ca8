//! A worker: takes the next open point, computes it, keeps its result, takes another.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::claims::{AttemptStage, Found, Taken, is_superseded, settle, take_next};
use super::error::{ClusterError, PointError};
use super::failures::note_failure;
use super::folder::{Mark, WorkFolder, remove};
use super::heartbeat::{BEAT_EVERY, Heart};
use super::order::PreparedWork;
use super::status::WorkStatus;
use super::work::Points;
use crate::experiment::{Pace, PointProgress, Watcher, panic_message};
use crate::session::{load_progress, save_progress};

/// How often a worker without a point looks for one.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often the state of a running point is saved, so that a sudden death costs no more.
const SAVE_EVERY: Duration = Duration::from_secs(60);

/// Something that a worker tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerNews {
    /// It began with a point, by its number from 0, at the attempt counted from 1.
    Began(usize, u32),
    /// The point was resumed where it had been saved.
    Resumed(usize),
    /// The point is finished.
    Finished(usize),
    /// The state of the point is saved for another.
    Left(usize),
    /// The point failed.
    Failed(usize, String),
    /// A saved state could not be used, or not be written; the point begins anew.
    Warning(String),
}

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerEnd {
    /// Every point is finished or was put aside; the results are put together.
    Complete,
    /// It was told to stop.
    Stopped,
    /// The work was cancelled.
    Cancelled,
}

/// Works until nothing is left to do, or `stop` says so; then the state of the running point is
/// saved, and the next worker resumes it bit for bit.
pub fn work_through(
    folder: &WorkFolder,
    prepared: &PreparedWork,
    stop: &AtomicBool,
    told: &(dyn Fn(WorkerNews) + Sync),
) -> Result<WorkerEnd, ClusterError> {
    let points = prepared.work.open(folder.path(), &prepared.identity)?;
    folder.make()?;
    let worker = ClusterWorker {
        folder,
        points: points.as_ref(),
        n_points: prepared.work.n_points(),
        heart: Heart::start(folder)?,
        current: Mutex::new(None),
        is_recalled: AtomicBool::new(false),
        ended: (Mutex::new(false), Condvar::new()),
        stop,
        told,
    };
    thread::scope(|scope| {
        scope.spawn(|| worker.keep_beating());
        let end = worker.take_points();
        if let Ok(mut ended) = worker.ended.0.lock() {
            *ended = true;
        }
        worker.ended.1.notify_all();
        end
    })
}

struct ClusterWorker<'a> {
    folder: &'a WorkFolder,
    points: &'a dyn Points,
    n_points: usize,
    heart: Heart<'a>,
    /// The point under way.
    current: Mutex<Option<Taken>>,
    /// Whether the point under way is cancelled or was taken over by somebody.
    is_recalled: AtomicBool,
    ended: (Mutex<bool>, Condvar),
    stop: &'a AtomicBool,
    told: &'a (dyn Fn(WorkerNews) + Sync),
}

impl ClusterWorker<'_> {
    /// Beats until the worker ends, and looks whether it is still wanted.
    fn keep_beating(&self) {
        loop {
            let Ok(ended) = self.ended.0.lock() else {
                return;
            };
            let waited = self
                .ended
                .1
                .wait_timeout_while(ended, BEAT_EVERY, |ended| !*ended);
            match waited {
                Ok((ended, _)) if !*ended => {}
                Ok(_) | Err(_) => return,
            }
            if let Err(error) = self.heart.beat() {
                (self.told)(WorkerNews::Warning(error.to_string()));
            }
            let current = self.current.lock().ok().and_then(|current| *current);
            let is_recalled = self.folder.is(Mark::Cancelled)
                || current.is_some_and(|taken| is_superseded(self.folder, taken));
            self.is_recalled.store(is_recalled, Ordering::SeqCst);
        }
    }

    fn take_points(&self) -> Result<WorkerEnd, ClusterError> {
        // As in a sweep on one machine every point has one thread.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        loop {
            if self.stop.load(Ordering::SeqCst) {
                return Ok(WorkerEnd::Stopped);
            }
            if self.folder.is(Mark::Cancelled) {
                return Ok(WorkerEnd::Cancelled);
            }
            let found = match self.folder.is(Mark::Paused) {
                // Where nothing is left to wait for, a pause must not hold a place on the cluster.
                true if WorkStatus::read(self.folder)?.is_complete() => Found::Nothing,
                true => Found::Others,
                false => {
                    let n_needed = |number| self.points.n_needed(number);
                    take_next(self.folder, self.n_points, &n_needed, &self.heart.name)?
                }
            };
            match found {
                Found::Point(taken) => match &pool {
                    Ok(pool) => pool.install(|| self.compute(taken))?,
                    Err(_) => self.compute(taken)?,
                },
                Found::Others => self.wait(),
                Found::Nothing => {
                    self.merge()?;
                    return Ok(WorkerEnd::Complete);
                }
            }
        }
    }

    /// Waits a moment, or until told to stop.
    fn wait(&self) {
        let began = Instant::now();
        while began.elapsed() < LOOK_EVERY && !self.stop.load(Ordering::SeqCst) {
            thread::sleep(LOOK_EVERY / 10);
        }
    }

    fn begin(&self, taken: Option<Taken>, has_finished: bool) {
        if let Ok(mut current) = self.current.lock() {
            *current = taken;
        }
        self.is_recalled.store(false, Ordering::SeqCst);
        self.heart
            .work_on(taken.map(|taken| taken.number), has_finished);
        if let Err(error) = self.heart.beat() {
            (self.told)(WorkerNews::Warning(error.to_string()));
        }
    }

    fn compute(&self, taken: Taken) -> Result<(), ClusterError> {
        let number = taken.number;
        self.begin(Some(taken), false);
        (self.told)(WorkerNews::Began(number, taken.attempt));
        let saved = load_progress(&self.folder.state_path(number)).unwrap_or_else(|error| {
            (self.told)(WorkerNews::Warning(error.to_string()));
            None
        });
        if saved.is_some() {
            (self.told)(WorkerNews::Resumed(number));
        }
        let mut watcher = PointWatcher {
            worker: self,
            number,
            saved_at: Instant::now(),
        };
        let computed = catch_unwind(AssertUnwindSafe(|| {
            self.points.compute(number, saved, &mut watcher)
        }));
        let computed =
            computed.unwrap_or_else(|panic| Err(PointError::Panic(panic_message(panic.as_ref()))));
        let (stage, news) = match computed {
            Ok(true) => (AttemptStage::Done, WorkerNews::Finished(number)),
            Ok(false) => (AttemptStage::Released, WorkerNews::Left(number)),
            Err(error) => {
                let error = error.to_string();
                note_failure(self.folder, taken, &self.heart.name, error.clone())?;
                (AttemptStage::Released, WorkerNews::Failed(number, error))
            }
        };
        let settled = settle(self.folder, taken, &self.heart.name, stage);
        match stage {
            // Whoever has put everything together meanwhile has also cleaned up.
            AttemptStage::Done => drop(settled.and(remove(&self.folder.state_path(number)))),
            AttemptStage::Held | AttemptStage::Released => settled?,
        }
        self.begin(None, stage == AttemptStage::Done);
        (self.told)(news);
        Ok(())
    }

    /// Puts the points together. Several programs may do so at once and write the same; workers of one
    /// program take turns, for they would write to the same temporary files.
    fn merge(&self) -> Result<(), ClusterError> {
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let listing = self.folder.list()?;
        let failed = super::status::failed_points(self.folder, &listing, self.n_points);
        let failed: Vec<(usize, String)> = failed
            .into_iter()
            .map(|failed| (failed.number, failed.error))
            .collect();
        self.points.merge(&failed)?;
        match failed.is_empty() {
            true => self.folder.clean(&listing),
            false => Ok(()),
        }
    }
}

struct PointWatcher<'a> {
    worker: &'a ClusterWorker<'a>,
    number: usize,
    saved_at: Instant,
}

impl Watcher for PointWatcher<'_> {
    fn look(&mut self, _n_rounds: u64) -> Pace {
        let worker = self.worker;
        if worker.stop.load(Ordering::SeqCst) || worker.is_recalled.load(Ordering::SeqCst) {
            return Pace::Stop;
        }
        match self.saved_at.elapsed() > SAVE_EVERY {
            true => Pace::Save,
            false => Pace::GoOn,
        }
    }

    fn save(&mut self, progress: &PointProgress) {
        let path = self.worker.folder.state_path(self.number);
        if let Err(error) = save_progress(&path, progress) {
            (self.worker.told)(WorkerNews::Warning(error.to_string()));
        }
        self.saved_at = Instant::now();
    }
}
