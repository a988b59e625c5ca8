//! Terminal lines that repeat what the window did, to be copied.

use std::borrow::Cow;
use std::path::Path;

use super::Workbench;
use super::explore::{ListedRecords, ModelChoice};
use atomscope_engine::export::ExportContent;

/// A line of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// What it repeats.
    pub name: &'static str,
    /// The line, or why there is none.
    pub line: Result<String, &'static str>,
}

impl Workbench {
    /// The lines that repeat run, exports, comparison, sweep, reports and stream. Those of the session are there once
    /// it is saved as it is, since a line names its file.
    pub fn command_lines(&self) -> Vec<CommandLine> {
        let saved = self.document.path().filter(|_| !self.is_unsaved());
        let mut lines = match saved {
            Some(session) => self.run_lines(session),
            None => vec![CommandLine {
                name: "Run",
                line: Err("Save the session first: a line of the terminal names its file"),
            }],
        };
        lines.extend(saved.and_then(|session| self.comparison_line(session)));
        lines.extend(self.sweep_line());
        lines.extend(self.reproduction_line());
        lines.extend(self.recording_lines(saved));
        lines.extend(self.fault_lines());
        lines.extend(self.stream_line(saved));
        lines
    }

    /// Folders with data that were given by hand.
    fn data_arguments(&self) -> String {
        let folders = self.document.located.iter();
        folders
            .map(|folder| format!(" --data {}", quoted(folder)))
            .collect()
    }

    fn run_lines(&self, session: &Path) -> Vec<CommandLine> {
        let data = match self.document.draft.experiment.data.files().is_empty() {
            true => String::new(),
            false => self.data_arguments(),
        };
        let run = |more: &str| format!("atomscope run {}{data}{more}", quoted(session));
        let mut lines = vec![
            line("Run", run("")),
            line("Run, final model saved", run(" --save trained.ron")),
        ];
        lines.extend(ExportContent::ALL.map(|content| {
            let (key, file) = (content.key(), content.file_name());
            line(content.name(), run(&format!(" --export {key}={file}")))
        }));
        if self.has_final_model() {
            let module = format!(
                "atomscope export-model {} --python model.py",
                quoted(session)
            );
            lines.push(line("Model for Python", module));
        }
        lines
    }

    fn has_final_model(&self) -> bool {
        let run = self.document.session.run.as_ref();
        run.is_some_and(|run| run.final_model().is_some())
    }

    fn comparison_line(&self, session: &Path) -> Option<CommandLine> {
        let stage = self.comparison();
        if stage.contenders().iter().filter(|c| c.is_ticked).count() < 2 {
            return None;
        }
        // A comparison trains from the beginning, and a file keeps the settings that its run began with.
        let by_rule = self.document.draft.experiment.on_alarm.is_some();
        let run = self.training().run();
        let files = match run.is_some_and(|run| !run.changes.is_empty() && !by_rule) {
            true => Err("Settings were changed while the run trained, which no line repeats"),
            false => stage.ticked_files(session),
        };
        let (data, seeds) = (self.data_arguments(), stage.n_seeds());
        let line = files.map(|files| {
            let files: Vec<String> = files.into_iter().map(|file| quoted(file).into()).collect();
            format!(
                "atomscope compare {} --seeds {seeds}{data} --html comparison.html",
                files.join(" ")
            )
        });
        let name = "Comparison, with its report";
        Some(CommandLine { name, line })
    }

    fn sweep_line(&self) -> Option<CommandLine> {
        let folder = self.comparison().sweep().results()?.folder.as_path();
        let data = self.data_arguments();
        let sweep = format!(
            "atomscope sweep {} --out {}{data}",
            quoted(&folder.join("sweep.ron")),
            quoted(folder)
        );
        Some(line("Sweep", sweep))
    }

    fn reproduction_line(&self) -> Option<CommandLine> {
        let folder = self.comparison().reproduced()?;
        let data = self.data_arguments();
        let reproduce = format!("atomscope reproduce{data} --out {}", quoted(folder));
        Some(line("Repetition of the paper", reproduce))
    }

