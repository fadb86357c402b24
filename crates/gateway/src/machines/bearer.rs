//! Who somebody is that shows a token: what it says, and what the store says of whoever it speaks of, now.

use identity::foreign::{Bearer, claimed_issuer};
use identity::permission::of_scopes;
use identity::token::{Authority, Claims};
use identity::{Permissions, Refused, Role};
use schema::{ApiKeyId, RunId, ServiceAccountId, SessionId, TenantId, Timestamp, UserId};

use super::capability::OF_A_RUN;
use super::revocation::{Named, is_revoked};
use super::service_account::ServiceAccount;
use super::token::known;
use crate::app::Shared;
use crate::error::{ApiError, unread};
use crate::people::of_person;

/// Whoever shows a token.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) tenant: TenantId,
    pub(crate) grants: Permissions,
    pub(crate) role: Option<Role>,
    pub(crate) key: Option<ApiKeyId>,
    pub(crate) user: Option<UserId>,
    pub(crate) service: Option<ServiceAccountId>,
    /// In the words of another issuer.
    pub(crate) foreign: Option<String>,
    /// The one run that it is for.
    pub(crate) run: Option<RunId>,
    /// When the token's time is over.
    pub(crate) expires: Option<Timestamp>,
}

impl Shown {
    /// Somebody in a tenant, of whom nothing else is known yet.
    fn new(tenant: TenantId, role: Option<Role>, grants: Permissions) -> Self {
        Self {
            tenant,
            grants,
            role,
            key: None,
            user: None,
            service: None,
            foreign: None,
            run: None,
            expires: None,
        }
    }
}

/// Whether a text has the form of such a token.
pub(crate) fn looks_like_one(text: &str) -> bool {
    text.starts_with("eyJ") && text.bytes().filter(|byte| *byte == b'.').count() == 2
}

