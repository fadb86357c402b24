//! A budget holds however many spend from it, through however many processes on one database.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod world;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::json;
use world::World;
use world::gateway::Gateway;
use world::redis::Server as Redis;

const CLIENTS: usize = 64;
const CALLS: usize = 6;
const LIMIT_USD: f64 = 0.03;

fn body(max_tokens: u32) -> String {
    let messages = json!([{ "role": "user", "content": "hi" }]);
    json!({ "model": "gpt-4o", "max_tokens": max_tokens, "messages": messages }).to_string()
}

fn status(gateway: &Gateway, max_tokens: u32) -> u16 {
    gateway.request("POST", "/v1/chat/completions", &[], &body(max_tokens)).status
}

#[test]
fn sixty_four_clients_on_two_nodes_never_overspend_a_budget() {
    never_overspent(&[("PUNK_DATABASE_URL", &world::database("budget"))]);
}

#[test]
fn sixty_four_clients_on_two_nodes_never_overspend_a_budget_that_redis_counts() {
    let (database, redis) = (world::database("budget_redis"), world::redis());
    never_overspent(&[("PUNK_DATABASE_URL", &database), ("PUNK_REDIS_URL", &redis)]);
}

fn never_overspent(environment: &[(&str, &str)]) {
    let world = World::new();
    let first = Gateway::start(&world, environment);
    let second = Gateway::start(&world, environment);
    let nodes = Arc::new([first, second]);
    let budget = json!({ "name": "tight", "limitUsd": LIMIT_USD, "per": "tenant", "window": "total" });
    assert_eq!(nodes[0].request("POST", "/api/v1/budgets", &[], &budget.to_string()).status, 201);
    // The other node learns of it within seconds; then no answer goes that could cost more than there is.
    for node in nodes.iter() {
        until("the budget is known", || status(node, 16_000) != 200);
    }
    let spent = || {
        let shown = nodes[0].request("GET", "/api/v1/budgets", &[], "").json();
        let budget = &shown["budgets"][0];
        (budget["spentUsd"].as_f64().unwrap(), budget["reservedUsd"].as_f64().unwrap())
    };
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let nodes = Arc::clone(&nodes);
            thread::spawn(move || {
                let served = (0..CALLS).filter(|call| {
                    let node = &nodes[(client + call) % 2];
                    let status = status(node, 50);
                    assert!(status == 200 || status == 403, "{status}");
                    status == 200
                });
                served.count()
            })
        })
        .collect();
    let served: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
    let (used, reserved) = spent();
    assert!(used <= LIMIT_USD, "{used} spent in {served} calls");
    assert!(served > 0 && served < CLIENTS * CALLS, "{served} were served");
    assert!(reserved.abs() < f64::EPSILON, "nothing stays set aside: {reserved}");
    // What is left is spent to the last call that surely fits.
    let more = (0..10_000).take_while(|_| status(&nodes[0], 50) == 200).count();
    let (used, _) = spent();
    assert!(more < 10_000 && used <= LIMIT_USD, "{used} spent");
    assert!(used > LIMIT_USD * 0.9, "only {used} could be spent");
}

#[test]
fn without_redis_what_has_a_limit_is_refused_and_everything_else_goes_on() {
    let (world, mut redis) = (World::new(), Redis::new());
    let gateway = Gateway::start(&world, &[("PUNK_REDIS_URL", &redis.url())]);
    assert_eq!(status(&gateway, 50), 200, "there is no limit yet");
    redis.start();
    let budget = json!({ "name": "wide", "limitUsd": 100, "per": "tenant", "window": "total" });
    let set = || gateway.request("POST", "/api/v1/budgets", &[], &budget.to_string()).status;
    until("Redis is found", || set() == 201);
    assert_eq!(status(&gateway, 50), 200);
    redis.kill();
    let refused = gateway.request("POST", "/v1/chat/completions", &[], &body(50));
    assert_eq!(refused.status, 503);
    assert_eq!(refused.json()["error"]["code"], "punk_meters_unavailable");
    assert_eq!(gateway.request("GET", "/v1/models", &[], "").status, 200);
    redis.start();
    until("it recovers", || status(&gateway, 50) == 200);
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..400 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("not yet: {what}");
}
