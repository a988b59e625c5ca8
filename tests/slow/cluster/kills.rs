//! Workers that are killed at random moments, and new ones in their place.

use std::fs::{self, File};
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{assert_whole, place, program, status, sweep_file, table_of_one_machine};

fn worker(out: &Path, log: &Path) -> Child {
    let log = File::create(log).expect("writable");
    let mut command = program();
    command.args(["sweep", "worker"]).arg(out).stdout(log);
    command.spawn().expect("it starts")
}

/// Kills workers so often, then lets them finish; every point comes to the same bits.
fn survive(n_points: usize, n_kills: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = sweep_file(folder.path(), n_points, 4.0);
    let table = table_of_one_machine(folder.path(), &sweep);
    let out = folder.path().join("killed");
    place(&sweep, &out);
    let mut random = ChaCha8Rng::seed_from_u64(20);
    let log = |number: usize| folder.path().join(format!("log-{number}"));
    let mut n_started = 0;
    let mut start = || {
        n_started += 1;
        worker(&out, &log(n_started))
    };
    let mut workers: Vec<Child> = (0..3).map(|_| start()).collect();
    for kill in 0..n_kills {
        thread::sleep(Duration::from_millis(random.random_range(20..400)));
        let victim = random.random_range(0..workers.len());
        // Every third is asked, the others are not.
        if kill % 3 == 0 {
            let id = workers[victim].id().to_string();
            let signal = ["-TERM", "-USR1"][kill % 2];
            let sent = std::process::Command::new("kill")
                .args([signal, &id])
                .status();
            drop(sent);
        } else {
            drop(workers[victim].kill());
        }
        workers[victim].wait().expect("it ends");
        workers[victim] = start();
        let found = status(&out);
        let sum = ["done", "running", "failed", "open"]
            .iter()
            .map(|key| found["points"][key].as_u64().expect("a number"));
        assert_eq!(sum.sum::<u64>(), n_points as u64, "{found}");
    }
    let began = Instant::now();
    for mut worker in workers {
        while worker.try_wait().expect("it is ours").is_none() {
            assert!(began.elapsed() < Duration::from_secs(300), "a worker hangs");
            thread::sleep(Duration::from_millis(50));
        }
    }
    assert_whole(&out, n_points, &table);
    let kept = fs::read_dir(&out).expect("readable").count();
    assert!(kept >= n_points);
}

#[test]
fn workers_that_are_killed_now_and_then_lose_nothing() {
    survive(20, 12);
}

#[test]
#[ignore = "needs minutes"]
fn two_hundred_kills_lose_nothing() {
    survive(60, 200);
}
