//! The panels of the Train page as tiles that can be dragged, resized and stacked.

use std::collections::BTreeSet;

use egui::{Id, Rect, ScrollArea, Ui, WidgetText};
use egui_tiles::{
    Behavior, Container, EditAction, Linear, LinearDir, SimplificationOptions, Tabs, Tile, TileId,
    Tiles, Tree, UiResponse,
};

use super::train::panel_ui;
use crate::ui::elements::{LEAST_SHARE, LEAST_WIDTH};
use crate::ui::theme;
use crate::ui::widgets::PanelAction;
use crate::workbench::{Action, Draft, Panel, Tiling, TilingPart, Workbench};

/// From this width on three columns fit beside each other.
const THREE_COLUMNS: f32 = 1480.0;
/// Between panels.
const GAP: f32 = 16.0;
/// Height of the row at the bottom of a narrow page.
const ROW_HEIGHT: f32 = 330.0;
/// So much of that row is seen before the page is scrolled: the heads of its panels.
const ROW_PEEK: f32 = 26.0;

/// What the sizes of panels depend on.
#[derive(Clone, Copy, Debug)]
struct Room<'a> {
    /// Rows of the confusion matrix.
    n_classes: usize,
    /// Size of text, 1 as usual.
    text_scale: f32,
    /// Panels that take no space.
    hidden: &'a BTreeSet<Panel>,
}

impl Room<'_> {
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

    fn breadth(self, tiling: &Tiling) -> f32 {
        let panels = tiling.panels().into_iter();
        panels.map(|panel| self.needs(panel).0).fold(0.0, f32::max)
    }

    /// The share of the height beyond the least one.
    fn height_share(self, tiling: &Tiling) -> f32 {
        let panels = tiling.panels().into_iter();
        panels.map(|panel| self.needs(panel).1).fold(0.0, f32::max)
    }

    fn least_height(self, tiling: &Tiling) -> f32 {
        let parts = tiling.parts().iter();
        let heights = parts.map(|part| self.least_height(&part.tiling));
        match tiling {
            Tiling::Panel(panel) if self.hidden.contains(panel) => 0.0,
            Tiling::Panel(panel) => self.needs(*panel).2,
            Tiling::Column(_) => {
                let shown = heights.filter(|height| *height > 0.0);
                (shown.map(|height| height + GAP).sum::<f32>() - GAP).max(0.0)
            }
            Tiling::Row(_) | Tiling::Tabs(..) => heights.fold(0.0, f32::max),
        }
    }
}

/// All panels; where they need more height than there is, the page scrolls.
pub(super) fn tiles_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    let page = ui.available_size();
    let run = workbench.training().run();
    let room = Room {
        n_classes: run.map_or(2, |run| run.facts.n_classes()),
        text_scale: theme::text_scale(ui),
        hidden: &workbench.view().hidden,
    };
    // While a boundary is dragged its position is kept here; the workbench is informed of the last one.
    let resized = Id::unique("resized panels");
    let chosen: Option<Tiling> = ui.data(|data| data.get_temp(resized));
    let chosen = chosen.or_else(|| workbench.view().tiling.clone());
    let (tiling, height) = fitted(chosen, room, page);
    ScrollArea::vertical()
        .id_salt("panels")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            let mut tree = tree_of(&tiling, room, height);
            let mut tiles = TrainTiles {
                workbench,
                draft,
                actions,
                tiling: &tiling,
                clip: ui.clip_rect(),
                edit: None,
            };
            tree.ui(&mut tiles, ui);
            let edit = tiles.edit;
            let changed = tree.root().and_then(|root| tiling_of(&tree.tiles, root));
            let (Some(edit), Some(changed)) = (edit, changed) else {
                return;
            };
            let is_held = ui.input(|input| input.pointer.any_down());
            match edit {
                EditAction::TileResized if is_held => {
                    ui.data_mut(|data| data.insert_temp(resized, changed));
                }
                EditAction::TileDragged => {}
                _ => actions.push(Action::ArrangePanels(changed)),
            }
        });
    let is_released = !ui.input(|input| input.pointer.any_down());
    let last: Option<Tiling> = ui.data(|data| data.get_temp(resized));
    if let (true, Some(last)) = (is_released, last) {
        ui.data_mut(|data| data.remove::<Tiling>(resized));
        actions.push(Action::ArrangePanels(last));
    }
}

