//! News: what happened, and the jobs that tell it. Pure, so that they can be part of the commit that makes it true.

use jobs::Kind;
use schema::{Approval, JobId, TenantId, Timestamp};
use serde_json::{Value, json};
use store::NewJob;

use crate::webhook::Webhook;

/// All events that webhooks are told of.
pub const EVENTS: [&str; 3] = ["approval.created", "approval.decided", "tripwire.tripped"];

/// How often a receiver is tried: with the queue's backoff, for about nine hours.
const ATTEMPTS: u32 = 30;

/// Something that happened.
#[derive(Debug, Clone)]
pub struct News {
    /// In whose house.
    pub tenant: TenantId,
    /// What, one of [`EVENTS`].
    pub event: &'static str,
    /// When.
    pub at: Timestamp,
    /// What there is to say of it.
    pub data: Value,
}

impl News {
    /// People are asked.
    #[must_use]
    pub fn approval_created(approval: &Approval, at: Timestamp) -> Self {
        Self { tenant: approval.tenant, event: EVENTS[0], at, data: json!({ "approval": approval }) }
    }

    /// They have answered, or their time is over; `status` says which.
    #[must_use]
    pub fn approval_decided(approval: &Approval, at: Timestamp) -> Self {
        Self { tenant: approval.tenant, event: EVENTS[1], at, data: json!({ "approval": approval }) }
    }

    /// Something came that must not: `data` says in which run, and over which wire.
    #[must_use]
    pub fn tripwire_tripped(tenant: TenantId, data: Value, at: Timestamp) -> Self {
        Self { tenant, event: EVENTS[2], at, data }
    }
}

/// The jobs that tell `news` to whoever of `webhooks` wants to know: for the commit that makes it true. A delivery has the
/// id of its job, so that it keeps its name however often it is tried.
#[must_use]
pub fn notify(webhooks: &[Webhook], news: &News, mut random: impl FnMut() -> [u8; 10]) -> Vec<NewJob> {
    let News { tenant, event, at, data } = news;
    let wanting = webhooks.iter().filter(|webhook| webhook.wants(event));
    let job = |webhook: &Webhook| {
        let id = JobId::new(at.as_millis(), random());
        // The event and the delivery are in the body too: headers are not signed.
        let body = json!({ "event": event, "delivery": id, "tenant": tenant, "at": at, "data": data });
        NewJob {
            id,
            kind: Kind::WebhookNotification.as_str().to_owned(),
            key: None,
            payload: json!({ "webhookId": webhook.id, "event": event, "deliveryId": id, "body": body }),
            priority: 0,
            run_at: *at,
            max_attempts: ATTEMPTS,
        }
    };
    wanting.map(job).collect()
}
