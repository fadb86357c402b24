//! The worker's core: events in, effects out.
//!
//! [`Core::on`] is told what happened and when, and answers with what is to be done; [`Core::wake_at`] says when it wants
//! to be told that time has passed. No clock, no store, no task, no randomness: `worker.rs` drives it in the process, the
//! simulator in a world where everything goes wrong.
//!
//! - At most `concurrency` attempts are running or being recorded, and at most one claim is under way.
//! - An attempt that is cancelled is forgotten: nothing is recorded for it, save that a stop gives its job back.
//! - A handler runs only while its lease is certain: it is cancelled when the store says that the lease is lost, when a
//!   newer claim of the same job arrives, or when the store has been silent for as long as the lease.
//! - What an attempt came to is recorded until the store answers; the answer, whatever it is, ends it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use schema::Timestamp;
use store::{Claimed, Held, Job, LeaseToken, Retry};

use crate::decision::{Outcome, Settlement, pause, pause_after_failures, settle};
use crate::moment::Moment;
use crate::options::Options;

mod event;
#[cfg(test)]
mod tests;

pub use event::{Attempt, Effect, Event, NoAnswer};

/// What a worker knows and wants.
#[derive(Debug)]
pub struct Core {
    options: Options,
    attempts: BTreeMap<Attempt, Progress>,
    poll: Poll,
    /// Something changed while the store was being asked: its answer is stale already.
    changed: bool,
    /// How often in a row the store did not answer a claim or the question after it.
    failures: u32,
    /// Until when, by `elapsed`, handlers may go on; set by a stop.
    deadline: Option<Duration>,
}

/// Where the search for work stands. Times are by `elapsed`.
#[derive(Debug)]
enum Poll {
    /// There may be work: claim it as soon as there is a slot.
    Hungry,
    /// A claim is under way, sent at this time for so many.
    Claiming(Duration, u32),
    /// The question when the next job falls due is under way.
    Asking,
    /// Nothing to do until then.
    Sleeping(Duration),
}

/// Where an attempt stands.
#[derive(Debug)]
struct Progress {
    attempts: u32,
    max_attempts: u32,
    /// Until when the lease is certain: counted from when it was asked for, not from when it was granted.
    held_until: Duration,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// The handler runs; the next sign of life is this far.
    Running(Message),
    /// It came to this, which the store does not know yet; it has failed to answer so many times.
    Settling(Settlement, Message, u32),
}

/// A message to the store. Times are by `elapsed`.
#[derive(Debug, Clone, Copy)]
enum Message {
    /// To be sent then.
    At(Duration),
    /// Sent then, not answered.
    Sent(Duration),
}

impl Message {
    fn due(self) -> Option<Duration> {
        match self {
            Self::At(at) => Some(at),
            Self::Sent(_) => None,
        }
    }

    fn is_due(self, now: Moment) -> bool {
        self.due().is_some_and(|at| at <= now.elapsed)
    }
}

