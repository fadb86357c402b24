//! Tokens for one run: what works for it is given no more than it needs, and not for long.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use identity::permission::of_scopes;
use identity::token::{Authority, Grant, Scopes};
use identity::{Permission, Permissions};
use schema::{RunId, Scope, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::clock::now;
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::run::absent;
use crate::strict::Body;

/// The longest that one lives: a quarter of an hour.
const LONGEST: u64 = 900;
/// How long one lives, if nobody says.
const USUAL: u64 = 300;

/// All that a token for one run can ever open.
pub(crate) const OF_A_RUN: Permissions = Permissions::of(&[Permission::RunRead, Permission::RunWrite]);

/// A token that is wanted for a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewCapability {
    /// `read`, to look at the run, and `write`, to add to it.
    scopes: Vec<Scope>,
    /// How long it lives; five minutes when left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 900))]
    ttl_seconds: Option<u64>,
}

/// A token for a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MadeCapability {
    /// It is shown only now.
    token: String,
    run_id: RunId,
    scopes: Vec<Scope>,
    /// Its name, to take it back by.
    jti: String,
    expires_at: Timestamp,
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(NewCapability { scopes, ttl_seconds }): Body<NewCapability>,
) -> Result<(StatusCode, Json<MadeCapability>), ApiError> {
    let at = now();
    let run: RunId = id.parse().map_err(|_| ApiError::NoSuchRun)?;
    let store = app.of(caller.tenant);
    if store.run(run).await.map_err(unread)?.is_none() {
        return Err(absent(&*store, run).await);
    }
    let malformed = |param: &str, why: String| ApiError::Malformed {
        param: param.to_owned(),
        message: format!("{param}: {why}"),
    };
    if scopes.is_empty() || scopes.iter().any(|scope| !matches!(scope, Scope::Read | Scope::Write)) {
        return Err(malformed("scopes", "expected `read`, `write` or both".to_owned()));
    }
    let lifetime = ttl_seconds.unwrap_or(USUAL);
    if !(1..=LONGEST).contains(&lifetime) {
        return Err(malformed("ttlSeconds", format!("expected a whole number from 1 to {LONGEST}")));
    }
    caller.must_cover(of_scopes(&scopes).only(OF_A_RUN))?;
    if caller.foreign.is_some() {
        // A token for a run is worth what its maker may still do, and nobody here can be asked about them.
        let why = "whoever comes with a token of another issuer makes no tokens here".to_owned();
        return Err(ApiError::GrantRefused { why });
    }
    let words = Scopes::new(scopes.iter().map(|scope| scope.as_str())).map_err(unread)?;
    let grant = Grant {
        subject: caller.actor(),
        organisation: caller.tenant,
        authority: Authority::Capability { run, scopes: words },
    };
    let issued = app.machines.issuer().issue(grant, Duration::from_secs(lifetime), at).map_err(unread)?;
    let made = MadeCapability {
        token: issued.token.expose().clone(),
        run_id: run,
        scopes,
        jti: issued.claims.id,
        expires_at: issued.claims.expires,
    };
    Ok((StatusCode::CREATED, Json(made)))
}
