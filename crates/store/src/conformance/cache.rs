//! What is promised of the cache.

use std::num::NonZeroU32;

use ledger::{Event, sha256};
use schema::Digest;
use serde_json::json;

use super::subject::{erase, masters, named};
use super::{Corner, Story, at};
use crate::{
    Append, CACHE_INVALIDATED, CacheFilter, CacheHeld, CacheKind, CacheRow, CacheWrite, Commit, CommitError,
    Rebuilt, Seal, Settle, Store,
};

const EXACT: CacheKind = CacheKind::ExactResponse;
const TOOL: CacheKind = CacheKind::ToolResult;
/// When every entry here is alive, by the clock of stories.
const NOW: u64 = 2_000_000;

fn key(name: &str) -> Digest {
    sha256(name.as_bytes())
}

/// A value that expires in 3000 seconds.
pub(super) fn value(name: &str, created: u64) -> CacheWrite {
    CacheWrite {
        kind: TOOL,
        key: key(name),
        held: CacheHeld::Value(name.as_bytes().to_vec()),
        subject: None,
        model: None,
        created_at: at(created),
        expires_at: at(3_000_000),
        bytes: name.len() as u64,
        at_most: None,
    }
}

/// A finished run whose answer may serve again.
pub(super) fn answered(story: &mut Story, name: &str, expires: u64) -> (Append, CacheWrite) {
    let fields = json!({ "kind": "chat", "model": "small", "agent": "helper" });
    let started = story.event("run.started", fields);
    let fields = json!({
        "status": "completed", "cacheKey": key(name), "cacheExpiresAt": at(expires), "cacheBytes": 40, "answer": name,
    });
    let finished = story.event("run.finished", fields);
    let append = story.append(vec![started, finished], Settle::Leaf);
    let write = CacheWrite::of_run(story.run, &append.events, None).expect("its events ask for it");
    (append, write)
}

async fn put(corner: &Corner, cache: Vec<CacheWrite>) {
    corner.tenant.commit(Commit { cache, ..Commit::default() }).await.unwrap();
}

