use std::collections::{BTreeMap, BTreeSet};

use expect_test::expect;
use jiff::Timestamp as Instant;
use proptest::prelude::*;

use super::*;

const MINUTE: u64 = 60_000;

fn at(text: &str) -> Timestamp {
    Timestamp::from_millis(text.parse::<Instant>().unwrap().as_millisecond() as u64).unwrap()
}

fn recurring(cron: &str) -> Recurring {
    Recurring::new("sweep", TenantId::NIL, Schedule::parse(cron, "UTC").unwrap())
}

fn agenda(cron: &str) -> Agenda {
    Agenda::new(vec![recurring(cron)]).unwrap()
}

fn moment(wall: Timestamp, elapsed: u64) -> Moment {
    Moment { wall, elapsed: Duration::from_secs(elapsed) }
}

/// The one occurrence that is due.
fn due(agenda: &Agenda, now: Moment) -> Option<Due> {
    let mut due = agenda.due(now);
    assert!(due.len() <= 1);
    due.pop()
}

#[test]
fn the_newest_occurrence_that_has_come_is_due_and_no_other() {
    let nightly = agenda("0 3 * * *");
    for (now, expected) in [
        ("2026-11-16T02:59:59.999Z", "2026-11-15T03:00:00Z"),
        ("2026-11-16T03:00:00Z", "2026-11-16T03:00:00Z"),
        // Nothing ran for a week: one job, not seven.
        ("2026-11-23T12:00:00Z", "2026-11-23T03:00:00Z"),
    ] {
        let due = due(&nightly, moment(at(now), 0)).unwrap();
        assert_eq!((due.tenant, due.job.run_at), (TenantId::NIL, at(expected)), "{now}");
    }
    assert_eq!(due(&nightly, moment(at("1970-01-01T00:00:00Z"), 0)), None, "none has come");
}

#[test]
fn what_was_made_is_not_asked_for_again_until_the_next_one_comes() {
    let mut nightly = agenda("0 3 * * *");
    let now = moment(at("2026-11-16T02:00:00Z"), 0);
    let yesterday = due(&nightly, now).unwrap();
    nightly.note(&yesterday, Answer::Made, now);
    assert_eq!(due(&nightly, now), None);
    assert_eq!(nightly.pause(now), Duration::from_secs(60), "an hour, but the clock may be put forward");
    let soon = moment(at("2026-11-16T02:59:58.5Z"), 3_598);
    assert_eq!(nightly.pause(soon), Duration::from_millis(1_500));
    let then = moment(at("2026-11-16T03:00:00Z"), 3_600);
    let today = due(&nightly, then).unwrap();
    assert_ne!(today.job.id, yesterday.job.id);

    // Put back: what comes again is asked for again, under the id that says that it was made.
    nightly.note(&today, Answer::Made, then);
    assert_eq!(due(&nightly, moment(at("2026-11-16T02:30:00Z"), 3_601)), Some(yesterday));
}

#[test]
fn what_could_not_be_made_is_tried_again_after_a_while() {
    let mut nightly = agenda("0 3 * * *");
    let now = moment(at("2026-11-16T04:00:00Z"), 100);
    nightly.note(&due(&nightly, now).unwrap(), Answer::NotMade, now);
    assert_eq!((due(&nightly, now), nightly.pause(now)), (None, AGAIN));
    let later = moment(at("2026-11-16T04:00:10Z"), 110);
    assert_eq!(due(&nightly, later).unwrap().job.run_at, at("2026-11-16T03:00:00Z"));
    // The wait is by the clock that nobody sets.
    let put_back = moment(at("2026-11-16T03:30:00Z"), 110);
    assert!(due(&nightly, put_back).is_some());
}

#[test]
fn of_one_tenant_and_kind_there_is_one_schedule() {
    let other_tenant = Recurring { tenant: TenantId::from_bytes([1; 16]), ..recurring("0 3 * * *") };
    let other_kind = Recurring { kind: "tick".to_owned(), ..recurring("0 3 * * *") };
    let both = Agenda::new(vec![recurring("0 3 * * *"), other_tenant, other_kind]).unwrap();
    let ids: BTreeSet<JobId> =
        both.due(moment(at("2026-11-16T04:00:00Z"), 0)).into_iter().map(|due| due.job.id).collect();
    assert_eq!(ids.len(), 3);

    let refused = Agenda::new(vec![recurring("0 3 * * *"), recurring("0 4 * * *")]).unwrap_err();
    expect!["two schedules for jobs of the kind `sweep` of ten_00000000000000000000000000"]
        .assert_eq(&refused.to_string());
}

#[test]
fn the_id_of_an_occurrence_is_the_same_in_every_version() {
    let job = recurring("0 3 * * *").job(at("2026-11-16T03:00:00Z"));
    expect!["job_01m7h4r5w0fmhamkc0dgyrjasx"].assert_eq(&job.id.to_string());
    assert_eq!(job.key.as_deref(), Some("schedule"));
}

/// What can happen to a few processes over one store.
#[derive(Debug, Clone)]
enum Step {
    /// So many milliseconds pass, with everybody awake.
    Pass(u64),
    /// So many pass with every process down.
    Down(u64),
    /// The process forgets all it knows.
    Restart(usize),
    /// The process's clock is off by so much from now on.
    Skew(usize, i64),
    /// The store does not answer for as long.
    Silence(u64),
    /// Whatever waits or runs is finished.
    Finish,
}

