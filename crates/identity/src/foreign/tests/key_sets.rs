//! Which keys of a published set are used.

use super::issuer::{Signer, published, signer};
use crate::foreign::{Algorithm, Jwks, JwksError};
use crate::jose::Refused;
use proptest::prelude::*;
use serde_json::{Value, json};

fn usable(keys: &Value) -> usize {
    Jwks::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap().len()
}

fn with(algorithm: Algorithm, name: &str, value: Value) -> Value {
    let mut jwk = signer(algorithm).jwk();
    jwk[name] = value;
    jwk
}

#[test]
fn a_set_with_every_type_is_read() {
    let keys = Jwks::parse(published().to_string().as_bytes()).unwrap();
    assert_eq!(keys.len(), 5);
    for algorithm in Algorithm::ALL {
        assert!(keys.find(Some(algorithm.name()), algorithm).is_ok());
    }
    assert_eq!(keys.find(Some("ES256"), Algorithm::Es384).unwrap_err(), Refused::Algorithm);
    assert_eq!(keys.find(Some("ES257"), Algorithm::Es256).unwrap_err(), Refused::UnknownKey);
}

#[test]
fn keys_that_are_not_for_verifying_are_passed_over() {
    assert_eq!(usable(&json!([with(Algorithm::Es256, "use", json!("sig"))])), 1);
    assert_eq!(usable(&json!([with(Algorithm::Es256, "use", json!("enc"))])), 0);
    assert_eq!(usable(&json!([with(Algorithm::Es256, "use", json!(7))])), 0);
    assert_eq!(usable(&json!([with(Algorithm::Es256, "key_ops", json!(["verify"]))])), 1);
    assert_eq!(usable(&json!([with(Algorithm::Es256, "key_ops", json!(["encrypt"]))])), 0);
    assert_eq!(usable(&json!([with(Algorithm::Es256, "key_ops", json!("verify"))])), 0);
}

#[test]
fn a_key_whose_algorithm_does_not_fit_its_type_is_passed_over() {
    assert_eq!(usable(&json!([with(Algorithm::Rs256, "alg", json!("PS256"))])), 1);
    for (algorithm, other) in [
        (Algorithm::Rs256, "HS256"),
        (Algorithm::Rs256, "ES256"),
        (Algorithm::Es256, "ES384"),
        (Algorithm::EdDsa, "none"),
    ] {
        assert_eq!(usable(&json!([with(algorithm, "alg", json!(other))])), 0, "{other}");
    }
}

#[test]
fn a_key_for_one_padding_does_not_verify_the_other() {
    let mut jwk = with(Algorithm::Rs256, "alg", json!("PS256"));
    jwk["kid"] = json!("k");
    let keys = Jwks::parse(json!({ "keys": [jwk] }).to_string().as_bytes()).unwrap();
    assert!(keys.find(Some("k"), Algorithm::Ps256).is_ok());
    assert_eq!(keys.find(Some("k"), Algorithm::Rs256).unwrap_err(), Refused::Algorithm);
}

#[test]
fn weak_and_broken_keys_are_passed_over() {
    // 1024 bits; an even and a tiny exponent; a modulus with a zero before it.
    let weak = crate::jose::compact::encode(&[0xc5; 128]);
    assert_eq!(usable(&json!([with(Algorithm::Rs256, "n", json!(weak))])), 0);
    let huge = crate::jose::compact::encode(&[0xc5; 1025]);
    assert_eq!(usable(&json!([with(Algorithm::Rs256, "n", json!(huge))])), 0);
    for exponent in ["AQ", "AA", "", "AQAA", "________", "!"] {
        assert_eq!(usable(&json!([with(Algorithm::Rs256, "e", json!(exponent))])), 0, "{exponent}");
    }
    // A point that is not on the curve, and one with a byte too few.
    let zeros = crate::jose::compact::encode(&[0; 32]);
    assert_eq!(usable(&json!([with(Algorithm::Es256, "x", json!(zeros))])), 0);
    assert_eq!(usable(&json!([with(Algorithm::Es256, "x", json!("AAAA"))])), 0);
    assert_eq!(usable(&json!([with(Algorithm::Es256, "crv", json!("P-384"))])), 0);
    // The neutral point of Ed25519 verifies anything.
    let mut neutral = [0; 32];
    neutral[0] = 1;
    assert_eq!(
        usable(&json!([with(Algorithm::EdDsa, "x", json!(crate::jose::compact::encode(&neutral)))])),
        0
    );
    assert_eq!(usable(&json!([with(Algorithm::EdDsa, "crv", json!("X25519"))])), 0);
    assert_eq!(usable(&json!([{ "kty": "oct", "k": "c2VjcmV0" }, 7, null, {}, "x"])), 0);
}

#[test]
fn keys_that_share_a_name_are_passed_over_all_of_them() {
    let one = with(Algorithm::Es256, "kid", json!("same"));
    let other = with(Algorithm::EdDsa, "kid", json!("same"));
    let third = with(Algorithm::EdDsa, "kid", json!("other"));
    assert_eq!(usable(&json!([one, other, third])), 1);
}

#[test]
fn a_token_without_a_name_gets_the_only_key_that_fits() {
    let [one, other] = [signer(Algorithm::Es256).jwk(), signer(Algorithm::EdDsa).jwk()];
    let keys = Jwks::parse(json!({ "keys": [one, other] }).to_string().as_bytes()).unwrap();
    assert!(keys.find(None, Algorithm::Es256).is_ok());
    assert_eq!(keys.find(None, Algorithm::Rs256).unwrap_err(), Refused::UnknownKey);
    let more = json!({ "keys": [one, Signer::new(Algorithm::Es256).jwk()] }).to_string();
    let keys = Jwks::parse(more.as_bytes()).unwrap();
    assert_eq!(keys.find(None, Algorithm::Es256).unwrap_err(), Refused::UnknownKey);
}

#[test]
fn what_is_no_set_is_an_error() {
    for bad in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[],"keys":[]}"#] {
        assert_eq!(Jwks::parse(bad.as_bytes()).unwrap_err(), JwksError, "{bad}");
    }
    let many = json!({ "keys": vec![json!({}); 65] }).to_string();
    assert_eq!(Jwks::parse(many.as_bytes()).unwrap_err(), JwksError);
    let huge = format!(r#"{{"keys":[],"x":"{}"}}"#, "x".repeat(300_000));
    assert_eq!(Jwks::parse(huge.as_bytes()).unwrap_err(), JwksError);
}

proptest! {
    #[test]
    fn no_bytes_make_reading_panic(n in "[A-Za-z0-9_-]{0,400}", e in "[A-Za-z0-9_-]{0,10}", x in "[A-Za-z0-9_-]{0,70}") {
        let keys = json!({ "keys": [
            { "kty": "RSA", "n": n, "e": e },
            { "kty": "EC", "crv": "P-256", "x": x, "y": x },
            { "kty": "OKP", "crv": "Ed25519", "x": x },
        ] });
        let _ = Jwks::parse(keys.to_string().as_bytes()).unwrap();
    }
}
