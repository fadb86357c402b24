//! Every way across that we know of, refused for its own reason.

use super::issuer::*;
use crate::foreign::{Algorithm, Mapping, Organisation, TokenIds, TrustError, TrustedIssuer};
use crate::jose::Refused;
use crate::jose::compact::encode;
use crypto::hmac_sha256;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[tokio::test]
async fn a_token_of_every_algorithm_says_whom_it_speaks_for() {
    let world = World::new();
    for algorithm in Algorithm::ALL {
        let bearer = world.verify(&token(algorithm, &claims())).await.unwrap();
        assert_eq!((bearer.issuer.as_str(), bearer.subject.as_str()), (ISSUER, "robot-7"));
        assert_eq!(bearer.organisation, "acme");
        assert_eq!(bearer.roles, BTreeSet::from(["admin".to_owned()]), "a strange role means nothing");
        assert_eq!(bearer.scopes.to_string(), "run:read run:write");
        assert_eq!((bearer.id.as_deref(), bearer.expires), (Some("one"), at(600)));
    }
    assert_eq!(world.network.times_asked(), 1);
}

/// Verifies a good token with one claim changed; `null` removes it.
async fn changed(name: &str, value: Value) -> Refused {
    let mut claims = claims();
    match value {
        Value::Null => {
            claims.as_object_mut().unwrap().remove(name);
        }
        value => claims[name] = value,
    }
    World::new().verify(&token(Algorithm::Es256, &claims)).await.unwrap_err()
}

#[tokio::test]
async fn a_wrong_claim_is_refused_for_its_own_reason() {
    assert_eq!(changed("iss", json!("https://id.example/")).await, Refused::Issuer);
    assert_eq!(changed("iss", json!("https://evil.example")).await, Refused::Issuer);
    assert_eq!(changed("iss", Value::Null).await, Refused::Issuer);
    assert_eq!(changed("aud", json!("punk")).await, Refused::Audience);
    assert_eq!(changed("aud", json!([])).await, Refused::Audience);
    assert_eq!(changed("aud", json!(["punk-api", 7])).await, Refused::Claim("aud"));
    assert_eq!(changed("aud", Value::Null).await, Refused::Claim("aud"));
    assert_eq!(changed("exp", json!(NOW - 30)).await, Refused::Expired);
    assert_eq!(changed("exp", Value::Null).await, Refused::Claim("exp"));
    assert_eq!(changed("exp", json!(NOW + 3601)).await, Refused::Lifetime);
    assert_eq!(changed("nbf", json!(NOW + 31)).await, Refused::NotYet);
    assert_eq!(changed("iat", json!(NOW + 31)).await, Refused::FromTheFuture);
    assert_eq!(changed("sub", Value::Null).await, Refused::Claim("sub"));
    assert_eq!(changed("sub", json!("")).await, Refused::Claim("sub"));
    assert_eq!(changed("sub", json!(7)).await, Refused::Claim("sub"));
    assert_eq!(changed("jti", Value::Null).await, Refused::Claim("jti"));
    assert_eq!(changed("org", Value::Null).await, Refused::Claim("organisation"), "no default organisation");
    assert_eq!(changed("org", json!(["acme"])).await, Refused::Claim("organisation"));
    assert_eq!(changed("groups", json!({ "admins": true })).await, Refused::Claim("roles"));
    assert_eq!(changed("scope", json!("a\tb")).await, Refused::Claim("scope"));
    assert_eq!(changed("cnf", json!({ "jkt": "x" })).await, Refused::Claim("cnf"));
}

#[tokio::test]
async fn a_header_that_would_choose_the_key_is_refused() {
    let world = World::new();
    let signer = signer(Algorithm::Es256);
    let with = |name: &str, value: Value| {
        let mut header = json!({ "alg": "ES256", "kid": "ES256", "typ": "JWT" });
        header[name] = value;
        signed(signer, Algorithm::Es256, &header, &claims().to_string())
    };
    assert!(world.verify(&with("x5t", json!("thumbprint"))).await.is_ok(), "a harmless one is passed over");
    for name in ["jwk", "jku", "x5c", "x5u", "crit", "b64", "zip"] {
        assert_eq!(world.verify(&with(name, signer.jwk())).await, Err(Refused::Header), "{name}");
    }
    for kind in [json!("logout+jwt"), json!("dpop+jwt"), json!(7)] {
        assert_eq!(world.verify(&with("typ", kind)).await, Err(Refused::Header));
    }
    for algorithm in ["none", "nOnE", "HS256", "HS512", "RS512", "ES512", "es256", ""] {
        assert_eq!(
            world.verify(&with("alg", json!(algorithm))).await,
            Err(Refused::Algorithm),
            "{algorithm}"
        );
    }
    assert_eq!(world.verify(&with("kid", json!(7))).await, Err(Refused::Header));
    assert_eq!(
        world.verify(&with("kid", json!("RS256"))).await,
        Err(Refused::Algorithm),
        "the kid of another key"
    );
    assert_eq!(world.verify(&with("kid", json!("gone"))).await, Err(Refused::UnknownKey));
}

