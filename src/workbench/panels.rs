//! The panels of the Train page, and how they divide it.

use serde::{Deserialize, Serialize};

/// A panel of the Train page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Panel {
    /// Learning curves.
    Accuracy,
    /// Confusion matrix.
    Confusion,
    /// Atoms of a class.
    Dictionary,
    /// Profile of a class.
    Profile,
    /// Settings that may change while training.
    Tune,
    /// Inner products of the atoms.
    Gram,
    /// Which samples were admitted and removed.
    Log,
}

impl Panel {
    /// All panels in their order.
    pub const ALL: [Self; 7] = [
        Self::Accuracy,
        Self::Confusion,
        Self::Profile,
        Self::Dictionary,
        Self::Tune,
        Self::Gram,
        Self::Log,
    ];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Accuracy => "Accuracy",
            Self::Confusion => "Confusion",
            Self::Dictionary => "Dictionary",
            Self::Profile => "Profile",
            Self::Tune => "Tune during training",
            Self::Gram => "Gram matrix",
            Self::Log => "Sample log",
        }
    }
}

/// Where a panel can be moved by a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelMove {
    /// Into or beside what is at the left.
    Left,
    /// Into or beside what is at the right.
    Right,
    /// Above what is above it.
    Up,
    /// Below what is below it.
    Down,
}

impl PanelMove {
    /// All directions.
    pub const ALL: [Self; 4] = [Self::Left, Self::Right, Self::Up, Self::Down];
}

/// How panels divide a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Tiling {
    /// One panel.
    Panel(Panel),
    /// Parts beside each other.
    Row(Vec<PanelPart>),
    /// Parts below each other.
    Column(Vec<PanelPart>),
    /// Parts of which one is shown.
    Tabs(Vec<PanelPart>, usize),
}

/// A part of a row, a column or tabs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PanelPart {
    /// Its size relative to the parts beside it; none: what its panels need.
    pub share: Option<f32>,
    /// What it holds.
    pub tiling: Tiling,
}

impl From<Tiling> for PanelPart {
    fn from(tiling: Tiling) -> Self {
        Self {
            share: None,
            tiling,
        }
    }
}

impl Tiling {
    /// The layout of a page that was not rearranged: three columns, or where the page is narrow
    /// two columns and a row below them.
    pub fn usual(is_narrow: bool) -> Self {
        let list = |panels: &[Panel]| -> Vec<PanelPart> {
            panels
                .iter()
                .map(|panel| Self::Panel(*panel).into())
                .collect()
        };
        let column = |panels: &[Panel]| PanelPart::from(Self::Column(list(panels)));
        let left = column(&[Panel::Accuracy, Panel::Profile, Panel::Tune]);
        let centre = column(&[Panel::Confusion, Panel::Dictionary]);
        let last = [Panel::Gram, Panel::Log];
        match is_narrow {
            true => Self::Column(vec![
                Self::Row(vec![left, centre]).into(),
                Self::Row(list(&last)).into(),
            ]),
            false => Self::Row(vec![left, centre, column(&last)]),
        }
    }

    /// All panels one below the other, for a page where two have no room beside each other.
    pub fn single_column() -> Self {
        let parts = Panel::ALL.map(|panel| PanelPart::from(Self::Panel(panel)));
        Self::Column(parts.to_vec())
    }

    /// What it is made of; nothing in a panel.
    pub fn parts(&self) -> &[PanelPart] {
        match self {
            Self::Panel(_) => &[],
            Self::Row(parts) | Self::Column(parts) | Self::Tabs(parts, _) => parts,
        }
    }

    fn parts_mut(&mut self) -> Option<&mut Vec<PanelPart>> {
        match self {
            Self::Panel(_) => None,
            Self::Row(parts) | Self::Column(parts) | Self::Tabs(parts, _) => Some(parts),
        }
    }

    /// All its panels, from the upper left.
    pub fn panels(&self) -> Vec<Panel> {
        match self {
            Self::Panel(panel) => vec![*panel],
            _ => self
                .parts()
                .iter()
                .flat_map(|p| p.tiling.panels())
                .collect(),
        }
    }

    /// Whether every panel occurs once: otherwise a saved layout cannot be used.
    pub fn is_whole(&self) -> bool {
        let mut panels = self.panels();
        panels.sort();
        let mut all = Panel::ALL;
        all.sort();
        panels == all
    }

