//! A process that saves in a loop is killed again and again: always a whole session.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

use atomscope_engine::session::Session;

use super::small_run::{advance, names_in, read_data, resumed, saved_session};

/// Names the session that the saving process works on.
const VARIABLE: &str = "ATOMSCOPE_TEST_SAVES_IN_A_LOOP";
const N_KILLS: u64 = 200;

/// The process to be killed: this test, started by the next one.
#[test]
fn saving_in_a_loop_when_told_to() {
    let Some(path) = env::var_os(VARIABLE) else {
        return;
    };
    let path = path.as_ref();
    let mut session = Session::load(path).expect("whole");
    let built = read_data(&session.experiment, path);
    let mut number: u64 = session.notes.parse().expect("a number");
    let mut run = resumed(&session, &built);
    let begin = Instant::now();
    // Its end comes from outside; should that fail, it does not go on for ever.
    while begin.elapsed() < Duration::from_secs(30) {
        number += 1;
        session.notes = number.to_string();
        if run.is_complete() {
            session.save().expect("saved");
        } else {
            advance(&mut run, 1);
            session.take_run(&run, &built, path);
            session.save().expect("saved");
        }
    }
}

#[test]
fn two_hundred_kills_of_a_saving_process_always_leave_a_whole_session() {
    let (folder, path) = saved_session(0);
    let fresh = Session::load(&path).expect("whole").run;
    let mut session = Session::load(&path).expect("whole");
    session.notes = "0".into();
    session.save().expect("saved");
    let mut last = 0;
    let mut n_interrupted = 0;
    for kill in 0..N_KILLS {
        let mut child = Command::new(env::current_exe().expect("this test"))
            .args([
                "session_store::kills::saving_in_a_loop_when_told_to",
                "--exact",
            ])
            .env(VARIABLE, &path)
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        wait_for_change(&path, last);
        // 0 to 19.9 ms later, a different moment every time.
        sleep(Duration::from_micros(kill * 7919 % 200 * 100));
        child.kill().expect("killed");
        child.wait().expect("gone");
        let found = Session::load(&path).expect("a whole session");
        assert!(found.damage.is_none(), "kill {kill}: {:?}", found.damage);
        let number: u64 = found.notes.parse().expect("a number");
        assert!(number > last, "kill {kill}: save {number} after {last}");
        last = number;
        n_interrupted += usize::from(names_in(folder.path()).len() > 3);
        if found.run.as_ref().is_some_and(|run| run.is_complete()) {
            // Begin again, so that every save has new arrays to write.
            let mut again = found.clone();
            again.set_run(fresh.clone().expect("a run"));
            again.save().expect("saved");
        }
    }
    println!("{n_interrupted} of {N_KILLS} kills came in the middle of a save");
    assert!(n_interrupted > 20, "only {n_interrupted} came in a save");
    let mut session = Session::load(&path).expect("whole");
    session.save().expect("saved");
    let names = names_in(folder.path());
    assert_eq!(names.len(), 3, "nothing is left over: {names:?}");
}

/// Waits until the process has saved at least once.
fn wait_for_change(path: &std::path::Path, last: u64) {
    let mark = format!("notes: \"{last}\"");
    let begin = Instant::now();
    while fs::read_to_string(path).expect("readable").contains(&mark) {
        assert!(begin.elapsed() < Duration::from_secs(20), "no save came");
        sleep(Duration::from_micros(200));
    }
}
