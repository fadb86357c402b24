//! Conversations over REST: begin one, list them, look at one, rename it, delete it. Saying something is in `turn.rs`.
//!
//! A conversation is a record that says which runs it consists of (`kept.rs`), and nothing that anybody said: that is in
//! those runs, tokenised and sealed as everything in the ledger, and read from there (`words.rs`). So what is forgotten
//! there is forgotten here.
//!
//! - A person sees their own conversations and nobody else's. Keys, machines and whoever operates the installation share
//!   those of the tenant that no person began.
//! - A turn that failed or was blocked leaves nothing behind but its run.

mod kept;
mod told;
mod turn;
mod words;

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use schema::{ConversationId, MicroUsd, Route, RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::kept::{Conversation, Words};
pub(crate) use self::turn::{NewTurn, create as turn};
use crate::app::App;
use crate::clock::now;
use crate::error::ApiError;
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::{Body, Params};
use crate::text::{Name, Prompt};

/// A conversation to be begun.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewConversation {
    /// What it is about. Without one it goes by its first words.
    #[serde(default)]
    title: Option<Name>,
    /// Who answers, unless a turn says otherwise.
    #[serde(default)]
    model: Option<Name>,
    /// What the model is told before everything else.
    #[serde(default)]
    system: Option<Prompt>,
}

/// What becomes of a conversation; what is left out stays as it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConversationPatch {
    /// What it is about.
    #[serde(default)]
    title: Option<Name>,
    /// Who answers from now on.
    #[serde(default)]
    model: Option<Name>,
    /// What the model is told before everything else from now on.
    #[serde(default)]
    system: Option<Prompt>,
}

/// Which conversations.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConversationQuery {
    /// The `next` of the page before.
    #[serde(default)]
    before: Option<ConversationId>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// Conversations, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationPage {
    conversations: Vec<ShownConversation>,
    /// Where the next page begins; null on the last.
    next: Option<ConversationId>,
}

/// A conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OneConversation {
    conversation: ShownConversation,
}

/// A conversation and all that was said.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationDetail {
    conversation: ShownConversation,
    /// Oldest first.
    turns: Vec<ShownTurn>,
}

/// A conversation was deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeletedConversation")]
pub(crate) struct Deleted {
    deleted: bool,
    id: ConversationId,
}

/// A conversation as REST shows it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Conversation")]
struct ShownConversation {
    id: ConversationId,
    /// What it is about: as it was named, or by its first words. Null when there is neither, or both were forgotten.
    title: Option<String>,
    /// Who answers, unless a turn says otherwise.
    model: Option<String>,
    /// What the model is told before everything else.
    system: Option<String>,
    /// How many turns it has.
    turns: u64,
    /// What they cost together; null when one has no known price.
    cost_usd: Option<MicroUsd>,
    /// What cheaper routes saved.
    saved_usd: MicroUsd,
    created_at: Timestamp,
    /// When it was last spoken in, or changed.
    updated_at: Timestamp,
}

/// One turn: what was said, and what was answered.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Turn")]
struct ShownTurn {
    /// The run that it was.
    run_id: RunId,
    at: Timestamp,
    /// What was said, with placeholders where something is not recorded. Null when it was forgotten.
    content: Option<String>,
    /// What was answered, likewise.
    reply: Option<String>,
    /// Who was asked.
    model: String,
    /// The way it was answered.
    route: Route,
    /// What it cost; null when the price is not known.
    cost_usd: Option<MicroUsd>,
    /// What the live route would have cost on top.
    saved_usd: MicroUsd,
    /// From the first byte in to the last byte out.
    latency_ms: u64,
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(ConversationQuery { before, limit }): Params<ConversationQuery>,
) -> Result<Json<ConversationPage>, ApiError> {
    let found = kept::list(&app, &caller, before, limit.and_one()).await?;
    let (found, next) = limit.cut(found, |conversation| conversation.id);
    let mut conversations = Vec::new();
    for conversation in &found {
        conversations.push(shown(&app, &caller, conversation).await?);
    }
    Ok(Json(ConversationPage { conversations, next }))
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Body(NewConversation { title, model, system }): Body<NewConversation>,
) -> Result<(StatusCode, Json<OneConversation>), ApiError> {
    let at = now();
    let id = ConversationId::new(at.as_millis(), app.random_bytes());
    let words = Words { title: title.map(String::from), system: system.map(String::from) };
    let conversation = kept::begin(&app, &caller, id, at, model.map(String::from), words).await?;
    let conversation = shown(&app, &caller, &conversation).await?;
    Ok((StatusCode::CREATED, Json(OneConversation { conversation })))
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ConversationDetail>, ApiError> {
    let found = kept::find(&app, &caller, &id).await?;
    let mut turns = Vec::new();
    for turn in &found.turns {
        turns.push(words::turn(&app, caller.tenant, turn).await?);
    }
    Ok(Json(ConversationDetail { conversation: shown(&app, &caller, &found).await?, turns }))
}

pub(crate) async fn change(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(ConversationPatch { title, model, system }): Body<ConversationPatch>,
) -> Result<Json<OneConversation>, ApiError> {
    if title.is_none() && model.is_none() && system.is_none() {
        return Err(ApiError::Malformed {
            param: String::new(),
            message: "expected `title`, `model` or `system`".to_owned(),
        });
    }
    let mut found = kept::find(&app, &caller, &id).await?;
    let mut words = words::of(&app, caller.tenant, &found).await?;
    if let Some(title) = title {
        words.title = Some(title.into());
    }
    if let Some(system) = system {
        words.system = Some(system.into());
    }
    if let Some(model) = model {
        found.model = Some(model.into());
    }
    let changed = kept::change(&app, &caller, found, words).await?;
    Ok(Json(OneConversation { conversation: shown(&app, &caller, &changed).await? }))
}

pub(crate) async fn delete(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Deleted>, ApiError> {
    let found = kept::find(&app, &caller, &id).await?;
    let id = found.id;
    kept::delete(&app, &caller, found).await?;
    Ok(Json(Deleted { deleted: true, id }))
}

/// A conversation as REST shows it, with its words as far as they are still known.
async fn shown(
    app: &App,
    caller: &Caller,
    conversation: &Conversation,
) -> Result<ShownConversation, ApiError> {
    let Words { mut title, system } = words::of(app, caller.tenant, conversation).await?;
    if let (None, Some(first)) = (&title, conversation.turns.first()) {
        title = words::first(app, caller.tenant, first).await?;
    }
    let sum = |all: Option<MicroUsd>, cost: Option<MicroUsd>| Some(MicroUsd(all?.0.saturating_add(cost?.0)));
    let turns = &conversation.turns;
    Ok(ShownConversation {
        id: conversation.id,
        title,
        model: conversation.model.clone(),
        system,
        turns: turns.len() as u64,
        cost_usd: turns.iter().map(|turn| turn.cost).fold(Some(MicroUsd(0)), sum),
        saved_usd: MicroUsd(turns.iter().map(|turn| turn.saved.0).fold(0, i64::saturating_add)),
        created_at: conversation.created_at,
        updated_at: conversation.updated_at,
    })
}
