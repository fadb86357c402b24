//! `GET /api/v1/runs/{id}/evidence-packet`: the proof of a run, for whoever wants to check it elsewhere.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use ledger::Checkpoint;
use ledger::packet::{BuildError, Exporter, Packet};
use schema::RunId;

use crate::app::{App, Shared};
use crate::error::{ApiError, Wire, unread};
use crate::run::absent;

pub(crate) async fn show(State(app): State<App>, headers: HeaderMap, Path(id): Path<String>) -> Response {
    match packet(&app, &headers, &id).await {
        Ok(bytes) => ([(CONTENT_TYPE, "application/json")], bytes).into_response(),
        Err(error) => error.respond(Wire::Rest),
    }
}

async fn packet(app: &Shared, headers: &HeaderMap, id: &str) -> Result<Vec<u8>, ApiError> {
    let caller = app.identify(headers)?;
    let run: RunId = id.parse().map_err(|_| ApiError::NoSuchRun)?;
    let store = app.of(caller.tenant);
    let Some(proof) = store.prove(run).await.map_err(unread)? else { return Err(absent(&*store, run).await) };
    if proof.record.leaves.is_empty() {
        return Err(ApiError::NotFinished { run });
    }
    let checkpoint = Checkpoint { origin: app.log_key.name().clone(), size: proof.size, root: proof.root };
    let exporter = Exporter { key: &app.log_key, signer: &app.log_signer };
    let built = checkpoint
        .sign(&app.log_key, &app.log_signer)
        .map_err(BuildError::from)
        .and_then(|note| Packet::build(proof.record, &note, &exporter))
        .and_then(|packet| Ok(packet.to_bytes()?));
    built.map_err(|error| {
        tracing::error!(error = &error as &dyn std::error::Error, %run, "a packet could not be made");
        ApiError::Ledger
    })
}
