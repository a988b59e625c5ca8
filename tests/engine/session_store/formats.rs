//! Texts of sessions: every released format loads, and damaged ones are refused in words.

use std::fs;
use std::path::{Path, PathBuf};

use atomscope_engine::session::{FORMAT, Session};
use proptest::prelude::*;

use super::small_run::{names_in, read_data, resumed, saved_session, write_table};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")
}

#[test]
fn every_released_format_loads_and_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for format in 1..=FORMAT {
        let stem = format!("session-format-{format}");
        for name in names_in(&fixtures()) {
            if name.starts_with(&stem) {
                fs::copy(fixtures().join(&name), folder.path().join(&name)).expect("copied");
            }
        }
        write_table(&folder.path().join("points.csv"));
        let path = folder.path().join(format!("{stem}.ron"));
        let session = Session::load(&path).expect("it loads");
        assert!(session.damage.is_none(), "{:?}", session.damage);
        assert_eq!(session.notes, "as it was");
        assert!(!session.results.as_ref().expect("results").folds.is_empty());
        let built = read_data(&session.experiment, &path);
        assert!(!resumed(&session, &built).is_complete());
    }
}

/// Run it once when a new format is released: it never replaces a file.
#[test]
#[ignore = "writes the files of the newest format for the test above"]
fn write_the_files_of_the_newest_format() {
    let (_folder, path) = saved_session(3);
    let mut session = Session::load(&path).expect("whole");
    let target = fixtures().join(format!("session-format-{FORMAT}.ron"));
    assert!(!target.exists(), "a released format does not change");
    session.save_as(&target).expect("saved");
    let text = fs::read_to_string(&target).expect("readable");
    let moved = text.lines().find(|line| line.contains("points.csv"));
    assert!(moved.is_some(), "the data is named");
    // The data lies beside the session, wherever both are.
    let name = session.references[0].path.clone();
    fs::write(&target, text.replace(&name, "points.csv")).expect("written");
}

fn valid_text() -> String {
    let (_folder, path) = saved_session(1);
    fs::read_to_string(path).expect("readable")
}

#[test]
fn misspelt_settings_are_refused_with_line_column_and_legal_names() {
    let text = valid_text();
    let misspelt = text.replacen("n_atoms:", "n_atom:", 1);
    let line = 1 + misspelt
        .lines()
        .position(|line| line.contains("n_atom:"))
        .expect("there");
    let refused = Session::from_text(&misspelt, Path::new("folder/a.ron"));
    let message = refused.expect_err("misspelt").to_string();
    for part in [
        &format!("line {line}, column"),
        "unknown field `n_atom`",
        "did you mean `n_atoms`?",
        "`budget`",
        "folder/a.ron",
    ] {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
    let newer = text.replacen(&format!("format: {FORMAT}"), "format: 99", 1);
    let message = Session::from_text(&newer, Path::new("a.ron"));
    let message = message.expect_err("newer").to_string();
    assert!(message.contains("format 99") && message.contains("newer Atomscope"));
}

#[derive(Debug, Clone)]
enum Damage {
    Byte(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Repeat(prop::sample::Index, prop::sample::Index),
    Insert(prop::sample::Index, &'static str),
}

fn any_damage() -> impl Strategy<Value = Damage> {
    let pieces = prop::sample::select(vec![
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "Some(",
        "\"",
        "r#\"",
        "/*",
        "//",
        "1e999",
        "-1",
        "NaN",
        "18446744073709551616",
        "0x",
        "'",
        ",",
        ":",
        "#![enable(unwrap_newtypes)]",
        "\u{feff}",
    ]);
    prop_oneof![
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        any::<prop::sample::Index>().prop_map(Damage::Cut),
        (any::<prop::sample::Index>(), any::<prop::sample::Index>())
            .prop_map(|(from, to)| Damage::Repeat(from, to)),
        (any::<prop::sample::Index>(), pieces).prop_map(|(at, text)| Damage::Insert(at, text)),
    ]
}

fn damaged(text: &str, damages: Vec<Damage>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for damage in damages {
        let place = |index: prop::sample::Index| index.index(bytes.len().max(1)).min(bytes.len());
        match damage {
            Damage::Byte(at, byte) => {
                let at = place(at);
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
            }
            Damage::Cut(at) => bytes.truncate(place(at)),
            Damage::Repeat(from, to) => {
                let (from, to) = (place(from), place(to));
                let piece = bytes[from.min(to)..from.max(to)].to_vec();
                bytes.splice(from..from, piece);
            }
            Damage::Insert(at, text) => {
                let at = place(at);
                bytes.splice(at..at, text.bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn damaged_text_is_refused_or_read_but_never_a_panic() {
    let text = valid_text();
    let settings = ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let damages = prop::collection::vec(any_damage(), 1..5);
    proptest!(settings, |(damages in damages)| {
        let damaged = damaged(&text, damages);
        match Session::from_text(&damaged, Path::new("a.ron")) {
            // What was read can be written and read again.
            Ok(session) => {
                let again = session.to_text(Path::new("a.ron")).expect("writable");
                Session::from_text(&again, Path::new("a.ron")).expect("readable");
            }
            Err(error) => prop_assert!(error.to_string().ends_with("a.ron")),
        }
    });
}
