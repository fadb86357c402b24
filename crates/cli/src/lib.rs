//! The command line: `punk`.
//!
//! [`main`] parses the arguments, runs one command and prints its `Answer`, for people or, with
//! `--json`, for machines. `args.rs` is what can be typed, and there is a file per command: it reads
//! what it needs, returns an answer or a `Failure`, and prints nothing itself.
//!
//! - What a command found goes to standard output, what went wrong to standard error.
//! - The exit code says how it ended; `exit.rs` lists them all.
//! - A refused command has written nothing.
//!
//! To add a command: a variant of `args::Command`, a file here, an arm in `run`, a test in
//! `tests/`; then `UPDATE_EXPECT=1 cargo test -p cli --test reference`.

mod agents;
mod answer;
mod approvals;
mod args;
mod audit;
mod background;
mod backup;
mod budgets;
mod clock;
mod completions;
mod config_command;
mod demo;
mod doctor;
mod exceptions;
mod exit;
mod export;
mod failure;
mod federation;
mod gateway_client;
mod given_back;
mod handover;
mod keys;
mod learn;
mod master_key;
mod models;
mod new_file;
mod observe;
mod open_files;
mod overview;
mod policy;
mod progress;
mod rebuild;
pub mod reference;
mod restore;
mod runtime;
mod secrets;
mod serve;
mod settings;
mod sinks;
mod stop;
mod storage;
mod users;
mod vault_command;
mod verify;
mod version;
mod withhold;
mod worker;

use answer::Answer;
use args::{Args, Command};
use clap::Parser as _;
pub use exit::Exit;
use failure::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program on the arguments of the process.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // Looked for by hand, because a command line that does not parse still deserves its answer in JSON.
    let json = arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    let outcome = match Args::try_parse_from(&arguments) {
        Ok(args) => run(&args),
        Err(error) => args::answer(&error),
    };
    let exit = match &outcome {
        Ok(answer) => {
            answer.print(json);
            answer.exit
        }
        Err(failure) => {
            failure.print(json);
            failure.exit
        }
    };
    exit.into()
}

fn run(args: &Args) -> Result<Answer, Failure> {
    match &args.command {
        None => Ok(overview::run()),
        Some(Command::Serve) => serve::run(&args.common),
        Some(Command::Demo(command)) => demo::run(&args.common, command),
        Some(Command::Worker) => worker::run(&args.common),
        Some(Command::Verify(command)) => verify::run(command),
        Some(Command::Withhold(command)) => withhold::run(command),
        Some(Command::Backup { file }) => backup::run(&args.common, file),
        Some(Command::Restore(command)) => restore::run(&args.common, command),
        Some(Command::Rebuild) => rebuild::run(&args.common),
        Some(Command::Export(command)) => export::run(&args.common, command),
        Some(Command::Policy(command)) => policy::run(&args.common, command),
        Some(Command::Approvals(command)) => approvals::run(&args.common, command),
        Some(Command::Agents(command)) => agents::run(&args.common, command),
        Some(Command::Exceptions(command)) => exceptions::run(&args.common, command),
        Some(Command::Budgets(command)) => budgets::run(&args.common, command),
        Some(Command::Learn(command)) => learn::run(&args.common, command),
        Some(Command::Audit(command)) => audit::run(&args.common, command),
        Some(Command::Users(command)) => users::run(&args.common, command),
        Some(Command::Keys(command)) => keys::run(&args.common, command),
        Some(Command::Vault(command)) => vault_command::run(&args.common, command),
        Some(Command::Config(command)) => config_command::run(&args.common, command),
        Some(Command::Doctor) => Ok(doctor::run(&args.common)),
        Some(Command::Version) => Ok(version::run()),
        Some(Command::Completions { shell }) => Ok(completions::run(*shell)),
    }
}
