use expect_test::{Expect, expect};
use schema::{JobId, TenantId};
use store::JobState;

use super::*;
use crate::handler::Failure;

/// A core, its two clocks, and the attempts by number.
struct World {
    core: Core,
    elapsed: u64,
    wall: u64,
}

const LEASE: u64 = 30;

impl World {
    fn new(concurrency: u32) -> Self {
        let options = Options {
            concurrency: NonZeroU32::new(concurrency).unwrap(),
            lease: Duration::from_secs(LEASE),
            poll_min: Duration::from_secs(1),
            poll_max: Duration::from_secs(20),
            grace: Duration::from_secs(10),
        };
        Self { core: Core::new(options), elapsed: 0, wall: 1_000 }
    }

    /// A core that runs attempts 1 to `count` and sleeps.
    fn running(count: u8, concurrency: u32) -> Self {
        let mut world = Self::new(concurrency);
        world.on(Event::Tick);
        world.on(Event::Claimed(Ok((1..=count).map(|n| claimed(n, 1)).collect())));
        world.on(Event::NextDue(Ok(None)));
        world
    }

    fn now(&self) -> Moment {
        Moment { wall: at(self.wall), elapsed: Duration::from_secs(self.elapsed) }
    }

    fn pass(&mut self, seconds: u64) -> &mut Self {
        self.elapsed += seconds;
        self.wall += seconds;
        self
    }

    fn on(&mut self, event: Event) -> String {
        let now = self.now();
        self.core.on(event, now).iter().map(tell).collect::<Vec<_>>().join("; ")
    }

    /// What the core does with this, and when it wants to wake.
    #[track_caller]
    fn check(&mut self, event: Event, expected: &Expect) -> &mut Self {
        let effects = self.on(event);
        let wake = self.core.wake_at().map_or("-".to_owned(), |at| format!("{}s", at.as_secs()));
        expected.assert_eq(&format!("{effects} | wake {wake}"));
        self
    }
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000).unwrap()
}

fn attempt(number: u8, token: u64) -> Attempt {
    Attempt { job: JobId::from_bytes([number; 16]), token: LeaseToken(token) }
}

fn claimed(number: u8, token: u64) -> Claimed {
    let job = Job {
        id: attempt(number, token).job,
        tenant: TenantId::NIL,
        kind: "learning_tick".to_owned(),
        key: None,
        payload: serde_json::Value::Null,
        priority: 0,
        run_at: at(0),
        attempts: 1,
        max_attempts: 3,
        state: JobState::Leased,
        lease_until: None,
        last_error: None,
    };
    Claimed { job, token: LeaseToken(token) }
}

fn tell(effect: &Effect) -> String {
    let name = |attempt: &Attempt| format!("{}/{}", attempt.job.as_bytes()[0], attempt.token.0);
    let secs = |at: &Timestamp| at.as_millis() / 1_000;
    match effect {
        Effect::Claim { now, lease_until, limit } => {
            format!("claim {limit} at {} until {}", secs(now), secs(lease_until))
        }
        Effect::AskNextDue => "ask".to_owned(),
        Effect::Start(attempt, _) => format!("start {}", name(attempt)),
        Effect::Cancel(attempt) => format!("cancel {}", name(attempt)),
        Effect::Extend(attempt, until) => format!("extend {} until {}", name(attempt), secs(until)),
        Effect::Settle(attempt, Settlement::Complete) => format!("complete {}", name(attempt)),
        Effect::Settle(attempt, Settlement::Fail { error, retry: Retry::At(at) }) => {
            format!("fail {} ({error}), again at {}", name(attempt), secs(at))
        }
        Effect::Settle(attempt, Settlement::Fail { error, retry: Retry::Never }) => {
            format!("fail {} ({error}), dead", name(attempt))
        }
    }
}

fn done(number: u8) -> Event {
    Event::Ended(attempt(number, 1), Outcome::Done, 0)
}

