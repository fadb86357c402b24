//! Checking a journal without opening it for writing: for auditors, and for files that are in use.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use ledger::Leaf;
use ledger::audit::Audit;
use schema::{Digest, TenantId};

use crate::journal::OpenError;
use crate::line::Line;

/// What a journal was found to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Events whose chains hold.
    pub events: u64,
    /// Bytes of an append that a crash cut short, or that is being written right now.
    pub torn_bytes: usize,
    /// Each tenant's log: its size and root.
    pub logs: Vec<(TenantId, u64, Digest)>,
}

/// Reads every line of the journal at `path` and checks every chain and leaf. Changes nothing.
///
/// # Errors
/// The first line that is not what was written there.
pub fn check(path: &Path) -> Result<Checked, OpenError> {
    let io = |cause| OpenError::Io { path: path.to_owned(), cause };
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path).map_err(io)?);
    let mut tenants: HashMap<TenantId, Audit> = HashMap::new();
    let mut bytes = Vec::new();
    let mut torn_bytes = 0;
    for number in 1.. {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes).map_err(io)? == 0 {
            break;
        }
        if bytes.last() != Some(&b'\n') {
            torn_bytes = bytes.len();
            break;
        }
        let damaged = |detail: String| OpenError::Damaged { path: path.to_owned(), line: number, detail };
        let line: Line<'_> = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        let audit = tenants.entry(line.tenant).or_insert_with(|| Audit::new(line.tenant));
        for event in line.events.iter() {
            audit.event(line.run, event).map_err(|error| damaged(error.to_string()))?;
        }
        if let Some(last) = line.events.last().filter(|_| line.leaf) {
            let leaf = Leaf { run: line.run, seq: last.seq, head: last.hash };
            audit.leaf(leaf).map_err(|error| damaged(error.to_string()))?;
        }
    }
    let events = tenants.values().map(Audit::events).sum();
    let mut logs: Vec<_> =
        tenants.iter().map(|(tenant, audit)| (*tenant, audit.log().size(), audit.log().root())).collect();
    logs.sort();
    Ok(Checked { events, torn_bytes, logs })
}
