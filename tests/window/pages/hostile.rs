//! Pages with nothing loaded, and with data that nobody would wish for.

use std::fs;
use std::path::{Path, PathBuf};

use atomscope::workbench::{Action, Gravity, Stage, Workbench};
use egui::Theme;
use egui_kittest::kittest::Queryable;

use super::driving::{Window, apply, bare_workbench, empty_window, show, status, until, window};
use crate::small_data::small_draft;

#[test]
fn every_page_without_data_says_what_belongs_there() {
    let mut window = empty_window();
    for stage in Stage::ALL {
        show(&mut window, stage);
        window.harness.step();
        let harness = &window.harness;
        let expected = match stage {
            Stage::Learner => "Atoms per class",
            Stage::Evaluate => "Scores appear here",
            Stage::Explore => "Open a recording",
            Stage::Compare => "Add a session",
            Stage::Live => "Choose the source and the model",
            _ => "Feeder demo",
        };
        let found = harness.query_all_by_label_contains(expected).count();
        assert!(found > 0, "{stage:?}");
    }
}

/// A window whose learner is small enough for any data.
fn modest_window() -> Window {
    let mut workbench = bare_workbench();
    let mut draft = small_draft();
    draft.experiment.learner.n_atoms = 3;
    draft.experiment.learner.sparsity = 2;
    draft.experiment.learner.budget = 6;
    draft.experiment.tests.n_tests = 2;
    workbench.edit(draft, false);
    let window = window(Theme::Dark, workbench);
    // As in the program: what no font can draw becomes a box.
    let policy = egui::MissingGlyphPolicy::Tofu;
    window.harness.ctx.set_missing_glyph_policy(policy);
    window
}

fn show_every_page(window: &mut Window) {
    for stage in Stage::ALL {
        show(window, stage);
        window.harness.step();
        window.harness.step();
    }
}

/// What was told as an error or a warning.
fn complaints(workbench: &Workbench) -> Vec<String> {
    let list = workbench.notices().list();
    let grave = list
        .iter()
        .filter(|notice| matches!(notice.gravity, Gravity::Error | Gravity::Warning));
    grave.map(|notice| notice.text.clone()).collect()
}

/// Opens a path, shows every page, trains if that is possible and shows every page again.
/// Gives the reason why it was not, if there is one.
fn survive(path: &Path) -> Option<String> {
    let mut window = modest_window();
    // The draft of the test counts as an unsaved change; nobody is asked about it here.
    apply(&mut window, Action::Open(path.to_owned()));
    apply(&mut window, Action::DoNotSave);
    until(&mut window, "the path was looked at", |w| {
        w.loading_share().is_none() && !w.is_opening() && !w.is_busy()
    });
    show_every_page(&mut window);
    let workbench = window.harness.state().workbench();
    if workbench.data().loaded().is_none() {
        let reason = workbench.data().error().map(str::to_owned);
        return Some(reason.unwrap_or_else(|| complaints(workbench).join("; ")));
    }
    apply(&mut window, Action::ChooseFeature(usize::MAX));
    apply(&mut window, Action::ChooseSample(usize::MAX));
    apply(&mut window, Action::LookAtRecord(0));
    show_every_page(&mut window);
    if let Some(obstacle) = window.harness.state().workbench().obstacle() {
        return Some(obstacle);
    }
    apply(&mut window, Action::Start);
    until(&mut window, "the run is over", |w| {
        let is_over = status(w).is_some_and(|status| status.is_over());
        w.training().error().is_some() || (is_over && !w.is_busy())
    });
    show_every_page(&mut window);
    apply(&mut window, Action::ChooseCell(Some((0, 0))));
    apply(&mut window, Action::Inspect(0));
    show_every_page(&mut window);
    let workbench = window.harness.state().workbench();
    workbench.training().error().map(str::to_owned)
}

/// A table with the values and the class of each row.
fn table(folder: &Path, name: &str, header: &str, rows: impl Iterator<Item = String>) -> PathBuf {
    let path = folder.join(name);
    let rows: Vec<String> = rows.collect();
    fs::write(&path, format!("{header}\n{}\n", rows.join("\n"))).expect("the folder is writable");
    path
}

/// A value that is not the same everywhere.
fn value(row: usize, column: usize) -> f64 {
    ((row * 37 + column * 17) % 23) as f64 / 7.0 + (row % 2) as f64
}

fn plain_rows(n: usize, n_classes: usize) -> impl Iterator<Item = String> {
    (0..n).map(move |row| {
        let class = row % n_classes;
        format!(
            "{},{},{},c{class}",
            value(row, 0),
            value(row, 1),
            value(row, 2)
        )
    })
}

