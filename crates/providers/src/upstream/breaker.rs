//! The circuit breaker: whether an upstream is worth asking now.
//!
//! ```text
//! closed ── five failures in a row, or half of at least twenty calls in 30 s ──▶ open
//! open ── 5 s, doubled with each failed probe up to 60 s ──▶ half-open: one call is let through as a probe
//! half-open ── the probe succeeds ──▶ closed        ── the probe fails ──▶ open        ── it is abandoned ──▶ half-open
//! ```
//!
//! A pure machine: the time comes in. Every call that is let through gets a [`Pass`] and reports with it. A report from
//! before the last change of state says nothing about the present one, and is ignored.

use std::time::Duration;
use tokio::time::Instant;

/// The numbers of a [`Breaker`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerRules {
    /// So many failures in a row open it.
    pub in_a_row: u32,
    /// So many failures in a hundred open it,
    pub percent: u32,
    /// of at least so many calls
    pub of_at_least: u32,
    /// within this time.
    pub window: Duration,
    /// How long it stays open at first.
    pub open_for: Duration,
    /// How long it stays open at most, after many failed probes.
    pub open_for_at_most: Duration,
}

impl Default for BreakerRules {
    fn default() -> Self {
        Self {
            in_a_row: 5,
            percent: 50,
            of_at_least: 20,
            window: Duration::from_secs(30),
            open_for: Duration::from_secs(5),
            open_for_at_most: Duration::from_secs(60),
        }
    }
}

/// What a breaker says of its upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// All is well: calls go through.
    Closed,
    /// Calls are refused for this long.
    Open(Duration),
    /// One call is let through to see; the others are refused.
    HalfOpen,
}

impl BreakerState {
    /// The name for records and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open(_) => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

/// Leave to make one call, and what its report is filed under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pass {
    era: u64,
}

#[derive(Debug)]
enum State {
    Closed { in_a_row: u32, window: Window },
    Open { until: Instant, span: Duration },
    HalfOpen { probing: bool, span: Duration },
}

/// The breaker of one upstream.
#[derive(Debug)]
pub(super) struct Breaker {
    rules: BreakerRules,
    state: State,
    /// Counts the changes of state.
    era: u64,
}

impl Breaker {
    pub(super) fn new(rules: BreakerRules) -> Self {
        Self { rules, state: State::Closed { in_a_row: 0, window: Window::default() }, era: 0 }
    }

    /// Leave to call, or how long to stay away.
    pub(super) fn admit(&mut self, now: Instant) -> Result<Pass, Duration> {
        if let State::Open { until, span } = self.state {
            if now < until {
                return Err(until - now);
            }
            self.change(State::HalfOpen { probing: false, span });
        }
        if let State::HalfOpen { probing, .. } = &mut self.state {
            if *probing {
                // The probe's end is not known; a second is short for a caller and long for a probe.
                return Err(Duration::from_secs(1));
            }
            *probing = true;
        }
        Ok(Pass { era: self.era })
    }

    /// The call of `pass` was answered.
    pub(super) fn succeeded(&mut self, pass: Pass, now: Instant) {
        if pass.era != self.era {
            return;
        }
        match &mut self.state {
            State::Closed { in_a_row, window } => {
                *in_a_row = 0;
                window.count(now, self.rules.window, |slice| slice.good += 1);
            }
            State::HalfOpen { .. } => self.change(State::Closed { in_a_row: 0, window: Window::default() }),
            State::Open { .. } => {}
        }
    }

    /// The call of `pass` failed in a way that speaks against the upstream.
    pub(super) fn failed(&mut self, pass: Pass, now: Instant) {
        self.fail(pass, now, |slice| slice.bad += 1);
    }

    /// The call of `pass` was reported as answered, and the answer turned out to be broken.
    pub(super) fn failed_after_all(&mut self, pass: Pass, now: Instant) {
        self.fail(pass, now, |slice| {
            slice.good = slice.good.saturating_sub(1);
            slice.bad += 1;
        });
    }

    /// The call of `pass` ended without saying anything about the upstream: its caller went away.
    pub(super) fn abandoned(&mut self, pass: Pass) {
        if let (true, State::HalfOpen { probing, .. }) = (pass.era == self.era, &mut self.state) {
            *probing = false;
        }
    }

    /// The state as it is at `now`.
    pub(super) fn state(&self, now: Instant) -> BreakerState {
        match self.state {
            State::Closed { .. } => BreakerState::Closed,
            State::Open { until, .. } if now < until => BreakerState::Open(until - now),
            State::Open { .. } | State::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    fn fail(&mut self, pass: Pass, now: Instant, count: impl FnOnce(&mut Slice)) {
        if pass.era != self.era {
            return;
        }
        let rules = self.rules;
        match &mut self.state {
            State::Closed { in_a_row, window } => {
                *in_a_row = in_a_row.saturating_add(1);
                window.count(now, rules.window, count);
                let (good, bad) = window.sum(now, rules.window);
                let often = good + bad >= u64::from(rules.of_at_least)
                    && bad * 100 >= (good + bad) * u64::from(rules.percent);
                if *in_a_row >= rules.in_a_row || often {
                    self.open(now, rules.open_for);
                }
            }
            State::HalfOpen { span, .. } => {
                let longer = span.saturating_mul(2).min(rules.open_for_at_most);
                self.open(now, longer);
            }
            State::Open { .. } => {}
        }
    }

    fn open(&mut self, now: Instant, span: Duration) {
        self.change(State::Open { until: now + span, span });
    }

    fn change(&mut self, state: State) {
        self.state = state;
        self.era += 1;
    }
}

/// How many slices a window is counted in.
const SLICES: u32 = 6;

#[derive(Debug, Clone, Copy, Default)]
struct Slice {
    number: u64,
    good: u64,
    bad: u64,
}

/// The calls of the last while, in slices that are forgotten one by one.
#[derive(Debug, Default)]
struct Window {
    start: Option<Instant>,
    slices: [Slice; SLICES as usize],
}

impl Window {
    fn count(&mut self, now: Instant, window: Duration, count: impl FnOnce(&mut Slice)) {
        let number = self.number(now, window);
        // The remainder is below the number of slices.
        let slice = &mut self.slices[(number % u64::from(SLICES)) as usize];
        if slice.number != number {
            *slice = Slice { number, ..Slice::default() };
        }
        count(slice);
    }

    fn sum(&mut self, now: Instant, window: Duration) -> (u64, u64) {
        let number = self.number(now, window);
        let recent = self.slices.iter().filter(|slice| slice.number + u64::from(SLICES) > number);
        recent.fold((0, 0), |(good, bad), slice| (good + slice.good, bad + slice.bad))
    }

    fn number(&mut self, now: Instant, window: Duration) -> u64 {
        let start = *self.start.get_or_insert(now);
        let slice = (window / SLICES).as_millis().max(1);
        u64::try_from(now.saturating_duration_since(start).as_millis() / slice).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
#[path = "breaker/tests.rs"]
mod tests;
