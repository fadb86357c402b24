//! A limit holds over however many processes, as long as they share a Redis, and in each of them when it is gone.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod world;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use world::World;
use world::gateway::Gateway;
use world::redis::Server as Redis;

const CLIENTS: usize = 16;
const CALLS: usize = 25;
const LIMIT: u32 = 100;

/// Two processes on one database and one Redis. A slow machine is no reason to count alone.
fn two(world: &World, name: &str, redis: &str) -> Arc<[Gateway; 2]> {
    let database = world::database(name);
    let environment = [
        ("PUNK_DATABASE_URL", database.as_str()),
        ("PUNK_REDIS_URL", redis),
        ("PUNK_LIMITS_REDIS_PATIENCE_MS", "10000"),
    ];
    Arc::new([Gateway::start(world, &environment), Gateway::start(world, &environment)])
}

/// The token of a key with a limit of its own.
fn key(nodes: &[Gateway; 2], limit: u32) -> String {
    let new = json!({ "name": "limited", "scopes": ["gateway"], "requestsPerMinute": limit }).to_string();
    let made = nodes[0].request("POST", "/api/v1/keys", &[], &new);
    assert_eq!(made.status, 201);
    format!("Bearer {}", made.json()["token"].as_str().unwrap())
}

fn ask(node: &Gateway, token: &str) -> u16 {
    let status = node.request("GET", "/v1/models", &[("authorization", token)], "").status;
    assert!(status == 200 || status == 429, "{status}");
    status
}

/// How many get through at each of the nodes when many ask at once, while `meanwhile` goes on; and how many may have flown
/// in until they were done.
fn rush(nodes: &Arc<[Gateway; 2]>, token: &str, meanwhile: impl FnOnce()) -> ([u32; 2], f64) {
    #[expect(clippy::disallowed_methods, reason = "how long it took decides how much may have flown in")]
    let begun = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (nodes, token) = (Arc::clone(nodes), token.to_owned());
            thread::spawn(move || {
                let mut through = [0; 2];
                for call in 0..CALLS {
                    let node = (client + call) % 2;
                    through[node] += u32::from(ask(&nodes[node], &token) == 200);
                }
                through
            })
        })
        .collect();
    meanwhile();
    let through: Vec<[u32; 2]> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    let flown_in = begun.elapsed().as_secs_f64() * f64::from(LIMIT) / 60.0 + 1.0;
    ([0, 1].map(|node: usize| through.iter().map(|through| through[node]).sum()), flown_in)
}

#[test]
fn two_processes_let_through_what_one_would_and_nothing_more() {
    let world = World::new();
    let nodes = two(&world, "limits", &world::redis());
    let token = key(&nodes, LIMIT);
    let ([one, other], flown_in) = rush(&nodes, &token, || {});
    let through = one + other;
    assert!(through >= LIMIT && f64::from(through) <= f64::from(LIMIT) + flown_in, "{one} and {other}");
    assert!(one > 0 && other > 0, "{one} and {other}");
}

#[test]
fn while_redis_is_gone_each_process_holds_the_limit_and_then_they_count_together_again() {
    let (world, mut redis) = (World::new(), Redis::new());
    redis.start();
    let nodes = two(&world, "limits_outage", &redis.url());
    let token = key(&nodes, LIMIT);
    let (through, flown_in) = rush(&nodes, &token, || {
        redis.kill();
        redis.start();
        redis.kill();
    });
    for through in through {
        assert!(f64::from(through) <= f64::from(LIMIT) + flown_in, "{through:?}");
    }
    assert!(through.iter().sum::<u32>() >= LIMIT, "{through:?}");
    redis.start();
    // Each would let one through if they counted alone.
    let together = || {
        let token = key(&nodes, 1);
        (ask(&nodes[0], &token), ask(&nodes[1], &token)) == (200, 429)
    };
    for _ in 0..200 {
        if together() {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("they still count alone");
}
