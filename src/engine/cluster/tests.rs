//! Workers on one folder: claims, failures, damage, points that are stopped again and again.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::claims::{AttemptStage, Claim, Found, Taken, take_next};
use super::error::{ClusterError, PointError};
use super::heartbeat::{Heart, Life, life_of};
use super::order::PreparedWork;
use super::status::WorkStatus;
use super::work::{PointEnd, Points, SweepWork, Work};
use super::*;
use crate::dataset::{DataSettings, Dataset};
use crate::experiment::{
    Axis, Experiment, Halving, PointProgress, PointResult, Search, SettingText, Sweep, SweepPlan,
    Values, Watcher,
};
use crate::session::{PointStore, WorkIdentity, load_progress, point_file_name};
use crate::simulate::feeder::FeederSettings;
use crate::split::SplitPlan;

/// Points that count how often they are computed; some fail as often as they are told to.
struct Counted {
    n_computed: Vec<AtomicUsize>,
    failing: Vec<usize>,
    n_merged: AtomicUsize,
}

impl Counted {
    fn prepared(n_points: usize, failing: &[usize]) -> PreparedWork {
        let work = Self {
            n_computed: (0..n_points).map(|_| AtomicUsize::new(0)).collect(),
            failing: failing.to_vec(),
            n_merged: AtomicUsize::new(0),
        };
        PreparedWork {
            identity: WorkIdentity::new(work.fingerprint(), [], Vec::new()),
            work: Box::new(work),
        }
    }
}

struct CountedPoints<'a>(&'a Counted, PointStore<usize>);

impl Work for Counted {
    fn n_points(&self) -> usize {
        self.n_computed.len()
    }

    fn fingerprint(&self) -> String {
        "counted".into()
    }

    fn audit(&self) -> Vec<String> {
        Vec::new()
    }

    fn open<'a>(
        &'a self,
        folder: &'a Path,
        identity: &WorkIdentity,
    ) -> Result<Box<dyn Points + 'a>, ClusterError> {
        Ok(Box::new(CountedPoints(
            self,
            PointStore::open(folder, identity)?,
        )))
    }
}

impl Points for CountedPoints<'_> {
    fn compute(
        &self,
        number: usize,
        _saved: Option<PointProgress>,
        _watcher: &mut dyn Watcher,
    ) -> PointEnd {
        let before = self.0.n_computed[number].fetch_add(1, Ordering::SeqCst);
        assert_eq!(before, before.min(5), "it would go on for ever");
        if self.0.failing.contains(&number) {
            // A panic is a failure like any other.
            assert_ne!(number, 4, "point four panics");
            return Err(PointError::Panic(format!("point {number} fails")));
        }
        self.1.keep(number, &(number * number)).expect("writable");
        Ok(true)
    }

    fn merge(&self, failed: &[(usize, String)]) -> Result<(), ClusterError> {
        let n_finished = self.1.finished()?.len();
        assert_eq!(n_finished + failed.len(), self.0.n_computed.len());
        self.0.n_merged.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// The order that a status needs; what is computed is not read from it here.
fn placed(folder: &WorkFolder, prepared: &PreparedWork) {
    let task = Task::Reproduce { is_quick: true };
    let order = Order::new(task, &[]).expect("sound");
    order.place(folder, prepared).expect("writable");
}

fn work_alone(folder: &WorkFolder, prepared: &PreparedWork) -> WorkerEnd {
    let stop = AtomicBool::new(false);
    work_through(folder, prepared, &stop, &|_| {}).expect("it works")
}

#[test]
fn many_workers_compute_every_point_once_and_leave_no_claim() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = WorkFolder::new(place.path());
    let prepared = Counted::prepared(40, &[]);
    placed(&folder, &prepared);
    let begun = Mutex::new(Vec::new());
    let told = |news| {
        if let WorkerNews::Began(number, attempt) = news {
            begun.lock().expect("sound").push((number, attempt));
        }
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..8 {
            let work = || work_through(&folder, &prepared, &stop, &told);
            scope.spawn(move || assert_eq!(work().expect("it works"), WorkerEnd::Complete));
        }
    });
    let mut begun = begun.into_inner().expect("sound");
    begun.sort_unstable();
    assert_eq!(begun, (0..40).map(|number| (number, 1)).collect::<Vec<_>>());
    let listing = folder.list().expect("readable");
    assert_eq!((listing.done.len(), listing.workers.len()), (40, 0));
    assert!(listing.attempts.is_empty(), "{listing:?}");
    let status = WorkStatus::read(&folder).expect("readable");
    assert!(status.is_complete());
    let points = serde_json::json!({ "done": 40, "running": 0, "failed": 0, "open": 0 });
    let expected = serde_json::json!({ "points": points, "workers": [], "left_s": 0.0 });
    assert_eq!(status.to_json(), expected);
}

