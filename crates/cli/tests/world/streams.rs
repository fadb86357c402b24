//! Many slow streams at once through the real gateway: what each takes of its memory, whether any is lost, and how soon an
//! upstream is free when callers go away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::World;
use super::asking::{By, Question, ask};
use super::gateway::try_request;
use super::process::Process;
use super::upstream::{Upstream, moment};

/// Half a second lies between two pieces of a stream.
const EVERY: Duration = Duration::from_millis(500);

/// How many may be about to begin.
const AT_ONCE: usize = 64;

/// What came of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) streams: usize,
    /// How many of those that were waited for ended as they should.
    pub(crate) whole: usize,
    /// In KiB, before and while all of them flow.
    pub(crate) memory: (u64, u64),
    /// How long after all were left the upstream had seen half of them go, and the last.
    pub(crate) freed: (Duration, Duration),
    /// Runs that are finished in the ledger, and how many of those were cancelled.
    pub(crate) recorded: (usize, usize),
}

impl Figures {
    /// KiB of each stream.
    pub(crate) fn each(&self) -> f64 {
        self.memory.1.saturating_sub(self.memory.0) as f64 / self.streams as f64
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "streams": self.streams, "whole": self.whole, "kibEach": self.each(),
            "memoryKib": [self.memory.0, self.memory.1],
            "freedMs": { "p50": self.freed.0.as_secs_f64() * 1e3, "max": self.freed.1.as_secs_f64() * 1e3 },
            "recorded": self.recorded.0, "cancelled": self.recorded.1,
        })
    }
}

/// As many files as two ends of every stream take; without them there is nothing to measure.
pub(crate) fn allow_files(streams: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = 2 * streams as u64 + 256;
    if current.is_some_and(|current| current < wanted) {
        let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
        let enough = raised.is_ok() && maximum.is_none_or(|maximum| maximum >= wanted);
        assert!(enough, "{wanted} open files are needed: `ulimit -n {wanted}` first");
    }
}

/// Lets `streams` flow for `seconds` each, and leaves half of them after a third of it.
pub(crate) fn flow(streams: usize, seconds: u64) -> Figures {
    allow_files(streams);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(flow_on(streams, seconds))
}

async fn flow_on(streams: usize, seconds: u64) -> Figures {
    let upstream = Upstream::start().await;
    let world = World::new().file("punk.toml", &upstream.settings());
    let free = ["requests_per_minute", "chat_requests_per_minute", "ip_requests_per_minute"];
    let mut arguments = vec!["serve".to_owned(), "--port=0".to_owned()];
    arguments.extend(free.map(|limit| format!("--set=limits.{limit}=0")));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let punk = Process::start(&world, &arguments, &[]);
    let address: Arc<str> = punk.address().into();

    // Threads, connections and pages that stay are there before anything is counted.
    let warm = (streams / 10).max(8);
    let mut warming = JoinSet::new();
    for number in 0..warm {
        let address = address.clone();
        warming
            .spawn(async move { one(&address, format!("stream 3 10 {number}"), &AtomicUsize::new(0)).await });
    }
    assert!(warming.join_all().await.into_iter().all(|whole| whole), "the first streams end well");
    let before = punk.memory();

    let begun = Arc::new(AtomicUsize::new(0));
    let pieces = seconds * 1_000 / EVERY.as_millis() as u64;
    let text = |number| format!("stream {pieces} {} slow {number}", EVERY.as_millis());
    let (mut stays, mut leaves) = (JoinSet::new(), JoinSet::new());
    for number in 0..streams {
        let (address, begin, text) = (address.clone(), begun.clone(), text(number));
        let group = if number % 2 == 0 { &mut stays } else { &mut leaves };
        group.spawn(async move { one(&address, text, &begin).await });
        // As callers come: not all in the same moment, but before the first has ended.
        while number >= begun.load(Ordering::SeqCst) + AT_ONCE {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    while begun.load(Ordering::SeqCst) < streams {
        assert!(leaves.try_join_next().is_none(), "a stream ended before all had begun");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(upstream.open(), streams, "all of them flow");
    tokio::time::sleep(Duration::from_secs(seconds) / 3).await;
    let during = punk.memory();

    let left_before = upstream.left().len();
    let at = moment();
    leaves.abort_all();
    let half = streams / 2;
    let left = loop {
        let left = upstream.left();
        if left.len() >= left_before + half {
            break left;
        }
        assert!(at.elapsed() < Duration::from_secs(30), "{} of {half} are free", left.len() - left_before);
        tokio::time::sleep(Duration::from_millis(1)).await;
    };
    let mut freed: Vec<Duration> = left[left_before..].iter().map(|left| left.duration_since(at)).collect();
    freed.sort_unstable();
    let whole = stays.join_all().await.into_iter().filter(|whole| *whole).count();
    let recorded = recorded(&address, warm + streams).await;
    Figures {
        streams,
        whole,
        memory: (before, during),
        freed: (freed[half / 2], freed[half - 1]),
        recorded: (recorded.0 - warm, recorded.1),
    }
}

/// One stream from its beginning to its end; whether it was a whole one.
async fn one(address: &str, text: String, begun: &AtomicUsize) -> bool {
    let question = Question { by: By::Chat, text, stream: true, cached: false };
    let Ok(mut answer) = ask(address, &question).await else { return false };
    begun.fetch_add(1, Ordering::SeqCst);
    answer.finish().await.is_ok() && answer.status == 200 && answer.is_whole_stream()
}

/// How many runs are finished, and how many of those were cancelled, once all are there.
async fn recorded(address: &str, expected: usize) -> (usize, usize) {
    let mut counted = (0, 0);
    for _ in 0..500 {
        counted = count(address);
        if counted.0 >= expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    counted
}

/// Runs that have ended, and those of them that were cancelled.
pub(crate) fn count(address: &str) -> (usize, usize) {
    let (mut ended, mut cancelled, mut after) = (0, 0, String::new());
    loop {
        let page = try_request(address, "GET", &format!("/api/v1/runs?limit=200{after}"), &[], "").unwrap();
        assert_eq!(page.status, 200, "{}", String::from_utf8_lossy(&page.body));
        let page = page.json();
        for run in page["runs"].as_array().unwrap() {
            // What is learned of the calls meanwhile is on record as well, and nobody's call.
            if run["kind"] == "audit" {
                continue;
            }
            ended += usize::from(run["status"] != "running");
            cancelled += usize::from(run["status"] == "cancelled");
        }
        match page["next"].as_str() {
            Some(cursor) => after = format!("&before={cursor}"),
            None => return (ended, cancelled),
        }
    }
}
