//! Results written to files in the background.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::event::Event;
use super::run_view::RunView;
use super::{TaskError, Workbench};
use atomscope_engine::experiment::RunSummary;
use atomscope_engine::export::{
    ExportContent, Exported, Figure, Predictions, RunResult, export, write,
};
use atomscope_engine::split::audit::Finding;

/// Draws a figure as PNG; only the window can.
pub type FigurePainter = fn(&Figure) -> Result<Vec<u8>, png::EncodingError>;

impl Workbench {
    /// Tells who draws figures as PNG.
    pub fn paint_figures_with(&mut self, painter: FigurePainter) {
        self.tasks.painter = Some(painter);
    }

    /// Writes a result of the run in the background.
    pub(super) fn export(&mut self, content: ExportContent, path: PathBuf) {
        self.selection.ask = None;
        let run = self.document.training.run().cloned();
        let Some((run, summary)) = run.and_then(|run| {
            let summary = run.summary.clone()?;
            Some((run, summary))
        }) else {
            return;
        };
        let findings = match (self.document.split.made(), self.stale()) {
            (Some(made), None) => made.audit.findings.clone(),
            _ => Vec::new(),
        };
        let (session, painter) = (self.name(), self.tasks.painter);
        let on = (&self.tasks.post, "exporting", Event::Exported as _);
        self.tasks.exporting.start((), on, move |_| {
            let written = Written {
                session: &session,
                run: &run,
                summary: &summary,
                findings: &findings,
            };
            written.to_file(content, &path, painter)?;
            Ok(path)
        });
    }
}

/// What is written.
struct Written<'a> {
    session: &'a str,
    run: &'a RunView,
    summary: &'a Arc<RunSummary>,
    findings: &'a [Finding],
}

impl Written<'_> {
    fn to_file(
        &self,
        content: ExportContent,
        path: &Path,
        painter: Option<FigurePainter>,
    ) -> Result<(), TaskError> {
        let result = RunResult {
            session: self.session,
            experiment: &self.run.experiment,
            changes: &self.run.changes,
            facts: &self.run.facts,
            n_folds: self.run.n_folds(),
            findings: self.findings,
            summary: self.summary,
            predictions: Predictions::of(
                &self.run.facts,
                self.run.experiment.tests.epsilon,
                self.run.records(),
            ),
            wall_s: None,
        };
        let exported = export(&result, content, path)?;
        let bytes = match (exported, painter) {
            (Exported::Bytes(bytes), _) => bytes,
            (Exported::Picture(figure), Some(paint)) => paint(&figure)?,
            (Exported::Picture(_), None) => {
                return Err(TaskError::refused("only the window draws PNG: use SVG"));
            }
        };
        Ok(write(path, &bytes)?)
    }
}
