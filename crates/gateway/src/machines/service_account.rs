//! Service accounts: machines that exchange a secret for short-lived tokens.
//!
//! A secret is shown once, when it is made, and only its hash is kept. Rotating makes another one; the one before is good for
//! a while, so that whoever holds it can be given the new one.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use crypto::token::{Token, TokenHash, TokenKind};
use http::StatusCode;
use identity::permission::of_scopes;
use identity::{Permissions, Role};
use schema::{Digest, Scope, ServiceAccountId, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{RecordChange, RecordFilter, RecordKind};

use crate::app::App;
use crate::clock::now;
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::page::Limit;
use crate::people::{ChangeError, Directory, Versioned, body, new_id, read};
use crate::strict::{Body, Params};
use crate::text::Name;

/// The group of all of them.
const GROUP: &str = "active";
/// How long the secret before is good, if nobody says: a day.
const GRACE_SECONDS: u64 = 24 * 3600;
/// The longest: a month.
const MOST_GRACE: u64 = 31 * 24 * 3600;

/// An account that is to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewServiceAccount {
    /// What people call it.
    name: Name,
    /// What its tokens open at most: `gateway`, `read` and `write`. No machine approves.
    #[serde(default)]
    scopes: Option<Vec<Scope>>,
    /// When it ends by itself.
    #[serde(default)]
    expires_at: Option<Timestamp>,
}

/// How a secret is replaced.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Rotation {
    /// How long the one before is good; a day when left out, 0 for not at all.
    #[serde(default)]
    #[schemars(range(max = 2_678_400))]
    grace_seconds: Option<u64>,
}

/// An account, as the store has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServiceAccount {
    pub(crate) id: ServiceAccountId,
    name: String,
    pub(crate) scopes: Vec<Scope>,
    /// Its secrets, the newest first: two at most.
    secrets: Vec<KeptSecret>,
    expires_at: Option<Timestamp>,
    created_at: Timestamp,
    by: String,
}

/// A secret, hashed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeptSecret {
    hash: Digest,
    made_at: Timestamp,
    /// Until when it is good, once another took its place.
    until: Option<Timestamp>,
}

/// An account of a machine.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownServiceAccount {
    id: ServiceAccountId,
    /// What it shows as `client_id`.
    client_id: String,
    name: String,
    scopes: Vec<Scope>,
    created_at: Timestamp,
    /// When its secret was last replaced.
    rotated_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    /// Who made it.
    by: String,
}

/// An account, with its secret.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MadeServiceAccount {
    service_account: ShownServiceAccount,
    /// What it shows as `client_secret`. It is kept nowhere and shown only now.
    client_secret: String,
}

/// Accounts, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServiceAccountPage {
    service_accounts: Vec<ShownServiceAccount>,
    /// Where the next page begins; null on the last.
    next: Option<ServiceAccountId>,
}

/// Which accounts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServiceAccountQuery {
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<ServiceAccountId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// An account that is gone.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RemovedServiceAccount {
    service_account: ShownServiceAccount,
}

impl ServiceAccount {
    /// Whether this is who made it.
    pub(crate) fn was_made_by(&self, actor: &str) -> bool {
        self.by == actor
    }

    /// Whether its time has not come.
    pub(crate) fn is_live(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }

    /// What it may do: what both its scopes and the role of machines have.
    pub(crate) fn permissions(scopes: &[Scope]) -> Permissions {
        Role::Service.permissions().only(of_scopes(scopes))
    }

    fn shown(&self, tenant: TenantId) -> ShownServiceAccount {
        let newest = self.secrets.first().map(|secret| secret.made_at);
        ShownServiceAccount {
            id: self.id,
            client_id: format!("{tenant}.{}", self.id),
            name: self.name.clone(),
            scopes: self.scopes.clone(),
            created_at: self.created_at,
            rotated_at: newest.filter(|made| *made != self.created_at),
            expires_at: self.expires_at,
            by: self.by.clone(),
        }
    }

    fn change(&self, expected: u64) -> Result<RecordChange, ChangeError> {
        let to = Some(body(GROUP, self, self.created_at, None)?);
        Ok(RecordChange { kind: RecordKind::ServiceAccount, id: self.id.to_string(), expected, to })
    }
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Body(NewServiceAccount { name, scopes, expires_at }): Body<NewServiceAccount>,
) -> Result<(StatusCode, Json<MadeServiceAccount>), ApiError> {
    let at = now();
    let mut scopes = scopes.unwrap_or_else(|| Scope::OF_MACHINES.to_vec());
    scopes.sort_unstable();
    scopes.dedup();
    let malformed = |param: &str, why: &str| ApiError::Malformed {
        param: param.to_owned(),
        message: format!("{param}: {why}"),
    };
    if scopes.contains(&Scope::Approve) {
        return Err(malformed("scopes", "no machine approves; `approve` is for people"));
    }
    if scopes.is_empty() {
        return Err(malformed("scopes", "name at least one of gateway, read, write"));
    }
    if expires_at.is_some_and(|end| end <= at) {
        return Err(malformed("expiresAt", "this moment has passed"));
    }
    caller.must_cover(ServiceAccount::permissions(&scopes))?;
    let (secret, kept) = new_secret(at)?;
    let account = ServiceAccount {
        id: new_id(at).map_err(unread)?,
        name: name.into(),
        scopes,
        secrets: vec![kept],
        expires_at,
        created_at: at,
        by: caller.actor(),
    };
    let details = json!({ "name": account.name, "scopes": account.scopes });
    let done = ("audit.service_account_created", account.id.to_string(), details);
    app.people
        .directory
        .commit(caller.tenant, vec![account.change(0)?], Some(done), &caller.by(), at)
        .await?;
    let made = MadeServiceAccount {
        service_account: account.shown(caller.tenant),
        client_secret: secret.expose().to_owned(),
    };
    Ok((StatusCode::CREATED, Json(made)))
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(ServiceAccountQuery { before, limit }): Params<ServiceAccountQuery>,
) -> Result<Json<ServiceAccountPage>, ApiError> {
    let before = before.map(|id| id.to_string());
    let filter = RecordFilter::of(RecordKind::ServiceAccount);
    let found =
        app.people.directory.records(caller.tenant, &filter, before.as_deref(), limit.and_one()).await?;
    let mut accounts = Vec::with_capacity(found.len());
    for record in &found {
        accounts.push(read::<ServiceAccount>(record)?.value.shown(caller.tenant));
    }
    let (service_accounts, next) = limit.cut(accounts, |account| account.id);
    Ok(Json(ServiceAccountPage { service_accounts, next }))
}

