//! Nothing leaks: marked secrets are sent through every endpoint and into every way to fail, and afterwards nothing that
//! Punk keeps, logs, counts, exports or answers has one of them in it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::fs::File;
use std::process::Stdio;

use serde_json::{Value, json};
use world::World;
use world::gateway::{Gateway, Reply, try_request};

const OPERATOR: &str = "pk-operator-of-the-leak-test-q8Zr5Tn2";

/// Secrets of several kinds, put together here so that nobody who looks for secrets finds them in this file. The part by
/// which they are looked for afterwards is the second.
fn marked() -> Vec<(String, &'static str)> {
    [
        ("sk-proj-", "Vn4Kx9Qm2Lt7Rb5Zc8Wd3Hs6Gp1Yf0Ja4Ue7Io", ""),
        ("ghp_", "R7mQx2Kv9Lb4Nc8Zt3Wj6Td1Hs5Gp0Ef2Yu4", ""),
        ("AKIA", "Q3ZXWVUT5RPN2MLK", ""),
        ("xoxb-", "417283950617-840291736455-kQ7vZ2mX9rT4bN8cW3jL6dHs", ""),
        ("glpat-", "wX4rT7bQ9zK2mV5nC8jL", ""),
        ("postgres://ledger:", "gT7kPz4qVw9m", "@db.internal:5432/punk"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ3YW5kYSJ9.", "mQ7xVz2kR9tLb4Nc8Wj3Td6Hs1Gp5Ef0Yu2IaQ4oP8s", ""),
        ("password: ", "hZ8!kVq2#rTm", ""),
    ]
    .into_iter()
    .map(|(before, mark, after)| ([before, mark, after].concat(), mark))
    .collect()
}

/// Where secrets have no business.
struct Search {
    marks: Vec<&'static str>,
    found: Vec<String>,
}

impl Search {
    fn look(&mut self, place: &str, bytes: &[u8]) {
        for mark in &self.marks {
            if let Some(at) = bytes.windows(mark.len()).position(|window| window == mark.as_bytes()) {
                let around = &bytes[at.saturating_sub(120)..bytes.len().min(at + mark.len() + 20)];
                self.found
                    .push(format!("{mark} in {place}: {}", String::from_utf8_lossy(around).escape_debug()));
            }
        }
    }
}

/// A value with every text in it replaced.
fn with_texts(value: &Value, secret: &str) -> Value {
    match value {
        Value::String(_) => json!(format!("about {secret} here")),
        Value::Array(items) => items.iter().map(|item| with_texts(item, secret)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), with_texts(member, secret))).collect()
        }
        other => other.clone(),
    }
}

/// The same value with one of its texts replaced, for each of them.
fn with_one_text(value: &Value, secret: &str) -> Vec<Value> {
    let mut places = Vec::new();
    fn walk(value: &Value, at: String, places: &mut Vec<String>) {
        match value {
            Value::String(_) => places.push(at),
            Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, item)| walk(item, format!("{at}/{index}"), places));
            }
            Value::Object(members) => {
                members.iter().for_each(|(name, member)| walk(member, format!("{at}/{name}"), places));
            }
            _ => {}
        }
    }
    walk(value, String::new(), &mut places);
    let replaced = |place: &String| {
        let mut copy = value.clone();
        if let Some(text) = copy.pointer_mut(place) {
            *text = json!(format!("about {secret} here"));
        }
        copy
    };
    places.iter().map(replaced).collect()
}

/// Whether an answer may hold what the caller sent: the answer of a model, which is the caller's own.
fn may_hold(path: &str, reply: &Reply) -> bool {
    path.starts_with("/v1/") && reply.status == 200
}

struct Sender<'g> {
    gateway: &'g Gateway,
    search: Search,
    sent: usize,
}

impl Sender<'_> {
    fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) {
        let bearer = format!("Bearer {OPERATOR}");
        let mut all = vec![("content-type", "application/json")];
        if !headers.iter().any(|(name, _)| *name == "authorization") {
            all.push(("authorization", &bearer));
        }
        all.extend(headers);
        self.sent += 1;
        // A stream of events does not end by itself and is read below.
        let Some(reply) = try_request(&self.gateway.address, method, path, &all, body) else { return };
        if !may_hold(path, &reply) {
            self.search.look(&format!("the answer to {method} {path} ({})", reply.status), &reply.body);
        }
    }
}