#[test]
fn a_job_is_claimed_begun_and_completed() {
    World::new(2)
        .check(Event::Tick, &expect!["claim 2 at 1000 until 1030 | wake -"])
        .check(Event::Claimed(Ok(vec![claimed(1, 1)])), &expect!["ask; start 1/1 | wake 10s"])
        .check(Event::NextDue(Ok(Some(at(1_005)))), &expect![" | wake 5s"])
        .pass(2)
        .check(done(1), &expect!["complete 1/1 | wake 5s"])
        .check(Event::Settled(attempt(1, 1), Ok(Held::Yes)), &expect![" | wake 5s"])
        .pass(3)
        .check(Event::Tick, &expect!["claim 2 at 1005 until 1035 | wake -"]);
}

#[test]
fn a_full_worker_claims_again_when_a_slot_is_free() {
    let mut world = World::new(2);
    world.on(Event::Tick);
    world
        .check(
            Event::Claimed(Ok(vec![claimed(1, 1), claimed(2, 1)])),
            &expect!["start 1/1; start 2/1 | wake 10s"],
        )
        .check(Event::Changed, &expect![" | wake 10s"])
        .check(done(1), &expect!["complete 1/1 | wake 10s"])
        .check(
            Event::Settled(attempt(1, 1), Ok(Held::Yes)),
            &expect!["claim 1 at 1000 until 1030 | wake 10s"],
        );
}

#[test]
fn a_change_wakes_a_sleeper_and_is_not_forgotten_while_the_store_is_asked() {
    let mut world = World::new(1);
    world.on(Event::Tick);
    world
        .check(Event::Claimed(Ok(vec![])), &expect!["ask | wake -"])
        .check(Event::Changed, &expect![" | wake -"])
        .check(Event::NextDue(Ok(None)), &expect!["claim 1 at 1000 until 1030 | wake -"])
        .check(Event::Claimed(Ok(vec![])), &expect!["ask | wake -"])
        .check(Event::NextDue(Ok(None)), &expect![" | wake 20s"])
        .check(Event::Changed, &expect!["claim 1 at 1000 until 1030 | wake -"]);
}

#[test]
fn a_lease_is_renewed_every_third_of_it() {
    World::running(1, 2)
        .pass(10)
        .check(Event::Tick, &expect!["extend 1/1 until 1040 | wake 20s"])
        .check(Event::Extended(attempt(1, 1), Ok(Held::Yes)), &expect![" | wake 20s"])
        .pass(10)
        .check(Event::Tick, &expect!["extend 1/1 until 1050; claim 1 at 1020 until 1050 | wake 40s"]);
}

#[test]
fn a_lease_that_the_store_gave_away_stops_the_handler() {
    World::running(1, 1)
        .pass(10)
        .check(Event::Tick, &expect!["extend 1/1 until 1040 | wake 30s"])
        .check(
            Event::Extended(attempt(1, 1), Ok(Held::No)),
            &expect!["cancel 1/1; claim 1 at 1010 until 1040 | wake -"],
        )
        .check(done(1), &expect![" | wake -"]);
}

#[test]
fn a_lease_that_could_not_be_renewed_stops_the_handler_when_it_runs_out() {
    let mut world = World::running(1, 1);
    world
        .pass(10)
        .check(Event::Tick, &expect!["extend 1/1 until 1040 | wake 30s"])
        .pass(2)
        .check(Event::Extended(attempt(1, 1), Err(NoAnswer)), &expect![" | wake 14s"])
        .pass(3)
        .check(Event::Tick, &expect!["extend 1/1 until 1045 | wake 30s"]);
    // The wall clock is put back; that does not make the lease any longer.
    world.wall -= 500;
    world.pass(15).check(Event::Tick, &expect!["cancel 1/1; claim 1 at 530 until 560 | wake -"]);
}

#[test]
fn a_newer_claim_of_the_same_job_stops_the_older_attempt() {
    let mut world = World::running(1, 2);
    world.wall += 1_000;
    world.on(Event::Changed);
    world.check(
        Event::Claimed(Ok(vec![claimed(1, 2)])),
        &expect!["cancel 1/1; start 1/2; claim 1 at 2000 until 2030 | wake 10s"],
    );
}

#[test]
fn a_claim_that_took_as_long_as_the_lease_is_not_begun() {
    let mut world = World::new(2);
    world.on(Event::Tick);
    world.pass(LEASE).check(Event::Claimed(Ok(vec![claimed(1, 1)])), &expect!["ask | wake -"]);
}

