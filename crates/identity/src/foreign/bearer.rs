//! Verifying a token of somebody else, from its text to whom it speaks for.

use super::{Algorithm, Bearer, KeyCache, TokenIds, TrustError, TrustedIssuer};
use crate::http::Http;
use crate::jose::Refused;
use crate::jose::compact::Compact;
use crate::jose::times::Times;
use schema::Timestamp;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Some issuers list every group of a person.
const LONGEST_TEXT: usize = 16 * 1024;
/// The longest claim that names something.
const LONGEST_NAME: usize = 256;
/// Headers with which a token would choose its own key, or change what the signature is of.
const FORBIDDEN_HEADERS: [&str; 7] = ["jwk", "jku", "x5c", "x5u", "crit", "b64", "zip"];

/// Nobody could say whether a token is revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("revocations are out of reach")]
pub struct RevocationsAway;

/// Which tokens are revoked, as the shell's store knows.
#[async_trait::async_trait]
pub trait Revocations: Send + Sync {
    /// Whether the token that `issuer` named `jti` is revoked. When this fails the token is refused.
    async fn is_revoked(&self, issuer: &str, jti: &str) -> Result<bool, RevocationsAway>;
}

/// Verifies bearer tokens of trusted issuers.
pub struct Bearers {
    issuers: Vec<(TrustedIssuer, KeyCache)>,
    http: Arc<dyn Http>,
    revocations: Arc<dyn Revocations>,
}

impl std::fmt::Debug for Bearers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.issuers.iter().map(|(trusted, _)| &trusted.issuer);
        f.debug_set().entries(names).finish()
    }
}

impl Bearers {
    /// For these issuers, each with a cache of its keys.
    pub fn new(
        issuers: Vec<TrustedIssuer>,
        http: Arc<dyn Http>,
        revocations: Arc<dyn Revocations>,
    ) -> Result<Self, TrustError> {
        for (index, trusted) in issuers.iter().enumerate() {
            trusted.check()?;
            if issuers[..index].iter().any(|other| other.issuer == trusted.issuer) {
                return Err(TrustError::Twice { issuer: trusted.issuer.clone() });
            }
        }
        let with_cache = |trusted: TrustedIssuer| {
            let cache = KeyCache::new(&trusted.issuer, trusted.keys.clone());
            (trusted, cache)
        };
        Ok(Self { issuers: issuers.into_iter().map(with_cache).collect(), http, revocations })
    }

    /// Whom `token` speaks for.
    pub async fn verify(&self, token: &str, now: Timestamp) -> Result<Bearer, Refused> {
        let name = claimed_issuer(token)?;
        let (trusted, cache) =
            self.issuers.iter().find(|(trusted, _)| trusted.issuer == name).ok_or(Refused::Issuer)?;
        let expected = Expected {
            types: &[None, Some("JWT"), Some("at+jwt"), Some("application/at+jwt")],
            algorithms: &trusted.algorithms,
        };
        let (_, claims) = verified_claims(token, expected, cache, &*self.http, now).await?;
        if claims.get("iss").and_then(Value::as_str) != Some(&trusted.issuer) {
            return Err(Refused::Issuer);
        }
        if !audience_has(&claims, |audience| trusted.audiences.iter().any(|ours| ours == audience))? {
            return Err(Refused::Audience);
        }
        let times = Times::of(&claims)?;
        times.check(trusted.longest.as_secs(), now)?;
        if claims.contains_key("cnf") {
            return Err(Refused::Claim("cnf"));
        }
        let bearer = Bearer::of(&trusted.issuer, &trusted.mapping, &claims, times.expires)?;
        self.check_revocation(trusted, &bearer).await?;
        Ok(bearer)
    }

    async fn check_revocation(&self, trusted: &TrustedIssuer, bearer: &Bearer) -> Result<(), Refused> {
        let Some(id) = &bearer.id else {
            return match trusted.ids {
                TokenIds::Required => Err(Refused::Claim("jti")),
                TokenIds::Optional => Ok(()),
            };
        };
        match self.revocations.is_revoked(&trusted.issuer, id).await {
            Ok(false) => Ok(()),
            Ok(true) => Err(Refused::Revoked),
            Err(RevocationsAway) => Err(Refused::RevocationsUnavailable),
        }
    }
}

/// Whose token this claims to be. Nothing is verified: good only for choosing who shall verify it.
pub fn claimed_issuer(token: &str) -> Result<String, Refused> {
    let claims = Compact::parse(token, LONGEST_TEXT)?.claims()?;
    claims.get("iss").and_then(Value::as_str).map(str::to_owned).ok_or(Refused::Issuer)
}

/// What a header must be.
#[derive(Clone, Copy)]
pub(crate) struct Expected<'e> {
    pub(crate) types: &'e [Option<&'e str>],
    pub(crate) algorithms: &'e [Algorithm],
}

/// The claims of `token`, after its signature was verified with a key of `cache`; and what it was signed with.
pub(crate) async fn verified_claims(
    token: &str,
    expected: Expected<'_>,
    cache: &KeyCache,
    http: &dyn Http,
    now: Timestamp,
) -> Result<(Algorithm, Map<String, Value>), Refused> {
    let token = Compact::parse(token, LONGEST_TEXT)?;
    if FORBIDDEN_HEADERS.iter().any(|name| token.header.contains_key(*name)) {
        return Err(Refused::Header);
    }
    let kind = token.header_text("typ")?;
    if !expected.types.iter().any(|one| one.map(str::to_ascii_lowercase) == kind.map(str::to_ascii_lowercase))
    {
        return Err(Refused::Header);
    }
    let algorithm = token.header_text("alg")?.ok_or(Refused::Header)?;
    let algorithm = Algorithm::named(algorithm)
        .filter(|algorithm| expected.algorithms.contains(algorithm))
        .ok_or(Refused::Algorithm)?;
    let id = token.header_text("kid")?;
    let keys = cache.keys_with(http, id, algorithm, now).await?;
    keys.find(id, algorithm)?.verify(algorithm, token.signed, &token.signature)?;
    Ok((algorithm, token.claims()?))
}

/// Whether `aud`, a text or a list of texts, has one that `wanted` knows.
pub(crate) fn audience_has(
    claims: &Map<String, Value>,
    wanted: impl Fn(&str) -> bool,
) -> Result<bool, Refused> {
    match claims.get("aud") {
        Some(Value::String(audience)) => Ok(wanted(audience)),
        Some(Value::Array(list)) => {
            let texts: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
            Ok(texts.ok_or(Refused::Claim("aud"))?.into_iter().any(wanted))
        }
        _ => Err(Refused::Claim("aud")),
    }
}

/// A claim that names something: a text that is neither empty nor long. An absent one is `None`.
pub(crate) fn text_claim(claims: &Map<String, Value>, name: &'static str) -> Result<Option<String>, Refused> {
    match claims.get(name) {
        None => Ok(None),
        Some(Value::String(text)) if (1..=LONGEST_NAME).contains(&text.len()) => Ok(Some(text.clone())),
        Some(_) => Err(Refused::Claim(name)),
    }
}
