//! What is promised of API keys.

use ledger::sha256;
use schema::{ApiKey, ApiKeyId, Digest, GatewayMode, Scope};

use super::{Corner, Story, at, limit};
use crate::{Commit, CommitError, KeyChange, Store};

/// A key of the corner's tenant.
pub(super) fn key(corner: &Corner) -> ApiKey {
    ApiKey {
        id: corner.fresh(),
        tenant: corner.id,
        name: "a key of \u{1f511} \"mine\"\u{0}".to_owned(),
        scopes: vec![Scope::Gateway, Scope::Read],
        app: Some("shop".to_owned()),
        admin: false,
        gateway_mode: GatewayMode::Enforce,
        requests_per_minute: Some(600),
        created_by: Some(corner.fresh()),
        created_by_user: Some(corner.fresh()),
        created_at: at(1_000),
        expires_at: Some(at(9_000)),
        revoked_at: None,
    }
}

pub(super) fn hash(key: &ApiKey) -> Digest {
    sha256(key.id.as_bytes())
}

pub(super) async fn change(corner: &Corner, keys: Vec<KeyChange>) -> Result<(), CommitError> {
    corner.tenant.commit(Commit { keys, ..Commit::default() }).await
}

pub(super) fn create(key: &ApiKey) -> KeyChange {
    KeyChange::Create { key: key.clone(), hash: hash(key) }
}

pub async fn a_key_is_found_by_the_hash_of_its_token(store: &dyn Store) {
    let corner = Corner::of(store);
    let (one, plain) =
        (key(&corner), ApiKey { app: None, expires_at: None, created_by: None, ..key(&corner) });
    assert_eq!(store.key(hash(&one)).await.unwrap(), None);
    change(&corner, vec![create(&one), create(&plain)]).await.unwrap();
    for key in [one, plain] {
        assert_eq!(store.key(hash(&key)).await.unwrap(), Some(key.clone()));
        assert_eq!(corner.tenant.api_key(key.id).await.unwrap(), Some(key));
    }
    assert_eq!(store.key(sha256(b"another token")).await.unwrap(), None);
    assert_eq!(corner.tenant.api_key(corner.fresh()).await.unwrap(), None);
}

pub async fn keys_are_listed_newest_first_page_by_page(store: &dyn Store) {
    let corner = Corner::of(store);
    let keys: Vec<ApiKey> = (0..5).map(|_| key(&corner)).collect();
    for step in 0..keys.len() {
        change(&corner, vec![create(&keys[step * 3 % keys.len()])]).await.unwrap();
    }
    let newest_first: Vec<ApiKey> = keys.iter().rev().cloned().collect();
    assert_eq!(corner.tenant.api_keys(None, limit(9)).await.unwrap(), newest_first);
    assert_eq!(corner.tenant.api_keys(None, limit(2)).await.unwrap(), newest_first[..2]);
    assert_eq!(corner.tenant.api_keys(Some(keys[3].id), limit(2)).await.unwrap(), newest_first[2..4]);
    assert_eq!(corner.tenant.api_keys(Some(keys[0].id), limit(2)).await.unwrap(), []);
}

pub async fn a_key_that_is_taken_back_is_so_at_once_and_once(store: &dyn Store) {
    let corner = Corner::of(store);
    let (mine, other) = (key(&corner), key(&corner));
    change(&corner, vec![create(&mine), create(&other)]).await.unwrap();
    for moment in [5_000, 6_000] {
        change(&corner, vec![KeyChange::Revoke { id: mine.id, at: at(moment) }]).await.unwrap();
        let revoked = ApiKey { revoked_at: Some(at(5_000)), ..mine.clone() };
        assert_eq!(store.key(hash(&mine)).await.unwrap(), Some(revoked.clone()), "the first time counts");
        assert_eq!(corner.tenant.api_key(mine.id).await.unwrap(), Some(revoked));
    }
    assert_eq!(store.key(hash(&other)).await.unwrap(), Some(other));
}

pub async fn a_key_commits_with_its_record_or_not_at_all(store: &dyn Store) {
    let corner = Corner::of(store);
    let (kept, unknown): (ApiKey, ApiKeyId) = (key(&corner), corner.fresh());
    let mut record = corner.story();
    let commit = Commit { appends: vec![record.finish()], keys: vec![create(&kept)], ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();
    assert_eq!(corner.read(record.run).await.len(), 2);

    // A record that cannot be written: no key is made, and none is taken back.
    let new = key(&corner);
    let keys = vec![create(&new), KeyChange::Revoke { id: kept.id, at: at(5_000) }];
    let stale = Story::new(corner.id, record.run).finish();
    let refused = corner.tenant.commit(Commit { appends: vec![stale], keys, ..Commit::default() }).await;
    assert!(matches!(refused, Err(CommitError::Moved { .. })), "{refused:?}");
    assert_eq!(store.key(hash(&new)).await.unwrap(), None);
    assert_eq!(store.key(hash(&kept)).await.unwrap(), Some(kept.clone()));

    // A key that is not there: nothing is recorded, and nothing else is done.
    let mut lone = corner.story();
    let keys = vec![create(&new), KeyChange::Revoke { id: unknown, at: at(5_000) }];
    let commit = Commit { appends: vec![lone.finish()], keys, ..Commit::default() };
    let refused = corner.tenant.commit(commit).await.unwrap_err();
    assert!(matches!(refused, CommitError::NoKey(id) if id == unknown), "{refused:?}");
    assert_eq!(store.key(hash(&new)).await.unwrap(), None);
    assert_eq!(corner.read(lone.run).await, []);
}

pub async fn no_two_keys_share_an_id_or_a_token(store: &dyn Store) {
    let (corner, stranger) = (Corner::of(store), Corner::of(store));
    let first = key(&corner);
    change(&corner, vec![create(&first)]).await.unwrap();
    let same_id = KeyChange::Create { key: first.clone(), hash: sha256(b"another token of it") };
    let (other, foreign) = (key(&corner), key(&stranger));
    let same_token = KeyChange::Create { key: other.clone(), hash: hash(&first) };
    let their_token = KeyChange::Create { key: foreign.clone(), hash: hash(&first) };
    let twice = vec![create(&other), KeyChange::Create { key: other.clone(), hash: sha256(b"twice") }];
    let cases = [
        ("its id", &corner, vec![same_id], first.id),
        ("its token", &corner, vec![same_token], other.id),
        ("its token, elsewhere", &stranger, vec![their_token], foreign.id),
        ("another tenant's", &corner, vec![create(&foreign)], foreign.id),
        ("twice at once", &corner, twice, other.id),
    ];
    for (case, at, keys, id) in cases {
        let refused = change(at, keys).await;
        assert!(matches!(refused, Err(CommitError::KeyTaken(taken)) if taken == id), "{case}: {refused:?}");
    }
    assert_eq!(store.key(hash(&first)).await.unwrap(), Some(first));
    assert_eq!(corner.tenant.api_key(other.id).await.unwrap(), None);
}
