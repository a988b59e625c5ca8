//! A result made in the background that follows what it is wanted for.

use std::sync::Arc;
use std::time::Duration;

use atomscope_engine::experiment::{Job, JobOutcome};

/// Work younger than this is let finish although something else is wanted by now: while the user
/// scrolls, pages appear on the way.
const PATIENCE: Duration = Duration::from_millis(250);

/// Work that may fail, or give nothing because it was told to stop.
pub(super) type Work<T> = Job<Result<Option<T>, String>>;

/// The newest result, and the work on the next one.
#[derive(Debug)]
pub(super) struct Followed<K, T> {
    wanted: Option<K>,
    job: Option<Work<T>>,
    shown: Option<Arc<T>>,
    error: Option<String>,
}

impl<K, T> Default for Followed<K, T> {
    fn default() -> Self {
        Self {
            wanted: None,
            job: None,
            shown: None,
            error: None,
        }
    }
}

impl<K: PartialEq, T: Send + 'static> Followed<K, T> {
    /// Asks for the result of `key`; `start` begins the work on it unless it is there or under way.
    pub(super) fn ask(&mut self, key: K, start: impl FnOnce() -> Work<T>) {
        let is_young = |job: &Work<T>| job.elapsed() < PATIENCE;
        if self.wanted.as_ref() == Some(&key) || self.job.as_ref().is_some_and(is_young) {
            return;
        }
        self.wanted = Some(key);
        self.error = None;
        self.job = Some(start());
    }

    /// Takes over a result that has arrived, and tells that it has.
    pub(super) fn poll(&mut self) -> bool {
        let Some(outcome) = self.job.as_ref().and_then(Job::take) else {
            return false;
        };
        self.job = None;
        match outcome {
            JobOutcome::Done(Ok(Some(value))) => {
                self.shown = Some(Arc::new(value));
                true
            }
            JobOutcome::Done(Ok(None)) => {
                // It was told to stop: asked for again if it is still wanted.
                self.wanted = None;
                false
            }
            JobOutcome::Done(Err(message)) | JobOutcome::Failed(message) => {
                self.error = Some(message);
                false
            }
        }
    }

    /// The newest result, perhaps of an earlier wish.
    pub(super) fn shown(&self) -> Option<&Arc<T>> {
        self.shown.as_ref()
    }

    /// Why the last work failed.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The share done of work that takes longer than a moment.
    pub(super) fn share(&self) -> Option<f64> {
        let job = self.job.as_ref()?;
        (job.elapsed() > Duration::from_millis(300)).then(|| job.share())
    }

    /// Whether work is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Ends the work; what is shown stays.
    pub(super) fn stop(&mut self) {
        self.job = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(value: Option<i32>) -> Work<i32> {
        Job::start("test", || {}, move |_| Ok(value))
    }

    fn arrived(followed: &mut Followed<i32, i32>) {
        while followed.is_busy() {
            followed.poll();
            std::hint::spin_loop();
        }
    }

    #[test]
    fn a_result_is_made_once_for_each_wish() {
        let mut followed = Followed::default();
        followed.ask(1, || job(Some(10)));
        arrived(&mut followed);
        assert_eq!(followed.shown().map(|value| **value), Some(10));
        followed.ask(1, || panic!("it is there"));
        followed.ask(2, || job(Some(20)));
        // Young work is let finish, then the newest wish follows.
        followed.ask(3, || panic!("not yet"));
        arrived(&mut followed);
        assert_eq!(followed.shown().map(|value| **value), Some(20));
        followed.ask(3, || job(None));
        arrived(&mut followed);
        assert_eq!(followed.shown().map(|value| **value), Some(20));
        followed.ask(3, || job(Some(30)));
        arrived(&mut followed);
        assert_eq!(followed.shown().map(|value| **value), Some(30));
    }
}
