//! Learning as a view: made again from the log, and forgetting with it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use schema::{SubjectId, TenantId};
use serde_json::Value;
use store::{Commit, Rebuilt, Record, RecordChange, RecordFilter, RecordKind, StoreError, TenantStore, View};

use crate::stored::{Clearing, IMPORTED, PLACE, Place, place, place_change};
use crate::tick::{Apprentice, Telling};

const PAGE: NonZeroU32 = NonZeroU32::new(200).unwrap();
/// What is derived, beside how far the log was read. Programs are not among it: events name them.
const DERIVED: [RecordKind; 4] =
    [RecordKind::Pattern, RecordKind::Learner, RecordKind::Attempt, RecordKind::Artifact];
/// What a rebuild compares. How far the log was read, and what of the learner is kept, depends on when ticks came.
const COMPARED: [RecordKind; 3] = [RecordKind::Pattern, RecordKind::Attempt, RecordKind::Artifact];

/// What was learned, as something that can be made again.
pub struct Learned(pub Arc<Apprentice>);

#[async_trait]
impl View for Learned {
    fn name(&self) -> &'static str {
        "learning"
    }

    /// Its records are among those of everybody.
    fn tables(&self) -> &'static [&'static str] {
        &[]
    }

    /// All of the tenant's learning begins anew, from what is left in the log. A program that comes out of it again is the same, to
    /// the byte; one that does not owed something to the person, and is gone with it, whatever it had served.
    async fn forget(&self, tenant: TenantId, _: SubjectId) -> Result<(), StoreError> {
        self.0.begin_anew(tenant, Texts::Forgotten).await?;
        self.0.read_on(tenant, &|| true, Telling::Untold).await.map(drop)
    }

    async fn rebuild(&self, tenant: TenantId) -> Result<Rebuilt, StoreError> {
        let store = self.0.store.tenant(tenant);
        // What nobody has read yet is new, not wrong. If what is kept cannot even be read, it is made again all the same.
        let _ = self.0.read_on(tenant, &|| true, Telling::Untold).await;
        let before = all(&*store).await?;
        self.0.begin_anew(tenant, Texts::Kept).await?;
        self.0.read_on(tenant, &|| true, Telling::Untold).await?;
        let after = all(&*store).await?;
        let same = after.iter().filter(|(id, body)| before.get(*id) == Some(body)).count();
        let gone = before.keys().filter(|id| !after.contains_key(*id)).count();
        Ok(Rebuilt { entries: after.len() as u64, repaired: (after.len() - same + gone) as u64 })
    }
}

/// What becomes of the texts of programs when everything is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texts {
    /// Events name them.
    Kept,
    /// They are made of what is to be forgotten; but for those that came from elsewhere.
    Forgotten,
}

impl Apprentice {
    /// Forgets everything that was derived. Whoever reads the log meanwhile, in any process, finds that there is nothing to read
    /// until that is done; should this process not come to it, the next that reads does it.
    pub(crate) async fn begin_anew(&self, tenant: TenantId, texts: Texts) -> Result<(), StoreError> {
        let turn = self.turn(tenant);
        let _turn = turn.lock().await;
        self.clear(tenant, texts).await
    }

    /// The same, by whoever has the turn.
    pub(crate) async fn clear(&self, tenant: TenantId, texts: Texts) -> Result<(), StoreError> {
        let store = self.store.tenant(tenant);
        let since = (self.clock)();
        let clearing = Clearing { since, texts: texts == Texts::Forgotten };
        let epoch = place(&*store).await?.1.epoch + 1;
        set_place(&*store, Place { epoch, clearing: Some(clearing), ..Place::default() }).await?;
        self.memory().forget(tenant);
        for kind in DERIVED {
            delete(&*store, kind, |_| true).await?;
        }
        delete(&*store, RecordKind::Learning, |record| record.id != PLACE).await?;
        if texts == Texts::Forgotten {
            delete(&*store, RecordKind::Program, |record| record.group != IMPORTED).await?;
        }
        set_place(&*store, Place { epoch, ..Place::default() }).await
    }
}

async fn set_place(store: &dyn TenantStore, to: Place) -> Result<(), StoreError> {
    let (version, _) = place(store).await?;
    let records = vec![place_change(&to, version)];
    store.commit(Commit { records, ..Commit::default() }).await.map_err(StoreError::unavailable)
}

/// Every record that a rebuild compares, by kind and id.
async fn all(store: &dyn TenantStore) -> Result<BTreeMap<(RecordKind, String), Value>, StoreError> {
    let mut all = BTreeMap::new();
    for kind in COMPARED {
        let mut before: Option<String> = None;
        loop {
            let page = store.records(&RecordFilter::of(kind), before.as_deref(), PAGE).await?;
            let Some(last) = page.last() else { break };
            before = Some(last.id.clone());
            for record in page {
                let mut body = record.body;
                if let Value::Object(body) = &mut body {
                    body.remove("pending");
                }
                all.insert((kind, record.id), body);
            }
        }
    }
    Ok(all)
}

async fn delete(
    store: &dyn TenantStore,
    kind: RecordKind,
    is_wanted: impl Fn(&Record) -> bool + Sync,
) -> Result<(), StoreError> {
    let mut before: Option<String> = None;
    loop {
        let page = store.records(&RecordFilter::of(kind), before.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        before = Some(last.id.clone());
        let gone = |record: Record| RecordChange { kind, id: record.id, expected: record.version, to: None };
        let records = page.into_iter().filter(|record| is_wanted(record)).map(gone).collect();
        store.commit(Commit { records, ..Commit::default() }).await.map_err(StoreError::unavailable)?;
    }
}