fn any_step() -> impl Strategy<Value = Step> {
    let skew = prop_oneof![Just(0i64), -90_000i64..90_000, -400_000_000i64..400_000_000];
    prop_oneof![
        4 => (0..8 * MINUTE).prop_map(Step::Pass),
        1 => (0..3_000 * MINUTE).prop_map(Step::Down),
        1 => (0..PROCESSES).prop_map(Step::Restart),
        1 => (0..PROCESSES, skew).prop_map(|(process, skew)| Step::Skew(process, skew)),
        1 => (0..2 * MINUTE).prop_map(Step::Silence),
        3 => Just(Step::Finish),
    ]
}

const PROCESSES: usize = 3;

/// A store that keeps ids and one key, and processes that wake when they want to.
struct World {
    cron: &'static str,
    time: u64,
    began: u64,
    silent: bool,
    /// By id, the occurrence, when it was made, and whether it is finished.
    jobs: BTreeMap<JobId, (Timestamp, u64, bool)>,
    processes: Vec<(Agenda, i64)>,
}

impl World {
    fn new(cron: &'static str, began: u64) -> Self {
        let processes = (0..PROCESSES).map(|_| (agenda(cron), 0)).collect();
        Self { cron, time: began, began, silent: false, jobs: BTreeMap::new(), processes }
    }

    fn now(&self, skew: i64) -> Moment {
        let wall = Timestamp::from_millis(self.time.saturating_add_signed(skew)).unwrap();
        Moment { wall, elapsed: Duration::from_millis(self.time - self.began) }
    }

    fn make(&mut self, due: &Due) -> Answer {
        if self.silent {
            return Answer::NotMade;
        }
        if !self.jobs.contains_key(&due.job.id) {
            if self.jobs.values().any(|(_, _, finished)| !finished) {
                return Answer::NotMade;
            }
            self.jobs.insert(due.job.id, (due.job.run_at, self.time, false));
        }
        Answer::Made
    }

    /// Everybody does what is due, and says when it wants to wake.
    fn wake(&mut self) -> u64 {
        let mut pauses = Vec::new();
        for index in 0..self.processes.len() {
            let now = self.now(self.processes[index].1);
            for due in self.processes[index].0.due(now) {
                assert!(due.job.run_at <= now.wall, "made before its time");
                let answer = self.make(&due);
                self.processes[index].0.note(&due, answer, now);
            }
            pauses.push(self.processes[index].0.pause(now).as_millis() as u64);
        }
        pauses.into_iter().min().unwrap()
    }

    fn pass(&mut self, millis: u64) {
        let end = self.time + millis;
        loop {
            let pause = self.wake();
            assert!(pause > 0, "it would poll without a pause");
            if self.time + pause > end {
                self.time = end;
                return;
            }
            self.time += pause;
        }
    }

    fn finish(&mut self) {
        self.jobs.values_mut().for_each(|(_, _, finished)| *finished = true);
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Pass(millis) => self.pass(millis),
            Step::Down(millis) => {
                self.time += millis;
                (0..PROCESSES).for_each(|process| self.processes[process].0 = agenda(self.cron));
            }
            Step::Restart(process) => self.processes[process].0 = agenda(self.cron),
            Step::Skew(process, skew) => self.processes[process].1 = skew,
            Step::Silence(millis) => {
                self.silent = true;
                self.pass(millis);
                self.silent = false;
            }
            Step::Finish => self.finish(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_happened_the_newest_occurrence_is_made_soon_after(
        cron in prop::sample::select(vec!["* * * * *", "*/7 * * * *", "0 3 * * *", "0 0 1 * *"]),
        began in 1_700_000_000_000u64..1_800_000_000_000,
        steps in prop::collection::vec(any_step(), 0..25),
    ) {
        let mut world = World::new(cron, began);
        steps.iter().for_each(|step| world.take(step));
        // All clocks are right, the store answers, and nothing stands in the way.
        (0..PROCESSES).for_each(|process| world.take(&Step::Skew(process, 0)));
        world.finish();
        let newest = Schedule::parse(cron, "UTC").unwrap().last_until(world.now(0).wall).unwrap();
        world.pass(60_000);
        // Unless a newer one came meanwhile and took its place.
        let wanted = newest..=world.now(0).wall;
        prop_assert!(world.jobs.values().any(|(occurrence, ..)| wanted.contains(occurrence)));
    }

    #[test]
    fn with_right_clocks_every_occurrence_is_made_at_its_time_and_what_was_missed_once(
        began in 1_700_000_000_000u64..1_800_000_000_000,
        spans in prop::collection::vec((0..100 * MINUTE, 0..3_000 * MINUTE), 1..6),
    ) {
        let cron = "*/7 * * * *";
        let schedule = Schedule::parse(cron, "UTC").unwrap();
        let mut world = World::new(cron, began);
        let mut expected = BTreeMap::new();
        for (up, down) in spans {
            // The newest one late, then each at its time.
            let newest = schedule.last_until(world.now(0).wall).unwrap();
            expected.entry(newest).or_insert(world.time);
            let end = world.time + up;
            let mut next = newest;
            while let Some(occurrence) = schedule.next_after(next).filter(|next| next.as_millis() <= end) {
                expected.entry(occurrence).or_insert(occurrence.as_millis());
                next = occurrence;
            }
            while world.time < end {
                let pause = world.wake();
                world.finish();
                world.time = (world.time + pause).min(end);
            }
            world.wake();
            world.finish();
            world.take(&Step::Down(down));
        }
        let made: BTreeMap<Timestamp, u64> =
            world.jobs.values().map(|(occurrence, at, _)| (*occurrence, *at)).collect();
        prop_assert_eq!(made, expected);
    }
}
