//! Hearing of what was committed: a count for each tenant that somebody listens to.
//!
//! It is told in the process that committed. What other processes commit to a shared database shows in
//! [`LogStore::log_size`](crate::LogStore::log_size), which is cheap enough to ask for now and then.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use schema::TenantId;
use tokio::sync::watch;

/// Who is told of commits.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    listened: Mutex<HashMap<TenantId, watch::Sender<u64>>>,
}

impl Changes {
    /// Changes with every commit of the tenant from now on.
    pub(crate) fn of(&self, tenant: TenantId) -> watch::Receiver<u64> {
        let mut listened = self.listened.lock().unwrap_or_else(PoisonError::into_inner);
        listened.entry(tenant).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// Tells of a commit, and forgets a tenant that nobody listens to any more.
    pub(crate) fn tell(&self, tenant: TenantId) {
        let mut listened = self.listened.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = listened.get(&tenant) else { return };
        if sender.receiver_count() == 0 {
            listened.remove(&tenant);
        } else {
            sender.send_modify(|commits| *commits += 1);
        }
    }
}
