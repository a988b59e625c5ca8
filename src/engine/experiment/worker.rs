//! The thread that drives a run: commands in, mail out, and neither side ever waits for the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::checked::Part;
use super::job::panic_message;
use super::part_run::{Extent, News};
use super::run::{Run, RunProgress};
use super::snapshot::Snapshot;
use super::state::{RunState, SettingChange};
use crate::learner::LearnerSettings;

/// Dictionaries are shown at most this often while the run continues.
const SNAPSHOT_EVERY: Duration = Duration::from_millis(50);
/// The viewer is woken at most this often while the run continues.
const WAKE_EVERY: Duration = Duration::from_millis(30);

/// The commands of a worker.
#[derive(Clone, Debug)]
pub enum Command {
    /// Rest after the step at hand.
    Pause,
    /// Go on.
    Resume,
    /// One round, and the test that follows it, then rest.
    StepOnce,
    /// End; what was trained is kept in the last mail.
    Stop,
    /// Other settings of the learner from the next round on.
    ChangeLearner(Box<LearnerSettings>),
    /// At most this many rounds a second, to be watched; without a number as fast as it goes.
    LimitSpeed(Option<f64>),
    /// Put the state of the run into the mail.
    ReportState,
}

/// What a worker is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It trains.
    Running,
    /// It waits for a command.
    Paused,
    /// It has stopped working and gathers what was trained.
    Ending,
    /// All parts are complete.
    Complete,
    /// It was cancelled before that.
    Stopped,
    /// It cannot continue.
    Failed(String),
}

impl Status {
    /// Whether the thread has ended.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Complete | Self::Stopped | Self::Failed(_))
    }
}

/// What a worker has to tell since its mail was taken last.
#[derive(Clone, Debug)]
pub struct Mail {
    /// What it is doing.
    pub status: Status,
    /// How far it is.
    pub progress: RunProgress,
    /// Parts in training with the rounds each has done.
    pub active: Vec<(Part, usize)>,
    /// Everything that happened, nothing omitted.
    pub news: Vec<News>,
    /// The newest look at the dictionaries.
    pub snapshot: Option<Arc<Snapshot>>,
    /// The state of the run: when asked for, and at the end.
    pub state: Option<Box<RunState>>,
    /// All changes of settings so far, if there is a new one.
    pub changes: Option<Vec<SettingChange>>,
    /// Why a change of settings was refused.
    pub refusal: Option<String>,
    /// Time spent working, rests not counted.
    pub worked: Duration,
}

impl Mail {
    fn empty() -> Self {
        Self {
            status: Status::Running,
            progress: RunProgress::default(),
            active: Vec::new(),
            news: Vec::new(),
            snapshot: None,
            state: None,
            changes: None,
            refusal: None,
            worked: Duration::ZERO,
        }
    }
}

/// A run on a thread of its own.
#[derive(Debug)]
pub struct Worker {
    commands: Sender<Command>,
    mailbox: Arc<Mutex<Mail>>,
    /// Ends the round at hand, so that nobody waits for it.
    stop: Arc<AtomicBool>,
}

impl Worker {
    /// Starts the run on `n_threads`; `wake` is called when there is mail worth looking at.
    pub fn start(
        run: Run,
        n_threads: usize,
        begin_paused: bool,
        wake: impl Fn() + Send + 'static,
    ) -> Self {
        tracing::info!(n_threads, begin_paused, "run started");
        let (commands, received) = channel();
        let mailbox = Arc::new(Mutex::new(Mail::empty()));
        let stop = run.stop_flag();
        let driver = Driver {
            run,
            received,
            mailbox: mailbox.clone(),
            wake: Box::new(wake),
            is_resting: begin_paused,
            rounds_per_s: None,
            worked: Duration::ZERO,
            last_snapshot: None,
            last_wake: None,
        };
        let body = move || drive(driver, n_threads);
        let spawned = thread::Builder::new().name("training".into()).spawn(body);
        if let Err(error) = spawned {
            let mut mail = mailbox.lock().unwrap_or_else(PoisonError::into_inner);
            mail.status = Status::Failed(format!("no thread could be started: {error}"));
        }
        Self {
            commands,
            mailbox,
            stop,
        }
    }

    /// Tells the worker what to do; one that has ended does not hear it.
    pub fn command(&self, command: Command) {
        if matches!(command, Command::Stop) {
            self.stop.store(true, Ordering::Relaxed);
        }
        // The only error is that nobody listens any more.
        drop(self.commands.send(command));
    }

    /// Everything new since the last call.
    pub fn take_mail(&self) -> Mail {
        let mut mail = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        Mail {
            status: mail.status.clone(),
            progress: mail.progress,
            active: mail.active.clone(),
            news: std::mem::take(&mut mail.news),
            snapshot: mail.snapshot.take(),
            state: mail.state.take(),
            changes: mail.changes.take(),
            refusal: mail.refusal.take(),
            worked: mail.worked,
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.command(Command::Stop);
    }
}

/// The body of the thread: whatever happens, the last mail says how it ended.
fn drive(mut driver: Driver, n_threads: usize) {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads.max(1))
            .thread_name(|number| format!("training {number}"))
            .build()
            .map_err(|error| error.to_string())?;
        driver.post(Vec::new(), None);
        Ok(driver.go(&pool))
    }));
    let status = match outcome {
        Ok(Ok(status)) => status,
        Ok(Err(message)) => Status::Failed(message),
        Err(panic) => Status::Failed(panic_message(panic.as_ref())),
    };
    // The answer comes first: to gather the state of large profiles takes longer than anybody
    // should wait for it.
    driver.mail().status = Status::Ending;
    (driver.wake)();
    // After a fault the state may be half changed; its records are still worth keeping.
    let state = catch_unwind(AssertUnwindSafe(|| Box::new(driver.run.state()))).ok();
    let mut mail = driver.mail();
    mail.status = status;
    mail.state = state;
    drop(mail);
    (driver.wake)();
}

