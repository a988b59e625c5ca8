//! Every control of every page has a name and, when pointed at, an explanation.

use std::collections::BTreeMap;

use atomscope::ui::app::App;
use atomscope::workbench::{Action, Ask, PathAsk, Stage, Workbench};
use atomscope_engine::learner::LearnerSettings;
use egui::accesskit::Role;
use egui::{Key, Order, Pos2, Rect, Theme, vec2};
use egui_kittest::kittest::{NodeT, Queryable};

use super::driving::{
    Window, apply, bare_workbench, click, is_ready, loading_workbench, show, small_eeg_draft,
    until, until_complete, window_of,
};

/// So wide that all panels of the Train page stand beside each other.
const WIDTH: f32 = 1960.0;
/// So high that no page scrolls and everything can be pointed at.
const HEIGHT: f32 = 3400.0;
/// Frames until a tooltip has waited long enough.
const TOOLTIP_FRAMES: usize = 6;
/// Frames until a list stands still.
const SCROLL_FRAMES: usize = 20;

const CONTROLS: [Role; 7] = [
    Role::Button,
    Role::CheckBox,
    Role::ComboBox,
    Role::RadioButton,
    Role::Slider,
    Role::SpinButton,
    Role::TextInput,
];

/// Buttons that say all there is to say.
const PLAIN: [&str; 5] = ["File", "Edit", "View", "Run", "Help"];

/// Lines of a menu that open another one when pointed at.
const SUBMENUS: [&str; 8] = [
    "Recent sessions",
    "Examples",
    "Copy as command",
    "Panels of the Train page",
    "Enlarge a panel",
    "Theme",
    "Text size",
    "Speed",
];

fn tall(workbench: Workbench) -> Window {
    let size = vec2(WIDTH, HEIGHT);
    window_of(Theme::Light, size, App::new(workbench, false))
}

/// Place and name of every control that is shown.
pub(crate) fn controls(window: &Window, page: &str) -> Vec<(Role, String, Rect)> {
    let mut found = Vec::new();
    for node in window.harness.root().children_recursive() {
        let own = NodeT::accesskit_node(&node);
        if !CONTROLS.contains(&own.role()) {
            continue;
        }
        let name = own.label().unwrap_or_default();
        let rect = node.rect();
        assert!(
            !name.trim().is_empty(),
            "{page}: a {:?} at {rect:?} has no name",
            own.role()
        );
        if rect.is_positive() && rect.bottom() < HEIGHT {
            found.push((own.role(), name, rect));
        }
    }
    found
}

fn has_tooltip(window: &Window) -> bool {
    window.harness.ctx.memory(|memory| {
        let layers = memory.areas().visible_layer_ids();
        layers.iter().any(|layer| layer.order == Order::Tooltip)
    })
}

/// Where a row of a list stands when it has been scrolled to.
fn scrolled_to(window: &mut Window, name: &str) -> Pos2 {
    let first = |window: &Window| {
        let mut rows = window.harness.query_all_by_label(name);
        rows.next().map(|row| row.rect().center())
    };
    if let Some(row) = window.harness.query_all_by_label(name).next() {
        row.scroll_to_me();
    }
    for _ in 0..SCROLL_FRAMES {
        window.harness.step();
    }
    first(window).expect("a row stays where it was scrolled to")
}

/// Points at every control of a page; the names of those that explain nothing.
fn without_explanation(window: &mut Window, page: &str) -> Vec<String> {
    let shown = controls(window, page);
    bare_of(window, page, shown)
}

/// The same for some controls.
fn bare_of(window: &mut Window, page: &str, shown: Vec<(Role, String, Rect)>) -> Vec<String> {
    let mut bare = Vec::new();
    for (role, name, rect) in shown {
        if PLAIN.contains(&name.as_str()) {
            continue;
        }
        // Rows of the log stand in a list of their own, where they are scrolled to.
        let centre = match name.starts_with("batch ") {
            true => scrolled_to(window, &name),
            false => rect.center(),
        };
        window.harness.hover_at(centre);
        for _ in 0..TOOLTIP_FRAMES {
            window.harness.step();
        }
        if !has_tooltip(window) {
            bare.push(format!("{page}: {role:?} {name} at {centre:?}"));
        }
        window.harness.remove_cursor();
        window.harness.step();
    }
    bare
}

