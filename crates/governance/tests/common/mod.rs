//! The set that tests ask, and somebody who asks.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may stop")]
#![allow(dead_code, reason = "each test takes what it needs")]

use governance::{Excepted, Facts, Granted, Meter, Pattern, PolicyFile, PolicySet, Remote, Shaped, load};
use schema::{ApprovalId, Effect, GatewayMode, SideEffectLevel, TenantId};

pub(crate) fn file(name: &str, text: &str) -> PolicyFile {
    PolicyFile { name: name.to_owned(), text: text.to_owned() }
}

pub(crate) fn set() -> PolicySet {
    let files = [
        file("office.yaml", include_str!("../office.yaml")),
        file("machines.yaml", include_str!("../machines.yaml")),
        file("night-shift.yaml", include_str!("../night-shift.yaml")),
    ];
    load(&files).unwrap()
}

/// Somebody who asks at noon, for a cent, within the limits.
pub(crate) fn facts() -> Facts {
    let noon = "2026-11-16T12:00:00.000Z".parse().unwrap();
    let mut facts = Facts::of(TenantId::NIL, "desk", "ada", GatewayMode::Enforce, noon);
    facts.model = Some("gpt-4o".to_owned());
    facts.cost_micro_usd = Some(10_000);
    facts.meters = vec![meter(6, 3, 1), meter(7, 5_000_000, 10_000)];
    facts
}

pub(crate) fn meter(rule: u32, limit: u64, amount: u64) -> Meter {
    Meter { policy: "office".to_owned(), rule: Some(rule), limit, used: 0, amount: Some(amount), hard: true }
}

pub(crate) fn shape(facts: &mut Facts) {
    facts.shaped = Some(Shaped { threshold: SideEffectLevel::ReversibleWrite, by: vec!["web:x".into()] });
}

pub(crate) fn remote(effect: Effect) -> Remote {
    Remote { effect, policy: "mesh".to_owned() }
}

pub(crate) fn excepted(policy: &str, rule: Option<u32>) -> Excepted {
    Excepted {
        id: "exc_1".to_owned(),
        policy: policy.to_owned(),
        rule,
        actions: vec![Pattern::new("*:file")],
    }
}

pub(crate) fn granted(policy: &str, rule: Option<u32>) -> Granted {
    Granted { id: ApprovalId::NIL, policy: policy.to_owned(), rule }
}
