//! Tokens, key sets and discovery documents: none makes a reader panic, and no text that fuzzing finds is a token of ours.

#![no_main]

use crypto::{KeyRing, Purpose};
use identity::foreign::{Jwks, claimed_issuer};
use identity::oidc::Provider;
use identity::password::PasswordHash;
use identity::token::{Issuer, Scopes};
use libfuzzer_sys::fuzz_target;
use schema::Timestamp;
use std::sync::OnceLock;

fn issuer() -> &'static Issuer {
    static ISSUER: OnceLock<Issuer> = OnceLock::new();
    ISSUER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("punk-fuzz-token-{}", std::process::id()));
        let mut ring = KeyRing::open(&folder).unwrap();
        ring.generate(Purpose::Token, jiff::Timestamp::UNIX_EPOCH).unwrap();
        let issuer = Issuer::new(&ring, "https://punk.example", "punk").unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        issuer
    })
}

fuzz_target!(|text: &str| {
    let now = Timestamp::from_millis(1_800_000_000_000).unwrap();
    assert!(issuer().verify_any(text, now).is_err());
    let _ = claimed_issuer(text);
    let _ = Jwks::parse(text.as_bytes());
    if let Ok(provider) = Provider::parse(text.as_bytes(), "https://id.example") {
        assert!(provider.jwks_uri().scheme() == "https" || provider.jwks_uri().scheme() == "http");
    }
    if let Ok(scopes) = text.parse::<Scopes>() {
        assert_eq!(scopes.to_string().parse::<Scopes>(), Ok(scopes));
    }
    if let Ok(hash) = PasswordHash::parse(text) {
        assert_eq!(hash.as_str(), text);
    }
});
