//! `atomscope run`: a session trained and judged in the terminal.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Args;

use super::columns::ColumnArguments;
use super::ending::{
    Failure, INTERRUPTED, epsilon, faster_forgetting, interruptible, load_data, n_threads, tell,
    write_result,
};
use super::outputs::{Output, refuse_inputs};
use super::progress::ProgressLine;
use super::report::Report;
use super::terminal;
use atomscope_engine::dataset::{Built, DataPlan, DataSettings, LeftOut};
use atomscope_engine::evaluation::{Baseline, FasterForgetting};
use atomscope_engine::experiment::{
    CheckedExperiment, Experiment, Extent, Part, Run, RunParts, RunSummary, SettingChange,
    mean_and_sd, with_settings,
};
use atomscope_engine::export::{ExportContent, Exported, Predictions, RunResult, export};
use atomscope_engine::session::{DataPlaces, Resolution, Session};
use atomscope_engine::settings::SettingProblem;
use atomscope_engine::split::{LabelDelay, SplitPlan, TimeOrder};

/// The arguments of `run`.
#[derive(Debug, Args)]
pub(super) struct RunArguments {
    /// The session to train, or a data file or folder
    session: PathBuf,
    /// Folder with the data that the session names
    #[arg(long, value_name = "DIR")]
    data: Vec<PathBuf>,
    /// Another seed, for the folds too
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Repeat the grouping with so many seeds, one after the other; the result is their mean
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    seeds: u16,
    /// Only these folds, counted from 1
    #[arg(long, value_name = "1,3", value_delimiter = ',')]
    folds: Option<Vec<usize>>,
    /// Another value for a setting, by its name in the session
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Threads; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Write the result as JSON; - for the standard output instead of the report
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Write what was decided about every held-out sample as CSV; - for the standard output instead of the report
    #[arg(long, value_name = "OUT")]
    csv: Option<PathBuf>,
    /// Write a table or figure of the result: confusion, votes, accuracy, predictions (.csv), confusion-figure,
    /// accuracy-figure (.svg) or everything (.json)
    #[arg(long, value_name = "CONTENT=OUT", value_parser = export_order)]
    export: Vec<(ExportContent, PathBuf)>,
    /// Train a final model on all samples and save everything as a session
    #[arg(long, value_name = "OUT.ron")]
    save: Option<PathBuf>,
    #[command(flatten)]
    columns: ColumnArguments,
    /// Sampling rate of recordings whose files do not state one
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Choose kernel, width, scaling and head on inner folds of the training samples
    #[arg(long)]
    auto: bool,
    /// Write every decision into the JSON, with its prediction set
    #[arg(long)]
    decisions: bool,
    /// Compare with nearest neighbours, LDA, logistic regression and an SVM too
    #[arg(long)]
    baselines: bool,
    /// Repeat tests with missing features with features filled in
    #[arg(long)]
    repair: bool,
    /// Share of samples whose prediction set may miss their class
    #[arg(long, value_name = "SHARE", value_parser = epsilon)]
    epsilon: Option<f64>,
    /// In the order of time: every sample but the first is tested when it arrives, then learned
    #[arg(long, value_enum)]
    order: Option<SampleOrder>,
    /// In the order of time: labels arrive so many samples (50) or seconds (30s) after their samples
    #[arg(long, value_name = "N|Ns", requires = "order")]
    delay: Option<LabelDelay>,
    /// In the order of time: λ and number of mini-batches after an alarm that says that decisions have become worse
    #[arg(long, value_name = "LAMBDA:N", value_parser = faster_forgetting)]
    on_alarm: Option<FasterForgetting>,
    /// No progress
    #[arg(long)]
    quiet: bool,
}

/// In which order samples come.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SampleOrder {
    /// As they came
    Time,
}

impl RunArguments {
    /// The experiment in the order that is asked for.
    fn in_order(&self, experiment: &mut Experiment) {
        if let Some(SampleOrder::Time) = self.order {
            let mut order = match experiment.split {
                SplitPlan::InTime(order) => order,
                _ => TimeOrder::default(),
            };
            order.delay = self.delay.unwrap_or(order.delay);
            experiment.split = SplitPlan::InTime(order);
            // Samples that are tested are learned from: they cannot be tested once more.
            experiment.tests.missing_shares.clear();
        }
        experiment.on_alarm = self.on_alarm.or(experiment.on_alarm);
    }

