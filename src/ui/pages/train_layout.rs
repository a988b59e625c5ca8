//! Where the panels of the Train page lie, and where one that is dragged would.

use egui::{Align2, Color32, Id, LayerId, Order, Pos2, Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use crate::ui::theme;
use crate::workbench::{Panel, Selection, Spot};

/// From this width on three columns stand beside each other; below, the last one is a row at
/// the bottom.
const THREE_COLUMNS: f32 = 1480.0;
/// Between panels of a column.
const GAP: f32 = 16.0;
/// Height of the row at the bottom.
const ROW_HEIGHT: f32 = 330.0;
/// So much of the row is seen before the page is scrolled: the heads of its panels.
const ROW_PEEK: f32 = 26.0;
/// At the edge of the page, a panel dragged there begins a column of its own.
const EDGE: f32 = 44.0;

/// A panel in its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    pub(super) panel: Panel,
    spot: Spot,
    pub(super) rect: Rect,
    is_in_row: bool,
}

/// What the sizes of panels depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Rows of the confusion matrix.
    pub(super) n_classes: usize,
    /// Size of text, 1 as usual.
    pub(super) text_scale: f32,
}

impl Room {
    /// What a panel needs: share of the width, share of the height, least height.
    fn needs(self, panel: Panel) -> (f32, f32, f32) {
        let (breadth, share, least) = match panel {
            Panel::Accuracy => (0.35, 0.36, 150.0),
            Panel::Profile => (0.35, 0.28, 130.0),
            Panel::Tune => (0.35, 0.36, 190.0),
            // Two classes need little; every row of many is to be seen.
            Panel::Confusion => {
                let n = self.n_classes as f32;
                let share = (0.14 * (n - 1.0)).clamp(0.1, 0.42);
                (0.43, share, (80.0 + 11.5 * n).clamp(170.0, 400.0))
            }
            Panel::Dictionary => (0.43, 0.58, 260.0),
            Panel::Gram => (0.22, 0.5, 240.0),
            Panel::Log => (0.22, 0.5, 160.0),
        };
        (breadth, share, least * self.text_scale)
    }
}

/// The shown panels of a column.
struct Column {
    number: usize,
    room: Room,
    panels: Vec<(usize, Panel)>,
}

impl Column {
    fn spot(&self, place: usize) -> Spot {
        Spot {
            column: self.number,
            place,
        }
    }

    fn breadth(&self) -> f32 {
        let breadths = self
            .panels
            .iter()
            .map(|(_, panel)| self.room.needs(*panel).0);
        breadths.fold(0.0, f32::max)
    }

    fn gaps(&self) -> f32 {
        GAP * self.panels.len().saturating_sub(1) as f32
    }

    fn least_height(&self) -> f32 {
        let heights = self
            .panels
            .iter()
            .map(|(_, panel)| self.room.needs(*panel).2);
        heights.sum::<f32>() + self.gaps()
    }

    /// Every panel has what it needs at least; what is left is shared.
    fn place_below_each_other(&self, rect: Rect, placed: &mut Vec<Placed>) {
        let left = rect.height() - self.least_height();
        let total: f32 = self
            .panels
            .iter()
            .map(|(_, panel)| self.room.needs(*panel).1)
            .sum();
        let mut top = rect.top();
        for (place, panel) in &self.panels {
            let (_, share, least) = self.room.needs(*panel);
            let height = least + left * share / total;
            let corner = pos2(rect.left(), top);
            placed.push(Placed {
                panel: *panel,
                spot: self.spot(*place),
                rect: Rect::from_min_size(corner, vec2(rect.width(), height)),
                is_in_row: false,
            });
            top += height + GAP;
        }
    }

