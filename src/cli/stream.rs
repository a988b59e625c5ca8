//! `atomscope stream`: a trained session applied to what comes in, one line per decision.

use std::collections::BTreeMap;
use std::io::{self, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;

use super::ending::{Failure, faster_forgetting, interruptible, tell};
use super::terminal::{self, complain};
use atomscope_engine::evaluation::FasterForgetting;
use atomscope_engine::session::Session;
use atomscope_engine::stream::{
    Arrival, Decision, Feed, FileMark, GrowingFile, Learning, LineSource, LiveJudge, LslSource,
    ReplaySource, SavedStream, StreamError, StreamRecorder, StreamSource, WatchedFolder, WholeFile,
    is_recorded_stream,
};

/// The arguments of `stream`.
#[derive(Debug, Args)]
pub(super) struct StreamArguments {
    /// A session with a final model, as `run --save` and the window write it
    model: PathBuf,
    /// Where the data come from: - for lines of CSV on the standard input, a folder that fills, an EDF or BDF file that grows, any other file, a recorded stream, or lsl:NAME
    #[arg(long, value_name = "-|DIR|FILE|lsl:NAME")]
    source: String,
    /// Write one JSON object per line instead of text
    #[arg(long)]
    json: bool,
    /// Samples per second of the standard input
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// End when nothing has come for so long
    #[arg(long, value_name = "S")]
    idle: Option<f64>,
    /// A file of a folder counts when it has not changed for so long
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    rest: f64,
    /// Where the state is kept that a restart continues from; beside the model by default
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Learn where labels come: a column `class`, `labels.csv` of the folder, a sub-folder named as a class
    #[arg(long)]
    learn: bool,
    /// λ of every mini-batch that is learned
    #[arg(long, value_name = "LAMBDA", default_value_t = 1.0, requires = "learn")]
    forget: f64,
    /// λ and number of mini-batches after an alarm that says that decisions have become worse
    #[arg(long, value_name = "LAMBDA:N", requires = "learn", value_parser = faster_forgetting)]
    on_alarm: Option<FasterForgetting>,
    /// Keep everything that comes in, without loss, in a new folder
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Nothing but decisions
    #[arg(long)]
    quiet: bool,
}

/// Arrivals that may wait to be judged.
const QUEUE: usize = 4096;
/// How often the state is saved; a restart continues from one that is at most ten seconds old.
const SAVE_EVERY: Duration = Duration::from_secs(4);
/// Delays that percentiles are made of.
const DELAYS: usize = 4096;

/// A stream at work.
struct Running<'a> {
    arguments: &'a StreamArguments,
    judge: LiveJudge,
    state_path: PathBuf,
    recorder: Option<StreamRecorder>,
    is_unsaved: bool,
    last_save: Instant,
    save_time: Duration,
    delays_s: Vec<f64>,
    n_delays: usize,
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
    let is_continued =
        source != "-" && !source.starts_with("lsl:") && !is_recorded_stream(Path::new(source));
    let mut saved = SavedStream::load(&state_path).map_err(Failure::usage)?;
    if !is_continued {
        // Lines and samples come only once: what was learned continues, places and counts do not.
        saved = saved.filter(|_| arguments.learn);
        if let Some(saved) = &mut saved {
            saved.decided_until_s = None;
        }
    }
    let learning = arguments.learn.then_some(Learning {
        forgetting: Some(arguments.forget),
        on_alarm: arguments.on_alarm,
    });
    let made = LiveJudge::new(&session, source, saved, learning).map_err(Failure::failed)?;
    let (mut judge, notes) = made.ok_or_else(|| {
        Failure::Usage(format!(
            "the session holds no final model: train one with `atomscope run {0} --save TRAINED.ron`: {0}",
            arguments.model.display()
        ))
    })?;
    for note in notes.iter().filter(|_| !arguments.quiet) {
        complain(note).map_err(Failure::failed)?;
    }
    let recorder = arguments.record.as_deref().map(StreamRecorder::create);
    let recorder = recorder.transpose().map_err(Failure::failed)?;
    let source = open_source(arguments, &mut judge)?;
    let running = Running {
        arguments,
        judge,
        state_path,
        recorder,
        is_unsaved: true,
        last_save: Instant::now(),
        save_time: Duration::ZERO,
        delays_s: Vec::new(),
        n_delays: 0,
    };
    Ok((Feed::start(source, QUEUE), running))
}

fn open_source(
    arguments: &StreamArguments,
    judge: &mut LiveJudge,
) -> Result<Box<dyn StreamSource>, Failure> {
    let name = arguments.source.as_str();
    if name == "-" {
        let kind = judge.line_kind(arguments.rate);
        return Ok(Box::new(LineSource::new(BufReader::new(io::stdin()), kind)));
    }
    if let Some(name) = name.strip_prefix("lsl:") {
        let opened = LslSource::open(name).map_err(Failure::failed)?;
        return Ok(Box::new(opened));
    }
    let path = Path::new(name);
    if path.is_dir() && is_recorded_stream(path) {
        let opened = ReplaySource::open(path).map_err(Failure::failed)?;
        return Ok(Box::new(opened));
    }
    if path.is_dir() {
        let inside =
            |(file, value): (&PathBuf, _)| Some((file.strip_prefix(path).ok()?.to_owned(), value));
        let files = || judge.state.files.iter();
        let known: BTreeMap<PathBuf, FileMark> = files()
            .map(|(file, judged)| (file, judged.mark.clone()))
            .filter_map(inside)
            .collect();
        let inside = |(file, value): (&PathBuf, String)| {
            Some((file.strip_prefix(path).ok()?.to_owned(), value))
        };
        let labelled = files()
            .filter_map(|(file, judged)| Some((file, judged.label.clone()?)))
            .filter_map(inside)
            .collect();
        let rest = Duration::try_from_secs_f64(arguments.rest).map_err(Failure::usage)?;
        let folder = WatchedFolder::new(path, judge.class_names(), rest, known, labelled);
        return Ok(Box::new(folder));
    }
    if !path.exists() {
        let message =
            format!("there is no such source; name -, a folder, a file or lsl:NAME: {name}");
        return Err(Failure::Usage(message));
    }
    if judge.judges_segments() && GrowingFile::can_follow(path) {
        judge.follow_file(path);
        return Ok(Box::new(GrowingFile::new(
            path,
            judge.data().read_options(),
        )));
    }
    Ok(Box::new(WholeFile::new(path)))
}

