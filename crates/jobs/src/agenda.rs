//! Recurring work: which occurrence is to be made now, and when to look again.
//!
//! The rule needs no memory: **the newest occurrence that has come must have been made.** An occurrence becomes a job
//! whose id follows from tenant, kind and time, so whoever makes it a second time changes nothing: another process, the
//! same one after a restart, one whose clock comes later to that time and finds it done. It is made when its time comes
//! and not before, under one key for each schedule. That has these consequences, and the tests hold them:
//!
//! - Occurrences missed while everything was down, or jumped over by the clock, come to one job: the newest of them.
//! - Two jobs of one schedule never run at once. An occurrence whose predecessor still waits or runs is looked at again
//!   until that one is finished or a newer occurrence takes its place.
//! - A clock that was wrong leaves nothing behind that would stand in the way once it is right.
//! - A schedule that is new, or was changed, has missed its newest occurrence as far as anybody can tell, and runs once
//!   at the start.
//!
//! The second process finds what the first has done as long as finished jobs are kept for longer than clocks differ.
//! [`Agenda`] is pure; `scheduler.rs` does what it asks for.

use std::time::Duration;

use schema::{JobId, TenantId, Timestamp};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use store::NewJob;

use crate::moment::Moment;
use crate::schedule::Schedule;

#[cfg(test)]
mod tests;

/// One schedule has one live job.
const KEY: &str = "schedule";

/// How long to sleep at most: the wall clock may be put forward meanwhile.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How long until an occurrence that could not be made is tried again.
const AGAIN: Duration = Duration::from_secs(10);

/// Work that comes again and again. Its handler cannot tell the occurrence from `run_at` for sure, which a retry moves: it
/// does what is to be done by now.
#[derive(Debug, Clone)]
pub struct Recurring {
    /// What kind of work.
    pub kind: String,
    /// Whose.
    pub tenant: TenantId,
    /// What it is about.
    pub payload: Value,
    /// When.
    pub schedule: Schedule,
    /// How often one occurrence may be tried.
    pub max_attempts: u32,
}

/// Why recurring work is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgendaError {
    /// Their occurrences could not be told apart.
    #[error("two schedules for jobs of the kind `{kind}` of {tenant}")]
    TwoSchedules {
        /// The kind.
        kind: String,
        /// The tenant.
        tenant: TenantId,
    },
}

/// The recurring work of a process, and what it knows of it.
#[derive(Debug)]
pub struct Agenda {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    recurring: Recurring,
    /// The occurrence that is known to have been made. Only saves questions: the store knows better.
    made: Option<Timestamp>,
    /// Not to be tried before this, by `elapsed`.
    not_before: Duration,
}

/// An occurrence that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Due {
    /// Whose.
    pub tenant: TenantId,
    /// The job; its `run_at` is the occurrence.
    pub job: NewJob,
    entry: usize,
}

/// What became of [`Due`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The job is there, whoever made it.
    Made,
    /// It is not: an earlier one of the schedule waits or runs, or the store did not answer.
    NotMade,
}

impl Recurring {
    /// Work without a payload; an occurrence may be tried five times.
    #[must_use]
    pub fn new(kind: impl Into<String>, tenant: TenantId, schedule: Schedule) -> Self {
        Self { kind: kind.into(), tenant, payload: Value::Null, schedule, max_attempts: 5 }
    }

    /// The job that `occurrence` is.
    #[must_use]
    pub fn job(&self, occurrence: Timestamp) -> NewJob {
        NewJob {
            id: occurrence_id(self.tenant, &self.kind, occurrence),
            kind: self.kind.clone(),
            key: Some(KEY.to_owned()),
            payload: self.payload.clone(),
            priority: 0,
            run_at: occurrence,
            max_attempts: self.max_attempts,
        }
    }
}

/// The same for every process, now and later: changing it runs the newest occurrence of every schedule once more.
fn occurrence_id(tenant: TenantId, kind: &str, occurrence: Timestamp) -> JobId {
    let mut hash = Sha256::new_with_prefix(b"punk recurring job\n");
    hash.update(tenant.as_bytes());
    hash.update(occurrence.as_millis().to_be_bytes());
    // The only part of variable length comes last.
    hash.update(kind.as_bytes());
    let digest = hash.finalize();
    let mut distinct = [0; 10];
    distinct.copy_from_slice(&digest[..10]);
    JobId::new(occurrence.as_millis(), distinct)
}

impl Agenda {
    /// An agenda of this work; of one tenant and kind there may be one schedule.
    pub fn new(recurring: Vec<Recurring>) -> Result<Self, AgendaError> {
        let mut entries: Vec<Entry> = Vec::new();
        for recurring in recurring {
            let same = |entry: &Entry| {
                (entry.recurring.tenant, &entry.recurring.kind) == (recurring.tenant, &recurring.kind)
            };
            if entries.iter().any(same) {
                let Recurring { kind, tenant, .. } = recurring;
                return Err(AgendaError::TwoSchedules { kind, tenant });
            }
            entries.push(Entry { recurring, made: None, not_before: Duration::ZERO });
        }
        Ok(Self { entries })
    }

    /// Whether there is nothing that recurs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What is to be made now.
    #[must_use]
    pub fn due(&self, now: Moment) -> Vec<Due> {
        let due = |(index, entry): (usize, &Entry)| {
            let occurrence = entry.unmade(now).filter(|_| entry.not_before <= now.elapsed)?;
            let Recurring { tenant, .. } = entry.recurring;
            Some(Due { tenant, job: entry.recurring.job(occurrence), entry: index })
        };
        self.entries.iter().enumerate().filter_map(due).collect()
    }

    /// Takes note of what became of `due`.
    pub fn note(&mut self, due: &Due, answer: Answer, now: Moment) {
        let Some(entry) = self.entries.get_mut(due.entry) else { return };
        match answer {
            Answer::Made => (entry.made, entry.not_before) = (Some(due.job.run_at), Duration::ZERO),
            // What comes more often than that is not to wait for longer than its own time.
            Answer::NotMade => {
                let again = entry.recurring.schedule.period().map_or(AGAIN, |period| period.min(AGAIN));
                entry.not_before = now.elapsed + again;
            }
        }
    }

    /// How long there is nothing to do.
    #[must_use]
    pub fn pause(&self, now: Moment) -> Duration {
        let pauses = self.entries.iter().filter_map(|entry| match entry.unmade(now) {
            Some(_) => Some(entry.not_before.saturating_sub(now.elapsed)),
            None => Some(now.until(entry.recurring.schedule.next_after(now.wall)?)),
        });
        pauses.min().unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE)
    }
}

impl Entry {
    /// The newest occurrence that has come, unless it is known to have been made. After a clock was put back that may be
    /// an earlier one than the last; its id says whether it was made.
    fn unmade(&self, now: Moment) -> Option<Timestamp> {
        let schedule = &self.recurring.schedule;
        // Most looks end here, at the price of one question instead of some forty.
        let is_newest = |made: Timestamp| {
            made <= now.wall && schedule.next_after(made).is_none_or(|next| next > now.wall)
        };
        if self.made.is_some_and(is_newest) {
            return None;
        }
        schedule.last_until(now.wall)
    }
}
