//! What our tokens promise: every way across that we know of is refused, each for its own reason.

use super::*;
use crate::jose::Refused;
use crate::jose::compact::encode;
use crypto::{KeyRing, Purpose, SigningKey, hmac_sha256};
use expect_test::expect;
use proptest::prelude::*;
use schema::{RunId, SessionId, TenantId, Timestamp};
use serde_json::{Value, json};
use std::time::Duration;

const START: u64 = 1_800_000_000;
const NAME: &str = "https://punk.example";
const MINUTE: Duration = Duration::from_secs(60);

fn at(second: u64) -> Timestamp {
    Timestamp::from_millis((START + second) * 1000).unwrap()
}

struct World {
    _home: tempfile::TempDir,
    ring: KeyRing,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut ring = KeyRing::open(home.path().join("keys")).unwrap();
        ring.generate(Purpose::Token, moment(0)).unwrap();
        Self { _home: home, ring }
    }

    fn issuer(&self) -> Issuer {
        Issuer::new(&self.ring, NAME, "punk").unwrap()
    }

    fn key(&self) -> &SigningKey {
        self.ring.token_keys().next().unwrap().1
    }

    /// A header and claims as our own would be, to be changed.
    fn parts(&self) -> (Value, Value) {
        let kid = self.ring.active(Purpose::Token).unwrap().id.to_string();
        let header = json!({ "alg": "EdDSA", "typ": "at+jwt", "kid": kid });
        let claims = json!({
            "iss": NAME, "aud": "punk", "sub": "usr_x", "iat": START, "nbf": START, "exp": START + 60,
            "jti": "a", "kind": "service", "org": TenantId::NIL, "scope": "run:read",
        });
        (header, claims)
    }

    fn signed(&self, header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", encode(header.as_bytes()), encode(claims.as_bytes()));
        let signature = encode(&self.key().sign(signed.as_bytes()).to_bytes());
        format!("{signed}.{signature}")
    }

    /// Verifies what our own key signed, with one header or claim changed; `null` removes it.
    #[track_caller]
    fn changed(&self, part: &str, name: &str, value: Value) -> Result<Claims, Refused> {
        let (mut header, mut claims) = self.parts();
        let object = if part == "header" { &mut header } else { &mut claims };
        match value {
            Value::Null => {
                object.as_object_mut().unwrap().remove(name);
            }
            value => object[name] = value,
        }
        self.issuer().verify_any(&self.signed(&header.to_string(), &claims.to_string()), at(0))
    }
}

fn moment(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(START as i64 + second).unwrap()
}

fn session() -> Grant {
    let authority = Authority::Session { session: SessionId::NIL, role: "operator".into() };
    Grant { subject: "usr_someone".into(), organisation: TenantId::NIL, authority }
}

fn capability() -> Grant {
    let scopes = "tool:call".parse().unwrap();
    Grant { authority: Authority::Capability { run: RunId::NIL, scopes }, ..session() }
}

fn service() -> Grant {
    Grant { authority: Authority::Service { scopes: Scopes::default() }, ..session() }
}

#[test]
fn what_is_issued_is_verified_as_it_was_meant() {
    let issuer = World::new().issuer();
    for grant in [session(), service(), capability()] {
        let kind = grant.authority.kind();
        let issued = issuer.issue(grant.clone(), MINUTE, at(0)).unwrap();
        let claims = issuer.verify(issued.token.expose(), kind, at(0)).unwrap();
        assert_eq!((&claims, &claims.grant), (&issued.claims, &grant));
        for other in Kind::ALL.into_iter().filter(|other| *other != kind) {
            assert_eq!(issuer.verify(issued.token.expose(), other, at(0)), Err(Refused::Kind));
        }
    }
}

