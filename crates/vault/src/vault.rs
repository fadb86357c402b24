//! The vault: adds, replaces, removes and opens.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use crypto::{KeyId, SecretString};
use schema::{CredentialId, TenantId, Timestamp};
use store::{Commit, CommitError, Record, RecordFilter, RecordKind, Store, StoreError};
use tokio::time::Instant;

use crate::credential::{Credential, NewCredential};
use crate::error::{ChangeError, OpenError, StartError, moved};
use crate::in_use::InUse;
use crate::known::Known;
use crate::look::Look;
use crate::master::MasterKeys;
use crate::memory::Memory;
use crate::reference::Reference;
use crate::stored::{PAST_IDS, Stored, deletion, name_id, named, take_name};

/// How many credentials a tenant may have.
pub const MOST: u64 = 1_000;

pub(crate) const PAGE: NonZeroU32 = NonZeroU32::new(200).unwrap();

/// How long it takes at least until the master keys are read again.
const RELOAD: Duration = Duration::from_secs(5);

/// Reads the master keys again, where they may have changed since the start: nothing if they cannot be read.
pub type Reload = Box<dyn Fn() -> Option<MasterKeys> + Send + Sync>;

/// The secrets of an installation and its tenants.
pub struct Vault {
    pub(crate) store: Arc<dyn Store>,
    masters: RwLock<Arc<MasterKeys>>,
    reload: Option<Reload>,
    reloaded: Mutex<Option<Instant>>,
    memory: Memory,
    pub(crate) known: Known,
    pub(crate) look: Look,
}

impl Vault {
    /// A vault in `store` under these keys.
    ///
    /// # Errors
    /// Something in it is wrapped by a key that is not among them, or the store does not answer.
    pub async fn start(
        store: Arc<dyn Store>,
        masters: MasterKeys,
        reload: Option<Reload>,
    ) -> Result<Self, StartError> {
        let in_use = InUse::read(&*store).await?;
        if let Some(missing) = in_use.keys.iter().find(|key| !masters.has(**key)) {
            let given: Vec<String> = masters.all().map(|key| key.id().to_string()).collect();
            return Err(StartError::KeyMissing { missing: *missing, given: given.join(", ") });
        }
        Ok(Self {
            store,
            masters: RwLock::new(Arc::new(masters)),
            reload,
            reloaded: Mutex::new(None),
            memory: Memory::default(),
            known: Known::default(),
            look: Look::default(),
        })
    }

    /// The values that this process knows.
    #[must_use]
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// The id of the master key that wraps what is new.
    #[must_use]
    pub fn master_key_id(&self) -> KeyId {
        self.masters().active().id()
    }

    /// Credentials of a tenant, newest first, added before `before`, at most `limit`.
    ///
    /// # Errors
    /// The store does not answer, or one cannot be read.
    pub async fn list(
        &self,
        tenant: TenantId,
        before: Option<CredentialId>,
        limit: NonZeroU32,
    ) -> Result<Vec<Credential>, StoreError> {
        let before = before.map(|id| id.to_string());
        let records = self.page(tenant, before.as_deref(), limit).await?;
        records.iter().map(|record| Ok(Stored::read(tenant, record)?.credential)).collect()
    }

    /// The credential of a tenant that is meant, if there is one.
    ///
    /// # Errors
    /// The store does not answer, or it cannot be read.
    pub async fn find(
        &self,
        tenant: TenantId,
        reference: &Reference,
    ) -> Result<Option<Credential>, StoreError> {
        Ok(self.stored(tenant, reference).await?.map(|stored| stored.credential))
    }

    /// Adds a credential, in one commit with what is in `beside`.
    ///
    /// # Errors
    /// See [`ChangeError`].
    pub async fn add(
        &self,
        tenant: TenantId,
        new: NewCredential,
        mut beside: Commit,
    ) -> Result<Credential, ChangeError> {
        let masters = self.masters();
        let store = self.store.tenant(tenant);
        let counts = store.record_counts(RecordKind::Credential).await?;
        // Every other group is a master key's.
        let there: u64 = counts.iter().filter(|(group, _)| group.starts_with("key_")).map(|(_, n)| n).sum();
        if there >= MOST {
            return Err(ChangeError::TooMany);
        }
        InUse::add(&*self.store, masters.active().id()).await.map_err(ChangeError::Unwritten)?;
        let value = Arc::new(new.value.duplicate());
        let stored = Stored::seal(&masters, tenant, new)?;
        beside.records.extend([stored.change(), take_name(&stored.credential)]);
        store.commit(beside).await.map_err(|error| match error {
            CommitError::RecordMoved { kind: RecordKind::Credential, .. } => ChangeError::NameTaken,
            other => ChangeError::Unwritten(other),
        })?;
        self.memory.forget(tenant);
        self.known.learn(tenant, stored.credential.id, (1, stored.credential.kind), &value);
        Ok(Credential { revision: 1, ..stored.credential })
    }

