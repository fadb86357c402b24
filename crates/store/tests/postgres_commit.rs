//! What a commit costs, and what becomes of one that nobody waits for any more.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod server;

use std::time::Duration;

use server::{Database, proxy, url};
use store::conformance::Corner;
use store::postgres::PostgresStore;
use store::{Append, Commit};
use tokio::time::{Instant, timeout};

/// As much as a commit can have.
fn full(corner: &Corner, append: Append) -> Commit {
    let policies = vec!["a policy".to_owned()];
    let mut commit = Commit { appends: vec![append], policies, ..Commit::default() };
    commit.jobs.push(corner.job());
    commit
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_takes_two_trips_to_the_server() {
    const TRIP: Duration = Duration::from_millis(150);
    let database = Database::new().await;
    database.store().await;
    let far = proxy::distant(&url(&database.name), TRIP).await;
    let store = PostgresStore::connect(&far).await.unwrap();
    let corner = Corner::of(&store);
    let mut fastest = [Duration::MAX; 2];
    // The first time the connection is made and the statements are prepared; the machine may be busy.
    for _ in 0..4 {
        let mut story = corner.story();
        for fastest in &mut fastest {
            let begun = Instant::now();
            corner.tenant.commit(full(&corner, story.finish())).await.unwrap();
            *fastest = begun.elapsed().min(*fastest);
        }
    }
    for (what, took) in ["a new run", "a run that exists"].into_iter().zip(fastest) {
        assert!(took < TRIP * 3, "{what}: {took:?}");
    }
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_is_abandoned_locks_nothing_and_spoils_no_connection() {
    let database = Database::new().await;
    let store = database.store().await;
    let corner = Corner::of(&store);
    let mut story = corner.story();
    corner.append([story.go_on(1)]).await.unwrap();

    // Somebody has the run, so that the commit waits for it; then its caller goes away.
    let mut holder = database.client().await;
    let held = holder.transaction().await.unwrap();
    held.query("SELECT seq FROM runs FOR UPDATE", &[]).await.unwrap();
    let append = story.finish();
    let abandoned =
        timeout(Duration::from_millis(300), corner.tenant.commit(full(&corner, append.clone()))).await;
    assert!(abandoned.is_err(), "it waits for the run");
    held.commit().await.unwrap();

    // Nobody holds the run, sooner than the server would end a transaction that does nothing.
    let outside = database.client().await;
    outside.batch_execute("SET lock_timeout = '5s'").await.unwrap();
    let row = outside.query_one("SELECT seq FROM runs FOR UPDATE", &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 1);

    // The same connection, since there is no other, is of use again.
    corner.append([append]).await.unwrap();
    let states = "SELECT count(*), count(*) FILTER (WHERE state LIKE '%transaction%') FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'punk'";
    let row = outside.query_one(states, &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (1, 0));
    assert_eq!(corner.tenant.log_head().await.unwrap().0, 1);
    database.drop().await;
}
