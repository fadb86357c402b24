//! The course of one call: which target is tried next, when, and when to stop.
//!
//! A pure machine. It is told what happened and says what to do; whether an upstream lets the call through, and with which
//! key, is asked elsewhere and told to it. The order:
//! 1. the same target with another key, when a key was the trouble;
//! 2. a target of the first group that was not tried, by weight and latency, at once;
//! 3. a target of that group again, after a wait;
//! 4. the next group in the same way;
//! 5. targets whose keys all rest, at once; targets that have cost much time, after a wait.
//!
//! A wait longer than [`Policy::longest_wait`] is never made: that target is out for this call.

use super::backoff::{as_told, backoff};
use super::balance::{Candidate, choose};
use super::fault::Remedy;
use super::keys::Tried;
use std::time::Duration;
use tokio::time::Instant;

/// How hard a call is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// How often one target is tried, other keys not counted.
    pub tries_per_target: u32,
    /// How often the call is tried altogether.
    pub tries: u32,
    /// How long an upstream may ask us to wait before we would rather go elsewhere.
    pub longest_wait: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self { tries_per_target: 2, tries: 8, longest_wait: Duration::from_secs(5) }
    }
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Try this target.
    Try(usize),
    /// Ask again after this long.
    Wait(Duration),
    /// Nothing is left to try.
    Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Not tried.
    Fresh,
    /// Not tried, and all its keys rest.
    Resting,
    /// Tried, and worth another try at this time.
    Again(Instant),
    /// As `Again`, when nothing else is left.
    Late(Instant),
    /// Not to be tried any more.
    Out,
}

#[derive(Debug)]
struct Place {
    group: usize,
    weight: u32,
    standing: Standing,
    tries: u32,
    keys: Tried,
}

/// The course of one call.
#[derive(Debug)]
pub(super) struct Course {
    policy: Policy,
    deadline: Option<Instant>,
    places: Vec<Place>,
    tries: u32,
    waits: u32,
    other_key: Option<usize>,
    over: bool,
}

impl Course {
    /// A call over targets, each with the number of its group, which do not fall, and its weight.
    pub(super) fn new(
        policy: Policy,
        deadline: Option<Instant>,
        targets: impl Iterator<Item = (usize, u32)>,
    ) -> Self {
        let place = |(group, weight)| Place {
            group,
            weight,
            standing: Standing::Fresh,
            tries: 0,
            keys: Tried::default(),
        };
        let places = targets.map(place).collect();
        Self { policy, deadline, places, tries: 0, waits: 0, other_key: None, over: false }
    }

    /// What to do at `now`. `latency` tells what a target takes; `random` is drawn from all u64s, and only when needed.
    pub(super) fn step(
        &mut self,
        now: Instant,
        latency: impl Fn(usize) -> Option<Duration>,
        random: impl FnOnce() -> u64,
    ) -> Step {
        let too_late = self.deadline.is_some_and(|deadline| now >= deadline);
        if self.over || too_late || self.tries >= self.policy.tries {
            return Step::Stop;
        }
        if let Some(place) = self.other_key {
            return Step::Try(place);
        }
        let mut random = Some(random);
        let mut group = None;
        for index in 0..self.places.len() {
            // Groups follow each other, so each is looked at once, at its first target.
            if group.replace(self.places[index].group) == Some(self.places[index].group) {
                continue;
            }
            if let Some(step) = self.step_in_group(index, now, &latency, &mut random) {
                return step;
            }
        }
        if let Some(place) = self.places.iter().position(|place| place.standing == Standing::Resting) {
            return Step::Try(place);
        }
        self.soonest(now, 0..self.places.len(), |standing| match standing {
            Standing::Late(time) => Some(time),
            _ => None,
        })
        .unwrap_or(Step::Stop)
    }

