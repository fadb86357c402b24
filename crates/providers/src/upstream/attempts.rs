//! One model call over ordered targets, try by try.
//!
//! ```text
//! let mut attempts = dispatcher.begin(groups, deadline);
//! loop {
//!     match attempts.next(|target| Ok(Prepared::post("/chat/completions", body_for(target), caller))).await {
//!         Next::Answer(mut reply) => match first_event_is_an_error(&mut reply).await {
//!             Some(fault) => attempts.failed(reply, fault),
//!             None => break hand_on(reply),
//!         },
//!         Next::Last(reply) => break hand_on(reply),
//!         Next::Failed(error) => …
//!     }
//! }
//! attempts.records()
//! ```
//!
//! [`Attempts::failed`] takes the reply itself: whoever has handed its body on has nothing left to give back, so no caller
//! ever gets the beginning of one answer and the end of another.

use super::client::{request, send};
use super::course::{Course, Policy, Step};
use super::error::UpstreamError;
use super::fault::{Fault, Remedy};
use super::keys::REFUSED;
use super::live::{Barred, Passage, Turn};
use super::record::{Attempt, Outcome, Skipped};
use super::reply::Reply;
use super::target::{Prepared, Target};
use crypto::NotKept;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A key that ran into a limit without being told for how long rests this long.
const UNTOLD: Duration = Duration::from_secs(1);

/// Carries model calls to upstreams.
#[derive(Clone)]
pub struct Dispatcher {
    policy: Policy,
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Dispatcher {
    /// A dispatcher that tries as hard as `policy` says. `random` is drawn from all u64s, for jitter and for shares.
    pub fn new(policy: Policy, random: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { policy, random: Arc::new(random) }
    }

    /// Begins a call. The targets of one group share the load; a group is tried when those before it have failed.
    #[must_use]
    pub fn begin(&self, groups: Vec<Vec<Target>>, deadline: Option<Instant>) -> Attempts {
        let weights: Vec<(usize, u32)> = groups
            .iter()
            .enumerate()
            .flat_map(|(group, targets)| targets.iter().map(move |target| (group, target.weight)))
            .collect();
        Attempts {
            course: Course::new(self.policy, deadline, weights.into_iter()),
            targets: groups.into_iter().flatten().collect(),
            random: Arc::clone(&self.random),
            deadline,
            began: Instant::now(),
            records: Vec::with_capacity(1),
            held: None,
            current: None,
            soonest: None,
            keyless: None,
        }
    }
}

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatcher").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// What a try has come to.
#[derive(Debug)]
pub enum Next {
    /// An answer. Its status is a success, or an error that another try would not change.
    Answer(Reply),
    /// Nothing is left to try. This is the last answer, a failure, as it came.
    Last(Reply),
    /// Nothing is left to try, and the last try got no answer.
    Failed(UpstreamError),
    /// Nobody was asked: every upstream is being left alone after its failures.
    Unavailable {
        /// When the first of them will be asked again.
        retry_after: Duration,
    },
    /// Nobody was asked: the key of this upstream is not to be had, and neither is that of any other. The records tell why.
    Keyless {
        /// The upstream's name.
        upstream: Arc<str>,
    },
    /// Nobody was asked: there is no target, the request could be prepared for none of them, or the deadline has passed.
    /// The records tell which.
    Unfit,
}

/// One model call on its way.
pub struct Attempts {
    course: Course,
    targets: Vec<Target>,
    random: Arc<dyn Fn() -> u64 + Send + Sync>,
    deadline: Option<Instant>,
    began: Instant,
    records: Vec<Attempt>,
    /// How the last try failed, kept for the case that it stays the last.
    held: Option<Result<Reply, UpstreamError>>,
    /// The target of the last try, the key it went with, and its record.
    current: Option<Current>,
    /// When the first of the upstreams that are left alone will be asked again.
    soonest: Option<Duration>,
    /// The last upstream whose key was not to be had.
    keyless: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy)]