#[test]
fn a_point_that_fails_three_times_is_put_aside_and_can_be_retried() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = WorkFolder::new(place.path());
    let prepared = Counted::prepared(6, &[2, 4]);
    placed(&folder, &prepared);
    assert_eq!(work_alone(&folder, &prepared), WorkerEnd::Complete);
    let status = WorkStatus::read(&folder).expect("readable");
    assert_eq!((status.points.done, status.points.failed), (4, 2));
    assert_eq!(status.failed[0].error, "point 2 fails");
    assert!(status.failed[1].error.contains("point four panics"));
    assert_eq!(folder.list().expect("readable").failures[&2].len(), 3);
    assert_eq!(folder.retry(Some(2)).expect("writable"), 1);
    let status = WorkStatus::read(&folder).expect("readable");
    assert_eq!((status.points.open, status.points.failed), (1, 1));
    let mended = Counted::prepared(6, &[]);
    assert_eq!(work_alone(&folder, &mended), WorkerEnd::Complete);
    let status = WorkStatus::read(&folder).expect("readable");
    assert_eq!((status.points.done, status.points.failed), (5, 1));
}

#[test]
fn the_claim_of_a_dead_worker_returns_and_that_of_a_living_one_does_not() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = WorkFolder::new(place.path());
    placed(&folder, &Counted::prepared(2, &[]));
    let claim = |number, attempt, worker: &str| {
        let claim = Claim {
            worker: worker.into(),
            stage: AttemptStage::Held,
        };
        let path = folder.claim_path(number, attempt);
        folder.write(&path, &claim).expect("writable");
    };
    let alive = super::heartbeat::Heart::start(&folder).expect("writable");
    claim(0, 1, &alive.name);
    claim(1, 1, "somewhere-1-0-0");
    // A claim that cannot be read belongs to nobody alive.
    let found = take_next(&folder, 2, &|_| 0, "me").expect("readable");
    let taken = |attempt| Found::Point(Taken { number: 1, attempt });
    assert_eq!(found, taken(2));
    std::fs::write(folder.claim_path(1, 2), "(worker: \"m").expect("writable");
    assert_eq!(
        take_next(&folder, 2, &|_| 0, "me").expect("readable"),
        taken(3)
    );
    drop(alive);
    let first = Found::Point(Taken {
        number: 0,
        attempt: 2,
    });
    assert_eq!(
        take_next(&folder, 2, &|_| 0, "me").expect("readable"),
        first
    );
    let status = WorkStatus::read(&folder).expect("readable");
    assert_eq!((status.points.running, status.points.open), (0, 2));
}

#[test]
fn a_heartbeat_from_the_future_grows_old_like_any_other() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = WorkFolder::new(place.path());
    folder.make().expect("writable");
    let heart = Heart::start(&folder).expect("writable");
    let path = folder.worker_path(&heart.name);
    let is_alive = |ahead_s: u64| {
        let ahead = std::time::Duration::from_secs(ahead_s);
        let file = std::fs::File::options().write(true).open(&path);
        let file = file.expect("writable");
        file.set_modified(folder.now() + ahead).expect("writable");
        matches!(life_of(&folder, &heart.name, folder.now()), Life::Alive(..))
    };
    assert!(is_alive(0));
    // Clocks that disagree a little do no harm; one that was set back must not keep a claim for hours.
    assert!(is_alive(20));
    assert!(!is_alive(3600));
    heart.beat().expect("writable");
    assert!(is_alive(0));
}

