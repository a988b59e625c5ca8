//! A chart as a table for a screen reader: a row for every place along the axis, a cell for every series.

use std::ops::Range;

use egui::accesskit::Role;
use egui::{Rect, Response, Sense, Ui, UiBuilder, WidgetInfo};

/// Cells that one chart is told in: the whole tree is made anew in every frame.
const MOST_CELLS: usize = 1024;
/// Rows that a person listens to.
const MOST_ROWS: usize = 128;

/// What a chart shows. Where it has more places than can be told, neighbouring ones are joined and
/// a cell tells the lowest and the highest value there.
pub(in crate::ui) struct ChartTable<'a> {
    /// Places along the axis.
    pub(in crate::ui) n_places: usize,
    /// What a place is called: "batch 12".
    pub(in crate::ui) place: &'a dyn Fn(usize) -> String,
    /// The names of the series.
    pub(in crate::ui) series: &'a [&'a str],
    /// What a series shows at some neighbouring places; nothing where it has no value.
    pub(in crate::ui) cell: &'a dyn Fn(usize, Range<usize>) -> Option<String>,
}

impl ChartTable<'_> {
    /// Names a figure and hangs the table below it. Costs nothing while no screen reader listens.
    pub(in crate::ui) fn tell(&self, ui: &Ui, figure: &Response, name: &str) {
        if tell_figure(ui, figure, name) {
            self.hang_below(ui, figure);
        }
    }

    /// Hangs the table below a picture that has its name already.
    pub(super) fn hang_below(&self, ui: &Ui, figure: &Response) {
        if self.n_places == 0 || !ui.ctx().has_accesskit_node(figure.id) {
            return;
        }
        let builder = UiBuilder::new()
            .layer_id(ui.layer_id())
            .max_rect(figure.rect)
            .accessibility_parent(figure.id)
            .accessibility_role(Role::Table)
            .accessibility_label("Values");
        let mut table = Ui::new(ui.ctx().clone(), figure.id.with("table"), builder);
        let rows = self.rows();
        let size = (rows.len(), self.series.len());
        let id = table.unique_id();
        ui.ctx().accesskit_node_builder(id, |node| {
            node.set_row_count(size.0);
            node.set_column_count(size.1);
        });
        for (number, places) in rows.into_iter().enumerate() {
            self.row_ui(&mut table, number, places);
        }
    }

    /// The places of each row.
    fn rows(&self) -> Vec<Range<usize>> {
        let most = (MOST_CELLS / self.series.len().max(1)).clamp(1, MOST_ROWS);
        let n_rows = self.n_places.min(most);
        let edge = |row: usize| row * self.n_places / n_rows;
        (0..n_rows).map(|row| edge(row)..edge(row + 1)).collect()
    }

    fn row_ui(&self, table: &mut Ui, number: usize, places: Range<usize>) {
        let name = match places.len() {
            1 => (self.place)(places.start),
            _ => format!(
                "{} to {}",
                (self.place)(places.start),
                (self.place)(places.end - 1)
            ),
        };
        let builder = UiBuilder::new()
            .id_salt(number)
            .accessibility_role(Role::Row)
            .accessibility_label(name);
        let row = table.new_child(builder);
        row.ctx()
            .accesskit_node_builder(row.unique_id(), |node| node.set_row_index(number));
        for (column, name) in self.series.iter().enumerate() {
            let Some(value) = (self.cell)(column, places.clone()) else {
                continue;
            };
            let id = row.unique_id().with(column);
            // Nothing to point at: the figure itself answers the pointer.
            row.interact(Rect::NOTHING, id, Sense::hover());
            row.ctx().accesskit_node_builder(id, |node| {
                node.set_role(Role::Cell);
                node.set_label(format!("{name}: {value}"));
                node.set_column_index(column);
            });
        }
    }
}

/// Names a figure; whether somebody may hear its values.
pub(in crate::ui) fn tell_figure(ui: &Ui, figure: &Response, name: &str) -> bool {
    let enabled = ui.is_enabled();
    figure.widget_info(|| WidgetInfo::labeled(Role::Figure, enabled, name));
    ui.ctx().has_accesskit_node(figure.id)
}

/// Curves over one axis: a row for every place at which one of them has a point.
pub(in crate::ui) struct CurveTable<'a> {
    /// Name and points of each, places growing.
    pub(in crate::ui) curves: &'a [(&'a str, &'a [[f64; 2]])],
    /// Writes a place.
    pub(in crate::ui) place: &'a dyn Fn(f64) -> String,
    /// Writes a value.
    pub(in crate::ui) value: &'a dyn Fn(f64) -> String,
}

impl CurveTable<'_> {
    /// Names a figure and hangs the table below it.
    pub(in crate::ui) fn tell(&self, ui: &Ui, figure: &Response, name: &str) {
        if !tell_figure(ui, figure, name) {
            return;
        }
        let points = self.curves.iter().flat_map(|(_, points)| points.iter());
        let mut places: Vec<f64> = points.map(|point| point[0]).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let series: Vec<&str> = self.curves.iter().map(|(name, _)| *name).collect();
        let cell = |curve: usize, range: Range<usize>| {
            let (first, last) = (places[range.start], places[range.end - 1]);
            let points = self.curves[curve].1;
            let from = points.partition_point(|point| point[0] < first);
            let heights = points[from..].iter().take_while(|point| point[0] <= last);
            extent(heights.map(|point| point[1]), self.value)
        };
        ChartTable {
            n_places: places.len(),
            place: &|place| (self.place)(places[place]),
            series: &series,
            cell: &cell,
        }
        .tell(ui, figure, name);
    }
}

/// "0.2", or "0.1 to 0.3" where values differ; nothing where none is finite.
pub(in crate::ui) fn extent(
    values: impl Iterator<Item = f64>,
    write: impl Fn(f64) -> String,
) -> Option<String> {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let (from, to) = (write(low), write(high));
    match low <= high {
        true if from == to => Some(from),
        true => Some(format!("{from} to {to}")),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_in_one_row_however_many_there_are() {
        for (n_places, n_series) in [(1, 1), (60, 3), (128, 8), (129, 1), (5000, 64), (9, 4000)] {
            let series = vec!["x"; n_series];
            let table = ChartTable {
                n_places,
                place: &|place| place.to_string(),
                series: &series,
                cell: &|_, _| None,
            };
            let rows = table.rows();
            assert!(rows.len() <= MOST_ROWS);
            assert!(rows.len() == 1 || rows.len() * n_series <= MOST_CELLS);
            assert!(rows.iter().all(|row| !row.is_empty()));
            assert!(rows.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!((rows[0].start, rows[rows.len() - 1].end), (0, n_places));
        }
    }

    #[test]
    fn an_extent_tells_one_number_where_all_are_alike() {
        let write = |value: f64| value.to_string();
        assert_eq!(extent([2.0, f64::NAN].into_iter(), write), Some("2".into()));
        let two = extent([2.0, -1.0].into_iter(), write);
        assert_eq!(two, Some("-1 to 2".into()));
        assert_eq!(extent([f64::INFINITY].into_iter(), write), None);
    }
}