    /// What to do in the group that begins at `first`.
    fn step_in_group(
        &self,
        first: usize,
        now: Instant,
        latency: &impl Fn(usize) -> Option<Duration>,
        random: &mut Option<impl FnOnce() -> u64>,
    ) -> Option<Step> {
        let group = self.places[first].group;
        let end = self.places[first..].iter().position(|place| place.group != group);
        let range = first..end.map_or(self.places.len(), |length| first + length);
        let fresh = || range.clone().filter(|&index| self.places[index].standing == Standing::Fresh);
        let chosen = match fresh().count() {
            0 => None,
            1 => fresh().next(),
            _ => {
                let candidate =
                    |index: usize| Candidate { weight: self.places[index].weight, latency: latency(index) };
                let candidates: Vec<Candidate> = fresh().map(candidate).collect();
                let drawn = random.take().map_or(0, |random| random());
                choose(&candidates, drawn).and_then(|chosen| fresh().nth(chosen))
            }
        };
        if let Some(chosen) = chosen {
            return Some(Step::Try(chosen));
        }
        self.soonest(now, range, |standing| match standing {
            Standing::Again(time) => Some(time),
            _ => None,
        })
    }

    /// The target in `range` whose time comes first, if it comes before the deadline.
    fn soonest(
        &self,
        now: Instant,
        range: std::ops::Range<usize>,
        time: impl Fn(Standing) -> Option<Instant>,
    ) -> Option<Step> {
        let times = range.filter_map(|index| Some((time(self.places[index].standing)?, index)));
        let (time, index) = times.min()?;
        if time <= now {
            return Some(Step::Try(index));
        }
        self.deadline.is_none_or(|deadline| time < deadline).then(|| Step::Wait(time - now))
    }

    /// The keys that `place` was tried with in this call.
    pub(super) fn keys_tried(&self, place: usize) -> Tried {
        self.places[place].keys
    }

    /// Whether `place` was not tried yet, and is not being passed over because its keys rest.
    pub(super) fn is_fresh(&self, place: usize) -> bool {
        self.places[place].standing == Standing::Fresh
    }

    /// `place` cannot be tried in this call.
    pub(super) fn skip(&mut self, place: usize) {
        self.other_key = None;
        self.places[place].standing = Standing::Out;
    }

    /// `place` cannot be tried with `key` in this call; with another one it may.
    pub(super) fn without(&mut self, place: usize, key: usize) {
        self.places[place].keys.add(key);
    }

    /// All keys of `place` rest: others first.
    pub(super) fn defer(&mut self, place: usize) {
        self.places[place].standing = Standing::Resting;
    }

    /// `place` is being tried with `key`.
    pub(super) fn trying(&mut self, place: usize, key: usize) {
        self.tries += 1;
        let with_other_key = self.other_key.take().is_some();
        let place = &mut self.places[place];
        place.keys.add(key);
        place.tries += u32::from(!with_other_key);
        // Unless it is said otherwise, the try is the last one here.
        place.standing = Standing::Out;
    }

    /// The try of `place` failed. `told` is how long its upstream asked us to wait, `other_key` whether it has a key that
    /// was not tried and does not rest.
    pub(super) fn failed(
        &mut self,
        place: usize,
        remedy: Remedy,
        told: Option<Duration>,
        other_key: bool,
        now: Instant,
        random: u64,
    ) {
        match remedy {
            Remedy::Nothing => self.over = true,
            Remedy::OtherKey | Remedy::OtherKeyOrTime if other_key => self.other_key = Some(place),
            // This upstream will have none of us; another may.
            Remedy::OtherKey => self.places[place].standing = Standing::Out,
            Remedy::OtherKeyOrTime | Remedy::Time | Remedy::OtherTarget => {
                let limits = self.policy;
                let target = &mut self.places[place];
                if target.tries >= limits.tries_per_target || told > Some(limits.longest_wait) {
                    target.standing = Standing::Out;
                    return;
                }
                self.waits += 1;
                let wait = told.map_or_else(|| backoff(self.waits, random), |told| as_told(told, random));
                // With time, a key may be asked again.
                target.keys = Tried::default();
                target.standing = match remedy {
                    Remedy::OtherTarget => Standing::Late(now + wait),
                    _ => Standing::Again(now + wait),
                };
            }
        }
    }
}

#[cfg(test)]
#[path = "course/tests.rs"]
mod tests;
