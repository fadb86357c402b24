//! `cargo xtask`: the one command that a contributor, and CI, runs.
//!
//! `cargo xtask test` installs what is missing, starts private servers in a temporary folder, runs every
//! step and stops what it started: after success, failure, panic, Ctrl-C or SIGTERM alike. There is no
//! second way to test this repository, and no state that a run needs from the one before.
//!
//! Start at `step/mod.rs`, the list of steps; `run.rs` walks it. `world.rs` is what a step can use,
//! `tool.rs` what can be installed, `service/` what can be started.
//!
//! - A run installs only what is absent, and says so (`tool.rs`).
//! - Every process is a child of this one, in its own group, and is stopped when its owner is dropped (`process.rs`).
//! - All steps run even when one fails; the exit code is 0 only if none did.
//!
//! To add a suite: one entry in `step::STEPS`. To add a long one: one entry in `soak::JOBS`.
#![allow(
    clippy::disallowed_methods,
    reason = "a build tool measures its own steps; nothing here is replayed"
)]

mod args;
mod junit;
mod process;
mod run;
mod service;
mod soak;
mod step;
mod stop;
mod summary;
mod tool;
mod world;

use std::process::ExitCode;

use args::Request;

fn main() -> ExitCode {
    let request = match args::parse(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(wrong) => {
            eprintln!("error: {wrong}\n\n{}", args::help());
            return ExitCode::from(2);
        }
    };
    let done = match request {
        Request::Help => {
            println!("{}", args::help());
            return ExitCode::SUCCESS;
        }
        Request::Test { filter } => run::test(filter.as_deref()),
        Request::Soak(soak) => soak::run(&soak),
        Request::Bench => run::bench(),
    };
    match done {
        Ok(run::Verdict::AllPassed) => ExitCode::SUCCESS,
        Ok(run::Verdict::SomeFailed) => ExitCode::FAILURE,
        Ok(run::Verdict::Interrupted) => {
            eprintln!("interrupted; everything this run started is stopped");
            ExitCode::from(130)
        }
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}
