//! Secrets go into the vault and never come out, and whoever refers to one has it as it is now.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gateway::Models;
use providers::mock::Pace;
use providers::model::{Catalogue, UpstreamModels};
use providers::pricing::PriceList;
use providers::upstream::{Auth, Spec, Trust};
use serde_json::{Value, json};
use store::Store;
use store::memory::MemoryStore;
use store::sqlite::{Durability, SqliteStore};
use vault::{Kept, MasterKeys, Vault};
use wire::Wire;
use world::upstream::{Act, Upstream};
use world::{Setup, World};

/// Something that is in no other text and looks like no credential, so that only who knows it hides it.
const MARK: &str = "the quick brown fox 7719";
const PATH: &str = "/api/v1/credentials";

async fn added(world: &World, name: &str, value: &str) -> Value {
    let reply =
        world.operate("POST", PATH, &json!({ "name": name, "kind": "provider", "value": value })).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    reply.json()
}

fn chat(content: &str) -> Value {
    json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": content }] })
}

#[tokio::test]
async fn a_secret_is_kept_listed_replaced_and_removed_and_shown_nowhere() {
    let world = Setup::protected().start().await;
    let made = added(&world, "openai", MARK).await;
    let id = made["credential"]["id"].as_str().unwrap();
    assert_eq!(made["reference"], format!("cred:{id}"));
    assert_eq!(made["credential"]["version"], 1);
    let one = format!("{PATH}/{id}");
    assert_eq!(world.operate("GET", &one, &Value::Null).await.json(), made);
    let listed = world.operate("GET", PATH, &Value::Null).await.json();
    assert_eq!(listed["credentials"], json!([made["credential"]]));
    let taken = json!({ "name": "openai", "kind": "tool", "value": "x" });
    assert_eq!(world.operate("POST", PATH, &taken).await.code(), "punk_name_taken");
    let rotated =
        world.operate("POST", &format!("{one}/rotate"), &json!({ "value": format!("{MARK}!") })).await;
    assert_eq!((rotated.status, &rotated.json()["credential"]["version"]), (200, &json!(2)));
    assert_eq!(world.operate("DELETE", &one, &Value::Null).await.status, 200);
    assert_eq!(world.operate("DELETE", &one, &Value::Null).await.status, 404);
    let audit = world.operate("GET", "/api/v1/audit", &Value::Null).await;
    let said = String::from_utf8_lossy(&audit.body).into_owned();
    for action in ["credential_added", "credential_rotated", "credential_removed"] {
        assert!(said.contains(action), "{action}: {said}");
    }
    assert!(!said.contains(MARK));
}

/// Every operation of the document that changes nothing is asked, and whatever came of adding and replacing is looked at.
#[tokio::test]
async fn no_answer_of_any_endpoint_has_the_value() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = on_disk(folder.path());
    let world = Setup { store, ..Setup::protected() }.start().await;
    let mut said = String::new();
    let made = world.operate("POST", PATH, &json!({ "name": "a", "kind": "other", "value": MARK })).await;
    said += &String::from_utf8_lossy(&made.body);
    let id = made.json()["credential"]["id"].as_str().unwrap().to_owned();
    let rotated = world.operate("POST", &format!("{PATH}/{id}/rotate"), &json!({ "value": MARK })).await;
    said += &String::from_utf8_lossy(&rotated.body);
    // Somebody puts it where it does not belong.
    let run = world.chat(world::OPERATOR, &format!("my key is {MARK}, please use it")).await;
    let begun = json!({ "model": "gpt-4o", "metadata": { "note": MARK } });
    world.operate("POST", "/api/v1/runs", &begun).await;
    let trace =
        json!({ "runId": run, "type": "tool.called", "payload": { "name": "t", "args": { "key": MARK } } });
    assert_eq!(world.operate("POST", "/api/v1/trace", &trace).await.status, 201);
    let feedback = json!({ "type": "rating", "rating": 1, "correction": MARK });
    assert_eq!(world.operate("POST", &format!("/api/v1/runs/{run}/feedback"), &feedback).await.status, 201);
    let kept = json!({ "toolName": "t", "args": {}, "result": { "key": MARK }, "ttlSeconds": 600 });
    let kept = world.operate("POST", "/api/v1/tool-cache/store", &kept).await;
    assert_eq!(kept.json()["stored"], false);
    let mut asked = 0;
    for (path, operations) in gateway::openapi()["paths"].as_object().unwrap() {
        let told = &operations["get"];
        if told.is_null() || told["responses"]["200"]["content"]["text/event-stream"].is_object() {
            continue;
        }
        let path = path.replace("{id}", if path.contains("credentials") { &id } else { &run });
        let path =
            path.replace("{model}", "gpt-4o").replace("{name}", "anonymous").replace("{file}", "docs.js");
        let reply = world.operate("GET", &path, &Value::Null).await;
        said += &String::from_utf8_lossy(&reply.body);
        asked += 1;
    }
    assert!(asked > 15, "{asked}");
    assert!(said.contains("⟨known:1⟩"), "it was looked at where it would be");
    assert!(!said.contains(MARK), "{}", &said[said.find(MARK).unwrap_or(0)..][..200]);
    assert!(occurrences(folder.path(), "anonymous") > 0, "what is recorded is looked for in the right place");
    assert_eq!(occurrences(folder.path(), MARK), 0, "nor is it in the database or its log");
}

