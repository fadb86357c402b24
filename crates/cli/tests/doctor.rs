//! `punk doctor`: what it finds, and that it leaves nothing behind.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod world;

use std::net::TcpListener;
use world::World;

/// A port that nobody listens on.
fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

fn ready_world() -> World {
    World::new().set("PUNK_PORT", &free_port())
}

/// `check: grade` of every finding.
fn grades(world: &World) -> Vec<String> {
    let json = world.punk_writes_nothing(&["doctor", "--json"]).json();
    let one = |finding: &serde_json::Value| {
        format!("{}: {}", finding["check"].as_str().unwrap(), finding["grade"].as_str().unwrap())
    };
    json["findings"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn a_fresh_machine_is_ready_and_told_to_make_keys() {
    let world = ready_world();
    let ended = world.punk_writes_nothing(&["doctor"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{}", ended.told());
    assert!(
        ended.stdout.contains("→ run `punk keys generate log`") && ended.stdout.ends_with("\nready\n"),
        "{}",
        ended.stdout
    );
    assert_eq!(
        grades(&world),
        [
            "configuration: ok",
            "data folder: ok",
            "keys: warn",
            "keys: warn",
            "keys: warn",
            "clock: ok",
            "port: ok",
            "access: ok"
        ]
    );
}

#[test]
fn with_keys_everything_is_fine() {
    let world = ready_world();
    world.punk(&["keys", "generate"]);
    assert!(grades(&world).iter().all(|grade| grade.ends_with(": ok")), "{:?}", grades(&world));
}

#[test]
fn a_wrong_configuration_fails_with_every_problem() {
    let world = World::new().set("PUNK_PROT", "1").set("PUNK_PORT", "x");
    let ended = world.punk_writes_nothing(&["doctor"]);
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.contains("PUNK_PROT") && ended.stdout.contains("PUNK_PORT"), "{}", ended.stdout);
    assert_eq!(world.punk(&["doctor", "--json"]).json()["problems"].as_array().unwrap().len(), 2);
}

#[test]
fn a_taken_port_fails() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let world = World::new().set("PUNK_PORT", &taken.local_addr().unwrap().port().to_string());
    assert_eq!(world.punk(&["doctor"]).code, 1);
    assert!(grades(&world).contains(&"port: fail".to_owned()));
}

#[test]
fn a_data_folder_that_is_a_file_fails() {
    let world = ready_world().file("data", "in the way");
    let ended = world.punk_writes_nothing(&["doctor"]);
    assert!(ended.code == 1 && ended.stdout.contains("fail  data folder"), "{}", ended.told());
}

#[test]
fn a_database_and_a_redis_that_do_not_answer_fail_without_their_passwords() {
    let world = ready_world()
        .set("PUNK_REDIS_URL", &format!("redis://:hunter2@127.0.0.1:{}/", free_port()))
        .set("PUNK_DATABASE_URL", &format!("postgres://me:hunter2@127.0.0.1:{}/punk", free_port()));
    let found = grades(&world);
    assert!(
        found.contains(&"database: fail".to_owned()) && found.contains(&"redis: fail".to_owned()),
        "{found:?}"
    );
    let told = world.punk(&["doctor"]).told();
    assert!(!told.contains("hunter2"), "{told}");
    let world = ready_world().set("PUNK_REDIS_URL", &world::redis());
    assert!(grades(&world).contains(&"redis: ok".to_owned()));
}

#[test]
fn a_reserved_key_is_pointed_out() {
    let world = ready_world().set("PUNK_ALLOW_PRIVATE_WEB_FETCH", "true");
    assert!(grades(&world).contains(&"configuration: warn".to_owned()));
}

#[test]
fn an_open_door_is_pointed_out() {
    let world = ready_world().set("PUNK_HOST", "0.0.0.0");
    assert!(grades(&world).contains(&"access: warn".to_owned()));
    let world = world.set("PUNK_API_KEY", "0123456789abcdef");
    assert!(grades(&world).contains(&"access: ok".to_owned()));
}

#[test]
fn a_ring_that_others_can_read_fails_with_the_command_that_mends_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = ready_world();
    world.punk(&["keys", "generate", "log"]);
    let path = std::fs::read_dir(world.path("data/keys")).unwrap().next().unwrap().unwrap().path();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let ended = world.punk_writes_nothing(&["doctor"]);
    assert!(ended.code == 1 && ended.stdout.contains("chmod 600 "), "{}", ended.told());
}
