//! Own annotations: added, edited, searched, undone, saved with the session and exported.

use std::fs;

use atomscope::workbench::Action;
use atomscope::workbench::explore::ExploreAction;
use atomscope_engine::records::{Mode, open};
use atomscope_engine::session::{Session, notes_on};
use egui_kittest::kittest::Queryable;

use super::{Window, click, eeg, explored, type_into, until, view, write_recording};

#[test]
fn an_annotation_is_added_found_saved_exported_and_undone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    write_recording(&path);
    let mut window = explored(&path);
    click(&mut window, "Annotations");
    type_into(&mut window, "New", "spike");
    click(&mut window, "Add annotation");
    window.harness.step();
    let name = path.display().to_string();
    let workbench = window.harness.state().workbench();
    let notes = notes_on(&workbench.draft().recordings, &name).expect("noted");
    assert_eq!(
        (
            notes.annotations[0].onset_s,
            notes.annotations[0].text.as_str()
        ),
        (5.0, "spike")
    );
    assert!(workbench.is_unsaved());
    assert_eq!(eeg(&window).annotations().rows().len(), 3);

    // The list is searched, and a click goes to the place.
    type_into(&mut window, "Search", "OPEN");
    window.harness.get_by_label_contains("eyes open").click();
    window.harness.step();
    window.harness.step();
    assert!(view(&window).start_s > 35.0 && view(&window).start_s <= 45.0);

    let workbench = window.harness.state_mut().workbench_mut();
    let saved = folder.path().join("noted.ron");
    workbench.apply(Action::SaveAs(saved.clone()));
    until(&mut window, "it is saved", |w| {
        !w.is_saving() && w.path().is_some()
    });
    let session = Session::load(&saved).expect("it loads");
    let kept = notes_on(&session.recordings, &name).expect("saved with the session");
    assert_eq!(kept.annotations[0].text, "spike");

    for ending in ["csv", "edf"] {
        let out = folder.path().join(format!("out.{ending}"));
        let export = ExploreAction::ExportAnnotations(out.clone());
        let workbench = window.harness.state_mut().workbench_mut();
        workbench.apply(Action::Explore(export));
        until(&mut window, "it is written", |w| !w.is_busy());
        match ending {
            "csv" => {
                let text = fs::read_to_string(&out).expect("readable");
                assert!(text.contains("5,0,2024-05-17"), "{text}");
                assert!(
                    text.contains("\"spike\"") && text.contains("\"eyes open\""),
                    "{text}"
                );
            }
            _ => {
                let back = open(&out, Mode::Strict).expect("readable");
                let texts: Vec<&str> = back.annotations.iter().map(|a| a.text.as_str()).collect();
                assert_eq!(texts, ["spike", "eyes closed", "eyes open"]);
            }
        }
    }

    let workbench = window.harness.state_mut().workbench_mut();
    workbench.apply(Action::Undo);
    window.harness.step();
    window.harness.step();
    assert!(
        window
            .harness
            .state()
            .workbench()
            .draft()
            .recordings
            .is_empty()
    );
    assert_eq!(eeg(&window).annotations().rows().len(), 2);
}

#[test]
fn an_own_annotation_is_edited_and_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.edf");
    write_recording(&path);
    let mut window = explored(&path);
    click(&mut window, "Annotations");
    type_into(&mut window, "New", "spike");
    click(&mut window, "Add annotation");
    type_into(&mut window, "Text", " left");
    let recordings = |window: &Window| {
        let workbench = window.harness.state().workbench();
        workbench.draft().recordings.clone()
    };
    assert_eq!(recordings(&window)[0].annotations[0].text, "spike left");
    click(&mut window, "Remove");
    window.harness.step();
    assert!(recordings(&window).is_empty());
}
