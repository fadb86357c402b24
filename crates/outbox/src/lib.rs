//! Outbox: what others are told.
//!
//! Two things leave the house. **Notifications**: [`notify`] makes the jobs that tell a tenant's [`Webhook`]s what happened,
//! to be put into the commit of what happened; [`WebhookNotification`] delivers one, signed. **Copies of the ledger's
//! heads**: [`AuditShipment`] takes signed checkpoints, and on request what became of every run, to sinks that whoever
//! operates the database cannot change; [`compare`] holds such a copy against a log and convicts one that was rewritten.
//! [`ApprovalSweep`] is here because the end of an approval is news that nobody else would bring.
//!
//! Start at `news.rs`, then `delivery.rs`; for sinks at `shipment.rs`, then `document.rs` and `sink/`. Everything goes out
//! through `egress`, and everything is a job: made in the commit that causes it, tried again until it is done or given up
//! in the open.
//!
//! Deliberately absent: who may set up a webhook (the gateway's), what a sink is called in the file (the configuration's),
//! and secrets at rest: what a webhook is signed with is derived from the key ring whenever it is needed.
//!
//! - Told at least once. A receiver tells repetitions by the delivery, or by origin and size.
//! - Nothing is skipped: how far a sink is comes after what it was sent (`what_was_sent_before_a_crash_is_sent_again_and_nothing_is_skipped`).
//! - No secret and no path of an address is in an error, a log or a `Debug`.
//!
//! To add an event: a function beside [`News::approval_created`], its name in [`EVENTS`], and a line in
//! `docs/how-to/webhooks.md`. To add a kind of sink: a file in `sink/`, and its keys in the configuration.

mod approval;
mod compare;
mod context;
mod delivery;
mod document;
mod logs;
mod news;
mod progress;
mod shipment;
mod sink;
mod webhook;

pub use approval::ApprovalSweep;
pub use compare::{Comparison, Copies, CopyError, compare, log_of};
pub use context::{CONTEXT, verify_context};
pub use delivery::WebhookNotification;
pub use document::{CHECKPOINT, ShippedCheckpoint};
pub use logs::{Logs, LogsError};
pub use news::{EVENTS, News, notify};
pub use shipment::AuditShipment;
pub use sink::{Bucket, Private, Shape, ShipError, Sink};
pub use webhook::{Webhook, secret_of, webhooks};

/// Reads the wall clock.
pub type Clock = fn() -> schema::Timestamp;

/// The store did not answer: it may, later.
fn later(error: &store::StoreError) -> jobs::Failure {
    jobs::Failure::Retry(error.to_string())
}

/// Somebody else does this job by now.
fn lost() -> jobs::Failure {
    jobs::Failure::Retry("the lease was lost on the way".to_owned())
}