impl Core {
    /// A worker that has not begun; [`Event::Tick`] begins it.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            attempts: BTreeMap::new(),
            poll: Poll::Hungry,
            changed: false,
            failures: 0,
            deadline: None,
        }
    }

    /// What is to be done now that this has happened. An answer to a question that is no longer open changes nothing.
    #[must_use]
    pub fn on(&mut self, event: Event, now: Moment) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Tick => {}
            Event::Changed => self.changed = true,
            Event::Claimed(answer) => self.on_claimed(answer, now, &mut effects),
            Event::NextDue(answer) => self.on_next_due(answer, now),
            Event::Extended(attempt, answer) => self.on_extended(attempt, answer, now, &mut effects),
            Event::Ended(attempt, outcome, random) => self.on_ended(attempt, outcome, random, now),
            Event::Settled(attempt, answer) => self.on_settled(attempt, answer, now),
            Event::Stop => self.deadline = self.deadline.or(Some(now.elapsed + self.options.grace)),
        }
        self.keep_or_cancel(now, &mut effects);
        self.record(now, &mut effects);
        self.look_for_work(now, &mut effects);
        effects
    }

    /// When to send [`Event::Tick`], by `elapsed`; `None` if only an answer can move it.
    #[must_use]
    pub fn wake_at(&self) -> Option<Duration> {
        let poll = match self.poll {
            Poll::Sleeping(until) if self.deadline.is_none() => Some(until),
            Poll::Sleeping(_) | Poll::Hungry | Poll::Claiming(..) | Poll::Asking => None,
        };
        let attempts = self.attempts.values().flat_map(|progress| match &progress.phase {
            Phase::Running(beat) => [beat.due(), Some(progress.held_until)],
            Phase::Settling(_, send, _) => [send.due(), None],
        });
        let stop = self
            .deadline
            .map(|deadline| if self.is_running() { deadline } else { deadline + self.options.lease });
        attempts.flatten().chain(poll).chain(stop).min()
    }

    /// Whether a stopped worker has nothing left to wait for. What the store could not be told by then is up to the
    /// leases: they run out, and another worker takes over.
    #[must_use]
    pub fn is_finished(&self, now: Moment) -> bool {
        self.deadline.is_some_and(|deadline| {
            let quiet = self.attempts.is_empty() && !matches!(self.poll, Poll::Claiming(..));
            quiet || now.elapsed >= deadline + self.options.lease
        })
    }

    fn is_running(&self) -> bool {
        self.attempts.values().any(|progress| matches!(progress.phase, Phase::Running(_)))
    }

    fn is_past_grace(&self, now: Moment) -> bool {
        self.deadline.is_some_and(|deadline| now.elapsed >= deadline)
    }

    fn on_claimed(&mut self, answer: Result<Vec<Claimed>, NoAnswer>, now: Moment, effects: &mut Vec<Effect>) {
        let Poll::Claiming(sent, limit) = self.poll else { return };
        let Ok(claimed) = answer else {
            self.failures = self.failures.saturating_add(1);
            self.poll = Poll::Sleeping(now.elapsed + pause_after_failures(self.failures, &self.options));
            return;
        };
        // Fewer than asked for means that there is nothing else; as many, that there may be more.
        let full = u32::try_from(claimed.len()).is_ok_and(|count| count >= limit);
        self.poll = if full || self.deadline.is_some() { Poll::Hungry } else { Poll::Asking };
        match self.poll {
            Poll::Asking => effects.push(Effect::AskNextDue),
            _ => self.failures = 0,
        }
        for Claimed { job, token } in claimed {
            self.take(&job, token, sent, now, effects);
        }
    }

    fn take(&mut self, job: &Job, token: LeaseToken, sent: Duration, now: Moment, effects: &mut Vec<Effect>) {
        let attempt = Attempt { job: job.id, token };
        // Our own lease ran out unnoticed, because the clock was put forward: the older token is worth nothing now.
        let older = Attempt { job: job.id, token: LeaseToken(0) };
        let outrun: Vec<Attempt> = self.attempts.range(older..attempt).map(|(attempt, _)| *attempt).collect();
        for attempt in outrun {
            self.drop_attempt(attempt, effects);
        }
        let held_until = sent + self.options.lease;
        let phase = if self.deadline.is_some() {
            Phase::Settling(give_back(now), Message::At(now.elapsed), 0)
        } else if held_until <= now.elapsed {
            // The answer took so long that the job may be somebody else's already. It is as if we had crashed.
            return;
        } else {
            Phase::Running(Message::At(sent + self.options.beat()))
        };
        if matches!(phase, Phase::Running(_)) {
            effects.push(Effect::Start(attempt, Box::new(job.clone())));
        }
        let progress = Progress { attempts: job.attempts, max_attempts: job.max_attempts, held_until, phase };
        self.attempts.insert(attempt, progress);
    }

    fn on_next_due(&mut self, answer: Result<Option<Timestamp>, NoAnswer>, now: Moment) {
        if !matches!(self.poll, Poll::Asking) {
            return;
        }
        let wait = match answer {
            Ok(next_due) => {
                self.failures = 0;
                pause(next_due, now, &self.options)
            }
            Err(NoAnswer) => {
                self.failures = self.failures.saturating_add(1);
                pause_after_failures(self.failures, &self.options)
            }
        };
        self.poll = Poll::Sleeping(now.elapsed + wait);
    }

    fn on_extended(
        &mut self,
        attempt: Attempt,
        answer: Result<Held, NoAnswer>,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let Some(progress) = self.attempts.get_mut(&attempt) else { return };
        let Phase::Running(Message::Sent(sent)) = progress.phase else { return };
        match answer {
            Ok(Held::Yes) => {
                progress.held_until = sent + self.options.lease;
                progress.phase = Phase::Running(Message::At(sent + self.options.beat()));
            }
            Ok(Held::No) => self.drop_attempt(attempt, effects),
            Err(NoAnswer) => {
                progress.phase = Phase::Running(Message::At(now.elapsed + self.options.beat_again()));
            }
        }
    }

    fn on_ended(&mut self, attempt: Attempt, outcome: Outcome, random: u64, now: Moment) {
        let Some(progress) = self.attempts.get_mut(&attempt) else { return };
        if matches!(progress.phase, Phase::Running(_)) {
            let settlement = settle(outcome, progress.attempts, progress.max_attempts, now, random);
            progress.phase = Phase::Settling(settlement, Message::At(now.elapsed), 0);
        }
    }

    fn on_settled(&mut self, attempt: Attempt, answer: Result<Held, NoAnswer>, now: Moment) {
        let past_grace = self.is_past_grace(now);
        let Some(progress) = self.attempts.get_mut(&attempt) else { return };
        let Phase::Settling(_, send @ Message::Sent(_), failures) = &mut progress.phase else { return };
        match answer {
            // A `No` is as final as a `Yes`: another worker has the job, or an earlier try of ours got through.
            Ok(Held::Yes | Held::No) => drop(self.attempts.remove(&attempt)),
            Err(NoAnswer) if past_grace => drop(self.attempts.remove(&attempt)),
            Err(NoAnswer) => {
                *failures = failures.saturating_add(1);
                *send = Message::At(now.elapsed + pause_after_failures(*failures, &self.options));
            }
        }
    }

    /// Sends the signs of life that are due, and cancels what may no longer run.
    fn keep_or_cancel(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        let past_grace = self.is_past_grace(now);
        let mut lost = Vec::new();
        for (&attempt, progress) in &mut self.attempts {
            let Phase::Running(beat) = &mut progress.phase else { continue };
            if progress.held_until <= now.elapsed {
                lost.push(attempt);
            } else if past_grace {
                effects.push(Effect::Cancel(attempt));
                progress.phase = Phase::Settling(give_back(now), Message::At(now.elapsed), 0);
            } else if beat.is_due(now) {
                effects.push(Effect::Extend(attempt, now.wall_after(self.options.lease)));
                *beat = Message::Sent(now.elapsed);
            }
        }
        for attempt in lost {
            self.drop_attempt(attempt, effects);
        }
    }

    /// Sends what attempts came to.
    fn record(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        for (&attempt, progress) in &mut self.attempts {
            let Phase::Settling(settlement, send, _) = &mut progress.phase else { continue };
            if send.is_due(now) {
                effects.push(Effect::Settle(attempt, settlement.clone()));
                *send = Message::Sent(now.elapsed);
            }
        }
    }

    fn look_for_work(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        if self.deadline.is_some() {
            return;
        }
        match self.poll {
            Poll::Claiming(..) | Poll::Asking => return,
            Poll::Sleeping(until) if now.elapsed < until && !self.changed => return,
            Poll::Sleeping(_) | Poll::Hungry => self.poll = Poll::Hungry,
        }
        let busy = u32::try_from(self.attempts.len()).unwrap_or(u32::MAX);
        let Some(limit) = NonZeroU32::new(self.options.concurrency.get().saturating_sub(busy)) else {
            return;
        };
        self.changed = false;
        self.poll = Poll::Claiming(now.elapsed, limit.get());
        effects.push(Effect::Claim { now: now.wall, lease_until: now.wall_after(self.options.lease), limit });
    }

    /// Forgets an attempt whose lease is lost, and stops its handler.
    fn drop_attempt(&mut self, attempt: Attempt, effects: &mut Vec<Effect>) {
        let progress = self.attempts.remove(&attempt);
        if progress.is_some_and(|progress| matches!(progress.phase, Phase::Running(_))) {
            effects.push(Effect::Cancel(attempt));
        }
    }
}

/// What a stopped worker says of a job that it could not finish. The job goes back at once, even from its last attempt:
/// the stop was not its fault.
fn give_back(now: Moment) -> Settlement {
    Settlement::Fail { error: "the worker was stopped".to_owned(), retry: Retry::At(now.wall) }
}
