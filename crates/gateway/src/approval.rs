//! Approvals over REST: what people are asked, and what they answer.

use axum::Json;
use axum::extract::{Path, State};
use governance::approval::{VoteRefused, Voter, lapse, vote};
use http::StatusCode;
use identity::{Permission, Role};
use outbox::{News, notify};
use schema::{ApiKeyId, Approval, ApprovalId, ApprovalStatus, Decision, ServiceAccountId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Commit, CommitError, Record, RecordFilter, RecordKind};

use crate::app::App;
use crate::append::events;
use crate::clock::now;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::{Kept, Params};
use crate::text::Note;

/// Which approvals.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovalQuery {
    /// Those that stand like this.
    #[serde(default)]
    status: Option<ApprovalStatus>,
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<ApprovalId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// Approvals, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ApprovalPage {
    approvals: Vec<Approval>,
    /// Where the next page begins; null on the last.
    next: Option<ApprovalId>,
}

/// An approval, with what it is about.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ApprovalDetail {
    approval: Approval,
    /// What would be done, as the run recorded it; null when that was given up or erased.
    payload: Value,
}

/// Somebody's answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewVote {
    decision: Decision,
    /// Why. A rejection wants one.
    #[serde(default)]
    reason: Option<Note>,
}

/// An approval after an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Voted {
    approval: Approval,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(ApprovalQuery { status, before, limit }): Params<ApprovalQuery>,
) -> Result<Json<ApprovalPage>, ApiError> {
    let group = status.map(|status| status.as_str().to_owned());
    let filter = RecordFilter { group, ..RecordFilter::of(RecordKind::Approval) };
    let before = before.map(|id| id.to_string());
    let records = app.of(caller.tenant).records(&filter, before.as_deref(), limit.and_one()).await;
    let (records, next) = limit.cut(records.map_err(unread)?, |record| record.id.clone());
    let approvals = records.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Json(ApprovalPage { approvals, next: next.and_then(|id| id.parse().ok()) }))
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ApprovalDetail>, ApiError> {
    let approval = read(&find(&app, &caller, &id).await?)?;
    let payload = payload(&app, &approval).await;
    Ok(Json(ApprovalDetail { approval, payload }))
}

pub(crate) async fn decide(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Kept(NewVote { decision, reason }): Kept<NewVote>,
) -> Result<Json<Voted>, ApiError> {
    let record = find(&app, &caller, &id).await?;
    let (before, at) = (read(&record)?, now());
    let reason = reason.map(String::from);
    if decision == Decision::Approve && is_own(&app, &caller, &before.requested_by).await? {
        return Err(refused(&VoteRefused::OwnRequest));
    }
    let after = vote(&before, &voter(&app, &caller), decision, reason.as_deref(), at);
    let after = after.map_err(|error| refused(&error))?;
    let (append, change) = app.decided_on(&caller, &record, &after, "audit.approval_decided", at)?;
    let webhooks = &app.decided(caller.tenant).await?.webhooks;
    let news = News::approval_decided(&after, at);
    // Others hear of it when it is decided, not of every answer on the way.
    let is_decided = after.status != ApprovalStatus::Pending;
    let jobs = if is_decided { notify(webhooks, &news, || app.random_bytes()) } else { Vec::new() };
    let commit = Commit { appends: vec![append], records: vec![change], jobs, ..Commit::default() };
    match app.of(caller.tenant).commit(commit).await {
        Ok(()) => Ok(Json(Voted { approval: after })),
        Err(CommitError::RecordMoved { .. }) => Err(ApiError::Changed { what: "approval" }),
        Err(error) => Err(unrecorded(error)),
    }
}

async fn find(app: &App, caller: &Caller, id: &str) -> Result<Record, ApiError> {
    let missing = ApiError::NoSuch {
        what: "approval",
        hint: "`GET /api/v1/approvals` lists the approvals of the tenant",
    };
    // What is no id at all is not there either.
    let Ok(id) = id.parse::<ApprovalId>() else { return Err(missing) };
    let record = app.of(caller.tenant).record(RecordKind::Approval, &id.to_string()).await.map_err(unread)?;
    record.ok_or(missing)
}

/// The approval as it stands now: what has lapsed is so whether or not somebody has written it down yet.
fn read(record: &Record) -> Result<Approval, ApiError> {
    let approval: Approval = serde_json::from_value(record.body.clone()).map_err(unread)?;
    Ok(lapse(&approval, now()).unwrap_or(approval))
}

/// Who answers. A key that was not made for a person is a machine's, and machines answer nothing.
fn voter(app: &App, caller: &Caller) -> Voter {
    Voter {
        by: caller.actor(),
        role: caller.role.map_or("none", Role::as_str).to_owned(),
        is_person: caller.may(Permission::ApprovalDecide),
        // An open gateway cannot tell its callers apart.
        is_anybody: app.api_key.is_none() && caller.is_installation_itself(),
    }
}

/// Whether what asked is a machine of whoever answers: a key or an account that they made. What those ask for, they ask for.
async fn is_own(app: &App, caller: &Caller, asked_by: &str) -> Result<bool, ApiError> {
    let Some(user) = caller.user else { return Ok(false) };
    if let Ok(id) = asked_by.parse::<ApiKeyId>() {
        let key = app.of(caller.tenant).api_key(id).await.map_err(unread)?;
        return Ok(key.is_some_and(|key| key.created_by_user == Some(user)));
    }
    if let Ok(id) = asked_by.parse::<ServiceAccountId>() {
        let account = app.people.directory.service_account(caller.tenant, id).await?;
        return Ok(account.is_some_and(|account| account.value.was_made_by(&user.to_string())));
    }
    Ok(false)
}

fn refused(error: &VoteRefused) -> ApiError {
    let status = match error {
        VoteRefused::Decided(_) | VoteRefused::Twice => StatusCode::CONFLICT,
        VoteRefused::OwnRequest | VoteRefused::NotAPerson | VoteRefused::Role(_) => StatusCode::FORBIDDEN,
        VoteRefused::NoReason => {
            let message = format!("reason: {error}");
            return ApiError::Malformed { param: "reason".to_owned(), message };
        }
    };
    ApiError::VoteRefused { why: error.to_string(), status }
}

/// What would be done: the request that was asked, or the side effect that was planned. It is read from the run, so what was
/// erased there is gone here too.
async fn payload(app: &App, approval: &Approval) -> Value {
    let events = events(app, approval.tenant, approval.run_id).await.unwrap_or_default();
    let field =
        |event: &ledger::Event, name: &str| event.payload.get(name).and_then(|field| field.value()).cloned();
    match &approval.tool {
        Some(tool) => {
            let planned = events.iter().filter(|event| event.r#type == "side_effect.planned");
            let mut of_tool = planned
                .filter(|event| field(event, "toolName").as_ref() == Some(&Value::from(tool.as_str())));
            of_tool.next_back().and_then(|event| field(event, "payload")).unwrap_or_default()
        }
        None => {
            let started = events.iter().find(|event| event.r#type == "run.started");
            started.and_then(|event| field(event, "request")).unwrap_or_default()
        }
    }
}
