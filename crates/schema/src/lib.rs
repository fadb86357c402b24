//! Schema: the types that two or more crates share.
//!
//! Serde and nothing else: no IO, no clock, no randomness. Time, random bits and hashes come in as arguments,
//! so whoever builds one of these values can be replayed.
//!
//! Start at [`Run`] and [`RouteExplanation`]; `id.rs` makes every typed id. A type is born in the crate that owns
//! its idea and moves here when a second crate needs it.
//!
//! - What is `Serialize` here is a promise: REST JSON is camelCase, money is a decimal `…Usd`, time is UTC with
//!   milliseconds. The JSON Schema of each is in `tests/snapshots/`; a change of the contract shows in review there.
//! - An id of one kind never passes for another: each is its own type and carries its prefix.
//!
//! To add a type: a file named after its noun, and a line in `tests/contract.rs`.

mod agent;
mod api_key;
mod approval;
mod audit;
mod day;
mod digest;
mod event;
mod id;
#[cfg(feature = "json-schema")]
mod json_schema;
mod money;
mod network;
mod run;
mod side_effect;
mod tenant;
mod text;
mod time;
mod verdict;

pub use agent::{Agent, App, Subject, SubjectError, TrustTier};
pub use api_key::{ApiKey, GatewayMode, Scope};
pub use approval::{Approval, ApprovalStatus, Decision, Vote};
pub use audit::AuditEvent;
pub use day::Day;
pub use digest::{Digest, DigestError, read_hex, write_hex};
pub use event::{Seq, TraceEvent};
pub use id::{
    ApiKeyId, ApprovalId, ArtifactId, AuditId, BudgetId, ConversationId, CredentialId, EventId, ExceptionId,
    Id, IdError, InvitationId, JobId, PatternId, Prefix, RunId, ServiceAccountId, SessionId, SideEffectId,
    SubjectId, TenantId, UserId, WebhookId,
};
pub use money::MicroUsd;
pub use network::{Network, NetworkError};
pub use run::{
    ArtifactDetails, CacheDetails, Completion, GhostRoute, PassedRoute, Route, RouteExplanation, Run,
    RunKind, RunStatus, Usage,
};
pub use side_effect::{SideEffect, SideEffectLevel, SideEffectStatus};
pub use tenant::Tenant;
pub use text::read_text;
pub use time::{Timestamp, TimestampError};
pub use verdict::{Effect, Verdict};
