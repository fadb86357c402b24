//! Notes, proofs, checkpoints, verifier keys and trust files: what is read is written back the same.

#![no_main]

use ledger::note::{Note, VerifierKey};
use ledger::trust::Trust;
use ledger::{Checkpoint, Proof};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(note) = text.parse::<Note>() {
        assert_eq!(note.to_string(), text);
    }
    if let Ok(proof) = text.parse::<Proof>() {
        assert_eq!(proof.to_string(), text);
    }
    if let Some(checkpoint) = Checkpoint::parse(text) {
        assert_eq!(checkpoint.text(), text);
    }
    if let Ok(key) = text.parse::<VerifierKey>() {
        assert_eq!(key.to_string(), text);
    }
    let _ = Trust::parse(text);
});
