//! Backups of a database that is being written, and what `punk restore` does with them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail as a test does")]

mod world;

use serde_json::json;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use world::World;
use world::gateway::Gateway;

/// A world with a database of `runs` runs in it.
fn with_runs(runs: usize) -> (World, Vec<String>) {
    let world = World::new();
    let gateway = Gateway::start(&world, &[]);
    let chat = |number| gateway.ask(&format!("question {number}")).header("x-punk-run-id").to_owned();
    let ids = (0..runs).map(chat).collect();
    drop(gateway);
    (world, ids)
}

fn files(world: &World) -> Vec<String> {
    let names = std::fs::read_dir(world.path("data")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

#[test]
fn a_backup_taken_under_load_has_everything_acknowledged_before_it_and_proves_it_elsewhere() {
    let world = World::new();
    let gateway = Gateway::start(&world, &[]);
    let acknowledged = Mutex::new(Vec::new());
    let over = AtomicBool::new(false);
    let (before, said) = std::thread::scope(|scope| {
        for client in 0..4 {
            let (gateway, acknowledged, over) = (&gateway, &acknowledged, &over);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let run = gateway.chat(&format!("client {client}")).header("x-punk-run-id").to_owned();
                    acknowledged.lock().unwrap().push(run);
                }
            });
        }
        while acknowledged.lock().unwrap().len() < 100 {
            std::thread::yield_now();
        }
        let before = acknowledged.lock().unwrap().clone();
        let ended = world.punk(&["backup", "copy.db", "--json"]);
        over.store(true, Ordering::Relaxed);
        assert_eq!(ended.code, 0, "{}", ended.told());
        (before, ended.json())
    });
    let bytes = std::fs::metadata(world.path("copy.db")).unwrap().len();
    assert_eq!(said["bytes"], json!(bytes));
    assert!(said["runs"].as_u64().unwrap() >= before.len() as u64, "{said}");
    assert_eq!(said["events"], json!(said["runs"].as_u64().unwrap() * 4));
    assert_eq!(said["logs"][0]["size"], said["runs"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(world.path("copy.db")).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(
        std::fs::read_dir(world.path("")).unwrap().count(),
        2,
        "the data folder, the backup, nothing else"
    );

    let elsewhere = World::new();
    copy_folder(&world.path("data/keys"), &elsewhere.path("data/keys"));
    std::fs::copy(world.path("copy.db"), elsewhere.path("copy.db")).unwrap();
    let restored = elsewhere.punk(&["restore", "copy.db", "--json"]);
    assert_eq!(restored.code, 0, "{}", restored.told());
    let restored = restored.json();
    assert_eq!((&restored["events"], &restored["logs"]), (&said["events"], &said["logs"]));
    assert_eq!((&restored["kept"], &restored["warning"]), (&json!(null), &json!(null)));
    std::fs::write(elsewhere.path("keys.txt"), world.punk(&["keys", "trust"]).stdout).unwrap();
    let second = Gateway::start(&elsewhere, &[]);
    for run in before {
        assert_eq!(second.packet(&run).status, 200, "{run} was acknowledged before the backup");
        std::fs::write(elsewhere.path("packet.json"), second.packet(&run).body).unwrap();
    }
    let verified = elsewhere.punk(&["verify", "packet.json", "--trust", "keys.txt"]);
    assert_eq!(verified.code, 0, "{}", verified.told());
}

#[test]
fn a_backup_says_that_the_keys_are_not_in_it() {
    let (world, _) = with_runs(1);
    let made = world.punk(&["backup", "copy.db"]);
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    assert!(
        made.stdout.contains("the keys that sign its proofs and open what is sealed are not in it"),
        "{}",
        made.stdout
    );
    assert!(made.stdout.contains("  runs    1\n  sealed  0 runs"), "{}", made.stdout);
    assert!(made.stdout.contains("\n  events  4,"), "{}", made.stdout);
    // Nor are they made: who restores without them is told.
    let elsewhere = World::new();
    std::fs::copy(world.path("copy.db"), elsewhere.path("copy.db")).unwrap();
    let restored = elsewhere.punk(&["restore", "copy.db"]);
    assert_eq!(restored.code, 0, "{}", restored.told());
    assert!(
        restored.stdout.contains("warning: there is no log key and no seal key in data/keys"),
        "{}",
        restored.stdout
    );
}

#[test]
fn a_backup_is_refused_where_it_would_overwrite_or_there_is_nothing_to_copy() {
    let world = World::new().file("taken.db", "mine");
    let refused = world.punk_writes_nothing(&["backup", "copy.db"]);
    assert_eq!(refused.code, 1, "{}", refused.told());
    assert!(refused.stderr.contains("there is no database"), "{}", refused.stderr);
    let (world, _) = with_runs(1);
    std::fs::write(world.path("taken.db"), "mine").unwrap();
    let before = std::fs::read(world.path("data/punk.db")).unwrap();
    let refused = world.punk_writes_nothing(&["backup", "taken.db"]);
    assert_eq!(refused.code, 3, "{}", refused.told());
    assert!(refused.stderr.contains("taken.db exists already"), "{}", refused.stderr);
    let refused = world.punk(&["backup", "no/such/folder/copy.db", "--json"]);
    assert_eq!((refused.code, &refused.error_json()["error"]["code"]), (3, &json!("punk_unwritable")));
    assert_eq!(std::fs::read(world.path("data/punk.db")).unwrap(), before);
}

#[test]
fn what_is_no_file_is_neither_backed_up_nor_restored() {
    let postgres = World::new().set("PUNK_DATABASE_URL", "postgres://punk:secret@127.0.0.1:1/punk");
    let memory = World::new();
    for arguments in [&["backup", "copy.db"][..], &["restore", "copy.db"]] {
        let refused = postgres.punk_writes_nothing(arguments);
        assert_eq!(refused.code, 2);
        assert!(
            refused.stderr.contains("pg_dump") && refused.stderr.contains("punk export"),
            "{}",
            refused.stderr
        );
        let refused = memory.punk_writes_nothing(&[arguments, &["--set", "store.path=:memory:"]].concat());
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains("in memory"), "{}", refused.stderr);
    }
}