    /// Gives a credential another value, in one commit with what is in `beside`. The old value is nowhere afterwards.
    ///
    /// # Errors
    /// See [`ChangeError`].
    pub async fn replace(
        &self,
        tenant: TenantId,
        before: &Credential,
        value: SecretString,
        at: Timestamp,
        mut beside: Commit,
    ) -> Result<Credential, ChangeError> {
        let masters = self.masters();
        InUse::add(&*self.store, masters.active().id()).await.map_err(ChangeError::Unwritten)?;
        let stored = Stored::with_value(&masters, tenant, before, &value, at)?;
        beside.records.push(stored.change());
        self.store.tenant(tenant).commit(beside).await.map_err(moved)?;
        self.memory.forget(tenant);
        let Credential { id, kind, version, revision, .. } = stored.credential;
        self.known.learn(tenant, id, (version, kind), &Arc::new(value));
        Ok(Credential { revision: revision + 1, ..stored.credential })
    }

    /// Removes a credential, in one commit with what is in `beside`.
    ///
    /// # Errors
    /// See [`ChangeError`].
    pub async fn remove(
        &self,
        tenant: TenantId,
        credential: &Credential,
        mut beside: Commit,
    ) -> Result<(), ChangeError> {
        beside.records.extend(deletion(credential));
        self.store.tenant(tenant).commit(beside).await.map_err(moved)?;
        self.memory.forget(tenant);
        self.known.remove(tenant, credential.id);
        Ok(())
    }

    /// The value of a credential, as it is now or was half a minute ago.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open(
        &self,
        tenant: TenantId,
        reference: &Reference,
    ) -> Result<Arc<SecretString>, OpenError> {
        if let Some(value) = self.memory.get(tenant, reference, Instant::now()) {
            return Ok(value);
        }
        let epoch = self.memory.epoch();
        let stored = self.stored(tenant, reference).await?;
        let stored = stored.ok_or_else(|| OpenError::Missing(reference.clone()))?;
        let value = self.opened(tenant, &stored)?;
        self.memory.learn(epoch, tenant, reference, &value, Instant::now());
        Ok(value)
    }

    /// Opens what is stored, and learns it.
    pub(crate) fn opened(&self, tenant: TenantId, stored: &Stored) -> Result<Arc<SecretString>, OpenError> {
        let Credential { id, kind, version, master_key_id: key, .. } = stored.credential;
        let masters = self.masters_with(key).ok_or(OpenError::KeyMissing { id, key })?;
        let value = Arc::new(stored.open(&masters).map_err(|_| OpenError::Unopened(id))?);
        self.known.learn(tenant, id, (version, kind), &value);
        Ok(value)
    }

    /// The records of credentials with ids before `before`, the last id first.
    pub(crate) async fn page(
        &self,
        tenant: TenantId,
        before: Option<&str>,
        limit: NonZeroU32,
    ) -> Result<Vec<Record>, StoreError> {
        let filter = RecordFilter::of(RecordKind::Credential);
        self.store.tenant(tenant).records(&filter, Some(before.unwrap_or(PAST_IDS)), limit).await
    }

    async fn stored(&self, tenant: TenantId, reference: &Reference) -> Result<Option<Stored>, StoreError> {
        let store = self.store.tenant(tenant);
        let id = match reference {
            Reference::Id(id) => *id,
            Reference::Name(name) => match store.record(RecordKind::Credential, &name_id(name)).await? {
                Some(record) => named(&record)?,
                None => return Ok(None),
            },
        };
        let record = store.record(RecordKind::Credential, &id.to_string()).await?;
        record.map(|record| Stored::read(tenant, &record)).transpose()
    }

    pub(crate) fn masters(&self) -> Arc<MasterKeys> {
        Arc::clone(&self.masters.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The master keys, if `key` is among them: read again where it is not, for another process may have rotated.
    fn masters_with(&self, key: KeyId) -> Option<Arc<MasterKeys>> {
        let masters = self.masters();
        if masters.has(key) {
            return Some(masters);
        }
        let reload = self.reload.as_ref()?;
        {
            let (mut last, now) =
                (self.reloaded.lock().unwrap_or_else(PoisonError::into_inner), Instant::now());
            if last.is_some_and(|last| now.saturating_duration_since(last) < RELOAD) {
                return None;
            }
            *last = Some(now);
        }
        let read = Arc::new(reload()?);
        *self.masters.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&read);
        read.has(key).then_some(read)
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("master", &self.master_key_id()).finish_non_exhaustive()
    }
}
