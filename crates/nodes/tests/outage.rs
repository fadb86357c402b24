//! A Redis that goes away, and comes back without its memory.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nodes::{MeterError, RedisMeters};
use store::conformance::at;
use tokio::task::JoinSet;
use tokio::time::timeout;
use world::server::Server;
use world::{World, hard, meter, settlement, use_up};

#[tokio::test(flavor = "multi_thread")]
async fn without_redis_nothing_is_reserved_and_it_recovers_by_itself() {
    let mut server = Server::new();
    let world = World::at(&server.url());
    let (key, id) = (meter("away"), world.reservation());
    let tenant = world.nodes[0].tenant(world.corner.id);
    let want = hard(key, 40, 100);
    let refused = || async {
        let asked = timeout(Duration::from_secs(5), tenant.reserve(id, &[want], at(1_000), at(2_000))).await;
        assert!(matches!(asked, Ok(Err(MeterError::Unavailable(_)))), "{asked:?}");
    };
    assert!(RedisMeters::answers(&server.url()).await.is_err());
    refused().await;
    server.start();
    RedisMeters::answers(&server.url()).await.unwrap();
    assert_eq!(reserved_in_the_end(&world, want).await, (0, 40));
    server.kill();
    refused().await;
    refused().await;
    server.start();
    assert_eq!(reserved_in_the_end(&world, want).await, (0, 40));
}

/// Reserves as soon as that can be done, and says how the meter stands then.
async fn reserved_in_the_end(world: &World, want: store::Want) -> (u64, u64) {
    let tenant = world.nodes[0].tenant(world.corner.id);
    let trying = async {
        while tenant.reserve(world.reservation(), &[want], at(1_000), at(2_000)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(5), trying).await.expect("it recovers");
    tenant.levels(&[want.key], at(1_000)).await.unwrap()[0]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_redis_could_not_be_told_it_is_told_later() {
    let mut server = Server::new();
    server.start();
    let world = World::at(&server.url());
    let (key, id) = (meter("owed"), world.reservation());
    let tenant = world.nodes[0].tenant(world.corner.id);
    world.reserve(id, &[hard(key, 40, 100)]).await;
    // It does not answer for a while, and loses nothing.
    let mut redis = world.redis().await;
    let pause = redis::cmd("CLIENT").arg("PAUSE").arg(1_500).query_async::<()>(&mut redis).await;
    pause.unwrap();
    let spent = settlement(id, &[(key, 30)]);
    world.commit(&spent).await;
    assert!(tenant.settled(&spent).await.is_err());
    assert_eq!(reserved_in_the_end(&world, hard(key, 1, 100)).await, (30, 1));
}

/// Whatever was running when Redis lost its memory can be spent once more, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_is_killed_under_load_lets_no_more_through_than_was_running() {
    const SPENDERS: usize = 32;
    const LIMIT: u64 = 20_000;
    const KILLS: u64 = 3;
    let mut server = Server::new();
    server.start();
    let world = World::at(&server.url());
    let (key, tenant) = (meter("killed"), world.corner.id);
    let running = SPENDERS as u64 * 7;
    let (mut tasks, stop) = (JoinSet::new(), Arc::new(AtomicBool::new(false)));
    for task in 0..SPENDERS {
        let (node, truth) = (Arc::clone(&world.nodes[task % 2]), Arc::clone(&world.truth));
        let (corner, stop) = (store::conformance::Corner::of(&*truth), Arc::clone(&stop));
        tasks.spawn(async move {
            let (mut used, mut refused) = (0, 0);
            while !stop.load(Ordering::SeqCst) {
                let stories = vec![store::conformance::Story::new(tenant, corner.fresh())];
                let (more, failed) = use_up(&node, &*truth, tenant, stories, hard(key, 7, LIMIT)).await;
                (used, refused) = (used + more, refused + failed);
            }
            (used, refused)
        });
    }
    let spent = || async { world.corner.tenant.levels(&[key], at(3_000)).await.unwrap()[0].0 };
    for kill in 1..=KILLS {
        // The last time when there is just about room for those who are running.
        while spent().await < LIMIT * kill / KILLS - running {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.kill();
        server.start();
    }
    let filled = async {
        while spent().await + 7 <= LIMIT {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    // What is counted twice is in the way for longer than this.
    let _ = timeout(Duration::from_secs(2), filled).await;
    stop.store(true, Ordering::SeqCst);
    let (used, refused) = tasks
        .join_all()
        .await
        .into_iter()
        .fold((0, 0), |sum, (used, refused)| (sum.0 + used, sum.1 + refused));
    assert!(refused > 0, "nobody noticed");
    // Whatever was counted twice is to be had now.
    world.lose(":spent").await;
    let stories = (0..LIMIT).map(|_| world.corner.story()).collect();
    let (rest, _) = use_up(&world.nodes[0], &*world.truth, tenant, stories, hard(key, 7, LIMIT)).await;
    let used = used + rest;
    assert!(used + 7 > LIMIT, "only {used} of {LIMIT} were spent");
    assert!(used <= LIMIT + KILLS * running, "{used} of {LIMIT} were spent");
    let recorded = world.corner.tenant.levels(&[key], at(3_000)).await.unwrap();
    assert_eq!(recorded, [(used, 0)]);
    world.lose(":spent").await;
    assert_eq!(world.stands(key, 3_000).await, (used, 0), "and nothing stays reserved");
}
