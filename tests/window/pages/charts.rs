//! Every chart is a table for a screen reader, with the values that are drawn.

use atomscope::ui::app::App;
use atomscope::ui::numbers::percent;
use atomscope::workbench::explore::ExploreAction;
use atomscope::workbench::{Action, Stage};
use egui::accesskit::Role;
use egui::{Theme, vec2};
use egui_kittest::Node;
use egui_kittest::kittest::NodeT;

use super::driving::{
    Window, apply, bare_workbench, is_ready, show, small_eeg_draft, trained, until, window_of,
};

/// One figure: its name, and the rows of its table with their cells.
pub(super) struct Told {
    pub(super) name: String,
    pub(super) rows: Vec<(String, Vec<String>)>,
}

fn label(node: &Node<'_>) -> String {
    NodeT::accesskit_node(node).label().unwrap_or_default()
}

fn of_role<'a>(nodes: impl Iterator<Item = Node<'a>>, role: Role) -> Vec<Node<'a>> {
    nodes
        .filter(|node| NodeT::accesskit_node(node).role() == role)
        .collect()
}

/// All figures of the page.
pub(super) fn figures(window: &Window) -> Vec<Told> {
    let figures = of_role(window.harness.root().children_recursive(), Role::Figure);
    let rows = |figure: &Node<'_>| {
        of_role(figure.children_recursive(), Role::Row)
            .iter()
            .map(|row| {
                let cells = of_role(row.children(), Role::Cell);
                (label(row), cells.iter().map(label).collect())
            })
            .collect()
    };
    figures
        .iter()
        .map(|figure| Told {
            name: label(figure),
            rows: rows(figure),
        })
        .collect()
}

fn told_on(window: &mut Window, stage: Stage) -> Vec<Told> {
    show(window, stage);
    until(window, "the page stands still", |w| !w.is_busy());
    for _ in 0..6 {
        window.harness.step();
    }
    figures(window)
}

pub(super) fn assert_tables(told: &[Told], page: &str) {
    for figure in told {
        let n_cells: usize = figure.rows.iter().map(|(_, cells)| cells.len()).sum();
        assert!(n_cells > 0, "{page}: {} tells no value", figure.name);
        assert!(n_cells <= 1024, "{page}: {} tells {n_cells}", figure.name);
    }
}

#[test]
fn every_figure_of_every_page_is_a_table() {
    let mut window = trained(Theme::Light);
    apply(&mut window, Action::LookAtRecord(0));
    let mut n_figures = 0;
    for stage in Stage::ALL {
        let told = told_on(&mut window, stage);
        n_figures += told.len();
        assert_tables(&told, stage.name());
    }
    assert!(n_figures >= 8, "{n_figures} figures");
}

#[test]
fn the_curve_of_accuracy_tells_each_test_of_each_fold() {
    let mut window = trained(Theme::Light);
    let told = told_on(&mut window, Stage::Train);
    let curve = told
        .iter()
        .find(|figure| figure.name.starts_with("Accuracy against mini-batches"))
        .expect("the curve is drawn");
    let run = window.harness.state().workbench().training().run();
    let run = run.expect("it is trained").clone();
    for (fold, part) in run.folds() {
        for [batch, accuracy] in &part.curve {
            let row = format!("batch {batch:.0}");
            let cell = format!("fold {}: {}", fold + 1, percent(*accuracy));
            let found = curve.rows.iter().find(|(name, _)| *name == row);
            let (_, cells) = found.unwrap_or_else(|| panic!("no row {row}"));
            assert!(cells.contains(&cell), "{cell} is not in {cells:?}");
        }
    }
}

#[test]
fn traces_and_spectra_of_an_eeg_are_tables() {
    let mut workbench = bare_workbench();
    workbench.edit(small_eeg_draft(), false);
    workbench.apply(Action::LoadData);
    let app = App::new(workbench, false);
    let mut window = window_of(Theme::Dark, vec2(1600.0, 1000.0), app);
    until(&mut window, "data are loaded", is_ready);
    let first = ExploreAction::OpenRecord {
        source: 0,
        stretch: None,
    };
    apply(&mut window, Action::Explore(first));
    until(&mut window, "the recording is shown", |w| {
        w.explore().eeg().is_some_and(|eeg| eeg.page().is_some())
    });
    let told = told_on(&mut window, Stage::Explore);
    assert_tables(&told, "Explore");
    let traces = told.iter().find(|figure| figure.name == "EEG traces");
    let (_, cells) = &traces.expect("traces are drawn").rows[0];
    let eeg = window.harness.state().workbench().explore().eeg();
    let n_traces = eeg.and_then(|eeg| eeg.page()).map(|page| page.traces.len());
    assert_eq!(Some(cells.len()), n_traces);
    assert!(cells.iter().all(|cell| cell.ends_with("µV")), "{cells:?}");
}
