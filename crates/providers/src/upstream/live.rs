//! What has been seen of an upstream since the start: its breaker, its budget, its latency, its load.
//!
//! A call goes through as a [`Passage`], which reports for it however it ends: answered, failed, or dropped because its
//! caller went away.

use super::breaker::{Breaker, BreakerRules, BreakerState, Pass};
use super::budget::{Budget, BudgetRules};
use super::keys::Keys;
use super::lanes::Berth;
use super::latency::Latencies;
use super::place::Upstream;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The changing half of an upstream.
#[derive(Debug)]
pub(super) struct Live {
    gate: Mutex<Gate>,
    pub(super) latencies: Latencies,
    in_flight: AtomicUsize,
    tries: AtomicU64,
    failures: AtomicU64,
    repetitions: AtomicU64,
}

#[derive(Debug)]
struct Gate {
    breaker: Breaker,
    budget: Budget,
}

/// How an upstream is doing, for `/health` and metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct Health {
    /// Its name.
    pub upstream: Arc<str>,
    /// Whether it is asked.
    pub breaker: BreakerState,
    /// The moving average of the time to the first byte, whatever the model.
    pub latency: Option<Duration>,
    /// Tries whose answer has not ended.
    pub in_flight: usize,
    /// Tries since the start.
    pub tries: u64,
    /// Tries that speak against the upstream.
    pub failures: u64,
    /// Tries that repeat a call at the same upstream.
    pub repetitions: u64,
    /// How many keys there are,
    pub keys: usize,
    /// and how many of them rest for some model.
    pub keys_resting: usize,
}

/// Whether a call has been tried at this upstream before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    First,
    Repetition,
}

/// Why a call was not let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Barred {
    /// The breaker is open for this long.
    Open(Duration),
    /// There is nothing left of the retry budget.
    Budget,
}

impl Live {
    pub(super) fn new(breaker: BreakerRules, budget: BudgetRules) -> Self {
        let gate = Gate { breaker: Breaker::new(breaker), budget: Budget::new(budget, Instant::now()) };
        Self {
            gate: Mutex::new(gate),
            latencies: Latencies::default(),
            in_flight: AtomicUsize::new(0),
            tries: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            repetitions: AtomicU64::new(0),
        }
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn health(&self, name: &Arc<str>, keys: &Keys, now: Instant) -> Health {
        Health {
            upstream: Arc::clone(name),
            breaker: self.gate().breaker.state(now),
            latency: self.latencies.overall(),
            in_flight: self.in_flight.load(Ordering::Relaxed),
            tries: self.tries.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            repetitions: self.repetitions.load(Ordering::Relaxed),
            keys: keys.count(),
            keys_resting: keys.resting(now),
        }
    }
}

/// One try on its way. Dropping it ends the try.
#[derive(Debug)]
pub(super) struct Passage {
    pub(super) upstream: Arc<Upstream>,
    pub(super) berth: Berth,
    pass: Pass,
    said: Said,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Nothing,
    Good,
    Bad,
}

impl Passage {
    /// Leave for one try at `upstream`, or why not.
    pub(super) fn open(upstream: &Arc<Upstream>, turn: Turn, now: Instant) -> Result<Self, Barred> {
        let live = &upstream.live;
        let mut gate = live.gate();
        let pass = gate.breaker.admit(now).map_err(Barred::Open)?;
        match turn {
            Turn::First => gate.budget.deposit(),
            Turn::Repetition if gate.budget.withdraw(now) => {
                live.repetitions.fetch_add(1, Ordering::Relaxed);
            }
            Turn::Repetition => {
                gate.breaker.abandoned(pass);
                return Err(Barred::Budget);
            }
        }
        drop(gate);
        live.in_flight.fetch_add(1, Ordering::Relaxed);
        live.tries.fetch_add(1, Ordering::Relaxed);
        Ok(Self { upstream: Arc::clone(upstream), berth: Berth::take(upstream), pass, said: Said::Nothing })
    }

    /// The upstream works: it has answered, be it with a refusal.
    pub(super) fn succeeded(&mut self, now: Instant) {
        if self.said == Said::Nothing {
            self.said = Said::Good;
            self.upstream.live.gate().breaker.succeeded(self.pass, now);
        }
    }

    /// The upstream does not work, even if it seemed to.
    pub(super) fn failed(&mut self, now: Instant) {
        let before = std::mem::replace(&mut self.said, Said::Bad);
        if before == Said::Bad {
            return;
        }
        self.upstream.live.failures.fetch_add(1, Ordering::Relaxed);
        let mut gate = self.upstream.live.gate();
        match before {
            Said::Good => gate.breaker.failed_after_all(self.pass, now),
            Said::Nothing | Said::Bad => gate.breaker.failed(self.pass, now),
        }
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.upstream.live.in_flight.fetch_sub(1, Ordering::Relaxed);
        if self.said == Said::Nothing {
            self.upstream.live.gate().breaker.abandoned(self.pass);
        }
    }
}
