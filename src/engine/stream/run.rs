//! A stream at work: what comes in is recorded, judged and saved; the terminal and the window only show it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Arrival, LiveJudge, Outcome, StreamError, StreamRecorder, Timed};
use crate::records::Channel;
use crate::session::SessionError;

/// How often the state is saved; a restart continues from one that is at most ten seconds old.
const SAVE_EVERY: Duration = Duration::from_secs(4);
/// Delays that percentiles are made of.
const DELAYS: usize = 4096;

/// The last delays, from a sample that came in to the decision it led to.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    seconds: Vec<f64>,
    n_taken: usize,
}

impl Delays {
    /// Takes a delay.
    pub fn add(&mut self, delay_s: f64) {
        match self.seconds.len() < DELAYS {
            true => self.seconds.push(delay_s),
            false => self.seconds[self.n_taken % DELAYS] = delay_s,
        }
        self.n_taken += 1;
    }

    /// The delay that the given share of them does not exceed.
    pub fn at(&self, share: f64) -> Option<f64> {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        sorted.get((share * last as f64).round() as usize).copied()
    }
}

/// How much an outcome held before something was added.
#[derive(Clone, Copy)]
struct Marks {
    n_decisions: usize,
    n_alarms: usize,
}

impl Marks {
    fn of(outcome: &Outcome) -> Self {
        Self {
            n_decisions: outcome.decisions.len(),
            n_alarms: outcome.alarms.len(),
        }
    }
}

/// A judge with everything around it.
pub struct StreamRun {
    /// The judge.
    pub judge: LiveJudge,
    /// From a sample that came in to its decision.
    pub delays: Delays,
    state_path: Option<PathBuf>,
    recorder: Option<StreamRecorder>,
    channels: Option<(Vec<Channel>, f64)>,
    is_unsaved: bool,
    last_save: Instant,
    save_time: Duration,
    /// Whether the last attempt to save failed, which is said once.
    cannot_save: bool,
}

impl StreamRun {
    /// A judge whose state is saved at a place, if there is one.
    pub fn new(judge: LiveJudge, state_path: Option<PathBuf>) -> Self {
        Self {
            judge,
            delays: Delays::default(),
            state_path,
            recorder: None,
            channels: None,
            is_unsaved: true,
            last_save: Instant::now(),
            save_time: Duration::ZERO,
            cannot_save: false,
        }
    }

    /// Records everything that comes from now on into a new folder; where the stream has run before, its time goes on.
    pub fn record(&mut self, folder: &Path) -> Result<(), StreamError> {
        let mut recorder = StreamRecorder::create(folder)?;
        if let Some((channels, rate_hz)) = self.channels.clone() {
            recorder.keep(&Arrival::Channels { channels, rate_hz })?;
            let lost_s = self.judge.stream_time_s();
            if lost_s > 0.0 {
                recorder.keep(&Arrival::Gap { lost_s })?;
            }
        }
        self.recorder = Some(recorder);
        Ok(())
    }

    /// Ends the recording; what was recorded is complete.
    pub fn end_recording(&mut self) -> Result<(), StreamError> {
        match self.recorder.take() {
            Some(mut recorder) => recorder.flush(),
            None => Ok(()),
        }
    }

    /// The folder that is recorded into.
    pub fn recorded_into(&self) -> Option<&Path> {
        self.recorder.as_ref().map(StreamRecorder::folder)
    }

    /// Takes what has come, in order: records it, judges it and records the decisions. Whether more may come; what was
    /// decided before an error is in `outcome`.
    pub fn take_all(
        &mut self,
        arrived: Vec<Result<Timed, StreamError>>,
        outcome: &mut Outcome,
    ) -> Result<bool, StreamError> {
        let mut rows = Vec::new();
        let mut since = Vec::new();
        for arrived in arrived {
            let timed = match arrived {
                Ok(timed) => timed,
                Err(error) => {
                    self.take_rows(&mut rows, &mut since, outcome)?;
                    return Err(error);
                }
            };
            if let Arrival::Row { features, label } = timed.arrival {
                rows.push((features, label));
                since.push(timed.since);
                continue;
            }
            self.take_rows(&mut rows, &mut since, outcome)?;
            match timed.arrival {
                Arrival::Nothing => {}
                Arrival::End => return Ok(false),
                _ => self.take(timed, outcome)?,
            }
        }
        self.take_rows(&mut rows, &mut since, outcome)?;
        Ok(true)
    }

