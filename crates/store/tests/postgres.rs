//! The Postgres adapter against a real server: the promises of every store, and those that only a server can break.
//!
//! `PUNK_TEST_POSTGRES_URL` names the server; `cargo xtask test` starts a private one and sets it.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod server;

use std::collections::BTreeSet;
use std::sync::Arc;

use ledger::verify_inclusion;
use schema::{RunId, Seq};
use server::{Database, server, url};
use store::conformance::{Corner, Story, limit};
use store::postgres::{OpenError, PostgresStore};
use store::{Commit, CommitError, Retry, RunFilter, Settle, Store, StoreError};
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio_postgres::{Client, Config};

store::suite!(conforming().await);

/// All promises share a database: each has a corner of its own in it.
async fn conforming() -> PostgresStore {
    let name = "punk_conformance";
    // Another test may have made it, or be making it.
    let _ = server().await.batch_execute(&format!("CREATE DATABASE {name}")).await;
    PostgresStore::connect(&url(name)).await.unwrap()
}

/// One append, written, as a commit of its own.
async fn write(corner: &Corner, story: &mut Story) -> Result<(), CommitError> {
    corner.append([story.finish()]).await
}

/// Every row of every table.
async fn count_rows(client: &Client) -> i64 {
    let text = "SELECT (SELECT count(*) FROM segments) + (SELECT count(*) FROM runs) + (SELECT count(*) FROM leaves)
        + (SELECT count(*) FROM policies) + (SELECT count(*) FROM jobs) + (SELECT coalesce(sum(size), 0)::bigint FROM logs)";
    client.query_one(text, &[]).await.unwrap().get(0)
}

/// The error and its causes, as a log shows them, and the `Debug` of it.
fn everything_said(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(|error| format!("{error} {error:?}\n")).collect()
}

