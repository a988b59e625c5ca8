//! The stages of the workbench as the list at the left.

use egui::Ui;

use super::widgets::{StageList, StageMark, StageRow as Entry};
use crate::workbench::{Action, Stage, StageState, Workbench};

/// All stages; of a narrow list the names alone.
pub(super) fn stages_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    is_narrow: bool,
    actions: &mut Vec<Action>,
) {
    let statuses = Stage::ALL.map(|stage| workbench.status(stage));
    let entries: Vec<Entry<'_>> = Stage::ALL
        .into_iter()
        .zip(&statuses)
        .map(|(stage, status)| Entry {
            name: stage.name(),
            state: match status.state {
                StageState::Empty => StageMark::Empty,
                StageState::Ready => StageMark::Ready,
                StageState::Stale(_) => StageMark::Stale,
                StageState::Running => StageMark::Running,
                StageState::Wrong(_) => StageMark::Failed,
            },
            summary: match &status.state {
                StageState::Stale(reason) => reason,
                _ => &status.summary,
            },
            help: status.state.reason().unwrap_or(stage.purpose()),
        })
        .collect();
    let page = workbench.view().page;
    let list = StageList {
        stages: &entries,
        current: Stage::ALL
            .into_iter()
            .position(|stage| stage == page)
            .unwrap_or(0),
        is_narrow,
    };
    actions.extend(list.show(ui).map(|place| Action::Show(Stage::ALL[place])));
}