impl Shared {
    /// Whoever a token speaks for, if it holds. `None` if it is of an issuer that nobody has heard of.
    pub(crate) async fn shown_bearer(&self, token: &str, now: Timestamp) -> Result<Option<Shown>, ApiError> {
        if !looks_like_one(token) {
            return Ok(None);
        }
        let Ok(claimed) = claimed_issuer(token) else { return Ok(None) };
        if claimed == self.machines.issuer().name() {
            let claims = self.machines.issuer().verify_any(token, now).map_err(refused)?;
            let expires = Some(claims.expires);
            return self.of_claims(claims, now).await.map(|shown| Some(Shown { expires, ..shown }));
        }
        let Some(bearers) = &self.machines.bearers else { return Ok(None) };
        match bearers.verify(token, now).await {
            Ok(bearer) => of_bearer(&bearer).map(Some),
            Err(Refused::Issuer) => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }

    async fn of_claims(&self, claims: Claims, now: Timestamp) -> Result<Shown, ApiError> {
        let directory = &self.people.directory;
        let tenant = Some(claims.grant.organisation);
        let ours = self.machines.issuer();
        let named = Named { issuer: ours.name(), tenant, jti: &claims.id };
        if is_revoked(directory, named).await? {
            return Err(refused(Refused::Revoked));
        }
        let (tenant, subject) = (claims.grant.organisation, claims.grant.subject);
        match claims.grant.authority {
            Authority::Session { session, .. } => self.of_session(tenant, &subject, session, now).await,
            Authority::Service { scopes } => {
                let account = self.of_account(tenant, &subject, now).await?;
                Ok(Shown { grants: account.grants.only(of_scopes(&known(&scopes))), ..account })
            }
            Authority::Capability { run, scopes } => {
                // It is worth what its maker may still do.
                let maker = self.maker(tenant, &subject, now).await?;
                let grants = maker.grants.only(of_scopes(&known(&scopes))).only(OF_A_RUN);
                Ok(Shown { grants, run: Some(run), ..maker })
            }
        }
    }

    async fn of_account(&self, tenant: TenantId, id: &str, now: Timestamp) -> Result<Shown, ApiError> {
        let gone = ApiError::TokenRefused;
        let Ok(id) = id.parse::<ServiceAccountId>() else { return Err(gone) };
        let found = self.people.directory.service_account(tenant, id).await?;
        let account = found.map(|found| found.value).filter(|account| account.is_live(now)).ok_or(gone)?;
        let grants = ServiceAccount::permissions(&account.scopes);
        Ok(Shown { service: Some(id), ..Shown::new(tenant, Some(Role::Service), grants) })
    }

    async fn of_session(
        &self,
        tenant: TenantId,
        user: &str,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Shown, ApiError> {
        let shown = self.of_user(tenant, user).await?;
        let Some(id) = shown.user else { return Err(ApiError::TokenRefused) };
        let rules = &self.people.rules;
        let is_live = self.people.directory.is_session_live(id, session, rules, now).await?;
        if is_live { Ok(shown) } else { Err(ApiError::SessionEnded) }
    }

    async fn of_user(&self, tenant: TenantId, user: &str) -> Result<Shown, ApiError> {
        let gone = ApiError::TokenRefused;
        let Ok(user) = user.parse::<UserId>() else { return Err(gone) };
        let account = self.people.directory.by_id(user).await?.map(|found| found.value);
        if account.is_none_or(|account| account.disabled_at.is_some()) {
            return Err(gone);
        }
        let role = self.people.directory.membership(tenant, user).await?.map(|found| found.value.role);
        Ok(Shown { user: Some(user), ..Shown::new(tenant, role, of_person(role, tenant)) })
    }

    /// Whoever is named so for the record, as they are now.
    pub(crate) async fn maker(
        &self,
        tenant: TenantId,
        actor: &str,
        now: Timestamp,
    ) -> Result<Shown, ApiError> {
        if actor == "installation" {
            // Whoever was the operator of an open gateway is nobody once people log in.
            if self.api_key.is_none() && !self.is_open().await? {
                return Err(ApiError::TokenRefused);
            }
            return Ok(Shown::new(tenant, Some(Role::Owner), Permissions::all()));
        }
        if let Ok(key) = actor.parse::<ApiKeyId>() {
            let found = self.of(tenant).api_key(key).await.map_err(unread)?;
            let found = found.filter(|found| found.is_live(now)).ok_or(ApiError::TokenRefused)?;
            let grants = identity::role::of_key(&found);
            return Ok(Shown { key: Some(key), ..Shown::new(tenant, Some(Role::Service), grants) });
        }
        if actor.parse::<ServiceAccountId>().is_ok() {
            return self.of_account(tenant, actor, now).await;
        }
        self.of_user(tenant, actor).await
    }
}

/// What somebody is in the words of another issuer: the roles that were mapped, and what machines may do by their scopes.
fn of_bearer(bearer: &Bearer) -> Result<Shown, ApiError> {
    let tenant = bearer.organisation.parse().map_err(|_| refused(Refused::Claim("organisation")))?;
    let roles: Vec<Role> = bearer.roles.iter().filter_map(|role| role.parse().ok()).collect();
    let by_scopes = ServiceAccount::permissions(&known(&bearer.scopes));
    let grants = roles.iter().fold(by_scopes, |all, role| all.and(role.permissions()));
    let role = Role::ALL.into_iter().find(|role| roles.contains(role)).unwrap_or(Role::Service);
    let foreign = Some(format!("{}#{}", bearer.issuer, bearer.subject));
    Ok(Shown { foreign, expires: Some(bearer.expires), ..Shown::new(tenant, Some(role), grants) })
}

/// What whoever shows it is told: the same, whatever is wrong with it.
fn refused(error: Refused) -> ApiError {
    tracing::info!(reason = error.reason(), "a token was refused");
    if error.is_outage() { ApiError::Unread } else { ApiError::TokenRefused }
}
