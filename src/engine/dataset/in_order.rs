//! Independent pieces of work done several at a time and handed over in order, with progress and a way to stop.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::DatasetError;
use crate::records::ReadError;

/// Pieces in work or waiting for their turn, for each thread: bounds the memory and keeps all threads busy.
const PIECES_PER_THREAD: usize = 8;

/// How often the one who waits is told of the progress.
const REPORT_EVERY: Duration = Duration::from_millis(20);

/// The share of a piece that is done, in units small enough for any progress bar.
const WHOLE: f64 = 1e6;

/// Most pieces in work or waiting for their turn.
pub(super) fn n_at_once() -> usize {
    PIECES_PER_THREAD * rayon::current_num_threads()
}

/// Does `work` for the numbers from 0 to `n_pieces` on as many threads as rayon has and gives every result to `take`, in order
/// of the numbers: whatever the number of threads, what is taken is the same. `keep_going` is called where the caller
/// is, receives the share done and cancels by returning false.
pub(super) fn in_order<T: Send>(
    n_pieces: usize,
    keep_going: &mut dyn FnMut(f64) -> bool,
    work: impl Fn(usize, &mut dyn FnMut(f64) -> bool) -> T + Sync,
    mut take: impl FnMut(usize, T) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let n_at_once = n_at_once();
    for first in (0..n_pieces).step_by(n_at_once) {
        let last = n_pieces.min(first + n_at_once);
        let mut overall = |done: f64| keep_going((first as f64 + done) / n_pieces as f64);
        let results = some(first..last, &mut overall, &work);
        for (number, result) in (first..last).zip(results) {
            take(number, result.ok_or(ReadError::Cancelled)?)?;
        }
    }
    if n_pieces > 0 && !keep_going(1.0) {
        return Err(ReadError::Cancelled.into());
    }
    Ok(())
}

/// The results of some pieces; `None` for those that were not begun when cancelled.
fn some<T: Send>(
    pieces: std::ops::Range<usize>,
    keep_going: &mut dyn FnMut(f64) -> bool,
    work: &(impl Fn(usize, &mut dyn FnMut(f64) -> bool) -> T + Sync),
) -> Vec<Option<T>> {
    let stopped = AtomicBool::new(false);
    let shares: Vec<AtomicU32> = pieces.clone().map(|_| AtomicU32::new(0)).collect();
    let results: Vec<Mutex<Option<T>>> = pieces.clone().map(|_| Mutex::new(None)).collect();
    let (finished, n_finished) = channel();
    let (first, next) = (pieces.start, AtomicUsize::new(0));
    // Threads of its own, as many as rayon has: the caller may be one of those, and whoever works on a long piece
    // neither reports nor notices that it is cancelled.
    thread::scope(|scope| {
        let n_threads = rayon::current_num_threads().min(results.len());
        let workers = (0..n_threads).map(|_| {
            let (finished, next, stopped) = (finished.clone(), &next, &stopped);
            let (shares, results) = (&shares, &results);
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(share), Some(result)) = (shares.get(place), results.get(place))
                    else {
                        break;
                    };
                    let mut go_on = |done: f64| {
                        share.store((done * WHOLE) as u32, Ordering::Relaxed);
                        !stopped.load(Ordering::Relaxed)
                    };
                    if go_on(0.0) {
                        let made = work(first + place, &mut go_on);
                        // Only this piece ever holds this lock.
                        if let Ok(mut place) = result.lock() {
                            *place = Some(made);
                        }
                    }
                    go_on(1.0);
                    // Nobody listens any more once the scope has been left by a panic.
                    finished.send(()).ok();
                }
            })
        });
        let workers: Vec<_> = workers.collect();
        drop(finished);
        loop {
            let news = n_finished.recv_timeout(REPORT_EVERY);
            let done: f64 = shares
                .iter()
                .map(|share| f64::from(share.load(Ordering::Relaxed)) / WHOLE)
                .sum();
            if !stopped.load(Ordering::Relaxed) && !keep_going(done) {
                stopped.store(true, Ordering::Relaxed);
            }
            if news == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
        for worker in workers {
            if let Err(panic) = worker.join() {
                resume_unwind(panic);
            }
        }
    });
    let into_result = |result: Mutex<Option<T>>| result.into_inner().ok().flatten();
    let results = results.into_iter().map(into_result);
    match stopped.into_inner() {
        // What was made of a piece that was cancelled is not whole.
        true => results.map(|_| None).collect(),
        false => results.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The squares of some numbers, taken in order, with every share heard.
    fn squares(n_threads: usize, n_pieces: usize) -> (Vec<usize>, Vec<f64>) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        pool.build().expect("threads").install(|| {
            let (mut taken, mut shares) = (Vec::new(), Vec::new());
            in_order(
                n_pieces,
                &mut |share| {
                    shares.push(share);
                    true
                },
                |number, go_on| {
                    assert!(go_on(0.5));
                    number * number
                },
                |number, square| {
                    assert_eq!(number, taken.len());
                    taken.push(square);
                    Ok(())
                },
            )
            .expect("not stopped");
            (taken, shares)
        })
    }

    #[test]
    fn results_come_in_order_with_rising_shares_for_any_number_of_threads() {
        for n_threads in [1, 3] {
            let (taken, shares) = squares(n_threads, 100);
            assert_eq!(taken, (0..100).map(|n| n * n).collect::<Vec<_>>());
            assert!(shares.is_sorted() && shares.last() == Some(&1.0));
        }
        assert_eq!(squares(2, 0), (Vec::new(), Vec::new()));
    }

    #[test]
    fn work_that_is_stopped_hands_over_no_half_result() {
        let mut n_taken = 0;
        let stopped = in_order(
            1000,
            &mut |share| share < 0.2,
            |_, go_on| (0..20).take_while(|_| go_on(0.1)).count(),
            |_, n_steps| {
                assert_eq!(n_steps, 20);
                n_taken += 1;
                Ok(())
            },
        );
        assert!(matches!(
            stopped,
            Err(DatasetError::Read(ReadError::Cancelled))
        ));
        assert!(n_taken < 1000);
    }

    #[test]
    fn a_long_piece_is_stopped_from_within_a_pool_of_one_thread() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
        let stopped = pool.build().expect("a thread").install(|| {
            let mut n_heard = 0;
            in_order(
                3,
                &mut |_| {
                    n_heard += 1;
                    n_heard < 5
                },
                |_, go_on| while go_on(0.5) {},
                |_, ()| Ok(()),
            )
        });
        assert!(matches!(
            stopped,
            Err(DatasetError::Read(ReadError::Cancelled))
        ));
    }
}
