//! What a table leaves doubtful at its edges: titles and notes that were read as rows, and a table without a value.

use super::super::text::{counted, quoted};
use super::column::TableColumn;

/// Fewest rows of which one can be told to be another one.
const FEWEST_ROWS: usize = 6;
/// Fewest rows for each text of a column whose texts come again.
const ROWS_PER_TEXT: usize = 3;

/// What is said of a table without a value; `None` for any other.
pub(super) fn emptiness(columns: &[TableColumn]) -> Option<String> {
    let n_rows = columns.first().map_or(0, TableColumn::len);
    let is_bare = |column: &TableColumn| (0..n_rows).all(|row| column.get(row).is_nan());
    if !columns.iter().all(is_bare) {
        return None;
    }
    Some(match n_rows {
        0 => "without a row".to_owned(),
        _ => format!("without a value in {}", counted(n_rows, "row")),
    })
}

/// The first and the last row, where nothing but one text stands in it that no other row has, although the texts of
/// its column come again: a title or note may look like that. With the position of its column, and the text quoted.
pub(super) fn lonely_rows(columns: &[TableColumn]) -> Vec<(usize, usize, String)> {
    let n_rows = columns.first().map_or(0, TableColumn::len);
    if n_rows < FEWEST_ROWS {
        return Vec::new();
    }
    let lonely = |row: usize| {
        let is_there = |column: &usize| !columns[*column].get(row).is_nan();
        let mut filled = (0..columns.len()).filter(is_there);
        let column = filled.next().filter(|_| filled.next().is_none())?;
        let TableColumn::Names { names, .. } = &columns[column] else {
            return None;
        };
        let position = columns[column].get(row);
        let is_same = |other: &usize| columns[column].get(*other) == position;
        let is_alone = (0..n_rows).filter(is_same).nth(1).is_none();
        let text = names.levels.get(position as usize)?;
        let come_again = ROWS_PER_TEXT * names.levels.len() <= n_rows;
        (is_alone && come_again).then(|| (row, column, quoted(text)))
    };
    [0, n_rows - 1].into_iter().filter_map(lonely).collect()
}
