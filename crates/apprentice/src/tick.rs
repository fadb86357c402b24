//! A tick: what is new in a tenant's log is read once, folded into the studies it belongs to, and kept in one commit with how far
//! that was.
//!
//! - Work is proportional to what is new.
//! - The place in the log changes from the version that was read: of two who read the same news, one counts them.
//! - What the configuration decides (whether what is proven serves by itself) is put on record as an order, and folded like
//!   anybody's. So the log alone says what became of everything.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schema::{ArtifactId, Digest, PatternId, RunId, TenantId, Timestamp};
use serde_json::json;
use store::{Commit, CommitError, Record, RecordFilter, RecordKind, Store, StoreError, TenantStore};

use crate::aside::Aside;
use crate::desk::Desk;
use crate::executable::Executable;
use crate::hybrid::Small;
use crate::instructions::Known;
use crate::memory::Memory;
use crate::news::{News, Order, order};
use crate::report::Report;
use crate::stored::{AT_ONCE, Loaded, Mine, pattern_by, pattern_of, place, program_text, read};
use crate::study::Made;
use crate::view::Texts;

/// Reads the wall clock.
pub type Clock = fn() -> Timestamp;

/// Learns from the logs of a store. A clone is the same learner.
#[derive(Clone)]
pub struct Apprentice {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    /// What decides which answers are audited; nobody who sends requests knows it.
    choice: u64,
    /// Whether what is proven serves without being asked for.
    auto_promote: bool,
    /// Who may be asked for what programs leave open.
    small: Option<Small>,
    memory: Arc<Mutex<Memory>>,
    aside: Aside,
    /// One reads a tenant's log at a time.
    turns: Arc<Mutex<HashMap<TenantId, Arc<tokio::sync::Mutex<()>>>>>,
}

