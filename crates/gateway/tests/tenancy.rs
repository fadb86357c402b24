//! No tenant sees, counts or changes anything of another: every endpoint of the document is tried with another tenant's
//! key and another tenant's ids. An endpoint that is added joins by itself; one with an id that this test cannot make
//! fails it, so nobody can forget.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use http_body_util::BodyExt as _;
use hyper::body::Bytes;
use schema::{JobId, TenantId, Timestamp};
use serde_json::{Map, Value, json};
use store::{Commit, NewJob, Retry};
use world::{Setup, World};

/// Asks about one tool, and about nothing else.
const OFFICE: &str = "name: office\nversion: '1'\ndefaultEffect: allow\nrules:\n  - effect: allow\n    actions: ['execute:ask_me']\n    requiresApproval: true\n";

fn protected() -> Setup {
    Setup::protected().governed(&[("office.yaml", OFFICE)])
}

fn on_disk() -> Setup {
    Setup::on_disk().governed(&[("office.yaml", OFFICE)])
}

/// What a tenant is, and one of everything it can have. Its names are in every place where a caller can put one.
struct Tenant {
    id: String,
    /// An admin key with every scope.
    token: String,
    key: String,
    /// A second key, to be taken back.
    spare: String,
    run: String,
    job: String,
    approval: String,
    exception: String,
    budget: String,
    webhook: String,
    credential: String,
    /// Somebody who is a member here.
    user: String,
    invitation: String,
    service_account: String,
    pattern: String,
    artifact: String,
    conversation: String,
    subject: String,
    /// A word that is in everything of its own.
    mark: String,
}

impl Tenant {
    async fn new(world: &World, name: &str) -> Self {
        let mark = format!("mark-of-{name}");
        let made = world.operate("POST", "/api/v1/tenants", &json!({ "name": mark })).await.json();
        let id = made["tenant"]["id"].as_str().unwrap().to_owned();
        let scopes = ["gateway", "read", "write", "approve"];
        let key = json!({ "name": mark, "admin": true, "tenant": id, "scopes": scopes });
        let made = world.operate("POST", "/api/v1/keys", &key).await.json();
        let (token, key) = (text(&made["token"]), text(&made["key"]["id"]));
        let spare = world.with(&token, "POST", "/api/v1/keys", &json!({ "name": mark })).await.json();
        let subject = format!("subject-{mark}");
        let bearer = format!("Bearer {token}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("x-punk-app", &mark),
            ("x-punk-agent", &mark),
            ("x-punk-subject", &subject),
        ];
        let chat =
            json!({ "model": "gpt-4o", "temperature": 0, "messages": [{ "role": "user", "content": mark }] });
        let reply = world.send("POST", "/v1/chat/completions", &headers, &chat).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let run = reply.header("x-punk-run-id").unwrap().to_owned();
        world.send("POST", "/api/v1/runs", &headers, &json!({ "model": mark })).await;
        let plan = json!({ "toolName": "ask_me", "level": 3, "payload": { "what": mark } });
        let plan = json!({ "runId": run, "type": "side_effect.planned", "payload": plan });
        let planned = world.send("POST", "/api/v1/trace", &headers, &plan).await.json();
        let except = json!({ "policy": "office", "actions": ["read:x"], "reason": mark, "hours": 1 });
        let excepted = world.send("POST", "/api/v1/exceptions", &headers, &except).await.json();
        let hook = json!({ "name": mark, "url": "https://hooks.example.com/x", "events": ["*"] });
        let hook = world.send("POST", "/api/v1/webhooks", &headers, &hook).await.json();
        let budget = json!({ "name": mark, "limitUsd": 1000, "per": "tenant", "window": "day" });
        let budget = world.send("POST", "/api/v1/budgets", &headers, &budget).await.json();
        let secret = json!({ "name": mark, "kind": "tool", "value": format!("value-of-{mark}") });
        let credential = world.send("POST", "/api/v1/credentials", &headers, &secret).await.json();
        let email = format!("{mark}@example.org");
        let user = world.person(&email, "viewer", Some(&id)).await;
        // So that whoever is tried is not the last who owns it.
        world.person(&format!("owner-{email}"), "owner", Some(&id)).await;
        let invite = json!({ "email": format!("guest-{email}"), "role": "viewer" });
        let invited = world.send("POST", "/api/v1/invitations", &headers, &invite).await.json();
        let robot = json!({ "name": mark });
        let robot = world.send("POST", "/api/v1/service-accounts", &headers, &robot).await.json();
        let job = dead_job(world, id.parse().unwrap(), &mark).await;
        let work = json!([{ "role": "system", "content": format!("Name {mark} in a word.") }, { "role": "user", "content": mark }]);
        let work = json!({ "model": "gpt-4o", "messages": work });
        world.send("POST", "/v1/chat/completions", &headers, &work).await;
        world.send("POST", "/api/v1/learning/tick", &headers, &Value::Null).await;
        let patterns = world.send("GET", "/api/v1/patterns", &headers, &Value::Null).await.json();
        let pattern = text(&patterns["patterns"][0]["id"]);
        let artifact = artifact(world, id.parse().unwrap(), &pattern, &mark).await;
        let talk = json!({ "title": mark, "model": "gpt-4o", "system": mark });
        let talk = world.send("POST", "/api/v1/conversations", &headers, &talk).await.json();
        let conversation = text(&talk["conversation"]["id"]);
        let turns = format!("/api/v1/conversations/{conversation}/turns");
        assert_eq!(world.send("POST", &turns, &headers, &json!({ "content": mark })).await.status, 200);
        Self {
            approval: text(&planned["approvalId"]),
            exception: text(&excepted["exception"]["id"]),
            budget: text(&budget["id"]),
            webhook: text(&hook["webhook"]["id"]),
            credential: text(&credential["credential"]["id"]),
            user: text(&user["id"]),
            invitation: text(&invited["invitation"]["id"]),
            service_account: text(&robot["serviceAccount"]["id"]),
            spare: text(&spare["key"]["id"]),
            id,
            token,
            key,
            run,
            job,
            pattern,
            artifact,
            conversation,
            subject,
            mark,
        }
    }