    /// The layout after a step of a panel past what is shown; none at the edge.
    pub fn moved(
        &self,
        panel: Panel,
        direction: PanelMove,
        is_shown: impl Fn(Panel) -> bool,
    ) -> Option<Self> {
        let path = self.path(panel)?;
        let (depth, neighbour) = (0..path.len()).rev().find_map(|depth| {
            let container = self.at(&path[..depth])?;
            let is_along = match container {
                Self::Row(_) => matches!(direction, PanelMove::Left | PanelMove::Right),
                Self::Column(_) => matches!(direction, PanelMove::Up | PanelMove::Down),
                _ => false,
            };
            let own = path[depth];
            let is_seen = |place: &usize| {
                let panels = container.parts()[*place].tiling.panels();
                panels.into_iter().any(&is_shown)
            };
            let neighbour = match direction {
                PanelMove::Left | PanelMove::Up => (0..own).rev().find(is_seen),
                PanelMove::Right | PanelMove::Down => {
                    (own + 1..container.parts().len()).find(is_seen)
                }
            };
            neighbour.filter(|_| is_along).map(|place| (depth, place))
        })?;
        let mut tiling = self.clone();
        let own = path[depth];
        let parts = tiling.at_mut(&path[..depth])?.parts_mut()?;
        let is_direct = depth + 1 == path.len();
        if is_direct && parts[neighbour].tiling.parts().is_empty() {
            let part = parts.remove(own);
            parts.insert(neighbour, part);
            return Some(tiling);
        }
        let place = path.last().copied().unwrap_or_default();
        match parts[neighbour].tiling.parts_mut() {
            Some(inside) => {
                let place = if is_direct {
                    0
                } else {
                    place.min(inside.len())
                };
                inside.insert(place, Self::Panel(panel).into());
            }
            None => parts.insert(own.max(neighbour), Self::Panel(panel).into()),
        }
        // Taken from where it was: there it comes first or second, by the side it moved to.
        let old = match direction {
            PanelMove::Left | PanelMove::Up => 1,
            PanelMove::Right | PanelMove::Down => 0,
        };
        tiling.remove(panel, &mut { old });
        tiling.simplify();
        Some(tiling)
    }

    /// The places that lead to a panel.
    fn path(&self, panel: Panel) -> Option<Vec<usize>> {
        if *self == Self::Panel(panel) {
            return Some(Vec::new());
        }
        self.parts().iter().enumerate().find_map(|(place, part)| {
            let mut path = part.tiling.path(panel)?;
            path.insert(0, place);
            Some(path)
        })
    }

    fn at(&self, path: &[usize]) -> Option<&Self> {
        path.iter().try_fold(self, |tiling, place| {
            Some(&tiling.parts().get(*place)?.tiling)
        })
    }

    fn at_mut(&mut self, path: &[usize]) -> Option<&mut Self> {
        let mut tiling = self;
        for place in path {
            tiling = &mut tiling.parts_mut()?.get_mut(*place)?.tiling;
        }
        Some(tiling)
    }

    /// Removes a panel where it occurs after `skipped` others of its kind.
    fn remove(&mut self, panel: Panel, skipped: &mut usize) -> bool {
        let Some(parts) = self.parts_mut() else {
            return false;
        };
        for place in 0..parts.len() {
            if parts[place].tiling == Self::Panel(panel) {
                if *skipped == 0 {
                    parts.remove(place);
                    return true;
                }
                *skipped -= 1;
            } else if parts[place].tiling.remove(panel, skipped) {
                return true;
            }
        }
        false
    }

    /// Without empty containers and containers of one part.
    fn simplify(&mut self) {
        let Some(parts) = self.parts_mut() else {
            return;
        };
        for part in parts.iter_mut() {
            part.tiling.simplify();
        }
        parts.retain(|part| !part.tiling.panels().is_empty());
        if let [only] = parts.as_slice() {
            *self = only.tiling.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_shown(_: Panel) -> bool {
        true
    }

    #[test]
    fn no_step_loses_a_panel_and_every_way_ends_at_an_edge() {
        for is_narrow in [false, true] {
            let usual = Tiling::usual(is_narrow);
            assert!(usual.is_whole());
            for panel in Panel::ALL {
                for direction in PanelMove::ALL {
                    let mut tiling = usual.clone();
                    while let Some(next) = tiling.moved(panel, direction, all_shown) {
                        assert!(next.is_whole(), "{panel:?} {direction:?}: {next:?}");
                        assert_ne!(next, tiling);
                        tiling = next;
                    }
                }
            }
        }
    }

    #[test]
    fn a_panel_moves_into_the_column_beside_and_past_its_neighbour() {
        let usual = Tiling::usual(false);
        let moved = usual.moved(Panel::Profile, PanelMove::Right, all_shown);
        let moved = moved.expect("there is a column");
        let column = &moved.parts()[1].tiling;
        assert_eq!(column.panels()[1], Panel::Profile);
        let moved = moved.moved(Panel::Profile, PanelMove::Up, all_shown);
        let moved = moved.expect("it is the second");
        assert_eq!(moved.parts()[1].tiling.panels()[0], Panel::Profile);
        let back = moved.moved(Panel::Profile, PanelMove::Left, all_shown);
        let back = back.expect("there is a column");
        assert_eq!(back.parts()[0].tiling.panels()[0], Panel::Profile);
        assert_eq!(
            usual.moved(Panel::Accuracy, PanelMove::Left, all_shown),
            None
        );
    }

    #[test]
    fn a_hidden_panel_is_passed_in_one_step() {
        let is_shown = |panel| panel != Panel::Profile;
        let moved = Tiling::usual(false).moved(Panel::Accuracy, PanelMove::Down, is_shown);
        let first = moved.expect("Tune is below").parts()[0].tiling.panels();
        assert_eq!(first, [Panel::Profile, Panel::Tune, Panel::Accuracy]);
    }
}