    fn of_session(path: &Path) -> Self {
        Self {
            session: path.to_owned(),
            data: Vec::new(),
            seed: None,
            seeds: 1,
            folds: None,
            set: Vec::new(),
            threads: None,
            json: None,
            csv: None,
            export: Vec::new(),
            save: None,
            columns: ColumnArguments::default(),
            rate: None,
            auto: false,
            decisions: false,
            baselines: false,
            repair: false,
            epsilon: None,
            order: None,
            delay: None,
            on_alarm: None,
            quiet: false,
        }
    }
}

/// What is run, and how.
struct RunOrder<'a> {
    experiment: Experiment,
    /// Whether the folds are chosen by what is known of the data.
    chooses_split: bool,
    changes: Vec<SettingChange>,
    places: DataPlaces,
    parts: RunParts,
    n_seeds: u16,
    n_threads: usize,
    quiet: bool,
    interrupted: &'a AtomicBool,
}

/// Files beside the report.
#[derive(Default)]
struct Outputs {
    json: Option<Output>,
    /// Whether decisions are part of the JSON.
    with_decisions: bool,
    csv: Option<Output>,
    exports: Vec<(ExportContent, PathBuf, Output)>,
}

/// A run that has ended.
struct EndedRun {
    /// The run, of repeated groupings the first.
    run: Run,
    /// Its result, of repeated groupings all of them together.
    summary: RunSummary,
    built: Built,
    wall_s: f64,
    is_interrupted: bool,
    /// What to know beside the numbers.
    remarks: Vec<String>,
}

/// Runs a session.
pub(super) fn run(arguments: &RunArguments) -> io::Result<ExitCode> {
    match run_session(arguments) {
        Ok(code) => code,
        Err(failure) => tell(failure),
    }
}

/// What the window would open, trained in the terminal: a session, the data at a path with
/// the likeliest settings, or the built-in feeder faults.
pub(super) fn run_in_terminal(path: Option<&Path>) -> io::Result<ExitCode> {
    match path {
        Some(path) if is_session(path) => run(&RunArguments::of_session(path)),
        Some(path) => match experiment_on(path) {
            Ok(experiment) => run_unsaved(path.display().to_string(), experiment, true),
            Err(failure) => tell(failure),
        },
        None => run_unsaved(
            "built-in feeder faults".into(),
            Experiment::default(),
            false,
        ),
    }
}

/// The default learner on the data at a path.
fn experiment_on(path: &Path) -> Result<Experiment, Failure> {
    let data = DataSettings::for_path(path, &mut |_| true)
        .map_err(|error| Failure::Failed(error.to_string()))?;
    Ok(Experiment::on(data))
}

fn run_unsaved(name: String, experiment: Experiment, chooses_split: bool) -> io::Result<ExitCode> {
    let ended = interruptible().and_then(|interrupted| {
        execute(RunOrder {
            experiment,
            chooses_split,
            changes: Vec::new(),
            places: DataPlaces {
                folders: vec![PathBuf::from(".")],
                ..DataPlaces::default()
            },
            parts: RunParts::default(),
            n_seeds: 1,
            n_threads: n_threads(None),
            quiet: false,
            interrupted: &interrupted,
        })
    });
    match ended {
        Ok(ended) => report(&name, &ended, &Outputs::default()),
        Err(failure) => tell(failure),
    }
}

