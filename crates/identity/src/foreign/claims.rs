//! What somebody else's claims mean here.

use super::text_claim;
use crate::jose::Refused;
use crate::token::Scopes;
use schema::Timestamp;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How the organisation of a bearer is found. There is no default to fall into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Organisation {
    /// Everybody of this issuer belongs to this one.
    Always(String),
    /// This claim says; a token without it is refused.
    Claim(String),
}

/// What the claims of an issuer mean here. A claim is named by its name, or, when it lies deeper, by a JSON pointer:
/// `/realm_access/roles`.
#[derive(Debug, Clone)]
pub struct Mapping {
    /// The organisation.
    pub organisation: Organisation,
    /// The claim with the roles, a text or a list of texts. Without one nobody has a role.
    pub roles: Option<String>,
    /// Their role to the name of ours. One that is not here means nothing.
    pub role_names: BTreeMap<String, String>,
    /// The claim with the scopes: words with spaces between, or a list of them. Usually `scope`.
    pub scopes: Option<String>,
}

/// Whom a verified token of somebody else speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bearer {
    /// The issuer.
    pub issuer: String,
    /// Who it is there. Two issuers may have the same subject, so it means nothing alone.
    pub subject: String,
    /// The token's own name (`jti`), when it has one.
    pub id: Option<String>,
    /// The organisation, as the mapping found it.
    pub organisation: String,
    /// The names of our roles.
    pub roles: BTreeSet<String>,
    /// The scopes.
    pub scopes: Scopes,
    /// When the token's time is over.
    pub expires: Timestamp,
}

impl Mapping {
    pub(super) fn organisation(&self, claims: &Map<String, Value>) -> Result<String, Refused> {
        match &self.organisation {
            Organisation::Always(name) => Ok(name.clone()),
            Organisation::Claim(name) => {
                let found = at(claims, name).and_then(Value::as_str).filter(|text| !text.is_empty());
                found.map(str::to_owned).ok_or(Refused::Claim("organisation"))
            }
        }
    }

    pub(super) fn roles(&self, claims: &Map<String, Value>) -> Result<BTreeSet<String>, Refused> {
        let theirs = words(self.roles.as_deref(), claims).ok_or(Refused::Claim("roles"))?;
        Ok(theirs.into_iter().filter_map(|role| self.role_names.get(role).cloned()).collect())
    }

    pub(super) fn scopes(&self, claims: &Map<String, Value>) -> Result<Scopes, Refused> {
        let listed = words(self.scopes.as_deref(), claims).ok_or(Refused::Claim("scope"))?;
        let split = listed.into_iter().flat_map(|text| text.split(' ')).filter(|word| !word.is_empty());
        Scopes::new(split).map_err(|_| Refused::Claim("scope"))
    }
}

impl Bearer {
    pub(super) fn of(
        issuer: &str,
        mapping: &Mapping,
        claims: &Map<String, Value>,
        expires: u64,
    ) -> Result<Self, Refused> {
        let subject = text_claim(claims, "sub")?.ok_or(Refused::Claim("sub"))?;
        let expires =
            Timestamp::from_millis(expires.saturating_mul(1000)).map_err(|_| Refused::Claim("exp"))?;
        Ok(Self {
            issuer: issuer.to_owned(),
            subject,
            id: text_claim(claims, "jti")?,
            organisation: mapping.organisation(claims)?,
            roles: mapping.roles(claims)?,
            scopes: mapping.scopes(claims)?,
            expires,
        })
    }
}

fn at<'c>(claims: &'c Map<String, Value>, name: &str) -> Option<&'c Value> {
    match name.strip_prefix('/') {
        None => claims.get(name),
        Some(path) => {
            let (first, rest) = path.split_once('/').map_or((path, ""), |(first, rest)| (first, rest));
            let found = claims.get(&first.replace("~1", "/").replace("~0", "~"))?;
            if rest.is_empty() { Some(found) } else { found.pointer(&format!("/{rest}")) }
        }
    }
}

/// The texts of a claim that is a text or a list of texts. An absent claim has none; another type is an error.
fn words<'c>(name: Option<&str>, claims: &'c Map<String, Value>) -> Option<Vec<&'c str>> {
    match name.and_then(|name| at(claims, name)) {
        None => Some(Vec::new()),
        Some(Value::String(text)) => Some(vec![text]),
        Some(Value::Array(list)) => list.iter().map(Value::as_str).collect(),
        Some(_) => None,
    }
}
