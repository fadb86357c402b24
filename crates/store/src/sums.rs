//! What a commit adds to the sums over runs, and what events that were given up had added.
//!
//! A run counts once, on the day it began: for its agent when it first says who asks, for its usage when it ends. What
//! [`RANGE_SEALED`] says of the runs it gave up counts in their place, so that a rebuild comes to the same.

use std::collections::BTreeMap;

use ledger::Event;
use schema::{Day, Digest};
use serde::de::DeserializeOwned;

use crate::agent::{AgentRow, add_agent};
use crate::run::{RANGE_SEALED, RunRow};
use crate::usage::{UsageRow, add_usage};

/// Sums by what they are over, in the order in which their rows are locked.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Sums {
    pub(crate) usage: BTreeMap<(Day, Digest), UsageRow>,
    pub(crate) agents: BTreeMap<String, AgentRow>,
}

impl Sums {
    /// Adds what a run has come to since it was as before.
    pub(crate) fn add_run(&mut self, before: Option<&RunRow>, after: &RunRow) {
        if before.and_then(UsageRow::of).is_none()
            && let Some(row) = UsageRow::of(after)
        {
            add_usage(&mut self.usage, row);
        }
        if before.and_then(AgentRow::of).is_none()
            && let Some(row) = AgentRow::of(after)
        {
            add_agent(&mut self.agents, row);
        }
    }

    /// Adds what the runs came to that an event gave up.
    pub(crate) fn add_sealed(&mut self, event: &Event) {
        if event.r#type == RANGE_SEALED {
            list::<UsageRow>(event, "usage").into_iter().for_each(|row| add_usage(&mut self.usage, row));
            list::<AgentRow>(event, "agents").into_iter().for_each(|row| add_agent(&mut self.agents, row));
        }
    }
}

fn list<T: DeserializeOwned>(event: &Event, name: &str) -> Vec<T> {
    let value = event.payload.get(name).and_then(ledger::Field::value).cloned();
    value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

/// What runs came to that are about to be given up, for the fields `usage` and `agents` of [`RANGE_SEALED`].
#[must_use]
pub fn sums_of(runs: &[&RunRow]) -> (Vec<UsageRow>, Vec<AgentRow>) {
    let mut sums = Sums::default();
    runs.iter().for_each(|run| sums.add_run(None, run));
    (sums.usage.into_values().collect(), sums.agents.into_values().collect())
}
