//! The decisions on the segments of recordings as rows of a table.

use std::path::Path;

use super::tables::table;
use crate::dataset::Place;
use crate::evaluation::{Assurance, Verdict};
use crate::experiment::Ribbon;

/// The names of the columns.
pub fn segment_head(class_names: &[String]) -> Vec<String> {
    let fixed = [
        "file",
        "start_s",
        "duration_s",
        "row",
        "class",
        "margin",
        "runner_up",
        "set",
        "fit_p",
    ];
    let residuals = class_names.iter().map(|name| format!("residual {name}"));
    fixed
        .into_iter()
        .map(str::to_owned)
        .chain(residuals)
        .collect()
}

/// The row of one segment.
pub fn segment_row(
    source: &Path,
    place: Place,
    verdict: &Verdict,
    assurance: Option<&Assurance>,
    residual_shares: &[f64],
    class_names: &[String],
) -> Vec<String> {
    let name = |class: usize| class_names.get(class).cloned().unwrap_or_default();
    let (start, duration, row) = match place {
        Place::Window {
            start_s,
            duration_s,
        } => (start_s.to_string(), duration_s.to_string(), String::new()),
        Place::Row(row) => (String::new(), String::new(), (row + 1).to_string()),
    };
    let mut cells = vec![
        source.display().to_string(),
        start,
        duration,
        row,
        name(verdict.class),
        verdict.margin.to_string(),
        name(verdict.runner_up),
        assurance.map_or(String::new(), |found| {
            let set = found.set().into_iter().map(name);
            set.collect::<Vec<String>>().join("|")
        }),
        assurance.map_or(String::new(), |found| found.fit_p.to_string()),
    ];
    cells.extend(residual_shares.iter().map(f64::to_string));
    cells
}

/// All segments of a recording as CSV.
pub(super) fn ribbon_table(source: &Path, ribbon: &Ribbon) -> String {
    let rows = ribbon.segments.iter().map(|segment| {
        let place = Place::Window {
            start_s: segment.start_s,
            duration_s: segment.duration_s,
        };
        segment_row(
            source,
            place,
            &segment.verdict,
            segment.assurance.as_ref(),
            &segment.residual_shares,
            &ribbon.class_names,
        )
    });
    table(segment_head(&ribbon.class_names), rows)
}
