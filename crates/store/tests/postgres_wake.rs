//! Workers hear at once of work that another process made; a store here is what a process has.
//!
//! Polling is so rare in these stores that whoever hears nothing fails the test.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod server;

use std::time::Duration;

use server::{Database, proxy, url};
use store::conformance::{Corner, at, limit};
use store::postgres::PostgresStore;
use store::{Commit, JobQueue, Retry, Store as _};
use tokio::time::{Instant, timeout};
use tokio_postgres::Client;

/// Far beyond the end of a test.
const NEVER: Duration = Duration::from_secs(3600);
/// Beyond what a busy machine needs.
const SOON: Duration = Duration::from_secs(20);

async fn process(database: &Database) -> PostgresStore {
    PostgresStore::connect_polling(&url(&database.name), NEVER).await.unwrap()
}

/// Waits until `queue` says that there may be work.
async fn hears(queue: &dyn JobQueue) {
    timeout(SOON, queue.changed()).await.expect("it hears of the work");
}

/// Starts to listen and waits until that works: a listener's first sound is its own.
async fn listens(queue: &dyn JobQueue) {
    hears(queue).await;
    silence(queue).await;
}

/// Forgets what was heard before.
async fn silence(queue: &dyn JobQueue) {
    while timeout(Duration::from_millis(200), queue.changed()).await.is_ok() {}
}

async fn listeners(client: &Client) -> Vec<i32> {
    let listening = "SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'punk listener'";
    client.query(listening, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_hears_of_another_process_work() {
    let database = Database::new().await;
    let (first, second) = (process(&database).await, process(&database).await);
    let (corner, queue) = (Corner::of(&first), second.jobs());
    listens(&*queue).await;

    let begun = Instant::now();
    let ((), ()) = tokio::join!(hears(&*queue), corner.enqueue([corner.job()]));
    assert_eq!(queue.claim(corner.kinds(), at(1000), at(2000), limit(1)).await.unwrap().len(), 1);
    println!("heard after {:?}", begun.elapsed());
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_hears_of_work_that_is_to_be_done_again() {
    let database = Database::new().await;
    let (first, second) = (process(&database).await, process(&database).await);
    let (corner, queue) = (Corner::of(&first), second.jobs());
    corner.enqueue([corner.job()]).await;
    let claimed = corner.claim_one(1000, 2000).await;
    listens(&*queue).await;

    let failed = corner.queue.fail(claimed.job.id, claimed.token, "no", Retry::At(at(1000)));
    let ((), failed) = tokio::join!(hears(&*queue), failed);
    failed.unwrap();

    let claimed = corner.claim_one(1000, 2000).await;
    corner.queue.fail(claimed.job.id, claimed.token, "no", Retry::Never).await.unwrap();
    silence(&*queue).await;
    let ((), put_back) = tokio::join!(hears(&*queue), corner.tenant.requeue(claimed.job.id, at(1000)));
    assert!(put_back.unwrap());
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_is_cut_off_hears_again() {
    let database = Database::new().await;
    let (first, second) = (process(&database).await, process(&database).await);
    let (corner, queue) = (Corner::of(&first), second.jobs());
    let outside = database.client().await;
    for _ in 0..3 {
        listens(&*queue).await;
        let [listener] = listeners(&outside).await[..] else { panic!("one connection listens") };
        outside.query("SELECT pg_terminate_backend($1)", &[&listener]).await.unwrap();
        // What was made meanwhile is not heard of; that there is a listener again is.
        corner.enqueue([corner.job()]).await;
        listens(&*queue).await;
        assert_ne!(listeners(&outside).await, [listener]);

        let ((), ()) = tokio::join!(hears(&*queue), corner.enqueue([corner.job()]));
        // The next round begins with a sound of its own.
        outside.batch_execute("NOTIFY punk_work").await.unwrap();
    }
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_process_that_waits_for_work_listens_and_only_while_its_store_is_open() {
    let database = Database::new().await;
    let outside = database.client().await;
    let store = process(&database).await;
    let corner = Corner::of(&store);
    corner.enqueue([corner.job()]).await;
    assert!(listeners(&outside).await.is_empty());
    hears(&*corner.queue).await;
    listens(&*corner.queue).await;
    assert_eq!(listeners(&outside).await.len(), 1);
    drop((corner, store));
    let gone = async {
        while !listeners(&outside).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, gone).await.expect("the listener ends with the store");
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_without_jobs_tells_nobody() {
    let database = Database::new().await;
    let (first, second) = (process(&database).await, process(&database).await);
    let (corner, queue) = (Corner::of(&first), second.jobs());
    listens(&*queue).await;
    // A commit without jobs does not pay for telling.
    corner.append([corner.story().finish()]).await.unwrap();
    let heard = timeout(Duration::from_millis(300), queue.changed()).await;
    assert!(heard.is_err(), "a commit without jobs was told");
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_server_without_notifications_commits_succeed_and_work_is_found_by_looking() {
    tokio::join!(
        without_notifications("NOTIFY punk_work", "NOTIFI punk_work"),
        without_notifications("LISTEN punk_work", "LISTNE punk_work"),
        // It is taken, and nothing comes of it.
        without_notifications("LISTEN punk_work", "LISTEN punk_rest"),
    );
}

/// What distributed engines that speak Postgres' protocol do with the two words.
async fn without_notifications(word: &'static str, other: &'static str) {
    let database = Database::new().await;
    let url = proxy::misunderstanding(&url(&database.name), word, other).await;
    let maker = PostgresStore::connect(&url).await.unwrap();
    let worker = PostgresStore::connect(&url).await.unwrap();
    let (corner, queue) = (Corner::of(&maker), worker.jobs());
    for _ in 0..3 {
        let begun = Instant::now();
        let appends = vec![corner.story().finish()];
        let commit = Commit { appends, jobs: vec![corner.job()], ..Commit::default() };
        maker.tenant(corner.id).commit(commit).await.unwrap();
        hears(&*queue).await;
        assert_eq!(queue.claim(corner.kinds(), at(1000), at(2000), limit(1)).await.unwrap().len(), 1);
        assert!(begun.elapsed() < Duration::from_secs(4), "{other}: it looks as often as it must");
    }
    database.drop().await;
}
