//! A tick: what is new in a tenant's log is read once, folded into the studies it belongs to, and kept in one commit with how far
//! that was.
//!
//! - Work is proportional to what is new.
//! - The place in the log changes from the version that was read: of two who read the same news, one counts them.
//! - What the configuration decides (whether what is proven serves by itself) is put on record as an order, and folded like
//!   anybody's. So the log alone says what became of everything.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use crypto::random::Generator;
use ledger::{Deed, Salt};
use schema::{ArtifactId, Digest, PatternId, RunId, Seq, TenantId, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::{Append, Commit, CommitError, RecordFilter, RecordKind, Settle, Store, StoreError, TenantStore};
use store::{CacheHeld, CacheKind, CacheWrite};

use crate::executable::Executable;
use crate::news::{News, Order, order};
use crate::stored::{
    Loaded, PLACE, Place, RETIRED, artifact_change, attempt_change, pattern_by, pattern_of, place_change,
    program_change, program_id, program_text, read,
};
use crate::study::{Changed, Made, Negative, Outcome, Study};

/// Reads the wall clock.
pub type Clock = fn() -> Timestamp;

/// Learns from the logs of a store.
pub struct Apprentice {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    /// What decides which answers are audited; nobody who sends requests knows it.
    choice: u64,
    /// Whether what is proven serves without being asked for.
    auto_promote: bool,
    /// Studies that were used of late.
    kept: Mutex<HashMap<(TenantId, PatternId), Loaded>>,
    /// One reads a tenant's log at a time.
    turns: Mutex<HashMap<TenantId, Arc<tokio::sync::Mutex<()>>>>,
}

/// What a tick came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Leaves of the log that were read.
    pub leaves: u64,
    /// Live answers that taught something.
    pub lessons: u64,
    /// Patterns that were seen for the first time.
    pub patterns_discovered: u64,
    /// Attempts to make an artifact.
    pub attempts: u64,
    /// Artifacts that were made.
    pub artifacts_synthesized: u64,
    /// Artifacts that passed every gate, and wait for somebody.
    pub promotions_eligible: Vec<ArtifactId>,
    /// Artifacts that were promoted without being asked for.
    pub auto_promoted: Vec<ArtifactId>,
    /// Artifacts that no longer serve, because they differed from live.
    pub demoted: Vec<ArtifactId>,
    /// Artifacts that no longer serve, because they were corrected or an operator said so.
    pub quarantined: Vec<ArtifactId>,
}

/// Leaves that are read into one commit.
const PAGE: NonZeroU32 = NonZeroU32::new(128).unwrap();
/// Studies that are kept in memory, and patterns that a tenant may have.
const MOST_KEPT: usize = 64;
/// Entries of the caches of learning that a tenant may have.
pub(crate) const MOST_ENTRIES: NonZeroU32 = NonZeroU32::new(10_000).unwrap();
const MOST_PATTERNS: u64 = 10_000;
/// How often somebody else may have been faster.
const TRIES: u32 = 5;

/// Whether what happens is put on record: not when it is only made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    Told,
    Untold,
}

