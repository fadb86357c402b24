//! A budget holds however many spend from it, through however many processes on one database.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod world;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use world::World;
use world::gateway::Gateway;

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
#[expect(clippy::disallowed_methods, reason = "a test may not wait for ever")]
fn sixty_four_clients_on_two_nodes_never_overspend_a_budget() {
    let (url, world) = (world::database("budget"), World::new());
    let environment = [("PUNK_DATABASE_URL", url.as_str())];
    let first = Gateway::start(&world, &environment);
    let second = Gateway::start(&world, &environment);
    let nodes = Arc::new([first, second]);
    let budget = json!({ "name": "tight", "limitUsd": LIMIT_USD, "per": "tenant", "window": "total" });
    assert_eq!(nodes[0].request("POST", "/api/v1/budgets", &[], &budget.to_string()).status, 201);
    // The other node learns of it within seconds; then no answer goes that could cost more than there is.
    for node in nodes.iter() {
        let begun = Instant::now();
        while status(node, 16_000) == 200 {
            assert!(begun.elapsed() < Duration::from_secs(20), "the budget is not known");
            thread::sleep(Duration::from_millis(50));
        }
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
