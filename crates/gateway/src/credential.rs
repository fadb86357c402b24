//! Credentials over REST: secrets come in and never go out.
//!
//! Bodies are read by hand: the messages of a general reader repeat what they do not understand, and here that may be
//! the secret.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Path, Request, State};
use crypto::SecretString;
use http::StatusCode;
use schema::CredentialId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::Commit;
use vault::{ChangeError, Credential, CredentialKind, Name, Reference};

use crate::app::App;
use crate::audit::Change;
use crate::clock::now;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::Params;

/// How many letters and digits there are in a text that is mistaken for no other.
const SHORTEST_CANARY: usize = 12;

/// A credential to be kept.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct NewCredential {
    /// What it is called: 1 to 64 letters, digits, `.`, `_` and `-`. No two of a tenant share one.
    #[schemars(with = "String", length(min = 1, max = 64), regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    name: Name,
    /// What it is for.
    kind: CredentialKind,
    /// The secret, which nothing shows again.
    #[schemars(with = "String", length(min = 1, max = 16384))]
    value: SecretString,
}

/// Another value for a credential.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct NewValue {
    /// The secret, which nothing shows again.
    #[schemars(with = "String", length(min = 1, max = 16384))]
    value: SecretString,
}

/// A credential, without its value.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownCredential {
    credential: Credential,
    /// What settings say in its place.
    reference: String,
}

/// Credentials, newest first, without their values.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CredentialPage {
    credentials: Vec<Credential>,
    /// Where the next page begins; null on the last.
    next: Option<CredentialId>,
}

