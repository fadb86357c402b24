//! Whoever operates the database rewrites what happened, keys and all; the copies convict.

use ledger::Log;
use outbox::{AuditShipment, Comparison, Copies, Sink, compare, log_of};
use schema::RunId;
use serde_json::json;
use std::sync::Arc;
use store::conformance::Story;
use store::sqlite::{Durability, SqliteStore};
use store::{Commit, Settle, Store};
use tempfile::TempDir;

use crate::world::{NOW, World, clock, handled, tenant};

/// A house whose database can be another one from one day to the next.
struct House {
    _database: TempDir,
    world: World,
}

impl House {
    async fn with(runs: &[&str]) -> Self {
        let database = tempfile::tempdir().unwrap();
        let house = Self { world: World::of(open(&database)), _database: database };
        house.write(runs).await;
        house
    }

    /// Runs that say these words.
    async fn write(&self, runs: &[&str]) {
        let from = self.world.tenant(1).log_size().await.unwrap();
        for (word, number) in runs.iter().zip(from..) {
            let mut story = Story::new(tenant(1), RunId::new(NOW + number, [1; 10]));
            let events = vec![
                story.event("run.started", json!({ "kind": "chat", "request": word })),
                story.event("run.finished", json!({ "status": "completed" })),
            ];
            let appends = vec![story.append(events, Settle::Leaf)];
            self.world.tenant(1).commit(Commit { appends, ..Commit::default() }).await.unwrap();
        }
    }

    /// Copies the head to a place that outlives the database.
    async fn ship(&self) {
        let sink = Sink::file("lines", self.world.folder.path().join("audit.jsonl"));
        let shipment = AuditShipment::new(self.world.store.clone(), vec![sink], self.world.logs(), clock);
        handled(&shipment, json!({ "sink": "lines" })).await.unwrap();
    }

    /// Puts a database with another history in the place of the one that is there, under the same keys.
    async fn rewrite(self, runs: &[&str]) -> Self {
        let database = tempfile::tempdir().unwrap();
        let world = World { store: Arc::new(open(&database)), ..self.world };
        let house = Self { _database: database, world };
        house.write(runs).await;
        // By itself there is nothing wrong with it.
        store::audit(&*house.world.tenant(1), tenant(1)).await.unwrap();
        house
    }

    async fn compared(&self) -> Comparison {
        let text = std::fs::read_to_string(self.world.folder.path().join("audit.jsonl")).unwrap();
        let copies = Copies::read(&text, &self.world.trust(&[1])).unwrap();
        let origin = format!("punk.local/{}", tenant(1)).parse().unwrap();
        compare(&copies.checkpoints, &origin, &log_of(&*self.world.tenant(1)).await.unwrap())
    }
}

fn open(folder: &TempDir) -> impl Store + 'static {
    SqliteStore::open(&folder.path().join("punk.db"), Durability::Commit).unwrap()
}

#[tokio::test]
async fn a_shipped_copy_convicts_a_database_that_was_rewritten() {
    let house = House::with(&["a", "b"]).await;
    house.ship().await;
    house.write(&["c", "d"]).await;
    house.ship().await;
    house.write(&["e"]).await;
    assert_eq!(house.compared().await, Comparison::Consistent { checkpoints: 2 });

    // The very same again is no other history: the same words, hashed alike.
    let house = house.rewrite(&["a", "b", "c", "d", "e"]).await;
    assert_eq!(house.compared().await, Comparison::Consistent { checkpoints: 2 });
    let house = house.rewrite(&["a", "b", "c", "another", "e"]).await;
    assert_eq!(house.compared().await, Comparison::Rewritten { kept: 2, until: 4 });
    let house = house.rewrite(&["another", "b", "c", "d", "e", "f"]).await;
    assert_eq!(house.compared().await, Comparison::Rewritten { kept: 0, until: 2 });
    let house = house.rewrite(&["a", "b", "c"]).await;
    assert_eq!(house.compared().await, Comparison::Rewritten { kept: 2, until: 4 });
    // The rest of it, shipped in its turn, does not cover the trace.
    house.ship().await;
    house.write(&["d", "e"]).await;
    house.ship().await;
    assert_eq!(house.compared().await, Comparison::Consistent { checkpoints: 4 }, "it is what it was");
    let house = house.rewrite(&["a", "b", "c", "x", "y", "z"]).await;
    house.ship().await;
    assert_eq!(house.compared().await, Comparison::Rewritten { kept: 3, until: 4 });
}

#[test]
fn a_log_of_which_nothing_was_shipped_is_not_judged() {
    let origin = "punk.local/ten_x".parse().unwrap();
    assert_eq!(compare(&[], &origin, &Log::default()), Comparison::Consistent { checkpoints: 0 });
}