fn on_disk(folder: &Path) -> (Arc<dyn Store>, PathBuf) {
    let path = folder.join("punk.db");
    (Arc::new(SqliteStore::open(&path, Durability::Commit).unwrap()), path)
}

/// How often `needle` is in any file of the folder.
fn occurrences(folder: &Path, needle: &str) -> usize {
    let mut found = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        found += bytes.windows(needle.len()).filter(|window| *window == needle.as_bytes()).count();
    }
    found
}

#[tokio::test]
async fn a_refused_body_is_named_by_its_field_and_never_repeated() {
    let world = Setup::protected().start().await;
    let made = added(&world, "there", "value").await;
    let rotate = format!("{PATH}/{}/rotate", made["credential"]["id"].as_str().unwrap());
    let long = MARK.repeat(1_000);
    for (path, body, param) in [
        (PATH, json!({ "name": "a", "kind": "tool" }), Some("value")),
        (PATH, json!({ "name": "a", "kind": "tool", "value": 7_719_771_977_u64 }), Some("value")),
        (PATH, json!({ "name": "a", "kind": "tool", "value": [MARK] }), Some("value")),
        (PATH, json!({ "name": "a", "kind": "tool", "value": "" }), Some("value")),
        (PATH, json!({ "name": "a", "kind": "tool", "value": long }), Some("value")),
        (PATH, json!({ "name": MARK, "kind": "tool", "value": MARK }), Some("name")),
        (
            PATH,
            json!({ "name": "ghp_7719Kq2Lm9Vb4Nc8Zt3Rj6Wd1Hs5Gp0Ef2Yu4", "kind": "tool", "value": MARK }),
            Some("name"),
        ),
        (PATH, json!({ "name": 7_719_771_977_u64, "kind": "tool", "value": MARK }), Some("name")),
        (PATH, json!({ "name": "a", "kind": MARK, "value": MARK }), Some("kind")),
        (PATH, json!({ "name": "a", "kind": "tool", "value": MARK, MARK: 1 }), None),
        (PATH, json!(MARK), None),
        (PATH, json!([MARK]), None),
        (&rotate, json!({ "value": 7_719_771_977_u64 }), Some("value")),
        (&rotate, json!({ "values": MARK }), None),
        (&rotate, json!(MARK), None),
    ] {
        let reply = world.operate("POST", path, &body).await;
        let said = String::from_utf8_lossy(&reply.body).into_owned();
        assert_eq!(reply.status, 400, "{said}");
        assert_eq!(reply.json()["error"]["param"].as_str(), param, "{said}");
        assert!(!said.contains("quick") && !said.contains("7719"), "{said}");
    }
    let broken = format!("{{\"name\":\"a\",\"value\":\"{MARK}");
    let headers = [("authorization", format!("Bearer {}", world::OPERATOR))];
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let reply = world.response("POST", PATH, &headers, broken.into()).await;
    assert_eq!(reply.status(), 400);
    let listed = world.operate("GET", PATH, &Value::Null).await.json();
    assert_eq!(listed["credentials"].as_array().unwrap().len(), 1, "nothing was added");
}

