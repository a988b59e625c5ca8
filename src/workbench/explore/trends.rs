//! Trends of the recording that is open: begun when they are wanted, shown while they grow.

use std::sync::Arc;

use crate::workbench::Wake;
use atomscope_engine::experiment::{JobOutcome, TrendsJob, build_trends};
use atomscope_engine::features::trends::Trends;
use atomscope_engine::records::Record;

/// The newest picture, and the work on it.
#[derive(Default)]
pub(super) struct ShownTrends {
    /// Bad channels that are left out of what is shown or under way.
    without: Option<Vec<String>>,
    job: Option<TrendsJob>,
    shown: Option<Arc<Trends>>,
    error: Option<String>,
}

impl ShownTrends {
    /// Begins the work, unless it is done or under way without the same channels.
    pub(super) fn ask(&mut self, record: &Arc<Record>, bad_channels: &[String], wake: &Wake) {
        if self.without.as_deref() == Some(bad_channels) {
            return;
        }
        if let Some(job) = self.job.take() {
            job.job.cancel();
        }
        self.without = Some(bad_channels.to_vec());
        self.error = None;
        let wake = wake.clone();
        let job = build_trends(record.clone(), bad_channels.to_vec(), move || wake());
        self.job = Some(job);
    }

    /// Takes over what has been computed.
    pub(super) fn poll(&mut self) {
        let Some(job) = &self.job else {
            return;
        };
        let outcome = job.job.take();
        match outcome {
            None => self.shown = job.so_far().or(self.shown.take()),
            Some(outcome) => {
                self.job = None;
                match outcome {
                    JobOutcome::Done(Ok(trends)) => self.shown = Some(Arc::new(trends)),
                    JobOutcome::Done(Err(error)) => self.error = Some(error.to_string()),
                    JobOutcome::Failed(message) => self.error = Some(message),
                }
            }
        }
    }

    /// What is there, perhaps not all columns yet.
    pub(super) fn shown(&self) -> Option<&Arc<Trends>> {
        self.shown.as_ref()
    }

    /// The share done while it is under way.
    pub(super) fn share(&self) -> Option<f64> {
        self.job.as_ref().map(|job| job.job.share())
    }

    /// Why there are none.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}
