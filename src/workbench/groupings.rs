//! The experiment repeated with its groups dealt to folds by other seeds: how far a score depends on the grouping.

use std::sync::Arc;

use super::event::Event;
use super::{TaskError, Workbench};
use atomscope_engine::experiment::{Experiment, Grouping, JobProgress, repeat_groupings};

/// Groupings of one look.
const N_GROUPINGS: u64 = 5;

/// What was repeated, and how every grouping did.
#[derive(Clone, Debug)]
pub struct Regrouped {
    /// The settings of the first grouping.
    pub experiment: Experiment,
    /// One after the other.
    pub groupings: Vec<Grouping>,
}

impl Workbench {
    /// The groupings of the run that is shown; none of other settings.
    pub fn groupings(&self) -> Option<&Regrouped> {
        let run = self.training().run()?;
        let shown = self.tasks.groupings.shown()?;
        (shown.experiment == run.experiment).then_some(shown)
    }

    /// The share done of repeating the grouping.
    pub fn groupings_share(&self) -> Option<f64> {
        self.tasks.groupings.share()
    }

    /// Trains the run that is shown again with other groupings.
    pub(super) fn repeat_groupings(&mut self) {
        let run = self.training().run().map(|run| run.experiment.clone());
        let data = self.document.data.loaded().map(|l| l.dataset.clone());
        let (Some(experiment), Some(dataset)) = (run, data) else {
            return;
        };
        let on = (&self.tasks.post, "groupings", Event::Groupings as _);
        let work = move |progress: &JobProgress| {
            let seeds = (0..N_GROUPINGS).map(|number| experiment.seed.wrapping_add(number));
            let checked = seeds.map(|seed| {
                experiment
                    .clone()
                    .with_seed(seed)
                    .check(Arc::clone(&dataset))
            });
            let checked = checked
                .collect::<Result<_, _>>()
                .map_err(TaskError::Settings)?;
            let groupings = repeat_groupings(checked, &mut |share| progress.go_on(share))?;
            Ok(Regrouped {
                groupings: groupings.ok_or(TaskError::Cancelled)?,
                experiment,
            })
        };
        self.tasks.groupings.start((), on, work);
    }

    /// Ends that.
    pub(super) fn cancel_groupings(&mut self) {
        self.tasks.groupings.cancel();
    }
}
