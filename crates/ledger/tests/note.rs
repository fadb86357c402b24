//! Signed notes against the published example, and in one spelling only.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use ed25519_dalek::SigningKey;
use ledger::note::{KeyKind, Note, NoteError, SignatureLine, VerifierKey};
use ledger::{Proof, ProofError};
use proptest::prelude::*;

// The example of Go's sumdb note package, from which the format comes.
const PUBLISHED_KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const PUBLISHED_NOTE: &str = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\
    \u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

#[test]
fn the_published_note_verifies_with_the_published_key() {
    let key: VerifierKey = PUBLISHED_KEY.parse().unwrap();
    let note: Note = PUBLISHED_NOTE.parse().unwrap();
    assert!(key.is_named_by(&note.signatures()[0]));
    assert!(key.verifies(note.text(), &note.signatures()[0]));
    assert!(!key.verifies("another text\n", &note.signatures()[0]));
    assert_eq!((key.to_string(), note.to_string()), (PUBLISHED_KEY.to_owned(), PUBLISHED_NOTE.to_owned()));
}

fn witness() -> (SigningKey, VerifierKey) {
    let signer = SigningKey::from_bytes(&[9; 32]);
    let key = VerifierKey::new("witness.test/w".parse().unwrap(), KeyKind::Witness, signer.verifying_key());
    (signer, key)
}

#[test]
fn a_cosignature_binds_its_time() {
    let (signer, key) = witness();
    let line = SignatureLine::cosign("a\n1\nb\n", 1_679_315_147, &key, &signer);
    assert!(key.verifies("a\n1\nb\n", &line));
    let other_time = SignatureLine::cosign("a\n1\nb\n", 1_679_315_148, &key, &signer).to_string();
    assert_ne!(line.to_string(), other_time);
    // A witness's line is not a log's signature over the same text, though the key is the same.
    let as_log = VerifierKey::new(key.name().clone(), KeyKind::Log, signer.verifying_key());
    assert!(!as_log.is_named_by(&line) && !as_log.verifies("a\n1\nb\n", &line));
}

#[track_caller]
fn refuse(change: impl Fn(&str) -> String) -> NoteError {
    change(PUBLISHED_NOTE).parse::<Note>().unwrap_err()
}

#[test]
fn a_note_has_one_spelling() {
    assert_eq!(refuse(|note| note.trim_end().to_owned()), NoteError::Text);
    assert_eq!(refuse(|note| note.replace("crypto", "crypto\t")), NoteError::Text);
    assert_eq!(refuse(|note| note.replace("\n\n", "\n")), NoteError::Parts);
    assert_eq!(refuse(|note| note.replace("\u{2014} ", "- ")), NoteError::Signature(1));
    assert_eq!(refuse(|note| note.replace("nAM=\n", "nAM\n")), NoteError::Signature(1));
    assert_eq!(
        refuse(|note| note.replace("nAM=\n", "nAN=\n")),
        NoteError::Signature(1),
        "stray trailing bits"
    );
    assert_eq!(refuse(|note| note.replace("Neumann x", "Neumann  x")), NoteError::Signature(1));
    assert_eq!(refuse(|note| note.replace(" PeterNeumann", " Peter+Neumann")), NoteError::Signature(1));
    assert_eq!(refuse(|note| note.replace(" PeterNeumann", " Peter\u{a0}Neumann")), NoteError::Signature(1));
}

#[test]
fn a_verifier_key_must_carry_its_own_id() {
    for bad in [
        "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+AQ==",
        "PeterNeumann",
    ] {
        assert!(bad.parse::<VerifierKey>().is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn what_is_read_as_a_note_is_written_back_the_same(text in ".*\n\n\u{2014} [a-z]{1,3} [A-Za-z0-9+/]{8}\n") {
        if let Ok(note) = text.parse::<Note>() {
            prop_assert_eq!(note.to_string(), text);
        }
    }

    #[test]
    fn garbage_is_no_proof_and_no_panic(text in "(c2sp.org/tlog-proof@v1\nindex [0-9]{1,3}\n)?\\PC*(\n\n)?\\PC*") {
        let read: Result<Proof, ProofError> = text.parse();
        if let Ok(proof) = read {
            prop_assert_eq!(proof.to_string(), text);
        }
    }
}
