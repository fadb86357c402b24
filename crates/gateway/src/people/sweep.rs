//! Tidying up: sessions and revocations whose time is over are records that nobody asks for any more.
//!
//! Nothing depends on it: what is over is over whether or not it was swept.

use std::num::NonZeroU32;
use std::time::Duration;

use schema::Timestamp;
use store::{Commit, RecordChange, RecordKind, Store, StoreError};

use super::session::GROUP as SESSIONS;
use crate::app::App;
use crate::clock::now;
use crate::error::unread;
use crate::machines::revocation::GROUP as REVOCATIONS;

const EVERY: Duration = Duration::from_secs(600);
const PAGE: NonZeroU32 = NonZeroU32::new(200).unwrap();

/// Sweeps now and then, for ever.
pub(crate) async fn sweep(app: App) {
    loop {
        tokio::time::sleep(EVERY).await;
        for (kind, group) in [(RecordKind::Session, SESSIONS), (RecordKind::Revocation, REVOCATIONS)] {
            if let Err(error) = sweep_kind(&*app.store, kind, group, now()).await {
                let _ = unread(error);
            }
        }
    }
}

/// Deletes what was due at `until`. How many that were.
async fn sweep_kind(
    store: &dyn Store,
    kind: RecordKind,
    group: &str,
    until: Timestamp,
) -> Result<usize, StoreError> {
    let mut swept = 0;
    loop {
        let due = store.due_records(kind, group, until, PAGE).await?;
        let mut gone = 0;
        for (tenant, record) in &due {
            let change = RecordChange { kind, id: record.id.clone(), expected: record.version, to: None };
            let commit = Commit { records: vec![change], ..Commit::default() };
            // Another node may have been faster.
            gone += usize::from(store.tenant(*tenant).commit(commit).await.is_ok());
        }
        swept += gone;
        if due.len() < PAGE.get() as usize || gone == 0 {
            return Ok(swept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::TenantId;
    use serde_json::json;
    use store::memory::MemoryStore;
    use store::{RecordBody, RecordFilter};

    #[tokio::test]
    async fn what_is_over_is_swept_and_what_is_not_stays() {
        let store = MemoryStore::new();
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        let changes = (0..300u64).map(|number| RecordChange {
            kind: RecordKind::Session,
            id: format!("{number:03}"),
            expected: 0,
            to: Some(RecordBody {
                group: SESSIONS.to_owned(),
                key: None,
                body: json!({}),
                created_at: at(0),
                due_at: Some(at(number)),
            }),
        });
        let commit = Commit { records: changes.collect(), ..Commit::default() };
        store.tenant(TenantId::NIL).commit(commit).await.unwrap();
        assert_eq!(sweep_kind(&store, RecordKind::Session, SESSIONS, at(249)).await.unwrap(), 250);
        let filter = RecordFilter::of(RecordKind::Session);
        let left = store.tenant(TenantId::NIL).records(&filter, None, NonZeroU32::MAX).await.unwrap();
        assert_eq!(left.len(), 50);
    }
}
