//! Progress of long work on the standard error: one line that is written over on a
//! terminal, a line per tenth elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::terminal::clean;

/// On a terminal the line is written at most this often.
const EVERY: Duration = Duration::from_millis(100);
const BAR_WIDTH: usize = 24;

/// The progress of one piece of work.
pub(super) struct ProgressLine {
    is_quiet: bool,
    is_terminal: bool,
    begun: Instant,
    last: Option<Instant>,
    last_tenth: usize,
    is_open: bool,
}

impl ProgressLine {
    pub(super) fn new(is_quiet: bool) -> Self {
        Self {
            is_quiet,
            is_terminal: io::stderr().is_terminal(),
            begun: Instant::now(),
            last: None,
            last_tenth: 0,
            is_open: false,
        }
    }

    /// Shows the share done and what is being done.
    pub(super) fn show(&mut self, share: f64, text: &str) {
        if self.is_quiet || !self.is_due(share) {
            return;
        }
        self.last = Some(Instant::now());
        let share = share.clamp(0.0, 1.0);
        let left = time_left(self.begun.elapsed(), share);
        let text = clean(text);
        let mut err = io::stderr().lock();
        // Progress that cannot be shown is no reason to stop.
        let shown = if self.is_terminal {
            self.is_open = true;
            let full = (share * BAR_WIDTH as f64).round() as usize;
            let bar = "█".repeat(full) + &"░".repeat(BAR_WIDTH - full);
            write!(err, "\r\x1b[2K{bar} {:3.0} %  {text}{left}", 100.0 * share)
                .and_then(|()| err.flush())
        } else {
            writeln!(err, "{:3.0} %  {text}{left}", 100.0 * share)
        };
        drop(shown);
    }

    fn is_due(&mut self, share: f64) -> bool {
        if self.is_terminal {
            return self.last.is_none_or(|last| last.elapsed() >= EVERY);
        }
        let tenth = (share * 10.0) as usize;
        let is_new = tenth > self.last_tenth;
        self.last_tenth = self.last_tenth.max(tenth);
        is_new
    }

    /// Ends the line, so that other text can follow.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let mut err = io::stderr().lock();
            drop(write!(err, "\r\x1b[2K").and_then(|()| err.flush()));
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.end();
    }
}

/// ` · 0:12 left`, once there is something to judge by.
fn time_left(elapsed: Duration, share: f64) -> String {
    if !(0.02..1.0).contains(&share) || elapsed < Duration::from_secs(1) {
        return String::new();
    }
    let left = (elapsed.as_secs_f64() * (1.0 - share) / share).round() as u64;
    let (minutes, seconds) = (left / 60, left % 60);
    format!(" · {minutes}:{seconds:02} left")
}