    /// Whether a text has anything of this tenant in it.
    fn is_in(&self, text: &str) -> bool {
        [&self.id, &self.token, &self.key, &self.spare, &self.run, &self.job, &self.user, &self.mark]
            .iter()
            .any(|word| text.contains(word.as_str()))
    }

    /// The id of this tenant for a part of a path or a member of a body, by what the document says of it. Nothing for what
    /// belongs to no tenant; whatever is new has to be added here.
    fn id_for(&self, path: &str, name: &str, schema: &Value) -> Option<&str> {
        match (path, name, schema["$ref"].as_str().unwrap_or("")) {
            (.., "#/components/schemas/Id_run") => Some(&self.run),
            (.., "#/components/schemas/Id_job") => Some(&self.job),
            (.., "#/components/schemas/Id_key") => Some(&self.spare),
            (.., "#/components/schemas/Id_apr") => Some(&self.approval),
            (.., "#/components/schemas/Id_exc") => Some(&self.exception),
            (.., "#/components/schemas/Id_bud") => Some(&self.budget),
            (.., "#/components/schemas/Id_whk") => Some(&self.webhook),
            (.., "#/components/schemas/Id_crd") => Some(&self.credential),
            (.., "#/components/schemas/Id_usr") => Some(&self.user),
            (.., "#/components/schemas/Id_inv") => Some(&self.invitation),
            (.., "#/components/schemas/Id_sva") => Some(&self.service_account),
            (.., "#/components/schemas/Id_pat") => Some(&self.pattern),
            (.., "#/components/schemas/Id_art") => Some(&self.artifact),
            (.., "#/components/schemas/Id_cnv") => Some(&self.conversation),
            ("/api/v1/agents/{name}", "name", _) => Some(&self.mark),
            (.., "#/components/schemas/Id_ten") => Some(&self.id),
            (.., "#/components/schemas/Subject") if path.contains("{subject}") => Some(&self.subject),
            (_, "runId", _) => Some(&self.run),
            ("/v1/models/{model}" | "/docs/{path}" | "/assets/{path}", ..) => None,
            (_, "sessionId", _) => None,
            other => panic!("{other:?} is an id, and nobody says how to make a foreign one"),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// An artifact that serves; to learn one takes hundreds of calls.
async fn artifact(world: &World, tenant: TenantId, pattern: &str, mark: &str) -> String {
    let at = Timestamp::from_millis(1_000).unwrap();
    let mut bytes = [3; 10];
    for (byte, letter) in bytes.iter_mut().zip(mark.bytes().rev()) {
        *byte = letter;
    }
    let id = schema::ArtifactId::new(1_000, bytes);
    let terms = learning::course::Terms {
        promise: learning::proof::Promise::default(),
        means: learning::proof::Means::Shadow,
        auto_promote: false,
        side_effects: 0,
    };
    let program = json!({
        "format": "punk.artifact/1", "model": mark, "task": schema::Digest::ZERO, "style": "compact",
        "artifact": {
            "guard": { "longest": 9, "kinds": [], "known": [], "most_unknown": 1.0 },
            "program": { "form": "constant", "value": mark },
        },
    })
    .to_string();
    let digest = ledger::sha256(program.as_bytes());
    let body = json!({
        "id": id, "pattern": pattern, "kind": mark, "version": 1, "course": learning::course::Course::new(terms),
        "createdAt": at, "program": { "version": 1, "digest": digest, "bytes": program.len() }, "evaluations": [], "corrections": [], "changes": [], "served": 0,
        "savedMicroUsd": 0, "replayed": [0, 0],
    });
    let to =
        store::RecordBody { group: "promoted".to_owned(), key: None, body, created_at: at, due_at: Some(at) };
    let kind = store::RecordKind::Artifact;
    let records = vec![
        store::RecordChange { kind, id: id.to_string(), expected: 0, to: Some(to) },
        apprentice::imported_program(digest, &program, at),
    ];
    world.store.tenant(tenant).commit(Commit { records, ..Commit::default() }).await.unwrap();
    id.to_string()
}

/// A job that was given up.
async fn dead_job(world: &World, tenant: TenantId, mark: &str) -> String {
    let at = Timestamp::from_millis(1_000).unwrap();
    let mut bytes = [7; 10];
    for (byte, letter) in bytes.iter_mut().zip(mark.bytes().rev()) {
        *byte = letter;
    }
    let id = JobId::new(1_000, bytes);
    let job = NewJob {
        id,
        kind: mark.to_owned(),
        key: None,
        payload: json!({}),
        priority: 0,
        run_at: at,
        max_attempts: 1,
    };
    world.store.tenant(tenant).commit(Commit { jobs: vec![job], ..Commit::default() }).await.unwrap();
    let jobs = world.store.jobs();
    let claimed = jobs
        .claim(&[mark.to_owned()], at, Timestamp::from_millis(9_000).unwrap(), std::num::NonZeroU32::MIN)
        .await
        .unwrap();
    let claimed = &claimed[0];
    jobs.fail(claimed.job.id, claimed.token, "given up", Retry::Never).await.unwrap();
    id.to_string()
}

/// One operation of the document.
struct Operation {
    method: String,
    path: String,
    told: Value,
}

impl Operation {
    fn all() -> Vec<Self> {
        let document = gateway::openapi();
        let paths = document["paths"].as_object().unwrap();
        let each = paths.iter().flat_map(|(path, operations)| {
            operations.as_object().unwrap().iter().map(|(method, told)| Self {
                method: method.to_ascii_uppercase(),
                path: path.clone(),
                told: told.clone(),
            })
        });
        each.collect()
    }

    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Whether a tenant's own key may call it.
    fn is_for_tenants(&self) -> bool {
        !matches!(
            self.told["x-punk-guard"].as_str().unwrap(),
            "public" | "anyone" | "person" | "installation:manage" | "policy:reload" | "organisation:manage"
        )
    }

    fn is_stream(&self) -> bool {
        self.told["responses"]["200"]["content"]
            .as_object()
            .is_some_and(|content| content.keys().eq(["text/event-stream"]))
    }

    /// The address with the ids of `owner` in it, and whether there are any.
    fn address(&self, owner: &Tenant) -> (String, bool) {
        let (mut address, mut has_id) = (self.path.clone(), false);
        for parameter in
            self.told["parameters"].as_array().into_iter().flatten().filter(|each| each["in"] == "path")
        {
            let name = parameter["name"].as_str().unwrap();
            let id = owner.id_for(&self.path, name, &parameter["schema"]);
            has_id |= id.is_some();
            address = address.replace(&format!("{{{name}}}"), id.unwrap_or("gpt-4o"));
        }
        (address, has_id)
    }

    /// The names of query parameters that are ids of `owner`, but for places in lists.
    fn query(&self, owner: &Tenant) -> Vec<(String, String)> {
        let parameters = self.told["parameters"].as_array().into_iter().flatten();
        let ids = parameters.filter(|each| {
            let is_id = each["schema"]["$ref"].as_str().is_some_and(|place| place.contains("/Id_"));
            each["in"] == "query" && is_id && each["name"] != "before" && each["name"] != "after"
        });
        ids.map(|each| {
            let name = each["name"].as_str().unwrap();
            (name.to_owned(), owner.id_for(&self.path, name, &each["schema"]).unwrap().to_owned())
        })
        .collect()
    }

    /// The body of the document's example, and the members of it that are ids, with those of `owner`.
    fn body(&self, document: &Value, owner: &Tenant) -> (Value, Map<String, Value>) {
        let content = &self.told["requestBody"]["content"]["application/json"];
        let mut schema = &content["schema"];
        if let Some(place) = schema["$ref"].as_str() {
            schema = document.pointer(place.trim_start_matches('#')).unwrap();
        }
        let mut ids = Map::new();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let place = schema["$ref"].as_str().or_else(|| schema["anyOf"][0]["$ref"].as_str()).unwrap_or("");
            if name.ends_with("Id") || name == "tenant" || place.contains("/Id_") {
                let schema = json!({ "$ref": place });
                if let Some(id) = owner.id_for(&self.path, name, &schema) {
                    ids.insert(name.clone(), json!(id));
                }
            }
        }
        (content["example"].clone(), ids)
    }
}

/// Everything that a tenant can see of itself.
async fn all_of(world: &World, tenant: &Tenant) -> Vec<(String, Value)> {
    let mut seen = Vec::new();
    for operation in Operation::all() {
        if operation.method == "GET" && operation.is_for_tenants() && !operation.is_stream() {
            let (address, _) = operation.address(tenant);
            let reply = world.with(&tenant.token, "GET", &address, &Value::Null).await;
            assert_eq!(reply.status, 200, "{address}: {reply:?}");
            // A packet is signed anew each time; what it is about is in the run.
            if !address.ends_with("evidence-packet") {
                let mut shown = reply.json();
                forget_trust(&mut shown);
                seen.push((address, shown));
            }
        }
    }
    seen
}

/// How far an agent is trusted is remembered for some seconds, so it moves by itself after the agent's last call.
fn forget_trust(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| name != "trustScore" && name != "trustComponents");
            members.values_mut().for_each(forget_trust);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_trust),
        _ => {}
    }
}

