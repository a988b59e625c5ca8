//! The property tests of the learners with seeds that they do not usually take.

use std::process::{Command, Stdio};

use rand::RngExt;

use super::Attack;

/// Cases of each property and seed.
const N_CASES: u32 = 200;

pub(super) fn run(attack: &mut Attack) {
    while attack.goes_on() {
        let seed: u32 = attack.random.random();
        attack.one("properties", |_| {
            let output = Command::new(env!("CARGO"))
                // Without naming the package: its dependencies are compiled already, for the whole workspace.
                .args(["test", "--release"])
                .args(["--test", "engine", "invariants"])
                .env("ATOMSCOPE_PROPERTY_SEED", seed.to_string())
                .env("ATOMSCOPE_PROPERTY_CASES", N_CASES.to_string())
                .stderr(Stdio::null())
                .output()
                .map_err(|error| error.to_string())?;
            let told = String::from_utf8_lossy(&output.stdout);
            let has_run = told.contains("test invariants::");
            (output.status.success() && has_run)
                .then_some(())
                .ok_or_else(|| format!("seed {seed}: {told}"))
        });
    }
}
