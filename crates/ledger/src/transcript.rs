//! Events written out, with the places of what every one of them repeats.
//!
//! Whoever hashes an event writes it out on the way, and knows then where its names, salts and hashes stand. Whoever keeps
//! the text in fewer bytes would otherwise have to look for them again, letter by letter.

use schema::Digest;

use crate::field::Salt;

/// The text of events, and where in it is what they repeat.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    pub(crate) text: Vec<u8>,
    pub(crate) spots: Vec<Spot>,
}

/// Where something stands that every event has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// An event's hash.
    Hash {
        /// Where its 64 digits begin.
        at: usize,
        /// What they say.
        hash: Digest,
    },
    /// A field that shows its value: `"NAME":{"salt":"SALT","value":VALUE}`.
    Field {
        /// Where its name begins, with its quote.
        name: usize,
        /// Where the 32 digits of its salt begin.
        at: usize,
        /// What they say.
        salt: Salt,
    },
}

impl Transcript {
    /// The events as one JSON text.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// What stands where, from the beginning to the end.
    #[must_use]
    pub fn spots(&self) -> &[Spot] {
        &self.spots
    }

    /// Nothing, in the same memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.spots.clear();
    }

    /// How much there is.
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.text.len(), self.spots.len())
    }

    /// Takes back what came after there was so much.
    pub(crate) fn go_back(&mut self, (text, spots): (usize, usize)) {
        self.text.truncate(text);
        self.spots.truncate(spots);
    }
}
