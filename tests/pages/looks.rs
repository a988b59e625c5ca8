//! Pictures of every page in both themes.

use atomscope::workbench::{Action, Stage};
use egui::Theme;

use super::driving::{show, trained, until};
use super::pictures::{assert_picture, write_picture};

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
        // The Compare page shows measured times; its own test hides them.
        let steady = |stage: &Stage| *stage != Stage::Compare;
        for stage in Stage::ALL.into_iter().filter(steady) {
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
