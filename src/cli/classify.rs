//! `atomscope classify`: a trained session applied to new recordings.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::progress::ProgressLine;
use crate::dataset::{Built, Dataset, Place};
use crate::evaluation::GroupVote;
use crate::experiment::{Judged, TrainedModel, votes_by_source};
use crate::session::Session;

/// What `classify` is told.
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
    /// No progress
    #[arg(long)]
    quiet: bool,
}

/// A session that can classify.
struct Ready {
    session: Session,
    class_names: Vec<String>,
    feature_names: Vec<String>,
}

/// Classifies files with a trained session.
pub(super) fn run(arguments: &ClassifyArguments) -> io::Result<ExitCode> {
    let ready = match Ready::load(&arguments.session) {
        Ok(ready) => ready,
        Err(message) => {
            writeln!(io::stderr(), "atomscope: {message}")?;
            return Ok(ExitCode::from(2));
        }
    };
    let mut rows = Vec::new();
    ready.write_head(&mut rows)?;
    let mut is_whole = true;
    for file in &arguments.files {
        let path = Path::new(file);
        match ready.classify(path, arguments.quiet) {
            Ok((built, judged)) => ready.tell(path, &built.dataset, &judged, &mut rows)?,
            Err(message) => {
                is_whole = false;
                writeln!(io::stderr(), "atomscope: {message}")?;
            }
        }
    }
    match &arguments.csv {
        None => io::stdout().write_all(&rows)?,
        Some(path) => {
            if let Err(error) = fs::write(path, rows) {
                let path = path.display();
                writeln!(
                    io::stderr(),
                    "atomscope: cannot write the rows: {error}: {path}"
                )?;
                is_whole = false;
            }
        }
    }
    Ok(if is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Ready {
    fn load(path: &Path) -> Result<Self, String> {
        let session = Session::load(path).map_err(|error| error.to_string())?;
        if let Some(damage) = &session.damage {
            return Err(damage.to_string());
        }
        let none = || {
            format!(
                "the session holds no final model: train one with `atomscope run {0} --save TRAINED.ron`: {0}",
                path.display()
            )
        };
        let run = session.run.as_ref().ok_or_else(none)?;
        run.final_model().ok_or_else(none)?;
        Ok(Self {
            class_names: run.facts.class_names.clone(),
            feature_names: run.facts.feature_names.clone(),
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
            .judge(&built.dataset, &mut keep_going)
            .map_err(|error| format!("{error}: {name}"))?;
        Ok((built, judged))
    }

    fn write_head(&self, rows: &mut Vec<u8>) -> io::Result<()> {
        let mut head = vec![
            "file".to_owned(),
            "start_s".into(),
            "duration_s".into(),
            "row".into(),
            "class".into(),
            "margin".into(),
            "runner_up".into(),
        ];
        head.extend(
            self.class_names
                .iter()
                .map(|name| format!("residual {name}")),
        );
        write_row(rows, &head)
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
            let (start, duration, row) = match item.place {
                Place::Window {
                    start_s,
                    duration_s,
                } => (start_s.to_string(), duration_s.to_string(), String::new()),
                Place::Row(row) => (String::new(), String::new(), (row + 1).to_string()),
            };
            let mut cells = vec![
                source.display().to_string(),
                start,
                duration,
                row,
                name(item.verdict.class),
                item.verdict.margin.to_string(),
                name(item.verdict.runner_up),
            ];
            cells.extend(item.residual_shares.iter().map(f64::to_string));
            write_row(rows, &cells)?;
        }
        let mut err = io::stderr().lock();
        if self.session.has_learned_from(path) {
            let path = path.display();
            writeln!(
                err,
                "Learned from: the model knows this recording, so its verdict says little: {path}"
            )?;
        }
        for vote in votes_by_source(self.class_names.len(), judged) {
            let source = dataset.sources()[vote.group].display();
            writeln!(err, "{}: {source}", vote_text(&vote, &name))?;
        }
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
