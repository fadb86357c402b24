//! Where tokens are given out and taken back: `auth/token`, `auth/revoke`, and the keys they are checked with.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use identity::Permission;
use identity::token::{Authority, Grant, Scopes};
use schema::{Scope, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::revocation::{self, Named};
use crate::app::App;
use crate::clock::now;
use crate::error::{ApiError, unread};
use crate::identity::Asked;
use crate::people::By;
use crate::strict::{self, Body};

/// How long a token of an account lives.
const SERVICE: Duration = Duration::from_secs(3600);
/// How long one lives that a session is swapped for.
const SESSION: Duration = Duration::from_secs(15 * 60);
/// How long what was taken back by its name alone is kept in mind: longer than any token lives.
const LONGEST: Duration = Duration::from_secs(25 * 3600);

/// What a token is asked for with: OAuth 2.0 client credentials, as JSON or as a form; or nothing, by a session.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct TokenRequest {
    /// `client_credentials`; left out by a page that swaps its session.
    #[serde(default)]
    grant_type: Option<String>,
    /// As the account was made with; or as the user name of HTTP Basic.
    #[serde(default)]
    client_id: Option<String>,
    /// As the account was made with; or as the password of HTTP Basic.
    #[serde(default)]
    client_secret: Option<String>,
    /// Words with spaces between, out of those of the account; all of them when left out.
    #[serde(default)]
    scope: Option<String>,
}

/// A token, as OAuth 2.0 has it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TokenAnswer {
    access_token: String,
    /// `Bearer`.
    token_type: &'static str,
    /// In seconds.
    expires_in: u64,
    /// What it opens; not there for the token of a session, which opens what its person may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

/// What is taken back: a token, by whoever has it; or one by its name, by whoever manages accounts of machines.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRevocation {
    /// The token itself.
    #[serde(default)]
    token: Option<String>,
    /// Its `jti`.
    #[serde(default)]
    jti: Option<String>,
    /// Who issued it, if not this gateway.
    #[serde(default)]
    issuer: Option<String>,
}

/// That it holds no more, if it ever did.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RevokedToken {
    revoked: bool,
}

pub(crate) async fn create(State(app): State<App>, asked: Asked, body: Bytes) -> Result<Response, ApiError> {
    asked.client.must_not_be_foreign()?;
    let at = now();
    let mut request = read(&asked.parts.headers, &body)?;
    if let Some((id, secret)) = basic(&asked.parts.headers) {
        (request.client_id, request.client_secret) = (Some(id), Some(secret));
    }
    let TokenRequest { grant_type, client_id, client_secret, scope } = request;
    match (grant_type.as_deref(), client_id, client_secret) {
        (Some("client_credentials"), Some(id), Some(secret)) => {
            of_account(&app, &id, &secret, scope, at).await
        }
        (Some("client_credentials"), ..) => Err(ApiError::ClientRefused),
        (None, None, None) => of_session(&app, &asked, at).await,
        _ => {
            let message = "grant_type: expected `client_credentials`".to_owned();
            Err(ApiError::Malformed { param: "grant_type".to_owned(), message })
        }
    }
}

async fn of_account(
    app: &App,
    client_id: &str,
    secret: &str,
    wanted: Option<String>,
    at: Timestamp,
) -> Result<Response, ApiError> {
    let proven = app.people.directory.prove_client(client_id, secret, at).await?;
    let (tenant, account) = proven.ok_or(ApiError::ClientRefused)?;
    let all = Scopes::new(account.scopes.iter().map(|scope| scope.as_str())).map_err(unread)?;
    let malformed = |message: String| ApiError::Malformed { param: "scope".to_owned(), message };
    let scopes: Scopes = match wanted {
        Some(wanted) => wanted.parse().map_err(|error| malformed(format!("{error}")))?,
        None => all.clone(),
    };
    if scopes.is_empty() || !scopes.is_within(&all) {
        return Err(malformed(format!("scope: expected some of `{all}`")));
    }
    let authority = Authority::Service { scopes: scopes.clone() };
    let grant = Grant { subject: account.id.to_string(), organisation: tenant, authority };
    answer(app, grant, SERVICE, Some(scopes.to_string()), at)
}

