//! Policy replay: putting a recorded question again, to whoever holds the recorded policy.

use serde_json::{Value, json};

use crate::decide::judge;
use crate::rule::{ENGINE, RuleSet};

/// Why a recorded verdict cannot be re-derived.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It was given by an engine that is not known here.
    #[error("the engine `{0}` is not known to this verifier")]
    UnknownEngine(String),
    /// What was recorded is not what the engine takes.
    #[error("{ENGINE} cannot replay this: {0}")]
    Unreadable(String),
}

/// The verdict that `engine` gives on `action` under these policy texts. The facts play no part in `punk.rules/1`.
///
/// # Errors
/// The engine is unknown, or what was recorded is not a question it can be asked.
pub fn replay(engine: &str, policies: &[&str], _facts: &Value, action: &Value) -> Result<Value, ReplayError> {
    if engine != ENGINE {
        return Err(ReplayError::UnknownEngine(engine.to_owned()));
    }
    let unreadable = |why: String| ReplayError::Unreadable(why);
    let [policy] = policies else {
        return Err(unreadable(format!("it decides by exactly one policy, {} are named", policies.len())));
    };
    let rules = RuleSet::parse(policy).map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        unreadable(format!("{error}: {cause}"))
    })?;
    let action = action.as_str().ok_or_else(|| unreadable("the action is not a string".to_owned()))?;
    let verdict = judge(&rules, action);
    Ok(json!({ "effect": verdict.effect, "policy": verdict.policy, "rule": verdict.rule }))
}
