//! Addresses to go out to: no text makes the guard panic, what it lets through is public, and is read again as itself.

#![no_main]

use egress::{Host, Kind, Reach};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(origin) = Reach::public().judge(text) else { return };
    match origin.host() {
        Host::Address(address) => assert_eq!(Kind::of(*address), Kind::Public),
        Host::Name(name) => {
            assert!(name.contains('.') && !name.ends_with(".localhost") && !name.ends_with(".internal"));
            // What the system would take for an address has been read as one.
            assert!(
                !name.ends_with(|last: char| last.is_ascii_digit())
                    || name.rsplit('.').next().unwrap().parse::<u64>().is_err()
            );
        }
    }
    assert_eq!(Reach::public().judge(&origin.to_string()), Ok(origin));
});
