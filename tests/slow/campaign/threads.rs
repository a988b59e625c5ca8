//! Workers and workbenches told things in any order and at any moment: they end, and nothing is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

use atomscope::workbench::{Action, Ask, Workbench};
use atomscope_engine::experiment::{Command, Worker};
use atomscope_engine::learner::LearnerSettings;
use atomscope_engine::session::Session;

use super::Attack;
use super::small_run::{experiment, new_run, read_data, saved_session, write_table};

/// Longest that a worker may take to end once it is told to.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn workers(attack: &mut Attack) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.ron");
    write_table(&folder.path().join("points.csv"));
    let experiment = experiment(LearnerSettings::margin_aware());
    let built = read_data(&experiment, &path);
    while attack.goes_on() {
        attack.one("schedule", |attack| {
            let woken = Arc::new(AtomicU64::new(0));
            let wakes = woken.clone();
            let begins_paused = attack.below(2) == 0;
            let n_threads = 1 + attack.below(3);
            let run = new_run(&experiment, &built);
            let worker = Worker::start(run, n_threads, begins_paused, move || {
                wakes.fetch_add(1, Ordering::Relaxed);
            });
            let (mut n_news, mut last_state) = (0, None);
            for _ in 0..attack.below(12) {
                let command = match attack.below(7) {
                    0 => Command::Pause,
                    1 => Command::Resume,
                    2 => Command::StepOnce,
                    3 => Command::ReportState,
                    4 => Command::LimitSpeed(Some(1.0 + attack.below(1000) as f64)),
                    5 => Command::LimitSpeed(None),
                    _ => Command::ChangeLearner(Box::new(LearnerSettings {
                        budget: 14 + attack.below(6),
                        ..experiment.learner.clone()
                    })),
                };
                worker.command(command);
                match attack.below(3) {
                    0 => yield_now(),
                    1 => sleep(Duration::from_micros(attack.below(3000) as u64)),
                    _ => {
                        let mail = worker.take_mail();
                        n_news += mail.news.len();
                        // A run that is complete sends its state once.
                        last_state = mail.state.or(last_state);
                    }
                }
            }
            if attack.below(4) == 0 {
                // Closed without a word: the thread ends by itself.
                drop(worker);
                return Ok(());
            }
            worker.command(Command::Stop);
            let begun = Instant::now();
            loop {
                let mail = worker.take_mail();
                n_news += mail.news.len();
                if mail.status.is_over() {
                    let state = mail.state.or(last_state);
                    let state = state.ok_or("it ended without its state")?;
                    let has_news =
                        n_news > 0 || state.parts.iter().all(|p| p.record.rounds.is_empty());
                    return has_news
                        .then_some(())
                        .ok_or("rounds without news".to_owned());
                }
                if begun.elapsed() > PATIENCE {
                    return Err(format!("still {:?} after it was told to stop", mail.status));
                }
                sleep(Duration::from_micros(100));
            }
        });
    }
}

/// A workbench with a session, its jobs and its worker: whatever it is told, it comes to rest, ends when it is told to,
/// and what it said to have saved is there.
pub(super) fn workbenches(attack: &mut Attack) {
    let (folder, session) = saved_session(3);
    let mut number: u64 = 0;
    while attack.goes_on() {
        number += 1;
        let notes = number.to_string();
        attack.one("workbench", |attack| {
            let mut workbench = Workbench::new(None, Arc::new(|| {}));
            workbench.apply(Action::Open(session.clone()));
            until(&mut workbench, "open", |w| {
                w.path().is_some() && !w.is_opening()
            })?;
            let mut draft = workbench.draft().clone();
            draft.notes.clone_from(&notes);
            workbench.edit(draft, false);
            workbench.apply(Action::Save);
            for _ in 0..attack.below(12) {
                let action = match attack.below(10) {
                    0 => Action::Start,
                    1 => Action::Pause,
                    2 => Action::Step,
                    3 => Action::Stop,
                    4 => Action::LoadData,
                    5 => Action::CancelLoading,
                    6 => Action::LimitSpeed(Some(1.0 + attack.below(500) as f64)),
                    7 => Action::StartAnew,
                    8 => Action::TrainFinalModel(attack.below(2) == 0),
                    _ => Action::Save,
                };
                workbench.apply(action);
                match attack.below(3) {
                    0 => yield_now(),
                    1 => sleep(Duration::from_micros(attack.below(3000) as u64)),
                    _ => workbench.update(),
                }
            }
            workbench.apply(Action::Pause);
            until(&mut workbench, "at rest", |w| !w.is_saving())?;
            workbench.apply(Action::Stop);
            workbench.apply(Action::Quit);
            if matches!(workbench.view().ask, Some(Ask::Unsaved(_))) {
                let saves = attack.below(2) == 0;
                workbench.apply(if saves {
                    Action::SaveFirst
                } else {
                    Action::DoNotSave
                });
            }
            until(&mut workbench, "over", |w| w.is_over())?;
            drop(workbench);
            let found = Session::load(&session).map_err(|error| error.to_string())?;
            (found.notes == notes && found.damage.is_none())
                .then_some(())
                .ok_or(format!("notes {:?} instead of {notes:?}", found.notes))
        });
    }
    drop(folder);
}

fn until(
    workbench: &mut Workbench,
    what: &str,
    is_so: impl Fn(&Workbench) -> bool,
) -> Result<(), String> {
    let begun = Instant::now();
    while !is_so(workbench) {
        workbench.update();
        if begun.elapsed() > PATIENCE {
            let told: Vec<String> = workbench
                .notices()
                .list()
                .iter()
                .map(|n| n.text.clone())
                .collect();
            return Err(format!("not {what} after {PATIENCE:?}: {told:?}"));
        }
        sleep(Duration::from_micros(200));
    }
    Ok(())
}
