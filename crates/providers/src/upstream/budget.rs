//! The retry budget: how much of an upstream's load may be repetition.
//!
//! When an upstream is down, every call fails and every call wants to be repeated; without a limit the upstream gets a
//! multiple of its load at the moment it can bear least. Each first try of a call pays a fifth of a token in, each
//! repetition takes a whole one, so repetitions stay at a fifth of the calls. A little comes in with time, so that a
//! quiet installation can still repeat a call now and then.

use std::time::Duration;
use tokio::time::Instant;

/// The numbers of a [`Budget`], in thousandths of a repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetRules {
    /// What each call adds.
    pub per_call: u32,
    /// What each second adds.
    pub per_second: u32,
    /// How much can be saved up. A new upstream starts with this.
    pub most: u32,
}

impl Default for BudgetRules {
    fn default() -> Self {
        Self { per_call: 200, per_second: 500, most: 10_000 }
    }
}

/// What one repetition costs.
const WHOLE: u64 = 1_000;

/// What is left for repetitions at one upstream.
#[derive(Debug)]
pub(super) struct Budget {
    rules: BudgetRules,
    left: u64,
    since: Instant,
}

impl Budget {
    pub(super) fn new(rules: BudgetRules, now: Instant) -> Self {
        Self { rules, left: u64::from(rules.most), since: now }
    }

    /// A call is tried here for the first time.
    pub(super) fn deposit(&mut self) {
        self.add(u64::from(self.rules.per_call));
    }

    /// A call wants to be repeated here. False when there is nothing left for it.
    pub(super) fn withdraw(&mut self, now: Instant) -> bool {
        self.age(now);
        let paid = self.left.checked_sub(WHOLE);
        self.left = paid.unwrap_or(self.left);
        paid.is_some()
    }

    fn age(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.since).as_millis();
        let gained = passed.saturating_mul(u128::from(self.rules.per_second)) / 1_000;
        // Less than a thousandth is not lost: it stays in `since` for the next time.
        if gained > 0 {
            self.add(u64::try_from(gained).unwrap_or(u64::MAX));
            self.since += Duration::from_millis(u64::try_from(passed).unwrap_or(u64::MAX));
        }
    }

    fn add(&mut self, gained: u64) {
        self.left = self.left.saturating_add(gained).min(u64::from(self.rules.most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_outage_gets_a_fifth_more_load_and_not_twice_as_much() {
        let now = Instant::now();
        let mut budget = Budget::new(BudgetRules::default(), now);
        let mut repeated = 0;
        for _ in 0..1_000 {
            budget.deposit();
            repeated += u32::from(budget.withdraw(now));
        }
        assert_eq!(repeated, 10 + 200 - 1, "the savings, a fifth of the calls, and what is below one token");
    }

    #[test]
    fn a_quiet_upstream_may_repeat_every_other_second() {
        let now = Instant::now();
        let mut budget = Budget::new(BudgetRules::default(), now);
        while budget.withdraw(now) {}
        assert!(!budget.withdraw(now + Duration::from_millis(1_999)));
        assert!(budget.withdraw(now + Duration::from_millis(2_001)));
        assert!(!budget.withdraw(now + Duration::from_millis(2_001)));
    }

    proptest! {
        #[test]
        fn repetitions_never_exceed_what_came_in(steps in prop::collection::vec((any::<bool>(), 0u64..500), 0..400)) {
            let rules = BudgetRules::default();
            let start = Instant::now();
            let mut budget = Budget::new(rules, start);
            let (mut passed, mut calls, mut repeated) = (0, 0, 0);
            for (call, wait) in steps {
                passed += wait;
                if call {
                    calls += 1;
                    budget.deposit();
                } else {
                    repeated += u64::from(budget.withdraw(start + Duration::from_millis(passed)));
                }
                let earned = u64::from(rules.most) + calls * u64::from(rules.per_call) + passed * u64::from(rules.per_second) / 1_000;
                prop_assert!(repeated * WHOLE <= earned);
            }
        }
    }
}
