//! Kill it: whatever was acknowledged is there afterwards, nothing is doubled, every chain verifies.
//!
//! A few rounds here; `PUNK_KILL_ROUNDS=50` for a long soak. A failing seed is printed and replays with `PUNK_KILL_SEED`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a helper of tests may fail as a test does")]

mod world;

use std::process::Command;
use std::thread;

use world::World;
use world::gateway::Gateway;
use world::load::{self, Load, setting};

#[test]
fn what_was_acknowledged_survives_kill_9_under_load() {
    kill_it_again_and_again(&[], |world| {
        let checked = world.punk(&["verify", "--ledger", "data/punk.db", "--json"]);
        assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    });
}

#[test]
fn what_was_acknowledged_survives_kill_9_under_load_on_postgres() {
    let server = std::env::var("PUNK_TEST_POSTGRES_URL")
        .expect("`cargo xtask test` starts a Postgres server and says where");
    let database = format!("kill_{}", std::process::id());
    let made = Command::new("psql").args([&server, "-qc", &format!("CREATE DATABASE {database}")]).status();
    assert!(made.expect("psql runs; `cargo xtask test` installs it").success());
    let (base, _) = server.rsplit_once('/').unwrap();
    let url = format!("{base}/{database}");
    kill_it_again_and_again(&[("PUNK_DATABASE_URL", &url)], |_| load::audit(&url));
}

fn kill_it_again_and_again(environment: &[(&str, &str)], audit: impl Fn(&World)) {
    let (rounds, seed) = (setting("PUNK_KILL_ROUNDS", 4), setting("PUNK_KILL_SEED", 7));
    println!("{rounds} rounds, PUNK_KILL_SEED={seed}");
    let world = World::new();
    let load = Load::default();
    for round in 0..rounds {
        let mut gateway = Gateway::start(&world, environment);
        load.upon(&gateway.address.clone(), || {
            // On a slow machine too there must be something to lose.
            load.wait_until_under_way();
            // Not a wait for anything: the moment of the kill is meant to be arbitrary.
            thread::sleep(load::moment(seed + round));
            gateway.kill();
        });
        drop(gateway);
        audit(&world);
        let gateway = Gateway::start(&world, environment);
        load.check(&gateway);
    }
    let events = load.acknowledged();
    assert!(events > rounds * 20, "only {events} events were acknowledged: nothing was tested");
    println!("{events} acknowledged events, all there");
}
