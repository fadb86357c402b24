//! Many slow streams at once. `cargo bench -p cli --bench streams` is the same with thousands, and with the bars.
#![cfg(unix)]

mod world;

use std::time::Duration;

use world::streams::flow;

#[test]
fn of_many_slow_streams_none_is_lost_and_those_that_are_left_free_their_upstreams() {
    let figures = flow(100, 3);
    assert_eq!(figures.whole, 50, "{figures:?}");
    assert_eq!(figures.recorded, (100, 50), "all of them are on record: {figures:?}");
    // How soon is for the bench to say, on a machine that does nothing else.
    assert!(figures.freed.1 < Duration::from_secs(5), "{figures:?}");
    // Not optimised, a stream takes more; but never its buffers a hundred times over.
    assert!(figures.each() < 400.0, "{figures:?}");
}
