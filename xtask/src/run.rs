//! Walks the chosen steps: prepares what they need, runs them all, sums up.

use std::time::Instant;

use crate::service::Kind;
use crate::step::{self, Chosen, Ending, Outcome};
use crate::stop::Stop;
use crate::summary::{self, Finished};
use crate::tool::{self, Tool};
use crate::world::World;

/// How a whole run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    AllPassed,
    SomeFailed,
    Interrupted,
}

/// `cargo xtask test`. An error means that the steps could not be prepared, and says what would help.
pub(crate) fn test(filter: Option<&str>) -> Result<Verdict, String> {
    let chosen = step::choose(filter);
    let mut world = open()?;
    let prepared = timed("prepare", || prepare(&mut world, &chosen).into());
    if world.stop.requested() {
        return Ok(Verdict::Interrupted);
    }
    if let Ending::Failed(reason) = prepared.outcome.ending {
        return Err(reason);
    }
    let mut finished = Vec::new();
    for step in &chosen.steps {
        finished.push(timed(step.name, || (step.run)(&world, &chosen)));
        if world.stop.requested() {
            return Ok(Verdict::Interrupted);
        }
    }
    Ok(sum_up(&finished))
}

/// `cargo xtask bench`.
pub(crate) fn bench() -> Result<Verdict, String> {
    let world = open()?;
    let finished =
        timed("bench", || world.run(&mut world.cargo(["bench", "--locked", "--workspace"])).into());
    Ok(if world.stop.requested() { Verdict::Interrupted } else { sum_up(&[finished]) })
}

/// A world that ends when the process is told to.
pub(crate) fn open() -> Result<World, String> {
    World::open(Stop::on_signals().map_err(|error| format!("cannot listen for signals: {error}"))?)
}

fn prepare(world: &mut World, chosen: &Chosen) -> Result<(), String> {
    let mut tools: Vec<&Tool> = Vec::new();
    let mut kinds: Vec<Kind> = Vec::new();
    for step in &chosen.steps {
        tools.extend(step.tools);
        kinds.extend(step.services);
    }
    // Two steps may need the same tool; it is installed once. Servers already look whether they run.
    tools.sort_by_key(|tool| tool.name);
    tools.dedup_by_key(|tool| tool.name);
    tool::install_absent(world, &tools)?;
    world.fetch("Cargo.toml").map_err(|trouble| format!("cannot fetch the crates: {trouble}"))?;
    world.start(&kinds)
}

/// Runs `step` under a headline, and says how long it took.
pub(crate) fn timed(name: &str, step: impl FnOnce() -> Outcome) -> Finished {
    println!("\n=== {name}");
    let begun = Instant::now();
    let outcome = step();
    let took = begun.elapsed();
    let ending = match &outcome.ending {
        Ending::Passed => "ok".to_string(),
        Ending::Skipped(reason) => format!("skipped: {reason}"),
        Ending::Failed(reason) => format!("FAILED: {reason}"),
    };
    println!("--- {name}: {ending} ({:.1} s)", took.as_secs_f64());
    Finished { name: name.into(), took, outcome }
}

/// Prints the summary, and gives the verdict that agrees with it.
pub(crate) fn sum_up(finished: &[Finished]) -> Verdict {
    println!("{}", summary::text(finished));
    match summary::count(finished) {
        (_, 0) => Verdict::AllPassed,
        _ => Verdict::SomeFailed,
    }
}
