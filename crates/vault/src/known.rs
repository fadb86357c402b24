//! Which values this process knows, for whoever must keep them out of what it writes.
//!
//! That a text is replaced tells that it is a secret of somebody's. So a tenant's texts are held against its own values
//! and the installation's, and never against another tenant's ([`Known::values`]); the log of the process, which no tenant
//! reads, against all ([`Known::all`]).
//!
//! A value that was replaced stays known for a while: whoever has it in a prompt or a log does not know that it is old.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crypto::{KnownSecrets, SecretString};
use schema::{CredentialId, TenantId};
use tokio::time::Instant;

use crate::credential::CredentialKind;
use crate::memory::GOOD_FOR;

/// How many values that are no longer in use stay known, for each tenant.
const PAST: usize = 64;

/// The values that this process knows. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub struct Known(Arc<Inner>);

/// Those of them that a text is held against.
#[derive(Debug, Clone)]
pub struct Values {
    known: Known,
    /// Whose text it is; nobody's in particular is the log of the process.
    tenant: Option<TenantId>,
}

impl KnownSecrets for Values {
    fn generation(&self) -> u64 {
        self.tenant.map_or_else(|| self.known.generation(), |tenant| self.known.generation_of(tenant))
    }

    fn values(&self) -> Vec<Arc<SecretString>> {
        self.tenant.map_or_else(|| self.known.all(), |tenant| self.known.values(tenant))
    }
}

#[derive(Debug, Default)]
struct Inner {
    generation: AtomicU64,
    shelves: RwLock<HashMap<TenantId, Shelf>>,
}

/// The values of one tenant.
#[derive(Debug, Default)]
struct Shelf {
    current: BTreeMap<CredentialId, Value>,
    past: VecDeque<Arc<SecretString>>,
    /// The generation in which it last changed.
    changed: u64,
    /// When all of the tenant's were last looked at.
    read: Option<Instant>,
}

/// The value of a credential in one version.
#[derive(Debug)]
struct Value {
    version: u64,
    is_canary: bool,
    text: Arc<SecretString>,
}

impl Known {
    /// Changes whenever a value is learnt or forgotten, whoever's it is. One load.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.0.generation.load(Ordering::Acquire)
    }

    /// Changes whenever [`Known::values`] of this tenant does, and not when others' do.
    #[must_use]
    pub fn generation_of(&self, tenant: TenantId) -> u64 {
        let shelves = self.0.shelves.read().unwrap_or_else(PoisonError::into_inner);
        let changed = |tenant| shelves.get(&tenant).map_or(0, |shelf: &Shelf| shelf.changed);
        changed(tenant).max(changed(TenantId::NIL))
    }

    /// What must not be in a text of this tenant: its own values, and those of the installation.
    #[must_use]
    pub fn values(&self, tenant: TenantId) -> Vec<Arc<SecretString>> {
        let shelves = self.0.shelves.read().unwrap_or_else(PoisonError::into_inner);
        let installation = shelves.get(&TenantId::NIL).filter(|_| tenant != TenantId::NIL);
        shelves.get(&tenant).into_iter().chain(installation).flat_map(Shelf::secrets).collect()
    }

    /// What must never come out of what this tenant's models say: its own canaries, and those of the installation.
    #[must_use]
    pub fn canaries(&self, tenant: TenantId) -> Vec<Arc<SecretString>> {
        let shelves = self.0.shelves.read().unwrap_or_else(PoisonError::into_inner);
        let installation = shelves.get(&TenantId::NIL).filter(|_| tenant != TenantId::NIL);
        shelves.get(&tenant).into_iter().chain(installation).flat_map(Shelf::canaries).collect()
    }

    /// What must not be in the log of the process: every value.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<SecretString>> {
        let shelves = self.0.shelves.read().unwrap_or_else(PoisonError::into_inner);
        shelves.values().flat_map(|shelf| shelf.secrets().chain(shelf.canaries())).collect()
    }

    /// [`Known::values`] of a tenant, as they will be.
    #[must_use]
    pub fn of(&self, tenant: TenantId) -> Values {
        Values { known: self.clone(), tenant: Some(tenant) }
    }

    /// [`Known::all`], as they will be.
    #[must_use]
    pub fn of_all(&self) -> Values {
        Values { known: self.clone(), tenant: None }
    }

    /// Learns the value of a credential in this version, unless a newer one is known.
    pub(crate) fn learn(
        &self,
        tenant: TenantId,
        id: CredentialId,
        (version, kind): (u64, CredentialKind),
        value: &Arc<SecretString>,
    ) {
        self.change(tenant, |shelf| match shelf.current.get(&id) {
            Some(known) if known.version >= version => false,
            _ => {
                let is_canary = kind == CredentialKind::Canary;
                let value = Value { version, is_canary, text: Arc::clone(value) };
                let before = shelf.current.insert(id, value);
                shelf.retire(before);
                true
            }
        });
    }

    /// A credential is gone.
    pub(crate) fn remove(&self, tenant: TenantId, id: CredentialId) {
        self.change(tenant, |shelf| {
            let before = shelf.current.remove(&id);
            shelf.retire(before)
        });
    }

    /// The credentials of a tenant are those in `there`, and no others, as was seen at `now`.
    pub(crate) fn keep(&self, tenant: TenantId, there: &[CredentialId], now: Instant) {
        self.change(tenant, |shelf| {
            shelf.read = Some(now);
            let gone: Vec<CredentialId> =
                shelf.current.keys().filter(|id| !there.contains(id)).copied().collect();
            for id in &gone {
                let before = shelf.current.remove(id);
                shelf.retire(before);
            }
            !gone.is_empty()
        });
    }

    /// Whether all of a tenant's were looked at a moment ago.
    pub(crate) fn is_fresh(&self, tenant: TenantId, now: Instant) -> bool {
        let shelves = self.0.shelves.read().unwrap_or_else(PoisonError::into_inner);
        let read = shelves.get(&tenant).and_then(|shelf| shelf.read);
        read.is_some_and(|read| now.saturating_duration_since(read) < GOOD_FOR)
    }

    /// Whether the value of a credential in this version is known.
    pub(crate) fn has(&self, tenant: TenantId, id: CredentialId, version: u64) -> bool {
        let shelves = self.0.shelves.read().unwrap_or_else(PoisonError::into_inner);
        let known = shelves.get(&tenant).and_then(|shelf| shelf.current.get(&id));
        known.is_some_and(|known| known.version >= version)
    }

    fn change(&self, tenant: TenantId, change: impl FnOnce(&mut Shelf) -> bool) {
        let mut shelves = self.0.shelves.write().unwrap_or_else(PoisonError::into_inner);
        let shelf = shelves.entry(tenant).or_default();
        if change(shelf) {
            // Under the lock, so that whoever sees the generation finds the values of it.
            shelf.changed = self.0.generation.fetch_add(1, Ordering::AcqRel) + 1;
        }
    }
}

