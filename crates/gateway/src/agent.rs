//! `GET /api/v1/agents`: who has asked so far.

use axum::Json;
use axum::extract::State;
use schema::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::AgentRow;

use crate::app::App;
use crate::error::{ApiError, unread};
use crate::identity::Caller;
use crate::page::Limit;
use crate::strict::Params;
use crate::text::Name;

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

/// An agent identity, as its runs show it.
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
}

impl From<AgentRow> for ShownAgent {
    fn from(row: AgentRow) -> Self {
        let AgentRow { name, first_seen_at, last_seen_at, runs } = row;
        Self { name, first_seen_at, last_seen_at, runs }
    }
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    Params(AgentQuery { after, limit }): Params<AgentQuery>,
) -> Result<Json<AgentPage>, ApiError> {
    let after = after.as_ref().map(Name::as_str);
    let agents = app.of(caller.tenant).agents(after, limit.and_one()).await.map_err(unread)?;
    let (agents, next) = limit.cut(agents, |agent| agent.name.clone());
    Ok(Json(AgentPage { agents: agents.into_iter().map(ShownAgent::from).collect(), next }))
}
