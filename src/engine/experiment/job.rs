//! One-shot work in the background: reading files, building overviews, hashing, saving.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The outcome of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum JobOutcome<T> {
    /// Its result; of a cancelled job whatever it made of being cancelled.
    Done(T),
    /// It could not run, or a fault in the program ended it.
    Failed(String),
}

/// How the work tells how far it is, and learns that it is cancelled.
#[derive(Debug)]
pub struct JobProgress {
    /// Bits of the share done.
    share: AtomicU64,
    cancelled: AtomicBool,
}

impl JobProgress {
    /// Notes the share done; false says that the work shall stop.
    pub fn go_on(&self, share: f64) -> bool {
        self.share.store(share.to_bits(), Ordering::Relaxed);
        !self.cancelled.load(Ordering::Relaxed)
    }

    /// Waits for some time; false, and at once, when the work shall stop.
    pub fn rest(&self, time: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < time {
            if self.cancelled.load(Ordering::Relaxed) {
                return false;
            }
            thread::sleep(Duration::from_millis(50).min(time));
        }
        true
    }
}

/// Work on a thread of its own.
#[derive(Debug)]
pub struct Job<T> {
    progress: Arc<JobProgress>,
    outcome: Arc<Mutex<Option<JobOutcome<T>>>>,
    begun: Instant,
}

impl<T: Send + 'static> Job<T> {
    /// Starts the work; `wake` is called when its outcome can be taken.
    pub fn start(
        name: &str,
        wake: impl Fn() + Send + 'static,
        work: impl FnOnce(&JobProgress) -> T + Send + 'static,
    ) -> Self {
        let progress = Arc::new(JobProgress {
            share: AtomicU64::new(0f64.to_bits()),
            cancelled: AtomicBool::new(false),
        });
        let outcome = Arc::new(Mutex::new(None));
        let (told, kept) = (progress.clone(), outcome.clone());
        let body = move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&told)));
            let result = match result {
                Ok(value) => JobOutcome::Done(value),
                Err(panic) => JobOutcome::Failed(panic_message(panic.as_ref())),
            };
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            wake();
        };
        let spawned = thread::Builder::new().name(name.to_owned()).spawn(body);
        if let Err(error) = spawned {
            let failed = JobOutcome::Failed(format!("no thread could be started: {error}"));
            *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(failed);
        }
        Self {
            progress,
            outcome,
            begun: Instant::now(),
        }
    }
}

impl<T> Job<T> {
    /// The share done, 0 to 1.
    pub fn share(&self) -> f64 {
        f64::from_bits(self.progress.share.load(Ordering::Relaxed)).clamp(0.0, 1.0)
    }

    /// Asks the work to stop; its outcome still comes.
    pub fn cancel(&self) {
        self.progress.cancelled.store(true, Ordering::Relaxed);
    }

    /// How long it has been running.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The outcome, once.
    pub fn take(&self) -> Option<JobOutcome<T>> {
        // Held for an instant only: the lock is never kept while working.
        self.outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// Nobody waits for the result any more.
impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// What a panic said.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "no message".to_owned());
    format!("internal error: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn outcome<T: Send + 'static>(
        work: impl FnOnce(&JobProgress) -> T + Send + 'static,
    ) -> JobOutcome<T> {
        let (sender, woken) = mpsc::channel();
        let wake = move || sender.send(()).expect("the test waits");
        let job = Job::start("test", wake, work);
        woken.recv().expect("the job wakes");
        job.take().expect("the outcome is there when woken")
    }

    #[test]
    fn the_result_is_there_when_the_job_wakes() {
        assert_eq!(outcome(|_| 6 * 7), JobOutcome::Done(42));
    }

    #[test]
    fn a_panic_is_reported_not_spread() {
        let faulty = |progress: &JobProgress| assert!(!progress.go_on(0.0), "out of cheese");
        let JobOutcome::Failed(text) = outcome(faulty) else {
            panic!("a panic is a failure")
        };
        assert!(text.ends_with("out of cheese"), "{text}");
    }

    #[test]
    fn a_cancelled_job_hears_of_it_and_says_how_far_it_came() {
        let (ready, is_ready) = mpsc::channel();
        let (done, is_done) = mpsc::channel();
        let wake = move || done.send(()).expect("the test waits");
        let job = Job::start("test", wake, move |progress| {
            assert!(progress.go_on(0.25));
            ready.send(()).expect("the test waits");
            while progress.go_on(0.5) {
                thread::yield_now();
            }
            "stopped"
        });
        is_ready.recv().expect("the job begins");
        job.cancel();
        is_done.recv().expect("the job ends");
        assert_eq!(job.share(), 0.5);
        assert_eq!(job.take(), Some(JobOutcome::Done("stopped")));
        assert_eq!(job.take(), None);
    }
}
