//! `GET /api/v1/runs/{id}/evidence-packet`: the proof of a run, for whoever wants to check it elsewhere.

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use crypto::{KeyRing, SigningKey};
use http::header::CONTENT_TYPE;
use ledger::note::{KeyKind, NoteError, VerifierKey};
use ledger::packet::{BuildError, Exporter, Packet};
use ledger::{Checkpoint, origin};
use schema::{RunId, TenantId};

use crate::app::{App, Shared, StartError};
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::run::absent;

/// What the logs of the tenants are signed with: a key for each, derived from the installation's by the log's origin.
pub(crate) struct Logs {
    name: String,
    keys: KeyRing,
}

/// The key of one tenant's log.
struct LogKey {
    key: VerifierKey,
    signer: SigningKey,
}

impl Logs {
    /// The logs of the installation called `name`.
    pub(crate) fn new(name: String, keys: KeyRing) -> Result<Self, StartError> {
        origin(&name, TenantId::NIL)?;
        if keys.signing_key().is_none() {
            return Err(StartError::NoKey(keys.folder().to_owned()));
        }
        Ok(Self { name, keys })
    }

    /// The key of a tenant's log. There is one whenever the installation has a key, which was seen at the start.
    fn key(&self, tenant: TenantId) -> Result<Option<LogKey>, NoteError> {
        let origin = origin(&self.name, tenant)?;
        Ok(self.keys.signing_key().map(|key| {
            let signer = key.derive(origin.as_str());
            LogKey { key: VerifierKey::new(origin, KeyKind::Log, signer.public()), signer }
        }))
    }
}

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
    let key = app.logs.key(tenant).map_err(|error| unmade(&error))?.ok_or(ApiError::Ledger)?;
    let checkpoint = Checkpoint { origin: key.key.name().clone(), size: proof.size, root: proof.root };
    let exporter = Exporter { key: &key.key, signer: &key.signer };
    let built = checkpoint
        .sign(&key.key, &key.signer)
        .map_err(BuildError::from)
        .and_then(|note| Packet::build(proof.record, &note, &exporter))
        .and_then(|packet| Ok(packet.to_bytes()?));
    built.map_err(|error| unmade(&error))
}
