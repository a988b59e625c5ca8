//! What is looked at: the page, the class, the fold, the moment; nothing of it changes a result.

use std::collections::BTreeSet;

use super::action::Action;
use super::stages::Stage;
use crate::export::ExportContent;

/// A panel of the Train page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
            Self::Tune => "Tune while it runs",
            Self::Gram => "Gram matrix",
            Self::Log => "Came and left",
        }
    }
}

/// A question that waits for the user.
#[derive(Clone, Debug)]
pub enum Ask {
    /// Which file to open.
    OpenFile,
    /// Which folder to open.
    OpenFolder,
    /// Which recording to explore.
    OpenRecording,
    /// Where the annotations of the recording are written.
    ExportAnnotations,
    /// Where to save.
    SaveAs,
    /// What becomes of unsaved changes before this is done.
    Unsaved(Box<Action>),
    /// What to do with a file that somebody else has changed.
    ChangedOnDisk,
    /// The name of a new preset.
    PresetName,
    /// Where a result is written.
    Export(ExportContent),
    /// Nothing: the list of keys is shown.
    Keys,
    /// Nothing: what the program is.
    About,
}

/// What is looked at.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The page.
    pub page: Stage,
    /// The class whose dictionary and profile are shown.
    pub class: usize,
    /// The fold chosen; without one the fold in training.
    pub fold: Option<usize>,
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
    /// Whether the sheet of notices is open.
    pub notices_open: bool,
    /// The question that waits for an answer.
    pub ask: Option<Ask>,
}

impl View {
    /// Hides a panel, or shows it again.
    pub(super) fn toggle(&mut self, panel: Panel) {
        if !self.hidden.remove(&panel) {
            self.hidden.insert(panel);
        }
    }

    /// The layout as it is kept in a session: the page and the hidden panels.
    pub(super) fn layout(&self) -> String {
        let hidden: Vec<&str> = self.hidden.iter().map(|panel| panel.title()).collect();
        format!("page: {}; hidden: {}", self.page.name(), hidden.join(", "))
    }

    /// Takes over a layout that was kept; what it does not know is left out.
    pub(super) fn take_layout(&mut self, layout: &str) {
        let hidden = layout.split("hidden: ").nth(1).unwrap_or("");
        let named = |title: &str| Panel::ALL.into_iter().find(|panel| panel.title() == title);
        self.hidden = hidden.split(", ").filter_map(named).collect();
        let page = layout.strip_prefix("page: ").unwrap_or("");
        let page = page.split(';').next().unwrap_or("");
        if let Some(stage) = Stage::ALL.into_iter().find(|stage| stage.name() == page) {
            self.page = stage;
        }
    }
}
