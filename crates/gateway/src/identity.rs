//! Who asks: read from the request's headers, before anything else is looked at.
//!
//! Without a bootstrap key and without people the gateway is open: whoever reaches it is the operator of the installation.
//! With a bootstrap key, that key is the operator, and everybody else shows a key that was made for them. Once there are
//! people, they log in, and whoever shows nothing is nobody. A key that is shown is always that key, also at an open gateway,
//! and comes before a cookie; a cookie is looked at on `/api/v1` alone.

mod caller;

use std::net::{IpAddr, Ipv4Addr};

use axum::extract::FromRequestParts;
use crypto::token::{Token, TokenHash, TokenKind};
use crypto::{Secret, SecretString};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, Method};
use identity::role::of_key;
use identity::{Permission, Permissions, Role};
use redaction::has_secret;
use schema::{ApiKey, Digest, Subject, Timestamp};

pub(crate) use self::caller::Caller;
use crate::app::{App, Shared};
use crate::clock::now;
use crate::error::{ApiError, unread};
use crate::gate::{Peer, Surface};
use crate::machines::Shown;
use crate::origin::authority;
use crate::people::{By, Client, Cookie, FoundSession, Session, Standing, of_person};

/// What a request shows of who sends it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) parts: Parts,
    pub(crate) client: Client,
}

impl FromRequestParts<App> for Asked {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        Ok(Self { parts: parts.clone(), client: Client::from_request_parts(parts, app).await? })
    }
}

/// The address that a request comes from.
pub(crate) fn peer(extensions: &http::Extensions) -> IpAddr {
    extensions.get().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |Peer(address)| *address)
}

/// What a credential turned out to be.
enum Credential {
    /// The operator of the installation.
    Operator,
    /// A key that was made for somebody.
    Key(Box<ApiKey>),
    /// A person's session.
    Session(Box<FoundSession>, Option<Role>),
    /// A token that speaks for somebody.
    Bearer(Box<Shown>),
}

impl Shared {
    /// The caller, or why nobody is let in.
    pub(crate) async fn identify(
        &self,
        parts: &http::request::Parts,
        surface: Surface,
        now: Timestamp,
    ) -> Result<Caller, ApiError> {
        let headers = &parts.headers;
        let credential = match token(headers) {
            Some(token) => self.shown_token(token, now).await?,
            None if surface == Surface::Rest => {
                let client =
                    || Client::of(self, headers, authority(headers, &parts.uri), peer(&parts.extensions));
                match self.shown_cookie(headers, &parts.method, client, now).await? {
                    Some(session) => session,
                    None => self.nothing_shown().await?,
                }
            }
            None => self.nothing_shown().await?,
        };
        self.caller(credential, headers)
    }