#[tokio::test]
async fn a_foreign_id_is_not_there_whatever_is_asked_of_it() {
    try_foreign_ids(protected()).await;
    try_foreign_ids(on_disk()).await;
}

async fn try_foreign_ids(setup: Setup) {
    let world = setup.start().await;
    let (owner, stranger) = (Tenant::new(&world, "alice").await, Tenant::new(&world, "bob").await);
    let document = gateway::openapi();
    let before = all_of(&world, &owner).await;
    let mut tried = 0;
    for operation in Operation::all().iter().filter(|operation| operation.is_for_tenants()) {
        let name = operation.name();
        let (body, ids) = operation.body(&document, &owner);
        let (foreign, has_id) = operation.address(&owner);
        if has_id {
            tried += 1;
            let reply = world.with(&stranger.token, &operation.method, &foreign, &body).await;
            assert_eq!(reply.status, 404, "{name} with a foreign id: {reply:?}");
            assert!(!owner.is_in(&String::from_utf8_lossy(&reply.body)), "{name}: {reply:?}");
        }
        let (own, _) = operation.address(&stranger);
        for (member, id) in ids {
            tried += 1;
            let mut body = body.clone();
            body[&member] = id;
            let reply = world.with(&stranger.token, &operation.method, &own, &body).await;
            assert_eq!(reply.status, 404, "{name} with a foreign {member}: {reply:?}");
        }
        for (parameter, id) in operation.query(&owner) {
            if operation.is_stream() {
                continue;
            }
            tried += 1;
            let address = format!("{own}?{parameter}={id}");
            let reply = world.with(&stranger.token, &operation.method, &address, &body).await;
            // A list that is asked for what is somebody else's has nothing to show.
            let is_empty = reply.status == 200 && reply.json()["runs"] == json!([]);
            assert!(reply.status == 404 || is_empty, "{name} with a foreign {parameter}: {reply:?}");
        }
    }
    assert!(tried >= 10, "only {tried} ids were tried");
    assert_eq!(all_of(&world, &owner).await, before, "nothing of the owner's has changed");
}

