//! `punk agents`, `punk exceptions` and `punk budgets`: the real binary says to a real gateway what operators say.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod world;

use serde_json::json;
use world::gateway::Gateway;
use world::{Ended, World};

const DESK: &str = "\
name: desk
version: '1'
defaultEffect: allow
rules:
  - { effect: deny, actions: ['model:*'], when: { model: ['o1-*'] } }
";

const OPERATOR: &str = "operator-key";

/// A gateway with a policy and a key of its own, and somebody who types.
struct Desk {
    world: World,
    gateway: Gateway,
}

impl Desk {
    fn new() -> Self {
        let world = World::new();
        std::fs::create_dir(world.path("policies")).unwrap();
        let world = world.file("policies/desk.yaml", DESK).set("PUNK_API_KEY", OPERATOR);
        let gateway = Gateway::start(&world, &[("PUNK_API_KEY", OPERATOR)]);
        Self { world, gateway }
    }

    fn punk(&self, command: &[&str]) -> Ended {
        let url = format!("http://{}", self.gateway.address);
        let mut arguments = command.to_vec();
        arguments.extend(["--url", &url]);
        self.world.punk(&arguments)
    }

    /// Runs `punk`, which must succeed, and gives what it says.
    #[track_caller]
    fn told(&self, command: &[&str]) -> String {
        let ended = self.punk(command);
        assert_eq!(ended.code, 0, "{}", ended.told());
        ended.stdout
    }

    /// The error that `punk` ends with, which must be a no of the gateway.
    #[track_caller]
    fn refused(&self, command: &[&str]) -> String {
        let ended = self.punk(command);
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{}", ended.told());
        ended.stderr
    }

    fn ask(&self, agent: &str, model: &str, max_tokens: u32) -> u16 {
        let body = json!({ "model": model, "max_tokens": max_tokens, "messages": [{ "role": "user", "content": "hi" }] });
        let operator = format!("Bearer {OPERATOR}");
        let headers = [("authorization", operator.as_str()), ("x-punk-agent", agent)];
        self.gateway.request("POST", "/v1/chat/completions", &headers, &body.to_string()).status
    }
}

