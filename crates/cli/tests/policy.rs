//! Policies on the command line: checked, tested, explained, and held against what was decided.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod world;

use expect_test::expect;
use serde_json::json;
use world::World;
use world::gateway::Gateway;

const OFFICE: &str = "\
name: office
version: '3'
defaultEffect: deny
rules:
  - effect: allow
    actions: ['write:email']
    requiresApproval: true
    when: { hour: '20-7' }
  - effect: deny
    actions: ['model:chat']
    when: { costUsd: '> 0.50', model: ['gpt-4*'] }
  - effect: allow
    actions: ['model:*', 'write:email']
  - actions: ['write:email']
    rate: { limit: 3, window: hour }
";

const NIGHT: &str = "\
name: night
version: '1'
appliesTo: { agentIds: [owl], trustTiers: [privileged] }
defaultEffect: allow
rules: []
";

const GRID: &str = "\
# What the office may do.
agent  tier        action       with                    → expected
ada    unverified  model:chat   cost=0.60 model=gpt-4o  → deny office#1
ada    -           model:chat   cost=0.10 model=gpt-4o  → allow
ada    trusted     write:email  hour=22 level=3         → ask office#0   # somebody reads it
ada    trusted     write:email  used:office#3=3         → deny office
owl    -           delete:file                          → allow night
";

/// A world with these policies and this grid.
fn office(files: &[(&str, &str)]) -> World {
    let world = World::new();
    std::fs::create_dir(world.path("policies")).unwrap();
    files.iter().fold(world, |world, (name, text)| world.file(&format!("policies/{name}"), text))
}

fn whole_office() -> World {
    office(&[("office.yaml", OFFICE), ("night.yml", NIGHT), ("office.grid", GRID)])
}