#[tokio::test]
async fn the_owner_finds_what_a_stranger_does_not() {
    let world = protected().start().await;
    let owner = Tenant::new(&world, "alice").await;
    let document = gateway::openapi();
    let mut operations: Vec<Operation> = Operation::all()
        .into_iter()
        .filter(|operation| operation.is_for_tenants() && !operation.is_stream())
        .collect();
    // What takes something away comes last, and the whole after its parts.
    let part = |operation: &Operation| if operation.method == "DELETE" { operation.path.len() } else { 0 };
    operations.sort_by_key(|operation| (operation.method == "DELETE", std::cmp::Reverse(part(operation))));
    for operation in operations {
        let (mut body, ids) = operation.body(&document, &owner);
        if let Some(members) = body.as_object_mut() {
            members.extend(ids);
        }
        let (address, _) = operation.address(&owner);
        let reply = world.with(&owner.token, &operation.method, &address, &body).await;
        assert!(reply.status < 300, "{}: {reply:?}", operation.name());
    }
}

#[tokio::test]
async fn lists_counts_and_answers_have_nothing_foreign_in_them() {
    look_for_the_foreign(protected()).await;
    look_for_the_foreign(on_disk()).await;
}

async fn look_for_the_foreign(setup: Setup) {
    let world = setup.start().await;
    let owner = Tenant::new(&world, "alice").await;
    let stranger = Tenant::new(&world, "bob").await;
    let document = gateway::openapi();
    let before = all_of(&world, &owner).await;
    for operation in
        Operation::all().iter().filter(|operation| operation.is_for_tenants() && !operation.is_stream())
    {
        let (mut body, ids) = operation.body(&document, &stranger);
        if let Some(members) = body.as_object_mut() {
            members.extend(ids);
        }
        let (address, _) = operation.address(&stranger);
        let reply = world.with(&stranger.token, &operation.method, &address, &body).await;
        assert!(!owner.is_in(&String::from_utf8_lossy(&reply.body)), "{}: {reply:?}", operation.name());
    }
    assert_eq!(all_of(&world, &owner).await, before, "nothing that a stranger did shows");
}

