//! Agents over REST: who has asked so far, how far each is trusted and why, and what an operator says of it.

use axum::Json;
use axum::extract::{Path, State};
use governance::trust::Components;
use schema::{Timestamp, TrustTier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{AgentRow, RecordBody, RecordChange, RecordKind};

use crate::app::App;
use crate::audit::{Change, change_record};
use crate::clock::now;
use crate::error::{ApiError, unread};
use crate::governor::{Standing, Word};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::{Kept, Params};
use crate::text::{Name, Note};

/// How many tags an agent may have.
const MOST_TAGS: usize = 50;

/// Which agents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentQuery {
    /// The `next` of the page before.
    #[serde(default)]
    after: Option<Name>,
    /// How many.
    #[serde(default)]
    limit: Limit,
}

/// Agents, by name.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentPage {
    agents: Vec<ShownAgent>,
    /// Where the next page begins; null on the last.
    next: Option<String>,
}

/// An agent identity: what its runs show, and how far it is trusted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Agent")]
pub(crate) struct ShownAgent {
    /// What it calls itself (`x-punk-agent`); `anonymous` when it does not.
    name: String,
    /// When its first run began.
    first_seen_at: Timestamp,
    /// When its newest run began.
    last_seen_at: Timestamp,
    /// How many runs it began.
    runs: u64,
    /// How far it is trusted.
    trust_tier: TrustTier,
    /// What its behaviour comes to, from 0 to 1.
    trust_score: f64,
    /// What the score is made of, in thousandths; docs/explanation/trust.md has the formula.
    trust_components: Components,
    /// What policies select it by.
    tags: Vec<String>,
    /// What an operator said of its tier, if one did.
    #[serde(rename = "override")]
    said: Option<ShownWord>,
}

/// What an operator said.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownWord {
    trust_tier: TrustTier,
    reason: Option<String>,
    by: Option<String>,
    at: Option<Timestamp>,
}

/// One agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentDetail {
    agent: ShownAgent,
}

/// What an operator says of an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct AgentPatch {
    /// How far it is trusted, whatever it did; null leaves that to its behaviour again.
    #[serde(default, deserialize_with = "said::deserialize")]
    #[schemars(with = "Option<TrustTier>")]
    trust_tier: Option<Option<TrustTier>>,
    /// What policies select it by, instead of what it had.
    #[serde(default)]
    #[schemars(length(max = 50))]
    tags: Option<Vec<Name>>,
    /// Why.
    reason: Note,
}

/// A member that is null says something else than one that is left out.
mod said {
    use serde::{Deserialize, Deserializer};

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
    where
        T: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Option::deserialize(deserializer).map(Some)
    }
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(AgentQuery { after, limit }): Params<AgentQuery>,
) -> Result<Json<AgentPage>, ApiError> {
    let after = after.as_ref().map(Name::as_str);
    let agents = app.of(caller.tenant).agents(after, limit.and_one()).await.map_err(unread)?;
    let (rows, next) = limit.cut(agents, |agent| agent.name.clone());
    let mut agents = Vec::new();
    for row in rows {
        let standing = app.standing(caller.tenant, &row.name, now()).await?;
        agents.push(ShownAgent::new(row, standing));
    }
    Ok(Json(AgentPage { agents, next }))
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<AgentDetail>, ApiError> {
    find(&app, &caller, &name).await.map(|agent| Json(AgentDetail { agent }))
}

pub(crate) async fn change(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
    Kept(patch): Kept<AgentPatch>,
) -> Result<Json<AgentDetail>, ApiError> {
    find(&app, &caller, &name).await?;
    let store = app.of(caller.tenant);
    let record = store.record(RecordKind::Agent, &name).await.map_err(unread)?;
    let (at, expected) = (now(), record.as_ref().map_or(0, |record| record.version));
    let created_at = record.as_ref().map_or(at, |record| record.created_at);
    let mut word: Word = match record {
        Some(record) => serde_json::from_value(record.body).map_err(unread)?,
        None => Word::default(),
    };
    if let Some(tags) = patch.tags {
        if tags.len() > MOST_TAGS {
            let param = "tags".to_owned();
            return Err(ApiError::Malformed {
                message: format!("{param}: expected at most {MOST_TAGS}"),
                param,
            });
        }
        word.tags = tags.into_iter().map(String::from).collect();
    }
    if let Some(tier) = patch.trust_tier {
        word.tier = tier;
    }
    let (reason, by) = (String::from(patch.reason), caller.actor());
    word = Word { reason: Some(reason.clone()), by: Some(by), at: Some(at), ..word };
    let details = json!({ "trustTier": word.tier, "tags": word.tags, "reason": reason });
    let change = Change { tenant: caller.tenant, at, action: "audit.agent_changed", target: &name, details };
    let to = RecordBody { group: String::new(), key: None, body: json!(word), created_at, due_at: None };
    let record = RecordChange { kind: RecordKind::Agent, id: name.clone(), expected, to: Some(to) };
    change_record(&app, &caller, change, record, "agent").await?;
    app.standings.forget(&(caller.tenant, name.clone()));
    show(State(app), caller, Path(name)).await
}

async fn find(app: &App, caller: &Caller, name: &str) -> Result<ShownAgent, ApiError> {
    let row = app.of(caller.tenant).agent(name).await.map_err(unread)?;
    let row = row.ok_or(ApiError::NoSuch {
        what: "agent",
        hint: "an agent is there when it has asked once; `GET /api/v1/agents` lists them",
    })?;
    let standing = app.standing(caller.tenant, name, now()).await?;
    Ok(ShownAgent::new(row, standing))
}

impl ShownAgent {
    fn new(row: AgentRow, standing: Standing) -> Self {
        let AgentRow { name, first_seen_at, last_seen_at, runs } = row;
        let Word { tier, tags, reason, by, at } = standing.word;
        Self {
            name,
            first_seen_at,
            last_seen_at,
            runs,
            trust_tier: standing.tier,
            trust_score: f64::from(standing.score_milli) / 1000.0,
            trust_components: standing.components,
            tags,
            said: tier.map(|trust_tier| ShownWord { trust_tier, reason, by, at }),
        }
    }
}
