//! A sweep on a cluster, from the window: submitted, watched in its folder, paused, retried, cancelled.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::background::{Answer, Background, Post};
use super::compare::CompareEvent;
use super::event::Event;
use super::sweep::{SweepEvent, SweepOrder};
use super::{Gravity, TaskError, Workbench};
use atomscope_engine::cluster::{
    ClusterError, JobRequest, Mark, Order, Task, WorkFolder, WorkStatus, cancel_jobs, submit,
};
use atomscope_engine::experiment::{JobProgress, PointResult};
use atomscope_engine::session::{describe_sweep, read_sweep};

/// How often the folder is read while it is watched.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);
/// Most workers that can be typed.
pub const MOST_WORKERS: usize = 10_000;

/// What is asked of the scheduler, as it is filled in; what is empty is left to the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobForm {
    /// Workers.
    pub n_workers: usize,
    /// The time limit.
    pub time: String,
    /// The partition.
    pub partition: String,
    /// Further options of sbatch.
    pub sbatch: String,
}

impl Default for JobForm {
    fn default() -> Self {
        Self {
            n_workers: 40,
            time: "2:00:00".into(),
            partition: String::new(),
            sbatch: String::new(),
        }
    }
}

/// What is asked of the work in the folder.
#[derive(Clone, Debug)]
pub enum ClusterAction {
    /// Fills in what is asked of the scheduler.
    Edit(JobForm),
    /// Submits the sweep.
    Submit,
    /// Workers take no more points.
    Pause,
    /// Workers take points again.
    Resume,
    /// Workers save what they compute, and end.
    Cancel,
    /// Points that were put aside are tried again, or one of them, from 0.
    Retry(Option<usize>),
}

/// What the background tells about the work.
pub(super) enum ClusterEvent {
    /// It was submitted; what is said.
    Submitted(Answer<String>),
    /// Something was asked; what is said.
    Asked(Answer<String>),
    /// What the folder holds.
    Seen(PathBuf, SeenFolder),
    /// Nobody watches any more.
    Unwatched(Answer<()>),
}

/// What the folder holds.
pub(super) struct SeenFolder {
    status: Result<WorkStatus, ClusterError>,
    /// All finished points, where there are more than before.
    finished: Option<Vec<PointResult>>,
}

fn event(cluster: ClusterEvent) -> Event {
    Event::Compare(CompareEvent::Sweep(SweepEvent::Cluster(cluster)))
}

/// The work on a cluster.
#[derive(Default)]
pub struct ClusterStage {
    form: JobForm,
    submitting: Background<(), String>,
    asking: Background<(), String>,
    watching: Background<PathBuf, ()>,
    status: Option<WorkStatus>,
}

impl ClusterStage {
    /// What is filled in.
    pub fn form(&self) -> &JobForm {
        &self.form
    }

    /// Whether the sweep is being submitted.
    pub fn is_submitting(&self) -> bool {
        self.submitting.is_busy()
    }

    /// How far the work in the folder has come, if there is any.
    pub fn status(&self) -> Option<&WorkStatus> {
        self.status.as_ref()
    }

    /// Watches a folder from now on, if there is work in it.
    pub(super) fn watch(&mut self, folder: &Path, post: &Post) {
        self.status = None;
        let wrap = |answer| event(ClusterEvent::Unwatched(answer));
        let (place, to) = (folder.to_owned(), post.clone());
        self.watching
            .start(folder.to_owned(), (post, "watching", wrap), move |job| {
                watch(&place, &to, job);
                Ok(())
            });
    }

    /// Watches nothing.
    pub(super) fn stop_watching(&mut self) {
        self.watching = Background::default();
        self.status = None;
    }
}

/// Reads the folder again and again, until nobody wants to know.
fn watch(folder: &Path, post: &Post, progress: &JobProgress) {
    let work = WorkFolder::new(folder);
    let mut n_known = 0;
    while progress.go_on(0.0) {
        let status = WorkStatus::read(&work);
        if let Err(ClusterError::NoWork { .. }) = status {
            return;
        }
        let n_done = status.as_ref().map_or(n_known, |status| status.points.done);
        let finished = (n_done != n_known).then(|| read_sweep(folder).ok());
        n_known = n_done;
        let finished = finished.flatten();
        let seen = SeenFolder { status, finished };
        post.send(event(ClusterEvent::Seen(folder.to_owned(), seen)));
        if !progress.rest(WATCH_INTERVAL) {
            return;
        }
    }
}

