//! What tools gave, kept for the next time they are asked the same: for tools that change nothing.

use std::borrow::Cow;
use std::num::NonZeroU32;

use axum::Json;
use axum::extract::State;
use redaction::Lexicon;
use schema::{Digest, SideEffectLevel, Subject, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{CacheHeld, CacheKind, CacheWrite, Commit};

use crate::app::App;
use crate::clock::now;
use crate::error::{ApiError, unrecorded};
use crate::identity::Caller;
use crate::strict::Body;
use crate::text::Name;

/// How large a result may be.
const MOST_BYTES: usize = 1 << 20;
/// How many results a tenant may have.
const MOST_ENTRIES: NonZeroU32 = NonZeroU32::new(50_000).unwrap();

/// A call of a tool that may have been made before.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ToolCall {
    tool_name: Name,
    /// Whom it is about; the one in `x-punk-subject` when left out.
    #[serde(default)]
    subject: Option<Subject>,
    /// Its arguments; the order of members does not matter.
    args: Value,
}

/// What the call gave before.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ToolHit {
    hit: bool,
    /// What the tool gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
}

/// What a call gave, to be kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewToolResult {
    tool_name: Name,
    /// Whom it is about; the one in `x-punk-subject` when left out.
    #[serde(default)]
    subject: Option<Subject>,
    /// The arguments of the call.
    args: Value,
    /// What the tool gave, at most 1 MiB.
    result: Value,
    /// For how long it serves; at most a day.
    #[schemars(range(min = 1, max = 86_400))]
    ttl_seconds: u64,
    /// How much the tool changes; only 0 and 1 can be kept.
    #[serde(default)]
    side_effect_level: Option<SideEffectLevel>,
}

/// Whether it was kept.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolStored {
    stored: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

pub(crate) async fn check(
    State(app): State<App>,
    caller: Caller,
    Body(ToolCall { tool_name, subject, args }): Body<ToolCall>,
) -> Result<Json<ToolHit>, ApiError> {
    let key = key(&tool_name, subject.as_ref().or(caller.subject.as_ref()), &args)?;
    let store = app.of(caller.tenant);
    let found = store.cached(CacheKind::ToolResult, key, now()).await.unwrap_or_else(|error| {
        // A cache that cannot be read is skipped; the tool is asked.
        tracing::warn!(error = &error as &dyn std::error::Error, "the tool cache cannot be read");
        None
    });
    let Some(CacheHeld::Value(bytes)) = found.map(|row| row.held) else {
        return Ok(Json(ToolHit::default()));
    };
    let Ok(result) = serde_json::from_slice(&bytes) else { return Ok(Json(ToolHit::default())) };
    if let Err(error) = store.touch(CacheKind::ToolResult, key).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "a hit in the tool cache was not counted");
    }
    Ok(Json(ToolHit { hit: true, result: Some(result) }))
}

pub(crate) async fn store(
    State(app): State<App>,
    caller: Caller,
    Body(new): Body<NewToolResult>,
) -> Result<Json<ToolStored>, ApiError> {
    let NewToolResult { tool_name, subject, args, result, ttl_seconds, side_effect_level } = new;
    if !(1..=cache::MAX_TTL_SECONDS).contains(&ttl_seconds) {
        return Err(refused("ttlSeconds", "expected 1 to 86400"));
    }
    if side_effect_level.is_some_and(|level| level > SideEffectLevel::Read) {
        return Err(refused(
            "sideEffectLevel",
            "what changes something must be done each time; only 0 and 1 are kept",
        ));
    }
    let subject = subject.or(caller.subject);
    let key = key(&tool_name, subject.as_ref(), &args)?;
    let text = result.to_string();
    if text.len() > MOST_BYTES {
        return Err(refused("result", "it is longer than 1 MiB"));
    }
    // Nothing secret is kept, and a result with something taken out of it is not what the tool gave.
    if matches!(app.house.of(caller.tenant).recorded(&text, &mut Lexicon::default(), true), Cow::Owned(_)) {
        let reason = Some("it has a secret or personal data in it");
        return Ok(Json(ToolStored { stored: false, reason }));
    }
    let at = now();
    let write = CacheWrite {
        kind: CacheKind::ToolResult,
        key,
        bytes: text.len() as u64,
        held: CacheHeld::Value(text.into_bytes()),
        subject,
        model: None,
        created_at: at,
        expires_at: Timestamp::from_millis(at.as_millis() + ttl_seconds * 1_000).unwrap_or(Timestamp::LAST),
        at_most: Some(MOST_ENTRIES),
    };
    let commit = Commit { cache: vec![write], ..Commit::default() };
    app.of(caller.tenant).commit(commit).await.map_err(unrecorded)?;
    Ok(Json(ToolStored { stored: true, reason: None }))
}

fn key(tool: &Name, subject: Option<&Subject>, args: &Value) -> Result<Digest, ApiError> {
    cache::tool_key(tool.as_str(), subject, args).map_err(|error| refused("args", &error.to_string()))
}

fn refused(param: &str, why: &str) -> ApiError {
    ApiError::Malformed { param: param.to_owned(), message: format!("{param}: {why}") }
}
