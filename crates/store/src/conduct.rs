//! What agents did, day by day: a view, added to by each event that says so, on that event's own day.
//!
//! It is for whoever decides how far an agent is trusted. An event counts for the agent that its run shows by then; records
//! of the ledger about itself count for nobody. Whatever is read here stays readable after an erasure (`sealing.rs`), so
//! that a rebuild comes to the same.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use async_trait::async_trait;
use ledger::Event;
use schema::{Day, Effect, RunId, RunStatus};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::agent::agent_of;
use crate::error::StoreError;
use crate::run::RunRow;
use crate::sums::Sums;

/// The type of the event that says what somebody thinks of an answer: its field `rating` is 1 or -1.
pub(crate) const FEEDBACK: &str = "feedback.recorded";
/// The field of it.
pub(crate) const RATING: &str = "rating";

/// What an agent did on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConductRow {
    /// Who.
    pub agent: String,
    /// The day, in UTC.
    pub day: Day,
    /// Actions that the policy allowed.
    pub allowed: i64,
    /// Actions that somebody had to approve first.
    pub asked: i64,
    /// Actions that a policy denied; not those that a budget or another decision maker did.
    pub denied: i64,
    /// Side effects that were performed.
    pub executed: i64,
    /// Side effects that were kept from happening.
    pub blocked: i64,
    /// Runs that failed.
    pub failed: i64,
    /// Answers that somebody found good.
    pub praised: i64,
    /// Answers that somebody found bad.
    pub corrected: i64,
}

impl ConductRow {
    /// A day on which nothing happened.
    #[must_use]
    pub fn new(agent: String, day: Day) -> Self {
        Self::from_numbers(agent, day, [0; 8])
    }

    /// The numbers in the order of their columns.
    pub(crate) fn numbers(&self) -> [i64; 8] {
        let Self { allowed, asked, denied, executed, blocked, failed, praised, corrected, .. } = self;
        [*allowed, *asked, *denied, *executed, *blocked, *failed, *praised, *corrected]
    }

    pub(crate) fn from_numbers(agent: String, day: Day, numbers: [i64; 8]) -> Self {
        let [allowed, asked, denied, executed, blocked, failed, praised, corrected] = numbers;
        Self { agent, day, allowed, asked, denied, executed, blocked, failed, praised, corrected }
    }

    /// What an event adds, and for whom; `run` is the run's row after it, `is_end` whether it is what ended the run.
    pub(crate) fn of(run: &RunRow, event: &Event, is_end: bool) -> Option<Self> {
        let counted = counted(event, is_end)?;
        let mut row = Self::new(agent_of(run)?.to_owned(), Day::of(event.at));
        *counted(&mut row) += 1;
        Some(row)
    }
}

impl ConductRow {
    /// Adds so much to the numbers.
    pub(crate) fn add(&mut self, numbers: [i64; 8]) {
        let mut sums = self.numbers();
        for (sum, more) in sums.iter_mut().zip(numbers) {
            *sum = sum.saturating_add(more);
        }
        *self = Self::from_numbers(std::mem::take(&mut self.agent), self.day, sums);
    }
}

impl AddAssign<&Self> for ConductRow {
    fn add_assign(&mut self, other: &Self) {
        self.add(other.numbers());
    }
}

/// One of the numbers of a row.
pub(crate) type Number = fn(&mut ConductRow) -> &mut i64;

/// Which number an event adds to.
pub(crate) fn counted(event: &Event, is_end: bool) -> Option<Number> {
    let number: Number = match event.r#type.as_str() {
        "policy.decided" => match member(event, "verdict", "effect")? {
            Effect::Allow => |row| &mut row.allowed,
            Effect::Ask => |row| &mut row.asked,
            Effect::Deny if is_about_others(event) => return None,
            Effect::Deny => |row| &mut row.denied,
        },
        "side_effect.executed" => |row| &mut row.executed,
        "side_effect.blocked" => |row| &mut row.blocked,
        "run.finished" if is_end && field(event, "status") == Some(RunStatus::Failed) => {
            |row| &mut row.failed
        }
        FEEDBACK => match field(event, RATING)? {
            1i64.. => |row| &mut row.praised,
            0 => return None,
            _ => |row| &mut row.corrected,
        },
        _ => return None,
    };
    Some(number)
}

/// Whether something was denied for what the agent cannot help: a budget is empty, another decision maker is away, or it was
/// handed what nobody may send.
fn is_about_others(event: &Event) -> bool {
    let policy: Option<String> = member(event, "verdict", "policy");
    let others = ["budget:", "remote:", "redaction:"];
    policy.is_some_and(|policy| others.iter().any(|other| policy.starts_with(other)))
}

fn field<T: DeserializeOwned>(event: &Event, name: &str) -> Option<T> {
    T::deserialize(event.payload.get(name)?.value()?).ok()
}

fn member<T: DeserializeOwned>(event: &Event, name: &str, member: &str) -> Option<T> {
    T::deserialize(event.payload.get(name)?.value()?.get(member)?).ok()
}

/// What a run's events, all of them, say that its agent did.
#[must_use]
pub fn conduct_of(run: RunId, events: &[Event]) -> Vec<ConductRow> {
    let mut sums = Sums::default();
    sums.follow(None, run, events);
    sums.conduct.into_values().collect()
}

/// Adds rows up by agent and day.
pub(crate) fn add_conduct(conduct: &mut BTreeMap<(String, Day), ConductRow>, row: ConductRow) {
    let place = (row.agent.clone(), row.day);
    match conduct.get_mut(&place) {
        Some(sum) => *sum += &row,
        None => drop(conduct.insert(place, row)),
    }
}

/// Says what agents did. The handle carries the tenant.
#[async_trait]
pub trait ConductStore: Send + Sync {
    /// What the agent did from the day `from` on, in the order of days. A day on which nothing happened is not there.
    async fn conduct(&self, agent: &str, from: Day) -> Result<Vec<ConductRow>, StoreError>;
}
