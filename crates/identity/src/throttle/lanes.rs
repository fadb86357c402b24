//! The memory of the throttle: how often each lane was tried and when last, for a bounded number of lanes.

use super::Pace;
use crypto::hmac_sha256;
use schema::Timestamp;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// A sweep walks over everything, so a flood must not cause one for each attempt.
const BETWEEN_SWEEPS: u64 = 60_000;

/// The name of a lane: a digest under the throttle's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Lane([u8; 16]);

impl Lane {
    pub(super) fn of(secret: &[u8; 32], kind: &str, account: &str, rest: &[u8]) -> Self {
        // The length of the account stands before it, so that no two lanes have the same text.
        let mut text = format!("{kind}\n{}\n{account}\n", account.len()).into_bytes();
        text.extend_from_slice(rest);
        let mut digest = [0; 16];
        digest.copy_from_slice(&hmac_sha256(secret, &text)[..16]);
        Self(digest)
    }
}

#[derive(Debug, Clone, Copy)]
struct Tries {
    count: u32,
    /// Milliseconds.
    last: u64,
}

/// So many lanes at most.
#[derive(Debug)]
pub(super) struct Lanes {
    capacity: usize,
    /// What is older than this is over.
    lifetime: Duration,
    tries: HashMap<Lane, Tries>,
    /// The same, who was tried least and longest ago first: the order of forgetting.
    order: BTreeSet<(u32, u64, Lane)>,
    swept: u64,
}

impl Lanes {
    pub(super) fn new(capacity: usize, lifetime: Duration) -> Self {
        let capacity = capacity.max(1);
        Self { capacity, lifetime, tries: HashMap::new(), order: BTreeSet::new(), swept: 0 }
    }

    /// How long `lane` still waits at `now`.
    pub(super) fn wait(&self, lane: Lane, pace: Pace, now: Timestamp) -> Duration {
        let Some(tries) = self.alive(lane, now) else {
            return Duration::ZERO;
        };
        if tries.count < pace.free {
            return Duration::ZERO;
        }
        let doublings = (tries.count - pace.free).min(31);
        let whole = pace.first.saturating_mul(1 << doublings).min(pace.longest);
        // A clock that went backwards makes nobody wait longer than the whole.
        whole.saturating_sub(Duration::from_millis(now.as_millis().saturating_sub(tries.last)))
    }

    /// One more attempt in `lane`.
    pub(super) fn count(&mut self, lane: Lane, now: Timestamp) {
        let count = self.alive(lane, now).map_or(0, |tries| tries.count).saturating_add(1);
        self.forget(lane);
        if self.tries.len() >= self.capacity {
            self.make_room(now);
        }
        self.put(lane, Tries { count, last: now.as_millis() });
    }

    /// One attempt less, at the same time as before.
    pub(super) fn take_back(&mut self, lane: Lane) {
        let Some(tries) = self.tries.get(&lane).copied() else {
            return;
        };
        self.forget(lane);
        if tries.count > 1 {
            self.put(lane, Tries { count: tries.count - 1, ..tries });
        }
    }

    pub(super) fn forget(&mut self, lane: Lane) {
        if let Some(tries) = self.tries.remove(&lane) {
            self.order.remove(&(tries.count, tries.last, lane));
        }
    }

    /// Whether anything happened in `lane` that is not too long ago.
    pub(super) fn is_remembered(&self, lane: Lane, now: Timestamp) -> bool {
        self.alive(lane, now).is_some()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        assert_eq!(self.tries.len(), self.order.len());
        self.tries.len()
    }

    fn alive(&self, lane: Lane, now: Timestamp) -> Option<Tries> {
        self.tries.get(&lane).copied().filter(|tries| !is_over(*tries, self.lifetime, now))
    }

    fn put(&mut self, lane: Lane, tries: Tries) {
        self.tries.insert(lane, tries);
        self.order.insert((tries.count, tries.last, lane));
    }

    fn make_room(&mut self, now: Timestamp) {
        if now.as_millis().saturating_sub(self.swept) >= BETWEEN_SWEEPS {
            self.swept = now.as_millis();
            self.tries.retain(|_, tries| !is_over(*tries, self.lifetime, now));
            self.order.retain(|(_, _, lane)| self.tries.contains_key(lane));
        }
        if self.tries.len() >= self.capacity
            && let Some((_, _, lane)) = self.order.pop_first()
        {
            self.tries.remove(&lane);
        }
    }
}

fn is_over(tries: Tries, lifetime: Duration, now: Timestamp) -> bool {
    u128::from(now.as_millis().saturating_sub(tries.last)) >= lifetime.as_millis()
}
