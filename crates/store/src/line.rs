//! The format on disk: one append is one line of JSON, ended by a newline.
//!
//! A line without its newline was cut short by a crash; nobody was told that it is there, so it is dropped. A line that
//! ends in a newline and cannot be read is damage, and is refused by number.

use ledger::Event;
use schema::{RunId, TenantId};
use serde::{Deserialize, Serialize};

/// One append.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line<'a> {
    pub(crate) tenant: TenantId,
    pub(crate) run: RunId,
    pub(crate) events: std::borrow::Cow<'a, [Event]>,
    /// Whether a leaf over the run was written with these events.
    pub(crate) leaf: bool,
    /// Texts of policies that no earlier line of the tenant has.
    pub(crate) policies: Vec<String>,
}

/// The complete lines of a file, with where each ends; and how many bytes of a torn one follow.
pub(crate) fn complete(bytes: &[u8]) -> (Vec<&[u8]>, usize) {
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let (whole, torn) = bytes.split_at(end);
    let lines = whole.split(|&byte| byte == b'\n').collect::<Vec<_>>();
    // The split leaves one empty piece after the last newline.
    let count = lines.len().saturating_sub(1);
    (lines.into_iter().take(count).collect(), torn.len())
}
