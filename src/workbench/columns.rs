//! What a table or a file of arrays offers to choose from, looked at before it is loaded.

use std::path::{Path, PathBuf};

use atomscope_engine::dataset::{ArrayChoice, TableChoice, is_feature};
use atomscope_engine::records::catalog::Folder;
use atomscope_engine::records::{Mode, open};
use atomscope_engine::session::DataPlaces;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
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
    pub columns: Vec<TableColumn>,
    /// Names and shapes of arrays.
    pub arrays: Vec<(String, Vec<usize>)>,
    /// Columns whose numbers can be read in two ways.
    pub undecided: Vec<String>,
    /// The likely meaning of the columns.
    pub table: Option<TableChoice>,
    /// The likely meaning of the arrays.
    pub meaning: Option<ArrayChoice>,
}

impl ColumnPreview {
    /// Looks into the first file that is named.
    pub(super) fn of(paths: &[PathBuf], mode: Mode, places: &DataPlaces) -> Result<Self, String> {
        let named = paths.first().ok_or("no file is named")?;
        let not_found = || format!("{} is not found", named.display());
        let real = places.locate(named).ok_or_else(not_found)?;
        let file = match real.is_dir() {
            true => first_file(&real)?,
            false => real,
        };
        let record = open(&file, mode).map_err(|error| error.to_string())?;
        let columns = record.channels.iter().map(|channel| TableColumn {
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
            table: TableChoice::guess(&record),
            meaning: ArrayChoice::guess(&record),
            file,
        })
    }
}

fn first_file(folder: &Path) -> Result<PathBuf, String> {
    let found = Folder::scan(folder).map_err(|error| error.to_string())?;
    let first = found.files.first();
    let empty = || format!("{} holds no file that can be read", folder.display());
    first.map(|file| folder.join(file)).ok_or_else(empty)
}
