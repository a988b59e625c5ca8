//! Work in the background: every job posts its answer as a typed event into the one inbox of the workbench.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::error::TaskError;
use super::event::Event;
use atomscope_engine::experiment::{Job, JobOutcome, JobProgress, panic_message};

/// Called when there is something new to look at.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Work younger than this is let finish although something else is wanted by now: while the user
/// scrolls, pages appear on the way.
const PATIENCE: Duration = Duration::from_millis(250);
/// Work that takes longer than this shows its progress.
const SHOWS_PROGRESS_AFTER: Duration = Duration::from_millis(300);

/// Where jobs and the worker post their events.
#[derive(Clone)]
pub(super) struct Post {
    sender: Sender<Event>,
    wake: Wake,
}

impl Post {
    /// A place to post to, and the inbox behind it.
    pub(super) fn new(wake: Wake) -> (Self, Receiver<Event>) {
        let (sender, inbox) = channel();
        (Self { sender, wake }, inbox)
    }

    /// Posts an event; nobody receives it after the workbench is gone.
    pub(super) fn send(&self, event: Event) {
        drop(self.sender.send(event));
        (self.wake)();
    }
}

/// What a job has come to.
pub(super) struct Answer<T> {
    number: u64,
    /// Boxed: some results are large, and events are moved about.
    result: Box<Result<T, TaskError>>,
}

impl<T> Answer<T> {
    fn new(number: u64, result: Result<T, TaskError>) -> Self {
        Self {
            number,
            result: Box::new(result),
        }
    }

    /// What was made, or why nothing was.
    pub(super) fn result(self) -> Result<T, TaskError> {
        *self.result
    }
}

/// How an answer becomes an event.
pub(super) type Wrap<T> = fn(Answer<T>) -> Event;

/// A job under way. Dropping it cancels the work; its answer still comes.
#[derive(Debug)]
pub(super) struct BackgroundTask {
    job: Job<()>,
    /// Another one for every job, so that the answer of a job that was replaced is known.
    number: u64,
}

impl BackgroundTask {
    pub(super) fn start<T: Send + 'static>(
        post: &Post,
        name: &str,
        wrap: Wrap<T>,
        work: impl FnOnce(&JobProgress) -> Result<T, TaskError> + Send + 'static,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let answer = post.clone();
        let body = move |progress: &JobProgress| {
            let result = catch_unwind(AssertUnwindSafe(|| work(progress)));
            let result = result
                .unwrap_or_else(|panic| Err(TaskError::Panicked(panic_message(panic.as_ref()))));
            answer.send(wrap(Answer::new(number, result)));
        };
        let job = Job::start(name, || {}, body);
        // Without a thread the work will never answer for itself.
        if let Some(JobOutcome::Failed(message)) = job.take() {
            let result = Err(TaskError::Panicked(message));
            post.send(wrap(Answer::new(number, result)));
        }
        Self { job, number }
    }

    /// Whether an answer is that of this job.
    pub(super) fn is_answered_by<T>(&self, answer: &Answer<T>) -> bool {
        self.number == answer.number
    }

    /// The share done.
    pub(super) fn share(&self) -> f64 {
        self.job.share()
    }

    /// Asks the work to end.
    pub(super) fn cancel(&self) {
        self.job.cancel();
    }
}

/// The newest result of work in the background, what it is wanted for, and the work on the next one.
#[derive(Debug)]
pub(super) struct Background<K, T> {
    wanted: Option<K>,
    task: Option<BackgroundTask>,
    shown: Option<Arc<T>>,
    failure: Option<String>,
}

impl<K, T> Default for Background<K, T> {
    fn default() -> Self {
        Self {
            wanted: None,
            task: None,
            shown: None,
            failure: None,
        }
    }
}

impl<K: PartialEq, T: Send + 'static> Background<K, T> {
    /// Works for `key` from now on, whatever is under way; what is shown stays until then.
    pub(super) fn start(
        &mut self,
        key: K,
        (post, name, wrap): (&Post, &str, Wrap<T>),
        work: impl FnOnce(&JobProgress) -> Result<T, TaskError> + Send + 'static,
    ) {
        self.wanted = Some(key);
        self.failure = None;
        self.task = Some(BackgroundTask::start(post, name, wrap, work));
    }

    /// Works for `key` unless its result is there or under way; young work is let finish first.
    pub(super) fn follow<W>(&mut self, key: K, on: (&Post, &str, Wrap<T>), work: impl FnOnce() -> W)
    where
        W: FnOnce(&JobProgress) -> Result<T, TaskError> + Send + 'static,
    {
        let is_young = |task: &BackgroundTask| task.job.elapsed() < PATIENCE;
        if !self.is_wanted(&key) && !self.task.as_ref().is_some_and(is_young) {
            self.start(key, on, work());
        }
    }

    /// Takes over an answer: the result, or why there is none. Nothing if nobody waits for it any
    /// more, or if it was cancelled: then it is asked for again when it is still wanted.
    pub(super) fn take(&mut self, answer: Answer<T>) -> Option<Result<Arc<T>, TaskError>> {
        self.task.take_if(|task| task.is_answered_by(&answer))?;
        match answer.result() {
            Ok(value) => {
                let value = Arc::new(value);
                self.shown = Some(value.clone());
                Some(Ok(value))
            }
            Err(TaskError::Cancelled) => {
                self.wanted = None;
                None
            }
            Err(error) => {
                self.failure = Some(error.to_string());
                Some(Err(error))
            }
        }
    }

    /// Takes over an answer that is used once and not shown.
    pub(super) fn take_once(&mut self, answer: Answer<T>) -> Option<Result<T, TaskError>> {
        self.task.take_if(|task| task.is_answered_by(&answer))?;
        match answer.result() {
            Err(TaskError::Cancelled) => None,
            result => Some(result),
        }
    }

    /// Whether `key` was asked for last.
    pub(super) fn is_wanted(&self, key: &K) -> bool {
        self.wanted.as_ref() == Some(key)
    }

    /// What was asked for last.
    pub(super) fn wanted(&self) -> Option<&K> {
        self.wanted.as_ref()
    }

    /// The same, to be brought up to date with what it led to.
    pub(super) fn wanted_mut(&mut self) -> Option<&mut K> {
        self.wanted.as_mut()
    }
}

