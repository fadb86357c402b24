//! How often somebody may ask, through a server: alone, with others over Redis, and while Redis is away.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "../../nodes/tests/world/server.rs"]
#[allow(dead_code, clippy::expect_used, clippy::panic, reason = "a helper of the tests of another crate")]
mod redis;
mod world;

use std::sync::Arc;
use std::time::Duration;

use gateway::{Forwarded, Proxies, Rates};
use nodes::RedisLimits;
use redis::Server as Redis;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use world::{OPERATOR, Reply, Setup, World};

/// What a slow machine needs, where it is not about patience.
const LONG: Duration = Duration::from_secs(10);

fn on(redis: &Redis, patience: Duration) -> Option<RedisLimits> {
    Some(RedisLimits::new(&redis.url(), patience).unwrap())
}

fn behind(trusted: &[&str]) -> Proxies {
    let trusted = trusted.iter().map(|network| network.parse().unwrap()).collect();
    Proxies { trusted, header: Forwarded::XForwardedFor }
}

async fn from(world: &World, forwarded_for: &str) -> Reply {
    world.send("GET", "/api/v1/runs", &[("x-forwarded-for", forwarded_for)], &Value::Null).await
}

#[tokio::test]
async fn behind_a_trusted_proxy_every_caller_has_a_limit_of_their_own_and_cannot_make_up_another() {
    let rates = Rates { requests_per_minute: 2, ..Rates::NONE };
    let world = Setup { rates, proxies: behind(&["127.0.0.0/8"]), ..Setup::open() }.start().await;
    let mut statuses = Vec::new();
    for forwarded in ["203.0.113.1", "9.9.9.9, 203.0.113.1", "8.8.8.8, 203.0.113.1", "203.0.113.2"] {
        statuses.push(from(&world, forwarded).await.status);
    }
    assert_eq!(statuses, [200, 200, 429, 200]);
}

#[tokio::test]
async fn from_anybody_else_the_header_is_not_believed() {
    let rates = Rates { ip_requests_per_minute: 2, ..Rates::NONE };
    for proxies in [Proxies::default(), behind(&["10.0.0.0/8"])] {
        let world = Setup { rates, proxies, ..Setup::open() }.start().await;
        let mut statuses = Vec::new();
        for caller in 1..=3 {
            statuses.push(from(&world, &format!("203.0.113.{caller}")).await.status);
        }
        assert_eq!(statuses, [200, 200, 429]);
    }
}

#[tokio::test]
async fn the_addresses_of_one_household_share_a_limit() {
    let rates = Rates { ip_requests_per_minute: 2, ..Rates::NONE };
    let world = Setup { rates, proxies: behind(&["127.0.0.1"]), ..Setup::open() }.start().await;
    let mut statuses = Vec::new();
    for caller in ["2001:db8:1:2::1", "[2001:db8:1:2:ffff::9]:80", "2001:db8:1:2::3", "2001:db8:1:3::1"] {
        statuses.push(from(&world, caller).await.status);
    }
    assert_eq!(statuses, [200, 200, 429, 200]);
}

/// Two nodes on one store and one Redis.
async fn two(redis: &Redis, rates: Rates, patience: Duration) -> [World; 2] {
    let setup = Setup { rates, limits: on(redis, patience), ..Setup::protected() };
    let store = Arc::clone(&setup.store);
    let other = Setup { store, rates, limits: on(redis, patience), ..Setup::protected() };
    [setup.start().await, other.start().await]
}

#[tokio::test]
async fn nodes_that_share_redis_share_limits_and_say_so_in_the_headers() {
    let mut redis = Redis::new();
    redis.start();
    let nodes = two(&redis, Rates::NONE, LONG).await;
    let token = nodes[0].key(&json!({ "name": "three", "requestsPerMinute": 3 })).await;
    let mut seen = Vec::new();
    for request in 0..4 {
        let reply = nodes[request % 2].with(&token, "GET", "/api/v1/runs", &Value::Null).await;
        assert_eq!(reply.header("ratelimit-policy"), Some("\"requests\";q=3;w=60"));
        assert_eq!(reply.header("x-ratelimit-limit-requests"), Some("3"));
        let left = reply.header("x-ratelimit-remaining-requests").unwrap().to_owned();
        assert!(reply.header("ratelimit").unwrap().starts_with(&format!("\"requests\";r={left};t=")));
        assert_eq!(reply.header("retry-after").is_some(), reply.status == 429);
        seen.push((reply.status, left));
    }
    let expected = [(200, "2"), (200, "1"), (200, "0"), (429, "0")];
    assert_eq!(seen, expected.map(|(status, left)| (status, left.to_owned())));
}

