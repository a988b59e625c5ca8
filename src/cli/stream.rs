//! `atomscope stream`: a trained session applied to what comes in, one line per decision.

use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;

use super::ending::{Failure, faster_forgetting, interruptible, tell};
use super::terminal::{self, complain};
use atomscope_engine::evaluation::FasterForgetting;
use atomscope_engine::session::Session;
use atomscope_engine::stream::{
    Feed, Learning, LineSource, Outcome, SavedStream, StreamDecision, StreamError, StreamRun,
    StreamSource, export_recorded, judge_for, open_source,
};

/// The arguments of `stream`.
#[derive(Debug, Args)]
pub(super) struct StreamArguments {
    /// A session with a final model, as `run --save` and the window write it
    model: PathBuf,
    /// Source of the data: - for lines of CSV on the standard input, a watched folder, a growing EDF or BDF file, any other file, a recorded stream, or lsl:NAME
    #[arg(long, value_name = "-|DIR|FILE|lsl:NAME")]
    source: String,
    /// Write one JSON object per line instead of text
    #[arg(long)]
    json: bool,
    /// Samples per second of the standard input
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// End when no data have arrived for so long
    #[arg(long, value_name = "S")]
    idle: Option<f64>,
    /// A file of a folder counts when it has not changed for so long
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    rest: f64,
    /// Where the state is kept that a restart continues from; beside the model by default
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Learn when labels arrive: a column `class`, `labels.csv` of the folder, a sub-folder named as a class
    #[arg(long)]
    learn: bool,
    /// λ of every mini-batch that is learned
    #[arg(long, value_name = "LAMBDA", default_value_t = 1.0, requires = "learn")]
    forget: f64,
    /// λ and number of mini-batches after an alarm that says that decisions have become worse
    #[arg(long, value_name = "LAMBDA:N", requires = "learn", value_parser = faster_forgetting)]
    on_alarm: Option<FasterForgetting>,
    /// Keep all incoming data, without loss, in a new folder
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// At the end write what was recorded as EDF+ (or BDF+), decisions and alarms as annotations
    #[arg(long, value_name = "OUT.edf", requires = "record")]
    edf: Option<PathBuf>,
    /// Nothing but decisions
    #[arg(long)]
    quiet: bool,
}

/// Arrivals that may wait to be judged.
const QUEUE: usize = 4096;

/// A stream at work.
struct Running<'a> {
    arguments: &'a StreamArguments,
    run: StreamRun,
    state_path: PathBuf,
}

/// Judges what comes in until it ends, or Ctrl-C.
pub(super) fn run(arguments: &StreamArguments) -> io::Result<ExitCode> {
    match start(arguments) {
        Ok((feed, running)) => running.follow(&feed),
        Err(failure) => tell(failure),
    }
}

fn start(arguments: &StreamArguments) -> Result<(Feed, Running<'_>), Failure> {
    let session = Session::load(&arguments.model).map_err(Failure::usage)?;
    if let Some(damage) = &session.damage {
        return Err(Failure::usage(damage));
    }
    if !(arguments.forget > 0.0 && arguments.forget <= 1.0) {
        let message = format!(
            "--forget must be above 0 and at most 1, but is {}",
            arguments.forget
        );
        return Err(Failure::Usage(message));
    }
    let source = &arguments.source;
    let state_path = match &arguments.state {
        Some(path) => path.clone(),
        None => SavedStream::usual_place(&arguments.model, source),
    };
    let learning = arguments.learn.then_some(Learning {
        forgetting: Some(arguments.forget),
        on_alarm: arguments.on_alarm,
    });
    let made = judge_for(&session, source, Some(&state_path), learning).map_err(failure_of)?;
    let (mut judge, notes) = made.ok_or_else(|| {
        Failure::Usage(format!(
            "the session holds no final model: train one with `atomscope run {0} --save TRAINED.ron`: {0}",
            arguments.model.display()
        ))
    })?;
    for note in notes.iter().filter(|_| !arguments.quiet) {
        complain(note).map_err(Failure::failed)?;
    }
    let source: Box<dyn StreamSource> = match source.as_str() {
        "-" => {
            let kind = judge.line_kind(arguments.rate);
            Box::new(LineSource::new(BufReader::new(io::stdin()), kind))
        }
        name => {
            let rest = Duration::try_from_secs_f64(arguments.rest).map_err(Failure::usage)?;
            open_source(name, &mut judge, rest).map_err(failure_of)?
        }
    };
    let mut run = StreamRun::new(judge, Some(state_path.clone()));
    if let Some(folder) = &arguments.record {
        run.record(folder).map_err(Failure::failed)?;
    }
    let running = Running {
        arguments,
        run,
        state_path,
    };
    Ok((Feed::start(source, QUEUE), running))
}

