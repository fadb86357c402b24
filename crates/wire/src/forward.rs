//! Whether a caller's own bytes will do.

use crate::part::Part;
use crate::request::Request;
use crate::responses::seal;
use crate::wire::Wire;

impl Request {
    /// Whether a vendor that speaks `to` can be sent the caller's own bytes. It cannot if it speaks another wire, nor if a
    /// thought bears another vendor's seal, as when the model was changed in the middle of a dialogue: it would refuse
    /// the seal. Writing the request leaves such thoughts out.
    #[must_use]
    pub fn goes_as_it_came(&self, to: Wire) -> bool {
        let foreign = |part: &Part| match part {
            Part::Thinking { signature: Some(signature), .. } => match to {
                Wire::Chat => false,
                Wire::Messages => seal::open(signature).is_some(),
                Wire::Responses => seal::open(signature).is_none(),
            },
            _ => false,
        };
        self.wire == to && !self.messages.iter().flat_map(|message| &message.parts).any(foreign)
    }
}
