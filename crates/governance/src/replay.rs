//! Policy replay: putting a recorded question again, to whoever holds the recorded policies.

use schema::Verdict;
use serde_json::{Value, json};

use crate::action::{Action, ActionError};
use crate::decide::judge;
use crate::facts::Facts;
use crate::rules_one::{self, RuleSet};
use crate::set::PolicySet;

/// The name under which verdicts are recorded. Its meaning never changes; a new meaning is a new name.
pub const ENGINE: &str = "punk.policy/1";

/// Why a recorded verdict cannot be re-derived.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It was given by an engine that is not known here.
    #[error("the engine `{0}` is not known to this verifier")]
    UnknownEngine(String),
    /// What was recorded is not what the engine takes.
    #[error("{engine} cannot replay this: {why}")]
    Unreadable {
        /// The engine.
        engine: &'static str,
        /// What is not as it should be.
        why: String,
    },
}

/// The verdict that `engine` gives on `action` under these policy texts and facts.
///
/// # Errors
/// The engine is unknown, or what was recorded is not a question it can be asked.
pub fn replay(engine: &str, policies: &[&str], facts: &Value, action: &Value) -> Result<Value, ReplayError> {
    let engine = match engine {
        ENGINE => ENGINE,
        rules_one::ENGINE => rules_one::ENGINE,
        other => return Err(ReplayError::UnknownEngine(other.to_owned())),
    };
    let unreadable = |why: String| ReplayError::Unreadable { engine, why };
    let [policy] = policies else {
        return Err(unreadable(format!("it decides by exactly one text, {} are named", policies.len())));
    };
    let action = action.as_str().ok_or_else(|| unreadable("the action is not a string".to_owned()))?;
    let verdict = if engine == rules_one::ENGINE {
        let rules: RuleSet = serde_json::from_str(policy)
            .map_err(|error| unreadable(format!("the policy cannot be read: {error}")))?;
        rules.judge(action)
    } else {
        let set = PolicySet::parse(policy).map_err(|error| unreadable(error.to_string()))?;
        let facts = read_facts(facts).map_err(unreadable)?;
        // A text that reads as a set and is not the one it is recorded as would read otherwise to somebody else.
        let spelt = serde_json::from_str::<Value>(policy).is_ok_and(|said| is_text_of(&set, &said));
        if !spelt {
            return Err(unreadable("the policies are not spelt as they are recorded".to_owned()));
        }
        let action: Action = action.parse().map_err(|error: ActionError| unreadable(error.to_string()))?;
        judge(&set, &facts, action.as_str())
    };
    let Verdict { effect, policy, rule } = verdict;
    Ok(json!({ "effect": effect, "policy": policy, "rule": rule }))
}

fn is_text_of(set: &PolicySet, said: &Value) -> bool {
    serde_json::from_str(set.text()).is_ok_and(|text: Value| is_same(&text, said))
}

/// Facts as they are recorded: with every member, and none out of its range.
fn read_facts(recorded: &Value) -> Result<Facts, String> {
    let facts: Facts = serde_json::from_value(recorded.clone())
        .map_err(|error| format!("the facts cannot be read: {error}"))?;
    if facts.hour > 23 || facts.trust_score_milli > 1_000 || !is_same(&json!(facts), recorded) {
        return Err("the facts are not spelt as they are recorded".to_owned());
    }
    Ok(facts)
}

/// Whether two values are the same in every language: a number is what it is, however it is written.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same = |(name, value)| other.get(name).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(same)
        }
        _ => one == other,
    }
}
