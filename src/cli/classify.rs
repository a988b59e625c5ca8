//! `atomscope classify`: a trained session applied to new recordings.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::ending::{Failure, epsilon, tell, write_result};
use super::fault_fields::{line_for, with_fault_fields};
use super::outputs::{Output, reserve_folder};
use super::progress::ProgressLine;
use super::terminal::{self, CleanWriter, complain};
use super::trained::load_trained;
use crate::workbench::learner_summary;
use atomscope_engine::dataset::{Built, Dataset, Place};
use atomscope_engine::evaluation::{Assurance, GroupVote};
use atomscope_engine::experiment::{
    JudgeOptions, Judged, Part, Ribbon, TrainedModel, change_texts, uncertain_margin,
    votes_by_source,
};
use atomscope_engine::export::fault_report::{FaultReport, ReportedDecision, ReportedRecord};
use atomscope_engine::export::{RecordingReport, ReportedModel, segment_head, segment_row};
use atomscope_engine::features::FeatureRecipe;
use atomscope_engine::protection::{FaultAnalysis, Line};
use atomscope_engine::records::{Kind, Record, open_with};
use atomscope_engine::session::{Session, model_sha256};

/// The arguments of `classify`.
#[derive(Debug, Args)]
pub(super) struct ClassifyArguments {
    /// A session with a final model, as `run --save` and the window write it
    session: PathBuf,
    /// Recordings, fault records, tables or arrays
    #[arg(required = true)]
    files: Vec<OsString>,
    /// Write the rows to a file instead of the standard output
    #[arg(long, value_name = "OUT")]
    csv: Option<PathBuf>,
    /// Write a report of the recording: a page (.html) or a table (.csv); for several files a folder of pages
    #[arg(long, value_name = "OUT")]
    report: Option<PathBuf>,
    /// Write decisions, prediction sets and warnings as JSON
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Line data for the distances of fault records: length_km, z1_ohm_per_km, z0_ohm_per_km
    #[arg(long, value_name = "L.ron")]
    line: Option<PathBuf>,
    /// Share of samples whose prediction set may miss their class; without it that of the session
    #[arg(long, value_name = "SHARE", value_parser = epsilon)]
    epsilon: Option<f64>,
    /// Find exact zeros that are no values and fill them in
    #[arg(long)]
    repair: bool,
    /// No progress
    #[arg(long)]
    quiet: bool,
}

/// Ends the program when a file is unlike anything the model has learned, or gives no verdict.
const STRANGE: u8 = 3;

/// A session that can classify.
struct Ready {
    session: Session,
    class_names: Vec<String>,
    feature_names: Vec<String>,
    /// Lines of fault records.
    lines: Vec<Line>,
    options: JudgeOptions,
}

/// Where reports go.
enum Reports {
    None,
    /// The report of the only recording.
    File(Output),
    /// A page for each recording.
    Folder(PathBuf),
}

impl Reports {
    /// A file for one recording, a folder for several; checked before the work begins.
    fn reserve(arguments: &ClassifyArguments) -> Result<Self, Failure> {
        let Some(path) = arguments.report.as_deref() else {
            return Ok(Self::None);
        };
        let is_file = path.extension().is_some() && !path.is_dir();
        match (is_file, arguments.files.len()) {
            (true, 1) => Ok(Self::File(Output::reserve(path)?)),
            (true, n_files) => Err(Failure::Usage(format!(
                "a file holds the report of one recording, but {n_files} files are named: name a folder for their reports: {}",
                path.display()
            ))),
            (false, _) => {
                reserve_folder(path)?;
                Ok(Self::Folder(path.to_owned()))
            }
        }
    }

    /// The file for the report of a recording; those of one name are numbered.
    fn output(&self, recording: &Path) -> Option<PathBuf> {
        match self {
            Self::None => None,
            Self::File(output) => Some(output.path().to_owned()),
            Self::Folder(folder) => {
                let stem = recording.file_stem().unwrap_or_default().to_string_lossy();
                let named = |number: usize| match number {
                    1 => folder.join(format!("{stem}.html")),
                    _ => folder.join(format!("{stem}-{number}.html")),
                };
                (1..).map(named).find(|path| !path.exists())
            }
        }
    }
}

