//! The context of a run: who, through what, by which verdict, with which end; and not a word of what was said.
//!
//! It is what the events say that a leaf binds, so it never changes, and it is signed by the log's key. What was erased or
//! given up since is null; the head, the place and the signature stay.

use crypto::SigningKey;
use ledger::canonical::{self, CanonicalError};
use ledger::note::{Note, VerifierKey};
use ledger::{Event, Field, Leaf, LogKey};
use schema::{TenantId, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::RunRow;

/// The format of a shipped context.
pub const CONTEXT: &str = "punk.context/1";

/// The first line of what is signed. It has spaces, so that it can be the first line of no checkpoint.
const TITLE: &str = "punk context v1";

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Context {
    format: &'static str,
    origin: String,
    tenant: TenantId,
    run: schema::RunId,
    kind: Value,
    app: Value,
    agent: Value,
    /// The key that was used; null for the operator's own.
    key: Value,
    /// Who answers for it: whoever decided, if it is a decision, else the key.
    actor: Value,
    status: Value,
    route: Value,
    verdict: Value,
    head: schema::Digest,
    seq: schema::Seq,
    /// Where in the log the leaf is.
    leaf: u64,
    finished_at: Option<Timestamp>,
}

impl Context {
    /// What `events`, those of the run, say as far as `leaf` binds them.
    pub(crate) fn of(
        origin: &str,
        tenant: TenantId,
        (index, leaf): (u64, Leaf),
        mut events: Vec<Event>,
    ) -> Self {
        events.retain(|event| event.seq <= leaf.seq);
        let row = RunRow::fold_all(None, leaf.run, &events);
        let fields = row.map(|row| row.fields).unwrap_or_default();
        let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
        let finished = events.iter().find(|event| event.r#type == "run.finished");
        let decision = events.iter().find(|event| event.r#type.starts_with("audit."));
        Self {
            format: CONTEXT,
            origin: origin.to_owned(),
            tenant,
            run: leaf.run,
            kind: field("kind"),
            app: field("app"),
            agent: field("agent"),
            key: field("keyId"),
            actor: decision.and_then(|event| said(event, "actor")).unwrap_or_else(|| field("keyId")),
            status: field("status"),
            route: field("route"),
            verdict: verdict(&events, finished).unwrap_or_default(),
            head: leaf.head,
            seq: leaf.seq,
            leaf: index,
            finished_at: finished.map(|event| event.at),
        }
    }

    /// The document, with the log's signature over all else in it.
    pub(crate) fn signed(&self, key: &LogKey<SigningKey>) -> Result<Value, CanonicalError> {
        let mut document = json!(self);
        let line = key.sign(&signed_text(&document)?).to_string();
        document["signature"] = line.trim_end().into();
        Ok(document)
    }

    /// `signed` in an envelope with what an InsForge-style receiver looks for.
    pub(crate) fn for_insforge(&self, signed: &Value, environment: Option<&str>) -> Value {
        let actor_type = match &self.actor {
            Value::String(actor) if actor == "punk" => "system",
            Value::String(_) => "key",
            _ => "agent",
        };
        let actor = if self.actor.is_null() { &self.agent } else { &self.actor };
        json!({
            "orgId": self.tenant, "actorId": actor, "actorType": actor_type, "correlationId": self.run,
            "policyScope": self.verdict.get("policy"), "environment": environment, "context": signed,
        })
    }
}

/// Whether a shipped context (`punk.context/1`) is what the log with this key has signed.
#[must_use]
pub fn verify_context(document: &Value, key: &VerifierKey) -> bool {
    let Value::Object(members) = document else { return false };
    let mut rest: Map<String, Value> = members.clone();
    let Some(Value::String(line)) = rest.remove("signature") else { return false };
    let is_of_log = rest.get("origin").and_then(Value::as_str) == Some(key.name().as_str());
    let Ok(text) = signed_text(&Value::Object(rest)) else { return false };
    let Ok(note) = format!("{text}\n{line}\n").parse::<Note>() else { return false };
    let [line] = note.signatures() else { return false };
    is_of_log && note.text() == text && key.is_named_by(line) && key.verifies(&text, line)
}

/// The text that is signed: a title, and the document without its signature in canonical JSON.
fn signed_text(document: &Value) -> Result<String, CanonicalError> {
    let json = canonical::to_vec(document)?;
    Ok(format!("{TITLE}\n{}\n", String::from_utf8_lossy(&json)))
}

fn said(event: &Event, field: &str) -> Option<Value> {
    event.payload.get(field).and_then(Field::value).cloned()
}

/// What the governor said in the end; in a run that did not come to an end, what it said first.
fn verdict(events: &[Event], finished: Option<&Event>) -> Option<Value> {
    let explained = finished.and_then(|event| said(event, "explanation")?.get("verdict").cloned());
    let decided = || said(events.iter().find(|event| event.r#type == "policy.decided")?, "verdict");
    explained.or_else(decided)
}
