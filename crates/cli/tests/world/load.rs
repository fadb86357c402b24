//! Many clients that write, what the server told them it has, and whether that is there.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use schema::TenantId;
use serde_json::{Value, json};
use store::Store as _;
use store::postgres::PostgresStore;

use super::gateway::{Gateway, try_request};

const CLIENTS: u64 = 32;
/// A client that is turned away leaves the processor to others for a while.
const REST: Duration = Duration::from_millis(5);

/// A number that the environment may set.
pub(crate) fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

/// An arbitrary moment that a seed repeats.
pub(crate) fn moment(seed: u64) -> Duration {
    Duration::from_millis(100 + seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 400)
}

/// What the clients of all rounds were told.
#[derive(Default)]
pub(crate) struct Load {
    /// By run, the place and the number of each event.
    told: Mutex<BTreeMap<String, BTreeMap<u64, u64>>>,
    numbers: AtomicU64,
    over: AtomicBool,
}

impl Load {
    /// Lets the clients write to the server at `address` until `meanwhile` returns.
    pub(crate) fn upon(&self, address: &str, meanwhile: impl FnOnce()) {
        self.over.store(false, Ordering::Relaxed);
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                scope.spawn(move || self.write(client, address));
            }
            // They must end also when it fails, or the failure is never told.
            let _stop = Stop(&self.over);
            meanwhile();
        });
    }

    /// Waits until this round's clients have been told of some events.
    #[expect(clippy::disallowed_methods, reason = "a test may not wait for ever")]
    pub(crate) fn wait_until_under_way(&self) {
        let (began, before) = (Instant::now(), self.acknowledged());
        while self.acknowledged() < before + 20 {
            assert!(began.elapsed() < Duration::from_secs(20), "nothing is acknowledged");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// How many events were acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.told.lock().unwrap().values().map(|events| events.len() as u64).sum()
    }

    /// Appends events, to a run of its own and to one that all share.
    fn write(&self, client: u64, address: &str) {
        let Some(run) = self.create(address) else { return };
        let shared = self.told.lock().unwrap().keys().next().cloned();
        self.told.lock().unwrap().entry(run.clone()).or_default();
        while !self.over.load(Ordering::Relaxed) {
            let number = self.numbers.fetch_add(1, Ordering::Relaxed);
            let run = shared.as_ref().filter(|_| number.is_multiple_of(5)).unwrap_or(&run);
            let payload = json!({ "client": client, "number": number });
            let body = json!({ "runId": run, "type": "note", "payload": payload }).to_string();
            let Some(reply) = try_request(address, "POST", "/api/v1/trace", &[], &body) else { continue };
            match reply.status {
                201 => {
                    let seq = reply.json()["seq"].as_u64().unwrap();
                    let before = self.told.lock().unwrap().get_mut(run).unwrap().insert(seq, number);
                    assert_eq!(before, None, "place {seq} of {run} was given away twice");
                }
                409 => {}
                // Whether it is in is not known.
                503 => thread::sleep(REST),
                other => panic!("status {other}: {}", String::from_utf8_lossy(&reply.body)),
            }
        }
    }

    /// Begins a run, as soon as the server can.
    fn create(&self, address: &str) -> Option<String> {
        while !self.over.load(Ordering::Relaxed) {
            match try_request(address, "POST", "/api/v1/runs", &[], "{}") {
                Some(reply) if reply.status == 201 => {
                    return Some(reply.json()["runId"].as_str().unwrap().to_owned());
                }
                Some(reply) if reply.status != 503 => {
                    panic!("status {}: {}", reply.status, String::from_utf8_lossy(&reply.body))
                }
                _ => thread::sleep(REST),
            }
        }
        None
    }

    /// Whatever was acknowledged is where it was said to be, and nothing is there twice.
    pub(crate) fn check(&self, gateway: &Gateway) {
        let mut seen = BTreeMap::new();
        for (run, events) in &*self.told.lock().unwrap() {
            let detail = gateway.request("GET", &format!("/api/v1/runs/{run}"), &[], "");
            assert_eq!(detail.status, 200, "{run}: {}", String::from_utf8_lossy(&detail.body));
            let detail = detail.json();
            let recorded = detail["events"].as_array().unwrap();
            let number = |event: &Value| event["payload"]["number"].as_u64();
            for event in recorded.iter().filter(|event| event["type"] == "note") {
                let twice = seen.insert(number(event).unwrap(), run);
                assert_eq!(twice, None, "event {event} is there twice");
            }
            for (seq, expected) in events {
                let event =
                    recorded.get(*seq as usize - 1).unwrap_or_else(|| panic!("event {seq} of {run} is lost"));
                assert_eq!(number(event), Some(*expected), "place {seq} of {run} holds another event");
            }
        }
    }
}

struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Every chain and the log of the Postgres database at `url` hold.
pub(crate) fn audit(url: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = PostgresStore::connect(url).await.unwrap();
        let audited = store::audit(&*store.tenant(TenantId::NIL), TenantId::NIL).await.unwrap();
        assert!(audited.events > 0);
    });
}
