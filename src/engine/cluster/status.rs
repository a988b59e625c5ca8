//! How far the work in a folder has come, as its files show it.

use serde_json::{Value, json};

use super::claims::{AttemptStage, last_claim};
use super::error::ClusterError;
use super::failures::{is_put_aside, last_failure};
use super::folder::{Listing, Mark, WorkFolder};
use super::heartbeat::{Life, life_of};
use super::order::Order;

/// Points by their outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointCounts {
    /// Finished.
    pub done: usize,
    /// A worker that lives is at it.
    pub running: usize,
    /// Failed three times and put aside.
    pub failed: usize,
    /// Nobody is at it.
    pub open: usize,
}

/// A worker that lives.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerRow {
    /// Its machine.
    pub host: String,
    /// The point it works on, from 1.
    pub point: Option<usize>,
    /// How long it has been at the point, or without one.
    pub since_s: f64,
    /// Points that it finishes in an hour of work; nothing before the first.
    pub per_hour: Option<f64>,
}

/// A point that was put aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedPoint {
    /// The point, from 0.
    pub number: usize,
    /// Its last error.
    pub error: String,
}

/// How far the work in a folder has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkStatus {
    /// Points.
    pub points: PointCounts,
    /// Workers that live.
    pub workers: Vec<WorkerRow>,
    /// Points that were put aside.
    pub failed: Vec<FailedPoint>,
    /// Whether no points are taken for now.
    pub is_paused: bool,
    /// Whether the work was cancelled.
    pub is_cancelled: bool,
}

/// Points that were put aside, with their errors.
pub(super) fn failed_points(
    folder: &WorkFolder,
    listing: &Listing,
    n_points: usize,
) -> Vec<FailedPoint> {
    let aside = (0..n_points)
        .filter(|number| !listing.done.contains(number) && is_put_aside(folder, listing, *number));
    let with_error = |number| FailedPoint {
        number,
        error: last_failure(folder, listing, number).map_or_else(String::new, |last| last.error),
    };
    aside.map(with_error).collect()
}

impl WorkStatus {
    /// Reads the folder; nothing is changed there.
    pub fn read(folder: &WorkFolder) -> Result<Self, ClusterError> {
        let order = Order::load(folder)?;
        let listing = folder.list()?;
        let now = folder.now();
        let mut status = Self {
            failed: failed_points(folder, &listing, order.n_points),
            is_paused: folder.is(Mark::Paused),
            is_cancelled: folder.is(Mark::Cancelled),
            ..Self::default()
        };
        let mut names = listing.workers.clone();
        names.sort();
        let mut alive = Vec::new();
        for name in names {
            let Life::Alive(beat, age) = life_of(folder, &name, now) else {
                continue;
            };
            let age_s = age.as_secs_f64();
            let worked_s = beat.up_s + beat.point.map_or(0.0, |_| age_s);
            status.workers.push(WorkerRow {
                host: beat.host,
                point: beat.point.map(|number| number + 1),
                since_s: beat.point_s + age_s,
                per_hour: (beat.n_done > 0 && worked_s > 0.0)
                    .then(|| 3600.0 * beat.n_done as f64 / worked_s),
            });
            alive.push(name);
        }
        status.points.failed = status.failed.len();
        for number in 0..order.n_points {
            let counts = &mut status.points;
            if listing.done.contains(&number) {
                counts.done += 1;
            } else if status.failed.iter().any(|failed| failed.number == number) {
                continue;
            } else {
                let claim = last_claim(folder, &listing, number);
                let is_running = claim.is_some_and(|(_, stage, worker)| {
                    stage == AttemptStage::Held && alive.contains(&worker)
                });
                match is_running {
                    true => counts.running += 1,
                    false => counts.open += 1,
                }
            }
        }
        Ok(status)
    }

    /// Number of points.
    pub fn n_points(&self) -> usize {
        let PointCounts {
            done,
            running,
            failed,
            open,
        } = self.points;
        done + running + failed + open
    }

    /// Whether nothing is left to be computed.
    pub fn is_complete(&self) -> bool {
        self.points.running + self.points.open == 0
    }

    /// How long the workers need for what is left, at the rate so far; nothing where none is known.
    pub fn left_s(&self) -> Option<f64> {
        let left = self.points.running + self.points.open;
        if left == 0 {
            return Some(0.0);
        }
        let per_hour: f64 = self.workers.iter().filter_map(|row| row.per_hour).sum();
        (per_hour > 0.0).then(|| 3600.0 * left as f64 / per_hour)
    }

    /// The status as JSON.
    pub fn to_json(&self) -> Value {
        let PointCounts {
            done,
            running,
            failed,
            open,
        } = self.points;
        let workers = self.workers.iter().map(|row| {
            json!({
                "host": row.host,
                "point": row.point,
                "since_s": row.since_s,
                "per_hour": row.per_hour.unwrap_or(0.0),
            })
        });
        json!({
            "points": { "done": done, "running": running, "failed": failed, "open": open },
            "workers": workers.collect::<Vec<Value>>(),
            "left_s": self.left_s(),
        })
    }
}
