//! A conversation as it is kept: a record of which runs it consists of, and whose it is.
//!
//! Its title and its instructions are words of somebody, so they are in a run too: the one that records the last change.

use std::num::NonZeroU32;

use ledger::Recorder;
use schema::{ConversationId, MicroUsd, Route, RunId, RunKind, RunStatus, Subject, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{
    Append, Commit, CommitError, Record, RecordBody, RecordChange, RecordFilter, RecordKind, Settle,
};

use crate::app::App;
use crate::append::{fields_of, members, salts};
use crate::clock::now;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;

/// Whose a conversation is that no person began.
const SHARED: &str = "shared";
/// How often a turn is added again after somebody else was faster.
const TRIES: u32 = 8;
/// The type of the event that has the words of a conversation.
pub(super) const DESCRIBED: &str = "conversation.described";

/// A conversation.
#[derive(Debug, Clone)]
pub(super) struct Conversation {
    pub(super) id: ConversationId,
    version: u64,
    /// The run that has its title and its instructions.
    pub(super) described_in: RunId,
    pub(super) model: Option<String>,
    pub(super) turns: Vec<Turn>,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

/// What is known of a turn without reading its run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Turn {
    pub(super) run: RunId,
    pub(super) at: Timestamp,
    pub(super) model: String,
    pub(super) route: Route,
    pub(super) cost: Option<MicroUsd>,
    pub(super) saved: MicroUsd,
    pub(super) latency_ms: u64,
}

/// What people said of a conversation.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    pub(super) title: Option<String>,
    pub(super) system: Option<String>,
}

/// The record's own form.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    described_in: RunId,
    model: Option<String>,
    turns: Vec<Turn>,
    updated_at: Timestamp,
}

/// What the caller is told of one that is not there, or not theirs.
pub(super) const MISSING: ApiError =
    ApiError::NoSuch { what: "conversation", hint: "`GET /api/v1/conversations` lists yours" };

/// The word that the conversations of a caller are grouped under.
fn owner(caller: &Caller) -> String {
    caller.user.map_or_else(|| SHARED.to_owned(), |user| user.to_string())
}

/// Whom the words of a caller are about: as they say, or the person that they are.
pub(super) fn subject(caller: &Caller) -> Option<Subject> {
    let person = || Subject::try_from(caller.user?.to_string()).ok();
    caller.subject.clone().or_else(person)
}

/// The conversations of a caller, newest first.
pub(super) async fn list(
    app: &App,
    caller: &Caller,
    before: Option<ConversationId>,
    limit: NonZeroU32,
) -> Result<Vec<Conversation>, ApiError> {
    let filter = RecordFilter { group: Some(owner(caller)), ..RecordFilter::of(RecordKind::Conversation) };
    let before = before.map(|id| id.to_string());
    let records = app.of(caller.tenant).records(&filter, before.as_deref(), limit).await;
    records.map_err(unread)?.into_iter().map(read).collect()
}

/// The conversation of this id, if it is one of the caller's.
pub(super) async fn find(app: &App, caller: &Caller, id: &str) -> Result<Conversation, ApiError> {
    let id: ConversationId = id.parse().map_err(|_| MISSING)?;
    let record = app.of(caller.tenant).record(RecordKind::Conversation, &id.to_string()).await;
    let record = record.map_err(unread)?.filter(|record| record.group == owner(caller));
    read(record.ok_or(MISSING)?)
}

/// Begins one.
pub(super) async fn begin(
    app: &App,
    caller: &Caller,
    id: ConversationId,
    at: Timestamp,
    model: Option<String>,
    words: Words,
) -> Result<Conversation, ApiError> {
    let described_in = app.new_run(at);
    let begun = Conversation {
        id,
        version: 0,
        described_in,
        model,
        turns: Vec::new(),
        created_at: at,
        updated_at: at,
    };
    describe(app, caller, begun, "audit.conversation_begun", words).await
}

/// Gives one other words, or another model.
pub(super) async fn change(
    app: &App,
    caller: &Caller,
    mut changed: Conversation,
    words: Words,
) -> Result<Conversation, ApiError> {
    changed.updated_at = now();
    changed.described_in = app.new_run(changed.updated_at);
    describe(app, caller, changed, "audit.conversation_changed", words).await
}

