//! A run: one request or one governed piece of work, and why it went the way it went.

use serde::{Deserialize, Serialize};

use crate::{ArtifactId, GatewayMode, MicroUsd, PatternId, RunId, Subject, TenantId, Timestamp, Verdict};

/// What kind of work a run is. One runs list, one evidence packet and one verifier serve them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// An OpenAI-shaped chat request.
    Chat,
    /// An Anthropic-shaped messages request.
    Messages,
    /// An OpenAI-shaped responses request.
    Responses,
    /// Texts turned into vectors.
    Embeddings,
    /// A governed execution of a plan.
    Execution,
    /// A turn of a persistent agent.
    Turn,
    /// A web fetch or action.
    Web,
    /// Something observed elsewhere and handed in.
    Ingest,
    /// A workflow.
    Workflow,
    /// Something done to the ledger itself: a subject erased, a range sealed.
    Audit,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Begun, not finished.
    Running,
    /// Waits for an approval.
    Waiting,
    /// Answered.
    Completed,
    /// Refused by policy, quota or a guard; still a run.
    Blocked,
    /// Ended by an error of ours or of the upstream.
    Failed,
    /// The caller hung up.
    Cancelled,
}

/// One way to answer; the value of the `x-punk-route` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// The upstream model answered.
    Live,
    /// An identical request was answered before.
    ExactCache,
    /// A near-duplicate was answered before.
    SemanticCache,
    /// A proven tool plan was replayed.
    PlanCache,
    /// A learned program answered.
    Artifact,
    /// A learned program answered most of it, a small model the rest.
    Hybrid,
    /// A cheaper model, proven equal here, answered.
    ModelSubstitution,
    /// Claim-level orchestration answered.
    Chorus,
    /// Policy, quota or a guard refused.
    Blocked,
    /// An approval is needed first.
    ApprovalRequired,
}

impl Route {
    /// The literal on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::ExactCache => "exact_cache",
            Self::SemanticCache => "semantic_cache",
            Self::PlanCache => "plan_cache",
            Self::Artifact => "artifact",
            Self::Hybrid => "hybrid",
            Self::ModelSubstitution => "model_substitution",
            Self::Chorus => "chorus",
            Self::Blocked => "blocked",
            Self::ApprovalRequired => "approval_required",
        }
    }
}

/// Tokens in and out of the model, counted so that no token is counted twice: what is a part of a sum says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// All tokens of the request, cached ones included.
    pub input_tokens: u64,
    /// All tokens of the answer, thoughts included.
    pub output_tokens: u64,
    /// Of the request's tokens, those that the vendor had in its own cache.
    pub cache_read_tokens: u64,
    /// Of the request's tokens, those that the vendor put into its own cache for minutes.
    pub cache_write_tokens: u64,
    /// Of the request's tokens, those that the vendor put into its own cache for an hour.
    pub cache_write_long_tokens: u64,
    /// Of the answer's tokens, those that were thoughts.
    pub reasoning_tokens: u64,
}

/// A route that was asked and did not serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PassedRoute {
    /// Which one.
    pub route: Route,
    /// What it said.
    pub reason: String,
}

/// Why a run was answered the way it was: collected from what the routes and the governor said, never written by hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RouteExplanation {
    /// The route that answered.
    pub route: Route,
    /// What it said for itself.
    pub reason: String,
    /// The routes asked before it, in order, with their reasons.
    pub rejected: Vec<PassedRoute>,
    /// What the governor said.
    pub verdict: Verdict,
    /// Which answer was used again, when one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheDetails>,
    /// Which learned program answered, when one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactDetails>,
    /// What the live route would have cost on top; absent when that is not known, or nothing was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_saved_usd: Option<MicroUsd>,
    /// What would have answered, had the key not been one that only observes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ghost: Option<GhostRoute>,
    /// Who answered in the end, when the first choice did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// What of the request the upstream's wire has no word for, and so was not told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// An answer that is used again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CacheDetails {
    /// The run that it was first given in.
    pub source_run: RunId,
    /// How old it is.
    pub age_seconds: u64,
}

/// A learned program that answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ArtifactDetails {
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Its version.
    pub version: u32,
    /// The pattern it was learned from.
    pub pattern_id: PatternId,
    /// Who told what it leaves open, when it told a part of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
}

/// The part of an answer that no learned program told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct Completion {
    /// The small model that was asked for it.
    pub model: String,
    /// The fields of the answer that it told.
    pub fields: Vec<String>,
}

/// A route that would have answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GhostRoute {
    /// Which one.
    pub route: Route,
    /// What it said for itself.
    pub reason: String,
    /// What it would have saved; absent when the price is not known.
    pub saved_usd: Option<MicroUsd>,
}

impl RouteExplanation {
    /// A route, its reason and the verdict before it; nothing else to tell.
    #[must_use]
    pub fn new(route: Route, reason: impl Into<String>, verdict: Verdict) -> Self {
        Self {
            route,
            reason: reason.into(),
            rejected: Vec::new(),
            verdict,
            cache: None,
            artifact: None,
            estimated_saved_usd: None,
            ghost: None,
            fallback: None,
            left_out: Vec::new(),
        }
    }
}

/// A run as the REST interface shows it; every field is derived from the run's events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// Whose it is.
    pub tenant: TenantId,
    /// What kind of work.
    pub kind: RunKind,
    /// The logical application that asked.
    pub app: String,
    /// The agent identity that asked.
    pub agent: String,
    /// The pseudonymous end user, if the caller named one.
    pub subject: Option<Subject>,
    /// Whether the key that was used observes or enforces.
    pub gateway_mode: GatewayMode,
    /// The model that was asked for.
    pub model: String,
    /// Where it stands.
    pub status: RunStatus,
    /// Why it went this way; absent while it is running.
    pub explanation: Option<RouteExplanation>,
    /// Tokens used.
    pub usage: Usage,
    /// What it cost; absent when the price is unknown, which is not the same as free.
    pub cost_usd: Option<MicroUsd>,
    /// What the live route would have cost on top.
    pub saved_usd: MicroUsd,
    /// From the first byte in to the last byte out.
    pub latency_ms: Option<u64>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}
