//! What the core is told and what it asks for.

use std::num::NonZeroU32;

use schema::{JobId, Timestamp};
use store::{Claimed, Held, Job, LeaseToken};

use crate::decision::{Outcome, Settlement};

/// One try at one job: what a claim gives. No two attempts are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt {
    /// The job.
    pub job: JobId,
    /// The right to finish it.
    pub token: LeaseToken,
}

/// The store gave no answer. What it was asked for may have happened or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoAnswer;

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Time has passed. The first one starts the worker.
    Tick,
    /// New work may have come.
    Changed,
    /// The answer to [`Effect::Claim`].
    Claimed(Result<Vec<Claimed>, NoAnswer>),
    /// The answer to [`Effect::AskNextDue`].
    NextDue(Result<Option<Timestamp>, NoAnswer>),
    /// The answer to [`Effect::Extend`].
    Extended(Attempt, Result<Held, NoAnswer>),
    /// A handler came to its end; the number is random, for the backoff.
    Ended(Attempt, Outcome, u64),
    /// The answer to [`Effect::Settle`].
    Settled(Attempt, Result<Held, NoAnswer>),
    /// No more work; finish what was begun.
    Stop,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Claim jobs that are due.
    Claim {
        /// Due at this time.
        now: Timestamp,
        /// Leased until then.
        lease_until: Timestamp,
        /// At most so many.
        limit: NonZeroU32,
    },
    /// Ask when the next job falls due.
    AskNextDue,
    /// Run the handler.
    Start(Attempt, Box<Job>),
    /// Stop the handler at once.
    Cancel(Attempt),
    /// Keep the lease until then.
    Extend(Attempt, Timestamp),
    /// Record what the attempt came to.
    Settle(Attempt, Settlement),
}