#[test]
fn damaged_files_of_the_work_are_named_with_what_to_do() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = WorkFolder::new(place.path());
    let said = |error: String, parts: [&str; 2]| {
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
    };
    let order = |folder: &WorkFolder| Order::load(folder).expect_err("there is none");
    assert!(matches!(order(&folder), ClusterError::NoWork { .. }));
    let prepared = Counted::prepared(2, &[]);
    placed(&folder, &prepared);
    assert_eq!(work_alone(&folder, &prepared), WorkerEnd::Complete);
    let torn = |name: &str| {
        let path = place.path().join(name);
        let text = std::fs::read_to_string(&path).expect("written");
        std::fs::write(&path, &text[..text.len() / 2]).expect("writable");
    };
    torn("cluster/work.ron");
    said(order(&folder).to_string(), ["submit it again", "work.ron"]);
    let stop = AtomicBool::new(false);
    let work = || work_through(&folder, &prepared, &stop, &|_| {}).map_err(|e| e.to_string());
    torn(&point_file_name(1));
    let refused = work().expect_err("a result is damaged");
    said(
        refused,
        [
            "remove the file, and the point is computed again",
            "point-000002.ron",
        ],
    );
    torn("identity.ron");
    let refused = work().expect_err("the identity is damaged");
    said(
        refused,
        ["remove the file, and it is written again", "identity.ron"],
    );
    // What is said helps.
    for name in ["identity.ron", &point_file_name(1)] {
        std::fs::remove_file(place.path().join(name)).expect("removable");
    }
    assert_eq!(work().expect("sound"), WorkerEnd::Complete);
}

#[test]
fn pause_and_cancel_keep_points_from_being_taken() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = WorkFolder::new(place.path());
    let prepared = Counted::prepared(3, &[]);
    placed(&folder, &prepared);
    folder.set(Mark::Paused, true).expect("writable");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let worker = scope.spawn(|| work_through(&folder, &prepared, &stop, &|_| {}));
        thread::sleep(std::time::Duration::from_millis(300));
        stop.store(true, Ordering::SeqCst);
        let end = worker.join().expect("no panic").expect("it works");
        assert_eq!(end, WorkerEnd::Stopped);
    });
    folder.set(Mark::Cancelled, true).expect("writable");
    assert_eq!(work_alone(&folder, &prepared), WorkerEnd::Cancelled);
    assert!(folder.list().expect("readable").done.is_empty());
    placed(&folder, &prepared);
    assert_eq!(work_alone(&folder, &prepared), WorkerEnd::Complete);
    // Nothing is left to be paused.
    folder.set(Mark::Paused, true).expect("writable");
    assert_eq!(work_alone(&folder, &prepared), WorkerEnd::Complete);
}

fn small_sweep(halving: Option<Halving>) -> PreparedWork {
    let experiment = Experiment {
        data: DataSettings::feeder_faults(FeederSettings {
            records_per_class: 8,
            ..FeederSettings::default()
        }),
        split: SplitPlan::KFold {
            n_folds: 2,
            seed: 1,
        },
        ..Experiment::default()
    };
    let sweep = Sweep {
        search: Search::Grid(vec![Axis {
            setting: "learner.n_atoms".into(),
            values: Values::List([4.0, 5.0].map(SettingText::Number).to_vec()),
        }]),
        inner_folds: 2,
        halving,
    };
    let built = experiment.data.load(&|_| None, &mut |_| true);
    let dataset: std::sync::Arc<Dataset> = built.expect("simulated").dataset.into();
    let data = vec![(experiment.data.clone(), dataset)];
    let plan = SweepPlan::new(&experiment, &sweep, data).expect("sound");
    PreparedWork {
        identity: WorkIdentity::new(plan.fingerprint(), [], plan.audit()),
        work: Box::new(SweepWork {
            plan,
            experiment,
            sweep,
        }),
    }
}

fn points_of(folder: &Path) -> Vec<PointResult> {
    let points = crate::session::read_sweep(folder).expect("readable");
    let untimed = points.into_iter().map(|point| PointResult {
        train_us_per_batch: None,
        ..point
    });
    untimed.collect()
}