impl Shelf {
    fn secrets(&self) -> impl Iterator<Item = Arc<SecretString>> {
        let current = self.current.values().filter(|value| !value.is_canary).map(|value| &value.text);
        current.chain(&self.past).map(Arc::clone)
    }

    fn canaries(&self) -> impl Iterator<Item = Arc<SecretString>> {
        self.current.values().filter(|value| value.is_canary).map(|value| Arc::clone(&value.text))
    }

    /// Keeps what is no longer in use, if there was something. Whether there was.
    fn retire(&mut self, before: Option<Value>) -> bool {
        let Some(value) = before else { return false };
        // What was planted is no secret, so what was planted before is nothing.
        if !value.is_canary {
            if self.past.len() >= PAST {
                self.past.pop_front();
            }
            self.past.push_back(value.text);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Arc<SecretString> {
        Arc::new(SecretString::new(text.to_owned()))
    }

    fn shown(values: &[Arc<SecretString>]) -> Vec<&str> {
        let mut shown: Vec<&str> = values.iter().map(|value| value.expose().as_str()).collect();
        shown.sort_unstable();
        shown
    }

    #[test]
    fn a_canary_is_no_secret_and_is_told_apart() {
        let (known, id) = (Known::default(), CredentialId::new(1, [1; 10]));
        known.learn(TenantId::NIL, id, (1, CredentialKind::Canary), &secret("planted"));
        assert!(known.values(TenantId::NIL).is_empty());
        assert_eq!(shown(&known.canaries(TenantId::new(1, [1; 10]))), ["planted"]);
        assert_eq!(shown(&known.all()), ["planted"]);
        known.remove(TenantId::NIL, id);
        assert!(known.canaries(TenantId::NIL).is_empty() && known.values(TenantId::NIL).is_empty());
    }

    #[test]
    fn a_tenant_is_held_against_its_own_and_the_installations_values_alone() {
        let (known, id) = (Known::default(), CredentialId::new(1, [1; 10]));
        let (alice, bob) = (TenantId::new(1, [1; 10]), TenantId::new(1, [2; 10]));
        for (tenant, value) in [(TenantId::NIL, "house"), (alice, "of alice"), (bob, "of bob")] {
            known.learn(tenant, id, (1, CredentialKind::Other), &secret(value));
        }
        assert_eq!(shown(&known.values(alice)), ["house", "of alice"]);
        assert_eq!(shown(&known.values(bob)), ["house", "of bob"]);
        assert_eq!(shown(&known.values(TenantId::NIL)), ["house"]);
        assert_eq!(shown(&known.all()), ["house", "of alice", "of bob"]);
        assert!(!format!("{known:?}").contains("of alice"));
    }

    #[test]
    fn a_generation_is_as_old_as_what_it_is_of() {
        let (known, id) = (Known::default(), CredentialId::new(1, [1; 10]));
        let (alice, bob) = (TenantId::new(1, [1; 10]), TenantId::new(1, [2; 10]));
        known.learn(alice, id, (1, CredentialKind::Other), &secret("a"));
        let (all, hers) = (known.generation(), known.generation_of(alice));
        known.learn(bob, id, (1, CredentialKind::Other), &secret("b"));
        assert_eq!(known.generation_of(alice), hers);
        assert!(known.generation() > all);
        known.learn(bob, id, (1, CredentialKind::Other), &secret("b"));
        assert_eq!(known.generation(), all + 1, "nothing new was learnt");
        known.learn(TenantId::NIL, id, (1, CredentialKind::Other), &secret("c"));
        assert!(known.generation_of(alice) > hers);
    }

    #[test]
    fn what_was_replaced_or_removed_stays_known_for_a_while_and_an_older_value_does_not_come_back() {
        let (known, id, ours) = (Known::default(), CredentialId::new(1, [1; 10]), TenantId::NIL);
        known.learn(ours, id, (2, CredentialKind::Other), &secret("new"));
        known.learn(ours, id, (1, CredentialKind::Other), &secret("old"));
        assert_eq!(shown(&known.values(ours)), ["new"]);
        known.learn(ours, id, (3, CredentialKind::Other), &secret("newer"));
        known.remove(ours, id);
        assert_eq!(shown(&known.values(ours)), ["new", "newer"]);
        for version in 0..1_000 {
            known.learn(ours, id, (version, CredentialKind::Other), &secret("another"));
        }
        assert_eq!(known.values(ours).len(), PAST + 1);
    }
}