#[tokio::test]
async fn an_answer_that_was_kept_for_one_tenant_is_not_told_to_another() {
    let world = protected().start().await;
    let (owner, stranger) = (Tenant::new(&world, "alice").await, Tenant::new(&world, "bob").await);
    let call = json!({ "toolName": "crm", "args": { "id": 7 } });
    let mut result = call.clone();
    (result["result"], result["ttlSeconds"]) = (json!(owner.mark), json!(600));
    let check = |token: String| {
        let (world, call) = (&world, call.clone());
        async move { world.with(&token, "POST", "/api/v1/tool-cache/check", &call).await.json() }
    };
    assert_eq!(
        world.with(&owner.token, "POST", "/api/v1/tool-cache/store", &result).await.json(),
        json!({ "stored": true })
    );
    assert_eq!(check(owner.token.clone()).await, json!({ "hit": true, "result": owner.mark }));
    assert_eq!(check(stranger.token.clone()).await, json!({ "hit": false }));
    assert_eq!(
        world
            .with(&stranger.token, "DELETE", "/api/v1/cache?cacheType=tool_result", &Value::Null)
            .await
            .json()["removed"],
        0
    );
    assert_eq!(check(owner.token.clone()).await["hit"], true);
}

#[tokio::test]
async fn a_feed_tells_nothing_of_another_tenant() {
    let world = protected().start().await;
    let (owner, stranger) = (Tenant::new(&world, "alice").await, Tenant::new(&world, "bob").await);
    for query in ["?after=0-0".to_owned(), format!("?after=0-0&run={}", owner.run), String::new()] {
        let bearer = format!("Bearer {}", stranger.token);
        let path = format!("/api/v1/events{query}");
        let response = world.response("GET", &path, &[("authorization", &bearer)], Bytes::new()).await;
        let mut body = response.into_body();
        let mut told = String::new();
        // What the owner does now is not told; what the stranger does is, and ends the wait.
        world.chat(&owner.token, &owner.mark).await;
        let last = world.chat(&stranger.token, "the last thing").await;
        let until = if query.contains("run=") { "hello" } else { last.as_str() };
        while !told.contains(until) {
            let frame = body.frame().await.expect("it goes on").unwrap();
            told.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
        assert!(!owner.is_in(&told), "{query}: {told}");
    }
}