/// Classifies files with a trained session.
pub(super) fn run(arguments: &ClassifyArguments) -> io::Result<ExitCode> {
    let ready = Ready::load(arguments).map_err(Failure::Usage);
    let reserved = ready.and_then(|ready| {
        let rows = Output::reserve_named(arguments.csv.as_deref())?;
        let json = Output::reserve_named(arguments.json.as_deref())?;
        Ok((ready, rows, json, Reports::reserve(arguments)?))
    });
    let (ready, csv, json, reports) = match reserved {
        Ok(reserved) => reserved,
        Err(failure) => return tell(failure),
    };
    let mut rows = Vec::new();
    write_row(&mut rows, &segment_head(&ready.class_names))?;
    let mut is_whole = true;
    let mut is_strange = false;
    let mut records = Vec::new();
    for file in &arguments.files {
        let path = Path::new(file);
        let classified = ready.classify(path, arguments.quiet);
        let told = match classified {
            Ok((built, judged)) => {
                let warnings = ready.warn(path, &built.dataset, &judged)?;
                is_strange |= judged.is_empty() || !warnings.is_empty();
                ready.tell(path, &built.dataset, &judged, &mut rows)?;
                let entry = ready.record(path, &judged, &warnings);
                let data = &ready.session.experiment.data;
                records.push(with_fault_fields(&entry, path, data, &ready.lines).unwrap_or(entry));
                match reports.output(path) {
                    Some(out) => ready.report(path, &built, judged, &out),
                    None => Ok(()),
                }
            }
            // A fault record that nothing can be said of is an answer too.
            Err(message) => {
                let data = &ready.session.experiment.data;
                match with_fault_fields(&Value::Null, path, data, &ready.lines) {
                    Some(entry) => {
                        records.push(entry);
                        is_strange = true;
                        complain(message)?;
                        Ok(())
                    }
                    None => Err(message),
                }
            }
        };
        if let Err(message) = told {
            is_whole = false;
            complain(message)?;
        }
    }
    match &csv {
        // Data for another program are not touched; a person must not be harmed by a file name.
        None if io::stdout().is_terminal() => terminal::stdout().write_all(&rows)?,
        None => io::stdout().write_all(&rows)?,
        Some(output) => is_whole &= write_result(output, &String::from_utf8_lossy(&rows))?,
    }
    if let Some(output) = &json {
        let run = ready.session.run.as_ref();
        let tested = run.and_then(|run| run.tested_in_words());
        let text = format!("{:#}\n", json!({ "records": records, "tested": tested }));
        is_whole &= write_result(output, &text)?;
    }
    Ok(match (is_whole, is_strange) {
        (false, _) => ExitCode::FAILURE,
        (true, true) => ExitCode::from(STRANGE),
        (true, false) => ExitCode::SUCCESS,
    })
}

impl Ready {
    fn load(arguments: &ClassifyArguments) -> Result<Self, String> {
        let lines = arguments.line.as_deref().map(Line::load_all).transpose();
        let lines = lines
            .map_err(|error| error.to_string())?
            .unwrap_or_default();
        let session = load_trained(&arguments.session)?;
        let run = session.run.as_ref().ok_or("there is no run")?;
        Ok(Self {
            class_names: run.facts.class_names.clone(),
            feature_names: run.facts.feature_names.clone(),
            lines,
            options: JudgeOptions {
                epsilon: arguments
                    .epsilon
                    .unwrap_or(session.experiment.tests.epsilon),
                repair: arguments.repair,
            },
            session,
        })
    }

    fn model(&self) -> Option<&TrainedModel> {
        Some(self.session.run.as_ref()?.final_model()?)
    }

    fn classify(&self, path: &Path, quiet: bool) -> Result<(Built, Vec<Judged>), String> {
        let mut progress = ProgressLine::new(quiet);
        let name = path.display().to_string();
        let mut keep_going = |share: f64| {
            progress.show(share, &name);
            true
        };
        let built = self
            .session
            .experiment
            .data
            .load_unlabelled(path, &self.feature_names, &mut keep_going)
            .map_err(|error| error.to_string())?;
        let model = self.model().ok_or("there is no final model")?;
        let judged = model
            .judge(&built.dataset, &self.options, &mut keep_going)
            .map_err(|error| format!("{error}: {name}"))?;
        Ok((built, judged))
    }

