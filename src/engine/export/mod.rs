//! Results in files for other programs: tables, figures, reports, everything as JSON.

mod annotations;
mod chart;
mod comparison;
pub mod fault_report;
mod figure;
mod heat_map;
mod html;
mod json;
mod matrix;
mod paper;
mod pdf;
mod predictions;
mod published;
mod python;
mod report;
mod report_file;
mod ribbon_figure;
mod segments;
mod sweep;
mod tables;

pub use annotations::{write_annotations, write_scores};
pub use chart::{Chart, Series, Stroke, series_ink};
pub use comparison::{
    BASELINE_NOTE, DIFFERENCE_NOTE, VERSION, accuracy_chart, comparison_csv, comparison_html,
    comparison_json, missing_chart, provenance,
};
pub use figure::{Anchor, Figure, Ink, Shape, class_ink, hatch_lines, mix_inks};
pub use heat_map::HeatMap;
pub use json::split_kind;
pub use paper::{PaperPart, PaperReport, PartResult};
pub use predictions::Predictions;
pub use published::{Published, PublishedData};
pub use python::{PythonError, python_module};
pub use report::{DISCLAIMER, RecordingReport, ReportedModel, vote_text};
pub use report_file::ReportFile;
pub use segments::{segment_head, segment_row};
pub use sweep::{SweepResult, remark_of, sweep_provenance};

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::experiment::{DataFacts, Experiment, RunSummary, SettingChange};
use crate::split::audit::Finding;

/// The result of a run with what it was the result of: a score always carries its split and seed.
#[derive(Clone, Debug)]
pub struct RunResult<'a> {
    /// The session, by its name.
    pub session: &'a str,
    /// The settings it began with.
    pub experiment: &'a Experiment,
    /// Settings changed on the way.
    pub changes: &'a [SettingChange],
    /// The data.
    pub facts: &'a DataFacts,
    /// Folds of the split.
    pub n_folds: usize,
    /// What the audit found.
    pub findings: &'a [Finding],
    /// The result.
    pub summary: &'a RunSummary,
    /// What was decided about every held-out sample.
    pub predictions: Predictions<'a>,
    /// How long all of it took.
    pub wall_s: Option<f64>,
}

/// What can be taken out of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportContent {
    /// The confusion matrix with recall and precision, as CSV.
    ConfusionTable,
    /// The votes of the groups, as CSV.
    GroupTable,
    /// Accuracy against mini-batches, as CSV.
    CurveTable,
    /// What was decided about every held-out sample, as CSV.
    PredictionTable,
    /// The confusion matrix, as SVG or PNG.
    ConfusionFigure,
    /// Accuracy against mini-batches, as SVG or PNG.
    CurveFigure,
    /// Everything, as JSON.
    Everything,
}

impl ExportContent {
    /// All of them, in the order of menus.
    pub const ALL: [Self; 7] = [
        Self::ConfusionTable,
        Self::GroupTable,
        Self::CurveTable,
        Self::PredictionTable,
        Self::ConfusionFigure,
        Self::CurveFigure,
        Self::Everything,
    ];

    /// What it is called in menus.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConfusionTable => "Confusion table (CSV)",
            Self::GroupTable => "Votes by group (CSV)",
            Self::CurveTable => "Accuracy curve (CSV)",
            Self::PredictionTable => "Predictions (CSV)",
            Self::ConfusionFigure => "Confusion figure (SVG or PNG)",
            Self::CurveFigure => "Accuracy figure (SVG or PNG)",
            Self::Everything => "Everything (JSON)",
        }
    }

    /// What it is called in the terminal.
    pub fn key(self) -> &'static str {
        match self {
            Self::ConfusionTable => "confusion",
            Self::GroupTable => "votes",
            Self::CurveTable => "accuracy",
            Self::PredictionTable => "predictions",
            Self::ConfusionFigure => "confusion-figure",
            Self::CurveFigure => "accuracy-figure",
            Self::Everything => "everything",
        }
    }

    /// A name for its file.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::ConfusionTable => "confusion.csv",
            Self::GroupTable => "votes.csv",
            Self::CurveTable => "accuracy.csv",
            Self::PredictionTable => "predictions.csv",
            Self::ConfusionFigure => "confusion.svg",
            Self::CurveFigure => "accuracy.svg",
            Self::Everything => "result.json",
        }
    }

    /// Whether a file's name fits the content.
    pub fn check_ending(self, path: &Path) -> Result<(), ExportError> {
        let ending = ending_of(path);
        match self.endings().contains(&ending.as_str()) {
            true => Ok(()),
            false => Err(ExportError::Ending {
                expected: self.endings().join(" or ."),
                path: path.to_owned(),
            }),
        }
    }

    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::ConfusionTable | Self::GroupTable | Self::CurveTable | Self::PredictionTable => {
                &["csv"]
            }
            Self::ConfusionFigure | Self::CurveFigure => &["svg", "png"],
            Self::Everything => &["json"],
        }
    }
}

