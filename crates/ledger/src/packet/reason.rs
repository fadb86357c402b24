//! Why a packet is broken: the reason codes of the format, and what was looked at.

use std::fmt;

/// The first breach that verification met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {detail}")]
pub struct Broken {
    /// Which rule.
    pub reason: Reason,
    /// What was looked at and what was found.
    pub detail: String,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident => $code:literal,)*) => {
        /// A rule of the format, by its code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// Every rule, in the order of checking.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code that reports and vectors use.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }
        }
    };
}

reasons! {
    /// Not one JSON text that every reader reads alike.
    NotJson => "not-json",
    /// Not the canonical bytes.
    NotCanonical => "not-canonical",
    /// Another version, or no packet at all.
    UnknownFormat => "unknown-format",
    /// A member is missing, added, or of the wrong kind.
    WrongShape => "wrong-shape",
    /// Events are not 1, 2, 3, ….
    EventOrder => "event-order",
    /// An event is not what was recorded.
    EventHash => "event-hash",
    /// The run has no beginning or no end.
    Incomplete => "incomplete",
    /// The run begins or ends twice.
    Lifecycle => "lifecycle",
    /// Leaves do not go forward.
    LeafOrder => "leaf-order",
    /// A leaf speaks of another chain.
    LeafHead => "leaf-head",
    /// Events past the newest leaf.
    Uncovered => "uncovered",
    /// A proof that is not in the one spelling.
    ProofText => "proof-text",
    /// The log is not this tenant's.
    WrongOrigin => "wrong-origin",
    /// A signature by a key that the trust file does not list.
    UnknownKey => "unknown-key",
    /// A signature that does not hold.
    BadSignature => "bad-signature",
    /// No signature by the log.
    Unsigned => "unsigned",
    /// Too few witnesses.
    Quorum => "quorum",
    /// Proofs against different checkpoints.
    CheckpointDiffers => "checkpoint-differs",
    /// The path does not lead to the root.
    Inclusion => "inclusion",
    /// The statement is not a note with one signature.
    StatementText => "statement-text",
    /// The statement speaks of another packet.
    StatementDiffers => "statement-differs",
    /// The run's row is not what its events say.
    RunRow => "run-row",
    /// The side effects are not what the events say.
    SideEffectRow => "side-effect-row",
    /// The audit rows are not what the events say.
    AuditRow => "audit-row",
    /// A policy's bytes are not the ones that were recorded.
    PolicyBytes => "policy-bytes",
    /// A decision without what it takes to replay it.
    PolicyEvent => "policy-event",
    /// A policy that decided is not in the packet.
    PolicyMissing => "policy-missing",
    /// The policy does not give the recorded verdict.
    Verdict => "verdict",
    /// A policy that decided nothing.
    PolicyExtra => "policy-extra",
    /// An artifact's bytes are not the ones that were recorded.
    ArtifactBytes => "artifact-bytes",
    /// An execution without what it takes to replay it.
    ArtifactEvent => "artifact-event",
    /// An artifact that was executed is not in the packet.
    ArtifactMissing => "artifact-missing",
    /// The artifact does not give the recorded answer.
    ArtifactReplay => "artifact-replay",
    /// An artifact that was not executed.
    ArtifactExtra => "artifact-extra",
    /// The parts do not add up to the whole.
    Costs => "costs",
}

impl Reason {
    /// This rule is broken, and how.
    pub(crate) fn because(self, detail: impl Into<String>) -> Broken {
        Broken { reason: self, detail: detail.into() }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
