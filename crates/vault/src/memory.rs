//! What was opened a moment ago, so that a busy upstream's key is not read and opened for every call.
//!
//! Bounded in time and in number. What changes in this process is forgotten at once; what changes in another is known
//! here when the moment has passed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crypto::SecretString;
use schema::TenantId;
use tokio::time::Instant;

use crate::reference::Reference;

/// How long what was opened is good for.
pub(crate) const GOOD_FOR: Duration = Duration::from_secs(30);
/// How much is remembered. Past that all of it is forgotten, which costs another look.
const MOST: usize = 1_024;

/// Values by what they were asked for.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<(TenantId, Reference), (Instant, Arc<SecretString>)>,
    /// How often something was forgotten: whoever began to read before that has read too early.
    epoch: u64,
}

impl Memory {
    /// What was opened, if that was a moment ago.
    pub(crate) fn get(
        &self,
        tenant: TenantId,
        reference: &Reference,
        now: Instant,
    ) -> Option<Arc<SecretString>> {
        let mut inner = self.inner();
        inner.expire(now);
        inner.entries.get(&(tenant, reference.clone())).map(|(_, value)| Arc::clone(value))
    }

    /// To be asked before reading what is then remembered.
    pub(crate) fn epoch(&self) -> u64 {
        self.inner().epoch
    }

    /// Remembers what was read since `epoch`, unless something has changed meanwhile.
    pub(crate) fn learn(
        &self,
        epoch: u64,
        tenant: TenantId,
        reference: &Reference,
        value: &Arc<SecretString>,
        now: Instant,
    ) {
        let mut inner = self.inner();
        inner.expire(now);
        if inner.epoch != epoch {
            return;
        }
        if inner.entries.len() >= MOST {
            inner.entries.clear();
        }
        inner.entries.insert((tenant, reference.clone()), (now, Arc::clone(value)));
    }

    /// Forgets all of a tenant's: something of it has changed.
    pub(crate) fn forget(&self, tenant: TenantId) {
        let mut inner = self.inner();
        inner.epoch += 1;
        inner.entries.retain(|(whose, _), _| *whose != tenant);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn expire(&mut self, now: Instant) {
        self.entries.retain(|_, (read, _)| now.saturating_duration_since(*read) < GOOD_FOR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: TenantId = TenantId::NIL;

    fn reference(name: &str) -> Reference {
        format!("cred:{name}").parse().unwrap()
    }

    fn secret() -> Arc<SecretString> {
        Arc::new(SecretString::new("hunter2".to_owned()))
    }

    #[test]
    fn what_was_opened_is_good_for_a_moment_and_then_wiped() {
        let (memory, now, value) = (Memory::default(), Instant::now(), secret());
        memory.learn(memory.epoch(), OURS, &reference("a"), &value, now);
        assert!(memory.get(OURS, &reference("a"), now + GOOD_FOR - Duration::from_millis(1)).is_some());
        assert_eq!(Arc::strong_count(&value), 2);
        assert!(memory.get(OURS, &reference("b"), now + GOOD_FOR).is_none());
        assert_eq!(Arc::strong_count(&value), 1, "the last look has let it go");
    }

    #[test]
    fn what_was_read_before_a_change_is_not_remembered_after_it() {
        let (memory, now) = (Memory::default(), Instant::now());
        let before = memory.epoch();
        memory.forget(OURS);
        memory.learn(before, OURS, &reference("a"), &secret(), now);
        assert!(memory.get(OURS, &reference("a"), now).is_none());
    }

    #[test]
    fn the_memory_is_bounded() {
        let (memory, now) = (Memory::default(), Instant::now());
        for number in 0..10 * MOST {
            memory.learn(memory.epoch(), OURS, &reference(&format!("n{number}")), &secret(), now);
        }
        assert!(memory.inner().entries.len() <= MOST);
    }
}
