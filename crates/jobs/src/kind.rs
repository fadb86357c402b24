//! The kinds of work that Punk itself makes.

use std::fmt;
use std::str::FromStr;

/// What a job does. The store keeps it as text, so a job of a kind that this version does not know stays in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Looks for patterns in the newest runs.
    LearningTick,
    /// Tries an artifact on recorded runs.
    ReplayEvaluation,
    /// Compares an artifact with live answers, without acting.
    ShadowEvaluation,
    /// Tells somebody outside what happened.
    WebhookNotification,
    /// Lets approvals expire that nobody answered.
    ApprovalSweep,
    /// Seals what has been kept long enough.
    RetentionSweep,
    /// Has what is derived from events forget an erased subject.
    ErasureSweep,
    /// Copies the heads of the logs to where whoever runs the database cannot change them.
    AuditShipment,
}

/// No kind has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of job `{0}`; expected one of {names}", names = Kind::ALL.map(Kind::as_str).join(", "))]
pub struct UnknownKind(String);

impl Kind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::LearningTick,
        Self::ReplayEvaluation,
        Self::ShadowEvaluation,
        Self::WebhookNotification,
        Self::ApprovalSweep,
        Self::RetentionSweep,
        Self::ErasureSweep,
        Self::AuditShipment,
    ];

    /// Its name in the store and on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LearningTick => "learning_tick",
            Self::ReplayEvaluation => "replay_evaluation",
            Self::ShadowEvaluation => "shadow_evaluation",
            Self::WebhookNotification => "webhook_notification",
            Self::ApprovalSweep => "approval_sweep",
            Self::RetentionSweep => "retention_sweep",
            Self::ErasureSweep => "erasure_sweep",
            Self::AuditShipment => "audit_shipment",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_as_it_is_written() {
        for kind in Kind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
    }

    #[test]
    fn an_unknown_kind_is_told_the_known_ones() {
        let message = "learning".parse::<Kind>().unwrap_err().to_string();
        assert!(
            message.starts_with("unknown kind of job `learning`; expected one of learning_tick, "),
            "{message}"
        );
    }
}
