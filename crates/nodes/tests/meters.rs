//! What is promised of meters, kept in Redis: what the store's own conformance suite promises, and what comes of there being
//! two places.
//!
//! `PUNK_TEST_REDIS_URL` names the server; `cargo xtask test` starts a private one and sets it.

mod world;

use std::sync::Arc;

use store::conformance::{Corner, at};
use store::{Level, MeterKey, Reserved, Want};
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use world::{World, hard, level, meter, settlement, shared, use_up};

const MANY: usize = 64;

#[tokio::test]
async fn a_reservation_holds_room_until_it_is_settled_released_or_expires() {
    let world = World::at(&shared());
    let (key, other) = (meter("tokens"), MeterKey { window: 60_000, ..meter("tokens") });
    let tenant = world.nodes[1].tenant(world.corner.id);
    assert_eq!(tenant.levels(&[key, other, key], at(1_000)).await.unwrap(), [(0, 0); 3]);
    let [first, second, third] = [(); 3].map(|()| world.reservation());
    let want = hard(key, 40, 100);
    assert_eq!(world.reserve(first, &[want]).await, Reserved::Held(vec![level(want, 0, 0)]));
    assert_eq!(world.reserve(second, &[want]).await, Reserved::Held(vec![level(want, 0, 40)]));
    assert_eq!(world.reserve(third, &[want]).await, Reserved::Short(vec![level(want, 0, 80)]));
    assert_eq!(world.stands(key, 1_000).await, (0, 80), "what is short reserves nothing");
    assert_eq!(world.stands(other, 1_000).await, (0, 0), "another window is another meter");

    // Given back, it is there for others; giving back what is not there changes nothing.
    for id in [first, first, third] {
        world.release(id).await;
    }
    assert_eq!(world.stands(key, 1_000).await, (0, 40));
    assert_eq!(world.reserve(third, &[want]).await, Reserved::Held(vec![level(want, 0, 40)]));
    // Settled, what was really spent takes its place, be it less or more.
    world.settle(settlement(second, &[(key, 15)])).await;
    assert_eq!(world.stands(key, 1_000).await, (15, 40));
    world.settle(settlement(third, &[(key, 50), (other, 7)])).await;
    assert_eq!(tenant.levels(&[other, key], at(1_000)).await.unwrap(), [(7, 0), (65, 0)]);
    // It ends by itself, exactly then; what was spent is settled all the same, also of what never was.
    let late = hard(key, 35, 100);
    assert_eq!(world.reserve(first, &[late]).await, Reserved::Held(vec![level(late, 65, 0)]));
    let one = hard(key, 1, 100);
    let short = tenant.reserve(second, &[one], at(1_999), at(3_000)).await.unwrap();
    assert_eq!(short, Reserved::Short(vec![level(one, 65, 35)]));
    assert_eq!(world.stands(key, 2_000).await, (65, 0));
    let held = tenant.reserve(second, &[one], at(2_000), at(3_000)).await.unwrap();
    assert_eq!(held, Reserved::Held(vec![level(one, 65, 0)]));
    world.settle(settlement(first, &[(key, 30)])).await;
    world.settle(settlement(world.reservation(), &[(key, 2)])).await;
    assert_eq!(world.stands(key, 2_000).await, (97, 1));
    world.settle(settlement(second, &[])).await;
    assert_eq!(world.stands(key, 2_000).await, (97, 0));
}

