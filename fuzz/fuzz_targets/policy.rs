//! Files of policies, and the texts that sets are recorded as: none makes the reader panic, and a set that is read is
//! written as it was read.

#![no_main]

use governance::{PolicyFile, PolicySet, load};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(set) = load(&[PolicyFile { name: "x.yaml".to_owned(), text: text.to_owned() }]) {
        assert_eq!(PolicySet::parse(set.text()).unwrap().text(), set.text());
    }
    if let Ok(set) = PolicySet::parse(text) {
        assert_eq!(PolicySet::parse(set.text()).unwrap().text(), set.text());
    }
});
