//! Every dependency has a licence on the list of `.ci/deny.toml` and comes from the registry.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The strings of `allow = [ … ]`, one a line.
fn allowed() -> Vec<String> {
    let text = std::fs::read_to_string(top().join(".ci/deny.toml")).expect("it is there");
    let lines = text.lines().skip_while(|line| *line != "allow = [").skip(1);
    let lines = lines.take_while(|line| *line != "]");
    lines
        .map(|line| line.trim().trim_matches([',', '"']).to_owned())
        .collect()
}

/// Whether an SPDX expression can be met by licences of the list: `AND` binds more strongly than `OR`.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let text = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut rest = words.as_slice();
    let met = either(&mut rest, allowed);
    met && rest.is_empty()
}

fn either(words: &mut &[&str], allowed: &[String]) -> bool {
    let mut met = both(words, allowed);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        met |= both(words, allowed);
    }
    met
}

fn both(words: &mut &[&str], allowed: &[String]) -> bool {
    let mut met = one(words, allowed);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut &[&str], allowed: &[String]) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let met = either(words, allowed);
            match *words {
                [")", rest @ ..] => *words = rest,
                _ => return false,
            }
            met
        }
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            allowed.contains(&format!("{name} WITH {exception}"))
        }
        [name, rest @ ..] => {
            *words = rest;
            allowed.iter().any(|licence| licence == name)
        }
        [] => false,
    }
}

#[test]
fn licence_expressions_are_read_as_they_are_meant() {
    let allowed = ["MIT".to_owned(), "Zlib".to_owned(), "A WITH B".to_owned()];
    for met in [
        "MIT",
        "GPL-3.0 OR MIT",
        "GPL-3.0/MIT",
        "(GPL-3.0 OR MIT) AND Zlib",
        "A WITH B",
    ] {
        assert!(is_met(met, &allowed), "{met}");
    }
    for unmet in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR Zlib) AND GPL-3.0",
        "A",
        "(MIT",
        "MIT MIT",
    ] {
        assert!(!is_met(unmet, &allowed), "{unmet}");
    }
}

#[test]
fn every_dependency_has_a_licence_on_the_list_and_comes_from_the_registry() {
    // Without the network first: a build has fetched what it needs, which may be less than is listed.
    let metadata = |more: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--locked"])
            .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
            .args(more)
            .current_dir(top())
            .output()
            .expect("cargo runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        output
            .status
            .success()
            .then_some(output.stdout)
            .ok_or(errors)
    };
    let listed = metadata(&["--offline"])
        .or_else(|_| metadata(&[]))
        .expect("cargo lists");
    let metadata: Value = serde_json::from_slice(&listed).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    assert!(packages.len() > 100, "only {} packages", packages.len());
    let allowed = allowed();
    assert!(allowed.contains(&"MIT".to_owned()), "{allowed:?}");
    let mut trouble = Vec::new();
    for package in packages {
        let licence = package["license"].as_str().unwrap_or("");
        let source = package["source"].as_str();
        if !is_met(licence, &allowed) {
            trouble.push(format!("{}: licence {licence:?}", package["name"]));
        }
        if source.is_some_and(|source| !source.starts_with("registry+")) {
            trouble.push(format!("{}: source {source:?}", package["name"]));
        }
    }
    assert!(trouble.is_empty(), "{trouble:#?}");
}
