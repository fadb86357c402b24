//! Workers, a queue, and everything that can come between them.
//!
//! What must hold is asserted where it would break: when a handler starts, when an answer arrives, when a result is
//! recorded, and at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use jobs::core::{Attempt, Core, Effect, Event, NoAnswer};
use jobs::{Failure, Kind, Moment, Options, Outcome, Settlement};
use schema::{JobId, Timestamp};
use store::{Held, JobState, NewJob, Retry};

use crate::queue::Queue;
use crate::random::Random;
use crate::tally::Tally;

/// Milliseconds of simulated time.
type Millis = u64;

/// What the wall clock says when the world begins: late enough for clocks to be put back.
const EPOCH: Millis = 1_000_000_000;
const LEASE: Millis = 30_000;
const GRACE: Millis = 10_000;
/// What a handler says that gives up.
const GAVE_UP: &str = "it will never work";
/// Everything goes wrong until then.
const FAULTS_UNTIL: Millis = 10 * 60_000;
/// And everything must have been done by then: the longest clock jump, the retries, the leases.
const DRAINED_BY: Millis = FAULTS_UNTIL + 40 * 60_000;

/// What is going to happen.
#[derive(Debug)]
enum Item {
    /// A question reaches the store, whether or not the worker still lives.
    Ask(Life, Effect),
    /// A worker learns of something, if it still lives.
    Tell(Life, Event),
    NewJob,
    Crash(usize),
    Stop(usize),
    Restart(usize),
    /// A worker's clock is put forward or back.
    Jump(usize, i64),
    /// The store is out of reach for everybody until then.
    Outage(Millis),
}

/// One life of a worker; after a crash it begins another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Life {
    worker: usize,
    number: u32,
}

/// A worker that lives.
struct Worker {
    core: Core,
    born: Millis,
    /// What it believes to be running, with the time until which its lease is certain.
    running: BTreeMap<Attempt, Millis>,
    ended: BTreeSet<Attempt>,
    cancelled: BTreeSet<Attempt>,
    /// When each open question about a lease was asked.
    asked: BTreeMap<Option<Attempt>, Millis>,
    stopped: Option<Millis>,
    next_tick: Option<Millis>,
}

struct Place {
    worker: Option<Worker>,
    lives: u32,
    /// How far its wall clock is off.
    skew: i64,
}

