//! The list of a folder's fault records: analysed in the background, put in order, searched, grouped by event.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::judging::Judges;
use crate::workbench::TaskError;
use crate::workbench::records::LoadedData;
use crate::workbench::signal::record_of;
use atomscope_engine::dataset::DataSettings;
use atomscope_engine::evaluation::Assurance;
use atomscope_engine::experiment::{JobProgress, JudgeOptions, Part, TrainedModel};
use atomscope_engine::features::FeatureRecipe;
use atomscope_engine::features::fault::FaultRecipe;
use atomscope_engine::protection::inbox::{InboxRow, ModelDecision, group_by_event};
use atomscope_engine::protection::{FaultAnalysis, FaultSummary, Line};
use atomscope_engine::records::catalog::Folder;
use atomscope_engine::records::{Kind, Mode, Record, open};
use atomscope_engine::session::{RecordingNotes, fault_choice};

/// Where the records of a list come from.
#[derive(Clone, Debug)]
pub enum ListedRecords {
    /// The records of the session.
    Data(Arc<LoadedData>),
    /// A folder.
    Folder(PathBuf),
}

impl ListedRecords {
    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Self::Data(_) => "records of the session".to_owned(),
            Self::Folder(path) => path.display().to_string(),
        }
    }
}

/// A column that the list can be put in order by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListColumn {
    /// Number of the event.
    #[default]
    Event,
    /// Name of the record.
    Record,
    /// Station and recorder.
    Station,
    /// Moment of the inception.
    Time,
    /// Type by the rule.
    Type,
    /// Faulted phases.
    Phases,
    /// Length of the fault.
    Duration,
    /// Distance as a share of the line.
    Distance,
    /// Largest current.
    Peak,
    /// Class by the model.
    Class,
    /// Its margin.
    Margin,
    /// How well the record fits the model.
    Fit,
}

impl ListColumn {
    /// All columns with their heads, in order.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Event, "Event"),
        (Self::Record, "Record"),
        (Self::Station, "Station"),
        (Self::Time, "Inception"),
        (Self::Type, "Type"),
        (Self::Phases, "Phases"),
        (Self::Duration, "Duration"),
        (Self::Distance, "Distance"),
        (Self::Peak, "Peak current"),
        (Self::Class, "Model"),
        (Self::Margin, "Margin"),
        (Self::Fit, "Fit p"),
    ];

    /// What stands in a row; nothing where it is not known.
    pub fn text(self, row: &InboxRow) -> String {
        let number = |value: Option<f64>, digits: usize, unit: &str| {
            value.map_or(String::new(), |v| format!("{v:.digits$}{unit}"))
        };
        let summary = &row.summary;
        let model = row.model.as_ref();
        match self {
            Self::Event => row.event.to_string(),
            Self::Record => {
                let name = row.path.file_name().unwrap_or(row.path.as_os_str());
                name.to_string_lossy().into_owned()
            }
            Self::Station => row.station.clone(),
            // To the millisecond; the exported table has all digits.
            Self::Time => row.inception().map_or(String::new(), |time| {
                let text = time.to_string().replacen('T', " ", 1);
                text.chars().take("2000-01-01 00:00:00.000".len()).collect()
            }),
            Self::Type => summary.type_rule.unwrap_or("no verdict").to_owned(),
            Self::Phases => summary.phases.clone().unwrap_or_default(),
            Self::Duration => number(row.duration_s().map(|s| s * 1e3), 1, " ms"),
            Self::Distance => number(row.distance().map(|d| d.value), 3, ""),
            Self::Peak => match row.peak_current_a {
                Some(a) if a < 1e3 => number(Some(a), 1, " A"),
                peak => number(peak.map(|a| a / 1e3), 3, " kA"),
            },
            Self::Class => model.map_or(String::new(), |model| match model.is_uncertain {
                Some(true) => format!("{}, uncertain", model.class),
                _ => model.class.clone(),
            }),
            Self::Margin => number(model.map(|model| model.margin), 3, ""),
            Self::Fit => number(model.and_then(|model| model.fit_p), 3, ""),
        }
    }

    /// What numbers are put in order by; other columns by their text.
    fn number(self, row: &InboxRow) -> Option<f64> {
        let model = row.model.as_ref();
        match self {
            Self::Event => Some(row.event as f64),
            Self::Duration => row.duration_s(),
            Self::Distance => row.distance().map(|d| d.value),
            Self::Peak => row.peak_current_a,
            Self::Margin => model.map(|model| model.margin),
            Self::Fit => model.and_then(|model| model.fit_p),
            Self::Record | Self::Station | Self::Time | Self::Type | Self::Phases | Self::Class => {
                None
            }
        }
    }
}