#[test]
fn strange_tables_are_shown_and_trained_or_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path();
    let wide: Vec<String> = (0..5000).map(|column| format!("f{column}")).collect();
    let wide_row = |row: usize| {
        let values: Vec<String> = (0..5000).map(|c| value(row, c).to_string()).collect();
        format!("{},c{}", values.join(","), row % 2)
    };
    let long = "very long name ".repeat(40);
    let long_row = |row: usize| format!("{},{},{long}{}", value(row, 0), value(row, 1), row % 2);
    let foreign_row = |row: usize| {
        let class = [
            "\u{5e9}\u{5dc}\u{5d5}\u{5dd}",
            "\u{645}\u{631}\u{62d}\u{628}\u{627}",
        ];
        format!("{},{},{}", value(row, 0), value(row, 1), class[row % 2])
    };
    let missing_row = |row: usize| match row % 5 {
        0 => format!("nan,{},c{}", value(row, 1), row % 2),
        1 => format!(",{},c{}", value(row, 1), row % 2),
        _ => format!("{},{},c{}", value(row, 0), value(row, 1), row % 2),
    };
    let huge_row =
        |row: usize| format!("{}e300,{}e-300,c{}", value(row, 0), value(row, 1), row % 2);
    let trained = [
        table(here, "plain.csv", "a,b,c,class", plain_rows(40, 2)),
        table(
            here,
            "one feature.csv",
            "a,class",
            (0..40).map(|row| format!("{},c{}", value(row, 0), row % 2)),
        ),
        table(
            here,
            "constant feature.csv",
            "a,b,class",
            (0..40).map(|row| format!("1,{},c{}", value(row, 0), row % 2)),
        ),
        table(
            here,
            "5000 features.csv",
            &format!("{},class", wide.join(",")),
            (0..24).map(wide_row),
        ),
        table(
            here,
            "200 classes.csv",
            "a,b,c,class",
            plain_rows(1200, 200),
        ),
        table(
            here,
            "long names.csv",
            &format!("a,{long},class"),
            (0..40).map(long_row),
        ),
        table(
            here,
            "right to left.csv",
            "\u{627}\u{644}\u{623}\u{648}\u{644},b,class",
            (0..40).map(foreign_row),
        ),
        // Where settings are chosen, so is what becomes of missing values.
        table(here, "missing.csv", "a,b,class", (0..40).map(missing_row)),
    ];
    for path in trained {
        assert_eq!(survive(&path), None, "{}", path.display());
    }
    let refused = [
        (
            table(here, "one class.csv", "a,b,c,class", plain_rows(40, 1)),
            "class",
        ),
        (
            table(here, "one sample.csv", "a,b,c,class", plain_rows(1, 1)),
            "",
        ),
        (
            table(
                here,
                "no class.csv",
                "a,b",
                (0..9).map(|row| format!("{row},1")),
            ),
            "class",
        ),
        (
            table(
                here,
                "nothing but a head.csv",
                "a,b,class",
                std::iter::empty(),
            ),
            "",
        ),
    ];
    for (path, word) in refused {
        let reason = survive(&path).unwrap_or_else(|| panic!("{} was trained", path.display()));
        assert!(
            !reason.is_empty() && reason.contains(word),
            "{}: {reason}",
            path.display()
        );
    }
    // Numbers at the edge of what a number can be: trained or refused, but never a panic.
    survive(&table(here, "huge.csv", "a,b,class", (0..40).map(huge_row)));
    survive(&table(
        here,
        "all constant.csv",
        "a,b,class",
        (0..40).map(|row| format!("1,2,c{}", row % 2)),
    ));
}

#[test]
fn an_empty_folder_and_a_missing_file_say_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let reason = survive(folder.path()).expect("nothing to load");
    assert!(reason.contains("no file of the folder"), "{reason}");
    let reason = survive(&folder.path().join("missing.csv")).expect("nothing to load");
    assert!(reason.contains("missing.csv"), "{reason}");
}

#[test]
fn the_class_of_a_table_that_does_not_tell_it_is_chosen_in_the_window() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rows = (0..30).map(|row| format!("{},{},{}", value(row, 0), value(row, 1), row % 3));
    let path = table(folder.path(), "numbers.csv", "a,b,kind", rows);
    let mut window = empty_window();
    apply(&mut window, Action::Open(path));
    until(&mut window, "it was refused", |w| {
        w.data().error().is_some() && w.columns().is_some()
    });
    let list = egui::accesskit::Role::ComboBox;
    let role = window.harness.get_by_role_and_label(list, "Role of kind");
    role.click();
    window.harness.step();
    window.harness.step();
    let class = window
        .harness
        .get_by_role_and_label(egui::accesskit::Role::Button, "class");
    class.click();
    window.harness.step();
    window.harness.step();
    until(&mut window, "it is loaded at once", |w| {
        w.data().loaded().is_some()
    });
    let loaded = window.harness.state().workbench().data().loaded();
    let dataset = &loaded.expect("loaded").dataset;
    assert_eq!((dataset.n_classes(), dataset.n_features()), (3, 2));
}

#[test]
fn damaged_files_of_every_format_are_refused_or_shown() {
    let Some(data) = std::env::var_os("ATOMSCOPE_DATA").map(PathBuf::from) else {
        println!("skipped: ATOMSCOPE_DATA is not set");
        return;
    };
    let folder = data.join("corrupt");
    let entries = fs::read_dir(&folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        println!("{}: {:?}", path.display(), survive(&path));
    }
    println!("{}: {:?}", folder.display(), survive(&folder));
}
