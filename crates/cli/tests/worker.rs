//! The work in the background: inside `punk serve`, and as `punk worker`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod world;

use expect_test::expect;
use world::World;
use world::process::{Process, Signal, until};

#[test]
fn a_worker_refuses_a_database_that_belongs_to_another_process() {
    let ended = World::new().punk_writes_nothing(&["worker"]);
    expect![[r#"
        exit 2
        --- err
        error: the SQLite database data/punk.db (store.path) belongs to the process that serves
        hint: `punk serve` does this work itself; to run workers of their own, set PUNK_DATABASE_URL (store.url) to a Postgres database
    "#]]
    .assert_eq(&ended.told());
    let ended = World::new().set("PUNK_DB_PATH", ":memory:").punk_writes_nothing(&["worker"]);
    expect![[r#"
        exit 2
        --- err
        error: a store in memory (store.path is `:memory:`) belongs to the process that made it
        hint: `punk serve` does this work itself; to run workers of their own, set PUNK_DATABASE_URL (store.url) to a Postgres database
    "#]]
    .assert_eq(&ended.told());
    let error = World::new().punk(&["worker", "--json"]).error_json();
    assert_eq!(error["error"]["code"], "punk_worker_needs_postgres");
}

#[test]
fn a_worker_says_that_its_database_is_out_of_reach() {
    let world = World::new().set("PUNK_DATABASE_URL", "postgres://punk@127.0.0.1:1/punk");
    let ended = world.punk_writes_nothing(&["worker", "--json"]);
    // The log comes first, the failure last.
    assert_eq!(ended.code, 3, "{}", ended.told());
    assert!(ended.stderr.contains("punk_store_unavailable"), "{}", ended.told());
}

#[test]
fn workers_share_a_postgres_database_and_stop_when_asked() {
    let (url, world) = (world::database("shared"), World::new());
    let environment = [("PUNK_DATABASE_URL", url.as_str())];
    // The first start of a database, by all of them at once, and a gateway beside them.
    let gateway = Process::start(&world, &["serve", "--port", "0"], &environment);
    let workers = [(); 2].map(|()| {
        let world = World::new();
        let worker = Process::start(&world, &["worker"], &environment);
        (world, worker)
    });
    for (world, worker) in workers {
        assert!(worker.announced.starts_with("Punk works on "), "{}", worker.announced);
        worker.send(Signal::TERM);
        let ended = worker.ended();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, "stopped\n"), "{}", ended.stderr);
        let left: Vec<_> = world.listing().into_iter().map(|(path, _)| path).collect();
        assert_eq!(left, [world.path("worker.log")], "it writes nothing beside the database");
    }
    gateway.send(Signal::TERM);
    assert_eq!(gateway.ended().code, 0);
}

#[test]
fn a_gateway_works_on_jobs_unless_it_is_told_not_to() {
    let world = World::new();
    let serve = ["serve", "--port", "0"];
    let gateway = Process::start(&world, &serve, &[]);
    until("it says so", || gateway.log().contains("working on jobs"));
    gateway.send(Signal::TERM);
    assert_eq!(gateway.ended().code, 0);

    // The signal may come as soon as it has announced itself.
    let gateway = Process::start(&world, &serve, &[("PUNK_WORKER_EMBEDDED", "false")]);
    gateway.send(Signal::TERM);
    let ended = gateway.ended();
    assert_eq!(ended.code, 0);
    assert!(!ended.stderr.contains("working on jobs"), "{}", ended.stderr);
    assert!(ended.stderr.contains("jobs.embedded is off"), "nobody else can do them: {}", ended.stderr);
}
