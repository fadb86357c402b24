//! `POST /api/v1/trace`: one more event of a run, from whoever watched it happen.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use ledger::Event;
use schema::{ApprovalId, Effect, GatewayMode, MicroUsd, RunId, Seq, SideEffectId, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::Commit;

use crate::app::App;
use crate::append::{History, append, append_after, check_names, events, payload};
use crate::call::wanted::payload_of;
use crate::clock::now;
use crate::error::ApiError;
use crate::governor::Asking;
use crate::governor::flow::Flow;
use crate::identity::Caller;
use crate::record::named;
use crate::run::absent;
use crate::side_effect::{self, ToldEffect};
use crate::strict::Body;

/// Types that only the runtime itself may record: what verification reads must not come from outside.
const RESERVED: &[&str] = &[
    "run.",
    "policy.",
    "route.",
    "model.",
    "artifact.",
    "audit.",
    "cache.",
    "feedback.",
    "memory.",
    "side_effect.",
];

/// An event of a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewTrace {
    /// The run, as `x-punk-run-id` named it.
    run_id: String,
    /// What happened, such as `tool.called`. Types of the runtime's own are refused, but for `side_effect.planned` and
    /// `side_effect.executed`.
    #[schemars(length(min = 1, max = 120))]
    r#type: String,
    /// Its fields. Of a side effect: `toolName`, `level` from 0 to 4, `payload`, and for an executed one `sideEffectId`.
    #[serde(default)]
    payload: Map<String, Value>,
}

/// Where it is recorded.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Traced {
    run_id: RunId,
    /// The place of the event in its run.
    seq: Seq,
    /// The side effect that the event is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    side_effect_id: Option<SideEffectId>,
    /// For a planned side effect: what the governor says of it. Whoever would perform it goes by this.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// What people are asked, if they are; when it is approved, plan the same again.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_id: Option<ApprovalId>,
}

pub(crate) async fn create(
    State(app): State<App>,
    caller: Caller,
    Body(NewTrace { run_id, r#type, payload: fields }): Body<NewTrace>,
) -> Result<(StatusCode, Json<Traced>), ApiError> {
    caller.must_reach(&run_id)?;
    check_names(&fields, "payload")?;
    let new = SideEffectId::new(now().as_millis(), app.random_bytes());
    let tenant = caller.tenant;
    let traced = |(run_id, seq), side_effect_id| Traced {
        run_id,
        seq,
        side_effect_id,
        verdict: None,
        approval_id: None,
    };
    let traced = match r#type.as_str() {
        side_effect::PLANNED => {
            let told: ToldEffect = payload(fields)?;
            side_effect::check_planned(&told)?;
            plan(&app, &caller, &run_id, &told, new).await?
        }
        side_effect::EXECUTED => {
            let told: ToldEffect = payload(fields)?;
            let tell = |before: &[Event]| side_effect::executed(&told, before, new);
            let beside = Commit::default();
            let (run, seq, id) = append_after(&app, tenant, &run_id, History::Read, &beside, tell).await?;
            traced((run, seq), Some(id))
        }
        _ => {
            check_type(&r#type)?;
            traced(append(&app, tenant, &run_id, (r#type, fields)).await?, None)
        }
    };
    Ok((StatusCode::CREATED, Json(traced)))
}

/// Announces a side effect: the governor is asked, and what it says is on record with it.
async fn plan(
    app: &App,
    caller: &Caller,
    run: &str,
    told: &ToldEffect,
    new: SideEffectId,
) -> Result<Traced, ApiError> {
    let id: RunId = run.parse().map_err(|_| ApiError::NoSuchRun)?;
    let before = events(app, caller.tenant, id).await?;
    if before.is_empty() {
        return Err(absent(&*app.of(caller.tenant), id).await);
    }
    let decided = app.decided(caller.tenant).await?;
    let tool = told.tool_name.as_str();
    let (action, declared) = decided.settings.declared(tool);
    // Whoever tells of a tool may know better than nobody, but not better than the operator.
    let level = if decided.settings.tools.contains_key(tool) { declared.max(told.level) } else { told.level };
    let model =
        before.first().and_then(|event| event.payload.get("model")?.value()?.as_str().map(str::to_owned));
    let flow = Flow::of_run(&decided.settings, &before);
    let warned = decided.settings.tripwires.warn(tool, &told.payload);
    let asking = Asking {
        action,
        run: id,
        model: model.as_deref(),
        tool: Some(tool),
        level,
        cost: &|| Some(MicroUsd(0)),
        payload: &|| payload_of(tool, &told.payload),
        labels: warned.labels,
        barred: warned.barred,
        shaped: flow.as_ref().and_then(|flow| flow.shaped(tool, &told.payload)),
        approval: None,
        now: now(),
    };
    let mut judged = app.judge(caller, asking).await?;
    let settled = judged.held.take().map(|held| held.settle(Some(MicroUsd(0))));
    let beside = Commit {
        policies: judged.policies.text_for(caller.tenant).into_iter().collect(),
        records: judged.question.iter().filter_map(|question| question.change.clone()).collect(),
        settled: settled.into_iter().collect(),
        jobs: {
            let asked = judged.question.iter().flat_map(|question| question.jobs.clone());
            asked.chain(app.alarms(caller, id, std::iter::once(&judged), now()).await).collect()
        },
        ..Commit::default()
    };
    let tell = |before: &[Event]| {
        // What was planned before, and asked about, is the same effect when it is tried again.
        let known = side_effect::open_twin(before, told);
        let mut events: Vec<_> =
            known.is_none().then(|| side_effect::plan(told, level, new)).into_iter().collect();
        let effect = known.unwrap_or(new);
        let mut fields = named(judged.event());
        fields.insert("toolName".to_owned(), json!(tool));
        fields.insert("sideEffect".to_owned(), json!(effect));
        events.push(("policy.decided".to_owned(), fields));
        let tripped = judged.tripwire_events().map(|(r#type, fields)| (r#type.to_owned(), named(fields)));
        events.extend(tripped);
        if judged.verdict.effect == Effect::Deny && caller.gateway_mode == GatewayMode::Enforce {
            events.push(side_effect::blocked(effect));
        }
        Ok((events, effect))
    };
    let (run_id, seq, effect) = append_after(app, caller.tenant, run, History::Read, &beside, tell).await?;
    judged.policies.note_known_to(caller.tenant);
    for settlement in &beside.settled {
        app.book.settled(caller.tenant, settlement).await;
    }
    if judged.verdict.effect != Effect::Allow {
        app.standings.forget(&(caller.tenant, caller.agent.clone()));
    }
    Ok(Traced {
        run_id,
        seq,
        side_effect_id: Some(effect),
        approval_id: judged.question.as_ref().map(|question| question.id),
        verdict: Some(judged.verdict),
    })
}

fn check_type(r#type: &str) -> Result<(), ApiError> {
    let invalid = |message: String, hint| Err(ApiError::Invalid { param: "type", message, hint });
    if r#type.is_empty() || r#type.len() > 120 || r#type.chars().any(char::is_control) {
        return invalid(
            "the type of an event is 1 to 120 visible characters".into(),
            "send a type such as `tool.called`",
        );
    }
    match RESERVED.iter().find(|prefix| r#type.starts_with(**prefix)) {
        Some(prefix) => invalid(
            format!("types that start with `{prefix}` are recorded by the runtime alone"),
            "send a type such as `tool.called`",
        ),
        None => Ok(()),
    }
}