async fn of_session(app: &App, asked: &Asked, at: Timestamp) -> Result<Response, ApiError> {
    let caller = app.identify_person(asked, at).await?.ok_or(ApiError::NotLoggedIn)?;
    let found = caller.session.as_ref().ok_or(ApiError::NotLoggedIn)?;
    let role = caller.role.ok_or(ApiError::NotAMember)?.as_str().to_owned();
    let authority = Authority::Session { session: found.session.id, role };
    let subject = found.session.user.to_string();
    answer(app, Grant { subject, organisation: caller.tenant, authority }, SESSION, None, at)
}

fn answer(
    app: &App,
    grant: Grant,
    lifetime: Duration,
    scope: Option<String>,
    at: Timestamp,
) -> Result<Response, ApiError> {
    let issued = app.machines.issuer().issue(grant, lifetime, at).map_err(unread)?;
    let told = TokenAnswer {
        access_token: issued.token.expose().clone(),
        token_type: "Bearer",
        expires_in: lifetime.as_secs(),
        scope,
    };
    Ok((StatusCode::OK, [(CACHE_CONTROL, "no-store")], Json(told)).into_response())
}

/// A form, or JSON, or nothing.
fn read(headers: &HeaderMap, body: &[u8]) -> Result<TokenRequest, ApiError> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(TokenRequest::default());
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/x-www-form-urlencoded") {
        return strict::read(body);
    }
    let mut members = Map::new();
    for (name, value) in url::form_urlencoded::parse(body) {
        if members.insert(name.to_string(), Value::from(value.into_owned())).is_some() {
            return Err(ApiError::Malformed {
                param: name.into_owned(),
                message: "it is there twice".into(),
            });
        }
    }
    strict::from_value(Value::Object(members))
}

/// The two halves of HTTP Basic, each encoded as in a form.
fn basic(headers: &HeaderMap) -> Option<(String, String)> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    let decoded = |text: &str| {
        let pair = format!("x={text}");
        url::form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned())
    };
    Some((decoded(id)?, decoded(secret)?))
}

pub(crate) async fn revoke(
    State(app): State<App>,
    asked: Asked,
    Body(NewRevocation { token, jti, issuer }): Body<NewRevocation>,
) -> Result<Json<RevokedToken>, ApiError> {
    let at = now();
    let directory = &app.people.directory;
    let ours = app.machines.issuer();
    let own = ours.name();
    match (token, jti, issuer) {
        // Whoever has it may give it up. One that holds no more needs nothing.
        (Some(token), None, None) => {
            let Ok(claims) = app.machines.issuer().verify_any(&token, at) else {
                return Ok(Json(RevokedToken { revoked: false }));
            };
            let by = By { actor: claims.grant.subject.clone(), ..By::installation("tokens") };
            let tenant = Some(claims.grant.organisation);
            let named = Named { issuer: own, tenant, jti: &claims.id };
            revocation::revoke(directory, named, claims.expires, &by, at).await?;
            Ok(Json(RevokedToken { revoked: true }))
        }
        (None, Some(jti), issuer) if !jti.is_empty() && jti.len() <= 256 => {
            let caller = app.identify(&asked.parts, crate::gate::Surface::Rest, at).await?;
            caller.must(Permission::ServiceAccountManage)?;
            caller.must_be_whole()?;
            let until = at.as_millis() + u64::try_from(LONGEST.as_millis()).unwrap_or(0);
            let until = Timestamp::from_millis(until).unwrap_or(Timestamp::LAST);
            let named = match issuer.as_deref() {
                None => Named { issuer: own, tenant: Some(caller.tenant), jti: &jti },
                // What others issue is not told apart by tenants, so it is for whoever runs them all.
                Some(issuer) => {
                    caller.must(Permission::InstallationManage)?;
                    Named { issuer, tenant: None, jti: &jti }
                }
            };
            revocation::revoke(directory, named, until, &caller.by(), at).await?;
            Ok(Json(RevokedToken { revoked: true }))
        }
        _ => {
            let message = "token: send a `token`, or the `jti` of one".to_owned();
            Err(ApiError::Malformed { param: "token".to_owned(), message })
        }
    }
}

pub(crate) async fn keys(State(app): State<App>) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "public, max-age=300")];
    (headers, app.machines.issuer().jwks(now())).into_response()
}

/// The scopes that a token names, those that we know.
pub(crate) fn known(scopes: &Scopes) -> Vec<Scope> {
    let all = [Scope::Gateway, Scope::Read, Scope::Write, Scope::Approve];
    all.into_iter().filter(|scope| scopes.has(scope.as_str())).collect()
}
