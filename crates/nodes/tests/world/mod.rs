//! Nodes over one database and one Redis, and what they do.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests; each test file uses some of them"
)]

pub(crate) mod server;

use std::sync::Arc;

use ledger::sha256;
use nodes::{MeterError, RedisMeters};
use redis::aio::MultiplexedConnection;
use store::conformance::{Corner, Story, at};
use store::memory::MemoryStore;
use store::{Commit, Level, MeterKey, ReservationId, Reserved, Settlement, Store, Want};

/// The Redis that tests share, each with a tenant of its own.
pub(crate) fn shared() -> String {
    std::env::var("PUNK_TEST_REDIS_URL").expect(
        "PUNK_TEST_REDIS_URL is not set: run `cargo xtask test`, or set it to a throw-away server, such as \
         redis://127.0.0.1:6379",
    )
}

/// Two nodes of one installation, and a tenant that nobody else uses.
pub(crate) struct World {
    pub(crate) truth: Arc<dyn Store>,
    pub(crate) nodes: [Arc<RedisMeters>; 2],
    pub(crate) corner: Corner,
    url: String,
}

impl World {
    pub(crate) fn at(url: &str) -> Self {
        let truth: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let corner = Corner::of(&*truth);
        let node = |number| Arc::new(RedisMeters::new(url, Arc::clone(&truth), [number; 16]).unwrap());
        Self { nodes: [node(1), node(2)], corner, url: url.to_owned(), truth }
    }

    pub(crate) fn reservation(&self) -> ReservationId {
        self.corner.story().run.into()
    }

    /// Reserves from the moment 1000 until 2000, by the first node.
    pub(crate) async fn reserve(&self, id: ReservationId, wants: &[Want]) -> Reserved {
        self.nodes[0].tenant(self.corner.id).reserve(id, wants, at(1_000), at(2_000)).await.unwrap()
    }

    pub(crate) async fn release(&self, id: ReservationId) {
        self.nodes[0].tenant(self.corner.id).release(id).await.unwrap();
    }

    /// Writes down what was spent, as a run does, and tells the first node nothing of it.
    pub(crate) async fn commit(&self, settlement: &Settlement) {
        let commit = Commit { settled: vec![settlement.clone()], ..Commit::default() };
        self.corner.tenant.commit(commit).await.unwrap();
    }

    /// Writes down what was spent, and tells the first node.
    pub(crate) async fn settle(&self, settlement: Settlement) {
        self.commit(&settlement).await;
        self.nodes[0].tenant(self.corner.id).settled(&settlement).await.unwrap();
    }

    /// What is spent and reserved at a moment. Both nodes say the same.
    pub(crate) async fn stands(&self, key: MeterKey, moment: u64) -> (u64, u64) {
        let [one, other] = [0, 1].map(|node: usize| self.nodes[node].tenant(self.corner.id));
        let said = one.levels(&[key], at(moment)).await.unwrap()[0];
        assert_eq!(other.levels(&[key], at(moment)).await.unwrap(), [said]);
        said
    }

    pub(crate) async fn redis(&self) -> MultiplexedConnection {
        let client = redis::Client::open(self.url.as_str()).unwrap();
        client.get_multiplexed_async_connection().await.unwrap()
    }

    /// The keys that Redis has of this tenant.
    pub(crate) async fn keys(&self) -> Vec<String> {
        let pattern = format!("punk:{{{}}}:*", self.corner.id);
        redis::cmd("KEYS").arg(pattern).query_async(&mut self.redis().await).await.unwrap()
    }

    /// Does what a node does that finds no counter. Gives the name of the reading.
    pub(crate) async fn begin_reading(&self, key: MeterKey) -> String {
        let note = self.key(key, "loading");
        let script = redis::Script::new(
            "redis.call('HSET', KEYS[1], 'name', 'somebody'); redis.call('PEXPIRE', KEYS[1], 10000)",
        );
        let () = script.key(note).invoke_async(&mut self.redis().await).await.unwrap();
        "somebody".to_owned()
    }

    /// Does what a node does that has read the database.
    pub(crate) async fn end_reading(&self, key: MeterKey, name: &str, spent: u64) {
        let text = concat!(
            include_str!("../../src/meters/standing.lua"),
            include_str!("../../src/meters/learn.lua")
        );
        let script = redis::Script::new(text);
        let mut learn = script.prepare_invoke();
        learn.key(self.key(key, "spent")).key(self.key(key, "loading"));
        learn.arg(30_000).arg("exact").arg(name).arg(spent);
        let () = learn.invoke_async(&mut self.redis().await).await.unwrap();
    }

    fn key(&self, MeterKey { meter, window }: MeterKey, what: &str) -> String {
        format!("punk:{{{}}}:meter:{meter}:{window}:{what}", self.corner.id)
    }

    /// Takes the keys away whose names end so.
    pub(crate) async fn lose(&self, ending: &str) {
        for key in self.keys().await.into_iter().filter(|key| key.ends_with(ending)) {
            let () = redis::cmd("DEL").arg(key).query_async(&mut self.redis().await).await.unwrap();
        }
    }
}

/// Reserves, writes down and settles one at a time, as long as there is room and there are runs to tell of it. How much
/// it spent, and how often it was refused because nobody could count.
pub(crate) async fn use_up(
    node: &RedisMeters,
    truth: &dyn Store,
    tenant: schema::TenantId,
    stories: Vec<Story>,
    want: Want,
) -> (u64, u64) {
    let (meters, truth) = (node.tenant(tenant), truth.tenant(tenant));
    let (mut used, mut refused) = (0, 0);
    for mut story in stories {
        let id = story.run.into();
        match meters.reserve(id, &[want], at(3_000), at(4_000)).await {
            Ok(Reserved::Held(_)) => {}
            Ok(Reserved::Short(_)) => break,
            Err(MeterError::Unavailable(_) | MeterError::Forgetful) => {
                refused += 1;
                tokio::task::yield_now().await;
                continue;
            }
            Err(MeterError::Store(error)) => panic!("{error}"),
        }
        let settlement = Settlement { id, spent: vec![(want.key, want.amount)] };
        let settled = vec![settlement.clone()];
        truth.commit(Commit { appends: vec![story.finish()], settled, ..Commit::default() }).await.unwrap();
        // What Redis is not told now it is told later.
        let _ = meters.settled(&settlement).await;
        used += want.amount;
    }
    (used, refused)
}

pub(crate) fn meter(name: &str) -> MeterKey {
    MeterKey { meter: sha256(name.as_bytes()), window: 0 }
}

pub(crate) fn hard(key: MeterKey, amount: u64, limit: u64) -> Want {
    Want { key, limit, amount, hard: true }
}

pub(crate) fn level(want: Want, spent: u64, reserved: u64) -> Level {
    Level { key: want.key, limit: want.limit, spent, reserved, amount: want.amount }
}

pub(crate) fn settlement(id: ReservationId, spent: &[(MeterKey, u64)]) -> Settlement {
    Settlement { id, spent: spent.to_vec() }
}