/// What is wrong with the arguments, and what went wrong on the way.
fn failure_of(error: StreamError) -> Failure {
    match error {
        StreamError::NoSource { .. } | StreamError::BadState { .. } => Failure::usage(error),
        error => Failure::failed(error),
    }
}

impl Running<'_> {
    fn follow(mut self, feed: &Feed) -> io::Result<ExitCode> {
        let interrupted = match interruptible() {
            Ok(interrupted) => interrupted,
            Err(failure) => return tell(failure),
        };
        let mut last_arrival = Instant::now();
        // The first state shows at once whether it can be saved.
        self.run.save().or_else(complain)?;
        let ending = loop {
            if interrupted.load(Ordering::SeqCst) {
                break Ok(());
            }
            let arrived = feed.next(Duration::from_millis(50));
            if !arrived.is_empty() {
                last_arrival = Instant::now();
            }
            let mut outcome = Outcome::default();
            let taken = self.run.take_all(arrived, &mut outcome);
            self.tell(&outcome)?;
            match taken {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
            self.run.save_when_due().map_or(Ok(()), complain)?;
            let is_idle = |limit_s: f64| last_arrival.elapsed().as_secs_f64() >= limit_s;
            if self.arguments.idle.is_some_and(is_idle) {
                break Ok(());
            }
        };
        self.end(feed, ending)
    }

    fn tell(&self, outcome: &Outcome) -> io::Result<()> {
        for note in outcome.notes.iter().filter(|_| !self.arguments.quiet) {
            complain(note)?;
        }
        let mut out = terminal::results();
        for decision in &outcome.decisions {
            let line = match self.arguments.json {
                true => serde_json::to_string(decision).map_err(io::Error::other)?,
                false => text_of(decision),
            };
            writeln!(out, "{line}")?;
        }
        out.flush()
    }

    fn end(mut self, feed: &Feed, ending: Result<(), StreamError>) -> io::Result<ExitCode> {
        self.run.end_recording().or_else(complain)?;
        if let (Some(folder), Some(path)) = (&self.arguments.record, &self.arguments.edf) {
            export_recorded(folder, path).or_else(complain)?;
        }
        self.run.save().or_else(complain)?;
        if !self.arguments.quiet {
            self.tell_summary(feed.n_lost())?;
        }
        match ending {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => {
                complain(error)?;
                Ok(ExitCode::FAILURE)
            }
        }
    }

    fn tell_summary(&self, n_lost: u64) -> io::Result<()> {
        let mut err = io::stderr().lock();
        let judge = &self.run.judge;
        let n_decisions = judge.state.n_decisions;
        write!(err, "{n_decisions} decisions, {n_lost} samples lost")?;
        let at = |share: f64| self.run.delays.at(share);
        if let (Some(p50), Some(p99)) = (at(0.5), at(0.99)) {
            write!(
                err,
                "; delay p50 {:.1} ms, p99 {:.1} ms",
                1e3 * p50,
                1e3 * p99
            )?;
        }
        let confusion = judge.state.scores.confusion(judge.class_names().len());
        if let Some(accuracy) = confusion.accuracy() {
            let balanced = confusion.balanced_accuracy().unwrap_or(f64::NAN);
            let kappa = confusion.kappa().map(|kappa| format!("{kappa:.3}"));
            let kappa = kappa.as_deref().unwrap_or("–");
            write!(
                err,
                "; of the last {} with a label {:.1} % right, balanced {:.1} %, kappa {kappa}",
                confusion.total(),
                100.0 * accuracy,
                100.0 * balanced
            )?;
        }
        writeln!(err)?;
        writeln!(err, "State: {}", self.state_path.display())
    }
}

/// A decision as a line of text: place, class, margin, set.
fn text_of(decision: &StreamDecision) -> String {
    let place = match (&decision.path, decision.start_s) {
        (Some(path), Some(start_s)) => format!("{path} {start_s:.3} s"),
        (Some(path), None) => path.clone(),
        (None, Some(start_s)) => format!("{start_s:.3} s"),
        (None, None) => "-".to_owned(),
    };
    let set = decision
        .set
        .as_ref()
        .map(|set| format!(", set {{{}}}", set.join(", ")));
    let fit = decision.fit_p.map(|p| format!(", fit p {p:.3}"));
    format!(
        "{}  {place}: {} (margin {:.4}{}{})",
        decision.time,
        decision.class,
        decision.margin,
        set.unwrap_or_default(),
        fit.unwrap_or_default()
    )
}
