//! `atomscope classify`: a trained session applied to new recordings.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::ending::{Failure, Refusal, epsilon, tell, write_result};
use super::fault_fields::{line_for, with_fault_fields};
use super::outputs::{Lost, Output, refuse_inputs, reserve_folder};
use super::progress::ProgressLine;
use super::terminal::{self, CleanWriter, complain, one_line};
use super::trained::load_trained;
use crate::workbench::learner_summary;
use atomscope_engine::dataset::{Built, Dataset, Place};
use atomscope_engine::evaluation::{Assurance, GroupVote};
use atomscope_engine::experiment::{
    JudgeOptions, Judged, Part, Ribbon, TrainedModel, change_texts, uncertain_margin,
    votes_by_source,
};
use atomscope_engine::export::fault_report::{FaultReport, ReportedDecision, ReportedRecord};
use atomscope_engine::export::{
    RecordingReport, ReportFile, ReportedModel, segment_head, segment_row,
};
use atomscope_engine::features::FeatureRecipe;
use atomscope_engine::protection::zones::Zone;
use atomscope_engine::protection::{FaultAnalysis, Line};
use atomscope_engine::records::{Kind, open_with};
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
    /// Write a report: a page with a part for each recording (.html), a table of all segments (.csv), or a page for
    /// each into a folder
    #[arg(long, value_name = "OUT")]
    report: Option<PathBuf>,
    /// Write decisions, prediction sets and warnings as JSON
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Line data for the distances of fault records: (length_km: 50, z1_ohm_per_km: (0.1, 0.4), z0_ohm_per_km: (0.3, 1.2)), or a file of them
    #[arg(long, value_name = "LINE")]
    line: Option<PathBuf>,
    /// Zones of the impedance plane of fault reports, primary: [(name: "Z1", loops: All, shape: Mho(reach: (5, 20), offset: (0, 0)))]
    #[arg(long, value_name = "ZONES", requires = "report")]
    zones: Option<String>,
    /// Share of samples whose prediction set may miss their class; without it that of the session
    #[arg(long, value_name = "SHARE", value_parser = epsilon)]
    epsilon: Option<f64>,
    /// Find exact zeros that stand for missing values, and fill them in
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
    /// Zones of their reports.
    zones: Vec<Zone>,
    options: JudgeOptions,
}

/// Where reports go.
enum ReportPlaces {
    None,
    /// One file with a part for each recording.
    File(Output, Box<ReportFile>),
    /// A page for each recording.
    Folder(PathBuf),
}

impl ReportPlaces {
    /// A file or a folder, checked before the work begins.
    fn reserve(arguments: &ClassifyArguments) -> Result<Self, Failure> {
        let Some(path) = arguments.report.as_deref() else {
            return Ok(Self::None);
        };
        if path.extension().is_some() && !path.is_dir() {
            let file = ReportFile::for_path(path).map_err(Failure::usage)?;
            return Ok(Self::File(Output::reserve(path)?, Box::new(file)));
        }
        reserve_folder(path)?;
        Ok(Self::Folder(path.to_owned()))
    }

    /// Adds the report of a recording: to the file, or as a page in the folder.
    fn add(
        &mut self,
        recording: &Path,
        report: impl FnOnce(&mut ReportFile) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        match self {
            Self::None => Ok(()),
            Self::File(_, file) => report(file),
            Self::Folder(folder) => {
                let page = free_page(folder, recording);
                let mut file = ReportFile::for_path(&page)?;
                report(&mut file)?;
                Ok(Output::unreserved(&page).write(&file.finish())?)
            }
        }
    }

    /// Notes in the file that a recording has no decision.
    fn add_failure(&mut self, recording: &Path, reason: &str) {
        if let Self::File(_, file) = self {
            file.add_failure(&recording.display().to_string(), reason);
        }
    }

    /// Writes the file.
    fn finish(self) -> Result<(), Lost> {
        match self {
            Self::File(output, file) => output.write(&file.finish()),
            Self::None | Self::Folder(_) => Ok(()),
        }
    }
}

/// The page for a recording in a folder; those of one name are numbered.
fn free_page(folder: &Path, recording: &Path) -> PathBuf {
    let stem = recording.file_stem().unwrap_or_default().to_string_lossy();
    let first = folder.join(format!("{stem}.html"));
    let others = (2..).map(|number: usize| folder.join(format!("{stem}-{number}.html")));
    let mut all = std::iter::once(first.clone()).chain(others);
    all.find(|path| !path.exists()).unwrap_or(first)
}

