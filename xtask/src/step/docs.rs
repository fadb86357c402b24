//! The documents: `tests/docs` executes every command in `README.md` and below `docs/`, against gateways of its own.
//!
//! Readers are told to install clients; here they have those of the client tests, and the SDK of this repository.

use std::env;
use std::path::Path;
use std::time::Duration;

use super::{Chosen, Outcome, browser, clients, packages, sdk};
use crate::world::World;

/// A command that waits for something would otherwise hold the run for ever.
const LIMIT: Duration = Duration::from_secs(600);

pub(super) fn run(world: &World, _: &Chosen) -> Outcome {
    suites(world).into()
}

fn suites(world: &World) -> Result<(), String> {
    let (node, python) = (packages::node(world)?, packages::python(world)?);
    packages::sdk(world)?;
    clients::build(world)?;
    sdk::build(world).map_err(|trouble| format!("the SDK does not build: {trouble}"))?;
    let folders = [Some(python.as_path()), node.parent()].into_iter().flatten();
    let path = env::join_paths(folders).map_err(|error| format!("no path of programs: {error}"))?;
    let mut command = world.command("node");
    // Each document has a gateway of its own; those of several files would only wait for each other.
    command.args(["--test", "--test-concurrency=1", "--test-reporter=spec"]);
    command.args(browser::suites(&world.root.join("tests/docs")));
    command.env("PUNK_TEST_BINARY", world.target.join("debug/punk")).env("PUNK_DOCS_PATH", path);
    let modules = node.ancestors().find(|folder| folder.ends_with("node_modules"));
    command.env("PUNK_DOCS_NODE_MODULES", modules.unwrap_or(Path::new("")));
    world.run_within(&mut command, Some(LIMIT)).map_err(|trouble| trouble.to_string())
}