/// Deletes one. Its runs stay.
pub(super) async fn delete(app: &App, caller: &Caller, found: Conversation) -> Result<(), ApiError> {
    let (at, id) = (now(), found.id);
    let run = app.new_run(at);
    let append = on_record(app, caller, run, at, id, "audit.conversation_deleted", None)?;
    let records = vec![RecordChange {
        kind: RecordKind::Conversation,
        id: id.to_string(),
        expected: found.version,
        to: None,
    }];
    commit(app, caller.tenant, Commit { appends: vec![append], records, ..Commit::default() }).await
}

/// Adds a turn, after whatever was added meanwhile.
pub(super) async fn add(app: &App, caller: &Caller, id: ConversationId, turn: &Turn) -> Result<(), ApiError> {
    for _ in 0..TRIES {
        let mut found = find(app, caller, &id.to_string()).await?;
        found.turns.push(turn.clone());
        found.updated_at = turn.at;
        let records = vec![found.to_record(owner(caller))];
        let done = app.of(caller.tenant).commit(Commit { records, ..Commit::default() }).await;
        match done {
            Ok(()) => return Ok(()),
            Err(CommitError::RecordMoved { .. }) => {}
            Err(error) => return Err(unrecorded(error)),
        }
    }
    Err(ApiError::Changed { what: "conversation" })
}

/// Writes the words down in a run, and the conversation that refers to it, in one commit.
async fn describe(
    app: &App,
    caller: &Caller,
    conversation: Conversation,
    action: &'static str,
    words: Words,
) -> Result<Conversation, ApiError> {
    let Conversation { id, described_in, updated_at, .. } = conversation;
    let append = on_record(app, caller, described_in, updated_at, id, action, Some(words))?;
    let records = vec![conversation.to_record(owner(caller))];
    commit(app, caller.tenant, Commit { appends: vec![append], records, ..Commit::default() }).await?;
    Ok(Conversation { version: conversation.version + 1, ..conversation })
}

/// A run that says what was done to a conversation, and its words from now on. They are apart from what the audit trail
/// shows, and sealed for whom they are about.
fn on_record(
    app: &App,
    caller: &Caller,
    run: RunId,
    at: Timestamp,
    id: ConversationId,
    action: &'static str,
    words: Option<Words>,
) -> Result<Append, ApiError> {
    let (tenant, subject) = (caller.tenant, subject(caller));
    let started = json!({
        "kind": RunKind::Audit, "app": caller.app, "agent": caller.agent, "subject": subject,
        "gatewayMode": caller.gateway_mode, "keyId": caller.key, "model": null,
    });
    let finished = json!({
        "status": RunStatus::Completed, "costMicroUsd": 0, "savedMicroUsd": 0,
        "inputTokens": 0, "outputTokens": 0, "latencyMs": 0,
    });
    let mut events: Vec<(&str, Value)> = vec![("run.started", started)];
    events.push((action, json!({ "actor": caller.actor(), "target": id })));
    if let Some(Words { title, system }) = words {
        events.push((DESCRIBED, json!({ "title": title, "system": system })));
    }
    events.push(("run.finished", finished));
    let mut recorder = Recorder::new(tenant, run);
    for (r#type, fields) in events {
        let fields = fields_of(members(fields), app, tenant);
        recorder.append(at, r#type, fields, salts(app)).map_err(unrecorded)?;
    }
    Ok(Append { events: recorder.end(), settle: Settle::Leaf, subject })
}

async fn commit(app: &App, tenant: TenantId, commit: Commit) -> Result<(), ApiError> {
    app.of(tenant).commit(commit).await.map_err(|error| match error {
        CommitError::RecordMoved { .. } => ApiError::Changed { what: "conversation" },
        other => unrecorded(other),
    })
}

impl Conversation {
    /// The change that keeps it as it is now, over the version that was read.
    fn to_record(&self, owner: String) -> RecordChange {
        let body = Body {
            described_in: self.described_in,
            model: self.model.clone(),
            turns: self.turns.clone(),
            updated_at: self.updated_at,
        };
        let to = RecordBody {
            group: owner,
            key: None,
            body: json!(body),
            created_at: self.created_at,
            due_at: None,
        };
        let (kind, id) = (RecordKind::Conversation, self.id.to_string());
        RecordChange { kind, id, expected: self.version, to: Some(to) }
    }
}

fn read(record: Record) -> Result<Conversation, ApiError> {
    let Body { described_in, model, turns, updated_at } =
        serde_json::from_value(record.body).map_err(unread)?;
    let id = record.id.parse().map_err(unread)?;
    let (version, created_at) = (record.version, record.created_at);
    Ok(Conversation { id, version, described_in, model, turns, created_at, updated_at })
}
