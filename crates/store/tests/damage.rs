//! Damage is found and named. After any change of a byte the store gives back what was written, or says that it is
//! damaged; it never gives back anything else, and never panics.
//!
//! The seed is fixed. `PUNK_DAMAGE_ROUNDS=10000` for a long soak.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail as tests do"
)]

use std::collections::BTreeMap;
use std::path::Path;

use schema::{JobId, RunId, Seq, Subject, TenantId};
use serde_json::json;
use store::conformance::{Corner, Story, at, limit};
use store::sqlite::{Durability, OpenError, SqliteStore, check};
use store::{Append, Commit, Masters, RunFilter, Settle, Store, StoreError};

const PAGE: usize = 4096;

/// Numbers that are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

fn rounds(default: usize) -> usize {
    std::env::var("PUNK_DAMAGE_ROUNDS").map_or(default, |text| text.parse().unwrap())
}

/// What was written, and where to ask for it.
struct Written {
    tenants: Vec<(TenantId, Vec<RunId>, Vec<JobId>)>,
    bytes: Vec<u8>,
}

/// Opens a database with the one key that everything in these tests is sealed with.
fn opened(path: &Path) -> Result<SqliteStore, OpenError> {
    SqliteStore::open(path, Durability::Commit).map(keyed)
}

fn keyed(store: SqliteStore) -> SqliteStore {
    store.seal_with(Masters::new(vec![crypto::SealKey::from_bytes([7; 32])]));
    store
}