/// Which credentials.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CredentialQuery {
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<CredentialId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(CredentialQuery { before, limit }): Params<CredentialQuery>,
) -> Result<Json<CredentialPage>, ApiError> {
    let found = app.vault.list(caller.tenant, before, limit.and_one()).await.map_err(unread)?;
    let (credentials, next) = limit.cut(found, |credential| credential.id);
    Ok(Json(CredentialPage { credentials, next }))
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShownCredential>, ApiError> {
    Ok(Json(find(&app, &caller, &id).await?.into()))
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    NewCredential { name, kind, value }: NewCredential,
) -> Result<(StatusCode, Json<ShownCredential>), ApiError> {
    let at = now();
    // Names are shown, so the secret must not be in its place.
    if app.house.of(caller.tenant).has_secret(name.as_str()) {
        return Err(malformed(
            "name",
            "it looks like a secret; a name is shown to whoever lists credentials",
        ));
    }
    // A shorter one would be found where nobody planted it.
    let marks = value.expose().chars().filter(|character| character.is_ascii_alphanumeric()).count();
    if kind == CredentialKind::Canary && marks < SHORTEST_CANARY {
        return Err(malformed("value", "a canary has at least 12 letters and digits"));
    }
    let id = CredentialId::new(at.as_millis(), app.random_bytes());
    let details = json!({ "name": name, "kind": kind });
    let beside = on_record(&app, &caller, "audit.credential_added", id, details)?;
    let new = vault::NewCredential { id, name, kind, value, created_by: caller.actor(), at };
    let credential = app.vault.add(caller.tenant, new, beside).await.map_err(unchanged)?;
    Ok((StatusCode::CREATED, Json(credential.into())))
}

pub(crate) async fn rotate(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    NewValue { value }: NewValue,
) -> Result<Json<ShownCredential>, ApiError> {
    let before = find(&app, &caller, &id).await?;
    let beside = on_record(&app, &caller, "audit.credential_rotated", before.id, said_of(&before))?;
    let after = app.vault.replace(caller.tenant, &before, value, now(), beside).await.map_err(unchanged)?;
    Ok(Json(after.into()))
}

pub(crate) async fn remove(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShownCredential>, ApiError> {
    let credential = find(&app, &caller, &id).await?;
    let beside = on_record(&app, &caller, "audit.credential_removed", credential.id, said_of(&credential))?;
    app.vault.remove(caller.tenant, &credential, beside).await.map_err(unchanged)?;
    Ok(Json(credential.into()))
}

impl From<Credential> for ShownCredential {
    fn from(credential: Credential) -> Self {
        Self { reference: Reference::Id(credential.id).to_string(), credential }
    }
}

async fn find(app: &App, caller: &Caller, id: &str) -> Result<Credential, ApiError> {
    let missing = || ApiError::NoSuch {
        what: "credential",
        hint: "`GET /api/v1/credentials` lists the credentials of the tenant",
    };
    let id: CredentialId = id.parse().map_err(|_| missing())?;
    let found = app.vault.find(caller.tenant, &Reference::Id(id)).await.map_err(unread)?;
    found.ok_or_else(missing)
}

fn said_of(credential: &Credential) -> Value {
    json!({ "name": credential.name, "kind": credential.kind, "version": credential.version })
}

/// The record of a change, for the commit that makes it.
fn on_record(
    app: &App,
    caller: &Caller,
    action: &'static str,
    id: CredentialId,
    details: Value,
) -> Result<Commit, ApiError> {
    let change = Change { tenant: caller.tenant, at: now(), action, target: &id.to_string(), details };
    Ok(Commit { appends: vec![change.record(app, caller)?], ..Commit::default() })
}

fn unchanged(error: ChangeError) -> ApiError {
    match error {
        ChangeError::NameTaken => ApiError::NameTaken { what: "credential" },
        ChangeError::TooMany => ApiError::TooManyKept { what: "credentials", most: vault::MOST },
        ChangeError::Moved => ApiError::Changed { what: "credential" },
        ChangeError::Unwritten(error) => unrecorded(error),
        error @ ChangeError::Unsealed(_) => unrecorded(error),
    }
}

impl<S: Send + Sync> FromRequest<S> for NewCredential {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let mut members = members(request, state, &["name", "kind", "value"]).await?;
        let name = text(&mut members, "name")?;
        let kind = text(&mut members, "kind")?;
        Ok(Self {
            name: name.parse().map_err(|unfit: vault::UnfitName| malformed("name", &unfit.to_string()))?,
            kind: CredentialKind::named(&kind)
                .ok_or_else(|| malformed("kind", "expected one of `provider`, `tool`, `webhook`, `other`"))?,
            value: secret(&mut members)?,
        })
    }
}

impl<S: Send + Sync> FromRequest<S> for NewValue {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let mut members = members(request, state, &["value"]).await?;
        Ok(Self { value: secret(&mut members)? })
    }
}

/// The members of the body, all of which are known.
async fn members<S: Send + Sync>(
    request: Request,
    state: &S,
    known: &[&str],
) -> Result<Map<String, Value>, ApiError> {
    let refused = |status, message: String| ApiError::Body { status, message };
    let bytes = Bytes::from_request(request, state).await.map_err(|error| ApiError::unread_body(&error))?;
    let expected = format!("expected a JSON object with `{}`", known.join("`, `"));
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(members)) if members.keys().all(|name| known.contains(&name.as_str())) => {
            Ok(members)
        }
        Ok(Value::Object(_)) => Err(refused(StatusCode::BAD_REQUEST, format!("{expected} and nothing else"))),
        Ok(_) | Err(_) => Err(refused(StatusCode::BAD_REQUEST, expected)),
    }
}

fn text(members: &mut Map<String, Value>, name: &str) -> Result<String, ApiError> {
    match members.remove(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(malformed(name, "expected a text")),
        None => Err(malformed(name, "it is missing")),
    }
}

fn secret(members: &mut Map<String, Value>) -> Result<SecretString, ApiError> {
    let given = SecretString::new(text(members, "value")?);
    vault::value(given).map_err(|unfit| malformed("value", &unfit.to_string()))
}

fn malformed(param: &str, why: &str) -> ApiError {
    ApiError::Malformed { param: param.to_owned(), message: format!("{param}: {why}") }
}