fn run_session(arguments: &RunArguments) -> Result<io::Result<ExitCode>, Failure> {
    let is_session = is_session(&arguments.session);
    let mut session = match is_session {
        true => Session::load(&arguments.session).map_err(Failure::usage)?,
        false => Session::new(experiment_on(&arguments.session)?),
    };
    arguments.columns.apply(&mut session.experiment.data)?;
    if let Some(rate_hz) = arguments.rate {
        let DataPlan::Recordings(recordings) = &mut session.experiment.data.source else {
            let text = "--rate is for recordings, but the data are none";
            return Err(Failure::usage(text));
        };
        recordings.options.rate_hz = Some(rate_hz);
    }
    let mut experiment = with_settings(session.experiment.clone(), &arguments.set)
        .map_err(|message| Failure::Usage(format!("--set {message}")))?;
    if let Some(seed) = arguments.seed {
        experiment = experiment.with_seed(seed);
    }
    arguments.in_order(&mut experiment);
    experiment.auto |= arguments.auto;
    experiment.tests.repair |= arguments.repair;
    if let Some(epsilon) = arguments.epsilon {
        experiment.tests.epsilon = epsilon;
    }
    if arguments.baselines {
        experiment.tests.baselines = Baseline::ON_REQUEST.to_vec();
    }
    let base = match is_session {
        true => arguments.session.as_path(),
        false => Path::new("unsaved.ron"),
    };
    // Sessions name their data from their own folder, the user from the current one.
    let places = DataPlaces::new(Some(base), &arguments.data).knowing(&session.references);
    let results = [&arguments.save, &arguments.json, &arguments.csv].map(Option::as_deref);
    let exports = arguments
        .export
        .iter()
        .map(|(_, path)| Some(path.as_path()));
    let results: Vec<Option<&Path>> = results.into_iter().chain(exports).collect();
    let named = experiment.data.files();
    let mut inputs: Vec<PathBuf> = named
        .iter()
        .filter_map(|name| places.locate(name))
        .collect();
    inputs.push(arguments.session.clone());
    refuse_inputs(&results, &inputs)?;
    let save = arguments.save.as_deref().map(Output::reserve_session);
    let save = save.transpose()?;
    let outputs = Outputs {
        json: Output::reserve_named(arguments.json.as_deref())?,
        with_decisions: arguments.decisions,
        csv: Output::reserve_named(arguments.csv.as_deref())?,
        exports: reserve_exports(&arguments.export)?,
    };
    let interrupted = interruptible()?;
    let changed = changed_data(&session, &places)?;
    let mut ended = execute(RunOrder {
        // Settings that were changed while the session was trained are changed again; with
        // other settings than the session's there is nothing to repeat.
        changes: if experiment == session.experiment {
            session.changes().to_vec()
        } else {
            Vec::new()
        },
        experiment,
        chooses_split: !is_session && arguments.order.is_none(),
        places,
        parts: RunParts {
            folds: folds(arguments)?,
            final_model: arguments.save.is_some(),
        },
        n_seeds: arguments.seeds,
        n_threads: n_threads(arguments.threads),
        quiet: arguments.quiet,
        interrupted: &interrupted,
    })?;
    ended.remarks.extend(changed);
    let mut lost = None;
    if let Some(save) = &save {
        session.take_run(&ended.run, &ended.built, base);
        lost = save.save(&mut session).err();
    }
    let name = arguments.session.display().to_string();
    let code = report(&name, &ended, &outputs);
    Ok(match (code, lost) {
        (Ok(_), Some(lost)) => tell(Failure::failed(lost)),
        (code, _) => code,
    })
}

fn is_session(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "ron")
}

/// What to say of data that are not what they were when the session was saved.
fn changed_data(session: &Session, places: &DataPlaces) -> Result<Vec<String>, Failure> {
    let mut remarks = Vec::new();
    for reference in &session.references {
        let resolution = reference
            .resolve(places, &mut |_| true)
            .map_err(|error| Failure::Failed(error.to_string()))?;
        let named = &reference.path;
        match resolution {
            // Loading says what is missing and what to do.
            Resolution::Found(_) | Resolution::Missing => {}
            Resolution::Moved(path) => {
                remarks.push(format!("{named} was found elsewhere: {}", path.display()));
            }
            Resolution::Changed { path, difference } => remarks.push(format!(
                "the data have changed since the session was saved: {difference}: {}",
                path.display()
            )),
        }
    }
    Ok(remarks)
}

/// Folds from 0 for folds from 1.
fn folds(arguments: &RunArguments) -> Result<Option<Vec<usize>>, Failure> {
    let Some(folds) = &arguments.folds else {
        return Ok(None);
    };
    let from_zero = folds.iter().map(|fold| fold.checked_sub(1));
    let from_zero: Option<Vec<usize>> = from_zero.collect();
    let message = "--folds counts from 1".to_owned();
    from_zero.map(Some).ok_or(Failure::Usage(message))
}