impl Apprentice {
    /// A learner over `store`. `choice` is a secret number that stays the same.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, clock: Clock, choice: u64, auto_promote: bool) -> Self {
        Self { store, clock, choice, auto_promote, kept: Mutex::default(), turns: Mutex::default() }
    }

    /// Reads what is new in the tenant's log, to its end. `go_on` is asked between pages.
    ///
    /// # Errors
    /// The store is out of reach. What was read until then is kept.
    pub async fn tick(
        &self,
        tenant: TenantId,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Report, StoreError> {
        self.read_on(tenant, go_on, Telling::Told).await
    }

    pub(crate) async fn read_on(
        &self,
        tenant: TenantId,
        go_on: &(dyn Fn() -> bool + Sync),
        telling: Telling,
    ) -> Result<Report, StoreError> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(turns.entry(tenant).or_default())
        };
        let _turn = turn.lock().await;
        let (mut report, mut tries) = (Report::default(), 0);
        // As far as the log goes now: where it grows all the time, the next tick reads on.
        let mut end = self.store.tenant(tenant).log_size().await?;
        while go_on() {
            match self.page(tenant, telling, &mut report).await {
                Ok(Some(cursor)) if cursor < end => tries = 0,
                Ok(_) if telling == Telling::Told && self.promote_eligible(tenant, &mut report).await? => {
                    end = self.store.tenant(tenant).log_size().await?;
                }
                Ok(_) => break,
                // Somebody else reads the same log: what is in memory is old.
                Err(Missed::Moved) if tries < TRIES => {
                    tries += 1;
                    self.forget(tenant);
                }
                Err(Missed::Moved) => break,
                Err(Missed::Store(error)) => return Err(error),
            }
        }
        Ok(report)
    }

    /// Reads one page; says how far that was, if there was anything.
    async fn page(
        &self,
        tenant: TenantId,
        telling: Telling,
        report: &mut Report,
    ) -> Result<Option<u64>, Missed> {
        let store = self.store.tenant(tenant);
        let record = store.record(RecordKind::Learning, PLACE).await?;
        let version = record.as_ref().map_or(0, |record| record.version);
        let mut place: Place = record.as_ref().map(read).transpose()?.unwrap_or_default();
        let rows = store.feed(place.cursor, PAGE).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        let mut news = Vec::new();
        for row in &rows {
            let events = store.events(row.run, Seq::START, NonZeroU32::MAX).await?;
            news.extend(News::read(row, &events));
        }
        let next = Place { cursor: last.index + 1, ..place };
        place = next;
        let mut desk = Desk {
            studies: BTreeMap::new(),
            by_key: HashMap::new(),
            by_artifact: HashMap::new(),
            imports: HashMap::new(),
            choice: self.choice,
            place,
            out: Outcome::default(),
            counted: Counted::default(),
        };
        for one in &news {
            self.fetch(&*store, tenant, one, &mut desk).await?;
        }
        // Making a version takes a while, and nobody else should wait for it.
        let folded = tokio::task::spawn_blocking(move || {
            for one in &news {
                desk.take(one);
            }
            desk
        });
        let mut desk = folded.await.map_err(|error| Missed::Store(StoreError::unavailable(error)))?;
        let commit = self.commit(&*store, tenant, &mut desk, version, telling).await?;
        match store.commit(commit).await {
            Ok(()) => {}
            Err(CommitError::RecordMoved { .. }) => return Err(Missed::Moved),
            Err(CommitError::Store(error)) => return Err(error.into()),
            Err(error) => return Err(StoreError::unavailable(error).into()),
        }
        report.leaves += rows.len() as u64;
        self.note(&desk, report);
        self.keep(tenant, desk);
        Ok(Some(next.cursor))
    }

    /// Has everything in reach that a piece of news is about.
    async fn fetch(
        &self,
        store: &dyn TenantStore,
        tenant: TenantId,
        news: &News,
        desk: &mut Desk,
    ) -> Result<(), StoreError> {
        let record = match news {
            News::Lesson(lesson) if !desk.by_key.contains_key(&lesson.task.key) => {
                pattern_of(store, lesson.task.key).await?
            }
            News::Served(served) if !desk.by_key.contains_key(&served.task.key) => {
                pattern_of(store, served.task.key).await?
            }
            News::Corrected { task, .. } if !desk.by_key.contains_key(task) => {
                pattern_of(store, *task).await?
            }
            News::Ordered { order: Order::Retire(id) | Order::Synthesize(id), .. }
                if !desk.studies.contains_key(id) =>
            {
                pattern_by(store, *id).await?
            }
            News::Ordered {
                order: Order::Promote(id) | Order::RollBack(id) | Order::Quarantine(id) | Order::Release(id),
                ..
            } if !desk.by_artifact.contains_key(id) => {
                match store.record(RecordKind::Artifact, &id.to_string()).await? {
                    Some(record) => {
                        let pattern = read::<Made>(&record)?.pattern;
                        if desk.studies.contains_key(&pattern) {
                            None
                        } else {
                            pattern_by(store, pattern).await?
                        }
                    }
                    None => None,
                }
            }
            News::Ordered { order: Order::Import(digest), .. } => {
                let text = program_text(store, *digest).await?;
                let Some(executable) = text.and_then(|text| Executable::read(&text).ok()) else {
                    return Ok(());
                };
                let key = executable.task;
                desk.imports.insert(*digest, executable);
                if desk.by_key.contains_key(&key) { None } else { pattern_of(store, key).await? }
            }
            _ => None,
        };
        let Some(record) = record else { return Ok(()) };
        let Ok(id) = record.id.parse::<PatternId>() else { return Ok(()) };
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).remove(&(tenant, id));
        let loaded = match kept.filter(|kept| kept.versions.pattern == record.version) {
            Some(kept) => kept,
            None => Loaded::read(store, record).await?,
        };
        desk.put(loaded);
        Ok(())
    }

    async fn commit(
        &self,
        store: &dyn TenantStore,
        tenant: TenantId,
        desk: &mut Desk,
        version: u64,
        telling: Telling,
    ) -> Result<Commit, StoreError> {
        let mut records = vec![place_change(desk.place, version)];
        for made in &desk.out.given_up {
            let known = store.record(RecordKind::Artifact, &made.id.to_string()).await?;
            let key = desk.studies.get(&made.pattern).map_or(Digest::ZERO, |loaded| loaded.study.key);
            records.push(artifact_change(made, RETIRED, key, known.map_or(0, |record| record.version)));
            // Whoever comes next in its place is a record of its own.
            if let Some(loaded) = desk.studies.get_mut(&made.pattern) {
                loaded.versions.artifact = 0;
            }
        }
        for loaded in desk.studies.values_mut().filter(|loaded| loaded.is_changed) {
            records.extend(loaded.changes());
        }
        records.extend(desk.out.attempts.iter().map(attempt_change));
        // Only the last program of a page can be asked for by anybody.
        let mut programs: BTreeMap<String, _> = BTreeMap::new();
        for (artifact, name, text) in &desk.out.programs {
            programs.insert(program_id(*artifact, name.version), (*artifact, name, text));
        }
        for (id, (artifact, name, text)) in programs {
            let known = store.record(RecordKind::Program, &id).await?;
            if known.as_ref().is_some_and(|known| known.key == Some(name.digest)) {
                continue;
            }
            records.push(program_change(
                artifact,
                name,
                text,
                (self.clock)(),
                known.map_or(0, |known| known.version),
            ));
        }
        let mut appends = Vec::new();
        if telling == Telling::Told {
            for (artifact, changed) in desk.out.changes.iter().filter(|(_, changed)| !was_ordered(changed)) {
                appends.push(self.deed(
                    tenant,
                    "audit.artifact_changed",
                    &artifact.to_string(),
                    json!({
                        "stage": changed.stage, "reason": changed.reason, "run": changed.run,
                    }),
                )?);
            }
        }
        let cache = desk.out.negatives.iter().map(negative_entry).collect();
        Ok(Commit { appends, records, cache, ..Commit::default() })
    }

    /// Puts on record that what is proven serves from now on, where nobody needs to be asked. Says whether there was any.
    async fn promote_eligible(&self, tenant: TenantId, report: &mut Report) -> Result<bool, StoreError> {
        if !self.auto_promote {
            return Ok(false);
        }
        let store = self.store.tenant(tenant);
        let filter =
            RecordFilter { group: Some("eligible".to_owned()), ..RecordFilter::of(RecordKind::Artifact) };
        let mut appends = Vec::new();
        for record in store.records(&filter, None, PAGE).await? {
            let made: Made = read(&record)?;
            if made.gates().all_pass() && !report.auto_promoted.contains(&made.id) {
                report.auto_promoted.push(made.id);
                let details = json!({ "version": made.version, "gates": made.gates() });
                appends.push(self.deed(tenant, order::PROMOTED, &record.id, details)?);
            }
        }
        let any = !appends.is_empty();
        if any {
            store.commit(Commit { appends, ..Commit::default() }).await.map_err(StoreError::unavailable)?;
        }
        Ok(any)
    }

    /// Something that Punk itself did, as a run of its own.
    fn deed(
        &self,
        tenant: TenantId,
        r#type: &str,
        target: &str,
        details: Value,
    ) -> Result<Append, StoreError> {
        let mut random = Generator::new().map_err(StoreError::unavailable)?;
        let now = (self.clock)();
        let mut fields = if let Value::Object(fields) = details { fields } else { Map::new() };
        fields.insert("actor".to_owned(), json!("punk"));
        fields.insert("target".to_owned(), json!(target));
        let run = RunId::new(now.as_millis(), random.bytes());
        let deed = Deed { app: "punk", agent: "learning", r#type, fields };
        let events = deed.record(tenant, run, now, || Salt::from_bytes(random.bytes()));
        let events = events.map_err(StoreError::unavailable)?;
        Ok(Append { events, settle: Settle::Leaf, subject: None })
    }

    fn note(&self, desk: &Desk, report: &mut Report) {
        use learning::course::Stage;
        let Counted { lessons, discovered } = desk.counted;
        report.lessons += lessons;
        report.patterns_discovered += discovered;
        report.attempts += desk.out.attempts.len() as u64;
        report.artifacts_synthesized +=
            desk.out.attempts.iter().filter(|attempt| attempt.outcome == "synthesized").count() as u64;
        for (artifact, changed) in &desk.out.changes {
            let list = match changed.stage {
                Stage::Eligible => &mut report.promotions_eligible,
                Stage::Quarantined => &mut report.quarantined,
                Stage::Shadow if changed.reason.contains("audited") => &mut report.demoted,
                Stage::Shadow | Stage::Promoted => continue,
            };
            if !list.contains(artifact) {
                list.push(*artifact);
            }
        }
    }

    fn keep(&self, tenant: TenantId, desk: Desk) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, loaded) in desk.studies {
            if kept.len() >= MOST_KEPT {
                kept.clear();
            }
            kept.insert((tenant, id), loaded);
        }
    }

    pub(crate) fn forget(&self, tenant: TenantId) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).retain(|(owner, _), _| *owner != tenant);
    }
}

