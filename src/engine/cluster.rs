//! Work for more than one machine: points in a folder that any number of workers take one after
//! the other. The files are the coordination; there is no server.
//!
//! | file | what it is |
//! |---|---|
//! | `point-000001.ron` | a finished point |
//! | `identity.ron` | version, data hashes and audit that all points share |
//! | `job.sh` | the script of the workers |
//! | `cluster/work.ron` | what is worked on |
//! | `cluster/claim-000001-02.ron` | who took the point the second time |
//! | `cluster/worker-….ron` | the heartbeat of a worker |
//! | `cluster/failure-000001-02.ron` | why the point failed that time |
//! | `cluster/state-000001.safetensors` | where the point was left |
//! | `cluster/paused`, `cluster/cancelled` | what the workers are asked to do |
//!
//! What is relied on, on a local disk as on NFS (version 3 or later):
//!
//! - `link` is atomic and fails where the name exists. A claim is written under a name of its own
//!   and linked to the name of the point and the attempt, so of many workers one wins, and nobody
//!   sees half a claim. A claim is never taken away from anybody: after a death the next attempt
//!   has the next number, so a late worker cannot remove the claim of its successor.
//! - `rename` replaces a file as a whole. Results, states and heartbeats are written that way.
//! - A file that is opened shows what was there when it was last closed elsewhere (close to open).
//!
//! No locks are used. Ages are differences of two times of the file server, so the clocks of the
//! machines do not matter; a time far ahead, as after the clock of the server was set back, counts as
//! old. If two workers compute the same point after all, because one was
//! suspended for minutes, both write the same bytes but for measured times, and no harm is done.

mod claims;
mod error;
mod failures;
mod folder;
mod heartbeat;
mod order;
mod slurm;
mod status;
mod work;
mod worker;

pub use error::{ClusterError, PointError};
pub use folder::{Mark, WorkFolder};
pub use order::{Order, PreparedWork, Task, read_entrants, read_sweep_plan};
pub use slurm::{JobRequest, cancel_jobs, requeue_this_job, submit};
pub use status::{FailedPoint, PointCounts, WorkStatus, WorkerRow};
pub use work::Work;
pub use worker::{WorkerEnd, WorkerNews, work_through};

#[cfg(test)]
mod tests;
