//! `GET /api/v1/runs/{id}/evidence-packet`: the proof of a run, for whoever wants to check it elsewhere.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use ledger::packet::{BuildError, Packet};
use schema::{RunId, TenantId};
use serde_json::{Value, json};

use crate::app::{App, Shared};
use crate::append::events;
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
    let Some(mut proof) = store.prove(run).await.map_err(unread)? else {
        return Err(absent(&*store, run).await);
    };
    if proof.record.leaves.is_empty() {
        return Err(ApiError::NotFinished { run });
    }
    for event in proof.record.events.iter_mut().filter(|event| event.r#type == apprentice::EXECUTED) {
        let Some(field) = event.payload.get_mut("artifact") else { continue };
        let digest = field.value().and_then(|value| value.as_str()?.parse().ok());
        let Some(digest) = digest else { continue };
        match apprentice::program_text(&*store, digest).await.map_err(unread)? {
            Some(text) => proof.record.artifacts.push(text),
            // It owed something to somebody who was forgotten: nobody can execute it again, and the packet does not claim to.
            None => *field = field.withheld("artifact").map_err(unread)?,
        }
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

/// `GET /api/v1/runs/{id}/replay-bundle`: a run as artifacts are tried on it.
pub(crate) async fn bundle(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let run: RunId = id.parse().map_err(|_| ApiError::NoSuchRun)?;
    let store = app.of(caller.tenant);
    if store.run(run).await.map_err(unread)?.is_none() {
        return Err(absent(&*store, run).await);
    }
    let events = events(&app, caller.tenant, run).await?;
    Ok(Json(json!({ "bundle": apprentice::bundle(run, &events) })))
}