impl<K, T> Background<K, T> {
    /// The newest result, perhaps of an earlier wish.
    pub(super) fn shown(&self) -> Option<&Arc<T>> {
        self.shown.as_ref()
    }

    /// Puts the result away; the work under way continues.
    pub(super) fn hide(&mut self) {
        self.shown = None;
    }

    /// Why the last work failed.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The share done, while working.
    pub(super) fn share(&self) -> Option<f64> {
        self.task.as_ref().map(BackgroundTask::share)
    }

    /// The share done of work that takes longer than a moment.
    pub(super) fn long_share(&self) -> Option<f64> {
        let task = self.task.as_ref()?;
        (task.job.elapsed() > SHOWS_PROGRESS_AFTER).then(|| task.share())
    }

    /// Whether work is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.task.is_some()
    }

    /// Asks the work to end; its answer is still received.
    pub(super) fn cancel(&self) {
        if let Some(task) = &self.task {
            task.cancel();
        }
    }

    /// Ends the work without waiting for it; what is shown stays.
    pub(super) fn stop(&mut self) {
        self.task = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Numbers = Background<i32, f64>;

    struct Scene {
        post: Post,
        inbox: Receiver<Event>,
        numbers: Numbers,
    }

    impl Scene {
        fn new() -> Self {
            let (post, inbox) = Post::new(Arc::new(|| {}));
            Self {
                post,
                inbox,
                numbers: Numbers::default(),
            }
        }

        fn ask(&mut self, key: i32, result: Result<f64, TaskError>) {
            let on = (&self.post, "test", Event::Width as Wrap<f64>);
            self.numbers
                .follow(key, on, || move |_: &JobProgress| result);
        }

        fn next_result(&mut self) -> Option<Result<Arc<f64>, TaskError>> {
            match self.inbox.recv().expect("the job answers") {
                Event::Width(answer) => self.numbers.take(answer),
                _ => panic!("no other event is posted"),
            }
        }

        fn shown(&self) -> Option<f64> {
            self.numbers.shown().map(|value| **value)
        }
    }

    #[test]
    fn a_result_is_made_once_for_each_wish() {
        let mut scene = Scene::new();
        scene.ask(1, Ok(10.0));
        scene.next_result();
        assert_eq!(scene.shown(), Some(10.0));
        scene.ask(1, Ok(99.0));
        assert!(!scene.numbers.is_busy(), "it is there");
        scene.ask(2, Ok(20.0));
        // Young work is let finish, then the newest wish follows.
        scene.ask(3, Ok(99.0));
        scene.next_result();
        assert_eq!(scene.shown(), Some(20.0));
        scene.ask(3, Err(TaskError::Cancelled));
        assert!(scene.next_result().is_none());
        assert_eq!(scene.shown(), Some(20.0));
        scene.ask(3, Ok(30.0));
        scene.next_result();
        assert_eq!(scene.shown(), Some(30.0));
    }

    #[test]
    fn a_panic_is_an_answer_and_the_answer_of_a_replaced_job_is_none() {
        let mut scene = Scene::new();
        let on = (&scene.post, "test", Event::Width as Wrap<f64>);
        scene.numbers.start(1, on, |_| panic!("out of cheese"));
        let Some(Err(error)) = scene.next_result() else {
            panic!("a panic is a failure")
        };
        assert!(error.to_string().ends_with("out of cheese"), "{error}");
        assert!(!scene.numbers.is_busy());
        let on = (&scene.post, "test", Event::Width as Wrap<f64>);
        scene.numbers.start(1, on, |_| Ok(1.0));
        scene.numbers.start(2, on, |_| Ok(2.0));
        let results = [scene.next_result().is_some(), scene.next_result().is_some()];
        assert_eq!(results.iter().filter(|is_taken| **is_taken).count(), 1);
        assert_eq!(scene.shown(), Some(2.0));
    }
}