#[tokio::test]
async fn guesses_at_one_node_are_guesses_at_all_of_them() {
    let mut redis = Redis::new();
    redis.start();
    let nodes = two(&redis, Rates::NONE, LONG).await;
    let mut guesses = 0;
    while nodes[guesses % 2].with("a guess", "GET", "/api/v1/runs", &Value::Null).await.status == 401 {
        guesses += 1;
        assert!(guesses <= 31, "nobody minds");
    }
    for node in &nodes {
        assert_eq!(node.with(OPERATOR, "GET", "/api/v1/runs", &Value::Null).await.status, 429);
    }
}

/// While Redis is killed and started again, each node holds its own limit, nobody gets an error of the server's, and in the
/// end they count together again.
#[tokio::test(flavor = "multi_thread")]
async fn limits_hold_while_redis_is_killed_and_come_together_again() {
    const LIMIT: u32 = 400;
    let mut redis = Redis::new();
    redis.start();
    let nodes = Arc::new(two(&redis, Rates::NONE, Duration::from_millis(50)).await);
    let token = nodes[0].key(&json!({ "name": "much", "requestsPerMinute": LIMIT })).await;
    #[expect(clippy::disallowed_methods, reason = "how long it took decides how much may have flown in")]
    let begun = std::time::Instant::now();
    let mut clients = JoinSet::new();
    for client in 0..8 {
        let (nodes, token) = (Arc::clone(&nodes), token.clone());
        clients.spawn(async move {
            let mut through = [0; 2];
            for request in 0..300 {
                let node = (client + request) % 2;
                let status = nodes[node].with(&token, "GET", "/v1/models", &Value::Null).await.status;
                assert!(status == 200 || status == 429, "{status}");
                through[node] += u32::from(status == 200);
            }
            through
        });
    }
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        redis.kill();
        tokio::time::sleep(Duration::from_millis(100)).await;
        redis.start();
    }
    let through = clients.join_all().await;
    let flown_in = begun.elapsed().as_secs_f64() * f64::from(LIMIT) / 60.0 + 1.0;
    for node in 0..2 {
        let through: u32 = through.iter().map(|through| through[node]).sum();
        assert!(through > 0 && f64::from(through) <= f64::from(LIMIT) + flown_in, "{through} at {node}");
    }
    // Whoever counts alone is told by nobody; so that both refuse what one of them served shows that they count together.
    for _ in 0..100 {
        let token = nodes[0].key(&json!({ "name": "one", "requestsPerMinute": 1 })).await;
        let first = nodes[0].with(&token, "GET", "/v1/models", &Value::Null).await.status;
        let second = nodes[1].with(&token, "GET", "/v1/models", &Value::Null).await.status;
        assert_eq!(first, 200);
        if second == 429 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("they still count alone");
}

#[tokio::test]
async fn without_redis_each_node_has_its_own_limit_and_says_how_often_it_was_alone() {
    let redis = Redis::new();
    let nodes = two(&redis, Rates::NONE, LONG).await;
    let token = nodes[0].key(&json!({ "name": "two", "requestsPerMinute": 2 })).await;
    for node in &nodes {
        let mut statuses = Vec::new();
        for _ in 0..3 {
            statuses.push(node.with(&token, "GET", "/api/v1/runs", &Value::Null).await.status);
        }
        assert_eq!(statuses, [200, 200, 429]);
    }
    let metrics = nodes[1].operate("GET", "/metrics", &Value::Null).await;
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    assert!(text.contains("punk_limits_alone_total{} 2"), "{text}");
}