/// Classifies files with a trained session.
pub(super) fn run(arguments: &ClassifyArguments) -> io::Result<ExitCode> {
    let ready = Ready::load(arguments).map_err(Failure::usage);
    let reserved = ready.and_then(|ready| {
        if arguments.report.is_some() && ready.session.experiment.data.recipe.is_none() {
            let text = "a report is of recordings, but the model was trained on rows, which have no time axis; --csv and --json take what is decided of rows";
            return Err(Failure::usage(text));
        }
        let results = [&arguments.csv, &arguments.json, &arguments.report];
        let session = std::iter::once(arguments.session.as_path());
        let inputs: Vec<&Path> = session.chain(arguments.files.iter().map(Path::new)).collect();
        refuse_inputs(&results.map(Option::as_deref), &inputs)?;
        let rows = Output::reserve_named(arguments.csv.as_deref())?;
        let json = Output::reserve_named(arguments.json.as_deref())?;
        Ok((ready, rows, json, ReportPlaces::reserve(arguments)?))
    });
    let (ready, csv, json, mut reports) = match reserved {
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
                reports.add(path, |file| ready.report(path, &built, judged, file))
            }
            // A fault record that nothing can be said of is an answer too.
            Err(message) => {
                let data = &ready.session.experiment.data;
                match with_fault_fields(&Value::Null, path, data, &ready.lines) {
                    Some(entry) => {
                        records.push(entry);
                        is_strange = true;
                        reports.add_failure(path, &message.to_string());
                        complain(message)?;
                        Ok(())
                    }
                    None => Err(message),
                }
            }
        };
        if let Err(message) = told {
            is_whole = false;
            reports.add_failure(path, &message.to_string());
            complain(message)?;
        }
    }
    if let Err(lost) = reports.finish() {
        is_whole = false;
        complain(lost)?;
    }
    match &csv {
        // Only one of the two can be read from there.
        None if json.as_ref().is_some_and(Output::is_stdout) => {}
        None => terminal::results().write_all(&rows)?,
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
    fn load(arguments: &ClassifyArguments) -> Result<Self, Refusal> {
        let lines = arguments.line.as_deref().map(Line::load_all).transpose();
        let lines = lines?.unwrap_or_default();
        let zones = arguments.zones.as_deref().map(Zone::parse_all).transpose();
        let session = load_trained(&arguments.session)?;
        let run = session.run.as_ref().ok_or("there is no run")?;
        Ok(Self {
            class_names: run.facts.class_names.clone(),
            feature_names: run.facts.feature_names.clone(),
            lines,
            zones: zones?.unwrap_or_default(),
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

    fn classify(&self, path: &Path, quiet: bool) -> Result<(Built, Vec<Judged>), Refusal> {
        let mut progress = ProgressLine::new(quiet);
        let name = path.display().to_string();
        let mut keep_going = |share: f64| {
            progress.show(share, &name);
            true
        };
        let built = self.session.experiment.data.load_unlabelled(
            path,
            &self.feature_names,
            &mut keep_going,
        )?;
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
        let mut err = CleanWriter::new(io::stderr().lock());
        if model.calibration.is_none() {
            let path = one_line(path.display());
            writeln!(
                err,
                "The model cannot tell what its decisions are worth; train it again with calibration: {path}"
            )?;
        }
        let mut sentences = Vec::new();
        for warning in model.strange_files(judged) {
            let source = one_line(dataset.sources()[warning.source].display());
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
            let path = one_line(path.display());
            writeln!(
                err,
                "Training data: the model was trained on this recording, so its decision is not a test: {path}"
            )?;
        }
        for vote in votes_by_source(self.class_names.len(), judged) {
            let source = one_line(dataset.sources()[vote.group].display());
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
    /// A fault record and what the rule says of it; `None` where the file is another one.
    fn fault_record(&self, path: &Path) -> Option<ReportedRecord> {
        let data = &self.session.experiment.data;
        let Some(FeatureRecipe::Fault(recipe)) = &data.recipe else {
            return None;
        };
        let record = open_with(path, &data.read_options()).ok()?;
        let analysis = FaultAnalysis::of(&record, recipe).ok()?;
        (record.kind == Kind::FaultRecord).then(|| ReportedRecord {
            path: path.to_owned(),
            line: line_for(&self.lines, &record).cloned(),
            record,
            analysis,
        })
    }

    /// What the model decided of a fault record, to stand beside what the rule says.
    fn fault_decision(&self, judged: &[Judged]) -> Result<Option<ReportedDecision>, Refusal> {
        let model = self.model().ok_or("there is no final model")?;
        let model_sha256 = model_sha256(model)?;
        Ok(judged.first().map(|first| ReportedDecision {
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
        }))
    }

    /// Adds the report of a recording to a file.
    fn report(
        &self,
        path: &Path,
        built: &Built,
        judged: Vec<Judged>,
        file: &mut ReportFile,
    ) -> Result<(), Refusal> {
        let name = path.display().to_string();
        if !file.is_table()
            && let Some(record) = self.fault_record(path)
        {
            let record = [record];
            let report = FaultReport::new(&record).with_zones(self.zones.clone());
            let report = match self.fault_decision(&judged)? {
                Some(mut decision) => {
                    decision.is_uncertain |= record[0].analysis.doubts(&decision.class);
                    report.with_decision(decision)
                }
                None => report,
            };
            file.add_fault(&name, &report);
            return Ok(());
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
        let record = open_with(path, &options)?;
        let learned = match self.session.has_learned_from(path) {
            true => {
                "final model, which was trained on this recording; its decisions are not a test"
            }
            false => "final model",
        };
        let hash = model_sha256(model)?;
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
        let report = RecordingReport {
            name: &name,
            record: &record,
            notes: &built.notes,
            left_out: &left_out,
            ribbon: &ribbon,
            model: &model,
        };
        file.add_recording(&report);
        Ok(())
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
