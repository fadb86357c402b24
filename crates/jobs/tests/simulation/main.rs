//! The worker's core in a world where everything goes wrong: seeded, with its own clock, without a moment of real time.
//!
//! `PUNK_SIM_SEED=n cargo test -p jobs --test simulation` replays one seed; `PUNK_SIM_SEEDS=n` tries fewer or more.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod queue;
mod random;
mod tally;
mod world;

use tally::Tally;
use world::World;

/// How many seeds are tried unless `PUNK_SIM_SEEDS` says otherwise.
const SEEDS: u64 = 1_000;

fn seeds() -> Vec<u64> {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    match number("PUNK_SIM_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("PUNK_SIM_SEEDS").unwrap_or(SEEDS)).collect(),
    }
}

#[test]
fn crashes_break_no_promise() {
    let mut total = Tally::default();
    let seeds = seeds();
    for &seed in &seeds {
        let outcome = std::panic::catch_unwind(|| World::new(seed).run());
        match outcome {
            Ok(tally) => total += tally,
            Err(cause) => {
                eprintln!("seed {seed} breaks a promise; replay it with PUNK_SIM_SEED={seed}");
                std::panic::resume_unwind(cause);
            }
        }
    }
    eprintln!("{total:?}");
    // Worlds in which nothing goes wrong prove nothing; a few may be lucky, a thousand are not.
    if seeds.len() as u64 >= SEEDS {
        total.assert_everything_happened();
    }
}

#[test]
fn a_seed_tells_the_same_story_twice() {
    for seed in [1, 2, 3] {
        assert_eq!(World::new(seed).run(), World::new(seed).run());
    }
}
