//! `punk users`: people in the store itself, beside a real gateway.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod world;

use serde_json::json;
use world::World;
use world::gateway::Gateway;

const PASSWORD: &str = "seven parrots and a kettle";

fn log_in(gateway: &Gateway, email: &str, password: &str) -> u16 {
    let login = json!({ "email": email, "password": password }).to_string();
    gateway.request("POST", "/api/v1/auth/login", &[], &login).status
}

#[test]
fn whoever_is_made_on_the_command_line_logs_in_and_the_gateway_is_open_no_more() {
    let world = World::new();
    let gateway = Gateway::start(&world, &[]);
    assert_eq!(gateway.request("GET", "/api/v1/runs", &[], "").status, 200, "open");
    // One process at a time writes to a file; with a database server both go on.
    drop(gateway);
    let made =
        world.punk_reading(&format!("{PASSWORD}\n"), &["users", "add", "Ada@Example.org", "--name", "Ada"]);
    assert_eq!(made.code, 0, "{}", made.told());
    let gateway = Gateway::start(&world, &[]);
    assert_eq!(gateway.request("GET", "/api/v1/runs", &[], "").status, 401, "open no more");
    assert_eq!(log_in(&gateway, "ada@example.org", PASSWORD), 200);
    let list = world.punk(&["users", "list"]);
    assert!(list.stdout.contains("ada@example.org") && list.stdout.contains("let in"), "{}", list.told());
    assert!(!list.told().contains("argon2"));
    let busy = world.punk(&["users", "disable", "ada@example.org"]);
    assert_eq!(busy.code, 3, "{}", busy.told());
    drop(gateway);

    let other = "nine herons in a hurry";
    assert_eq!(world.punk_reading(other, &["users", "reset-password", "ada@example.org"]).code, 0);
    let tries = |tries: &[(&str, u16)]| {
        let gateway = Gateway::start(&world, &[]);
        for (password, status) in tries {
            assert_eq!(log_in(&gateway, "ada@example.org", password), *status, "{password}");
        }
    };
    tries(&[(PASSWORD, 401), (other, 200)]);
    assert_eq!(world.punk(&["users", "disable", "ada@example.org"]).code, 0);
    tries(&[(other, 401)]);
    assert_eq!(world.punk(&["users", "enable", "ada@example.org"]).code, 0);
    tries(&[(other, 200)]);
}

#[test]
fn what_cannot_be_is_refused_and_says_why() {
    let world = World::new();
    for (arguments, input, code, says) in [
        (&["users", "add", "ada"][..], PASSWORD, 2, "e-mail"),
        (&["users", "add", "ada@example.org"], "short", 2, "at least 12"),
        (&["users", "add", "ada@example.org"], "", 2, "no password"),
        (&["users", "add", "ada@example.org", "--role", "root"], PASSWORD, 2, "root"),
        (&["users", "add", "ada@example.org"], PASSWORD, 0, "ada@example.org is owner"),
        (&["users", "add", "ada@example.org"], PASSWORD, 1, "already"),
        (&["users", "disable", "bob@example.org"], "", 1, "there is no bob@example.org"),
    ] {
        let ended = world.punk_reading(input, arguments);
        assert_eq!(ended.code, code, "{arguments:?}: {}", ended.told());
        assert!(ended.told().contains(says), "{arguments:?}: {}", ended.told());
        assert!(input.len() < 6 || !ended.told().contains(input), "a password was shown");
    }
}

#[test]
fn the_first_administrator_comes_from_the_configuration() {
    let world = World::new();
    let environment = [("PUNK_ADMIN_EMAIL", "root@example.org"), ("PUNK_ADMIN_PASSWORD", PASSWORD)];
    let gateway = Gateway::start(&world, &environment);
    assert_eq!(gateway.request("GET", "/api/v1/runs", &[], "").status, 401);
    assert_eq!(log_in(&gateway, "root@example.org", PASSWORD), 200);
    drop(gateway);
    let other = "nine herons in a hurry";
    assert_eq!(world.punk_reading(other, &["users", "reset-password", "root@example.org"]).code, 0);
    let gateway = Gateway::start(&world, &environment);
    assert_eq!(log_in(&gateway, "root@example.org", other), 200, "a changed password is never reset");
    assert_eq!(log_in(&gateway, "root@example.org", PASSWORD), 401);
    drop(gateway);
    let weak = World::new().set("PUNK_ADMIN_EMAIL", "root@example.org").set("PUNK_ADMIN_PASSWORD", "short");
    let refused = weak.punk(&["serve", "--port", "0"]);
    assert_eq!(refused.code, 2, "{}", refused.told());
    assert!(!refused.told().contains("\"short\""), "{}", refused.told());
}
