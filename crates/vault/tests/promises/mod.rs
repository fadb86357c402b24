//! What a vault promises, over any store. A backend joins with `promises!(expression that makes an empty store)`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "these are tests, and the name of a promise says all of it"
)]

mod rotation;

pub(crate) use rotation::*;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crypto::{SealKey, SecretString};
use schema::{CredentialId, Tenant, TenantId, Timestamp};
use store::{Commit, RecordBody, RecordChange, RecordKind, Store};
use tokio::task::JoinSet;
use vault::{
    ChangeError, Credential, CredentialKind, MasterKeys, NewCredential, OpenError, Reference, StartError,
    Vault,
};

/// Something that is in no other text.
pub(crate) const MARK: &str = "xq7-marked-secret-zz9";

const MANY: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

pub(crate) type Shared = Arc<dyn Store>;

pub(crate) fn master(number: u8) -> SealKey {
    SealKey::from_bytes([number; 32])
}

/// A vault under the first of these keys, with the others to open.
pub(crate) async fn vault(store: &Shared, keys: &[u8]) -> Vault {
    start(store, keys).await.unwrap()
}

async fn start(store: &Shared, keys: &[u8]) -> Result<Vault, StartError> {
    let old = keys[1..].iter().map(|number| master(*number)).collect();
    Vault::start(store.clone(), MasterKeys::new(master(keys[0]), old), None).await
}

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

pub(crate) async fn tenant(store: &Shared, number: u8) -> TenantId {
    let id = TenantId::new(1_000, [number; 10]);
    let tenants = vec![Tenant { id, name: "t".to_owned(), created_at: at(1_000) }];
    store.tenant(TenantId::NIL).commit(Commit { tenants, ..Commit::default() }).await.unwrap();
    id
}

fn new(name: &str, value: &str) -> NewCredential {
    static MADE: AtomicU8 = AtomicU8::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    NewCredential {
        id: CredentialId::new(1_000 + u64::from(number), [number; 10]),
        name: name.parse().unwrap(),
        kind: CredentialKind::Provider,
        value: secret(value),
        created_by: "installation".to_owned(),
        at: at(1_000),
    }
}

pub(crate) fn secret(value: &str) -> SecretString {
    SecretString::new(value.to_owned())
}

pub(crate) async fn add(vault: &Vault, tenant: TenantId, name: &str, value: &str) -> Credential {
    vault.add(tenant, new(name, value), Commit::default()).await.unwrap()
}

pub(crate) fn reference(text: &str) -> Reference {
    format!("cred:{text}").parse().unwrap()
}

