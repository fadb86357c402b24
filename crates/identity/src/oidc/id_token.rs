//! The ID token: who has logged in.

use super::client::Client;
use super::exchange::Tokens;
use super::pending::Pending;
use super::provider::Provider;
use crate::foreign::{Algorithm, Expected, KeyCache, audience_has, text_claim, verified_claims};
use crate::http::Http;
use crate::jose::Refused;
use crate::jose::compact::encode;
use crate::jose::times::Times;
use schema::Timestamp;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq as _;

/// An ID token is used once, now; a provider that makes them for longer than this means something else.
const LONGEST: u64 = 24 * 3600;

/// Who has logged in, in the provider's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The provider.
    pub issuer: String,
    /// Who it is there, for ever. Issuer and subject together are the identity; nothing else is.
    pub subject: String,
    /// The e-mail address, when the provider tells.
    pub email: Option<String>,
    /// Whether the provider says that it verified the address. Nobody is let in by an address that is not.
    pub email_verified: bool,
    /// What to call them.
    pub name: Option<String>,
}

pub(super) async fn verify(
    tokens: &Tokens,
    provider: &Provider,
    client: &Client,
    pending: &Pending,
    cache: &KeyCache,
    http: &dyn Http,
    now: Timestamp,
) -> Result<Person, Refused> {
    let expected = Expected { types: &[None, Some("JWT")], algorithms: provider.algorithms() };
    let (algorithm, claims) = verified_claims(tokens.id_token.expose(), expected, cache, http, now).await?;
    if claims.get("iss").and_then(Value::as_str) != Some(provider.issuer()) {
        return Err(Refused::Issuer);
    }
    if !audience_has(&claims, |audience| audience == client.id())? {
        return Err(Refused::Audience);
    }
    check_authorized_party(&claims, client)?;
    Times::of(&claims)?.check(LONGEST, now)?;
    // Required here, where a bearer token may do without.
    if !claims.contains_key("iat") {
        return Err(Refused::Claim("iat"));
    }
    if !claims.get("nonce").and_then(Value::as_str).is_some_and(|nonce| pending.is_nonce(nonce)) {
        return Err(Refused::Nonce);
    }
    check_access_token(&claims, algorithm, tokens.access_token.expose())?;
    Ok(Person {
        issuer: provider.issuer().to_owned(),
        subject: text_claim(&claims, "sub")?.ok_or(Refused::Claim("sub"))?,
        email: text_claim(&claims, "email")?,
        email_verified: claims.get("email_verified") == Some(&Value::Bool(true)),
        name: text_claim(&claims, "name")?,
    })
}

/// With several audiences `azp` must say that it is for us; when it is there it must say so in any case.
fn check_authorized_party(claims: &Map<String, Value>, client: &Client) -> Result<(), Refused> {
    let has_several = claims.get("aud").and_then(Value::as_array).is_some_and(|list| list.len() > 1);
    match claims.get("azp") {
        None if !has_several => Ok(()),
        Some(Value::String(party)) if party == client.id() => Ok(()),
        _ => Err(Refused::AuthorizedParty),
    }
}

/// `at_hash`, when it is there: the left half of the access token's hash, by the hash of the signature.
fn check_access_token(
    claims: &Map<String, Value>,
    algorithm: Algorithm,
    access_token: &str,
) -> Result<(), Refused> {
    let given = match claims.get("at_hash") {
        None => return Ok(()),
        Some(given) => given.as_str().ok_or(Refused::AccessTokenHash)?,
    };
    let token = access_token.as_bytes();
    let digest = match algorithm {
        Algorithm::Rs256 | Algorithm::Ps256 | Algorithm::Es256 => Sha256::digest(token).to_vec(),
        Algorithm::Es384 => Sha384::digest(token).to_vec(),
        Algorithm::EdDsa => Sha512::digest(token).to_vec(),
    };
    let expected = encode(&digest[..digest.len() / 2]);
    let is_same: bool = expected.as_bytes().ct_eq(given.as_bytes()).into();
    if is_same { Ok(()) } else { Err(Refused::AccessTokenHash) }
}