    /// The person who asks, where it is as well if nobody does. What is no session any more is nobody.
    pub(crate) async fn identify_person(
        &self,
        asked: &Asked,
        now: Timestamp,
    ) -> Result<Option<Caller>, ApiError> {
        let client = || asked.client.clone();
        let Parts { headers, method, .. } = &asked.parts;
        match self.shown_cookie(headers, method, client, now).await {
            Ok(Some(session)) => self.caller(session, headers).map(Some),
            Ok(None) | Err(ApiError::SessionEnded) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn caller(&self, credential: Credential, headers: &HeaderMap) -> Result<Caller, ApiError> {
        let (app, agent) = (named(headers, "x-punk-app")?, named(headers, "x-punk-agent")?);
        let subject = named(headers, "x-punk-subject")?.and_then(|text| Subject::try_from(text).ok());
        let operator = Caller::installation();
        let named = Caller {
            app: app.unwrap_or(operator.app),
            agent: agent.unwrap_or(operator.agent),
            subject,
            ..operator
        };
        Ok(match credential {
            Credential::Operator => named,
            Credential::Key(key) => Caller {
                grants: of_key(&key),
                tenant: key.tenant,
                is_pinned: key.app.is_some(),
                app: key.app.unwrap_or(named.app),
                gateway_mode: key.gateway_mode,
                role: Some(if key.admin { Role::Admin } else { Role::Reviewer }),
                key: Some(key.id),
                requests_per_minute: key.requests_per_minute,
                ..named
            },
            Credential::Session(found, role) => Caller {
                grants: of_person(role, found.session.organisation),
                tenant: found.session.organisation,
                user: Some(found.session.user),
                role,
                session: Some(found),
                ..named
            },
            Credential::Bearer(shown) => Caller {
                tenant: shown.tenant,
                grants: shown.grants,
                role: shown.role,
                key: shown.key,
                user: shown.user,
                service: shown.service,
                foreign: shown.foreign,
                run: shown.run,
                expires: shown.expires,
                ..named
            },
        })
    }

    /// Whether somebody who was let in a while ago may still do what takes `permission`. What cannot be seen now is as it was
    /// a moment ago.
    pub(crate) async fn still_may(&self, caller: &Caller, permission: Permission) -> bool {
        let now = now();
        if caller.expires.is_some_and(|end| end <= now) {
            return false;
        }
        match self.grants_now(caller, now).await {
            Ok(grants) => grants.has(permission),
            Err(ApiError::Unread | ApiError::Full | ApiError::Damaged) => true,
            Err(_) => false,
        }
    }

    /// What a caller may do by now.
    async fn grants_now(&self, caller: &Caller, now: Timestamp) -> Result<Permissions, ApiError> {
        if let Some(found) = &caller.session {
            let Session { id, user, .. } = found.session;
            if !self.people.directory.is_session_live(user, id, &self.people.rules, now).await? {
                return Err(ApiError::SessionEnded);
            }
        }
        if caller.foreign.is_some() {
            return Ok(caller.grants);
        }
        let maker = self.maker(caller.tenant, &caller.actor(), now).await?;
        Ok(maker.grants.only(caller.grants))
    }

    /// Whoever shows nothing: the operator, where everybody is.
    async fn nothing_shown(&self) -> Result<Credential, ApiError> {
        if self.is_open().await? { Ok(Credential::Operator) } else { Err(ApiError::Unauthorised) }
    }

    /// Whether whoever reaches the gateway operates it.
    pub(crate) async fn is_open(&self) -> Result<bool, ApiError> {
        Ok(self.api_key.is_none() && !self.people.login_mode().await?)
    }

    async fn shown_token(&self, token: &str, now: Timestamp) -> Result<Credential, ApiError> {
        if let Some(wanted) = &self.api_key {
            let given: SecretString = Secret::new(token.to_owned());
            // Secrets compare in constant time.
            if given == *wanted {
                return Ok(Credential::Operator);
            }
        }
        match Token::parse(TokenKind::ApiKey, token) {
            Ok(token) => return self.key(token.hash(), now).await,
            Err(_) if is_of_ours(token) => return Err(ApiError::Unauthorised),
            Err(_) => {}
        }
        match self.shown_bearer(token, now).await? {
            Some(shown) => Ok(Credential::Bearer(Box::new(shown))),
            // Clients insist on sending some key; an open gateway does not mind which, unless it claims to be one of ours.
            None if self.is_open().await? => Ok(Credential::Operator),
            None => Err(ApiError::Unauthorised),
        }
    }

    /// The key with this hash, if it still holds. A store that cannot be asked is no reason to call a key wrong.
    async fn key(&self, hash: TokenHash, now: Timestamp) -> Result<Credential, ApiError> {
        let hash = Digest::from_bytes(*hash.as_bytes());
        let key = self.store.key(hash).await.map_err(unread)?.ok_or(ApiError::Unauthorised)?;
        if key.revoked_at.is_some() {
            return Err(ApiError::KeyRevoked);
        }
        if key.expires_at.is_some_and(|end| end <= now) {
            return Err(ApiError::KeyExpired);
        }
        Ok(Credential::Key(Box::new(key)))
    }

    /// The session whose cookie is shown, with what its person is now where they act. Nothing is remembered of it.
    async fn shown_cookie(
        &self,
        headers: &HeaderMap,
        method: &Method,
        client: impl FnOnce() -> Client,
        now: Timestamp,
    ) -> Result<Option<Credential>, ApiError> {
        if !headers.contains_key(http::header::COOKIE) {
            return Ok(None);
        }
        let client = client();
        let Some(shown) = Cookie::Session.read(headers, client.secure) else { return Ok(None) };
        if !self.people.login_mode().await? {
            return Ok(None);
        }
        let token = Token::parse(TokenKind::Session, shown).map_err(|_| ApiError::SessionEnded)?;
        let directory = &self.people.directory;
        let found = directory.find_session(&token, &self.people.rules, now).await?;
        let found = found.ok_or(ApiError::SessionEnded)?;
        let session = &found.session;
        match found.standing {
            Standing::Good | Standing::Old | Standing::Passing => {}
            Standing::Over => return Err(ApiError::SessionEnded),
            Standing::Copied => {
                // Two have it, and nobody knows who is who.
                tracing::warn!(session = %session.id, "an old token was shown again: the session is ended");
                let (id, by) = (session.id, By::installation("sessions"));
                directory
                    .end_sessions(session.user, |each| each.id == id, "old token shown", &by, now)
                    .await?;
                return Err(ApiError::SessionEnded);
            }
        }
        client.must_be_ours(method, headers, &session.csrf)?;
        let account = directory.by_id(session.user).await?.map(|found| found.value);
        if account.is_none_or(|account| account.disabled_at.is_some()) {
            return Err(ApiError::SessionEnded);
        }
        let membership = directory.membership(session.organisation, session.user).await?;
        let role = membership.map(|found| found.value.role);
        Ok(Some(Credential::Session(Box::new(found), role)))
    }
}

/// Whether a text begins as something that we give out does.
fn is_of_ours(token: &str) -> bool {
    TokenKind::ALL.iter().any(|kind| token.starts_with(kind.prefix()))
}

/// What the caller shows: as OpenAI's clients send it, or as Anthropic's do.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    let token = bearer.or_else(|| headers.get("x-api-key").and_then(|value| value.to_str().ok()));
    token.filter(|token| !token.is_empty())
}

/// A header that names somebody: by the rules of subjects, whoever it is.
fn named(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let subject = value.to_str().ok().and_then(|text| Subject::try_from(text.to_owned()).ok());
    match subject {
        // Names are kept as they are, in places where nobody looks for secrets.
        Some(subject) if has_secret(subject.as_str()) => {
            Err(ApiError::Header { name, wanted: "expected a name, and this looks like a secret" })
        }
        Some(subject) => Ok(Some(subject.into())),
        None => Err(ApiError::Header { name, wanted: "expected 1 to 120 visible ASCII characters" }),
    }
}
