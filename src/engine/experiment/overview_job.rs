//! The min–max overview of a recording, built in the background.

use std::sync::Arc;

use super::job::Job;
use crate::records::overview::Overview;
use crate::records::{ReadError, Record};

/// Begins to build the overview of a record. A cancelled job ends with [`ReadError::Cancelled`].
pub fn build_overview(
    record: Arc<Record>,
    wake: impl Fn() + Send + 'static,
) -> Job<Result<Overview, ReadError>> {
    Job::start("overview", wake, move |progress| {
        Overview::build(&record, |share| progress.go_on(share))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::experiment::JobOutcome;
    use crate::records::{Channel, Format, Kind, Unit};

    fn record() -> Arc<Record> {
        let values: Vec<f64> = (0..400_000).map(|k| f64::from(k % 1_000)).collect();
        let channel = Channel::analog("c", Unit::parse("µV"), Some(100.0), 0);
        let data = vec![(channel, values)];
        let record = Record::in_memory(Format::Simulated, Kind::Recording, "test", data);
        Arc::new(record)
    }

    fn outcome(cancel: bool) -> Result<Overview, ReadError> {
        let (sender, woken) = mpsc::channel();
        let (go, may_go) = mpsc::channel::<()>();
        let wake = move || sender.send(()).expect("the test waits");
        let record = record();
        // The job begins when the test says so: cancelled before, it must not finish.
        let job = Job::start("overview", wake, move |progress| {
            may_go.recv().expect("the test says so");
            Overview::build(&record, |share| progress.go_on(share))
        });
        if cancel {
            job.cancel();
        }
        go.send(()).expect("the job waits");
        woken.recv().expect("the job wakes");
        match job.take() {
            Some(JobOutcome::Done(outcome)) => outcome,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn it_is_built_on_a_thread_of_its_own_and_can_be_cancelled() {
        let (sender, woken) = mpsc::channel();
        let wake = move || sender.send(()).expect("the test waits");
        let job = build_overview(record(), wake);
        woken.recv().expect("the job wakes");
        let Some(JobOutcome::Done(Ok(overview))) = job.take() else {
            panic!("memory is readable")
        };
        assert_eq!(job.share(), 1.0);
        let extent = overview.extent(0).expect("there is a channel");
        assert_eq!((extent.min, extent.max), (0.0, 999.0));
        assert!(outcome(false).is_ok());
        assert!(matches!(outcome(true), Err(ReadError::Cancelled)));
    }
}
