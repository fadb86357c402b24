//! Redaction: finds secrets, personal data and whatever a tenant names, in text that comes in pieces.
//!
//! [`Detectors`] is what is looked for, made once and shared; [`Detectors::find`] looks at a text, [`Detectors::stream`] at one that comes in
//! pieces. It is pure: no storage, no clock, no network, and it does not decide what happens to what it finds.
//!
//! Start at `detector.rs` for what a rule is and which laws it keeps, then `scan.rs`, the one pass over the text. `secret/` are the
//! rules for keys and passwords, `pii/` those for personal data.
//!
//! - However a text is cut into pieces, the findings are the same.
//! - What is held back is bounded by [`MAX_HELD`], and is the current word as long as nothing is suspected.
//! - Findings are in order and disjoint.
//!
//! To add a rule: a [`Detector`] in the list of its family, which `rules.rs` joins.

mod builder;
mod canary;
mod custom;
mod detector;
mod detectors;
mod dictionary;
mod encoded;
mod finding;
mod ids;
mod known;
mod lexicon;
mod masks;
mod pii;
mod placeholder;
mod plain;
mod replace;
mod rules;
mod run;
mod scan;
mod secret;
mod stream;
mod table;
mod words;

pub use builder::{BuildError, Builder};
pub use custom::{CustomError, MAX_CUSTOM};
pub use detector::{Class, Detector, Digits, LOOK_AHEAD, LOOK_BEHIND, Sight, Trigger, View};
pub use detectors::Detectors;
pub use finding::{Encoding, Finding, MAX_MATCH, Rule};
pub use lexicon::Lexicon;
pub use plain::{has_secret, secrets_in};
pub use replace::replaced;
pub use scan::MAX_HELD;
pub use stream::Stream;
