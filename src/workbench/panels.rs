//! The panels of the Train page, and where each of them stands.

/// A panel of the Train page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// Which samples came and left.
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

    fn titled(title: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|panel| panel.title() == title)
    }

    /// The panels of a list of titles; what is no title is left out.
    pub(super) fn of_titles(titles: &str) -> impl Iterator<Item = Self> {
        titles.split(", ").filter_map(Self::titled)
    }
}

/// Where a panel can be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the column at the left.
    Left,
    /// To the column at the right.
    Right,
    /// Before the panel above.
    Up,
    /// Behind the panel below.
    Down,
}

impl Direction {
    /// All directions.
    pub const ALL: [Self; 4] = [Self::Left, Self::Right, Self::Up, Self::Down];
}

/// A place for a panel: before the one that stands at `place` of a column now, or at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The column, from the left.
    pub column: usize,
    /// The place in the column, from the top.
    pub place: usize,
}

/// Columns there can be.
const N_COLUMNS: usize = 3;

/// All panels in columns; a column can be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    columns: [Vec<Panel>; N_COLUMNS],
}

impl Default for Arrangement {
    fn default() -> Self {
        Self {
            columns: [
                vec![Panel::Accuracy, Panel::Profile, Panel::Tune],
                vec![Panel::Confusion, Panel::Dictionary],
                vec![Panel::Gram, Panel::Log],
            ],
        }
    }
}

impl Arrangement {
    /// The columns from the left.
    pub fn columns(&self) -> &[Vec<Panel>; N_COLUMNS] {
        &self.columns
    }

    /// Where a panel stands.
    pub fn spot(&self, panel: Panel) -> Spot {
        let places = self.columns.iter().enumerate();
        places
            .filter_map(|(column, panels)| {
                let place = panels.iter().position(|own| *own == panel)?;
                Some(Spot { column, place })
            })
            .next()
            .unwrap_or(Spot {
                column: 0,
                place: 0,
            })
    }

    /// Where a step leads past the panels that are shown; none at the edge.
    pub fn step(
        &self,
        panel: Panel,
        direction: Direction,
        is_shown: impl Fn(Panel) -> bool,
    ) -> Option<Spot> {
        let Spot { column, place } = self.spot(panel);
        let panels = &self.columns[column];
        let beside = |column: usize| {
            let place = place.min(self.columns.get(column)?.len());
            Some(Spot { column, place })
        };
        match direction {
            Direction::Left => beside(column.checked_sub(1)?),
            Direction::Right => beside(column + 1),
            Direction::Up => {
                let place = panels[..place].iter().rposition(|own| is_shown(*own))?;
                Some(Spot { column, place })
            }
            Direction::Down => {
                let after = panels.get(place + 1..)?;
                let next = after.iter().position(|own| is_shown(*own))?;
                let place = place + next + 2;
                Some(Spot { column, place })
            }
        }
    }

    /// Puts a panel elsewhere; a spot beyond the columns or their ends counts as the last one.
    pub(super) fn put(&mut self, panel: Panel, to: Spot) {
        let from = self.spot(panel);
        let column = to.column.min(N_COLUMNS - 1);
        let is_behind = from.column == column && from.place < to.place;
        let place = to.place.saturating_sub(usize::from(is_behind));
        self.columns[from.column].retain(|own| *own != panel);
        let panels = &mut self.columns[column];
        panels.insert(place.min(panels.len()), panel);
    }

    /// The titles in their columns, as they are kept in a session.
    pub(super) fn to_text(&self) -> String {
        let columns = self.columns.iter().map(|panels| {
            let titles: Vec<&str> = panels.iter().map(|panel| panel.title()).collect();
            titles.join(", ")
        });
        columns.collect::<Vec<_>>().join(" | ")
    }

    /// An arrangement that was kept; panels it does not name stand where they usually do.
    pub(super) fn of_text(text: &str) -> Self {
        let mut arrangement = Self::default();
        for (column, titles) in text.split('|').take(N_COLUMNS).enumerate() {
            for panel in Panel::of_titles(titles.trim()) {
                let place = usize::MAX;
                arrangement.put(panel, Spot { column, place });
            }
        }
        arrangement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_shown(_: Panel) -> bool {
        true
    }

    fn moved(arrangement: &mut Arrangement, panel: Panel, direction: Direction) -> bool {
        let spot = arrangement.step(panel, direction, all_shown);
        if let Some(spot) = spot {
            arrangement.put(panel, spot);
        }
        spot.is_some()
    }

    #[test]
    fn a_panel_goes_round_and_comes_home() {
        let mut arrangement = Arrangement::default();
        for direction in [
            Direction::Right,
            Direction::Down,
            Direction::Up,
            Direction::Left,
        ] {
            assert!(moved(&mut arrangement, Panel::Profile, direction));
        }
        assert_eq!(arrangement, Arrangement::default());
    }

    #[test]
    fn no_step_leads_over_an_edge() {
        let mut arrangement = Arrangement::default();
        for (panel, direction) in [
            (Panel::Accuracy, Direction::Left),
            (Panel::Accuracy, Direction::Up),
            (Panel::Log, Direction::Right),
            (Panel::Log, Direction::Down),
        ] {
            assert!(!moved(&mut arrangement, panel, direction), "{panel:?}");
        }
    }

    #[test]
    fn a_hidden_panel_is_passed_in_one_step() {
        let arrangement = Arrangement::default();
        let is_shown = |panel| panel != Panel::Profile;
        let spot = arrangement.step(Panel::Accuracy, Direction::Down, is_shown);
        let end = Spot {
            column: 0,
            place: 3,
        };
        assert_eq!(spot, Some(end));
        let spot = arrangement.step(Panel::Tune, Direction::Up, is_shown);
        let top = Spot {
            column: 0,
            place: 0,
        };
        assert_eq!(spot, Some(top));
    }

    #[test]
    fn every_spot_keeps_all_panels_once_and_the_text_keeps_the_spot() {
        for panel in Panel::ALL {
            for column in 0..N_COLUMNS {
                for place in 0..5 {
                    let mut arrangement = Arrangement::default();
                    arrangement.put(panel, Spot { column, place });
                    let mut all: Vec<Panel> = arrangement.columns().concat();
                    all.sort();
                    let mut expected = Panel::ALL.to_vec();
                    expected.sort();
                    assert_eq!(all, expected);
                    assert_eq!(Arrangement::of_text(&arrangement.to_text()), arrangement);
                }
            }
        }
    }

    #[test]
    fn a_text_from_elsewhere_never_loses_a_panel() {
        for text in [
            "",
            "nonsense | | |",
            "Log | Accuracy, Accuracy",
            "| Profile",
        ] {
            let arrangement = Arrangement::of_text(text);
            assert_eq!(arrangement.columns().concat().len(), Panel::ALL.len());
        }
    }
}
