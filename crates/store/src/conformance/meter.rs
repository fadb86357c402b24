//! What is promised of meters.

use std::sync::Arc;

use ledger::sha256;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{Corner, Story, at};
use crate::{
    Commit, CommitError, Level, MeterKey, ReservationId, Reserved, Settlement, Store, TenantStore, Want,
};

const MOST: u64 = i64::MAX.unsigned_abs();

fn meter(name: &str) -> MeterKey {
    MeterKey { meter: sha256(name.as_bytes()), window: 0 }
}

fn hard(key: MeterKey, amount: u64, limit: u64) -> Want {
    Want { key, limit, amount, hard: true }
}

fn level(want: Want, spent: u64, reserved: u64) -> Level {
    Level { key: want.key, limit: want.limit, spent, reserved, amount: want.amount }
}

fn settlement(id: ReservationId, spent: &[(MeterKey, u64)]) -> Settlement {
    Settlement { id, spent: spent.to_vec() }
}

impl Corner {
    fn reservation(&self) -> ReservationId {
        self.story().run.into()
    }

    /// Reserves from the moment 1000 until 2000.
    async fn reserve(&self, id: ReservationId, wants: &[Want]) -> Reserved {
        self.tenant.reserve(id, wants, at(1_000), at(2_000)).await.unwrap()
    }

    async fn settle(&self, settled: Vec<Settlement>) {
        self.tenant.commit(Commit { settled, ..Commit::default() }).await.unwrap();
    }

    /// What is spent and reserved at the moment 1000.
    async fn stands(&self, key: MeterKey) -> (u64, u64) {
        self.tenant.levels(&[key], at(1_000)).await.unwrap()[0]
    }
}

pub async fn a_reservation_holds_room_until_it_is_settled_released_or_expires(store: &dyn Store) {
    let corner = Corner::of(store);
    let (key, other) = (meter("tokens"), MeterKey { window: 60_000, ..meter("tokens") });
    assert_eq!(corner.tenant.levels(&[key, other, key], at(1_000)).await.unwrap(), [(0, 0); 3]);
    let [first, second, third] = [(); 3].map(|()| corner.reservation());
    let want = hard(key, 40, 100);
    assert_eq!(corner.reserve(first, &[want]).await, Reserved::Held(vec![level(want, 0, 0)]));
    assert_eq!(corner.reserve(second, &[want]).await, Reserved::Held(vec![level(want, 0, 40)]));
    assert_eq!(corner.reserve(third, &[want]).await, Reserved::Short(vec![level(want, 0, 80)]));
    assert_eq!(corner.stands(key).await, (0, 80), "what is short reserves nothing");
    assert_eq!(corner.stands(other).await, (0, 0), "another window is another meter");

    // Given back, it is there for others; giving back what is not there changes nothing.
    corner.tenant.release(first).await.unwrap();
    corner.tenant.release(first).await.unwrap();
    corner.tenant.release(third).await.unwrap();
    assert_eq!(corner.stands(key).await, (0, 40));
    assert_eq!(corner.reserve(third, &[want]).await, Reserved::Held(vec![level(want, 0, 40)]));
    // Settled, what was really spent takes its place, be it less or more.
    corner.settle(vec![settlement(second, &[(key, 15)])]).await;
    assert_eq!(corner.stands(key).await, (15, 40));
    corner.settle(vec![settlement(third, &[(key, 50), (other, 7)])]).await;
    assert_eq!(corner.tenant.levels(&[other, key], at(1_000)).await.unwrap(), [(7, 0), (65, 0)]);
    // It ends by itself, exactly then; what was spent is settled all the same, also of what never was.
    let late = hard(key, 35, 100);
    assert_eq!(corner.reserve(first, &[late]).await, Reserved::Held(vec![level(late, 65, 0)]));
    let one = hard(key, 1, 100);
    let short = corner.tenant.reserve(second, &[one], at(1_999), at(3_000)).await.unwrap();
    assert_eq!(short, Reserved::Short(vec![level(one, 65, 35)]));
    assert_eq!(corner.tenant.levels(&[key], at(2_000)).await.unwrap(), [(65, 0)]);
    let held = corner.tenant.reserve(second, &[one], at(2_000), at(3_000)).await.unwrap();
    assert_eq!(held, Reserved::Held(vec![level(one, 65, 0)]));
    corner.settle(vec![settlement(first, &[(key, 30)]), settlement(corner.reservation(), &[(key, 2)])]).await;
    assert_eq!(corner.tenant.levels(&[key], at(2_000)).await.unwrap(), [(97, 1)]);
    corner.settle(vec![settlement(second, &[])]).await;
    assert_eq!(corner.tenant.levels(&[key], at(2_000)).await.unwrap(), [(97, 0)]);
}

