//! Who asks: read from the request's headers, before anything else is looked at.
//!
//! Without a bootstrap key the gateway is open: whoever reaches it is the operator of the installation. With one, that
//! key is the operator, and everybody else shows a key that was made for them. A key that is shown is always that key,
//! also at an open gateway.

use axum::extract::FromRequestParts;
use crypto::token::{Token, TokenHash, TokenKind};
use crypto::{Secret, SecretString};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use http::request::Parts;
use schema::{ApiKey, ApiKeyId, Digest, GatewayMode, Scope, Subject, TenantId, Timestamp};

use crate::app::Shared;
use crate::error::{ApiError, unread};

/// Who asks, and for whom.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) tenant: TenantId,
    pub(crate) app: String,
    pub(crate) agent: String,
    pub(crate) subject: Option<Subject>,
    pub(crate) gateway_mode: GatewayMode,
    /// The key that was shown; none for the operator of the installation.
    pub(crate) key: Option<ApiKeyId>,
    /// Whether it may operate its tenant.
    pub(crate) admin: bool,
    /// Whether it is the operator of the installation.
    pub(crate) installation: bool,
    /// What a key without `admin` may do.
    pub(crate) scopes: Vec<Scope>,
    /// How many requests a minute it has, if not as many as others.
    pub(crate) requests_per_minute: Option<u32>,
}

impl Caller {
    /// Whoever runs the installation, who says nothing else of themselves.
    pub(crate) fn installation() -> Self {
        Self {
            tenant: TenantId::NIL,
            app: "default-app".to_owned(),
            agent: "anonymous".to_owned(),
            subject: None,
            gateway_mode: GatewayMode::Enforce,
            key: None,
            admin: true,
            installation: true,
            scopes: Vec::new(),
            requests_per_minute: None,
        }
    }

    /// Whether it may do what needs `scope`.
    pub(crate) fn has(&self, scope: Scope) -> bool {
        self.admin || self.scopes.contains(&scope)
    }

    /// How the ledger names it when it changes something.
    pub(crate) fn actor(&self) -> String {
        self.key.map_or_else(|| "installation".to_owned(), |key| key.to_string())
    }
}

/// The caller that the gate let in.
impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.remove().ok_or(ApiError::Unauthorised)
    }
}

/// What a credential turned out to be.
enum Credential {
    /// The operator of the installation.
    Operator,
    /// A key that was made for somebody.
    Key(Box<ApiKey>),
}

impl Shared {
    /// The caller, or why nobody is let in.
    pub(crate) async fn identify(&self, headers: &HeaderMap, now: Timestamp) -> Result<Caller, ApiError> {
        let credential = self.credential(token(headers), now).await?;
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
                tenant: key.tenant,
                app: key.app.unwrap_or(named.app),
                gateway_mode: key.gateway_mode,
                key: Some(key.id),
                admin: key.admin,
                installation: false,
                scopes: key.scopes,
                requests_per_minute: key.requests_per_minute,
                ..named
            },
        })
    }

    async fn credential(&self, token: Option<&str>, now: Timestamp) -> Result<Credential, ApiError> {
        let Some(token) = token else {
            return if self.api_key.is_none() {
                Ok(Credential::Operator)
            } else {
                Err(ApiError::Unauthorised)
            };
        };
        if let Some(wanted) = &self.api_key {
            let given: SecretString = Secret::new(token.to_owned());
            // Secrets compare in constant time.
            if given == *wanted {
                return Ok(Credential::Operator);
            }
        }
        match Token::parse(TokenKind::ApiKey, token) {
            Ok(token) => self.key(token.hash(), now).await,
            // Clients insist on sending some key; an open gateway does not mind which, unless it claims to be one of ours.
            Err(_) if self.api_key.is_none() && !token.starts_with(TokenKind::ApiKey.prefix()) => {
                Ok(Credential::Operator)
            }
            Err(_) => Err(ApiError::Unauthorised),
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
        Some(subject) => Ok(Some(subject.into())),
        None => Err(ApiError::Header { name, wanted: "expected 1 to 120 visible ASCII characters" }),
    }
}