struct Current {
    place: usize,
    key: usize,
    record: usize,
}

impl Attempts {
    /// Tries until there is an answer worth looking at, or nothing left to try. `prepare` makes the request for a target,
    /// or says why it cannot.
    ///
    /// Dropping the future ends the try it is in.
    pub async fn next<'a>(
        &mut self,
        mut prepare: impl FnMut(&Target) -> Result<Prepared<'a>, String>,
    ) -> Next {
        loop {
            let now = Instant::now();
            let targets = &self.targets;
            let latency = |place: usize| {
                let target = &targets[place];
                target.upstream.live.latencies.of(&target.model)
            };
            match self.course.step(now, latency, &*self.random) {
                Step::Stop => return self.last(),
                Step::Wait(wait) => sleep(wait).await,
                Step::Try(place) => {
                    let Some((passage, current)) = self.admit(place, now) else { continue };
                    let target = &self.targets[place];
                    let headers = match target.upstream.outfits.get(current.key) {
                        Some(outfit) => outfit.headers().await,
                        None => Err(NotKept("there is no such key".to_owned())),
                    };
                    let headers = match headers {
                        Ok(headers) => headers,
                        Err(NotKept(reason)) => {
                            self.keyless(current, reason, now);
                            continue;
                        }
                    };
                    let prepared = prepare(target).and_then(|prepared| {
                        request(target, headers, prepared).ok_or_else(|| "its path is none".to_owned())
                    });
                    let request = match prepared {
                        Ok(request) => request,
                        Err(reason) => {
                            self.unfit(place, reason, now);
                            continue;
                        }
                    };
                    // Only now is the failure before of no more use.
                    self.held = None;
                    self.course.trying(place, current.key);
                    self.current = Some(current);
                    self.records.push(Attempt::begun(target, current.key, now - self.began));
                    let sent = send(&self.targets[place], request, passage, now, self.deadline).await;
                    if let Some(answer) = self.heard(sent, current, now) {
                        return Next::Answer(answer);
                    }
                }
            }
        }
    }

    /// What looked like an answer is a failure, as its first bytes showed. [`Attempts::next`] goes on from there, and
    /// gives the reply back if it was the last.
    pub fn failed(&mut self, mut reply: Reply, fault: Fault) {
        let now = Instant::now();
        if fault.is_of_upstream() {
            reply.body.blame();
        }
        if let Some(current) = self.current {
            self.after(current, fault, reply.retry_after, now);
        }
        self.held = Some(Ok(reply));
    }

    /// The answer broke off before anything of it was handed on. [`Attempts::next`] goes on from there.
    pub fn lost(&mut self, error: UpstreamError) {
        if let Some(current) = self.current {
            self.after(current, Fault::of(&error), None, Instant::now());
        }
        self.held = Some(Err(error));
    }

    /// What was tried so far, skipped targets included.
    #[must_use]
    pub fn records(&self) -> &[Attempt] {
        &self.records
    }

    /// What was tried, at the end.
    #[must_use]
    pub fn into_records(self) -> Vec<Attempt> {
        self.records
    }

    /// Leave to try `place`, and the key to try it with. Nothing, when others are to be tried first or instead.
    fn admit(&mut self, place: usize, now: Instant) -> Option<(Passage, Current)> {
        let target = &self.targets[place];
        let keys = &target.upstream.keys;
        let Some(pick) = keys.pick(&target.model, self.course.keys_tried(place), now) else {
            self.course.skip(place);
            return None;
        };
        if pick.resting && self.course.is_fresh(place) {
            self.course.defer(place);
            return None;
        }
        let same = |attempt: &Attempt| attempt.was_sent() && *attempt.upstream == *target.upstream.name;
        let turn = if self.records.iter().any(same) { Turn::Repetition } else { Turn::First };
        match Passage::open(&target.upstream, turn, now) {
            Ok(passage) => Some((passage, Current { place, key: pick.key, record: self.records.len() })),
            Err(barred) => {
                let skipped = match barred {
                    Barred::Open(wait) => {
                        self.soonest = Some(self.soonest.map_or(wait, |soonest| soonest.min(wait)));
                        Skipped::Open
                    }
                    Barred::Budget => Skipped::Budget,
                };
                self.records.push(Attempt::skipped(target, skipped, now - self.began));
                self.course.skip(place);
                None
            }
        }
    }

    /// The key is not to be had: another one of the target may be.
    fn keyless(&mut self, current: Current, reason: String, now: Instant) {
        let target = &self.targets[current.place];
        self.keyless = Some(Arc::clone(&target.upstream.name));
        self.records.push(Attempt::skipped(target, Skipped::NoKey(reason), now - self.began));
        self.course.without(current.place, current.key);
    }

    fn unfit(&mut self, place: usize, reason: String, now: Instant) {
        let skipped = Attempt::skipped(&self.targets[place], Skipped::Unfit(reason), now - self.began);
        self.records.push(skipped);
        self.course.skip(place);
    }

    /// Takes in what came of a try. A reply that is worth looking at comes back; a failure is kept.
    fn heard(
        &mut self,
        sent: Result<Reply, (UpstreamError, Passage)>,
        current: Current,
        started: Instant,
    ) -> Option<Reply> {
        let now = Instant::now();
        let took = now - started;
        let target = &self.targets[current.place];
        match sent {
            Ok(mut reply) => {
                let record = &mut self.records[current.record];
                record.ended(Outcome::Status(reply.status.as_u16()), took);
                let fault = Fault::in_status(reply.status).filter(|_| !reply.final_word);
                if Fault::Status(reply.status.as_u16()).is_of_upstream() {
                    reply.body.blame();
                } else {
                    reply.body.praise();
                }
                if reply.status.is_success() {
                    target.upstream.live.latencies.observe(&target.model, took);
                }
                let Some(fault) = fault else { return Some(reply) };
                let told = reply.retry_after;
                self.held = Some(Ok(reply));
                self.after(current, fault, told, now);
            }
            Err((error, mut passage)) => {
                let fault = Fault::of(&error);
                self.records[current.record].ended(Outcome::Error(error.name()), took);
                if fault.is_of_upstream() {
                    passage.failed(now);
                }
                if fault == Fault::FirstByte {
                    target.upstream.live.latencies.observe(&target.model, took);
                }
                self.held = Some(Err(error));
                self.after(current, fault, None, now);
            }
        }
        None
    }

    /// Puts a key to rest where it must, and tells the course.
    fn after(&mut self, current: Current, fault: Fault, told: Option<Duration>, now: Instant) {
        let Target { upstream, model, .. } = &self.targets[current.place];
        self.records[current.record].fault = Some(fault);
        let remedy = fault.remedy();
        match remedy {
            Remedy::OtherKey => upstream.keys.rest(current.key, None, now + REFUSED, now),
            Remedy::OtherKeyOrTime => {
                upstream.keys.rest(current.key, Some(model), now + told.unwrap_or(UNTOLD), now);
            }
            Remedy::Nothing | Remedy::Time | Remedy::OtherTarget => {}
        }
        let other = upstream.keys.has_other(model, self.course.keys_tried(current.place), now);
        self.course.failed(current.place, remedy, told, other, now, (self.random)());
    }

    /// What to say when nothing is left to try.
    fn last(&mut self) -> Next {
        match (self.held.take(), self.soonest) {
            (Some(Ok(reply)), _) => Next::Last(reply),
            (Some(Err(error)), _) => Next::Failed(error),
            (None, Some(retry_after)) => Next::Unavailable { retry_after },
            (None, None) => self.keyless.take().map_or(Next::Unfit, |upstream| Next::Keyless { upstream }),
        }
    }
}

impl std::fmt::Debug for Attempts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attempts").field("records", &self.records).finish_non_exhaustive()
    }
}
