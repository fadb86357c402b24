//! Delivering one notification: signed, to the one address, and never twice under another name.
//!
//! A receiver that says 2xx has it. 410 means that it wants no more, and an address that the guard refuses will not become
//! a better one: both are given up. Everything else is tried again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use crypto::{KeyRing, SecretString, hmac_sha256};
use egress::{Client, Limits, Method, Request, Wanted};
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderName, HeaderValue, StatusCode};
use jobs::{Context, Failure, Handler, Kind};
use schema::{JobId, Timestamp, WebhookId};
use serde::Deserialize;
use serde_json::Value;
use store::{Job, RecordKind, Store};

use crate::webhook::{Webhook, secret_of};
use crate::{Clock, later};

/// A receiver that has to think should do so after it has answered.
const LIMITS: Limits = Limits { connect: Duration::from_secs(10), total: Duration::from_secs(20), body: 0 };

pub(crate) const PUNK: HeaderValue = HeaderValue::from_static(concat!("punk/", env!("CARGO_PKG_VERSION")));
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

const EVENT: HeaderName = HeaderName::from_static("x-punk-event");
const DELIVERY: HeaderName = HeaderName::from_static("x-punk-delivery");
const TIMESTAMP: HeaderName = HeaderName::from_static("x-punk-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("x-punk-signature");

/// Tells one webhook what happened.
pub struct WebhookNotification {
    store: Arc<dyn Store>,
    keys: Arc<KeyRing>,
    client: Client,
    clock: Clock,
}

/// What a job says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    webhook_id: WebhookId,
    event: String,
    delivery_id: JobId,
    body: Value,
}

impl WebhookNotification {
    /// Deliveries of what is in `store`, signed by `keys`, as far as `client` goes.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, keys: Arc<KeyRing>, client: Client, clock: Clock) -> Self {
        Self { store, keys, client, clock }
    }

    async fn deliver(&self, webhook: &Webhook, payload: &Payload) -> Result<(), Failure> {
        // Not for ever, but perhaps this process has read the ring before the key was made.
        let secret = secret_of(&self.keys, webhook)
            .ok_or_else(|| Failure::Retry(format!("{} is not in the key ring", webhook.key_id)))?;
        let request = request(webhook, payload, &secret, (self.clock)());
        let request =
            request.ok_or_else(|| Failure::GiveUp("it cannot be written as a request".to_owned()))?;
        let answer = self.client.send(&request).await.map_err(|error| match error.refusal() {
            Some(_) => Failure::GiveUp(error.to_string()),
            None => Failure::Retry(error.to_string()),
        })?;
        let said = || format!("{} answers {}", answer.origin, answer.status);
        match answer.status {
            status if status.is_success() => Ok(()),
            StatusCode::GONE => Err(Failure::GiveUp(said())),
            _ => Err(Failure::Retry(said())),
        }
    }
}

#[async_trait]
impl Handler for WebhookNotification {
    fn kind(&self) -> &str {
        Kind::WebhookNotification.as_str()
    }

    async fn handle(&self, job: &Job, _: &Context) -> Result<(), Failure> {
        let payload = Payload::deserialize(&job.payload);
        let payload = payload.map_err(|error| Failure::GiveUp(format!("the payload is none: {error}")))?;
        let id = payload.webhook_id;
        let record = self.store.tenant(job.tenant).record(RecordKind::Webhook, &id.to_string()).await;
        let Some(record) = record.map_err(|error| later(&error))? else {
            return Err(Failure::GiveUp(format!("{id} was deleted")));
        };
        let webhook = Webhook::read(&record).map_err(|error| later(&error))?;
        if webhook.disabled_at.is_some() {
            return Err(Failure::GiveUp(format!("{id} is disabled")));
        }
        self.deliver(&webhook, &payload).await
    }
}

/// The request as it goes out at `now`; `None` if there is something in it that no header can say.
fn request(webhook: &Webhook, payload: &Payload, secret: &SecretString, now: Timestamp) -> Option<Request> {
    let body = serde_json::to_vec(&payload.body).ok()?;
    let seconds = now.as_millis() / 1000;
    let headers = [
        (CONTENT_TYPE, JSON),
        (USER_AGENT, PUNK),
        (EVENT, HeaderValue::try_from(&payload.event).ok()?),
        (DELIVERY, HeaderValue::try_from(payload.delivery_id.to_string()).ok()?),
        (TIMESTAMP, HeaderValue::from(seconds)),
        (SIGNATURE, HeaderValue::try_from(signature(secret, seconds, &body)).ok()?),
    ];
    let request = Request::new(Method::Post, &webhook.url).body(body).limits(LIMITS).wanted(Wanted::Head);
    headers.into_iter().try_fold(request, |request, (name, value)| request.header(name, value)).ok()
}

/// `v1=` and the HMAC-SHA256 over time and body. The time is in it so that an old message cannot be sent again for a new one.
fn signature(secret: &SecretString, seconds: u64, body: &[u8]) -> String {
    let signed = [seconds.to_string().as_bytes(), b".", body].concat();
    format!("v1={}", hex::encode(hmac_sha256(secret.expose().as_bytes(), &signed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_hmac_it_is_documented_to_be() {
        // python3 -c 'import hmac; print(hmac.digest(b"whsec_a", b"1800000000.{}", "sha256").hex())'
        let secret = SecretString::new("whsec_a".to_owned());
        assert_eq!(
            signature(&secret, 1_800_000_000, b"{}"),
            "v1=f66ebcd4d4dfd6f204ad83d004ebfc0312e82e8dfe7df5110714cbc58099a9c8"
        );
    }
}