/// What is to be written: ready, or still to be drawn as a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Exported {
    /// The bytes of the file.
    Bytes(Vec<u8>),
    /// A figure that was asked for as PNG.
    Picture(Figure),
}

/// Why nothing was exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The ending of the file does not fit its content.
    #[error("the file must end in .{expected}, but is {}", path.display())]
    Ending {
        /// The endings that fit.
        expected: String,
        /// The file asked for.
        path: PathBuf,
    },
    /// The recording cannot be written in this format.
    #[error("the recording cannot be written as EDF+: {source}: {}", path.display())]
    Recording {
        /// The file asked for.
        path: PathBuf,
        /// What the format cannot hold.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the file: {source}: {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The content for a file; the ending of `path` decides between SVG and PNG.
pub fn export(
    result: &RunResult<'_>,
    content: ExportContent,
    path: &Path,
) -> Result<Exported, ExportError> {
    content.check_ending(path)?;
    let figure = match content {
        ExportContent::ConfusionTable => return Ok(text(tables::confusion(result))),
        ExportContent::GroupTable => return Ok(text(tables::groups(result))),
        ExportContent::CurveTable => return Ok(text(tables::curve(result))),
        ExportContent::PredictionTable => return Ok(text(result.predictions.to_csv())),
        ExportContent::Everything => return Ok(text(format!("{:#}\n", result.everything()))),
        ExportContent::ConfusionFigure => matrix::figure(result),
        ExportContent::CurveFigure => {
            let series = vec![Series::of_curve("this run", &result.summary.curve, 0)];
            Chart::over_batches(&matrix::title(result), "mini-batches", series).figure()
        }
    };
    Ok(match ending_of(path).as_str() {
        "png" => Exported::Picture(figure),
        _ => text(figure.to_svg()),
    })
}

/// The ending of a file's name in lower case.
fn ending_of(path: &Path) -> String {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.unwrap_or("").to_lowercase()
}

fn text(text: String) -> Exported {
    Exported::Bytes(text.into_bytes())
}

/// Writes a file and makes sure that it has arrived: afterwards it has the old content or all of the new.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    let fill = |file: &Path| {
        let mut file = File::create(file)?;
        file.write_all(bytes)?;
        // Devices and pipes cannot be synchronised.
        match file.metadata()?.is_file() {
            true => file.sync_all(),
            false => Ok(()),
        }
    };
    let written = match stage_for(path) {
        Some((staged, target)) => fill(&staged)
            .and_then(|()| match std::fs::metadata(&target) {
                Ok(replaced) => std::fs::set_permissions(&staged, replaced.permissions()),
                Err(_) => Ok(()),
            })
            .and_then(|()| std::fs::rename(&staged, &target))
            .inspect_err(|_| std::fs::remove_file(&staged).unwrap_or_default()),
        None => fill(path),
    };
    written.map_err(|source| ExportError::Write {
        path: path.to_owned(),
        source,
    })
}

/// A name beside the file to write to first, and the file that links lead to; none where something other than a file
/// has the name, or the folder takes no new file.
fn stage_for(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.exists() && !target.is_file() {
        return None;
    }
    let name = target.file_name()?.to_string_lossy();
    let staged = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let takes_files = File::create(&staged).is_ok();
    takes_files.then_some((staged, target))
}

/// Writes several files, named in the folder, which is made if need be.
pub fn write_all(folder: &Path, files: &[(String, String)]) -> Result<(), ExportError> {
    std::fs::create_dir_all(folder).map_err(|source| ExportError::Write {
        path: folder.to_owned(),
        source,
    })?;
    for (name, content) in files {
        write(&folder.join(name), content.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
