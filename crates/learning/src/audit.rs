//! The audit: which of the answers that could be served are compared with live instead.
//!
//! The share that is served grows with evidence (the canary) up to a steady audit that never ends. Which request of a block
//! is audited depends on a secret key and the request's own id, so nobody who sends requests can tell; one of every block is,
//! so chance leaves no long gap. After a disagreement everything is compared for a while: nothing is served on a suspicion.

use artifact::text::{mix, stable_hash};
use serde::{Deserialize, Serialize};

/// At the end one of so many is audited.
pub const STEADY: u64 = 13;
/// After a disagreement so many are compared, one after the other.
const SUSPICION: u32 = 24;
/// And after requests have become strange, so many.
const STRANGE: u32 = 48;

/// Where the audit of one artifact stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// How many were audited since promotion.
    audited: u64,
    /// How many of the block have passed, and which of it is audited.
    passed: u64,
    chosen: u64,
    /// How many more are compared whatever the block says.
    suspicion: u32,
}

impl Audit {
    /// One of how many is audited now.
    #[must_use]
    pub const fn one_in(&self) -> u64 {
        match self.audited {
            0..8 => 2,
            8..16 => 4,
            16..32 => 8,
            _ => STEADY,
        }
    }

    /// The share that is served.
    #[must_use]
    pub fn served_share(&self) -> f64 {
        if self.suspicion > 0 { 0.0 } else { 1.0 - 1.0 / self.one_in() as f64 }
    }

    /// Whether the request `id` is to be compared with live instead of being served.
    pub fn takes(&mut self, key: u64, id: &[u8]) -> bool {
        if self.suspicion > 0 {
            self.suspicion -= 1;
            self.audited += 1;
            return true;
        }
        let block = self.one_in();
        if self.passed == 0 {
            self.chosen = mix(stable_hash(key, id)) % block;
        }
        let taken = self.passed == self.chosen;
        self.passed += 1;
        if self.passed >= block {
            self.passed = 0;
        }
        if taken {
            self.audited += 1;
        }
        taken
    }

    /// Something that could have been served differed from live.
    pub fn disagreed(&mut self) {
        self.suspicion = self.suspicion.max(SUSPICION);
    }

    /// Requests are not what they were: whether answers still hold has to be seen.
    pub fn look_closely(&mut self) {
        self.suspicion = self.suspicion.max(STRANGE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_served_share_grows_with_evidence_and_an_audit_remains() {
        let mut audit = Audit::default();
        let mut taken: Vec<usize> = Vec::new();
        for part in 0..4_u64 {
            taken.push((0..400_u64).filter(|at| audit.takes(7, &(part * 400 + at).to_be_bytes())).count());
        }
        assert!(taken[0] > taken[1], "{taken:?}");
        let steady = 400 / STEADY as usize;
        assert!(taken[1..].iter().all(|taken| (steady..=steady + 2).contains(taken)), "{taken:?}");
    }

    #[test]
    fn after_a_disagreement_nothing_is_served_for_a_while() {
        let mut audit = Audit::default();
        audit.disagreed();
        let compared = (0..100_u64).take_while(|at| audit.takes(7, &at.to_be_bytes())).count();
        assert!(compared >= SUSPICION as usize, "{compared}");
    }

    #[test]
    fn who_has_another_key_sees_another_choice() {
        let choices = |key: u64| {
            let mut audit = Audit { audited: 100, ..Audit::default() };
            (0..200_u64).filter(|at| audit.takes(key, &at.to_be_bytes())).collect::<Vec<_>>()
        };
        assert_eq!(choices(1), choices(1));
        assert_ne!(choices(1), choices(2));
    }
}
