//! The audit: which of the answers that could be served are compared with live instead.
//!
//! The share that is served grows with evidence (the canary) up to a steady audit that never ends. Which request of a block
//! is audited depends on a secret key and the request's own id, so nobody who sends requests can tell; one of every block is,
//! so chance leaves no long gap. After a disagreement everything is compared for a while: nothing is served on a suspicion.
//!
//! What is proven in the shadow alone is watched more closely while it is young: nothing else tells whether it still holds. A
//! classifier also learns from everything that it abstains from.

use artifact::text::{mix, stable_hash};
use serde::{Deserialize, Serialize};

use crate::proof::Means;

/// At the end one of so many is audited.
pub const STEADY: u64 = 14;
/// While an artifact is young, one of so many.
const CLOSE: u64 = 8;
/// After a disagreement so many are compared, one after the other.
const SUSPICION: u32 = 18;
/// And after requests have become strange, so many.
const STRANGE: u32 = 48;

/// Where the audit of one artifact stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// So many audits make an artifact old.
    #[serde(default = "of_classifiers")]
    youth: u64,
    /// How many were audited since promotion.
    audited: u64,
    /// How many of the block have passed, and which of it is audited.
    passed: u64,
    chosen: u64,
    /// How many more are compared whatever the block says.
    suspicion: u32,
}

const fn of_classifiers() -> u64 {
    youth(Means::Replay)
}

/// How many audits make an artifact old that is proven by `means`.
#[must_use]
pub const fn youth(means: Means) -> u64 {
    match means {
        Means::Shadow => 370,
        Means::Replay => 32,
    }
}

impl Audit {
    /// The audit of what was proven by `means`, from its promotion on.
    #[must_use]
    pub const fn new(means: Means) -> Self {
        Self { youth: youth(means), audited: 0, passed: 0, chosen: 0, suspicion: 0 }
    }

    /// One of how many is audited now.
    #[must_use]
    pub const fn one_in(&self) -> u64 {
        match self.audited {
            0..8 => 2,
            8..16 => 4,
            audited if audited < self.youth => CLOSE,
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
        let taken = |means: Means, from: u64| {
            let mut audit = Audit::new(means);
            let taken: Vec<bool> = (0..from + 560).map(|at: u64| audit.takes(7, &at.to_be_bytes())).collect();
            taken[from as usize..].iter().filter(|taken| **taken).count()
        };
        let (close, steady) = (560 / CLOSE as usize, 560 / STEADY as usize);
        assert!(taken(Means::Replay, 0) > steady + 10);
        assert!((steady - 2..=steady + 2).contains(&taken(Means::Replay, 400)));
        assert!((close - 2..=close + 2).contains(&taken(Means::Shadow, 2200)));
        assert!((steady - 2..=steady + 2).contains(&taken(Means::Shadow, 4000)));
    }

    #[test]
    fn after_a_disagreement_nothing_is_served_for_a_while() {
        let mut audit = Audit::new(Means::Replay);
        audit.disagreed();
        let compared = (0..100_u64).take_while(|at| audit.takes(7, &at.to_be_bytes())).count();
        assert!(compared >= SUSPICION as usize, "{compared}");
    }

    #[test]
    fn who_has_another_key_sees_another_choice() {
        let choices = |key: u64| {
            let mut audit = Audit { audited: 100, ..Audit::new(Means::Replay) };
            (0..200_u64).filter(|at| audit.takes(key, &at.to_be_bytes())).collect::<Vec<_>>()
        };
        assert_eq!(choices(1), choices(1));
        assert_ne!(choices(1), choices(2));
    }
}