/// What the thread works with.
struct Driver {
    run: Run,
    received: Receiver<Command>,
    mailbox: Arc<Mutex<Mail>>,
    wake: Box<dyn Fn() + Send>,
    is_resting: bool,
    rounds_per_s: Option<f64>,
    worked: Duration,
    last_snapshot: Option<Instant>,
    last_wake: Option<Instant>,
}

/// What comes after the commands that were waiting.
enum Next {
    Work(Extent),
    End,
}

impl Driver {
    fn mail(&self) -> std::sync::MutexGuard<'_, Mail> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works until the run is complete, stopped or fails.
    fn go(&mut self, pool: &rayon::ThreadPool) -> Status {
        while !self.run.is_complete() {
            let Next::Work(extent) = self.listen() else {
                return Status::Stopped;
            };
            let begin = Instant::now();
            let mut news = Vec::new();
            let (run, told) = (&mut self.run, &mut news);
            let outcome = pool.install(|| run.advance(extent, told));
            self.worked += begin.elapsed();
            let rests = extent == Extent::Round && self.is_resting;
            self.show(news, rests || self.run.is_complete());
            if let Err(error) = outcome {
                return Status::Failed(error.to_string());
            }
            if let Some(rate) = self.rounds_per_s
                && !self.is_resting
                && !self.wait(begin + Duration::from_secs_f64(1.0 / rate))
            {
                return Status::Stopped;
            }
        }
        Status::Complete
    }

    /// Obeys the commands that are waiting; at rest it waits for the next one.
    fn listen(&mut self) -> Next {
        loop {
            let command = if self.is_resting {
                self.rest();
                self.received.recv().map_err(TryRecvError::from)
            } else {
                self.received.try_recv()
            };
            match command {
                Ok(Command::StepOnce) => {
                    self.is_resting = true;
                    return Next::Work(Extent::Round);
                }
                Ok(Command::Stop) | Err(TryRecvError::Disconnected) => return Next::End,
                Ok(command) => self.obey(command),
                Err(TryRecvError::Empty) => {
                    let watched = self.rounds_per_s.is_some();
                    let extent = if watched {
                        Extent::Round
                    } else {
                        Extent::Slice
                    };
                    return Next::Work(extent);
                }
            }
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Pause => self.is_resting = true,
            Command::Resume => {
                self.is_resting = false;
                self.mail().status = Status::Running;
                (self.wake)();
            }
            Command::ChangeLearner(settings) => {
                let outcome = self.run.change_learner(*settings);
                let mut mail = self.mail();
                match outcome {
                    Ok(()) => mail.changes = Some(self.run.changes().to_vec()),
                    Err(error) => mail.refusal = Some(error.to_string()),
                }
                drop(mail);
                (self.wake)();
            }
            Command::LimitSpeed(rate) => {
                self.rounds_per_s = rate.filter(|rate| rate.is_finite() && *rate >= 0.01);
            }
            Command::ReportState => {
                let state = Box::new(self.run.state());
                self.mail().state = Some(state);
                (self.wake)();
            }
            Command::StepOnce | Command::Stop => {}
        }
    }

    /// Says that it rests, and shows the dictionaries as they are.
    fn rest(&mut self) {
        if self.mail().status != Status::Paused {
            self.mail().status = Status::Paused;
            self.show(Vec::new(), true);
        }
    }

    /// Waits until `moment`, obeying commands; false if it was cancelled.
    fn wait(&mut self, moment: Instant) -> bool {
        loop {
            let left = moment.saturating_duration_since(Instant::now());
            match self.received.recv_timeout(left) {
                Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) => return true,
                Ok(Command::StepOnce) => {
                    self.is_resting = true;
                    return true;
                }
                Ok(command) => self.obey(command),
            }
            if self.is_resting || self.rounds_per_s.is_none() {
                return true;
            }
        }
    }

    /// Puts news into the mail, now and then with a look at the dictionaries.
    fn show(&mut self, news: Vec<News>, at_once: bool) {
        let is_due = |last: Option<Instant>, every: Duration| {
            at_once || last.is_none_or(|last| last.elapsed() >= every)
        };
        let mut snapshot = None;
        if is_due(self.last_snapshot, SNAPSHOT_EVERY) {
            snapshot = self.run.snapshot().map(Arc::new);
            self.last_snapshot = Some(Instant::now());
        }
        let wakes = is_due(self.last_wake, WAKE_EVERY);
        self.post(news, snapshot);
        if wakes {
            self.last_wake = Some(Instant::now());
            (self.wake)();
        }
    }

    fn post(&mut self, news: Vec<News>, snapshot: Option<Arc<Snapshot>>) {
        let progress = self.run.progress();
        let active: Vec<(Part, usize)> = self.run.active_parts().collect();
        let mut mail = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        mail.progress = progress;
        mail.active = active;
        mail.news.extend(news);
        mail.worked = self.worked;
        if snapshot.is_some() {
            mail.snapshot = snapshot;
        }
    }
}
