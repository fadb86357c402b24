//! Configuration: flags over environment over `punk.toml` over defaults.
//!
//! [`load`] takes the [`Sources`] as text and gives [`Settings`], each with its [`Origin`], or every
//! [`Problem`] there is. It is a pure function: reading the file and the environment is the shell's
//! work, so that a fuzzer and a test can call it with anything.
//!
//! Start at [`load`]; `keys/` is the table of everything that can be set, a file per section; `key.rs` is
//! the vocabulary of that table, `source/` has a file per place that settings come from.
//!
//! - Nothing unknown is ignored: a key of the file or a `PUNK_…` variable that is not in the table is a
//!   problem, with the nearest name that is.
//! - All problems are told at once, and none repeats any part of a secret.
//! - `docs/reference/configuration.md` is [`reference::markdown`] of the table; a test compares them.
//! - Tables with names of the user's (`[upstreams.NAME]`) keep all of these promises: `keys/named.rs` says what there
//!   are, `served.rs` and `sink.rs` give them as types.
//!
//! To add a key: a row in the section's file under `keys/`, then `UPDATE_EXPECT=1 cargo test -p config`.

mod federation;
mod key;
mod keys;
mod nearest;
mod origin;
mod problem;
pub mod reference;
mod served;
mod settings;
mod sink;
mod source;
mod value;

pub use federation::{IssuerEntry, OidcEntry};
pub use key::{DefaultValue, Key, Kind, Status};
pub use keys::{Named, Section, all, by_path, named_tables, sections};
pub use origin::Origin;
pub use problem::{Fault, Problem, Problems};
pub use served::{ExactCache, Headers, ModelEntry, PriceEntry, Upstream, UpstreamWire, Vendor};
pub use settings::{LogFormat, Setting, Settings};
pub use sink::{Sink, SinkShape, SinkTarget};
pub use source::{APPROVER_KEY_VARIABLE, FileChoice, FileSource, Flag, Sources, file_choice};
pub use value::Value;

/// The settings that `sources` add up to, or everything that is wrong with them.
pub fn load(sources: &Sources) -> Result<Settings, Problems> {
    let mut problems = Vec::new();
    let file = source::file::read(&sources.file, &mut problems);
    let environment = source::environment::read(&sources.environment, &file.tables, &mut problems);
    source::sink::check(&file, &environment, &mut problems);
    let flags = source::flag::read(&sources.flags, &mut problems);
    if problems.is_empty() {
        // Lowest first: what comes later takes the place of what was there.
        Ok(Settings::of([file.assignments, environment, flags].into_iter().flatten()))
    } else {
        Err(Problems(problems))
    }
}
