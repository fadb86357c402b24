//! `GET /api/v1/runs/{id}/evidence-packet`: the proof of a run, for whoever wants to check it elsewhere.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use ledger::packet::{BuildError, Packet};
use schema::{RunId, TenantId};

use crate::app::{App, Shared};
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::run::absent;

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let bytes = packet(&app, caller.tenant, &id).await?;
    Ok(([(CONTENT_TYPE, "application/json")], bytes).into_response())
}

async fn packet(app: &Shared, tenant: TenantId, id: &str) -> Result<Vec<u8>, ApiError> {
    let run: RunId = id.parse().map_err(|_| ApiError::NoSuchRun)?;
    let store = app.of(tenant);
    let Some(proof) = store.prove(run).await.map_err(unread)? else { return Err(absent(&*store, run).await) };
    if proof.record.leaves.is_empty() {
        return Err(ApiError::NotFinished { run });
    }
    let unmade = |error: &(dyn std::error::Error + 'static)| {
        tracing::error!(error, %run, "a packet could not be made");
        ApiError::Ledger
    };
    let key = app.logs.key(tenant).map_err(|error| unmade(&error))?;
    let built = key
        .checkpoint(proof.size, proof.root)
        .map_err(BuildError::from)
        .and_then(|note| Packet::build(proof.record, &note, &key.exporter()))
        .and_then(|packet| Ok(packet.to_bytes()?));
    built.map_err(|error| unmade(&error))
}