#[tokio::test]
async fn a_token_signed_with_an_embedded_key_is_refused() {
    let mine = super::issuer::Signer::new(Algorithm::Es256);
    let header = json!({ "alg": "ES256", "kid": "ES256", "jwk": mine.jwk() });
    let forged = signed(&mine, Algorithm::Es256, &header, &claims().to_string());
    assert_eq!(World::new().verify(&forged).await, Err(Refused::Header));
    let header = json!({ "alg": "ES256", "kid": "ES256" });
    let forged = signed(&mine, Algorithm::Es256, &header, &claims().to_string());
    assert_eq!(World::new().verify(&forged).await, Err(Refused::Signature));
}

#[tokio::test]
async fn an_algorithm_that_is_not_allowed_for_this_issuer_is_refused() {
    let world = World::trusting(TrustedIssuer { algorithms: vec![Algorithm::Rs256], ..trusted() });
    assert!(world.verify(&token(Algorithm::Rs256, &claims())).await.is_ok());
    for other in [Algorithm::Ps256, Algorithm::Es256, Algorithm::EdDsa] {
        assert_eq!(world.verify(&token(other, &claims())).await, Err(Refused::Algorithm));
    }
}

/// The classic: `alg: HS256`, signed with the issuer's public key as the secret, in every form that it is found in.
#[tokio::test]
async fn a_public_key_is_never_an_hmac_secret() {
    let world = World::new();
    for algorithm in [Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa] {
        let jwk = signer(algorithm).jwk();
        let pem = public_pem(algorithm);
        let raw = jwk["n"].as_str().or(jwk["x"].as_str()).unwrap().to_owned();
        let set = published().to_string();
        for secret in [jwk.to_string(), pem.trim_end().to_owned(), pem, raw, set, String::new()] {
            for claimed in ["HS256", algorithm.name()] {
                let header = json!({ "alg": claimed, "kid": algorithm.name() });
                let text = format!(
                    "{}.{}",
                    encode(header.to_string().as_bytes()),
                    encode(claims().to_string().as_bytes())
                );
                let forged = format!("{text}.{}", encode(&hmac_sha256(secret.as_bytes(), text.as_bytes())));
                let refused = if claimed == "HS256" { Refused::Algorithm } else { Refused::Signature };
                assert_eq!(world.verify(&forged).await, Err(refused));
            }
        }
    }
}

/// The public key as people paste it.
fn public_pem(algorithm: Algorithm) -> String {
    use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
    use aws_lc_rs::signature::KeyPair as _;
    use base64::Engine as _;
    let der = match signer(algorithm) {
        Signer::Rsa(key) => {
            let der: PublicKeyX509Der<'_> = key.public_key().as_der().unwrap();
            der.as_ref().to_vec()
        }
        Signer::P256(key) | Signer::P384(key) => {
            let der: PublicKeyX509Der<'_> = key.public_key().as_der().unwrap();
            der.as_ref().to_vec()
        }
        Signer::Ed25519(key) => key.public().as_bytes().to_vec(),
    };
    let body = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> =
        body.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", lines.join("\n"))
}

