//! `cargo xtask soak`: what takes too long for every commit. Each job runs for as long as it is told.
//!
//! To add a job: one entry in [`JOBS`].

use crate::args::Soak;
use crate::run::{Verdict, open, sum_up, timed};
use crate::service::Kind;
use crate::step::{Outcome, fuzz};
use crate::tool::{CXX, FUZZ, POSTGRES, Tool, install_absent};
use crate::world::World;

struct Job {
    name: &'static str,
    tools: &'static [&'static Tool],
    services: &'static [Kind],
    run: fn(&World, &Soak) -> Outcome,
}

const JOBS: &[Job] = &[
    Job { name: "kill", tools: &[&POSTGRES], services: &[Kind::Postgres], run: kill_often },
    Job { name: "mixed", tools: &[], services: &[], run: mixed_load },
    Job { name: "fuzz", tools: &[&FUZZ, &CXX], services: &[], run: fuzz_long },
];

/// How often the kill harness kills in a soak; `cargo xtask test` runs a few rounds of the same.
const KILLS: &str = "50";

/// Runs the jobs that the filter names, or all.
pub(crate) fn run(soak: &Soak) -> Result<Verdict, String> {
    let mut world = open()?;
    let mut finished = Vec::new();
    for job in chosen(soak.filter.as_deref()) {
        install_absent(&world, job.tools)?;
        world.start(job.services)?;
        finished.push(timed(job.name, || (job.run)(&world, soak)));
        if world.stop.requested() {
            return Ok(Verdict::Interrupted);
        }
    }
    Ok(sum_up(&finished))
}

/// A filter that is no job's name is a part of the name of fuzz targets.
fn chosen(filter: Option<&str>) -> impl Iterator<Item = &'static Job> {
    let wanted =
        filter.map(|filter| JOBS.iter().find(|job| job.name == filter).map_or("fuzz", |job| job.name));
    JOBS.iter().filter(move |job| wanted.is_none_or(|wanted| job.name == wanted))
}

fn kill_often(world: &World, _: &Soak) -> Outcome {
    // Not by nextest, which ends a test that takes minutes.
    let mut tests =
        world.cargo(["test", "--locked", "--package", "cli", "--test", "kill", "--test", "outage"]);
    tests.args(["--", "--nocapture", "--test-threads=1"]);
    world.run(tests.env("PUNK_KILL_ROUNDS", KILLS)).into()
}

/// Mixed load with faults, on the program as it is released.
fn mixed_load(world: &World, soak: &Soak) -> Outcome {
    let mut test = world.cargo(["test", "--locked", "--release", "--package", "cli", "--test", "soak"]);
    test.args(["--", "--nocapture"]);
    test.env("PUNK_SOAK_SECONDS", soak.seconds.to_string());
    world.run(test.env("PUNK_SOAK_JSON", if soak.json { "1" } else { "0" })).into()
}

/// Collects inputs in the cache folder, so that the next soak begins where this one ended.
fn fuzz_long(world: &World, soak: &Soak) -> Outcome {
    let all = match fuzz::targets(world) {
        Ok(targets) => targets,
        Err(reason) => return Outcome::failed(reason),
    };
    let filter = soak.filter.as_deref().filter(|filter| JOBS.iter().all(|job| job.name != *filter));
    let wanted: Vec<String> =
        all.iter().filter(|target| filter.is_none_or(|filter| target.contains(filter))).cloned().collect();
    if wanted.is_empty() {
        return match filter {
            Some(filter) => Outcome::failed(format!(
                "no fuzz target has `{filter}` in its name; there are: {}",
                all.join(", ")
            )),
            None => Outcome::skipped("there are no fuzz targets"),
        };
    }
    let corpora = world.cache.join("corpus");
    let outcome = fuzz::run(world, &wanted, fuzz::Effort::Long(soak.seconds), &corpora);
    if soak.keep && matches!(outcome.ending, crate::step::Ending::Passed) {
        return fuzz::keep(world, &wanted, &corpora);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_chooses_one_job() {
        let names = |filter| chosen(filter).map(|job| job.name).collect::<Vec<_>>();
        assert_eq!(names(None), ["kill", "mixed", "fuzz"]);
        assert_eq!(names(Some("kill")), ["kill"]);
        assert_eq!(names(Some("mixed")), ["mixed"]);
        assert_eq!(names(Some("fuzz")), ["fuzz"]);
        assert_eq!(names(Some("packet")), ["fuzz"]);
    }
}
