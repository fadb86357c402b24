//! The steps that are one cargo command, or nearly.

use std::time::Duration;

use super::{Chosen, Outcome, clients};
use crate::process::Trouble;
use crate::world::World;

pub(super) fn fmt(world: &World, _: &Chosen) -> Outcome {
    let main = world.run(&mut world.cargo(["fmt", "--all", "--check"]));
    // fuzz/ is a workspace of its own, which `--all` does not see.
    let fuzz = world.root.join("fuzz/fuzz_targets");
    let both = main.and_then(|()| match fuzz.exists() {
        true => world.run(&mut world.cargo(["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"])),
        false => Ok(()),
    });
    match both {
        Err(Trouble::Failed(_)) => Outcome::failed("not formatted: run `cargo fmt --all`"),
        other => other.into(),
    }
}

pub(super) fn clippy(world: &World, _: &Chosen) -> Outcome {
    let arguments = ["clippy", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"];
    world.run(&mut world.cargo(arguments)).into()
}

pub(super) fn machete(world: &World, _: &Chosen) -> Outcome {
    world.run(&mut world.cargo(["machete"])).into()
}

pub(super) fn doc(world: &World, _: &Chosen) -> Outcome {
    world.run(&mut world.cargo(["test", "--locked", "--workspace", "--doc"])).into()
}

/// Of the build that tests use: its figures are others than those of an optimised one, and guard as well.
pub(super) fn instructions(world: &World, _: &Chosen) -> Outcome {
    if let Err(reason) = clients::build(world) {
        return Outcome::failed(reason);
    }
    let mut count =
        world.cargo(["run", "--locked", "--package", "gateway-bench", "--", "instructions", "--punk"]);
    count.arg(world.target.join("debug/punk"));
    world.run_within(&mut count, Some(Duration::from_secs(900))).into()
}

/// Licences, bans and sources need no network. The advisory database lives on GitHub, which a closed machine cannot
/// reach: then the summary says that nobody looked, and the step does not fail for it.
pub(super) fn deny(world: &World, _: &Chosen) -> Outcome {
    let main = world.run(&mut world.cargo(["deny", "--locked", "check", "licenses", "bans", "sources"]));
    if let Err(trouble) = main {
        return Outcome::failed(trouble.to_string());
    }
    let fetch = &mut world.cargo(["deny", "--locked", "fetch", "db"]);
    match world.run_within(fetch, Some(Duration::from_secs(90))) {
        Ok(()) => {
            let arguments = ["deny", "--locked", "check", "--disable-fetch", "advisories"];
            world.run(&mut world.cargo(arguments)).into()
        }
        Err(Trouble::Interrupted) => Outcome::failed("interrupted"),
        Err(_) => {
            let note = "advisories: NOT CHECKED, database out of reach";
            println!("\n{note}\n");
            Outcome { notes: vec![note.into()], ..Outcome::default() }
        }
    }
}
