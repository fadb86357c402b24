//! Fuzzing: seconds per target in `test`, minutes in `soak`.
//!
//! In `test` every target begins from the same seed and tries the same number of inputs, so that a commit that passes once passes
//! again; what nobody has tried yet is for `soak` to find.
//!
//! The committed inputs, a few by hand in `fuzz/seeds/<target>` and what fuzzing found in `fuzz/corpus/<target>.tar.gz`,
//! are read and never written, except by `soak --keep`. What libFuzzer finds goes to a working folder outside the tree,
//! and a crashing input to `fuzz/artifacts`, where git does not look.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Chosen, Outcome};
use crate::world::World;

/// What is tried of one target.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// The same inputs every time.
    Short,
    /// Others every time, for so many seconds.
    Long(u64),
}

/// Inputs of a short run, which takes a few seconds, and the seconds after which a machine is too slow for all of them.
const SHORT_RUNS: u32 = 15_000;
const SHORT_SECONDS: u64 = 20;

impl Effort {
    /// In libFuzzer's words. Progress is worth a line now and then in a long run, and noise in a short one.
    fn options(self) -> Vec<String> {
        match self {
            Self::Short => vec![
                "-seed=1".to_owned(),
                format!("-runs={SHORT_RUNS}"),
                format!("-max_total_time={SHORT_SECONDS}"),
                "-verbosity=0".to_owned(),
            ],
            Self::Long(seconds) => vec![format!("-max_total_time={seconds}"), "-verbosity=1".to_owned()],
        }
    }
}

/// The step of `cargo xtask test`: a new working folder each time, so that runs do not depend on each other.
pub(super) fn short(world: &World, _: &Chosen) -> Outcome {
    match targets(world) {
        Err(reason) => Outcome::failed(reason),
        Ok(targets) if targets.is_empty() => Outcome::skipped("there are no fuzz targets"),
        Ok(targets) => run(world, &targets, Effort::Short, &world.folder().join("fuzz")),
    }
}

/// The names of the fuzz targets; none, if there is no `fuzz` crate.
pub(crate) fn targets(world: &World) -> Result<Vec<String>, String> {
    if !world.root.join("fuzz/Cargo.toml").exists() {
        return Ok(Vec::new());
    }
    let list = world.output(&mut cargo_fuzz(world, &["list"]))?;
    Ok(list.split_whitespace().map(String::from).collect())
}

/// Runs each target, collecting inputs below `corpora`. Every target runs, also after one has failed.
pub(crate) fn run(world: &World, targets: &[String], effort: Effort, corpora: &Path) -> Outcome {
    let fetched = world.fetch("fuzz/Cargo.toml");
    let built = fetched
        .and_then(|()| world.run(&mut cargo_fuzz(world, &["build", "--target-dir", &build_folder(world)])));
    if let Err(trouble) = built {
        return Outcome::failed(trouble.to_string());
    }
    let mut failed = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        println!("fuzz target {target}, {} of {}", index + 1, targets.len());
        let effort = effort.options();
        let mut options: Vec<&str> = effort.iter().map(String::as_str).collect();
        options.extend(["-rss_limit_mb=4096", "-print_final_stats=1", "-print_funcs=0"]);
        let result = inputs(world, target, corpora).and_then(|inputs| fuzz(world, target, &inputs, &options));
        if let Err(reason) = result {
            failed.push(format!("{target}: {reason}"));
        }
        if world.stop.requested() {
            break;
        }
    }
    match failed.is_empty() {
        true => Outcome::default(),
        false => Outcome::failed(format!("{}; a crashing input is in fuzz/artifacts", failed.join("; "))),
    }
}

/// Packs what reaches code into the committed corpus: libFuzzer merges into an empty folder what adds coverage.
pub(crate) fn keep(world: &World, targets: &[String], corpora: &Path) -> Outcome {
    let kept = targets.iter().try_for_each(|target| {
        let merged = world.folder().join("merged").join(target);
        fs::create_dir_all(&merged)
            .map_err(|error| format!("cannot create {}: {error}", merged.display()))?;
        fuzz(world, target, &[merged.clone(), corpora.join(target), seeds(world, target)], &["-merge=1"])?;
        // The same inputs make the same archive, whoever packs them and when.
        let mut tar = world.command("tar");
        tar.args([
            "--sort=name",
            "--mtime=@0",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "--use-compress-program=gzip -9n",
        ]);
        tar.arg("-cf").arg(archive(world, target)).arg("-C").arg(&merged).arg(".");
        world.run(&mut tar).map_err(|trouble| trouble.to_string())
    });
    kept.into()
}

/// The folders of a target's inputs: the one that libFuzzer writes to, begun from the committed corpus, then the seeds.
fn inputs(world: &World, target: &str, corpora: &Path) -> Result<Vec<PathBuf>, String> {
    let working = corpora.join(target);
    fs::create_dir_all(&working).map_err(|error| format!("cannot create {}: {error}", working.display()))?;
    let archive = archive(world, target);
    if archive.exists() {
        let mut tar = world.command("tar");
        tar.arg("-xzf").arg(archive).arg("-C").arg(&working);
        world.run(&mut tar).map_err(|trouble| trouble.to_string())?;
    }
    let seeds = seeds(world, target);
    Ok(if seeds.is_dir() { vec![working, seeds] } else { vec![working] })
}

fn archive(world: &World, target: &str) -> PathBuf {
    world.root.join("fuzz/corpus").join(format!("{target}.tar.gz"))
}

fn seeds(world: &World, target: &str) -> PathBuf {
    world.root.join("fuzz/seeds").join(target)
}

fn fuzz(world: &World, target: &str, inputs: &[PathBuf], options: &[&str]) -> Result<(), String> {
    let mut command = cargo_fuzz(world, &["run", "--target-dir", &build_folder(world), target]);
    command.args(inputs).arg("--").args(options);
    world.run(&mut command).map_err(|trouble| trouble.to_string())
}

/// Apart from the other builds: every dependency is compiled again here, with the sanitizer.
fn build_folder(world: &World) -> String {
    world.target.join("fuzz").display().to_string()
}

fn cargo_fuzz(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.cargo(["fuzz"]);
    // The sanitizer's flag is for nightly compilers; a stable one takes it when told so.
    command.args(arguments).env("RUSTC_BOOTSTRAP", "1");
    command
}