    /// Says which files are unlike anything learned; the sentences.
    fn warn(&self, path: &Path, dataset: &Dataset, judged: &[Judged]) -> io::Result<Vec<String>> {
        let Some(model) = self.model() else {
            return Ok(Vec::new());
        };
        let mut err = io::stderr().lock();
        if model.calibration.is_none() {
            let path = path.display();
            writeln!(
                err,
                "The model cannot tell what its decisions are worth; train it again with calibration: {path}"
            )?;
        }
        let mut sentences = Vec::new();
        for warning in model.strange_files(judged) {
            let source = dataset.sources()[warning.source].display();
            writeln!(err, "Warning: {}: {source}", warning.sentence())?;
            sentences.push(warning.sentence().to_owned());
        }
        Ok(sentences)
    }

    /// A file as JSON.
    fn record(&self, path: &Path, judged: &[Judged], warnings: &[String]) -> Value {
        let name = |class: usize| self.class_names.get(class);
        let segment = |item: &Judged| {
            let assured = item.assurance.as_ref();
            let set = assured.map(|a| a.set().into_iter().map(name).collect::<Vec<_>>());
            let (start, row) = match item.place {
                Place::Window { start_s, .. } => (Some(start_s), None),
                Place::Row(row) => (None, Some(row + 1)),
            };
            json!({
                "start": start,
                "row": row,
                "class": name(item.verdict.class),
                "margin": item.verdict.margin,
                "set": set,
                "uncertain": assured.map(|assured| assured.is_uncertain()),
                "fit_p": assured.map(|assured| assured.fit_p),
                "n_missing": item.n_missing,
            })
        };
        let vote = votes_by_source(self.class_names.len(), judged);
        json!({
            "path": path,
            "class": vote.first().and_then(|vote| name(vote.decided)),
            "segments": judged.iter().map(segment).collect::<Vec<_>>(),
            "epsilon": self.options.epsilon,
            "warnings": warnings,
        })
    }

    /// One row per sample; the vote and what to know of it go to the standard error.
    fn tell(
        &self,
        path: &Path,
        dataset: &Dataset,
        judged: &[Judged],
        rows: &mut Vec<u8>,
    ) -> io::Result<()> {
        let name = |class: usize| self.class_names.get(class).cloned().unwrap_or_default();
        for item in judged {
            let source = &dataset.sources()[item.source];
            let residuals = &item.residual_shares;
            let cells = segment_row(
                source,
                item.place,
                &item.verdict,
                item.assurance.as_ref(),
                residuals,
                &self.class_names,
            );
            write_row(rows, &cells)?;
        }
        let mut err = CleanWriter::new(io::stderr().lock());
        if self.session.has_learned_from(path) {
            let path = path.display();
            writeln!(
                err,
                "Training data: the model was trained on this recording, so its decision is not a test: {path}"
            )?;
        }
        for vote in votes_by_source(self.class_names.len(), judged) {
            let source = dataset.sources()[vote.group].display();
            writeln!(err, "{}: {source}", vote_text(&vote, &name))?;
        }
        let run = self.session.run.as_ref();
        if let Some(tested) = run.and_then(|run| run.tested_in_words()) {
            writeln!(err, "Tested: {tested}")?;
        }
        Ok(())
    }
}

impl Ready {
    /// The report of a fault record with the model's decision beside the rule's; `None` where the file is another one.
    fn fault_page(&self, path: &Path, judged: &[Judged]) -> Option<Result<String, String>> {
        let data = &self.session.experiment.data;
        let Some(FeatureRecipe::Fault(recipe)) = &data.recipe else {
            return None;
        };
        let record = open_with(path, &data.read_options()).ok()?;
        let analysis = FaultAnalysis::of(&record, recipe).ok()?;
        (record.kind == Kind::FaultRecord).then(|| self.fault_text(path, record, analysis, judged))
    }

