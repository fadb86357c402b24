//! `GET /api/v1/audit`: what operators and the governor decided, newest first. The rows are read from the ledger: there is no
//! second book that could say something else.

use axum::Json;
use axum::extract::State;
use ledger::Event;
use schema::{RunId, RunKind, Seq, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::RunFilter;

use crate::app::App;
use crate::append::events;
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::Params;

/// Which rows.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditQuery {
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<RunId>,
    /// How many runs of the ledger are read; each is one decision.
    #[serde(default)]
    limit: Limit,
}

/// Decisions, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuditPage {
    audit: Vec<AuditRow>,
    /// Where the next page begins; null on the last.
    next: Option<RunId>,
}

/// One decision.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditRow {
    /// The run that records it; its evidence packet proves it.
    run_id: RunId,
    seq: Seq,
    at: Timestamp,
    /// What was done, such as `audit.key_created`.
    action: String,
    /// Who did it: the id of a person, a key or an account of a machine, or `installation`.
    actor: Option<String>,
    /// What it was done to.
    target: Option<String>,
    /// What else there is to say.
    details: Map<String, Value>,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(AuditQuery { before, limit }): Params<AuditQuery>,
) -> Result<Json<AuditPage>, ApiError> {
    let filter = RunFilter { kind: Some(RunKind::Audit), ..RunFilter::ALL };
    let rows = app.of(caller.tenant).runs(&filter, before, limit.and_one()).await.map_err(unread)?;
    let (rows, next) = limit.cut(rows, |row| row.id);
    let mut audit = Vec::new();
    for row in rows {
        let events = events(&app, caller.tenant, row.id).await?;
        audit.extend(
            events
                .iter()
                .filter(|event| event.r#type.starts_with("audit."))
                .map(|event| shown(row.id, event)),
        );
    }
    Ok(Json(AuditPage { audit, next }))
}

fn shown(run_id: RunId, event: &Event) -> AuditRow {
    let mut details = Map::new();
    for (name, field) in event.payload.iter() {
        details.insert(name.to_string(), field.value().cloned().unwrap_or_default());
    }
    let mut text = |name: &str| details.remove(name).and_then(|value| value.as_str().map(str::to_owned));
    let (actor, target) = (text("actor"), text("target"));
    AuditRow { run_id, seq: event.seq, at: event.at, action: event.r#type.clone(), actor, target, details }
}