/// The cells of the row that begins with `first`.
#[track_caller]
fn row(table: &str, first: &str) -> Vec<String> {
    let line = table.lines().find(|line| line.starts_with(first)).unwrap_or_default();
    assert!(!line.is_empty(), "no {first} in {table}");
    line.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn agents_are_trusted_by_what_they_did_until_an_operator_says_otherwise() {
    let desk = Desk::new();
    assert_eq!(desk.told(&["agents", "list"]), "nothing\n");
    // A name is one segment of a path, whatever is in it.
    let (agent, other) = ("team/ada? 50%", "bob");
    assert_eq!((desk.ask(agent, "gpt-4o", 5), desk.ask(other, "o1-mini", 5)), (200, 403));
    let list = desk.told(&["agents", "list"]);
    assert_eq!(
        row(&list, "NAME").join(" "),
        "NAME TIER SCORE HISTORY TENURE FEEDBACK CALM RUNS LAST SEEN",
        "{list}"
    );
    let (ada, bob) = (row(&list, agent), row(&list, other));
    assert_eq!((ada[1].as_str(), ada[6].as_str(), ada[7].as_str()), ("unverified (earned)", "1.000", "1"));
    assert_eq!(bob[6], "0.800", "an incident costs a fifth: {list}");

    let trust = ["agents", "trust", agent, "--tier", "trusted", "--tag", "night", "--tag", "batch"];
    let said = desk.told(&[&trust[..], &["--reason", "reviewed in May"]].concat());
    assert_eq!(said, format!("{agent} is trusted (said)\n"));
    let shown = desk.told(&["agents", "show", agent]);
    for (name, value) in [("tags", "night, batch"), ("because", "reviewed in May"), ("by", "installation")] {
        assert_eq!(row(&shown, name)[1], value, "{shown}");
    }
    assert!(shown.contains("what people said of its answers"), "{shown}");
    let earned = desk.told(&["agents", "trust", agent, "--tier", "earned", "--reason", "on its own"]);
    assert_eq!(earned, format!("{agent} is unverified (earned)\n"));
    let json = desk.punk(&["agents", "show", agent, "--json"]).json();
    assert_eq!(json["agent"]["tags"], json!(["night", "batch"]), "tags that nobody mentions stay: {json}");
    assert!(json["agent"]["override"].is_null(), "{json}");
    desk.told(&["agents", "trust", agent, "--tier", "earned", "--no-tags", "--reason", "no more nights"]);
    assert_eq!(row(&desk.told(&["agents", "show", agent]), "tags")[1], "-");

    let missing = desk.refused(&["agents", "show", "nobody"]);
    assert!(missing.starts_with("error: there is no such agent\nhint: "), "{missing}");
    assert_eq!(desk.punk(&["agents", "trust", agent, "--tier", "trusted"]).code, 2, "it wants a reason");
}

#[test]
fn an_exception_is_made_listed_and_ended_from_a_terminal() {
    let desk = Desk::new();
    assert_eq!(desk.told(&["exceptions", "list"]), "nothing\n");
    assert_eq!(desk.ask("bot", "o1-mini", 5), 403);
    let add = |policy: &'static str, hours: &'static str| {
        let what = ["exceptions", "add", "--policy", policy, "--rule", "0", "--action", "model:chat"];
        let whom = ["--agent", "bot", "--reason", "launch day", "--hours", hours];
        [&what[..], &whom[..]].concat()
    };
    let made = desk.told(&add("desk", "8"));
    let id = made.split(' ').next().unwrap().to_owned();
    assert!(id.starts_with("exc_") && made.contains(" holds until "), "{made}");
    assert_eq!((desk.ask("bot", "o1-mini", 5), desk.ask("other", "o1-mini", 5)), (200, 403));
    let list = desk.told(&["exceptions", "list"]);
    let cells = row(&list, &id);
    assert_eq!(cells[1..5], ["holds", "desk#0", "model:chat", "agent bot"], "{list}");
    assert_eq!(cells[6..], ["installation", "launch day"], "{list}");
    assert_eq!(desk.told(&["exceptions", "end", &id]), format!("{id} has ended\n"));
    assert_eq!(row(&desk.told(&["exceptions", "list"]), &id)[1], "ended");
    assert_eq!(desk.ask("bot", "o1-mini", 5), 403);

    let unknown = desk.refused(&add("nowhere", "8"));
    assert!(unknown.contains("policy: no policy of this name is in force"), "{unknown}");
    assert!(desk.refused(&add("desk", "0")).contains("hours: expected 1 to 2160"));
    assert_eq!(desk.punk(&["exceptions", "end", "bud_x"]).code, 2);
    let nowhere = desk.world.punk(&["exceptions", "list", "--url", "http://127.0.0.1:1"]);
    assert_eq!(nowhere.code, 3, "{}", nowhere.told());
}

#[test]
fn a_budget_is_set_watched_and_ended_from_a_terminal() {
    let desk = Desk::new();
    assert_eq!(desk.told(&["budgets", "list"]), "nothing\n");
    let add = |name: &'static str, limit: &'static str, rest: &[&'static str]| {
        let what = ["budgets", "add", "--name", name, "--limit", limit];
        desk.told(&[&what[..], rest].concat()).split(' ').next().unwrap().to_owned()
    };
    let hard = add("all of us", "0.05", &["--per", "tenant", "--window", "total"]);
    let soft =
        add("bot a day", "0.000001", &["--per", "agent", "--only", "bot", "--window", "day", "--soft"]);
    let each = add("each key", "5", &["--per", "key", "--window", "month"]);
    assert_eq!((desk.ask("bot", "gpt-4o", 5), desk.ask("bot", "gpt-4o", 16_000)), (200, 403));
    assert_eq!(desk.ask("bot", "nobody-knows-what-it-costs", 5), 403);

    let list = desk.told(&["budgets", "list"]);
    assert_eq!(row(&list, "ID").join(" "), "ID NAME FOR WINDOW KIND LIMIT SPENT RESERVED LEFT", "{list}");
    let cells = row(&list, &hard);
    assert_eq!(cells[1..6], ["all of us", "tenant", "total", "hard", "$0.05"], "{list}");
    let dollars = |cell: &str| cell.replace('$', "").parse::<f64>().unwrap();
    let (spent, left) = (dollars(&cells[6]), dollars(&cells[8]));
    assert!(spent > 0.0 && (spent + left - 0.05).abs() < 1e-9 && cells[7] == "$0.00", "{list}");
    let cells = row(&list, &soft);
    assert_eq!(cells[2..6], ["agent bot", "day", "soft", "$0.000001"], "{list}");
    assert!(dollars(&cells[8]) < 0.0, "a soft budget is overspent: {list}");
    assert_eq!(row(&list, &each)[2..], ["each key", "month", "hard", "$5.00", "-", "-", "-"], "{list}");
    let json = desk.punk(&["budgets", "list", "--json"]).json();
    assert_eq!(json["budgets"].as_array().map(Vec::len), Some(3), "{json}");

    assert_eq!(desk.told(&["budgets", "end", &hard]), format!("{hard} has ended\n"));
    assert!(!desk.told(&["budgets", "list"]).contains(&hard));
    let nothing = ["budgets", "add", "--name", "none", "--limit", "0", "--per", "tenant", "--window", "day"];
    assert!(desk.refused(&nothing).contains("limitUsd: expected more than nothing"));
    for limit in ["-1", "a lot", "0.0000001", "inf"] {
        let limit = format!("--limit={limit}");
        let ended =
            desk.punk(&["budgets", "add", "--name", "x", &limit, "--per", "tenant", "--window", "day"]);
        assert_eq!(ended.code, 2, "{}", ended.told());
    }
}

#[test]
fn who_may_only_read_changes_nothing() {
    let desk = Desk::new();
    let operator = format!("Bearer {OPERATOR}");
    let reader = json!({ "name": "reader", "scopes": ["read"] }).to_string();
    let made = desk.gateway.request("POST", "/api/v1/keys", &[("authorization", &operator)], &reader).json();
    let token = made["token"].as_str().unwrap();
    std::fs::write(desk.world.path("reader.key"), token).unwrap();
    let as_reader = ["--key-file", "reader.key"];
    desk.told(&[&["budgets", "list"][..], &as_reader].concat());
    let budget = ["budgets", "add", "--name", "mine", "--limit", "5", "--per", "tenant", "--window", "day"];
    let refused = desk.refused(&[&budget[..], &as_reader].concat());
    assert!(refused.contains("error: ") && refused.contains("hint: "), "{refused}");
    assert!(!refused.contains(token), "no key is shown");
    assert_eq!(desk.told(&["budgets", "list"]), "nothing\n");
}

#[test]
fn a_list_of_many_pages_is_shown_whole() {
    const MANY: usize = 201;
    let desk = Desk::new();
    let operator = format!("Bearer {OPERATOR}");
    for number in 0..MANY {
        assert_eq!(desk.ask(&format!("agent {number}"), "o1-mini", 5), 403);
        let budget =
            json!({ "name": number.to_string(), "limitUsd": 5, "per": "run", "window": "day" }).to_string();
        let set = desk.gateway.request("POST", "/api/v1/budgets", &[("authorization", &operator)], &budget);
        assert_eq!(set.status, 201);
    }
    for list in ["agents", "budgets"] {
        assert_eq!(desk.told(&[list, "list"]).lines().count(), 1 + MANY);
        let json = desk.punk(&[list, "list", "--json"]).json();
        assert_eq!((json[list].as_array().map(Vec::len), &json["next"]), (Some(MANY), &json!(null)));
    }
}
