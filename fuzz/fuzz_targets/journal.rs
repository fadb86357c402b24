//! The journal of acknowledged commits: whatever a file holds, reading it ends in commits or in a word about damage.
//!
//! Checksums stand before the records, so the first byte says what the rest is: a file, or a record behind its checksum.

#![no_main]

use libfuzzer_sys::fuzz_target;
use store::sqlite::{read_journal, read_journal_record};

fuzz_target!(|bytes: &[u8]| {
    let Some((what, rest)) = bytes.split_first() else { return };
    if what % 2 == 0 {
        let _ = read_journal(rest);
    } else {
        let _ = read_journal_record(rest);
    }
});