#[tokio::test]
async fn a_hard_limit_is_in_the_way_of_all_and_a_soft_one_of_nothing() {
    let world = World::at(&shared());
    let tenant = world.nodes[1].tenant(world.corner.id);
    let [money, calls, words] = ["money", "calls", "words"].map(meter);
    let soft = Want { hard: false, ..hard(money, 80, 50) };
    let wants = [hard(calls, 1, 1), soft, hard(words, 10, 10)];
    let first = world.reservation();
    let Reserved::Held(levels) = world.reserve(first, &wants).await else { panic!("it fits") };
    assert_eq!(levels, wants.map(|want| level(want, 0, 0)));
    assert_eq!(levels.iter().map(Level::fits).collect::<Vec<_>>(), [true, false, true]);
    let Reserved::Short(levels) = world.reserve(world.reservation(), &wants).await else {
        panic!("it does not fit")
    };
    assert_eq!(levels, [level(wants[0], 0, 1), level(soft, 0, 80), level(wants[2], 0, 10)]);
    let all = [money, calls, words];
    assert_eq!(tenant.levels(&all, at(1_000)).await.unwrap(), [(0, 80), (0, 1), (0, 10)]);

    // Asked again, it holds what it asks for now; if that does not fit, what it held.
    let less = [hard(calls, 1, 1), hard(words, 4, 10)];
    assert_eq!(world.reserve(first, &less).await, Reserved::Held(less.map(|want| level(want, 0, 0)).into()));
    let more = hard(words, 11, 10);
    assert_eq!(world.reserve(first, &[more]).await, Reserved::Short(vec![level(more, 0, 0)]));
    assert_eq!(tenant.levels(&all, at(1_000)).await.unwrap(), [(0, 0), (0, 1), (0, 4)]);
    // Wants of one meter add up.
    let twice = [hard(words, 3, 10), hard(words, 4, 10)];
    assert!(matches!(world.reserve(world.reservation(), &twice).await, Reserved::Short(_)));
    let twice = [hard(words, 3, 10), hard(words, 3, 10)];
    assert!(matches!(world.reserve(world.reservation(), &twice).await, Reserved::Held(_)));
    assert_eq!(world.stands(words, 1_000).await, (0, 10));
    // Nothing is always to be had, and no number is too large.
    assert_eq!(world.reserve(world.reservation(), &[]).await, Reserved::Held(vec![]));
    let everything = world.reservation();
    assert!(matches!(world.reserve(everything, &[hard(money, u64::MAX, u64::MAX)]).await, Reserved::Held(_)));
    world.settle(settlement(everything, &[(money, u64::MAX), (money, 5)])).await;
    assert_eq!(world.stands(money, 1_000).await, (1 << 51, 0), "more than there is money");
    assert!(matches!(world.reserve(everything, &[hard(money, 1, 1 << 51)]).await, Reserved::Short(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn reservers_on_two_nodes_fill_a_hard_limit_and_never_exceed_it() {
    let world = World::at(&shared());
    let (one, other) = (meter("one"), meter("other"));
    let (mut tasks, start) = (JoinSet::new(), Arc::new(Barrier::new(MANY)));
    for task in 0..MANY {
        let (node, tenant) = (Arc::clone(&world.nodes[task % 2]), world.corner.id);
        let (start, id) = (Arc::clone(&start), world.reservation());
        tasks.spawn(async move {
            let mut wants = [hard(one, 3, 120), hard(other, 1, 1_000)];
            if task % 2 == 1 {
                wants.reverse();
            }
            start.wait().await;
            // The first of them find no counter, all at once.
            node.tenant(tenant).reserve(id, &wants, at(1_000), at(2_000)).await.unwrap()
        });
    }
    let reserved = tasks.join_all().await;
    assert_eq!(reserved.iter().filter(|reserved| matches!(reserved, Reserved::Held(_))).count(), 40);
    assert_eq!(world.stands(one, 1_000).await, (0, 120));
    assert_eq!(world.stands(other, 1_000).await, (0, 40));
    // All of those are dead by now; others reserve and settle until nothing is left.
    assert_eq!(spend_all(&world, hard(one, 1, 100), 8).await, 100);
    assert_eq!(world.stands(one, 3_000).await, (100, 0));
    assert_eq!(world.corner.tenant.levels(&[one], at(3_000)).await.unwrap(), [(100, 0)]);
}

/// Sixty-four on two nodes spend, so often each, until nothing is left. How much they spent.
async fn spend_all(world: &World, want: Want, times: usize) -> u64 {
    let mut tasks = JoinSet::new();
    for task in 0..MANY {
        let (node, truth) = (Arc::clone(&world.nodes[task % 2]), Arc::clone(&world.truth));
        let stories = (0..times).map(|_| world.corner.story()).collect();
        let tenant = world.corner.id;
        tasks.spawn(async move { use_up(&node, &*truth, tenant, stories, want).await.0 });
    }
    tasks.join_all().await.into_iter().sum()
}

#[tokio::test]
async fn what_was_spent_before_is_read_from_the_database() {
    let world = World::at(&shared());
    let key = meter("known");
    world.commit(&settlement(world.reservation(), &[(key, 70)])).await;
    let want = hard(key, 40, 100);
    assert_eq!(world.reserve(world.reservation(), &[want]).await, Reserved::Short(vec![level(want, 70, 0)]));
    assert_eq!(world.stands(key, 1_000).await, (70, 0));
}

#[tokio::test]
async fn whoever_dies_between_the_commit_and_the_settlement_is_counted_all_the_time() {
    let world = World::at(&shared());
    let (key, id) = (meter("crash"), world.reservation());
    world.reserve(id, &[hard(key, 40, 100)]).await;
    world.commit(&settlement(id, &[(key, 30)])).await;
    assert_eq!(world.stands(key, 1_000).await, (0, 40), "by what it reserved");
    world.lose(":spent").await;
    assert_eq!(world.stands(key, 1_000).await, (30, 40), "twice, when the counter is read anew");
    assert_eq!(world.stands(key, 2_000).await, (30, 0), "once, when the reservation has ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_that_are_lost_under_load_let_nothing_more_through() {
    let world = Arc::new(World::at(&shared()));
    let key = meter("lossy");
    let spending = spend_all(&world, hard(key, 1, 1_000), 60);
    let losing = async {
        loop {
            world.lose(":spent").await;
            tokio::task::yield_now().await;
        }
    };
    let used = tokio::select! {
        used = spending => used,
        () = losing => unreachable!(),
    };
    assert!(used <= 1_000, "{used} were spent");
    world.lose(":spent").await;
    assert_eq!(world.stands(key, 3_000).await, (used, 0));
    // What was counted twice for a while is to be had now.
    assert_eq!(used + spend_all(&world, hard(key, 1, 1_000), 60).await, 1_000);
}

#[tokio::test]
async fn a_reading_that_is_older_than_a_settlement_is_made_again() {
    let world = World::at(&shared());
    let (key, id) = (meter("old"), world.reservation());
    world.reserve(id, &[hard(key, 40, 100)]).await;
    world.lose(":spent").await;
    // Somebody finds no counter, and reads the database before the commit…
    let name = world.begin_reading(key).await;
    // …which is settled before the reading is told.
    world.settle(settlement(id, &[(key, 30)])).await;
    world.end_reading(key, &name, 0).await;
    assert_eq!(world.stands(key, 1_000).await, (30, 0));
    // One that was made before Redis forgot everything is worth nothing either.
    world.lose(":spent").await;
    let name = world.begin_reading(key).await;
    world.lose("").await;
    world.end_reading(key, &name, 0).await;
    assert_eq!(world.stands(key, 1_000).await, (30, 0));
}

#[tokio::test]
async fn a_redis_that_forgets_knows_what_was_spent_and_what_is_settled_after() {
    let world = World::at(&shared());
    let (key, id) = (meter("flushed"), world.reservation());
    world.settle(settlement(world.reservation(), &[(key, 20)])).await;
    world.reserve(id, &[hard(key, 40, 100)]).await;
    assert_eq!(world.stands(key, 1_000).await, (20, 40));
    world.lose("").await;
    assert_eq!(world.stands(key, 1_000).await, (20, 0), "what goes on is not known");
    world.settle(settlement(id, &[(key, 30)])).await;
    assert_eq!(world.stands(key, 1_000).await, (50, 0));
    world.lose("").await;
    assert_eq!(world.stands(key, 1_000).await, (50, 0));
}

#[tokio::test]
async fn a_meter_is_its_tenants_own() {
    let (world, key) = (World::at(&shared()), meter("shared"));
    let id = world.reservation();
    world.settle(settlement(world.reservation(), &[(key, 5)])).await;
    world.reserve(id, &[hard(key, 3, 9)]).await;
    let stranger = Corner::of(&*world.truth).id;
    let stranger = world.nodes[0].tenant(stranger);
    assert_eq!(stranger.levels(&[key], at(1_000)).await.unwrap(), [(0, 0)]);
    // Neither by its id nor by its meter.
    stranger.release(id).await.unwrap();
    stranger.settled(&settlement(id, &[(key, 2)])).await.unwrap();
    assert_eq!(world.stands(key, 1_000).await, (5, 3));
}

#[tokio::test]
async fn nothing_stays_for_ever() {
    let (world, key) = (World::at(&shared()), meter("ends"));
    let [first, second] = [(); 2].map(|()| world.reservation());
    world.reserve(first, &[hard(key, 3, 9), hard(meter("also"), 1, 9)]).await;
    world.reserve(second, &[hard(key, 3, 9)]).await;
    world.settle(settlement(first, &[(key, 2)])).await;
    world.begin_reading(meter("read")).await;
    let keys = world.keys().await;
    assert!(keys.len() >= 5, "{keys:?}");
    for key in keys {
        let ttl = redis::cmd("PTTL").arg(&key).query_async::<i64>(&mut world.redis().await).await.unwrap();
        assert!((1..=61_000).contains(&ttl), "{key} stays for {ttl} ms");
    }
}
