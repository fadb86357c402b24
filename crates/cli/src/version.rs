//! `punk version`: which Punk this is, for bug reports and scripts.

use crate::answer::{Answer, columns};
use serde_json::json;

/// The formats that this program writes and verifies.
pub(crate) const FORMATS: [&str; 1] = [ledger::packet::FORMAT];

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(crate) const COMMIT: Option<&str> = option_env!("PUNK_BUILD_COMMIT");
pub(crate) const TARGET: &str = env!("PUNK_BUILD_TARGET");

pub(crate) fn run() -> Answer {
    let rows = [
        ["punk", VERSION],
        ["commit", COMMIT.unwrap_or("unknown")],
        ["target", TARGET],
        ["formats", &FORMATS.join(", ")],
    ];
    let json = json!({ "version": VERSION, "commit": COMMIT, "target": TARGET, "formats": FORMATS });
    Answer::success(columns(&rows.map(|row| row.map(str::to_owned))), json)
}
