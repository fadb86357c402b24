//! Signs that untrusted text gives orders to the model that reads it.
//!
//! [`find`] labels what it sees, with the reason and the place: orders to forget other orders (`injection.override`), text that
//! poses as part of a conversation (`injection.spoof`), text that a person does not see (`injection.hidden`), asks to send data away
//! (`injection.exfiltration`), claims of rank and haste directed at a machine (`injection.authority`), and any of these in an
//! encoding (`injection.encoded`).
//!
//! `normal.rs` makes one spelling of many, `phrases.rs` and `order.rs` find what is said in it; `hidden.rs`, `exfiltration.rs` and
//! `encoded.rs` look at the text as it is.
//!
//! - Linear in the text: what follows a word is looked at within a fixed distance.
//! - They are labels. Whoever attacks can say the same in other words, so what may happen to untrusted text is decided by where it
//!   comes from, whatever is found in it.

mod encoded;
mod exfiltration;
mod hidden;
mod normal;
mod order;
mod phrases;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde::Serialize;

use normal::Normal;

/// Orders to forget other orders.
pub const OVERRIDE: &str = "injection.override";
/// Text that poses as another part of the conversation.
pub const SPOOF: &str = "injection.spoof";
/// Text that a person does not see.
pub const HIDDEN: &str = "injection.hidden";
/// An ask to send data away.
pub const EXFILTRATION: &str = "injection.exfiltration";
/// Rank and haste directed at a machine.
pub const AUTHORITY: &str = "injection.authority";
/// Any of these in an encoding.
pub const ENCODED: &str = "injection.encoded";

/// How many signals are told of one text. More say nothing new.
const MOST: usize = 64;

/// Something that looks like an order to a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Signal {
    /// Of which kind, as policies see it.
    pub label: &'static str,
    /// Why.
    pub reason: &'static str,
    /// Where, in bytes of the text.
    pub span: Range<usize>,
}

/// What in `text` looks like an order to a model, in the order of the text: at most 64 signals.
#[must_use]
pub fn find(text: &str) -> Vec<Signal> {
    let mut signals = plain(text);
    encoded::find(text, &mut signals);
    signals.sort_by_key(|signal| (signal.span.start, signal.span.end));
    signals.truncate(MOST);
    signals
}

/// The same, without looking into encodings.
fn plain(text: &str) -> Vec<Signal> {
    let normal = Normal::of(text);
    let mut signals = Vec::new();
    let addressed = phrases::find(&normal, &mut signals);
    order::find(&normal, &mut signals);
    exfiltration::find(text, &normal, &mut signals);
    hidden::find(text, &addressed, &mut signals);
    signals
}
