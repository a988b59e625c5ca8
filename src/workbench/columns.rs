//! What a table or a file of arrays offers to choose from, looked at before it is loaded.

use std::path::{Path, PathBuf};

use super::event::Event;
use super::{Stage, TaskError, Workbench};
use atomscope_engine::dataset::{ArrayChoice, DataPlan, TableChoice, is_feature};
use atomscope_engine::records::catalog::Folder;
use atomscope_engine::records::{ReadOptions, open_with};
use atomscope_engine::session::DataPlaces;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnChoice {
    /// Its name.
    pub name: String,
    /// Whether it holds text or dates; then it can be no feature.
    pub is_text: bool,
}

/// The columns or arrays of a file, and what they likely mean.
#[derive(Clone, Debug)]
pub struct ColumnPreview {
    /// The file looked at: the first one of a folder.
    pub file: PathBuf,
    /// The columns of a table.
    pub columns: Vec<ColumnChoice>,
    /// Names and shapes of arrays.
    pub arrays: Vec<(String, Vec<usize>)>,
    /// Columns whose numbers can be read in two ways.
    pub undecided: Vec<String>,
    /// The sheets of a workbook.
    pub sheets: Vec<String>,
    /// The likely meaning of the columns.
    pub table: Option<TableChoice>,
    /// The likely meaning of the arrays.
    pub meaning: Option<ArrayChoice>,
}

impl ColumnPreview {
    /// Looks into the first file that is named.
    fn of(
        paths: &[PathBuf],
        options: &ReadOptions,
        places: &DataPlaces,
    ) -> Result<Self, TaskError> {
        let none = || TaskError::refused("no file is named");
        let named = paths.first().ok_or_else(none)?;
        let not_found = || TaskError::Refused(format!("{} is not found", named.display()));
        let real = places.locate(named).ok_or_else(not_found)?;
        let file = match real.is_dir() {
            true => first_file(&real)?,
            false => real,
        };
        let record = open_with(&file, options)?;
        let columns = record.channels.iter().map(|channel| ColumnChoice {
            name: channel.name.clone(),
            is_text: !is_feature(&channel.kind),
        });
        let arrays = record.arrays.iter();
        Ok(Self {
            columns: columns.collect(),
            arrays: arrays
                .map(|array| (array.name.clone(), array.shape.clone()))
                .collect(),
            undecided: record.undecided.clone(),
            sheets: record.sheets.clone(),
            table: TableChoice::guess(&record),
            meaning: ArrayChoice::guess(&record),
            file,
        })
    }
}

fn first_file(folder: &Path) -> Result<PathBuf, TaskError> {
    let found = Folder::scan(folder)?;
    let empty = || {
        let reason = format!("{} holds no file that can be read", folder.display());
        TaskError::Refused(reason)
    };
    found
        .files
        .first()
        .map(|file| folder.join(file))
        .ok_or_else(empty)
}

impl Workbench {
    /// Looks into the file of the draft when another one is named.
    pub(super) fn follow_columns(&mut self) {
        let (paths, options) = match &self.document.draft.experiment.data.source {
            DataPlan::Table(table) => (&table.paths, table.read_options()),
            DataPlan::Arrays(arrays) => (&arrays.paths, arrays.mode.into()),
            DataPlan::Recordings(_)
            | DataPlan::FeederFaults(_)
            | DataPlan::NetworkFaults(_)
            | DataPlan::SimulatedEeg(_)
            | DataPlan::Concepts(_) => {
                return;
            }
        };
        let columns = &mut self.tasks.columns;
        let wanted = (paths.clone(), options);
        if columns.is_wanted(&wanted) || columns.is_busy() || self.selection.page != Stage::Records
        {
            return;
        }
        let ((paths, options), places) = (wanted.clone(), self.document.places());
        let on = (&self.tasks.post, "columns", Event::Columns as _);
        columns.start(wanted, on, move |_| {
            ColumnPreview::of(&paths, &options, &places)
        });
    }
}
