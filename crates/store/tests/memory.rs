//! The store in memory keeps every promise, and the suite forgets none.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

store::suite!(store::memory::MemoryStore::new());

#[test]
fn the_suite_lists_every_promise() {
    let listed = text("src/conformance/mod.rs");
    let (_, listed) = listed.split_once("@each $store;\n").unwrap();
    let listed: BTreeSet<&str> = listed.lines().map(str::trim).take_while(|line| *line != "}").collect();
    let mut found = 0;
    for file in std::fs::read_dir(path("src/conformance")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for promise in names_after("\npub async fn ", &text) {
            assert!(listed.contains(promise), "`{promise}` is not in `suite!`");
            found += 1;
        }
    }
    assert!(found > 30, "the promises are where they are looked for");
}

#[test]
fn every_method_of_a_tenant_is_tried_by_a_stranger() {
    let tried = text("src/conformance/tenant.rs");
    let lib = text("src/lib.rs");
    let (_, traits) = lib.split_once("pub trait TenantStore:").unwrap();
    let (traits, _) = traits.split_once('{').unwrap();
    let sources = [
        "event", "run", "log", "job", "subject", "api_key", "tenant", "cache", "usage", "agent", "record",
        "meter", "conduct",
    ]
    .map(|noun| text(&format!("src/{noun}.rs")))
    .concat();
    for name in traits.split('+').map(str::trim) {
        let (_, body) = sources.split_once(&format!("pub trait {name}: ")).unwrap();
        let (body, _) = body.split_once("\n}\n").unwrap();
        let methods: Vec<&str> = names_after("\n    async fn ", body).collect();
        assert!(!methods.is_empty(), "{name} has methods");
        for method in methods {
            assert!(tried.contains(&format!("tenant.{method}(")), "{name}::{method} is not tried");
        }
    }
}

fn names_after<'a>(marker: &'a str, text: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(marker).skip(1).filter_map(|rest| rest.split_once('(')).map(|(name, _)| name)
}

fn path(inside: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(inside)
}

fn text(inside: &str) -> String {
    std::fs::read_to_string(path(inside)).unwrap()
}
