//! The agents that were seen: a view, added to once for each run, when it says who asks.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use async_trait::async_trait;
use schema::{RunKind, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StoreError;
use crate::run::RunRow;

/// An agent as its runs show it. It stays when they are given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRow {
    /// What it calls itself.
    pub name: String,
    /// When its first run began.
    pub first_seen_at: Timestamp,
    /// When its newest run began.
    pub last_seen_at: Timestamp,
    /// How many runs it began.
    pub runs: u64,
}

impl AgentRow {
    /// The agent that a run shows.
    pub(crate) fn of(run: &RunRow) -> Option<Self> {
        Some(Self::at(agent_of(run)?, run.started_at))
    }

    /// The agent of a run that began then.
    pub(crate) fn at(name: &str, at: Timestamp) -> Self {
        Self { name: name.to_owned(), first_seen_at: at, last_seen_at: at, runs: 1 }
    }

    /// One more run, which began then.
    pub(crate) fn seen(&mut self, at: Timestamp) {
        self.first_seen_at = self.first_seen_at.min(at);
        self.last_seen_at = self.last_seen_at.max(at);
        self.runs += 1;
    }

    /// Both together.
    pub(crate) fn join(&mut self, other: &Self) {
        self.first_seen_at = self.first_seen_at.min(other.first_seen_at);
        self.last_seen_at = self.last_seen_at.max(other.last_seen_at);
        self.runs += other.runs;
    }
}

/// The name of the agent that a run shows. Records of the ledger about itself show none.
pub(crate) fn agent_of(run: &RunRow) -> Option<&str> {
    let kind = run.fields.get("kind").and_then(|kind| RunKind::deserialize(kind).ok());
    run.fields.get("agent").and_then(Value::as_str).filter(|_| kind != Some(RunKind::Audit))
}

/// Adds agents up by their names.
pub(crate) fn add_agent(agents: &mut BTreeMap<String, AgentRow>, row: AgentRow) {
    match agents.get_mut(&row.name) {
        Some(agent) => agent.join(&row),
        None => drop(agents.insert(row.name.clone(), row)),
    }
}

/// Lists the agents that were seen. The handle carries the tenant.
#[async_trait]
pub trait AgentStore: Send + Sync {
    /// Agents in the order of their names, past `after`, at most `limit`.
    async fn agents(&self, after: Option<&str>, limit: NonZeroU32) -> Result<Vec<AgentRow>, StoreError>;

    /// The agent of this name, if it was seen.
    async fn agent(&self, name: &str) -> Result<Option<AgentRow>, StoreError>;
}