#[test]
fn nothing_leaks() {
    let world = World::new();
    let log = world.path("log.txt");
    let environment = [("PUNK_API_KEY", OPERATOR), ("PUNK_LOG", "debug"), ("PUNK_MAX_BODY_BYTES", "262144")];
    let logging = Stdio::from(File::create(&log).unwrap());
    let gateway = Gateway::start_logging(&world, &environment, logging);
    let search = Search { marks: marked().into_iter().map(|(_, mark)| mark).collect(), found: Vec::new() };
    let mut sender = Sender { gateway: &gateway, search, sent: 0 };
    let bearer = format!("Bearer {OPERATOR}");
    let document = gateway.request("GET", "/api/v1/openapi.json", &[("authorization", &bearer)], "").json();
    for (path, operations) in document["paths"].as_object().unwrap() {
        // It does not end by itself.
        if path == "/api/v1/events" {
            continue;
        }
        for (method, operation) in operations.as_object().unwrap() {
            let method = method.to_ascii_uppercase();
            let example = &operation["requestBody"]["content"]["application/json"]["example"];
            for (secret, mark) in marked() {
                attack(&mut sender, &method, path, example, &secret, mark);
            }
        }
    }
    let Sender { mut search, sent, .. } = sender;
    assert!(sent > 2_000, "only {sent} requests were sent");

    // What it tells others.
    for path in [
        "/metrics",
        "/api/v1/runs?limit=200",
        "/api/v1/audit",
        "/api/v1/jobs",
        "/api/v1/savings",
        "/api/v1/settings",
    ] {
        if let Some(reply) = try_request(&gateway.address, "GET", path, &[("authorization", &bearer)], "") {
            search.look(path, &reply.body);
        }
    }
    let runs = gateway.request("GET", "/api/v1/runs?limit=200", &[("authorization", &bearer)], "").json();
    for run in runs["runs"].as_array().unwrap() {
        let id = run["id"].as_str().unwrap();
        for path in [format!("/api/v1/runs/{id}"), format!("/api/v1/runs/{id}/evidence-packet")] {
            let reply = gateway.request("GET", &path, &[("authorization", &bearer)], "");
            search.look(&path, &reply.body);
        }
    }
    drop(gateway);
    // What it leaves behind: the database, its journal, and its log.
    for (path, bytes) in world.listing() {
        search.look(&path.display().to_string(), &bytes);
    }
    // What it hands out.
    for (name, arguments) in [
        ("export", &["export", "--out", "export.jsonl"][..]),
        ("audit trail", &["audit", "export", "--out", "trail.jsonl"]),
        ("backup", &["backup", "backup.db"]),
    ] {
        let ended = world.punk(arguments);
        search.look(&format!("what {name} prints"), ended.told().as_bytes());
    }
    for (path, bytes) in world.listing() {
        search.look(&path.display().to_string(), &bytes);
    }
    search.found.sort();
    search.found.dedup();
    assert!(search.found.is_empty(), "{} leaks:\n{}", search.found.len(), search.found.join("\n"));
}

/// One secret, in every place of one endpoint, in requests that can be answered and in such that cannot.
fn attack(sender: &mut Sender<'_>, method: &str, path: &str, example: &Value, secret: &str, mark: &str) {
    let encoded = secret.replace([' ', ':', '/', '@', '#', '!'], "_");
    let filled: String = path
        .split('/')
        .map(|part| if part.starts_with('{') { encoded.as_str() } else { part })
        .collect::<Vec<_>>()
        .join("/");
    sender.send(method, &filled, &[], "");
    sender.send(method, &format!("{filled}?limit={encoded}&reason={encoded}&cursor={encoded}"), &[], "");
    for name in [
        "x-punk-app",
        "x-punk-agent",
        "x-punk-subject",
        "x-punk-approval",
        "x-punk-cache",
        "traceparent",
        "idempotency-key",
        "origin",
        "user-agent",
    ] {
        sender.send(method, &filled, &[(name, secret)], &example.to_string());
    }
    sender.send(method, &filled, &[("authorization", &format!("Bearer {secret}"))], "");
    sender.send(method, &filled, &[("x-api-key", secret), ("authorization", "Basic e30=")], "");
    if example.is_null() {
        return;
    }
    for body in with_one_text(example, secret) {
        sender.send(method, &filled, &[], &body.to_string());
    }
    sender.send(method, &filled, &[], &with_texts(example, secret).to_string());
    // A member that nobody knows, by its name and by its value; a wrong type; what is no JSON; what is too long.
    let mut more = example.clone();
    more[secret] = json!(secret);
    sender.send(method, &filled, &[], &more.to_string());
    sender.send(method, &filled, &[], &json!([secret]).to_string());
    sender.send(method, &filled, &[], &format!("{{\"model\": \"{mark}\", {secret}"));
    sender.send(
        method,
        &filled,
        &[],
        &json!({ "model": secret, "messages": secret.repeat(8_000) }).to_string(),
    );
}
