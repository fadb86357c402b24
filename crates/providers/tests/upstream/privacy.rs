//! What must not pass: the caller's credentials on the way out, our keys anywhere.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use providers::upstream::{Auth, Next, Prepared, Spec, Target, Trust, Upstream};
use wire::Wire;

use crate::server::{Act, FINE, Server};
use crate::world::{call, dispatcher, key, next, upstream};

fn caller(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair = |&(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    pairs.iter().map(pair).collect()
}

/// The complaint: a proxy's own key, or its caller's cookies, ended up with the provider.
#[tokio::test]
async fn the_callers_credentials_never_leak_upstream() {
    let server = Server::start([FINE]).await;
    let place = upstream("openai", server.address, |spec| {
        spec.speaks = vec![Wire::Chat, Wire::Messages, Wire::Responses];
    });
    let caller = caller(&[
        ("authorization", "Bearer pk_caller"),
        ("x-api-key", "pk_caller"),
        ("cookie", "session=caller"),
        ("proxy-authorization", "Basic caller"),
        ("x-punk-agent", "caller"),
        ("x-punk-subject", "caller"),
        ("x-forwarded-for", "caller"),
        ("openai-organization", "org-caller"),
        ("idempotency-key", "caller"),
        ("user-agent", "caller/1"),
        ("x-stainless-lang", "caller"),
        ("accept-encoding", "gzip, caller"),
        ("content-length", "9999"),
        ("anthropic-beta", "flag-2026"),
        ("openai-beta", "flag-v2"),
    ]);
    let mut attempts = dispatcher().begin(vec![vec![Target::new(&place, "m")]], None);
    let body = Bytes::from_static(b"{}");
    let answer = attempts.next(|_| Ok(Prepared::post("/v1/chat/completions", body.clone(), &caller))).await;
    assert!(matches!(answer, Next::Answer(reply) if reply.status == 200));

    let seen = &server.seen()[0];
    assert!(seen.head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", seen.head);
    assert!(!seen.head.contains("caller"), "{}", seen.head);
    assert!(!seen.head.to_ascii_lowercase().contains("x-punk"), "{}", seen.head);
    assert_eq!(seen.header("authorization"), Some("Bearer sk-only"));
    assert_eq!(seen.header("accept-encoding"), Some("identity"));
    assert_eq!(seen.header("content-length"), Some("2"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("anthropic-beta"), Some("flag-2026"));
    assert_eq!(seen.header("openai-beta"), Some("flag-v2"));
    assert_eq!(seen.header("user-agent"), Some(concat!("punk/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(seen.body, "{}");
}

#[tokio::test]
async fn an_upstream_gets_its_own_kind_of_key_and_its_fixed_headers() {
    let server = Server::start([FINE]).await;
    let place = upstream("anthropic", server.address, |spec| {
        spec.auth = Auth::ApiKey;
        spec.speaks = vec![Wire::Messages];
        spec.keys = vec![key(" sk-ant-1\n")];
        spec.headers = vec![(HeaderName::from_static("x-title"), HeaderValue::from_static("Punk"))];
    });
    assert!(matches!(next(&mut call(&[&place])).await, Next::Answer(_)));
    let seen = &server.seen()[0];
    assert_eq!(seen.header("x-api-key"), Some("sk-ant-1"));
    assert_eq!(seen.header("authorization"), None);
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(seen.header("x-title"), Some("Punk"));
}

#[tokio::test]
async fn the_callers_version_of_the_wire_replaces_ours() {
    let server = Server::start([FINE]).await;
    let place = upstream("anthropic", server.address, |spec| {
        spec.auth = Auth::ApiKey;
        spec.speaks = vec![Wire::Messages];
    });
    let caller = caller(&[("anthropic-version", "2099-01-01")]);
    let mut attempts = dispatcher().begin(vec![vec![Target::new(&place, "m")]], None);
    attempts.next(|_| Ok(Prepared::post("/messages", Bytes::new(), &caller))).await;
    assert_eq!(server.seen()[0].header("anthropic-version"), Some("2099-01-01"));
}

#[tokio::test]
async fn no_key_is_in_a_debug_an_error_or_a_record() {
    let server = Server::start([Act::Break("x")]).await;
    let place = upstream("leaky", server.address, |spec| {
        spec.keys = vec![key("sk-secret-1"), key("sk-secret-2")];
        spec.headers = vec![(HeaderName::from_static("api-key"), HeaderValue::from_static("sk-secret-5"))];
    });
    let nobody =
        upstream("nobody", "127.0.0.1:1".parse().unwrap(), |spec| spec.keys = vec![key("sk-secret-3")]);
    let mut said = format!("{place:?} {place:#?} {:?}", place.health());

    let mut attempts = call(&[&place]);
    let Next::Answer(mut reply) = next(&mut attempts).await else { panic!("it answers") };
    said += &format!("{reply:?} {attempts:?}");
    assert!(reply.body.data().await.unwrap().is_ok());
    let broken = reply.body.data().await.unwrap().unwrap_err();
    let mut attempts = call(&[&nobody]);
    let Next::Failed(refused) = next(&mut attempts).await else { panic!("nobody is there") };
    for error in [&broken, &refused] {
        let chain = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
        said.extend(chain.map(|error| format!("{error} {error:?}\n")));
    }
    said += &format!("{attempts:?} {:?}", attempts.records());

    let mut spec = Spec::new("bad", "http://localhost", Auth::Bearer, &[Wire::Chat]).unwrap();
    spec.keys = vec![key("sk-secret-4\u{7f}")];
    spec.headers = vec![(HeaderName::from_static("api-key"), HeaderValue::from_static("sk-secret-6"))];
    said += &format!("{spec:?}");
    said += &Upstream::new(spec, &Trust::only(&[]).unwrap()).unwrap_err().to_string();

    assert!(!said.contains("sk-secret"), "{said}");
    assert!(said.contains("Sensitive"), "the headers are printed, the keys in them are not");
}

#[tokio::test]
async fn a_fixed_header_cannot_stand_in_for_what_is_set_for_each_request() {
    for name in ["authorization", "x-api-key", "host", "content-length", "transfer-encoding", "connection"] {
        let mut spec = Spec::new("odd", "http://localhost", Auth::Bearer, &[Wire::Chat]).unwrap();
        spec.headers = vec![(HeaderName::from_static(name), HeaderValue::from_static("x"))];
        let error = Upstream::new(spec, &Trust::only(&[]).unwrap()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("upstream odd cannot have a fixed header {name}: it is set for each request")
        );
    }
}
