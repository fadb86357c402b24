//! What operators change is on record: a run of the kind `audit` in the commit that makes the change.

use ledger::Recorder;
use schema::{RunKind, RunStatus, TenantId, Timestamp};
use serde_json::{Value, json};
use store::{Append, Commit, CommitError, RecordChange, Settle};

use crate::app::App;
use crate::append::{fields_of, members, salts};
use crate::error::{ApiError, unrecorded};
use crate::identity::Caller;

/// One change: what was done, to what, and what else there is to say.
pub(crate) struct Change<'a> {
    /// The tenant in whose ledger it is.
    pub(crate) tenant: TenantId,
    pub(crate) at: Timestamp,
    /// The type of the event, such as `audit.key_created`.
    pub(crate) action: &'static str,
    pub(crate) target: &'a str,
    pub(crate) details: Value,
}

impl Change<'_> {
    /// The record of it: begun, what was done by whom, finished.
    pub(crate) fn record(self, app: &App, caller: &Caller) -> Result<Append, ApiError> {
        let Self { tenant, at, action, target, details } = self;
        let started = json!({
            "kind": RunKind::Audit, "app": caller.app, "agent": caller.agent, "subject": null,
            "gatewayMode": caller.gateway_mode, "keyId": caller.key, "model": null,
        });
        let mut done = members(details);
        done.insert("actor".into(), json!(caller.actor()));
        done.insert("target".into(), json!(target));
        let finished = json!({
            "status": RunStatus::Completed, "costMicroUsd": 0, "savedMicroUsd": 0,
            "inputTokens": 0, "outputTokens": 0, "latencyMs": 0,
        });
        let mut recorder = Recorder::new(tenant, app.new_run(at));
        for (r#type, fields) in
            [("run.started", members(started)), (action, done), ("run.finished", members(finished))]
        {
            recorder.append(at, r#type, fields_of(fields, app, tenant), salts(app)).map_err(unrecorded)?;
        }
        Ok(Append { events: recorder.end(), settle: Settle::Leaf, subject: None })
    }
}

/// Changes a record, and puts on record who did and why, in one commit. `what` is what people call it.
pub(crate) async fn change_record(
    app: &App,
    caller: &Caller,
    change: Change<'_>,
    record: RecordChange,
    what: &'static str,
) -> Result<(), ApiError> {
    let tenant = change.tenant;
    let commit =
        Commit { appends: vec![change.record(app, caller)?], records: vec![record], ..Commit::default() };
    app.of(tenant).commit(commit).await.map_err(|error| match error {
        CommitError::RecordMoved { .. } => ApiError::Changed { what },
        other => unrecorded(other),
    })?;
    app.decided_by.forget(&tenant);
    Ok(())
}
