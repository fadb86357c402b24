//! What verification needs from outside: engines that re-derive what was decided.
//!
//! The ledger knows how decisions are recorded, not how they are made; a shell hands in the engines it has.

use serde_json::Value;

/// Re-derives recorded decisions. It only answers; it cannot act.
pub trait Replay {
    /// The verdict that `engine` gives on `action` under these policies and facts.
    ///
    /// # Errors
    /// The engine is not known, or cannot read the policies.
    fn verdict(
        &self,
        engine: &str,
        policies: &[&str],
        facts: &Value,
        action: &Value,
    ) -> Result<Value, ReplayError>;
}

/// Why a decision could not be re-derived.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// Nobody here knows the engine.
    #[error("the engine `{0}` is not known to this verifier")]
    UnknownEngine(String),
    /// The engine cannot make sense of what was recorded.
    #[error("{0}")]
    Unreadable(String),
}

/// Knows no engine: every decision that shows its facts is refused.
#[derive(Debug, Clone, Copy)]
pub struct NoEngines;

impl Replay for NoEngines {
    fn verdict(&self, engine: &str, _: &[&str], _: &Value, _: &Value) -> Result<Value, ReplayError> {
        Err(ReplayError::UnknownEngine(engine.to_owned()))
    }
}
