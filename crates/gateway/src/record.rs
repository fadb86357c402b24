//! Writing a run down: what happened becomes events, the events become one commit.

use ledger::canonical::{CanonicalError, MAX_DEPTH, MAX_INTEGER};
use ledger::{Recorder, Salt, sha256};
use providers::Answer;
use schema::{MicroUsd, RouteExplanation, RunId, RunStatus, Timestamp, Verdict};
use serde_json::{Map, Value, json};
use store::{Append, Commit, Settle};
use telemetry::mask::Mask;

use crate::identity::Caller;

/// How deep a recorded value may nest: what is around it in a packet takes the rest.
pub(crate) const VALUE_DEPTH: usize = MAX_DEPTH - 10;

/// What happened in a run, gathered on the way.
pub(crate) struct Story<'a> {
    pub(crate) run: RunId,
    pub(crate) caller: &'a Caller,
    pub(crate) model: &'a str,
    pub(crate) request: Value,
    pub(crate) facts: Value,
    pub(crate) action: &'a str,
    pub(crate) policy: &'a str,
    pub(crate) explanation: &'a RouteExplanation,
    pub(crate) answer: Option<&'a Answer>,
    pub(crate) status: RunStatus,
    pub(crate) started_at: Timestamp,
    pub(crate) finished_at: Timestamp,
    pub(crate) latency_ms: u64,
}

impl Story<'_> {
    /// The story as one commit: its events, and the leaf that binds them.
    pub(crate) fn into_commit(
        self,
        mask: &Mask,
        salts: impl FnOnce(usize) -> Vec<Salt>,
    ) -> Result<Commit, CanonicalError> {
        let events = self.events();
        let count = events.iter().map(|(.., fields)| fields.len()).sum();
        // Enough salts are drawn for every field, so the fallback is never taken.
        let mut salts = salts(count).into_iter();
        let mut recorder = Recorder::new(self.caller.tenant, self.run);
        for (at, r#type, fields) in events {
            let fields = fields.into_iter().map(|(name, value)| (name, recordable(value, mask, VALUE_DEPTH)));
            recorder.append(at, r#type, fields, || salts.next().unwrap_or(Salt::from_bytes([0; 16])))?;
        }
        let subject = self.caller.subject.clone();
        let append = Append { events: recorder.end(), settle: Settle::Leaf, subject };
        Ok(Commit {
            appends: vec![append],
            policies: vec![self.policy.to_owned()],
            jobs: Vec::new(),
            ..Commit::default()
        })
    }

    fn events(&self) -> Vec<(Timestamp, &'static str, Map<String, Value>)> {
        let Caller { app, agent, subject, gateway_mode, .. } = self.caller;
        let verdict: &Verdict = &self.explanation.verdict;
        let started = json!({
            "kind": "chat", "app": app, "agent": agent, "subject": subject, "gatewayMode": gateway_mode,
            "model": self.model, "request": self.request,
        });
        let decided = json!({
            "engine": governance::ENGINE, "policies": [sha256(self.policy.as_bytes())],
            "facts": self.facts, "action": self.action,
            "verdict": { "effect": verdict.effect, "policy": verdict.policy, "rule": verdict.rule },
        });
        let mut events =
            vec![(self.started_at, "run.started", started), (self.started_at, "policy.decided", decided)];
        if let Some(answer) = self.answer {
            let completed = json!({
                "provider": providers::mock::NAME, "model": answer.model, "finishReason": answer.finish_reason,
                "costMicroUsd": answer.cost.map(|MicroUsd(micros)| micros),
                "inputTokens": answer.usage.input_tokens, "outputTokens": answer.usage.output_tokens,
            });
            events.push((self.finished_at, "model.completed", completed));
        }
        // Without a model call nothing was spent; with one whose price is unknown, the sum is unknown too.
        let cost = self.answer.map_or(Some(MicroUsd(0)), |answer| answer.cost).map(|MicroUsd(micros)| micros);
        let usage = self.answer.map(|answer| answer.usage).unwrap_or_default();
        let finished = json!({
            "status": self.status, "route": self.explanation.route, "explanation": self.explanation,
            "costMicroUsd": cost, "savedMicroUsd": 0,
            "inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens, "latencyMs": self.latency_ms,
            "answer": self.answer.map(|answer| &answer.content),
        });
        events.push((self.finished_at, "run.finished", finished));
        let object = |value: Value| if let Value::Object(fields) = value { fields } else { Map::new() };
        events.into_iter().map(|(at, r#type, fields)| (at, r#type, object(fields))).collect()
    }
}

/// What may be recorded of a value: credentials masked, and whatever has no canonical form (numbers beyond 2⁵³ − 1,
/// nesting without end) carried as text instead.
pub(crate) fn recordable(value: Value, mask: &Mask, depth: usize) -> Value {
    let masked = |text: &str| mask.apply(text).into_owned();
    match value {
        Value::String(text) => Value::from(masked(&text)),
        Value::Number(number) => {
            let fits = match number.as_i64() {
                Some(integer) => integer.unsigned_abs() <= MAX_INTEGER,
                None => {
                    number.is_f64()
                        && number
                            .as_f64()
                            .is_some_and(|double| !(9_007_199_254_740_992.0..1e21).contains(&double.abs()))
                }
            };
            if fits { Value::Number(number) } else { Value::from(number.to_string()) }
        }
        Value::Array(_) | Value::Object(_) if depth == 0 => Value::from(masked(&value.to_string())),
        Value::Array(items) => items.into_iter().map(|item| recordable(item, mask, depth - 1)).collect(),
        Value::Object(members) => {
            let members = members
                .into_iter()
                .map(|(name, member)| (masked(&name), recordable(member, mask, depth - 1)));
            Value::Object(members.collect())
        }
        Value::Null | Value::Bool(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_big_numbers_and_deep_values_are_recorded_as_harmless_text() {
        let mask = Mask::default();
        let recorded = recordable(
            json!({ "sk-12345678901": "key sk-proj-1234567890", "n": 9_007_199_254_740_993u64, "x": 1e20 }),
            &mask,
            9,
        );
        assert_eq!(
            recorded,
            json!({ "sk-[masked]": "key sk-[masked]", "n": "9007199254740993", "x": "1e+20" })
        );
        let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
        assert!(ledger::canonical::to_vec(&recordable(deep, &mask, VALUE_DEPTH)).is_ok());
    }
}
