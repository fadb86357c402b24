//! What is kept to be answered again, over REST: how much of it, and taking it out.

use axum::Json;
use axum::extract::State;
use schema::{Subject, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{CACHE_INVALIDATED, CacheFilter, CacheKind, Commit};

use crate::app::App;
use crate::audit::Change;
use crate::clock::now;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;
use crate::strict::Params;
use crate::text::Name;

/// What the entries of a kind come to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KindStats {
    #[schemars(with = "CacheType")]
    cache_type: CacheKind,
    /// How many serve.
    entries: u64,
    /// How often they did.
    hits: u64,
    /// How large what they serve is.
    bytes: u64,
}

/// What an entry is.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "the schema of `store::CacheKind`, which describes no REST")]
enum CacheType {
    ExactResponse,
    ToolResult,
    Evaluation,
    Negative,
}

/// What is kept, by kind.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CacheReport {
    stats: Vec<KindStats>,
}

/// Which entries: those that fit everything that is said. Nothing said means all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct InvalidateQuery {
    /// Of this kind.
    #[serde(default)]
    #[schemars(with = "Option<CacheType>")]
    cache_type: Option<CacheKind>,
    /// Answers of this model.
    #[serde(default)]
    model: Option<Name>,
    /// About this person.
    #[serde(default)]
    subject: Option<Subject>,
    /// Made before then.
    #[serde(default)]
    older_than: Option<Timestamp>,
}

/// What was taken out.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Removed {
    /// How many entries.
    removed: u64,
}

pub(crate) async fn stats(State(app): State<App>, caller: Caller) -> Result<Json<CacheReport>, ApiError> {
    let found = app.of(caller.tenant).cache_stats(now()).await.map_err(unread)?;
    // A kind without entries is told too: that there are none is an answer.
    let stats = CacheKind::ALL.map(|kind| {
        let found = found.iter().find(|stats| stats.kind == kind);
        let (entries, hits, bytes) =
            found.map_or((0, 0, 0), |found| (found.entries, found.hits, found.bytes));
        KindStats { cache_type: kind, entries, hits, bytes }
    });
    Ok(Json(CacheReport { stats: stats.into() }))
}

pub(crate) async fn invalidate(
    State(app): State<App>,
    caller: Caller,
    Params(InvalidateQuery { cache_type, model, subject, older_than }): Params<InvalidateQuery>,
) -> Result<Json<Removed>, ApiError> {
    let store = app.of(caller.tenant);
    let subject = match subject {
        None => None,
        Some(name) => match store.subject(&name).await.map_err(unread)? {
            Some(id) => Some(id),
            // Nothing is about somebody who is not known.
            None => return Ok(Json(Removed { removed: 0 })),
        },
    };
    let filter =
        CacheFilter { kind: cache_type, model: model.map(String::from), subject, older_than, key: None };
    // On record first: a rebuild reads it, so what a crash leaves in is taken out then.
    let details = json!({ "filter": filter });
    let change =
        Change { tenant: caller.tenant, at: now(), action: CACHE_INVALIDATED, target: "cache", details };
    let commit = Commit { appends: vec![change.record(&app, &caller)?], ..Commit::default() };
    store.commit(commit).await.map_err(unrecorded)?;
    let removed = store.invalidate(&filter).await.map_err(unread)?;
    Ok(Json(Removed { removed }))
}
