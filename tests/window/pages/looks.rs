//! Pictures of every page in both themes.

use atomscope::workbench::{Action, CompareAction, ResultColumn, Stage};
use egui::Theme;

use super::driving::{apply, show, trained, until};
use crate::pictures::{assert_picture, write_picture};

/// Columns of the Compare page that hold times.
const MEASURED: [ResultColumn; 4] = [
    ResultColumn::Growing,
    ResultColumn::Pruning,
    ResultColumn::Round,
    ResultColumn::Classifying,
];

#[test]
fn pages_look_as_they_did_in_both_themes() {
    for (theme, name) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let mut window = trained(theme);
        let workbench = window.harness.state_mut().workbench_mut();
        workbench.apply(Action::LookAtRecord(0));
        let ids: Vec<u64> = workbench
            .notices()
            .list()
            .iter()
            .map(|notice| notice.id)
            .collect();
        for id in ids {
            workbench.apply(Action::DismissNotice(id));
        }
        until(&mut window, "everything is drawn", |w| !w.is_busy());
        // Measured times differ from run to run: the Compare page is drawn without them.
        for column in MEASURED {
            apply(
                &mut window,
                Action::Compare(CompareAction::ToggleColumn(column)),
            );
        }
        for stage in Stage::ALL {
            show(&mut window, stage);
            until(&mut window, "the page is drawn", |w| !w.is_busy());
            for _ in 0..12 {
                window.harness.step();
            }
            until(&mut window, "the page stands still", |w| !w.is_busy());
            let name = format!("page-{}-{name}", stage.name().to_lowercase());
            let picture = window.picture();
            write_picture(&name, &picture);
            assert_picture(&name, &picture);
        }
    }
}