/// Loads the data, checks the experiment and runs it to its end.
fn execute(order: RunOrder<'_>) -> Result<EndedRun, Failure> {
    let begin = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(order.n_threads)
        .build()
        .map_err(|error| Failure::Failed(error.to_string()))?;
    let mut progress = ProgressLine::new(order.quiet);
    let data = &order.experiment.data;
    let built =
        pool.install(|| load_data(data, &order.places, order.interrupted, &mut progress))?;
    let dataset = Arc::new(built.dataset.clone());
    let mut experiment = order.experiment;
    if order.chooses_split {
        experiment.split = SplitPlan::default_for(&dataset, experiment.seed);
    }
    let mut first = None;
    let mut summaries = Vec::new();
    let mut is_interrupted = false;
    for number in 0..u64::from(order.n_seeds) {
        let seed = experiment.seed.wrapping_add(number);
        let grouping = match number {
            0 => experiment.clone(),
            _ => experiment.clone().with_seed(seed),
        };
        let checked = grouping.check(dataset.clone()).map_err(unfit)?;
        let parts = match number {
            0 => order.parts.clone(),
            _ => RunParts {
                final_model: false,
                ..order.parts.clone()
            },
        };
        let run = Run::new(Arc::new(checked), &parts, order.changes.clone())
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let mut progress = ProgressLine::new(order.quiet);
        let (run, stopped) = pool.install(|| train(run, order.interrupted, &mut progress))?;
        is_interrupted = stopped;
        if !run.complete_folds().is_empty() {
            summaries.push((seed, summary(&run)));
        }
        first.get_or_insert(run);
        if stopped {
            break;
        }
    }
    match (first, RunSummary::over_groupings(summaries)) {
        (Some(run), Some(summary)) => Ok(EndedRun {
            run,
            summary,
            built,
            wall_s: begin.elapsed().as_secs_f64(),
            is_interrupted,
            remarks: Vec::new(),
        }),
        _ => Err(Failure::Interrupted),
    }
}

fn unfit(problems: Vec<SettingProblem>) -> Failure {
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| format!("{}: {}", problem.field, problem.message))
        .collect();
    Failure::Usage(format!("invalid settings:\n  {}", lines.join("\n  ")))
}

/// Trains until the end or Ctrl-C; what is complete by then is kept.
fn train(
    mut run: Run,
    interrupted: &AtomicBool,
    progress: &mut ProgressLine,
) -> Result<(Run, bool), Failure> {
    let mut news = Vec::new();
    while !run.is_complete() {
        if interrupted.load(Ordering::SeqCst) {
            return Ok((run, true));
        }
        news.clear();
        run.advance(Extent::Slice, &mut news)
            .map_err(|error| Failure::Failed(error.to_string()))?;
        progress.show(run.progress().share(), &progress_text(&run));
    }
    Ok((run, false))
}

/// `folds 1, 2 of 5, final model · batch 31 of 60 · 98.4 %`
fn progress_text(run: &Run) -> String {
    let active: Vec<(Part, usize)> = run.active_parts().collect();
    let n_folds = run.checked().split().n_folds();
    let folds = active.iter().filter_map(|(part, _)| match part {
        Part::Fold(fold) => Some((fold + 1).to_string()),
        Part::Final => None,
    });
    let folds: Vec<String> = folds.collect();
    let mut parts = match folds.len() {
        0 => Vec::new(),
        1 => vec![format!("fold {} of {n_folds}", folds[0])],
        _ => vec![format!("folds {} of {n_folds}", folds.join(", "))],
    };
    if active.iter().any(|(part, _)| *part == Part::Final) {
        parts.push("final model".to_owned());
    }
    // Parts differ in length: both numbers are those of the part that is furthest.
    let (batch, planned) = active
        .iter()
        .map(|(part, batch)| (*batch, run.checked().n_rounds(*part)))
        .max()
        .unwrap_or((0, 0));
    let accuracies = run
        .records()
        .into_iter()
        .filter_map(|record| record.accuracy());
    let accuracy = match mean_and_sd(accuracies) {
        Some((mean, _)) => format!(" · {:.1} %", 100.0 * mean),
        None => String::new(),
    };
    format!(
        "{} · batch {batch} of {planned}{accuracy}",
        parts.join(", ")
    )
}

