//! Keys that somebody else keeps.

use std::sync::{Arc, Mutex};

use crypto::kept::Fetching;
use crypto::{NotKept, SecretKeeper, SecretSource, SecretString};

use crate::server::{Act, Server};
use crate::world::{key, run, upstream};

const FINE: Act = Act::Answer(200, &[], "fine");

/// Somebody who has a key, or none.
#[derive(Default)]
struct Drawer(Mutex<Option<&'static str>>);

impl std::fmt::Debug for Drawer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Drawer")
    }
}

impl Drawer {
    fn with(key: Option<&'static str>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(key)))
    }

    fn put(&self, key: &'static str) {
        *self.0.lock().unwrap() = Some(key);
    }
}

impl SecretKeeper for Drawer {
    fn fetch(&self) -> Fetching<'_> {
        let key = *self.0.lock().unwrap();
        let key = key.map(|key| Arc::new(SecretString::new(key.to_owned())));
        Box::pin(async move { key.ok_or_else(|| NotKept("the drawer is empty".to_owned())) })
    }
}

fn sent(server: &Server) -> Vec<String> {
    server.seen().iter().map(|seen| seen.header("authorization").unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_new_key_holds_from_the_next_request() {
    let server = Server::start([FINE]).await;
    let drawer = Drawer::with(Some("sk-first"));
    let place = upstream("a", server.address, |spec| spec.keys = vec![SecretSource::Kept(drawer.clone())]);
    assert_eq!(run(&[&place]).await.0, "200 fine");
    drawer.put("sk-second");
    assert_eq!(run(&[&place]).await.0, "200 fine");
    assert_eq!(sent(&server), ["Bearer sk-first", "Bearer sk-second"]);
    assert!(!format!("{place:?}").contains("sk-"));
}

#[tokio::test]
async fn without_its_key_an_upstream_is_not_asked_and_it_is_said_why() {
    let server = Server::start([FINE]).await;
    let drawer = Drawer::with(None);
    let place = upstream("a", server.address, |spec| spec.keys = vec![SecretSource::Kept(drawer.clone())]);
    let (said, tried) = run(&[&place]).await;
    assert_eq!(said, "no key of a");
    assert_eq!(tried, ["a/model-1: skipped: no key: the drawer is empty"]);
    assert!(server.seen().is_empty());
    drawer.put("sk-late");
    assert_eq!(run(&[&place]).await.0, "200 fine");
    drawer.put("sk-unfit\u{7f}");
    let (said, tried) = run(&[&place]).await;
    assert_eq!(said, "no key of a");
    assert!(tried[0].contains("characters that no key has") && !tried[0].contains("sk-unfit"), "{tried:?}");
}

#[tokio::test]
async fn where_one_key_is_missing_another_or_another_upstream_is_used() {
    let (server, other) = (Server::start([FINE]).await, Server::start([FINE]).await);
    let missing = || SecretSource::Kept(Drawer::with(None));
    let two = upstream("two", server.address, |spec| spec.keys = vec![missing(), key("sk-there")]);
    for _ in 0..4 {
        assert_eq!(run(&[&two]).await.0, "200 fine");
    }
    assert!(sent(&server).iter().all(|key| key == "Bearer sk-there"));
    let none = upstream("none", server.address, |spec| spec.keys = vec![missing(), missing()]);
    let fallback = upstream("fallback", other.address, |_| {});
    let (said, tried) = run(&[&none, &fallback]).await;
    assert_eq!((said.as_str(), tried.len()), ("200 fine", 3), "{tried:?}");
}
