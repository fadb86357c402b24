//! The promises of the journal, on real files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use std::fs;
use std::path::Path;

use ledger::{Chain, Salt};
use schema::{RunId, Seq, TenantId, Timestamp};
use serde_json::json;
use store::{Append, AppendError, Journal, OpenError, Settle};

const TENANT: TenantId = TenantId::NIL;

fn run(n: u8) -> RunId {
    RunId::from_bytes([n; 16])
}

fn append(chain: &mut Chain, run: RunId, settle: Settle, text: &str) -> Append {
    let expected = chain.seq();
    let at = Timestamp::from_millis(1_790_000_000_000).unwrap();
    let fields = [("text".to_owned(), json!(text))];
    let event = chain.append(at, "note", fields, || Salt::from_bytes([3; 16])).unwrap();
    Append { tenant: TENANT, run, expected, events: vec![event], policies: vec!["{}".to_owned()], settle }
}

/// A journal of ten appends to two runs, and its bytes after each of them.
fn ten_appends(path: &Path) -> Vec<u64> {
    let (journal, _) = Journal::open(path).unwrap();
    let mut chains = [Chain::new(TENANT, run(1)), Chain::new(TENANT, run(2))];
    let mut lengths = vec![0];
    for i in 0..10u8 {
        let which = usize::from(i % 2);
        let settle = if i < 6 { Settle::Open } else { Settle::Leaf };
        journal.append(append(&mut chains[which], run(which as u8 + 1), settle, "grüße\n")).unwrap();
        lengths.push(fs::metadata(path).unwrap().len());
    }
    lengths
}

fn events(journal: &Journal) -> usize {
    [run(1), run(2)]
        .iter()
        .filter_map(|run| journal.prove(TENANT, *run))
        .map(|proof| proof.record.events.len())
        .sum()
}

#[test]
fn what_was_appended_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    ten_appends(&path);
    let (journal, recovered) = Journal::open(&path).unwrap();
    assert_eq!((recovered.appends, recovered.torn_bytes), (10, 0));
    let proof = journal.prove(TENANT, run(1)).unwrap();
    assert_eq!((proof.record.events.len(), proof.record.leaves.len(), proof.size), (5, 2, 4));
}

#[test]
fn every_cut_of_the_file_recovers_a_prefix_of_the_appends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    let lengths = ten_appends(&path);
    let bytes = fs::read(&path).unwrap();
    let cut_path = folder.path().join("cut.jsonl");
    for cut in 0..=bytes.len() {
        fs::write(&cut_path, &bytes[..cut]).unwrap();
        let whole = lengths.iter().filter(|length| **length as usize <= cut).count() - 1;
        let (journal, recovered) = Journal::open(&cut_path).unwrap();
        assert_eq!((recovered.appends, events(&journal)), (whole, whole), "cut at {cut}");
        drop(journal);
        assert_eq!(fs::metadata(&cut_path).unwrap().len(), lengths[whole], "the torn bytes are gone");
    }
}

#[test]
fn a_changed_byte_in_the_middle_is_refused_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    let lengths = ten_appends(&path);
    let bytes = fs::read(&path).unwrap();
    // A step that is coprime to the line length visits every kind of place.
    for place in (0..lengths[9] as usize).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let outcome = Journal::open(&path);
        let policy_text =
            bytes[..place].ends_with(b"\"policies\":[\"") || bytes[..place].ends_with(b"\"policies\":[\"{");
        assert!(
            policy_text || matches!(outcome, Err(OpenError::Damaged { .. })),
            "byte {place}: {outcome:?}"
        );
        drop(outcome);
        assert_eq!(fs::read(&path).unwrap(), damaged, "a refused file is left as it is");
    }
}

#[test]
fn a_stale_append_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    let (journal, _) = Journal::open(&path).unwrap();
    let (mut first, mut second) = (Chain::new(TENANT, run(1)), Chain::new(TENANT, run(1)));
    journal.append(append(&mut first, run(1), Settle::Open, "a")).unwrap();
    let before = fs::read(&path).unwrap();
    let stale = journal.append(append(&mut second, run(1), Settle::Open, "b"));
    assert!(matches!(stale, Err(AppendError::Moved { expected: Seq(0), actual: Seq(1), .. })), "{stale:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn events_of_another_chain_are_refused_before_they_reach_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    let (journal, _) = Journal::open(&path).unwrap();
    let foreign = append(&mut Chain::new(TENANT, run(2)), run(1), Settle::Leaf, "a");
    assert!(matches!(journal.append(foreign), Err(AppendError::Refused(_))));
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[test]
fn a_second_process_cannot_open_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    let _open = Journal::open(&path).unwrap();
    assert!(matches!(Journal::open(&path), Err(OpenError::InUse { .. })));
}

#[test]
fn another_tenant_sees_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    ten_appends(&path);
    let (journal, _) = Journal::open(&path).unwrap();
    assert!(journal.prove(TenantId::from_bytes([9; 16]), run(1)).is_none());
}

#[test]
fn thirty_two_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    let (journal, _) = Journal::open(&path).unwrap();
    std::thread::scope(|scope| {
        for n in 0..32 {
            let journal = &journal;
            scope.spawn(move || {
                let mut chain = Chain::new(TENANT, run(n));
                for _ in 0..10 {
                    journal.append(append(&mut chain, run(n), Settle::Leaf, "x")).unwrap();
                }
            });
        }
    });
    drop(journal);
    let (journal, recovered) = Journal::open(&path).unwrap();
    assert_eq!(recovered.appends, 320);
    assert_eq!(journal.prove(TENANT, run(31)).unwrap().size, 320);
}