pub(crate) struct World {
    random: Random,
    now: Millis,
    options: Options,
    kinds: Vec<String>,
    queue: Queue,
    places: Vec<Place>,
    agenda: BTreeMap<(Millis, u64), Item>,
    entries: u64,
    jobs_to_come: u64,
    started: BTreeSet<Attempt>,
    outage_until: Millis,
    /// Out of a thousand questions, so many get no answer.
    silence: u64,
    /// Whether clocks stay true: then no two handlers ever run one job at once.
    true_clocks: bool,
    tally: Tally,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let options = Options {
            concurrency: NonZeroU32::new(random.within(1..5) as u32).unwrap(),
            lease: Duration::from_millis(LEASE),
            poll_min: Duration::from_millis(100),
            poll_max: Duration::from_secs(10),
            grace: Duration::from_millis(GRACE),
        };
        let places = (0..random.within(1..5)).map(|_| Place { worker: None, lives: 0, skew: 0 }).collect();
        let mut world = Self {
            silence: random.within(0..200),
            true_clocks: random.chance(500),
            jobs_to_come: random.within(5..40),
            random,
            now: 0,
            options,
            kinds: Kind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect(),
            queue: Queue::default(),
            places,
            agenda: BTreeMap::new(),
            entries: 0,
            started: BTreeSet::new(),
            outage_until: 0,
            tally: Tally::default(),
        };
        world.plan();
        world
    }

    /// Lays out the jobs and the faults.
    fn plan(&mut self) {
        for _ in 0..self.jobs_to_come {
            let at = self.random.within(0..FAULTS_UNTIL);
            self.at(at, Item::NewJob);
        }
        for place in 0..self.places.len() {
            self.at(0, Item::Restart(place));
            for _ in 0..self.random.within(0..6) {
                let at = self.random.within(0..FAULTS_UNTIL);
                let fault = match self.random.within(0..10) {
                    0..4 => Item::Crash(place),
                    4..6 => Item::Stop(place),
                    _ => {
                        let by = self.random.within(0..300_000) as i64;
                        Item::Jump(place, if self.random.chance(500) { by } else { -by })
                    }
                };
                self.at(at, fault);
            }
            // Whoever is down by then comes back: somebody has to do the rest.
            self.at(FAULTS_UNTIL, Item::Restart(place));
        }
        for _ in 0..self.random.within(0..4) {
            let from = self.random.within(0..FAULTS_UNTIL);
            let until = (from + self.random.within(1_000..90_000)).min(FAULTS_UNTIL);
            self.at(from, Item::Outage(until));
        }
    }

    /// Lives through all of it and asserts that every promise was kept.
    pub(crate) fn run(mut self) -> Tally {
        while let Some(((at, _), item)) = self.agenda.pop_first() {
            self.now = at;
            self.tally.steps += 1;
            assert!(self.tally.steps < 200_000, "the workers are spinning");
            self.happen(item);
            if self.is_drained() {
                break;
            }
            assert!(self.now < DRAINED_BY, "stuck: {:#?}", self.queue.jobs);
        }
        assert!(self.is_drained(), "lost: {:#?}", self.queue.jobs);
        for kept in self.queue.jobs.values() {
            let job = &kept.job;
            match job.state {
                JobState::Done => assert_eq!(kept.completed, 1, "done once: {job:?}"),
                JobState::Dead => {
                    assert_eq!(kept.completed, 0, "dead or done, not both: {job:?}");
                    assert!(
                        job.attempts >= job.max_attempts || job.last_error.as_deref() == Some(GAVE_UP),
                        "{job:?}"
                    );
                }
                JobState::Waiting | JobState::Leased => unreachable!("it is drained"),
            }
            self.tally.done += u64::from(job.state == JobState::Done);
            self.tally.dead += u64::from(job.state == JobState::Dead);
        }
        self.tally
    }

    fn is_drained(&self) -> bool {
        let finished = |state| matches!(state, JobState::Done | JobState::Dead);
        self.jobs_to_come == 0 && self.queue.jobs.values().all(|kept| finished(kept.job.state))
    }

    fn at(&mut self, at: Millis, item: Item) {
        self.entries += 1;
        self.agenda.insert((at.max(self.now), self.entries), item);
    }

    fn has_faults(&self) -> bool {
        self.now < FAULTS_UNTIL
    }

    fn happen(&mut self, item: Item) {
        match item {
            Item::Ask(life, effect) => self.ask_store(life, effect),
            Item::Tell(life, event) => self.tell(life, event),
            Item::NewJob => self.new_job(),
            Item::Restart(place) => self.restart(place),
            Item::Outage(until) => self.outage_until = until,
            Item::Crash(place) => {
                if self.places[place].worker.take().is_some() {
                    self.tally.crashes += 1;
                    let back = self.now + self.random.within(1_000..60_000);
                    self.at(back, Item::Restart(place));
                }
            }
            Item::Stop(place) => {
                let life = self.life(place);
                if let Some(worker) = &mut self.places[place].worker {
                    worker.stopped = worker.stopped.or(Some(self.now));
                    self.tally.stops += 1;
                    self.tell(life, Event::Stop);
                }
            }
            Item::Jump(place, by) if !self.true_clocks => {
                self.places[place].skew = (self.places[place].skew + by).clamp(-600_000, 600_000);
                self.tally.clock_jumps += 1;
            }
            Item::Jump(..) => {}
        }
    }

    fn life(&self, worker: usize) -> Life {
        Life { worker, number: self.places[worker].lives }
    }

    fn wall(&self, worker: usize) -> Timestamp {
        Timestamp::from_millis((EPOCH + self.now).saturating_add_signed(self.places[worker].skew)).unwrap()
    }

    fn new_job(&mut self) {
        self.jobs_to_come -= 1;
        let mut id = [0; 16];
        id[8..].copy_from_slice(&self.random.next().to_be_bytes());
        let kind = self.random.within(0..self.kinds.len() as u64) as usize;
        let later = if self.random.chance(300) { self.random.within(0..120_000) } else { 0 };
        self.queue.add(NewJob {
            id: JobId::from_bytes(id),
            kind: self.kinds[kind].clone(),
            key: None,
            payload: serde_json::Value::Null,
            priority: self.random.within(0..3) as i32,
            run_at: Timestamp::from_millis(EPOCH + self.now + later).unwrap(),
            max_attempts: self.random.within(1..7) as u32,
        });
        self.announce();
    }

    /// Tells most of the workers that something changed; notifications get lost.
    fn announce(&mut self) {
        for place in 0..self.places.len() {
            if self.random.chance(700) {
                let at = self.now + self.random.within(1..20);
                self.at(at, Item::Tell(self.life(place), Event::Changed));
            }
        }
    }

    fn restart(&mut self, place: usize) {
        if self.places[place].worker.is_some() {
            return;
        }
        self.places[place].lives += 1;
        self.places[place].worker = Some(Worker {
            core: Core::new(self.options),
            born: self.now,
            running: BTreeMap::new(),
            ended: BTreeSet::new(),
            cancelled: BTreeSet::new(),
            asked: BTreeMap::new(),
            stopped: None,
            next_tick: None,
        });
        self.tell(self.life(place), Event::Tick);
    }

    /// Hands an event to a worker, checks what it believes, and sets out to do what it wants.
    fn tell(&mut self, life: Life, event: Event) {
        if life != self.life(life.worker) {
            return;
        }
        let wall = self.wall(life.worker);
        let Some(worker) = &mut self.places[life.worker].worker else { return };
        match &event {
            Event::Ended(attempt, ..) => {
                worker.ended.extend(worker.running.remove(attempt).map(|_| *attempt));
            }
            Event::Extended(attempt, Ok(Held::Yes)) => {
                if let (Some(certain), Some(asked)) =
                    (worker.running.get_mut(attempt), worker.asked.get(&Some(*attempt)))
                {
                    *certain = asked + LEASE;
                }
            }
            Event::Settled(_, Ok(Held::No)) => self.tally.refused += 1,
            _ => {}
        }
        let now = Moment { wall, elapsed: Duration::from_millis(self.now - worker.born) };
        let lost = match event {
            Event::Extended(attempt, Ok(Held::No)) => Some(attempt),
            _ => None,
        };
        let effects = worker.core.on(event, now);
        for effect in effects {
            self.perform(life, effect);
        }
        let Some(worker) = &mut self.places[life.worker].worker else { return };
        assert!(
            !lost.is_some_and(|lost| worker.running.contains_key(&lost)),
            "a handler runs on without its lease"
        );
        let beyond = worker.running.iter().find(|&(_, &certain)| certain <= self.now);
        assert_eq!(beyond, None, "a handler runs on although its lease may be somebody else's");
        if worker.core.is_finished(now) {
            let stopped = worker.stopped.expect("only a stopped worker finishes");
            assert!(self.now <= stopped + GRACE + LEASE, "the stop took too long");
            assert!(worker.running.is_empty(), "a stopped worker leaves nothing running");
            self.places[life.worker].worker = None;
            let back = self.now + self.random.within(1_000..60_000);
            self.at(back, Item::Restart(life.worker));
            return;
        }
        let tick = worker.core.wake_at().map(|at| worker.born + at.as_millis() as Millis);
        if let Some(at) = tick
            && worker.next_tick.is_none_or(|next| at < next || next <= self.now)
        {
            worker.next_tick = Some(at);
            self.at(at, Item::Tell(life, Event::Tick));
        }
    }

    fn perform(&mut self, life: Life, effect: Effect) {
        let (now, concurrency) = (self.now, self.options.concurrency.get() as usize);
        let worker = self.places[life.worker].worker.as_mut().expect("it has just spoken");
        match &effect {
            Effect::Start(attempt, _) => {
                assert!(self.started.insert(*attempt), "one attempt begun twice");
                assert_eq!(worker.stopped, None, "begun after a stop");
                let twice = worker.running.keys().any(|other| other.job == attempt.job);
                assert!(!twice, "a worker runs one job twice at once");
                let certain = worker.asked[&None] + LEASE;
                worker.running.insert(*attempt, certain);
                assert!(worker.running.len() <= concurrency, "more at once than allowed");
                if self.true_clocks {
                    self.assert_alone(*attempt);
                }
                return self.begin(life, *attempt);
            }
            Effect::Cancel(attempt) => {
                assert!(worker.running.remove(attempt).is_some(), "cancelled what does not run");
                worker.cancelled.insert(*attempt);
                self.tally.cancelled += 1;
                return;
            }
            Effect::Settle(attempt, settlement) => {
                let by_stop = worker.stopped.is_some() && !worker.ended.contains(attempt);
                assert!(worker.ended.contains(attempt) || by_stop, "recorded what did not end");
                if by_stop {
                    let back = matches!(settlement, Settlement::Fail { retry: Retry::At(_), .. });
                    assert!(back, "a stop gives back");
                    self.tally.given_back += 1;
                }
            }
            Effect::Claim { .. } => drop(worker.asked.insert(None, now)),
            Effect::Extend(attempt, _) => {
                assert!(worker.running.contains_key(attempt), "a sign of life of the dead");
                worker.asked.insert(Some(*attempt), now);
            }
            Effect::AskNextDue => {}
        }
        let at = now + self.latency();
        self.at(at, Item::Ask(life, effect));
    }

    /// With true clocks a lease is exclusive in fact, not only on record.
    fn assert_alone(&self, attempt: Attempt) {
        let running =
            self.places.iter().filter_map(|place| place.worker.as_ref()).flat_map(|w| w.running.keys());
        let others: Vec<_> = running.filter(|other| other.job == attempt.job && **other != attempt).collect();
        assert!(others.is_empty(), "{attempt:?} begun while {others:?} runs");
    }

    fn latency(&mut self) -> Millis {
        if self.has_faults() && self.random.chance(20) {
            self.random.within(1..45_000)
        } else {
            self.random.within(1..40)
        }
    }

    /// Runs a handler: decides when and how it ends.
    fn begin(&mut self, life: Life, attempt: Attempt) {
        let duration = match self.random.within(0..100) {
            0..80 => self.random.within(1..2_000),
            80..95 => self.random.within(2_000..40_000),
            _ => self.random.within(40_000..200_000),
        };
        let outcome = match self.random.within(0..100) {
            0..60 => Outcome::Done,
            60..80 => Outcome::Failed(Failure::Retry("not now".to_owned())),
            80..85 => {
                let wait = Duration::from_millis(self.random.within(0..60_000));
                let wall = self.wall(life.worker);
                let at = Moment { wall, elapsed: Duration::ZERO }.wall_after(wait);
                Outcome::Failed(Failure::RetryAt(at, "then".to_owned()))
            }
            85..90 => Outcome::Failed(Failure::GiveUp(GAVE_UP.to_owned())),
            _ => Outcome::Panicked("oh".to_owned()),
        };
        let random = self.random.next();
        // A cancelled handler is told of all the same: the news of its end may have crossed the order to stop.
        self.at(self.now + duration, Item::Tell(life, Event::Ended(attempt, outcome, random)));
    }

    /// A question reaches the store: it may be lost on the way there, or its answer on the way back.
    fn ask_store(&mut self, life: Life, effect: Effect) {
        let silent = self.now < self.outage_until || (self.has_faults() && self.random.chance(self.silence));
        let happens = !silent || self.random.chance(500);
        self.tally.unanswered += u64::from(silent);
        let queue = &mut self.queue;
        let answered = match effect {
            Effect::Claim { now, lease_until, limit } => {
                let claimed =
                    if happens { queue.claim(&self.kinds, now, lease_until, limit.get()) } else { vec![] };
                Event::Claimed(if silent { Err(NoAnswer) } else { Ok(claimed) })
            }
            Effect::AskNextDue => {
                let next = queue.next_due(&self.kinds);
                Event::NextDue(if silent { Err(NoAnswer) } else { Ok(next) })
            }
            Effect::Extend(attempt, until) => {
                let held = happens.then(|| queue.extend(attempt.job, attempt.token, until));
                Event::Extended(attempt, held.filter(|_| !silent).ok_or(NoAnswer))
            }
            Effect::Settle(attempt, settlement) => {
                let held = happens.then(|| record(queue, attempt, &settlement));
                if held == Some(Held::Yes) {
                    self.announce();
                }
                Event::Settled(attempt, held.filter(|_| !silent).ok_or(NoAnswer))
            }
            Effect::Start(..) | Effect::Cancel(_) => unreachable!("not for the store"),
        };
        let at = self.now + self.latency();
        self.at(at, Item::Tell(life, answered));
    }
}

/// Records a result, and makes sure that only the newest claim can.
fn record(queue: &mut Queue, attempt: Attempt, settlement: &Settlement) -> Held {
    let newest = queue.jobs[&attempt.job].token;
    let held = match settlement {
        Settlement::Complete => queue.complete(attempt.job, attempt.token),
        Settlement::Fail { error, retry } => queue.fail(attempt.job, attempt.token, error, retry),
    };
    assert!(held == Held::No || newest == attempt.token, "an old token counted");
    held
}
