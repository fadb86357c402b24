//! What a tool call would destroy.
//!
//! [`find`] takes the name of a tool and its arguments and looks at every string in them, as a shell line (`shell.rs`, judged by
//! `command.rs` and the files beside it), as SQL (`sql.rs`) and as a call in a programming language (`call.rs`). Quoting, line
//! continuations, variables, wrappers such as `sudo` and shells within shells are read as a shell reads them, so that what counts
//! is what would run and not how it is spelled. What is only mentioned, as in `grep "rm -rf"`, is an argument and does not run.
//!
//! - Never quadratic: every text is read a fixed number of times, and shells within shells are followed [`DEPTH`] deep.
//! - A text that is read by people (a subject, a message) is left alone, unless the tool itself runs commands.
//!
//! To add a command: an arm in the file of its category, and lines in `tests.rs` for what is told and what is not.

mod arguments;
mod call;
mod cloud;
mod command;
mod database;
mod disk;
mod files;
mod git;
mod shell;
mod sql;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

/// How many shells within shells are followed.
const DEPTH: u8 = 4;

/// What would be destroyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Files and directories.
    Files,
    /// Disks and file systems.
    Disk,
    /// The running system and who may use it.
    System,
    /// The history of a repository.
    Git,
    /// What a database holds.
    Database,
    /// What runs and lies at a cloud provider.
    Cloud,
    /// What a cluster runs.
    Cluster,
    /// What an infrastructure is described to be.
    Infrastructure,
    /// Containers, their images and volumes.
    Containers,
    /// Code that nobody has read would run.
    RemoteCode,
    /// What others build upon.
    Packages,
}

/// How bad it would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Destroys, in an ordinary way.
    Risky,
    /// A catastrophe that is hard to undo.
    Grave,
}

/// Something that a call would destroy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Danger {
    /// What.
    pub category: Category,
    /// How bad it would be.
    pub severity: Severity,
    /// Why, in words that name the command and never its values.
    pub reason: &'static str,
    /// Which argument says so, as a JSON pointer; empty for the name of the tool.
    pub argument: String,
}

/// What is told of one text: category, severity and reason.
type Told = (Category, Severity, &'static str);

/// What is told of one text, each thing once: a text may say the same thing many times.
#[derive(Default)]
struct Findings(BTreeSet<Told>);

impl Findings {
    fn push(&mut self, told: Told) {
        self.0.insert(told);
    }
}

/// What the call would destroy, the worst first. Each reason is told once for an argument.
#[must_use]
pub fn find(tool: &str, arguments: &Value) -> Vec<Danger> {
    let mut dangers = Vec::new();
    if let Some((category, severity, reason)) = call::named(tool) {
        dangers.push(Danger { category, severity, reason, argument: String::new() });
    }
    arguments::visit(tool, arguments, &mut |argument, text| {
        for (category, severity, reason) in judge(text).0 {
            let danger = Danger { category, severity, reason, argument: argument.to_owned() };
            if !dangers.contains(&danger) {
                dangers.push(danger);
            }
        }
    });
    dangers.sort_by_key(|danger| Reverse(danger.severity));
    dangers
}

/// What one text would destroy, whoever runs it.
fn judge(text: &str) -> Findings {
    if !call::may_matter(text) {
        return Findings::default();
    }
    let mut told = Findings::default();
    command::judge(text, DEPTH, &mut told);
    sql::judge(text, &mut told);
    call::judge(text, &mut told);
    told
}