    fn place_beside_each_other(&self, rect: Rect, placed: &mut Vec<Placed>) {
        let n = self.panels.len() as f32;
        let width = (rect.width() - theme::PANEL_GAP * (n - 1.0)) / n;
        for (number, (place, panel)) in self.panels.iter().enumerate() {
            let left = rect.left() + number as f32 * (width + theme::PANEL_GAP);
            let corner = pos2(left, rect.top());
            placed.push(Placed {
                panel: *panel,
                spot: self.spot(*place),
                rect: Rect::from_min_size(corner, vec2(width, rect.height())),
                is_in_row: true,
            });
        }
    }
}

/// The panels on a page that begins at `corner`, and the height that all need.
pub(super) fn place_panels(
    view: &Selection,
    room: Room,
    corner: Pos2,
    page: egui::Vec2,
) -> (Vec<Placed>, f32) {
    let is_shown = |(_, panel): &(usize, Panel)| !view.hidden.contains(panel);
    let mut columns: Vec<Column> = view
        .arrangement
        .columns()
        .iter()
        .enumerate()
        .map(|(number, panels)| Column {
            number,
            room,
            panels: panels
                .iter()
                .copied()
                .enumerate()
                .filter(is_shown)
                .collect(),
        })
        .filter(|column| !column.panels.is_empty())
        .collect();
    let row = match columns.len() {
        3.. if page.x < THREE_COLUMNS * room.text_scale => columns.pop(),
        _ => None,
    };
    let least = columns.iter().map(Column::least_height);
    let least = least.fold(0.0, f32::max);
    let peek = if row.is_some() { ROW_PEEK + GAP } else { 0.0 };
    let height = (page.y - peek).max(least);
    let mut placed = Vec::new();
    let breadth: f32 = columns.iter().map(Column::breadth).sum();
    let free = page.x - theme::PANEL_GAP * columns.len().saturating_sub(1) as f32;
    let mut left = corner.x;
    for column in &columns {
        let width = free * column.breadth() / breadth;
        let rect = Rect::from_min_size(pos2(left, corner.y), vec2(width, height));
        column.place_below_each_other(rect, &mut placed);
        left += width + theme::PANEL_GAP;
    }
    let Some(row) = row else {
        return (placed, height);
    };
    let below = pos2(corner.x, corner.y + height + GAP);
    let rect = Rect::from_min_size(below, vec2(page.x, ROW_HEIGHT));
    row.place_beside_each_other(rect, &mut placed);
    (placed, height + GAP + ROW_HEIGHT)
}

/// The spot that the pointer means, and the place to mark for it.
pub(super) fn spot_at(
    placed: &[Placed],
    view: &Selection,
    page: Rect,
    pointer: Pos2,
) -> Option<(Spot, Rect)> {
    if !page.contains(pointer) {
        return None;
    }
    let columns = view.arrangement.columns();
    let edges = [
        (
            0,
            Rect::from_min_max(page.min, pos2(page.left() + EDGE, page.bottom())),
        ),
        (
            columns.len() - 1,
            Rect::from_min_max(pos2(page.right() - EDGE, page.top()), page.max),
        ),
    ];
    for (column, edge) in edges {
        if edge.contains(pointer) && columns[column].is_empty() {
            return Some((Spot { column, place: 0 }, edge));
        }
    }
    let distance = |placed: &&Placed| placed.rect.distance_sq_to_pos(pointer);
    let near = placed
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let (rect, centre) = (near.rect, near.rect.center());
    let (is_behind, first, second) = match near.is_in_row {
        true => (
            pointer.x > centre.x,
            Rect::from_min_max(rect.min, pos2(centre.x, rect.bottom())),
            Rect::from_min_max(pos2(centre.x, rect.top()), rect.max),
        ),
        false => (
            pointer.y > centre.y,
            Rect::from_min_max(rect.min, pos2(rect.right(), centre.y)),
            Rect::from_min_max(pos2(rect.left(), centre.y), rect.max),
        ),
    };
    let spot = Spot {
        place: near.spot.place + usize::from(is_behind),
        ..near.spot
    };
    Some((spot, if is_behind { second } else { first }))
}

