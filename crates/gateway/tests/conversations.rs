//! Conversations over the real gateway: what is said is sent on, kept in the runs, private, and forgotten with them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use serde_json::{Value, json};
use world::upstream::{Act, Upstream, served_by};
use world::{OPERATOR, Reply, Setup, World};

const ALL: &str = "/api/v1/conversations";
/// Lets nobody ask the model that is called forbidden.
const NO: &str = "name: office\nversion: '1'\ndefaultEffect: allow\nrules:\n  - effect: deny\n    actions: ['model:chat']\n    when: { model: ['forbidden'] }\n";

async fn begin(world: &World, new: &Value) -> Value {
    let made = world.operate("POST", ALL, new).await;
    assert_eq!(made.status, 201, "{made:?}");
    made.json()["conversation"].clone()
}

async fn say(world: &World, id: &Value, body: &Value) -> Reply {
    world.operate("POST", &format!("{ALL}/{}/turns", id.as_str().unwrap()), body).await
}

async fn look(world: &World, id: &Value) -> Value {
    let reply = world.operate("GET", &format!("{ALL}/{}", id.as_str().unwrap()), &Value::Null).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

/// A model that says how many messages it was told, and what the last one was.
async fn counting() -> (Upstream, Setup) {
    let upstream = Upstream::start(|_, seen| {
        let messages = seen.body["messages"].as_array().unwrap();
        let last = messages.last().unwrap()["content"].as_str().unwrap();
        let said = format!("{} messages, the last: {last}", messages.len());
        let choice = json!({ "index": 0, "message": { "role": "assistant", "content": said }, "finish_reason": "stop" });
        let usage = json!({ "prompt_tokens": 40, "completion_tokens": 9, "total_tokens": 49 });
        Act::Say(
            200,
            Vec::new(),
            json!({ "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [choice], "usage": usage }),
        )
    })
    .await;
    let models = served_by(&[("openai", &upstream, &[wire::Wire::Chat])]);
    (upstream, Setup { models, ..Setup::protected() })
}

#[tokio::test]
async fn a_turn_sends_all_that_was_said_and_is_kept_with_its_route_and_its_cost() {
    let (upstream, setup) = counting().await;
    let world = setup.start().await;
    let new = json!({ "model": "gpt-4o", "system": "Answer briefly." });
    let begun = begin(&world, &new).await;
    assert_eq!(
        (&begun["title"], &begun["turns"], &begun["system"]),
        (&Value::Null, &json!(0), &new["system"])
    );
    let first = say(&world, &begun["id"], &json!({ "content": "Where is  my parcel?" })).await;
    assert_eq!((first.status, first.header("x-punk-route")), (200, Some("live")), "{first:?}");
    let body = first.json();
    assert_eq!(body["reply"], "2 messages, the last: Where is  my parcel?");
    assert_eq!(
        (&body["turn"]["reply"], &body["turn"]["content"]),
        (&body["reply"], &json!("Where is  my parcel?"))
    );
    assert_eq!(body["turn"]["runId"], json!(first.header("x-punk-run-id").unwrap()));
    assert!(body["turn"]["costUsd"].as_f64().unwrap() > 0.0, "{body}");
    let second = say(&world, &begun["id"], &json!({ "content": "And now?" })).await.json();
    assert_eq!(second["reply"], "4 messages, the last: And now?");
    let sent = upstream.seen();
    let sent = &sent.last().unwrap().body;
    assert_eq!((&sent["temperature"], &sent["model"]), (&json!(0), &json!("gpt-4o")));
    let roles: Vec<&str> =
        sent["messages"].as_array().unwrap().iter().map(|one| one["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(sent["messages"][2]["content"], body["reply"]);

    let whole = look(&world, &begun["id"]).await;
    assert_eq!(
        (&whole["conversation"]["title"], &whole["conversation"]["turns"]),
        (&json!("Where is my parcel?"), &json!(2))
    );
    assert_eq!(whole["turns"], json!([body["turn"], second["turn"]]));
    let runs = world.operate("GET", "/api/v1/runs?app=chat", &Value::Null).await.json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2, "{runs}");

    // The same, asked anew, is answered by what was said before.
    let again = begin(&world, &new).await;
    let kept = say(&world, &again["id"], &json!({ "content": "Where is  my parcel?" })).await;
    assert_eq!(kept.header("x-punk-route"), Some("exact_cache"), "{kept:?}");
    assert!(kept.json()["turn"]["savedUsd"].as_f64().unwrap() > 0.0);
}

#[tokio::test]
async fn a_streamed_turn_is_told_as_it_comes_and_announced_before_the_end() {
    let world = Setup::protected().start().await;
    let begun = begin(&world, &json!({ "model": "mock-small" })).await;
    let reply = say(&world, &begun["id"], &json!({ "content": "What is 2 + 3?", "stream": true })).await;
    assert_eq!(reply.header("content-type"), Some("text/event-stream; charset=utf-8"), "{reply:?}");
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    let frames: Vec<&str> = text.split("\n\n").filter(|frame| !frame.is_empty()).collect();
    let [told @ .., turn, done] = &frames[..] else { panic!("{text}") };
    assert_eq!(*done, "data: [DONE]");
    let said: String = told
        .iter()
        .map(|frame| serde_json::from_str::<Value>(frame.strip_prefix("data: ").unwrap()).unwrap())
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
        .collect();
    let turn: Value = serde_json::from_str(turn.strip_prefix("event: turn\ndata: ").unwrap()).unwrap();
    assert_eq!(
        (turn["turn"]["reply"].as_str(), turn["turn"]["route"].as_str()),
        (Some(said.as_str()), Some("live"))
    );
    assert_eq!(look(&world, &begun["id"]).await["turns"], json!([turn["turn"]]));
}

#[tokio::test]
async fn what_failed_or_was_blocked_is_not_kept_and_is_told_as_the_gateway_tells_it() {
    let world = Setup::protected().governed(&[("office.yaml", NO)]).start().await;
    let begun = begin(&world, &json!({ "title": "Trouble", "model": "forbidden" })).await;
    let blocked = say(&world, &begun["id"], &json!({ "content": "Hello" })).await;
    let chat = json!({ "model": "forbidden", "temperature": 0, "messages": [{ "role": "user", "content": "Hello" }] });
    let plain = world.operate("POST", "/v1/chat/completions", &chat).await;
    assert_eq!((blocked.status, blocked.code()), (plain.status, plain.code()), "{blocked:?} {plain:?}");
    assert_eq!(blocked.json()["error"]["verdict"], plain.json()["error"]["verdict"], "{blocked:?}");
    for stream in [false, true] {
        let body = json!({ "content": "Hello", "model": "mock-error-500", "stream": stream });
        let failed = say(&world, &begun["id"], &body).await;
        assert!(failed.status >= 500, "{failed:?}");
    }
    let whole = look(&world, &begun["id"]).await;
    assert_eq!((&whole["turns"], &whole["conversation"]["turns"]), (&json!([]), &json!(0)), "{whole}");
}

#[tokio::test]
async fn bad_input_is_refused_by_its_field_and_asks_no_model() {
    let world = Setup::protected().start().await;
    let begun = begin(&world, &json!({})).await;
    for (body, param) in [
        (json!({}), "content"),
        (json!({ "content": "  " }), "content"),
        (json!({ "content": "x", "temperature": 1 }), "temperature"),
        (json!({ "content": "x" }), "model"),
        (json!({ "content": "x", "model": "" }), "model"),
    ] {
        let refused = say(&world, &begun["id"], &body).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (400, &json!(param)),
            "{body}: {refused:?}"
        );
    }
    let empty = world.operate("PATCH", &format!("{ALL}/{}", begun["id"].as_str().unwrap()), &json!({})).await;
    assert_eq!(empty.status, 400, "{empty:?}");
    let runs = world.operate("GET", "/api/v1/runs?app=chat", &Value::Null).await.json();
    assert_eq!(runs["runs"], json!([]));
}

#[tokio::test]
async fn conversations_are_listed_by_key_renamed_and_deleted() {
    let world = Setup::on_disk().start().await;
    let mut made = Vec::new();
    for title in ["one", "two", "three"] {
        made.push(begin(&world, &json!({ "title": title, "model": "mock-small" })).await["id"].clone());
    }
    let page = world.operate("GET", &format!("{ALL}?limit=2"), &Value::Null).await.json();
    let titles = |page: &Value| -> Vec<String> {
        page["conversations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(titles(&page), ["three", "two"]);
    let rest = world
        .operate("GET", &format!("{ALL}?limit=2&before={}", page["next"].as_str().unwrap()), &Value::Null)
        .await
        .json();
    assert_eq!((titles(&rest), &rest["next"]), (vec!["one".to_owned()], &Value::Null));

    let path = format!("{ALL}/{}", made[0].as_str().unwrap());
    say(&world, &made[0], &json!({ "content": "What is 2 + 3?" })).await;
    let renamed =
        world.operate("PATCH", &path, &json!({ "title": "sums", "system": "Be exact." })).await.json();
    let shown = &renamed["conversation"];
    assert_eq!(
        (&shown["title"], &shown["system"], &shown["turns"]),
        (&json!("sums"), &json!("Be exact."), &json!(1))
    );
    let refused =
        world.operate("PATCH", &path, &json!({ "title": "sk-proj-9xK2mQ7vT4nW8pL3sD6fG1hJ5kZ0cV" })).await;
    assert_eq!((refused.status, &refused.json()["error"]["param"]), (400, &json!("title")), "{refused:?}");
    assert_eq!(world.operate("DELETE", &path, &Value::Null).await.json()["deleted"], true);
    for method in ["GET", "DELETE"] {
        assert_eq!(world.operate(method, &path, &Value::Null).await.status, 404);
    }
    let audit = world.operate("GET", "/api/v1/audit", &Value::Null).await.json().to_string();
    assert!(audit.contains("audit.conversation_deleted") && !audit.contains("sums"), "{audit}");
}

#[tokio::test]
async fn two_turns_at_once_are_both_kept() {
    let world = Setup::on_disk().start().await;
    let begun = begin(&world, &json!({ "model": "mock-small" })).await;
    let said = ["What is 1 + 1?", "What is 2 + 2?", "What is 3 + 3?"];
    let bodies = said.map(|content| json!({ "content": content }));
    let (a, b, c) = tokio::join!(
        say(&world, &begun["id"], &bodies[0]),
        say(&world, &begun["id"], &bodies[1]),
        say(&world, &begun["id"], &bodies[2])
    );
    for reply in [a, b, c] {
        assert_eq!(reply.status, 200, "{reply:?}");
    }
    let turns = look(&world, &begun["id"]).await["turns"].clone();
    let mut kept: Vec<&str> =
        turns.as_array().unwrap().iter().map(|turn| turn["content"].as_str().unwrap()).collect();
    kept.sort_unstable();
    assert_eq!(kept, said);
}

#[tokio::test]
async fn people_see_their_own_conversations_and_nobody_elses() {
    let world = Setup::protected().start().await;
    let tenant = world.tenant("engines").await;
    let ada = world.somebody("ada@example.org", "operator", Some(&tenant)).await;
    let eve = world.somebody("eve@example.org", "owner", Some(&tenant)).await;
    let new = json!({ "title": "private", "model": "mock-small" });
    let made = world.page(&ada, "POST", ALL, &new).await;
    assert_eq!(made.status, 201, "{made:?}");
    let path = format!("{ALL}/{}", made.json()["conversation"]["id"].as_str().unwrap());
    let turn = json!({ "content": "What is 2 + 3?" });
    assert_eq!(world.page(&ada, "POST", &format!("{path}/turns"), &turn).await.status, 200);
    // Not even an owner of the organisation, nor one of its keys, nor whoever runs the installation.
    let key = world.key(&json!({ "name": "k", "admin": true, "tenant": tenant })).await;
    for (method, path, body) in [
        ("GET", path.clone(), Value::Null),
        ("PATCH", path.clone(), json!({ "title": "mine" })),
        ("POST", format!("{path}/turns"), turn.clone()),
        ("DELETE", path.clone(), Value::Null),
    ] {
        for reply in [
            world.page(&eve, method, &path, &body).await,
            world.with(&key, method, &path, &body).await,
            world.with(OPERATOR, method, &path, &body).await,
        ] {
            assert_eq!(reply.status, 404, "{method} {path}: {reply:?}");
        }
    }
    for page in
        [world.page(&eve, "GET", ALL, &Value::Null).await, world.with(&key, "GET", ALL, &Value::Null).await]
    {
        assert_eq!(page.json()["conversations"], json!([]));
    }
    let own = world.page(&ada, "GET", ALL, &Value::Null).await.json();
    assert_eq!(own["conversations"][0]["title"], "private");
    assert_eq!(own["conversations"].as_array().unwrap().len(), 1);

    // What a person said is about them: forgetting them takes the words, and leaves that something was said.
    let forgotten = world.with(&key, "DELETE", &format!("/api/v1/subjects/{}", ada.user), &Value::Null).await;
    assert_eq!(forgotten.status, 200, "{forgotten:?}");
    let left = world.page(&ada, "GET", &path, &Value::Null).await.json();
    assert_eq!(
        (&left["turns"][0]["content"], &left["turns"][0]["reply"]),
        (&Value::Null, &Value::Null),
        "{left}"
    );
    assert_eq!(
        (&left["conversation"]["title"], &left["conversation"]["turns"]),
        (&Value::Null, &json!(1)),
        "{left}"
    );
}

#[tokio::test]
async fn a_secret_is_told_back_to_who_said_it_and_kept_by_nobody() {
    const SECRET: &str = "sk-proj-9xK2mQ7vT4nW8pL3sD6fG1hJ5kZ0cV";
    let (upstream, setup) = counting().await;
    let store = Setup::on_disk().store;
    let world = Setup { store, ..setup }.start().await;
    let begun = begin(&world, &json!({ "model": "gpt-4o", "system": format!("The key is {SECRET}.") })).await;
    let told = say(&world, &begun["id"], &json!({ "content": format!("Use {SECRET} please") })).await.json();
    assert!(told["reply"].as_str().unwrap().contains(SECRET), "{told}");
    assert!(told["turn"]["content"].as_str().unwrap().contains("⟨secret:1⟩"), "{told}");
    assert!(!told["turn"].to_string().contains(SECRET), "{told}");
    say(&world, &begun["id"], &json!({ "content": "Again" })).await;
    let sent: String = upstream.seen().iter().map(|seen| seen.body.to_string()).collect();
    assert!(!sent.contains(SECRET), "{sent}");
    let kept = look(&world, &begun["id"]).await.to_string();
    assert!(!kept.contains(SECRET), "{kept}");
    for kind in store::RecordKind::ALL {
        let records = world.store.tenant(schema::TenantId::NIL);
        let records =
            records.records(&store::RecordFilter::of(kind), None, std::num::NonZeroU32::MAX).await.unwrap();
        let text = serde_json::to_string(&records).unwrap();
        assert!(!text.contains(SECRET) && !text.contains("please"), "{kind}: {text}");
    }
}

#[tokio::test]
async fn a_key_that_is_for_one_application_stays_that_application() {
    let world = Setup::protected().start().await;
    let key = world.key(&json!({ "name": "pinned", "app": "support", "scopes": ["gateway"] })).await;
    let made = world.with(&key, "POST", ALL, &json!({ "model": "mock-small" })).await.json();
    let path = format!("{ALL}/{}/turns", made["conversation"]["id"].as_str().unwrap());
    let run = world.with(&key, "POST", &path, &json!({ "content": "What is 2 + 3?" })).await.json();
    let run = run["turn"]["runId"].as_str().unwrap().to_owned();
    let run = world.operate("GET", &format!("/api/v1/runs/{run}"), &Value::Null).await.json();
    assert_eq!(run["run"]["app"], "support");
}
