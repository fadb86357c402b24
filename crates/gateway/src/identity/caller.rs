//! The caller: who asks, for whom, and all that they may do.

use axum::extract::FromRequestParts;
use http::request::Parts;
use identity::role::Granter;
use identity::{Permission, Permissions, Role};
use schema::{ApiKeyId, GatewayMode, RunId, ServiceAccountId, Subject, TenantId, Timestamp, UserId};

use crate::error::ApiError;
use crate::people::{By, FoundSession};
use crate::room::Place;

/// Who asks, and for whom.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) tenant: TenantId,
    pub(crate) app: String,
    /// Whether it is that application whatever it says: its key is for that one alone.
    pub(crate) is_pinned: bool,
    pub(crate) agent: String,
    pub(crate) subject: Option<Subject>,
    pub(crate) gateway_mode: GatewayMode,
    /// The key that was shown; none for the operator of the installation, for people and for accounts of machines.
    pub(crate) key: Option<ApiKeyId>,
    /// The person who asks.
    pub(crate) user: Option<UserId>,
    /// The session by whose cookie they do.
    pub(crate) session: Option<Box<FoundSession>>,
    /// The account of a machine.
    pub(crate) service: Option<ServiceAccountId>,
    /// Somebody in the words of an issuer that is trusted.
    pub(crate) foreign: Option<String>,
    /// The one run that this is about, for whoever was let in for that alone.
    pub(crate) run: Option<RunId>,
    /// What it is called by those who ask for a role; a key is what comes nearest. None for somebody who is not, or no
    /// longer, in the organisation.
    pub(crate) role: Option<Role>,
    /// All that it may do.
    pub(crate) grants: Permissions,
    /// When it is let in no more, if that is known.
    pub(crate) expires: Option<Timestamp>,
    /// How many requests a minute it has, if not as many as others.
    pub(crate) requests_per_minute: Option<u32>,
    /// The place that its request takes up, until nobody knows of the caller any more.
    pub(crate) place: Option<Place>,
}

impl Caller {
    /// Whoever runs the installation, who says nothing else of themselves.
    pub(crate) fn installation() -> Self {
        Self {
            tenant: TenantId::NIL,
            app: "default-app".to_owned(),
            is_pinned: false,
            agent: "anonymous".to_owned(),
            subject: None,
            gateway_mode: GatewayMode::Enforce,
            key: None,
            user: None,
            session: None,
            service: None,
            foreign: None,
            run: None,
            role: Some(Role::Owner),
            grants: Permissions::all(),
            expires: None,
            requests_per_minute: None,
            place: None,
        }
    }

    /// Whether it may do what takes `permission`.
    pub(crate) fn may(&self, permission: Permission) -> bool {
        self.grants.has(permission)
    }

    /// The same, as a refusal.
    pub(crate) fn must(&self, permission: Permission) -> Result<(), ApiError> {
        if self.may(permission) {
            return Ok(());
        }
        if self.role.is_none() {
            return Err(ApiError::NotAMember);
        }
        Err(ApiError::PermissionMissing { permission, is_person: self.key.is_none() })
    }

    /// Refuses to give away what it does not have itself.
    pub(crate) fn must_cover(&self, wanted: Permissions) -> Result<(), ApiError> {
        match wanted.without(self.grants).iter().next() {
            None => Ok(()),
            Some(missing) => {
                Err(ApiError::GrantRefused { why: format!("you do not have `{missing}` yourself") })
            }
        }
    }

    /// It, as somebody who makes others something.
    pub(crate) fn granter(&self) -> Granter {
        let is_owner = match self.user {
            Some(_) => self.role == Some(Role::Owner),
            None => self.may(Permission::InstallationManage),
        };
        Granter { may: self.grants, is_owner: is_owner || self.may(Permission::InstallationManage) }
    }

    /// Whether it is the installation's own key, or anybody at an open gateway, and not one of its people.
    pub(crate) fn is_installation_itself(&self) -> bool {
        self.key.is_none() && self.user.is_none() && self.service.is_none() && self.foreign.is_none()
    }

    /// Refuses whoever was let in for another run.
    pub(crate) fn must_reach(&self, run: &str) -> Result<(), ApiError> {
        match self.run {
            Some(own) if own.to_string() != run => Err(ApiError::OutOfReach),
            _ => Ok(()),
        }
    }

    /// Refuses whoever was let in for one run alone.
    pub(crate) fn must_be_whole(&self) -> Result<(), ApiError> {
        if self.run.is_none() { Ok(()) } else { Err(ApiError::OutOfReach) }
    }

    /// How the ledger names it when it changes something.
    pub(crate) fn actor(&self) -> String {
        let key = self.key.map(|key| key.to_string());
        key.or_else(|| self.user.map(|user| user.to_string()))
            .or_else(|| self.service.map(|service| service.to_string()))
            .or_else(|| self.foreign.clone())
            .unwrap_or_else(|| "installation".to_owned())
    }

    /// The same, with what else is on record of it.
    pub(crate) fn by(&self) -> By {
        By { actor: self.actor(), app: self.app.clone(), agent: self.agent.clone() }
    }
}

/// The caller that the gate let in.
impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.remove().ok_or(ApiError::Unauthorised)
    }
}