/// How the list is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListView {
    /// Only rows that contain this text somewhere.
    pub search: String,
    /// The column that gives the order.
    pub by: ListColumn,
    /// Whether the largest comes first.
    pub is_falling: bool,
}

/// The records of a folder or of the session.
#[derive(Clone, Debug)]
pub struct FaultList {
    /// Where they come from.
    pub from: ListedRecords,
    /// One row per record.
    pub rows: Vec<InboxRow>,
    /// Files that could not be read, with the reason.
    pub unread: Vec<String>,
}

impl FaultList {
    /// Places of the rows that are shown, in order.
    pub fn shown(&self, view: &ListView) -> Vec<usize> {
        let search = view.search.trim().to_lowercase();
        let is_match = |row: &InboxRow| {
            let mut texts = ListColumn::ALL.iter().map(|(column, _)| column.text(row));
            search.is_empty() || texts.any(|text| text.to_lowercase().contains(&search))
        };
        let rows = self.rows.iter().enumerate();
        let mut shown: Vec<usize> = rows
            .filter(|(_, row)| is_match(row))
            .map(|(place, _)| place)
            .collect();
        shown.sort_by(|a, b| {
            let (a, b) = (&self.rows[*a], &self.rows[*b]);
            let order = match (view.by.number(a), view.by.number(b)) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                (a, b) if a.is_some() || b.is_some() => a.is_none().cmp(&b.is_none()),
                _ => view.by.text(a).cmp(&view.by.text(b)),
            };
            if view.is_falling {
                order.reverse()
            } else {
                order
            }
        });
        shown
    }

    /// The place of a row of the session's records among the sources.
    pub fn source_of(&self, row: &InboxRow) -> Option<usize> {
        match &self.from {
            ListedRecords::Data(loaded) => {
                let name = row.path.to_string_lossy();
                loaded.records.iter().position(|record| record.name == name)
            }
            ListedRecords::Folder(_) => None,
        }
    }
}

/// The model that judges the records of a list.
pub(super) struct ListJudge {
    model: Arc<TrainedModel>,
    options: JudgeOptions,
    data: DataSettings,
    recipe: FaultRecipe,
    class_names: Vec<String>,
    feature_names: Vec<String>,
}

impl ListJudge {
    /// The final model of a run on fault records, else that of its first complete part.
    pub(super) fn of(judges: Judges) -> Option<Self> {
        let is_final = |(part, _): &&(Part, Arc<TrainedModel>)| *part == Part::Final;
        let parts = &judges.parts;
        let (_, model) = parts.iter().find(is_final).or(parts.first())?;
        let Some(FeatureRecipe::Fault(recipe)) = &judges.data.recipe else {
            return None;
        };
        Some(Self {
            model: model.clone(),
            options: judges.options(),
            recipe: recipe.clone(),
            class_names: judges.facts.class_names.clone(),
            feature_names: judges.facts.feature_names.clone(),
            data: judges.data,
        })
    }

    fn decide(&self, record: &Record, recipe: FaultRecipe) -> Option<ModelDecision> {
        let data = DataSettings {
            recipe: Some(FeatureRecipe::Fault(recipe)),
            ..self.data.clone()
        };
        let mut keep_going = |_: f64| true;
        let built = data.sample_unlabelled(record, &self.feature_names, &mut keep_going);
        let dataset = built.ok()?.dataset;
        let judged = self.model.judge(&dataset, &self.options, &mut keep_going);
        let judged = judged.ok()?;
        let first = judged.first()?;
        Some(ModelDecision {
            class: self.class_names.get(first.verdict.class)?.clone(),
            margin: first.verdict.margin,
            is_uncertain: first.assurance.as_ref().map(Assurance::is_uncertain),
            fit_p: first.assurance.as_ref().map(|assured| assured.fit_p),
        })
    }
}

