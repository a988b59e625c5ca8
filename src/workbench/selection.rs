//! What is looked at: the page, the class, the fold, the moment; nothing of it changes a result.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::action::Action;
use super::panels::{Panel, Tiling};
use super::path_ask::PathAsk;
use super::stages::Stage;

/// A question that waits for the user.
#[derive(Clone, Debug)]
pub enum Ask {
    /// A path for something.
    Path(PathAsk),
    /// Where to save, and what is done after it.
    SaveAs(Option<Box<Action>>),
    /// Whether a file that is there already shall be replaced.
    Replace {
        /// The file.
        path: PathBuf,
        /// What replaces it.
        action: Box<Action>,
        /// What is done after that, where it is a save.
        then: Option<Box<Action>>,
    },
    /// What becomes of unsaved changes before this is done.
    Unsaved(Box<Action>),
    /// What to do with a file that somebody else has changed, and what is done after saving.
    ChangedOnDisk(Option<Box<Action>>),
    /// The name of a new preset.
    PresetName,
    /// Nothing: the manual is shown.
    Manual,
    /// Nothing: the list of keys is shown.
    Keys,
    /// Nothing: what the program is.
    About,
}

impl Ask {
    /// What a path is asked for, if one is.
    pub fn path(&self) -> Option<PathAsk> {
        match self {
            Self::Path(what) => Some(*what),
            Self::SaveAs(_) => Some(PathAsk::SaveAs),
            Self::Replace { .. }
            | Self::Unsaved(_)
            | Self::ChangedOnDisk(_)
            | Self::PresetName
            | Self::Manual
            | Self::Keys
            | Self::About => None,
        }
    }
}

/// What is looked at.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The page.
    pub page: Stage,
    /// The class whose dictionary and profile are shown.
    pub class: usize,
    /// The fold chosen; without one the fold in training.
    pub fold: Option<usize>,
    /// Whether that fold is only held by the replay: then it is let go with it.
    pub holds_fold: bool,
    /// The mini-batch that is replayed; without one the newest.
    pub replay: Option<usize>,
    /// The atom chosen.
    pub atom: Option<usize>,
    /// The confusion cell chosen: true and decided class.
    pub cell: Option<(usize, usize)>,
    /// The feature whose distribution is shown.
    pub feature: usize,
    /// The sample shown as an example of the features.
    pub sample: usize,
    /// The panel that fills the Train page.
    pub enlarged: Option<Panel>,
    /// Panels that are not shown.
    pub hidden: BTreeSet<Panel>,
    /// How the panels divide the page; none: as usual for its width.
    pub tiling: Option<Tiling>,
    /// Whether the sheet of notices is open.
    pub notices_open: bool,
    /// The question that waits for an answer.
    pub ask: Option<Ask>,
}

impl Selection {
    /// The fold that the user has chosen, not one that is only held by the replay.
    pub fn chosen_fold(&self) -> Option<usize> {
        self.fold.filter(|_| !self.holds_fold)
    }

    /// Hides a panel, or shows it again.
    pub(super) fn toggle(&mut self, panel: Panel) {
        if !self.hidden.remove(&panel) {
            self.hidden.insert(panel);
        }
    }

    /// Panels as they were at first.
    pub(super) fn reset_layout(&mut self) {
        self.enlarged = None;
        self.hidden.clear();
        self.tiling = None;
    }

    /// The layout as it is kept in a session: the page and the panels.
    pub(super) fn layout(&self) -> String {
        self.saved(Some(self.page))
    }

    /// The hidden panels and how all divide the page, as the user's settings keep it.
    pub(super) fn panels(&self) -> String {
        self.saved(None)
    }

    fn saved(&self, page: Option<Stage>) -> String {
        let saved = SavedLayout {
            page,
            hidden: self.hidden.clone(),
            tiling: self.tiling.clone(),
        };
        // Names and numbers always become text.
        ron::to_string(&saved).unwrap_or_default()
    }

    /// Restores a saved layout; one that cannot be used, such as that of an earlier version,
    /// changes nothing.
    pub(super) fn take_layout(&mut self, layout: &str) {
        let Ok(saved) = ron::from_str::<SavedLayout>(layout) else {
            return;
        };
        self.page = saved.page.unwrap_or(self.page);
        self.hidden = saved.hidden;
        self.tiling = saved.tiling.filter(Tiling::is_whole);
    }
}

/// What a session and the user's settings keep of the view.
#[derive(Serialize, Deserialize)]
struct SavedLayout {
    page: Option<Stage>,
    hidden: BTreeSet<Panel>,
    tiling: Option<Tiling>,
}