/// A database with pages of every kind in it.
async fn written() -> Written {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = opened(&path).unwrap();
    let mut tenants = Vec::new();
    for _ in 0..2 {
        let corner = Corner::of(&store);
        let (mut runs, mut jobs) = (Vec::new(), Vec::new());
        for number in 0..36usize {
            let mut story = corner.story();
            // Some are about somebody, and sealed.
            let subject = Subject::try_from(format!("person {}", number % 3)).ok();
            let begun = story.go_on(1 + number % 3);
            corner.append([Append { subject: subject.filter(|_| number % 2 == 1), ..begun }]).await.unwrap();
            // Longer than a page now and then, so that it goes on in others.
            let long = if number % 12 == 7 { "long ".repeat(2_000) } else { "short".to_owned() };
            let policy = format!("policy {} of {}", number % 3, corner.id);
            let decided = json!({ "policies": [ledger::sha256(policy.as_bytes())], "text": long });
            let decided = story.event("policy.decided", decided);
            let mut job = corner.job();
            job.payload = json!({ "about": story.run, "number": number });
            jobs.push(job.id);
            let append = story.append(vec![decided], Settle::Open);
            let commit = Commit {
                appends: vec![append],
                policies: vec![policy],
                jobs: vec![job],
                ..Commit::default()
            };
            corner.tenant.commit(commit).await.unwrap();
            corner.append([story.finish()]).await.unwrap();
            if number % 5 == 0 {
                corner.append([story.append_late()]).await.unwrap();
            }
            runs.push(story.run);
        }
        // What is no event.
        let tenants_made = vec![schema::Tenant { id: corner.id, name: "Shop".into(), created_at: at(1) }];
        let settings = json!({ "cache": { "ttl": 60 } }).as_object().cloned();
        let keys = (0..20)
            .map(|number| store::KeyChange::Create { key: key(&corner), hash: hash(number, corner.id) });
        let cache = (0..20).map(|number| store::CacheWrite {
            kind: store::CacheKind::ToolResult,
            key: hash(number, corner.id),
            held: store::CacheHeld::Value(format!("value {number}").into_bytes()),
            subject: Subject::try_from("person 1".to_owned()).ok().filter(|_| number % 2 == 1),
            model: Some("small".into()),
            created_at: at(number),
            expires_at: at(1_000),
            bytes: 7,
            at_most: None,
        });
        let (keys, cache) = (keys.collect(), cache.collect());
        let commit = Commit { tenants: tenants_made, settings, keys, cache, ..Commit::default() };
        corner.tenant.commit(commit).await.unwrap();
        tenants.push((corner.id, runs, jobs));
    }
    drop(store);
    // Pages that nobody uses.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE gone (x BLOB)").unwrap();
    connection.execute("INSERT INTO gone VALUES (zeroblob(100000))", []).unwrap();
    connection.execute_batch("DROP TABLE gone; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(connection);
    let bytes = std::fs::read(&path).unwrap();
    check(&path).unwrap();
    Written { tenants, bytes }
}

fn hash(number: u64, tenant: TenantId) -> schema::Digest {
    ledger::sha256(format!("{number} of {tenant}").as_bytes())
}

fn key(corner: &Corner) -> schema::ApiKey {
    schema::ApiKey {
        id: corner.fresh(),
        tenant: corner.id,
        name: "a key".into(),
        scopes: vec![schema::Scope::Gateway],
        app: None,
        admin: false,
        gateway_mode: schema::GatewayMode::Enforce,
        requests_per_minute: None,
        created_by: None,
        created_by_user: None,
        created_at: at(1),
        expires_at: None,
        revoked_at: None,
    }
}

trait Late {
    fn append_late(&mut self) -> store::Append;
}
impl Late for Story {
    fn append_late(&mut self) -> store::Append {
        let event = self.event("feedback.given", json!({ "score": 1 }));
        self.append(vec![event], Settle::Leaf)
    }
}

/// By question, what was answered: one text, or in a list one for each thing.
type Answers = BTreeMap<String, Result<Vec<String>, StoreError>>;

fn shown(answer: &impl std::fmt::Debug) -> Vec<String> {
    vec![format!("{answer:?}")]
}

fn each<T: std::fmt::Debug>(answers: &[T]) -> Vec<String> {
    answers.iter().map(|answer| format!("{answer:?}")).collect()
}

/// Everything that the store can be asked about what was written.
async fn answers(store: &SqliteStore, written: &Written) -> Answers {
    let mut answers = Answers::new();
    let most = limit(1000);
    for (id, runs, jobs) in &written.tenants {
        let tenant = store.tenant(*id);
        let mut note = |name: String, answer| drop(answers.insert(name, answer));
        for (number, run) in runs.iter().enumerate() {
            note(format!("run {run}"), tenant.run(*run).await.map(|row| shown(&row)));
            let events = tenant.events(*run, Seq::START, most).await;
            note(format!("events {run}"), events.map(|events| shown(&events)));
            if number % 3 == 0 {
                let later = tenant.events(*run, Seq(2), limit(1)).await;
                note(format!("later events {run}"), later.map(|events| shown(&events)));
                note(format!("proof {run}"), tenant.prove(*run).await.map(|proof| shown(&proof)));
            }
        }
        for job in jobs {
            note(format!("job {job}"), tenant.job(*job).await.map(|job| shown(&job)));
        }
        note(format!("head {id}"), tenant.log_head().await.map(|head| shown(&head)));
        note(format!("leaves {id}"), tenant.leaves(0, most).await.map(|leaves| shown(&leaves)));
        note(format!("policies {id}"), tenant.policies(None, most).await.map(|texts| each(&texts)));
        note(
            format!("list of runs {id}"),
            tenant.runs(&RunFilter::ALL, None, most).await.map(|rows| each(&rows)),
        );
        for number in 0..20 {
            let hash = hash(number, *id);
            note(format!("key {hash}"), store.key(hash).await.map(|key| shown(&key)));
            let cached = tenant.cached(store::CacheKind::ToolResult, hash, at(500)).await;
            note(format!("cached {hash}"), cached.map(|row| shown(&row)));
        }
        note(format!("settings {id}"), tenant.settings().await.map(|settings| shown(&settings)));
        note(format!("list of keys {id}"), tenant.api_keys(None, most).await.map(|keys| each(&keys)));
        let usage = tenant.usage(schema::Day::FIRST, schema::Day::LAST).await;
        note(format!("list of usage {id}"), usage.map(|rows| each(&rows)));
        note(format!("list of agents {id}"), tenant.agents(None, most).await.map(|agents| each(&agents)));
        let chats = RunFilter { kind: Some(schema::RunKind::Chat), ..RunFilter::ALL };
        note(format!("list of chats {id}"), tenant.runs(&chats, None, most).await.map(|rows| each(&rows)));
        note(format!("list of jobs {id}"), tenant.jobs(None, None, most).await.map(|jobs| each(&jobs)));
    }
    answers
}

/// Whether what is asked for by this name is a row that nothing else knows of: its loss is noticed by a look at everything.
fn is_lone(name: &str) -> bool {
    ["job", "key", "cached", "settings"].iter().any(|kind| name.starts_with(kind))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn says_damaged(error: &OpenError) -> bool {
    match error {
        OpenError::Refused { cause: StoreError::Damaged(what), .. } => !what.is_empty(),
        OpenError::NotADatabase { .. } | OpenError::Migrate { .. } => true,
        _ => false,
    }
}

/// What kind of page this is, as SQLite's format has it.
fn kind(bytes: &[u8], page: usize) -> &'static str {
    let number = |at: usize| u32::from_be_bytes(*bytes[at..].first_chunk().unwrap()) as usize;
    let mut trunk = number(32);
    while trunk != 0 {
        let start = (trunk - 1) * PAGE;
        let leaves = (0..number(start + 4)).map(|leaf| number(start + 8 + leaf * 4));
        if trunk == page + 1 || leaves.into_iter().any(|leaf| leaf == page + 1) {
            return "free";
        }
        trunk = number(start);
    }
    match bytes[page * PAGE] {
        _ if page == 0 => "header",
        2 => "interior of an index",
        5 => "interior of a table",
        10 => "leaf of an index",
        13 => "leaf of a table",
        _ => "overflow",
    }
}

/// Changes bytes of one page: mostly one, sometimes a few, sometimes all.
fn change(bytes: &mut [u8], page: usize, dice: &mut Dice) -> String {
    let what = kind(bytes, page);
    let count = [1, 1, 1, 1, 3, 64, PAGE][dice.roll(7)];
    let mut first = 0;
    for _ in 0..count {
        let place =
            page * PAGE + if page == 0 && dice.roll(2) == 0 { dice.roll(100) } else { dice.roll(PAGE) };
        bytes[place] ^= u8::try_from(1 + dice.roll(255)).unwrap();
        first = place;
    }
    format!("{count} bytes of page {} ({what}), the last at {first}", page + 1)
}

#[test]
fn a_store_on_damaged_pages_gives_back_what_was_written_or_says_damaged() {
    let runtime = runtime();
    let written = runtime.block_on(written());
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(20_260_101);
    let (mut refused, mut kinds) = (0, BTreeMap::<&str, usize>::new());
    let whole = {
        let path = folder.path().join("whole.db");
        std::fs::write(&path, &written.bytes).unwrap();
        runtime.block_on(answers(&opened(&path).unwrap(), &written))
    };
    assert!(whole.values().all(Result::is_ok));
    let pages = written.bytes.len() / PAGE;
    let by_kind: BTreeMap<&str, usize> =
        (0..pages).rev().map(|page| (kind(&written.bytes, page), page)).collect();
    let first_of_each: Vec<usize> = by_kind.into_values().collect();
    for round in 0..rounds(60) {
        let path = folder.path().join(format!("{round}.db"));
        let mut bytes = written.bytes.clone();
        // One page of every kind first, then every page in turn, then any.
        let page = match first_of_each.get(round) {
            Some(page) => *page,
            None if round < pages => round * 7 % pages,
            None => dice.roll(pages),
        };
        *kinds.entry(kind(&bytes, page)).or_default() += 1;
        let changed = change(&mut bytes, page, &mut dice);
        std::fs::write(&path, &bytes).unwrap();
        match opened(&path) {
            Err(error) => {
                assert!(says_damaged(&error), "{changed}: {error:?}");
                assert!(std::fs::read(&path).unwrap() == bytes, "{changed}: something was written over it");
                refused += 1;
            }
            Ok(store) => {
                for (name, answer) in runtime.block_on(answers(&store, &written)) {
                    match answer {
                        Ok(answer) => {
                            assert_eq!(Some(&answer), whole[&name].as_ref().ok(), "{changed}: {name}");
                        }
                        Err(StoreError::Damaged(_)) => {}
                        Err(error) => panic!("{changed}: {name}: {error:?}"),
                    }
                }
                runtime.block_on(async {
                    let corner = Corner::of(&store);
                    let mut story = corner.story();
                    corner
                        .append([story.finish()])
                        .await
                        .unwrap_or_else(|error| panic!("{changed}: {error:?}"));
                    assert_eq!(corner.read(story.run).await.len(), 2);
                });
            }
        }
    }
    println!("{pages} pages, {refused} refused; {kinds:?}");
    assert_eq!(kinds.len(), 7, "every kind of page was tried: {kinds:?}");
    assert!(refused > rounds(60) / 3, "only {refused} were refused");
}

#[test]
fn reads_verify_what_they_read_even_where_nobody_looked_first() {
    let runtime = runtime();
    let written = runtime.block_on(written());
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(20_260_102);
    let path = folder.path().join("punk.db");
    std::fs::write(&path, &written.bytes).unwrap();
    let whole = runtime.block_on(answers(&keyed(SqliteStore::open_to_read(&path).unwrap()), &written));
    let pages = written.bytes.len() / PAGE;
    let mut noticed = 0;
    for round in 0..rounds(60) {
        let path = folder.path().join(format!("{round}.db"));
        let mut bytes = written.bytes.clone();
        let changed = change(&mut bytes, dice.roll(pages), &mut dice);
        std::fs::write(&path, &bytes).unwrap();
        let store = match SqliteStore::open_to_read(&path).map(keyed) {
            Ok(store) => store,
            Err(error) => {
                assert!(says_damaged(&error), "{changed}: {error:?}");
                continue;
            }
        };
        let answers = runtime.block_on(answers(&store, &written));
        noticed += usize::from(answers.values().any(Result::is_err));
        for (name, answer) in answers {
            let whole = whole[&name].as_ref().unwrap();
            match answer {
                Err(StoreError::Damaged(_)) => {}
                // That something is missing only a look at everything can tell.
                Ok(found) if name.starts_with("list of") => {
                    assert!(found.iter().all(|one| whole.contains(one)), "{changed}: {name}: {found:?}");
                }
                Ok(found) if is_lone(&name) && (found == ["None"] || found == ["{}"]) => {}
                Ok(found) => assert_eq!(&found, whole, "{changed}: {name}"),
                Err(error) => panic!("{changed}: {name}: {error:?}"),
            }
        }
    }
    println!("{noticed} noticed");
    assert!(noticed > rounds(60) / 4, "only {noticed} were noticed");
}

#[test]
fn a_damaged_write_ahead_log_is_refused_and_left_alone() {
    let runtime = runtime();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    // As a killed process leaves it: copied while the store is open.
    let store = opened(&path).unwrap();
    let corner = Corner::of(&store);
    let mut runs = Vec::new();
    for _ in 0..20 {
        let mut story = corner.story();
        runtime.block_on(corner.append([story.finish()])).unwrap();
        runs.push(story.run);
    }
    // Whoever reads brings what is acknowledged into the database, and so into the log: one transaction, and then another.
    let bring = |corner: &Corner| runtime.block_on(corner.tenant.log_size()).unwrap();
    assert_eq!(bring(&corner), 20);
    // The last frame of all cannot be told from a torn one; what is in this commit is not asked for.
    let other = Corner::of(&store);
    runtime.block_on(other.append([other.story().finish()])).unwrap();
    assert_eq!(bring(&other), 1);
    let (main, log) =
        (std::fs::read(&path).unwrap(), std::fs::read(folder.path().join("punk.db-wal")).unwrap());
    let written = Written { tenants: vec![(corner.id, runs, Vec::new())], bytes: main.clone() };
    let whole = runtime.block_on(answers(&store, &written));
    assert!(log.len() > 50 * 4_120, "{} bytes", log.len());
    let mut dice = Dice(20_260_103);
    let mut refused = 0;
    for round in 0..rounds(60) {
        let copy = folder.path().join(format!("{round}.db"));
        let copy_log = folder.path().join(format!("{round}.db-wal"));
        let mut changed = log.clone();
        let place = if round < 8 { round * 4 } else { dice.roll(log.len()) };
        changed[place] ^= u8::try_from(1 + dice.roll(255)).unwrap();
        std::fs::write(&copy, &main).unwrap();
        std::fs::write(&copy_log, &changed).unwrap();
        match opened(&copy) {
            Ok(store) => {
                let answers = runtime.block_on(answers(&store, &written));
                assert_eq!(format!("{answers:?}"), format!("{whole:?}"), "byte {place}");
            }
            Err(error) => {
                let OpenError::Refused { cause: StoreError::Damaged(what), .. } = error else {
                    panic!("{error:?}")
                };
                assert!(what.contains("write-ahead log"), "{what}");
                assert!(std::fs::read(&copy_log).unwrap() == changed, "it was left alone");
                refused += 1;
            }
        }
    }
    assert!(refused > rounds(60) * 9 / 10, "only {refused} were refused");
}

#[test]
fn damage_is_named_by_the_run_and_the_event() {
    let runtime = runtime();
    let written = runtime.block_on(written());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let mut bytes = written.bytes.clone();
    let places: Vec<usize> =
        (0..bytes.len() - 6).filter(|place| bytes[*place..].starts_with(b"\"step\"")).collect();
    places.into_iter().for_each(|place| bytes[place + 3] = b'o');
    std::fs::write(&path, &bytes).unwrap();
    let Err(OpenError::Refused { cause: StoreError::Damaged(what), .. }) = opened(&path) else {
        panic!("it is damaged")
    };
    assert!(what.starts_with("run run_") && what.contains("event 2 (stop) does not hash"), "{what}");
    let store = keyed(SqliteStore::open_to_read(&path).unwrap());
    let answers = runtime.block_on(answers(&store, &written));
    let damaged =
        answers.values().filter(|answer| matches!(answer, Err(StoreError::Damaged(said)) if *said == what));
    assert!(damaged.count() >= 1, "reading that run says the same");
}

/// What agents did, and what is neither an event nor derived from one.
struct Governed {
    tenant: TenantId,
    bytes: Vec<u8>,
}

fn record(number: u64, tenant: TenantId) -> store::RecordChange {
    let to = store::RecordBody {
        group: ["open", "done"][usize::from(number % 2 == 1)].to_owned(),
        key: Some(hash(number % 5, tenant)),
        body: json!({ "asked": number, "why": "a reason, and a long one at that. ".repeat(4) }),
        created_at: at(number),
        due_at: Some(at(number * 7)),
    };
    let (kind, id) = (store::RecordKind::Approval, format!("approval {number:03}"));
    store::RecordChange { kind, id, expected: 0, to: Some(to) }
}

fn meter(number: u64, tenant: TenantId) -> store::MeterKey {
    store::MeterKey { meter: hash(number, tenant), window: 0 }
}

/// A database with records, meters and what an agent did in it.
async fn governed() -> Governed {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("punk.db");
    let store = opened(&path).unwrap();
    let corner = Corner::of(&store);
    let records = (0..200).map(|number| record(number, corner.id)).collect();
    let spent = (0..200).map(|number| (meter(number, corner.id), number + 7)).collect();
    let settled = vec![store::Settlement { id: store::ReservationId([1; 16]), spent }];
    corner.tenant.commit(Commit { records, settled, ..Commit::default() }).await.unwrap();
    for number in 0..60 {
        let mut story = corner.story();
        let verdict = json!({ "verdict": { "effect": "deny" } });
        let moment = at(number * 86_400_000);
        let events = vec![
            story.event_at(moment, "run.started", json!({ "kind": "chat", "agent": "helper" })),
            story.event_at(moment, "policy.decided", verdict),
        ];
        corner.append([story.append(events, Settle::Leaf)]).await.unwrap();
    }
    let tenant = corner.id;
    drop((corner, store));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(connection);
    Governed { tenant, bytes: std::fs::read(&path).unwrap() }
}

/// Everything that the store can be asked about these.
async fn governed_answers(store: &SqliteStore, id: TenantId) -> Answers {
    let (mut answers, most, tenant) = (Answers::new(), limit(1000), store.tenant(id));
    let mut note = |name: String, answer| drop(answers.insert(name, answer));
    for number in (0..200).step_by(7) {
        let record = record(number, id);
        let found = tenant.record(record.kind, &record.id).await;
        note(format!("record {number}"), found.map(|record| shown(&record)));
        let levels = tenant.levels(&[meter(number, id)], at(1)).await;
        note(format!("meter {number}"), levels.map(|levels| shown(&levels)));
    }
    let of = store::RecordFilter::of(store::RecordKind::Approval);
    for filter in [
        of.clone(),
        store::RecordFilter { group: Some("open".to_owned()), ..of.clone() },
        store::RecordFilter { key: Some(hash(3, id)), ..of },
    ] {
        let found = tenant.records(&filter, None, most).await;
        note(format!("list of {filter:?}"), found.map(|records| each(&records)));
    }
    let due = store.due_records(store::RecordKind::Approval, "done", at(400), most).await;
    note("list of what is due".to_owned(), due.map(|records| each(&records)));
    let conduct = tenant.conduct("helper", schema::Day::FIRST).await;
    note("list of conduct".to_owned(), conduct.map(|rows| each(&rows)));
    answers
}

#[test]
fn records_meters_and_conduct_on_damaged_pages_are_what_was_written_or_damaged() {
    let runtime = runtime();
    let Governed { tenant, bytes } = runtime.block_on(governed());
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(20_260_104);
    let path = folder.path().join("punk.db");
    std::fs::write(&path, &bytes).unwrap();
    let whole = runtime.block_on(governed_answers(&opened(&path).unwrap(), tenant));
    let (pages, mut noticed) = (bytes.len() / PAGE, 0);
    for round in 0..rounds(120) {
        let path = folder.path().join(format!("{round}.db"));
        let mut bytes = bytes.clone();
        let page = if round < pages { round } else { dice.roll(pages) };
        let changed = change(&mut bytes, page, &mut dice);
        std::fs::write(&path, &bytes).unwrap();
        // Whoever looks at everything first serves all of it, or nothing.
        match opened(&path) {
            Err(error) => assert!(says_damaged(&error), "{changed}: {error:?}"),
            Ok(store) => {
                let answers = runtime.block_on(governed_answers(&store, tenant));
                let is_right = answers.iter().all(|(name, answer)| match answer {
                    Ok(found) => Some(found) == whole[name].as_ref().ok(),
                    Err(error) => matches!(error, StoreError::Damaged(_)),
                });
                assert!(is_right, "{changed}: {answers:?}");
            }
        }
        // Whoever does not may miss what is lost, and is told nothing wrong.
        std::fs::write(&path, &bytes).unwrap();
        let store = match SqliteStore::open_to_read(&path) {
            Ok(store) => store,
            Err(error) => {
                assert!(says_damaged(&error), "{changed}: {error:?}");
                continue;
            }
        };
        let answers = runtime.block_on(governed_answers(&store, tenant));
        noticed += usize::from(answers.values().any(Result::is_err));
        for (name, answer) in answers {
            let whole = whole[&name].as_ref().unwrap();
            match answer {
                Err(StoreError::Damaged(_)) => {}
                Ok(found) if ["None", "[(0, 0)]"].contains(&found.concat().as_str()) => {}
                Ok(found) => {
                    assert!(found.iter().all(|one| whole.contains(one)), "{changed}: {name}: {found:?}");
                }
                Err(error) => panic!("{changed}: {name}: {error:?}"),
            }
        }
    }
    println!("{pages} pages, {noticed} noticed");
    assert!(noticed > rounds(120) / 5, "only {noticed} were noticed");
}