/// Leaves that are read into one commit.
const PAGE: NonZeroU32 = NonZeroU32::new(128).unwrap();
/// Entries of the caches of learning that a tenant may have.
pub(crate) const MOST_ENTRIES: NonZeroU32 = NonZeroU32::new(10_000).unwrap();
/// What is derived is deleted within this time, or somebody else takes over.
const CLEARED_WITHIN_MS: u64 = 10 * 60_000;
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
        let (memory, turns) = (Arc::default(), Arc::default());
        Self { store, clock, choice, auto_promote, small: None, memory, aside: Aside::default(), turns }
    }

    /// The same, for an installation in which `small` may be asked for what programs leave open. Nobody is asked here.
    #[must_use]
    pub fn with_small(self, small: Option<Small>) -> Self {
        Self { small, ..self }
    }

    /// Who may be asked for what programs leave open.
    #[must_use]
    pub const fn small(&self) -> Option<&Small> {
        self.small.as_ref()
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
        let turn = self.turn(tenant);
        let _turn = turn.lock().await;
        let (mut report, mut tries) = (Report::default(), 0);
        if telling == Telling::Told {
            self.tell_small(tenant).await?;
        }
        // As far as the log goes now: where it grows all the time, the next tick reads on.
        let mut end = self.store.tenant(tenant).log_size().await?;
        while go_on() {
            let this = self.clone();
            let page = self.aside.run(async move {
                let read = this.page(tenant, telling, &mut report).await;
                (read, report)
            });
            let read;
            (read, report) = page.await?;
            match read {
                Ok(Some(cursor)) if cursor < end => tries = 0,
                Ok(_) if telling == Telling::Told && self.promote_eligible(tenant, &mut report).await? => {
                    end = self.store.tenant(tenant).log_size().await?;
                }
                Ok(_) => break,
                // Somebody else reads the same log: what is in memory is old.
                Err(Missed::Moved) if tries < TRIES => {
                    tries += 1;
                    self.memory().forget(tenant);
                }
                Err(Missed::Moved) => break,
                Err(Missed::Store(error)) => return Err(error),
            }
        }
        Ok(report)
    }

    /// Whoever has it reads the tenant's log.
    pub(crate) fn turn(&self, tenant: TenantId) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(tenant).or_default())
    }

    /// What is in memory; nobody waits with it in hand.
    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads one page; says how far that was, if there was anything.
    async fn page(
        &self,
        tenant: TenantId,
        telling: Telling,
        report: &mut Report,
    ) -> Result<Option<u64>, Missed> {
        let store = self.store.tenant(tenant);
        let (version, mut place) = place(&*store).await?;
        if let Some(clearing) = place.clearing {
            let for_ms = (self.clock)().as_millis().saturating_sub(clearing.since.as_millis());
            if for_ms < CLEARED_WITHIN_MS {
                return Ok(None);
            }
            // Whoever was at it did not come to its end.
            self.clear(tenant, if clearing.texts { Texts::Forgotten } else { Texts::Kept }).await?;
            return Err(Missed::Moved);
        }
        let rows = store.feed(place.cursor, PAGE).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        let (mut news, known) = (Vec::new(), Known::default());
        for rows in rows.chunks(AT_ONCE) {
            let runs: Vec<RunId> = rows.iter().map(|row| row.run).collect();
            let whole = store.whole_runs(&runs).await?;
            news.extend(
                rows.iter().zip(&whole).flat_map(|(row, events)| News::read(row, events, (tenant, &known))),
            );
        }
        let cursor = last.index + 1;
        place.cursor = cursor;
        let mines = self.memory().mines(tenant, version);
        let mut desk = Desk::new(self.choice, place, mines);
        let mut told = Vec::with_capacity(news.len());
        for one in news {
            if let News::Loose(loose) = &one
                && !desk.has_mine(loose.0.base)
            {
                let base = loose.0.base;
                desk.mines.insert(base, Mine::read(&*store, base).await?);
            }
            let one = desk.mined(one);
            self.fetch(&*store, tenant, &one, &mut desk).await?;
            told.push(one);
        }
        for one in &told {
            desk.take(one);
        }
        let kept = desk.kept();
        let commit = self.commit(&*store, tenant, (&desk, kept), version, telling).await?;
        match store.commit(commit).await {
            Ok(()) => {}
            Err(CommitError::RecordMoved { .. }) => return Err(Missed::Moved),
            Err(CommitError::Store(error)) => return Err(error.into()),
            Err(error) => return Err(StoreError::unavailable(error).into()),
        }
        report.leaves += rows.len() as u64;
        report.note(&desk);
        self.memory().keep(tenant, version + 1, desk);
        Ok(Some(cursor))
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
            News::Served(served) => {
                return self.fetch_of(store, tenant, served.task, Some(served.artifact), desk).await;
            }
            News::Corrected { task, by, .. } => {
                return self.fetch_of(store, tenant, *task, by.map(|by| by.0), desk).await;
            }
            News::Disliked { by, .. } => return self.fetch_of(store, tenant, None, Some(by.0), desk).await,
            News::Ordered {
                order: Order::Retire(id) | Order::Synthesize(id) | Order::Compare(id, _),
                ..
            } if !desk.studies.contains_key(id) => pattern_by(store, *id).await?,
            News::Replayed { artifact: id, .. }
            | News::Ordered {
                order: Order::Promote(id) | Order::RollBack(id) | Order::Quarantine(id) | Order::Release(id),
                ..
            } => {
                return self.fetch_of(store, tenant, None, Some(*id), desk).await;
            }
            News::Ordered { order: Order::Import(digest), .. } => {
                let text = program_text(store, *digest).await?;
                let Some(executable) = text.and_then(|text| Executable::read(&text).ok()) else {
                    return Ok(());
                };
                if let Some(base) = executable.template.as_ref().map(|skeleton| skeleton.base)
                    && !desk.has_mine(base)
                {
                    desk.mines.insert(base, Mine::read(store, base).await?);
                }
                let key = desk.import(*digest, executable);
                if desk.by_key.contains_key(&key) { None } else { pattern_of(store, key).await? }
            }
            _ => None,
        };
        self.put(store, tenant, record, desk).await
    }

    /// Has in reach the study of what an artifact answered, or else of a kind of work.
    async fn fetch_of(
        &self,
        store: &dyn TenantStore,
        tenant: TenantId,
        task: Option<Digest>,
        artifact: Option<ArtifactId>,
        desk: &mut Desk,
    ) -> Result<(), StoreError> {
        if artifact.is_some_and(|id| desk.by_artifact.contains_key(&id)) {
            return Ok(());
        }
        let made = match artifact {
            Some(id) => store.record(RecordKind::Artifact, &id.to_string()).await?,
            None => None,
        };
        let record = match (made, task) {
            (Some(made), _) => {
                let pattern = read::<Made>(&made)?.pattern;
                if desk.studies.contains_key(&pattern) { None } else { pattern_by(store, pattern).await? }
            }
            (None, Some(key)) if !desk.by_key.contains_key(&key) => pattern_of(store, key).await?,
            (None, _) => None,
        };
        self.put(store, tenant, record, desk).await
    }

    /// Puts a study on the desk: from memory, if what is there is current.
    async fn put(
        &self,
        store: &dyn TenantStore,
        tenant: TenantId,
        record: Option<Record>,
        desk: &mut Desk,
    ) -> Result<(), StoreError> {
        let Some(record) = record else { return Ok(()) };
        let Ok(id) = record.id.parse::<PatternId>() else { return Ok(()) };
        let kept = self.memory().study(tenant, id);
        let epoch = desk.place.epoch;
        let is_current = |kept: &Loaded| (kept.epoch, kept.versions.pattern) == (epoch, record.version);
        let loaded = match kept.filter(is_current) {
            Some(kept) => kept,
            None => Loaded::read(store, record).await?.of(epoch),
        };
        desk.put(loaded);
        Ok(())
    }

    /// Puts on record who may be asked for what programs leave open, if the log of a tenant who did anything says otherwise.
    async fn tell_small(&self, tenant: TenantId) -> Result<(), StoreError> {
        let store = self.store.tenant(tenant);
        let (_, place) = place(&*store).await?;
        let model = self.small.as_ref().map(|small| small.model.as_str());
        if place.small.as_deref() == model || place.clearing.is_some() || store.log_size().await? == 0 {
            return Ok(());
        }
        let deed =
            self.deed(tenant, order::SMALL_MODEL, model.unwrap_or("none"), json!({ "model": model }))?;
        let commit = Commit { appends: vec![deed], ..Commit::default() };
        store.commit(commit).await.map_err(StoreError::unavailable)
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
            // What has side effects waits for somebody to say so.
            let may_serve = made.gates().all_pass() && made.course.side_effects() == 0;
            if may_serve && !report.auto_promoted.contains(&made.id) {
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
