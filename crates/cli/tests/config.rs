//! `punk config`: what holds, where it comes from, and what is refused.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod world;

use expect_test::expect;
use serde_json::Value;
use world::World;

/// The row of one key.
fn row(table: &str, key: &str) -> String {
    let row = table.lines().find(|line| line.split_whitespace().next() == Some(key)).unwrap();
    row.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn entry(json: &Value, key: &str) -> Value {
    json["settings"].as_array().unwrap().iter().find(|entry| entry["key"] == key).unwrap().clone()
}

#[test]
fn every_setting_is_shown_with_its_origin() {
    let world = World::new()
        .file("punk.toml", "[server]\nport = 5000\n[ledger]\nname = 'example.org/punk'\n")
        .set("PUNK_HOST", "::1")
        .set("PUNK_PORT", "5001");
    let ended = world.punk_writes_nothing(&["config", "--port", "5002", "--set", "log.filter=debug"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(row(&ended.stdout, "server.port"), "server.port 5002 flag --port PUNK_PORT");
    assert_eq!(row(&ended.stdout, "server.host"), "server.host ::1 env PUNK_HOST PUNK_HOST");
    assert_eq!(row(&ended.stdout, "ledger.name"), "ledger.name example.org/punk punk.toml:4 PUNK_LOG_NAME");
    assert_eq!(row(&ended.stdout, "log.filter"), "log.filter debug flag --set PUNK_LOG");
    assert_eq!(row(&ended.stdout, "keys.dir"), "keys.dir data/keys default PUNK_KEYS_DIR");
    assert!(row(&ended.stdout, "web.allow_private_fetch").ends_with("reserved: the web runtime"));
}

#[test]
fn the_same_for_machines() {
    let ended = World::new().set("PUNK_PORT", "5001").punk_writes_nothing(&["config", "--json"]);
    let port = entry(&ended.json(), "server.port");
    expect![[r#"
        {
          "key": "server.port",
          "value": 5001,
          "origin": "env PUNK_PORT",
          "variable": "PUNK_PORT",
          "secret": false,
          "status": "active",
          "waitsFor": null
        }"#]]
    .assert_eq(&format!("{port:#}"));
}

#[test]
fn no_part_of_a_secret_is_shown() {
    let world = World::new()
        .file("punk.toml", "[providers.openai]\napi_key = 'sk-hunter2-file'\n")
        .set("PUNK_API_KEY", "pk_hunter2")
        .set("DATABASE_URL", "postgres://me:hunter2@127.0.0.1:1/punk");
    for arguments in
        [&["config"][..], &["config", "--json"], &["config", "check"], &["doctor"], &["doctor", "--json"]]
    {
        let told = world.punk_writes_nothing(arguments).told();
        assert!(!told.contains("hunter2"), "{told}");
    }
    let ended = world.punk(&["config"]);
    assert_eq!(row(&ended.stdout, "auth.api_key"), "auth.api_key •••• env PUNK_API_KEY PUNK_API_KEY");
    assert!(row(&ended.stdout, "store.url").starts_with("store.url •••• env DATABASE_URL"));
    assert_eq!(entry(&world.punk(&["config", "--json"]).json(), "providers.openai.api_key")["value"], "••••");
}

#[test]
fn everything_wrong_is_told_at_once_and_nothing_is_written() {
    let world = World::new()
        .file("punk.toml", "[server]\nprot = 5000\nhost = 'nowhere'\n")
        .set("PUNK_PROT", "1")
        .set("PUNK_API_KEY", "hunter 2");
    expect![[r#"
        exit 2
        --- err
        error: punk.toml:2:1: unknown key `server.prot`
        hint: did you mean server.port? allowed here: base_url, cors_origins, drain_delay_seconds, drain_seconds, forwarded_header, host, max_body_bytes, port, trusted_proxies
        error: punk.toml:3:8: "nowhere" is not a value of server.host
        hint: server.host must be an IP address such as 127.0.0.1 or ::1, or localhost
        error: PUNK_PROT: unknown variable
        hint: did you mean PUNK_PORT? `punk config` lists every variable that is read
        error: PUNK_API_KEY: the value (hidden) is not a value of auth.api_key
        hint: auth.api_key must be visible ASCII characters without spaces
        error: --port: "http" is not a value of server.port
        hint: server.port must be a whole number from 0 to 65535
    "#]]
    .assert_eq(&world.punk_writes_nothing(&["config", "check", "--port", "http"]).told());
}

#[test]
fn problems_are_listed_for_machines() {
    let ended = World::new().set("PUNK_PROT", "1").punk_writes_nothing(&["config", "check", "--json"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    expect![[r#"
        {
          "error": {
            "code": "punk_config_invalid",
            "message": "the configuration has a problem",
            "hint": "every setting is described in docs/reference/configuration.md",
            "problems": [
              {
                "place": "PUNK_PROT",
                "message": "unknown variable",
                "hint": "did you mean PUNK_PORT? `punk config` lists every variable that is read"
              }
            ]
          }
        }"#]]
    .assert_eq(&format!("{:#}", ended.error_json()));
}

#[test]
fn a_right_configuration_checks() {
    expect![[r#"
        exit 0
        --- out
        the configuration is right
    "#]]
    .assert_eq(&World::new().punk_writes_nothing(&["config", "check"]).told());
    assert_eq!(World::new().punk(&["config", "check", "--json"]).json()["ok"], true);
}

#[test]
fn a_named_file_has_to_be_there() {
    expect![[r#"
        exit 2
        --- err
        error: --config: cannot read x.toml: No such file or directory (os error 2)
        hint: name a file that can be read, or leave it out
    "#]]
    .assert_eq(&World::new().punk_writes_nothing(&["config", "check", "--config", "x.toml"]).told());
    let ended = World::new().set("PUNK_CONFIG", "x.toml").punk_writes_nothing(&["config", "check"]);
    assert!(
        ended.code == 2 && ended.stderr.starts_with("error: PUNK_CONFIG: cannot read x.toml"),
        "{}",
        ended.told()
    );
}

#[test]
fn the_file_that_is_named_is_the_one_that_is_read() {
    let world = World::new()
        .file("punk.toml", "[server]\nport = 1\n")
        .file("a.toml", "[server]\nport = 2\n")
        .file("b.toml", "[server]\nport = 3\n")
        .set("PUNK_CONFIG", "a.toml");
    assert!(row(&world.punk(&["config"]).stdout, "server.port").contains("2 a.toml:2"));
    assert!(row(&world.punk(&["config", "--config", "b.toml"]).stdout, "server.port").contains("3 b.toml:2"));
}

#[test]
fn a_file_that_is_not_text_or_too_long_is_refused() {
    let world = World::new();
    std::fs::write(world.path("punk.toml"), b"\xff\xfe").unwrap();
    assert!(
        world.punk(&["config"]).stderr.contains("cannot read punk.toml"),
        "{}",
        world.punk(&["config"]).told()
    );
    std::fs::write(world.path("punk.toml"), " ".repeat((1 << 20) + 1)).unwrap();
    assert!(world.punk(&["config"]).stderr.contains("longer than 1 MiB"));
    std::fs::remove_file(world.path("punk.toml")).unwrap();
    std::fs::create_dir(world.path("punk.toml")).unwrap();
    assert_eq!(world.punk(&["config"]).code, 2);
}

#[test]
fn a_mistyped_log_level_is_refused_with_its_place() {
    expect![[r#"
        exit 2
        --- err
        error: punk.toml:2:1: "inof" is not a value of log.filter
        hint: log.filter must be a level (off, error, warn, info, debug, trace) or directives such as info,gateway=debug
    "#]]
    .assert_eq(
        &World::new()
            .file("punk.toml", "[log]\nfilter = 'inof'\n")
            .punk(&["config", "check"])
            .told(),
    );
}

#[test]
fn upstreams_are_shown_with_their_own_variables_and_without_their_secrets() {
    let file = "[upstreams.my-host]\nbase_url = 'http://10.0.0.5/v1'\napi_keys = ['hunter2-a']\nheaders = { X-Team = 'hunter2 b' }\n\
                [models.\"fast\"]\nalias_of = 'my-host:small'\n";
    let world = World::new().file("punk.toml", file).set("PUNK_UPSTREAM_MY_HOST_API_KEY", "hunter2-c");
    for arguments in [&["config"][..], &["config", "--json"], &["doctor"]] {
        let told = world.punk_writes_nothing(arguments).told();
        assert!(!told.contains("hunter2"), "{told}");
    }
    let shown = world.punk(&["config"]).stdout;
    assert_eq!(
        row(&shown, "upstreams.my-host.api_key"),
        "upstreams.my-host.api_key •••• env PUNK_UPSTREAM_MY_HOST_API_KEY PUNK_UPSTREAM_MY_HOST_API_KEY"
    );
    assert_eq!(
        row(&shown, "upstreams.my-host.headers"),
        "upstreams.my-host.headers x-team: •••• punk.toml:4"
    );
    assert_eq!(row(&shown, "upstreams.my-host.weight"), "upstreams.my-host.weight 1 default");
    assert_eq!(row(&shown, "models.fast.alias_of"), "models.fast.alias_of my-host:small punk.toml:6");
}
