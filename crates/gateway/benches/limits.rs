//! What counting costs a request, in memory and through Redis: `cargo bench -p gateway --bench limits`.
//!
//! A real server and real connections. The request does as little else as one can (`GET /v1/models` with a key), so what
//! counting adds shows.
//! Redis is one of its own, on the same machine.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench reads the clock, and may fail as a test does"
)]

#[path = "../../nodes/tests/world/server.rs"]
#[allow(dead_code, clippy::expect_used, clippy::panic, reason = "a helper of the tests of another crate")]
mod redis;
#[path = "../tests/world/mod.rs"]
mod world;

use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway::Rates;
use nodes::RedisLimits;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use world::{Setup, World};

const ONE_BY_ONE: usize = 3_000;
const CLIENTS: usize = 32;
const AT_ONCE: usize = 1_000;
/// More than the bench asks, so that nobody is refused.
const MANY: u32 = 1_000_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut server = redis::Server::new();
    server.start();
    println!("{:<34} {:>9} {:>9} {:>11}", "", "p50 µs", "p99 µs", "32 at once/s");
    let rates = Rates { ip_requests_per_minute: MANY, ..Rates::NONE };
    for round in 0..2 {
        let redis = || Some(RedisLimits::new(&server.url(), Duration::from_secs(1)).unwrap());
        let ways = [
            ("no limits", 0, Rates::NONE, None),
            ("in memory, the key", MANY, Rates::NONE, None),
            ("in memory, the address and the key", MANY, rates, None),
            ("Redis, the key", MANY, Rates::NONE, redis()),
            ("Redis, the address and the key", MANY, rates, redis()),
        ];
        for (name, own, rates, limits) in ways {
            let (p50, p99, at_once) = runtime.block_on(measure(own, rates, limits));
            // The first round warms up.
            if round > 0 {
                println!("{name:<34} {p50:>9.1} {p99:>9.1} {at_once:>11.0}");
            }
        }
    }
}

async fn measure(own: u32, rates: Rates, limits: Option<RedisLimits>) -> (f64, f64, f64) {
    let world = Arc::new(Setup { rates, limits, ..Setup::protected() }.start().await);
    let token = world.key(&json!({ "name": "bench", "requestsPerMinute": own })).await;
    let mut took = Vec::new();
    for _ in 0..ONE_BY_ONE {
        let begun = Instant::now();
        ask(&world, &token).await;
        took.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    took.sort_by(f64::total_cmp);
    let (mut clients, begun) = (JoinSet::new(), Instant::now());
    for _ in 0..CLIENTS {
        let (world, token) = (Arc::clone(&world), token.clone());
        clients.spawn(async move {
            for _ in 0..AT_ONCE {
                ask(&world, &token).await;
            }
        });
    }
    clients.join_all().await;
    let at_once = (CLIENTS * AT_ONCE) as f64 / begun.elapsed().as_secs_f64();
    (took[took.len() / 2], took[took.len() * 99 / 100], at_once)
}

async fn ask(world: &World, token: &str) {
    assert_eq!(world.with(token, "GET", "/v1/models", &Value::Null).await.status, 200);
}