/// The layout for the size of the page, and the height it needs.
fn fitted(chosen: Option<Tiling>, room: Room<'_>, page: egui::Vec2) -> (Tiling, f32) {
    if let Some(tiling) = chosen {
        let least = room.least_height(&tiling);
        return (tiling, page.y.max(least));
    }
    if page.x < LEAST_SHARE * LEAST_WIDTH * room.text_scale {
        let tiling = Tiling::single_column();
        let least = room.least_height(&tiling);
        return (tiling, page.y.max(least));
    }
    let is_narrow = page.x < THREE_COLUMNS * room.text_scale;
    let mut tiling = Tiling::usual(is_narrow);
    if let (true, Tiling::Column(rows)) = (is_narrow, &mut tiling)
        && let [top, bottom] = rows.as_mut_slice()
    {
        let least = room.least_height(&top.tiling);
        let height = (page.y - ROW_PEEK - GAP).max(least);
        top.share = Some(height);
        let row = ROW_HEIGHT * room.text_scale;
        bottom.share = Some(row);
        return (tiling, height + GAP + row);
    }
    let least = room.least_height(&tiling);
    (tiling, page.y.max(least))
}

fn tree_of(tiling: &Tiling, room: Room<'_>, height: f32) -> Tree<Panel> {
    let mut tiles = Tiles::default();
    let root = insert(&mut tiles, tiling, room, height);
    let mut tree = Tree::new(Id::unique("train panels"), root, tiles);
    for panel in room.hidden {
        if let Some(tile) = tree.tiles.find_pane(panel) {
            tree.set_visible(tile, false);
        }
    }
    tree.set_height(height);
    tree
}

/// Inserts a layout with its parts. Parts get what they need at least; the rest is shared.
fn insert(tiles: &mut Tiles<Panel>, tiling: &Tiling, room: Room<'_>, height: f32) -> TileId {
    if let Tiling::Panel(panel) = tiling {
        return tiles.insert_pane(*panel);
    }
    let parts = tiling.parts();
    let heights: Vec<f32> = match tiling {
        Tiling::Column(_) => column_heights(parts, room, height),
        _ => vec![height; parts.len()],
    };
    let children: Vec<TileId> = parts
        .iter()
        .zip(&heights)
        .map(|(part, height)| insert(tiles, &part.tiling, room, *height))
        .collect();
    let mut linear = |dir, shares: Vec<f32>| {
        let mut linear = Linear::new(dir, children.clone());
        for (child, share) in children.iter().zip(shares) {
            linear.shares.set_share(*child, share.max(0.01));
        }
        tiles.insert_container(linear)
    };
    match tiling {
        Tiling::Row(parts) => {
            let breadth = |part: &TilingPart| part.share.unwrap_or(room.breadth(&part.tiling));
            linear(LinearDir::Horizontal, parts.iter().map(breadth).collect())
        }
        Tiling::Tabs(_, active) => {
            let mut tabs = Tabs::new(children.clone());
            tabs.active = children.get(*active).copied();
            tiles.insert_container(tabs)
        }
        _ => linear(LinearDir::Vertical, heights),
    }
}

fn column_heights(parts: &[TilingPart], room: Room<'_>, height: f32) -> Vec<f32> {
    let free = height - GAP * parts.len().saturating_sub(1) as f32;
    let chosen: Option<Vec<f32>> = parts.iter().map(|part| part.share).collect();
    if let Some(shares) = chosen {
        let total: f32 = shares.iter().sum();
        return shares.iter().map(|share| free * share / total).collect();
    }
    let least: Vec<f32> = parts.iter().map(|p| room.least_height(&p.tiling)).collect();
    let shares: Vec<f32> = parts.iter().map(|p| room.height_share(&p.tiling)).collect();
    let left = free - least.iter().sum::<f32>();
    let total: f32 = shares.iter().sum();
    let heights = least.iter().zip(&shares);
    heights
        .map(|(least, share)| (least + left * share / total).max(1.0))
        .collect()
}

/// The layout that a tree shows.
fn tiling_of(tiles: &Tiles<Panel>, id: TileId) -> Option<Tiling> {
    let parts = |children: &[TileId], share: &dyn Fn(TileId) -> Option<f32>| {
        let parts = children.iter().filter_map(|child| {
            let tiling = tiling_of(tiles, *child)?;
            let share = share(*child);
            Some(TilingPart { share, tiling })
        });
        parts.collect::<Vec<_>>()
    };
    Some(match tiles.get(id)? {
        Tile::Pane(panel) => Tiling::Panel(*panel),
        Tile::Container(Container::Linear(linear)) => {
            let parts = parts(&linear.children, &|child| Some(linear.shares[child]));
            match linear.dir {
                LinearDir::Horizontal => Tiling::Row(parts),
                LinearDir::Vertical => Tiling::Column(parts),
            }
        }
        Tile::Container(Container::Tabs(tabs)) => {
            let active = tabs
                .children
                .iter()
                .position(|own| Some(*own) == tabs.active);
            let parts = parts(&tabs.children, &|_| None);
            Tiling::Tabs(parts, active.unwrap_or_default())
        }
        Tile::Container(Container::Grid(grid)) => {
            let children: Vec<TileId> = grid.children().copied().collect();
            Tiling::Row(parts(&children, &|_| None))
        }
    })
}