#[test]
fn a_point_that_is_stopped_again_and_again_comes_to_the_same_bits() {
    let (whole, pieces) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    let prepared = small_sweep(None);
    assert_eq!(
        work_alone(&WorkFolder::new(whole.path()), &prepared),
        WorkerEnd::Complete
    );
    let folder = WorkFolder::new(pieces.path());
    let mut n_stops = 0;
    loop {
        // The first workers are told to stop as soon as they have begun.
        let stop = AtomicBool::new(false);
        let told = |news: WorkerNews| {
            if matches!(news, WorkerNews::Began(..)) && n_stops < 12 {
                stop.store(true, Ordering::SeqCst);
            }
        };
        let end = work_through(&folder, &prepared, &stop, &told).expect("it works");
        if end == WorkerEnd::Complete {
            break;
        }
        n_stops += 1;
        if !pieces.path().join(point_file_name(0)).exists() {
            let saved = load_progress(&folder.state_path(0)).expect("readable");
            assert!(saved.is_some(), "the state of the first point is saved");
        }
    }
    assert_eq!(n_stops, 12);
    assert_eq!(points_of(pieces.path()), points_of(whole.path()));
    let table = |folder: &Path| std::fs::read(folder.join("sweep.csv")).expect("written");
    assert_eq!(table(pieces.path()), table(whole.path()));
}

#[test]
fn stages_of_early_stopping_wait_for_each_other_whoever_computes_them() {
    let halving = Some(Halving {
        stages: 2,
        factor: 2,
    });
    let (alone, together) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    let prepared = small_sweep(halving);
    assert_eq!(prepared.work.n_points(), 6);
    let folder = WorkFolder::new(alone.path());
    assert_eq!(work_alone(&folder, &prepared), WorkerEnd::Complete);
    let folder = WorkFolder::new(together.path());
    let n_stops = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            // Every worker is stopped now and then, and another one takes its place.
            scope.spawn(|| {
                loop {
                    let stop = AtomicBool::new(false);
                    let told = |news: WorkerNews| {
                        let is_begin = matches!(news, WorkerNews::Began(..));
                        if is_begin && n_stops.fetch_add(1, Ordering::SeqCst) < 9 {
                            stop.store(true, Ordering::SeqCst);
                        }
                    };
                    let end = work_through(&folder, &prepared, &stop, &told).expect("it works");
                    if end == WorkerEnd::Complete {
                        return;
                    }
                }
            });
        }
    });
    assert!(n_stops.into_inner() >= 9);
    assert_eq!(points_of(together.path()), points_of(alone.path()));
    let table = |folder: &Path| std::fs::read_to_string(folder.join("sweep.csv"));
    let written = table(alone.path()).expect("written");
    assert_eq!(table(together.path()).expect("written"), written);
    assert!(written.contains("part of the training"), "{written}");
}

#[test]
fn a_stage_does_not_begin_before_the_one_before_has_ended() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = WorkFolder::new(place.path());
    let prepared = Counted::prepared(4, &[]);
    placed(&folder, &prepared);
    let alive = super::heartbeat::Heart::start(&folder).expect("writable");
    // Two stages of two points each.
    let n_needed = |number: usize| 2 * (number / 2);
    let next = || take_next(&folder, 4, &n_needed, &alive.name).expect("readable");
    let first = |number| Found::Point(Taken { number, attempt: 1 });
    assert_eq!(
        (next(), next(), next()),
        (first(0), first(1), Found::Others)
    );
    for number in 0..2 {
        std::fs::write(place.path().join(point_file_name(number)), "").expect("writable");
    }
    assert_eq!((next(), next()), (first(2), first(3)));
}

#[test]
fn waiting_is_no_part_of_the_time_that_points_take() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = WorkFolder::new(place.path());
    folder.make().expect("writable");
    let heart = Heart::start(&folder).expect("writable");
    let worked_s = || {
        heart.beat().expect("writable");
        match life_of(&folder, &heart.name, folder.now()) {
            Life::Alive(beat, _) => beat.up_s,
            Life::Dead => panic!("it has just beaten"),
        }
    };
    assert_eq!(worked_s(), 0.0);
    heart.work_on(Some(3), false);
    assert!(worked_s() > 0.0);
    heart.work_on(None, true);
    let so_far = worked_s();
    assert!(so_far > 0.0);
    assert_eq!(worked_s(), so_far);
}