/// Windows that together show every setting: both kinds of data, all learners.
fn windows() -> BTreeMap<&'static str, Window> {
    let mut eeg = small_eeg_draft();
    eeg.experiment.learner = LearnerSettings::as_published();
    eeg.experiment.learner.kernel = atomscope_engine::learner::Kernel::Gaussian { width: 1.0 };
    let mut of_eeg = bare_workbench();
    of_eeg.edit(eeg, false);
    of_eeg.apply(Action::LoadData);
    let mut faults = tall(loading_workbench());
    until(&mut faults, "data are loaded", is_ready);
    click(&mut faults, "Start");
    until_complete(&mut faults);
    let mut eeg = tall(of_eeg);
    until(&mut eeg, "data are loaded", is_ready);
    BTreeMap::from([
        ("EEG", eeg),
        ("faults", faults),
        ("nothing", tall(bare_workbench())),
    ])
}

#[test]
fn every_control_has_a_name_and_explains_itself() {
    let mut bare = Vec::new();
    for (what, mut window) in windows() {
        // Notices come and go by themselves.
        let list = window.harness.state().workbench().notices().list();
        let ids: Vec<u64> = list.iter().map(|notice| notice.id).collect();
        for id in ids {
            apply(&mut window, Action::DismissNotice(id));
        }
        for stage in Stage::ALL {
            show(&mut window, stage);
            until(&mut window, "the page stands still", |w| !w.is_busy());
            for _ in 0..4 {
                window.harness.step();
            }
            let page = format!("{} with {what}", stage.name());
            bare.extend(without_explanation(&mut window, &page));
        }
        show(&mut window, Stage::Compare);
        click(&mut window, "Sweep");
        click(&mut window, "Add a setting");
        bare.extend(without_explanation(
            &mut window,
            &format!("Sweep with {what}"),
        ));
    }
    assert!(bare.is_empty(), "no explanation: {bare:#?}");
}

/// Points at the controls that are shown now and were not before.
fn new_without_explanation(
    window: &mut Window,
    page: &str,
    before: &[(Role, String, Rect)],
) -> Vec<String> {
    for _ in 0..4 {
        window.harness.step();
    }
    let new: Vec<_> = controls(window, page)
        .into_iter()
        .filter(|control| !before.contains(control) && !SUBMENUS.contains(&control.1.as_str()))
        .collect();
    assert!(!new.is_empty(), "{page} shows nothing");
    bare_of(window, page, new)
}

#[test]
fn menus_and_questions_explain_themselves() {
    let mut bare = Vec::new();
    let mut window = tall(bare_workbench());
    let menus: [&[&str]; 10] = [
        &["File"],
        &["Edit"],
        &["View"],
        &["View", "Panels of the Train page"],
        &["View", "Enlarge a panel"],
        &["View", "Theme"],
        &["View", "Text size"],
        &["Run"],
        &["Run", "Speed"],
        &["Help"],
    ];
    for way in menus {
        let mut before = Vec::new();
        for name in way {
            before = controls(&window, name);
            click(&mut window, name);
        }
        let page = way.join(" › ");
        bare.extend(new_without_explanation(&mut window, &page, &before));
        for _ in way {
            window.harness.key_press(Key::Escape);
            window.harness.step();
        }
    }
    let questions = [
        Ask::Path(PathAsk::OpenFile),
        Ask::SaveAs(None),
        Ask::Path(PathAsk::LocateData),
        Ask::Unsaved(Box::new(Action::Quit)),
        Ask::ChangedOnDisk(None),
        Ask::PresetName,
        Ask::Keys,
        Ask::About,
    ];
    for ask in questions {
        let page = format!("{ask:?}");
        let before = controls(&window, &page);
        apply(&mut window, Action::Ask(ask));
        bare.extend(new_without_explanation(&mut window, &page, &before));
        apply(&mut window, Action::CancelAsk);
    }
    assert!(bare.is_empty(), "no explanation: {bare:#?}");
}
