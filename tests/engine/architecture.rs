//! The architecture, checked: the `lib.rs` of each package lists its modules in the order of
//! the data flow, and a module may name only modules listed before it.

use std::fs;
use std::path::{Path, PathBuf};

/// Crates that only the named top-level modules may mention.
const CONFINED: &[(&str, &[&str])] = &[
    ("faer", &["math"]),
    ("pulp", &["math"]),
    ("egui", &["ui"]),
    ("eframe", &["ui"]),
    ("egui_plot", &["ui"]),
    ("rfd", &["ui"]),
];

/// Parts of the standard library that only the named modules may mention.
const CONFINED_STD: &[(&str, &[&str])] = &[
    (
        "std::fs",
        // `memory` asks the system, which answers in files.
        &[
            "memory", "records", "session", "export", "stream", "cluster", "cli",
        ],
    ),
    (
        "std::thread",
        // `dataset` reads recordings on threads of its own, so that the one who waits reports and cancels.
        &["dataset", "experiment", "stream", "cluster", "cli"],
    ),
];

/// The folders of both packages: the engine and the program.
fn packages() -> [PathBuf; 2] {
    let engine = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let program = engine.parent().expect("the engine lies in src").to_owned();
    [engine, program]
}

/// The modules of a package's `lib.rs`, in order.
fn listed_modules(package: &Path) -> Vec<String> {
    let lib = fs::read_to_string(package.join("lib.rs")).expect("lib.rs is readable");
    lib.lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("source folder is readable") {
        let path = entry.expect("entry is readable").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Files of `<module>.rs` or `<module>/` of a package, with comments blanked out.
fn code_of(package: &Path, module: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let single = package.join(format!("{module}.rs"));
    if single.exists() {
        files.push(single);
    }
    let folder = package.join(module);
    if folder.is_dir() {
        rust_files(&folder, &mut files);
    }
    assert!(!files.is_empty(), "module {module} of lib.rs has no file");
    files
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("source file is readable");
            let code: Vec<&str> = text
                .lines()
                .map(|line| line.split("//").next().unwrap_or(""))
                .collect();
            (path, code.join("\n"))
        })
        .collect()
}

/// Words that follow `prefix` in `code`: `names_after("crate::", …)`.
fn names_after<'a>(prefix: &str, code: &'a str) -> Vec<&'a str> {
    code.match_indices(prefix)
        .map(|(at, _)| {
            let rest = &code[at + prefix.len()..];
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            &rest[..end]
        })
        .collect()
}

#[test]
fn modules_use_only_modules_listed_before_them() {
    for package in packages() {
        let modules = listed_modules(&package);
        assert!(!modules.is_empty());
        for (position, module) in modules.iter().enumerate() {
            for (path, code) in code_of(&package, module) {
                for used in names_after("crate::", &code) {
                    let known = modules[..=position].iter().any(|name| name == used);
                    assert!(
                        known,
                        "{} uses crate::{used}, which lib.rs does not list before {module}",
                        path.display()
                    );
                }
            }
        }
    }
}

#[test]
fn confined_crates_stay_in_their_module() {
    for package in packages() {
        for module in listed_modules(&package) {
            for (path, code) in code_of(&package, &module) {
                let confined = CONFINED
                    .iter()
                    .map(|(name, homes)| (format!("{name}::"), homes))
                    .chain(
                        CONFINED_STD
                            .iter()
                            .map(|(name, homes)| (name.to_string(), homes)),
                    );
                for (name, homes) in confined {
                    assert!(
                        !code.contains(&name) || homes.contains(&module.as_str()),
                        "{} names {name}, which belongs to {homes:?}",
                        path.display()
                    );
                }
            }
        }
    }
}

#[test]
fn every_file_starts_by_saying_what_lives_there() {
    let [_, program] = packages();
    let mut files = Vec::new();
    rust_files(&program, &mut files);
    for path in files {
        let text = fs::read_to_string(&path).expect("source file is readable");
        assert!(
            text.starts_with("//!"),
            "{} does not start with a sentence on its subject",
            path.display()
        );
    }
}