#[test]
fn a_result_is_recorded_until_the_store_answers() {
    let mut world = World::running(1, 1);
    let failed = Outcome::Failed(Failure::GiveUp("gone".to_owned()));
    world
        .check(Event::Ended(attempt(1, 1), failed, 0), &expect!["fail 1/1 (gone), dead | wake -"])
        .check(Event::Settled(attempt(1, 1), Err(NoAnswer)), &expect![" | wake 1s"])
        .pass(1)
        .check(Event::Tick, &expect!["fail 1/1 (gone), dead | wake -"])
        .check(Event::Settled(attempt(1, 1), Err(NoAnswer)), &expect![" | wake 3s"])
        .pass(2)
        .check(Event::Tick, &expect!["fail 1/1 (gone), dead | wake -"])
        .check(Event::Settled(attempt(1, 1), Ok(Held::No)), &expect!["claim 1 at 1003 until 1033 | wake -"]);
}

#[test]
fn a_silent_store_is_asked_ever_more_rarely() {
    let mut world = World::new(1);
    world.check(Event::Tick, &expect!["claim 1 at 1000 until 1030 | wake -"]);
    for wait in [1, 2, 4, 8, 16, 20, 20] {
        let wake = world.elapsed + wait;
        world.on(Event::Claimed(Err(NoAnswer)));
        assert_eq!(world.core.wake_at(), Some(Duration::from_secs(wake)));
        world.pass(wait);
        assert!(world.on(Event::Tick).starts_with("claim"));
    }
}

#[test]
fn a_stopped_worker_finishes_what_it_can_and_gives_back_the_rest() {
    let mut world = World::running(2, 2);
    world.pass(5).check(Event::Stop, &expect![" | wake 10s"]);
    world.check(done(1), &expect!["complete 1/1 | wake 10s"]);
    world.check(Event::Settled(attempt(1, 1), Ok(Held::Yes)), &expect![" | wake 10s"]);
    world.pass(5).check(Event::Tick, &expect!["extend 2/1 until 1040 | wake 15s"]);
    assert!(!world.core.is_finished(world.now()));
    world.pass(5).check(
        Event::Tick,
        &expect!["cancel 2/1; fail 2/1 (the worker was stopped), again at 1015 | wake 45s"],
    );
    world.check(Event::Settled(attempt(2, 1), Err(NoAnswer)), &expect![" | wake 45s"]);
    assert!(world.core.is_finished(world.now()));
}

#[test]
fn what_is_claimed_during_a_stop_goes_straight_back() {
    let mut world = World::new(2);
    world.on(Event::Tick);
    world.on(Event::Stop);
    assert!(!world.core.is_finished(world.now()));
    world.check(
        Event::Claimed(Ok(vec![claimed(1, 1)])),
        &expect!["fail 1/1 (the worker was stopped), again at 1000 | wake 40s"],
    );
    world.check(Event::Settled(attempt(1, 1), Ok(Held::Yes)), &expect![" | wake 40s"]);
    assert!(world.core.is_finished(world.now()));
}

#[test]
fn a_store_that_never_answers_does_not_hold_up_a_stop_for_ever() {
    let mut world = World::new(2);
    world.on(Event::Tick);
    world.check(Event::Stop, &expect![" | wake 40s"]);
    world.pass(40);
    assert!(world.core.is_finished(world.now()));
}

#[test]
fn an_idle_worker_asks_once_per_longest_pause() {
    let mut world = World::new(4);
    let mut claims = 0;
    let mut effects = world.on(Event::Tick);
    while world.elapsed < 3_600 {
        assert!(effects.starts_with("claim"), "{effects}");
        claims += 1;
        world.on(Event::Claimed(Ok(vec![])));
        world.on(Event::NextDue(Ok(None)));
        let wake = world.core.wake_at().unwrap().as_secs();
        let wait = wake - world.elapsed;
        world.pass(wait);
        effects = world.on(Event::Tick);
    }
    assert_eq!(claims, 3_600 / 20);
}
