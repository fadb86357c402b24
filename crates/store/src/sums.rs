//! What a commit adds to the sums over runs, and what events that were given up had added.
//!
//! A run counts once, on the day it began: for its agent when it first says who asks, for its usage when it ends. What an
//! agent did counts event by event, each on its own day. What [`RANGE_SEALED`] says of the runs it gave up counts in their
//! place, so that a rebuild comes to the same.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use ledger::Event;
use schema::{Day, Digest, RunId};
use serde::de::DeserializeOwned;

use crate::agent::{AgentRow, add_agent};
use crate::conduct::{ConductRow, add_conduct};
use crate::run::{RANGE_SEALED, RunRow};
use crate::usage::{UsageRow, add_usage};

/// Sums by what they are over, in the order in which their rows are locked.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Sums {
    pub(crate) usage: BTreeMap<(Day, Digest), UsageRow>,
    pub(crate) agents: BTreeMap<String, AgentRow>,
    pub(crate) conduct: BTreeMap<(String, Day), ConductRow>,
}

impl Sums {
    /// The row of a run after `events`, whose row before them was `before`; adds what they add. Whoever follows all events of
    /// a run at once comes to the same as whoever follows them one by one.
    pub(crate) fn follow(&mut self, before: Option<&RunRow>, id: RunId, events: &[Event]) -> Option<RunRow> {
        let mut row = before.cloned();
        for event in events {
            let had_ended = row.as_ref().is_some_and(|row| row.finished);
            let after = RunRow::fold(row, id, event);
            if let Some(more) = ConductRow::of(&after, event, after.finished && !had_ended) {
                add_conduct(&mut self.conduct, more);
            }
            row = Some(after);
        }
        if let Some(after) = &row {
            self.add_run(before, after);
        }
        row
    }

    /// Adds what a run has come to since it was as before.
    fn add_run(&mut self, before: Option<&RunRow>, after: &RunRow) {
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
            let conduct = list::<ConductRow>(event, "conduct");
            conduct.into_iter().for_each(|row| add_conduct(&mut self.conduct, row));
        }
    }
}

fn list<T: DeserializeOwned>(event: &Event, name: &str) -> Vec<T> {
    let value = event.payload.get(name).and_then(ledger::Field::value).cloned();
    value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

impl AddAssign<&Self> for Sums {
    fn add_assign(&mut self, other: &Self) {
        other.usage.values().for_each(|row| add_usage(&mut self.usage, row.clone()));
        other.agents.values().for_each(|row| add_agent(&mut self.agents, row.clone()));
        other.conduct.values().for_each(|row| add_conduct(&mut self.conduct, row.clone()));
    }
}

/// What runs came to that are about to be given up, for the fields `usage`, `agents` and `conduct` of [`RANGE_SEALED`]. What
/// each of them says that its agent did is in `conduct`, by [`conduct_of`](crate::conduct_of).
#[must_use]
pub fn sums_of(
    runs: &[&RunRow],
    conduct: Vec<ConductRow>,
) -> (Vec<UsageRow>, Vec<AgentRow>, Vec<ConductRow>) {
    let mut sums = Sums::default();
    runs.iter().for_each(|run| sums.add_run(None, run));
    conduct.into_iter().for_each(|row| add_conduct(&mut sums.conduct, row));
    let Sums { usage, agents, conduct } = sums;
    (usage.into_values().collect(), agents.into_values().collect(), conduct.into_values().collect())
}