/// Reads and analyses all records, as the user has chosen for each.
pub(super) fn list_records(
    from: ListedRecords,
    (notes, lines): (&[RecordingNotes], &[Line]),
    judge: Option<&ListJudge>,
    progress: &JobProgress,
) -> Result<FaultList, TaskError> {
    type Open<'a> = Box<dyn Fn() -> Result<(String, Record), TaskError> + 'a>;
    let records: Vec<Open<'_>> = match &from {
        ListedRecords::Data(loaded) => (0..loaded.records.len())
            .map(|place| Box::new(move || record_of(loaded, place)) as Open<'_>)
            .collect(),
        ListedRecords::Folder(folder) => Folder::scan(folder)?
            .fault_records()
            .into_iter()
            .map(|path| Box::new(move || listed(&path)) as Open<'_>)
            .collect(),
    };
    let n_records = records.len();
    let (mut rows, mut unread) = (Vec::new(), Vec::new());
    for (place, open_record) in records.into_iter().enumerate() {
        if !progress.go_on(place as f64 / n_records as f64) {
            return Err(TaskError::Cancelled);
        }
        let opened = open_record();
        match opened {
            Ok((name, record)) if record.kind == Kind::FaultRecord => {
                rows.push(row_of(name, &record, (notes, lines), judge));
            }
            Ok((name, record)) => unread.push(format!("{name} is a {}", record.kind)),
            Err(error) => unread.push(error.to_string()),
        }
    }
    group_by_event(&mut rows);
    Ok(FaultList { from, rows, unread })
}

fn listed(path: &Path) -> Result<(String, Record), TaskError> {
    let record = open(path, Mode::Tolerant)?;
    Ok((path.display().to_string(), record))
}

fn row_of(
    name: String,
    record: &Record,
    (notes, lines): (&[RecordingNotes], &[Line]),
    judge: Option<&ListJudge>,
) -> InboxRow {
    let station = record.grid.as_ref().map_or("", |grid| &grid.station);
    let choice = fault_choice(notes, &name, station);
    let recipe = choice.applied_to(&FaultRecipe::default());
    let analysis = FaultAnalysis::of(record, &recipe);
    let summary = match &analysis {
        Ok(analysis) => {
            let line = choice.line.as_ref();
            let line = line.or_else(|| Line::of_station(lines, station));
            FaultSummary::of_analysis(analysis, line)
        }
        Err(error) => FaultSummary::without(error),
    };
    let mut row = InboxRow::new(name.into(), record, summary, analysis.as_ref().ok());
    row.model = judge.and_then(|judge| judge.decide(record, choice.applied_to(&judge.recipe)));
    if let (Some(model), Ok(analysis)) = (&mut row.model, &analysis)
        && analysis.doubts(&model.class)
    {
        model.is_uncertain = model.is_uncertain.map(|_| true);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use atomscope_engine::protection::inbox::ModelDecision;

    fn row(name: &str, peak: Option<f64>, class: &str) -> InboxRow {
        InboxRow {
            path: name.into(),
            station: "Süd".to_owned(),
            start: None,
            summary: FaultSummary::default(),
            peak_current_a: peak,
            model: Some(ModelDecision {
                class: class.to_owned(),
                margin: 1.0,
                is_uncertain: None,
                fit_p: None,
            }),
            event: 1,
        }
    }

    #[test]
    fn rows_are_searched_and_put_in_order_by_number_or_text() {
        let list = FaultList {
            from: ListedRecords::Folder("records".into()),
            rows: vec![
                row("b.cfg", Some(10_000.0), "LL"),
                row("a.cfg", Some(9_000.0), "SLG"),
                row("c.cfg", None, "SLG"),
            ],
            unread: Vec::new(),
        };
        let shown = |search: &str, by: ListColumn, is_falling: bool| {
            let search = search.to_owned();
            list.shown(&ListView {
                search,
                by,
                is_falling,
            })
        };
        assert_eq!(shown("", ListColumn::Record, false), [1, 0, 2]);
        assert_eq!(shown("", ListColumn::Peak, false), [1, 0, 2]);
        assert_eq!(shown("slg", ListColumn::Record, true), [2, 1]);
        assert_eq!(shown("süd", ListColumn::Class, false), [0, 1, 2]);
        assert!(shown("nothing", ListColumn::Event, false).is_empty());
    }
}