pub async fn a_hard_limit_is_in_the_way_of_all_and_a_soft_one_of_nothing(store: &dyn Store) {
    let corner = Corner::of(store);
    let [money, calls, words] = ["money", "calls", "words"].map(meter);
    let soft = Want { hard: false, ..hard(money, 80, 50) };
    let wants = [hard(calls, 1, 1), soft, hard(words, 10, 10)];
    let first = corner.reservation();
    let Reserved::Held(levels) = corner.reserve(first, &wants).await else { panic!("it fits") };
    assert_eq!(levels, wants.map(|want| level(want, 0, 0)));
    assert_eq!(levels.iter().map(Level::fits).collect::<Vec<_>>(), [true, false, true]);
    let Reserved::Short(levels) = corner.reserve(corner.reservation(), &wants).await else {
        panic!("it does not fit")
    };
    assert_eq!(levels, [level(wants[0], 0, 1), level(soft, 0, 80), level(wants[2], 0, 10)]);
    assert!(levels.iter().all(|level| !level.fits()));
    let both = corner.tenant.levels(&[money, calls, words], at(1_000)).await.unwrap();
    assert_eq!(both, [(0, 80), (0, 1), (0, 10)]);

    // Asked again, it holds what it asks for now; if that does not fit, what it held.
    let less = [hard(calls, 1, 1), hard(words, 4, 10)];
    assert_eq!(corner.reserve(first, &less).await, Reserved::Held(less.map(|want| level(want, 0, 0)).into()));
    let more = hard(words, 11, 10);
    assert_eq!(corner.reserve(first, &[more]).await, Reserved::Short(vec![level(more, 0, 0)]));
    let both = corner.tenant.levels(&[money, calls, words], at(1_000)).await.unwrap();
    assert_eq!(both, [(0, 0), (0, 1), (0, 4)]);
    // Wants of one meter add up.
    let twice = [hard(words, 3, 10), hard(words, 4, 10)];
    assert!(matches!(corner.reserve(corner.reservation(), &twice).await, Reserved::Short(_)));
    let twice = [hard(words, 3, 10), hard(words, 3, 10)];
    assert!(matches!(corner.reserve(corner.reservation(), &twice).await, Reserved::Held(_)));
    assert_eq!(corner.stands(words).await, (0, 10));
    // Nothing is always to be had, and no number is too large.
    assert_eq!(corner.reserve(corner.reservation(), &[]).await, Reserved::Held(vec![]));
    let all = hard(money, u64::MAX, u64::MAX);
    let everything = corner.reservation();
    assert!(matches!(corner.reserve(everything, &[all]).await, Reserved::Held(_)));
    corner.settle(vec![settlement(everything, &[(money, u64::MAX), (money, 5)])]).await;
    corner.settle(vec![settlement(everything, &[(money, 9)])]).await;
    assert_eq!(corner.stands(money).await, (MOST, 0));
}

