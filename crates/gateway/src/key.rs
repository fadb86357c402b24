//! API keys over REST: made, listed, taken back. A key is shown once, when it is made.

use axum::Json;
use axum::extract::{Path, State};
use crypto::token::{Token, TokenKind};
use http::StatusCode;
use identity::role::of_key_parts;
use schema::{ApiKey, ApiKeyId, Digest, GatewayMode, Scope, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Commit, CommitError, KeyChange};

use crate::app::App;
use crate::audit::Change;
use crate::clock::now;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::{Kept, Params};
use crate::tenant;
use crate::text::Name;

/// A key to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewKey {
    /// What people call it.
    name: Name,
    /// The application it is pinned to, whatever the header says.
    #[serde(default)]
    app: Option<Name>,
    /// Whether it may operate the tenant; such a key has every scope.
    #[serde(default)]
    admin: bool,
    /// Whether what the governor says is carried out (`enforce`) or only recorded (`observe`).
    #[serde(default = "enforce")]
    gateway_mode: GatewayMode,
    /// What it opens; everything when left out.
    #[serde(default)]
    scopes: Option<Vec<Scope>>,
    /// When it ends by itself.
    #[serde(default)]
    expires_at: Option<Timestamp>,
    /// How many requests it may make in a minute; 0 is without end, left out is what the installation says.
    #[serde(default)]
    #[schemars(range(max = 1_000_000))]
    requests_per_minute: Option<u32>,
    /// The tenant it is for; only whoever runs the installation may name another than their own.
    #[serde(default)]
    tenant: Option<TenantId>,
}

fn enforce() -> GatewayMode {
    GatewayMode::Enforce
}

/// A key that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MadeKey {
    key: ApiKey,
    /// The key itself. It is kept nowhere and shown only now.
    token: String,
}

/// Keys, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KeyPage {
    keys: Vec<ApiKey>,
    /// Where the next page begins; null on the last.
    next: Option<ApiKeyId>,
}

/// A key that was taken back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RevokedKey {
    key: ApiKey,
}

/// Which keys.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyQuery {
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<ApiKeyId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
    /// Of this tenant; only whoever runs the installation may name another than their own.
    #[serde(default)]
    tenant: Option<TenantId>,
}

/// Whose key.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhoseQuery {
    /// Of this tenant; only whoever runs the installation may name another than their own.
    #[serde(default)]
    tenant: Option<TenantId>,
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Kept(new): Kept<NewKey>,
) -> Result<(StatusCode, Json<MadeKey>), ApiError> {
    let at = now();
    let tenant = tenant::meant(&app, &caller, new.tenant).await?;
    let key = new.into_key(tenant, at, &app, &caller)?;
    let token = Token::generate(TokenKind::ApiKey).map_err(unrecorded)?;
    let change = Change {
        tenant,
        at,
        action: "audit.key_created",
        target: &key.id.to_string(),
        details: json!({ "name": key.name, "admin": key.admin, "scopes": key.scopes, "gatewayMode": key.gateway_mode }),
    };
    let commit = Commit {
        appends: vec![change.record(&app, &caller)?],
        keys: vec![KeyChange::Create {
            key: key.clone(),
            hash: Digest::from_bytes(*token.hash().as_bytes()),
        }],
        ..Commit::default()
    };
    app.of(tenant).commit(commit).await.map_err(unrecorded)?;
    Ok((StatusCode::CREATED, Json(MadeKey { key, token: token.expose().to_owned() })))
}

impl NewKey {
    fn into_key(
        self,
        tenant: TenantId,
        at: Timestamp,
        app: &App,
        caller: &Caller,
    ) -> Result<ApiKey, ApiError> {
        let malformed = |param: &str, why: &str| ApiError::Malformed {
            param: param.to_owned(),
            message: format!("{param}: {why}"),
        };
        if self.expires_at.is_some_and(|end| end <= at) {
            return Err(malformed("expiresAt", "this moment has passed"));
        }
        if self.requests_per_minute.is_some_and(|limit| limit > 1_000_000) {
            return Err(malformed("requestsPerMinute", "expected at most 1000000"));
        }
        let mut scopes = self.scopes.unwrap_or_else(|| Scope::OF_MACHINES.to_vec());
        scopes.sort_unstable();
        scopes.dedup();
        caller.must_cover(of_key_parts(self.admin, &scopes))?;
        Ok(ApiKey {
            id: ApiKeyId::new(at.as_millis(), app.random_bytes()),
            tenant,
            name: self.name.into(),
            scopes,
            app: self.app.map(String::from),
            admin: self.admin,
            gateway_mode: self.gateway_mode,
            requests_per_minute: self.requests_per_minute,
            created_by: caller.key,
            created_by_user: caller.user,
            created_at: at,
            expires_at: self.expires_at,
            revoked_at: None,
        })
    }
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(KeyQuery { before, limit, tenant }): Params<KeyQuery>,
) -> Result<Json<KeyPage>, ApiError> {
    let tenant = tenant::meant(&app, &caller, tenant).await?;
    let keys = app.of(tenant).api_keys(before, limit.and_one()).await.map_err(unread)?;
    let (keys, next) = limit.cut(keys, |key| key.id);
    Ok(Json(KeyPage { keys, next }))
}

pub(crate) async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Params(WhoseQuery { tenant }): Params<WhoseQuery>,
) -> Result<Json<RevokedKey>, ApiError> {
    let id: ApiKeyId = id.parse().map_err(|_| ApiError::NoSuchKey)?;
    let (at, tenant) = (now(), tenant::meant(&app, &caller, tenant).await?);
    let store = app.of(tenant);
    let mut key = store.api_key(id).await.map_err(unread)?.ok_or(ApiError::NoSuchKey)?;
    // Once is enough: asked again, it says when that was.
    if key.revoked_at.is_none() {
        let details = json!({ "name": key.name });
        let change = Change { tenant, at, action: "audit.key_revoked", target: &id.to_string(), details };
        let commit = Commit {
            appends: vec![change.record(&app, &caller)?],
            keys: vec![KeyChange::Revoke { id, at }],
            ..Commit::default()
        };
        store.commit(commit).await.map_err(|error| match error {
            CommitError::NoKey(_) => ApiError::NoSuchKey,
            other => unrecorded(other),
        })?;
        key.revoked_at = Some(at);
    }
    Ok(Json(RevokedKey { key }))
}
