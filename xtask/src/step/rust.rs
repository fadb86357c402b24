//! All Rust tests, by nextest, which also writes down how long each one took.

use std::fs;

use super::{Chosen, Ending, Outcome, packages};
use crate::junit;
use crate::process::Trouble;
use crate::world::World;

pub(super) fn run(world: &World, chosen: &Chosen) -> Outcome {
    // As .config/nextest.toml says. It counts from the root, wherever the target folder is.
    let report = world.root.join("target/nextest/ci/junit.xml");
    // A compile error writes no report, and an old one would be counted as this run's.
    let _ = fs::remove_file(&report);
    // Tests start it; a test run by hand finds the packages of the last run.
    if let Err(reason) = packages::provider(world) {
        return Outcome::failed(format!("the OpenID provider of the tests: {reason}"));
    }
    let mut command = world.cargo(["nextest", "run", "--locked", "--workspace", "--profile", "ci"]);
    if let Some(filter) = &chosen.test_filter {
        command.arg(filter);
    }
    let result = world.run(&mut command);
    let tests = fs::read_to_string(&report).map(|xml| junit::tests(&xml)).unwrap_or_default();
    let ending = match result {
        Ok(()) if tests.is_empty() => {
            Ending::Failed(format!("nextest left no report at {}", report.display()))
        }
        Ok(()) => Ending::Passed,
        Err(Trouble::Failed(how)) => match tests.iter().filter(|test| test.failed).count() {
            0 => Ending::Failed(how),
            failed => Ending::Failed(format!("{failed} of {} tests failed", tests.len())),
        },
        Err(trouble) => Ending::Failed(trouble.to_string()),
    };
    Outcome { ending, tests, notes: Vec::new() }
}
