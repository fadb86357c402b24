//! A webhook: whom to tell of what. A record of its tenant; the secret that its messages are signed with is nowhere.

use std::fmt;
use std::num::NonZeroU32;

use crypto::keyring::Material;
use crypto::{KeyId, KeyRing, SecretString};
use schema::{Timestamp, WebhookId};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Record, RecordBody, RecordChange, RecordFilter, RecordKind, StoreError, TenantStore};

/// What webhooks are grouped under that are told of things.
const ACTIVE: &str = "active";
/// What the others are grouped under.
const DISABLED: &str = "disabled";

const PAGE: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// Whom to tell of what.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// Its name, for people.
    pub name: String,
    /// Where to. It may hold a token, so it is in no message.
    pub url: String,
    /// Of what: names of events, `approval.*` for all that begin so, `*` for all.
    pub events: Vec<String>,
    /// The key of the installation that its secret is derived from: the one that was active when it was made. A newer one
    /// would be another secret, which its receiver does not know.
    #[serde(with = "key_id")]
    #[cfg_attr(feature = "json-schema", schemars(with = "String"))]
    pub key_id: KeyId,
    /// Who made it: a key id, or `installation`.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
    /// Since when it is told nothing.
    pub disabled_at: Option<Timestamp>,
}

impl Webhook {
    /// Whether it is to be told of this event.
    #[must_use]
    pub fn wants(&self, event: &str) -> bool {
        self.disabled_at.is_none() && self.events.iter().any(|wanted| fits(wanted, event))
    }

    /// The webhook that a record is.
    ///
    /// # Errors
    /// It is none.
    pub fn read(record: &Record) -> Result<Self, StoreError> {
        let webhook = Self::deserialize(&record.body);
        webhook.map_err(|error| StoreError::Damaged(format!("webhook {}: {error}", record.id)))
    }

    /// What writes it, over the version that must be there; 0 if there must be none.
    #[must_use]
    pub fn change(&self, expected: u64) -> RecordChange {
        let group = if self.disabled_at.is_none() { ACTIVE } else { DISABLED };
        let to = RecordBody {
            group: group.to_owned(),
            key: None,
            body: json!(self),
            created_at: self.created_at,
            due_at: None,
        };
        RecordChange { kind: RecordKind::Webhook, id: self.id.to_string(), expected, to: Some(to) }
    }
}

/// All but the address.
impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("id", &self.id.to_string())
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn fits(wanted: &str, event: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => event.starts_with(start) && (start.is_empty() || start.ends_with('.')),
        None => wanted == event,
    }
}

/// The webhooks of a tenant that are told of things.
///
/// # Errors
/// The store is out of reach, or one of them cannot be read.
pub async fn webhooks(store: &dyn TenantStore) -> Result<Vec<Webhook>, StoreError> {
    let filter = RecordFilter { group: Some(ACTIVE.to_owned()), ..RecordFilter::of(RecordKind::Webhook) };
    let (mut found, mut before) = (Vec::new(), None::<String>);
    loop {
        let page = store.records(&filter, before.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(found) };
        before = Some(last.id.clone());
        for record in &page {
            found.push(Webhook::read(record)?);
        }
    }
}

/// The secret that messages to a webhook are signed with, as its receiver has it: shown once, when the webhook is made, and
/// derived again for every message. `None` when its key is not in the ring.
#[must_use]
pub fn secret_of(keys: &KeyRing, webhook: &Webhook) -> Option<SecretString> {
    match &keys.key(webhook.key_id)?.material {
        Material::Signing(key) => {
            let secret = key.derive_secret(&format!("webhook {}", webhook.id));
            Some(SecretString::new(format!("whsec_{}", hex::encode(secret.expose()))))
        }
        Material::Sealing(_) => None,
    }
}

/// A key id as text.
mod key_id {
    use crypto::KeyId;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(id: &KeyId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(id)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<KeyId, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_told_what_it_asked_for() {
        for (wanted, event, told) in [
            ("approval.created", "approval.created", true),
            ("approval.created", "approval.decided", false),
            ("approval.*", "approval.decided", true),
            ("approval.*", "approvals", false),
            ("appro*", "approval.decided", false),
            ("*", "approval.decided", true),
            ("", "approval.decided", false),
        ] {
            assert_eq!(fits(wanted, event), told, "{wanted} and {event}");
        }
    }
}
