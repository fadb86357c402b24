//! When the keys of an issuer are fetched.

use super::issuer::*;
use crate::foreign::{Algorithm, KeySource, TrustedIssuer};
use crate::jose::Refused;
use serde_json::{Value, json};

const HOUR: u64 = 3600;

/// A token that is valid at `second`.
fn token_at(second: u64) -> String {
    let mut claims = claims();
    claims["iat"] = json!(NOW + second);
    claims["exp"] = json!(NOW + second + 60);
    token(Algorithm::EdDsa, &claims)
}

async fn verified(world: &World, second: u64) -> Result<(), Refused> {
    world.bearers.verify(&token_at(second), at(second)).await.map(|_| ())
}

/// A token of a key that is not published.
fn of_another_key(second: u64, kid: &str) -> (Signer, String) {
    let signer = Signer::new(Algorithm::EdDsa);
    let mut claims = claims();
    claims["iat"] = json!(NOW + second);
    claims["exp"] = json!(NOW + second + 60);
    let header = json!({ "alg": "EdDSA", "kid": kid });
    let token = signed(&signer, Algorithm::EdDsa, &header, &claims.to_string());
    (signer, token)
}

#[tokio::test]
async fn keys_are_fetched_once_an_hour() {
    let world = World::new();
    for second in [0, 1, HOUR - 1] {
        verified(&world, second).await.unwrap();
    }
    assert_eq!(world.network.times_asked(), 1);
    verified(&world, HOUR).await.unwrap();
    assert_eq!(world.network.times_asked(), 2);
}

#[tokio::test]
async fn the_issuer_says_how_long_within_bounds() {
    for (said, fresh) in
        [("public, max-age=600", 600), ("max-age=0", 60), ("max-age=99999999", 24 * HOUR), ("no-store", HOUR)]
    {
        let world = World::new();
        world.network.set(KEYS_URL, &published(), Some(said));
        verified(&world, 0).await.unwrap();
        verified(&world, fresh - 1).await.unwrap();
        assert_eq!(world.network.times_asked(), 1, "{said}");
        verified(&world, fresh).await.unwrap();
        assert_eq!(world.network.times_asked(), 2, "{said}");
    }
}

#[tokio::test]
async fn a_rotation_is_seen_at_the_first_token_of_the_new_key() {
    let world = World::new();
    verified(&world, 0).await.unwrap();
    let (signer, token) = of_another_key(60, "new");
    let mut jwk = signer.jwk();
    jwk["kid"] = json!("new");
    world.network.set(KEYS_URL, &json!({ "keys": [jwk] }), None);
    assert!(world.bearers.verify(&token, at(60)).await.is_ok());
    assert_eq!(verified(&world, 61).await, Err(Refused::UnknownKey), "the old key is gone");
}

#[tokio::test]
async fn invented_names_cause_one_fetch_in_thirty_seconds() {
    let world = World::new();
    verified(&world, 0).await.unwrap();
    for second in 1..91 {
        let (_, token) = of_another_key(second, &format!("invented-{second}"));
        assert_eq!(world.bearers.verify(&token, at(second)).await.unwrap_err(), Refused::UnknownKey);
    }
    assert_eq!(world.network.times_asked(), 1 + 3);
}

#[tokio::test]
async fn an_issuer_that_is_away_stops_its_tokens_after_a_day() {
    let world = World::new();
    verified(&world, 0).await.unwrap();
    world.network.go_away();
    verified(&world, HOUR).await.unwrap();
    verified(&world, 24 * HOUR - 1).await.unwrap();
    assert_eq!(verified(&world, 24 * HOUR + 30).await, Err(Refused::KeysUnavailable));
    world.network.set(KEYS_URL, &published(), None);
    verified(&world, 24 * HOUR + 90).await.unwrap();
}

#[tokio::test]
async fn a_set_without_a_usable_key_does_not_replace_one_that_has() {
    let world = World::new();
    verified(&world, 0).await.unwrap();
    world.network.set(KEYS_URL, &json!({ "keys": [{ "kty": "oct", "k": "AA" }] }), None);
    verified(&world, 2 * HOUR).await.unwrap();
}

#[tokio::test]
async fn an_issuer_that_never_answered_is_asked_again_later() {
    let world = World::new();
    world.network.go_away();
    assert_eq!(verified(&world, 0).await, Err(Refused::KeysUnavailable));
    world.network.set(KEYS_URL, &published(), None);
    assert_eq!(verified(&world, 29).await, Err(Refused::KeysUnavailable));
    verified(&world, 30).await.unwrap();
}

#[tokio::test]
async fn many_at_once_cause_one_fetch() {
    let world = std::sync::Arc::new(World::new());
    let held = world.network.hold.lock().await;
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let world = world.clone();
            tokio::spawn(async move { verified(&world, 0).await })
        })
        .collect();
    // All have run as far as they can: one fetches, the others wait for it.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    drop(held);
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(world.network.times_asked(), 1);
}

#[tokio::test]
async fn who_hangs_up_during_the_first_fetch_leaves_nothing_behind() {
    let world = std::sync::Arc::new(World::new());
    let held = world.network.hold.lock().await;
    let waiting = tokio::spawn({
        let world = world.clone();
        async move { verified(&world, 0).await }
    });
    while world.network.times_asked() == 0 {
        tokio::task::yield_now().await;
    }
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    drop(held);
    verified(&world, 0).await.unwrap();
}

#[tokio::test]
async fn keys_are_found_through_the_discovery_document() {
    let world = World::trusting(TrustedIssuer { keys: KeySource::Discovery, ..trusted() });
    let document = crate::oidc::tests::document();
    world.network.set(&format!("{ISSUER}/.well-known/openid-configuration"), &document, None);
    verified(&world, 0).await.unwrap();
    let asked: Value = json!(*world.network.asked.lock().unwrap());
    assert_eq!(asked, json!([format!("{ISSUER}/.well-known/openid-configuration"), KEYS_URL]));
}
