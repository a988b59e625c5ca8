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
    /// The line.
    pub line: String,
}

impl Workbench {
    /// The lines that repeat run, exports, comparison, sweep and reports. Those of the session are there once it
    /// is saved as it is, since a line names its file.
    pub fn command_lines(&self) -> Vec<CommandLine> {
        let saved = self.document.path().filter(|_| !self.is_unsaved());
        let mut lines = Vec::new();
        if let Some(session) = saved {
            lines.extend(self.run_lines(session));
            lines.extend(self.comparison_line(session));
        }
        lines.extend(self.sweep_line());
        lines.extend(self.recording_lines(saved));
        lines.extend(self.fault_lines());
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
        // A comparison trains from the beginning, and a file keeps the settings that its run began with:
        // a line would not repeat what was compared where settings were changed by hand on the way.
        let by_rule = self.document.draft.experiment.on_alarm.is_some();
        let run = self.training().run();
        if run.is_some_and(|run| !run.changes.is_empty() && !by_rule) {
            return None;
        }
        let stage = self.comparison();
        let files = stage.ticked_files(session)?;
        let files: Vec<String> = files.into_iter().map(|file| quoted(file).into()).collect();
        let (data, seeds) = (self.data_arguments(), stage.n_seeds());
        let compare = format!(
            "atomscope compare {} --seeds {seeds}{data} --html comparison.html",
            files.join(" ")
        );
        Some(line("Comparison, with its report", compare))
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
        let classify = format!("atomscope classify {} {}", quoted(model), quoted(path));
        vec![
            line(
                "Decisions on the recording (CSV)",
                format!("{classify} --csv segments.csv"),
            ),
            line(
                "Report of the recording",
                format!("{classify} --report report.html"),
            ),
        ]
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
            let analyse = format!(
                "atomscope analyse {}{} --report fault-report.html",
                files.join(" "),
                self.line_option()
            );
            lines.push(line("Report of the event", analyse));
        }
        if let Some(ListedRecords::Folder(folder)) = fault.list().map(|list| &list.from) {
            let analyse = format!("atomscope analyse {} --csv list.csv", quoted(folder));
            lines.push(line("List of fault records (CSV)", analyse));
        }
        lines
    }

    /// The line that distances are of, as the option of a command; nothing for the example.
    fn line_option(&self) -> String {
        let fault = self.explore().fault();
        let (Some(record), Some(view)) = (fault.record(), fault.view()) else {
            return String::new();
        };
        let line = (!view.line.is_example()).then(|| view.named_line(&record.station));
        let text = line.and_then(|line| ron::to_string(&line).ok());
        text.map_or(String::new(), |text| {
            format!(" --line {}", quoted(Path::new(&text)))
        })
    }
}

fn line(name: &'static str, line: String) -> CommandLine {
    CommandLine { name, line }
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
