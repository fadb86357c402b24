//! The packet parser and verifier: no input makes it panic, and only the published runs are ever valid.

#![no_main]

use std::collections::BTreeSet;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ledger::packet::verify;
use ledger::trust::Trust;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// A trust file with every log of the published valid packets, and their runs.
static PUBLISHED: LazyLock<(Trust, BTreeSet<String>)> = LazyLock::new(|| {
    let (mut logs, mut runs) = (BTreeSet::new(), BTreeSet::new());
    for line in include_str!("../../tests/vectors/evidence.jsonl").lines() {
        let vector: Value = serde_json::from_str(line).unwrap();
        if vector["expect"] == "valid" {
            logs.extend(
                vector["trust"]
                    .as_str()
                    .unwrap()
                    .lines()
                    .filter(|line| line.starts_with("log "))
                    .map(str::to_owned),
            );
            let packet: Value =
                serde_json::from_slice(&BASE64.decode(vector["packet"].as_str().unwrap()).unwrap()).unwrap();
            runs.insert(packet["run"]["id"].as_str().unwrap().to_owned());
        }
    }
    let trust = logs.into_iter().chain(["quorum none".to_owned()]).collect::<Vec<_>>().join("\n");
    (Trust::parse(&trust).unwrap(), runs)
});

fuzz_target!(|bytes: &[u8]| {
    let (trust, runs) = &*PUBLISHED;
    if let Ok(report) = verify(bytes, trust, governance::replay) {
        // Withholding a field is allowed, so other bytes may be valid too: then they are of a published run.
        assert!(runs.contains(&report.run.to_string()));
    }
});