impl Running<'_> {
    fn follow(mut self, feed: &Feed) -> io::Result<ExitCode> {
        let interrupted = match interruptible() {
            Ok(interrupted) => interrupted,
            Err(failure) => return tell(failure),
        };
        let mut last_arrival = Instant::now();
        // The first state shows at once whether it can be saved.
        self.save()?;
        let ending = loop {
            if interrupted.load(Ordering::SeqCst) {
                break Ok(());
            }
            let timed = match feed.next(Duration::from_millis(50)) {
                Ok(timed) => timed,
                Err(error) => break Err(error),
            };
            match timed.arrival {
                Arrival::Nothing => {}
                Arrival::End => break Ok(()),
                arrival => {
                    last_arrival = Instant::now();
                    if let Err(error) = self.take(arrival, timed.since)? {
                        break Err(error);
                    }
                }
            }
            // As often as costs a twentieth of the time, and at least every few seconds.
            let due = SAVE_EVERY.min(20 * self.save_time);
            if self.is_unsaved && self.last_save.elapsed() >= due {
                self.save()?;
            }
            let is_idle = |limit_s: f64| last_arrival.elapsed().as_secs_f64() >= limit_s;
            if self.arguments.idle.is_some_and(is_idle) {
                break Ok(());
            }
        };
        self.end(feed, ending)
    }

    /// Judges an arrival; the outer error is that of the standard output.
    fn take(&mut self, arrival: Arrival, since: Instant) -> io::Result<Result<(), StreamError>> {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.keep(&arrival)
        {
            self.recorder = None;
            complain(format!(
                "recording ends, the stream goes on; what was recorded stays: {error}"
            ))?;
        }
        let outcome = match self.judge.take(arrival) {
            Ok(outcome) => outcome,
            Err(error) => return Ok(Err(error)),
        };
        for note in outcome.notes.iter().filter(|_| !self.arguments.quiet) {
            complain(note)?;
        }
        for decision in &outcome.decisions {
            self.tell(decision)?;
            self.is_unsaved = true;
        }
        if !outcome.decisions.is_empty() {
            let delay_s = since.elapsed().as_secs_f64();
            match self.delays_s.len() < DELAYS {
                true => self.delays_s.push(delay_s),
                false => self.delays_s[self.n_delays % DELAYS] = delay_s,
            }
            self.n_delays += 1;
        }
        Ok(Ok(()))
    }

    fn tell(&mut self, decision: &Decision) -> io::Result<()> {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.decided(decision)
        {
            self.recorder = None;
            complain(format!(
                "recording ends, the stream goes on; what was recorded stays: {error}"
            ))?;
        }
        let line = match self.arguments.json {
            true => serde_json::to_string(decision).map_err(io::Error::other)?,
            false => text_of(decision),
        };
        let mut out: Box<dyn Write> = match io::stdout().is_terminal() {
            true => Box::new(terminal::stdout()),
            false => Box::new(io::stdout().lock()),
        };
        writeln!(out, "{line}")?;
        out.flush()
    }

    fn save(&mut self) -> io::Result<()> {
        let begun = Instant::now();
        match self.judge.saved().save(&self.state_path) {
            Ok(()) => self.is_unsaved = false,
            Err(error) => complain(error)?,
        }
        self.last_save = Instant::now();
        self.save_time = begun.elapsed();
        Ok(())
    }

    fn end(mut self, feed: &Feed, ending: Result<(), StreamError>) -> io::Result<ExitCode> {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.flush()
        {
            complain(error)?;
        }
        self.save()?;
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

    fn tell_summary(&mut self, n_lost: u64) -> io::Result<()> {
        let mut err = io::stderr().lock();
        let n_decisions = self.judge.state.n_decisions;
        write!(err, "{n_decisions} decisions, {n_lost} samples lost")?;
        self.delays_s.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let last = self.delays_s.len().checked_sub(1)?;
            self.delays_s.get((share * last as f64).round() as usize)
        };
        if let (Some(p50), Some(p99)) = (at(0.5), at(0.99)) {
            write!(
                err,
                "; delay p50 {:.1} ms, p99 {:.1} ms",
                1e3 * p50,
                1e3 * p99
            )?;
        }
        let scores = &self.judge.state.scores;
        let confusion = scores.confusion(self.judge.class_names().len());
        if let Some(accuracy) = confusion.accuracy() {
            let balanced = confusion.balanced_accuracy().unwrap_or(f64::NAN);
            let kappa = confusion.kappa().unwrap_or(f64::NAN);
            write!(
                err,
                "; of the last {} with a label {:.1} % right, balanced {:.1} %, kappa {kappa:.3}",
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
fn text_of(decision: &Decision) -> String {
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
