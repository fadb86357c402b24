//! Slow streams, thousands at once: the memory that each takes of the real gateway, whether any is lost, and how soon upstreams
//! are free when half of the callers go away.
//!
//! `cargo bench -p cli --bench streams -- --streams 2000 --secs 30`

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a bench may fail as a test does"
)]

#[cfg(unix)]
#[path = "../tests/world/mod.rs"]
mod world;

/// KiB that a stream may take, and the time in which the last upstream is free.
#[cfg(unix)]
const BARS: (f64, std::time::Duration) = (40.0, std::time::Duration::from_millis(100));

#[cfg(unix)]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |flag: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == flag);
        at.map_or(default, |at| arguments[at + 1].parse().expect("a whole number follows the flag"))
    };
    let (streams, seconds) = (number("--streams", 2_000) as usize, number("--secs", 30));
    let figures = world::streams::flow(streams, seconds);
    if arguments.iter().any(|argument| argument == "--json") {
        println!("{}", figures.json());
    } else {
        let (before, during) = figures.memory;
        println!("{streams} streams of {seconds} s");
        println!(
            "{:>9.1} KiB each ({before} KiB before, {during} while they flow; bar {})",
            figures.each(),
            BARS.0
        );
        println!("{:>9} of {} ended well, the others were left", figures.whole, streams - streams / 2);
        println!("{:>9.1?} until half of the left upstreams were free", figures.freed.0);
        println!("{:>9.1?} until the last was (bar {:?})", figures.freed.1, BARS.1);
        println!("{:>9} runs are recorded, {} of them as cancelled", figures.recorded.0, figures.recorded.1);
    }
    let lost = figures.whole != streams - streams / 2 || figures.recorded != (streams, streams / 2);
    if lost || figures.each() > BARS.0 || figures.freed.1 > BARS.1 {
        println!("a bar is missed");
        std::process::exit(1);
    }
}

#[cfg(not(unix))]
fn main() {}
