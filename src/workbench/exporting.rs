//! Results taken out of the window into files, in the background.

use std::path::PathBuf;

use super::{Asked, Gravity, Workbench, start_job};
use crate::export::{ExportContent, Exported, Figure, RunResult, export, write};

/// Draws a figure as the bytes of a PNG; the window knows how.
pub type DrawFigure = fn(&Figure) -> Result<Vec<u8>, String>;

impl Workbench {
    /// Writes a part of the result of the run to a file.
    pub(super) fn export(&mut self, content: ExportContent, path: PathBuf, draw: DrawFigure) {
        let Some((run, summary)) = self
            .training
            .run()
            .and_then(|run| Some((run, run.summary.clone()?)))
        else {
            let text = "There is nothing to export: no fold is complete";
            self.notices.post(Gravity::Note, text);
            return;
        };
        let made = self.split.made();
        let of_run = made.filter(|made| made.split.test_folds() == run.test_folds);
        let findings = of_run.map_or(Vec::new(), |made| made.audit.findings.clone());
        let (session, n_folds) = (self.name(), run.n_folds());
        let (experiment, facts) = (run.experiment.clone(), run.facts.clone());
        let wall_s = Some(run.worked.as_secs_f64());
        self.exported = Asked {
            job: Some(start_job(&self.wake, "export", move |_| {
                let result = RunResult {
                    session: &session,
                    experiment: &experiment,
                    facts: &facts,
                    n_folds,
                    findings: &findings,
                    summary: &summary,
                    wall_s,
                };
                let exported = export(&result, content, &path).map_err(|e| e.to_string())?;
                let bytes = match exported {
                    Exported::Bytes(bytes) => bytes,
                    Exported::Picture(figure) => draw(&figure)?,
                };
                write(&path, &bytes).map_err(|error| error.to_string())?;
                Ok(path)
            })),
            shown: None,
        };
        self.view.ask = None;
    }

    pub(super) fn poll_export(&mut self) {
        if let Some(message) = self.exported.poll() {
            self.notices.post(Gravity::Error, message);
        }
        if let Some(path) = self.exported.shown.take() {
            let text = format!("Exported to {}", path.display());
            self.notices.post(Gravity::Done, text);
        }
    }
}
