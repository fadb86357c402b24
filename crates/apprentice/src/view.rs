//! Learning as a view: made again from the log, and forgetting with it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use schema::{SubjectId, TenantId};
use serde_json::Value;
use store::{Commit, Rebuilt, RecordChange, RecordFilter, RecordKind, StoreError, TenantStore, View};

use crate::tick::{Apprentice, Telling};

const PAGE: NonZeroU32 = NonZeroU32::new(200).unwrap();
/// What is derived. Programs are not among it: events name them.
const DERIVED: [RecordKind; 5] = [
    RecordKind::Learning,
    RecordKind::Pattern,
    RecordKind::Learner,
    RecordKind::Attempt,
    RecordKind::Artifact,
];
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

    /// All of the tenant's learning begins anew: what is left in the log proves again what it still proves.
    async fn forget(&self, tenant: TenantId, _: SubjectId) -> Result<(), StoreError> {
        let store = self.0.store.tenant(tenant);
        clear(&*store).await?;
        self.0.forget(tenant);
        Ok(())
    }

    async fn rebuild(&self, tenant: TenantId) -> Result<Rebuilt, StoreError> {
        let store = self.0.store.tenant(tenant);
        // What nobody has read yet is new, not wrong. If what is kept cannot even be read, it is made again all the same.
        let _ = self.0.read_on(tenant, &|| true, Telling::Untold).await;
        let before = all(&*store).await?;
        clear(&*store).await?;
        self.0.forget(tenant);
        self.0.read_on(tenant, &|| true, Telling::Untold).await?;
        let after = all(&*store).await?;
        let same = after.iter().filter(|(id, body)| before.get(*id) == Some(body)).count();
        let gone = before.keys().filter(|id| !after.contains_key(*id)).count();
        Ok(Rebuilt { entries: after.len() as u64, repaired: (after.len() - same + gone) as u64 })
    }
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

async fn clear(store: &dyn TenantStore) -> Result<(), StoreError> {
    for kind in DERIVED {
        loop {
            let page = store.records(&RecordFilter::of(kind), None, PAGE).await?;
            if page.is_empty() {
                break;
            }
            let delete = |record: store::Record| RecordChange {
                kind,
                id: record.id,
                expected: record.version,
                to: None,
            };
            let records = page.into_iter().map(delete).collect();
            store.commit(Commit { records, ..Commit::default() }).await.map_err(StoreError::unavailable)?;
        }
    }
    Ok(())
}