/// What is hidden in the texts of a tenant tells it nothing about the secrets of another.
#[tokio::test]
async fn a_secret_is_hidden_from_its_own_tenants_records_and_is_nothing_to_others() {
    let world = Setup::protected().start().await;
    let mut tokens = Vec::new();
    for name in ["alice", "bob"] {
        let tenant = world.operate("POST", "/api/v1/tenants", &json!({ "name": name })).await.json();
        tokens
            .push(world.key(&json!({ "name": name, "admin": true, "tenant": tenant["tenant"]["id"] })).await);
    }
    let hers = json!({ "name": "a", "kind": "tool", "value": MARK });
    assert_eq!(world.with(&tokens[0], "POST", PATH, &hers).await.status, 201);
    added(&world, "house", "and the lazy dog 3391").await;
    let prompt = format!("{MARK} / and the lazy dog 3391");
    let mut recorded = Vec::new();
    for token in &tokens {
        let run = world.chat(token, &prompt).await;
        let shown = world.with(token, "GET", &format!("/api/v1/runs/{run}"), &Value::Null).await;
        recorded.push(String::from_utf8_lossy(&shown.body).into_owned());
    }
    assert!(!recorded[0].contains(MARK) && recorded[1].contains(MARK));
    assert!(
        recorded.iter().all(|shown| !shown.contains("lazy dog")),
        "the installation's own is hidden from all"
    );
}

/// An upstream whose key is in the vault, by its name.
async fn kept_by(store: &Arc<dyn Store>, upstream: &Upstream) -> (Arc<Vault>, Models) {
    let masters = MasterKeys::new(crypto::SealKey::from_bytes([3; 32]), Vec::new());
    let vault = Arc::new(Vault::start(store.clone(), masters, None).await.unwrap());
    let mut spec = Spec::new("groq", &upstream.url, Auth::Bearer, &[Wire::Chat]).unwrap();
    let reference = "cred:groq".parse().unwrap();
    spec.keys = vec![Kept::new(vault.clone(), reference, "upstreams.groq.api_key").into()];
    let made = providers::upstream::Upstream::new(spec, &Trust::only(&[]).unwrap()).unwrap();
    let mut catalogue = Catalogue::default();
    catalogue.upstreams.push(UpstreamModels { name: "groq".to_owned(), models: vec!["gpt-4o".to_owned()] });
    let upstreams = HashMap::from([("groq".to_owned(), made)]);
    (vault, Models { catalogue, upstreams, prices: PriceList::default(), pace: Pace::Instant })
}

#[tokio::test]
async fn another_value_is_used_by_the_next_call_and_a_missing_one_is_told() {
    let answer = json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "hello" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
    });
    let upstream = Upstream::start(move |_, _| Act::Say(200, Vec::new(), answer.clone())).await;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (vault, models) = kept_by(&store, &upstream).await;
    let world = Setup { store, models, vault: Some(vault), ..Setup::protected() }.start().await;
    let ask = async || world.operate("POST", "/v1/chat/completions", &chat("hi")).await;

    let refused = ask().await;
    assert_eq!((refused.status, refused.code().as_str()), (502, "punk_upstream_keyless"), "{refused:?}");
    assert!(upstream.seen().is_empty());
    let run = refused.json()["error"]["runId"].as_str().unwrap().to_owned();
    let shown = world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await;
    let shown = String::from_utf8_lossy(&shown.body).into_owned();
    assert!(shown.contains("upstreams.groq.api_key: there is no credential `cred:groq`"), "{shown}");

    let made = added(&world, "groq", "key-one").await;
    assert_eq!(ask().await.status, 200);
    let one = format!("{PATH}/{}", made["credential"]["id"].as_str().unwrap());
    let rotated = world.operate("POST", &format!("{one}/rotate"), &json!({ "value": "key-two" })).await;
    assert_eq!(rotated.status, 200);
    assert_eq!(ask().await.status, 200);
    let sent: Vec<String> = upstream
        .seen()
        .iter()
        .map(|seen| seen.headers["authorization"].to_str().unwrap().to_owned())
        .collect();
    assert_eq!(sent, ["Bearer key-one", "Bearer key-two"]);
    assert_eq!(world.operate("DELETE", &one, &Value::Null).await.status, 200);
    assert_eq!(ask().await.code(), "punk_upstream_keyless");
}
