//! Withholding: taking a value out of a packet while everything else still verifies.
//!
//! Whoever holds a packet may do this; it needs no key. What verification cannot do without stays in.

use schema::Seq;

use super::{Packet, rows};
use crate::canonical::CanonicalError;

/// Fields that a verifier must see, by event type.
const NEEDED: &[(&str, &str)] = &[
    ("policy.decided", "engine"),
    ("policy.decided", "policies"),
    ("artifact.executed", "engine"),
    ("artifact.executed", "artifact"),
    ("side_effect.planned", "sideEffect"),
    ("side_effect.executed", "sideEffect"),
    ("side_effect.suppressed", "sideEffect"),
    ("side_effect.blocked", "sideEffect"),
];

/// Why a value stays in. The packet is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WithholdError {
    /// There is no such event.
    #[error("there is no event {0}")]
    NoEvent(Seq),
    /// The event has no such field.
    #[error("event {seq} ({type}) has no field `{name}`; it has {has}")]
    NoField {
        /// The event.
        seq: Seq,
        /// Its type.
        r#type: String,
        /// What was asked for.
        name: String,
        /// What there is.
        has: String,
    },
    /// The packet could not be verified without it.
    #[error("field `{name}` of event {seq} cannot be withheld: nothing could be verified without it")]
    Needed {
        /// The event.
        seq: Seq,
        /// The field.
        name: String,
    },
    /// The packet is not one whose rows can be derived.
    #[error("the packet is not valid to begin with: {0}")]
    Packet(String),
    /// The value has no canonical form, so it was never recorded.
    #[error("the packet is not valid to begin with")]
    Canonical(#[from] CanonicalError),
}

impl Packet {
    /// Replaces the value of one field by its marker, in the event and in the rows derived from it.
    ///
    /// # Errors
    /// There is no such field, or it is needed.
    pub fn withhold(&mut self, seq: Seq, name: &str) -> Result<(), WithholdError> {
        let run = self.run_id().map_err(WithholdError::Packet)?;
        let place =
            self.events.iter().position(|event| event.seq == seq).ok_or(WithholdError::NoEvent(seq))?;
        let mut events = self.events.clone();
        let event = &mut events[place];
        if NEEDED.contains(&(event.r#type.as_str(), name)) {
            return Err(WithholdError::Needed { seq, name: name.to_owned() });
        }
        let Some(field) = event.payload.get_mut(name) else {
            let has = event.payload.keys().cloned().collect::<Vec<_>>().join(", ");
            return Err(WithholdError::NoField {
                seq,
                r#type: event.r#type.clone(),
                name: name.to_owned(),
                has,
            });
        };
        *field = field.withheld(name)?;
        let rows = rows::derive(self.tenant, run, &events).map_err(WithholdError::Packet)?;
        (self.events, self.run, self.side_effects, self.audit) =
            (events, rows.run, rows.side_effects, rows.audit);
        Ok(())
    }
}
