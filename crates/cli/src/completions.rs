//! `punk completions`: a completion script for a shell.

use crate::answer::Answer;
use crate::args::Args;
use clap::CommandFactory as _;
use clap_complete::Shell;
use serde_json::json;

pub(crate) fn run(shell: Shell) -> Answer {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "punk", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let json = json!({ "shell": shell.to_string(), "script": script });
    Answer::success(script, json)
}