#[test]
fn a_token_reads_as_documented() {
    let world = World::new();
    let issued = world.issuer().issue(capability(), MINUTE, at(0)).unwrap();
    let text = issued.token.expose();
    let decode = |part: &str| {
        use base64::Engine as _;
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(part).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let parts: Vec<&str> = text.split('.').collect();
    let kid = world.ring.active(Purpose::Token).unwrap().id.to_string();
    expect![[r#"{"alg":"EdDSA","typ":"at+jwt","kid":"KID"}"#]]
        .assert_eq(&decode(parts[0]).replace(&kid, "KID"));
    expect![[r#"{"iss":"https://punk.example","aud":"punk","sub":"usr_someone","iat":1800000000,"nbf":1800000000,"exp":1800000060,"jti":"ID","kind":"capability","org":"ten_00000000000000000000000000","scope":"tool:call","run":"run_00000000000000000000000000"}"#]]
        .assert_eq(&decode(parts[1]).replace(&issued.claims.id, "ID"));
    assert!(!format!("{issued:?}").contains(parts[2]));
}

#[test]
fn a_token_lives_from_its_first_second_to_its_last() {
    let issuer = World::new().issuer();
    let issued = issuer.issue(session(), MINUTE, at(100)).unwrap();
    let verified = |second| issuer.verify(issued.token.expose(), Kind::Session, at(second)).map(|_| ());
    assert_eq!(verified(69), Err(Refused::NotYet));
    assert_eq!(verified(70), Ok(()));
    assert_eq!(verified(189), Ok(()));
    assert_eq!(verified(190), Err(Refused::Expired));
}

#[test]
fn nobody_gets_a_token_for_longer_than_its_kind_lives() {
    let issuer = World::new().issuer();
    let refused = |grant: Grant, seconds| {
        issuer.issue(grant, Duration::from_secs(seconds), at(0)).map(|_| ()).unwrap_err().to_string()
    };
    expect!["a Session token lives 1 to 900 s, not 901 s"].assert_eq(&refused(session(), 901));
    expect!["a Capability token lives 1 to 3600 s, not 0 s"].assert_eq(&refused(capability(), 0));
}

#[test]
fn a_changed_header_is_refused_although_our_own_key_signed_it() {
    let world = World::new();
    assert!(world.changed("header", "alg", json!("EdDSA")).is_ok());
    let header = |name, value| world.changed("header", name, value).unwrap_err();
    for algorithm in ["none", "None", "NONE", "HS256", "RS256", "ES256", "Ed25519", "eddsa", ""] {
        assert_eq!(header("alg", json!(algorithm)), Refused::Algorithm, "{algorithm}");
    }
    assert_eq!(header("alg", Value::Null), Refused::Header);
    assert_eq!(header("typ", json!("JWT")), Refused::Header);
    assert_eq!(header("typ", Value::Null), Refused::Header);
    assert_eq!(header("kid", Value::Null), Refused::Header);
    assert_eq!(header("kid", json!("key_0000000000000000")), Refused::UnknownKey);
    assert_eq!(header("kid", json!("../../dev/null")), Refused::UnknownKey);
    for name in ["jwk", "jku", "x5u", "x5c", "crit", "b64", "zip", "cty"] {
        assert_eq!(header(name, json!({ "kty": "OKP" })), Refused::Header, "{name}");
    }
}

#[test]
fn a_changed_claim_is_refused_although_our_own_key_signed_it() {
    let world = World::new();
    let claim = |name, value| world.changed("claims", name, value).unwrap_err();
    assert_eq!(claim("iss", json!("https://punk.example/")), Refused::Issuer);
    assert_eq!(claim("aud", json!("other")), Refused::Audience);
    assert_eq!(claim("aud", json!(["punk"])), Refused::Claim("payload"));
    assert_eq!(claim("exp", json!(START + 3601)), Refused::Lifetime);
    assert_eq!(claim("exp", json!(START - 30)), Refused::Expired);
    assert_eq!(claim("exp", json!(-1)), Refused::Claim("payload"));
    assert_eq!(claim("nbf", json!(START + 31)), Refused::NotYet);
    assert_eq!(claim("iat", json!(START + 31)), Refused::FromTheFuture);
    assert_eq!(claim("jti", json!("")), Refused::Claim("jti"));
    assert_eq!(claim("kind", json!("session")), Refused::Claim("kind"));
    assert_eq!(claim("kind", json!("admin")), Refused::Claim("payload"));
    assert_eq!(claim("run", json!(RunId::NIL)), Refused::Claim("kind"), "a service token is bound to no run");
    assert_eq!(claim("role", json!("owner")), Refused::Claim("kind"));
    assert_eq!(claim("scope", json!("a  b")), Refused::Claim("scope"));
    assert_eq!(claim("admin", json!(true)), Refused::Claim("payload"));
    for name in ["iss", "aud", "sub", "iat", "nbf", "exp", "jti", "kind", "org"] {
        assert_eq!(claim(name, Value::Null), Refused::Claim("payload"), "{name}");
    }
}

#[test]
fn a_doubled_claim_or_header_is_refused() {
    let world = World::new();
    let (header, claims) = world.parts();
    let doubled = |object: &Value, name: &str| {
        object.to_string().replacen('{', &format!("{{\"{name}\":{},", object[name]), 1)
    };
    let verified =
        |header: &str, claims: &str| world.issuer().verify_any(&world.signed(header, claims), at(0));
    assert!(verified(&header.to_string(), &claims.to_string()).is_ok());
    assert_eq!(verified(&header.to_string(), &doubled(&claims, "sub")), Err(Refused::Claim("payload")));
    assert_eq!(verified(&doubled(&header, "alg"), &claims.to_string()), Err(Refused::Form));
}

#[test]
fn a_token_of_another_key_is_refused() {
    let (ours, theirs) = (World::new(), World::new());
    let token = theirs.issuer().issue(session(), MINUTE, at(0)).unwrap();
    assert_eq!(ours.issuer().verify_any(token.token.expose(), at(0)), Err(Refused::UnknownKey));
    // Their signature under our key's name.
    let (header, claims) = ours.parts();
    let forged = theirs.signed(&header.to_string(), &claims.to_string());
    assert_eq!(ours.issuer().verify_any(&forged, at(0)), Err(Refused::Signature));
}

/// The attack on libraries that let `alg` choose what the key is: the public key, which everybody has, as HMAC secret.
#[test]
fn the_public_key_is_no_secret_to_sign_with() {
    let world = World::new();
    let (mut header, claims) = world.parts();
    let public = world.key().public();
    let jwks = world.issuer().jwks(at(0));
    for algorithm in ["HS256", "EdDSA"] {
        header["alg"] = json!(algorithm);
        for secret in
            [public.as_bytes().to_vec(), encode(public.as_bytes()).into_bytes(), jwks.clone().into_bytes()]
        {
            let signed = format!(
                "{}.{}",
                encode(header.to_string().as_bytes()),
                encode(claims.to_string().as_bytes())
            );
            let forged = format!("{signed}.{}", encode(&hmac_sha256(&secret, signed.as_bytes())));
            let refused = if algorithm == "HS256" { Refused::Algorithm } else { Refused::Signature };
            assert_eq!(world.issuer().verify_any(&forged, at(0)), Err(refused));
        }
    }
}

#[test]
fn an_unsigned_token_is_refused() {
    let world = World::new();
    let (mut header, claims) = world.parts();
    let text = |header: &Value| {
        format!("{}.{}.", encode(header.to_string().as_bytes()), encode(claims.to_string().as_bytes()))
    };
    assert_eq!(world.issuer().verify_any(&text(&header), at(0)), Err(Refused::Signature));
    header["alg"] = json!("none");
    assert_eq!(world.issuer().verify_any(&text(&header), at(0)), Err(Refused::Algorithm));
}

#[test]
fn a_retired_key_verifies_until_its_last_token_has_expired() {
    let mut world = World::new();
    let hour = Duration::from_secs(3600);
    let old = world.issuer().issue(service(), hour, at(99)).unwrap();
    world.ring.rotate(Purpose::Token, moment(100)).unwrap();
    let issuer = world.issuer();
    let new = issuer.issue(service(), hour, at(100)).unwrap();
    assert!(issuer.verify_any(old.token.expose(), at(100)).is_ok());
    assert!(issuer.verify_any(new.token.expose(), at(100)).is_ok());
    let published = |second| issuer.jwks(at(second)).matches("kty").count();
    assert_eq!((published(100), published(100 + 3600 + 30), published(100 + 3600 + 31)), (2, 2, 1));
    // What a thief signs with the old key later is refused, whatever times it claims.
    let late = Issuer::new(&world.ring, NAME, "punk").unwrap();
    assert_eq!(late.verify_any(old.token.expose(), at(100 + 3600 + 31)), Err(Refused::UnknownKey));
}

#[test]
fn without_a_token_key_nothing_is_issued() {
    let home = tempfile::tempdir().unwrap();
    let mut ring = KeyRing::open(home.path().join("keys")).unwrap();
    ring.generate(Purpose::Log, moment(0)).unwrap();
    assert_eq!(Issuer::new(&ring, NAME, "punk").unwrap_err(), NoTokenKey);
}

#[test]
fn a_huge_token_is_not_looked_at() {
    let issuer = World::new().issuer();
    assert_eq!(issuer.verify_any(&"a".repeat(10_000_000), at(0)), Err(Refused::TooLong));
    assert_eq!(issuer.verify_any("", at(0)), Err(Refused::Form));
    assert_eq!(issuer.verify_any("..", at(0)), Err(Refused::Form));
    assert_eq!(issuer.verify_any("e30.e30.e30.e30", at(0)), Err(Refused::Form));
}

#[test]
fn every_refusal_says_the_same_to_the_outside() {
    let told =
        [Refused::Form, Refused::Signature, Refused::Claim("sub"), Refused::Revoked].map(|r| r.to_string());
    assert!(told.iter().all(|text| text == "token is not valid; get a new one"));
}

/// Every byte of one token, each changed to sixteen others.
#[test]
fn any_changed_byte_is_refused() {
    let issuer = World::new().issuer();
    let issued = issuer.issue(capability(), MINUTE, at(0)).unwrap();
    let text = issued.token.expose();
    for position in 0..text.len() {
        for byte in (0..128u8).skip(position % 8).step_by(8) {
            let mut changed = text.clone().into_bytes();
            if std::mem::replace(&mut changed[position], byte) != byte {
                let changed = String::from_utf8(changed).unwrap();
                assert!(issuer.verify_any(&changed, at(0)).is_err(), "{position}: {byte}");
            }
        }
    }
}

/// One for all cases of a property: its key is a file.
fn shared() -> &'static Issuer {
    static ISSUER: std::sync::OnceLock<Issuer> = std::sync::OnceLock::new();
    ISSUER.get_or_init(|| World::new().issuer())
}

proptest! {
    #[test]
    fn garbage_is_refused(text in "[A-Za-z0-9_-]{0,80}(\\.[A-Za-z0-9_-]{0,80}){0,4}|.{0,200}") {
        prop_assert!(shared().verify_any(&text, at(0)).is_err());
    }

    #[test]
    fn a_cut_or_longer_token_is_refused(cut in any::<prop::sample::Index>(), more in ".{1,20}") {
        let issuer = shared();
        let issued = issuer.issue(session(), MINUTE, at(0)).unwrap();
        let text = issued.token.expose();
        prop_assert!(issuer.verify_any(&text[..cut.index(text.len())], at(0)).is_err());
        for longer in [text.clone() + &more, more + text] {
            prop_assert!(issuer.verify_any(&longer, at(0)).is_err());
        }
    }
}