pub async fn what_is_settled_commits_with_its_run_or_not_at_all(store: &dyn Store) {
    let corner = Corner::of(store);
    let (key, id) = (meter("calls"), corner.reservation());
    corner.reserve(id, &[hard(key, 5, 10)]).await;
    let mut story = corner.story();
    corner.append([story.go_on(1)]).await.unwrap();
    let stale = Story::new(corner.id, story.run).finish();
    let settled = vec![settlement(id, &[(key, 4)])];
    let commit = Commit { appends: vec![stale], settled: settled.clone(), ..Commit::default() };
    let refused = corner.tenant.commit(commit).await;
    assert!(matches!(refused, Err(CommitError::Moved { .. })), "{refused:?}");
    assert_eq!(corner.stands(key).await, (0, 5), "a refused commit settles nothing");
    let commit = Commit { appends: vec![story.finish()], settled, ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();
    assert_eq!(corner.stands(key).await, (4, 0));
    assert_eq!(corner.read(story.run).await.len(), 2);
}

pub async fn concurrent_reservers_fill_a_hard_limit_and_never_exceed_it(store: &dyn Store) {
    Corner::of(store).race_for_room(&[store]).await;
}

impl Corner {
    /// Sixty-four at once want room that forty have, by all of these stores, which are of one database. Then they reserve
    /// and settle until nothing is left.
    pub async fn race_for_room(&self, stores: &[&dyn Store]) {
        const MANY: usize = 64;
        let handle = |task: usize| stores[task % stores.len()].tenant(self.id);
        let (one, other) = (meter("one"), meter("other"));
        let (mut tasks, start) = (JoinSet::new(), Arc::new(Barrier::new(MANY)));
        for task in 0..MANY {
            let (tenant, start, id) = (handle(task), Arc::clone(&start), self.reservation());
            tasks.spawn(async move {
                // In either order.
                let mut wants = [hard(one, 3, 120), hard(other, 1, 1_000)];
                if task % 2 == 1 {
                    wants.reverse();
                }
                start.wait().await;
                tenant.reserve(id, &wants, at(1_000), at(2_000)).await.unwrap()
            });
        }
        let reserved = tasks.join_all().await;
        let held = reserved.iter().filter(|reserved| matches!(reserved, Reserved::Held(_))).count();
        assert_eq!(held, 40);
        for store in stores {
            let levels = store.tenant(self.id).levels(&[one, other], at(1_000)).await.unwrap();
            assert_eq!(levels, [(0, 120), (0, 40)]);
        }

        // All of those are dead by now.
        let mut tasks = JoinSet::new();
        for task in 0..MANY {
            let tenant = handle(task);
            let stories: Vec<Story> = (0..8).map(|_| self.story()).collect();
            tasks.spawn(async move { use_up(&*tenant, stories, one).await });
        }
        let used: u64 = tasks.join_all().await.into_iter().sum();
        assert_eq!(used, 100);
        for store in stores {
            let levels = store.tenant(self.id).levels(&[one], at(3_000)).await.unwrap();
            assert_eq!(levels, [(100, 0)]);
        }
    }
}

/// Reserves and settles one at a time, as long as there is room and there are runs to tell of it.
async fn use_up(tenant: &dyn TenantStore, stories: Vec<Story>, key: MeterKey) -> u64 {
    let mut used = 0;
    for mut story in stories {
        let id = story.run.into();
        match tenant.reserve(id, &[hard(key, 1, 100)], at(3_000), at(4_000)).await.unwrap() {
            Reserved::Held(levels) => assert!(levels[0].spent + levels[0].reserved < 100, "{levels:?}"),
            Reserved::Short(levels) => {
                // What is spent and what is reserved are of one moment: neither is missing, and none is counted twice.
                assert_eq!(levels[0].spent + levels[0].reserved, 100, "{levels:?}");
                break;
            }
        }
        let settled = vec![settlement(id, &[(key, 1)])];
        tenant.commit(Commit { appends: vec![story.finish()], settled, ..Commit::default() }).await.unwrap();
        used += 1;
    }
    used
}

pub async fn old_windows_are_forgotten(store: &dyn Store) {
    let corner = Corner::of(store);
    // Windows that nobody else uses, in a store that others may be using too.
    let window = |window: i64| MeterKey { window, ..meter("minutes") };
    let keys = [-9_000, -8_000, -7_000, 0].map(window);
    corner.settle(vec![settlement(corner.reservation(), &keys.map(|key| (key, 3)))]).await;
    let stands = async || corner.tenant.levels(&keys, at(1_000)).await.unwrap();
    assert_eq!(stands().await, [(3, 0); 4]);
    assert!(store.forget_meters(-7_000).await.unwrap() >= 2);
    assert_eq!(stands().await, [(0, 0), (0, 0), (3, 0), (3, 0)]);
    // Whoever comes late is counted, from nothing.
    corner.settle(vec![settlement(corner.reservation(), &[(keys[0], 1)])]).await;
    assert_eq!(stands().await, [(1, 0), (0, 0), (3, 0), (3, 0)]);
}

pub async fn a_meter_is_its_tenants_own(store: &dyn Store) {
    let (owner, stranger) = (Corner::of(store), Corner::of(store));
    let (key, id) = (meter("shared"), owner.reservation());
    owner.settle(vec![settlement(owner.reservation(), &[(key, 5)])]).await;
    owner.reserve(id, &[hard(key, 3, 9)]).await;
    assert_eq!(stranger.stands(key).await, (0, 0));
    // Neither by its id nor by its meter.
    stranger.tenant.release(id).await.unwrap();
    stranger.settle(vec![settlement(id, &[(key, 2)])]).await;
    let want = hard(key, 7, 9);
    assert_eq!(stranger.reserve(id, &[want]).await, Reserved::Held(vec![level(want, 2, 0)]));
    assert_eq!(owner.stands(key).await, (5, 3));
    assert_eq!(stranger.stands(key).await, (2, 7));
}
