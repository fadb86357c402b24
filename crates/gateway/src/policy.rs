//! Policies over REST: what is in force, reading the files again, and why something would be decided as it would.

use axum::Json;
use axum::extract::State;
use governance::{Action, Facts, decide, explain};
use schema::{Digest, GatewayMode, MicroUsd, SideEffectLevel, Timestamp, TrustTier, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::app::App;
use crate::clock::now;
use crate::error::ApiError;
use crate::governor::{InForce, record_policies};
use crate::identity::Caller;
use crate::strict::Body;
use crate::text::Name;

/// What is in force.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownPolicies {
    /// The hash of all of them; verdicts are recorded with it.
    digest: Digest,
    /// Since when.
    since: Timestamp,
    /// The policies, in the order of their files.
    policies: Vec<Value>,
    /// The files that they were read from.
    files: Vec<ShownFile>,
    /// Why what lies in the folder now is not in force; null when it is.
    refused: Option<ShownRefusal>,
}

/// A file of policies.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownFile {
    name: String,
    text: String,
}

/// What is wrong with a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownRefusal {
    file: String,
    line: Option<u64>,
    column: Option<u64>,
    message: String,
}

/// Something that might be asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Hypothesis {
    /// The action, such as `write:email`.
    action: String,
    /// The agent that would ask; the caller's own when left out.
    #[serde(default)]
    agent: Option<Name>,
    /// The application that would.
    #[serde(default)]
    app: Option<Name>,
    /// How far the agent would be trusted; as far as it is, when left out.
    #[serde(default)]
    trust_tier: Option<TrustTier>,
    /// What it would be tagged with.
    #[serde(default)]
    tags: Option<Vec<Name>>,
    /// The model that would be asked.
    #[serde(default)]
    model: Option<Name>,
    /// The tool that would act.
    #[serde(default)]
    tool: Option<Name>,
    /// How much it would change, from 0 to 4.
    #[serde(default)]
    level: Option<SideEffectLevel>,
    /// What it would cost.
    #[serde(default)]
    cost_usd: Option<MicroUsd>,
    /// What the data would be.
    #[serde(default)]
    labels: Vec<Name>,
}

/// Why something would be decided as it would.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Explained {
    /// What the governor would say.
    verdict: Verdict,
    /// What each voice says: the strictest decides.
    opinions: Vec<Value>,
    /// What it would go by. Limits are taken to be unused.
    facts: Value,
}

pub(crate) async fn list(State(app): State<App>, _: Caller) -> Json<ShownPolicies> {
    Json(shown(&app, &app.policies.in_force()))
}

pub(crate) async fn reload(State(app): State<App>, caller: Caller) -> Result<Json<ShownPolicies>, ApiError> {
    let reading = app.clone();
    let read = tokio::task::spawn_blocking(move || reading.policies.reload(now())).await;
    let new = match read {
        Ok(Ok(new)) => new,
        Ok(Err(error)) => return Err(ApiError::PoliciesRefused { message: error.to_string() }),
        Err(error) => return Err(ApiError::PoliciesRefused { message: error.to_string() }),
    };
    record_policies(&app, &new, &caller).await?;
    Ok(Json(shown(&app, &new)))
}

pub(crate) async fn why(
    State(app): State<App>,
    caller: Caller,
    Body(asked): Body<Hypothesis>,
) -> Result<Json<Explained>, ApiError> {
    let action = asked.action.parse().map_err(|error: governance::ActionError| ApiError::Malformed {
        param: "action".to_owned(),
        message: format!("action: {error}"),
    })?;
    let policies = app.policies.in_force();
    let facts = asked.facts(&app, &caller, &action).await?;
    let verdict = decide(&policies.set, &facts, &action);
    let opinions = explain(&policies.set, &facts, &action).iter().map(|opinion| json!(opinion)).collect();
    Ok(Json(Explained { verdict, opinions, facts: json!(facts) }))
}

impl Hypothesis {
    async fn facts(&self, app: &App, caller: &Caller, action: &Action) -> Result<Facts, ApiError> {
        let at = now();
        let named = |name: &Option<Name>, own: &str| name.as_ref().map_or(own, Name::as_str).to_owned();
        let (agent, application) = (named(&self.agent, &caller.agent), named(&self.app, &caller.app));
        let standing = app.standing(caller.tenant, &agent, at).await?;
        let decided = app.decided(caller.tenant).await?;
        let mut facts = Facts::of(caller.tenant, &application, &agent, GatewayMode::Enforce, at);
        let texts = |names: &[Name]| names.iter().map(ToString::to_string).collect();
        facts.trust_tier = self.trust_tier.unwrap_or(standing.tier);
        facts.trust_score_milli = standing.score_milli;
        facts.tags = self.tags.as_deref().map_or(standing.word.tags, texts);
        facts.model = self.model.as_ref().map(ToString::to_string);
        facts.tool = self.tool.as_ref().map(ToString::to_string);
        facts.level = self.level.unwrap_or(SideEffectLevel::Pure);
        facts.cost_micro_usd = self.cost_usd.map(|MicroUsd(micros)| micros);
        facts.labels = texts(&self.labels);
        let excepted = decided.exceptions.iter();
        facts.exceptions =
            excepted.filter_map(|exception| exception.for_whom(&application, &agent, at)).collect();
        Ok(facts.with_unused_limits(&app.policies.in_force().set, action))
    }
}

fn shown(app: &App, in_force: &InForce) -> ShownPolicies {
    let refused = app.policies.refused().map(|error| ShownRefusal {
        file: error.file,
        line: error.place.map(|(line, _)| line),
        column: error.place.map(|(_, column)| column),
        message: error.message,
    });
    let file = |file: &governance::PolicyFile| ShownFile { name: file.name.clone(), text: file.text.clone() };
    ShownPolicies {
        digest: in_force.digest,
        since: in_force.since,
        policies: in_force.set.policies().map(|policy| json!(policy)).collect(),
        files: in_force.files.iter().map(file).collect(),
        refused,
    }
}
