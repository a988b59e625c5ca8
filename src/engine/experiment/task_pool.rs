//! Many tasks on all cores: each on one thread, so that their measured times can be compared.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How often the caller is informed of the progress.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How a task tells what it has done and learns that it is cancelled.
pub(super) struct Watch {
    is_stopped: AtomicBool,
    n_done: AtomicU64,
}

impl Watch {
    /// Notes units of work; false says that the task shall end without a result.
    pub(super) fn go_on(&self, units: u64) -> bool {
        self.n_done.fetch_add(units, Ordering::Relaxed);
        !self.is_stopped.load(Ordering::Relaxed)
    }
}

/// A task by its number; no result if it was stopped.
type TaskWork<'a, R, E> = dyn Fn(usize, &Watch) -> Result<Option<R>, E> + Sync + 'a;

/// What is to be worked through.
pub(super) struct TaskList<'a, R, E> {
    pub(super) n_tasks: usize,
    /// Units of work of all tasks together.
    pub(super) n_units: u64,
    pub(super) work: &'a TaskWork<'a, R, E>,
}

impl<R: Send, E: Send> TaskList<'_, R, E> {
    /// Works through all tasks, some at a time. `keep_going` receives the share done and stops
    /// everything by saying false; `finished` is given each result on the calling thread. The
    /// first failure stops everything. Whether all tasks came to their end.
    pub(super) fn work_through(
        &self,
        n_threads: usize,
        keep_going: &mut dyn FnMut(f64) -> bool,
        finished: &mut dyn FnMut(usize, R) -> Result<(), E>,
    ) -> Result<bool, E> {
        let watch = Watch {
            is_stopped: AtomicBool::new(false),
            n_done: AtomicU64::new(0),
        };
        let next = AtomicUsize::new(0);
        let (tell, told) = channel();
        let mut failure = None;
        let mut n_finished = 0;
        thread::scope(|scope| {
            for _ in 0..n_threads.clamp(1, self.n_tasks.max(1)) {
                let tell = tell.clone();
                scope.spawn(|| self.take_turns(&next, &watch, tell));
            }
            drop(tell);
            loop {
                let outcome = match told.recv_timeout(LOOK_EVERY) {
                    Ok((number, Ok(Some(result)))) => {
                        n_finished += 1;
                        finished(number, result)
                    }
                    Ok((_, Err(error))) => Err(error),
                    Ok((_, Ok(None))) | Err(RecvTimeoutError::Timeout) => Ok(()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if let Err(error) = outcome {
                    failure.get_or_insert(error);
                }
                let share =
                    watch.n_done.load(Ordering::Relaxed) as f64 / self.n_units.max(1) as f64;
                if failure.is_some() || !keep_going(share.min(1.0)) {
                    watch.is_stopped.store(true, Ordering::Relaxed);
                }
            }
        });
        match failure {
            Some(error) => Err(error),
            None => Ok(n_finished == self.n_tasks),
        }
    }

    /// One thread: takes the next task until none is left.
    fn take_turns(
        &self,
        next: &AtomicUsize,
        watch: &Watch,
        tell: Sender<(usize, Result<Option<R>, E>)>,
    ) {
        // Inside a pool of one thread nothing is shared out again, and no task does the work of
        // another while its time is taken.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= self.n_tasks || watch.is_stopped.load(Ordering::Relaxed) {
                return;
            }
            let outcome = match &pool {
                Ok(pool) => pool.install(|| (self.work)(number, watch)),
                Err(_) => (self.work)(number, watch),
            };
            if tell.send((number, outcome)).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(n_threads: usize) -> Vec<usize> {
        let tasks = TaskList {
            n_tasks: 20,
            n_units: 20,
            work: &|number, watch: &Watch| {
                watch.go_on(1);
                Ok::<_, String>(Some(number * number))
            },
        };
        let mut results = vec![0; 20];
        let mut last = 0.0;
        let all = tasks.work_through(
            n_threads,
            &mut |share| {
                last = share;
                true
            },
            &mut |number, square| {
                results[number] = square;
                Ok(())
            },
        );
        assert_eq!((all, last), (Ok(true), 1.0));
        results
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        assert_eq!(squares(1), squares(4));
    }

    #[test]
    fn a_failure_and_a_stop_end_everything() {
        let failing = TaskList {
            n_tasks: 1000,
            n_units: 1000,
            work: &|number, _: &Watch| match number {
                3 => Err("three".to_owned()),
                _ => Ok(Some(())),
            },
        };
        let found = failing.work_through(2, &mut |_| true, &mut |_, ()| Ok(()));
        assert_eq!(found, Err("three".to_owned()));
        let endless = TaskList {
            n_tasks: 4,
            n_units: 4,
            work: &|_, watch: &Watch| {
                while watch.go_on(0) {
                    thread::yield_now();
                }
                Ok::<Option<()>, String>(None)
            },
        };
        let mut n_looks = 0;
        let found = endless.work_through(
            2,
            &mut |_| {
                n_looks += 1;
                n_looks < 3
            },
            &mut |_, ()| Ok(()),
        );
        assert_eq!(found, Ok(false));
    }
}
