//! What a token says, and its text.

use super::Scopes;
use crate::jose::Refused;
use schema::{RunId, SessionId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A person who logged in.
    Session,
    /// A service account.
    Service,
    /// One run.
    Capability,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Session, Self::Service, Self::Capability];

    /// The longest that a token of this kind may live.
    pub const fn longest(self) -> Duration {
        match self {
            Self::Session => Duration::from_secs(15 * 60),
            Self::Service | Self::Capability => Duration::from_secs(60 * 60),
        }
    }
}

/// What a token lets its bearer do, by kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authority {
    /// As a person in a role.
    Session {
        /// The session that must still be open.
        session: SessionId,
        /// The name of the role.
        role: String,
    },
    /// As a service account.
    Service {
        /// What the account may do.
        scopes: Scopes,
    },
    /// Within one run, and in no other.
    Capability {
        /// The run.
        run: RunId,
        /// What may be done in it.
        scopes: Scopes,
    },
}

impl Authority {
    /// The kind of token that says this.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Session { .. } => Kind::Session,
            Self::Service { .. } => Kind::Service,
            Self::Capability { .. } => Kind::Capability,
        }
    }
}

/// Who may do what where: the part of a token that its issuer chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The id of the user or service account.
    pub subject: String,
    /// The tenant, beyond which nothing reaches.
    pub organisation: TenantId,
    /// What it lets its bearer do.
    pub authority: Authority,
}

/// What a verified token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The token's own name (`jti`), to revoke it by.
    pub id: String,
    /// Who may do what where.
    pub grant: Grant,
    /// When it was made, to the second.
    pub issued: Timestamp,
    /// When its time is over.
    pub expires: Timestamp,
}

/// The claims as they are written. A name that is not here, or is there twice, is refused by serde.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Payload {
    pub(super) iss: String,
    pub(super) aud: String,
    pub(super) sub: String,
    pub(super) iat: u64,
    pub(super) nbf: u64,
    pub(super) exp: u64,
    pub(super) jti: String,
    pub(super) kind: Kind,
    org: TenantId,
    #[serde(skip_serializing_if = "Option::is_none")]
    sid: Option<SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
}

impl Payload {
    pub(super) fn of(issuer: &str, audience: &str, claims: &Claims) -> Self {
        let (sid, role, scope, run) = match &claims.grant.authority {
            Authority::Session { session, role } => (Some(*session), Some(role.clone()), None, None),
            Authority::Service { scopes } => (None, None, Some(scopes.to_string()), None),
            Authority::Capability { run, scopes } => (None, None, Some(scopes.to_string()), Some(*run)),
        };
        let issued = claims.issued.as_millis() / 1000;
        Self {
            iss: issuer.to_owned(),
            aud: audience.to_owned(),
            sub: claims.grant.subject.clone(),
            iat: issued,
            nbf: issued,
            exp: claims.expires.as_millis() / 1000,
            jti: claims.id.clone(),
            kind: claims.grant.authority.kind(),
            org: claims.grant.organisation,
            sid,
            role,
            scope,
            run,
        }
    }

    /// The claims, when exactly those are there that the kind has.
    pub(super) fn claims(self) -> Result<Claims, Refused> {
        let authority = match (self.kind, self.sid, self.role, self.scope, self.run) {
            (Kind::Session, Some(session), Some(role), None, None) => Authority::Session { session, role },
            (Kind::Service, None, None, Some(scope), None) => Authority::Service { scopes: scopes(&scope)? },
            (Kind::Capability, None, None, Some(scope), Some(run)) => {
                Authority::Capability { run, scopes: scopes(&scope)? }
            }
            _ => return Err(Refused::Claim("kind")),
        };
        let time = |seconds: u64, name| {
            Timestamp::from_millis(seconds.saturating_mul(1000)).map_err(|_| Refused::Claim(name))
        };
        if self.jti.is_empty() {
            return Err(Refused::Claim("jti"));
        }
        Ok(Claims {
            id: self.jti,
            grant: Grant { subject: self.sub, organisation: self.org, authority },
            issued: time(self.iat, "iat")?,
            expires: time(self.exp, "exp")?,
        })
    }
}

fn scopes(text: &str) -> Result<Scopes, Refused> {
    text.parse().map_err(|_| Refused::Claim("scope"))
}
