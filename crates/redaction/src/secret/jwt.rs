//! Signed tokens in three parts, of which the first two are JSON in base64: whatever they say, who has one may act with it.

use crate::detector::{Class, Detector, LOOK_AHEAD, Sight, Trigger, View};

/// `eyJ….eyJ….…`: how `{"` begins in base64.
pub(crate) const DETECTOR: Detector =
    Detector { rule: "jwt", class: Class::Secret, trigger: Trigger::Prefix(&["eyJ"]), look };

/// The shortest part of JSON: `{"a":1}` in base64.
const SHORTEST: usize = 8;

fn look(view: View<'_>) -> Sight {
    let holds = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.=".contains(byte);
    let text = &view.text[view.at..];
    let length = text.iter().take_while(holds).count();
    if length == text.len() && !view.ended && length < LOOK_AHEAD {
        return Sight::Wait;
    }
    // The dot that ends a sentence is none of its own.
    let token = &text[..length];
    let end = token.len() - token.iter().rev().take_while(|byte| **byte == b'.').count();
    let mut parts = token[..end].split(|byte| *byte == b'.');
    let (Some(header), Some(body)) = (parts.next(), parts.next()) else { return Sight::Nothing };
    let is_signed = parts.next().is_some_and(|signature| !signature.is_empty());
    if header.len() < SHORTEST || body.len() < SHORTEST || !(body.starts_with(b"eyJ") || is_signed) {
        return Sight::Nothing;
    }
    Sight::Found { range: view.at..view.at + end, class: Class::Secret, rule: "jwt" }
}
