//! Credentials in headers and on command lines.

use crate::detector::{Class, Detector, LOOK_AHEAD, Sight, Trigger, View};
use crate::secret::address::is_stand_in;
use crate::secret::shape::Shape;

/// `Authorization: Basic …`.
pub(crate) const AUTHORIZATION: Detector = Detector {
    rule: "authorization",
    class: Class::Secret,
    trigger: Trigger::Word(&["authorization"]),
    look: authorization,
};

/// `Bearer …`, wherever it stands.
pub(crate) const BEARER: Detector =
    Detector { rule: "bearer", class: Class::Secret, trigger: Trigger::Word(&["bearer"]), look: bearer };

/// `curl -u user:password`.
pub(crate) const CURL: Detector = Detector {
    rule: "command-line-user",
    class: Class::Secret,
    trigger: Trigger::Prefix(&["-u", "--user"]),
    look: user,
};

/// Between the header's name and its value.
const BETWEEN: usize = 12;

fn authorization(view: View<'_>) -> Sight {
    let mut at = view.at + b"authorization".len();
    let Some(assigned) = skip(view, &mut at) else { return Sight::Wait };
    if !assigned {
        return Sight::Nothing;
    }
    for scheme in [&b"basic"[..], b"bearer", b"api-token", b"token", b"apikey", b"digest"] {
        let there = &view.text[at..view.text.len().min(at + scheme.len() + 1)];
        if there.len() <= scheme.len() && !view.ended && scheme.starts_with(&there.to_ascii_lowercase()) {
            return Sight::Wait;
        }
        if there.len() > scheme.len()
            && there[..scheme.len()].eq_ignore_ascii_case(scheme)
            && matches!(there[scheme.len()], b' ' | b'\t')
        {
            at += scheme.len();
            at += view.text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            return value(view, at, "authorization", is_credential);
        }
    }
    if matches!(view.text[at - 1], b'"' | b'\'') {
        return value(view, at, "authorization", is_credential);
    }
    value(view, at, "authorization", |shape| shape.length >= 8 && shape.digits > 0 && shape.chance > 0.0)
}

/// What stands where only a credential does need not look like one, unless it is short enough for a word.
fn is_credential(shape: Shape) -> bool {
    let strange = shape.digits > 0 || shape.chance > 2.0 || shape.upper > 1;
    shape.length >= if strange { 8 } else { 16 }
}

fn bearer(view: View<'_>) -> Sight {
    let mut at = view.at + b"bearer".len();
    if skip(view, &mut at).is_none() {
        return Sight::Wait;
    }
    value(view, at, "bearer", |shape| shape.length >= 12 && shape.digits > 0 && shape.chance > 2.0)
}

/// Skips quotes, spaces and colons. Says whether there was a sign of assignment, or nothing if more must be seen.
fn skip(view: View<'_>, at: &mut usize) -> Option<bool> {
    let from = *at;
    let mut assigned = false;
    loop {
        match view.text.get(*at) {
            Some(b':' | b'=') => assigned = true,
            Some(b' ' | b'\t' | b'"' | b'\'' | b'\\' | b',' | b'>') => {}
            Some(_) => return Some(assigned),
            None if view.ended => return Some(assigned),
            None => return None,
        }
        *at += 1;
        if *at - from > BETWEEN {
            return Some(false);
        }
    }
}

/// The value at `at`, if it can be one.
pub(crate) fn value(view: View<'_>, at: usize, rule: &'static str, is_secret: fn(Shape) -> bool) -> Sight {
    let end = at
        + view.text[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"=~@.+/_-:".contains(byte))
            .count();
    if end == view.text.len() && !view.ended && end - view.at < LOOK_AHEAD {
        return Sight::Wait;
    }
    let text = &view.text[at..end];
    if text.len() < 8 || is_stand_in(text) || !is_secret(Shape::of(text)) {
        return Sight::Nothing;
    }
    Sight::Found { range: at..end, class: Class::Secret, rule }
}

fn user(view: View<'_>) -> Sight {
    // Short, so that the option is looked at only where the command stands before it.
    if memchr::memmem::rfind(&view.text[..view.at], b"curl").is_none() {
        return Sight::Nothing;
    }
    let rest = &view.text[view.at..];
    if rest.len() < 16 && !view.ended {
        return Sight::Wait;
    }
    let option = if rest.starts_with(b"--user") { 6 } else { 2 };
    let mut at = view.at + option;
    at += view.text[at..].iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t' | b'=')).count();
    if at == view.text.len() {
        return if view.ended { Sight::Nothing } else { Sight::Wait };
    }
    let escaped = usize::from(view.text[at] == b'\\');
    let quote = view.text.get(at + escaped).copied().filter(|byte| matches!(byte, b'"' | b'\''));
    let start = if quote.is_some() { at + escaped + 1 } else { at };
    // Quotes can also stand around each half.
    let mut end = start;
    let mut inside = quote;
    loop {
        match (view.text.get(end), inside) {
            (None, _) if view.ended => break,
            (None, _) => return Sight::Wait,
            (Some(byte), Some(quote)) if *byte == quote => {
                if view.text.get(end + 1) == Some(&b':') || (view.text.get(end + 1).is_none() && !view.ended)
                {
                    if view.text.get(end + 1).is_none() {
                        return Sight::Wait;
                    }
                    inside = None;
                } else {
                    break;
                }
            }
            (Some(byte), None) if byte.is_ascii_whitespace() => break,
            (Some(byte @ (b'"' | b'\'')), None) if end > start && view.text[end - 1] == b':' => {
                inside = Some(*byte);
            }
            (Some(b'\n'), Some(_)) if end - start > 400 => break,
            _ => {}
        }
        end += 1;
        if end - view.at > 1024 {
            return Sight::Nothing;
        }
    }
    let text = &view.text[start..end];
    let Some(colon) = text.iter().position(|byte| *byte == b':') else { return Sight::Nothing };
    let password = &text[colon + 1..];
    if text.len() < 4 || (!password.is_empty() && is_stand_in(password)) {
        return Sight::Nothing;
    }
    Sight::Found { range: start..end, class: Class::Secret, rule: "command-line-user" }
}