async fn opened(vault: &Vault, tenant: TenantId, name: &str) -> Option<String> {
    match vault.open(tenant, &reference(name)).await {
        Ok(value) => Some(value.expose().clone()),
        Err(OpenError::Missing(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

pub(crate) async fn a_secret_is_opened_by_its_name_and_its_id_and_by_its_own_tenant_alone(store: Shared) {
    let vault = vault(&store, &[1]).await;
    let (alice, bob) = (tenant(&store, 1).await, tenant(&store, 2).await);
    let made = add(&vault, alice, "openai", MARK).await;
    assert_eq!(opened(&vault, alice, "openai").await.as_deref(), Some(MARK));
    assert_eq!(opened(&vault, alice, &made.id.to_string()).await.as_deref(), Some(MARK));
    for stranger in [bob, TenantId::NIL] {
        assert_eq!(opened(&vault, stranger, "openai").await, None);
        assert_eq!(opened(&vault, stranger, &made.id.to_string()).await, None);
        assert_eq!(vault.list(stranger, None, MANY).await.unwrap(), []);
    }
    let missing = vault.open(bob, &reference("openai")).await.unwrap_err().to_string();
    assert!(missing.contains("`cred:openai`"), "{missing}");
    assert_eq!(vault.list(alice, None, MANY).await.unwrap(), [made]);
}

pub(crate) async fn lists_are_newest_first_page_by_page_and_have_nothing_but_credentials(store: Shared) {
    let vault = vault(&store, &[1]).await;
    let ours = TenantId::NIL;
    let mut made = Vec::new();
    for name in ["a", "zz", "crd", "key"] {
        made.push(add(&vault, ours, name, MARK).await.id);
    }
    made.sort();
    made.reverse();
    let (mut found, mut before) = (Vec::new(), None);
    while let [one] = &vault.list(ours, before, NonZeroU32::MIN).await.unwrap()[..] {
        found.push(one.id);
        before = Some(one.id);
    }
    assert_eq!(found, made);
}

pub(crate) async fn another_value_is_used_at_once_and_the_old_one_is_gone(store: Shared) {
    let (vault, ours) = (vault(&store, &[1]).await, TenantId::NIL);
    let made = add(&vault, ours, "openai", "first").await;
    assert_eq!(opened(&vault, ours, "openai").await.as_deref(), Some("first"));
    let replaced = vault.replace(ours, &made, secret("second"), at(2_000), Commit::default()).await.unwrap();
    assert_eq!((replaced.version, replaced.rotated_at), (2, Some(at(2_000))));
    assert_eq!(opened(&vault, ours, "openai").await.as_deref(), Some("second"));
    let stale = vault.replace(ours, &made, secret("third"), at(3_000), Commit::default()).await;
    assert!(matches!(stale, Err(ChangeError::Moved)));
    vault.remove(ours, &replaced, Commit::default()).await.unwrap();
    assert_eq!(opened(&vault, ours, "openai").await, None);
    // The name is free again.
    add(&vault, ours, "openai", "fourth").await;
    assert_eq!(opened(&vault, ours, "openai").await.as_deref(), Some("fourth"));
}

pub(crate) async fn a_name_is_taken_once_however_many_ask_at_once(store: Shared) {
    let vault = Arc::new(vault(&store, &[1]).await);
    let mut asking = JoinSet::new();
    for _ in 0..8 {
        let vault = vault.clone();
        let wanted = new("openai", MARK);
        asking.spawn(async move { vault.add(TenantId::NIL, wanted, Commit::default()).await });
    }
    let results = asking.join_all().await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert!(results.iter().all(|result| matches!(result, Ok(_) | Err(ChangeError::NameTaken))));
    assert_eq!(vault.list(TenantId::NIL, None, MANY).await.unwrap().len(), 1);
}

pub(crate) async fn what_is_committed_beside_is_there_with_the_credential_or_not_at_all(store: Shared) {
    let (vault, ours) = (vault(&store, &[1]).await, TenantId::NIL);
    add(&vault, ours, "openai", MARK).await;
    let beside = || Commit {
        settings: Some(serde_json::Map::from_iter([("a".into(), 1.into())])),
        ..Commit::default()
    };
    let taken = vault.add(ours, new("openai", MARK), beside()).await;
    assert!(matches!(taken, Err(ChangeError::NameTaken)));
    assert!(store.tenant(ours).settings().await.unwrap().is_empty());
    vault.add(ours, new("other", MARK), beside()).await.unwrap();
    assert_eq!(store.tenant(ours).settings().await.unwrap().len(), 1);
}

/// Whoever can write to the database moves what is sealed to where it would be opened for somebody else.
pub(crate) async fn moved_ciphertext_does_not_open(store: Shared) {
    let writer = vault(&store, &[1]).await;
    let (alice, bob) = (tenant(&store, 1).await, tenant(&store, 2).await);
    let hers = add(&writer, alice, "hers", MARK).await;
    let his = add(&writer, bob, "his", "his own").await;
    let record =
        store.tenant(alice).record(RecordKind::Credential, &hers.id.to_string()).await.unwrap().unwrap();
    let put = async |tenant: TenantId, id: CredentialId, body: serde_json::Value| {
        let there = store.tenant(tenant).record(RecordKind::Credential, &id.to_string()).await.unwrap();
        let to = RecordBody {
            group: record.group.clone(),
            key: None,
            body,
            created_at: record.created_at,
            due_at: None,
        };
        let change = RecordChange {
            kind: RecordKind::Credential,
            id: id.to_string(),
            expected: there.map_or(0, |record| record.version),
            to: Some(to),
        };
        store.tenant(tenant).commit(Commit { records: vec![change], ..Commit::default() }).await.unwrap();
        // One that has nothing in its memory.
        let reader = vault(&store, &[1]).await;
        let result = reader.open(tenant, &Reference::Id(id)).await;
        assert!(matches!(result, Err(OpenError::Unopened(_))), "{result:?}");
        assert!(reader.known().all().is_empty());
    };
    // To another id of another tenant, to the same id there, to another id of the same tenant, to another version.
    put(bob, his.id, record.body.clone()).await;
    put(bob, hers.id, record.body.clone()).await;
    put(alice, CredentialId::new(7, [7; 10]), record.body.clone()).await;
    let mut later = record.body.clone();
    later["version"] = 2.into();
    put(alice, hers.id, later).await;
    // And back where it belongs.
    let home = RecordChange {
        kind: RecordKind::Credential,
        id: hers.id.to_string(),
        expected: 2,
        to: Some(RecordBody {
            group: record.group.clone(),
            key: None,
            body: record.body.clone(),
            created_at: record.created_at,
            due_at: None,
        }),
    };
    store.tenant(alice).commit(Commit { records: vec![home], ..Commit::default() }).await.unwrap();
    assert_eq!(opened(&vault(&store, &[1]).await, alice, "hers").await.as_deref(), Some(MARK));
}

pub(crate) async fn a_vault_does_not_start_under_the_wrong_key(store: Shared) {
    // While nothing is in it, any key will do.
    start(&store, &[9]).await.unwrap();
    let tenant = tenant(&store, 1).await;
    add(&vault(&store, &[1]).await, tenant, "openai", MARK).await;
    let refused = start(&store, &[2]).await.unwrap_err();
    assert!(matches!(&refused, StartError::KeyMissing { missing, .. } if *missing == master(1).id()));
    assert!(refused.to_string().contains(&master(2).id().to_string()), "{refused}");
    start(&store, &[2, 1]).await.unwrap();
}

pub(crate) async fn what_another_process_adds_is_known_after_a_look(store: Shared) {
    let (one, other) = (vault(&store, &[1]).await, vault(&store, &[1]).await);
    let alice = tenant(&store, 1).await;
    add(&one, alice, "a", MARK).await;
    add(&one, TenantId::NIL, "b", "of the house").await;
    assert!(other.known().all().is_empty());
    other.refresh(alice).await.unwrap();
    let known: BTreeSet<String> =
        other.known().values(alice).iter().map(|value| value.expose().clone()).collect();
    assert_eq!(known, BTreeSet::from([MARK.to_owned(), "of the house".to_owned()]));
}

/// One test for each promise, against the store that the expression makes.
macro_rules! promises {
    (@each $store:expr; $($promise:ident)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $promise() {
            promises::$promise($store).await;
        }
    )*};
    ($store:expr) => {
        $crate::promises::promises! { @each $store;
            a_secret_is_opened_by_its_name_and_its_id_and_by_its_own_tenant_alone
            lists_are_newest_first_page_by_page_and_have_nothing_but_credentials
            another_value_is_used_at_once_and_the_old_one_is_gone
            a_name_is_taken_once_however_many_ask_at_once
            what_is_committed_beside_is_there_with_the_credential_or_not_at_all
            moved_ciphertext_does_not_open
            a_vault_does_not_start_under_the_wrong_key
            a_rotation_re_wraps_all_and_touches_no_value
            a_rotation_killed_after_any_commit_is_resumed
            what_does_not_open_is_left_and_told
            what_another_process_adds_is_known_after_a_look
            a_process_that_does_not_know_a_new_master_key_reads_it_again
        }
    };
}
pub(crate) use promises;