#[tokio::test]
async fn a_doubled_claim_is_refused() {
    let doubled = claims().to_string().replacen('{', r#"{"sub":"admin","#, 1);
    let header = json!({ "alg": "ES256", "kid": "ES256" });
    let token = signed(signer(Algorithm::Es256), Algorithm::Es256, &header, &doubled);
    assert_eq!(World::new().verify(&token).await, Err(Refused::Form));
}

#[tokio::test]
async fn a_token_is_refused_once_it_is_revoked_and_while_nobody_knows() {
    let world = World::new();
    let token = token(Algorithm::EdDsa, &claims());
    assert!(world.verify(&token).await.is_ok());
    world.revoked.0.lock().unwrap().as_mut().unwrap().insert("one".into());
    assert_eq!(world.verify(&token).await, Err(Refused::Revoked));
    *world.revoked.0.lock().unwrap() = None;
    let refused = world.verify(&token).await.unwrap_err();
    assert!(refused == Refused::RevocationsUnavailable && refused.is_outage());
}

#[tokio::test]
async fn a_token_without_a_name_is_taken_only_where_the_operator_says_so() {
    let world = World::trusting(TrustedIssuer { ids: TokenIds::Optional, ..trusted() });
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove("jti");
    assert_eq!(world.verify(&token(Algorithm::EdDsa, &claims)).await.unwrap().id, None);
}

#[tokio::test]
async fn claims_are_found_by_name_and_by_path() {
    let mapping = Mapping {
        organisation: Organisation::Always("fixed".into()),
        roles: Some("/realm_access/roles".into()),
        scopes: Some("https://id.example/scp".into()),
        ..trusted().mapping
    };
    let world = World::trusting(TrustedIssuer { mapping, ..trusted() });
    let mut claims = claims();
    claims["realm_access"] = json!({ "roles": ["admins"] });
    claims["https://id.example/scp"] = json!(["run:read", "run:stop"]);
    let bearer = world.verify(&token(Algorithm::EdDsa, &claims)).await.unwrap();
    assert_eq!(bearer.organisation, "fixed");
    assert_eq!(bearer.roles, BTreeSet::from(["admin".to_owned()]));
    assert_eq!(bearer.scopes.to_string(), "run:read run:stop");
}

#[tokio::test]
async fn what_is_no_token_is_refused_and_fetches_nothing() {
    let world = World::new();
    assert_eq!(world.verify(&"a".repeat(1_000_000)).await, Err(Refused::TooLong));
    for text in ["", ".", "..", "a.b.c", "e30.e30.", "pk_0123456789"] {
        assert!(world.verify(text).await.is_err(), "{text}");
    }
    assert_eq!(world.network.times_asked(), 0);
}

#[test]
fn a_trust_that_cannot_be_meant_is_refused_by_field() {
    let refused = |issuers: Vec<TrustedIssuer>| {
        let world = World::new();
        crate::foreign::Bearers::new(issuers, world.network, world.revoked).unwrap_err()
    };
    let address = |field, value: &str| TrustError::Address { field, value: value.into() };
    let plain = TrustedIssuer { issuer: "http://id.example".into(), ..trusted() };
    assert_eq!(refused(vec![plain]), address("issuer", "http://id.example"));
    let keys =
        TrustedIssuer { keys: crate::foreign::KeySource::Url("http://10.0.0.1/k".into()), ..trusted() };
    assert_eq!(refused(vec![keys]), address("keys", "http://10.0.0.1/k"));
    let nobody = TrustedIssuer { audiences: vec![String::new()], ..trusted() };
    assert!(matches!(refused(vec![nobody]), TrustError::Empty { field: "audiences", .. }));
    let unsigned = TrustedIssuer { algorithms: Vec::new(), ..trusted() };
    assert!(matches!(refused(vec![unsigned]), TrustError::Empty { field: "algorithms", .. }));
    assert!(matches!(refused(vec![trusted(), trusted()]), TrustError::Twice { .. }));
}

/// Every byte of a token of every algorithm, changed to a few others.
#[tokio::test]
async fn any_changed_byte_is_refused() {
    let world = World::new();
    for algorithm in Algorithm::ALL {
        let token = token(algorithm, &claims());
        for position in 0..token.len() {
            for byte in (0..128u8).skip(position % 32).step_by(32) {
                let mut changed = token.clone().into_bytes();
                if std::mem::replace(&mut changed[position], byte) != byte {
                    let changed = String::from_utf8(changed).unwrap();
                    assert!(world.verify(&changed).await.is_err(), "{algorithm:?} {position}: {byte}");
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn garbage_is_refused(text in "[A-Za-z0-9_-]{0,80}(\\.[A-Za-z0-9_-]{0,80}){0,4}|.{0,200}") {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        prop_assert!(runtime.block_on(World::new().verify(&text)).is_err());
    }
}
