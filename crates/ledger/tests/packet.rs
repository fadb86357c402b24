//! What a packet promises, one promise a test.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod common;

use common::{World, run_id, samples};
use ledger::packet::{Reason, verify};
use ledger::trust::Trust;
use ledger::{Chain, verify_consistency};
use serde_json::Value;

fn check(bytes: &[u8], trust: &str) -> Result<ledger::packet::Report, Reason> {
    verify(bytes, &Trust::parse(trust).unwrap(), governance::replay).map_err(|broken| broken.reason)
}

#[test]
fn every_sample_verifies_and_says_what_was_withheld() {
    for sample in samples() {
        let report = check(&sample.packet.to_bytes().unwrap(), &sample.trust)
            .unwrap_or_else(|reason| panic!("{}: {reason}", sample.name));
        assert_eq!(report.events, sample.packet.events.len());
        assert_eq!(report.withheld.is_empty(), !sample.name.contains("withheld"), "{}", sample.name);
    }
    let withheld = samples().into_iter().find(|sample| sample.name == "facts and a cost withheld").unwrap();
    let report = check(&withheld.packet.to_bytes().unwrap(), &withheld.trust).unwrap();
    assert_eq!(
        report.withheld,
        ["event 1: request", "event 1: subject", "event 2: facts", "event 4: costMicroUsd"]
    );
    assert_eq!(report.not_checked.len(), 2);
}

#[test]
fn a_prefix_verifies_as_a_chain_and_is_refused_as_a_packet() {
    for sample in samples() {
        let run = run_of(&sample.packet.run);
        for cut in 0..sample.packet.events.len() {
            let mut chain = Chain::new(sample.packet.tenant, run);
            assert!(sample.packet.events[..cut].iter().all(|event| chain.verify_next(event).is_ok()));
            let mut prefix = sample.packet.clone();
            prefix.events.truncate(cut);
            let reason = check(&prefix.to_bytes().unwrap(), &sample.trust).unwrap_err();
            let expected = [Reason::WrongShape, Reason::Incomplete, Reason::LeafHead];
            assert!(expected.contains(&reason), "{} cut at {cut}: {reason}", sample.name);
        }
    }
}

fn run_of(row: &Value) -> schema::RunId {
    row["id"].as_str().unwrap().parse().unwrap()
}

#[test]
fn an_older_packet_cannot_be_cut_out_of_a_newer_one() {
    // Everything up to the first leaf is proven; only the statement knows that there was more.
    let sample = samples().into_iter().find(|sample| sample.packet.leaves.len() == 2).unwrap();
    let mut older = sample.packet.clone();
    older.leaves.truncate(1);
    older.events.truncate(older.leaves[0].seq.0 as usize);
    older.side_effects.clear();
    older.audit.clear();
    assert_eq!(check(&older.to_bytes().unwrap(), &sample.trust), Err(Reason::StatementDiffers));
}

#[test]
fn another_tenants_key_and_a_stale_key_are_refused() {
    let sample = samples().remove(0);
    let bytes = sample.packet.to_bytes().unwrap();
    let rotated = World::new(1, 77).trust_text();
    assert_eq!(check(&bytes, &rotated), Err(Reason::UnknownKey));
    let neighbour = World::new(2, 1).trust_text();
    assert_eq!(
        check(&bytes, &neighbour),
        Err(Reason::UnknownKey),
        "the same key under another tenant's name"
    );
}

#[test]
fn witnesses_count_once_and_must_be_enough() {
    let mut world = World::new(3, 4);
    let (chain, events) = world.chat(run_id(4), "user-4");
    world.leaf(run_id(4), &chain);
    world.quorum = 2;
    for (cosigners, enough) in [(0, false), (1, false), (2, true), (3, true)] {
        let outcome = world.verify(&world.packet(run_id(4), events.clone(), cosigners));
        assert_eq!(outcome.map_err(|broken| broken.reason).is_ok(), enough, "{cosigners}");
    }
}

#[test]
fn a_fork_shows_against_a_checkpoint_that_was_kept() {
    let mut honest = World::new(1, 1);
    honest.fill(10);
    let (kept_size, kept_root) = (honest.log.size(), honest.log.root());
    honest.fill(20);
    let mut forked = World::new(1, 1);
    forked.fill(9);
    let (chain, events) = forked.chat(run_id(1), "user");
    forked.leaf(run_id(1), &chain);
    forked.fill(20);
    // Each packet is valid on its own; only the kept checkpoint tells the two histories apart.
    assert!(forked.verify(&forked.packet(run_id(1), events, 0)).is_ok());
    let consistent = |world: &World| {
        let path = world.log.prove_consistency(kept_size).unwrap();
        verify_consistency(kept_size, kept_root, world.log.size(), world.log.root(), &path)
    };
    assert!(consistent(&honest) && !consistent(&forked));
}

#[test]
fn a_trust_file_that_cannot_be_read_is_refused_by_line() {
    let good = World::new(1, 1).trust_text();
    let log_line = good.lines().nth(1).unwrap();
    let changes: [(String, usize); 8] = [
        (good.replace("quorum none\n", ""), 6),
        (format!("{good}quorum none\n"), 7),
        (format!("{log_line}\n{good}"), 3),
        (good.replace("witness w1", "witness w0"), 4),
        (good.replace("quorum none", "quorum w9"), 6),
        (good.replace("quorum none", "group g 2 w0\nquorum g"), 6),
        (good.replace("quorum none", "group g any w0\ngroup h any w0\nquorum h"), 7),
        (good.replace("log ", "trust "), 2),
    ];
    for (text, line) in changes {
        assert_eq!(Trust::parse(&text).unwrap_err().line, line, "{text}");
    }
}