/// Why a page was not read.
enum Missed {
    /// Somebody else read it.
    Moved,
    Store(StoreError),
}

impl From<StoreError> for Missed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What is not to be tried again, as an entry of the cache that ends by itself.
fn negative_entry(negative: &Negative) -> CacheWrite {
    let text = json!({ "reason": negative.reason }).to_string();
    CacheWrite {
        kind: CacheKind::Negative,
        key: negative.key,
        bytes: text.len() as u64,
        held: CacheHeld::Value(text.into_bytes()),
        subject: None,
        model: None,
        created_at: negative.at,
        expires_at: negative.until,
        at_most: Some(MOST_ENTRIES),
    }
}

/// What operators decided is on record by them.
fn was_ordered(changed: &Changed) -> bool {
    ["promoted by", "rolled back by", "quarantined by", "released by", "imported by"]
        .iter()
        .any(|how| changed.reason.starts_with(how))
}

#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    lessons: u64,
    discovered: u64,
}

/// The studies that a page of news is about.
struct Desk {
    studies: BTreeMap<PatternId, Loaded>,
    by_key: HashMap<Digest, PatternId>,
    by_artifact: HashMap<ArtifactId, PatternId>,
    imports: HashMap<Digest, Executable>,
    choice: u64,
    place: Place,
    out: Outcome,
    counted: Counted,
}