    /// What the model says of the recording that is open.
    fn recording_lines(&self, saved: Option<&Path>) -> Vec<CommandLine> {
        let own = saved.filter(|_| self.has_final_model());
        let model = match self.judging_model() {
            Some(ModelChoice::Other) => self.explore().ribbon().other_session(),
            _ => own,
        };
        let opened = self.explore().opened();
        let Some((model, opened)) = model.zip(opened) else {
            return Vec::new();
        };
        let path = &opened.record.source.path;
        if path.as_os_str().is_empty() {
            return Vec::new();
        }
        // The terminal knows no folds.
        let (decisions, report) = match self.judging_model() {
            Some(ModelChoice::HeldOut | ModelChoice::Fold(_)) => (
                "Decisions of the final model on the recording (CSV)",
                "Report of the recording, by the final model",
            ),
            _ => (
                "Decisions on the recording (CSV)",
                "Report of the recording",
            ),
        };
        let classify = format!("atomscope classify {} {}", quoted(model), quoted(path));
        let fault = self.fault_arguments();
        vec![
            line(decisions, format!("{classify} --csv segments.csv")),
            line(report, format!("{classify} --report report.html{fault}")),
        ]
    }

    /// Line data and zones of the fault record that is open.
    fn fault_arguments(&self) -> String {
        let fault = self.explore().fault();
        let station = fault.record().map_or("", |record| &record.station);
        let line = fault.view().and_then(|view| view.reported_line(station));
        let Some(line) = line.and_then(|line| ron::to_string(&line).ok()) else {
            return String::new();
        };
        let mut arguments = format!(" --line {}", quoted(Path::new(&line)));
        let zones = fault.reported_zones();
        if let (false, Ok(zones)) = (zones.is_empty(), ron::to_string(&zones)) {
            arguments += &format!(" --zones {}", quoted(Path::new(&zones)));
        }
        arguments
    }

    /// Report of the fault record that is open, and the list of a folder.
    fn fault_lines(&self) -> Vec<CommandLine> {
        let fault = self.explore().fault();
        let ends = fault.record().into_iter().chain(fault.beside());
        let files = ends.map(|record| &record.source.source.path);
        let files: Vec<String> = files
            .filter(|path| !path.as_os_str().is_empty())
            .map(|path| quoted(path).into())
            .collect();
        let mut lines = Vec::new();
        if !files.is_empty() {
            let name = match self.explore().ribbon().judged() {
                Some(_) => "Report of the event, without a model",
                None => "Report of the event",
            };
            let analyse = format!(
                "atomscope analyse {} --report fault-report.html{}",
                files.join(" "),
                self.fault_arguments()
            );
            lines.push(line(name, analyse));
        }
        if let Some(ListedRecords::Folder(folder)) = fault.list().map(|list| &list.from) {
            let analyse = format!("atomscope analyse {} --csv list.csv", quoted(folder));
            lines.push(line("List of fault records (CSV)", analyse));
        }
        lines
    }

    /// The stream as it is filled in on the Live page; a recording comes as fast as it can be read.
    fn stream_line(&self, saved: Option<&Path>) -> Option<CommandLine> {
        let form = self.live().form();
        let own = saved.filter(|_| self.has_final_model());
        let model = form.model.as_deref().or(own)?;
        if form.place.trim().is_empty() {
            return None;
        }
        let (source, learning) = (form.source(), form.learning());
        let mut stream = format!(
            "atomscope stream {} --source {}",
            quoted(model),
            quoted(Path::new(&source))
        );
        if let Some(forgetting) = learning.and_then(|learning| learning.forgetting) {
            stream += &format!(" --learn --forget {forgetting}");
        }
        if let Some(faster) = learning.and_then(|learning| learning.on_alarm) {
            stream += &format!(" --on-alarm {}:{}", faster.factor, faster.n_batches);
        }
        Some(line("Stream", stream))
    }
}

fn line(name: &'static str, line: String) -> CommandLine {
    CommandLine {
        name,
        line: Ok(line),
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> Cow<'_, str> {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,@%:".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('-') {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_the_shell() {
        for (path, text) in [
            ("/a/b-1.ron", "/a/b-1.ron"),
            ("/a/b c.ron", "'/a/b c.ron'"),
            ("it's", r"'it'\''s'"),
            ("$HOME;rm", "'$HOME;rm'"),
            ("-x", "'-x'"),
        ] {
            assert_eq!(quoted(Path::new(path)), text);
        }
    }
}