fn summary(run: &Run) -> RunSummary {
    RunSummary::of(run.checked().facts(), &run.complete_folds())
}

/// What to know beside the numbers.
fn remarks(ended: &EndedRun) -> Vec<String> {
    let mut remarks = ended.remarks.clone();
    remarks.extend(ended.built.notes.iter().cloned());
    remarks.extend(LeftOut::in_words(&ended.built.left_out));
    for record in ended.run.records() {
        for remark in &record.remarks {
            if !remarks.contains(remark) {
                remarks.push(remark.clone());
            }
        }
    }
    if ended.is_interrupted {
        remarks.push("interrupted: only complete folds count".into());
    }
    remarks
}

/// A content and its file, as in confusion=table.csv.
fn export_order(text: &str) -> Result<(ExportContent, PathBuf), String> {
    let known = || ExportContent::ALL.map(ExportContent::key).join(", ");
    let wrong = || format!("write CONTENT=OUT with one of {}", known());
    let (key, path) = text.split_once('=').ok_or_else(wrong)?;
    let content = ExportContent::ALL.into_iter().find(|c| c.key() == key);
    Ok((content.ok_or_else(wrong)?, PathBuf::from(path)))
}

fn reserve_exports(
    wanted: &[(ExportContent, PathBuf)],
) -> Result<Vec<(ExportContent, PathBuf, Output)>, Failure> {
    let reserved = wanted.iter().map(|(content, path)| {
        content.check_ending(path).map_err(Failure::usage)?;
        if path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("png"))
        {
            return Err(Failure::usage(
                "only the window draws PNG: name a file that ends in .svg",
            ));
        }
        Ok((*content, path.clone(), Output::reserve(path)?))
    });
    reserved.collect()
}

/// The result as JSON, with what was decided about every held-out sample if that is wanted.
fn json_of(report: &Report<'_>, with_decisions: bool) -> serde_json::Value {
    let mut result = report.result().to_json();
    result["remarks"] = report.remarks.into();
    if !with_decisions {
        return result;
    }
    let mut decisions = report.predictions.to_json();
    if let Some(folds) = result["folds"].as_array_mut() {
        for fold in folds {
            let of_fold = |row: &serde_json::Value| row["fold"] == fold["fold"];
            let (own, others) = decisions.into_iter().partition(of_fold);
            fold["decisions"] = serde_json::Value::Array(own);
            decisions = others;
        }
    }
    result
}

/// Tells the result on the standard output, as JSON or as text.
fn report(name: &str, ended: &EndedRun, outputs: &Outputs) -> io::Result<ExitCode> {
    let checked: &CheckedExperiment = ended.run.checked();
    let report = Report {
        session: name,
        checked,
        changes: ended.run.changes(),
        summary: &ended.summary,
        predictions: Predictions::of(
            checked.facts(),
            checked.experiment().tests.epsilon,
            ended.run.complete_folds(),
        ),
        wall_s: ended.wall_s,
        remarks: &remarks(ended),
    };
    let named = [&outputs.json, &outputs.csv].into_iter().flatten();
    if !named.clone().any(Output::is_stdout) {
        report.write(&mut terminal::stdout())?;
    }
    let mut is_written = true;
    if let Some(json) = &outputs.json {
        let text = format!("{:#}\n", json_of(&report, outputs.with_decisions));
        is_written &= write_result(json, &text)?;
    }
    if let Some(csv) = &outputs.csv {
        is_written &= write_result(csv, &report.predictions.to_csv())?;
    }
    for (content, path, output) in &outputs.exports {
        // As in the window a session is called by its file; endings were looked at before the run.
        let session = Path::new(name).file_name().and_then(|file| file.to_str());
        let result = RunResult {
            session: session.unwrap_or(name),
            ..report.result()
        };
        let exported = export(&result, *content, path);
        let Ok(Exported::Bytes(bytes)) = exported else {
            continue;
        };
        is_written &= write_result(output, &String::from_utf8_lossy(&bytes))?;
    }
    Ok(ExitCode::from(match (ended.is_interrupted, is_written) {
        (true, _) => INTERRUPTED,
        (false, false) => 1,
        (false, true) => 0,
    }))
}