#[test]
fn what_can_be_read_is_told_with_its_digest() {
    let world = whole_office();
    let ended = world.punk_writes_nothing(&["policy", "check"]);
    expect![[r#"
        exit 0
        --- out
        valid: 2 policies in 2 files, 4 rules
          night 1   for agents owl; tiers privileged  0 rules           else allow
          office 3  for everybody                     3 rules  1 limit  else deny
        digest 4ebc842760ae02040f19ecea7d9e64f7d655c9ddce2b1e67cf9164021e0034ec
    "#]]
    .assert_eq(&ended.told());
    let json = world.punk(&["policy", "check", "policies", "--json"]).json();
    assert_eq!((&json["valid"], &json["policies"][1]["limits"]), (&json!(true), &json!(1)));
    let one = world.punk(&["policy", "check", "policies/night.yml", "--json"]).json();
    assert_eq!(one["policies"].as_array().unwrap().len(), 1);
    assert_ne!(one["digest"], json["digest"]);
}

#[test]
fn what_cannot_be_read_is_told_with_file_line_and_column() {
    let world = office(&[("office.yaml", &OFFICE.replace("'20-7'", "25"))]);
    expect![[r#"
        exit 1
        --- err
        error: policies/office.yaml:8:19: expected hours of the day such as `22-6`
        hint: docs/reference/policies.md has everything that a policy can say
    "#]]
    .assert_eq(&world.punk_writes_nothing(&["policy", "check"]).told());
    let ended = world.punk(&["policy", "check", "--json"]);
    assert_eq!((ended.code, &ended.error_json()["error"]["code"]), (1, &json!("punk_policy_invalid")));
    for command in [&["policy", "test"][..], &["policy", "explain", "--action", "read:crm"]] {
        assert!(world.punk(command).stderr.starts_with("error: policies/office.yaml:8:"));
    }
    let ended = World::new().punk_writes_nothing(&["policy", "check", "--json"]);
    assert_eq!((ended.code, &ended.error_json()["error"]["code"]), (1, &json!("punk_no_policies")));
    assert_eq!(World::new().punk(&["policy", "check", "nowhere.yaml"]).code, 3);
}

#[test]
fn a_grid_that_holds_is_told_in_one_line_and_left_as_it_is() {
    let world = whole_office();
    let ended = world.punk_writes_nothing(&["policy", "test"]);
    assert_eq!(ended.told(), "exit 0\n--- out\n5 rows in 1 grid, all decided as expected\n");
    assert_eq!(world.punk_writes_nothing(&["policy", "test", "--update"]).code, 0);
}

#[test]
fn a_changed_rule_shows_as_changed_rows_which_can_be_taken_over() {
    let changed = OFFICE.replace("> 0.50", "> 0.05").replace("limit: 3", "limit: 9");
    let world = office(&[("office.yaml", &changed), ("night.yml", NIGHT), ("office.grid", GRID)]);
    let ended = world.punk_writes_nothing(&["policy", "test"]);
    expect![[r#"
        exit 1
        --- out
        policies/office.grid:4: ada    -           model:chat   cost=0.10 model=gpt-4o
          expected  allow
          decided   deny office#1
        policies/office.grid:6: ada    trusted     write:email  used:office#3=3
          expected  deny office
          decided   allow office#2
        5 rows in 1 grid, 2 decided differently
    "#]]
    .assert_eq(&ended.told());
    let json = world.punk(&["policy", "test", "--json"]).json();
    assert_eq!((&json["passed"], &json["differences"][1]["line"]), (&json!(false), &json!(6)));
    assert_eq!(world.punk(&["policy", "test", "--update"]).code, 0);
    let rewritten = std::fs::read_to_string(world.path("policies/office.grid")).unwrap();
    let expected = GRID
        .replace("model=gpt-4o  → allow\n", "model=gpt-4o  → deny\n")
        .replace("→ deny office\n", "→ allow office#2\n");
    assert_eq!(rewritten, expected, "expectations, and nothing else");
    assert_eq!(world.punk(&["policy", "test"]).code, 0);
}

#[test]
fn a_text_that_is_no_grid_changes_no_other() {
    let bad = "ada - model:chat hour=25 → allow\n";
    let world = office(&[("office.yaml", OFFICE), ("a.grid", "ada - write:email →\n"), ("b.grid", bad)]);
    let ended = world.punk_writes_nothing(&["policy", "test", "--update"]);
    expect![[r#"
        exit 1
        --- err
        error: policies/b.grid:1:18: `hour` wants an hour from 0 to 23, not `25`
        hint: docs/reference/policies.md has everything that a grid can say
    "#]]
    .assert_eq(&ended.told());
    let unknown = "ada - write:email used:office#0=1 → allow\n";
    let world = office(&[("office.yaml", OFFICE), ("a.grid", unknown)]);
    let ended = world.punk(&["policy", "test"]);
    assert!(ended.stderr.contains("a.grid:1: `used:office#0` names no limit"), "{}", ended.told());
    let ended = office(&[("office.yaml", OFFICE)]).punk(&["policy", "test", "--json"]);
    assert_eq!((ended.code, &ended.error_json()["error"]["code"]), (1, &json!("punk_no_grids")));
}

#[test]
fn a_verdict_is_explained_down_to_the_condition() {
    let world = whole_office();
    let asked = ["policy", "explain", "--action", "model:chat", "--agent", "ada", "--cost", "0.60"];
    expect![[r#"
        exit 0
        --- out
        deny office#1
        ada (unverified) wants model:chat

        night 1, for agents owl; tiers privileged
          not asked: it is for others
        office 3, for everybody
          asked: none is for them in particular
          #1   deny model:chat: decides
               when costUsd  > 0.5   holds: 0.6
               when model    gpt-4*  not known, which is no reason to allow
          #2   allow model:*, write:email: applies, and #1 comes first
          2 rules are for other actions
          else deny: not needed

        what everybody says; the strictest decides, of equals the first
          policy  deny  office#1
    "#]]
    .assert_eq(&world.punk_writes_nothing(&asked).told());
    let email = ["policy", "explain", "--action", "write:email", "--hour", "22", "--with", "used:office#3=3"];
    expect![[r#"
        exit 0
        --- out
        deny office#3
        anonymous (unverified) wants write:email

        night 1, for agents owl; tiers privileged
          not asked: it is for others
        office 3, for everybody
          asked: none is for them in particular
          #0   ask about write:email: decides
               when hour  20-7  holds: 22
          #2   allow model:*, write:email: applies, and #0 comes first
          #3   limit write:email: denies: 3 times per agent and hour; 3 used, this adds 1
          1 rule is for other actions
          else deny: not needed

        what everybody says; the strictest decides, of equals the first
          policy  ask   office#0
          limit   deny  office#3
    "#]]
    .assert_eq(&world.punk_writes_nothing(&email).told());
    let owl =
        world.punk(&["policy", "explain", "--action", "delete:file", "--agent", "owl", "--json"]).json();
    assert_eq!(owl["verdict"], json!({ "effect": "allow", "policy": "night", "rule": null }));
    assert_eq!(
        (&owl["policies"][0]["names"], &owl["policies"][1]["asked"]),
        (&json!("agent"), &json!(false))
    );
    assert_eq!(owl["facts"]["agent"], "owl");
    for wrong in [&["--hour", "25"][..], &["--with", "colour=red"], &["--with", "used:office#0=1"]] {
        let arguments = [&["policy", "explain", "--action", "read:crm"][..], wrong].concat();
        assert_eq!(world.punk(&arguments).code, 2, "{wrong:?}");
    }
}

#[test]
fn what_a_change_would_change_is_told_from_what_was_decided() {
    let desk = "name: desk\nversion: '1'\ndefaultEffect: allow\nrules:\n  - {effect: deny, actions: ['model:*'], when: {model: ['no-*']}}\n";
    let world = office(&[("desk.yaml", desk)]);
    std::fs::create_dir(world.path("changed")).unwrap();
    let ended = world.punk_writes_nothing(&["policy", "diff", "policies", "--json"]);
    assert_eq!((ended.code, &ended.error_json()["error"]["code"]), (1, &json!("punk_no_database")));
    let gateway = Gateway::start(&world, &[]);
    let ended = world.punk(&["policy", "diff", "policies", "--json"]);
    assert_eq!((ended.code, &ended.error_json()["error"]["code"]), (1, &json!("punk_no_decisions")));
    let mut runs = Vec::new();
    for (model, status) in [("gpt-4o", 200), ("gpt-4o", 200), ("gpt-4o-mini", 200), ("no-model", 403)] {
        let body = json!({ "model": model, "messages": [{ "role": "user", "content": "hello" }] });
        let reply = gateway.request("POST", "/v1/chat/completions", &[], &body.to_string());
        assert_eq!(reply.status, status);
        runs.push(reply.header("x-punk-run-id").to_owned());
    }
    let same = world.punk(&["policy", "diff", "policies"]);
    assert_eq!(same.told(), "exit 0\n--- out\nnone of the last 4 decisions would change\n");
    let changed = desk
        .replace("rules:\n", "rules:\n  - {effect: allow, actions: ['model:*'], when: {model: ['no-*']}}\n")
        + "  - {effect: deny, actions: ['model:chat'], when: {model: ['gpt-4o']}}\n  - {actions: ['model:*'], rate: {limit: 1}}\n";
    let world = world.file("changed/desk.yaml", &changed);
    let told = world.punk(&["policy", "diff", "changed"]).told();
    let told =
        runs.iter().zip(1..).fold(told, |told, (run, number)| told.replace(run, &format!("run_{number}")));
    expect![[r#"
        exit 0
        --- out
        3 of the last 4 decisions would change
          2  model:chat  allow desk   →  deny desk#2   run_2 run_1
          1  model:chat  deny desk#0  →  allow desk#0  run_4
        nothing was recorded for the limit desk#3 (1 time per agent and day): taken as unused in 4
    "#]]
    .assert_eq(&told);
    let json = world.punk(&["policy", "diff", "changed", "--last", "2", "--json"]).json();
    assert_eq!((&json["decisions"], &json["changed"]), (&json!(2), &json!(1)));
    assert_eq!(json["limitsNotRecorded"][0]["rule"], "desk#3");
}

#[test]
fn the_example_of_the_how_to_decides_as_it_says() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/policies.md"));
    let text = text.unwrap();
    let block = |language: &str| {
        let (_, rest) = text.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0
    };
    let world = office(&[("office.yaml", block("yaml")), ("office.grid", block("text"))]);
    let ended = world.punk(&["policy", "test"]);
    assert_eq!(ended.told(), "exit 0\n--- out\n6 rows in 1 grid, all decided as expected\n");
    let asked = [
        "policy",
        "explain",
        "--action",
        "write:email",
        "--agent",
        "ada",
        "--tier",
        "trusted",
        "--hour",
        "22",
    ];
    for line in world.punk(&asked).stdout.lines().take(9).filter(|line| !line.is_empty()) {
        assert!(text.contains(line), "{line}");
    }
}
