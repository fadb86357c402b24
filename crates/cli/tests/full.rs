//! A full disk: nothing acknowledged is lost, nothing is torn, and everybody is told.
//!
//! The disk is a small tmpfs. Mounting one takes root, or a user namespace; without either these tests fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]
#![cfg(target_os = "linux")]

mod world;

use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use world::World;
use world::gateway::{Gateway, Reply};

/// A small disk, gone when the test is over.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: PathBuf, kibibytes: u32) -> Self {
        std::fs::create_dir_all(&at).unwrap();
        let size = format!("size={kibibytes}k,mode=700");
        assert!(
            ran("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", at.to_str().unwrap()]),
            "the tmpfs is mounted"
        );
        Self(at)
    }

    fn grow(&self, kibibytes: u32) {
        let size = format!("remount,size={kibibytes}k");
        assert!(ran("mount", &["-o", &size, self.0.to_str().unwrap()]), "the tmpfs grows");
    }

    /// Writes a file until nothing more goes in.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = std::fs::File::create(&path).unwrap();
        while file.write_all(&[1; 512]).is_ok() {}
        path
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a killed server may still be on its way out.
        ran("umount", &["-l", self.0.to_str().unwrap()]);
    }
}

fn ran(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).status().is_ok_and(|status| status.success())
}

/// Runs the test where it may mount: here if that is allowed, else again in a namespace of its own.
fn where_mounting_works(name: &str, test: impl FnOnce()) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    if ran("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs", place]) {
        assert!(ran("umount", &[place]));
        return test();
    }
    assert!(
        std::env::var_os("PUNK_TEST_IN_NAMESPACE").is_none(),
        "a tmpfs cannot be mounted, not even in a user namespace: run the tests as root or allow user namespaces"
    );
    let again = Command::new("unshare")
        .arg("-Urm")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env("PUNK_TEST_IN_NAMESPACE", "1")
        .status();
    assert!(
        again.is_ok_and(|status| status.success()),
        "`unshare -Urm` does not work, or the test failed in it: run the tests as root or allow user namespaces"
    );
}

fn code(body: &Value) -> &Value {
    &body["error"]["code"]
}

/// What holds while the disk is full and after it is not: told, readable, nothing lost, nothing more than acknowledged.
fn goes_on(world: &World, disk: &Disk, fill: impl Fn(&Gateway, &mut Vec<String>), empty: impl Fn(&Disk)) {
    let gateway = Gateway::start(world, &[]);
    let get = |path: &str| gateway.request("GET", path, &[], "");
    let mut runs: Vec<String> =
        (0..5).map(|number| gateway.chat(&format!("{number}")).header("x-punk-run-id").to_owned()).collect();
    assert_eq!(get("/ready").status, 200);
    let begin = |text: &str| {
        gateway.request("POST", "/api/v1/runs", &[], &json!({ "metadata": { "x": text } }).to_string())
    };
    assert_eq!(begin("small").status, 201);
    let mut begun = 1;
    fill(&gateway, &mut runs);

    // An append is refused, more than once, and says why. The store may give a little room back meanwhile, by bringing its journal in;
    // whoever asks uses that up, and is then told.
    let large = "x".repeat(40 << 10);
    let mut taken = |reply: &Reply| {
        let is_taken = reply.status < 300;
        if is_taken {
            runs.push(reply.header("x-punk-run-id").to_owned());
        }
        is_taken
    };
    let mut refusals = 0;
    for _ in 0..200 {
        let refused = gateway.chat(&large);
        if taken(&refused) {
            continue;
        }
        assert_eq!((refused.status, code(&refused.json())), (507, &json!("punk_disk_full")));
        assert!(refused.json()["error"]["hint"].as_str().unwrap().contains("make room"));
        assert_eq!(refused.json()["error"]["type"], "server_error");
        refusals += 1;
        if refusals == 5 {
            break;
        }
    }
    assert_eq!(refusals, 5);
    let refused = (0..200).map(|_| begin(&large)).find(|reply| {
        begun += usize::from(reply.status == 201);
        reply.status != 201
    });
    let refused = refused.expect("it is refused some time");
    assert_eq!((refused.status, code(&refused.json())), (507, &json!("punk_disk_full")));
    let ready = (0..200).map(|_| get("/ready")).find(|ready| {
        if ready.status == 200 {
            taken(&gateway.chat("z"));
        }
        ready.status != 200
    });
    let ready = ready.expect("a full disk is told");
    assert_eq!((ready.status, code(&ready.json())), (507, &json!("punk_disk_full")));
    // Everything acknowledged can be read and proven.
    assert_eq!(get("/health").status, 200);
    for run in &runs {
        assert_eq!(gateway.packet(run).status, 200, "{run}");
    }
    assert_eq!(get("/api/v1/runs?limit=3").status, 200);

    // With room again it goes on by itself.
    empty(disk);
    assert_eq!(get("/ready").json(), json!({ "ready": true }));
    for _ in 0..5 {
        let reply = gateway.chat(&large);
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        runs.push(reply.header("x-punk-run-id").to_owned());
    }
    drop(gateway);
    let checked = world.punk(&["verify", "--ledger", "data/punk.db", "--json"]);
    assert_eq!(checked.code, 0, "{}", checked.told());
    assert_eq!(
        checked.json()["runs"],
        json!(runs.len() + begun),
        "what was refused is not there, what was not is"
    );
    let gateway = Gateway::start(world, &[]);
    for run in &runs {
        assert_eq!(gateway.packet(run).status, 200, "{run}");
    }
}

