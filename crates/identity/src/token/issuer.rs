//! The issuer: makes tokens with the active key and verifies them with all that still count.

use super::claims::{Claims, Grant, Kind, Payload};
use crate::jose::Refused;
use crate::jose::compact::{Compact, encode};
use crate::jose::times::{LEEWAY, Times, now_seconds};
use crypto::random::{self, RandomError};
use crypto::sign::{Signature, VerifyingKey};
use crypto::{KeyId, KeyRing, SecretString, SigningKey};
use schema::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

/// Ours have a few hundred bytes; the scopes are bounded.
const LONGEST_TEXT: usize = 8 * 1024;
const TYPE: &str = "at+jwt";
const ALGORITHM: &str = "EdDSA";

/// The ring has no active key for tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no active token key; make one with `punk keys generate token`")]
pub struct NoTokenKey;

/// Why a token was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IssueError {
    /// No randomness for its id.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// A lifetime of nothing, or longer than the kind may live.
    #[error("a {kind:?} token lives 1 to {} s, not {} s", .kind.longest().as_secs(), .asked.as_secs())]
    Lifetime {
        /// The kind.
        kind: Kind,
        /// What was asked for.
        asked: Duration,
    },
    /// The claims cannot be written, or would not be read again.
    #[error("token would not be accepted: its {0} is too long or empty")]
    Claims(&'static str),
}

/// A new token, with what it says.
#[derive(Debug)]
pub struct Issued {
    /// The token itself, for its bearer.
    pub token: SecretString,
    /// What it says.
    pub claims: Claims,
}

/// Makes and verifies tokens.
///
/// It holds the keys as they were when the ring was read. A shell makes a new one when the ring has changed: every
/// minute, and when [`Refused::UnknownKey`] tells that another node may have rotated, at most once in a few seconds.
#[derive(Debug)]
pub struct Issuer {
    name: String,
    audience: String,
    signer: (KeyId, SigningKey),
    keys: Vec<Verifier>,
}

#[derive(Debug)]
struct Verifier {
    id: String,
    public: VerifyingKey,
    /// In seconds: when the last token that it could have signed has expired. The active key has none.
    until: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    alg: String,
    typ: String,
    kid: String,
}

impl Issuer {
    /// The issuer `name`, a URL, whose tokens are for `audience`, with the token keys of `ring`.
    pub fn new(ring: &KeyRing, name: &str, audience: &str) -> Result<Self, NoTokenKey> {
        let longest = Kind::ALL.into_iter().map(Kind::longest).max().unwrap_or_default().as_secs();
        let mut keys = Vec::new();
        let mut signer = None;
        // A key is retired when the next one is made; the ring lists the newest first.
        let mut retired_at: Option<u64> = None;
        for (key, signing) in ring.token_keys() {
            let until = retired_at.map(|at| at.saturating_add(longest + LEEWAY));
            keys.push(Verifier { id: key.id.to_string(), public: signing.public(), until });
            signer.get_or_insert((key.id, key.state, signing.duplicate()));
            retired_at = Some(u64::try_from(key.created.as_second()).unwrap_or(0) + 1);
        }
        match signer {
            Some((id, crypto::keyring::KeyState::Active, signing)) => {
                Ok(Self { name: name.to_owned(), audience: audience.to_owned(), signer: (id, signing), keys })
            }
            _ => Err(NoTokenKey),
        }
    }

    /// The name that tokens carry as `iss`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A new token that says `grant` for `lifetime`.
    pub fn issue(&self, grant: Grant, lifetime: Duration, now: Timestamp) -> Result<Issued, IssueError> {
        let kind = grant.authority.kind();
        if lifetime.as_secs() == 0 || lifetime > kind.longest() {
            return Err(IssueError::Lifetime { kind, asked: lifetime });
        }
        if grant.subject.is_empty() || grant.subject.len() > 256 {
            return Err(IssueError::Claims("subject"));
        }
        let whole = |seconds: u64| Timestamp::from_millis(seconds * 1000).unwrap_or(Timestamp::LAST);
        let issued = now_seconds(now);
        let claims = Claims {
            id: hex::encode(random::bytes::<16>()?),
            grant,
            issued: whole(issued),
            expires: whole(issued.saturating_add(lifetime.as_secs())),
        };
        let header = Header { alg: ALGORITHM.into(), typ: TYPE.into(), kid: self.signer.0.to_string() };
        let signed =
            format!("{}.{}", part(&header)?, part(&Payload::of(&self.name, &self.audience, &claims))?);
        let signature = encode(&self.signer.1.sign(signed.as_bytes()).to_bytes());
        let token = format!("{signed}.{signature}");
        if token.len() > LONGEST_TEXT {
            return Err(IssueError::Claims("role or scope"));
        }
        Ok(Issued { token: SecretString::new(token), claims })
    }

    /// What `token` says, when it is one of ours, for this audience, of the kind that is expected, and now is its time.
    pub fn verify(&self, token: &str, expected: Kind, now: Timestamp) -> Result<Claims, Refused> {
        let claims = self.verify_any(token, now)?;
        if claims.grant.authority.kind() == expected { Ok(claims) } else { Err(Refused::Kind) }
    }

    /// The same for a place that takes every kind: it must look at the [`super::Authority`].
    pub fn verify_any(&self, token: &str, now: Timestamp) -> Result<Claims, Refused> {
        let token = Compact::parse(token, LONGEST_TEXT)?;
        let header: Header =
            serde_json::from_value(token.header.clone().into()).map_err(|_| Refused::Header)?;
        if header.alg != ALGORITHM {
            return Err(Refused::Algorithm);
        }
        if header.typ != TYPE {
            return Err(Refused::Header);
        }
        let key = self.usable(now).find(|key| key.id == header.kid).ok_or(Refused::UnknownKey)?;
        let signature = Signature::from_slice(&token.signature).map_err(|_| Refused::Signature)?;
        key.public.verify_strict(token.signed, &signature).map_err(|_| Refused::Signature)?;

        let payload: Payload =
            serde_json::from_slice(&token.payload).map_err(|_| Refused::Claim("payload"))?;
        if payload.iss != self.name {
            return Err(Refused::Issuer);
        }
        if payload.aud != self.audience {
            return Err(Refused::Audience);
        }
        let times = Times { issued: Some(payload.iat), not_before: Some(payload.nbf), expires: payload.exp };
        times.check(payload.kind.longest().as_secs(), now)?;
        payload.claims()
    }

    /// The JWK set to publish: the public halves of all keys that still verify.
    pub fn jwks(&self, now: Timestamp) -> String {
        let described = |key: &Verifier| {
            json!({
                "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": ALGORITHM,
                "kid": key.id, "x": encode(key.public.as_bytes()),
            })
        };
        json!({ "keys": self.usable(now).map(described).collect::<Vec<_>>() }).to_string()
    }

    fn usable(&self, now: Timestamp) -> impl Iterator<Item = &Verifier> {
        let now = now_seconds(now);
        self.keys.iter().filter(move |key| key.until.is_none_or(|until| now < until))
    }
}

fn part(value: &impl Serialize) -> Result<String, IssueError> {
    serde_json::to_vec(value).map(|bytes| encode(&bytes)).map_err(|_| IssueError::Claims("claims"))
}
