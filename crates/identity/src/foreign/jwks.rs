//! The keys that an issuer publishes: a JWK set (RFC 7517), of which only what can verify is kept.
//!
//! A set may hold keys for other purposes and of types we do not know; those are passed over, as the RFC says. A key
//! that is weak, or that shares its `kid` with another, is passed over too: a token that names it finds no key.

use super::Algorithm;
use crate::http::LONGEST_BODY;
use crate::jose::{Refused, json};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use crypto::sign::{Signature, VerifyingKey};
use serde_json::{Map, Value};

/// More keys than any issuer has.
const MOST_KEYS: usize = 64;

/// A text is not a JWK set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("key set is not a JSON object with at most {MOST_KEYS} `keys`, or has a name twice")]
pub struct JwksError;

/// The usable keys of a set.
#[derive(Debug)]
pub struct Jwks {
    keys: Vec<Key>,
}

/// A public key that verifies.
#[derive(Debug)]
pub(crate) struct Key {
    id: Option<String>,
    /// The one algorithm that the issuer wants it used with, when it says so.
    only: Option<Algorithm>,
    material: Material,
}

#[derive(Debug)]
enum Material {
    /// The same key, prepared for both paddings.
    Rsa {
        pkcs1: ParsedPublicKey,
        pss: ParsedPublicKey,
    },
    P256(ParsedPublicKey),
    P384(ParsedPublicKey),
    Ed25519(VerifyingKey),
}

impl Jwks {
    /// Reads a set. Keys that cannot be used are passed over, so the result may be empty.
    pub fn parse(bytes: &[u8]) -> Result<Self, JwksError> {
        if bytes.len() > LONGEST_BODY {
            return Err(JwksError);
        }
        let set = json::object(bytes).ok_or(JwksError)?;
        let listed = set.get("keys").and_then(Value::as_array).ok_or(JwksError)?;
        if listed.len() > MOST_KEYS {
            return Err(JwksError);
        }
        let named = |id: &Value| listed.iter().filter(|key| key.get("kid") == Some(id)).count();
        let is_unique = |key: &&Value| key.get("kid").is_none_or(|id| named(id) == 1);
        let usable = listed.iter().filter(is_unique).filter_map(Value::as_object).filter_map(Key::of);
        Ok(Self { keys: usable.collect() })
    }

    /// How many keys are usable.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key that a token names. One that names none gets the only key that fits its algorithm.
    pub(crate) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Result<&Key, Refused> {
        match id {
            Some(id) => {
                let key = self.keys.iter().find(|key| key.id.as_deref() == Some(id));
                let key = key.ok_or(Refused::UnknownKey)?;
                if key.fits(algorithm) { Ok(key) } else { Err(Refused::Algorithm) }
            }
            None => {
                let mut fitting = self.keys.iter().filter(|key| key.fits(algorithm));
                match (fitting.next(), fitting.next()) {
                    (Some(key), None) => Ok(key),
                    _ => Err(Refused::UnknownKey),
                }
            }
        }
    }
}

impl Key {
    fn of(jwk: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        let bytes = |name: &str| text(name).and_then(|part| BASE64URL.decode(part).ok());
        // A name that is there but no text is a mistake, not an absence.
        let is_text_or_absent = |name: &str| jwk.get(name).is_none_or(Value::is_string);
        if !["kid", "use", "alg"].into_iter().all(is_text_or_absent) {
            return None;
        }
        if text("use").is_some_and(|purpose| purpose != "sig") || !may_verify(jwk.get("key_ops")) {
            return None;
        }
        let material = match (text("kty")?, text("crv")) {
            ("RSA", None) => Material::rsa(&bytes("n")?, &bytes("e")?)?,
            ("EC", Some("P-256")) => Material::P256(
                ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point(&bytes("x")?, &bytes("y")?, 32)?)
                    .ok()?,
            ),
            ("EC", Some("P-384")) => Material::P384(
                ParsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point(&bytes("x")?, &bytes("y")?, 48)?)
                    .ok()?,
            ),
            ("OKP", Some("Ed25519")) => Material::ed25519(&bytes("x")?)?,
            _ => return None,
        };
        let only = match text("alg") {
            Some(name) => Some(Algorithm::named(name).filter(|algorithm| material.fits(*algorithm))?),
            None => None,
        };
        Some(Self { id: text("kid").map(str::to_owned), only, material })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        self.material.fits(algorithm) && self.only.is_none_or(|only| only == algorithm)
    }

    /// Whether `signature` is of `message` by this key with `algorithm`.
    pub(crate) fn verify(
        &self,
        algorithm: Algorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Refused> {
        let parsed = match (&self.material, algorithm) {
            (Material::Rsa { pkcs1, .. }, Algorithm::Rs256) => pkcs1,
            (Material::Rsa { pss, .. }, Algorithm::Ps256) => pss,
            (Material::P256(key), Algorithm::Es256) | (Material::P384(key), Algorithm::Es384) => key,
            (Material::Ed25519(key), Algorithm::EdDsa) => {
                let signature = Signature::from_slice(signature).map_err(|_| Refused::Signature)?;
                return key.verify_strict(message, &signature).map_err(|_| Refused::Signature);
            }
            _ => return Err(Refused::Algorithm),
        };
        parsed.verify_sig(message, signature).map_err(|_| Refused::Signature)
    }
}

impl Material {
    /// Modulus and exponent, in as few bytes as they have. Less than 2048 bits is weak; more than 8192 is an attack on
    /// our time.
    fn rsa(n: &[u8], e: &[u8]) -> Option<Self> {
        let bits = n.len() * 8 - n.first().map_or(0, |first| first.leading_zeros() as usize);
        let exponent =
            e.iter().try_fold(0u32, |sum, byte| sum.checked_mul(256)?.checked_add(u32::from(*byte)))?;
        if !(2048..=8192).contains(&bits) || n.first() == Some(&0) || exponent < 3 || exponent % 2 == 0 {
            return None;
        }
        let components = RsaPublicKeyComponents { n, e };
        Some(Self::Rsa {
            pkcs1: components.to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256).ok()?,
            pss: components.to_parsed_public_key(&RSA_PSS_2048_8192_SHA256).ok()?,
        })
    }

    fn ed25519(x: &[u8]) -> Option<Self> {
        let key = VerifyingKey::from_bytes(x.try_into().ok()?).ok()?;
        (!key.is_weak()).then_some(Self::Ed25519(key))
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        matches!(
            (self, algorithm),
            (Self::Rsa { .. }, Algorithm::Rs256 | Algorithm::Ps256)
                | (Self::P256(_), Algorithm::Es256)
                | (Self::P384(_), Algorithm::Es384)
                | (Self::Ed25519(_), Algorithm::EdDsa)
        )
    }
}

/// An uncompressed point; each coordinate has all its bytes (RFC 7518, section 6.2.1).
fn point(x: &[u8], y: &[u8], length: usize) -> Option<Vec<u8>> {
    (x.len() == length && y.len() == length).then(|| [&[4], x, y].concat())
}

/// Without `key_ops` anything; with it, verifying must be among them.
fn may_verify(operations: Option<&Value>) -> bool {
    operations.is_none_or(|listed| listed.as_array().is_some_and(|all| all.iter().any(|one| one == "verify")))
}