#[test]
fn a_disk_filled_by_others_stops_appends_and_nothing_else() {
    where_mounting_works("a_disk_filled_by_others_stops_appends_and_nothing_else", || {
        let world = World::new();
        let disk = Disk::mount(world.path("data"), 8 << 10);
        let fill = |_: &Gateway, _: &mut Vec<String>| drop(disk.fill());
        goes_on(&world, &disk, fill, |disk| std::fs::remove_file(disk.0.join("filler")).unwrap());
    });
}

#[test]
fn a_disk_filled_by_appends_loses_none_that_was_acknowledged() {
    where_mounting_works("a_disk_filled_by_appends_loses_none_that_was_acknowledged", || {
        let world = World::new();
        let disk = Disk::mount(world.path("data"), 3 << 10);
        let fill = |gateway: &Gateway, runs: &mut Vec<String>| {
            // Many at once, so that a failed commit has company.
            let more = std::sync::Mutex::new(Vec::new());
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        // Large ones first, then whatever still fits beside them: what is left has no room for anything.
                        for size in [20_000, 2_000, 20] {
                            loop {
                                let reply = gateway.chat(&"y".repeat(size));
                                match reply.status {
                                    200 => {
                                        more.lock().unwrap().push(reply.header("x-punk-run-id").to_owned());
                                    }
                                    507 => break,
                                    other => panic!("{other}: {}", String::from_utf8_lossy(&reply.body)),
                                }
                            }
                        }
                    });
                }
            });
            runs.extend(more.into_inner().unwrap());
            assert!(runs.len() > 10, "only {} went in", runs.len());
        };
        goes_on(&world, &disk, fill, |disk| disk.grow(16 << 10));
    });
}

#[test]
fn a_start_on_a_full_disk_is_refused_in_plain_words() {
    where_mounting_works("a_start_on_a_full_disk_is_refused_in_plain_words", || {
        let world = World::new();
        let disk = Disk::mount(world.path("data"), 4 << 10);
        let gateway = Gateway::start(&world, &[]);
        let run = gateway.chat("hello").header("x-punk-run-id").to_owned();
        drop(gateway);
        let filler = disk.fill();
        let refused = world.punk(&["serve", "--port", "0", "--json"]);
        assert_eq!((refused.code, code(&refused.error_json())), (3, &json!("punk_disk_full")));
        assert!(
            refused.stderr.contains("data/punk.db") && refused.stderr.contains("make room"),
            "{}",
            refused.stderr
        );
        // What is there can still be checked and copied to another disk.
        assert_eq!(world.punk(&["verify", "--ledger", "data/punk.db"]).code, 0);
        assert_eq!(world.punk(&["backup", "copy.db"]).code, 0);
        std::fs::remove_file(filler).unwrap();
        assert_eq!(Gateway::start(&world, &[]).packet(&run).status, 200);

        let fresh = World::new();
        let disk = Disk::mount(fresh.path("data"), 1 << 10);
        disk.fill();
        let refused = fresh.punk(&["serve", "--port", "0"]);
        assert_eq!(refused.code, 3, "{}", refused.told());
        assert!(refused.stderr.contains("No space left on device"), "{}", refused.stderr);
    });
}

#[test]
fn a_backup_and_an_export_to_a_full_disk_leave_nothing_behind() {
    where_mounting_works("a_backup_and_an_export_to_a_full_disk_leave_nothing_behind", || {
        let world = World::new();
        let gateway = Gateway::start(&world, &[]);
        for _ in 0..8 {
            assert_eq!(gateway.chat(&"z".repeat(20_000)).status, 200);
        }
        let disk = Disk::mount(world.path("small"), 128);
        for (arguments, codes) in [
            (&["backup", "small/copy.db", "--json"][..], ["punk_disk_full", "punk_unwritable"]),
            (&["export", "--out", "small/all.jsonl", "--json"], ["punk_disk_full", "punk_unwritable"]),
        ] {
            let refused = world.punk(arguments);
            assert_eq!(refused.code, 3, "{}", refused.told());
            let said = refused.error_json();
            assert!(codes.contains(&code(&said).as_str().unwrap()), "{said}");
            assert_eq!(files(&disk.0), 0, "{arguments:?}");
        }
        drop(gateway);
        // Nor does a backup that does not fit where the database is to be.
        assert_eq!(world.punk(&["backup", "whole.db"]).code, 0);
        let refused = world.punk(&["restore", "whole.db", "--data-dir", "small"]);
        assert_eq!(refused.code, 3, "{}", refused.told());
        assert_eq!(files(&disk.0), 0);
    });
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}
