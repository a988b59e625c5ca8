//! The file of reports: one recording or several, as a page with a part for each or as one table of segments.

use std::path::Path;

use super::fault_report::FaultReport;
use super::html::{Cell, Page};
use super::report::{RecordingReport, vote_text};
use super::segments::ribbon_table;
use super::{ExportError, ending_of};

/// What a report says about one recording.
#[derive(Debug)]
struct ReportPart {
    name: String,
    /// What was decided, in a sentence.
    summary: String,
    page: Page,
}

/// Reports that go to one file.
#[derive(Debug)]
pub struct ReportFile {
    is_table: bool,
    parts: Vec<ReportPart>,
    table: String,
}

impl ReportFile {
    /// An empty file; its ending tells its form: .html is a page, .csv a table.
    pub fn for_path(path: &Path) -> Result<Self, ExportError> {
        let is_table = match ending_of(path).as_str() {
            "html" | "htm" => false,
            "csv" => true,
            _ => {
                return Err(ExportError::Ending {
                    expected: "html or .csv".to_owned(),
                    path: path.to_owned(),
                });
            }
        };
        Ok(Self {
            is_table,
            parts: Vec::new(),
            table: String::new(),
        })
    }

    /// Whether it is a table of segments, which has no place for the report of a fault.
    pub fn is_table(&self) -> bool {
        self.is_table
    }

    /// Adds the report of a recording.
    pub fn add_recording(&mut self, report: &RecordingReport<'_>) {
        if self.is_table {
            let table = ribbon_table(Path::new(report.name), report.ribbon);
            let n_skipped = match self.table.is_empty() {
                true => 0,
                // The head is that of the first.
                false => table.find('\n').map_or(0, |end| end + 1),
            };
            self.table.push_str(&table[n_skipped..]);
            return;
        }
        self.parts.push(ReportPart {
            name: report.name.to_owned(),
            summary: vote_text(report.ribbon),
            page: report.page(),
        });
    }

    /// Adds the report of a fault record to a page.
    pub fn add_fault(&mut self, name: &str, report: &FaultReport<'_>) {
        self.parts.push(ReportPart {
            name: name.to_owned(),
            summary: report.summary(),
            page: report.contents(),
        });
    }

    /// Adds a recording that could not be decided about, with the reason, to a page.
    pub fn add_failure(&mut self, name: &str, reason: &str) {
        let mut page = Page::default();
        page.title(name);
        page.mind(reason);
        self.parts.push(ReportPart {
            name: name.to_owned(),
            summary: "no decision".to_owned(),
            page,
        });
    }

    /// The bytes of the file.
    pub fn finish(self) -> Vec<u8> {
        if self.is_table {
            return self.table.into_bytes();
        }
        if let [only] = self.parts.as_slice() {
            let mut page = Page::default();
            page.part("recording-1", &only.page);
            return page.finish(&only.name).into_bytes();
        }
        let title = format!("Report of {} recordings", self.parts.len());
        let mut page = Page::default();
        page.title(&title);
        let decisions = self.parts.iter();
        let decisions =
            decisions.map(|part| vec![Cell::text(&part.name), Cell::text(&part.summary)]);
        page.table(&["recording", "decision"], &decisions.collect::<Vec<_>>());
        for (number, part) in (1..).zip(&self.parts) {
            page.link(&format!("recording-{number}"), &part.name);
        }
        for (number, part) in (1..).zip(&self.parts) {
            page.part(&format!("recording-{number}"), &part.page);
        }
        page.finish(&title).into_bytes()
    }
}
