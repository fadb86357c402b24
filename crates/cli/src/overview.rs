//! Bare `punk`: what there is.

use crate::answer::{Answer, columns};
use crate::args::Args;
use clap::CommandFactory as _;
use serde_json::json;

pub(crate) fn run() -> Answer {
    let command = Args::command();
    let commands: Vec<[String; 2]> = command
        .get_subcommands()
        .map(|command| {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            [format!("  punk {}", command.get_name()), about]
        })
        .collect();
    let json = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commands": commands.iter().map(|[name, about]| {
            json!({ "command": name.trim_start(), "about": about })
        }).collect::<Vec<_>>(),
    });
    let text = format!(
        "Punk {}: an adaptive, governed runtime for AI agents.\n\n{}\n\
         Start with `punk serve`; `punk doctor` says what is in its way, `punk <command> --help` says more about each.\n",
        env!("CARGO_PKG_VERSION"),
        columns(&commands),
    );
    Answer::success(text, json)
}
