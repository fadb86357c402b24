//! `punk keys`: making, listing, rotating, and what is refused.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod world;

use expect_test::expect;
use std::os::unix::fs::PermissionsExt as _;
use world::World;

/// A world with the first keys.
fn world_with_keys() -> World {
    let world = World::new();
    assert_eq!(world.punk(&["keys", "generate"]).code, 0);
    world
}

#[test]
fn listing_no_keys_is_no_failure_and_creates_nothing() {
    expect![[r#"
        exit 0
        --- out
        no keys in data/keys; make them with `punk keys generate`
    "#]]
    .assert_eq(&World::new().punk_writes_nothing(&["keys", "list"]).told());
    assert_eq!(World::new().punk(&["keys", "list", "--json"]).json()["keys"], serde_json::json!([]));
}

#[test]
fn the_first_keys_are_made_once() {
    let world = world_with_keys();
    let json = world.punk(&["keys", "list", "--json"]).json();
    let purposes: Vec<_> = json["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| (key["purpose"].as_str().unwrap(), key["state"].as_str().unwrap()))
        .collect();
    assert_eq!(purposes, [("log", "active"), ("seal", "active"), ("token", "active")]);
    expect![[r#"
        exit 1
        --- err
        error: there is an active key for every purpose
        hint: replace one with `punk keys rotate` and its purpose: log, seal or token
    "#]]
    .assert_eq(&world.punk_writes_nothing(&["keys", "generate"]).told());
    let again = world.punk_writes_nothing(&["keys", "generate", "seal"]);
    assert!(again.code == 1 && again.stderr.contains("is already the active seal key"), "{}", again.told());
}

#[test]
fn the_keys_lie_where_the_configuration_says() {
    let world = World::new().set("PUNK_KEYS_DIR", "elsewhere");
    assert_eq!(world.punk(&["keys", "generate", "log"]).code, 0);
    assert_eq!(std::fs::read_dir(world.path("elsewhere")).unwrap().count(), 1);
    assert!(!world.path("data").exists());
}

#[test]
fn rotation_retires_the_key_before() {
    let world = world_with_keys();
    assert_eq!(world.punk(&["keys", "rotate", "log"]).code, 0);
    let json = world.punk(&["keys", "list", "--json"]).json();
    let states: Vec<_> = json["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| (key["purpose"].as_str().unwrap(), key["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [("log", "active"), ("log", "retired"), ("seal", "active"), ("token", "active")]);
}

#[test]
fn rotating_nothing_is_refused_and_creates_nothing() {
    expect![[r#"
        exit 1
        --- err
        error: there is no active seal key to rotate
        hint: make the first with `punk keys generate seal`
    "#]]
    .assert_eq(&World::new().punk_writes_nothing(&["keys", "rotate", "seal"]).told());
}

#[test]
fn one_key_is_shown_without_its_secret() {
    let world = world_with_keys();
    for key in world.punk(&["keys", "list", "--json"]).json()["keys"].as_array().unwrap() {
        let (id, path) = (key["id"].as_str().unwrap(), key["path"].as_str().unwrap());
        let file = std::fs::read_to_string(world.path(path)).unwrap();
        let secret = file.lines().find_map(|line| line.strip_prefix("secret: ")).unwrap();
        for arguments in [&["keys", "show", id][..], &["keys", "show", id, "--json"], &["keys", "list"]] {
            let ended = world.punk_writes_nothing(arguments);
            assert!(
                ended.code == 0 && ended.stdout.contains(id) && !ended.stdout.contains(secret),
                "{}",
                ended.told()
            );
        }
        assert_eq!(key["publicKey"].is_string(), key["purpose"] != "seal");
    }
}

#[test]
fn an_unknown_key_is_a_no() {
    expect![[r#"
        exit 1
        --- err
        error: there is no key_0000000000000000 in data/keys
        hint: `punk keys list` shows the keys there are
    "#]]
    .assert_eq(&world_with_keys().punk_writes_nothing(&["keys", "show", "key_0000000000000000"]).told());
}

#[test]
fn a_ring_that_others_can_read_is_refused() {
    let world = world_with_keys();
    let path = world.punk(&["keys", "list", "--json"]).json()["keys"][0]["path"].as_str().unwrap().to_owned();
    std::fs::set_permissions(world.path(&path), std::fs::Permissions::from_mode(0o644)).unwrap();
    for arguments in [&["keys", "list"][..], &["keys", "rotate", "log"], &["keys", "generate"]] {
        let ended = world.punk_writes_nothing(arguments);
        assert!(ended.code == 3 && ended.stderr.contains(&format!("chmod 600 {path}")), "{}", ended.told());
    }
}

#[test]
fn a_corrupt_key_is_named_by_file_and_line() {
    let world = world_with_keys();
    let path = world.punk(&["keys", "list", "--json"]).json()["keys"][0]["path"].as_str().unwrap().to_owned();
    let text = std::fs::read_to_string(world.path(&path)).unwrap();
    std::fs::write(world.path(&path), text.replace("state: active", "state: retired")).unwrap();
    let ended = world.punk_writes_nothing(&["keys", "list", "--json"]);
    assert_eq!(ended.code, 3);
    let error = &ended.error_json()["error"];
    assert_eq!(error["code"], "punk_keys_corrupt");
    assert!(error["message"].as_str().unwrap().starts_with(&format!("{path}:8 ")), "{error}");
}

#[test]
fn a_folder_that_cannot_be_made_is_the_environments_fault() {
    let world = World::new().file("data", "in the way");
    let ended = world.punk_writes_nothing(&["keys", "generate"]);
    assert_eq!(ended.code, 3, "{}", ended.told());
}
