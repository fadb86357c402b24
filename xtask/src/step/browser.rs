//! The suites that node runs: `tests/browser`, which drives Debian's Chromium through playwright-core, and the tests of
//! the second verifier.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Chosen, Outcome};
use crate::process::Trouble;
use crate::world::World;

pub(super) fn run(world: &World, _: &Chosen) -> Outcome {
    if let Err(trouble) = install_packages(world) {
        return Outcome::failed(format!("npm packages: {trouble}"));
    }
    run_suites(world, suites(&world.root.join("tests/browser")))
}

/// The tests of the verifier in `tests/verifier`, which needs no package and no browser.
pub(super) fn verifier(world: &World, _: &Chosen) -> Outcome {
    let mut suites = suites(&world.root.join("tests/verifier"));
    suites.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    run_suites(world, suites)
}

fn run_suites(world: &World, suites: Vec<PathBuf>) -> Outcome {
    if suites.is_empty() {
        return Outcome::failed("the folder has no suite");
    }
    let mut command = world.command("node");
    command.args(["--test", "--test-reporter=spec"]).args(suites);
    // A browser that hangs would otherwise hold the run for ever.
    world.run_within(&mut command, Some(Duration::from_secs(300))).into()
}

/// Every script directly in the folder is a suite; what they share is a folder deeper.
pub(super) fn suites(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut suites: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    suites.retain(|path| path.extension().is_some_and(|extension| extension == "mjs"));
    suites.sort();
    suites
}

/// `npm ci`, unless the installed packages are at least as new as the lock file.
pub(super) fn install_packages(world: &World) -> Result<(), Trouble> {
    let installed = changed(&world.root.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= changed(&world.root.join("package-lock.json")) {
        return Ok(());
    }
    println!("npm packages are absent or older than package-lock.json");
    world.run_patiently(world.command("npm").args(["ci", "--no-audit", "--no-fund"]))
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