impl Desk {
    fn put(&mut self, loaded: Loaded) {
        let id = loaded.study.id;
        self.by_key.insert(loaded.study.key, id);
        self.by_artifact.extend(loaded.study.artifact.as_ref().map(|made| (made.id, id)));
        self.studies.insert(id, loaded);
    }

    fn study(&mut self, key: Digest) -> Option<&mut Loaded> {
        let id = self.by_key.get(&key)?;
        self.studies.get_mut(id)
    }

    /// Folds one piece of news.
    fn take(&mut self, news: &News) {
        let mut out = std::mem::take(&mut self.out);
        out.version = false;
        let choice = self.choice;
        let before: HashMap<PatternId, &'static str> =
            self.studies.iter().map(|(id, loaded)| (*id, loaded.tutor.kind())).collect();
        let touched = match news {
            News::Lesson(lesson) => {
                if !self.by_key.contains_key(&lesson.task.key) && self.place.patterns < MOST_PATTERNS {
                    self.place.patterns += 1;
                    self.counted.discovered += 1;
                    self.put(Loaded::new(Study::begin(lesson)));
                }
                self.counted.lessons += 1;
                self.study(lesson.task.key).map(|loaded| {
                    loaded.study.lesson(&mut loaded.tutor, lesson, choice, &mut out);
                    loaded.pending.push(lesson.run);
                    loaded.study.id
                })
            }
            News::Served(served) => self.study(served.task.key).map(|loaded| {
                loaded.study.served(&mut loaded.tutor, served, choice);
                loaded.pending.push(served.run);
                loaded.study.id
            }),
            News::Corrected { run, at, task, by } => self.study(*task).map(|loaded| {
                loaded.study.corrected(*run, *at, *by, &mut out);
                loaded.study.id
            }),
            News::Ordered { run, at, order, actor } => self.ordered(order, (*run, *at), actor, &mut out),
        };
        if let Some(loaded) = touched.and_then(|id| self.studies.get_mut(&id)) {
            loaded.is_changed = true;
            // Whatever changes the learner otherwise than by a lesson has to be kept with it.
            let kind = before.get(&loaded.study.id).copied().unwrap_or("none");
            loaded.is_grown |=
                out.version || kind != loaded.tutor.kind() || matches!(news, News::Ordered { .. });
            self.by_artifact.extend(loaded.study.artifact.as_ref().map(|made| (made.id, loaded.study.id)));
        }
        self.out = out;
    }

    fn ordered(
        &mut self,
        order: &Order,
        place: (RunId, Timestamp),
        actor: &str,
        out: &mut Outcome,
    ) -> Option<PatternId> {
        let id = match order {
            Order::Retire(id) | Order::Synthesize(id) => *id,
            Order::Promote(id) | Order::RollBack(id) | Order::Quarantine(id) | Order::Release(id) => {
                *self.by_artifact.get(id)?
            }
            Order::Import(digest) => return self.imported(*digest, place, actor, out),
        };
        let loaded = self.studies.get_mut(&id)?;
        loaded.study.ordered(&mut loaded.tutor, order, place, actor, out);
        Some(id)
    }

    fn imported(
        &mut self,
        digest: Digest,
        place: (RunId, Timestamp),
        actor: &str,
        out: &mut Outcome,
    ) -> Option<PatternId> {
        let executable = self.imports.get(&digest)?.clone();
        if !self.by_key.contains_key(&executable.task) {
            self.place.patterns += 1;
            self.put(Loaded::new(Study::of_elsewhere(&executable, place.1)));
        }
        let loaded = self.study(executable.task)?;
        loaded.study.imported(&mut loaded.tutor, executable, place, actor, out);
        Some(loaded.study.id)
    }
}