#[tokio::test]
async fn opening_twice_migrates_once_and_keeps_what_is_there() {
    let database = Database::new().await;
    let first = database.store().await;
    let corner = Corner::of(&first);
    let mut story = corner.story();
    write(&corner, &mut story).await.unwrap();
    let second = database.store().await;
    assert_eq!(second.tenant(corner.id).run(story.run).await.unwrap().unwrap().seq, Seq(2));
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_starters_at_once_migrate_once() {
    for _ in 0..5 {
        let database = Database::new().await;
        let (mut starters, start) = (JoinSet::new(), Arc::new(Barrier::new(8)));
        for _ in 0..8 {
            let (url, start) = (url(&database.name), Arc::clone(&start));
            starters.spawn(async move {
                start.wait().await;
                PostgresStore::connect(&url).await.map(drop)
            });
        }
        for outcome in starters.join_all().await {
            outcome.unwrap();
        }
        let versions = database
            .client()
            .await
            .query("SELECT version FROM schema_migrations ORDER BY version", &[])
            .await;
        let versions: Vec<i64> = versions.unwrap().iter().map(|row| row.get(0)).collect();
        // Row 0 is the lock.
        assert_eq!(versions, [0, 1, 2, 3, 4]);
        database.drop().await;
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_both_versions() {
    let database = Database::new().await;
    database.store().await;
    let newer =
        "INSERT INTO schema_migrations (version, name, sha256, applied_at) VALUES (1000, 'later', '', '')";
    database.client().await.batch_execute(newer).await.unwrap();
    let error = PostgresStore::connect(&url(&database.name)).await.unwrap_err();
    assert!(matches!(error, OpenError::Newer { found: 1000, known: 4 }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("version 1000") && text.contains("up to 4;"), "{text}");
    database.drop().await;
}

#[tokio::test]
async fn a_migration_that_was_changed_after_it_was_applied_is_refused() {
    let database = Database::new().await;
    database.store().await;
    let changed = "UPDATE schema_migrations SET sha256 = repeat('0', 64) WHERE version = 1";
    database.client().await.batch_execute(changed).await.unwrap();
    let error = PostgresStore::connect(&url(&database.name)).await.unwrap_err();
    assert!(matches!(error, OpenError::Changed { version: 1, .. }), "{error:?}");
    database.drop().await;
}

#[tokio::test]
async fn a_migration_that_fails_leaves_nothing_and_is_tried_again() {
    let database = Database::new().await;
    let client = database.client().await;
    // The last table of the migration is in its way.
    client.batch_execute("CREATE TABLE jobs (mine text)").await.unwrap();
    let error = PostgresStore::connect(&url(&database.name)).await.unwrap_err();
    assert!(matches!(error, OpenError::Migration { version: 1, .. }), "{error:?}");
    let left: Option<String> =
        client.query_one("SELECT to_regclass('segments')::text", &[]).await.unwrap().get(0);
    assert_eq!(left, None);
    client.batch_execute("DROP TABLE jobs").await.unwrap();
    database.store().await;
    database.drop().await;
}

#[tokio::test]
async fn a_database_that_is_up_to_date_needs_no_right_to_make_tables() {
    let database = Database::new().await;
    database.store().await;
    let role = format!("{}_reader", database.name);
    let client = database.client().await;
    client
        .batch_execute(&format!(
            "CREATE ROLE {role} LOGIN PASSWORD 'secret'; REVOKE CREATE ON SCHEMA public FROM PUBLIC;
             GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO {role}"
        ))
        .await
        .unwrap();
    let config: Config = url(&database.name).parse().unwrap();
    let port = config.get_ports().first().copied().unwrap();
    let as_role = format!("postgres://{role}:secret@127.0.0.1:{port}/{}", database.name);
    let store = PostgresStore::connect(&as_role).await.unwrap();
    let corner = Corner::of(&store);
    write(&corner, &mut corner.story()).await.unwrap();
    assert!(!format!("{store:?}").contains("secret"));
    drop(store);
    client.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
    database.drop().await;
}

#[tokio::test]
async fn no_error_says_the_password() {
    for url in [
        // Nobody listens there.
        "postgres://punk:hunter2@127.0.0.1:1/punk",
        // Not a number, not an option, not a URL: pieces of the password are read as something else.
        "postgres://punk:hunter2@127.0.0.1:port/punk",
        "postgres://punk:x@127.0.0.1:1/punk?hunter2=1",
        "postgres://punk:x@127.0.0.1:1/punk?sslmode=hunter2",
        "hunter2",
        // Special characters that were not escaped.
        "postgres://punk:x@hunter2@127.0.0.1:1/punk",
        "postgres://punk:x@y/hunter2@127.0.0.1:1/punk",
        "postgres://punk:x/hunter2@127.0.0.1:1/punk",
        "postgres://punk:x?hunter2@127.0.0.1:1/punk",
        "postgres://punk:hunter2@127.0.0.1:1/punk?sslmode=require",
    ] {
        let error = PostgresStore::connect(url).await.unwrap_err();
        assert!(!everything_said(&error).contains("hunter2"), "{error:?}");
    }
    let error = PostgresStore::connect("postgres://punk:hunter2@127.0.0.1:1/punk").await.unwrap_err();
    assert!(error.to_string().contains("127.0.0.1:1/punk"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_cut_inside_a_commit_leaves_nothing_and_the_pool_recovers() {
    let database = Database::new().await;
    let store = database.store().await;
    let corner = Corner::of(&store);
    write(&corner, &mut corner.story()).await.unwrap();
    let outside = database.client().await;
    let before = count_rows(&outside).await;

    // The commit gets as far as the log's row, which somebody else holds: everything else of it is written by then.
    let mut holder = database.client().await;
    let held = holder.transaction().await.unwrap();
    held.query("SELECT size FROM logs FOR UPDATE", &[]).await.unwrap();
    let mut story = corner.story();
    let append = story.finish();
    let commit = Commit {
        appends: vec![append.clone()],
        policies: vec!["a policy".to_owned()],
        jobs: vec![corner.job()],
        ..Commit::default()
    };
    let tenant = store.tenant(corner.id);
    let committing = tokio::spawn({
        let commit = commit.clone();
        async move { tenant.commit(commit).await }
    });
    let backend = waiting_backend(&outside).await;
    outside.query("SELECT pg_terminate_backend($1)", &[&backend]).await.unwrap();
    let outcome = committing.await.unwrap();
    assert!(matches!(outcome, Err(CommitError::Store(StoreError::Unavailable(_)))), "{outcome:?}");
    drop(held);
    drop(holder);
    assert_eq!(count_rows(&outside).await, before);
    assert_eq!(corner.read(story.run).await, []);

    // A retry with the same `expected` finds out that it is not in, and another one that it is.
    store.tenant(corner.id).commit(commit.clone()).await.unwrap();
    let again = store.tenant(corner.id).commit(commit).await;
    assert!(matches!(again, Err(CommitError::Moved { actual: Seq(2), .. })), "{again:?}");
    assert_eq!(corner.tenant.log_head().await.unwrap().0, 2);
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cuts_everybody_off_is_used_again_when_it_is_back() {
    let database = Database::new().await;
    let store = database.store().await;
    let corner = Corner::of(&store);
    write(&corner, &mut corner.story()).await.unwrap();
    let outside = database.client().await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    outside.query(cut, &[]).await.unwrap();
    // A connection that is handed out before it is known to be dead fails; the pool holds no more than 16.
    let mut story = corner.story();
    let append = story.finish();
    let mut outcomes = Vec::new();
    while !matches!(outcomes.last(), Some(Ok(()))) && outcomes.len() < 20 {
        outcomes.push(corner.append([append.clone()]).await);
    }
    assert!(matches!(outcomes.last(), Some(Ok(()))), "{outcomes:?}");
    assert_eq!(corner.tenant.log_head().await.unwrap().0, 2);
    store.ready().await.unwrap();
    database.drop().await;
}

/// Waits until somebody waits for a lock in this client's database, and says which backend.
async fn waiting_backend(client: &Client) -> i32 {
    let waiting = "SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    loop {
        match client.query_opt(waiting, &[]).await.unwrap() {
            Some(row) => return row.get(0),
            None => tokio::task::yield_now().await,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_gave_way_to_another_is_tried_again() {
    let database = Database::new().await;
    let store = database.store().await;
    let corner = Corner::of(&store);
    let mut story = corner.story();
    corner.append([story.go_on(1)]).await.unwrap();
    write(&corner, &mut corner.story()).await.unwrap();

    // Somebody locks in the other order: the log first, then the run. The server resolves the deadlock at our cost.
    let mut other = database.client().await;
    other.batch_execute("SET deadlock_timeout = '60s'").await.unwrap();
    let holding = other.transaction().await.unwrap();
    holding.query("SELECT size FROM logs FOR UPDATE", &[]).await.unwrap();
    let (tenant, append) = (store.tenant(corner.id), story.finish());
    let commit = Commit { appends: vec![append], ..Commit::default() };
    let committing = tokio::spawn(async move { tenant.commit(commit).await });
    waiting_backend(&database.client().await).await;
    holding.query("SELECT seq FROM runs FOR UPDATE", &[]).await.unwrap();
    holding.commit().await.unwrap();
    committing.await.unwrap().unwrap();
    assert_eq!(corner.read(story.run).await.len(), 2);
    assert_eq!(corner.tenant.log_head().await.unwrap().0, 2);
    database.drop().await;
}

#[tokio::test]
async fn texts_that_postgres_itself_would_refuse_are_kept() {
    let store = conforming().await;
    let corner = Corner::of(&store);
    // A NUL, and more than an index entry can hold.
    let text = format!("a\0b{}", "x".repeat(10_000));
    let mut job = corner.job();
    (job.key, job.payload) = (Some(text.clone()), text.clone().into());
    let id = corner.bury(job.clone()).await;
    assert!(corner.tenant.requeue(id, job.run_at).await.unwrap());
    let claimed = corner.claim_one(1000, 2000).await;
    corner.queue.fail(id, claimed.token, &text, Retry::Never).await.unwrap();
    let kept = corner.look(id).await;
    assert_eq!((kept.key, kept.payload, kept.last_error), (job.key, job.payload, Some(text)));
}

#[tokio::test]
async fn a_read_only_server_is_not_ready() {
    let database = Database::new().await;
    database.store().await;
    let read_only = format!("ALTER DATABASE {} SET default_transaction_read_only = on", database.name);
    server().await.batch_execute(&read_only).await.unwrap();
    let store = database.store().await;
    let error = store.ready().await.unwrap_err();
    assert!(everything_said(&error).contains("read-only"), "{error:?}");
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_a_record_on_two_nodes_let_one_through() {
    let database = Database::new().await;
    let nodes = [database.store().await, database.store().await];
    let stores: [&dyn Store; 2] = [&nodes[0], &nodes[1]];
    Corner::of(&nodes[0]).race_for_a_record(&stores).await;
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reservers_on_two_nodes_fill_a_hard_limit_and_never_exceed_it() {
    let database = Database::new().await;
    let nodes = [database.store().await, database.store().await];
    let stores: [&dyn Store; 2] = [&nodes[0], &nodes[1]];
    for _ in 0..4 {
        Corner::of(&nodes[0]).race_for_room(&stores).await;
    }
    // What the dead had reserved is there until it is forgotten.
    let count = "SELECT count(*) FROM meter_reservations";
    let client = database.client().await;
    assert_eq!(client.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 4 * 80);
    nodes[0].forget_meters(2_001).await.unwrap();
    assert_eq!(client.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 0);
    database.drop().await;
}

/// Two nodes, 64 committers, every commit with two runs of its own and one that all of them fight over, in both orders.
#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_committers_on_two_nodes_lose_nothing() {
    const COMMITTERS: usize = 64;
    const ROUNDS: usize = 4;
    let database = Database::new().await;
    let nodes = [database.store().await, database.store().await];
    let corner = Arc::new(Corner::of(&nodes[0]));
    let shared: Vec<RunId> = (0..2).map(|_| corner.fresh()).collect();

    let mut tasks = JoinSet::new();
    for number in 0..COMMITTERS {
        let (corner, shared) = (Arc::clone(&corner), shared.clone());
        let tenant = nodes[number % 2].tenant(corner.id);
        tasks.spawn(async move {
            let mut written = Vec::new();
            for round in 0..ROUNDS {
                let (mut one, mut other) = (corner.story(), corner.story());
                let mut appends = vec![one.finish(), other.go_on(2)];
                // Who comes to the two shared runs late is told so, and writes only its own.
                let mut fought = shared.clone();
                if number % 2 == 1 {
                    fought.reverse();
                }
                let rows = [tenant.run(fought[0]).await.unwrap(), tenant.run(fought[1]).await.unwrap()];
                let own = appends.clone();
                if rows.iter().all(Option::is_none) {
                    appends.extend(fought.iter().map(|run| Story::new(corner.id, *run).finish()));
                }
                let policies = vec![format!("policy {}", number % 3), format!("policy {}", round % 3)];
                let mut jobs = vec![corner.job(), corner.job()];
                jobs[0].key = Some(format!("key {}", number % 2));
                jobs[1].key = Some(format!("key {}", (number + 1) % 2));
                let commit = Commit { appends, policies, jobs, ..Commit::default() };
                match tenant.commit(commit.clone()).await {
                    Ok(()) => {}
                    Err(CommitError::Moved { run, .. }) if shared.contains(&run) => {
                        tenant.commit(Commit { appends: own, ..commit }).await.unwrap();
                    }
                    Err(error) => panic!("{error:?}"),
                }
                written.extend([(one.run, 2, Settle::Leaf), (other.run, 2, Settle::Open)]);
            }
            written
        });
    }
    let mut written: Vec<(RunId, usize, Settle)> = tasks.join_all().await.into_iter().flatten().collect();
    written.extend(shared.iter().map(|run| (*run, 2, Settle::Leaf)));

    let (size, root) = nodes[0].tenant(corner.id).log_head().await.unwrap();
    assert_eq!(nodes[1].tenant(corner.id).log_head().await.unwrap(), (size, root), "both nodes see one log");
    assert_eq!(size as usize, COMMITTERS * ROUNDS + shared.len());
    let mut indexes = BTreeSet::new();
    for (run, events, settle) in &written {
        let proof = nodes[1].tenant(corner.id).prove(*run).await.unwrap().unwrap();
        assert_eq!(proof.record.events.len(), *events);
        assert_eq!(proof.record.leaves.len(), usize::from(*settle == Settle::Leaf));
        for place in proof.record.leaves {
            assert!(verify_inclusion(&place.leaf, place.index, size, root, &place.path));
            assert!(indexes.insert(place.index), "index {} is given out twice", place.index);
        }
    }
    assert_eq!(indexes, (0..size).collect());
    assert_eq!(corner.tenant.runs(&RunFilter::ALL, None, limit(10_000)).await.unwrap().len(), written.len());
    assert_eq!(corner.tenant.jobs(None, None, limit(10_000)).await.unwrap().len(), 2, "one job a key");
    database.drop().await;
}