impl Workbench {
    pub(super) fn handle_cluster(&mut self, event: ClusterEvent) -> Option<(Gravity, String)> {
        let stage = &mut self.tasks.comparison.sweep;
        let said = match event {
            ClusterEvent::Submitted(answer) => {
                let said = stage.cluster.submitting.take_once(answer);
                if let (Some(Ok(_)), Some(folder)) = (&said, stage.form().folder.clone()) {
                    stage.look_at(folder, &self.tasks.post);
                }
                said
            }
            ClusterEvent::Asked(answer) => stage.cluster.asking.take_once(answer),
            ClusterEvent::Seen(folder, seen) => {
                if !stage.cluster.watching.is_wanted(&folder) {
                    return None;
                }
                if let Some(finished) = seen.finished {
                    stage.take_finished(&folder, finished);
                }
                match seen.status {
                    Ok(status) => stage.cluster.status = Some(status),
                    Err(error) => return Some((Gravity::Error, error.to_string())),
                }
                return None;
            }
            ClusterEvent::Unwatched(answer) => {
                drop(stage.cluster.watching.take_once(answer));
                return None;
            }
        };
        said.map(|said| match said {
            Ok(text) => (Gravity::Done, text),
            Err(error) => (Gravity::Error, error.to_string()),
        })
    }

    pub(super) fn apply_cluster(&mut self, action: ClusterAction) {
        let order = self.sweep_order();
        let stage = &mut self.tasks.comparison.sweep;
        let folder = stage.results().map(|results| results.folder.clone());
        let post = &self.tasks.post;
        let cluster = &mut stage.cluster;
        type Request = Box<dyn FnOnce(&WorkFolder) -> Result<String, ClusterError> + Send>;
        let request: Request = match action {
            ClusterAction::Edit(form) => {
                cluster.form = form;
                return;
            }
            ClusterAction::Submit => {
                if let Some(order) = order.filter(|_| !cluster.submitting.is_busy()) {
                    let form = cluster.form.clone();
                    let wrap = |answer| event(ClusterEvent::Submitted(answer));
                    let on = (post, "submitting", wrap as _);
                    let submit = move |job: &JobProgress| submit_sweep(&order, &form, job);
                    cluster.submitting.start((), on, submit);
                }
                return;
            }
            ClusterAction::Pause => Box::new(|work| {
                work.set(Mark::Paused, true)?;
                Ok("Paused: workers finish their points and take no others".into())
            }),
            ClusterAction::Resume => Box::new(|work| {
                work.set(Mark::Paused, false)?;
                Ok("Resumed: workers take points again".into())
            }),
            ClusterAction::Cancel => Box::new(|work| {
                work.set(Mark::Cancelled, true)?;
                cancel_jobs(work)?;
                Ok("Cancelled: finished points and saved states are kept; submit to resume".into())
            }),
            ClusterAction::Retry(only) => Box::new(move |work| {
                let n_points = work.retry(only)?;
                let plural = if n_points == 1 { "" } else { "s" };
                Ok(format!("{n_points} failed point{plural} open again"))
            }),
        };
        if let Some(folder) = folder {
            let wrap = |answer| event(ClusterEvent::Asked(answer));
            cluster.asking.start((), (post, "asking", wrap), move |_| {
                Ok(request(&WorkFolder::new(&folder))?)
            });
        }
    }
}

/// Writes the sweep into its folder and submits its workers; what is said of it.
fn submit_sweep(
    order: &SweepOrder,
    form: &JobForm,
    progress: &JobProgress,
) -> Result<String, TaskError> {
    let folder = &order.folder;
    let given = |text: &String| (!text.trim().is_empty()).then(|| text.trim().to_owned());
    let mut request = JobRequest {
        n_workers: form.n_workers,
        time: given(&form.time),
        partition: given(&form.partition),
        sbatch: given(&form.sbatch),
        ..JobRequest::of_this_program(folder)?
    };
    // A wrong time limit is told before anything is written.
    request.script(folder)?;
    let file = describe_sweep(
        folder,
        order.session.as_deref(),
        &order.experiment,
        &order.sweep,
    )?;
    let wanted = Order::new(Task::Sweep { file }, &order.places.folders)?;
    let prepared = wanted.prepare(&mut |share| progress.go_on(share))?;
    let work = WorkFolder::new(folder);
    let n_open = wanted.place(&work, &prepared)?;
    request.n_workers = request.n_workers.min(n_open.max(1));
    let id = submit(&work, &request)?;
    let n_workers = request.n_workers;
    Ok(format!(
        "Submitted job {id} with {n_workers} worker{} for {n_open} open point{}",
        if n_workers == 1 { "" } else { "s" },
        if n_open == 1 { "" } else { "s" },
    ))
}
