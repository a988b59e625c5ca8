//! Terminal lines that repeat what the window did, to be copied.

use std::borrow::Cow;
use std::path::Path;

use super::Workbench;

/// A line of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// What it repeats.
    pub name: &'static str,
    /// The line.
    pub line: String,
}

impl Workbench {
    /// The lines that repeat the run and its exports; none before the session is saved as it is, since
    /// a line names the file.
    pub fn command_lines(&self) -> Vec<CommandLine> {
        let Some(path) = self.document.path().filter(|_| !self.is_unsaved()) else {
            return Vec::new();
        };
        let session = quoted(path);
        let folders = &self.document.located;
        let data: String = match self.document.draft.experiment.data.files().is_empty() {
            true => String::new(),
            false => folders
                .iter()
                .map(|folder| format!(" --data {}", quoted(folder)))
                .collect(),
        };
        let run = |more: &str| format!("atomscope run {session}{data}{more}");
        let line = |name, line| CommandLine { name, line };
        let mut lines = vec![
            line("Run", run("")),
            line("Run, predictions as CSV", run(" --csv predictions.csv")),
            line(
                "Run, everything as JSON",
                run(" --decisions --json result.json"),
            ),
            line("Run, final model saved", run(" --save trained.ron")),
        ];
        let has_final = self.document.session.run.as_ref();
        if has_final.is_some_and(|run| run.final_model().is_some()) {
            let module = format!("atomscope export-model {session} --python model.py");
            lines.push(line("Model for Python", module));
            let classify = format!(
                "atomscope classify {session} RECORDING --csv segments.csv --report report.html"
            );
            lines.push(line("Classify a recording, with a report", classify));
        }
        lines
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
