//! `punk policy`: what policies say, before they are in force and after.
//!
//! A file per command below. `files.rs` reads a set as the gateway reads it; `situation.rs` is what can be said of somebody who
//! wants to do something, in a grid or on the command line; `grid.rs` is the text of expected decisions. Everything is decided
//! by `governance::decide`, and by nothing here.

mod check;
mod diff;
mod explain;
mod files;
mod grid;
mod replayed;
mod situation;
mod test;

use crate::answer::Answer;
use crate::args::{Common, PolicyCommand};
use crate::failure::Failure;
use schema::{Effect, Verdict};

pub(crate) use situation::decimal;

pub(crate) fn run(common: &Common, command: &PolicyCommand) -> Result<Answer, Failure> {
    match command {
        PolicyCommand::Check { paths } => check::run(common, paths),
        PolicyCommand::Test(args) => test::run(common, args),
        PolicyCommand::Explain(args) => explain::run(common, args),
        PolicyCommand::Diff(args) => diff::run(common, args),
    }
}

/// The word that grids and answers have for an effect.
fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allow",
        Effect::Ask => "ask",
        Effect::Deny => "deny",
    }
}

/// A rule by its policy and its place, as `office#3`; a policy alone where no rule is meant.
fn named(policy: &str, rule: Option<u32>) -> String {
    rule.map_or_else(|| policy.to_owned(), |rule| format!("{policy}#{rule}"))
}

/// What [`named`] wrote.
fn parse_named(text: &str) -> (&str, Option<u32>) {
    match text.rsplit_once('#') {
        Some((policy, rule)) if !policy.is_empty() => match rule.parse() {
            Ok(rule) => (policy, Some(rule)),
            Err(_) => (text, None),
        },
        _ => (text, None),
    }
}

/// A verdict as grids and answers write it: `deny office#3`.
fn told(verdict: &Verdict) -> String {
    format!("{} {}", word(verdict.effect), named(&verdict.policy, verdict.rule))
}