pub(crate) async fn rotate(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(Rotation { grace_seconds }): Body<Rotation>,
) -> Result<Json<MadeServiceAccount>, ApiError> {
    let at = now();
    let grace = grace_seconds.unwrap_or(GRACE_SECONDS);
    if grace > MOST_GRACE {
        let message = format!("graceSeconds: expected at most {MOST_GRACE}");
        return Err(ApiError::Malformed { param: "graceSeconds".to_owned(), message });
    }
    let Versioned { value: mut account, version } = find(&app, caller.tenant, &id).await?;
    caller.must_cover(ServiceAccount::permissions(&account.scopes))?;
    let until = Duration::from_secs(grace).as_millis();
    let until = Timestamp::from_millis(at.as_millis().saturating_add(u64::try_from(until).unwrap_or(0)));
    let (secret, kept) = new_secret(at)?;
    // One before it at most: whoever rotates twice in a row means the first of them no more.
    account.secrets.truncate(1);
    for before in &mut account.secrets {
        before.until = Some(until.unwrap_or(Timestamp::LAST));
    }
    account.secrets.insert(0, kept);
    let done = ("audit.service_account_rotated", account.id.to_string(), json!({ "graceSeconds": grace }));
    let change = vec![account.change(version)?];
    let committed = app.people.directory.commit(caller.tenant, change, Some(done), &caller.by(), at).await;
    committed.map_err(|error| ApiError::of_change(error, "service account"))?;
    let client_secret = secret.expose().to_owned();
    Ok(Json(MadeServiceAccount { service_account: account.shown(caller.tenant), client_secret }))
}

pub(crate) async fn remove(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<RemovedServiceAccount>, ApiError> {
    let Versioned { value: account, version } = find(&app, caller.tenant, &id).await?;
    let change = RecordChange {
        kind: RecordKind::ServiceAccount,
        id: account.id.to_string(),
        expected: version,
        to: None,
    };
    let done = ("audit.service_account_removed", account.id.to_string(), json!({ "name": account.name }));
    let committed =
        app.people.directory.commit(caller.tenant, vec![change], Some(done), &caller.by(), now()).await;
    committed.map_err(|error| ApiError::of_change(error, "service account"))?;
    Ok(Json(RemovedServiceAccount { service_account: account.shown(caller.tenant) }))
}

async fn find(app: &App, tenant: TenantId, id: &str) -> Result<Versioned<ServiceAccount>, ApiError> {
    let missing =
        ApiError::NoSuch { what: "service account", hint: "`GET /api/v1/service-accounts` lists them" };
    let Ok(id) = id.parse::<ServiceAccountId>() else { return Err(missing) };
    app.people.directory.service_account(tenant, id).await?.ok_or(missing)
}

fn new_secret(at: Timestamp) -> Result<(Token, KeptSecret), ApiError> {
    let token = Token::generate(TokenKind::ServiceSecret).map_err(unread)?;
    let hash = Digest::from_bytes(*token.hash().as_bytes());
    Ok((token, KeptSecret { hash, made_at: at, until: None }))
}

impl Directory {
    /// The account of a machine, as it is now.
    pub(crate) async fn service_account(
        &self,
        tenant: TenantId,
        id: ServiceAccountId,
    ) -> Result<Option<Versioned<ServiceAccount>>, ChangeError> {
        self.record(tenant, RecordKind::ServiceAccount, &id.to_string()).await
    }

    /// The account whose id and secret these are, if both hold. Whatever is wrong, nobody is told what.
    pub(crate) async fn prove_client(
        &self,
        client_id: &str,
        secret: &str,
        now: Timestamp,
    ) -> Result<Option<(TenantId, ServiceAccount)>, ChangeError> {
        let parsed = client_id.split_once('.').and_then(|(tenant, id)| {
            Some((tenant.parse::<TenantId>().ok()?, id.parse::<ServiceAccountId>().ok()?))
        });
        let (Some((tenant, id)), Ok(shown)) = (parsed, Token::parse(TokenKind::ServiceSecret, secret)) else {
            return Ok(None);
        };
        let Some(found) = self.service_account(tenant, id).await? else { return Ok(None) };
        let account = found.value;
        // Every one is compared, and hashes compare in constant time.
        let shown = shown.hash();
        let is_right = account.secrets.iter().fold(false, |found, kept| {
            let is_same = TokenHash::from_bytes(*kept.hash.as_bytes()) == shown;
            let is_good = kept.until.is_none_or(|until| now < until);
            found | (is_same & is_good)
        });
        Ok((is_right && account.is_live(now)).then_some((tenant, account)))
    }
}