    fn fault_text(
        &self,
        path: &Path,
        record: Record,
        analysis: FaultAnalysis,
        judged: &[Judged],
    ) -> Result<String, String> {
        let model = self.model().ok_or("there is no final model")?;
        let model_sha256 = model_sha256(model).map_err(|error| error.to_string())?;
        let decision = judged.first().map(|first| ReportedDecision {
            class: self
                .class_names
                .get(first.verdict.class)
                .cloned()
                .unwrap_or_default(),
            margin: first.verdict.margin,
            is_uncertain: first
                .assurance
                .as_ref()
                .is_some_and(Assurance::is_uncertain),
            fit_p: first.assurance.as_ref().map(|assured| assured.fit_p),
            model_sha256,
        });
        let end = [ReportedRecord {
            path: path.to_owned(),
            line: line_for(&self.lines, &record).cloned(),
            record,
            analysis,
        }];
        let report = FaultReport::new(&end);
        Ok(match decision {
            Some(decision) => report.with_decision(decision).page(),
            None => report.page(),
        })
    }

    /// Writes the report of a recording.
    fn report(
        &self,
        path: &Path,
        built: &Built,
        judged: Vec<Judged>,
        out: &Path,
    ) -> Result<(), String> {
        let is_page = out.extension().is_some_and(|ending| ending == "html");
        if let (true, Some(page)) = (is_page, self.fault_page(path, &judged)) {
            let written = Output::unreserved(out).write(page?.as_bytes());
            return written.map_err(|lost| lost.to_string());
        }
        let run = self.session.run.as_ref().ok_or("there is no run")?;
        let model = self.model().ok_or("there is no final model")?;
        let folds = run
            .parts
            .iter()
            .filter(|part| part.record.part != Part::Final);
        let below = uncertain_margin(&run.facts, folds.map(|part| part.record.0.as_ref()));
        let ribbon = Ribbon::of(&self.class_names, judged, below).ok_or_else(|| {
            let path = path.display();
            format!("a report needs a recording, but the rows of a table have no time axis: {path}")
        })?;
        let options = self.session.experiment.data.read_options();
        let record = open_with(path, &options).map_err(|error| error.to_string())?;
        let learned = match self.session.has_learned_from(path) {
            true => {
                "final model, which was trained on this recording; its decisions are not a test"
            }
            false => "final model",
        };
        let hash = model_sha256(model).map_err(|error| error.to_string())?;
        let place = self.session.path().unwrap_or(Path::new(""));
        let model = ReportedModel {
            what: learned.to_owned(),
            learner: learner_summary(&model.learner),
            changes: change_texts(&run.experiment.learner, &run.changes),
            session: place.display().to_string(),
            session_sha256: self.session.sha256().map(str::to_owned),
            model_sha256: hash,
            tested: run.tested_in_words(),
        };
        let left_out: Vec<String> = built.left_out.iter().map(ToString::to_string).collect();
        let name = path.display().to_string();
        let report = RecordingReport {
            name: &name,
            record: &record,
            notes: &built.notes,
            left_out: &left_out,
            ribbon: &ribbon,
            model: &model,
        };
        let bytes = report.for_file(out).map_err(|error| error.to_string())?;
        Output::unreserved(out)
            .write(&bytes)
            .map_err(|lost| lost.to_string())
    }
}

/// `healthy by 41 of 48 segments (fault 7)`
fn vote_text(vote: &GroupVote, name: &dyn Fn(usize) -> String) -> String {
    let total: u64 = vote.votes.iter().sum();
    let others: Vec<String> = vote
        .votes
        .iter()
        .enumerate()
        .filter(|(class, count)| *class != vote.decided && **count > 0)
        .map(|(class, count)| format!("{} {count}", name(class)))
        .collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(" ({})", others.join(", "))
    };
    let most = vote.votes.get(vote.decided).copied().unwrap_or(0);
    format!(
        "{} by {most} of {total} segments{others}",
        name(vote.decided)
    )
}

/// A row of CSV; cells with commas or quotes are quoted.
fn write_row(rows: &mut Vec<u8>, cells: &[String]) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().from_writer(rows);
    writer.write_record(cells).map_err(io::Error::other)?;
    writer.flush()
}
