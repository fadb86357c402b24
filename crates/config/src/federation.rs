//! Whose word is taken about who somebody is: `[issuers.NAME]` and `[oidc]`, as types.

use crate::settings::Settings;
use crypto::SecretString;
use std::time::Duration;

/// `[issuers.NAME]`.
#[derive(Debug)]
pub struct IssuerEntry<'s> {
    /// Its name here.
    pub name: String,
    /// What its tokens have as `iss`.
    pub issuer: &'s str,
    /// Who we are to it.
    pub audiences: &'s [String],
    /// Where its keys are, if not where its OpenID configuration says.
    pub jwks_url: Option<&'s str>,
    /// What it may sign with.
    pub algorithms: &'s [String],
    /// The tenant of everybody.
    pub tenant: Option<&'s str>,
    /// The claim that says the tenant.
    pub tenant_claim: Option<&'s str>,
    /// The claim with roles.
    pub roles_claim: Option<&'s str>,
    /// Pairs of theirs and ours, each `theirs=ours`.
    pub roles: &'s [String],
    /// The claim with scopes.
    pub scopes_claim: Option<&'s str>,
    /// Whether a token must have a name.
    pub require_jti: bool,
    /// The longest that a token may be valid.
    pub longest: Duration,
}

/// `[oidc]`, when there is a provider.
#[derive(Debug)]
pub struct OidcEntry<'s> {
    /// The provider.
    pub issuer: &'s str,
    /// Who we are there.
    pub client_id: Option<&'s str>,
    /// What we prove that with.
    pub client_secret: Option<&'s SecretString>,
    /// The domains that are let in.
    pub domains: &'s [String],
    /// The tenant of whoever is new.
    pub tenant: Option<&'s str>,
    /// What whoever is new is, if they are let in without an invitation.
    pub role: Option<&'s str>,
}

impl Settings {
    /// Every `[issuers.NAME]`, in the order of the file.
    pub fn issuers(&self) -> Vec<IssuerEntry<'_>> {
        self.names("issuers").map(|name| self.issuer(name)).collect()
    }

    fn issuer(&self, name: String) -> IssuerEntry<'_> {
        let path = |field: &str| format!("issuers.{name}.{field}");
        let minutes = self.integer(&path("longest_minutes")).unwrap_or(1_440);
        IssuerEntry {
            issuer: self.text(&path("issuer")).unwrap_or_default(),
            audiences: self.texts(&path("audiences")),
            jwks_url: self.text(&path("jwks_url")),
            algorithms: self.texts(&path("algorithms")),
            tenant: self.text(&path("tenant")),
            tenant_claim: self.text(&path("tenant_claim")),
            roles_claim: self.text(&path("roles_claim")),
            roles: self.texts(&path("roles")),
            scopes_claim: self.text(&path("scopes_claim")),
            require_jti: self.boolean(&path("require_jti")).unwrap_or(true),
            longest: Duration::from_secs(60 * minutes),
            name,
        }
    }

    /// `[oidc]`, when `oidc.issuer` is set.
    pub fn oidc(&self) -> Option<OidcEntry<'_>> {
        let auto_create = self.boolean("oidc.auto_create").unwrap_or(false);
        Some(OidcEntry {
            issuer: self.text("oidc.issuer")?,
            client_id: self.text("oidc.client_id"),
            client_secret: self.secret("oidc.client_secret"),
            domains: self.texts("oidc.domains"),
            tenant: self.text("oidc.tenant"),
            role: self.text("oidc.default_role").filter(|_| auto_create),
        })
    }

    /// `auth.allow_private_issuers`.
    pub fn private_issuers(&self) -> bool {
        self.boolean("auth.allow_private_issuers").unwrap_or(false)
    }
}
