//! Tokens that were taken back before their time: a record each, until they would have ended by themselves.

use async_trait::async_trait;
use crypto::token::TokenHash;
use identity::foreign::{Revocations, RevocationsAway};
use schema::{Digest, TenantId, Timestamp};
use serde_json::json;
use store::{RecordChange, RecordKind};

use crate::error::unread;
use crate::people::{By, ChangeError, Directory, HOME, body};

/// The group of all of them, by which those that are over are found.
pub(crate) const GROUP: &str = "revoked";

/// Which token: who issued it, for which tenant if that is known, and its own name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) issuer: &'a str,
    /// One tenant cannot take back what is another's. Tokens of other issuers are told apart by their issuer alone.
    pub(crate) tenant: Option<TenantId>,
    pub(crate) jti: &'a str,
}

/// Taking back a token, which would have ended at `until`.
pub(crate) async fn revoke(
    directory: &Directory,
    token: Named<'_>,
    until: Timestamp,
    by: &By,
    at: Timestamp,
) -> Result<(), ChangeError> {
    let id = token.record();
    let to = body(GROUP, &json!({ "by": by.actor }), at, Some(until))?;
    let change = RecordChange { kind: RecordKind::Revocation, id: id.clone(), expected: 0, to: Some(to) };
    let done = ("audit.token_revoked", token.jti.to_owned(), json!({}));
    match directory.commit(HOME, vec![change], Some(done), by, at).await {
        // Once is enough.
        Ok(()) | Err(ChangeError::Moved) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether a token was taken back.
pub(crate) async fn is_revoked(directory: &Directory, token: Named<'_>) -> Result<bool, ChangeError> {
    let found = directory.record::<serde_json::Value>(HOME, RecordKind::Revocation, &token.record()).await?;
    Ok(found.is_some())
}

impl Named<'_> {
    /// How its record is named. Two issuers may give one name, so both are in it.
    fn record(self) -> String {
        let tenant = self.tenant.map(|tenant| tenant.to_string()).unwrap_or_default();
        let text = format!("{}\n{tenant}\n{}", self.issuer, self.jti);
        Digest::from_bytes(*TokenHash::of(&text).as_bytes()).to_string()
    }
}

/// The same for tokens of others.
pub(crate) struct OfOthers(pub(crate) Directory);

#[async_trait]
impl Revocations for OfOthers {
    async fn is_revoked(&self, issuer: &str, jti: &str) -> Result<bool, RevocationsAway> {
        is_revoked(&self.0, Named { issuer, tenant: None, jti }).await.map_err(|error| {
            let _ = unread(error);
            RevocationsAway
        })
    }
}
