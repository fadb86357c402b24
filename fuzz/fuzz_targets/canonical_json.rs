//! Canonical JSON: whatever reads, writes as the reference crate does, and reads back as itself.

#![no_main]

use ledger::canonical;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let strict = canonical::parse(bytes);
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        assert!(strict.is_err());
        return;
    };
    let Ok(canonical) = canonical::to_vec(&value) else {
        assert!(strict.is_err());
        return;
    };
    assert_eq!(canonical, serde_json_canonicalizer::to_vec(&value).unwrap());
    assert_eq!(strict.is_ok(), canonical == bytes);
    let again = canonical::parse(&canonical).expect("what is canonical can be read");
    assert_eq!(canonical::to_vec(&again).unwrap(), canonical);
});
