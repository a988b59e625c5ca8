//! The smallest text to half as large again: every control stays inside the smallest usual window and beside the others.
//! At twice the size pages scroll both ways.

use atomscope::ui::theme::TEXT_SCALES;
use atomscope::workbench::{Action, Stage};
use egui::{Rect, Theme, Vec2, vec2};

use super::driving::{apply, show, trained, until};
use super::names::controls;

/// The part of the window between menu and run bar, where nothing is scrolled out of sight.
const PAGE: std::ops::Range<f32> = 60.0..740.0;

/// Whether two controls lie on each other by more than their frames.
fn cover(one: Rect, other: Rect) -> bool {
    one.shrink(2.0).intersect(other.shrink(2.0)).is_positive()
}

#[test]
fn no_control_is_cut_off_or_covered_at_any_text_size() {
    let mut wrong = Vec::new();
    let mut window = trained(Theme::Light);
    // Notices lie over the page until they are put away.
    let list = window.harness.state().workbench().notices().list();
    let ids: Vec<u64> = list.iter().map(|notice| notice.id).collect();
    for id in ids {
        apply(&mut window, Action::DismissNotice(id));
    }
    for scale in TEXT_SCALES.into_iter().filter(|scale| *scale <= 1.5) {
        apply(&mut window, Action::SetTextSize(scale));
        for stage in Stage::ALL {
            show(&mut window, stage);
            until(&mut window, "the page stands still", |w| !w.is_busy());
            for _ in 0..4 {
                window.harness.step();
            }
            let page = format!("{} at {scale}", stage.name());
            let shown = controls(&window, &page);
            for (place, (_, name, rect)) in shown.iter().enumerate() {
                if rect.left() < 0.0 || rect.right() > 1280.5 {
                    wrong.push(format!("{page}: {name} is cut off, {rect:?}"));
                }
                let is_seen =
                    |rect: &Rect| PAGE.contains(&rect.top()) && PAGE.contains(&rect.bottom());
                let others = shown[..place].iter().filter(|(_, _, other)| is_seen(other));
                for (_, other_name, other) in others.filter(|_| is_seen(rect)) {
                    if cover(*rect, *other) {
                        wrong.push(format!("{page}: {name} lies on {other_name}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The smallest window of a notebook.
const SMALL: Vec2 = vec2(1024.0, 700.0);

#[test]
fn at_twice_the_size_the_pages_of_settings_stack_and_nothing_lies_aside() {
    let mut window = trained(Theme::Dark);
    window.harness.set_size(SMALL);
    apply(&mut window, Action::SetTextSize(2.0));
    apply(&mut window, Action::HideBanner);
    let mut wrong = Vec::new();
    for stage in [
        Stage::Records,
        Stage::Features,
        Stage::Learner,
        Stage::Train,
    ] {
        show(&mut window, stage);
        until(&mut window, "the page stands still", |w| !w.is_busy());
        for _ in 0..4 {
            window.harness.step();
        }
        for (_, name, rect) in controls(&window, stage.name()) {
            if rect.left() < 0.0 || rect.right() > SMALL.x + 0.5 {
                wrong.push(format!("{}: {name} is cut off, {rect:?}", stage.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
