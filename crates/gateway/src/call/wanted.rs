//! What a model wants done: the tool calls in its answer, judged before the caller hears of them.
//!
//! Every call becomes a side effect on record, with its verdict. Where one is not allowed, nothing of the answer leaves: the
//! caller is told which call it is about, and the answer stays in the ledger until somebody approves it.

use schema::{Effect, GatewayMode, Route, SideEffectId, SideEffectLevel, Verdict};
use serde_json::{Map, Value, json};
use wire::{Answer, Part};

use super::hash_of;
use super::open_run::{End, OpenRun, recorded};
use super::record::Saved;
use crate::app::App;
use crate::error::ApiError;
use crate::governor::flow::Flow;
use crate::governor::tripwire::Tripped;
use crate::governor::{Asking, Decided, Judgement};
use crate::identity::Caller;
use crate::record::{Fields, fields};

/// A tool call that a model wants, and what the governor says of it.
#[derive(Debug)]
pub(crate) struct Wanted {
    id: SideEffectId,
    tool: String,
    level: SideEffectLevel,
    arguments: Value,
    pub(crate) judged: Judgement,
}

impl Wanted {
    /// The events that tell of it. What changes nothing outside is no side effect.
    pub(crate) fn events(&self) -> Vec<(&'static str, Fields)> {
        let mut events = Vec::new();
        if self.level >= SideEffectLevel::ReversibleWrite {
            let Self { id, tool, level, arguments, .. } = self;
            let planned = fields([
                ("level", json!(level)),
                ("payload", arguments.clone()),
                ("sideEffect", json!(id)),
                ("toolName", json!(tool)),
            ]);
            events.push(("side_effect.planned", planned));
        }
        let mut decided = self.judged.event();
        decided.push(("toolName".into(), json!(self.tool)));
        events.push(("policy.decided", decided));
        let refused = self.judged.verdict.effect == Effect::Deny;
        let enforced = self.judged.facts.gateway_mode == GatewayMode::Enforce;
        if refused && enforced && self.level >= SideEffectLevel::ReversibleWrite {
            events.push(("side_effect.blocked", fields([("sideEffect", json!(self.id))])));
        }
        events
    }
}

/// Whether an answer to somebody has to be looked at as a whole before they hear of the calls in it.
pub(crate) async fn holds_back(
    app: &App,
    caller: &Caller,
    request: &wire::Request,
) -> Result<bool, ApiError> {
    if request.tools.is_empty() || caller.gateway_mode == GatewayMode::Observe {
        return Ok(false);
    }
    let decided = app.decided(caller.tenant).await?;
    let settings = &decided.settings;
    Ok(!app.policies.in_force().set.is_bare()
        || settings.memory_quarantine.enabled
        || settings.tripwires.destructive == Tripped::Block)
}

impl OpenRun {
    /// Ends the run with an answer, if the caller may have it. It is on the disk when this returns.
    pub(crate) async fn answered(mut self: Box<Self>, answer: &Answer, saved: Saved) -> Result<(), ApiError> {
        let calls = calls(answer);
        if !calls.is_empty() {
            match Box::pin(self.judge_all(calls)).await {
                Ok(wanted) => self.wanted = wanted,
                Err(error) => return Err(Box::pin(self.fail(error)).await),
            }
        }
        let enforced = self.opening.caller.gateway_mode == GatewayMode::Enforce;
        let strictest = self
            .wanted
            .iter()
            .filter(|_| enforced)
            .max_by_key(|wanted| wanted.judged.verdict.effect.strictness());
        match strictest {
            Some(wanted) if wanted.judged.verdict.effect != Effect::Allow => {
                let (tool, verdict) = (wanted.tool.clone(), wanted.judged.verdict.clone());
                let approval = wanted.judged.question.as_ref().map(|question| question.id);
                self.withheld(&tool, verdict.clone());
                let run = self.opening.run;
                // Nothing of the answer is done, so nothing is used of what the other calls in it may use.
                give_back_all(&self.app, &self.opening.caller, &mut self.wanted).await;
                self.end(End::Held { answer: recorded(answer) }).await?;
                Err(ApiError::Blocked { run, verdict, approval })
            }
            _ => self.end(End::Answered { answer: recorded(answer), saved }).await,
        }
    }

    /// Notes why the caller does not get the answer.
    fn withheld(&mut self, tool: &str, verdict: Verdict) {
        let (route, wants) = match verdict.effect {
            Effect::Ask => (Route::ApprovalRequired, "wants an approval for"),
            Effect::Allow | Effect::Deny => (Route::Blocked, "does not allow"),
        };
        self.explanation.route = route;
        self.explanation.reason = format!("the answer calls `{tool}`, which policy {wants}");
        self.explanation.verdict = verdict;
    }

    async fn judge_all(&self, calls: Vec<(String, Value)>) -> Result<Vec<Wanted>, ApiError> {
        let (app, opening) = (&self.app, &self.opening);
        let decided = app.decided(opening.caller.tenant).await?;
        let flow = Flow::of_request(&decided.settings, self.request());
        let mut wanted = Vec::new();
        for (tool, arguments) in calls {
            match self.judge_call(&decided, flow.as_ref(), tool, arguments).await {
                Ok(call) => wanted.push(call),
                Err(error) => {
                    give_back_all(app, &opening.caller, &mut wanted).await;
                    return Err(error);
                }
            }
        }
        Ok(wanted)
    }

    async fn judge_call(
        &self,
        decided: &Decided,
        flow: Option<&Flow>,
        tool: String,
        arguments: Value,
    ) -> Result<Wanted, ApiError> {
        let (app, opening) = (&self.app, &self.opening);
        let (action, level) = decided.settings.declared(&tool);
        let at = opening.started_at;
        let payload = || payload_of(&tool, &arguments);
        let mut warned = decided.settings.tripwires.warn(&tool, &arguments);
        warned.labels.extend(opening.judged.facts.labels.iter().cloned());
        let asking = Asking {
            action,
            run: opening.run,
            model: Some(&opening.model),
            tool: Some(&tool),
            level,
            cost: &|| Some(schema::MicroUsd(0)),
            payload: &payload,
            labels: warned.labels,
            barred: warned.barred,
            shaped: flow.and_then(|flow| flow.shaped(&tool, &arguments)),
            approval: None,
            now: crate::clock::now(),
        };
        let judged = app.judge(&opening.caller, asking).await?;
        let id = SideEffectId::new(at.as_millis(), app.random_bytes());
        Ok(Wanted { id, tool, level, arguments, judged })
    }
}

/// Gives back what was set aside for calls that are not told.
async fn give_back_all(app: &App, caller: &Caller, wanted: &mut [Wanted]) {
    for wanted in wanted {
        app.give_back(caller, wanted.judged.held.take()).await;
    }
}

/// What exactly a tool would do: an approval is for that, in whichever run it is tried.
pub(crate) fn payload_of(tool: &str, arguments: &Value) -> schema::Digest {
    hash_of(&json!({ "tool": tool, "arguments": arguments }))
}

/// The tool calls in an answer. Arguments that are no JSON are taken as the text they are.
fn calls(answer: &Answer) -> Vec<(String, Value)> {
    let parts = answer.choices.iter().flat_map(|choice| &choice.parts);
    let calls = parts.filter_map(|part| match part {
        Part::ToolCall(call) => {
            let arguments = if call.arguments.trim().is_empty() {
                Value::Object(Map::new())
            } else {
                serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments))
            };
            Some((call.name.clone(), arguments))
        }
        _ => None,
    });
    calls.collect()
}
