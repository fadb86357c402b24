//! What callers ask, by every parser of a request: nothing makes one panic, what is refused is refused by its field, and what
//! is taken can be said again on the same wire without losing anything.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use wire::{Refused, Wire, count, embeddings};

fuzz_target!(|bytes: &[u8]| {
    let Ok(body) = serde_json::from_slice::<Value>(bytes) else { return };
    for wire in Wire::ALL {
        match wire.read_request(&body) {
            Ok(request) => said_again(wire, &request),
            Err(refused) => named(&refused),
        }
    }
    match count::read(&body) {
        Ok(request) => assert_eq!(request.wire, Wire::Messages),
        Err(refused) => named(&refused),
    }
    match embeddings::read(&body) {
        Ok(embed) => assert!(!embed.input.is_empty()),
        Err(refused) => named(&refused),
    }
});

fn named(refused: &Refused) {
    assert!(refused.message.starts_with(&refused.param), "{refused}");
}

/// What we would send is what we would take, and taken it is what we would send.
fn said_again(wire: Wire, request: &wire::Request) {
    let Ok(sent) = wire.write_request(request) else { return };
    let heard = wire.read_request(&sent.body).unwrap_or_else(|refused| panic!("{refused}: {}", sent.body));
    let again = wire.write_request(&heard).unwrap();
    assert_eq!(again.body, sent.body);
}