#[test]
fn restore_replaces_nothing_unasked_and_keeps_what_it_replaces() {
    let (world, runs) = with_runs(2);
    assert_eq!(world.punk(&["backup", "two.db"]).code, 0);
    let gateway = Gateway::start(&world, &[]);
    let third = gateway.chat("one more").header("x-punk-run-id").to_owned();
    let refused = world.punk(&["restore", "two.db", "--replace"]);
    assert_eq!(refused.code, 3, "{}", refused.told());
    assert!(refused.stderr.contains("in use by another process"), "{}", refused.stderr);
    drop(gateway); // kill -9: the third run is in the write-ahead log alone
    assert!(files(&world).contains(&"punk.db-wal".to_owned()));
    let refused = world.punk_writes_nothing(&["restore", "two.db"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("--replace"), "{}", refused.stderr);

    let restored = world.punk(&["restore", "two.db", "--replace", "--json"]);
    assert_eq!(restored.code, 0, "{}", restored.told());
    let kept = "data/punk.db.replaced-1";
    assert_eq!((&restored.json()["kept"], &restored.json()["runs"]), (&json!(kept), &json!(2)));
    assert_eq!(files(&world), ["keys", "punk.db", "punk.db-owner", "punk.db.replaced-1"]);
    let events = |database| world.punk(&["verify", "--ledger", database, "--json"]).json()["events"].clone();
    assert_eq!((events("data/punk.db"), events(kept)), (json!(8), json!(12)));
    let gateway = Gateway::start(&world, &[]);
    assert_eq!((gateway.packet(&runs[0]).status, gateway.packet(&third).status), (200, 404));
    drop(gateway);
    // And back again: the one that was kept is a backup like any other.
    assert_eq!(world.punk(&["restore", kept, "--replace"]).code, 0);
    assert_eq!(events("data/punk.db"), json!(12));
    assert!(files(&world).contains(&"punk.db.replaced-2".to_owned()));
}

#[test]
fn a_backup_that_is_damaged_foreign_or_missing_is_refused_and_the_database_stays() {
    let (world, _) = with_runs(20);
    assert_eq!(world.punk(&["backup", "good.db"]).code, 0);
    let good = std::fs::read(world.path("good.db")).unwrap();
    let mut changed = good.clone();
    let place = changed.windows(10).position(|window| window == b"question 7").unwrap();
    changed[place + 9] = b'8';
    std::fs::write(world.path("changed.db"), changed).unwrap();
    std::fs::write(world.path("short.db"), &good[..good.len() - 8192]).unwrap();
    std::fs::write(world.path("text.db"), "no database at all\n".repeat(400)).unwrap();
    for (file, said) in [
        ("changed.db", "does not hash"),
        ("short.db", ""),
        ("text.db", "not a database"),
        ("none.db", "no backup"),
    ] {
        let refused = world.punk_writes_nothing(&["restore", file, "--replace"]);
        assert_eq!(refused.code, 1, "{file}: {}", refused.told());
        assert!(refused.stderr.contains(said), "{file}: {}", refused.stderr);
    }
    let elsewhere = World::new();
    std::fs::copy(world.path("changed.db"), elsewhere.path("changed.db")).unwrap();
    assert_eq!(elsewhere.punk_writes_nothing(&["restore", "changed.db"]).code, 1);
}

#[test]
fn a_database_too_damaged_to_be_closed_leaves_together_with_its_log() {
    let (world, runs) = with_runs(3);
    assert_eq!(world.punk(&["backup", "good.db"]).code, 0);
    let gateway = Gateway::start(&world, &[]);
    gateway.chat("in the log alone");
    drop(gateway);
    let mut bytes = std::fs::read(world.path("data/punk.db")).unwrap();
    bytes[..100].fill(0x55);
    std::fs::write(world.path("data/punk.db"), &bytes).unwrap();
    // With a good log SQLite would mend the page: it is in there too.
    let mut log = std::fs::read(world.path("data/punk.db-wal")).unwrap();
    log[..32].fill(0x55);
    std::fs::write(world.path("data/punk.db-wal"), &log).unwrap();

    let restored = world.punk(&["restore", "good.db", "--replace"]);
    assert_eq!(restored.code, 0, "{}", restored.told());
    assert_eq!(
        files(&world),
        [
            "keys",
            "punk.db",
            "punk.db-owner",
            "punk.db.replaced-1",
            "punk.db.replaced-1-ahead",
            "punk.db.replaced-1-wal"
        ]
    );
    assert_eq!(std::fs::read(world.path("data/punk.db.replaced-1")).unwrap(), bytes);
    assert_eq!(std::fs::read(world.path("data/punk.db.replaced-1-wal")).unwrap(), log);
    let gateway = Gateway::start(&world, &[]);
    assert_eq!(gateway.packet(&runs[2]).status, 200);
}