/// Draws the panels and notes how the layout was edited.
struct TrainTiles<'a> {
    workbench: &'a Workbench,
    draft: &'a mut Draft,
    actions: &'a mut Vec<Action>,
    tiling: &'a Tiling,
    clip: Rect,
    edit: Option<EditAction>,
}

impl Behavior<Panel> for TrainTiles<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, panel: &mut Panel) -> UiResponse {
        let rect = ui.max_rect();
        // A tile begins with the clip of the whole window: it must stay within the page.
        ui.set_clip_rect(self.clip);
        let (draft, actions) = (&mut *self.draft, &mut *self.actions);
        match panel_ui(
            ui,
            rect,
            *panel,
            Some(self.tiling),
            self.workbench,
            draft,
            actions,
        ) {
            Some(PanelAction::Drag) => UiResponse::DragStarted,
            _ => UiResponse::None,
        }
    }

    fn tab_title_for_pane(&mut self, panel: &Panel) -> WidgetText {
        panel.title().into()
    }

    fn gap_width(&self, _: &egui::Style) -> f32 {
        GAP
    }

    fn min_size(&self) -> f32 {
        96.0
    }

    fn resize_stroke(&self, style: &egui::Style, state: egui_tiles::ResizeState) -> egui::Stroke {
        match state {
            egui_tiles::ResizeState::Idle => egui::Stroke::NONE,
            _ => style.visuals.selection.stroke,
        }
    }

    fn drag_preview_color(&self, visuals: &egui::Visuals) -> egui::Color32 {
        visuals.selection.stroke.color.gamma_multiply(0.18)
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions {
            all_panes_must_have_tabs: false,
            ..SimplificationOptions::default()
        }
    }

    fn on_edit(&mut self, edit: EditAction) {
        self.edit = Some(edit);
    }
}

#[cfg(test)]
mod tests {
    use egui::vec2;

    use super::*;

    static NONE_HIDDEN: BTreeSet<Panel> = BTreeSet::new();

    const ROOM: Room<'static> = Room {
        n_classes: 5,
        text_scale: 1.0,
        hidden: &NONE_HIDDEN,
    };

    #[test]
    fn every_row_of_many_classes_is_seen_and_two_classes_take_little() {
        let height = |n_classes| {
            let room = Room { n_classes, ..ROOM };
            let (tiling, height) = fitted(None, room, vec2(1600.0, 660.0));
            column_heights(tiling.parts()[1].tiling.parts(), room, height)[0]
        };
        assert!(height(26) > 26.0 * 11.0 + 60.0, "{}", height(26));
        assert!(height(2) < height(5));
    }

    #[test]
    fn a_narrow_page_shows_the_heads_of_its_last_row_and_scrolls_to_it() {
        let (tiling, height) = fitted(None, ROOM, vec2(1000.0, 620.0));
        let top = column_heights(tiling.parts(), ROOM, height)[0];
        assert!(top + GAP < 620.0 && height > 620.0, "{top} of {height}");
        let (_, height) = fitted(None, ROOM, vec2(1640.0, 900.0));
        assert_eq!(height, 900.0, "a wide page does not scroll");
    }

    #[test]
    fn where_two_panels_have_no_room_beside_each_other_all_stand_in_one_column() {
        let room = Room {
            text_scale: 2.0,
            ..ROOM
        };
        let (tiling, height) = fitted(None, room, vec2(840.0, 500.0));
        assert_eq!(tiling, Tiling::single_column());
        assert_eq!(tiling.parts().len(), Panel::ALL.len());
        assert!(tiling.is_whole() && height > 500.0, "{height}");
    }

    #[test]
    fn a_layout_survives_the_way_to_tiles_and_back() {
        for is_narrow in [false, true] {
            let tiling = Tiling::usual(is_narrow);
            let mut tiles = Tiles::default();
            let root = insert(&mut tiles, &tiling, ROOM, 900.0);
            let back = tiling_of(&tiles, root).expect("the root is there");
            assert_eq!(back.panels(), tiling.panels());
            assert!(back.is_whole());
            let mut again = Tiles::default();
            let root = insert(&mut again, &back, ROOM, 900.0);
            let again = tiling_of(&again, root).expect("the root is there");
            assert_eq!(again.panels(), tiling.panels());
        }
    }
}
