//! Side effects: what an action does to the world, and whether it did.

use serde::{Deserialize, Serialize};

use crate::{RunId, SideEffectId, Timestamp};

/// How much an action changes, from nothing (0) to what cannot be taken back (4). An undeclared tool is a 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(into = "u8", try_from = "u8")]
#[repr(u8)]
pub enum SideEffectLevel {
    /// Pure computation.
    Pure = 0,
    /// Reads something outside.
    Read = 1,
    /// Writes what can be undone or repeated.
    ReversibleWrite = 2,
    /// Writes what people see: mail, chat, a ticket.
    VisibleWrite = 3,
    /// Payments, deletions, permissions.
    HighImpact = 4,
}

impl SideEffectLevel {
    /// What a tool is taken for when nobody declared its level.
    pub const UNDECLARED: Self = Self::VisibleWrite;
}

impl From<SideEffectLevel> for u8 {
    fn from(level: SideEffectLevel) -> Self {
        level as u8
    }
}
impl TryFrom<u8> for SideEffectLevel {
    type Error = &'static str;

    fn try_from(level: u8) -> Result<Self, Self::Error> {
        match level {
            0 => Ok(Self::Pure),
            1 => Ok(Self::Read),
            2 => Ok(Self::ReversibleWrite),
            3 => Ok(Self::VisibleWrite),
            4 => Ok(Self::HighImpact),
            _ => Err("expected a side-effect level from 0 to 4"),
        }
    }
}

/// How far a side effect got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SideEffectStatus {
    /// Announced, not yet decided or done.
    Planned,
    /// Done.
    Executed,
    /// Not done because this was a replay or a shadow.
    Suppressed,
    /// Refused.
    Blocked,
}

/// One side effect of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SideEffect<P> {
    /// Its id.
    pub id: SideEffectId,
    /// The run that wanted it.
    pub run_id: RunId,
    /// The tool that would do it.
    pub tool_name: String,
    /// How much it changes.
    pub level: SideEffectLevel,
    /// What exactly.
    pub payload: P,
    /// How far it got.
    pub status: SideEffectStatus,
    /// When it was announced.
    pub planned_at: Timestamp,
    /// When it was done, suppressed or refused.
    pub settled_at: Option<Timestamp>,
}
