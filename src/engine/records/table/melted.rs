//! Tables with one value in each row (long format): the rows of a sample are put together, a column for each quantity.

use std::collections::HashMap;

use super::column::{NameColumn, TableColumn};
use super::times::plain_name;

/// Column names that usually tell which quantity the value of a row is.
const QUANTITY_NAMES: [&str; 13] = [
    "variable",
    "channel",
    "feature",
    "parameter",
    "signal",
    "sensor",
    "measure",
    "quantity",
    "attribute",
    "metric",
    "electrode",
    "key",
    "name",
];
/// Column names that usually hold the value.
const VALUE_NAMES: [&str; 6] = ["value", "values", "val", "reading", "amplitude", "result"];
/// Most quantities: a table with a text in each row is something else.
const MOST_QUANTITIES: usize = 1000;

/// Columns with their names.
pub(super) type NamedColumns = (Vec<String>, Vec<TableColumn>);

/// The table with a row for each sample, and the names of the columns that told quantity and value; `None` where the
/// rows hold more than one value, or their other columns do not tell which of them belong together.
pub(super) fn put_together(
    names: &[String],
    columns: &[TableColumn],
) -> Option<(NamedColumns, [String; 2])> {
    let find = |known: &[&str], fits: &dyn Fn(&TableColumn) -> bool| {
        let mut found = (0..names.len()).filter(|&column| {
            known.contains(&plain_name(&names[column]).as_str()) && fits(&columns[column])
        });
        found.next().filter(|_| found.next().is_none())
    };
    let quantity = find(&QUANTITY_NAMES, &|column| levels(column).is_some())?;
    let value = find(&VALUE_NAMES, &|column| {
        matches!(column, TableColumn::Numbers { .. })
    })?;
    let quantities = levels(&columns[quantity])?;
    let n_rows = columns[quantity].len();
    let counts_rows = |column: usize| {
        n_rows > 2
            && (1..n_rows).all(|row| columns[column].get(row) - columns[column].get(row - 1) == 1.0)
    };
    let others: Vec<usize> = (0..names.len())
        .filter(|&column| column != quantity && column != value && !counts_rows(column))
        .collect();
    let is_new_name = |name: &String| others.iter().all(|&column| names[column] != *name);
    if !(2..=MOST_QUANTITIES).contains(&quantities.len())
        || others.is_empty()
        || !quantities.iter().all(is_new_name)
    {
        return None;
    }
    // The first row of every sample, and the row of each of its quantities.
    let mut samples: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut first_rows = Vec::new();
    let mut rows: Vec<Vec<Option<usize>>> = vec![Vec::new(); quantities.len()];
    for row in 0..n_rows {
        let key = others
            .iter()
            .map(|&column| columns[column].get(row).to_bits());
        let sample = *samples.entry(key.collect()).or_insert_with(|| {
            first_rows.push(row);
            first_rows.len() - 1
        });
        let told = columns[quantity].get(row);
        let of_quantity = rows.get_mut(told as usize).filter(|_| !told.is_nan())?;
        of_quantity.resize(of_quantity.len().max(sample + 1), None);
        if of_quantity[sample].replace(row).is_some() {
            return None;
        }
    }
    // Where most quantities of a sample are not there, something else tells which rows belong together.
    if first_rows.len() < 2 || 2 * n_rows <= first_rows.len() * quantities.len() {
        return None;
    }
    let mut wide = (Vec::new(), Vec::new());
    for (column, name) in names.iter().enumerate() {
        if others.contains(&column) {
            wide.0.push(name.clone());
            wide.1
                .push(columns[column].of_rows(first_rows.iter().copied().map(Some)));
        } else if column == value {
            for (name, rows) in quantities.iter().zip(&rows) {
                let of_samples =
                    (0..first_rows.len()).map(|sample| rows.get(sample).copied().flatten());
                wide.0.push(name.clone());
                wide.1.push(columns[value].of_rows(of_samples));
            }
        }
    }
    Some((wide, [names[quantity].clone(), names[value].clone()]))
}

fn levels(column: &TableColumn) -> Option<&[String]> {
    match column {
        TableColumn::Names {
            names:
                NameColumn {
                    levels,
                    overflowed: false,
                    ..
                },
            ..
        } => Some(levels),
        _ => None,
    }
}
