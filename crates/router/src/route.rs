//! What a route is.

use std::sync::{Arc, OnceLock};

use apprentice::{Draft, Offered};
use async_trait::async_trait;
use cache::{Lead, Uncacheable, Wish};
use schema::{Digest, MicroUsd, RunId, TenantId, Timestamp};
use store::{CacheStore, EventStore};
use wire::{Answer, Request};

/// One way to answer. It is asked, and answers; it changes nothing.
#[async_trait]
pub trait Route: Send + Sync {
    /// Its name in the header, the explanation and the records.
    fn id(&self) -> schema::Route;

    /// Whether it can answer, and how; or why it cannot.
    async fn consider(&self, question: &Question<'_>) -> Offer;
}

/// What the routes are asked.
pub struct Question<'q> {
    /// Whose request it is.
    pub tenant: TenantId,
    /// What the tenant has kept.
    pub cache: &'q dyn CacheStore,
    /// What happened in the tenant's runs, which entries of the cache point to.
    pub events: &'q dyn EventStore,
    /// What is asked.
    pub request: &'q Request,
    /// The same as it is recorded, which is what was learned from; absent when that cannot be read.
    pub recorded: &'q (dyn Fn() -> Option<Arc<Request>> + Send + Sync),
    /// The model's one name.
    pub model: &'q str,
    /// The run that the request begins.
    pub run: RunId,
    /// What its answer would be kept under, or why it is not kept; absent when nothing is kept for this tenant.
    pub key: Option<Result<Digest, Uncacheable>>,
    /// What the caller wishes about kept answers.
    pub wish: Wish,
    /// Whether what is offered will only be written down, not done.
    pub observed: bool,
    /// When it is asked.
    pub now: Timestamp,
    /// Held while an answer to this request is on its way, if identical ones should wait for it.
    pub lead: OnceLock<Lead<(TenantId, Digest)>>,
    /// What a learned program would have said, if live's answer is to be compared with that.
    pub audited: OnceLock<Box<Offered>>,
    /// A part of an answer that is to be completed before live is asked, and compared with what live says.
    pub opinion: OnceLock<Box<Draft>>,
}

/// What a route says.
#[derive(Debug)]
pub enum Offer {
    /// It can answer.
    Serve {
        /// How.
        plan: Plan,
        /// Why it is the right one.
        reason: String,
        /// What that costs and saves.
        estimate: Estimate,
    },
    /// It cannot, for this reason.
    Pass(String),
    /// It has nothing for this tenant; there is no more to say.
    Nothing,
}

/// How to answer.
#[derive(Debug)]
pub enum Plan {
    /// Ask the model.
    Call,
    /// Say again what was said before.
    Recall(Box<Recalled>),
    /// Say what a learned program says.
    Execute(Box<Offered>),
    /// Say what a learned program and a small model say, once that was asked.
    Complete(Box<Draft>),
}

/// What a plan is thought to save against asking the model. Absent is not known, which is not nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    /// Money.
    pub saved: Option<MicroUsd>,
    /// Milliseconds that the model took.
    pub live_ms: Option<u64>,
}

/// An answer that was given before.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The answer.
    pub answer: Answer,
    /// Where it is from.
    pub kept: Kept,
}

/// Where a kept answer is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// The run that it was first given in.
    pub run: RunId,
    /// How old it is.
    pub age_seconds: u64,
}
