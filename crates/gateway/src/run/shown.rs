//! A run as REST shows it.

use ledger::Event;
use schema::{
    ApiKeyId, GatewayMode, MicroUsd, Route, RouteExplanation, RunId, RunKind, RunStatus, TenantId, Timestamp,
    TraceEvent,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use store::{RunFields, RunRow};

/// A run; every field comes from its events. What was erased or withheld is left out.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Run")]
pub(crate) struct ShownRun {
    id: RunId,
    tenant: TenantId,
    /// What kind of work.
    kind: Option<RunKind>,
    /// The application that asked.
    app: Option<String>,
    /// The agent identity that asked.
    agent: Option<String>,
    /// The pseudonymous end user.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// The key that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<ApiKeyId>,
    /// Whether the key observes or enforces.
    gateway_mode: Option<GatewayMode>,
    /// The model that was asked for.
    model: Option<String>,
    /// The wire that the caller spoke.
    #[serde(skip_serializing_if = "Option::is_none")]
    wire: Option<String>,
    /// Who answered, if a model was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    /// Where it stands.
    status: RunStatus,
    /// What went wrong, if something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<String>,
    /// The route that answered.
    route: Option<Route>,
    /// Why it went this way: the route, its reason, the routes that passed with theirs, the verdict. Only when one run is
    /// looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    route_explanation: Option<RouteExplanation>,
    /// Tokens used.
    usage: ShownUsage,
    /// What it cost; null when the price is not known, which is not the same as free.
    cost_usd: Option<MicroUsd>,
    /// What the live route would have cost on top.
    saved_usd: MicroUsd,
    /// What another route would have saved, had the key not been one that only observes.
    ghost_saved_usd: MicroUsd,
    /// From the first byte in to the last byte out.
    latency_ms: Option<u64>,
    started_at: Timestamp,
    /// When it ended. Only when one run is looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<Timestamp>,
    /// When its last event was recorded.
    updated_at: Timestamp,
    /// Whether it has ended.
    finished: bool,
    /// How many events it has.
    events: u64,
}

/// Tokens of a run; what is a part of a sum says so.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RunUsage")]
struct ShownUsage {
    /// All tokens of the request, cached ones included.
    input_tokens: u64,
    /// All tokens of the answer, thoughts included.
    output_tokens: u64,
    /// Of the request's tokens, those that the vendor had in its own cache.
    cache_read_tokens: u64,
    /// Of the request's tokens, those that the vendor put into its own cache.
    cache_write_tokens: u64,
    /// Of the answer's tokens, those that were thoughts.
    reasoning_tokens: u64,
    /// Whether the numbers are our own count, because the vendor gave none.
    estimated: bool,
}

impl ShownRun {
    /// The run that a row and, if they were read, its events tell of.
    pub(crate) fn of(tenant: TenantId, row: &RunRow, events: &[Event]) -> Self {
        let fields = &row.fields;
        let finished = events.iter().find(|event| event.r#type == "run.finished");
        let explanation = finished.and_then(|event| event.payload.get("explanation")?.value().cloned());
        Self {
            id: row.id,
            tenant,
            kind: read(fields, "kind"),
            app: read(fields, "app"),
            agent: read(fields, "agent"),
            subject: read(fields, "subject"),
            key_id: read(fields, "keyId"),
            gateway_mode: read(fields, "gatewayMode"),
            model: read(fields, "model"),
            wire: read(fields, "wire"),
            provider: read(fields, "provider"),
            error_code: read(fields, "errorCode"),
            status: read(fields, "status").unwrap_or(RunStatus::Running),
            route: read(fields, "route"),
            route_explanation: explanation.and_then(|value| serde_json::from_value(value).ok()),
            usage: ShownUsage {
                input_tokens: read(fields, "inputTokens").unwrap_or_default(),
                output_tokens: read(fields, "outputTokens").unwrap_or_default(),
                cache_read_tokens: read(fields, "cacheReadTokens").unwrap_or_default(),
                cache_write_tokens: read(fields, "cacheWriteTokens").unwrap_or_default(),
                reasoning_tokens: read(fields, "reasoningTokens").unwrap_or_default(),
                estimated: read(fields, "usageEstimated").unwrap_or_default(),
            },
            cost_usd: read(fields, "costMicroUsd").map(MicroUsd),
            saved_usd: MicroUsd(read(fields, "savedMicroUsd").unwrap_or_default()),
            ghost_saved_usd: MicroUsd(read(fields, "ghostSavedMicroUsd").unwrap_or_default()),
            latency_ms: read(fields, "latencyMs"),
            started_at: row.started_at,
            finished_at: finished.map(|event| event.at),
            updated_at: row.updated_at,
            finished: row.finished,
            events: row.seq.0,
        }
    }

    pub(crate) fn id(&self) -> RunId {
        self.id
    }
}

fn read<T: DeserializeOwned>(fields: &RunFields, name: &str) -> Option<T> {
    fields.get(name).and_then(|value| T::deserialize(value).ok())
}

/// An event with its values in the clear.
pub(crate) fn event(tenant: TenantId, run_id: RunId, event: Event) -> TraceEvent<Value> {
    let payload = event.payload.iter().map(|(name, field)| (name.to_string(), field.shown()));
    TraceEvent {
        tenant,
        run_id,
        seq: event.seq,
        at: event.at,
        payload: payload.collect::<Map<_, _>>().into(),
        r#type: event.r#type,
        hash: event.hash,
    }
}
