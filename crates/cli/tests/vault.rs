//! `punk vault`: secrets go in by standard input and come out nowhere, and a new master key takes over whatever happens.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod world;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use world::World;
use world::gateway::try_request;
use world::process::{Process, Signal};

const MARK: &str = "the quick brown fox 7719";
const KEY: &str = "operator-key-of-the-tests";
const ONE: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OTHER: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";

/// A gateway that refers to a key in the vault; nobody is where it would be sent.
fn serve(world: &World, more: &[(&str, &str)]) -> Process {
    let environment = [
        ("PUNK_API_KEY", KEY),
        ("OPENAI_API_KEY", "cred:openai"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:1"),
        ("PUNK_LOG", "debug"),
    ];
    let environment: Vec<_> = environment.into_iter().chain(more.iter().copied()).collect();
    Process::start(world, &["serve", "--set", "server.port=0"], &environment)
}

fn stop(gateway: Process) -> String {
    gateway.send(Signal::TERM);
    let ended = gateway.ended();
    assert_eq!(ended.code, 0, "{}", ended.told());
    ended.stderr
}

/// How often the value is in any file of the world.
fn occurrences(world: &World, value: &str) -> usize {
    let held = |bytes: &[u8]| bytes.windows(value.len()).any(|window| window == value.as_bytes());
    world.listing().iter().filter(|(_, bytes)| held(bytes)).count()
}

#[test]
fn a_secret_goes_in_by_standard_input_and_comes_out_nowhere() {
    let world = World::new().set("PUNK_API_KEY", KEY);
    let gateway = serve(&world, &[]);
    let url = format!("http://{}", gateway.address());
    let punk = |input: &str, arguments: &[&str]| {
        let ended = world.punk_reading(input, &[&["vault"], arguments, &["--url", &url]].concat());
        assert!(!ended.told().contains("quick"), "{}", ended.told());
        ended
    };
    let log = gateway.log();
    assert!(log.contains("providers.openai.api_key: there is no credential `cred:openai`"), "{log}");

    let added = punk(&format!("{MARK}\n"), &["add", "openai", "--kind", "provider"]);
    assert_eq!(added.told(), "exit 0\n--- out\nadded; settings say cred:openai in its place\n");
    assert_eq!(punk(MARK, &["add", "openai", "--kind", "tool"]).code, 1, "the name is taken");
    assert_eq!(punk("", &["add", "empty", "--kind", "tool"]).code, 2);
    assert_eq!(punk(&MARK.repeat(1_000), &["add", "long", "--kind", "tool"]).code, 2);
    assert_eq!(punk(MARK, &["add", "no name", "--kind", "tool"]).code, 1);

    // It is asked for now, and fails for another reason; the value is also where it does not belong.
    let body = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": MARK }] }).to_string();
    let headers = [("authorization", format!("Bearer {KEY}"))];
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let asked = try_request(gateway.address(), "POST", "/v1/chat/completions", &headers, &body).unwrap();
    assert_eq!(
        (asked.status, asked.json()["error"]["code"].as_str()),
        (502, Some("punk_upstream_unreachable"))
    );

    assert_eq!(punk(&format!("{MARK} 2\r\n"), &["replace", "openai"]).code, 0);
    let listed = punk("", &["list", "--json"]).json();
    assert_eq!(
        (&listed["credentials"][0]["name"], &listed["credentials"][0]["version"]),
        (&json!("openai"), &json!(2))
    );
    assert!(punk("", &["list"]).stdout.contains("openai"));
    assert_eq!(punk("", &["remove", "openai"]).code, 0);
    assert_eq!(punk("", &["remove", "openai"]).code, 1);
    let log = stop(gateway);
    assert!(!log.contains("quick"), "{log}");
    assert_eq!(occurrences(&world, MARK), 0, "nothing in the database, its log or the log of the process");
}

#[test]
fn a_master_key_that_is_none_or_the_wrong_one_refuses_the_start() {
    let world = World::new();
    let gateway = serve(&world, &[("PUNK_VAULT_KEY", ONE)]);
    let url = format!("http://{}", gateway.address());
    let asking = World::new().set("PUNK_API_KEY", KEY);
    assert_eq!(
        asking.punk_reading(MARK, &["vault", "add", "openai", "--kind", "provider", "--url", &url]).code,
        0
    );
    stop(gateway);
    for (key, exit, said) in
        [("changeme", 2, "vault.master_key: a master key is"), (OTHER, 3, "which is not among")]
    {
        let start = Command::new(assert_cmd::cargo::cargo_bin!("punk"))
            .args(["serve", "--set", "server.port=0", "--json"])
            .current_dir(world.path(""))
            .env_clear()
            .env("PUNK_VAULT_KEY", key)
            .output()
            .unwrap();
        let told = String::from_utf8(start.stderr).unwrap();
        assert_eq!(start.status.code(), Some(exit), "{told}");
        assert!(told.contains("punk_vault_key") && told.contains(said), "{told}");
        assert!(!told.contains(key), "{told}");
    }
    stop(serve(&world, &[("PUNK_VAULT_KEY", ONE)]));
}

#[test]
fn a_master_key_in_a_file_is_replaced_by_another() {
    let world = World::new().file("one", ONE).file("two", OTHER);
    for name in ["one", "two"] {
        std::fs::set_permissions(world.path(name), Permissions::from_mode(0o600)).unwrap();
    }
    let gateway = serve(&world, &[("PUNK_VAULT_KEY_FILE", "one")]);
    let url = format!("http://{}", gateway.address());
    let asking = World::new().set("PUNK_API_KEY", KEY);
    let arguments = ["vault", "add", "openai", "--kind", "provider", "--url", &url];
    assert_eq!(asking.punk_reading(MARK, &arguments).code, 0);
    stop(gateway);
    let world = world.set("PUNK_VAULT_KEY_FILE", "two");
    let refused = world.punk(&["vault", "rotate"]);
    assert_eq!(refused.code, 3, "{}", refused.told());
    assert!(refused.stderr.contains("vault.old_key_files"), "{}", refused.told());
    let world = world.set("PUNK_VAULT_OLD_KEY_FILES", "one");
    let rotated = world.punk(&["vault", "rotate"]);
    assert!(rotated.stdout.starts_with("1 re-wrapped; everything is under key_"), "{}", rotated.told());
    let again = world.punk(&["vault", "rotate"]);
    assert!(
        again.stdout.starts_with("0 re-wrapped") && again.stdout.contains("vault.old_key_files"),
        "{}",
        again.told()
    );
    // The old one is of no need any more.
    std::fs::remove_file(world.path("one")).unwrap();
    stop(serve(&world, &[("PUNK_VAULT_KEY_FILE", "two")]));
    std::fs::set_permissions(world.path("two"), Permissions::from_mode(0o644)).unwrap();
    let exposed = World::new().set("PUNK_VAULT_KEY_FILE", &world.path("two").display().to_string());
    let exposed = exposed.punk(&["serve", "--port", "0"]);
    assert!(exposed.code == 3 && exposed.stderr.contains("chmod 600"), "{}", exposed.told());
}

#[test]
fn a_rotation_that_is_killed_again_and_again_is_finished_and_loses_nothing() {
    const SECRETS: usize = 120;
    let world = World::new().set("PUNK_API_KEY", KEY);
    let gateway = serve(&world, &[("PUNK_RATE_LIMIT_RPM", "0"), ("PUNK_IP_RATE_LIMIT_RPM", "0")]);
    let headers = [("authorization", format!("Bearer {KEY}"))];
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut made = 0;
    while made < SECRETS {
        let body = json!({ "name": format!("n{made}"), "kind": "tool", "value": format!("{MARK} {made}") });
        let reply =
            try_request(gateway.address(), "POST", "/api/v1/credentials", &headers, &body.to_string())
                .unwrap();
        assert_eq!(reply.status, 201, "{}", reply.json());
        made += 1;
    }
    stop(gateway);
    for millis in [5, 20, 40, 60, 80] {
        let mut rotating = Command::new(assert_cmd::cargo::cargo_bin!("punk"))
            .args(["vault", "rotate"])
            .current_dir(world.path(""))
            .env_clear()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Wherever that is: what is promised holds for every place.
        std::thread::sleep(Duration::from_millis(millis));
        let _ = rotating.kill();
        rotating.wait().unwrap();
    }
    let finished = world.punk(&["vault", "rotate", "--json"]);
    assert_eq!(finished.code, 0, "{}", finished.told());
    let master = finished.json()["masterKeyId"].as_str().unwrap().to_owned();
    let gateway = serve(&world, &[]);
    let url = format!("http://{}", gateway.address());
    let listed = world.punk(&["vault", "list", "--json", "--url", &url]).json();
    let all = listed["credentials"].as_array().unwrap();
    assert_eq!(all.len(), SECRETS);
    assert!(all.iter().all(|one| one["masterKeyId"] == master.as_str() && one["version"] == 1));
    let log = stop(gateway);
    assert!(!log.contains("does not open"), "{log}");
    // Once more, from the beginning to the end.
    let again = world.punk(&["vault", "rotate-master"]);
    assert!(
        again.stdout.starts_with(&format!("{SECRETS} re-wrapped; everything is under key_")),
        "{}",
        again.told()
    );
    assert_eq!(occurrences(&world, MARK), 0);
}
