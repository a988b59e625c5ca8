//! Tells the program which commit it is built from: `ATOMSCOPE_COMMIT` if that is set, else what the
//! clone's own history says. Without either (a source archive, a linked worktree, whose history moves
//! with every commit and would compile everything again) the version says that it is not known.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=ATOMSCOPE_COMMIT");
    println!("cargo::rerun-if-changed=src/build.rs");
    let named = std::env::var("ATOMSCOPE_COMMIT").ok();
    let commit = named.filter(|name| !name.is_empty()).or_else(of_clone);
    let commit = commit.unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=ATOMSCOPE_BUILD_COMMIT={commit}");
}

/// The commit of the clone in this folder; of a folder above it would be another project's.
fn of_clone() -> Option<String> {
    if !Path::new(".git").is_dir() {
        return None;
    }
    let log = Path::new(".git/logs/HEAD");
    let watched = if log.exists() {
        log
    } else {
        Path::new(".git/HEAD")
    };
    println!("cargo::rerun-if-changed={}", watched.display());
    let asked = Command::new("git")
        .args(["rev-parse", "--short=12", "HEAD"])
        .output();
    let answer = asked.ok().filter(|answer| answer.status.success())?;
    let commit = String::from_utf8(answer.stdout).ok()?.trim().to_owned();
    (!commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(commit)
}
