//! The reference tells the numbers that the code has.

use providers::upstream::{BreakerRules, BudgetRules, Policy, Timeouts};

const REFERENCE: &str = include_str!("../../../../docs/reference/upstreams.md");

#[test]
fn the_reference_tells_the_numbers_of_the_code() {
    let (time, policy) = (Timeouts::default(), Policy::default());
    let (breaker, budget) = (BreakerRules::default(), BudgetRules::default());
    let sentences = [
        format!("| to a connection, handshake included | {} s |", time.connect.as_secs()),
        format!("first byte of the body again | {} s |", time.first_byte.as_secs()),
        format!("| between two pieces of an answer | {} s |", time.idle.as_secs()),
        format!("| for one try from beginning to end | {} s |", time.total.as_secs()),
        format!(
            "at most {} times, other keys not counted; a call at most {} times",
            policy.tries_per_target, policy.tries
        ),
        format!("one longer than {} s is not waited for", policy.longest_wait.as_secs()),
        format!(
            "{} failures in a row, or {} % of at least {}",
            breaker.in_a_row, breaker.percent, breaker.of_at_least
        ),
        format!("calls within {} s, and", breaker.window.as_secs()),
        format!("left alone for {} s, doubled", breaker.open_for.as_secs()),
        format!("probe up to {} s.", breaker.open_for_at_most.as_secs()),
        format!("at most {} can be saved", budget.most / 1_000),
    ];
    for sentence in sentences {
        assert!(REFERENCE.contains(&sentence), "docs/reference/upstreams.md does not say: {sentence}");
    }
    assert_eq!((budget.per_call, budget.per_second), (200, 500), "a fifth, and a half");
}
