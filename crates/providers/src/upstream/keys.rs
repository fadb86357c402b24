//! The keys of one upstream: asked in turn, and left alone while they rest.
//!
//! A key that ran into a limit rests for that model until the time the upstream named; limits are counted by model, so
//! another model may go on. A key that was refused rests for every model, for it was revoked or was never right. Rest is
//! a preference, not a ban: when no key is awake the one that wakes first is used, because the upstream's own answer tells
//! the caller more than one of ours would.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a refused key rests.
pub(super) const REFUSED: Duration = Duration::from_secs(60);
/// How many models one key can rest for. Past that, the soonest to end is forgotten.
const RESTS: usize = 64;

/// Which keys a call has been tried with. More than 64 keys are not told apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tried(u64);

impl Tried {
    pub(super) const fn add(&mut self, key: usize) {
        self.0 |= 1 << (key % 64);
    }

    pub(super) const fn has(self, key: usize) -> bool {
        self.0 & (1 << (key % 64)) != 0
    }
}

/// The key for one try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pick {
    pub(super) key: usize,
    /// It was told to rest, and so was every other.
    pub(super) resting: bool,
}

/// Whose turn it is. The keys themselves are not here: `outfit.rs` has them, or who has.
#[derive(Debug)]
pub(super) struct Keys {
    count: usize,
    turn: AtomicUsize,
    rests: Mutex<Vec<Rest>>,
}

#[derive(Debug)]
struct Rest {
    key: usize,
    /// Nothing is for every model.
    model: Option<Box<str>>,
    until: Instant,
}

impl Rest {
    fn covers(&self, key: usize, model: &str, now: Instant) -> bool {
        self.key == key && self.until > now && self.model.as_deref().is_none_or(|own| own == model)
    }
}

impl Keys {
    pub(super) fn new(count: usize) -> Self {
        Self { count, turn: AtomicUsize::new(0), rests: Mutex::default() }
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// The next key in turn that is awake and was not tried; else the one that wakes first. Nothing, when all were tried.
    /// An upstream without keys has one try, as if it had one.
    pub(super) fn pick(&self, model: &str, tried: Tried, now: Instant) -> Option<Pick> {
        let count = self.count.max(1);
        let turn = if count > 1 { self.turn.fetch_add(1, Ordering::Relaxed) } else { 0 };
        let rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        let wakes = |key: usize| {
            rests.iter().filter(|rest| rest.covers(key, model, now)).map(|rest| rest.until).max()
        };
        let order = (0..count).map(|step| turn.wrapping_add(step) % count).filter(|&key| !tried.has(key));
        // `None`, for awake, is less than any time; of equals the first in turn wins.
        let best = order.map(|key| (wakes(key), key)).min_by_key(|&(wakes, _)| wakes)?;
        Some(Pick { key: best.1, resting: best.0.is_some() })
    }

    /// Whether there is a key that was not tried and does not rest. Takes nobody's turn.
    pub(super) fn has_other(&self, model: &str, tried: Tried, now: Instant) -> bool {
        if self.count < 2 {
            return false;
        }
        let rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        let awake = |&key: &usize| !rests.iter().any(|rest| rest.covers(key, model, now));
        (0..self.count).filter(|&key| !tried.has(key)).any(|key| awake(&key))
    }

    /// `key` ran into a limit of `model`, or was refused altogether.
    pub(super) fn rest(&self, key: usize, model: Option<&str>, until: Instant, now: Instant) {
        let mut rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        rests.retain(|rest| rest.until > now && !(rest.key == key && rest.model.as_deref() == model));
        if rests.len() >= RESTS * self.count.max(1) {
            let soonest = rests.iter().enumerate().min_by_key(|(_, rest)| rest.until).map(|(index, _)| index);
            soonest.map(|index| rests.swap_remove(index));
        }
        rests.push(Rest { key, model: model.map(Into::into), until });
    }

    /// How many keys rest for some model.
    pub(super) fn resting(&self, now: Instant) -> usize {
        let rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        (0..self.count).filter(|&key| rests.iter().any(|rest| rest.key == key && rest.until > now)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(count: usize) -> (Keys, Instant) {
        (Keys::new(count), Instant::now())
    }

    fn picked(keys: &Keys, model: &str, now: Instant) -> usize {
        keys.pick(model, Tried::default(), now).unwrap().key
    }

    #[test]
    fn keys_take_turns() {
        let (keys, now) = keys(3);
        let turns: Vec<usize> = (0..7).map(|_| picked(&keys, "m", now)).collect();
        assert_eq!(turns, [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn a_key_at_its_limit_rests_for_that_model_until_the_time_named() {
        let (keys, now) = keys(2);
        let then = now + Duration::from_secs(9);
        keys.rest(0, Some("large"), then, now);
        assert!((0..6).all(|_| picked(&keys, "large", now) == 1));
        let others: Vec<usize> = (0..4).map(|_| picked(&keys, "small", now)).collect();
        assert_eq!(others, [0, 1, 0, 1]);
        let woken: Vec<usize> = (0..4).map(|_| picked(&keys, "large", then)).collect();
        assert_eq!(woken, [0, 1, 0, 1]);
        assert_eq!((keys.resting(now), keys.resting(then)), (1, 0));
    }

    #[test]
    fn when_all_rest_the_first_to_wake_is_used() {
        let (keys, now) = keys(2);
        keys.rest(0, None, now + REFUSED, now);
        keys.rest(1, Some("m"), now + Duration::from_secs(2), now);
        let pick = keys.pick("m", Tried::default(), now);
        assert_eq!(pick, Some(Pick { key: 1, resting: true }));
    }

    #[test]
    fn a_key_is_tried_once_in_a_call() {
        let (keys, now) = keys(2);
        let mut tried = Tried::default();
        while let Some(pick) = keys.pick("m", tried, now) {
            assert!(!tried.has(pick.key));
            tried.add(pick.key);
        }
        assert!(tried.has(0) && tried.has(1));
    }

    #[test]
    fn an_upstream_without_keys_can_be_asked() {
        let (keys, now) = keys(0);
        assert_eq!(picked(&keys, "m", now), 0);
    }

    #[test]
    fn made_up_models_do_not_fill_the_memory() {
        let (keys, now) = keys(1);
        for number in 0..1_000 {
            keys.rest(0, Some(&format!("made-up-{number}")), now + REFUSED, now);
        }
        assert_eq!(keys.rests.lock().unwrap().len(), RESTS);
    }
}
