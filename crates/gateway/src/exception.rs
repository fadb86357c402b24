//! Exceptions over REST: a policy does not hold for somebody, for a while, for a reason that is on record.

use axum::Json;
use axum::extract::{Path, State};
use governance::{Exception, Pattern};
use http::StatusCode;
use schema::ExceptionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Record, RecordBody, RecordChange, RecordFilter, RecordKind};

use crate::app::App;
use crate::audit::{Change, change_record};
use crate::clock::now;
use crate::error::{ApiError, unread};
use crate::governor::meters::later;
use crate::governor::tenant::{ACTIVE, ENDED};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::{Kept, Params};
use crate::text::{Name, Note};

/// No exception is for longer: 90 days.
const LONGEST_HOURS: u32 = 90 * 24;

/// An exception to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewException {
    /// The policy that is not to hold.
    policy: Name,
    /// The rule of it, counted from 0; all of it, when left out.
    #[serde(default)]
    rule: Option<u32>,
    /// For which actions: `write:email`, `read:*`.
    #[schemars(length(min = 1, max = 50))]
    actions: Vec<Name>,
    /// For this agent alone.
    #[serde(default)]
    agent: Option<Name>,
    /// For this application alone.
    #[serde(default)]
    app: Option<Name>,
    /// Why.
    reason: Note,
    /// For how many hours; 90 days at most.
    #[schemars(range(min = 1, max = 2160))]
    hours: u32,
}

/// Which exceptions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExceptionQuery {
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<ExceptionId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// Exceptions, newest first, those that have ended too.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExceptionPage {
    exceptions: Vec<Exception>,
    /// Where the next page begins; null on the last.
    next: Option<ExceptionId>,
}

/// An exception.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownException {
    exception: Exception,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(ExceptionQuery { before, limit }): Params<ExceptionQuery>,
) -> Result<Json<ExceptionPage>, ApiError> {
    let (filter, before) = (RecordFilter::of(RecordKind::Exception), before.map(|id| id.to_string()));
    let records = app.of(caller.tenant).records(&filter, before.as_deref(), limit.and_one()).await;
    let (records, next) = limit.cut(records.map_err(unread)?, |record| record.id.clone());
    let exceptions = records.into_iter().map(read).collect::<Result<_, _>>()?;
    Ok(Json(ExceptionPage { exceptions, next: next.and_then(|id| id.parse().ok()) }))
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Kept(new): Kept<NewException>,
) -> Result<(StatusCode, Json<ShownException>), ApiError> {
    let exception = new.into_exception(&app, &caller)?;
    save(&app, &caller, 0, &exception, "audit.exception_made").await?;
    Ok((StatusCode::CREATED, Json(ShownException { exception })))
}

pub(crate) async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShownException>, ApiError> {
    let missing = ApiError::NoSuch {
        what: "exception",
        hint: "`GET /api/v1/exceptions` lists the exceptions of the tenant",
    };
    let Ok(id) = id.parse::<ExceptionId>() else { return Err(missing) };
    let record =
        app.of(caller.tenant).record(RecordKind::Exception, &id.to_string()).await.map_err(unread)?;
    let record = record.ok_or(missing)?;
    let version = record.version;
    let mut exception = read(record)?;
    // Once is enough: asked again, it says when that was.
    if exception.revoked_at.is_none() {
        exception.revoked_at = Some(now());
        save(&app, &caller, version, &exception, "audit.exception_revoked").await?;
    }
    Ok(Json(ShownException { exception }))
}

impl NewException {
    fn into_exception(self, app: &App, caller: &Caller) -> Result<Exception, ApiError> {
        let malformed = |param: &str, why: &str| ApiError::Malformed {
            param: param.to_owned(),
            message: format!("{param}: {why}"),
        };
        let at = now();
        if !(1..=LONGEST_HOURS).contains(&self.hours) {
            return Err(malformed("hours", "expected 1 to 2160"));
        }
        if self.actions.is_empty() || self.actions.len() > 50 {
            return Err(malformed("actions", "expected 1 to 50 patterns such as `write:email`"));
        }
        let in_force = app.policies.in_force();
        if !in_force.set.names().any(|name| name == self.policy.as_str()) {
            return Err(malformed("policy", "no policy of this name is in force"));
        }
        Ok(Exception {
            id: ExceptionId::new(at.as_millis(), app.random_bytes()),
            policy: self.policy.into(),
            rule: self.rule,
            actions: self.actions.iter().map(|action| Pattern::new(action.as_str())).collect(),
            agent: self.agent.map(String::from),
            app: self.app.map(String::from),
            reason: self.reason.into(),
            created_by: caller.actor(),
            created_at: at,
            expires_at: later(at, u64::from(self.hours) * 3_600_000),
            revoked_at: None,
        })
    }
}

fn read(record: Record) -> Result<Exception, ApiError> {
    serde_json::from_value(record.body).map_err(unread)
}

async fn save(
    app: &App,
    caller: &Caller,
    expected: u64,
    exception: &Exception,
    action: &'static str,
) -> Result<(), ApiError> {
    let id = exception.id.to_string();
    let details = json!({
        "policy": exception.policy, "rule": exception.rule, "actions": exception.actions,
        "agent": exception.agent, "app": exception.app, "reason": exception.reason,
        "expiresAt": exception.expires_at,
    });
    let change = Change { tenant: caller.tenant, at: now(), action, target: &id, details };
    let to = Some(RecordBody {
        group: if exception.revoked_at.is_none() { ACTIVE } else { ENDED }.to_owned(),
        key: None,
        body: json!(exception),
        created_at: exception.created_at,
        due_at: exception.revoked_at.is_none().then_some(exception.expires_at),
    });
    let record = RecordChange { kind: RecordKind::Exception, id: id.clone(), expected, to };
    change_record(app, caller, change, record, "exception").await
}
