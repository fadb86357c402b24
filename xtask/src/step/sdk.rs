//! The TypeScript SDK: `sdk/typescript`, built, and its suite run against the real gateway in every runtime that it promises.
//!
//! The suites start what they need themselves; this only installs, builds, and says where the gateway's binary is.

use std::process::Command;
use std::time::Duration;

use super::{Chosen, Outcome, browser, clients, packages};
use crate::process::Trouble;
use crate::world::World;

/// Where it is.
const FOLDER: &str = "sdk/typescript";
/// A browser or a runtime that hangs would otherwise hold the run for ever.
const LIMIT: Duration = Duration::from_secs(600);

pub(super) fn run(world: &World, _: &Chosen) -> Outcome {
    let prepared = packages::sdk(world).and_then(|()| clients::build(world));
    match prepared {
        Err(reason) => Outcome::failed(reason),
        Ok(()) => build(world).and_then(|()| suites(world)).into(),
    }
}

/// `dist/`, which the suites load as a program would.
pub(super) fn build(world: &World) -> Result<(), Trouble> {
    world.run(node(world).arg("scripts/build.mjs"))
}

fn suites(world: &World) -> Result<(), Trouble> {
    let mut command = node(world);
    // One after another: each has gateways of its own, and some cases are about time.
    command.args(["--test", "--test-concurrency=1", "--test-reporter=spec"]);
    command.args(browser::suites(&world.root.join(FOLDER).join("tests")));
    command.env("PUNK_TEST_BINARY", world.target.join("debug/punk"));
    world.run_within(&mut command, Some(LIMIT))
}

fn node(world: &World) -> Command {
    let mut command = world.command("node");
    command.current_dir(world.root.join(FOLDER));
    command
}
