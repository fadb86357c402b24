//! The dashboard: its types, its vendored files, and its suites in a real browser, served by the real gateway.

use std::time::Duration;

use super::{Chosen, Outcome, browser, clients};
use crate::process::Trouble;
use crate::world::World;

/// Every page is opened three times over, by a gateway without optimisation.
const LIMIT: Duration = Duration::from_secs(1_500);

pub(super) fn run(world: &World, _: &Chosen) -> Outcome {
    if let Err(trouble) = browser::install_packages(world) {
        return Outcome::failed(format!("npm packages: {trouble}"));
    }
    if let Err(reason) = clients::build(world) {
        return Outcome::failed(reason);
    }
    check(world).and_then(|()| suites(world)).into()
}

/// What the editor would underline, and whether vendored and generated files are what they claim to be.
fn check(world: &World) -> Result<(), Trouble> {
    world.run(world.command("npm").args(["run", "--silent", "check:dashboard"]))
}

fn suites(world: &World) -> Result<(), Trouble> {
    let mut command = world.command("node");
    // One after another: each has a gateway and a browser of its own, and some are about time.
    command.args(["--test", "--test-concurrency=1", "--test-reporter=spec"]);
    command.args(browser::suites(&world.root.join("tests/browser/dashboard")));
    command.env("PUNK_TEST_BINARY", world.target.join("debug/punk"));
    world.run_within(&mut command, Some(LIMIT))
}
