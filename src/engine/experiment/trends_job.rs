//! Trends of a recording, computed in the background; what is done can be looked at all the while.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::job::Job;
use crate::features::trends::{TrendError, Trends};
use crate::records::Record;

/// How often what is done is shown.
const SHOWN_EVERY: Duration = Duration::from_millis(400);

/// Trends under way.
#[derive(Debug)]
pub struct TrendsJob {
    /// Tells how far it is, and cancels.
    pub job: Job<Result<Trends, TrendError>>,
    so_far: Arc<Mutex<Option<Arc<Trends>>>>,
}

impl TrendsJob {
    /// The columns computed so far; the others are NaN.
    pub fn so_far(&self) -> Option<Arc<Trends>> {
        let so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        so_far.clone()
    }
}

/// Begins to compute the trends of a record without its bad channels; `wake` is called with every new picture.
pub fn build_trends(
    record: Arc<Record>,
    bad_channels: Vec<String>,
    wake: impl Fn() + Clone + Send + 'static,
) -> TrendsJob {
    let so_far = Arc::new(Mutex::new(None));
    let shown = so_far.clone();
    let wake_on_the_way = wake.clone();
    let job = Job::start("trends", wake, move |progress| {
        let mut last: Option<Instant> = None;
        Trends::build(&record, &bad_channels, |trends, share| {
            if last.is_none_or(|last| last.elapsed() >= SHOWN_EVERY) {
                last = Some(Instant::now());
                *shown.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(Arc::new(trends.clone()));
                wake_on_the_way();
            }
            progress.go_on(share)
        })
    });
    TrendsJob { job, so_far }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::experiment::JobOutcome;
    use crate::records::{Channel, Format, Kind, Unit};

    #[test]
    fn a_picture_is_there_before_the_work_is_done() {
        let wave = |k: i32| 30.0 * (f64::from(k) * 0.3).sin();
        let channel = |name: &str| Channel::analog(name, Unit::parse("µV"), Some(100.0), 0);
        let data =
            ["C3", "C4", "P3", "P4"].map(|name| (channel(name), (0..60_000).map(wave).collect()));
        let record = Record::in_memory(Format::Simulated, Kind::Recording, "made", data.to_vec());
        let (sender, woken) = mpsc::channel();
        let wake = move || sender.send(()).unwrap_or_default();
        let trends = build_trends(Arc::new(record), Vec::new(), wake);
        woken.recv().expect("a first picture");
        assert_eq!(trends.so_far().expect("shown").n_columns, 40);
        let outcome = loop {
            match trends.job.take() {
                Some(outcome) => break outcome,
                None => woken.recv().expect("the job wakes"),
            }
        };
        let JobOutcome::Done(Ok(done)) = outcome else {
            panic!("memory is readable, but {outcome:?}")
        };
        assert!(done.band_powers[1].iter().all(|power| power.is_finite()));
    }
}
