//! Schedulers and workers over one store in memory, on tokio's own time: nothing here really sleeps.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use jobs::{Clock, Context, Failure, Handler, Options, Recurring, Schedule, Scheduler, Worker};
use schema::{TenantId, Timestamp};
use store::memory::MemoryStore;
use store::{Job, Store as _};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const KIND: &str = "sweep";
/// 2026-11-16T00:00:30Z: half a minute after an occurrence.
const BEGAN: u64 = 1_794_787_230_000;

/// Writes down which occurrences it was given, and takes its time over each.
#[derive(Default)]
struct Diary {
    runs: Mutex<Vec<u64>>,
    running: Mutex<u32>,
    takes: Duration,
}

#[async_trait]
impl Handler for Diary {
    fn kind(&self) -> &str {
        KIND
    }

    async fn handle(&self, job: &Job, _: &Context) -> Result<(), Failure> {
        self.runs.lock().unwrap().push(job.run_at.as_millis());
        *self.running.lock().unwrap() += 1;
        assert_eq!(*self.running.lock().unwrap(), 1, "two of one schedule run at once");
        sleep(self.takes).await;
        *self.running.lock().unwrap() -= 1;
        Ok(())
    }
}

/// Some processes, each a scheduler and a worker, that are stopped together.
struct Processes {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

/// A clock that is off by so many milliseconds.
fn clock(began: Instant, skew: i64) -> Clock {
    Box::new(move || {
        let true_time = BEGAN + began.elapsed().as_millis() as u64;
        Timestamp::from_millis(true_time.saturating_add_signed(skew)).unwrap()
    })
}

impl Processes {
    fn start(store: &MemoryStore, diary: &Arc<Diary>, began: Instant, skews: &[i64]) -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for &skew in skews {
            let until = |mut stopped: watch::Receiver<bool>| async move {
                drop(stopped.wait_for(|stop| *stop).await);
            };
            let every_minute = Schedule::parse("* * * * *", "UTC").unwrap();
            let recurring = Recurring::new(KIND, TenantId::NIL, every_minute);
            let scheduler =
                Scheduler::new(Arc::new(store.clone()), vec![recurring], clock(began, skew)).unwrap();
            let handlers: Vec<Arc<dyn Handler>> = vec![diary.clone()];
            let queue = Arc::from(store.jobs());
            let worker =
                Worker::new(queue, handlers, clock(began, skew), Box::new(|| 7), Options::default()).unwrap();
            tasks.spawn(scheduler.run(until(stopped.clone())));
            tasks.spawn(worker.run(until(stopped.clone())));
        }
        Self { stop, tasks }
    }

    async fn stop(self) {
        self.stop.send(true).unwrap();
        self.tasks.join_all().await;
    }
}

/// How often each occurrence was run.
fn counted(diary: &Diary) -> BTreeMap<u64, u32> {
    let mut counted = BTreeMap::new();
    for occurrence in diary.runs.lock().unwrap().iter() {
        *counted.entry(*occurrence).or_default() += 1;
    }
    counted
}

/// The occurrences from the one before the beginning on, each once.
fn each_once(minutes: u64) -> BTreeMap<u64, u32> {
    (0..=minutes).map(|minute| (BEGAN - 30_000 + minute * 60_000, 1)).collect()
}

#[tokio::test(start_paused = true)]
async fn however_many_processes_there_are_each_occurrence_runs_once() {
    let (store, diary, began) = (MemoryStore::new(), Arc::new(Diary::default()), Instant::now());
    // Clocks that differ by up to 40 s: the fast ones have done it before the slow ones come to it.
    let processes = Processes::start(&store, &diary, began, &[0, 0, 0, 20_000, -20_000, 7]);
    sleep(Duration::from_secs(600)).await;
    let more = Processes::start(&store, &diary, began, &[0, -1_000]);
    sleep(Duration::from_secs(600)).await;
    processes.stop().await;
    sleep(Duration::from_secs(600)).await;
    more.stop().await;
    assert_eq!(counted(&diary), each_once(30));
}

#[tokio::test(start_paused = true)]
async fn what_was_missed_while_all_were_down_runs_once_late() {
    let (store, diary, began) = (MemoryStore::new(), Arc::new(Diary::default()), Instant::now());
    let start = || Processes::start(&store, &diary, began, &[0, 0]);
    let processes = start();
    sleep(Duration::from_secs(130)).await;
    processes.stop().await;
    let before = counted(&diary);
    assert_eq!(before, each_once(2));

    sleep(Duration::from_secs(3 * 3_600)).await;
    let processes = start();
    sleep(Duration::from_secs(5)).await;
    processes.stop().await;
    let mut expected = before;
    expected.insert(BEGAN + 90_000 + 3 * 3_600_000, 1);
    assert_eq!(counted(&diary), expected, "the newest one and no other");

    // A restart in the same minute finds it done.
    let processes = start();
    sleep(Duration::from_secs(5)).await;
    processes.stop().await;
    assert_eq!(counted(&diary), expected);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_outlasts_its_minute_is_followed_and_not_joined() {
    let diary = Arc::new(Diary { takes: Duration::from_secs(150), ..Diary::default() });
    let (store, began) = (MemoryStore::new(), Instant::now());
    let processes = Processes::start(&store, &diary, began, &[0, 0, 0]);
    sleep(Duration::from_secs(1_800)).await;
    processes.stop().await;
    let counted = counted(&diary);
    assert!(counted.values().all(|&count| count == 1), "{counted:?}");
    // Each takes 150 s, and the next begins within 10 s: the scheduler looks that often.
    assert!((11..=13).contains(&counted.len()), "{counted:?}");
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_far_ahead_leaves_nothing_in_the_way() {
    let (store, diary, began) = (MemoryStore::new(), Arc::new(Diary::default()), Instant::now());
    let lost_in_time = Processes::start(&store, &diary, began, &[50 * 365 * 86_400_000]);
    sleep(Duration::from_secs(100)).await;
    lost_in_time.stop().await;
    let ahead = diary.runs.lock().unwrap().drain(..).count();
    assert_eq!(ahead, 3);
    let (began, diary) = (Instant::now(), Arc::new(Diary::default()));
    let processes = Processes::start(&store, &diary, began, &[0]);
    sleep(Duration::from_secs(300)).await;
    processes.stop().await;
    assert_eq!(counted(&diary), each_once(5));
}

#[tokio::test(start_paused = true)]
async fn nothing_that_recurs_is_no_work() {
    let store = MemoryStore::new();
    let scheduler = Scheduler::new(Arc::new(store), Vec::new(), clock(Instant::now(), 0)).unwrap();
    let began = Instant::now();
    scheduler.run(sleep(Duration::from_secs(86_400))).await;
    assert_eq!(began.elapsed(), Duration::from_secs(86_400), "it ends when it is told to");
}