    /// Rows are judged together.
    fn take_rows(
        &mut self,
        rows: &mut Vec<(Vec<f64>, Option<String>)>,
        since: &mut Vec<Instant>,
        outcome: &mut Outcome,
    ) -> Result<(), StreamError> {
        let first = Marks::of(outcome);
        let kept = match &mut self.recorder {
            Some(recorder) => recorder.keep_rows(self.judge.feature_names(), rows),
            None => Ok(()),
        };
        self.judge.take_rows(std::mem::take(rows), outcome)?;
        self.keep_decisions(kept, first, outcome);
        for since in since.drain(..) {
            self.delays.add(since.elapsed().as_secs_f64());
        }
        Ok(())
    }

    fn take(&mut self, timed: Timed, outcome: &mut Outcome) -> Result<(), StreamError> {
        if let Arrival::Channels { channels, rate_hz } = &timed.arrival {
            self.channels = Some((channels.clone(), *rate_hz));
        }
        let kept = match &mut self.recorder {
            Some(recorder) => recorder.keep(&timed.arrival),
            None => Ok(()),
        };
        let first = Marks::of(outcome);
        self.judge.take(timed.arrival, outcome)?;
        if outcome.decisions.len() > first.n_decisions {
            self.delays.add(timed.since.elapsed().as_secs_f64());
        }
        self.keep_decisions(kept, first, outcome);
        Ok(())
    }

    /// Records what was decided; a recording that fails ends, and the stream goes on.
    fn keep_decisions(
        &mut self,
        kept: Result<(), StreamError>,
        first: Marks,
        outcome: &mut Outcome,
    ) {
        let decisions = &outcome.decisions[first.n_decisions..];
        self.is_unsaved |= !decisions.is_empty();
        let recorded = kept.and_then(|()| {
            let Some(recorder) = &mut self.recorder else {
                return Ok(());
            };
            recorder.decided(decisions)?;
            for (_, alarm) in &outcome.alarms[first.n_alarms..] {
                let sentence = alarm.sentence(self.judge.class_names());
                if let Some(start_s) = alarm.start_s {
                    recorder.alarmed(start_s, &sentence)?;
                }
            }
            Ok(())
        });
        if let Err(error) = recorded {
            // The samples at hand are written where that is still possible.
            let rest = match self.end_recording() {
                Ok(()) => "",
                Err(_) => ", but for its last seconds",
            };
            outcome.notes.push(format!(
                "recording ends, the stream continues; what was recorded stays{rest}: {error}"
            ));
        }
    }

    /// Something changed that is to be saved.
    pub fn has_changed(&mut self) {
        self.is_unsaved = true;
    }

    /// Saves the state as often as costs a twentieth of the time, and at least every few seconds; what is to be said of
    /// it. A state that cannot be saved is tried again, and its failure said once.
    pub fn save_when_due(&mut self) -> Option<String> {
        let due = match self.cannot_save {
            true => SAVE_EVERY,
            false => SAVE_EVERY.min(20 * self.save_time),
        };
        if !self.is_unsaved || self.last_save.elapsed() < due {
            return None;
        }
        let could_not = self.cannot_save;
        match (self.save(), could_not) {
            (Err(error), false) => Some(format!(
                "the stream continues, but its state is not saved: {error}"
            )),
            (Ok(()), true) => Some("the state of the stream is saved again".to_owned()),
            _ => None,
        }
    }

    /// Saves the state.
    pub fn save(&mut self) -> Result<(), SessionError> {
        let Some(path) = &self.state_path else {
            return Ok(());
        };
        let begun = Instant::now();
        let saved = self.judge.saved().save(path);
        self.cannot_save = saved.is_err();
        self.is_unsaved &= self.cannot_save;
        (self.last_save, self.save_time) = (Instant::now(), begun.elapsed());
        saved
    }
}
