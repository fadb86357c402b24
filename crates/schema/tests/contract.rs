//! The contract, as JSON Schemas: an accidental change of a wire-visible type shows in review as a changed snapshot.
//!
//! After a deliberate change: `UPDATE_EXPECT=1 cargo test -p schema --test contract`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use expect_test::expect_file;
use schema::{Agent, ApiKey, App, Approval, AuditEvent, Run, SideEffect, Tenant, TraceEvent, Verdict};
use schemars::{JsonSchema, schema_for};

#[track_caller]
fn check<T: JsonSchema>(name: &str) {
    let schema = serde_json::to_string_pretty(&schema_for!(T)).unwrap() + "\n";
    expect_file![format!("snapshots/{name}.json")].assert_eq(&schema);
}

#[test]
fn wire_visible_types_keep_their_shape() {
    check::<Agent>("agent");
    check::<ApiKey>("api_key");
    check::<App>("app");
    check::<Approval>("approval");
    check::<AuditEvent>("audit_event");
    check::<Run>("run");
    check::<SideEffect<serde_json::Value>>("side_effect");
    check::<Tenant>("tenant");
    check::<TraceEvent<serde_json::Value>>("trace_event");
    check::<Verdict>("verdict");
}

#[test]
fn every_file_of_the_contract_is_checked() {
    // A snapshot that no check writes any more would pass for a promise that is kept.
    let source = include_str!("contract.rs");
    for entry in std::fs::read_dir(std::env::var("CARGO_MANIFEST_DIR").unwrap() + "/tests/snapshots").unwrap()
    {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let stem = name.trim_end_matches(".json");
        assert!(source.contains(&format!("(\"{stem}\")")), "{name} is checked by nobody");
    }
}
