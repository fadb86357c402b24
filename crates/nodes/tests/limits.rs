//! Buckets in Redis keep the promises of a minute that fills up evenly.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nodes::{Draw, Drawn, LimitError, RedisLimits};
use proptest::prelude::*;
use redis::aio::MultiplexedConnection;
use schema::Digest;
use tokio::task::JoinSet;
use world::server::Server;
use world::shared;

const MINUTE: Duration = Duration::from_secs(60);
/// So slow a machine is none.
const PATIENCE: Duration = Duration::from_secs(10);

/// A bucket that nobody else uses, also in another process on the same Redis.
fn bucket() -> Digest {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let place = tempfile::tempdir().unwrap();
    ledger::sha256(format!("{process} {count} {}", place.path().display()).as_bytes())
}

fn draw(bucket: Digest, limit: u32) -> Draw {
    Draw { bucket, cost: MINUTE / limit, limit, at_most: 1 }
}

fn nodes(url: &str) -> [Arc<RedisLimits>; 2] {
    [(); 2].map(|()| Arc::new(RedisLimits::new(url, PATIENCE).unwrap()))
}

async fn one(node: &RedisLimits, draw: Draw) -> Drawn {
    node.draw(&[draw]).await.unwrap()[0]
}

#[tokio::test]
async fn two_nodes_let_through_what_one_would_and_name_what_is_left() {
    let (nodes, bucket) = (nodes(&shared()), bucket());
    let (mut taken, mut last) = (0, None);
    for request in 0..12 {
        let drawn = one(&nodes[request % 2], draw(bucket, 10)).await;
        taken += drawn.taken;
        last = Some(drawn);
    }
    assert_eq!(taken, 10);
    let missing = last.unwrap().missing;
    assert!(missing <= MINUTE && missing > Duration::from_secs(50), "{missing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn however_many_ask_at_once_no_more_get_through_than_the_limit_and_what_flows_in() {
    const LIMIT: u32 = 500;
    let (nodes, bucket, mut tasks) = (nodes(&shared()), bucket(), JoinSet::new());
    #[expect(clippy::disallowed_methods, reason = "how long it took decides how much may have flown in")]
    let begun = std::time::Instant::now();
    for task in 0..32 {
        let node = Arc::clone(&nodes[task % 2]);
        tasks.spawn(async move {
            let mut taken = 0;
            for _ in 0..40 {
                taken += one(&node, draw(bucket, LIMIT)).await.taken;
            }
            taken
        });
    }
    let taken: u32 = tasks.join_all().await.into_iter().sum();
    let flown_in = begun.elapsed().as_secs_f64() / (MINUTE / LIMIT).as_secs_f64();
    assert!(taken >= LIMIT && f64::from(taken) <= f64::from(LIMIT) + flown_in + 1.0, "{taken}");
}

#[tokio::test]
async fn whoever_is_refused_by_one_bucket_takes_nothing_of_any() {
    let ([node, _], wide, narrow) = (nodes(&shared()), bucket(), bucket());
    for order in [[draw(narrow, 1), draw(wide, 5)], [draw(wide, 5), draw(narrow, 1)]] {
        let taken: Vec<u32> = node.draw(&order).await.unwrap().iter().map(|drawn| drawn.taken).collect();
        assert_eq!(taken, if order[0].limit == 1 { [1, 1] } else { [0, 0] });
    }
    let look = Draw { at_most: 0, ..draw(wide, 5) };
    let Drawn { taken, missing } = one(&node, look).await;
    assert!(taken == 0 && missing <= MINUTE / 5, "only the first one took something: {missing:?}");
}

#[tokio::test]
async fn a_bucket_gives_as_many_as_it_has_and_a_look_takes_nothing() {
    let ([node, _], bucket) = (nodes(&shared()), bucket());
    let several = Draw { at_most: 4, ..draw(bucket, 6) };
    for _ in 0..100 {
        assert_eq!(
            one(&node, Draw { at_most: 0, ..several }).await,
            Drawn { taken: 0, missing: Duration::ZERO }
        );
    }
    assert_eq!([one(&node, several).await.taken, one(&node, several).await.taken], [4, 2]);
}

#[tokio::test]
async fn what_redis_keeps_is_a_digest_and_two_numbers_and_ends_by_itself() {
    let ([node, _], bucket) = (nodes(&shared()), bucket());
    one(&node, draw(bucket, 3)).await;
    let (mut redis, key) = (connection(&shared()).await, format!("punk:limit:{bucket}"));
    let kept: String = redis::cmd("GET").arg(&key).query_async(&mut redis).await.unwrap();
    assert!(kept.split(' ').all(|number| number.parse::<u64>().is_ok()), "{kept}");
    let ends: i64 = redis::cmd("PTTL").arg(&key).query_async(&mut redis).await.unwrap();
    assert!((1..=20_001).contains(&ends), "a third of a minute is missing, and it stays for {ends} ms");
}

#[tokio::test]
async fn a_redis_that_is_away_or_silent_is_told_soon_and_found_again() {
    let mut server = Server::new();
    let node = RedisLimits::new(&server.url(), Duration::from_millis(50)).unwrap();
    let draw = draw(bucket(), 3);
    assert!(matches!(node.draw(&[draw]).await, Err(LimitError::Unavailable(_))));
    server.start();
    found(&node).await;
    // It takes what it is told, and answers nobody.
    let mut redis = connection(&server.url()).await;
    let () = redis::cmd("CLIENT").arg("PAUSE").arg(300).query_async(&mut redis).await.unwrap();
    assert!(matches!(node.draw(&[draw]).await, Err(LimitError::Late)));
    found(&node).await;
    server.kill();
    assert!(node.draw(&[draw]).await.is_err());
    server.start();
    found(&node).await;
}

async fn found(node: &RedisLimits) {
    for _ in 0..200 {
        if node.answers().await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it does not recover");
}

async fn connection(url: &str) -> MultiplexedConnection {
    redis::Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap()
}

/// What a bucket is: when each request that got through has flown in again, one after the other.
#[derive(Default)]
struct Model {
    full_at: u64,
}

impl Model {
    fn ask(&mut self, now: u64, Draw { cost, limit, at_most, .. }: Draw) -> (u32, u64) {
        let cost = u64::try_from(cost.as_nanos()).unwrap();
        let mut taken = 0;
        while taken < at_most {
            let full_at = self.full_at.max(now) + cost;
            if full_at - now > cost * u64::from(limit) {
                break;
            }
            (self.full_at, taken) = (full_at, taken + 1);
        }
        (taken, self.full_at.saturating_sub(now))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The script, with a clock of the test's own, does what the model does.
    #[test]
    fn the_script_counts_as_the_model_does(
        limit in prop_oneof![1u32..20, 1u32..1_000_000],
        asked in prop::collection::vec((prop_oneof![Just(0u64), 0u64..2_000, 0u64..70_000_000], 0u32..5), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (mut now, mut model, bucket) = (1_800_000_000_000_000u64, Model::default(), bucket());
        let (script, mut expected) = (include_str!("../src/limits/draw.lua"), Vec::new());
        let counted: Vec<(u32, u64)> = runtime.block_on(async {
            let mut redis = connection(&shared()).await;
            let mut counted = Vec::new();
            for (passed, at_most) in asked {
                now += passed;
                let draw = Draw { at_most, ..draw(bucket, limit) };
                expected.push(model.ask(now * 1_000, draw));
                let cost = u64::try_from(draw.cost.as_nanos()).unwrap();
                let text = format!("local now = {now}\n{script}");
                let key = format!("punk:limit:{bucket}");
                // What ends by itself does so by the real clock, which stands still beside this one.
                let mut step = redis::pipe();
                step.atomic().cmd("EVAL").arg(text).arg(1).arg(&key);
                step.arg(cost).arg(cost * u64::from(limit)).arg(at_most).cmd("PERSIST").arg(&key).ignore();
                let (answer,): (Vec<u64>,) = step.query_async(&mut redis).await.unwrap();
                counted.push((u32::try_from(answer[0]).unwrap(), answer[1]));
            }
            let () = redis::cmd("DEL").arg(format!("punk:limit:{bucket}")).query_async(&mut redis).await.unwrap();
            counted
        });
        prop_assert_eq!(counted, expected);
    }
}