/// Marks where a dragged panel would come to stand, with its title at the pointer.
pub(super) fn mark_spot(ui: &Ui, title: &str, pointer: Pos2, rect: Option<Rect>) {
    let tones = theme::tones(ui);
    let layer = LayerId::new(Order::Foreground, Id::unique("dragged panel"));
    let painter = ui.ctx().layer_painter(layer);
    if let Some(rect) = rect {
        let wash: Color32 = tones.accent.gamma_multiply(0.18);
        painter.rect_filled(rect, theme::CORNER, wash);
        let stroke = Stroke::new(2.0, tones.accent);
        painter.rect_stroke(rect, theme::CORNER, stroke, StrokeKind::Inside);
    }
    let font = theme::body_font(ui);
    let at = pointer + vec2(14.0, 10.0);
    painter.text(at, Align2::LEFT_TOP, title, font, tones.strong);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room {
        n_classes: 5,
        text_scale: 1.0,
    };

    fn page(size: egui::Vec2) -> (Vec<Placed>, f32) {
        place_panels(&Selection::default(), ROOM, Pos2::ZERO, size)
    }

    #[test]
    fn every_row_of_many_classes_is_seen_and_two_classes_take_little() {
        let height = |n_classes| {
            let room = Room { n_classes, ..ROOM };
            let (placed, _) =
                place_panels(&Selection::default(), room, Pos2::ZERO, vec2(1000.0, 660.0));
            let confusion = placed.iter().find(|p| p.panel == Panel::Confusion);
            confusion.expect("it is shown").rect.height()
        };
        assert!(height(26) > 26.0 * 11.0 + 60.0, "{}", height(26));
        assert!(height(2) < height(5));
    }

    #[test]
    fn no_panel_covers_another_or_leaves_the_page() {
        for size in [
            vec2(1000.0, 620.0),
            vec2(1300.0, 300.0),
            vec2(1640.0, 900.0),
            vec2(2280.0, 1300.0),
        ] {
            let (placed, height) = page(size);
            assert_eq!(placed.len(), Panel::ALL.len());
            let all = Rect::from_min_size(Pos2::ZERO, vec2(size.x, height)).expand(0.5);
            for (number, one) in placed.iter().enumerate() {
                assert!(all.contains_rect(one.rect), "{one:?} on {size:?}");
                for other in &placed[..number] {
                    let common = one.rect.intersect(other.rect);
                    assert!(!common.is_positive(), "{one:?} covers {other:?}");
                }
            }
        }
    }

    #[test]
    fn a_narrow_page_shows_the_heads_of_its_last_row_and_scrolls_to_it() {
        let (placed, height) = page(vec2(1000.0, 620.0));
        let gram = placed.iter().find(|placed| placed.panel == Panel::Gram);
        let top = gram.expect("it is shown").rect.top();
        assert!(top < 620.0 && height > 620.0, "{top} of {height}");
        let (_, height) = page(vec2(1640.0, 900.0));
        assert_eq!(height, 900.0, "a wide page does not scroll");
    }

    #[test]
    fn the_upper_half_means_before_and_the_lower_half_behind() {
        let view = Selection::default();
        let (placed, height) = page(vec2(1640.0, 900.0));
        let all = Rect::from_min_size(Pos2::ZERO, vec2(1640.0, height));
        let confusion = placed.iter().find(|p| p.panel == Panel::Confusion);
        let rect = confusion.expect("it is shown").rect;
        for (y, place) in [(rect.top() + 4.0, 0), (rect.bottom() - 4.0, 1)] {
            let pointer = pos2(rect.center().x, y);
            let (spot, mark) = spot_at(&placed, &view, all, pointer).expect("on the page");
            assert_eq!(spot, Spot { column: 1, place });
            assert!(mark.contains(pointer));
        }
        assert_eq!(spot_at(&placed, &view, all, pos2(-5.0, 40.0)), None);
    }
}