async fn answer(corner: &Corner, name: &str, subject: Option<&str>) -> (Story, CacheWrite) {
    let mut story = corner.story();
    let (append, write) = answered(&mut story, name, 3_000_000);
    let append = Append { subject: subject.and_then(named), ..append };
    let commit = Commit { appends: vec![append], cache: vec![write.clone()], ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();
    (story, write)
}

async fn look(corner: &Corner, kind: CacheKind, name: &str) -> Option<CacheRow> {
    corner.tenant.cached(kind, key(name), at(NOW)).await.unwrap()
}

pub async fn an_entry_serves_until_it_expires_and_a_newer_one_replaces_it(store: &dyn Store) {
    let corner = Corner::of(store);
    assert_eq!(look(&corner, TOOL, "a").await, None);
    let write = CacheWrite { model: Some("small \u{0} é".to_owned()), ..value("a", 1_000) };
    put(&corner, vec![write.clone(), value("b", 1_000)]).await;
    let row = look(&corner, TOOL, "a").await.unwrap();
    assert_eq!(row, CacheRow::new(write.clone(), None));
    assert_eq!(corner.tenant.cached(TOOL, key("a"), at(2_999_999)).await.unwrap(), Some(row));
    assert_eq!(corner.tenant.cached(TOOL, key("a"), at(3_000_000)).await.unwrap(), None, "it has expired");
    assert_eq!(look(&corner, EXACT, "a").await, None, "of another kind");

    let newer =
        CacheWrite { held: CacheHeld::Value(vec![0, 1, 255]), created_at: at(2_000), ..write.clone() };
    put(&corner, vec![newer.clone()]).await;
    put(&corner, vec![write]).await;
    assert_eq!(
        look(&corner, TOOL, "a").await,
        Some(CacheRow::new(newer, None)),
        "the older one changes nothing"
    );
}

pub async fn an_answer_serves_while_its_run_is_there(store: &dyn Store) {
    let corner = Corner::of(store);
    let (story, write) = answer(&corner, "a", None).await;
    assert_eq!(write.expires_at, at(3_000_000));
    let row = look(&corner, EXACT, "a").await.unwrap();
    assert_eq!((&row.held, row.bytes, row.model.as_deref()), (&CacheHeld::Run(story.run), 40, Some("small")));
    // A run that is not there makes no entry,
    let (_, nowhere) = answered(&mut corner.story(), "b", 3_000_000);
    put(&corner, vec![nowhere]).await;
    assert_eq!(look(&corner, EXACT, "b").await, None);
    // nor does one whose commit is refused,
    let (mut third, mut fourth) = (corner.story(), Story::new(corner.id, story.run));
    let (append, cached) = answered(&mut third, "c", 3_000_000);
    let commit = Commit { appends: vec![append, fourth.finish()], cache: vec![cached], ..Commit::default() };
    assert!(matches!(corner.tenant.commit(commit).await, Err(CommitError::Moved { .. })));
    assert_eq!(look(&corner, EXACT, "c").await, None);
    // and one that is given up takes its answer with it.
    let seal = vec![Seal { run: story.run, expected: story.seq() }];
    corner.tenant.commit(Commit { seal, ..Commit::default() }).await.unwrap();
    assert_eq!(look(&corner, EXACT, "a").await, None);
    assert_eq!(corner.tenant.sweep_cache(at(NOW)).await.unwrap(), 1);
    assert_eq!(corner.tenant.cache_stats(at(NOW)).await.unwrap(), []);
}

pub async fn an_erased_subject_is_gone_from_the_cache(store: &dyn Store) {
    store.seal_with(masters());
    let corner = Corner::of(store);
    answer(&corner, "ada's", Some("ada")).await;
    let (_, bobs) = answer(&corner, "bob's", Some("bob")).await;
    let secret = CacheWrite { subject: named("ada"), ..value("a secret", 1_000) };
    put(&corner, vec![secret, value("of nobody", 1_000)]).await;
    let id = corner.tenant.subject(&named("ada").unwrap()).await.unwrap().unwrap();
    let row = look(&corner, TOOL, "a secret").await.unwrap();
    assert_eq!((row.held, row.subject), (CacheHeld::Value(b"a secret".to_vec()), Some(id)));
    assert_eq!(look(&corner, EXACT, "ada's").await.unwrap().subject, Some(id));

    erase(&corner, "ada").await.unwrap();
    // At once, before any view was told.
    assert_eq!(look(&corner, TOOL, "a secret").await, None);
    assert_eq!(look(&corner, EXACT, "ada's").await, None);
    for view in store.views() {
        view.forget(corner.id, id).await.unwrap();
    }
    assert_eq!(corner.tenant.sweep_cache(at(NOW)).await.unwrap(), 0, "nothing of hers is left to sweep");
    assert!(look(&corner, TOOL, "of nobody").await.is_some());
    assert_eq!(look(&corner, EXACT, "bob's").await.unwrap().held, bobs.held);
    // She can come back, and what comes now is sealed anew.
    put(&corner, vec![CacheWrite { subject: named("ada"), ..value("a secret", 2_000) }]).await;
    assert_eq!(look(&corner, TOOL, "a secret").await.unwrap().held, CacheHeld::Value(b"a secret".to_vec()));
}

pub async fn what_served_is_counted(store: &dyn Store) {
    let (corner, stranger) = (Corner::of(store), Corner::of(store));
    let (_, write) = answer(&corner, "a", None).await;
    put(&corner, vec![value("x", 1), value("yy", 1), CacheWrite { expires_at: at(5), ..value("old", 1) }])
        .await;
    put(&stranger, vec![value("x", 1)]).await;
    corner.tenant.touch(TOOL, key("x")).await.unwrap();
    corner.tenant.touch(TOOL, key("nothing")).await.unwrap();
    let touched = vec![(TOOL, key("x")), (TOOL, key("x")), (EXACT, write.key)];
    let commit = Commit { appends: vec![corner.story().finish()], touched, ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();
    assert_eq!(look(&corner, TOOL, "x").await.unwrap().hits, 3);
    assert_eq!(look(&stranger, TOOL, "x").await.unwrap().hits, 0);
    let stats = corner.tenant.cache_stats(at(NOW)).await.unwrap();
    let stats: Vec<_> = stats.iter().map(|sum| (sum.kind, sum.entries, sum.hits, sum.bytes)).collect();
    assert_eq!(stats, [(EXACT, 1, 1, 40), (TOOL, 2, 3, 3)], "what has expired is not counted");
    // What replaces an entry starts afresh.
    put(&corner, vec![value("x", 9)]).await;
    assert_eq!(look(&corner, TOOL, "x").await.unwrap().hits, 0);
    assert_eq!(corner.tenant.sweep_cache(at(NOW)).await.unwrap(), 1);
}

pub async fn only_what_a_filter_fits_is_taken_out(store: &dyn Store) {
    store.seal_with(masters());
    let (corner, stranger) = (Corner::of(store), Corner::of(store));
    let fill = async || {
        let of = |model: &str, name: &str, created| CacheWrite {
            model: Some(model.to_owned()),
            ..value(name, created)
        };
        let hers = CacheWrite { subject: named("ada"), ..of("large", "3", 30) };
        put(&corner, vec![of("small", "1", 10), of("large", "2", 20), hers, value("4", 40)]).await;
        put(&stranger, vec![of("small", "1", 10)]).await;
        if look(&corner, EXACT, "5").await.is_none() {
            answer(&corner, "5", None).await;
        }
    };
    fill().await;
    let ada = corner.tenant.subject(&named("ada").unwrap()).await.unwrap();
    let all = CacheFilter::default();
    let cases = [
        (CacheFilter { kind: Some(EXACT), ..all.clone() }, "1234"),
        (CacheFilter { kind: Some(TOOL), ..all.clone() }, "5"),
        (CacheFilter { model: Some("large".to_owned()), ..all.clone() }, "145"),
        (CacheFilter { model: Some("small".to_owned()), ..all.clone() }, "234"),
        (CacheFilter { subject: ada, ..all.clone() }, "1245"),
        (CacheFilter { older_than: Some(at(30)), ..all.clone() }, "345"),
        (CacheFilter { key: Some(key("4")), ..all.clone() }, "1235"),
        (CacheFilter { model: Some("large".to_owned()), older_than: Some(at(30)), ..all.clone() }, "1345"),
        (CacheFilter { key: Some(key("4")), kind: Some(EXACT), ..all.clone() }, "12345"),
        (all, ""),
    ];
    for (filter, left) in cases {
        fill().await;
        let out = corner.tenant.invalidate(&filter).await.unwrap();
        assert_eq!(out, 5 - left.len() as u64, "{filter:?}");
        for name in ["1", "2", "3", "4", "5"] {
            let kind = if name == "5" { EXACT } else { TOOL };
            assert_eq!(
                look(&corner, kind, name).await.is_some(),
                left.contains(name),
                "{name} of {filter:?}"
            );
        }
    }
    assert!(look(&stranger, TOOL, "1").await.is_some(), "another tenant's");
}

pub async fn a_kind_is_kept_near_its_bound_and_its_newest_stay(store: &dyn Store) {
    const MANY: u64 = 600;
    let corner = Corner::of(store);
    let bound = NonZeroU32::new(20);
    put(&corner, vec![CacheWrite { kind: EXACT, ..value("of another kind", 1) }]).await;
    for number in 0..MANY {
        put(&corner, vec![CacheWrite { at_most: bound, ..value(&number.to_string(), 1_000 + number / 3) }])
            .await;
    }
    let stats = corner.tenant.cache_stats(at(NOW)).await.unwrap();
    let entries = stats.iter().find(|stats| stats.kind == TOOL).unwrap().entries;
    assert!((20..200).contains(&entries), "{entries} entries");
    for number in MANY - 20..MANY {
        assert!(look(&corner, TOOL, &number.to_string()).await.is_some(), "{number}");
    }
    assert!(look(&corner, EXACT, "of another kind").await.is_some());
}

pub async fn entries_made_again_are_equal_to_what_was_there(store: &dyn Store) {
    store.seal_with(masters());
    let corner = Corner::of(store);
    let view = store.views().into_iter().find(|view| view.name() == "cache").unwrap();
    let names = ["a", "b", "c", "d"];
    for name in names {
        answer(&corner, name, (name == "b").then_some("ada")).await;
    }
    // The same question answered twice: the newer answer serves.
    let (newer, _) = answer(&corner, "a", None).await;
    let mut expired = corner.story();
    let (append, write) = answered(&mut expired, "expired", 1_000_001);
    corner
        .tenant
        .commit(Commit { appends: vec![append], cache: vec![write], ..Commit::default() })
        .await
        .unwrap();
    corner.tenant.touch(EXACT, key("c")).await.unwrap();
    let all = async || {
        let mut all = Vec::new();
        for name in names {
            all.push(look(&corner, EXACT, name).await);
        }
        all
    };
    let before = all().await;
    assert_eq!(before[0].as_ref().unwrap().held, CacheHeld::Run(newer.run));
    assert_eq!(view.rebuild(corner.id).await.unwrap(), Rebuilt { entries: 4, repaired: 0 });
    assert_eq!(all().await, before, "hits are kept where nothing was wrong");

    // What was lost comes back, and what was taken out on record stays out.
    corner.tenant.invalidate(&CacheFilter::default()).await.unwrap();
    assert_eq!(view.rebuild(corner.id).await.unwrap(), Rebuilt { entries: 4, repaired: 4 });
    let without_hits = |rows: Vec<Option<CacheRow>>| -> Vec<Option<CacheRow>> {
        rows.into_iter().map(|row| row.map(|row| CacheRow { hits: 0, ..row })).collect()
    };
    assert_eq!(all().await, without_hits(before));
    let filter = CacheFilter { key: Some(key("c")), ..CacheFilter::default() };
    let mut record = corner.story();
    let events: Vec<Event> = vec![
        record.event("run.started", json!({ "kind": "audit" })),
        record.event(CACHE_INVALIDATED, json!({ "filter": filter })),
        record.event("run.finished", json!({ "status": "completed" })),
    ];
    corner.append([record.append(events, Settle::Leaf)]).await.unwrap();
    corner.tenant.invalidate(&CacheFilter::default()).await.unwrap();
    assert_eq!(view.rebuild(corner.id).await.unwrap(), Rebuilt { entries: 3, repaired: 3 });
    assert_eq!(look(&corner, EXACT, "c").await, None);

    // An erased subject does not come back.
    erase(&corner, "ada").await.unwrap();
    corner.tenant.sweep_cache(at(NOW)).await.unwrap();
    assert_eq!(view.rebuild(corner.id).await.unwrap(), Rebuilt { entries: 2, repaired: 0 });
}
